"""A controller process for tests, and brokers that speak to it over sockets."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.controller_request_codec import pull_role_changed, push_request
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    ApplyBrokerId,
    ControllerRequest,
    ElectMaster,
    GetMetadataInfo,
    GetReplicaInfo,
    Heartbeat,
    RegisterBroker,
    RoleChanged,
)
from rocketha.formats.controller_responses import MetadataInfo, ReplicaInfo, Reply, pull_reply
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.types import BrokerId, Epoch, SyncStateSetEpoch
from tests.free_ports import free_port
from tests.impl.process.node_run import NodeRun

__all__ = ["GROUP", "Broker", "Connection", "ControllerRun"]

GROUP: Final = "g"
CLUSTER: Final = "rocketproof"
_TIMEOUT_S: Final = 60.0
_CODES: Final = {
    AlterSyncStateSet: RequestCode.ALTER_SYNC_STATE_SET,
    ApplyBrokerId: RequestCode.APPLY_BROKER_ID,
    ElectMaster: RequestCode.ELECT_MASTER,
    GetMetadataInfo: RequestCode.GET_METADATA_INFO,
    GetReplicaInfo: RequestCode.GET_REPLICA_INFO,
    Heartbeat: RequestCode.BROKER_HEARTBEAT,
    RegisterBroker: RequestCode.REGISTER_BROKER,
}


class ControllerRun(NodeRun):
    """The process of a controller, in a folder; a context manager, which ends it."""

    def __init__(self, folder: Path, **settings: str) -> None:
        """Configure it; `settings` are those of its file."""
        own = settings.get("controllerDLegerSelfId", "n0")
        said = re.search(rf"{own}-127\.0\.0\.1:(\d+)", settings.get("controllerDLegerPeers", ""))
        self.port = int(said[1]) if said else free_port()
        values = {
            "controllerDLegerGroup": "controllers",
            "controllerDLegerSelfId": "n0",
            "controllerDLegerPeers": f"n0-127.0.0.1:{self.port}",
            "controllerStorePath": str(folder / "store"),
            "scanNotActiveBrokerInterval": "50",
            **settings,
        }
        super().__init__("rocketha.process.controller", folder, values)

    def connect(self) -> Connection:
        """Connect as a tool does."""
        return Connection(socket.create_connection(("127.0.0.1", self.port), _TIMEOUT_S))

    def view(self) -> ReplicaInfo:
        """Return what it says of the group."""
        with self.connect() as connection:
            content = connection.ask(GetReplicaInfo(broker_name=GROUP)).content
        assert isinstance(content, ReplicaInfo)
        return content

    def leads(self) -> bool:
        """Ask it whether it leads; who does not answer does not."""
        try:
            with self.connect() as connection:
                content = connection.ask(GetMetadataInfo()).content
        except OSError:
            return False
        assert isinstance(content, MetadataInfo)
        return content.is_leader


class Connection:
    """A connection to a controller, or of one."""

    def __init__(self, sock: socket.socket) -> None:
        sock.settimeout(_TIMEOUT_S)
        self.sock = sock
        self._heard = b""
        self._opaque = 0

    def ask(self, request: ControllerRequest) -> Reply:
        """Send a request, and wait for its answer."""
        self._opaque += 1
        answer = self.command(push_request(request, opaque=self._opaque))
        assert answer.opaque == self._opaque
        return pull_reply(answer, _CODES[type(request)])

    def command(self, command: RemotingCommand) -> RemotingCommand:
        """Send a command, and return the next one that comes."""
        self.sock.sendall(push_command(command))
        return self.next()

    def next(self) -> RemotingCommand:
        """Return the next command that comes."""
        while (pulled := pull_command(self._heard)) is None:
            data = self.sock.recv(1 << 16)
            assert data, "the connection is closed"
            self._heard += data
        command, size = pulled
        self._heard = self._heard[size:]
        return command

    def is_closed(self) -> bool:
        """Wait until the other end closes it; False if it says something before."""
        try:
            return not self.sock.recv(1)
        except ConnectionResetError:
            return True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.sock.close()


class Broker:
    """A broker as a controller sees it: an address where it is told, and a connection."""

    def __init__(self, run: ControllerRun, number: int) -> None:
        self.number = BrokerId(number)
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(_TIMEOUT_S)
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        self.controller = run.connect()
        self._notices: Connection | None = None

    def join(self) -> None:
        """Get an id, and register."""
        applied = ApplyBrokerId(
            cluster_name=CLUSTER,
            broker_name=GROUP,
            applied_broker_id=self.number,
            register_check_code=f"{self.address};1",
        )
        assert self.controller.ask(applied).code == 0
        assert self.register().code == 0

    def register(self) -> Reply:
        """Register."""
        return self.controller.ask(
            RegisterBroker(
                cluster_name=CLUSTER,
                broker_name=GROUP,
                broker_id=self.number,
                broker_address=self.address,
            )
        )

    def beat(self, *, timeout_ms: int = 60_000) -> Reply:
        """Say that it is alive."""
        return self.controller.ask(
            Heartbeat(
                cluster_name=CLUSTER,
                broker_name=GROUP,
                broker_address=self.address,
                broker_id=self.number,
                timeout_ms=timeout_ms,
            )
        )

    def propose(self, *members: int, epoch: int) -> Reply:
        """Propose a SyncStateSet as the master of the first masterEpoch."""
        proposed = SyncStateSet(frozenset(map(BrokerId, members)), SyncStateSetEpoch(epoch))
        return self.controller.ask(
            AlterSyncStateSet(
                broker_name=GROUP,
                master_broker_id=self.number,
                master_epoch=Epoch(1),
                sync_state_set=proposed,
            )
        )

    def elect(self) -> Reply:
        """Ask for a master."""
        request = ElectMaster(cluster_name=CLUSTER, broker_name=GROUP, broker_id=self.number)
        return self.controller.ask(request)

    def told(self) -> RoleChanged:
        """Return the next notice of the controller."""
        if self._notices is None:
            self._notices = Connection(self._server.accept()[0])
        return pull_role_changed(self._notices.next())

    def lose_notices(self) -> None:
        """Close the connection on which it is told."""
        assert self._notices is not None
        self._notices.sock.close()
        self._notices = None

    def gone(self) -> None:
        """Close its connection to the controller."""
        self.controller.sock.close()

    def close(self) -> None:
        """Close everything."""
        self.gone()
        self._server.close()
        if self._notices is not None:
            self._notices.sock.close()

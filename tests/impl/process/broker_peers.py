"""Broker processes for tests, and producers and consumers that speak to them over sockets."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rocketha.formats.broker_requests import BrokerCode
from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.epoch_entry_cache import EpochEntryCache, pull_epoch_entry_cache
from rocketha.formats.message import Record, RecordCheck, pull_record
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.types import Offset, SizeBytes
from tests.free_ports import free_ports
from tests.impl.process.controller_peers import CLUSTER, GROUP, Connection
from tests.impl.process.node_run import NodeRun

__all__ = ["SEGMENT", "BrokerRun", "records_in"]

SEGMENT: Final = 4096
_TIMEOUT_S: Final = 60.0


class BrokerRun(NodeRun):
    """The process of a broker, in a folder; a context manager, which ends it."""

    def __init__(self, folder: Path, controller_port: int, **settings: str) -> None:
        """Configure it; `settings` are those of its file, in RocketMQ's names."""
        _, self.ha_port, self.port = free_ports(3)  # clients' VIP channel is two below
        self.store = folder / "store"
        folder.mkdir()
        values = {
            "brokerClusterName": CLUSTER,
            "brokerName": GROUP,
            "listenPort": str(self.port),
            "haListenPort": str(self.ha_port),
            "controllerAddr": f"127.0.0.1:{controller_port}",
            "storePathRootDir": str(self.store),
            "mappedFileSizeCommitLog": str(SEGMENT),
            "defaultTopicQueueNums": "1",
            "allAckInSyncStateSet": "true",
            "slaveTimeout": "1000",
            "syncBrokerMetadataPeriod": "100",
            "checkSyncStateSetPeriod": "100",
            "haMaxTimeSlaveNotCatchup": "500",
            "brokerHeartbeatInterval": "100",
            "controllerHeartBeatTimeoutMills": "3000",
            "haSendHeartbeatInterval": "100",
            "haHousekeepingInterval": "2000",
            "haReconnectInterval": "100",
            **settings,
        }
        super().__init__("rocketha.process.broker", folder, values)

    def command(self, command: RemotingCommand) -> RemotingCommand:
        """Ask it, on a connection of its own."""
        sock = socket.create_connection(("127.0.0.1", self.port), _TIMEOUT_S)
        with Connection(sock) as connection:
            return connection.command(command)

    def epochs(self) -> EpochEntryCache:
        """Ask for its epochs, and the end of its log."""
        asked = RemotingCommand(code=RequestCode.GET_BROKER_EPOCH_CACHE, opaque=1)
        return pull_epoch_entry_cache(self.command(asked).body)

    def send(self, body: bytes, *, topic: str = "T", properties: str = "") -> RemotingCommand:
        """Send a message as a producer does; return the answer."""
        fields = {"a": "p", "b": topic, "c": "TBW102", "d": "1", "e": "0", "f": "0"}
        fields |= {"g": "1700000000000", "h": "0", "i": properties, "j": "0", "m": "false"}
        return self.command(
            RemotingCommand(code=BrokerCode.SEND_MESSAGE_V2, opaque=7, ext_fields=fields, body=body)
        )

    def send_until_ok(self, body: bytes) -> None:
        """Send a message until it is acknowledged."""
        deadline = time.monotonic() + _TIMEOUT_S
        while (answer := self.send(body)).code:
            assert time.monotonic() < deadline, answer
            time.sleep(0.05)

    def pull(
        self, offset: int, *, topic: str = "T", most: int = 32, wait_ms: int = 0
    ) -> RemotingCommand:
        """Ask for messages of the first queue of a topic, as a consumer; return the answer."""
        fields = {"consumerGroup": "c", "topic": topic, "queueId": "0", "queueOffset": str(offset)}
        fields |= {"maxMsgNums": str(most), "sysFlag": "2" if wait_ms else "0"}
        fields |= {"suspendTimeoutMillis": str(wait_ms)}
        return self.command(
            RemotingCommand(code=BrokerCode.PULL_MESSAGE, opaque=8, ext_fields=fields)
        )

    def log(self) -> bytes:
        """Return what its log has on the disk."""
        folder = self.store / "commitlog"
        return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


def records_in(body: bytes) -> Iterator[Record]:
    """Decode the messages that a consumer got."""
    at = 0
    while at < len(body):
        own = Offset(int.from_bytes(body[at + 28 : at + 36]))
        room = SizeBytes(SEGMENT - own % SEGMENT)
        record = pull_record(body, offset=own, room=room, check=RecordCheck.BODY, at=at)
        assert isinstance(record, Record)
        yield record
        at += record.size

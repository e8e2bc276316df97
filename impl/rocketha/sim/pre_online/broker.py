"""A broker of a run: its host, its ports, its files, its clients."""

from __future__ import annotations

from typing import Any, Final, Protocol

from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.formats.ext_fields import FieldReader, push_fields
from rocketha.formats.name_server_codes import RELEASE_5_3_3
from rocketha.formats.offset_tables import OffsetTable, QueueKey, TableKind
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.histories.offsets import OffsetEvent, OffsetTold
from rocketha.pre_online.core import PreOnlineCore
from rocketha.pre_online.events import (
    MessageDue,
    PreOnlineAction,
    PreOnlineEvent,
    PreOnlineHears,
    StoreTable,
)
from rocketha.pre_online.performers import OffsetPerformer
from rocketha.pre_online.state import PreOnlineOptions, PreOnlineState
from rocketha.recording.recorded_disk import RecordedDisk
from rocketha.recording.recorder import NOT_RECORDED, Parts, Recording, StepRecorder
from rocketha.runtime.effects import Respond
from rocketha.runtime.performers import ConnectionPerformer
from rocketha.runtime.ports import StepUnderWay
from rocketha.sim.engine.frames import FrameRecorder
from rocketha.sim.engine.network import End
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.open_node import OpenNode
from rocketha.sim.engine.remoting_calls import Arrived, RemotingCalls
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.pre_online.shared_network import SharedNetwork
from rocketha.sim.pre_online.steps import BrokerStepped, PreOnlineStep
from rocketha.storage.offset_store import OffsetStore
from rocketha.types import BrokerId, ConnectionId, HaAddress, TimestampMs

__all__ = ["BrokerAround", "ReplicationAround", "ReplicationPorts", "SimulatedBroker"]

_CLIENT: Final = ConnectionId(-2)
"""No connection of the network has this number, nor has an outsider's."""
_SETTINGS: Final = (
    "broker_id",
    "cluster_name",
    "broker_name",
    "ha_address",
    "register_ms",
    "heartbeat_ms",
    "not_active_ms",
    "poll_ms",
    "copy_ms",
    "persist_ms",
    "pre_online_ms",
    "request_timeout_ms",
    "report_ms",
    "reconnect_ms",
    "transfer_ms",
    "silent_ms",
)
_FOLDER: Final = "config"


class ReplicationAround(Protocol):
    """What connections between brokers need."""

    @property
    def network(self) -> SharedNetwork:
        """What carries replication."""
        ...

    def broker_at(self, address: HaAddress) -> BrokerId:
        """Return which broker accepts slaves at an address."""
        ...


class BrokerAround(ReplicationAround, Protocol):
    """What is around brokers."""

    @property
    def calls(self) -> RemotingCalls:
        """What carries requests."""
        ...

    @property
    def scheduler(self) -> Scheduler:
        """When things happen."""
        ...

    @property
    def recording(self) -> Recording:
        """Where nodes write what they saw and did."""
        ...

    @property
    def history(self) -> list[OffsetEvent]:
        """What consumers were told."""
        ...

    def report(self, step: PreOnlineStep) -> None:
        """Hear of a step."""
        ...

    def ends_between_writes(self, broker: BrokerId) -> bool:
        """Tell whether a broker ends that has written a table and is to write it again."""
        ...


class ReplicationPorts:
    """The ports of a broker's connections with its slaves, or with its master."""

    def __init__(self, broker: BrokerId, around: ReplicationAround) -> None:
        """Take whose they are."""
        self.recorder: StepRecorder = NOT_RECORDED
        self._id = broker
        self._around = around
        self._packets: dict[str, int] = {}

    # ---- transport ----

    def connect(self, peer: HaAddress) -> ConnectionId:
        """Begin to connect."""
        return self._around.network.connect_to_replicate(self._id, self._around.broker_at(peer))

    def send(self, conn: ConnectionId, data: bytes) -> None:
        """Send a packet."""
        self._around.network.send(conn, self._id, data)

    def close(self, conn: ConnectionId, *, reason: str, action: object) -> None:
        """Close a connection."""
        del reason, action
        self._around.network.close(conn, self._id, lingers=False)

    def abandon(self, conn: ConnectionId, *, is_open: bool) -> None:
        """Give a connection up."""
        self._around.network.close(conn, self._id, lingers=is_open)

    # ---- packets ----

    def sent(self, conn: ConnectionId, data: bytes) -> None:
        """Note what is sent."""
        del data
        found = self._around.network.find(conn)
        if found is not None:
            end = End.CLIENT if found.client == self._id else End.SERVER
            other = found.server if end is End.CLIENT else found.client
            self.recorder.sent(self._next(conn, end), to=broker_address(other))

    def received(self, conn: ConnectionId) -> None:
        """Note what has come."""
        found = self._around.network.find(conn)
        if found is not None:
            end = End.SERVER if found.client == self._id else End.CLIENT
            self.recorder.received(self._next(conn, end))

    def _next(self, conn: ConnectionId, end: End) -> str:
        """Return what both ends call the next packet of an end of a connection."""
        of = f"{conn}:{end.value}"
        self._packets[of] = self._packets.get(of, 0) + 1
        return f"{of}:{self._packets[of]}"


class SimulatedBroker(OpenNode[PreOnlineState, PreOnlineHears, PreOnlineAction]):
    """A broker, as far as its tables of offsets matter."""

    release = RELEASE_5_3_3

    def __init__(
        self,
        node: Node[PreOnlineState],
        around: BrokerAround,
        options: PreOnlineOptions,
        core: PreOnlineCore,
    ) -> None:
        """Make a broker that is down."""
        ports = ReplicationPorts(node.id, around)
        self.connections: ConnectionPerformer[PreOnlineEvent, PreOnlineAction] = (
            ConnectionPerformer(core.inbox, transport=ports, recorder=ports)
        )
        self._files = _Files(node)
        super().__init__(
            node.id,
            core,
            around,
            seam=_BetweenWrites(node.id, around),
            performers=(self.connections, OffsetPerformer(self._files)),
        )
        self._node = node
        self._cluster = around
        self._told: RemotingCommand | None = None
        node.host = self.host
        settings = {
            "kind": "broker",
            **{name: getattr(options, name) for name in _SETTINGS},
            "name_server": self.name_of(options.name_server),
            "steps": options.steps,
            "topics": sorted(options.topics),
        }
        recorder = around.recording.of(
            self.name_of(node.id), settings, parts=self._parts, shows_ms=self.now_ms
        )
        self.recorder = self._frames = FrameRecorder(recorder)
        ports.recorder = self._files.recorder = recorder

    def _parts(self) -> Parts:
        connections = self.connections
        return {
            **memory_of(self._node.running()),
            "ha_asked": connections.asked,
            "ha_standing": sorted(connections.standing),
        }

    def stop(self) -> None:
        """Stop it, perhaps in the middle of a step, of which nobody hears any more."""
        super().stop()
        self._frames.take_received()
        self._frames.take()

    def now_ms(self) -> TimestampMs:
        """Return the virtual time."""
        return TimestampMs(self._cluster.scheduler.now_ms)

    def name_of(self, peer: BrokerId) -> str:
        """Return the name of a node."""
        return broker_address(peer)

    def after_step(self, event: PreOnlineEvent, action: PreOnlineAction | None) -> None:
        """Tell the cluster of a step."""
        received, sent = self._frames.take_received(), self._frames.take()
        self._cluster.report(BrokerStepped(self.id, event, received, sent, action))

    # ---- files ----

    def load(self, kind: TableKind) -> OffsetTable | None:
        """Read what is on the disk."""
        return self._files.on_disk().load(kind)

    def left(self) -> Parts:
        """Return what its disk has, of a broker that is down."""
        return {"left": {kind: OffsetStore(self._node.disk).read(kind) for kind in TableKind}}

    # ---- clients ----

    def commit(self, queue: QueueKey) -> None:
        """Let a consumer ask how far its group is, and commit the next message, if it is answered.

        Source: RemoteBrokerOffsetStore (fetchConsumeOffsetFromBroker, updateConsumeOffsetToBroker)
        """
        name, queue_id = queue
        topic, _, group = name.partition("@")
        fields = {"consumerGroup": group, "topic": topic, "queueId": queue_id}
        found = self._client(BrokerCode.QUERY_CONSUMER_OFFSET, fields)
        offset = 0
        if found.code == BrokerResponse.SUCCESS:
            offset = FieldReader(found.ext_fields).int64("offset")
        elif found.code != BrokerResponse.QUERY_NOT_FOUND:
            return
        self._hear(queue, offset, committed=False)
        fields["commitOffset"] = offset + 1
        if self._client(BrokerCode.UPDATE_CONSUMER_OFFSET, fields).code == BrokerResponse.SUCCESS:
            self._hear(queue, offset + 1, committed=True)

    def _hear(self, queue: QueueKey, offset: int, *, committed: bool) -> None:
        name = f"{queue[0]}:{queue[1]}"
        told = OffsetTold(self.now_ms(), self.id, name, offset, committed)
        self._cluster.history.append(told)

    def _client(self, code: BrokerCode, fields: dict[str, Any]) -> RemotingCommand:
        self.take_request(
            Arrived(_CLIENT, RemotingCommand(code=code, opaque=1, ext_fields=push_fields(fields)))
        )
        told, self._told = self._told, None
        assert told is not None, "a broker answers at once"
        return told

    def deliver(self, level: int) -> None:
        """Let a message be due."""
        self.host.take(MessageDue(level))

    def respond(self, answer: Respond) -> None:
        """Answer a request."""
        if self.waiting(answer.request).conn != _CLIENT:
            super().respond(answer)
            return
        self._told = RemotingCommand(code=answer.code, opaque=1, ext_fields=answer.ext_fields)


class _BetweenWrites:
    """The seam of a broker: one that writes a table twice in a step may end in between.

    Nothing else of a step is cut.
    """

    def __init__(self, broker: BrokerId, around: BrokerAround) -> None:
        self._id = broker
        self._around = around

    def is_end(self, effect: object, *, is_first: bool) -> bool:
        return isinstance(effect, StoreTable) and not is_first

    def end(self, step: StepUnderWay[PreOnlineEvent, PreOnlineAction]) -> bool:
        written = [one.kind for one in step.done if isinstance(one, StoreTable)]
        store = step.rest[0]
        assert isinstance(store, StoreTable)
        return store.kind in written and self._around.ends_between_writes(self._id)

    def failed(self, step: StepUnderWay[PreOnlineEvent, PreOnlineAction]) -> bool:
        del step
        return False


class _Files:
    """The files of a broker, which says what it does to them."""

    def __init__(self, node: Node[PreOnlineState]) -> None:
        self._node = node
        self.recorder: StepRecorder = NOT_RECORDED

    def on_disk(self) -> OffsetStore:
        return OffsetStore(RecordedDisk(self._node.disk, self.recorder, (_FOLDER,)))

    def store(self, kind: TableKind, data: bytes) -> None:
        self.on_disk().store(kind, data)


def memory_of(state: PreOnlineState) -> Parts:
    """Return what a broker has in its memory."""
    return {
        "tables": {kind: table.present for kind, table in state.tables.items()},
        "moves": {kind: table.moves for kind, table in state.tables.items()},
        "serves": state.serves,
        "master_address": state.master_address,
        "ha_address": state.ha.address,
        "ha_conn": state.ha.conn,
        "isolated": state.isolated,
        "members": state.members,
        "asked": state.asked,
        "done": state.done,
        "links": state.links,
    }

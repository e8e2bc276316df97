"""The nodes of a run: the slave, masters of other groups, a producer; their ports and files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol, TypeAlias

from rocketha.escape.events import (
    EscapeAction,
    MasterEvent,
    MasterHears,
    ProducerEvent,
    SlaveEvent,
    SlaveHears,
)
from rocketha.escape.master import MasterCore
from rocketha.escape.master_state import MasterOptions, MasterState
from rocketha.escape.producer import ProducerCore, ProducerState
from rocketha.escape.slave import SlaveCore
from rocketha.escape.state import SlaveOptions, SlaveState, pop_key
from rocketha.formats.message import Message, Record, RecordCheck, properties_of, pull_record
from rocketha.formats.name_server_codes import RELEASE_5_3_3
from rocketha.formats.offset_tables import OffsetTable, TableKind
from rocketha.formats.pop_messages import POP_CK, Popped, pull_extra_info
from rocketha.formats.put_requests import (
    AckMessage,
    PopMessage,
    PutCode,
    push_ack_message,
    push_pop_message,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.pre_online.performers import OffsetPerformer
from rocketha.recording.recorded_disk import RecordedDisk
from rocketha.recording.recorder import NOT_RECORDED, LongSequence, Parts, Recording, StepRecorder
from rocketha.runtime.effects import Respond
from rocketha.runtime.performers import FilePerformer
from rocketha.sim.engine.frames import FrameRecorder
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.open_node import OpenNode
from rocketha.sim.engine.remoting_calls import Arrived, RemotingCalls
from rocketha.sim.engine.request_ports import CallingCluster
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.escape.logged import logged
from rocketha.sim.escape.plan import CONSUMERS, START_MS
from rocketha.sim.escape.steps import (
    ConsumerAsked,
    ConsumerTold,
    EscapeStep,
    MasterStepped,
    ProducerStepped,
    SlaveStepped,
)
from rocketha.storage.offset_store import OffsetStore
from rocketha.types import BrokerId, ConnectionId, Offset, SizeBytes, TimestampMs

__all__ = [
    "EscapeAround",
    "Flushing",
    "MasterNode",
    "ProducerNode",
    "ReadLog",
    "SlaveNode",
    "TableFiles",
    "given",
]

_CLIENT: Final = ConnectionId(-2)
"""No connection of the network has this number, nor has an outsider's."""
_FOLDER: Final = "config"
_ROOM: Final = SizeBytes(1 << 20)
OnTold: TypeAlias = Callable[[RemotingCommand], None]


class EscapeAround(Protocol):
    """What is around nodes."""

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

    def report(self, step: EscapeStep) -> None:
        """Hear of a step."""
        ...


class ReadLog:
    """What of a node's log no power cut takes, read from its files when that may have changed."""

    def __init__(self, node: Node[Any]) -> None:
        """Take whose it is."""
        self._node = node
        self._version = -1
        self._cuts = -1
        self._end = 0
        self._read = LongSequence(())
        self.messages: list[Message] = []
        """The messages in it, as they were when it was looked at last."""

    def __call__(self) -> LongSequence:
        """Return what lies in it."""
        files = self._node.files
        if self._version == files.log_version:
            return self._read
        if self._cuts != files.log_cuts:
            self._end, self.messages, self._read = 0, [], LongSequence(())
        self._version, self._cuts = files.log_version, files.log_cuts
        new = list(files.log.records(self._end, files.log.flushed_offset))
        if new:
            self._end = new[-1].offset + new[-1].size
            self.messages += [record.message for record in new]
            said = (logged(record.message) for record in new)
            self._read = LongSequence((*self._read.items, *said))
        return self._read


class Flushing:
    """Writes the log of a node through, a while after it is asked to."""

    def __init__(
        self,
        node: Node[Any],
        around: CallingCluster,
        wait_ms: int,
    ) -> None:
        """Take whose log it is, and how long it waits."""
        self._node = node
        self._around = around
        self._wait_ms = wait_ms
        self.files: FilePerformer | None = None

    def request(self) -> None:
        """Write it through in a while, unless the node stops before."""
        incarnation = self._node.incarnation

        def flush() -> None:
            if self._node.state is not None and self._node.incarnation == incarnation:
                assert self.files is not None
                self.files.flush()

        self._around.scheduler.after(self._wait_ms, flush)


class TableFiles:
    """The files of a broker's tables, which says what it does to them."""

    def __init__(self, node: Node[Any]) -> None:
        """Take whose they are."""
        self._node = node
        self.recorder: StepRecorder = NOT_RECORDED

    def on_disk(self) -> OffsetStore:
        """Return what reads and replaces them."""
        return OffsetStore(RecordedDisk(self._node.disk, self.recorder, (_FOLDER,)))

    def store(self, kind: TableKind, data: bytes) -> None:
        """Replace one, durably."""
        self.on_disk().store(kind, data)


class SlaveNode(OpenNode[SlaveState, SlaveHears, EscapeAction]):
    """A slave that may act, which consumers ask without a network."""

    release = RELEASE_5_3_3

    def __init__(
        self,
        node: Node[SlaveState],
        around: EscapeAround,
        options: SlaveOptions,
        *,
        pops_max: int,
        invisible_ms: int,
    ) -> None:
        """Make a slave that is down."""
        self._files = TableFiles(node)
        flushing = Flushing(node, around, 1)
        log = flushing.files = FilePerformer(node.files, flushing)
        performers = (OffsetPerformer(self._files), log)
        super().__init__(node.id, SlaveCore(), around, performers=performers)
        self._node = node
        self._cluster = around
        self._read_log = ReadLog(node)
        self._consumers: dict[int, tuple[Popped | None, OnTold]] = {}
        self._asked = 0
        self._told: list[ConsumerTold] = []
        node.host = self.host
        settings = {
            "kind": "slave",
            "broker_name": options.acting.broker_name,
            "masters": sorted(self.name_of(one) for one in options.masters.values()),
            "groups": {name: self.name_of(one) for name, one in options.masters.items()},
            "local": sorted(self.name_of(options.masters[name]) for name in options.local),
            "windows": [options.delayed_window, options.half_window],
            "remote_escape": options.enable_remote_escape,
            "released": options.released,
            "level": options.level,
            "pops": pops_max,
            "popped": pop_key(options),
            "invisible_ms": invisible_ms,
            "route_ms": options.route_ms,
            "serve_ms": [options.serve_ms, options.half_ms],
            "retry_ms": options.retry_ms,
            "persist_ms": options.persist_ms,
            "request_timeout_ms": options.request_timeout_ms,
            "own_id": options.acting.own_id,
        }
        recorder = around.recording.of(
            self.name_of(node.id), settings, parts=self._parts, shows_ms=self.now_ms
        )
        self.recorder = self._frames = FrameRecorder(recorder)
        self._files.recorder = recorder

    def log(self) -> LongSequence:
        """Return what is in its log, on its disk."""
        return self._read_log()

    def _parts(self) -> Parts:
        state = self._node.running()
        return {
            "log": self._read_log(),
            "progress": [service.progress for service in state.services],
            "acts": state.acts,
            "known": sorted(state.known),
            "waits": [sorted(service.under) for service in state.services],
            "due_ms": [[one.at_ms for one in service.records] for service in state.services],
            "messages": len(state.queue.messages),
        }

    def left(self) -> Parts:
        """Return what its disk has, of a slave that is down."""
        return {"left": {kind: OffsetStore(self._node.disk).read(kind) for kind in TableKind}}

    def load(self, kind: TableKind) -> OffsetTable | None:
        """Read what is on the disk."""
        return self._files.on_disk().load(kind)

    def now_ms(self) -> TimestampMs:
        """Return what its clock shows."""
        return TimestampMs(START_MS + self._cluster.scheduler.now_ms)

    def name_of(self, peer: BrokerId) -> str:
        """Return the name of a node."""
        return broker_address(peer)

    def stop(self) -> None:
        """Stop; no consumer is answered any more."""
        super().stop()
        self._consumers.clear()

    def after_step(self, event: SlaveEvent, action: EscapeAction | None) -> None:
        """Tell the cluster of a step."""
        received, sent = self._frames.take_received(), self._frames.take()
        told, self._told = tuple(self._told), []
        self._cluster.report(SlaveStepped(event, received, sent, told, action))

    # ---- consumers ----

    @property
    def has_waiting(self) -> bool:
        """Tell whether a consumer waits for an answer."""
        return bool(self._consumers)

    def pop(self, asks: PopMessage, on_told: OnTold) -> None:
        """Let a consumer pop."""
        self._ask(PutCode.POP_MESSAGE, push_pop_message(asks), None, on_told)

    def acknowledge(self, asks: AckMessage, on_told: OnTold) -> None:
        """Let a consumer acknowledge."""
        check_point, _ = pull_extra_info(asks.extra_info, group=asks.group, topic=asks.queue.topic)
        self._ask(PutCode.ACK_MESSAGE, push_ack_message(asks), check_point.popped, on_told)

    def _ask(
        self,
        code: PutCode,
        fields: Mapping[str, str],
        popped: Popped | None,
        on_told: OnTold,
    ) -> None:
        self._asked += 1
        self._consumers[self._asked] = (popped, on_told)
        self.recorder.heard(ConsumerAsked(popped is not None))
        command = RemotingCommand(code=code, opaque=self._asked, ext_fields=fields)
        self.take_request(Arrived(_CLIENT, command))

    def respond(self, answer: Respond) -> None:
        """Answer a request."""
        arrived = self.waiting(answer.request)
        if arrived.conn != _CLIENT:
            super().respond(answer)
            return
        popped, on_told = self._consumers.pop(arrived.command.opaque)
        command = RemotingCommand(
            code=answer.code, opaque=1, ext_fields=answer.ext_fields, body=answer.body
        )
        is_ack = popped is not None
        if popped is None and (found := given(command)) is not None:
            _, popped = found
        name = "" if popped is None else popped.name
        told = ConsumerTold(name, is_ack, answer.code, dict(answer.ext_fields))
        self._told.append(told)
        self.recorder.answered(told)
        self._cluster.scheduler.after(0, lambda: on_told(command))


def given(answer: RemotingCommand) -> tuple[str, Popped] | None:
    """Return what a consumer was given: the extra info, and its pop; None: it was given nothing."""
    if not answer.body:
        return None
    span = pull_record(answer.body, offset=Offset(0), room=_ROOM, check=RecordCheck.BODY)
    assert isinstance(span, Record)
    info = properties_of(span.message.properties)[POP_CK]
    check_point, _ = pull_extra_info(info, group=CONSUMERS, topic=span.message.topic)
    return info, check_point.popped


class MasterNode(OpenNode[MasterState, MasterHears, EscapeAction]):
    """A master of another group."""

    release = RELEASE_5_3_3

    def __init__(
        self,
        node: Node[MasterState],
        around: EscapeAround,
        options: MasterOptions,
        *,
        flush_ms: int,
    ) -> None:
        """Make a master that is down."""
        flushing = Flushing(node, around, flush_ms)
        log = flushing.files = FilePerformer(node.files, flushing)
        super().__init__(
            node.id, MasterCore(), around, performers=(log,), see=lambda: node.files.log
        )
        self._node = node
        self._cluster = around
        self._read_log = ReadLog(node)
        node.host = self.host
        settings = {
            "kind": "master",
            "broker_name": options.acting.broker_name,
            "check_ms": options.check_ms,
            "revive_ms": options.revive_ms,
            "flush_ms": flush_ms,
            "host": str(options.host),
        }
        recorder = around.recording.of(
            self.name_of(node.id), settings, parts=self._parts, shows_ms=self.now_ms
        )
        self.recorder = self._frames = FrameRecorder(recorder)

    def log(self) -> LongSequence:
        """Return what is in its log, on its disk."""
        return self._read_log()

    def _parts(self) -> Parts:
        log = self._node.files.log
        return {"log": self._read_log(), "ends": [log.max_phy_offset, log.flushed_offset]}

    def now_ms(self) -> TimestampMs:
        """Return what its clock shows."""
        return TimestampMs(START_MS + self._cluster.scheduler.now_ms)

    def name_of(self, peer: BrokerId) -> str:
        """Return the name of a node."""
        return broker_address(peer)

    def after_step(self, event: MasterEvent, action: EscapeAction | None) -> None:
        """Tell the cluster of a step."""
        self._frames.take_received()
        sent = self._frames.take()
        self._cluster.report(MasterStepped(self.id, event, sent, action))


class ProducerNode(OpenNode[ProducerState, ProducerEvent, EscapeAction]):
    """A producer, whose decisions are in a database of its own."""

    release = RELEASE_5_3_3

    def __init__(
        self,
        node: Node[ProducerState],
        around: EscapeAround,
        *,
        masters: Iterable[BrokerId],
        heartbeat_ms: int,
    ) -> None:
        """Make a producer that is down."""
        super().__init__(node.id, ProducerCore(), around)
        self._node = node
        self._cluster = around
        node.host = self.host
        self.recorder = around.recording.of(
            self.name_of(node.id),
            {
                "kind": "producer",
                "masters": [self.name_of(one) for one in masters],
                "heartbeat_ms": heartbeat_ms,
            },
            parts=self._parts,
            shows_ms=self.now_ms,
        )

    def _parts(self) -> Parts:
        return {"decided": self._node.running().decided}

    def now_ms(self) -> TimestampMs:
        """Return what its clock shows."""
        return TimestampMs(START_MS + self._cluster.scheduler.now_ms)

    def name_of(self, peer: BrokerId) -> str:
        """Return the name of a node."""
        return broker_address(peer)

    def after_step(self, event: ProducerEvent, action: EscapeAction | None) -> None:
        """Tell the cluster of a step."""
        self._cluster.report(ProducerStepped(event, action))

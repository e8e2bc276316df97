"""What brokers of a group write of their steps: parts of their states, and how frames are named.

Of its log a broker writes which epoch each record's body names, as it reads them from the bytes;
of a broker that is down its machine writes the same of what recovery would find on the disk.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final, assert_never

from rocketha.broker.events import PullRequested, PutRequested
from rocketha.broker.state import GroupBroker, PullId
from rocketha.errors import PacketError
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import pull_command
from rocketha.ha.state import Phase
from rocketha.recording.recorder import Parts, Recording, StepRecorder
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.recorded_logs import RecordedLogs
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.replica_group.channels import is_outside
from rocketha.sim.replica_group.plan import GroupPlan
from rocketha.types import BrokerId, ConnectionId, Offset, PutId, SizeBytes

__all__ = [
    "BrokerRecorders",
    "PullHeard",
    "PutHeard",
    "command_in",
    "is_frame",
    "note_channel_closed",
    "note_channel_refused",
    "note_frame_received",
    "note_frame_sent",
]


_DURATIONS: Final = (
    "heartbeat_timeout_ms",
    "heartbeat_interval_ms",
    "sync_metadata_ms",
    "request_timeout_ms",
    "slave_timeout_ms",
    "sync_flush_timeout_ms",
    "slave_not_catchup_ms",
    "check_sync_state_set_ms",
)
"""Settings of a broker that say when something is due."""

_FRAMES_UNDER_WAY: Final = 256
"""Of so many it is remembered what they say: a dozen look at each on its way."""


@dataclass(frozen=True, slots=True)
class _ClientEnd:
    id: ConnectionId
    phase: Phase
    reported: Offset


@dataclass(frozen=True, slots=True)
class _ServerEnd:
    slave: BrokerId | None
    slave_ack: Offset


@dataclass(frozen=True, slots=True)
class PutHeard:
    """A producer's call."""

    put: PutId


@dataclass(frozen=True, slots=True)
class PullHeard:
    """A consumer's call."""

    pull: PullId


class BrokerRecorders:
    """The recorders of all brokers of a group."""

    def __init__(
        self,
        nodes: Mapping[BrokerId, Node[GroupBroker]],
        plan: GroupPlan,
        scheduler: Scheduler,
        recording: Recording,
    ) -> None:
        """Begin to record each of them."""
        self._logs = RecordedLogs(plan.bugs)
        self._recorders: dict[BrokerId, StepRecorder] = {}
        settings = {
            "kind": "broker",
            "brokers": [broker_address(broker) for broker in nodes],
            "all_ack_in_sync_state_set": plan.broker.all_ack_in_sync_state_set,
            "in_sync_replicas": plan.broker.in_sync_replicas,
            **{name: getattr(plan.broker, name) for name in _DURATIONS},
            "sync_flush": plan.broker.sync_flush,
            "min_in_sync_replicas": plan.broker.min_in_sync_replicas,
            "housekeeping_ms": plan.broker.ha.housekeeping_ms,
        }
        for node in nodes.values():
            self._recorders[node.id] = recording.of(
                broker_address(node.id),
                settings,
                parts=partial(self._parts, node),
                shows_ms=partial(node.shows_ms, scheduler),
            )

    def of(self, broker: BrokerId) -> StepRecorder:
        """Return the recorder of a broker."""
        return self._recorders[broker]

    def asked(self, broker: BrokerId, call: PutRequested | PullRequested) -> None:
        """Write what a client asks a broker for."""
        match call:
            case PutRequested(put=put):
                self.of(broker).heard(PutHeard(put))
            case PullRequested(pull=pull):
                self.of(broker).heard(PullHeard(pull))
            case _ as unreachable:
                assert_never(unreachable)

    def stopped(self, node: Node[GroupBroker]) -> None:
        """Write what is left of a broker that is down."""
        self.of(node.id).stopped(lambda: {"log": self._logs.recovered(node)[1]})

    def _parts(self, node: Node[GroupBroker]) -> Parts:
        state = node.running()
        ha, client = state.ha, state.ha.client
        return {
            "registration": state.registration,
            "incarnation": state.incarnation,
            "role": ha.role,
            "known_epoch": ha.known_epoch,
            "epochs": ha.cache.entries,
            "log": self._logs.of(node),
            "local": state.local,
            "pending": state.pending,
            "confirm": state.confirm,
            "client": None
            if client is None
            else _ClientEnd(client.id, client.phase, client.reported),
            "servers": {
                conn: _ServerEnd(server.slave_id, server.slave_ack)
                for conn, server in ha.servers.items()
            },
            "slave_incarnations": state.slave_incarnations,
        }


@dataclass(frozen=True, slots=True)
class FrameHeard:
    """A frame that its receiver cannot name: it has no number, or who sends it keeps no records."""

    channel: ConnectionId
    code: int
    body: str
    opaque: int
    flag: int


@dataclass(frozen=True, slots=True)
class NoFrameHeard:
    """Bytes on a channel that are no frame."""

    channel: ConnectionId


@dataclass(frozen=True, slots=True)
class FrameAnswered:
    """The answer to a frame of who keeps no records."""

    channel: ConnectionId
    code: int
    body: str
    opaque: int


@dataclass(frozen=True, slots=True)
class ChannelRefused:
    """The controller closes a channel."""

    channel: ConnectionId


@dataclass(frozen=True, slots=True)
class ChannelClosed:
    """The controller hears that a channel is gone."""

    channel: ConnectionId


def note_frame_sent(
    recorder: StepRecorder, channel: ConnectionId, data: bytes, *, to: str, number: int = 0
) -> None:
    """Note a frame on a channel to the controller, or an answer on it.

    One that waits for no answer has no number on the wire: its sender gives it one, and who
    receives it cannot name it.
    """
    command = command_in(data)
    if is_outside(channel):
        content = _content(command).decode()
        recorder.answered(FrameAnswered(channel, command.code, content, command.opaque))
        return
    message = _name_of(channel, command) or f"controller-{channel}:{number}:one-way"
    recorder.sent(message, to=to, code=command.code, body=_content(command))


def note_frame_received(recorder: StepRecorder, channel: ConnectionId, data: bytes) -> None:
    """Note a frame that came over a channel, at whichever end, or what is none."""
    if not is_frame(data):
        recorder.heard(NoFrameHeard(channel))
        return
    command = command_in(data)
    named = None if is_outside(channel) else _name_of(channel, command)
    if named is not None:
        recorder.received(named)
    else:
        content = _content(command).decode()
        heard = FrameHeard(channel, command.code, content, command.opaque, command.flag)
        recorder.heard(heard)


def note_channel_closed(recorder: StepRecorder, channel: ConnectionId) -> None:
    """Note that the controller hears that a channel is gone."""
    recorder.heard(ChannelClosed(channel))


def note_channel_refused(recorder: StepRecorder, channel: ConnectionId) -> None:
    """Note that the controller closes a channel."""
    recorder.answered(ChannelRefused(channel))


def command_in(data: bytes) -> RemotingCommand:
    """Return what a whole frame says."""
    pulled = _pulled(data)
    assert pulled is not None
    return pulled[0]


def is_frame(data: bytes) -> bool:
    """Tell whether bytes are one frame."""
    try:
        pulled = _pulled(data)
    except PacketError:
        return False
    return pulled is not None and pulled[1] == len(data)


@lru_cache(maxsize=_FRAMES_UNDER_WAY)
def _pulled(data: bytes) -> tuple[RemotingCommand, SizeBytes] | None:
    return pull_command(data)


def _name_of(channel: ConnectionId, command: RemotingCommand) -> str | None:
    """Return what both ends call a frame; one that has no number has no name."""
    if command.opaque == 0:
        return None
    kind = "response" if command.is_response else "request"
    return f"controller-{channel}:{command.opaque}:{kind}"


def _content(command: RemotingCommand) -> bytes:
    """Return the fields of a frame and its body, as JSON."""
    said = {"fields": dict(command.ext_fields), "body": command.body.decode()}
    return json.dumps(said, sort_keys=True).encode()

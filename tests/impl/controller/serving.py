"""A controller that leads, one frame in, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rocketha.controller.applied import ControllerEffect, ControllerEvent
from rocketha.controller.core import (
    AnswerRequest,
    ControllerCore,
    EntryActed,
    FrameReceived,
    LeadingController,
    RefuseChannel,
)
from rocketha.controller.dispatch import Arrival, ControllerOptions
from rocketha.controller.entry import Entry
from rocketha.controller.host import ChannelPerformer
from rocketha.controller.machine import apply
from rocketha.controller.node import ControllerNode
from rocketha.controller.state import ControllerState
from rocketha.errors import PacketError
from rocketha.replicated_log.replicated_log import (
    EntryApplied,
    LogPosition,
    ProposalPerformer,
    Propose,
    Proposed,
)
from rocketha.runtime.node_host import NodeHost, no_files
from rocketha.types import ConnectionId, LogIndex, Term, TimestampMs

_AT = LogPosition(LogIndex(1), Term(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What came of a frame."""

    state: ControllerState
    out: bytes | None = None
    close: PacketError | None = None
    entry: Entry | None = None
    events: tuple[ControllerEvent, ...] = ()
    effects: tuple[ControllerEffect, ...] = ()


def serve(
    state: ControllerState, data: bytes, *, arrival: Arrival, options: ControllerOptions
) -> Served:
    """Take one frame, with a log that applies an entry at once."""
    core, now_ms = ControllerCore(options), arrival.at_ms
    first = core.step(
        LeadingController(state, leads=True), FrameReceived(arrival.channel, data), now_ms=now_ms
    )
    match first.effects:
        case (Propose(entry=entry, asker=asker),):
            known = core.step(first.state, Proposed(asker=asker, position=_AT), now_ms=now_ms)
            outcome = apply(state, entry, options.rules)
            event = EntryApplied(position=_AT, entry=entry, outcome=outcome)
            last = core.step(known.state, event, now_ms=now_ms)
            assert last.action == EntryActed(entry, outcome.events)
            return Served(
                state=last.state.state,
                out=_out(last.effects),
                entry=entry,
                events=outcome.events,
                effects=outcome.effects,
            )
        case (RefuseChannel(error=error),):
            return Served(state=first.state.state, close=error)
        case effects:
            return Served(state=first.state.state, out=_out(effects))


def _out(effects: Iterable[object]) -> bytes | None:
    found = [effect.data for effect in effects if isinstance(effect, AnswerRequest)]
    assert len(found) <= 1
    return found[0] if found else None


class Front:
    """A node that leads; nobody has told it that it has just started."""

    def __init__(self, node: ControllerNode, options: ControllerOptions) -> None:
        self.node = node
        self.answers: list[bytes] = []
        self.closed: list[ConnectionId] = []
        self._now_ms = TimestampMs(0)
        self.host = NodeHost(
            ControllerCore(options),
            (ProposalPerformer(node.log), ChannelPerformer(self, self)),
            clock=self,
            recorder=self,
            see=no_files,
        )
        self.host.state = LeadingController(node.state, leads=True)

    def serve(self, data: bytes, arrival: Arrival) -> bytes | None:
        """Take one frame, and return its answer."""
        self.answers.clear()
        self._now_ms = arrival.at_ms
        self.host.take(FrameReceived(arrival.channel, data))
        return self.answers[0] if self.answers else None

    def now_ms(self) -> TimestampMs:
        return self._now_ms

    def answer(self, channel: ConnectionId, data: bytes) -> None:
        del channel
        self.answers.append(data)

    def close(self, channel: ConnectionId, *, reason: str) -> None:
        del reason
        self.closed.append(channel)

    def notify(self, address: str, data: bytes) -> None:
        pass

    def scan_soon(self) -> None:
        pass

    def stepped(self, event: object, action: EntryActed | None) -> None:
        pass

"""A controller that is up: frames and applied entries in, proposals and answers out.

A request that changes the state is proposed to the log; its sender is answered when the entry is
applied. Until then the core remembers who asked, by the entry's index and term. If the log loses
its leader nobody is answered; a controller that stops has forgotten all of them.

Source: controller `ControllerManager`, `BrokerHousekeepingService`;
controller/processor `ControllerRequestProcessor`; controller/impl `JRaftController.applyToJRaft`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, assert_never, get_args

from rocketha.controller.applied import (
    Applied,
    ControllerEffect,
    ControllerEvent,
)
from rocketha.controller.dispatch import (
    Answered,
    Arrival,
    Close,
    ControllerOptions,
    Ignored,
    Proposal,
    admit,
    answer,
    read_frame,
)
from rocketha.controller.entry import ChannelClosed, Entry, InactiveScanned, Started
from rocketha.controller.state import NO_CHANNEL, ControllerState
from rocketha.errors import PacketError
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_responses import Reply
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.replicated_log.replicated_log import (
    EntryApplied,
    LeadershipGained,
    LeadershipLost,
    LogEvent,
    LogPosition,
    Propose,
    Proposed,
)
from rocketha.runtime.core import Core
from rocketha.runtime.effects import Effect
from rocketha.types import ConnectionId, TimestampMs

__all__ = [
    "NOT_LEADER",
    "AnswerRequest",
    "ChannelGone",
    "ControllerCore",
    "ControllerHears",
    "ControllerStepped",
    "EntryActed",
    "FrameReceived",
    "LeadingController",
    "RefuseChannel",
    "ScanDue",
    "SentRequest",
    "answer_to",
]


# ---- what happens to a controller, besides what its log tells ----


@dataclass(frozen=True, slots=True)
class FrameReceived:
    """A frame came on a channel."""

    channel: ConnectionId
    data: bytes


@dataclass(frozen=True, slots=True)
class ChannelGone:
    """A channel was closed by its other end."""

    channel: ConnectionId


@dataclass(frozen=True, slots=True)
class ScanDue:
    """It is time to look for groups whose master is gone."""


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request that waits for its entry, and the channel that it came on."""

    command: RemotingCommand
    channel: ConnectionId


_LogEvent: TypeAlias = LogEvent[SentRequest | None, Entry, Applied]
ControllerHears: TypeAlias = FrameReceived | ChannelGone | ScanDue | _LogEvent
"""What a controller hears."""


# ---- what it does, besides what an entry asks for ----


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRequest(Effect):
    """Send the answer to a request over the channel that it came on, if that is still open."""

    channel: ConnectionId
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class RefuseChannel(Effect):
    """Close a channel whose other end does not speak the protocol."""

    channel: ConnectionId
    error: PacketError
    """What is wrong with what it sent."""


_Does: TypeAlias = (
    ControllerEffect | AnswerRequest | RefuseChannel | Propose[Entry, SentRequest | None]
)


@dataclass(frozen=True, slots=True)
class EntryActed:
    """An entry was applied: what was in it, and what happened."""

    entry: Entry
    events: tuple[ControllerEvent, ...]


# ---- the core ----

NOT_LEADER: Final = Reply(code=ResponseCode.NOT_LEADER, remark="this controller does not lead")
"""What a controller answers that cannot serve, but another one may."""


@dataclass(frozen=True, slots=True)
class LeadingController:
    """What a controller that is up has in memory."""

    state: ControllerState
    """After the last entry that was applied."""
    leads: bool = False
    waiting: Mapping[LogPosition, SentRequest] = field(default_factory=dict)
    """Requests whose entries are in the log and not applied yet."""


@dataclass(frozen=True, slots=True)
class ControllerStepped:
    """The result of one step."""

    state: LeadingController
    effects: tuple[_Does, ...] = ()
    action: EntryActed | None = None


class ControllerCore(Core[LeadingController, ControllerHears, EntryActed, object]):
    """The core of a controller on a replicated log."""

    effects = get_args(_Does)

    def __init__(self, options: ControllerOptions) -> None:
        """Take the configuration."""
        self._options = options

    def step(
        self,
        state: LeadingController,
        event: ControllerHears,
        *,
        now_ms: TimestampMs,
        log: object = None,
    ) -> ControllerStepped:
        """Take one event. Raises: EncodingError"""
        del log
        match event:
            case FrameReceived():
                return self._receive(state, event, now_ms)
            case Proposed(asker=asker, position=position):
                return _proposed(state, asker, position)
            case EntryApplied():
                return _applied(state, event)
            case ChannelGone(channel=channel):
                entry = Entry(at_ms=now_ms, change=ChannelClosed(), channel=channel)
                return _propose(state, entry)
            case ScanDue():
                unclean = self._options.elect_unclean
                entry = Entry(
                    at_ms=now_ms,
                    change=InactiveScanned(),
                    channel=NO_CHANNEL,
                    elect_unclean=unclean,
                )
                return _propose(state, entry)
            case LeadershipGained():
                entry = Entry(at_ms=now_ms, change=Started(), channel=NO_CHANNEL)
                return _propose(replace(state, leads=True), entry)
            case LeadershipLost():
                return ControllerStepped(LeadingController(state.state))
            case _ as unreachable:
                assert_never(unreachable)

    def _receive(
        self, state: LeadingController, event: FrameReceived, now_ms: TimestampMs
    ) -> ControllerStepped:
        """Serve a frame."""
        command, channel = read_frame(event.data), event.channel
        if isinstance(command, Close):
            return ControllerStepped(state, (RefuseChannel(channel=channel, error=command.error),))
        arrival = Arrival(at_ms=now_ms, channel=channel)
        match admit(state.state, command, arrival=arrival, options=self._options):
            case Close(error=error):
                return ControllerStepped(state, (RefuseChannel(channel=channel, error=error),))
            case Ignored():
                return ControllerStepped(state)
            case Answered(reply=reply):
                return ControllerStepped(state, answer_to(SentRequest(command, channel), reply))
            case Proposal(entry=entry):
                return _propose(state, entry, SentRequest(command, channel))
            case _ as unreachable:
                assert_never(unreachable)


def _propose(
    state: LeadingController, entry: Entry, asker: SentRequest | None = None
) -> ControllerStepped:
    return ControllerStepped(state, (Propose(entry=entry, asker=asker),))


def _proposed(
    state: LeadingController, asker: SentRequest | None, position: LogPosition | None
) -> ControllerStepped:
    """Remember who asked, or say that another controller must be asked."""
    if asker is None:
        return ControllerStepped(state)
    if position is None:
        return ControllerStepped(state, answer_to(asker, NOT_LEADER))
    return ControllerStepped(replace(state, waiting={**state.waiting, position: asker}))


def _applied(state: LeadingController, event: EntryApplied[Entry, Applied]) -> ControllerStepped:
    """Do what an entry asks for, if this controller leads, and answer who asked for it."""
    outcome, asker = event.outcome, state.waiting.get(event.position)
    waiting = state.waiting
    effects: tuple[_Does, ...] = outcome.effects if state.leads else ()
    if asker is not None:
        waiting = {at: other for at, other in waiting.items() if at != event.position}
        effects = (*effects, *answer_to(asker, outcome.reply))
    after = replace(state, state=outcome.state, waiting=waiting)
    return ControllerStepped(after, effects, EntryActed(event.entry, outcome.events))


def answer_to(asker: SentRequest, reply: Reply) -> tuple[AnswerRequest, ...]:
    """Return the answer to a request, if its sender waits for one."""
    data = answer(asker.command, reply)
    return () if data is None else (AnswerRequest(channel=asker.channel, data=data),)

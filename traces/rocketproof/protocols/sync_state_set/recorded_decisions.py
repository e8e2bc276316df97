"""What a controller that has written records must decide about a proposal, by what it has heard.

As `decisions`, where whole states are read: what the controller says that it did is not asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    CleanBrokerData,
    ControllerRequest,
    Heartbeat,
    RegisterBroker,
)
from rocketha.obligations.controller_choices import ControllerChoices
from rocketha.obligations.controller_view import GroupKnown
from rocketha.obligations.recorded_frames import command_of, heard_frames, request_in
from rocketha.obligations.signs_of_life import SignsOfLife
from rocketha.recording.record import STOPPED, NodeRecord, SentMessage
from rocketproof.protocols.replica_group.recorded_broker import broker
from tlatrace.values import Value

__all__ = ["RecordedDecision", "RecordedDecisions"]

_LEADS: Final = "LeadershipGained"
_NOT_ASKED: Final = frozenset({_LEADS, "ChannelGone", "ScanDue"})
"""After these comes an entry that is no request's; one before asked for no entry."""


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """What must become of a proposal that reached the controller."""

    action: str
    params: tuple[Value, ...]
    joining: Mapping[int, int]
    """Who is to join, and in which incarnation."""


class RecordedDecisions:
    """Follows the records of a controller."""

    def __init__(self, broker_name: str | None) -> None:
        """Begin with a controller that knows nobody."""
        self._signs = SignsOfLife()
        self._choices = ControllerChoices(self._signs, broker_name=broker_name)
        self._group = GroupKnown()
        self._request: tuple[int, ControllerRequest] | None = None
        """What was received, and on which channel, until it is applied."""

    def after(self, record: NodeRecord, received: Sequence[SentMessage]) -> RecordedDecision | None:
        """Take a record; return what must be decided in it. Raises: RecordError"""
        if record.event == STOPPED:
            self._request = None
            return None
        if record.event in _NOT_ASKED:
            self._request = None
        if record.event == _LEADS:
            self._signs.started(record.shows_ms)
        self._hear(record, received)
        before = self._group
        self._group = after = before.read(record.state)
        if record.action != "EntryActed":
            return None
        self._signs.applied(record.shows_ms)
        heard, self._request = self._request, None
        match heard:
            case (channel, RegisterBroker(broker_id=who, incarnation=incarnation)):
                if after.incarnations.get(who) == incarnation:
                    restarted = before.incarnations.get(who) != incarnation
                    self._signs.registered(broker(who), channel, restarted=restarted)
            case (_, AlterSyncStateSet() as request):
                return self._decided(request, before, after)
            case (_, CleanBrokerData()) if not after.incarnations:
                self._signs.forget()
            case _:
                pass
        return None

    def _hear(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Note the request of a step, and signs of life."""
        if received or record.heard:
            self._signs.note_time(record.shows_ms)
        for message in received:
            if message.body is not None:
                channel = message.id.partition(":")[0].removeprefix("controller-")
                command = command_of(message.code, message.body, is_response=False)
                self._note(int(channel), request_in(command))
        for frame in heard_frames(record):
            if frame.kind == "ChannelClosed":
                self._signs.closed(frame.channel)
            else:
                self._note(frame.channel, request_in(frame.command))

    def _note(self, channel: int, request: ControllerRequest | None) -> None:
        if request is None:
            return
        self._request = (channel, request)
        match request:
            case Heartbeat(broker_id=who, incarnation=incarnation):
                if self._group.incarnations.get(who) == incarnation:
                    self._signs.beat(broker(who), channel, request.timeout_ms)
            case _:
                pass

    def _decided(
        self, request: AlterSyncStateSet, before: GroupKnown, after: GroupKnown
    ) -> RecordedDecision | None:
        joining = {int(who): int(number) for who, number in request.joining.items()}
        match self._choices.decision(request, before, after, scans=False):
            case "AlterSyncStateSet", _:
                return RecordedDecision("ApplyAlter", (), joining)
            case "RefuseAlter", _:
                amiss = self._choices.is_amiss(request, before)
                return RecordedDecision("RefuseAlter", (amiss,), joining)
            case _:
                return None

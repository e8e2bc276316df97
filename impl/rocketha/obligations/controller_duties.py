"""What the controller of a group must do, by the frames that it received and its own clock.

| on the occasion                                        | it must                                 |
|--------------------------------------------------------|-----------------------------------------|
| it scans, the master is silent, another can be elected | elect one                               |
| it elects, and nobody designated a master              | elect the best candidate                |
| it elects                                              | notify every broker that it hears       |
| a proposal of its master comes, and nothing is wrong   | take it                                 |
| a request comes                                        | answer it as `controller_answers` says  |
| bytes come that are no frame                           | close their channel                     |
| it reports an election                                 | say whether it was a clean one          |
| it has answered                                        | remember nobody who asked               |
| a broker registers                                     | call it unfit if its log is torn        |
| it scans, or loses its master                          | do as `controller_scans` says           |

Whom it elects and what it takes is said in `controller_choices`.

Source: DefaultElectPolicy, ControllerManager.doNotifyBrokerRoleChanged, ReplicasInfoManager
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    CleanBrokerData,
    ControllerRequest,
    Heartbeat,
    RegisterBroker,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.obligations.controller_answers import ControllerAnswers
from rocketha.obligations.controller_choices import ControllerChoices
from rocketha.obligations.controller_restarts import has_controller_group, kept_heartbeats
from rocketha.obligations.controller_scans import ControllerScans, refused_channels
from rocketha.obligations.controller_view import GroupKnown
from rocketha.obligations.obligation import Due, Obligation, RecordedRun, time_ms
from rocketha.obligations.recorded_frames import command_of, heard_frames, request_in
from rocketha.obligations.signs_of_life import SignsOfLife
from rocketha.recording.record import STOPPED, NodeRecord, SentMessage

__all__ = ["DUTIES_OF_THE_CONTROLLER"]

_CONTROLLER: Final = "controller"
_NOT_ASKED: Final = frozenset({"LeadershipGained", "ChannelGone", "ScanDue"})
"""After these comes an entry that is no request's."""


class _Fold:
    """Reads the records of a controller in their order."""

    def __init__(self, run: RecordedRun) -> None:
        settings = run.headers[_CONTROLLER].settings
        unclean = bool(settings.get("elect_unclean"))
        self._signs = SignsOfLife()
        self._choices = ControllerChoices(self._signs, elects_unclean=unclean)
        self._answers = ControllerAnswers(
            settings.get("broker_name"), lives=self._choices.lives, elects_unclean=unclean
        )
        self._scanning = ControllerScans(settings.get("scan_ms"))
        self._messages: dict[str, SentMessage] = {}
        self._waiting = 0
        """How many requests wait, by what the controller has in memory."""
        self._group = GroupKnown()
        self._request: tuple[int, ControllerRequest] | None = None
        self._scans = False

    def dues(self, records: Sequence[NodeRecord]) -> Iterator[Due]:
        for record in records:
            if record.node == _CONTROLLER:
                yield from self._stepped(record)
            for message in record.sent:
                self._messages[message.id] = message
        yield from self._scanning.ended()

    def _stepped(self, record: NodeRecord) -> Iterator[Due]:
        if record.event == STOPPED:
            if self._answers.broker_name is not None:
                said = self._choices.last_heartbeat
                yield from kept_heartbeats(record, self._answers.broker_name, said)
            self._request, self._scans = None, False
            self._answers.stopped()
            self._scanning.stopped()
            return
        if record.event == "LeadershipGained":
            self._signs.started(record.shows_ms)
        if record.event in _NOT_ASKED:
            self._request, self._scans = None, record.event == "ScanDue"
        if record.event == "ScanDue":
            yield from self._scanning.scanned(record)
        self._hear(record)
        for one in record.heard:
            if one["is"] == "NoFrameHeard":
                is_closed = one["channel"] in refused_channels(record)
                yield self._due(record, "close a channel on which no frame comes", is_closed)
        self._waiting = record.state.get("waiting", self._waiting)
        before = self._group
        self._group = after = before.read(record.state)
        if record.action != "EntryActed":
            yield from self._answers.given(record, before, after)
            return
        self._signs.applied(record.shows_ms)
        heard, self._request = self._request, None
        scans, self._scans = self._scans, False
        request = None if heard is None else heard[1]
        if heard is not None and isinstance(request, RegisterBroker):
            self._register(heard[0], request, before)
            yield from self._registered(record, request, before)
        yield from self._answers.given(record, before, after)
        is_forgotten = self._waiting <= self._answers.unanswered
        yield self._due(record, "remember nobody who is answered", is_forgotten)
        yield from self._reported(record, before)
        if scans:
            yield from self._scanning.closes(record, self._signs.silent_channels())
        if isinstance(request, AlterSyncStateSet) and self._choices.is_right(request, before):
            yield self._due(
                record,
                "take a proposal",
                after.set_epoch > before.set_epoch
                and after.members == request.sync_state_set.members,
            )
        is_elected = after.epoch > before.epoch and after.master is not None
        if is_elected:
            yield from self._elected(record, before, request)
        elif scans and heard is None and self._choices.owed(before) is not None:
            yield self._due(record, "elect a master in the place of a silent one", False)
        if isinstance(request, CleanBrokerData) and not after.incarnations:
            self._signs.forget()
            self._choices.forget()

    # ---- what it hears ----

    def _hear(self, record: NodeRecord) -> None:
        for name in record.received:
            message = self._messages.get(name)
            if message is not None and name.endswith(":request"):
                channel = int(name.partition(":")[0].removeprefix("controller-"))
                command = command_of(message.code, message.body, is_response=False)
                self._note(record, channel, command)
                answer = name.replace(":request", ":response")
                self._answers.asked(answer, command, time_ms(record))
        for heard in heard_frames(record):
            self._signs.note_time(record.shows_ms)
            if heard.kind == "ChannelClosed":
                master = self._group.master
                lived = master is not None and self._choices.lives(master)
                self._signs.closed(heard.channel)
                if lived and master is not None and not self._choices.lives(master):
                    self._scanning.lost_master(record)
            else:
                self._note(record, heard.channel, heard.command)
                if heard.opaque:
                    answer = f"controller-{heard.channel}:{heard.opaque}:response"
                    self._answers.asked(answer, heard.command, time_ms(record))

    def _note(self, record: NodeRecord, channel: int, command: RemotingCommand) -> None:
        self._signs.note_time(record.shows_ms)
        request = request_in(command)
        if request is None:
            return
        self._request = (channel, request)
        if isinstance(request, Heartbeat):
            broker = request.broker_id
            if self._group.incarnations.get(broker) == request.incarnation:
                self._signs.beat(_name(broker), channel, request.timeout_ms)
                self._choices.beat(request)

    def _register(self, channel: int, request: RegisterBroker, before: GroupKnown) -> None:
        broker = int(request.broker_id)
        if self._group.incarnations.get(broker) != request.incarnation:
            return
        is_new = before.incarnations.get(broker) != request.incarnation
        self._signs.registered(_name(broker), channel, restarted=is_new)
        if is_new:
            self._choices.restarted(broker)

    # ---- what it owes ----

    def _registered(
        self, record: NodeRecord, request: RegisterBroker, before: GroupKnown
    ) -> Iterator[Due]:
        """Yield that who registers is called unfit if it says that its log is torn, or else not.

        Who is not a member, or was registered before, need not be called so.
        """
        if before.master is not None and self._group.master is None:
            self._scanning.lost_master(record)
        broker, unfit = int(request.broker_id), before.unfit
        is_new = before.incarnations.get(broker) != self._group.incarnations.get(broker)
        if is_new and request.log_torn and broker in before.members:
            unfit |= {broker}
        what = f"call {_name(broker)} unfit just if its log is torn"
        yield self._due(record, what, self._group.unfit == unfit)

    def _elected(
        self, record: NodeRecord, before: GroupKnown, request: ControllerRequest | None
    ) -> Iterator[Due]:
        elected = self._group.master
        assert elected is not None
        named = self._choices.elected(before, request)
        yield self._due(
            record, f"elect b{named}, the best candidate, or whom it is asked for", elected == named
        )
        notified = {
            message.to
            for message in record.sent
            if message.code == RequestCode.NOTIFY_BROKER_ROLE_CHANGED
        }
        for broker in sorted(before.incarnations):
            if self._choices.lives(broker):
                name = _name(broker)
                yield self._due(record, f"notify {name} of an election", name in notified)

    def _reported(self, record: NodeRecord, before: GroupKnown) -> Iterator[Due]:
        """Yield that an election is reported as what it was: others go by that."""
        name = self._answers.broker_name
        for one in record.params.get("events", ()):
            if one["is"] == "MasterElected" and one["broker_name"] == name:
                is_clean = before.epoch == 0 or one["master"] in before.members - before.unfit
                what = "report whether an elected master had every acknowledged message"
                yield self._due(record, what, one["clean"] == is_clean)

    def _due(self, record: NodeRecord, what: str, is_done: bool) -> Due:
        at_ms = time_ms(record)
        done_ms = at_ms if is_done else None
        return Due(node=_CONTROLLER, since_ms=at_ms, by_ms=at_ms, what=what, done_ms=done_ms)


def _name(broker: int) -> str:
    return f"b{broker}"


def _dues(run: RecordedRun) -> Iterator[Due]:
    if has_controller_group(run):
        return iter(())  # what its members say is judged by what brokers hear
    return _Fold(run).dues(run.records)


DUTIES_OF_THE_CONTROLLER: Final = Obligation(name="duties of the controller", dues=_dues)

"""What the controller of a group must do, by the frames that it received and its own clock.

| on the occasion                                        | it must                                 |
|--------------------------------------------------------|-----------------------------------------|
| it scans, the master is silent, another can be elected | elect one                               |
| it elects, and nobody designated a master              | elect the best candidate                |
| it elects                                              | notify every broker that it hears       |
| a proposal of its master comes, and nothing is wrong   | take it                                 |

Who can be elected, and who is the best, is DefaultElectPolicy's: a member that lives with the
greatest epoch and then log end, by its last heartbeat, then with the least priority; of equals,
ours elects the one with the least id. A member that registered with a torn log cannot.

Source: DefaultElectPolicy, ControllerManager.doNotifyBrokerRoleChanged, ReplicasInfoManager
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    CleanBrokerData,
    ControllerRequest,
    ElectMaster,
    Heartbeat,
    RegisterBroker,
)
from rocketha.obligations.obligation import Due, Obligation, RecordedRun, time_ms
from rocketha.obligations.recorded_frames import command_of, heard_frames, request_in
from rocketha.obligations.signs_of_life import SignsOfLife
from rocketha.recording.record import STOPPED, NodeRecord, SentMessage
from rocketha.types import INT32_MAX

__all__ = ["DUTIES_OF_THE_CONTROLLER"]

_CONTROLLER: Final = "controller"


@dataclass(slots=True)
class _Group:
    """What the controller's log says of the group."""

    master: int | None = None
    epoch: int = 0
    members: frozenset[int] = frozenset()
    set_epoch: int = 0
    unfit: frozenset[int] = frozenset()
    incarnations: dict[int, int] = field(default_factory=dict)

    def read(self, state: dict[str, Any]) -> _Group:
        """Return what it says after a step."""
        found = state.get("sync_state_set")
        return _Group(
            master=state.get("master", self.master),
            epoch=state.get("master_epoch", self.epoch),
            members=self.members if found is None else frozenset(found["members"]),
            set_epoch=self.set_epoch if found is None else found["epoch"],
            unfit=frozenset(state.get("unfit", self.unfit)),
            incarnations=dict(state.get("incarnations", self.incarnations.items())),
        )


class _Fold:
    """Reads the records of a controller in their order."""

    def __init__(self, run: RecordedRun) -> None:
        self._elects_unclean = bool(run.headers[_CONTROLLER].settings.get("elect_unclean"))
        self._messages: dict[str, SentMessage] = {}
        self._signs = SignsOfLife()
        self._heard: dict[int, Heartbeat] = {}
        """Broker -> the last heartbeat of its registered incarnation."""
        self._group = _Group()
        self._request: tuple[int, ControllerRequest] | None = None
        self._scans = False

    def dues(self, records: Sequence[NodeRecord]) -> Iterator[Due]:
        for record in records:
            if record.node == _CONTROLLER:
                yield from self._stepped(record)
            for message in record.sent:
                self._messages[message.id] = message

    def _stepped(self, record: NodeRecord) -> Iterator[Due]:
        if record.event == STOPPED:
            self._request, self._scans = None, False
            return
        if record.event == "LeadershipGained":
            self._signs.started(record.shows_ms)
        if record.event == "ScanDue":
            self._scans = True
        self._hear(record)
        before = self._group
        self._group = after = before.read(record.state)
        if record.action != "EntryActed":
            return
        self._signs.note_time(record.shows_ms)
        heard, self._request = self._request, None
        scans, self._scans = self._scans, False
        request = None if heard is None else heard[1]
        if heard is not None and isinstance(request, RegisterBroker):
            self._register(heard[0], request, before)
        if isinstance(request, AlterSyncStateSet) and self._is_right(request, before):
            yield self._due(
                record,
                "take a proposal",
                after.set_epoch > before.set_epoch
                and after.members == request.sync_state_set.members,
            )
        is_elected = after.epoch > before.epoch and after.master is not None
        if is_elected:
            yield from self._elected(record, before, request)
        elif scans and heard is None and self._is_owed(before):
            yield self._due(record, "elect a master in the place of a silent one", False)
        if isinstance(request, CleanBrokerData) and not after.incarnations:
            self._signs.forget()
            self._heard.clear()

    # ---- what it hears ----

    def _hear(self, record: NodeRecord) -> None:
        for name in record.received:
            message = self._messages.get(name)
            if message is not None and name.endswith(":request"):
                channel = int(name.partition(":")[0].removeprefix("controller-"))
                self._note(record, channel, message.code, message.body)
        for heard in heard_frames(record):
            self._signs.note_time(record.shows_ms)
            if heard.kind == "ChannelClosed":
                self._signs.closed(heard.channel)
            else:
                self._note(record, heard.channel, heard.code, heard.body)

    def _note(self, record: NodeRecord, channel: int, code: int | None, body: str | None) -> None:
        self._signs.note_time(record.shows_ms)
        request = request_in(command_of(code, body, is_response=False))
        if request is None:
            return
        self._request = (channel, request)
        if isinstance(request, Heartbeat):
            broker = request.broker_id
            if self._group.incarnations.get(broker) == request.incarnation:
                self._signs.beat(_name(broker), channel, request.timeout_ms)
                self._heard[broker] = request

    def _register(self, channel: int, request: RegisterBroker, before: _Group) -> None:
        broker = int(request.broker_id)
        if self._group.incarnations.get(broker) != request.incarnation:
            return
        is_new = before.incarnations.get(broker) != request.incarnation
        self._signs.registered(_name(broker), channel, restarted=is_new)
        if is_new:
            self._heard.pop(broker, None)

    # ---- what it owes ----

    def _lives(self, broker: int) -> bool:
        return self._signs.is_alive(_name(broker))

    def _candidates(self, group: _Group) -> frozenset[int]:
        """Return who can be elected: members first, then, if that is allowed, anybody."""
        fit = frozenset(b for b in group.members - group.unfit if self._lives(b))
        if fit or not self._elects_unclean:
            return fit
        return frozenset(b for b in group.incarnations if self._lives(b))

    def _is_owed(self, group: _Group) -> bool:
        is_new = group.master is None and not group.members
        lives = group.master is not None and self._lives(group.master)
        return not is_new and not lives and bool(self._candidates(group))

    def _elected(
        self, record: NodeRecord, before: _Group, request: ControllerRequest | None
    ) -> Iterator[Due]:
        elected = self._group.master
        assert elected is not None
        asked = request.broker_id if isinstance(request, ElectMaster) else None
        is_designated = isinstance(request, ElectMaster) and request.designate_elect
        if is_designated or not before.members:
            yield self._due(record, f"elect b{asked}, as it is asked to", elected == asked)
        else:
            best = min(self._candidates(before), key=self._rank, default=None)
            yield self._due(record, f"elect the best candidate, b{best}", elected == best)
        notified = {
            message.to
            for message in record.sent
            if message.code == RequestCode.NOTIFY_BROKER_ROLE_CHANGED
        }
        for broker in sorted(before.incarnations):
            if self._lives(broker):
                name = _name(broker)
                yield self._due(record, f"notify {name} of an election", name in notified)

    def _rank(self, broker: int) -> tuple[int, int, int, int]:
        last = self._heard.get(broker)
        if last is None:
            return 1, 1, INT32_MAX, broker
        priority = INT32_MAX if last.election_priority is None else last.election_priority
        return -(last.epoch or 0), -(last.max_offset or 0), priority, broker

    def _is_right(self, request: AlterSyncStateSet, group: _Group) -> bool:
        """Tell whether nothing speaks against a proposal."""
        found = request.sync_state_set
        return (
            (request.master_broker_id, request.master_epoch) == (group.master, group.epoch)
            and found.epoch == group.set_epoch
            and found.members != group.members
            and group.master in found.members
            and all(self._lives(broker) for broker in found.members)
            and all(group.incarnations.get(b) == i for b, i in request.joining.items())
        )

    def _due(self, record: NodeRecord, what: str, is_done: bool) -> Due:
        at_ms = time_ms(record)
        done_ms = at_ms if is_done else None
        return Due(node=_CONTROLLER, since_ms=at_ms, by_ms=at_ms, what=what, done_ms=done_ms)


def _name(broker: int) -> str:
    return f"b{broker}"


def _dues(run: RecordedRun) -> Iterator[Due]:
    return _Fold(run).dues(run.records)


DUTIES_OF_THE_CONTROLLER: Final = Obligation(name="duties of the controller", dues=_dues)

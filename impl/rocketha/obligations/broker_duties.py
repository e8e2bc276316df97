"""What a broker of a group must do, by what it heard, had and sent, and its settings.

| on the occasion                                           | it must                              |
|-----------------------------------------------------------|--------------------------------------|
| it is not registered                                      | ask the controller, again and again  |
| it is registered                                          | send heartbeats, and ask who is      |
|                                                           | master, each in its interval         |
| it sends a heartbeat                                      | say in it what it has, be registered,|
|                                                           | and not have sent one just before    |
| it sends a request                                        | give it a number that no request of  |
|                                                           | any of its starts had                |
| it hears a notice of an epoch that it does not know       | take its role in it                  |
| it hears that there is no master                          | have asked for an election           |
| it is master, and hears a newer set of its epoch          | take it                              |
| a producer, or a consumer, asks it                        | answer in time, and refuse only with |
|                                                           | a reason; PUT_OK, with a synchronous |
|                                                           | flush, is after the next flush       |
| it proposes another set                                   | send that, in the same step          |
| it is master, and its proposal is not decided             | send it again                        |
| it is master, and a member is not connected, for long     | propose to remove it                 |
| it is master, and a slave has reported all, for long      | propose to add it                    |

Clocks run at 800 to 1,250 permille of the true time: each duration may be so much longer.

Source: ReplicasManager, BrokerController.sendHeartbeat, AutoSwitchHAService, CommitLog
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.controller_requests import AlterSyncStateSet, ElectMaster, Heartbeat
from rocketha.formats.controller_responses import Registered, ReplicaInfo
from rocketha.obligations.obligation import Due, Obligation, RecordedRun, time_ms
from rocketha.obligations.recorded_frames import (
    command_of,
    heard_frames,
    notice_in,
    reply_in,
    requests_sent,
)
from rocketha.recording.record import STARTED, STOPPED, NodeRecord, SentMessage
from rocketha.types import TimestampMs

__all__ = ["DUTIES_OF_BROKERS"]

_SLOWEST: Final = 1.25
_FASTEST: Final = 0.75
_SLACK_MS: Final = 60
_REGISTERED: Final = "Registered"
_WAITS: Final = "request_timeout_ms"
_REQUEST: Final = ":request"
_PROPOSALS: Final = ("MaybeExpand", "MaybeShrink")
_REFUSALS: Final = ("SERVICE_NOT_AVAILABLE", "IN_SYNC_REPLICAS_NOT_ENOUGH")


@dataclass(frozen=True, slots=True)
class _Have:
    """What a broker has after a step."""

    registration: str = ""
    incarnation: int = 0
    role: str = ""
    known_epoch: int = 0
    epochs: tuple[Mapping[str, int], ...] = ()
    records: int = 0
    local: Mapping[str, Any] = field(default_factory=dict)
    pending: Mapping[str, Any] | None = None
    confirm: int = 0
    servers: tuple[tuple[int, Mapping[str, Any]], ...] = ()

    @property
    def serves(self) -> bool:
        """Tell whether it is a master that the controller knows."""
        return self.role == "Master" and self.registration == _REGISTERED

    @property
    def members(self) -> frozenset[int]:
        """Return the set that it works with."""
        return frozenset(self.local.get("members", ()))

    def after(self, state: Mapping[str, Any]) -> _Have:
        """Return what it has after another step."""
        changed = {n: state[n] for n in _Have.__dataclass_fields__ if n in state}
        if "log" in state:
            changed["records"] = state["log"]["kept"] + len(state["log"]["added"])
        return replace(self, **changed) if changed else self


@dataclass(slots=True)
class _Repeated:
    """Something that is to be done again and again; None: not at the moment."""

    what: str
    within_ms: int
    since_ms: TimestampMs | None = None


class _Broker:
    """Reads the records of one broker in their order."""

    def __init__(self, name: str, settings: Mapping[str, Any]) -> None:
        self._name = name
        self._settings = settings
        self._have = _Have()
        self._asked: dict[str, tuple[int, TimestampMs]] = {}
        """The id of an answer -> the code of the request, and when that was sent."""
        self._answered: dict[str, int] = {}
        """The answer of this step, and the code of the request."""
        self._sent_to_it: dict[str, list[SentMessage]] = {}
        """Answers that are under way to it, by their ids."""
        self._numbers: set[str] = set()
        """Of all its requests so far, whichever start they are of."""
        self._registered_ms = TimestampMs(0)
        self._puts: dict[int, TimestampMs] = {}
        self._unflushed: set[int] = set()
        """Puts after which the disk has not flushed the log."""
        self._beat_ms: TimestampMs | None = None
        """When its last heartbeat was since it is registered."""
        self._was_told_who_leads = False
        """A controller has said since who leads: the next heartbeat need not wait."""
        self._elections: list[TimestampMs] = []
        """When it asked for one."""
        self._repeated = {
            "register": _Repeated("ask to be registered", self._ms(_WAITS)),
            "beat": _Repeated("send a heartbeat", self._ms("heartbeat_interval_ms")),
            "poll": _Repeated("ask who is master", self._ms("sync_metadata_ms")),
            "alter": _Repeated(
                "send its proposal again",
                self._ms("check_sync_state_set_ms") + self._ms(_WAITS),
            ),
        }
        self._lasting: dict[tuple[str, int], TimestampMs] = {}
        """What it must not let be, and whose -> since when it is so."""

    def _ms(self, *settings: str) -> int:
        """Return how long the longest of some durations is for the slowest clock."""
        longest = max(int(self._settings[name]) for name in settings)
        return int(longest * _SLOWEST) + _SLACK_MS

    def take(self, record: NodeRecord) -> Iterator[Due]:
        """Yield what comes due in a step, or is done in it."""
        before = self._have
        self._have = have = before.after(record.state)
        at_ms = time_ms(record)
        if have.registration != before.registration:
            self._registered_ms, self._beat_ms = at_ms, None
        if record.event in (STARTED, STOPPED):
            self._begin_anew(record)
        if record.event == STOPPED:
            return  # the step under way was never over
        yield from self._beats(record, at_ms)
        yield from self._hears(record, before, at_ms)
        yield from self._asks(record, at_ms)
        yield from self._clients(record, before, at_ms)
        yield from self._proposes(record, at_ms)
        yield from self._repeats(record, at_ms)
        yield from self._lasts(have, at_ms)

    def hear_of(self, message: SentMessage) -> None:
        """Note an answer that is sent to it."""
        self._sent_to_it.setdefault(message.id, []).append(message)

    def _begin_anew(self, record: NodeRecord) -> None:
        self._asked.clear()
        self._puts.clear()
        self._unflushed.clear()
        self._beat_ms = None
        self._elections.clear()
        self._lasting.clear()
        for one in self._repeated.values():
            one.since_ms = None
        if record.event == STOPPED:
            self._have = _Have()

    # ---- again and again ----

    def _repeats(self, record: NodeRecord, at_ms: TimestampMs) -> Iterator[Due]:
        have = self._have
        codes = {message.code for message in record.sent}
        is_registered = have.registration == _REGISTERED
        done = {
            "register": (not is_registered, bool(codes & _REGISTERING)),
            "beat": (is_registered, RequestCode.BROKER_HEARTBEAT in codes),
            "poll": (is_registered, RequestCode.GET_REPLICA_INFO in codes),
            "alter": (
                have.role == "Master" and have.pending is not None,
                RequestCode.ALTER_SYNC_STATE_SET in codes,
            ),
        }
        for name, (is_due, is_done) in done.items():
            one = self._repeated[name]
            since_ms = one.since_ms
            is_late = since_ms is not None and at_ms > since_ms + one.within_ms
            if since_ms is not None and (is_done or is_late or not is_due):
                yield self._due(since_ms, since_ms + one.within_ms, one.what, at_ms)
                one.since_ms = None
            if is_due and (is_done or one.since_ms is None):
                one.since_ms = at_ms

    def _proposes(self, record: NodeRecord, at_ms: TimestampMs) -> Iterator[Due]:
        """Yield that a set is sent in the step that proposes it."""
        proposed = self._have.pending
        if record.action not in _PROPOSALS or proposed is None:
            return
        sent = [
            (request.sync_state_set.members, request.sync_state_set.epoch)
            for request in requests_sent(record)
            if isinstance(request, AlterSyncStateSet)
        ]
        is_done = (frozenset(proposed["members"]), proposed["expected"]) in sent
        yield self._due(at_ms, at_ms, "send its proposal", at_ms if is_done else None)

    def _lasts(self, have: _Have, at_ms: TimestampMs) -> Iterator[Due]:
        """Yield the members that it keeps, and the slaves that it does not let join."""
        present: dict[tuple[str, int], int] = {}
        if have.serves and have.pending is None:
            newest = {end["slave"]: end for _, end in sorted(have.servers) if end["slave"]}
            me = int(self._name.removeprefix("b"))
            check_ms = self._ms("check_sync_state_set_ms")
            for member in have.members - newest.keys() - {me}:
                within_ms = self._ms("slave_not_catchup_ms") + 3 * check_ms
                present[f"propose to remove b{member}", member] = within_ms
            start = have.epochs[-1]["start_offset"] if have.epochs else 0
            for slave, end in newest.items():
                if slave not in have.members and end["slave_ack"] >= max(have.confirm, start):
                    within_ms = 3 * self._ms("housekeeping_ms")
                    present[f"propose to add b{slave}", slave] = within_ms
        for key in [key for key in self._lasting if key not in present]:
            del self._lasting[key]
        for key, within_ms in present.items():
            since_ms = self._lasting.setdefault(key, at_ms)
            if at_ms > since_ms + within_ms:
                del self._lasting[key]
                yield self._due(since_ms, since_ms + within_ms, key[0], None)

    # ---- what it says and hears ----

    def _beats(self, record: NodeRecord, at_ms: TimestampMs) -> Iterator[Due]:
        have = self._have
        for request in requests_sent(record):
            if isinstance(request, ElectMaster):
                self._elections.append(at_ms)
            if not isinstance(request, Heartbeat):
                continue
            last = have.epochs[-1]["epoch"] if have.epochs else 0
            said = (request.broker_id, request.incarnation, request.confirm_offset, request.epoch)
            has = (int(self._name.removeprefix("b")), have.incarnation, have.confirm, last)
            what = f"say in a heartbeat what it has, {has}, not {said}"
            yield self._due(at_ms, at_ms, what, at_ms if said == has else None)
            times = (request.timeout_ms, self._settings["heartbeat_timeout_ms"])
            what = f"say how long a heartbeat holds, {times[1]} ms, not {times[0]}"
            yield self._due(at_ms, at_ms, what, at_ms if times[0] == times[1] else None)
        yield from self._beats_in_time(record, at_ms)
        for message in record.sent:
            if message.code is not None and message.id.endswith(_REQUEST):
                number = message.id.split(":")[1]
                what = f"give request {number} a number of its own"
                yield self._due(at_ms, at_ms, what, None if number in self._numbers else at_ms)
                self._numbers.add(number)
                answer = message.id.replace(":request", ":response")
                self._asked[answer] = message.code, at_ms

    def _beats_in_time(self, record: NodeRecord, at_ms: TimestampMs) -> Iterator[Due]:
        for message in record.sent:
            if message.code != RequestCode.BROKER_HEARTBEAT:
                continue
            before_ms, self._beat_ms = self._beat_ms, at_ms
            is_told, self._was_told_who_leads = self._was_told_who_leads, False
            interval = "heartbeat_interval_ms"
            is_right = self._have.registration == _REGISTERED and (
                before_ms is None or self._is_late(before_ms, at_ms, interval) or is_told
            )
            what = "send a controller heartbeats once in an interval, when it is registered"
            yield self._due(at_ms, at_ms, what, at_ms if is_right else None)

    def _hears(
        self,
        record: NodeRecord,
        before: _Have,
        at_ms: TimestampMs,
    ) -> Iterator[Due]:
        for heard in heard_frames(record):
            notice = notice_in(command_of(heard.code, heard.body, is_response=False))
            if notice is not None and before.registration == _REGISTERED:
                yield from self._learns(before, notice.master_epoch, at_ms)
        for name in record.received:
            asked = self._asked.pop(name, None)
            if asked is not None:
                self._answered = {name: asked[0]}
                if asked[0] == RequestCode.GET_METADATA_INFO:
                    self._was_told_who_leads = True
            if asked is None or self._is_late(asked[1], at_ms, _WAITS):
                continue  # it may wait for that no more
            infos = self._infos(name, asked[0])
            if infos and all(info.master_broker_id is not None for info in infos):
                yield from self._learns(before, min(info.master_epoch for info in infos), at_ms)
            elif infos and all(info.master_broker_id is None for info in infos):
                oldest = min(info.master_epoch for info in infos)
                yield from self._wants_master(before, oldest, at_ms)

    def _infos(self, name: str, code: int) -> Sequence[ReplicaInfo]:
        """Return what it may have heard of its group; of what is no such answer, nothing.

        A request that arrives twice is answered twice, with the same id: either answer is heard.
        """
        replies = [reply_in(message, code) for message in self._sent_to_it.get(name, ())]
        contents = [None if reply is None else reply.content for reply in replies]
        infos = [content for content in contents if isinstance(content, ReplicaInfo)]
        return infos if len(infos) == len(contents) else ()

    def _asks(self, record: NodeRecord, at_ms: TimestampMs) -> Iterator[Due]:
        """Yield that it asks for an election, and whether it has heard that there is no master."""
        if any(isinstance(request, ElectMaster) for request in requests_sent(record)):
            # A request that arrives twice is answered twice, and the answers may differ.
            is_leaderless = any(
                _names_no_master(answer, self._answered.get(name))
                for name in record.received
                for answer in self._sent_to_it.get(name, ())
            )
            what = "ask for an election only where there is no master"
            yield self._due(at_ms, at_ms, what, at_ms if is_leaderless else None)

    def _learns(self, before: _Have, epoch: int, at_ms: TimestampMs) -> Iterator[Due]:
        if epoch > before.known_epoch:
            is_done = self._have.known_epoch >= epoch
            what = f"take its role in master epoch {epoch}"
            yield self._due(at_ms, at_ms, what, at_ms if is_done else None)

    def _wants_master(self, before: _Have, epoch: int, at_ms: TimestampMs) -> Iterator[Due]:
        if before.registration != _REGISTERED or epoch < before.known_epoch:
            return
        since_ms = at_ms - self._ms(_WAITS)
        if self._registered_ms > since_ms:
            return
        is_done = any(asked_ms >= since_ms for asked_ms in self._elections)
        yield self._due(at_ms, at_ms, "ask for an election", at_ms if is_done else None)

    # ---- clients ----

    def _clients(self, record: NodeRecord, before: _Have, at_ms: TimestampMs) -> Iterator[Due]:
        if record.event == "LogFlushed":
            self._unflushed.clear()
        for one in record.heard:
            match one:
                case {"is": "PutHeard", "put": put}:
                    self._puts[put] = at_ms
                    self._unflushed.add(put)
                    yield self._refuses(record, before, put, at_ms)
                case {"is": "PullHeard", "pull": pull}:
                    shown = [a["data"] for a in record.answered if a.get("pull") == pull]
                    is_right = bool(shown) and (shown[0] is not None) == before.serves
                    what = f"answer pull {pull}, with its log if it is a master"
                    yield self._due(at_ms, at_ms, what, at_ms if is_right else None)
                case _:
                    pass
        for answer in record.answered:
            if answer.get("is") == "AnswerPut":
                yield from self._put_answered(answer, before, at_ms)
        for put, since_ms in list(self._puts.items()):
            if at_ms > since_ms + self._patience_ms:
                del self._puts[put]
                yield self._due(since_ms, since_ms + self._patience_ms, f"answer put {put}", None)

    @property
    def _patience_ms(self) -> int:
        flushes = ("sync_flush_timeout_ms",) if self._settings["sync_flush"] else ()
        return self._ms("slave_timeout_ms", *flushes)

    def _refuses(self, record: NodeRecord, before: _Have, put: int, at_ms: TimestampMs) -> Due:
        """Return that a producer is refused for a reason, or is not."""
        statuses = [a["status"] for a in record.answered if a.get("put") == put]
        expected = None
        if not before.serves:
            expected = "SERVICE_NOT_AVAILABLE"
        elif len(before.members) < self._settings["min_in_sync_replicas"]:
            expected = "IN_SYNC_REPLICAS_NOT_ENOUGH"
        found = next((status for status in statuses if status in _REFUSALS), None)
        what = f"take put {put}" if expected is None else f"refuse put {put}: {expected}"
        return self._due(at_ms, at_ms, what, at_ms if found == expected else None)

    def _put_answered(
        self, answer: Mapping[str, Any], before: _Have, at_ms: TimestampMs
    ) -> Iterator[Due]:
        put, status = answer["put"], answer["status"]
        since_ms = self._puts.pop(put, None)
        if since_ms is None:
            yield self._due(at_ms, at_ms, f"answer put {put} once, and in time", None)
            return
        yield self._due(since_ms, since_ms + self._patience_ms, f"answer put {put}", at_ms)
        is_late = {
            "FLUSH_DISK_TIMEOUT": self._is_late(since_ms, at_ms, "sync_flush_timeout_ms"),
            "FLUSH_SLAVE_TIMEOUT": self._is_late(since_ms, at_ms, "slave_timeout_ms")
            or before.known_epoch != self._have.known_epoch,
        }
        if status == "PUT_OK" and self._settings["sync_flush"]:
            what = f"answer put {put} with PUT_OK when it is on the disk"
            yield self._due(at_ms, at_ms, what, None if put in self._unflushed else at_ms)
        if status in is_late:
            what = f"wait before it answers put {put} with {status}"
            yield self._due(at_ms, at_ms, what, at_ms if is_late[status] else None)

    def _is_late(self, since_ms: TimestampMs, at_ms: TimestampMs, setting: str) -> bool:
        return at_ms - since_ms >= int(self._settings[setting] * _FASTEST)

    def _due(self, since_ms: int, by_ms: int, what: str, done_ms: TimestampMs | None) -> Due:
        return Due(
            node=self._name,
            since_ms=TimestampMs(since_ms),
            by_ms=TimestampMs(by_ms),
            what=what,
            done_ms=done_ms,
        )


def _names_no_master(answer: SentMessage, request_code: int | None) -> bool:
    reply = None if request_code is None else reply_in(answer, request_code)
    match None if reply is None else reply.content:
        case ReplicaInfo(master_broker_id=None) | Registered(master=None):
            return True
        case _:
            return False


_REGISTERING: Final = frozenset(
    {
        RequestCode.GET_NEXT_BROKER_ID,
        RequestCode.APPLY_BROKER_ID,
        RequestCode.REGISTER_BROKER,
    }
)


def _dues(run: RecordedRun) -> Iterator[Due]:
    brokers = {
        name: _Broker(name, header.settings)
        for name, header in run.headers.items()
        if header.settings.get("kind") == "broker"
    }
    for record in run.records:
        if record.node in brokers:
            yield from brokers[record.node].take(record)
        for message in record.sent:
            if message.to in brokers:
                brokers[message.to].hear_of(message)


DUTIES_OF_BROKERS: Final = Obligation(name="duties of brokers", dues=_dues)

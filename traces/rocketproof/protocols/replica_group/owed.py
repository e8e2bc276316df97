"""What brokers owe to clients and to their controller: what is answered, and what is missed.

The specification asks who may refuse a client, how long a producer may wait, what a consumer is
shown (`RefuseCall`, `Waiting`, `TimeOut`, `Shown`, `ShownNothing`), and of whom something may be
missed (`Silent`, `KeepMember`). It has no time: this reads the clock of the broker, by which the
durations of its settings are meant.

| missed of a broker that is up                | by when                                          |
|----------------------------------------------|--------------------------------------------------|
| the answer to a consumer                     | in the step that takes the call                  |
| the one answer to a producer                 | when it need not wait for slaves, nor the disk   |
| the flush that a producer waits for          | before it has waited in vain, but for slow disks |
| a heartbeat, a query who is master           | an interval after the last one                   |
| its proposal, while it is not decided        | when it looks again, and an answer is late       |
| a smaller set, of who is not connected       | when that has not caught up for too long         |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from rocketha.formats.controller_codes import RequestCode

__all__ = ["BrokerDurations", "OwedByBroker", "Shows"]

_SLACK_MS: Final = 60
"""What is due is done by a timer, which may come late."""
_LOOKS: Final = 3
"""A master looks so often before it must have seen who is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerDurations:
    """How long a broker may take for what it owes, in milliseconds of its clock."""

    sync_flush: bool
    """Whether a producer waits for the disk."""
    sync_flush_timeout_ms: int
    slave_timeout_ms: int
    heartbeat_interval_ms: int
    sync_metadata_ms: int
    request_timeout_ms: int
    check_sync_state_set_ms: int
    slave_not_catchup_ms: int

    @property
    def of_puts_ms(self) -> int:
        """Return how long a producer waits at most."""
        flush_ms = self.sync_flush_timeout_ms if self.sync_flush else 0
        return max(self.slave_timeout_ms, flush_ms)

    @property
    def of_proposals_ms(self) -> int:
        """Return how long it takes until a proposal is sent again."""
        return self.check_sync_state_set_ms + self.request_timeout_ms

    @property
    def of_members_ms(self) -> int:
        """Return how long a member may be away until it is proposed to remove it."""
        return self.slave_not_catchup_ms + _LOOKS * self.check_sync_state_set_ms


_REPEATED: Final[Mapping[RequestCode, Callable[[BrokerDurations], int]]] = {
    RequestCode.BROKER_HEARTBEAT: lambda of: of.heartbeat_interval_ms,
    RequestCode.GET_REPLICA_INFO: lambda of: of.sync_metadata_ms,
    RequestCode.ALTER_SYNC_STATE_SET: lambda of: of.of_proposals_ms,
}
"""What is sent again and again, and how often."""


@dataclass(frozen=True, slots=True)
class Shows:
    """An action of ReplicaGroup that shows what a broker has, and its argument behind the broker.

    None: there is none. A number is one of records; a broker is named by its id.
    """

    action: str
    argument: int | None = None


@dataclass(slots=True)
class _Put:
    asked_ms: int
    end: int | None = None
    """Where its message ends, in records; None: it is not known to be taken yet."""
    is_flushed: bool = False
    has_slow_disk: bool = False
    is_of_before: bool = False
    """Its master has begun another epoch since: it is answered when the next message is safe."""


@dataclass(slots=True)
class OwedByBroker:
    """What one broker owes in the incarnation that it is in.

    What a step shows is returned when the step is over: answers come before the state in which they
    are given.
    """

    durations: BrokerDurations
    _puts: dict[int, _Put] = field(default_factory=dict)
    _pulls: set[int] = field(default_factory=set)
    _shows: list[Shows] = field(default_factory=list)
    _since_ms: dict[RequestCode, int] = field(default_factory=dict)
    """Since when it was not asked what is asked again and again."""
    _asks: tuple[bool, bool] | None = None
    """Whether it was registered, and had a proposal, when this was looked at; None: look again."""
    _due_ms: int = 0
    """Until when nothing of this is late."""
    _away_ms: dict[int, int] = field(default_factory=dict)
    """Since when a member has no connection that it might be removed for."""
    _waited: tuple[object, ...] = ()
    _within_ms: dict[RequestCode, int] = field(init=False)
    """How often it must ask what is asked again and again."""

    def __post_init__(self) -> None:
        """Note what its settings say."""
        asked = _REPEATED.items()
        self._within_ms = {code: of(self.durations) + _SLACK_MS for code, of in asked}

    # ---- clients ----

    def put_asked(self, put: int, now_ms: int) -> None:
        """Note a producer's call."""
        self._puts[put] = _Put(now_ms)

    def put_answered(self, put: int, status: str, end: int | None, now_ms: int) -> None:
        """Note the answer to a producer; `end` is where its message ends, in records.

        A second answer speaks of a message that nobody has sent. Who lets a producer wait shorter
        than he should is master no more.
        """
        asked = self._puts.pop(put, None)
        if asked is None:
            self._shows.append(Shows("PutMessage"))
            return
        if status == "SERVICE_NOT_AVAILABLE" or self._is_early(status, now_ms - asked.asked_ms):
            self._shows.append(Shows("RefuseCall"))
        elif status == "FLUSH_DISK_TIMEOUT" and not (asked.is_flushed or asked.has_slow_disk):
            self._shows.append(Shows("Silent"))
        if asked.is_of_before:
            return
        is_safe_on_disk = status == "FLUSH_DISK_TIMEOUT" and asked.is_flushed
        if end is not None and (status == "FLUSH_SLAVE_TIMEOUT" or is_safe_on_disk):
            self._shows.append(Shows("TimeOut", end))

    def _is_early(self, status: str, waited_ms: int) -> bool:
        durations = self.durations
        if status == "FLUSH_DISK_TIMEOUT":
            return not durations.sync_flush or waited_ms < durations.sync_flush_timeout_ms
        return status == "FLUSH_SLAVE_TIMEOUT" and waited_ms < durations.slave_timeout_ms

    def pull_asked(self, pull: int) -> None:
        """Note a consumer's call."""
        self._pulls.add(pull)

    def pull_answered(self, pull: int, start: int, end: int | None) -> None:
        """Note what a consumer is shown: the records from `start` to `end`; None: it is refused."""
        self._pulls.discard(pull)
        if end is None:
            self._shows.append(Shows("RefuseCall"))
        else:
            self._shows.append(Shows("Shown" if end > start else "ShownNothing", end))

    def flushed(self) -> None:
        """Note that all that was written is on the disk, as the broker hears."""
        for put in self._puts.values():
            put.is_flushed = True

    def disk_is_slow(self) -> None:
        """Note that the disk takes longer than it should for what is written now."""
        for put in self._puts.values():
            put.has_slow_disk = True

    def began_epoch(self) -> None:
        """Note that a broker is master anew, and keeps who waited for it."""
        for put in self._puts.values():
            put.is_of_before = True

    # ---- the controller ----

    def sent(self, code: int, now_ms: int) -> None:
        """Note a request to the controller."""
        if code in _REPEATED:
            if code not in self._since_ms:
                self._asks = None
            self._since_ms[RequestCode(code)] = now_ms

    # ---- steps ----

    def step_is_over(
        self, *, records: int, now_ms: int, is_registered: bool, proposes: bool
    ) -> Iterator[Shows]:
        """Yield what was shown in a step, and what is missed behind it.

        `records` is the length of the log, `proposes` whether a proposal of it is not decided.
        """
        if self._shows:
            shows, self._shows = self._shows, []
            yield from shows
        if self._pulls:
            self._pulls.clear()
            yield Shows("Silent")
        if self._puts:
            yield from self._late_puts(records, now_ms)
        if now_ms > self._due_ms or self._asks != (is_registered, proposes):
            self._asks = (is_registered, proposes)
            yield from self._late_requests(now_ms, is_registered=is_registered, proposes=proposes)

    def _late_requests(
        self, now_ms: int, *, is_registered: bool, proposes: bool
    ) -> Iterator[Shows]:
        for code, within_ms in self._within_ms.items():
            is_wanted = proposes or code is not RequestCode.ALTER_SYNC_STATE_SET
            if not (is_registered and is_wanted):
                self._since_ms.pop(code, None)
            elif now_ms > self._since_ms.setdefault(code, now_ms) + within_ms:
                self._since_ms[code] = now_ms
                yield Shows("Silent")
        since = self._since_ms.items()
        due = [since_ms + self._within_ms[code] for code, since_ms in since]
        self._due_ms = min(due, default=now_ms)

    def _late_puts(self, records: int, now_ms: int) -> Iterator[Shows]:
        for put in self._puts.values():
            if put.end is None:
                put.end = records
        late = now_ms - self.durations.of_puts_ms - _SLACK_MS
        for number in [n for n, put in self._puts.items() if put.asked_ms < late]:
            del self._puts[number]
            yield Shows("Silent")

    def settled(self, state: tuple[object, ...]) -> Iterator[Shows]:
        """Yield the first producer that waits when all is done that follows from a step.

        `state` is what an answer depends on: where nothing has changed, the same holds as before.
        """
        first = self._first_end() if self._puts else None
        waited, self._waited = self._waited, (*state, first)
        if first is not None and self._waited != waited:
            yield Shows("Waiting", first)

    def _first_end(self) -> int | None:
        ends = [
            put.end
            for put in self._puts.values()
            if put.end is not None
            and not put.is_of_before
            and (put.is_flushed or not self.durations.sync_flush)
        ]
        return min(ends, default=None)

    def members_away(self, away: Iterable[int], now_ms: int) -> Iterator[Shows]:
        """Yield who has been away for too long, of the members that might be removed now."""
        since_ms, self._away_ms = self._away_ms, {}
        for member in away:
            self._away_ms[member] = since_ms.get(member, now_ms)
            if now_ms > self._away_ms[member] + self.durations.of_members_ms + _SLACK_MS:
                self._away_ms[member] = now_ms
                yield Shows("KeepMember", member)

    def is_unknown(self) -> None:
        """Forget what a step shows of a broker that the controller does not know: it is down."""
        for known in (self._pulls, self._shows, self._since_ms, self._away_ms):
            known.clear()
        self._asks = None

    def stopped(self) -> None:
        """Forget what a broker owed that is down."""
        self._puts.clear()
        self.is_unknown()

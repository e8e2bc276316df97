"""What a broker group promises its clients, and whether a history keeps it.

| promise    | in words                                                                        |
|------------|---------------------------------------------------------------------------------|
| DURABLE    | a message that a producer was told is safe is in the log of every later master  |
| REFUSED    | a message that was refused is nowhere                                           |
| VISIBLE    | a message that a consumer has seen is in the log of every later master          |
| AGREEMENT  | consumers see the same message at one offset, whenever and wherever they look   |
| ONCE       | no log has a message twice                                                      |
| ORDER      | a producer's safe messages lie in the order of its calls                        |

A later master is one of a higher epoch, also if it began before the answer came: who is replaced
must not promise any more. "In the log": at the same offset, with the same bytes. An unclean
election gives up all promises of the epochs before it; then only REFUSED and ONCE remain of them.

The checker knows nothing of the protocol, of SyncStateSets or of how messages are copied. A group
with RocketMQ's defaults, which answer a producer when the master alone has the message, breaks
DURABLE; that is what it is for.

Source: none in RocketMQ; the promises are those of its documents for `allAckInSyncStateSet`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from rocketha.histories.history import (
    BecameMaster,
    ElectionHeld,
    FinalLog,
    History,
    LoggedMessage,
    Outcome,
    Put,
    Seen,
)
from rocketha.histories.verdicts import AllKept, Broken, Promise, Undecided
from rocketha.types import Epoch, Offset

__all__ = ["Kept", "Verdict", "check_history"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept(AllKept):
    """All promises are kept, and some were put to the test."""

    safe: int
    """Messages that producers were told are safe."""
    shown: int
    """Times that a consumer was shown a message."""
    logs: int
    """Logs of masters that were looked at."""

    @property
    def counted(self) -> int:
        """Return the number of safe messages."""
        return self.safe

    def in_words(self) -> str:
        """Say it in a line."""
        return f"kept: {self.safe} safe messages, {self.shown} shown, {self.logs} logs of masters"


Verdict: TypeAlias = Kept | Broken | Undecided

_Log: TypeAlias = BecameMaster | FinalLog


@dataclass(frozen=True, slots=True)
class _Facts:
    """A history, sorted."""

    puts: tuple[Put, ...]
    seen: tuple[Seen, ...]
    logs: tuple[_Log, ...]
    unclean: tuple[Epoch, ...]
    """Epochs that began with an unclean election."""

    def era(self, epoch: Epoch) -> int:
        """Return how often promises were given up before this epoch, or with it."""
        return sum(lost <= epoch for lost in self.unclean)

    def later(self, epoch: Epoch) -> Iterator[_Log]:
        """Yield the logs in which must be what was promised in an epoch."""
        for log in self.logs:
            newer = log.epoch > epoch or (isinstance(log, FinalLog) and log.epoch == epoch)
            if newer and self.era(log.epoch) == self.era(epoch):
                yield log


def check_history(history: History) -> Verdict:
    """Hold a history against all promises."""
    facts = _facts(history)
    for promise, find in _CHECKS.items():
        reason = next(find(facts), None)
        if reason is not None:
            return Broken(promise=promise, reason=reason)
    safe = [put for put in facts.puts if put.outcome is Outcome.OK]
    if not safe:
        return Undecided(reason="no producer was told that a message is safe")
    if not any(True for put in safe for _ in facts.later(_epoch_of(put))):
        return Undecided(reason="no log of a later master shows whether messages are safe")
    return Kept(safe=len(safe), shown=len(facts.seen), logs=len(facts.logs))


def _facts(history: History) -> _Facts:
    events = history.events
    return _Facts(
        puts=tuple(event for event in events if isinstance(event, Put)),
        seen=tuple(event for event in events if isinstance(event, Seen)),
        logs=tuple(event for event in events if isinstance(event, BecameMaster | FinalLog)),
        unclean=tuple(e.epoch for e in events if isinstance(e, ElectionHeld) and not e.clean),
    )


def _epoch_of(put: Put) -> Epoch:
    """Return where a message was written; without epoch it must be in every log."""
    return Epoch(0) if put.epoch is None else put.epoch


def _durable(facts: _Facts) -> Iterator[str]:
    for put in facts.puts:
        if put.outcome is not Outcome.OK:
            continue
        for log in facts.later(_epoch_of(put)):
            found = _at(log).get(put.offset) if put.offset is not None else None
            if found is None or found.body != put.body:
                yield (
                    f"producer {put.producer} was told at {put.answered_ms} ms that {put.body} is "
                    f"safe at {put.offset}, but {_name(log)} has {_shown(found)} there"
                )


def _refused(facts: _Facts) -> Iterator[str]:
    refused = {p.body: p for p in facts.puts if p.outcome is Outcome.FAIL and p.body is not None}
    for log in facts.logs:
        for message in log.log:
            if message.body in refused:
                put = refused[message.body]
                yield (
                    f"producer {put.producer} was refused {put.body} ({put.status}), but "
                    f"{_name(log)} has it at {message.offset}"
                )
    for seen in facts.seen:
        if seen.message.body in refused:
            put = refused[seen.message.body]
            yield (
                f"producer {put.producer} was refused {put.body} ({put.status}), but consumer "
                f"{seen.consumer} saw it at {seen.message.offset}"
            )


def _visible(facts: _Facts) -> Iterator[str]:
    for seen in facts.seen:
        for log in facts.later(seen.epoch):
            found = _at(log).get(seen.message.offset)
            if found != seen.message:
                other = "other bytes of it" if _same_body(found, seen) else _shown(found)
                yield (
                    f"consumer {seen.consumer} saw {seen.message.body} at {seen.message.offset} "
                    f"at {seen.at_ms} ms, but {_name(log)} has {other} there"
                )


def _same_body(found: LoggedMessage | None, seen: Seen) -> bool:
    return found is not None and found.body == seen.message.body


def _agreement(facts: _Facts) -> Iterator[str]:
    first: dict[tuple[int, Offset], Seen] = {}
    for seen in facts.seen:
        other = first.setdefault((facts.era(seen.epoch), seen.message.offset), seen)
        if other.message != seen.message:
            yield (
                f"at {seen.message.offset} consumer {other.consumer} saw {other.message.body} at "
                f"{other.at_ms} ms, and consumer {seen.consumer} {seen.message.body} at "
                f"{seen.at_ms} ms"
            )


def _once(facts: _Facts) -> Iterator[str]:
    for log in facts.logs:
        places: dict[str, Offset] = {}
        for message in log.log:
            if places.setdefault(message.body, message.offset) != message.offset:
                yield (
                    f"{_name(log)} has {message.body} at {places[message.body]} and "
                    f"at {message.offset}"
                )


def _order(facts: _Facts) -> Iterator[str]:
    last: dict[tuple[int, int], Put] = {}
    safe = [p for p in facts.puts if p.outcome is Outcome.OK and p.offset is not None]
    for put in sorted(safe, key=lambda p: p.invoked_ms):
        key = (put.producer, facts.era(_epoch_of(put)))
        before = last.get(key)
        if before is not None and (before.offset or 0) >= (put.offset or 0):
            yield (
                f"producer {put.producer} was told that {before.body} is at {before.offset}, and "
                f"of the later {put.body} that it is at {put.offset}"
            )
        last[key] = put


def _at(log: _Log) -> Mapping[Offset, LoggedMessage]:
    return {message.offset: message for message in log.log}


def _name(log: _Log) -> str:
    if isinstance(log, FinalLog):
        return f"the master b{log.broker} of epoch {log.epoch}, at the end,"
    return f"b{log.broker}, when it became master of epoch {log.epoch},"


def _shown(message: LoggedMessage | None) -> str:
    return "nothing" if message is None else message.body


_CHECKS: Final[Mapping[Promise, Callable[[_Facts], Iterator[str]]]] = MappingProxyType(
    {
        Promise.DURABLE: _durable,
        Promise.REFUSED: _refused,
        Promise.VISIBLE: _visible,
        Promise.AGREEMENT: _agreement,
        Promise.ONCE: _once,
        Promise.ORDER: _order,
    }
)

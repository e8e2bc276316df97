"""The steps of the lock on one queue as z3 terms, and the rules that they rest on.

Nothing is bounded but the number of brokers; see `rocketproof.theorems.lock_quorum`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, TypeAlias

import z3

from rocketproof.theorems.lock_state import (
    CONSUMERS,
    NOBODY,
    SOMEBODY,
    Group,
    Reals,
    Times,
    Truths,
)

__all__ = [
    "RIGHT",
    "STEPS",
    "Choice",
    "Rules",
    "Step",
    "choice_constants",
    "enough",
]

# ---- Rules: what a false variant has otherwise ----


def _majority(brokers: int) -> int:
    """Return how many votes are a majority.

    Spec: LockQuorum!Quorum
    """
    return brokers // 2 + 1


def _times_fit(times: Times) -> z3.BoolRef:
    return times.vote >= times.gain * (times.patience + times.lease)


def _wait_after_restart(times: Times) -> z3.ArithRef:
    """Say how long a broker waits.

    Spec: LockQuorum!WaitAfterRestart
    """
    return times.vote


def _is_free(holder: z3.ArithRef, asks: z3.ArithRef) -> z3.BoolRef:
    """Say that a broker may vote.

    Spec: LockQuorum!IsFree
    """
    return z3.Or(holder == NOBODY, holder == asks)


def _is_over(number: z3.ArithRef, released: z3.ArithRef) -> z3.BoolRef:
    """Say that a release is for this vote.

    Spec: LockQuorum!IsOver
    """
    return number <= released


def _in_time(patience: z3.ArithRef) -> z3.BoolRef:
    """Say that a consumer takes the answer.

    Spec: LockQuorum!InTime
    """
    return patience >= 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of the protocol on which the theorem rests."""

    quorum: Callable[[int], int] = _majority
    times_fit: Callable[[Times], z3.BoolRef] = _times_fit
    wait_after_restart: Callable[[Times], z3.ArithRef] = _wait_after_restart
    is_free: Callable[[z3.ArithRef, z3.ArithRef], z3.BoolRef] = _is_free
    is_over: Callable[[z3.ArithRef, z3.ArithRef], z3.BoolRef] = _is_over
    in_time: Callable[[z3.ArithRef], z3.BoolRef] = _in_time


RIGHT: Final = Rules()


def enough(yes: Truths, quorum: int) -> z3.BoolRef:
    """Say that so many brokers have voted, each counted once.

    Spec: LockQuorum!Enough
    """
    return z3.PbGe([(one, 1) for one in yes], quorum)


# ---- Steps ----


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """When a step is possible, and the state after it; its choices are constants of z3."""

    possible: z3.BoolRef
    post: Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a step is about: a broker and a consumer by index, and a number of an attempt."""

    r: z3.ArithRef
    c: z3.ArithRef
    n: z3.ArithRef
    heard: z3.BoolRef
    """Whether the answer tells all votes."""
    by_broker: Reals
    """By how much each broker's clock advances."""
    by_consumer: Reals


def choice_constants(brokers: int) -> Choice:
    """Return the constants for the choices of a step."""
    return Choice(
        r=z3.Int("r"),
        c=z3.Int("c"),
        n=z3.Int("n"),
        heard=z3.Bool("heard"),
        by_broker=tuple(z3.Real(f"advance_of_broker{i}") for i in range(1, brokers + 1)),
        by_consumer=tuple(z3.Real(f"advance_of_consumer{c}") for c in CONSUMERS),
    )


Rule: TypeAlias = Callable[[Group, Times, Rules, Choice], Step]


def _of(items: Reals | Truths, index: z3.ArithRef) -> z3.ExprRef:
    """Return an item, by an index that is a term."""
    found: z3.ExprRef = items[-1]
    for at in range(len(items) - 1):
        found = z3.If(index == at, items[at], found)
    return found


def _number(items: Reals, index: z3.ArithRef) -> z3.ArithRef:
    found = _of(items, index)
    assert isinstance(found, z3.ArithRef)
    return found


def _truth(items: Truths, index: z3.ArithRef) -> z3.BoolRef:
    found = _of(items, index)
    assert isinstance(found, z3.BoolRef)
    return found


def _with(items: Reals, index: z3.ArithRef, value: z3.ArithRef | int) -> Reals:
    return tuple(z3.If(index == at, value, item) for at, item in enumerate(items))


def _with_truth(items: Truths, index: z3.ArithRef, value: bool) -> Truths:
    return tuple(
        z3.Or(index == at, item) if value else z3.And(index != at, item)
        for at, item in enumerate(items)
    )


def _is_broker(group: Group, choice: Choice) -> z3.BoolRef:
    return z3.And(choice.r >= 0, choice.r < len(group.holder))


def _is_consumer(choice: Choice) -> z3.BoolRef:
    return z3.And(choice.c >= 0, choice.c < len(CONSUMERS))


def _lock(group: Group, times: Times, _rules: Rules, choice: Choice) -> Step:
    """A consumer asks for the queue.

    Spec: LockQuorum!Lock
    """
    c = choice.c
    return Step(
        possible=z3.And(_is_consumer(choice), z3.Not(_truth(group.asking, c))),
        post=replace(
            group,
            tries=_with(group.tries, c, _number(group.tries, c) + 1),
            asking=_with_truth(group.asking, c, True),
            patience=_with(group.patience, c, times.patience),
            yes=tuple(
                tuple(z3.And(c != at, one) for one in yes) for at, yes in enumerate(group.yes)
            ),
        ),
    )


def _lock_elsewhere(group: Group, _times: Times, _rules: Rules, choice: Choice) -> Step:
    """It asks for other queues.

    Spec: LockQuorum!Lock
    """
    c = choice.c
    return Step(
        possible=z3.And(_is_consumer(choice), z3.Not(_truth(group.asking, c))),
        post=replace(group, tries=_with(group.tries, c, _number(group.tries, c) + 1)),
    )


def _voted(group: Group, times: Times, r: z3.ArithRef, who: z3.ArithRef) -> Group:
    return replace(
        group,
        holder=_with(group.holder, r, who),
        left=_with(group.left, r, times.vote),
        promised=_with(group.promised, r, who),
        still=_with(group.still, r, times.vote),
    )


def _may_vote(group: Group, rules: Rules, r: z3.ArithRef, who: z3.ArithRef) -> z3.BoolRef:
    return z3.And(_number(group.wait, r) <= 0, rules.is_free(_number(group.holder, r), who))


def _vote(group: Group, times: Times, rules: Rules, choice: Choice) -> Step:
    """A broker votes for one of the two consumers, whenever it may.

    Spec: LockQuorum!ReceiveAsk
    """
    r, c, n = choice.r, choice.c, choice.n
    had = _number(group.number, r)
    is_new = z3.Or(_number(group.holder, r) == NOBODY, had < n)
    counts = z3.And(_truth(group.asking, c), n == _number(group.tries, c))
    return Step(
        possible=z3.And(
            _is_broker(group, choice),
            _is_consumer(choice),
            n >= 1,
            n <= _number(group.tries, c),
            _may_vote(group, rules, r, c + CONSUMERS[0]),
        ),
        post=replace(
            _voted(group, times, r, c + CONSUMERS[0]),
            number=_with(group.number, r, z3.If(is_new, n, had)),
            yes=tuple(
                tuple(
                    z3.Or(one, z3.And(counts, c == at, r == broker))
                    for broker, one in enumerate(yes)
                )
                for at, yes in enumerate(group.yes)
            ),
        ),
    )


def _vote_for_others(group: Group, times: Times, rules: Rules, choice: Choice) -> Step:
    """A broker votes for somebody else.

    Spec: LockQuorum!ReceiveAsk
    """
    who = z3.IntVal(SOMEBODY)
    voted = _voted(group, times, choice.r, who)
    return Step(
        possible=z3.And(_is_broker(group, choice), _may_vote(group, rules, choice.r, who)),
        post=replace(voted, number=_with(group.number, choice.r, choice.n)),
    )


def _answer(group: Group, times: Times, rules: Rules, choice: Choice) -> Step:
    """The answer tells all votes, or too few.

    Spec: LockQuorum!ReceiveAnswer
    """
    c = choice.c
    quorum = rules.quorum(len(group.holder))
    won = z3.Or([z3.And(c == at, enough(yes, quorum)) for at, yes in enumerate(group.yes)])
    got = z3.And(won, choice.heard)
    return Step(
        possible=z3.And(
            _is_consumer(choice),
            _truth(group.asking, c),
            rules.in_time(_number(group.patience, c)),
        ),
        post=replace(
            group,
            asking=_with_truth(group.asking, c, False),
            lease=_with(group.lease, c, z3.If(got, times.lease, z3.RealVal(0))),
            given=_with(
                group.given, c, z3.If(got, _number(group.given, c), _number(group.tries, c))
            ),
        ),
    )


def _give_up(group: Group, _times: Times, _rules: Rules, choice: Choice) -> Step:
    """No answer came.

    Spec: LockQuorum!GiveUp
    """
    c = choice.c
    keeps = _number(group.lease, c) > 0
    kept = z3.If(keeps, _number(group.given, c), _number(group.tries, c))
    return Step(
        possible=z3.And(_is_consumer(choice), _truth(group.asking, c)),
        post=replace(
            group,
            asking=_with_truth(group.asking, c, False),
            given=_with(group.given, c, kept),
        ),
    )


def _unlock(group: Group, _times: Times, _rules: Rules, choice: Choice) -> Step:
    """A consumer lets go of the queue.

    Spec: LockQuorum!Unlock
    """
    c = choice.c
    return Step(
        possible=z3.And(
            _is_consumer(choice),
            z3.Not(_truth(group.asking, c)),
            _number(group.lease, c) > 0,
        ),
        post=replace(
            group,
            lease=_with(group.lease, c, z3.RealVal(0)),
            given=_with(group.given, c, _number(group.tries, c)),
        ),
    )


def _release(group: Group, _times: Times, rules: Rules, choice: Choice) -> Step:
    """Votes that were given back are taken away, now or later.

    Spec: LockQuorum!ReceiveFree
    """
    r, c, n = choice.r, choice.c, choice.n
    takes = z3.And(
        _number(group.holder, r) == c + CONSUMERS[0], rules.is_over(_number(group.number, r), n)
    )
    nobody = z3.IntVal(NOBODY)
    return Step(
        possible=z3.And(
            _is_broker(group, choice), _is_consumer(choice), n >= 1, n <= _number(group.given, c)
        ),
        post=replace(
            group,
            holder=_with(group.holder, r, z3.If(takes, nobody, _number(group.holder, r))),
            promised=_with(group.promised, r, z3.If(takes, nobody, _number(group.promised, r))),
        ),
    )


def _release_of_others(group: Group, _times: Times, _rules: Rules, choice: Choice) -> Step:
    """Somebody else gives back a vote.

    Spec: LockQuorum!ReceiveFree
    """
    r = choice.r
    return Step(
        possible=z3.And(_is_broker(group, choice), _number(group.holder, r) == SOMEBODY),
        post=replace(
            group,
            holder=_with(group.holder, r, NOBODY),
            promised=_with(group.promised, r, NOBODY),
        ),
    )


def _restart(group: Group, times: Times, rules: Rules, choice: Choice) -> Step:
    """A broker forgets its vote, and waits.

    Spec: LockQuorum!Restart
    """
    return Step(
        possible=_is_broker(group, choice),
        post=replace(
            group,
            holder=_with(group.holder, choice.r, NOBODY),
            wait=_with(group.wait, choice.r, rules.wait_after_restart(times)),
        ),
    )


def _pass_time(group: Group, times: Times, _rules: Rules, choice: Choice) -> Step:
    """Time passes, by clocks of different rates.

    Spec: LockQuorum!Tick
    """
    left = tuple(a - x for a, x in zip(group.left, choice.by_broker, strict=True))
    wait = tuple(a - x for a, x in zip(group.wait, choice.by_broker, strict=True))
    return Step(
        possible=z3.And(
            *(x >= 0 for x in (*choice.by_broker, *choice.by_consumer)),
            *(x <= times.gain * y for x in choice.by_broker for y in choice.by_consumer),
        ),
        post=replace(
            group,
            holder=tuple(
                z3.If(z3.And(was != NOBODY, a > 0), was, NOBODY)
                for was, a in zip(group.holder, left, strict=True)
            ),
            left=left,
            wait=tuple(z3.If(a > 0, a, z3.RealVal(0)) for a in wait),
            still=tuple(a - x for a, x in zip(group.still, choice.by_broker, strict=True)),
            lease=tuple(a - y for a, y in zip(group.lease, choice.by_consumer, strict=True)),
            patience=tuple(a - y for a, y in zip(group.patience, choice.by_consumer, strict=True)),
        ),
    )


STEPS: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "Lock": _lock,
        "LockElsewhere": _lock_elsewhere,
        "Vote": _vote,
        "VoteForOthers": _vote_for_others,
        "Answer": _answer,
        "GiveUp": _give_up,
        "Unlock": _unlock,
        "Release": _release,
        "ReleaseOfOthers": _release_of_others,
        "Restart": _restart,
        "PassTime": _pass_time,
    }
)
"""Each step of the theorem, by name."""

"""The lock on one queue as z3 terms: times, and what brokers and two consumers know.

See `rocketproof.theorems.lock_quorum`, which says what the parts of a state mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import z3

__all__ = [
    "CONSUMERS",
    "NOBODY",
    "SOMEBODY",
    "Group",
    "Reals",
    "Times",
    "Truths",
    "group_constants",
    "shown_group",
    "shown_times",
    "time_constants",
]

NOBODY: Final = 0
CONSUMERS: Final = (1, 2)
SOMEBODY: Final = 3
"""A consumer that is none of the two."""

Reals: TypeAlias = tuple[z3.ArithRef, ...]
Truths: TypeAlias = tuple[z3.BoolRef, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The constants: durations, and the rates of clocks."""

    vote: z3.ArithRef
    lease: z3.ArithRef
    patience: z3.ArithRef
    rho: z3.ArithRef
    gain: z3.ArithRef

    @property
    def possible(self) -> z3.BoolRef:
        """Say what durations and rates are."""
        return z3.And(
            self.vote > 0,
            self.lease > 0,
            self.patience >= 0,
            self.rho >= 0,
            self.rho < 1,
            self.gain >= 1,
            self.gain * (1 - self.rho) == 1 + self.rho,
        )


def time_constants() -> Times:
    """Return the constants for durations and rates."""
    return Times(
        vote=z3.Real("vote_life"),
        lease=z3.Real("lease_life"),
        patience=z3.Real("patience_life"),
        rho=z3.Real("rho"),
        gain=z3.Real("gain"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A state: one item for each broker, or for each of the two consumers (see the module)."""

    holder: Reals
    left: Reals
    number: Reals
    wait: Reals
    promised: Reals
    still: Reals
    tries: Reals
    given: Reals
    asking: Truths
    patience: Reals
    yes: tuple[Truths, ...]
    lease: Reals

    @property
    def brokers(self) -> range:
        """The indices of the brokers."""
        return range(len(self.holder))

    def holds(self, c: int) -> z3.BoolRef:
        """Say that a consumer (0 or 1) holds the queue.

        Spec: LockQuorumProperties!Holds
        """
        return self.lease[c] > 0

    @property
    def is_initial(self) -> z3.BoolRef:
        """Say that nobody has asked for anything yet.

        Spec: LockQuorum!Init
        """
        zeros = (self.holder, self.promised, self.wait, self.still, self.tries, self.given)
        return z3.And(
            *(item == 0 for items in (*zeros, self.lease) for item in items),
            *(z3.Not(item) for items in (self.asking, *self.yes) for item in items),
        )

    def is_small(self, times: Times) -> z3.BoolRef:
        """Say that the numbers are easy to read."""
        lives = (*self.left, *self.wait, *self.still, *self.lease, *self.patience)
        return z3.And(
            *(z3.And(life >= 0, life <= 2 * times.vote) for life in lives),
            *(z3.And(n >= 0, n <= 3) for n in (*self.number, *self.tries, *self.given)),
            times.vote == 60,
            z3.Or(times.rho == 0, times.rho * 3 == 1),
        )


def group_constants(brokers: int, prefix: str = "") -> Group:
    """Make a state whose items are constants."""

    def numbers(name: str, count: int, kind: Callable[[str], z3.ArithRef]) -> Reals:
        return tuple(kind(f"{prefix}{name}{i}") for i in range(1, count + 1))

    def truths(name: str, count: int) -> Truths:
        return tuple(z3.Bool(f"{prefix}{name}{i}") for i in range(1, count + 1))

    two = len(CONSUMERS)
    return Group(
        holder=numbers("holder", brokers, z3.Int),
        left=numbers("left", brokers, z3.Real),
        number=numbers("number", brokers, z3.Int),
        wait=numbers("wait", brokers, z3.Real),
        promised=numbers("promised", brokers, z3.Int),
        still=numbers("still", brokers, z3.Real),
        tries=numbers("tries", two, z3.Int),
        given=numbers("given", two, z3.Int),
        asking=truths("asking", two),
        patience=numbers("patience", two, z3.Real),
        yes=tuple(truths(f"yes{c}_", brokers) for c in CONSUMERS),
        lease=numbers("lease", two, z3.Real),
    )


# ---- Examples and counterexamples ----


def shown_times(times: Times, model: z3.ModelRef) -> str:
    """Write down the constants."""
    shown = [
        f"{name} {_number(term, model)}"
        for name, term in (
            ("vote life", times.vote),
            ("lease life", times.lease),
            ("patience", times.patience),
            ("rho", times.rho),
        )
    ]
    return ", ".join(shown)


def shown_group(group: Group, model: z3.ModelRef) -> list[str]:
    """Write down a state, a line for each broker and each consumer."""
    brokers = [
        f"broker {r + 1}: {', '.join(_broker(group, r, model))}" for r in range(len(group.holder))
    ]
    consumers = [
        f"consumer {c + 1}: {', '.join(_consumer(group, c, model))}" for c in range(len(CONSUMERS))
    ]
    return [*brokers, *consumers]


def _broker(group: Group, r: int, model: z3.ModelRef) -> Iterator[str]:
    holder, promised = _whole(group.holder[r], model), _whole(group.promised[r], model)
    if holder != NOBODY:
        number = _number(group.number[r], model)
        yield f"votes for {_who(holder)} for {_number(group.left[r], model)}, attempt {number}"
    else:
        yield "votes for nobody"
    if holder == NOBODY and promised != NOBODY:
        yield f"has forgotten a vote for {_who(promised)}, for {_number(group.still[r], model)}"
    if _says(group.wait[r] > 0, model):
        yield f"waits for {_number(group.wait[r], model)}"


def _consumer(group: Group, c: int, model: z3.ModelRef) -> Iterator[str]:
    if _says(group.holds(c), model):
        yield f"holds the queue for {_number(group.lease[c], model)}"
    else:
        yield "does not hold the queue"
    if _says(group.asking[c], model):
        counted = [str(r + 1) for r, yes in enumerate(group.yes[c]) if _says(yes, model)]
        yield (
            f"waits for an answer for {_number(group.patience[c], model)}, "
            f"attempt {_number(group.tries[c], model)}"
        )
        yield f"has the votes of {' '.join(counted) or 'nobody'}"
    if _says(group.given[c] > 0, model):
        yield f"gave back the votes up to attempt {_number(group.given[c], model)}"


def _who(holder: int) -> str:
    return "somebody else" if holder == SOMEBODY else f"consumer {holder}"


def _says(formula: z3.BoolRef, model: z3.ModelRef) -> bool:
    return bool(z3.is_true(model.eval(formula, model_completion=True)))


def _whole(term: z3.ArithRef, model: z3.ModelRef) -> int:
    value = model.eval(term, model_completion=True)
    assert isinstance(value, z3.IntNumRef)
    return int(value.as_long())


def _number(term: z3.ArithRef, model: z3.ModelRef) -> str:
    value = model.eval(term, model_completion=True)
    if isinstance(value, z3.AlgebraicNumRef):
        return f"about {value.as_decimal(3).rstrip('?')}"
    return str(value)

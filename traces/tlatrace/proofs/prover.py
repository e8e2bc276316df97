"""Prove theorems with z3, or refute them.

A claim is proved when its negation contradicts the assumptions, and the assumptions do not
contradict each other: there is an example of them. Whatever z3 does not answer is no proof.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final, TypeAlias

import z3

from tlatrace.proofs.theorem import Example, Theorem

__all__ = ["Answer", "Checked", "Proof", "Proved", "Refuted", "Unknown", "prove"]

_SEED: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Proved:
    """The claim holds for all values that meet the assumptions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuted:
    """The claim is false: the values meet the assumptions and not the claim."""

    counterexample: Example


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """No answer: out of time, beyond the solver, or nothing meets the assumptions."""

    reason: str


Answer: TypeAlias = Proved | Refuted | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The answer about one claim."""

    claim: str
    answer: Answer
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The answers about all claims of a theorem."""

    theorem: str
    example: Example | None
    """Values that meet the assumptions and the witness; `None`: none were found, nothing is
    proved."""
    claims: tuple[Checked, ...]
    seconds: float

    @property
    def is_proved(self) -> bool:
        """Whether every claim is."""
        return all(isinstance(checked.answer, Proved) for checked in self.claims)

    @property
    def is_refuted(self) -> bool:
        """Whether some claim is."""
        return any(isinstance(checked.answer, Refuted) for checked in self.claims)


def prove(theorem: Theorem, *, timeout_s: float) -> Proof:
    """Prove or refute each claim of a theorem.

    `timeout_s` is for each question to z3; there is one a claim, and one for the example.
    """
    started = time.monotonic()
    assumed = [assumption.formula for assumption in theorem.assumptions]
    example, why_not = _example(assumed, theorem.witness.formula, timeout_s)
    claims: list[Checked] = []
    for claim in theorem.claims:
        began = time.monotonic()
        answer = _judge(assumed, claim.formula, timeout_s)
        if isinstance(answer, Proved) and example is None:
            answer = Unknown(reason=why_not)
        claims.append(
            Checked(claim=claim.name, answer=answer, seconds=time.monotonic() - began),
        )
    return Proof(
        theorem=theorem.name,
        example=example,
        claims=tuple(claims),
        seconds=time.monotonic() - started,
    )


def _example(
    assumed: list[z3.BoolRef], witness: z3.BoolRef, timeout_s: float
) -> tuple[Example | None, str]:
    """Find values that meet assumptions and witness, or else say why there are none."""
    found = _solve([*assumed, witness], timeout_s)
    if found is None:
        return None, "nothing meets the assumptions and the witness: they say nothing"
    if isinstance(found, Unknown):
        return None, f"no example of the assumptions was found: {found.reason}"
    return found, ""


def _judge(assumed: list[z3.BoolRef], claim: z3.BoolRef, timeout_s: float) -> Answer:
    found = _solve([*assumed, z3.Not(claim)], timeout_s)
    if found is None:
        return Proved()
    if isinstance(found, Unknown):
        return found
    return Refuted(counterexample=found)


def _solve(formulas: list[z3.BoolRef], timeout_s: float) -> Example | Unknown | None:
    """Find values that meet all formulas; `None` when there are none."""
    try:
        solver = z3.Solver()
        solver.set("timeout", max(1, round(timeout_s * 1000)))
        solver.set("random_seed", _SEED)
        solver.add(*formulas)
        answer = solver.check()
        if answer == z3.unsat:
            return None
        if answer != z3.sat:
            return Unknown(reason=f"z3 gives no answer ({solver.reason_unknown()})")
        return _values(solver.model())
    except z3.Z3Exception as error:
        return Unknown(reason=f"z3 failed ({error})")


def _values(model: z3.ModelRef) -> Example:
    """Read the integer constants of a model; z3 leaves out those that do not matter.

    Names with an exclamation mark are z3's own, for what is quantified.
    """
    constants = {declaration.name(): model[declaration] for declaration in model.decls()}
    return {
        name: value.as_long()
        for name, value in sorted(constants.items())
        if isinstance(value, z3.IntNumRef) and "!" not in name
    }

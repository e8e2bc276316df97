"""Prove theorems with z3, or refute them.

A claim is proved when its negation contradicts the assumptions, and the assumptions do not
contradict each other: there is an example of them. Whatever z3 does not answer is no proof.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TypeAlias

import z3

from tlatrace.proofs.limits import DEFAULT_LIMITS, Limits, new_solver, spent
from tlatrace.proofs.theorem import Example, Theorem

__all__ = ["Answer", "Checked", "Proof", "Proved", "Refuted", "Unknown", "prove"]


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
    resources: int
    """What z3 counted: the same in each run."""
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


def prove(theorem: Theorem, *, limits: Limits = DEFAULT_LIMITS) -> Proof:
    """Prove or refute each claim of a theorem.

    The limits are for each question to z3; there is one a claim, and one for the example.
    """
    started = time.monotonic()
    assumed = [assumption.formula for assumption in theorem.assumptions]
    example, why_not = _example(assumed, theorem.witness.formula, limits)
    claims: list[Checked] = []
    for claim in theorem.claims:
        began = time.monotonic()
        answer, resources = _judge(assumed, claim.formula, limits)
        if isinstance(answer, Proved) and example is None:
            answer = Unknown(reason=why_not)
        claims.append(
            Checked(
                claim=claim.name,
                answer=answer,
                resources=resources,
                seconds=time.monotonic() - began,
            ),
        )
    return Proof(
        theorem=theorem.name,
        example=example,
        claims=tuple(claims),
        seconds=time.monotonic() - started,
    )


def _example(
    assumed: list[z3.BoolRef], witness: z3.BoolRef, limits: Limits
) -> tuple[Example | None, str]:
    """Find values that meet assumptions and witness, or else say why there are none."""
    found, _ = _solve([*assumed, witness], limits)
    if found is None:
        return None, "nothing meets the assumptions and the witness: they say nothing"
    if isinstance(found, Unknown):
        return None, f"no example of the assumptions was found: {found.reason}"
    return found, ""


def _judge(assumed: list[z3.BoolRef], claim: z3.BoolRef, limits: Limits) -> tuple[Answer, int]:
    found, resources = _solve([*assumed, z3.Not(claim)], limits)
    if found is None:
        return Proved(), resources
    if isinstance(found, Unknown):
        return found, resources
    return Refuted(counterexample=found), resources


def _solve(formulas: list[z3.BoolRef], limits: Limits) -> tuple[Example | Unknown | None, int]:
    """Find values that meet all formulas, `None` when there are none; and what z3 counted."""
    try:
        solver = new_solver(limits)
        solver.add(*[formula.translate(solver.ctx) for formula in formulas])
        answer = solver.check()
        if answer == z3.unsat:
            return None, spent(solver)
        if answer != z3.sat:
            reason = f"z3 gives no answer ({solver.reason_unknown()})"
            return Unknown(reason=reason), spent(solver)
        return _values(solver.model()), spent(solver)
    except z3.Z3Exception as error:
        return Unknown(reason=f"z3 failed ({error})"), 0


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

"""Prove that invariants hold in every reachable state, by induction, with z3.

A lemma is about the initial states, or about the steps of one action from any state in which all
invariants hold. A theorem about a rule is a lemma alone: about any state in which what it assumes
holds. A lemma is proved when no claim can fail, and when its premises can be met: a step that
is never possible keeps everything.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import z3

from tlatrace.proofs.limits import DEFAULT_LIMITS, Limits, new_solver, spent
from tlatrace.proofs.theorem import Assumption, Claim, Proved, Unknown

__all__ = [
    "Broken",
    "Induction",
    "InductionProof",
    "Instance",
    "Kept",
    "Lemma",
    "LemmaProof",
    "prove_induction",
]

_ANYTHING: Final = z3.BoolVal(True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """The premises of a lemma for one state, where z3 finds none for which they hold by itself."""

    premises: tuple[z3.BoolRef, ...]
    describe: Callable[[z3.ModelRef], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lemma:
    """The initial states, the steps of one action, or the states that a rule is about."""

    name: str
    premises: tuple[z3.BoolRef, ...]
    claims: tuple[Claim, ...]
    readable: z3.BoolRef
    """That the numbers are small: counterexamples of that kind are looked for first."""
    describe: Callable[[z3.ModelRef], str]
    """Write down an example or a counterexample."""
    witness: z3.BoolRef = _ANYTHING
    """What an example must show besides the premises, lest they hold of dull cases only."""
    instance: Instance | None = None
    """Of which an example is."""
    apart: bool = False
    """Whether z3 is asked for each conjunct of a claim by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Induction:
    """Invariants that hold at the beginning, and that each action keeps."""

    name: str
    statement: str
    lemmas: tuple[Lemma, ...]
    not_shown: str
    """What a reader might take for proved, and is not."""
    assumptions: tuple[Assumption, ...] = ()

    def __post_init__(self) -> None:
        assert self.lemmas, f"the theorem {self.name} has no lemma"
        assert all(lemma.claims for lemma in self.lemmas), f"{self.name} claims nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The claim is false: the text tells a step that meets the premises and not the claim."""

    text: str


Kept: TypeAlias = Proved | Broken | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class LemmaProof:
    """The answers about the claims of a lemma: (name, answer)."""

    lemma: str
    example: str | None
    """Something that meets the premises; None: nothing was found, and nothing is proved."""
    claims: tuple[tuple[str, Kept], ...]
    resources: int
    """What z3 counted in all: the same in each run."""
    seconds: float

    @property
    def is_proved(self) -> bool:
        """Whether every claim is."""
        return all(isinstance(answer, Proved) for _, answer in self.claims)

    @property
    def broken(self) -> tuple[tuple[str, Broken], ...]:
        """The claims that are false."""
        return tuple([(name, one) for name, one in self.claims if isinstance(one, Broken)])


@dataclass(frozen=True, slots=True, kw_only=True)
class InductionProof:
    """The answers about the lemmas of a theorem."""

    theorem: str
    lemmas: tuple[LemmaProof, ...]
    seconds: float

    @property
    def is_proved(self) -> bool:
        """Whether every lemma is."""
        return all(lemma.is_proved for lemma in self.lemmas)

    @property
    def is_refuted(self) -> bool:
        """Whether some claim is: the invariants are not inductive."""
        return any(lemma.broken for lemma in self.lemmas)


def prove_induction(
    induction: Induction,
    *,
    limits: Limits = DEFAULT_LIMITS,
    until_broken: bool = False,
    on_lemma: Callable[[LemmaProof], None] | None = None,
) -> InductionProof:
    """Prove or refute each claim of each lemma.

    The limits are for each question to z3. `until_broken` is for what should be false: the lemmas
    behind the first one with a false claim are left out.
    """
    started = time.monotonic()
    proofs: list[LemmaProof] = []
    for lemma in induction.lemmas:
        proof = _prove(lemma, limits, is_false=until_broken)
        proofs.append(proof)
        if on_lemma is not None:
            on_lemma(proof)
        if until_broken and proof.broken:
            break
    return InductionProof(
        theorem=induction.name, lemmas=tuple(proofs), seconds=time.monotonic() - started
    )


def _prove(lemma: Lemma, limits: Limits, *, is_false: bool) -> LemmaProof:
    started = time.monotonic()
    solver = new_solver(limits)
    solver.add(*[premise.translate(solver.ctx) for premise in lemma.premises])
    possible = (
        _ask(solver, lemma, lemma.witness, small_first=True)
        if lemma.instance is None
        else _example(lemma.instance, limits)
    )
    claims: list[tuple[str, Kept]] = []
    for claim in lemma.claims:
        answer: Kept = Proved()
        for part in _conjuncts(claim.formula) if lemma.apart else (claim.formula,):
            answer = _ask(solver, lemma, z3.Not(part), small_first=is_false)
            if not isinstance(answer, Proved):
                break
        if isinstance(answer, Proved) and not isinstance(possible, Broken):
            reason = "nothing meets the premises: they say nothing"
            answer = possible if isinstance(possible, Unknown) else Unknown(reason=reason)
        claims.append((claim.name, answer))
    return LemmaProof(
        lemma=lemma.name,
        example=possible.text if isinstance(possible, Broken) else None,
        claims=tuple(claims),
        resources=spent(solver),
        seconds=time.monotonic() - started,
    )


def _conjuncts(formula: z3.BoolRef) -> Iterator[z3.BoolRef]:
    if z3.is_and(formula):
        for part in formula.children():
            yield from _conjuncts(part)
    else:
        yield formula


def _example(instance: Instance, limits: Limits) -> Kept:
    """Look for something that meets the premises in one state."""
    solver = new_solver(limits)
    solver.add(*[premise.translate(solver.ctx) for premise in instance.premises])
    answer = solver.check()
    if answer == z3.sat:
        return Broken(text=instance.describe(solver.model().translate(z3.main_ctx())))
    return Proved() if answer == z3.unsat else Unknown(reason="z3 finds no example")


def _ask(solver: z3.Solver, lemma: Lemma, fact: z3.BoolRef, *, small_first: bool) -> Kept:
    """Look for something that meets the premises and a fact; `Proved`: there is nothing.

    Something with small numbers is found sooner than something with any, and takes time where there
    is nothing: it is looked for first where something is to be expected.
    """
    try:
        solver.push()
        solver.add(fact.translate(solver.ctx))
        found = _small(solver, lemma) if small_first else None
        if found is None:
            answer = solver.check()
            if answer == z3.sat:
                model = solver.model()
                found = (None if small_first else _small(solver, lemma)) or _described(lemma, model)
            elif answer == z3.unsat:
                found = Proved()
            else:
                found = Unknown(reason=f"z3 gives no answer ({solver.reason_unknown()})")
        solver.pop()
    except z3.Z3Exception as error:
        return Unknown(reason=f"z3 failed ({error})")
    return found


def _small(solver: z3.Solver, lemma: Lemma) -> Kept | None:
    """Look for something with small numbers; None: nothing is found."""
    solver.push()
    solver.add(lemma.readable.translate(solver.ctx))
    found = _described(lemma, solver.model()) if solver.check() == z3.sat else None
    solver.pop()
    return found


def _described(lemma: Lemma, model: z3.ModelRef) -> Broken:
    return Broken(text=lemma.describe(model.translate(lemma.readable.ctx)))

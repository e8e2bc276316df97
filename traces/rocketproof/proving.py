"""Prove a theorem, try its false variants, and say so in lines and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, assert_never

from rocketproof.theorems import InductiveTheorem, Rule
from rocketproof.theorems.consistent_point import instance_of
from tlatrace.proofs import (
    Answer,
    Broken,
    Induction,
    InductionProof,
    LemmaProof,
    Limits,
    Proof,
    Proved,
    Refuted,
    Theorem,
    Unknown,
    prove,
    prove_induction,
)
from tlatrace.values import Json

__all__ = ["Line", "Outcome", "TheoremResult", "prove_inductive", "prove_rule"]

Outcome: TypeAlias = Literal["proved", "refuted", "undecided"]

VARIANT_BROKERS: Final = 3
"""False variants are refuted in groups of this size: their counterexamples are short."""
_NOT_REFUTED: Final = "UNDECIDED: it is not refuted, so the proof says nothing"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the answer, and how far it is indented."""

    depth: int
    text: str
    wrong: bool = False
    """Whether the theorem is not proved for it."""


Show: TypeAlias = Callable[[Line], None]
Doing: TypeAlias = Callable[[str], None]
"""Is called with what is being proved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TheoremResult:
    """What became of a theorem with its false variants."""

    name: str
    outcome: Outcome
    counts: str
    """What was proved, and what was refuted that has to be."""
    as_json: Json


# ---- Rules ----


def prove_rule(
    name: str, rule: Rule, entries: int, limits: Limits, show: Show, doing: Doing
) -> TheoremResult:
    """Prove a theorem about a rule, and refute its false variant."""
    theorem = rule.state(entries)
    doing(f"{name}: {len(theorem.claims)} claims")
    show(Line(0, f"Theorem {name}: {theorem.statement}"))
    for assumption in theorem.assumptions:
        show(Line(1, f"assume {assumption.name}: {assumption.description}"))
    proof = prove(theorem, limits=limits)
    for claim, checked in zip(theorem.claims, proof.claims, strict=True):
        show(Line(1, f"claim {claim.name}: {claim.description}"))
        wrong = not isinstance(checked.answer, Proved)
        show(Line(2, f"{_answer_text(checked.answer)}, {checked.seconds:.1f} s", wrong))
    if proof.example is not None:
        show(Line(1, f"example: {instance_of(proof.example)}"))
    show(Line(1, f"not shown: {theorem.not_shown}"))
    false = prove(rule.state_false(entries), limits=limits)
    show(Line(1, f"false variant {rule.false_description}"))
    for checked in false.claims:
        if isinstance(checked.answer, Refuted):
            show(
                Line(2, f"{checked.claim} {_answer_text(checked.answer)}, {checked.seconds:.1f} s")
            )
    if not false.is_refuted:
        show(Line(2, _NOT_REFUTED, wrong=True))
    claims = sum(isinstance(checked.answer, Proved) for checked in proof.claims)
    return TheoremResult(
        name=name,
        outcome=_outcome(proof.is_proved and false.is_refuted, proof.is_refuted),
        counts=f"{claims} of {len(proof.claims)} claims for at most {entries} entries, "
        f"{_refuted(int(false.is_refuted), 1)}",
        as_json=_rule_json(theorem, proof, rule, false),
    )


def _refuted(refuted: int, variants: int) -> str:
    return f"{refuted} of {variants} false variant{'s' if variants > 1 else ''} refuted"


def _outcome(proved: bool, refuted: bool) -> Outcome:
    return "refuted" if refuted else "proved" if proved else "undecided"


def _answer_text(answer: Answer) -> str:
    match answer:
        case Proved():
            return "proved: its negation has no solution"
        case Refuted(counterexample=counterexample):
            return f"REFUTED: {instance_of(counterexample)}"
        case Unknown(reason=reason):
            return f"UNDECIDED: {reason}"
        case _ as unreachable:
            assert_never(unreachable)


def _rule_json(theorem: Theorem, proof: Proof, rule: Rule, false: Proof) -> Json:
    return {
        "theorem": theorem.name,
        "statement": theorem.statement,
        "assumptions": [a.name for a in theorem.assumptions],
        "claims": [
            {
                "name": checked.claim,
                "answer": _answer_text(checked.answer).partition(":")[0].lower(),
                "rlimit": checked.resources,
                "seconds": round(checked.seconds, 3),
                "detail": _answer_text(checked.answer),
            }
            for checked in proof.claims
        ],
        "example": None if proof.example is None else dict(proof.example),
        "seconds": round(proof.seconds, 3),
        "false_variants": [{"name": rule.false_description, "refuted": false.is_refuted}],
    }


# ---- Inductions ----


def prove_inductive(
    name: str,
    theorem: InductiveTheorem,
    brokers: int | None,
    limits: Limits,
    show: Show,
    doing: Doing,
) -> TheoremResult:
    """Prove a theorem by induction for groups of up to so many brokers, and refute variants.

    Without a number of brokers it is the theorem's own; a theorem of one node has no other.
    """
    one_node = theorem.smallest == theorem.largest
    largest = theorem.largest if brokers is None or one_node else brokers
    proofs: list[tuple[Induction, InductionProof]] = []
    for size in range(theorem.smallest, largest + 1):
        stated = theorem.state(size)
        proof = prove_induction(stated, limits=limits, on_lemma=_counting(stated, size, doing))
        proofs.append((stated, proof))
        show(Line(0, f"Theorem {name}: {stated.statement}"))
        for line in _proof_lines(stated, proof, whole=size == largest):
            show(line)
    variants: list[Json] = []
    refuted = 0
    for variant in theorem.variants:
        doing(f"{name}: false variant {variant.name}")
        stated = variant.state(min(largest, VARIANT_BROKERS))
        proof = prove_induction(stated, limits=limits, until_broken=True)
        show(Line(1, f"false variant {variant.name}: {variant.description}"))
        for line in _refutation(proof):
            show(line)
        refuted += proof.is_refuted
        variants.append({"name": variant.name, "refuted": proof.is_refuted})
    sizes = "" if one_node else f" for {theorem.smallest} to {largest} brokers"
    return TheoremResult(
        name=name,
        counts=f"{_claims_text(proofs)}{sizes}, {_refuted(refuted, len(variants))}",
        outcome=_outcome(
            refuted == len(variants) and all(proof.is_proved for _, proof in proofs),
            any(proof.is_refuted for _, proof in proofs),
        ),
        as_json={
            "theorem": name,
            "groups": [_induction_json(stated, proof) for stated, proof in proofs],
            "false_variants": variants,
        },
    )


def _counting(stated: Induction, size: int, doing: Doing) -> Callable[[LemmaProof], None]:
    """Return what tells how many lemmas are proved."""
    done: list[LemmaProof] = []

    def count(proof: LemmaProof) -> None:
        done.append(proof)
        doing(f"{stated.name} of size {size}: {len(done)} of {len(stated.lemmas)} lemmas")

    return count


def _claims_text(proofs: Sequence[tuple[Induction, InductionProof]]) -> str:
    answers = [answer for _, proof in proofs for one in proof.lemmas for _, answer in one.claims]
    proved = sum(isinstance(answer, Proved) for answer in answers)
    return f"{proved:,} of {len(answers):,} claims"


def _proof_lines(stated: Induction, proof: InductionProof, *, whole: bool) -> Iterator[Line]:
    """Tell the lemmas: all of the largest group, of others what is not proved."""
    if whole:
        for claim in stated.lemmas[0].claims:
            yield Line(1, f"claim {claim.name}: {claim.description}")
    for lemma in proof.lemmas:
        if whole or not lemma.is_proved:
            yield Line(1, _lemma_text(lemma), wrong=not lemma.is_proved)
            yield from _broken_lines(lemma, wrong=True)
    if proof.is_proved:
        claims = sum(len(lemma.claims) for lemma in proof.lemmas)
        yield Line(
            1,
            f"proved: {len(proof.lemmas)} lemmas with {claims} claims, each premise has an "
            f"example, {proof.seconds:.1f} s",
        )
    if whole:
        yield Line(1, f"not shown: {stated.not_shown}")


def _lemma_text(lemma: LemmaProof) -> str:
    kept = sum(isinstance(answer, Proved) for _, answer in lemma.claims)
    undecided = [answer.reason for _, answer in lemma.claims if isinstance(answer, Unknown)]
    text = f"{lemma.lemma}: {kept} of {len(lemma.claims)} claims proved, {lemma.seconds:.1f} s"
    return f"{text}; UNDECIDED: {undecided[0]}" if undecided else text


def _broken_lines(lemma: LemmaProof, *, wrong: bool) -> Iterator[Line]:
    for name, broken in lemma.broken[:1]:
        others = [other for other, _ in lemma.broken[1:]]
        also = f" (and {', '.join(others)})" if others else ""
        yield Line(2, f"REFUTED: {lemma.lemma} does not keep {name}{also}:", wrong)
        for text in broken.text.splitlines():
            yield Line(3, text, wrong)


def _refutation(proof: InductionProof) -> Iterator[Line]:
    last = proof.lemmas[-1]
    if not last.broken:
        yield Line(2, _NOT_REFUTED, wrong=True)
        return
    yield from _broken_lines(last, wrong=False)
    yield Line(2, f"{proof.seconds:.1f} s")


def _induction_json(stated: Induction, proof: InductionProof) -> Json:
    return {
        "statement": stated.statement,
        "answer": _outcome(proof.is_proved, proof.is_refuted),
        "seconds": round(proof.seconds, 3),
        "lemmas": [
            {
                "name": lemma.lemma,
                "claims": len(lemma.claims),
                "proved": sum(isinstance(answer, Proved) for _, answer in lemma.claims),
                "broken": [name for name, one in lemma.claims if isinstance(one, Broken)],
                "rlimit": lemma.resources,
                "seconds": round(lemma.seconds, 3),
            }
            for lemma in proof.lemmas
        ],
    }

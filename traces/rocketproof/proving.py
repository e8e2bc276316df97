"""Prove a theorem, try its false variants, and say so in lines and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from rocketproof.theorems import Theorem
from tlatrace.proofs import (
    Broken,
    Induction,
    InductionProof,
    LemmaProof,
    Limits,
    Proved,
    Unknown,
    prove_induction,
)
from tlatrace.values import Json

__all__ = ["Line", "Outcome", "TheoremResult", "prove_theorem"]

Outcome: TypeAlias = Literal["proved", "refuted", "undecided"]

VARIANT_SIZE: Final = 3
"""False variants are refuted for so many brokers or entries: their counterexamples are short."""
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


def _refuted(refuted: int, variants: int) -> str:
    return f"{refuted} of {variants} false variant{'s' if variants > 1 else ''} refuted"


def _outcome(proved: bool, refuted: bool) -> Outcome:
    return "refuted" if refuted else "proved" if proved else "undecided"


def prove_theorem(
    name: str,
    theorem: Theorem,
    asked: int | None,
    limits: Limits,
    show: Show,
    doing: Doing,
) -> TheoremResult:
    """Prove a theorem for groups, or whatever it is about, up to a size, and refute its variants.

    Without a size that is asked for it is the theorem's own; some have no other.
    """
    sizes = theorem.sizes(asked)
    proofs: list[tuple[Induction, InductionProof]] = []
    for size in sizes:
        stated = theorem.state(size)
        proof = prove_induction(stated, limits=limits, on_lemma=_counting(stated, size, doing))
        proofs.append((stated, proof))
        show(Line(0, f"Theorem {name}: {stated.statement}"))
        for line in _proof_lines(stated, proof, whole=size == sizes[-1]):
            show(line)
    variants: list[Json] = []
    refuted = 0
    for variant in theorem.variants:
        doing(f"{name}: false variant {variant.name}")
        stated = variant.state(min(sizes[-1], VARIANT_SIZE))
        proof = prove_induction(stated, limits=limits, until_broken=True)
        show(Line(1, f"false variant {variant.name}: {variant.description}"))
        for line in _refutation(proof):
            show(line)
        refuted += proof.is_refuted
        variants.append({"name": variant.name, "refuted": proof.is_refuted})
    return TheoremResult(
        name=name,
        counts=f"{_claims_text(proofs)}{theorem.sizes_text(sizes)}, "
        f"{_refuted(refuted, len(variants))}",
        outcome=_outcome(
            refuted == len(variants) and all(proof.is_proved for _, proof in proofs),
            any(proof.is_refuted for _, proof in proofs),
        ),
        as_json={
            "theorem": name,
            "proofs": [_proof_json(stated, proof) for stated, proof in proofs],
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
        for assumption in stated.assumptions:
            yield Line(1, f"assume {assumption.name}: {assumption.description}")
        for claim in stated.lemmas[0].claims:
            yield Line(1, f"claim {claim.name}: {claim.description}")
    for lemma in proof.lemmas:
        if whole or not lemma.is_proved:
            yield Line(1, _lemma_text(lemma), wrong=not lemma.is_proved)
            yield from _broken_lines(lemma, wrong=True)
    if proof.is_proved:
        claims = sum(len(lemma.claims) for lemma in proof.lemmas)
        lemmas = "1 lemma" if len(proof.lemmas) == 1 else f"{len(proof.lemmas)} lemmas"
        yield Line(
            1,
            f"proved: {lemmas} with {claims} claims, each premise has an example, "
            f"{proof.seconds:.1f} s",
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


def _proof_json(stated: Induction, proof: InductionProof) -> Json:
    return {
        "statement": stated.statement,
        "assumptions": [assumption.name for assumption in stated.assumptions],
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

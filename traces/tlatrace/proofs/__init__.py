"""Theorems about all numbers, where TLC looks at a few: z3 proves or refutes them."""

from __future__ import annotations

from tlatrace.proofs.induction import (
    Broken,
    Induction,
    InductionProof,
    Kept,
    Lemma,
    LemmaProof,
    prove_induction,
)
from tlatrace.proofs.limits import DEFAULT_LIMITS, Limits
from tlatrace.proofs.prover import Answer, Checked, Proof, Proved, Refuted, Unknown, prove
from tlatrace.proofs.theorem import Assumption, Claim, Theorem

__all__ = [
    "DEFAULT_LIMITS",
    "Answer",
    "Assumption",
    "Broken",
    "Checked",
    "Claim",
    "Induction",
    "InductionProof",
    "Kept",
    "Lemma",
    "LemmaProof",
    "Limits",
    "Proof",
    "Proved",
    "Refuted",
    "Theorem",
    "Unknown",
    "prove",
    "prove_induction",
]

"""Theorems about all numbers, where TLC looks at a few: z3 proves or refutes them."""

from __future__ import annotations

from tlatrace.proofs.induction import (
    Broken,
    Induction,
    InductionProof,
    Instance,
    Kept,
    Lemma,
    LemmaProof,
    prove_induction,
)
from tlatrace.proofs.limits import DEFAULT_LIMITS, Limits
from tlatrace.proofs.theorem import Assumption, Claim, Proved, Unknown

__all__ = [
    "DEFAULT_LIMITS",
    "Assumption",
    "Broken",
    "Claim",
    "Induction",
    "InductionProof",
    "Instance",
    "Kept",
    "Lemma",
    "LemmaProof",
    "Limits",
    "Proved",
    "Unknown",
    "prove_induction",
]

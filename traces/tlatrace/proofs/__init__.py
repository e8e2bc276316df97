"""Theorems about all numbers, where TLC looks at a few: z3 proves or refutes them."""

from __future__ import annotations

from tlatrace.proofs.prover import Answer, Checked, Proof, Proved, Refuted, Unknown, prove
from tlatrace.proofs.theorem import Assumption, Claim, Theorem

__all__ = [
    "Answer",
    "Assumption",
    "Checked",
    "Claim",
    "Proof",
    "Proved",
    "Refuted",
    "Theorem",
    "Unknown",
    "prove",
]

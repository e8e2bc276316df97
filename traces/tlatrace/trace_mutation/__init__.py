"""Measure an oracle: corrupt accepted traces, and see what a specification still accepts."""

from __future__ import annotations

from tlatrace.trace_mutation.baseline import Verdict, judge_mutations, read_holes, write_holes
from tlatrace.trace_mutation.kinds import Kind, Mutation
from tlatrace.trace_mutation.measure import Finding, Hole, MutationResult, Outcome, measure
from tlatrace.trace_mutation.report import mutations_json, mutations_text

__all__ = [
    "Finding",
    "Hole",
    "Kind",
    "Mutation",
    "MutationResult",
    "Outcome",
    "Verdict",
    "judge_mutations",
    "measure",
    "mutations_json",
    "mutations_text",
    "read_holes",
    "write_holes",
]

"""Hold traces against a specification, with TLC as the judge."""

from __future__ import annotations

from tlatrace.judgement.transition import (
    Allowed,
    Failed,
    Judged,
    Judgement,
    Refused,
    Transition,
    transition_key,
)
from tlatrace.tla.spec import SpecUnderTest, load_spec, module_sha256
from tlatrace.validate.explain import Candidate, Explanation, explain
from tlatrace.validate.judge import DEFAULT_BATCH, judge
from tlatrace.validate.traces import transitions_of, validate_traces, verdict_of

__all__ = [
    "DEFAULT_BATCH",
    "Allowed",
    "Candidate",
    "Explanation",
    "Failed",
    "Judged",
    "Judgement",
    "Refused",
    "SpecUnderTest",
    "Transition",
    "explain",
    "judge",
    "load_spec",
    "module_sha256",
    "transition_key",
    "transitions_of",
    "validate_traces",
    "verdict_of",
]

"""Match traces with the compiled model of a specification, and read logs of other systems."""

from __future__ import annotations

from tlatrace.matching.foreign_log import LogCounts, MappedLog, read_log
from tlatrace.matching.mapping import LogMapping, read_mapping
from tlatrace.matching.match import is_partial, match_traces
from tlatrace.matching.search import DEFAULT_BUDGET, Budget

__all__ = [
    "DEFAULT_BUDGET",
    "Budget",
    "LogCounts",
    "LogMapping",
    "MappedLog",
    "is_partial",
    "match_traces",
    "read_log",
    "read_mapping",
]

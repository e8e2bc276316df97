"""Traces: recorded runs, and the files that hold them (`ndjson`, `itf`)."""

from __future__ import annotations

from tlatrace.trace.model import (
    FORMAT,
    INIT,
    VERSION,
    Change,
    Clues,
    Event,
    Header,
    Implementation,
    ParamPart,
    Part,
    Silent,
    Trace,
)
from tlatrace.values import State

__all__ = [
    "FORMAT",
    "INIT",
    "VERSION",
    "Change",
    "Clues",
    "Event",
    "Header",
    "Implementation",
    "ParamPart",
    "Part",
    "Silent",
    "State",
    "Trace",
]

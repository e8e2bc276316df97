"""What a process is asked that runs one mutation, and what it answers: plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

__all__ = [
    "TRACES",
    "Column",
    "Digests",
    "Examined",
    "MutatedModule",
    "Rejected",
    "RunKey",
    "RunTask",
]


class Column(StrEnum):
    """Who may reject a mutation; the value is what a report calls it."""

    WHOLE_STATES = "whole states"
    """The TLA+ text, of a trace with the states of all nodes."""
    RECORDS = "records"
    """The TLA+ text, of a trace of what nodes wrote."""
    HISTORIES = "histories"
    """A promise to clients is broken."""
    LIVENESS = "liveness"
    """The run does not come back to life when its faults are over."""
    OBLIGATIONS = "obligations"
    """A node does not do in time what it must."""
    ERRORS = "errors"
    """A run stops with an error, or does not end."""
    CRASH_POINTS = "crash points"
    """Any of these, of a run in which a node ends between two effects of a step, or before an
    operation of its disk; such runs are made only of what nothing else rejects."""
    UNIT_TESTS = "unit tests"


TRACES: Final = frozenset({Column.WHOLE_STATES, Column.RECORDS})
"""What traces show, whichever."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """How a column rejects a mutation, the first time."""

    run: RunKey | None
    reason: str


@dataclass(frozen=True, slots=True)
class MutatedModule:
    """A module, and the text that it has in the process."""

    name: str
    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Digests:
    """A run's trace of whole states, and what its nodes wrote, each as a digest."""

    whole_states: str
    records: str


@dataclass(frozen=True, slots=True, order=True)
class RunKey:
    """A run of a seed; with a crash point a node ends there."""

    seed: int
    crash_point: tuple[str, int, int, int, str] | None = None
    """(node, seam, effect, operation, how it ends), as `rocketha.sim.engine.crash_points` has
    them."""

    def __str__(self) -> str:
        """Say it: "seed 3", "seed 3 with power-cut of b1 at seam 7"."""
        if self.crash_point is None:
            return f"seed {self.seed}"
        node, seam, effect, operation, how = self.crash_point
        where = f"at seam {seam}" if seam else f"before operation {operation} of effect {effect}"
        return f"seed {self.seed} with {how} of {node} {where}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTask:
    """What one process is to run; plain data."""

    protocol: str
    runs: tuple[RunKey, ...]
    """Those with crash points last."""
    mutated: MutatedModule | None = None
    """None: the implementation as it is, of which every rejection is a defect of ours."""
    watched: Mapping[str, frozenset[int]] = field(default_factory=dict, hash=False)
    """File -> lines; the result says which of them each run executes."""
    digests: Mapping[RunKey, Digests] = field(default_factory=dict, hash=False)
    """What runs are without a mutation: they are judged already."""
    seams: int = 0
    """Without a mutation: of each seed so many seams are drawn..."""
    operations: int = 0
    """...and of so many kinds an operation of a disk, and a node ends there."""
    tests: tuple[Path, ...] = ()
    """Run the tests of these folders, and nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What came of it."""

    rejected: Mapping[Column, Rejected]
    """Of several runs the first that a column rejects."""
    runs: int = 0
    """Runs that were made."""
    executed: Mapping[RunKey, frozenset[tuple[str, int]]] = field(default_factory=dict)
    """The watched lines that a run executes; those of an import are in every run's.
    Runs that are rejected are not there."""
    digests: Mapping[RunKey, Digests] = field(default_factory=dict)
    """What runs are."""
    undecided: int = 0
    """Traces of which a judge could not say whether the text allows them."""

"""What the validation of a corpus found; plain data, for the command line and for reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tlatrace.corpus.manifest import CorpusManifest, read_manifest
from tlatrace.judgement.verdict import Kind, Undecided, Verdict, combine, kind
from tlatrace.logged import Logged

__all__ = [
    "CorpusResult",
    "Example",
    "FaultCount",
    "Figures",
    "Rechecked",
    "TraceVerdict",
    "nothing_in",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceVerdict:
    """The verdict of one trace."""

    trace_id: str
    seed: int | None
    verdict: Verdict
    dead: bool = False
    """Whether its producer says that the run did not come back to life."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultCount:
    """How often a kind of fault struck, and in how many traces."""

    strikes: int
    traces: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """The first trace of those that end in the same way, looked at closely."""

    trace_id: str
    seed: int | None
    step: int
    call: str
    """The action with its parameters, as TLA+."""
    why: str
    """What the traces have in common."""
    traces: int
    """How many traces end in this way."""
    changes: tuple[str, ...] = ()
    """What the trace changes in this step."""
    allowed: tuple[str, ...] | None = None
    """Where the trace's state is not the nearest one that the action leads to; None: not asked, and
    empty: the action leads nowhere from here."""
    note: str | None = None
    """Why there is no more to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was read and judged; each step is counted exactly once."""

    steps: int = 0
    """Rows of `steps`, less the carried ones."""
    initial: int = 0
    """Those that are the initial state of a trace."""
    evaluated: int = 0
    """Those that the model was asked about."""
    remembered: int = 0
    """Those that the same worker had judged before."""
    recalled: int = 0
    """Those that an earlier run had accepted."""
    skipped: int = 0
    """Those behind the first bad step, or a fault, of their piece; they say nothing."""
    distinct: int = 0
    """Different ones among those that are not skipped."""
    distinct_is_exact: bool = True
    """Else it is an estimate, within about 1 %."""
    by_machine_code: int = 0
    """Those that machine code has accepted, of whatever kind; Python was asked about the others."""
    has_machine_code: bool = False
    """Whether there was any to be asked."""
    cpu_seconds: float = 0.0
    """Of all workers."""
    worker_peak_mb: float = 0.0
    """Largest resident memory of a worker."""

    @property
    def accounted(self) -> int:
        """Add up all kinds of steps."""
        return self.initial + self.evaluated + self.remembered + self.recalled + self.skipped

    @property
    def repetition(self) -> float:
        """How often each distinct one occurs on average; 0 where there is none."""
        return (self.steps - self.skipped) / self.distinct if self.distinct else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rechecked:
    """What TLC was asked about, and said the same of."""

    accepted: int
    """Accepted transitions: a random sample, or all."""
    rejected: int
    """Rejected transitions."""
    left_out: int = 0
    """Rejected transitions beyond the number that TLC is asked about."""
    unanswered: int = 0
    """Transitions of which TLC said nothing, in the time and memory that it has."""
    reason: str | None = None
    """Why, of one of these."""
    everything: bool = False
    """All transitions, in each worker that met them; else each of a sample once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusResult:
    """Every trace of a corpus has exactly one verdict here."""

    folder: Path
    manifest: CorpusManifest | None
    """None for an empty folder."""
    verdicts: tuple[TraceVerdict, ...] = ()
    """In the order of the trace ids."""
    figures: Figures = Figures()
    actions: Mapping[str, int] = field(default_factory=dict)
    """Action -> steps that claim it; "" for steps without a name."""
    unseen: tuple[str, ...] = ()
    """Actions of the specification's next-state relation that no step claims."""
    logged: Logged | None = None
    """What of the specification the traces have logged; None where there is nothing to judge."""
    faults: Mapping[str, FaultCount] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    problems: tuple[str, ...] = ()
    """Why the corpus as a whole cannot be trusted: it is not what its manifest says."""
    notes: tuple[str, ...] = ()
    """What a reader should know; no verdict depends on it."""
    rechecked: Rechecked | None = None
    """TLC's part; None if it was not asked."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Phase -> seconds of wall clock."""

    @property
    def verdict(self) -> Verdict:
        """The worst verdict.

        Undecided if there is nothing, a run is dead, or the corpus cannot be trusted.
        """
        problems: list[Verdict] = [Undecided(problem) for problem in self.problems]
        if self.dead:
            problems.append(Undecided(f"{len(self.dead):,} runs did not come back to life"))
        return combine([*(item.verdict for item in self.verdicts), *problems])

    @property
    def dead(self) -> tuple[TraceVerdict, ...]:
        """The traces of runs that did not come back to life when their faults ended."""
        return tuple([item for item in self.verdicts if item.dead])

    def count(self, wanted: Kind) -> int:
        """Count the traces with a verdict of this kind."""
        return sum(kind(item.verdict) == wanted for item in self.verdicts)

    def of_kind(self, wanted: Kind) -> tuple[TraceVerdict, ...]:
        """Return the traces with a verdict of this kind."""
        return tuple([item for item in self.verdicts if kind(item.verdict) == wanted])

    def command_for(self, seed: int | None) -> str | None:
        """Return the command that makes the trace of a seed again, None if there is none."""
        if seed is None or self.manifest is None or self.manifest.reproduce is None:
            return None
        return self.manifest.reproduce.replace("{seed}", str(seed))


def nothing_in(folder: Path) -> CorpusResult | None:
    """Answer for a folder with nothing to examine, empty or without a step; None for others.

    Raises:
        CorpusError: no finished corpus.
    """
    if folder.is_dir() and not any(folder.iterdir()):
        return CorpusResult(folder=folder, manifest=None, problems=("the folder is empty",))
    manifest = read_manifest(folder)
    if manifest.steps:
        return None
    problem = f"none of its {manifest.traces:,} traces has a step"
    return CorpusResult(folder=folder, manifest=manifest, problems=(problem,))

"""What a process does that runs one mutation.

Cores keep their rules in the defaults of frozen classes, so a mutation must be in the text before
anything imports it. This module therefore imports nothing of `rocketha`: it says first which text
a module has, and then imports who runs it.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, Final

__all__ = [
    "TRACES",
    "Column",
    "Digests",
    "Examined",
    "LineWatch",
    "MutatedModule",
    "NoEnd",
    "Rejected",
    "RunKey",
    "RunTask",
    "cpu_limit",
    "memory_limit",
    "work",
]

_MEMORY_BYTES: Final = 3 << 30
"""A mutation that collects without end gets a MemoryError."""


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
    """Any of these, of a run in which a node ends between two effects of a step; such runs are made
    only of what nothing else rejects."""
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
    crash_point: tuple[str, int, str] | None = None
    """(node, seam, how it ends), as `rocketha.sim.engine.crash_points` has them."""

    def __str__(self) -> str:
        """Say it: "seed 3", "seed 3 with power-cut of b1 at seam 7"."""
        if self.crash_point is None:
            return f"seed {self.seed}"
        node, seam, how = self.crash_point
        return f"seed {self.seed} with {how} of {node} at seam {seam}"


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
    points: int = 0
    """Without a mutation: of each seed so many crash points are drawn and run, too."""
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


class NoEnd(BaseException):
    """The processor time of something is up."""


@contextlib.contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise `NoEnd` in the block when it has used so much processor time; not on Windows."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def end(_signal: int, _frame: FrameType | None) -> None:
        raise NoEnd

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def memory_limit() -> Iterator[None]:
    """Raise MemoryError in the block when it has too much; where the system has such a limit."""
    try:
        import resource
    except ImportError:  # Windows
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with contextlib.suppress(ValueError, OSError):  # macOS
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, hard))
    try:
        yield
    finally:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


class _Finder(MetaPathFinder):
    """Finds one module, with another text."""

    def __init__(self, mutated: MutatedModule) -> None:
        self._mutated = mutated

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if fullname != self._mutated.name:
            return None
        loader = _Loader(self._mutated)
        return spec_from_file_location(fullname, self._mutated.path, loader=loader)


class _Loader(SourceFileLoader):
    """Loads a module with another text, and writes no bytecode of it."""

    def __init__(self, mutated: MutatedModule) -> None:
        super().__init__(mutated.name, str(mutated.path))
        self._text = mutated.text

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        code = compile(self._text, self.path, "exec", dont_inherit=True)
        assert isinstance(code, CodeType)
        return code


def work(task: RunTask) -> Examined:
    """Do a task, in a process in which nobody has imported the implementation yet."""
    if task.mutated is not None:
        assert task.mutated.name not in sys.modules, f"{task.mutated.name} is imported already"
        sys.meta_path.insert(0, _Finder(task.mutated))
    if task.tests:
        return _run_tests(task.tests)
    watch = LineWatch(task.watched)
    try:
        with watch.lines(None):
            examination = import_module("rocketproof.implementation_mutation.examination")
    except Exception as error:  # a mutation may break the import itself
        reason = f"cannot be imported: {type(error).__name__}: {error}"
        return Examined(rejected={Column.ERRORS: Rejected(None, reason)})
    examined: Examined = examination.examine(task, watch)
    return examined


class LineWatch:
    """Notes which of some lines are executed."""

    def __init__(self, watched: Mapping[str, frozenset[int]]) -> None:
        """Take lines by their files."""
        self._watched = watched
        self._seen: set[tuple[str, int]] = set()
        self._at_import: frozenset[tuple[str, int]] = frozenset()
        self.executed: dict[RunKey, frozenset[tuple[str, int]]] = {}

    @property
    def is_asked(self) -> bool:
        """Tell whether there are lines to watch."""
        return bool(self._watched)

    @contextlib.contextmanager
    def lines(self, run: RunKey | None) -> Iterator[None]:
        """Note what the block executes, for a run; None: for all of them."""
        if not self.is_asked:
            yield
            return
        self._seen = set()
        sys.settrace(self._of_call)
        try:
            yield
        finally:
            sys.settrace(None)
            if run is None:
                self._at_import = frozenset(self._seen)
            else:
                self.executed[run] = self._at_import | self._seen

    def _of_call(self, frame: FrameType, event: str, arg: object) -> Callable[..., Any] | None:
        """Follow the frames of code in which a watched line is."""
        del event, arg
        lines = self._watched.get(frame.f_code.co_filename)
        if lines is None:
            return None
        in_code = {line for _, _, line in frame.f_code.co_lines() if line is not None}
        return self._of_line if in_code & lines else None

    def _of_line(self, frame: FrameType, event: str, arg: object) -> Callable[..., Any]:
        del event, arg
        place = frame.f_code.co_filename, frame.f_lineno
        if place[1] in self._watched[place[0]]:
            self._seen.add(place)
        return self._of_line


_TESTS_CPU_S: Final = 120.0


def _run_tests(folders: Sequence[Path]) -> Examined:
    """Run unit tests until the first fails."""
    pytest = import_module("pytest")
    options = ["-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist"]
    options += ["-m", "not slow and not java and not spark"]
    failed: list[str] = []

    class Listener:
        """Hears which test fails."""

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed:
                failed.append(report.nodeid)

    try:
        with cpu_limit(_TESTS_CPU_S), _silence():
            code = int(pytest.main([*options, *map(str, folders)], plugins=[Listener()]))
    except NoEnd:
        return Examined(rejected={Column.UNIT_TESTS: Rejected(None, "tests do not end")}, runs=1)
    rejected = {}
    if code:
        reason = failed[0] if failed else f"pytest ends with {code}"
        rejected = {Column.UNIT_TESTS: Rejected(None, reason)}
    return Examined(rejected=rejected, runs=1)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    with (
        Path("/dev/null").open("w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        yield

"""What `validate` and `explain` are given: trace files, and the specification of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from tlatrace.errors import InvariantError, SpecError, TraceFormatError
from tlatrace.judgement.specification import SpecUnderTest, load_spec, module_sha256
from tlatrace.matching import LogCounts, LogMapping, read_log, read_mapping
from tlatrace.oracle import Model, load_model
from tlatrace.tla.config import TlcConfig, read_config
from tlatrace.tla.declarations import read_declarations
from tlatrace.tools.manifest import libraries_declared
from tlatrace.tools.module_folders import module_folders
from tlatrace.tools.sany import require_module
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.tools.tlc_config import invariants_of
from tlatrace.trace import Header, Trace
from tlatrace.trace.itf import read_itf
from tlatrace.trace.lines import DEFAULT_LIMITS, Limits
from tlatrace.trace.ndjson import read_trace
from tlatrace.values import canonical_state

__all__ = ["SpecChoice", "TraceFile", "find_logs", "find_trace_files", "read_trace_files"]

_WORD: Final = re.compile(r"\w+")
_EXTENDED: Final = re.compile(r"^\s*EXTENDS\s+(\w+(?:\s*,\s*\w+)*)", re.MULTILINE)
_SUFFIXES: Final = (".ndjson", ".ndjson.gz", ".itf.json")
_LOG_SUFFIXES: Final = (".jsonl", ".jsonl.gz", ".log", ".log.gz", ".ndjson", ".ndjson.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFile:
    """A file that was named on the command line: its trace, or why there is none."""

    path: Path
    trace: Trace | None
    error: TraceFormatError | None = None
    lines: tuple[int, ...] | None = None
    """The line of each event of a log that is no trace; None for traces."""
    logs: tuple[Path, ...] | None = None
    """The file of each event, where the logs of several nodes make one trace; else None."""
    counts: LogCounts | None = None
    """What became of the lines of a log; None for traces."""

    def line_of(self, step: int) -> int | None:
        """Return the line of a step, where the header is line 1; None for ITF, one document."""
        if self.lines is not None:
            return self.lines[step]
        return None if self.path.name.endswith(".itf.json") else step + 2

    def log_of(self, step: int) -> str | None:
        """Return the file that a step's line stands in, if it is not `path`."""
        return None if self.logs is None else str(self.logs[step])


def find_trace_files(paths: Sequence[Path]) -> list[Path]:
    """List the files; a folder stands for all traces below it, sorted by name.

    Raises:
        TraceFormatError: a folder without traces.
    """
    return _files(paths, _SUFFIXES)


def find_logs(paths: Sequence[Path], mapping: LogMapping) -> list[Path]:
    """List the logs of another system; a folder stands for all logs below it, sorted by name.

    With an order in the mapping, a log is a folder with the logs of the nodes of one run; a folder
    without any stands for those below it.

    Raises:
        TraceFormatError: a folder without logs.
    """
    if mapping.order is None:
        return _files(paths, _LOG_SUFFIXES)
    runs: list[Path] = []
    for path in paths:
        inside = [path]
        if path.is_dir() and not any(any(path.glob(p)) for p in mapping.order.files):
            found = {file.parent for p in mapping.order.files for file in path.rglob(p)}
            inside = sorted(found) or [path]
        runs += inside
    return runs


def _files(paths: Sequence[Path], suffixes: tuple[str, ...]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        inside = sorted(file for file in path.rglob("*") if file.name.endswith(suffixes))
        if not inside:
            raise TraceFormatError(path, None, f"no {', '.join(suffixes)} in this folder")
        files += inside
    return files


def read_trace_files(
    paths: Sequence[Path], map_file: Path | None, limits: Limits = DEFAULT_LIMITS
) -> list[TraceFile]:
    """Read traces, or, with a mapping, logs of another system; see `find_logs`.

    A file that is no trace, and a log that the mapping does not fit, is an answer, too.

    Raises:
        TraceFormatError: a folder without any.
        SpecError: the mapping is wrong.
    """
    if map_file is None:
        return [_trace_file(path, limits) for path in find_trace_files(paths)]
    mapping = read_mapping(map_file)
    return [_mapped_file(path, mapping, limits) for path in find_logs(paths, mapping)]


def _trace_file(path: Path, limits: Limits) -> TraceFile:
    try:
        if path.name.endswith(".itf.json"):
            return TraceFile(path=path, trace=read_itf(path))
        return TraceFile(path=path, trace=read_trace(path, limits))
    except TraceFormatError as error:
        return TraceFile(path=path, trace=None, error=error)


def _mapped_file(path: Path, mapping: LogMapping, limits: Limits) -> TraceFile:
    try:
        log = read_log(path, mapping, limits)
    except TraceFormatError as error:
        return TraceFile(path=path, trace=None, error=error)
    merged = log.files if path.is_dir() else None
    return TraceFile(path=path, trace=log.trace, lines=log.lines, logs=merged, counts=log.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecChoice:
    """The options that say which specification traces are held against."""

    module: Path | None = None
    config: Path | None = None
    invariants: tuple[str, ...] = ()
    libraries: tuple[Path, ...] = ()
    spec_root: Path | None = None
    stuttering: bool = True
    """Whether a step without an action may change nothing, where SPECIFICATION allows it."""
    choose_any: bool = False
    """Whether CHOOSE takes the first of several witnesses in the compiled model."""

    def module_of(self, header: Header) -> Path:
        """Find the module: the option, or the one of the header's name below the spec root.

        Raises:
            SpecError: there is none, or more than one, or the option names something else.
        """
        if self.module is not None:
            require_module(self.module)
            return self.module
        root = find_spec_root(self.spec_root)
        found = [path for path in sorted(root.glob("*/*.tla")) if path.stem == header.spec]
        if len(found) != 1:
            what = "no" if not found else "more than one"
            raise SpecError(
                root, f"there is {what} */{header.spec}.tla here (say which with --spec)"
            )
        return found[0]

    def folders_of(self, header: Header) -> tuple[Path, ...]:
        """Return where the modules lie, as `tlatrace.tools.module_folders` has it.

        The libraries of a module that is found by its name are the options and what its folder
        declares.

        Raises: as `module_of`.
        """
        module, libraries = self.module_of(header), self.libraries
        if self.module is None:
            libraries = (*libraries, *libraries_declared(module.parent))
        return module_folders(module, libraries)

    def key(self, header: Header) -> tuple[Path, str]:
        """Return what tells the traces of one specification from those of another.

        Raises: as `module_of`.
        """
        return self.module_of(header), "" if self.config else canonical_state(header.constants)

    def load(self, header: Header) -> SpecUnderTest:
        """Load the specification for the traces with this header's key.

        Raises: as `module_of` and `load_spec`.
        """
        module, libraries = self.module_of(header), self.folders_of(header)[1:]
        judged = _with_properties(module)
        load = partial(load_spec, judged, libraries=libraries, shown_as=module.stem)
        with self._options_named(module):
            if self.config is not None:
                config = read_config(self.config)
                return load(config=config, invariants=self.invariants, stuttering=self.stuttering)
            wanted = self.invariants or _invariants_beside(judged, module, libraries)
            own = TlcConfig(path=module)
            return load(config=own, constants=header.constants, invariants=wanted)

    def model(
        self,
        header: Header,
        *,
        conjuncts: bool = False,
        native: bool = False,
        expressions: Sequence[str] = (),
    ) -> Model:
        """Compile the specification for the traces with this header's key.

        It can evaluate `expressions`, with `conjuncts` say which one of an action is false, and
        with `native` be opened as machine code.

        Raises: as `module_of` and `tlatrace.oracle.load_model`.
        """
        module, libraries = self.module_of(header), self.folders_of(header)[1:]
        judged = _with_properties(module)
        load = partial(
            load_model,
            judged,
            shown_as=module.stem,
            conjuncts=conjuncts,
            native=native,
            libraries=libraries,
            expressions=expressions,
            definitions=header.expressions,
            stuttering=self.stuttering,
            choose_any=self.choose_any,
        )
        with self._options_named(module):
            if self.config is not None:
                return load(self.config, invariants=self.invariants)
            wanted = self.invariants or _invariants_beside(judged, module, libraries)
            return load(constants=header.constants, invariants=wanted)

    @contextmanager
    def _options_named(self, module: Path) -> Iterator[None]:
        """Let an error in what an option says name the option."""
        try:
            yield
        except InvariantError as error:
            if error.name not in self.invariants:
                raise
            raise InvariantError(module, error.name, error.why, "--invariant") from error

    def hash_differs(self, header: Header) -> bool:
        """Tell whether the trace was recorded for another text of the module.

        Raises: as `module_of`.
        """
        recorded = header.spec_sha256
        return recorded is not None and recorded != module_sha256(self.module_of(header))


def _with_properties(module: Path) -> Path:
    """Return `XProperties.tla` beside `X.tla` if there is one that extends X, else the module."""
    beside = module.with_name(f"{module.stem}Properties.tla")
    if not beside.is_file():
        return module
    found = _EXTENDED.search(beside.read_text("utf-8", errors="replace"))
    return beside if found and module.stem in _WORD.findall(found[1]) else module


def _invariants_beside(judged: Path, module: Path, libraries: Sequence[Path]) -> tuple[str, ...]:
    """Return the invariants of the module's small model, as far as what is judged has them."""
    config = module.with_name(f"MC{module.stem}_small.cfg")
    if not config.is_file():
        return ()
    operators = read_declarations(judged, libraries).operators
    return tuple([name for name in invariants_of(config.read_text("utf-8")) if name in operators])

"""What a process does that runs one mutation.

Cores keep their rules in the defaults of frozen classes, so a mutation must be in the text before
anything imports it. This module therefore imports nothing of `rocketha`: it says first which text
a module has, and then imports who runs it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

from rocketproof.implementation_mutation.limits import NoEnd, cpu_limit
from rocketproof.implementation_mutation.line_watch import LineWatch
from rocketproof.implementation_mutation.run_task import (
    Column,
    Examined,
    MutatedModule,
    Rejected,
    RunTask,
)

__all__ = ["work"]


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
            import_module("rocketproof.protocols").PROTOCOLS[task.protocol]
            examination = import_module("rocketproof.implementation_mutation.examination")
    except Exception as error:  # a mutation may break the import itself
        reason = f"cannot be imported: {type(error).__name__}: {error}"
        return Examined(rejected={Column.ERRORS: Rejected(None, reason)})
    examined: Examined = examination.examine(task, watch)
    return examined


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

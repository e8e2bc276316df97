"""Mutations that are no program: whoever runs a type checker never runs them.

A language with types does not translate `state.beat is None and state.beat.number == 3`, and those
who measure there count it for nothing (Stryker's "CompileError"). Python runs it, until the line
is reached; but this implementation is typed, and no change of it lands that the checker refuses.
Only what is no program counts: not that a comparison is always true, or a line never reached.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias

from rocketproof.implementation_mutation.mutation import Mutation
from tlatrace.errors import ToolError

__all__ = ["TypeCheck", "has_type_checker"]

_OPTIONS: Final = (
    "--config-file=",
    "--no-error-summary",
    "--hide-error-context",
    "--check-untyped-defs",
    "--follow-imports=silent",
)
"""Those of mypy without a configuration: what is not possible, and not what is only odd."""
_Run: TypeAlias = Callable[[list[str]], tuple[str, str, int]]


def has_type_checker() -> bool:
    """Tell whether mypy is installed."""
    return find_spec("mypy") is not None


class TypeCheck(AbstractContextManager["TypeCheck"]):
    """Asks mypy; what it has found out of other modules is kept as long as this is open."""

    def __init__(self) -> None:
        """Begin. mypy must be installed."""
        self._run: _Run = import_module("mypy.api").run
        self._folder = TemporaryDirectory(prefix="rocketproof-types-")
        self._sound: set[Path] = set()

    def __exit__(self, *_: object) -> None:
        """Forget everything."""
        self._folder.cleanup()

    def refuses(self, mutation: Mutation) -> str | None:
        """Return the first error of a mutated module; None: there is none.

        Raises: ToolError if the module has errors as it is
        """
        path = mutation.path
        text = path.read_text("utf-8")
        if path not in self._sound:
            error = self._first_error(path, text)
            if error is not None:
                raise ToolError(
                    "mutations", f"without a mutation, mypy refuses {path.name}: {error}"
                )
            self._sound.add(path)
        return self._first_error(path, mutation.mutated(text))

    def _first_error(self, path: Path, text: str) -> str | None:
        """Raises: ToolError if the checker itself fails."""
        folder = Path(self._folder.name)
        shadow = folder / "mutated.py"
        shadow.write_text(text, "utf-8")
        where = ["--cache-dir", str(folder / "cache"), "--shadow-file", str(path), str(shadow)]
        out, err, code = self._run([*_OPTIONS, *where, str(path)])
        if code not in (0, 1):
            raise ToolError("mutations", f"the type checker failed: {(err or out).strip()}")
        errors = [line for line in out.splitlines() if ": error: " in line]
        assert bool(errors) == bool(code), out
        return errors[0].partition(": error: ")[2] if errors else None

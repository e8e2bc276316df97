"""The text of flat Python while it is written: lines, blocks, names, functions, constants."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tlatrace.runtime.values import RuntimeValue
from tlatrace.tla.sany_nodes import Location

__all__ = ["CONSTANTS", "FlatWriter", "Unlowered"]

CONSTANTS: Final = 24
"""Where the words of constants begin in the array, after what `runtime.words` names."""
_MOST_LINES: Final = 60_000
_INDENT: Final = "    "


class Unlowered(Exception):
    """A construct that stays Python's."""

    def __init__(self, what: str, place: Location | None) -> None:
        super().__init__(what if place is None else f"{what} ({place})")


class FlatWriter:
    """Collects functions; one may be begun while another is written."""

    def __init__(self) -> None:
        self.constants: dict[RuntimeValue, int] = {}
        """Value -> where its word is in the array."""
        self._functions: list[str] = []
        self._stack: list[tuple[list[str], str]] = []
        self._depth = [1]
        self._loops = [0]
        self._count = 0
        self._lines = 0

    def constant(self, value: RuntimeValue) -> str:
        """Return the text of the word of a value."""
        place = self.constants.setdefault(value, CONSTANTS + len(self.constants))
        return f"mem[{place}]"

    def fresh(self, stem: str) -> str:
        """Return a name that is used nowhere else."""
        self._count += 1
        return f"{stem}{self._count}"

    @contextmanager
    def function(self, name: str, parameters: tuple[str, ...], otherwise: str) -> Iterator[None]:
        """Write a function; `otherwise` is what it returns where something has no value.

        Where its text cannot be written, nothing of it stays.
        """
        lines: list[str] = [f"def {name}({', '.join(parameters)}):"]
        self._stack.append((lines, otherwise))
        self._depth.append(1)
        self._loops.append(0)
        try:
            yield
            self._functions.append("\n".join(lines) + "\n")
        finally:
            self._stack.pop()
            self._depth.pop()
            self._loops.pop()

    def add(self, text: str) -> None:
        """Add functions that are written already."""
        self._functions.append(text)

    def emit(self, line: str) -> None:
        """Write a line.

        Raises:
            Unlowered: there are too many.
        """
        self._lines += 1
        if self._lines > _MOST_LINES:
            raise Unlowered("a text that is too long for the native compiler", None)
        self._stack[-1][0].append(_INDENT * self._depth[-1] + line)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Write an indented block under a head."""
        self.emit(head)
        lines = self._stack[-1][0]
        count = len(lines)
        self._depth[-1] += 1
        self._loops[-1] += head.startswith("while")
        yield
        if len(lines) == count:
            self.emit("pass")
        self._loops[-1] -= head.startswith("while")
        self._depth[-1] -= 1

    @property
    def in_loop(self) -> bool:
        """Whether `continue` may stand here."""
        return self._loops[-1] > 0

    def fail(self) -> None:
        """Write that there is no sure answer."""
        self.emit(f"return {self._stack[-1][1]}")

    def fail_if(self, condition: str) -> None:
        """Write that there is no sure answer if a condition holds."""
        with self.block(f"if {condition}:"):
            self.fail()

    def word(self, text: str, stem: str = "w") -> str:
        """Return a name for a word that may be BAD: from here on it is none."""
        name = self.fresh(stem)
        self.emit(f"{name} = {text}")
        self.fail_if(f"{name} == BAD")
        return name

    def answer(self, text: str) -> str:
        """Return a name for the answer to a question: from here on it is 1 or 0."""
        name = self.fresh("q")
        self.emit(f"{name} = {text}")
        self.fail_if(f"{name} == 2")
        return name

    def kept(self, text: str) -> str:
        """Return a name for a word that is to stay what it is."""
        name = self.fresh("k")
        self.emit(f"{name} = {text}")
        return name

    def base(self) -> str:
        """Return a name for where the stack ends now."""
        return self.kept("mem[STACK]")

    def text(self) -> str:
        """Return all functions."""
        return "\n\n".join(self._functions)

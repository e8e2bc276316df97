"""The text of a Python module while it is generated: lines, blocks, names, functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from tlatrace.errors import SubsetError
from tlatrace.runtime.values import Boolean, RuntimeValue

__all__ = ["Function", "Writer"]

MAX_STEPS: Final = 500_000
"""Lines that are written, calls that are written out, trees that are looked at."""

_INDENT: Final = "    "
_STRANGE: Final = re.compile(r"[^A-Za-z0-9_]")


@dataclass(slots=True)
class Function:
    """What is known of the function that is being written."""

    unprimed: set[int] = field(default_factory=set)
    """Indexes of the variables that it unpacks from `s`."""
    primed: set[int] = field(default_factory=set)
    assigned: dict[int, str] | None = None
    """When successors are enumerated: primed variables that have a value, by their names."""
    again: str = ""
    """The call that asks the same of all elements of sets whose order decides; "" if this does."""
    asks_again: bool = False
    lines: list[tuple[int, str]] = field(default_factory=list)
    depth: int = 1
    ready: list[set[str]] = field(default_factory=lambda: [set()])
    """Python names that are surely computed here, by block."""


class Writer:
    """Collects functions and constants; a function may be begun while another is written."""

    def __init__(self, width: int = 0) -> None:
        """Begin a module about states of so many variables."""
        self._width = width
        self._done: list[str] = []
        self._stack: list[Function] = []
        self._counter = 0
        self._spent = 0
        self.literals: dict[str, RuntimeValue] = {}
        """Values that the module is given under global names."""
        self._literal_names: dict[RuntimeValue, str] = {}

    def fresh(self, stem: str) -> str:
        """Return a Python name that no other part of the module has."""
        self._counter += 1
        return f"{_STRANGE.sub('_', stem)}_{self._counter}"

    def spend(self, steps: int) -> None:
        """Count what the compiler does, so that no specification keeps it busy for ever.

        Raises:
            SubsetError: it does too much.
        """
        self._spent += steps
        if self._spent > MAX_STEPS:
            reason = "operators that use each other so often are too much for the compiler"
            raise SubsetError("the specification", reason)

    def literal(self, value: RuntimeValue) -> str:
        """Return the text of a value: itself, or the global name that holds it."""
        if type(value) is int or type(value) is str:
            return repr(value)
        if isinstance(value, Boolean):
            return repr(value)
        known = self._literal_names.get(value)
        if known is None:
            known = self._literal_names[value] = f"L{len(self.literals)}"
            self.literals[known] = value
        return known

    # ---- functions ----

    @property
    def function(self) -> Function:
        """The function that is being written."""
        return self._stack[-1]

    @contextmanager
    def begin(self, function: Function) -> Iterator[Function]:
        """Write a function at the top level of the module; `finish` completes it."""
        self._stack.append(function)
        try:
            yield function
        finally:
            self._stack.pop()

    def finish(self, header: str, function: Function, epilogue: str = "") -> None:
        """Append a function to the module: its header, what it unpacks, and its lines."""
        lines = [header]
        for state, indexes in (("s", function.unprimed), ("t", function.primed)):
            if state == "t" and function.assigned is not None:
                continue
            if 2 * len(indexes) > self._width > 1:  # all at once costs less
                names = [f"{state}{at}" if at in indexes else "_" for at in range(self._width)]
                lines.append(f"{_INDENT}{', '.join(names)} = {state}")
            else:
                lines += [f"{_INDENT}{state}{at} = {state}[{at}]" for at in sorted(indexes)]
        lines += [_INDENT * depth + text for depth, text in function.lines]
        if len(lines) == 1:
            lines.append(f"{_INDENT}pass")
        self._done.append("\n".join(lines))
        if epilogue:
            self._done.append(epilogue)

    def answer(
        self, name: str, parameters: str, write: Callable[[], None], decorator: str = ""
    ) -> None:
        r"""Write a function that returns a Python bool; `write` writes what leads to `return`.

        While it finds TRUE it is in no need of an order. Where an element of a set makes it FALSE,
        and others might have no value, it asks its twin, which looks at all of them.
        """
        for twin in ("", "_all"):
            function = Function(again="" if twin else f"{name}_all({parameters})")
            with self.begin(function):
                write()
            head = "" if twin else decorator
            self.finish(f"{head}def {name}{twin}({parameters}):", function)
            if not function.asks_again:
                return

    def text(self) -> str:
        """Return the text of the module."""
        return "\n\n".join(self._done) + "\n"

    # ---- lines ----

    def emit(self, text: str) -> None:
        """Write a line at the present depth."""
        self.spend(1 + len(text) // 100)
        function = self.function
        function.lines.append((function.depth, text))

    @contextmanager
    def block(self) -> Iterator[None]:
        """Write an indented block, in which something may be computed that is not after it."""
        function = self.function
        function.depth += 1
        function.ready.append(set())
        start = len(function.lines)
        try:
            yield
        finally:
            if len(function.lines) == start:
                self.emit("pass")
            function.ready.pop()
            function.depth -= 1

    def enter(self) -> None:
        """Begin a block that `leave` ends, where `with block()` cannot stand."""
        self.function.depth += 1
        self.function.ready.append(set())

    def leave(self) -> None:
        """End a block that `enter` has begun."""
        self.function.ready.pop()
        self.function.depth -= 1

    @contextmanager
    def capture(self) -> Iterator[list[tuple[int, str]]]:
        """Collect lines instead of writing them; nothing that they compute is ready after."""
        function = self.function
        kept, function.lines = function.lines, []
        function.ready.append(set())
        captured = function.lines
        try:
            yield captured
        finally:
            function.ready.pop()
            function.lines = kept

    def replay(self, lines: list[tuple[int, str]], deeper: int = 0) -> None:
        """Write captured lines."""
        self.spend(len(lines))
        self.function.lines += [(depth + deeper, text) for depth, text in lines]

    def is_ready(self, name: str) -> bool:
        """Tell whether a name is surely computed here."""
        return any(name in names for names in self.function.ready)

    def note_ready(self, name: str) -> None:
        """Say that a name is computed from here to the end of the block."""
        self.function.ready[-1].add(name)

    def atom(self, text: str, stem: str = "x") -> str:
        """Return a name for a text that is to be used more than once."""
        if text.isidentifier() or text.isdigit():
            return text
        name = self.fresh(stem)
        self.emit(f"{name} = {text}")
        return name

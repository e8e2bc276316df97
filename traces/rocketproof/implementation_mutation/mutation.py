"""A mutation of a core: one small change of its text."""

from __future__ import annotations

import difflib
import hashlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

__all__ = ["Kind", "Mutation"]


class Kind(StrEnum):
    """What is mutated; the value is what a report calls it."""

    COMPARISON = "comparison"
    """`<` for `<=`, `!=` for `==`, `not in` for `in`."""
    GUARD = "guard"
    """A condition that always holds or never, a part of one that is not asked, a lost `not`."""
    CONSTANT = "constant"
    """One more or one less; True for False."""
    DROPPED_EFFECT = "dropped effect"
    SWAPPED_EFFECTS = "swapped effects"
    """Two that follow each other, the other way round."""
    STALE_FIELD = "stale field"
    """A part of a state that keeps its old value."""
    MISSING_RESET = "missing reset"
    """A part of a state that should be empty or gone, and stays."""
    UNSYNCED_WRITE = "unsynced write"
    """A flush or an fsync that does not happen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One change of the text of one module."""

    module: str
    """Such as `rocketha.locks.voting`."""
    path: Path
    function: str
    """With its class: `DurableLog.append`; of the module's own level: `<module>`."""
    kind: Kind
    before: str
    """What stands there..."""
    after: str
    """...and what the mutation puts in its place."""
    begin: int
    """Where that is in the file, in bytes."""
    end: int
    lines: range
    """The lines that it is in, from 1."""
    number: int = 0
    """Of equal mutations of one function, which one."""
    moves_timer: bool = False
    """It can only make something happen a little earlier or later: a border of a time, or a number
    in one. A condition that decides whether there is a timer at all is not."""

    @property
    def id(self) -> str:
        """Return its name, which stays as long as its function has the same text there.

        It is the module, the function, the kind, and a digest of both texts without their layout.
        """
        texts = "\0".join(" ".join(text.split()) for text in (self.before, self.after))
        digest = hashlib.sha256(f"{texts}\0{self.number}".encode()).hexdigest()[:8]
        module = self.module.removeprefix("rocketha.")
        return f"{module}:{self.function}:{self.kind.value.replace(' ', '_')}:{digest}"

    def mutated(self, text: str) -> str:
        """Return the text of the module with the mutation in it."""
        data = text.encode()
        assert data[self.begin : self.end].decode() == self.before, self.id
        return (data[: self.begin] + self.after.encode() + data[self.end :]).decode()

    def diff(self) -> str:
        """Return what it changes, as `diff -u` shows it, with two lines around."""
        old = self.path.read_text("utf-8")
        lines = difflib.unified_diff(
            old.splitlines(), self.mutated(old).splitlines(), lineterm="", n=2
        )
        shown = [line for line in lines if not line.startswith(("---", "+++"))]
        return "\n".join([f"{self.module} {self.function}", *shown])

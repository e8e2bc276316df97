"""Which actions of a model a test has taken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tlatrace.testing.calls import Call

__all__ = ["Coverage"]


@dataclass(slots=True)
class Coverage:
    """Counts over all runs of a test."""

    actions: tuple[str, ...]
    """The actions of the model."""
    runs: int = 0
    taken: Counter[str] = field(default_factory=Counter)
    """Action -> how often the system has taken it."""
    offered: Counter[str] = field(default_factory=Counter)
    """Action -> in how many states it could be taken."""
    idle_calls: int = 0

    def saw(self, offers: list[Call]) -> None:
        """Count what can be taken in a state."""
        self.offered.update({call.action for call in offers})

    @property
    def never_taken(self) -> tuple[str, ...]:
        """Name the actions that no run has taken."""
        return tuple([name for name in self.actions if not self.taken[name]])

    def text(self) -> str:
        """Write a line for each action."""
        width = max([len(name) for name in self.actions], default=0)
        lines = [f"{self.runs:,} runs, {self.taken.total():,} steps"]
        for name in self.actions:
            note = "" if self.taken[name] else "   never taken"
            if not self.offered[name]:
                note = "   never possible"
            lines.append(f"  {name:{width}} {self.taken[name]:9,}{note}")
        return "\n".join(lines)

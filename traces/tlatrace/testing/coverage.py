"""Which actions of a model a test has taken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tlatrace.testing.calls import Call, Step

__all__ = ["Coverage"]


@dataclass(slots=True)
class Coverage:
    """Counts over all runs of a test."""

    actions: tuple[str, ...]
    """The actions that Next calls."""
    possible: set[str] = field(default_factory=set)
    """Actions that the model has allowed somewhere, in a run or among its goals."""
    runs: int = 0
    taken: Counter[str] = field(default_factory=Counter)
    """Action -> how often the system has taken it."""
    stuttering_calls: int = 0

    def saw(self, offers: list[Call]) -> None:
        """Note what can be taken in a state."""
        self.possible.update([call.action for call in offers])

    def took(self, step: Step) -> None:
        """Count a step."""
        match step:
            case Call(action=action):
                self.possible.add(action)
                self.taken[action] += 1
            case _:
                self.stuttering_calls += 1

    @property
    def never_taken(self) -> tuple[str, ...]:
        """Name the actions that were possible, and that no run has taken."""
        return tuple([name for name in sorted(self.possible) if not self.taken[name]])

    @property
    def never_possible(self) -> tuple[str, ...]:
        """Name the actions that the model has allowed in no state that the test has seen."""
        return tuple([name for name in self.actions if name not in self.possible])

    def text(self) -> str:
        """Write a line for each action that was possible."""
        width = max([len(name) for name in self.possible], default=0)
        lines = [f"{self.runs:,} runs, {self.taken.total():,} steps"]
        for name in sorted(self.possible):
            note = "" if self.taken[name] else "   never taken"
            lines.append(f"  {name:{width}} {self.taken[name]:9,}{note}")
        if self.never_possible:
            lines.append(f"  never possible: {', '.join(self.never_possible)}")
        return "\n".join(lines)

"""What a comparison with TLC found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, Verdict, combine
from tlatrace.tla_text import to_tla
from tlatrace.values import State

__all__ = ["Agreement", "Disagreement", "Part", "state_text", "verdict_of"]

Part: TypeAlias = Literal[
    "graphs",
    "expressions",
    "corrupted",
    "random-steps",
    "random-expressions",
    "hash-seeds",
    "native",
    "hostile",
    "flips",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """One question to which TLC and the model have different answers.

    Of hostile input: `tlc` is what the plain reading says, or what must be; `model`, what is seen.
    Of machine code: `tlc` is what the compiled Python says; `model`, what machine code does.
    """

    question: str
    tlc: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """All questions of one kind about one subject."""

    part: Part
    subject: str
    examined: int
    """Questions that both answered: steps of a graph, expressions, corrupted transitions."""
    facts: Mapping[str, int]
    """Counts for a reader, in the order in which they are to be shown."""
    disagreements: tuple[Disagreement, ...]
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """Conforms, or Diverges at the first disagreement; Undecided if nothing was examined."""
        if self.disagreements:
            first = self.disagreements[0]
            return Diverges(0, None, f"TLC: {first.tlc}", f"the model: {first.model}")
        if not self.examined:
            return Undecided(f"{self.part} of {self.subject}: nothing was examined")
        return Conforms(self.examined)


def verdict_of(agreements: Iterable[Agreement]) -> Verdict:
    """Combine the verdicts; nothing at all is Undecided."""
    return combine([agreement.verdict for agreement in agreements])


def state_text(state: State) -> str:
    """Write a state on one line, for a reader."""
    return ", ".join([f"{name} = {to_tla(state[name])}" for name in sorted(state)])

"""Three-valued verdicts: what a check of a trace may answer.

The order from best to worst is Conforms, Undecided, Diverges. A divergence is definite bad news:
no number of crashed or timed-out checks beside it may hide it, so it outranks Undecided. Undecided
outranks Conforms, because a pass needs evidence from every part.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, assert_never

__all__ = ["Conforms", "Diverges", "Kind", "Undecided", "Verdict", "combine", "exit_code", "kind"]

Kind: TypeAlias = Literal["conforms", "diverges", "undecided"]

_NOTHING_EXAMINED: Final = "nothing was examined"


@dataclass(frozen=True, slots=True)
class Conforms:
    """The specification allows the whole trace."""

    events: int
    """How many events were matched, at least 1: a check that matched nothing is Undecided."""

    def __post_init__(self) -> None:
        assert self.events >= 1, f"Conforms needs at least one matched event, got {self.events}"


@dataclass(frozen=True, slots=True)
class Diverges:
    """The specification allows no continuation at one step."""

    step: int
    """The first step that cannot be matched; 0 is the initial state."""
    action: str | None
    """The action that the trace names at this step, None where it names none."""
    expected: str
    """What the specification demands, as text for a reader."""
    observed: str
    """What the trace holds, as text for a reader."""

    def __post_init__(self) -> None:
        assert self.step >= 0, f"a step is counted from 0, got {self.step}"


@dataclass(frozen=True, slots=True)
class Undecided:
    """No evidence either way: nothing examined, a crash, a limit or a timeout."""

    reason: str

    def __post_init__(self) -> None:
        assert self.reason, "Undecided needs a reason"


Verdict: TypeAlias = Conforms | Diverges | Undecided


def kind(verdict: Verdict) -> Kind:
    """Name the verdict as reports and tables spell it."""
    match verdict:
        case Conforms():
            return "conforms"
        case Diverges():
            return "diverges"
        case Undecided():
            return "undecided"
        case _ as unreachable:
            assert_never(unreachable)


def exit_code(verdict: Verdict) -> int:
    """Return the process exit code: 0 conforms, 1 diverges, 3 undecided.

    The code 2 is left for usage and tool errors, which are exceptions and not verdicts.
    """
    match verdict:
        case Conforms():
            return 0
        case Diverges():
            return 1
        case Undecided():
            return 3
        case _ as unreachable:
            assert_never(unreachable)


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """Combine the verdicts of parts into the verdict of the whole: the worst one wins.

    Returns the first Diverges; else the first Undecided, with the number of further ones in its
    reason; else Conforms with the sum of the events. No parts at all are Undecided.
    """
    events = 0
    undecided: list[Undecided] = []
    for verdict in verdicts:
        match verdict:
            case Diverges():
                return verdict
            case Undecided():
                undecided.append(verdict)
            case Conforms():
                events += verdict.events
            case _ as unreachable:
                assert_never(unreachable)
    if undecided:
        more = len(undecided) - 1
        return Undecided(f"{undecided[0].reason} (and {more} more)") if more else undecided[0]
    return Conforms(events) if events else Undecided(_NOTHING_EXAMINED)

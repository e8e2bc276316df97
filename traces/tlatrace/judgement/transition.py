"""One claimed step of a specification, and what a judge may say of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from tlatrace.values import State, Value, canonical, canonical_state

__all__ = [
    "Allowed",
    "Failed",
    "Judged",
    "Judgement",
    "Refused",
    "Transition",
    "transition_key",
    "transition_keys",
]


@dataclass(frozen=True, slots=True, eq=False)
class Transition:
    """A step as a trace claims it; identity is `transition_key`, never `==`."""

    pre: State | None
    """None: `post` is claimed to be an initial state."""
    action: str | None
    """Name of the action; None: any step of Next."""
    params: tuple[Value, ...]
    post: State


def transition_key(transition: Transition) -> str:
    """Return a text that is equal for equal transitions only."""
    return transition_keys([transition])[0]


def transition_keys(transitions: Iterable[Transition]) -> list[str]:
    """Return the key of each transition; quick where each begins in the state of the last one."""
    found: list[str] = []
    last: State | None = None
    text = ""
    for step in transitions:
        before = ""
        if step.pre is not None:
            before = text if step.pre is last else canonical_state(step.pre)
        last, text = step.post, canonical_state(step.post)
        parts = [before, step.action or "", canonical(step.params), text]
        found.append("\n".join(parts))  # canonical texts hold no line ends
    return found


@dataclass(frozen=True, slots=True)
class Allowed:
    """TLC evaluated the action to TRUE."""


@dataclass(frozen=True, slots=True)
class Refused:
    """TLC looked at the step and did not evaluate the action to TRUE."""


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no evidence: an evaluation error, a crash, a timeout, a value TLC does not have."""

    reason: str


Judgement: TypeAlias = Allowed | Refused | Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What is known of a transition and of the state after it."""

    step: Judgement
    violated: tuple[str, ...] = ()
    """The invariants that are FALSE in the state after the step."""
    unevaluated: str | None = None
    """Why the invariants have no values in that state; None when they have."""

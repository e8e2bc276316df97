"""Say what keeps an action from ever being taken: which of its guards no state gets past."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Final

from tlatrace.errors import EvaluationError, ModelGapError
from tlatrace.matching.false_conjuncts import MAX_CHOICES, ForbiddenAction, forbidden_action
from tlatrace.oracle import FalseConjunct, Model, ModelState
from tlatrace.values import Value

__all__ = ["NeverTaken", "why_never_taken"]

_WIDTH: Final = 120
"""Characters of a conjunct that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverTaken:
    """An action without a step, and what is false in the states that come nearest to one."""

    action: str
    states: int
    """How many states were asked."""
    guard: ForbiddenAction | None
    """With the parameters of a state that comes furthest; None: `reason` says more."""
    reason: str

    def in_words(self) -> str:
        """Say it in a line, behind the action's name."""
        if self.guard is None:
            return self.reason
        within = f" in {self.guard.within[-1]}" if self.guard.within else ""
        text = shorten(self.guard.text or "a conjunct", _WIDTH, placeholder=" ...")
        asked = f"none of {self.states:,} states asked"
        return f"{asked} gets past {self.guard.place}{within}: {text}"


def why_never_taken(
    model: Model, folders: Sequence[Path], action: str, states: Sequence[ModelState]
) -> NeverTaken:
    """Ask states for the guard of an action that comes last of those at which it ends.

    The model must have been loaded with `conjuncts`; `folders` hold the `.tla` files. In the states
    of a search that ended well every guard has a value: what has none here has a prime.
    """
    best: tuple[FalseConjunct, tuple[Value, ...]] | None = None
    tried = 0
    for state in states:
        try:
            choices = model.choices(action, state)
        except (EvaluationError, ModelGapError) as error:
            return _unknown(action, states, str(error))
        for params in choices[:MAX_CHOICES]:
            tried += 1
            try:
                false = model.failing_conjunct(action, params, state, None)
            except ModelGapError as error:
                return _unknown(action, states, str(error))
            except EvaluationError:
                return _unknown(action, states, "its guards are TRUE, and no next state is allowed")
            if false is not None and (best is None or false.number > best[0].number):
                best = false, tuple([model.show_value(param) for param in params])
    if best is None:
        reason = "there is nothing that Next could give it" if tried == 0 else "nobody knows why"
        return _unknown(action, states, reason)
    guard = forbidden_action(model, folders, action, best[1], False, best[0])
    return NeverTaken(action=action, states=len(states), guard=guard, reason="")


def _unknown(action: str, states: Sequence[ModelState], reason: str) -> NeverTaken:
    return NeverTaken(action=action, states=len(states), guard=None, reason=reason)

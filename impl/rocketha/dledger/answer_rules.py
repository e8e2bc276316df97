"""The rules of answers to who has something for the log: each is an operator of Register."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

__all__ = ["ANSWER_RULES", "AnswerRules"]


def waits_on(leads_on: bool) -> bool:
    """Tell whether clients wait on for entries at this node: as long as it leads on.

    After that another entry may come to be at the same index.

    Spec: Register!IsEntryOf
    """
    return leads_on


def is_done(applied: bool) -> bool:
    """Tell whether an entry is done: it was applied.

    Spec: Register!IsDone
    """
    return applied


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRules:
    """When who waits for an entry is answered."""

    waits_on: Callable[[bool], bool] = waits_on
    is_done: Callable[[bool], bool] = is_done


ANSWER_RULES: Final = AnswerRules()
"""The rules as the specification has them."""

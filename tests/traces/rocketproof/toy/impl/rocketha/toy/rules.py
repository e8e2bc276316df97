"""The rules of copying, named after the operators of the specification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

__all__ = ["TOY_RULES", "ToyRules"]


def _continues(length: int, message: int) -> bool:
    return message == length + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ToyRules:
    """What a known bug overrides."""

    continues: Callable[[int, int], bool] = _continues
    """Tell whether a message goes on behind a log of this length. Spec: Toy!Continues"""


TOY_RULES: Final = ToyRules()

"""A toy with the methods of a compiled model: the tide rises and falls, boats come and go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tlatrace.explore import ModelState
from tlatrace.oracle import Step
from tlatrace.values import State

MAX: Final = 3


@dataclass(frozen=True, slots=True)
class Tide:
    """States are (level, boats); the constraint keeps the level at `limit` or below.

    The action constraint lets the level rise by no more than `haste`.
    `wrong` leaves out one step, as a compiler's bug would.
    """

    limit: int = MAX
    haste: int = 2
    wrong: bool = False

    def initial_states(self) -> list[ModelState]:
        return [(0, 0), (MAX + 1, 0)]

    def successors(self, state: ModelState) -> list[Step]:
        level, boats = numbers(state)
        steps = [Step("Rise", (by,), (level + by, boats)) for by in (1, 2) if level < MAX]
        if level > 0:
            steps.append(Step("Fall", (), (level - 1, 0 if level == 1 else boats)))
        if level == 2 and boats < 2 and not (self.wrong and boats == 1):
            steps.append(Step("Land", (), (level, boats + 1)))
        if boats == 2:
            steps.append(Step("Rest", (), state))
        return steps

    def violated(self, state: ModelState) -> tuple[str, ...]:
        level, boats = numbers(state)
        return tuple(
            name for name, holds in (("Low", level <= MAX), ("Few", boats < 2)) if not holds
        )

    def within(self, state: ModelState) -> bool:
        return numbers(state)[0] <= self.limit

    def within_step(self, pre: ModelState, post: ModelState) -> bool:
        return numbers(post)[0] - numbers(pre)[0] <= self.haste

    def show(self, state: ModelState) -> State:
        level, boats = numbers(state)
        return {"boats": boats, "level": level}


def numbers(state: ModelState) -> tuple[int, int]:
    level, boats = state
    assert isinstance(level, int)
    assert isinstance(boats, int)
    return level, boats

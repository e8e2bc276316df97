"""The toy specification Tank, in Python: a tank with a level that is seen, and water that is lost.

Fill(n)  level' = level + n          n in 1..2, the tank holds 4
Drain    level' in {level - 1, level - 2}, or 0; what was drained beyond 1 counts as lost
Empty    only with 2 or more lost:   level' = 0, lost' = 0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tlatrace.oracle import Step
from tlatrace.oracle.states import ModelState
from tlatrace.readings import Reading, Types
from tlatrace.runtime.values import RuntimeValue, part_of
from tlatrace.values import State, Value

__all__ = ["Tank", "TankModel"]

_HOLDS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TankModel:
    """What `tlatrace.oracle.load_model` would make of it; a state is (level, lost)."""

    most_lost: int = 99
    """An invariant: no more than this is lost."""
    bound: int = 3
    """A constraint: what is lost, at most, where the model goes on."""
    box: str = ""

    @property
    def module(self) -> str:
        return "Tank"

    @property
    def variables(self) -> tuple[str, ...]:
        return ("level", "lost")

    @property
    def actions(self) -> Mapping[str, int]:
        return {"Drain": 0, "Empty": 0, "Fill": 1}

    @property
    def invariants(self) -> tuple[str, ...]:
        return ("LittleLost",)

    @property
    def reading(self) -> Reading:
        return Reading(Types.of_names([]))

    def adopt(self, state: State) -> ModelState:
        return tuple([self.adopt_variable(name, state[name]) for name in self.variables])

    def is_initial(self, state: ModelState) -> bool:
        return state in self.initial_states()

    def allows(
        self,
        action: str | None,
        params: tuple[RuntimeValue, ...],
        pre: ModelState,
        post: ModelState,
    ) -> bool:
        return any(
            action in (None, move.action)
            and (action is None or params == move.params)
            and post == move.post
            for move in self.successors(pre)
        )

    def action_successors(self, state: ModelState, action: str) -> Sequence[Step]:
        return [move for move in self.successors(state) if move.action == action]

    def bound_successors(
        self, state: ModelState, action: str, params: tuple[RuntimeValue, ...]
    ) -> Sequence[Step]:
        return [move for move in self.action_successors(state, action) if move.params == params]

    def calls(self, action: str) -> bool:
        return action in self.actions

    def adopt_variable(self, _name: str, value: Value) -> RuntimeValue:
        return self.adopt_value(value)

    def adopt_value(self, value: Value) -> RuntimeValue:
        assert isinstance(value, int)  # so are all values of this toy
        return value

    def show_value(self, datum: RuntimeValue) -> Value:
        assert isinstance(datum, int)
        return datum

    def evaluate(self, name: str, state: ModelState | None = None) -> RuntimeValue:
        raise AssertionError(f"nobody asks the toy for {name} in {state}")

    def show(self, state: ModelState) -> State:
        return {"level": self.show_value(state[0]), "lost": self.show_value(state[1])}

    def initial_states(self) -> Sequence[ModelState]:
        return [(0, 0)]

    def successors(self, state: ModelState) -> Sequence[Step]:
        level, lost = _numbers(state)
        moves = [Step("Fill", (n,), (level + n, lost)) for n in (2, 1) if level + n <= _HOLDS]
        if level:
            moves.append(Step("Drain", (), (level - 1, lost)))
            moves.append(Step("Drain", (), (max(0, level - 2), lost + min(1, level - 1))))
        if lost >= 2:
            moves.append(Step("Empty", (), (0, 0)))
        return moves

    def holder(self) -> Callable[[ModelState], bool]:
        return lambda state: not self.violated(state)

    def violated(self, state: ModelState) -> tuple[str, ...]:
        return ("LittleLost",) if _numbers(state)[1] > self.most_lost else ()

    def part(self, value: RuntimeValue, at: Sequence[RuntimeValue]) -> RuntimeValue | None:
        return part_of(value, at)

    def interchangeable(self) -> tuple[tuple[RuntimeValue, ...], ...]:
        return ()

    def within_step(self, _pre: ModelState, _post: ModelState) -> bool:
        return True

    def within(self, state: ModelState) -> bool:
        return _numbers(state)[1] <= self.bound


def _numbers(state: ModelState) -> tuple[int, int]:
    level, lost = state
    assert isinstance(level, int)
    assert isinstance(lost, int)
    return level, lost


@dataclass(slots=True)
class Tank:
    """A system that conforms, unless a switch says otherwise; and its adapter."""

    shows: tuple[str, ...] = ("level", "lost")
    overflows_at: int = _HOLDS + 1
    """A level that it does not hold."""
    breaks: bool = False
    """It raises when it is emptied."""
    taken: list[str] = field(default_factory=list)
    level: int = 0
    lost: int = 0
    closed: int = 0

    def perform(self, action: str, params: tuple[Value, ...]) -> None:
        self.taken.append(action)
        match action, params:
            case "Fill", (int() as n,):
                self.level += n
                if self.level >= self.overflows_at:
                    self.level = 0
            case "Drain", ():
                twice = self.level > 1 and len(self.taken) % 2 == 0
                self.lost += int(twice)
                self.level -= 2 if twice else 1
            case "Empty", ():
                if self.breaks:
                    raise RuntimeError("the plug is stuck")
                self.level = self.lost = 0
            case _:
                raise AssertionError(f"a tank knows no {action}")

    def observe(self) -> State:
        state: State = {"level": self.level, "lost": self.lost}
        return {name: state[name] for name in self.shows}

    def close(self) -> None:
        self.closed += 1

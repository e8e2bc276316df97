"""Random machines over a few people who cannot be told apart, unless a machine names one of them.

Their states are values of compiled models, so that values in them can be swapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from tests.traces.oracle.toys import Unconstrained
from tlatrace.oracle import Step
from tlatrace.oracle.states import ModelState
from tlatrace.readings import Reading, Types
from tlatrace.runtime.values import (
    Fcn,
    RuntimeValue,
    from_runtime,
    model_value,
    part_of,
    to_runtime,
)
from tlatrace.values import State, Value

PEOPLE: Final = tuple([model_value(name) for name in ("p1", "p2", "p3", "p4")])
NOBODY: Final = model_value("nobody")
VARIABLES: Final = ("calls", "mood", "present", "trust")

Rule = Callable[[ModelState], Iterator[tuple[tuple[RuntimeValue, ...], ModelState]]]


@dataclass(slots=True, kw_only=True)
class Meeting(Unconstrained):
    """A machine with the methods of a compiled model."""

    rules: Mapping[str, tuple[int, Rule]]
    """Action -> the number of its parameters, and its steps."""
    classes: tuple[tuple[RuntimeValue, ...], ...]
    quorum: int
    module: str = "Meeting"
    box: str = ""
    variables: tuple[str, ...] = VARIABLES
    invariants: tuple[str, ...] = ("Few",)

    @property
    def actions(self) -> Mapping[str, int]:
        return {name: arity for name, (arity, _) in self.rules.items()}

    @property
    def reading(self) -> Reading:
        return Reading(Types.of_names([str(one) for one in (*PEOPLE, NOBODY)]))

    def adopt(self, state: State) -> ModelState:
        return tuple([self.adopt_value(state[name]) for name in self.variables])

    def show(self, state: ModelState) -> State:
        return dict(zip(self.variables, [self.show_value(v) for v in state], strict=True))

    def adopt_variable(self, name: str, value: Value) -> RuntimeValue:
        return self.adopt_value(self.reading.variable(name, value))

    def adopt_value(self, value: Value) -> RuntimeValue:
        return to_runtime(value)

    def show_value(self, value: RuntimeValue) -> Value:
        return from_runtime(value)

    def initial_states(self) -> list[ModelState]:
        calm: RuntimeValue = Fcn(dict.fromkeys(PEOPLE, "calm"))
        return [(frozenset(), calm, frozenset(), Fcn(dict.fromkeys(PEOPLE, NOBODY)))]

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
            step.post == post and action in (None, step.action) and params in ((), step.params)
            for step in self.successors(pre)
        )

    def successors(self, state: ModelState) -> list[Step]:
        return [step for action in self.rules for step in self.action_successors(state, action)]

    def action_successors(self, state: ModelState, action: str) -> list[Step]:
        return [Step(action, params, post) for params, post in self.rules[action][1](state)]

    def bound_successors(
        self, state: ModelState, action: str, params: tuple[RuntimeValue, ...]
    ) -> list[Step]:
        return [s for s in self.action_successors(state, action) if s.params == params]

    def calls(self, action: str) -> bool:
        return action in self.rules

    def holder(self) -> Callable[[ModelState], bool]:
        return lambda state: not self.violated(state)

    def violated(self, state: ModelState) -> tuple[str, ...]:
        calls = state[0]
        assert isinstance(calls, frozenset)
        return ("Few",) if len(calls) > 2 * self.quorum else ()

    def evaluate(self, name: str, state: ModelState | None = None) -> RuntimeValue:
        raise AssertionError(f"{name} in {state}")

    def part(self, value: RuntimeValue, at: Sequence[RuntimeValue]) -> RuntimeValue | None:
        return part_of(value, at)

    def interchangeable(self) -> tuple[tuple[RuntimeValue, ...], ...]:
        return self.classes


def meeting(rng: Random, *, named: int = 0) -> Meeting:
    """Draw a machine that names so many people."""
    moods = ["calm", *rng.sample(["eager", "cross", "gone"], 3)]
    quorum = rng.randrange(2, 5)
    others, famous = PEOPLE[: 4 - named], PEOPLE[4 - named :]
    needs_call = rng.random() < 0.5

    def stir(state: ModelState) -> Iterator[tuple[tuple[RuntimeValue, ...], ModelState]]:
        calls, mood, present, trust = state
        for one in PEOPLE:
            if get(mood, one) == moods[0]:
                call: RuntimeValue = Fcn({"kind": moods[1], "who": one})
                yield (one,), (also(calls, call), put(mood, one, moods[1]), present, trust)

    def come(state: ModelState) -> Iterator[tuple[tuple[RuntimeValue, ...], ModelState]]:
        calls, mood, present, trust = state
        for one in PEOPLE:
            called = isinstance(calls, frozenset) and Fcn({"kind": moods[1], "who": one}) in calls
            if called or not needs_call:
                yield (one,), (calls, mood, also(present, one), trust)

    def rely(state: ModelState) -> Iterator[tuple[tuple[RuntimeValue, ...], ModelState]]:
        calls, mood, present, trust = state
        assert isinstance(present, frozenset)
        for one in present:
            for other in PEOPLE:
                if get(trust, one) is NOBODY and other is not one:
                    yield (one, other), (calls, mood, present, put(trust, one, other))

    def part(state: ModelState) -> Iterator[tuple[tuple[RuntimeValue, ...], ModelState]]:
        calls, mood, present, trust = state
        assert isinstance(present, frozenset)
        if len(present) >= quorum and present.issuperset(famous):
            yield (), (calls, mood, frozenset(), trust)

    def leave(state: ModelState) -> Iterator[tuple[tuple[RuntimeValue, ...], ModelState]]:
        calls, mood, present, trust = state
        for one in PEOPLE:
            if any(get(trust, other) is one for other in PEOPLE):
                yield (one,), (calls, put(mood, one, moods[2]), present, trust)

    def rule(state: ModelState) -> Iterator[tuple[tuple[RuntimeValue, ...], ModelState]]:
        calls, mood, present, trust = state
        for at, one in enumerate(famous):
            if get(mood, one) == moods[1]:
                yield (), (calls, put(mood, one, moods[2 + at % 2]), present, trust)

    rules: dict[str, tuple[int, Rule]] = {
        "Stir": (1, stir),
        "Come": (1, come),
        "Rely": (2, rely),
        "Part": (0, part),
        "Leave": (1, leave),
        "Rule": (0, rule),
    }
    return Meeting(rules=rules, classes=(others,), quorum=quorum)


def get(function: RuntimeValue, argument: RuntimeValue) -> RuntimeValue:
    assert isinstance(function, Fcn)
    return function[argument]


def put(function: RuntimeValue, argument: RuntimeValue, image: RuntimeValue) -> RuntimeValue:
    assert isinstance(function, Fcn)
    return Fcn({**function, argument: image})


def also(collection: RuntimeValue, element: RuntimeValue) -> RuntimeValue:
    assert isinstance(collection, frozenset)
    return collection | {element}

"""Models without Java: specifications written down as Python functions, with a compiled model's
methods. Values are canonical texts, so that nothing but the methods can tell what they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.traces.oracle.toys import Unconstrained
from tlatrace.errors import EvaluationError
from tlatrace.oracle import ModelState, Step
from tlatrace.readings import Reading, Types
from tlatrace.runtime.values import RuntimeValue
from tlatrace.values import Fcn, ModelValue, State, Value, canonical, from_json, same

CLIENTS = (ModelValue("c1"), ModelValue("c2"), ModelValue("c3"))
NOBODY = ModelValue("Nobody")

Toy: TypeAlias = ModelState


@dataclass(slots=True, kw_only=True)
class ToyModel(Unconstrained):
    """A model from a function that lists the steps of a state."""

    module: str
    initial: Sequence[State]
    steps: Callable[[State], Iterator[tuple[str, tuple[Value, ...], State]]]
    actions: Mapping[str, int]
    invariant: Mapping[str, Callable[[State], bool]] = field(default_factory=dict)
    model_values: frozenset[str] = frozenset()
    fails_at: Callable[[State, str | None], bool] = lambda _state, _action: False
    """Where listing the steps of an action raises an error; None: of any."""
    expressions: Mapping[str, Callable[[State], Value]] = field(default_factory=dict)
    asked: int = 0
    """How often steps were listed."""

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(sorted(self.initial[0]))

    @property
    def reading(self) -> Reading:
        return Reading(Types.of_names(self.model_values))

    @property
    def invariants(self) -> tuple[str, ...]:
        return tuple(self.invariant)

    def adopt(self, state: State) -> Toy:
        read = self.reading.state(state)
        return tuple([self.adopt_value(read[name]) for name in self.variables])

    def show(self, state: Toy) -> State:
        pairs = zip(self.variables, state, strict=True)
        return {name: self.show_value(value) for name, value in pairs}

    def adopt_variable(self, name: str, value: Value) -> RuntimeValue:
        return self.adopt_value(self.reading.variable(name, value))

    def adopt_value(self, value: Value) -> RuntimeValue:
        return canonical(value)

    def show_value(self, value: RuntimeValue) -> Value:
        assert isinstance(value, str)
        return from_json(json.loads(value))

    def initial_states(self) -> list[Toy]:
        return [self.adopt(state) for state in self.initial]

    def is_initial(self, state: Toy) -> bool:
        return state in self.initial_states()

    def allows(self, action: str | None, params: Toy, pre: Toy, post: Toy) -> bool:
        return any(
            step.post == post and action in (None, step.action) and params in ((), step.params)
            for step in self.successors(pre)
        )

    def successors(self, state: Toy) -> list[Step]:
        self.asked += 1
        shown = self.show(state)
        if self.fails_at(shown, None):
            raise EvaluationError("no value here")
        return [
            Step(action, self._params(action, params), self.adopt(post))
            for action, params, post in self.steps(shown)
        ]

    def _params(self, action: str, params: Sequence[Value]) -> Toy:
        return tuple([self.adopt_value(param) for param in self.reading.params(action, params)])

    def action_successors(self, state: Toy, action: str) -> list[Step]:
        if self.fails_at(self.show(state), action):
            raise EvaluationError(f"no value of {action} here")
        return [step for step in self.successors(state) if step.action == action]

    def bound_successors(self, state: Toy, action: str, params: Toy) -> list[Step]:
        return [s for s in self.action_successors(state, action) if s.params == params]

    box = ""

    def calls(self, action: str) -> bool:
        return action in self.actions

    def holder(self) -> Callable[[Toy], bool]:
        return lambda state: not self.violated(state)

    def violated(self, state: Toy) -> tuple[str, ...]:
        shown = self.show(state)
        return tuple([name for name, holds in self.invariant.items() if not holds(shown)])

    def evaluate(self, name: str, state: Toy | None = None) -> RuntimeValue:
        assert state is not None
        return self.adopt_value(self.expressions[name](self.show(state)))

    def part(self, value: RuntimeValue, at: Sequence[RuntimeValue]) -> RuntimeValue | None:
        found = self.show_value(value)
        for argument in [self.show_value(one) for one in at]:
            if isinstance(found, tuple):
                assert isinstance(argument, int)
                if not 1 <= argument <= len(found):
                    return None
                found = found[argument - 1]
            else:
                assert isinstance(found, Fcn)
                images = [image for key, image in found.pairs if same(key, argument)]
                if not images:
                    return None
                found = images[0]
        return self.adopt_value(found)

    def interchangeable(self) -> tuple[tuple[RuntimeValue, ...], ...]:
        return ()


# ---- LockServer, see traces/samples/lock_server -------------------------------------------


def lock_server(**invariant: Callable[[State], bool]) -> ToyModel:
    """Make the lock server, with three clients."""
    return ToyModel(
        module="LockServer",
        initial=[{"holder": NOBODY, "queue": (), "token": 0}],
        steps=lock_steps,
        actions={"Request": 1, "Grant": 1, "Release": 1, "Expire": 0},
        invariant=invariant,
        model_values=frozenset([*[client.name for client in CLIENTS], NOBODY.name]),
    )


def lock_steps(state: State) -> Iterator[tuple[str, tuple[Value, ...], State]]:
    """List the steps of the lock server."""
    holder, queue, token = state["holder"], state["queue"], state["token"]
    assert isinstance(queue, tuple)
    assert isinstance(token, int)
    for client in CLIENTS:
        if client != holder and client not in queue:
            yield "Request", (client,), {**state, "queue": (*queue, client)}
    if holder == NOBODY and queue:
        taken = {"holder": queue[0], "queue": queue[1:], "token": token + 1}
        yield "Grant", (queue[0],), taken
    if holder != NOBODY:
        yield "Release", (holder,), {**state, "holder": NOBODY}
        yield "Expire", (), {**state, "holder": NOBODY}


# ---- counters: hidden variables, and what they may have been ------------------------------


def counters(**invariant: Callable[[State], bool]) -> ToyModel:
    """Two counters modulo 8: `Left` and `Right` add to one, `Both` to both, `Jump(n)` to left."""
    return ToyModel(
        module="Counters",
        initial=[{"left": 0, "right": 0}],
        steps=counter_steps,
        actions={"Left": 0, "Right": 0, "Both": 0, "Jump": 1},
        invariant=invariant,
    )


def counter_steps(state: State) -> Iterator[tuple[str, tuple[Value, ...], State]]:
    """List the steps of the counters."""
    left, right = state["left"], state["right"]
    assert isinstance(left, int)
    assert isinstance(right, int)
    yield "Left", (), {"left": (left + 1) % 8, "right": right}
    yield "Right", (), {"left": left, "right": (right + 1) % 8}
    yield "Both", (), {"left": (left + 1) % 8, "right": (right + 1) % 8}
    for by in (2, 3):
        yield "Jump", (by,), {"left": (left + by) % 8, "right": right}


def is_value(state: State, name: str, value: Value) -> bool:
    """Tell whether a variable has a value."""
    return same(state[name], value)

"""Make wrong steps out of right ones: one place is changed, the rest is kept.

| kind         | what is changed                                                             |
|--------------|-----------------------------------------------------------------------------|
| part         | some part of one variable after the step; its type is kept where it can be   |
| type         | a number, string ... inside a variable after the step, by one of another type |
| variable     | a variable after the step, by its value in another state                    |
| before       | a part of a variable before the step                                        |
| parameter    | a parameter                                                                 |
| action       | the name of the action, with parameters of one of its steps                 |
| unnamed      | as `part`, and no action is named                                           |
| elsewhere    | the whole state after the step, by another one                              |
| initial      | a part of an initial state                                                  |

The draws are pseudo-random and the same for the same steps and seed. A corrupted step may be
allowed all the same: that, too, must be found out alike by both judges. Values that TLC cannot
build are not drawn.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tlatrace.corruption.changes import changed, of_another_kind, of_its_kind
from tlatrace.corruption.places import Pool
from tlatrace.judgement.transition import Transition, transition_key
from tlatrace.tlc.comparable import is_doubtful, state_is_doubtful
from tlatrace.values import State, Value, same

__all__ = ["KINDS", "Corrupted", "corruptions"]

KINDS: Final = (
    "part",
    "type",
    "variable",
    "before",
    "parameter",
    "action",
    "unnamed",
    "elsewhere",
    "initial",
)
_WEIGHTS: Final = (8, 2, 5, 3, 4, 2, 3, 1, 1)
_TRIES: Final = 40


@dataclass(frozen=True, slots=True)
class Corrupted:
    """A step with one place changed."""

    transition: Transition
    kind: str


def corruptions(
    steps: Sequence[Transition], initial: Sequence[State], *, count: int, seed: str
) -> list[Corrupted]:
    """Corrupt steps until there are `count` different ones, or no more are found.

    `steps` and `initial` are right ones; a corrupted step may be equal to a right one.
    """
    if not steps:
        return []
    source = _Corruptor(steps, initial, random.Random(seed))
    found: dict[str, Corrupted] = {}
    tries = 0
    while len(found) < count and tries < _TRIES * count:
        tries += 1
        drawn = source.draw()
        if drawn is not None:
            found.setdefault(transition_key(drawn.transition), drawn)
    return list(found.values())


class _Corruptor:
    """Draws corrupted steps; holds the values that occur, to draw from."""

    def __init__(
        self, steps: Sequence[Transition], initial: Sequence[State], draw: random.Random
    ) -> None:
        self._steps = steps
        self._initial = initial
        self._draw = draw
        self._states = _distinct_states(steps, initial)
        self._clean: set[str] = set()
        self._pool = Pool()
        for state in self._states:
            for name, value in state.items():
                self._pool.learn(name, value)
        self._of_action: dict[str, list[tuple[Value, ...]]] = {}
        for step in steps:
            if step.action is not None:
                self._of_action.setdefault(step.action, []).append(step.params)

    def draw(self) -> Corrupted | None:
        """Corrupt one step; None when the draw changes nothing, or TLC cannot build the result."""
        (kind,) = self._draw.choices(KINDS, _WEIGHTS)
        if kind == "initial":
            made = self._of_initial()
        else:
            made = self._of_step(kind, self._draw.choice(self._steps))
        if made is None or self._cannot_be_built(made):
            return None
        return Corrupted(made, kind)

    def _of_initial(self) -> Transition | None:
        if not self._initial:
            return None
        state = self._changed(self._draw.choice(self._initial), wild=False)
        return None if state is None else Transition(None, "Init", (), state)

    def _of_step(self, kind: str, step: Transition) -> Transition | None:
        pre, action, params, post = step.pre, step.action, step.params, step.post
        after: State | None = post
        match kind:
            case "part" | "type":
                after = self._changed(post, wild=kind == "type")
            case "unnamed":
                after, action, params = self._changed(post, wild=False), None, ()
            case "variable":
                name = self._draw.choice(sorted(post))
                after = {**post, name: self._draw.choice(self._states)[name]}
            case "before":
                pre = None if pre is None else self._changed(pre, wild=False)
                if pre is None:
                    return None
            case "elsewhere":
                after = self._draw.choice(self._states)
            case "action" if self._of_action:
                action = self._draw.choice(sorted(self._of_action))
                params = self._draw.choice(self._of_action[action])
            case _:
                if not params or action is None:
                    return None
                at = self._draw.randrange(len(params))
                other = self._other_parameter(action, at, params[at])
                params = (*params[:at], other, *params[at + 1 :])
        if after is None:
            return None
        made = Transition(pre, action, params, after)
        return None if transition_key(made) == transition_key(step) else made

    def _other_parameter(self, action: str, at: int, value: Value) -> Value:
        if self._draw.random() < 0.5:
            others = self._of_action[action]
            return self._draw.choice(others)[at]
        return self._change(value, "", wild=False)

    def _cannot_be_built(self, made: Transition) -> bool:
        states = [state for state in (made.pre, made.post) if state is not None]
        return is_doubtful(made.params) or any(
            state_is_doubtful(state, self._clean) for state in states
        )

    def _changed(self, state: State, *, wild: bool) -> State | None:
        """Change a part of one variable."""
        name = self._draw.choice(sorted(state))
        value = self._change(state[name], name, wild=wild)
        return None if same(value, state[name]) else {**state, name: value}

    def _change(self, value: Value, shape: str, *, wild: bool) -> Value:
        """Change a part of a value; the result may be the same."""
        others = of_another_kind if wild else of_its_kind
        new = changed(value, shape, self._pool, self._draw, others)
        return value if new is None else new


def _distinct_states(steps: Sequence[Transition], initial: Sequence[State]) -> list[State]:
    found: dict[int, State] = {}  # by id: states are shared between the steps, which hold them
    for state in initial:
        found.setdefault(id(state), state)
    for step in steps:
        found.setdefault(id(step.post), step.post)
        if step.pre is not None:
            found.setdefault(id(step.pre), step.pre)
    return list(found.values())

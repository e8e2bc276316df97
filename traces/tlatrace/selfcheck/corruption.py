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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from tlatrace.judgement.transition import Transition, transition_key
from tlatrace.tlc.comparable import is_doubtful, state_is_doubtful
from tlatrace.values import (
    ExactString,
    Fcn,
    ModelValue,
    State,
    TlaSet,
    Value,
    canonical,
    fcn,
    same,
    tla_set,
)

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
_OTHERS: Final[tuple[Value, ...]] = (0, 1, "other", True, (), (1,), tla_set([]), tla_set([1]))

_Atom: TypeAlias = "bool | int | str | ExactString | ModelValue"


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
        self._pool: dict[str, list[_Atom]] = {}
        seen: set[str] = set()
        for value in [v for state in self._states for v in state.values()]:
            for atom in _atoms(value):
                if (text := canonical(atom)) not in seen:
                    seen.add(text)
                    self._pool.setdefault(type(atom).__name__, []).append(atom)
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
        return self._change(value, wild=False)

    def _cannot_be_built(self, made: Transition) -> bool:
        states = [state for state in (made.pre, made.post) if state is not None]
        return is_doubtful(made.params) or any(
            state_is_doubtful(state, self._clean) for state in states
        )

    def _changed(self, state: State, *, wild: bool) -> State | None:
        """Change a part of one variable."""
        name = self._draw.choice(sorted(state))
        value = self._change(state[name], wild)
        return None if same(value, state[name]) else {**state, name: value}

    def _change(self, value: Value, wild: bool) -> Value:
        """Change a part of a value; the result may happen to be the same."""
        match value:
            case bool() | int() | str() | ExactString() | ModelValue():
                return self._other_kind(value) if wild else self._other_atom(value)
            case tuple():
                return self._change_tuple(value, wild)
            case TlaSet():
                return self._change_set(value, wild)
            case Fcn():
                return self._change_function(value, wild)
            case _ as unreachable:
                assert_never(unreachable)

    def _other_kind(self, value: Value) -> Value:
        """Draw a value, mostly of another kind; see `differences` for strings and tuples."""
        texts = isinstance(value, str | tuple)
        others = [v for v in _OTHERS if not (texts and isinstance(v, str | tuple))]
        return self._draw.choice(others)

    def _other_atom(self, value: _Atom) -> Value:
        if isinstance(value, bool):
            return not value
        if isinstance(value, int) and self._draw.random() < 0.6:
            return value + self._draw.choice((-1, 1, 1, 2))
        return self._draw.choice(self._pool.get(type(value).__name__, [value]))

    def _change_tuple(self, value: tuple[Value, ...], wild: bool) -> Value:
        draw = self._draw
        if not value:
            return self._other_kind(value) if wild else (self._any_atom(),)
        at = draw.randrange(len(value))
        match draw.randrange(6):
            case 0:
                return value[:-1]
            case 1:
                return (*value, value[at])
            case 2 if len(value) > 1:
                at = draw.randrange(len(value) - 1)
                return (*value[:at], value[at + 1], value[at], *value[at + 2 :])
            case _:
                return (*value[:at], self._change(value[at], wild), *value[at + 1 :])

    def _change_set(self, value: TlaSet, wild: bool) -> Value:
        draw = self._draw
        if not len(value):
            return self._other_kind(value) if wild else tla_set([self._any_atom()])
        at = draw.randrange(len(value))
        others = [element for i, element in enumerate(value) if i != at]
        match draw.randrange(4):
            case 0:
                return tla_set(others)
            case 1:
                return tla_set([*value, self._change(value.elements[at], wild)])
            case _:
                return tla_set([*others, self._change(value.elements[at], wild)])

    def _change_function(self, value: Fcn, wild: bool) -> Value:
        at = self._draw.randrange(len(value))
        key, image = value.pairs[at]
        others = [pair for i, pair in enumerate(value.pairs) if i != at]
        match self._draw.randrange(12):
            case 0:
                return fcn(others)
            case 1:
                other = self._change(key, wild)
                if any(same(other, taken) for taken, _ in others):
                    return value
                return fcn([*others, (other, image)])
            case _:
                return fcn([*others, (key, self._change(image, wild))])

    def _any_atom(self) -> Value:
        kinds = sorted(self._pool)
        return self._draw.choice(self._pool[self._draw.choice(kinds)]) if kinds else 1


def _distinct_states(steps: Sequence[Transition], initial: Sequence[State]) -> list[State]:
    found: dict[int, State] = {}  # by id: states are shared between the steps, which hold them
    for state in initial:
        found.setdefault(id(state), state)
    for step in steps:
        found.setdefault(id(step.post), step.post)
        if step.pre is not None:
            found.setdefault(id(step.pre), step.pre)
    return list(found.values())


def _atoms(value: Value) -> Iterator[_Atom]:
    match value:
        case bool() | int() | str() | ExactString() | ModelValue():
            yield value
        case tuple() | TlaSet():
            for element in value:
                yield from _atoms(element)
        case Fcn():
            for pair in value.pairs:
                for part in pair:
                    yield from _atoms(part)
        case _ as unreachable:
            assert_never(unreachable)

"""Draw corruptions of a trace: the same seed gives the same ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Final, assert_never

from tlatrace.corruption.changes import changed, of_its_type
from tlatrace.corruption.places import Pool
from tlatrace.judgement.difference import brief, call_text, difference
from tlatrace.trace import Event, Part, Trace
from tlatrace.trace_mutation.kinds import Kind, Mutation
from tlatrace.values import State, Value

__all__ = ["Mutator"]

_ARGUMENT: Final = re.compile(r"\[[^\[\]]*\]")
_LEAST: Final = {Kind.FIELD: 0, Kind.SWAP: 2}
"""Events after the first one that a trace must have; 1 for the other kinds."""


class Mutator:
    """Draws corruptions of one trace."""

    def __init__(self, trace: Trace, actions: Mapping[str, int]) -> None:
        """Note which values stand where in the trace; `actions` are those that Next calls."""
        self._events = trace.events
        self._actions = {name: actions[name] for name in sorted(actions)}
        self._states = Pool()
        self._params = Pool()
        self._params_of: dict[str, list[tuple[Value, ...]]] = {}
        for event in trace.events:
            for name, value in (event.state or event.observed or {}).items():
                self._states.learn(name, value)
            for part in event.parts:
                self._states.learn(part.variable, part.value)
            for param in event.params:
                self._params.learn("", param)
            if event.action is not None and event.known_params is None:
                self._params_of.setdefault(event.action, []).append(event.params)

    def draw(self, kind: Kind, draw: Random) -> Mutation | None:
        """Draw one corruption; None where the event that was drawn cannot have it."""
        last = len(self._events) - 1
        if last < _LEAST.get(kind, 1):
            return None
        match kind:
            case Kind.DROP:
                return self._dropped(draw.randint(1, last))
            case Kind.DUPLICATE:
                return self._duplicated(draw.randint(1, last))
            case Kind.SWAP:
                return self._swapped(draw.randint(1, last - 1))
            case Kind.FIELD:
                return self._with_field(draw.randint(0, last), draw)
            case Kind.PARAMETER:
                return self._with_parameter(draw.randint(1, last), draw)
            case Kind.ACTION:
                return self._with_action(draw.randint(1, last), draw)
            case _ as unreachable:
                assert_never(unreachable)

    def _dropped(self, at: int) -> Mutation:
        what = f"{_name(self._events[at])} dropped"
        return Mutation(kind=Kind.DROP, first=at, end=at + 1, events=(), what=what, about="")

    def _duplicated(self, at: int) -> Mutation:
        event = self._events[at]
        what = f"{_name(event)} a second time"
        events = (event, event)
        return Mutation(
            kind=Kind.DUPLICATE, first=at, end=at + 1, events=events, what=what, about=""
        )

    def _swapped(self, at: int) -> Mutation:
        one, other = self._events[at : at + 2]
        what = f"{_name(one)} swapped with {_name(other)} after it"
        events = (other, one)
        about = other.action or ""
        return Mutation(kind=Kind.SWAP, first=at, end=at + 2, events=events, what=what, about=about)

    def _with_field(self, at: int, draw: Random) -> Mutation | None:
        event = self._events[at]
        state = event.state if event.state is not None else event.observed or {}
        names = sorted(state)
        drawn = draw.randrange(len(names) + len(event.parts)) if names or event.parts else -1
        if drawn < 0:
            return None
        if drawn >= len(names):
            return self._with_part(at, drawn - len(names), draw)
        name = names[drawn]
        value = changed(state[name], name, self._states, draw, of_its_type)
        if value is None:
            return None
        change = difference({name: state[name]}, {name: value})[0]
        after: State = {**state, name: value}
        if event.state is not None:
            made = replace(event, state=after)
        else:
            made = replace(event, observed=after)
        return _one(Kind.FIELD, at, made, f"{change.text()} after {_name(event)}", change.path)

    def _with_part(self, at: int, number: int, draw: Random) -> Mutation | None:
        event = self._events[at]
        part = event.parts[number]
        value = changed(part.value, part.variable, self._states, draw, of_its_type)
        if value is None:
            return None
        new = Part(variable=part.variable, at=part.at, value=value)
        parts = (*event.parts[:number], new, *event.parts[number + 1 :])
        path = part.variable + "".join([f"[{brief(one, 40)}]" for one in part.at])
        change = difference({path: part.value}, {path: value})[0]
        what = f"{change.text()} after {_name(event)}"
        return _one(Kind.FIELD, at, replace(event, parts=parts), what, change.path)

    def _with_parameter(self, at: int, draw: Random) -> Mutation | None:
        event = self._events[at]
        if not event.params or event.action is None:
            return None
        number = draw.randrange(len(event.params))
        value = changed(event.params[number], "", self._params, draw, of_its_type)
        if value is None:
            return None
        params = (*event.params[:number], value, *event.params[number + 1 :])
        made = replace(event, params=params)
        what = f"{_name(event)} became {_name(made)}"
        return _one(Kind.PARAMETER, at, made, what, f"parameter {number + 1}")

    def _with_action(self, at: int, draw: Random) -> Mutation | None:
        event = self._events[at]
        names = [name for name in self._actions if name != event.action]
        if event.action is None or event.known_params is not None or not names:
            return None
        name = names[draw.randrange(len(names))]
        choices = list(self._params_of.get(name, ()))
        if self._actions[name] == len(event.params):
            choices.append(event.params)
        if not choices:
            return None
        params = choices[draw.randrange(len(choices))]
        made = replace(event, action=name, params=params)
        return _one(Kind.ACTION, at, made, f"{_name(event)} became {_name(made)}", name)


def _one(kind: Kind, at: int, made: Event, what: str, path: str) -> Mutation:
    about = _ARGUMENT.sub("[*]", path)
    return Mutation(kind=kind, first=at, end=at + 1, events=(made,), what=what, about=about)


def _name(event: Event) -> str:
    if event.action is not None and event.known_params is not None:
        return event.action
    return call_text(event.action, event.params)

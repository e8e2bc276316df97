"""Judge the steps of corpora: canonical JSON text in, judgements out.

Traces say nearly the same again and again. A state is cut into the texts of its variables, which
its canonical form allows; each text is decoded once and then known by the text, so that parts which
are the same are the same object, and comparing them costs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import itemgetter
from typing import Any, Final, TypeAlias

import msgspec

from tlatrace.errors import EvaluationError, ModelGapError, TlatraceError, ValueFormatError
from tlatrace.model.domain import FALSE, TRUE, D, Fcn, model_value
from tlatrace.model.model import Model, ModelState
from tlatrace.model.operators import make_set, reason_of
from tlatrace.validate.transition import Allowed, Failed, Judgement, Refused
from tlatrace.values import MAX_DEPTH, Value, from_json, state_from_json

__all__ = ["Checker"]

_MAX_KNOWN: Final = 200_000
"""Texts that are remembered for each variable; beyond it they are forgotten together."""

_DECODE: Final = msgspec.json.Decoder().decode
_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode

_ALLOWED: Final = Allowed()
_REFUSED: Final = Refused()


_Invariant: TypeAlias = tuple[
    str,
    Callable[..., Any],
    tuple[int, ...],
    dict[object, tuple[bool, list[D]]],
    Callable[[list[int]], object],
]
"""(name, predicate, positions of the variables that it reads, answers by the ids of their values,
how to take these ids from all)."""


class Checker:
    """Decodes and judges; nothing that it is given makes it raise, except `state`."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._variables = model.variables
        self._marks = [f',"{name}":' for name in model.variables]
        self._first = "{" + self._marks[0][1:] if model.variables else "{"
        self._known: list[dict[str, D]] = [{} for _ in model.variables]
        self._params: dict[str, tuple[D, ...]] = {}
        self._actions: dict[str, tuple[Callable[..., Any], int]] = {
            name: (model.predicate(f"action {name}"), arity)
            for name, arity in model.actions.items()
        }
        self._next = model.predicate("next")
        self._initial = model.predicate("initial")
        self._invariants: list[_Invariant] = [
            (name, predicate, read, {}, _taking(read)) for name, predicate, read in model.parts()
        ]
        self._clean: ModelState | None = None
        """The last state in which all invariants were TRUE."""
        self._reading: dict[tuple[int, ...], list[_Invariant]] = {}
        self._parts: dict[str, D] = {}
        """The values of fields, by their texts."""
        self._names = model.model_values
        self._keys = 0

    def state(self, text: str) -> ModelState:
        """Decode the canonical JSON object of a state.

        Raises:
            ValueFormatError: it is no state.
            ModelGapError: a variable is missing, or is none of the specification.
        """
        marks = self._marks
        if text.startswith(self._first) and text.endswith("}"):
            begin = len(self._first)
            values: list[D] = []
            known = self._known
            last = len(marks) - 1
            for at in range(last + 1):
                if at < last:
                    mark = marks[at + 1]
                    end = text.find(mark, begin)
                    if end < 0:
                        return self._slowly(text)
                    part = text[begin:end]
                    begin = end + len(mark)
                else:
                    part = text[begin:-1]
                value = known[at].get(part)
                if value is None:
                    found = self._decode(part)
                    if found is None:
                        return self._slowly(text)
                    if len(known[at]) >= _MAX_KNOWN:
                        known[at].clear()
                    value = known[at][part] = found
                values.append(value)
            return tuple(values)
        return self._slowly(text)

    def _decode(self, part: str) -> D | None:
        """Decode the text of one value; None if it is not one: a name was found inside a value."""
        try:
            if part.startswith('{"') and not part.startswith('{"#'):
                return self._by_fields(part)
            return self._plain(part)
        except (ValueError, RecursionError, TlatraceError):
            return None

    def _by_fields(self, part: str) -> D:
        """Decode an object whose fields are known from before, but for the one that changed."""
        fields = _FIELDS(part)
        if len(fields) < 2 or sum(map(len, fields)) + 4 * len(fields) + 1 + sum(
            map(len, fields.values())
        ) != len(part.encode()):
            return self._plain(part)  # a key twice, or spaces: no canonical text
        known = self._parts
        names = self._names
        as_atoms = bool(names) and all(key in names for key in fields)
        found: dict[D, D] = {}
        for key, raw in fields.items():
            if key[:1] == "#" or "\\" in key or not key.isascii():
                return self._plain(part)
            text = str(raw, "utf-8")
            value = known.get(text)
            if value is None:
                if len(known) >= _MAX_KNOWN:
                    known.clear()
                value = known[text] = self._plain(text)
            found[model_value(key) if as_atoms else key] = value
        return Fcn(found)

    def _plain(self, part: str) -> D:
        self._keys = 0
        value = self._domain(_DECODE(part), 0)
        if part.count('":') == self._keys:
            return value
        return self._model.adopt_value(_value(part))  # a key twice, or a string with '":'

    def _domain(self, read: object, depth: int) -> D:
        """Turn plain JSON into a value; what is not plain goes through `tlatrace.values`."""
        if type(read) is str:
            return model_value(read) if read in self._names else read
        if type(read) is int:
            return read
        if read is True:
            return TRUE
        if read is False:
            return FALSE
        if depth > MAX_DEPTH:
            raise ValueFormatError("the value is nested too deeply")
        depth += 1
        if type(read) is list:
            return tuple([self._domain(item, depth) for item in read])
        if type(read) is dict:
            self._keys += len(read)
            if len(read) == 1 and (inner := read.get("#set")) is not None:
                return make_set([self._domain(item, depth) for item in inner])
            if not any(key[:1] == "#" for key in read) and read:
                names = self._names
                if names and all(key in names for key in read):
                    pairs = {model_value(key): item for key, item in read.items()}
                    return Fcn({key: self._domain(item, depth) for key, item in pairs.items()})
                return Fcn({key: self._domain(item, depth) for key, item in read.items()})
            self._keys += _keys_of(read) - len(read)
        return self._model.adopt_value(from_json(read))

    def _slowly(self, text: str) -> ModelState:
        """Decode a state whose text is not canonical, or hides the names of variables."""
        try:
            read = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ModelGapError(f"a state is not JSON: {error}") from error
        return self._model.adopt(state_from_json(read))

    def step(
        self, pre: ModelState | None, action: str | None, params: str, post: ModelState
    ) -> Judgement:
        """Judge a step; `pre` None claims an initial state, `action` None any step of Next."""
        try:
            if pre is None:
                return _ALLOWED if self._initial(post, None) else _REFUSED
            if action is None:
                return _ALLOWED if self._next(pre, post) else _REFUSED
            entry = self._actions.get(action)
            if entry is None:
                return Failed(f"{self._model.module} has no action {action}")
            predicate, arity = entry
            arguments = self._params.get(params)
            if arguments is None:
                arguments = self._arguments(params)
            if len(arguments) != arity:
                given = len(arguments)
                name = self._model.module
                return Failed(f"{action} of {name} takes {arity} parameters, not {given}")
            return _ALLOWED if predicate(pre, post, arguments) else _REFUSED
        except TlatraceError as error:
            return Failed(str(error))
        except Exception as error:  # Python's own words for an expression without a value
            return Failed(reason_of(error))

    def _arguments(self, params: str) -> tuple[D, ...]:
        value = _value(params)
        if not isinstance(value, tuple):
            raise ModelGapError("the parameters are not an array")
        arguments = tuple([self._model.adopt_value(item) for item in value])
        if len(self._params) >= _MAX_KNOWN:
            self._params.clear()
        self._params[params] = arguments
        return arguments

    def invariants(self, state: ModelState) -> tuple[tuple[str, ...], str | None]:
        """Return the invariants that are FALSE, and why some have no value (None: all have).

        An answer is remembered by the variables that the invariant reads: most steps change few.
        """
        violated: list[str] = []
        last = self._clean
        if last is None:
            asked = self._invariants
        else:
            changed = tuple([at for at, value in enumerate(state) if value is not last[at]])
            asked = self._reading.get(changed) or self._readers_of(changed)
        ids = [id(value) for value in state]
        for name, predicate, read, answers, of_read in asked:
            if violated and violated[-1] == name:
                continue  # a conjunct before this one is FALSE
            key = of_read(ids)
            known = answers.get(key)
            try:
                if known is None:
                    if len(answers) >= _MAX_KNOWN:
                        answers.clear()
                    # The values are kept with the answer: so long no other object has their ids.
                    kept = [state[at] for at in read]
                    answers[key] = known = (bool(predicate(state, None)), kept)
                if not known[0]:
                    violated.append(name)
            except EvaluationError as error:
                return tuple(violated), f"{name}: {error.reason}"
            except Exception as error:
                return tuple(violated), f"{name}: {reason_of(error)}"
        if not violated:
            self._clean = state
        return tuple(violated), None

    def _readers_of(self, changed: tuple[int, ...]) -> list[_Invariant]:
        """Return the invariants that read one of these variables; the others hold as before."""
        found = [item for item in self._invariants if not set(changed).isdisjoint(item[2])]
        self._reading[changed] = found
        return found


def _taking(positions: tuple[int, ...]) -> Callable[[list[int]], object]:
    return itemgetter(*positions) if positions else lambda _: ()


def _value(text: str) -> Value:
    return from_json(json.loads(text))


def _keys_of(read: object) -> int:
    """Count the keys of all objects in JSON data."""
    if isinstance(read, dict):
        return len(read) + sum([_keys_of(item) for item in read.values()])
    if isinstance(read, list):
        return sum([_keys_of(item) for item in read])
    return 0

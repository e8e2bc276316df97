"""Judge the steps of corpora: canonical JSON text in, judgements out.

Traces say nearly the same again and again. A state is cut into the texts of its variables, which
its canonical form allows; each text is decoded once and then known by the text, so that parts which
are the same are the same object, and comparing them costs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import msgspec

from tlatrace.errors import EvaluationError, ModelGapError, TlatraceError, ValueFormatError
from tlatrace.model.domain import FALSE, TRUE, Atom, D, Fcn, model_value
from tlatrace.model.model import Model, ModelState
from tlatrace.model.operators import make_set, reason_of
from tlatrace.model.parts import Parts
from tlatrace.model.segments import Segments
from tlatrace.validate.transition import Allowed, Failed, Judgement, Refused
from tlatrace.values import (
    MAX_DEPTH,
    Value,
    canonical,
    canonical_state,
    from_json,
    state_from_json,
)

__all__ = ["Checker"]

_MAX_KNOWN: Final = 200_000
"""Texts that are remembered for each variable; beyond it they are forgotten together."""

_LARGE_SET: Final = 200
"""Characters of a set whose elements are known by their texts, too."""

_DECODE: Final = msgspec.json.Decoder().decode
_ELEMENTS: Final = msgspec.json.Decoder(dict[str, list[msgspec.Raw]]).decode

_ALLOWED: Final = Allowed()
_REFUSED: Final = Refused()


class Checker:
    """Decodes and judges; nothing that it is given makes it raise, except `state`."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._variables = model.variables
        self._segments = Segments(model.variables) if model.variables else None
        self._fields: list[list[D]] = [[] for _ in model.variables]
        """The keys of the last value of each variable, if it was a record or the like."""
        self._inner = [Segments(["-"]) for _ in model.variables]
        self._known: list[dict[str, D]] = [{} for _ in model.variables]
        self._params: dict[str, tuple[D, ...]] = {}
        self._actions: dict[str, tuple[Callable[..., Any], int]] = {
            name: (model.predicate(f"action {name}"), arity)
            for name, arity in model.actions.items()
        }
        self._next = model.predicate("next")
        self._initial = model.predicate("initial")
        self._invariants = [
            (name, model.predicate(f"invariant {name}")) for name in model.invariants
        ]
        self._invariant_parts = Parts(model.parts(), len(model.variables))
        self._parts: dict[str, D] = {}
        """The values of fields, and of elements of large sets, by their texts."""
        self._names = model.model_values
        self._keys = 0

    def state(self, text: str) -> ModelState:
        """Decode the canonical JSON object of a state.

        Raises:
            ValueFormatError: it is no state, or not written canonically.
            ModelGapError: a variable is missing, or is none of the specification.
        """
        values = self._segments.cut(text, self._variable) if self._segments else None
        return self._slowly(text) if values is None else tuple(values)

    def _variable(self, at: int, part: str) -> D | None:
        known = self._known[at]
        value = known.get(part)
        if value is None:
            value = self._decode(at, part)
            if value is not None:
                if len(known) >= _MAX_KNOWN:
                    known.clear()
                known[part] = value
        return value

    def _decode(self, at: int, part: str) -> D | None:
        """Decode the text of a variable; None if it is no value: a name was found inside one."""
        try:
            names = self._fields[at]
            if names:
                images = self._inner[at].cut(part, self._field)
                if images is not None:
                    return Fcn(zip(names, images, strict=True))
            value = self._read(part)
            if type(value) is Fcn and part.startswith('{"') and "\\" not in part:
                self._expect(at, value)
            return value
        except (ValueError, RecursionError, TlatraceError):
            return None

    def _expect(self, at: int, value: Fcn) -> None:
        """Expect the fields of this value again in the next one of the variable."""
        keys = [key.name if isinstance(key, Atom) else key for key in value]
        texts = [key for key in keys if isinstance(key, str)]
        if len(texts) == len(value) and sorted(texts) == texts:
            self._fields[at] = list(value)
            self._inner[at] = Segments(texts)

    def _field(self, _: int, part: str) -> D | None:
        """Decode the text of a field; None if it is no value."""
        known = self._parts
        value = known.get(part)
        if value is None:
            try:
                value = self._read(part)
            except (ValueError, RecursionError, TlatraceError):
                return None
            if len(known) >= _MAX_KNOWN:
                known.clear()
            known[part] = value
        return value

    def _read(self, part: str) -> D:
        """Read a value; the elements of a set, most of which were in the last one, by their texts.

        Messages that are lost stay in their set, so it grows with a run, by one or two a step.
        """
        if len(part) < _LARGE_SET or not part.startswith('{"#set":['):
            return self._plain(part)
        texts = [bytes(text).decode() for text in _ELEMENTS(part)["#set"]]
        if f'{{"#set":[{",".join(texts)}]}}' != part:
            return self._plain(part)
        known = self._parts
        elements: list[D] = []
        for text in texts:
            value = known.get(text)
            if value is None:
                value = self._plain(text)
                if len(known) >= _MAX_KNOWN:
                    known.clear()
                known[text] = value
            elements.append(value)
        return make_set(elements)

    def _plain(self, part: str) -> D:
        self._keys = 0
        value = self._domain(_DECODE(part), 0)
        if part.count('":') == self._keys:
            return value
        slow = _value(part)
        if canonical(slow) != part:
            raise ValueFormatError("the text is not canonical: a key twice, or spaces")
        return self._model.adopt_value(slow)  # a string has '":'

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
        state = state_from_json(read)
        if canonical_state(state) != text:
            raise ValueFormatError("a state is not written canonically")
        return self._model.adopt(state)

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

        Where all were TRUE in the state before, only what reads a changed part is asked.
        """
        return ((), None) if self._invariant_parts.hold(state) else self._violated(state)

    def _violated(self, state: ModelState) -> tuple[tuple[str, ...], str | None]:
        """Ask the invariants in their order."""
        violated: list[str] = []
        for name, predicate in self._invariants:
            try:
                if not predicate(state, None):
                    violated.append(name)
            except EvaluationError as error:
                return tuple(violated), f"{name}: {error.reason}"
            except Exception as error:
                return tuple(violated), f"{name}: {reason_of(error)}"
        return tuple(violated), None


def _value(text: str) -> Value:
    return from_json(json.loads(text))


def _keys_of(read: object) -> int:
    """Count the keys of all objects in JSON data."""
    if isinstance(read, dict):
        return len(read) + sum([_keys_of(item) for item in read.values()])
    if isinstance(read, list):
        return sum([_keys_of(item) for item in read])
    return 0

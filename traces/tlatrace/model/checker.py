"""Judge the steps of corpora: canonical JSON text in, judgements out.

Traces say nearly the same again and again. A state is cut into the texts of its variables, which
its canonical form allows; each text is decoded once and then known by the text, so that parts which
are the same are the same object, and comparing them costs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from tlatrace.errors import EvaluationError, ModelGapError, TlatraceError
from tlatrace.model.domain import D
from tlatrace.model.model import Model, ModelState
from tlatrace.validate.transition import Allowed, Failed, Judgement, Refused
from tlatrace.values import Value, from_json, state_from_json

__all__ = ["Checker"]

_MAX_KNOWN: Final = 200_000
"""Texts that are remembered for each variable; beyond it they are forgotten together."""

_ALLOWED: Final = Allowed()
_REFUSED: Final = Refused()


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
        self._invariants = [
            (name, model.predicate(f"invariant {name}")) for name in model.invariants
        ]

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
            return self._model.adopt_value(_value(part))
        except (ValueError, RecursionError, TlatraceError):
            return None

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
            return Failed(f"an expression has no value ({type(error).__name__}: {error})")

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
        """Return the invariants that are FALSE, and why some have no value (None: all have)."""
        violated: list[str] = []
        for name, predicate in self._invariants:
            try:
                if not predicate(state, None):
                    violated.append(name)
            except EvaluationError as error:
                return tuple(violated), f"{name}: {error.reason}"
            except Exception as error:
                return tuple(violated), f"{name}: {type(error).__name__}: {error}"
        return tuple(violated), None


def _value(text: str) -> Value:
    return from_json(json.loads(text))

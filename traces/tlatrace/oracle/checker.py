"""Judge the steps of corpora: canonical JSON text in, judgements out.

Traces say nearly the same again and again. A state is cut into the texts of its variables, which
its canonical form allows; each text is decoded once and then known by the text, so that parts which
are the same are the same object, and comparing them costs nothing.

That a text is canonical is looked at when it is decoded, so once for each different text: written
again it must be the same bytes, and its sets and functions must be in order. What the fast way does
not take, the plain reading of `tlatrace.trace.canonical_text` decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import lt
from typing import Any, AnyStr, Final

import msgspec

from tlatrace.errors import EvaluationError, ModelGapError, TlatraceError, ValueFormatError
from tlatrace.judgement.transition import Allowed, Failed, Judgement, Refused
from tlatrace.oracle.invariant_cache import InvariantCache
from tlatrace.oracle.model import Model
from tlatrace.oracle.segments import Segments
from tlatrace.oracle.states import ModelState
from tlatrace.runtime.operators import make_set, reason_of
from tlatrace.runtime.values import FALSE, TRUE, Atom, Fcn, RuntimeValue, model_value
from tlatrace.trace.canonical_text import (
    read_canonical,
    read_canonical_state,
    read_canonical_variable,
)
from tlatrace.values import MAX_DEPTH, PLAIN_INT_LIMIT, from_json

__all__ = ["Checker"]

_MAX_KNOWN: Final = 200_000
"""Texts that are remembered for each variable; beyond it they are forgotten together."""

_LARGE_SET: Final = 60
"""Bytes of a set whose elements are known by their texts, too."""

_FAST_DEPTH: Final = MAX_DEPTH - 8
"""What is nested deeper is for the plain reading, which counts exactly."""

_DECODE: Final = msgspec.json.Decoder().decode
_ENCODE: Final = msgspec.json.Encoder(order="sorted").encode
"""Writes JSON data as canonical texts are written, but for the order inside sets and maps."""
_ELEMENTS: Final = msgspec.json.Decoder(dict[str, list[msgspec.Raw]]).decode

_ALLOWED: Final = Allowed()
_REFUSED: Final = Refused()


class Checker:
    """Decodes and judges; nothing that it is given makes it raise, except `state`."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._variables = model.variables
        self._segments = Segments(model.variables) if model.variables else None
        self._fields: list[list[RuntimeValue]] = [[] for _ in model.variables]
        """The keys of the last value of each variable that was written as an object."""
        self._inner = [Segments(["-"]) for _ in model.variables]
        self._known: list[dict[str, RuntimeValue]] = [{} for _ in model.variables]
        self._params: dict[str, tuple[RuntimeValue, ...]] = {}
        self._actions: dict[str, tuple[Callable[..., Any], int]] = {
            name: (model.predicate(f"action {name}"), arity)
            for name, arity in model.actions.items()
        }
        self._initial = model.predicate("initial")
        self._invariants = [
            (name, model.predicate(f"invariant {name}")) for name in model.invariants
        ]
        self._invariant_cache = InvariantCache(model.invariant_instances(), len(model.variables))
        self._parts: dict[str | bytes, RuntimeValue] = {}
        """The values of fields, and of elements of large sets, by their texts."""
        self._names = model.reading.names
        self._atoms: dict[str, RuntimeValue] = {name: model_value(name) for name in self._names}
        self._clashing = [name in model.reading.clashing for name in model.variables]
        self._clashing_params = frozenset(
            [name for name in model.actions if model.reading.has_clashing_parameters(name)]
        )

    def state(self, text: str) -> ModelState:
        """Decode the canonical JSON object of a state.

        Raises:
            ValueFormatError: it is no state, or not written canonically.
            ModelGapError: a variable is missing, or is none of the specification.
        """
        values = self._segments.cut(text, self._variable) if self._segments else None
        return self._slowly(text) if values is None else tuple(values)

    def _variable(self, at: int, part: str) -> RuntimeValue | None:
        known = self._known[at]
        value = known.get(part)
        if value is None:
            value = self._decode(at, part)
            if value is not None:
                if len(known) >= _MAX_KNOWN:
                    known.clear()
                known[part] = value
        return value

    def _decode(self, at: int, part: str) -> RuntimeValue | None:
        """Decode the text of a variable; None if it is no value: a name was found inside one."""
        try:
            if self._clashing[at]:
                plain = read_canonical_variable(part)
                return self._model.adopt_variable(self._variables[at], plain)
            names = self._fields[at]
            if names:
                images = self._inner[at].cut(part, self._field)
                if images is not None:
                    return Fcn(zip(names, images, strict=True))
            value = self._read(part)
            if type(value) is Fcn and part[:2] == '{"' and part[2] != "#" and "\\" not in part:
                self._expect(at, value)
            return value
        except (ValueError, RecursionError, TlatraceError):
            return None

    def _expect(self, at: int, value: Fcn) -> None:
        """Expect the fields of this value, written as an object, in the next one of the variable.

        They are in the order of the text; none begins with "#", or it would be no canonical one.
        """
        names = [key.name if isinstance(key, Atom) else key for key in value]
        texts = [name for name in names if isinstance(name, str)]
        assert len(texts) == len(names), "the names of an object are strings"
        self._fields[at] = list(value)
        self._inner[at] = Segments(texts)

    def _field(self, _: int, part: str) -> RuntimeValue | None:
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

    def _read(self, part: str) -> RuntimeValue:
        """Read a value; the elements of a set, most of which were in the last one, by their texts.

        Messages that are lost stay in their set, so it grows with a run, by one or two a step.
        """
        raw = part.encode()
        if len(raw) < _LARGE_SET or not part.startswith('{"#set":['):
            return self._plain(raw)
        texts = [bytes(text) for text in _ELEMENTS(raw)["#set"]]
        if b'{"#set":[%b]}' % b",".join(texts) != raw:
            return self._plain(raw)
        known = self._parts
        elements: list[RuntimeValue] = []
        for text in texts:
            value = known.get(text)
            if value is None:
                value = self._plain(text)
                if len(known) >= _MAX_KNOWN:
                    known.clear()
                known[text] = value
            elements.append(value)
        _check_order(texts)
        return make_set(elements)

    def _plain(self, raw: bytes) -> RuntimeValue:
        read = _DECODE(raw)
        if _ENCODE(read) != raw:
            raise ValueFormatError("spaces, escapes, a key twice, or keys out of order")
        return self._value(read, 0)

    def _value(self, read: object, depth: int) -> RuntimeValue:
        """Turn JSON data into a value; of what is not canonical, text and key order are checked."""
        if type(read) is str:
            return self._atoms.get(read, read)
        if type(read) is int:
            if -PLAIN_INT_LIMIT < read < PLAIN_INT_LIMIT:
                return read
            raise ValueFormatError("a large integer that is not written as one")
        if read is True:
            return TRUE
        if read is False:
            return FALSE
        if depth > _FAST_DEPTH:
            raise ValueFormatError("the value is nested deeply")
        depth += 1
        if type(read) is list:
            return tuple(self._parts_of(read, depth))
        if type(read) is dict and read:
            if "#" in "".join(read):
                return self._special(read, depth)
            return self._record(read, depth)
        raise ValueFormatError("null, a fraction, or the empty function as an object")

    def _record(self, read: dict[str, object], depth: int) -> Fcn:
        names = self._names
        keys: Iterable[RuntimeValue] = read
        if names and names.issuperset(read):
            keys = [self._atoms[key] for key in read]
        return Fcn(zip(keys, self._parts_of(read.values(), depth), strict=True))

    def _parts_of(self, read: Iterable[object], depth: int) -> list[RuntimeValue]:
        """Turn the parts of a value into values; a look at most of them is enough."""
        atoms = self._atoms
        return [
            item
            if type(item) is int and -PLAIN_INT_LIMIT < item < PLAIN_INT_LIMIT
            else atoms.get(item, item)
            if type(item) is str
            else self._value(item, depth)
            for item in read
        ]

    def _special(self, read: dict[str, object], depth: int) -> RuntimeValue:
        """Turn an object with a "#" in its keys into a value."""
        if len(read) == 1:
            items, pairs = read.get("#set"), read.get("#map")
            if type(items) is list:
                if len(items) > 1:
                    _check_order([_ENCODE(item) for item in items])
                return make_set(self._parts_of(items, depth))
            if type(pairs) is list:
                return self._function(pairs, depth)
        if not any(key[:1] == "#" for key in read):
            return self._record(read, depth)
        value = from_json(read)
        if isinstance(value, tuple) or (type(value) is int and abs(value) < PLAIN_INT_LIMIT):
            raise ValueFormatError("a tuple or a small integer that is not written as one")
        return self._model.adopt_value(self._model.reading.plain(value))

    def _function(self, pairs: Sequence[object], depth: int) -> Fcn:
        keys: list[object] = []
        images: list[object] = []
        for pair in pairs:
            if type(pair) is not list or len(pair) != 2:
                raise ValueFormatError("something that is not a [key, value] pair")
            keys.append(pair[0])
            images.append(pair[1])
        _check_order([_ENCODE(key) for key in keys])
        strings = [key for key in keys if type(key) is str]
        if len(strings) == len(keys):
            if not any(key[:1] == "#" for key in strings):
                raise ValueFormatError("a record that is not written as one")
            arguments: list[RuntimeValue] = list(
                strings
            )  # all are model values, or none; "#..." is none
        elif all(type(key) is int and 1 <= key <= len(keys) for key in keys):
            raise ValueFormatError("a tuple that is not written as one")
        else:
            arguments = [self._value(key, depth) for key in keys]
        found = zip(arguments, [self._value(image, depth) for image in images], strict=True)
        value = Fcn(found)
        if len(value) != len(pairs):
            raise ValueFormatError("a function has the same key twice")
        return value

    def _slowly(self, text: str) -> ModelState:
        """Decode a state that the fast way does not take."""
        return self._model.adopt(read_canonical_state(text))

    def step(
        self, pre: ModelState | None, action: str | None, params: str, post: ModelState
    ) -> Judgement:
        """Judge a step; `pre` None claims an initial state, `action` None any step of Next."""
        try:
            if params != "[]" and (pre is None or action is None):
                return Failed(f"there are parameters without an action that takes them: {params}")
            if pre is None:
                return _ALLOWED if self._initial(post, None) else _REFUSED
            if action is None:
                return _ALLOWED if self._model.allows(None, (), pre, post) else _REFUSED
            entry = self._actions.get(action)
            if entry is None:
                return Failed(f"{self._model.module} has no action {action}")
            predicate, arity = entry
            key = self._key(action, params) if self._clashing_params else params
            arguments = self._params.get(key)
            if arguments is None:
                arguments = self._arguments(key, action, params)
            if len(arguments) != arity:
                given = len(arguments)
                name = self._model.module
                return Failed(f"{action} of {name} takes {arity} parameters, not {given}")
            return _ALLOWED if predicate(pre, post, arguments) else _REFUSED
        except Exception as error:
            return Failed(self._why(error, pre, action, params, post))

    def _key(self, action: str, params: str) -> str:
        """Return what the values of the parameters are known by."""
        return f"{action} {params}" if action in self._clashing_params else params

    def _why(
        self,
        error: Exception,
        pre: ModelState | None,
        action: str | None,
        params: str,
        post: ModelState,
    ) -> str:
        """Say why a step has no judgement."""
        if isinstance(error, TlatraceError) and not isinstance(error, EvaluationError):
            return str(error)
        if pre is None:
            return self._model.why(error, "initial", post, None).reason
        if action is None:
            return self._model.why(error, "next", pre, post).reason
        arguments = self._params.get(self._key(action, params))
        if arguments is None:
            return reason_of(error)
        return self._model.why(error, f"action {action}", pre, post, arguments).reason

    def _arguments(self, key: str, action: str, params: str) -> tuple[RuntimeValue, ...]:
        value = read_canonical(params)
        if not isinstance(value, tuple):
            raise ModelGapError("the parameters are not an array")
        arguments = self._model.adopt_params(action, value)
        if len(self._params) >= _MAX_KNOWN:
            self._params.clear()
        self._params[key] = arguments
        return arguments

    def invariants(self, state: ModelState) -> tuple[tuple[str, ...], str | None]:
        """Return the invariants that are FALSE, and why some have no value (None: all have).

        Where all were TRUE in the state before, only what reads a changed part is asked.
        """
        return ((), None) if self._invariant_cache.hold(state) else self._violated(state)

    def _violated(self, state: ModelState) -> tuple[tuple[str, ...], str | None]:
        """Ask the invariants in their order."""
        violated: list[str] = []
        for name, predicate in self._invariants:
            try:
                if not predicate(state, None):
                    violated.append(name)
            except Exception as error:
                why = self._model.why(error, f"invariant {name}", state, None)
                return tuple(violated), f"{name}: {why.reason}"
        return tuple(violated), None


def _check_order(texts: list[AnyStr]) -> None:
    """Refuse texts of elements, or of keys, that are not in order or not different."""
    if not all(map(lt, texts, texts[1:])):
        raise ValueFormatError("elements or keys that are not in order, or twice")

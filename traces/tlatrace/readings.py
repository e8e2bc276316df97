"""What the strings of a trace stand for: strings, or model values of the specification.

JSON has no model values, so a recorder writes `"b1"` where the specification has the model value
b1. A configuration with `Brokers = {b1, b2}` says which strings may stand for model values. Where
the text of the specification has strings of the same names, too, the types of variables and
parameters decide (`tlatrace.compiler.passes.types`); where they do not, nobody knows what is meant,
and the trace has to say it: `{"#str":"b1"}` or `{"#model":"b1"}`.

A value is read once: what comes from here has no `ExactString`, and is not read again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter, is_
from typing import Final, TypeAlias

from tlatrace.errors import ModelGapError, ValueFormatError
from tlatrace.values import (
    MAX_DEPTH,
    ExactString,
    Fcn,
    ModelValue,
    State,
    TlaSet,
    Value,
    canonical,
    fcn,
    tla_set,
)

__all__ = [
    "NO_TYPES",
    "UNKNOWN",
    "Kind",
    "Place",
    "Reading",
    "Types",
    "differing_values",
    "model_values_in",
]

UNKNOWN: Final = 0
"""The kind of what the types do not tell: everything may stand there."""

_DEEP: Final = f"the value is nested deeper than {MAX_DEPTH}"

_WITHOUT_TEXT: Final = (bool, int, ModelValue)
"""What is no string and has no parts; as a tuple, which is asked faster than a union."""

Place: TypeAlias = tuple[int, ...]
"""A place in a value: what the invariants declare of it, then what Init and Next put there."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Which names of model values may stand at a place, and what a value there is made of.

    `element`, `key`, `image` and `fields` are numbers of kinds; a tuple has the fields "1", "2" ...
    """

    models: tuple[str, ...] = ()
    strings: tuple[str, ...] = ()
    """Those of the names that may be strings there."""
    any_string: bool = False
    element: int | None = None
    key: int | None = None
    image: int | None = None
    fields: tuple[tuple[str, int], ...] = ()

    def children(self) -> list[int]:
        """Return the kinds of the parts."""
        parts = [self.element, self.key, self.image, *[kind for _, kind in self.fields]]
        return [part for part in parts if part is not None]

    def field(self, name: str) -> int | None:
        """Return the kind of a field, or of what a function has for a string."""
        return dict(self.fields).get(name, self.image)


@dataclass(frozen=True, slots=True)
class Types:
    """What may stand where in a specification; `kinds[UNKNOWN]` is what nothing is known of."""

    names: tuple[str, ...]
    """Those of the model values."""
    kinds: tuple[Kind, ...]
    variables: tuple[tuple[str, Place], ...]
    """The variables, and the expressions that a trace may show."""
    parameters: tuple[tuple[str, tuple[Place, ...]], ...]
    """Action -> the places of its arguments."""

    @staticmethod
    def of_names(names: Iterable[str]) -> Types:
        """Return the types of a specification that has no strings with these names."""
        return Types(tuple(sorted(names)), (Kind(),), (), ())


NO_TYPES: Final = Types.of_names([])


class Reading:
    """Reads the values of traces for one specification."""

    def __init__(self, types: Types) -> None:
        self.names = frozenset(types.names)
        texts = ['"#str"', *[canonical(name) for name in types.names]]
        self._replaced = re.compile("|".join(map(re.escape, texts)))
        self._kinds = types.kinds
        self._all = dict(types.variables)
        self._variables = {name: at for name, at in types.variables if self._clashes([at])}
        self._parameters = {name: at for name, at in types.parameters if self._clashes(at)}

    @property
    def clashing(self) -> frozenset[str]:
        """The variables in which a name of a model value may be a string."""
        return frozenset(self._variables)

    def has_clashing_parameters(self, action: str | None) -> bool:
        """Tell whether a name of a model value may be a string among the arguments of an action."""
        return action in self._parameters

    def state(self, state: State) -> dict[str, Value]:
        """Read the variables of a state.

        Raises:
            ModelGapError: a text may be the string or the model value of that name.
        """
        return {name: self.variable(name, value) for name, value in state.items()}

    def variable(self, name: str, value: Value) -> Value:
        """Read the value of a variable.

        Raises: as `state`.
        """
        return self._read(value, self._variables.get(name), f"the variable {name}")

    def arguments(
        self, action: str | None, values: Sequence[Value | None]
    ) -> tuple[Value | None, ...]:
        """Read the arguments of an action, None for one that is not logged.

        Raises: as `state`.
        """
        places = self._parameters.get(action or "")
        if places is None or len(places) != len(values):
            return tuple([None if value is None else self.plain(value) for value in values])
        return tuple(
            [
                None if value is None else self._read(value, place, f"argument {at} of {action}")
                for at, (value, place) in enumerate(zip(values, places, strict=True), start=1)
            ]
        )

    def params(self, action: str | None, values: Sequence[Value]) -> tuple[Value, ...]:
        """Read the arguments of an action, all of which are logged.

        Raises: as `state`.
        """
        return tuple([value for value in self.arguments(action, values) if value is not None])

    def part(
        self, variable: str, at: Sequence[Value], value: Value
    ) -> tuple[tuple[Value, ...], Value]:
        """Read where in a variable a part stands, and its value.

        Raises: as `state`.
        """
        place = self._place_of(variable)
        where = f"the variable {variable}"
        path, place = self._path(place, at, where)
        return path, self._read(value, place, where)

    def argument_part(
        self, action: str | None, number: int, at: Sequence[Value], value: Value
    ) -> tuple[tuple[Value, ...], Value]:
        """Read where in an argument of an action, from 1, a part stands, and its value.

        Raises: as `state`.
        """
        places = self._parameters.get(action or "", ())
        place = places[number - 1] if number <= len(places) else None
        where = f"argument {number} of {action}"
        path, place = self._path(place, at, where)
        return path, self._read(value, place, where)

    def change(
        self, variable: str, at: Sequence[Value], parts: Sequence[str], values: Sequence[Value]
    ) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        """Read where in a variable something changes, and the values that tell how.

        `parts` says of each value what it is of the changed one: its "element", "key", "image", or
        like the "whole" of it; the last one holds for all that follow.

        Raises: as `state`.
        """
        where = f"the variable {variable}"
        path, place = self._path(self._place_of(variable), at, where)
        found: list[Value] = []
        for number, value in enumerate(values):
            part = parts[min(number, len(parts) - 1)]
            inner = place
            if place is not None and part != "whole":
                inner = self._below(place, attrgetter(part))
            found.append(self._read(value, inner, where))
        return path, tuple(found)

    def _place_of(self, variable: str) -> Place | None:
        """Return the place of a variable, or of an expression; None: plain reading will do."""
        if self._variables and variable not in self._all:
            return (UNKNOWN,)
        return self._variables.get(variable)

    def _path(
        self, place: Place | None, at: Sequence[Value], where: str
    ) -> tuple[tuple[Value, ...], Place | None]:
        path: list[Value] = []
        for argument in at:
            path.append(self._read(argument, None if place is None else self.keys(place), where))
            place = None if place is None else self.image(place, path[-1])
        return tuple(path), place

    def plain(self, value: Value) -> Value:
        """Read a value where no string has the name of a model value.

        A record becomes a function over model values if all its field names are such names;
        otherwise its field names stay strings.

        Raises:
            ModelGapError: it has the same key twice then.
        """
        try:
            return _with_models(value, self.names, 0)
        except ValueFormatError as error:
            raise ModelGapError(error.reason) from None

    def leaves_alone(self, text: str) -> bool:
        """Tell by its canonical text that plain reading finds nothing to replace in a value."""
        is_deep = text.count("[") + text.count("{") > MAX_DEPTH
        return not is_deep and self._replaced.search(text) is None

    def exact(self, value: Value) -> Value:
        """Write a value that is read, so that whoever reads it again finds the same strings."""
        match value:
            case str():
                return ExactString(value) if value in self.names else value
            case tuple():
                return tuple([self.exact(item) for item in value])
            case TlaSet():
                return tla_set([self.exact(item) for item in value])
            case Fcn():
                return fcn([(self.exact(key), self.exact(image)) for key, image in value.pairs])
            case _:
                return value

    # ---- what a value is made of ----------------------------------------------------------

    def place(self, variable: str) -> Place:
        """Return the place of a variable; of one that is not known, a place without kinds."""
        return self._all.get(variable, ())

    def is_set(self, place: Place) -> bool:
        """Tell whether there are sets at a place."""
        return any(self._kinds[at].element is not None for at in place)

    def is_function(self, place: Place) -> bool:
        """Tell whether there are functions at a place, records and sequences included."""
        kinds = [self._kinds[at] for at in place]
        return any(kind.image is not None or kind.key is not None or kind.fields for kind in kinds)

    def element(self, place: Place) -> Place:
        """Return the place of the elements of a set."""
        return self._below(place, attrgetter("element"))

    def keys(self, place: Place) -> Place:
        """Return the place of the domain of a function."""
        return self._below(place, attrgetter("key"))

    def image(self, place: Place, key: Value) -> Place:
        """Return the place of what a function has for a key."""
        is_index = isinstance(key, int) and not isinstance(key, bool)
        if isinstance(key, str) or is_index:
            return self._below(place, lambda kind: kind.field(str(key)))
        return self._below(place, attrgetter("image"))

    # ---- by types -------------------------------------------------------------------------

    def _clashes(self, places: Sequence[Place]) -> bool:
        """Tell whether a name may be a string anywhere in these places."""
        seen = {kind for place in places for kind in place}
        waiting = list(seen)
        while waiting:
            kind = self._kinds[waiting.pop()]
            if kind.strings or (kind.any_string and self.names):
                return True
            new = set(kind.children()) - seen
            seen |= new
            waiting += new
        return False

    def _read(self, value: Value, place: Place | None, where: str) -> Value:
        if place is None:
            return self.plain(value)
        try:
            return self._of_types(value, place, where, 0)
        except ValueFormatError as error:
            raise ModelGapError(f"{where}: {error.reason}") from None

    def _of_types(self, value: Value, place: Place, where: str, depth: int) -> Value:
        if isinstance(value, str):
            is_model = value in self.names and self._is_model(value, place, where, True)
            return ModelValue(value) if is_model else value
        if isinstance(value, ExactString):
            return value.text
        if isinstance(value, _WITHOUT_TEXT):
            return value
        if depth > MAX_DEPTH:
            raise ValueFormatError(_DEEP)
        depth += 1
        match value:
            case tuple():
                return tuple(
                    [
                        self._of_types(item, self.image(place, at), where, depth)
                        for at, item in enumerate(value, start=1)
                    ]
                )
            case TlaSet():
                inner = self.element(place)
                return tla_set([self._of_types(item, inner, where, depth) for item in value])
            case Fcn():
                keys = self._read_keys(value, self.keys(place), where, depth)
                return fcn(
                    [
                        (key, self._of_types(image, self.image(place, key), where, depth))
                        for key, (_, image) in zip(keys, value.pairs, strict=True)
                    ]
                )

    def _read_keys(self, value: Fcn, place: Place, where: str, depth: int) -> list[Value]:
        keys = [key for key, _ in value.pairs]
        if not value.is_record:
            return [self._of_types(key, place, where, depth) for key in keys]
        # In doubt a key is that of a function over model values, if all of them can be.
        over_models = all(key in self.names for key in keys)
        found: list[Value] = []
        for key in keys:
            assert isinstance(key, str), "a record has strings"
            in_names = key in self.names
            is_model = in_names and self._is_model(key, place, where, over_models)
            found.append(ModelValue(key) if is_model else key)
        return found

    def _is_model(self, name: str, place: Place, where: str, otherwise: bool) -> bool:
        """Tell whether a name is a model value's here; `otherwise` where nothing is expected."""
        is_open = False
        for number in place:
            kind = self._kinds[number]
            may_be_model = name in kind.models
            may_be_string = kind.any_string or name in kind.strings
            if may_be_model != may_be_string:
                return may_be_model
            is_open = is_open or may_be_model
        if is_open:
            raise ModelGapError(
                f'"{name}" in {where} may be the string or the model value of that name: the trace '
                f'has to say {{"#str":"{name}"}} or {{"#model":"{name}"}}'
            )
        return otherwise

    def _below(self, place: Place, part: Callable[[Kind], int | None]) -> Place:
        found = [UNKNOWN if at == UNKNOWN else part(self._kinds[at]) for at in place]
        return tuple([kind for kind in found if kind is not None])


# ---- without types ------------------------------------------------------------------------


def model_values_in(value: Value) -> frozenset[str]:
    """Collect the names of the model values in a value."""
    match value:
        case ModelValue():
            return frozenset([value.name])
        case tuple() | TlaSet():
            return frozenset().union(*[model_values_in(element) for element in value])
        case Fcn():
            return frozenset().union(
                *[model_values_in(part) for pair in value.pairs for part in pair]
            )
        case _:
            return frozenset()


def differing_values(values: State, constants: State) -> list[str]:
    """Name the constants that have another value here; strings may stand for model values."""
    return [
        name
        for name in sorted(constants)
        if name in values and not _stands_for(constants[name], values[name])
    ]


def _stands_for(given: Value, known: Value) -> bool:
    """Tell whether a constant of a trace can be that of a configuration."""
    names = model_values_in(known)
    if canonical(_with_models(given, names, 0)) == canonical(known):
        return True
    is_plain = '{"#str":' not in canonical(given) and not model_values_in(given)
    return is_plain and canonical(_with_models(known, names, 0)) == canonical(
        _with_models(given, names, 0)
    )


def _with_models(value: Value, names: frozenset[str], depth: int) -> Value:
    """Replace every string that is in `names` by the model value of that name.

    A value without such a string is returned as it is: to make one again costs its text.
    """
    if isinstance(value, str):
        return ModelValue(value) if value in names else value
    if isinstance(value, ExactString):
        return value.text
    if isinstance(value, _WITHOUT_TEXT):
        return value
    if depth > MAX_DEPTH:
        raise ValueFormatError(_DEEP)
    depth += 1
    if isinstance(value, tuple):
        parts = [_with_models(element, names, depth) for element in value]
        return value if all(map(is_, parts, value)) else tuple(parts)
    if isinstance(value, TlaSet):
        parts = [_with_models(element, names, depth) for element in value]
        return value if all(map(is_, parts, value)) else tla_set(parts)
    keys = [key for key, _ in value.pairs]
    if not value.is_record or all(key in names for key in keys):
        keys = [_with_models(key, names, depth) for key in keys]
    images = [_with_models(image, names, depth) for _, image in value.pairs]
    made = list(zip(keys, images, strict=True))
    pairs = zip(made, value.pairs, strict=True)
    same = all(key is old[0] and image is old[1] for (key, image), old in pairs)
    return value if same else fcn(made)

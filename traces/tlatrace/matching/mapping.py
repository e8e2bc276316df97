"""Mappings: what the lines of another system's log mean, declared in TOML.

`traces/MAPPING.md` is the definition. Reading is strict: a key that means nothing here is refused,
because a misspelt one would weaken the check without a word.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from tlatrace.errors import SpecError, ValueFormatError
from tlatrace.trace import INIT, Silent, State
from tlatrace.trace.schema import check_name
from tlatrace.values import Json, Value, from_json

__all__ = [
    "Condition",
    "Field",
    "Keys",
    "Literal",
    "LogMapping",
    "Observe",
    "Source",
    "read_mapping",
]

_FORMAT: Final = "rocketproof-mapping"
_VERSION: Final = 1
_MAX_BYTES: Final = 2**20
_NOT_LOGGED: Final = "?"
_FORMS: Final = ("plain", "set", "number", "text")
_OTHERS: Final = ("error", "same", "unnamed")
_INITS: Final = ("unknown", "first line")

Keys: TypeAlias = tuple[str, ...]
"""Keys from the outermost object inwards; digits may also be an index of an array, from 0."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A value that is taken from a line."""

    path: Keys
    form: str = "plain"
    """"plain", "set" (an array), "number" (a string of digits) or "text" (a number or boolean)."""
    names: Mapping[str, Value]
    """What stands for a string of the log; other strings stay."""
    null: Value | None = None
    """What stands for null; None: null is refused."""
    optional: bool = False
    """Whether a line may lack the field, which then says nothing."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is the same for all lines."""

    value: Value


Source: TypeAlias = Field | Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What a line looks like; exactly one of the three is not None."""

    path: Keys
    equals: tuple[Json, ...] | None = None
    differs: tuple[Json, ...] | None = None
    present: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observe:
    """A variable, or a part of it, that lines show."""

    variable: str
    at: tuple[Source, ...]
    source: Source
    only: frozenset[str] | None
    """The actions whose lines show it, "Init" for the first line; None: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMapping:
    """What the lines of a log mean."""

    path: Path
    spec: str
    constants: State
    silent: Silent | None
    starts_with_init: bool
    """Whether the first line shows the initial state; else nothing is known of it."""
    skip: tuple[Condition, ...]
    action: Keys | None
    """Where the action stands; None: no line says its action."""
    action_names: Mapping[str, str]
    other_actions: str
    """What becomes of an action that has no name here: "error", "same" or "unnamed"."""
    params: Mapping[str, tuple[Source | None, ...] | None]
    """Action -> its arguments, None for one that is not logged; None if none is."""
    observe: tuple[Observe, ...]
    node: Field | None
    clock: Field | None


def read_mapping(path: Path) -> LogMapping:
    """Read a mapping.

    Raises:
        SpecError: it cannot be read, is no TOML, or breaks `traces/MAPPING.md`; with the line
            where it can be told.
    """
    try:
        raw = path.read_bytes()
        if len(raw) > _MAX_BYTES:
            raise SpecError(path, f"a mapping of more than {_MAX_BYTES} bytes")
        text = raw.decode("utf-8")
        document: Json = tomllib.loads(text)
    except OSError as error:
        raise SpecError(path, f"the mapping cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise SpecError(path, f"the mapping is not TOML: {error}") from None
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line, column = (int(place[1]), int(place[2])) if place else (None, None)
        raise SpecError(path, f"the mapping is not TOML: {error}", line, column) from None
    return _Reader(path, text).mapping(_Table(document, "the mapping"))


class _FaultError(Exception):
    """What is wrong, and the key that shows where."""

    def __init__(self, reason: str, key: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.key = key


class _Table:
    """A table of which each key is taken once; what is left is unknown."""

    def __init__(self, obj: Json, what: str) -> None:
        if not isinstance(obj, dict):
            raise _FaultError(f"{what} is not a table", what.split()[-1])
        self._left = dict(obj)
        self.what = what

    def take(self, key: str) -> Json:
        """Take a key's value, None if it is not there (TOML has no null)."""
        return self._left.pop(key, None)

    def has(self, key: str) -> bool:
        """Tell whether a key is there that nobody took yet."""
        return key in self._left

    def rest(self) -> dict[str, Json]:
        """Take all that is left."""
        rest, self._left = self._left, {}
        return rest

    def end(self) -> None:
        """Refuse what nobody took."""
        if self._left:
            key = min(self._left)
            raise _FaultError(f"{self.what} has the unknown key {key!r}", key)


class _Reader:
    """Turns a TOML document into a mapping."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text
        self._names: dict[str, Value] = {}

    def mapping(self, top: _Table) -> LogMapping:
        """Read the document.

        Raises:
            SpecError: as `read_mapping`.
        """
        try:
            return self._mapping(top)
        except _FaultError as fault:
            raise SpecError(self._path, fault.reason, self._line_of(fault.key)) from None
        except ValueFormatError as error:
            raise SpecError(self._path, error.reason) from None

    def _line_of(self, key: str) -> int | None:
        """Find the first line that begins with a key, or else holds it."""
        if not key:
            return None
        begins = re.compile(rf"""\s*\[*\s*(?:[\w-]+\.)*["']?{re.escape(key)}\b""")
        lines = list(enumerate(self._text.splitlines(), start=1))
        found = [number for number, line in lines if begins.match(line)]
        inside = re.compile(rf"""(?<![\w-]){re.escape(key)}(?![\w-])""")
        found += [number for number, line in lines if inside.search(line)]
        return found[0] if found else None

    def _mapping(self, top: _Table) -> LogMapping:
        if top.take("format") != _FORMAT:
            raise _FaultError(f'the mapping has no format = "{_FORMAT}"', "format")
        version = top.take("version")
        if version is True or version != _VERSION:
            raise _FaultError(f"the mapping has no version = {_VERSION}", "version")
        spec = check_name(_text(top, "spec"), "a module")
        init = _choice(top, "init", _INITS)
        self._names = self._renaming(top.take("names"), "names")
        constants = {
            check_name(name, "a constant"): self._value(value, name)
            for name, value in _Table(top.take("constants") or {}, "[constants]").rest().items()
        }
        action, action_names, others = self._action(top.take("action"))
        params = self._params(top.take("params"))
        for name in action_names.values():
            if name not in params:
                raise _FaultError(
                    f'[params] lacks {name}: write {name} = [] if it has none, {name} = "?" if '
                    "they are not logged",
                    name,
                )
        node, clock = top.take("node"), top.take("clock")
        mapping = LogMapping(
            path=self._path,
            spec=spec,
            constants=constants,
            silent=self._silent(top.take("silent")),
            starts_with_init=init == "first line",
            skip=tuple(_each(top.take("skip"), "skip", _condition)),
            action=action,
            action_names=action_names,
            other_actions=others,
            params=params,
            observe=tuple(_each(top.take("observe"), "observe", self._observe)),
            node=None if node is None else replace(self._field(node, "node"), names={}),
            clock=None if clock is None else self._field(clock, "clock"),
        )
        top.end()
        return mapping

    # ---- parts ----------------------------------------------------------------------------

    def _silent(self, obj: Json) -> Silent | None:
        if obj is None:
            return None
        table = _Table(obj, "silent")
        actions = [check_name(name, "an action") for name in _texts(table, "actions")]
        most = table.take("most")
        table.end()
        if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
            raise _FaultError("most of silent is not a number of steps", "most")
        return Silent(actions=tuple(actions), most=most)

    def _action(self, obj: Json) -> tuple[Keys | None, dict[str, str], str]:
        if obj is None:
            return None, {}, "unnamed"
        table = _Table(obj, "[action]")
        path = _path(table.take("field"), "[action]")
        names: dict[str, str] = {}
        for text, name in _Table(table.take("names") or {}, "[action.names]").rest().items():
            if not isinstance(name, str) or name == INIT:
                raise _FaultError(f"the action of {text!r} is not the name of one", text)
            names[text] = check_name(name, "an action")
        others = _choice(table, "other", _OTHERS)
        table.end()
        return path, names, others

    def _params(self, obj: Json) -> dict[str, tuple[Source | None, ...] | None]:
        params: dict[str, tuple[Source | None, ...] | None] = {}
        for name, sources in _Table(obj or {}, "[params]").rest().items():
            check_name(name, "an action")
            if sources == _NOT_LOGGED:
                params[name] = None
            elif isinstance(sources, list):
                params[name] = tuple(
                    [
                        None if source == _NOT_LOGGED else self._source(source, name)
                        for source in sources
                    ]
                )
            else:
                raise _FaultError(f'the params of {name} are neither an array nor "?"', name)
        return params

    def _observe(self, table: _Table) -> Observe:
        variable = check_name(_text(table, "variable"), "a variable")
        at = table.take("at")
        if at is not None and not isinstance(at, list):
            raise _FaultError(f"at of {variable} is not an array", "at")
        only = _texts(table, "only") if table.has("only") else None
        return Observe(
            variable=variable,
            at=tuple([self._source(argument, variable) for argument in at or []]),
            source=self._source(table.rest(), variable),
            only=None if only is None else frozenset(only),
        )

    def _source(self, obj: Json, where: str) -> Source:
        """Read a field's path, `{field = ...}` or `{value = ...}`."""
        if isinstance(obj, dict) and "value" in obj:
            table = _Table(obj, f"a value of {where}")
            literal = Literal(self._value(table.take("value"), where))
            table.end()
            return literal
        return self._field(obj, where)

    def _field(self, obj: Json, where: str) -> Field:
        if not isinstance(obj, dict):
            return Field(path=_path(obj, where), names=self._names)
        table = _Table(obj, f"a field of {where}")
        null, names = table.take("null"), table.take("names")
        optional = table.take("optional")
        if optional not in (None, True, False):
            raise _FaultError(f"optional of {where} is not a boolean", "optional")
        field = Field(
            path=_path(table.take("field"), where),
            form=_choice(table, "as", _FORMS),
            names=self._names if names is None else self._renaming(names, where),
            null=None if null is None else self._value(null, where),
            optional=optional is True,
        )
        table.end()
        return field

    def _renaming(self, obj: Json, where: str) -> dict[str, Value]:
        table = _Table(obj or {}, f"the names of {where}")
        return {text: self._value(value, text) for text, value in table.rest().items()}

    def _value(self, obj: Json, where: str) -> Value:
        try:
            return from_json(obj)
        except ValueFormatError as error:
            raise _FaultError(f"{where}: {error.reason}", where) from None


def _condition(table: _Table) -> Condition:
    path = _path(table.take("field"), "[[skip]]")
    equals, differs, present = table.take("is"), table.take("not"), table.take("present")
    table.end()
    if sum(test is not None for test in (equals, differs, present)) != 1:
        raise _FaultError("a [[skip]] has exactly one of is, not, present", "skip")
    if present is not None and not isinstance(present, bool):
        raise _FaultError("present of a [[skip]] is not a boolean", "present")
    return Condition(
        path=path,
        equals=None if equals is None else _values(equals),
        differs=None if differs is None else _values(differs),
        present=present,
    )


def _values(obj: Json) -> tuple[Json, ...]:
    return tuple(obj) if isinstance(obj, list) else (obj,)


def _each(obj: Json, what: str, read: Callable[[_Table], _T]) -> list[_T]:
    if obj is None:
        return []
    if not isinstance(obj, list):
        raise _FaultError(f"{what} is not an array of tables [[{what}]]", what)
    return [read(_Table(one, f"[[{what}]]")) for one in obj]


def _path(obj: Json, where: str) -> Keys:
    """Read "a.b.0" or ["a.b", "0"]."""
    if isinstance(obj, str) and obj and obj != _NOT_LOGGED:
        return tuple(obj.split("."))
    if isinstance(obj, list) and obj:
        keys = [key for key in obj if isinstance(key, str)]
        if len(keys) == len(obj):
            return tuple(keys)
    raise _FaultError(f"{where} has no field of the log, or one that is no path", where)


def _text(table: _Table, key: str) -> str:
    value = table.take(key)
    if not isinstance(value, str):
        raise _FaultError(f"{table.what} has no {key}, or one that is not a string", key)
    return value


def _texts(table: _Table, key: str) -> list[str]:
    value = table.take(key)
    texts = [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
    if not isinstance(value, list) or not value or len(texts) < len(value):
        raise _FaultError(f"{key} of {table.what} is not an array of names", key)
    return texts


def _choice(table: _Table, key: str, choices: tuple[str, ...]) -> str:
    value = table.take(key)
    if value is None:
        return choices[0]
    if not isinstance(value, str) or value not in choices:
        raise _FaultError(f"{key} of {table.what} is not one of {', '.join(choices)}", key)
    return value

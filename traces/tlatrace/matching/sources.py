"""Where a mapping takes a value from: a field of the line, a literal, or several put together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias, assert_never

from tlatrace.errors import TlaTextError, ValueFormatError
from tlatrace.matching.log_line import MISSING, Keys, LineError, find, path_text
from tlatrace.matching.toml_tables import FaultError, Table, read_path
from tlatrace.tla_text import parse_tla
from tlatrace.values import (
    MAX_DEPTH,
    MAX_DIGITS,
    Json,
    Value,
    canonical,
    fcn,
    from_json,
    record,
    tla_set,
)

__all__ = ["Composite", "Field", "Literal", "Source", "SourceReader", "converted", "value_of"]

_FORMS: Final = ("plain", "set", "number", "text", "tla", "negated")
_MAKERS: Final = ("tuple", "set", "sum")
_NUMBER: Final = re.compile(rf"-?[0-9]{{1,{MAX_DIGITS}}}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A value that is taken from a line."""

    path: Keys
    form: str = "plain"
    """"plain", "set" (an array), "number" (a string of digits), "text" (a number or boolean),
    "tla" (TLA+ text) or "negated" (the other boolean)."""
    names: Mapping[str, Value] = field(default_factory=dict)
    """What stands for a string of the log; other strings stay."""
    null: Value | None = None
    """What stands for null; None: null is refused."""
    optional: bool = False
    """Whether a line may lack the field, which then says nothing."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is the same for all lines."""

    value: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """A "tuple", a "set", a "record" or the "sum" of values; without one it says nothing."""

    how: str
    parts: tuple[Source, ...]
    names: tuple[str, ...] = ()
    """The fields of a record."""


Source: TypeAlias = Field | Literal | Composite


class SourceReader:
    """Reads sources; all methods raise FaultError."""

    def __init__(self, names: Json) -> None:
        """Take the renaming that holds for all fields without one of their own."""
        self.names = self.renaming(names, "names")

    def source(self, obj: Json, where: str) -> Source:
        """Read a field's path, `{field = ...}`, `{value = ...}`, `{tuple = [...]}` and so on."""
        if isinstance(obj, dict):
            if "value" in obj:
                table = Table(obj, f"a value of {where}")
                literal = Literal(self.value(table.take("value"), where))
                table.end()
                return literal
            for how in _MAKERS:
                if isinstance(obj.get(how), list):
                    table = Table(obj, f"a {how} of {where}")
                    parts = tuple([self.source(one, where) for one in table.array(how)])
                    table.end()
                    return Composite(how=how, parts=parts)
            if "record" in obj:
                table = Table(obj, f"a record of {where}")
                fields = Table(table.take("record"), f"the record of {where}").rest()
                table.end()
                sources = tuple([self.source(one, where) for one in fields.values()])
                return Composite(how="record", parts=sources, names=tuple(fields))
        return self.field(obj, where)

    def field(self, obj: Json, where: str) -> Field:
        """Read a field's path or `{field = ...}`."""
        if not isinstance(obj, dict):
            return Field(path=read_path(obj, where), names=self.names)
        table = Table(obj, f"a field of {where}")
        null, names = table.take("null"), table.take("names")
        optional = table.take("optional")
        if optional not in (None, True, False):
            raise FaultError(f"optional of {where} is not a boolean", "optional")
        read = Field(
            path=read_path(table.take("field"), where),
            form=table.choice("as", _FORMS),
            names=self.names if names is None else self.renaming(names, where),
            null=None if null is None else self.value(null, where),
            optional=optional is True,
        )
        table.end()
        return read

    def renaming(self, obj: Json, where: str) -> dict[str, Value]:
        """Read what stands for strings of the log."""
        table = Table(obj or {}, f"the names of {where}")
        return {text: self.value(value, text) for text, value in table.rest().items()}

    def value(self, obj: Json, where: str) -> Value:
        """Read a value as traces have it."""
        try:
            return from_json(obj)
        except ValueFormatError as error:
            raise FaultError(f"{where}: {error.reason}", where) from None


# ---- taking values from a line ------------------------------------------------------------


def value_of(source: Source, obj: Json) -> Value | None:
    """Take a value from a line; None where it is optional and not there.

    Raises:
        LineError: the line does not have it.
    """
    match source:
        case Literal(value):
            return value
        case Field():
            return _of_field(source, obj)
        case Composite():
            return _composed(source, obj)
        case _ as unreachable:
            assert_never(unreachable)


def _composed(source: Composite, obj: Json) -> Value | None:
    values: list[Value] = []
    for part in source.parts:
        value = value_of(part, obj)
        if value is None:
            return None
        values.append(value)
    match source.how:
        case "tuple":
            return tuple(values)
        case "set":
            return tla_set(values)
        case "record":
            return record(dict(zip(source.names, values, strict=True)))
        case _:
            total = 0
            for value in values:
                if isinstance(value, bool) or not isinstance(value, int):
                    raise LineError("a sum of something that is no number")
                total += value
            return total


def _of_field(source: Field, obj: Json) -> Value | None:
    where = path_text(source.path)
    found = find(obj, source.path)
    if found is MISSING:
        if source.optional:
            return None
        raise LineError(f"the line has no field {where}")
    if found is None:
        if source.null is None:
            raise LineError(f"the field {where} is null")
        return source.null
    try:
        value = _formed(source, found)
        canonical(value)  # refuses what is nested too deep, or has too many digits
    except ValueFormatError as error:
        raise LineError(f"the field {where}: {error.reason}") from None
    return value


def _formed(source: Field, found: object) -> Value:
    match source.form:
        case "set":
            if not isinstance(found, list):
                raise ValueFormatError("not an array, which is to be a set")
            return tla_set([converted(element, source, 1) for element in found])
        case "number":
            if not isinstance(found, str) or not _NUMBER.fullmatch(found):
                raise ValueFormatError(f"not a string of at most {MAX_DIGITS} digits")
            return int(found)
        case "text":
            if isinstance(found, bool):
                found = "true" if found else "false"
            if not isinstance(found, int | str):
                raise ValueFormatError("neither a number nor a boolean nor a string")
            return converted(str(found), source, 1)
        case "tla":
            if not isinstance(found, str):
                raise ValueFormatError("not a string with TLA+ text")
            try:
                value = parse_tla(found)
            except TlaTextError as error:
                raise ValueFormatError(str(error)) from None
            return source.names.get(value, value) if isinstance(value, str) else value
        case "negated":
            if not isinstance(found, bool):
                raise ValueFormatError("not a boolean")
            return not found
        case _:
            return converted(found, source, 1)


def converted(obj: object, source: Field, depth: int = 1) -> Value:
    """Turn JSON of a log into a value: an array is a sequence, an object a record or function.

    Raises:
        ValueFormatError: it has none.
    """
    if depth > MAX_DEPTH:
        raise ValueFormatError(f"nested deeper than {MAX_DEPTH}")
    match obj:
        case str():
            return source.names.get(obj, obj)
        case list():
            return tuple([converted(element, source, depth + 1) for element in obj])
        case dict():
            return fcn(
                [
                    (source.names.get(key, key), converted(image, source, depth + 1))
                    for key, image in obj.items()
                ]
            )
        case None:
            if source.null is None:
                raise ValueFormatError("it holds null")
            return source.null
        case _:
            return from_json(obj)

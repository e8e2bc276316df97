"""Read a log of another system as a trace, with a mapping.

A log is NDJSON: one JSON object a line. The limits are those of trace files: strict JSON, bounded
lines and depth. Every field that the mapping names must be in each line that it speaks of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, assert_never

from tlatrace.errors import TraceFormatError, ValueFormatError
from tlatrace.matching.mapping import Condition, Field, Keys, Literal, LogMapping, Source
from tlatrace.trace import INIT, Event, Header, Part, Trace
from tlatrace.trace.lines import DEFAULT_LIMITS, Limits, numbered_lines
from tlatrace.trace.schema import check_name
from tlatrace.trace.strict_json import parse_json
from tlatrace.values import MAX_DEPTH, MAX_DIGITS, Json, Value, canonical, fcn, from_json, tla_set

__all__ = ["MappedLog", "read_log"]

_MISSING: Final = object()
_INT64: Final = 2**63
_NUMBER: Final = re.compile(rf"-?[0-9]{{1,{MAX_DIGITS}}}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedLog:
    """A log as a trace, with the lines that its events stand in."""

    trace: Trace
    lines: tuple[int, ...]
    """Line of each event, from 1; of an initial state that no line shows, the first event's."""


class _LineError(Exception):
    """What is wrong with a line."""


def read_log(path: Path, mapping: LogMapping, limits: Limits = DEFAULT_LIMITS) -> MappedLog:
    """Read a log; one without a line that is a step gives a trace without events.

    Raises:
        TraceFormatError: with the file and the line.
    """
    header = Header(spec=mapping.spec, constants=mapping.constants, silent=mapping.silent)
    events: list[Event] = []
    lines: list[int] = []
    for number, obj in _objects(path, mapping, limits):
        if not events and not mapping.starts_with_init:
            events.append(Event(step=0, action=INIT))
            lines.append(number)
        if len(events) >= limits.events:
            raise TraceFormatError(path, number, f"more than {limits.events} events")
        try:
            events.append(_event(mapping, obj, len(events)))
        except _LineError as error:
            raise TraceFormatError(path, number, str(error)) from None
        except ValueFormatError as error:
            raise TraceFormatError(path, number, error.reason) from None
        lines.append(number)
    return MappedLog(trace=Trace(header=header, events=tuple(events)), lines=tuple(lines))


def _objects(
    path: Path, mapping: LogMapping, limits: Limits
) -> Iterator[tuple[int, dict[str, Json]]]:
    for number, raw in numbered_lines(path, limits):
        obj = parse_json(raw, path=path, line=number, limits=limits)
        if not isinstance(obj, dict):
            raise TraceFormatError(path, number, "the line is not a JSON object")
        if not any(_holds(condition, obj) for condition in mapping.skip):
            yield number, obj


def _holds(condition: Condition, obj: Json) -> bool:
    found = _find(obj, condition.path)
    if condition.present is not None:
        return (found is not _MISSING) == condition.present
    if condition.equals is not None:
        return any(_equal(found, wanted) for wanted in condition.equals)
    return not any(_equal(found, wanted) for wanted in condition.differs or ())


def _equal(found: object, wanted: Json) -> bool:
    """Compare as JSON does: true is not 1."""
    return type(found) is type(wanted) and found == wanted


def _find(obj: object, path: Keys) -> object:
    """Follow a path; `_MISSING` where it leads nowhere."""
    for key in path:
        if isinstance(obj, dict) and key in obj:
            obj = obj[key]
        elif isinstance(obj, list) and key.isascii() and key.isdigit() and int(key) < len(obj):
            obj = obj[int(key)]
        else:
            return _MISSING
    return obj


def _event(mapping: LogMapping, obj: Json, step: int) -> Event:
    action = INIT if step == 0 else _action(mapping, obj)
    known: tuple[Value | None, ...] = ()
    if step and action is not None:
        known = _params(mapping, obj, action)
    logged = tuple([value for value in known if value is not None])
    all_logged = not step or action is None or _has_all(mapping, action, known)
    observed: dict[str, Value] = {}
    parts: list[Part] = []
    for rule in mapping.observe:
        if rule.only is not None and action not in rule.only:
            continue
        value = _value(rule.source, obj)
        if value is None:
            continue
        at = [_value(argument, obj) for argument in rule.at]
        known_at = [argument for argument in at if argument is not None]
        if len(known_at) < len(at):
            continue
        if known_at:
            parts.append(Part(variable=rule.variable, at=tuple(known_at), value=value))
        elif rule.variable in observed:
            raise _LineError(f"two rules of the mapping show {rule.variable} in this line")
        else:
            observed[rule.variable] = value
    return Event(
        step=step,
        action=action,
        params=logged if all_logged else (),
        known_params=None if all_logged else known,
        node=_node(mapping.node, obj),
        observed=observed or None,
        parts=tuple(parts),
        clock=_clock(mapping.clock, obj),
    )


def _action(mapping: LogMapping, obj: Json) -> str | None:
    if mapping.action is None:
        return None
    found = _find(obj, mapping.action)
    where = ".".join(mapping.action)
    if found is _MISSING:
        raise _LineError(f"the line has no field {where}, where the action stands")
    if not isinstance(found, str):
        raise _LineError(f"the action in the field {where} is not a string")
    if found in mapping.action_names:
        return mapping.action_names[found]
    match mapping.other_actions:
        case "same":
            return check_name(found, "an action")
        case "unnamed":
            return None
        case _:
            raise _LineError(f"the action {found[:64]!r} stands not in [action.names]")


def _params(mapping: LogMapping, obj: Json, action: str) -> tuple[Value | None, ...]:
    if action not in mapping.params:
        raise _LineError(f"[params] lacks the action {action}")
    sources = mapping.params[action]
    return tuple([None if source is None else _value(source, obj) for source in sources or ()])


def _has_all(mapping: LogMapping, action: str, known: tuple[Value | None, ...]) -> bool:
    return mapping.params[action] is not None and None not in known


def _value(source: Source, obj: Json) -> Value | None:
    """Take a value from a line; None where it is optional and not there."""
    match source:
        case Literal(value):
            return value
        case Field():
            return _of_field(source, obj)
        case _ as unreachable:
            assert_never(unreachable)


def _of_field(field: Field, obj: Json) -> Value | None:
    where = ".".join(field.path)
    found = _find(obj, field.path)
    if found is _MISSING:
        if field.optional:
            return None
        raise _LineError(f"the line has no field {where}")
    if found is None:
        if field.null is None:
            raise _LineError(f"the field {where} is null")
        return field.null
    try:
        value = _formed(field, found)
        canonical(value)  # refuses what is nested too deep, or has too many digits
    except ValueFormatError as error:
        raise _LineError(f"the field {where}: {error.reason}") from None
    return value


def _formed(field: Field, found: object) -> Value:
    match field.form:
        case "set":
            if not isinstance(found, list):
                raise ValueFormatError("not an array, which is to be a set")
            return tla_set([_converted(element, field, 1) for element in found])
        case "number":
            if not isinstance(found, str) or not _NUMBER.fullmatch(found):
                raise ValueFormatError(f"not a string of at most {MAX_DIGITS} digits")
            return int(found)
        case "text":
            if isinstance(found, bool):
                found = "true" if found else "false"
            if not isinstance(found, int | str):
                raise ValueFormatError("neither a number nor a boolean nor a string")
            return _converted(str(found), field, 1)
        case _:
            return _converted(found, field, 1)


def _converted(obj: object, field: Field, depth: int) -> Value:
    """Turn JSON of a log into a value: an array is a sequence, an object a record or function."""
    if depth > MAX_DEPTH:
        raise ValueFormatError(f"nested deeper than {MAX_DEPTH}")
    match obj:
        case str():
            return field.names.get(obj, obj)
        case list():
            return tuple([_converted(element, field, depth + 1) for element in obj])
        case dict():
            return fcn(
                [
                    (field.names.get(key, key), _converted(image, field, depth + 1))
                    for key, image in obj.items()
                ]
            )
        case None:
            if field.null is None:
                raise ValueFormatError("it holds null")
            return field.null
        case _:
            return from_json(obj)


def _node(field: Field | None, obj: Json) -> str | None:
    if field is None:
        return None
    value = _of_field(field, obj)
    if value is not None and not isinstance(value, str):
        raise _LineError(f"the node in the field {'.'.join(field.path)} is not a string")
    return value


def _clock(field: Field | None, obj: Json) -> int | None:
    if field is None:
        return None
    value = _of_field(field, obj)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not -_INT64 <= value < _INT64:
        raise _LineError(f"the clock in the field {'.'.join(field.path)} is not a 64-bit integer")
    return value

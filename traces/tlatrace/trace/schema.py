"""The header and the events of a trace as JSON data: checks on the way in, one spelling out.

The fields and their types are in `traces/FORMAT.md`. An unknown key in a header is kept by name in
`Header.ignored`; an unknown key in an event is refused, because a misspelt "observed" would
otherwise weaken the check without a word.
"""

from __future__ import annotations

import json
import re
from typing import Final

from tlatrace.errors import ValueFormatError
from tlatrace.trace.lines import DEFAULT_LIMITS
from tlatrace.trace.model import (
    FORMAT,
    INIT,
    VERSION,
    VERSION_WITH_SILENT,
    Clues,
    Event,
    Header,
    Implementation,
    Part,
    Silent,
)
from tlatrace.trace.strict_json import size_fault
from tlatrace.values import (
    Json,
    State,
    Value,
    canonical,
    canonical_state,
    from_json,
    state_from_json,
    state_to_json,
)

__all__ = [
    "check_name",
    "event_from_json",
    "event_line",
    "header_from_json",
    "header_line",
    "header_to_json",
    "refuse_clues",
]

_HEADER_KEYS: Final = frozenset(
    {
        "format",
        "version",
        "spec",
        "spec_sha256",
        "constants",
        "seed",
        "implementation",
        "meta",
        "silent",
    }
)
_EVENT_KEYS: Final = frozenset(
    {"step", "action", "params", "node", "state", "observed", "parts", "clock"}
)
_PART_KEYS: Final = frozenset({"variable", "at", "value"})
_SILENT_KEYS: Final = frozenset({"actions", "most"})
_VERSIONS: Final = (VERSION, VERSION_WITH_SILENT)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:(?:!|::)[A-Za-z_][A-Za-z0-9_]*)*", re.ASCII)
_MAX_NAME: Final = 256
_SHA256: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_INT64: Final = 2**63
_CANONICAL: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)


def check_name(name: str, what: str) -> str:
    """Return the name if it may be pasted into TLA+ text: identifiers, joined by "!" or "::".

    Raises:
        ValueFormatError: any other name; `what` says what it was to name.
    """
    if len(name) > _MAX_NAME or not _NAME.fullmatch(name):
        raise ValueFormatError(f"{_shown(name)} is not the name of {what}")
    return name


# ---- header -------------------------------------------------------------------------------


def header_from_json(obj: Json) -> Header:
    """Check and decode the header line.

    Raises:
        ValueFormatError: a missing or wrong field, or a version other than this one.
    """
    if not isinstance(obj, dict):
        raise ValueFormatError("the header is not a JSON object")
    if obj.get("format") != FORMAT:
        raise ValueFormatError(f'the first line is not a header with "format":"{FORMAT}"')
    version = obj.get("version")
    if version is True or version not in _VERSIONS or not isinstance(version, int):
        raise ValueFormatError(
            f"version {_shown(version)} of the format is not supported, only {VERSION} and "
            f"{VERSION_WITH_SILENT}"
        )
    if "silent" in obj and version == VERSION:
        raise ValueFormatError(f'"silent" needs "version":{VERSION_WITH_SILENT}')
    sha256 = _text_or_none(obj, "spec_sha256")
    if sha256 is not None and not _SHA256.fullmatch(sha256):
        raise ValueFormatError('"spec_sha256" is not 64 lower-case hexadecimal digits')
    meta = obj.get("meta", {})
    if not isinstance(meta, dict):
        raise ValueFormatError('"meta" is not an object')
    return Header(
        spec=check_name(_text(obj, "spec"), "a module"),
        spec_sha256=sha256,
        constants=_named_values(obj.get("constants", {}), "constants", "a constant"),
        seed=_int_or_none(obj, "seed"),
        implementation=_implementation(obj.get("implementation")),
        meta=meta,
        silent=_silent(obj.get("silent")),
        ignored=tuple(sorted(obj.keys() - _HEADER_KEYS)),
    )


def _implementation(obj: Json) -> Implementation | None:
    if obj is None:
        return None
    if not isinstance(obj, dict):
        raise ValueFormatError('"implementation" is not an object')
    return Implementation(name=_text(obj, "name"), version=_text(obj, "version"))


def _silent(obj: Json) -> Silent | None:
    if obj is None:
        return None
    if not isinstance(obj, dict) or obj.keys() - _SILENT_KEYS:
        raise ValueFormatError('"silent" is not an object with "actions" and "most"')
    actions, most = obj.get("actions"), _int_or_none(obj, "most")
    if not isinstance(actions, list) or not actions:
        raise ValueFormatError('"actions" in "silent" is not an array of names')
    names: list[str] = []
    for name in actions:
        if not isinstance(name, str) or name == INIT or name in names:
            raise ValueFormatError(f'{_shown(name)} in "silent" is not the name of an action')
        names.append(check_name(name, "an action"))
    if most is not None and most < 0:
        raise ValueFormatError('"most" in "silent" is negative')
    return Silent(actions=tuple(names), most=most)


def header_to_json(header: Header) -> dict[str, Json]:
    """Encode a header with every field present, but `silent`, which asks for the next version.

    Raises:
        ValueFormatError: the reader would refuse it.
    """
    program = header.implementation
    implementation: Json = None
    if program is not None:
        implementation = {"name": program.name, "version": program.version}
    obj: dict[str, Json] = {
        "format": FORMAT,
        "version": VERSION,
        "spec": header.spec,
        "spec_sha256": header.spec_sha256,
        "constants": state_to_json(header.constants),
        "seed": header.seed,
        "implementation": implementation,
        "meta": dict(header.meta),
    }
    if header.silent is not None:
        obj["version"] = VERSION_WITH_SILENT
        obj["silent"] = {"actions": list(header.silent.actions), "most": header.silent.most}
    silent = header.silent
    if header.expressions or (silent and (silent.only_before or silent.same_arguments)):
        raise ValueFormatError("a mapping says more of the steps than a trace file can")
    header_from_json(obj)
    return obj


def header_line(header: Header) -> str:
    """Write the header line, without its end.

    Raises:
        ValueFormatError: a reader with the default limits would refuse it.
    """
    try:
        fields = [
            f'"{key}":{_CANONICAL.encode(value)}' for key, value in header_to_json(header).items()
        ]
    except ValueError as error:
        raise ValueFormatError(f'"meta" is not JSON: {error}') from None
    return _readable("{" + ",".join(fields) + "}")


# ---- events -------------------------------------------------------------------------------


def event_from_json(obj: Json, step: int) -> Event:
    """Check and decode the event of the given step, which its own "step" must equal.

    Raises:
        ValueFormatError: a missing, wrong or unknown field.
    """
    if not isinstance(obj, dict):
        raise ValueFormatError("the event is not a JSON object")
    if unknown := obj.keys() - _EVENT_KEYS:
        raise ValueFormatError(f"the event has the unknown key {_shown(min(unknown))}")
    if (own := _int_or_none(obj, "step")) != step:
        raise ValueFormatError(f"expected step {step}, found {_shown(own)}")
    if "action" not in obj:
        raise ValueFormatError('the event has no "action"')
    action = _text_or_none(obj, "action")
    if action is not None:
        check_name(action, "an action")
    if "params" not in obj:
        raise ValueFormatError('the event has no "params"')
    arguments = obj["params"]
    if arguments is not None and not isinstance(arguments, list):
        raise ValueFormatError('"params" is neither an array nor null')
    if (action == INIT) != (step == 0):
        raise ValueFormatError(f'step {step} has the action {_shown(action)}: "Init" is step 0')
    if arguments != [] and (action is None or action == INIT):
        raise ValueFormatError(f"the action {_shown(action)} has params")
    params, known = _params(arguments)
    state, observed = obj.get("state"), obj.get("observed")
    parts = _parts(obj.get("parts"))
    if state is not None and (observed is not None or parts):
        raise ValueFormatError('the event has both "state" and "observed" or "parts"')
    return Event(
        step=step,
        action=action,
        params=params,
        known_params=known,
        node=_text_or_none(obj, "node"),
        state=None if state is None else _named_values(state, "state", "a variable"),
        observed=None if observed is None else _named_values(observed, "observed", "a variable"),
        parts=parts,
        clock=_int_or_none(obj, "clock"),
    )


def _params(
    arguments: list[Json] | None,
) -> tuple[tuple[Value, ...], tuple[Value | None, ...] | None]:
    """Decode "params": all of them, or those that are logged."""
    if arguments is None:
        return (), ()
    decoded = tuple([None if one is None else from_json(one) for one in arguments])
    whole = tuple([value for value in decoded if value is not None])
    return (whole, None) if len(whole) == len(decoded) else ((), decoded)


def _parts(obj: Json) -> tuple[Part, ...]:
    if obj is None:
        return ()
    if not isinstance(obj, list):
        raise ValueFormatError('"parts" is not an array')
    return tuple([_part(part) for part in obj])


def _part(obj: Json) -> Part:
    if not isinstance(obj, dict) or obj.keys() != _PART_KEYS:
        raise ValueFormatError('"parts" holds something without "variable", "at" and "value"')
    at = obj["at"]
    if not isinstance(at, list) or not at:
        raise ValueFormatError('"at" in "parts" is not an array with an element')
    return Part(
        variable=check_name(_text(obj, "variable"), "a variable"),
        at=tuple([from_json(argument) for argument in at]),
        value=from_json(obj["value"]),
    )


def refuse_clues(event: Event) -> None:
    """Refuse an event of a foreign log that says what a trace file cannot, instead of losing it.

    Raises:
        ValueFormatError: it does.
    """
    if event.clues != Clues():
        raise ValueFormatError(f"step {event.step} says what a trace file cannot, from a mapping")


def event_line(event: Event) -> str:
    """Write an event's line, without its end; absent optional fields are left out.

    Raises:
        ValueFormatError: a reader with the default limits would refuse it.
    """
    refuse_clues(event)
    action = None if event.action is None else check_name(event.action, "an action")
    params = "null"
    if event.arguments is not None:
        texts = ["null" if one is None else canonical(one) for one in event.arguments]
        params = f"[{','.join(texts)}]"
    parts = [f'{{"step":{event.step},"action":{_json_text(action)},"params":{params}']
    if event.node is not None:
        parts.append(f',"node":{_json_text(event.node)}')
    if event.state is not None:
        parts.append(f',"state":{_state_text(event.state)}')
    if event.observed is not None:
        parts.append(f',"observed":{_state_text(event.observed)}')
    if event.parts:
        parts.append(f',"parts":[{",".join([_part_text(part) for part in event.parts])}]')
    if event.clock is not None:
        parts.append(f',"clock":{event.clock}')
    parts.append("}")
    return _readable("".join(parts))


def _part_text(part: Part) -> str:
    variable = _json_text(check_name(part.variable, "a variable"))
    at = canonical(part.at)
    return f'{{"variable":{variable},"at":{at},"value":{canonical(part.value)}}}'


def _readable(line: str) -> str:
    try:
        raw = line.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueFormatError("a string holds half of a surrogate pair") from None
    if len(raw) > DEFAULT_LIMITS.line_bytes:
        raise ValueFormatError(f"the line is longer than {DEFAULT_LIMITS.line_bytes} bytes")
    fault = size_fault(raw, DEFAULT_LIMITS)
    if fault is not None:
        raise ValueFormatError(fault)
    return line


def _state_text(state: State) -> str:
    for name in state:
        check_name(name, "a variable")
    return canonical_state(state)


# ---- fields -------------------------------------------------------------------------------


def _text(obj: dict[str, Json], key: str) -> str:
    value = obj.get(key)
    if not isinstance(value, str):
        raise ValueFormatError(f'"{key}" is not a string')
    return value


def _text_or_none(obj: dict[str, Json], key: str) -> str | None:
    return None if obj.get(key) is None else _text(obj, key)


def _int_or_none(obj: dict[str, Json], key: str) -> int | None:
    value = obj.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not -_INT64 <= value < _INT64:
        raise ValueFormatError(f'"{key}" is not a 64-bit integer')
    return value


def _named_values(obj: Json, key: str, what: str) -> State:
    try:
        values = state_from_json(obj)
    except ValueFormatError as error:
        raise ValueFormatError(f'in "{key}": {error.reason}') from None
    for name in values:
        check_name(name, what)
    return values


def _json_text(text: str | None) -> str:
    return "null" if text is None else canonical(text)


def _shown(value: Json) -> str:
    text = json.dumps(value)
    return text if len(text) <= 64 else text[:61] + "..."

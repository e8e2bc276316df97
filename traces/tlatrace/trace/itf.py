"""Traces in the Informal Trace Format (ITF), which Apalache, Quint and editors read and write.

| trace               | ITF                                                                        |
|---------------------|----------------------------------------------------------------------------|
| header              | top-level "#meta"."rocketproof", as in the NDJSON header line              |
| event               | a state; its "#meta" has "index", "action", "params" and, where present,   |
|                     | "node", "clock" and "parts"                                                |
| state               | the variables, every one in "vars"                                         |
| observed            | as state, and "#meta"."part" is "observed"; each variable that is not      |
|                     | known is {"#unserializable": "not observed"}                               |
| (a counterexample)  | "loop": the state that comes after the last one, for ever                  |
| neither             | as observed, and "#meta"."part" is "none"                                  |
| integer             | {"#bigint": "..."}, always                                                 |
| tuple, sequence     | array                                                                      |
| set, map, record    | {"#set": [...]}, {"#map": [...]}, object                                   |
| model value         | {"#unserializable": "name"}                                                |

Reading takes other tools' files too: their strings, uninterpreted values ("1_OF_A") included, stay
strings, a variant stays the record `[tag |-> .., value |-> ..]`, variables that begin with "mbt::"
are no variables of the specification, and "mbt::actionTaken" names the action.

Source: Apalache ADR-015, revisions of 2023-09-14 and 2025-11-11; Quint's model-based testing mode
for "mbt::".
"""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePath
from typing import Final

from tlatrace.errors import TraceFormatError, ValueFormatError
from tlatrace.tla_text import is_identifier
from tlatrace.trace.lines import Limits, read_whole
from tlatrace.trace.model import INIT, Event, Header, Trace
from tlatrace.trace.schema import (
    check_name,
    event_from_json,
    header_from_json,
    header_to_json,
    refuse_clues,
)
from tlatrace.trace.strict_json import parse_json
from tlatrace.values import Json, State, Value, to_json

__all__ = ["ITF_LIMITS", "UNKNOWN_SPEC", "itf_text", "read_itf", "write_itf"]

ITF_LIMITS: Final = Limits(depth=72, total_bytes=64 * 2**20, values_per_line=1_000_000)
"""One JSON text holds the whole trace, so the limits of a line are those of the file."""

UNKNOWN_SPEC: Final = "Unknown"
"""The header's spec where the file does not name one."""

_META: Final = "#meta"
_OURS: Final = "rocketproof"
_UNSERIALIZABLE: Final = "#unserializable"
_NOT_OBSERVED: Final[Json] = {_UNSERIALIZABLE: "not observed"}
_MBT: Final = "mbt::"
_MBT_ACTION: Final = "mbt::actionTaken"
_SPEC_OF_SOURCE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


# ---- export -------------------------------------------------------------------------------


def itf_text(trace: Trace, *, loop: int | None = None) -> str:
    """Write a trace as one ITF document: the same trace gives the same text.

    With `loop`, the state of that index comes after the last one, again and again.

    Raises:
        ValueFormatError: a header, a name or a value that `read_itf` would refuse.
    """
    names: set[str] = set()
    for event in trace.events:
        names.update(event.state or (), event.observed or ())
    variables = sorted([check_name(name, "a variable") for name in names])
    meta: dict[str, Json] = {
        "format": "ITF",
        "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
    }
    if trace.header is not None:
        meta[_OURS] = header_to_json(trace.header)
    states = ",\n".join([_dumps(_state_of(event, variables)) for event in trace.events])
    back = "" if loop is None else f'"loop":{loop},'
    head = f'"{_META}":{_dumps(meta)},"vars":{_dumps(list(variables))},{back}'
    return f'{{{head}"states":[\n{states}\n]}}\n'


def write_itf(path: Path, trace: Trace, *, loop: int | None = None) -> None:
    """Write a trace as an ITF file, which other tools expect to be named `*.itf.json`.

    Raises:
        ValueFormatError: as `itf_text`.
        OSError: the file cannot be written.
    """
    path.write_bytes(itf_text(trace, loop=loop).encode())


def _dumps(obj: Json) -> str:
    return json.dumps(obj, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _state_of(event: Event, variables: list[str]) -> Json:
    refuse_clues(event)
    meta: dict[str, Json] = {
        "index": event.step,
        "action": event.action,
        "params": _params_to_itf(event),
    }
    if event.parts:
        meta["parts"] = [
            {
                "variable": part.variable,
                "at": [_value_to_itf(argument) for argument in part.at],
                "value": _value_to_itf(part.value),
            }
            for part in event.parts
        ]
    if event.node is not None:
        meta["node"] = event.node
    if event.clock is not None:
        meta["clock"] = event.clock
    known: State = {}
    if event.state is not None:
        known = event.state
    elif event.observed is not None:
        known = event.observed
        meta["part"] = "observed"
    else:
        meta["part"] = "none"
    state: dict[str, Json] = {_META: meta}
    for name in variables:
        state[name] = _value_to_itf(known[name]) if name in known else _NOT_OBSERVED
    return state


def _params_to_itf(event: Event) -> Json:
    if event.arguments is None:
        return None
    return [None if one is None else _value_to_itf(one) for one in event.arguments]


def _value_to_itf(value: Value) -> Json:
    return _to_itf(to_json(value))


def _to_itf(obj: Json) -> Json:
    """Turn our encoding into ITF's: all integers are "#bigint", and there is no "#model"."""
    if isinstance(obj, int) and not isinstance(obj, bool):
        return {"#bigint": str(obj)}
    if isinstance(obj, list):
        return [_to_itf(element) for element in obj]
    if isinstance(obj, dict):
        name = obj.get("#model")
        if isinstance(name, str):
            if not is_identifier(name):
                raise ValueFormatError(f"the model value {name!r} is not a TLA+ identifier")
            return {_UNSERIALIZABLE: name}
        return {key: _to_itf(value) for key, value in obj.items()}
    return obj


# ---- import -------------------------------------------------------------------------------


def read_itf(path: Path, limits: Limits = ITF_LIMITS) -> Trace:
    """Read an ITF file: ours back to an equal trace, other tools' as full states.

    Raises:
        TraceFormatError: not an ITF file, or beyond a limit; the reason names the state.
    """
    obj = parse_json(read_whole(path, limits), path=path, line=1, limits=limits)
    try:
        return _trace(obj, limits)
    except ValueFormatError as error:
        raise TraceFormatError(path, None, error.reason) from None


def _trace(obj: Json, limits: Limits) -> Trace:
    if not isinstance(obj, dict):
        raise ValueFormatError("an ITF file is a JSON object")
    states, variables = obj.get("states"), obj.get("vars")
    if not isinstance(states, list):
        raise ValueFormatError('the file has no "states"')
    if not isinstance(variables, list):
        raise ValueFormatError('the file has no "vars"')
    if len(states) > limits.events:
        raise ValueFormatError(f"the trace has more than {limits.events} states")
    meta = obj.get(_META, {})
    if not isinstance(meta, dict):
        raise ValueFormatError(f'"{_META}" is not an object')
    names = [_variable(name) for name in variables]
    events: list[Event] = []
    for index, state in enumerate(states):
        try:
            events.append(_event(state, index, names))
        except ValueFormatError as error:
            raise ValueFormatError(f"state {index}: {error.reason}") from None
    if _OURS in meta:
        header = header_from_json(meta[_OURS])
    elif events or meta:
        header = _foreign_header(meta, obj.get("loop"))
    else:
        return Trace(header=None, events=())
    return Trace(header=header, events=tuple(events))


def _variable(name: Json) -> str:
    if not isinstance(name, str):
        raise ValueFormatError('"vars" holds something that is not a string')
    return check_name(name, "a variable")


def _foreign_header(meta: dict[str, Json], loop: Json) -> Header:
    """Keep what another tool says about its trace under "itf" in the meta data."""
    source = meta.get("source")
    stem = PurePath(source).stem if isinstance(source, str) else ""
    kept: dict[str, Json] = dict(meta)
    if loop is not None:
        kept["loop"] = loop
    spec = stem if _SPEC_OF_SOURCE.fullmatch(stem) else UNKNOWN_SPEC
    return Header(spec=spec, meta={"itf": kept} if kept else {})


def _event(state: Json, index: int, names: list[str]) -> Event:
    if not isinstance(state, dict):
        raise ValueFormatError("it is not an object")
    meta = state.get(_META, {})
    if not isinstance(meta, dict):
        raise ValueFormatError(f'"{_META}" is not an object')
    part = meta.get("part", "state")
    if part not in ("state", "observed", "none"):
        raise ValueFormatError('"part" is not one of state, observed, none')
    known: dict[str, Json] = {}
    for name in names:
        if name not in state:
            raise ValueFormatError(f"the variable {name} is missing")
        if not name.startswith(_MBT) and state[name] != _NOT_OBSERVED:
            known[name] = _from_itf(state[name])
    params = meta.get("params", [])
    event: dict[str, Json] = {
        "step": index,
        "action": _action(state, meta, index),
        "params": _from_itf(params) if isinstance(params, list) else params,
        "node": meta.get("node"),
        "clock": meta.get("clock"),
        "parts": _from_itf(meta.get("parts")),
    }
    if part != "none":
        event["observed" if part == "observed" else "state"] = known
    return event_from_json(event, index)


def _action(state: dict[str, Json], meta: dict[str, Json], index: int) -> Json:
    if index == 0:
        return INIT
    return meta.get("action", state.get(_MBT_ACTION)) or None


def _from_itf(obj: Json) -> Json:
    """Turn ITF's encoding into ours; the parser has bounded the depth."""
    if isinstance(obj, list):
        return [_from_itf(element) for element in obj]
    if isinstance(obj, dict):
        name = obj.get(_UNSERIALIZABLE)
        if name is None:
            return {key: _from_itf(value) for key, value in obj.items()}
        if len(obj) == 1 and isinstance(name, str) and is_identifier(name):
            return {"#model": name}
        raise ValueFormatError("a value is marked as not serializable")
    return obj

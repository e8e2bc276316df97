"""Read values and states from their canonical texts, and from no other texts.

This is the plain reading, by which the faster ones are judged: strict JSON, decoded by
`tlatrace.values`, and written again; the text that comes out must be the one that went in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tlatrace.errors import TraceFormatError, ValueFormatError
from tlatrace.trace.lines import Limits
from tlatrace.trace.strict_json import parse_json
from tlatrace.values import (
    MAX_DEPTH,
    Json,
    State,
    Value,
    canonical,
    canonical_state,
    from_json,
    state_from_json,
)

__all__ = ["read_canonical", "read_canonical_state", "read_canonical_variable"]

_NO_FILE: Final = Path("text")
_LIMITS: Final = Limits(depth=3 * (MAX_DEPTH + 2), values_per_line=2**62)
"""A value that is nested once may have three brackets: `{"#map":[[`."""


def read_canonical(text: str) -> Value:
    """Read a value.

    Raises:
        ValueFormatError: not the canonical text of a value.
    """
    value = from_json(_json(text))
    if canonical(value) != text:
        raise ValueFormatError("a value is not written canonically")
    return value


def read_canonical_variable(text: str) -> Value:
    """Read the value of a variable, which is nested in its state: one value less may be in it.

    Raises:
        ValueFormatError: not the canonical text of a value.
    """
    nested = read_canonical(f"[{text}]")
    if not isinstance(nested, tuple) or len(nested) != 1:
        raise ValueFormatError("the text is more than one value")
    return nested[0]


def read_canonical_state(text: str) -> State:
    """Read a state.

    Raises:
        ValueFormatError: not the canonical text of a state.
    """
    state = state_from_json(_json(text))
    if canonical_state(state) != text:
        raise ValueFormatError("a state is not written canonically")
    return state


def _json(text: str) -> Json:
    raw = text.encode("utf-8", "surrogatepass")
    try:
        return parse_json(raw, path=_NO_FILE, line=1, limits=_LIMITS)
    except TraceFormatError as error:
        raise ValueFormatError(error.reason) from None

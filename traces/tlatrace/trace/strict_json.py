"""JSON from untrusted bytes: what Python's parser lets through is refused here.

Refused beyond RFC 8259 syntax: the same key twice in an object, NaN and Infinity, numbers that
overflow to infinity, invalid UTF-8, halves of surrogate pairs, nesting and number of values beyond
the limits, and integers of thousands of digits. Depth and number are checked before parsing, so
that parsing cannot exhaust the stack or the memory.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Final

from tlatrace.errors import TraceFormatError
from tlatrace.trace.lines import Limits
from tlatrace.values import Json

__all__ = ["parse_json", "size_fault"]

_ESCAPED: Final = re.compile(rb"\\.", re.DOTALL)
_NO_BRACKET: Final = bytes(set(range(256)) - set(b"[]{}"))


class _RefusedError(ValueError):
    """What a hook of the parser refuses."""


def parse_json(raw: bytes, *, path: Path, line: int, limits: Limits) -> Json:
    """Parse one JSON text that starts at line `line` of the file `path`.

    Raises:
        TraceFormatError: with the line and, where known, the column (both from 1).
    """
    fault = size_fault(raw, limits)
    if fault is not None:
        raise TraceFormatError(path, line, fault)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        column = error.start - before.rfind(b"\n")
        at = line + before.count(b"\n")
        raise TraceFormatError(path, at, "the bytes are not UTF-8", column) from None
    try:
        parsed: Json = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
        )
        if "\\u" in text:
            json.dumps(parsed, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        reason = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise TraceFormatError(path, line + error.lineno - 1, reason, error.colno) from None
    except UnicodeEncodeError:
        raise TraceFormatError(path, line, "a string holds half of a surrogate pair") from None
    except _RefusedError as error:
        raise TraceFormatError(path, line, str(error)) from None
    except ValueError:  # int() refuses more digits than sys.get_int_max_str_digits()
        raise TraceFormatError(path, line, "an integer has too many digits") from None
    except RecursionError:  # the caller's stack was nearly full
        raise TraceFormatError(path, line, "the JSON is nested too deep") from None
    return parsed


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _RefusedError(f"the key {json.dumps(key[:64])} stands twice in one object")
            seen.add(key)
    return fields


def _refuse_constant(name: str) -> Json:
    raise _RefusedError(f"{name} is not JSON")


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _RefusedError("a number is too large")
    return number


def size_fault(raw: bytes, limits: Limits) -> str | None:
    """Say why a JSON text has too many values or is nested too deep; None if neither.

    Counting everywhere, inside strings too, is fast and errs upwards; only where that is over a
    limit are the strings taken out and the count repeated.
    """
    opening = raw.count(b"[") + raw.count(b"{")
    values = opening + raw.count(b",") + raw.count(b":")
    if opening <= limits.depth and values < limits.values_per_line:
        return None
    outside = b"".join(_ESCAPED.sub(b"", raw).split(b'"')[::2])
    if _deeper_than(outside.translate(None, _NO_BRACKET), limits.depth):
        return f"the JSON is nested deeper than {limits.depth} brackets"
    if values >= limits.values_per_line:
        values = 1 + sum(outside.count(mark) for mark in (b"[", b"{", b",", b":"))
        if values > limits.values_per_line:
            return f"the JSON holds more than {limits.values_per_line} values"
    return None


def _deeper_than(brackets: bytes, limit: int) -> bool:
    for _ in range(limit):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    depth = 0
    for bracket in brackets:  # does not match up: the parser will refuse it, if it gets there
        depth += 1 if bracket in b"[{" else -1
        if depth > limit:
            return True
    return False

"""Lines of foreign logs: JSON objects, and paths into them."""

from __future__ import annotations

from typing import Final, TypeAlias

__all__ = ["MISSING", "Keys", "LineError", "find", "path_text"]

Keys: TypeAlias = tuple[str, ...]
"""Keys from the outermost object inwards; digits may also be an index of an array, from 0."""

MISSING: Final = object()
"""What stands where a path leads nowhere."""


class LineError(Exception):
    """What is wrong with a line; the reader of the log adds file and line."""


def find(obj: object, path: Keys) -> object:
    """Follow a path; `MISSING` where it leads nowhere. A negative index counts from the end."""
    for key in path:
        if isinstance(obj, dict) and key in obj:
            obj = obj[key]
        elif isinstance(obj, list) and (at := _index(key, len(obj))) is not None:
            obj = obj[at]
        else:
            return MISSING
    return obj


def _index(key: str, length: int) -> int | None:
    digits = key.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 9:
        return None
    at = int(key)
    return at if -length <= at < length else None


def path_text(path: Keys) -> str:
    """Write a path as mappings do."""
    return ".".join(path)

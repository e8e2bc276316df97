"""TOML tables of which each key is taken once, so that what means nothing is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tlatrace.matching.log_line import Keys
from tlatrace.values import Json

__all__ = ["FaultError", "Table", "each", "read_path"]

_T = TypeVar("_T")


class FaultError(Exception):
    """What is wrong, and the key that shows where; the reader of the file adds file and line."""

    def __init__(self, reason: str, key: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.key = key


class Table:
    """A table of which each key is taken once; what is left is unknown.

    All methods raise FaultError.
    """

    def __init__(self, obj: Json, what: str) -> None:
        if not isinstance(obj, dict):
            raise FaultError(f"{what} is not a table", what.split()[-1].strip("[]"))
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
            raise FaultError(f"{self.what} has the unknown key {key!r}", key)

    def text(self, key: str) -> str:
        """Take a string."""
        value = self.take(key)
        if not isinstance(value, str):
            raise FaultError(f"{self.what} has no {key}, or one that is not a string", key)
        return value

    def texts(self, key: str) -> list[str]:
        """Take an array of strings, at least one."""
        value = self.take(key)
        texts = [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
        if not isinstance(value, list) or not value or len(texts) < len(value):
            raise FaultError(f"{key} of {self.what} is not an array of names", key)
        return texts

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        """Take one of some words; the first if it is not there."""
        value = self.take(key)
        if value is None:
            return choices[0]
        if not isinstance(value, str) or value not in choices:
            raise FaultError(f"{key} of {self.what} is not one of {', '.join(choices)}", key)
        return value

    def truth(self, key: str) -> bool | None:
        """Take a boolean, None if it is not there."""
        value = self.take(key)
        if value is not None and not isinstance(value, bool):
            raise FaultError(f"{key} of {self.what} is not a boolean", key)
        return value

    def array(self, key: str) -> list[Json]:
        """Take an array, an empty one if it is not there."""
        value = self.take(key)
        if value is not None and not isinstance(value, list):
            raise FaultError(f"{key} of {self.what} is not an array", key)
        return value or []


def each(obj: Json, what: str, read: Callable[[Table], _T]) -> tuple[_T, ...]:
    """Read an array of tables; nothing is an empty one.

    Raises:
        FaultError: it is none.
    """
    if obj is None:
        return ()
    if not isinstance(obj, list):
        raise FaultError(f"{what} is not an array of tables [[{what}]]", what)
    return tuple([read(Table(one, f"[[{what}]]")) for one in obj])


def read_path(obj: Json, where: str) -> Keys:
    """Read "a.b.0" or ["a.b", "0"].

    Raises:
        FaultError: it is no path.
    """
    if isinstance(obj, str) and obj and obj != "?":
        return tuple(obj.split("."))
    if isinstance(obj, list) and obj:
        keys = [key for key in obj if isinstance(key, str)]
        if len(keys) == len(obj):
            return tuple(keys)
    raise FaultError(f"{where} has no field of the log, or one that is no path", where.strip("[]"))

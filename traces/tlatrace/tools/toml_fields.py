"""Take the keys of a TOML table one by one, strictly: a key that nobody takes is an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tlatrace.errors import SpecError

__all__ = ["Fields"]

_OVERRIDE: Final = re.compile(r"\w+ <- \w+")


class Fields:
    """The keys of one table of a file; each is taken once, and none may be left over."""

    def __init__(self, path: Path, place: str, table: object) -> None:
        """Take a table; `place` names it in complaints.

        Raises: SpecError when it is no table.
        """
        self.path, self.place = path, place
        if not isinstance(table, Mapping):
            raise self.error(f"must be a table of keys, not {table!r}")
        self._left: dict[str, object] = dict(table)

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def error(self, reason: str) -> SpecError:
        """Return an error that names file and table."""
        return SpecError(self.path, f"{self.place}: {reason}" if self.place else reason)

    def text(self, key: str) -> str:
        """Take a text. Raises: SpecError when it is missing, empty, or none."""
        value = self.optional_text(key)
        if value is None:
            raise self.error(f"the key {key!r} is missing")
        return value

    def optional_text(self, key: str) -> str | None:
        """Take a text that may be missing. Raises: SpecError when it is empty, or none."""
        value = self._left.pop(key, None)
        if value is not None and (not isinstance(value, str) or not value):
            raise self.error(f"{key!r} must be a text, not {value!r}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Take a list of texts, none where it is missing. Raises: SpecError when it is no list."""
        value = self._left.pop(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
            raise self.error(f"{key!r} must be a list of texts, not {value!r}")
        return tuple(value)

    def overrides(self, key: str) -> tuple[str, ...]:
        """Take one override "Operator <- Other", or a list of some, of different operators.

        Raises: SpecError when it reads otherwise.
        """
        value = self._left.pop(key, None)
        listed = value if isinstance(value, list) else [value]
        found: dict[str, str] = {}
        for item in listed:
            if not isinstance(item, str) or _OVERRIDE.fullmatch(item) is None:
                raise self.error(f"{key!r} must read 'Operator <- Other', not {item!r}")
            if found.setdefault(item.partition(" <- ")[0], item) is not item:
                raise self.error(f"{key!r} replaces one operator twice: {item!r}")
        if not found:
            raise self.error(f"{key!r} is an empty list")
        return tuple(found.values())

    def number(self, key: str) -> int | None:
        """Take a count that may be missing. Raises: SpecError when it is none."""
        value = self._left.pop(key, None)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.error(f"{key!r} must be a count, not {value!r}")
        return value

    def flag(self, key: str) -> bool:
        """Take what is false where it is missing. Raises: SpecError when it is neither."""
        value = self._left.pop(key, False)
        if not isinstance(value, bool):
            raise self.error(f"{key!r} must be true or false, not {value!r}")
        return value

    def finish(self) -> None:
        """Raises: SpecError when a key is left over."""
        if self._left:
            raise self.error(f"unknown key {next(iter(self._left))!r}")

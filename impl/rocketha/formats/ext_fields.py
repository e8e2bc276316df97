"""The fields of a request's own header, which travel as texts in the frame.

| type    | text                                                                       |
|---------|----------------------------------------------------------------------------|
| String  | itself                                                                     |
| Integer | decimal, "-" before a negative one, no other sign and no leading zero      |
| Long    | likewise, 64 bits                                                          |
| Boolean | "true" or "false"                                                          |
| null    | the field is missing                                                       |

Fields that a header does not have are ignored: RocketMQ's clients add fields for access control
and tracing. RocketMQ is laxer with the texts: what is no number becomes null, what is not "true"
becomes false.

Source: remoting/protocol `RemotingCommand` (`makeCustomHeaderToNet`,
`decodeCommandCustomHeaderDirectly`)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rocketha.errors import RequestError
from rocketha.types import INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN

__all__ = ["FieldReader", "push_fields"]

_TEXT_MAX: Final = 1024
_LIST_MAX: Final = 1 << 16

_INTEGER: Final = re.compile(r"(?:0|-?[1-9][0-9]{0,18})\Z", re.ASCII)


def push_fields(fields: Mapping[str, str | int | bool | None]) -> Mapping[str, str]:
    """Write the fields of a header; those that are `None` are left out."""
    return MappingProxyType(
        {name: _text(value) for name, value in fields.items() if value is not None}
    )


def _text(value: str | int | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


@dataclass(frozen=True, slots=True)
class FieldReader:
    """Reads the fields of one header. All methods raise `RequestError`."""

    fields: Mapping[str, str]

    def text(self, name: str) -> str:
        """Read a text of up to 1024 characters that must be there; it may be empty."""
        value = self.fields.get(name)
        if value is None:
            raise RequestError(name, reason="is missing")
        return _bounded(name, value, _TEXT_MAX)

    def name(self, name: str) -> str:
        """Read a text that must be there and not be blank."""
        value = self.text(name)
        if not value.strip():
            raise RequestError(name, reason="is blank")
        return value

    def optional_text(self, name: str) -> str | None:
        """Read a text of up to 65536 characters, perhaps a list, that may be missing."""
        value = self.fields.get(name)
        return None if value is None else _bounded(name, value, _LIST_MAX)

    def int32(self, name: str, *, least: int = INT32_MIN) -> int:
        """Read an Integer that must be there."""
        return self._integer(name, least, INT32_MAX)

    def int64(self, name: str, *, least: int = INT64_MIN) -> int:
        """Read a Long that must be there."""
        return self._integer(name, least, INT64_MAX)

    def optional_int32(self, name: str, *, least: int = INT32_MIN) -> int | None:
        """Read an Integer that may be missing."""
        return None if name not in self.fields else self.int32(name, least=least)

    def optional_int64(self, name: str, *, least: int = INT64_MIN) -> int | None:
        """Read a Long that may be missing."""
        return None if name not in self.fields else self.int64(name, least=least)

    def boolean(self, name: str, *, default: bool | None = None) -> bool:
        """Read a Boolean; without a default it must be there."""
        if default is not None and name not in self.fields:
            return default
        value = self.text(name)
        if value not in ("true", "false"):
            raise RequestError(name, reason=f"is {ascii(value)[:60]}, not true or false")
        return value == "true"

    def _integer(self, name: str, least: int, most: int) -> int:
        text = self.text(name)
        if _INTEGER.match(text) and least <= (value := int(text)) <= most:
            return value
        reason = f"is {ascii(text)[:60]}, not an integer in {least} .. {most}"
        raise RequestError(name, reason=reason)


def _bounded(name: str, value: str, most: int) -> str:
    """What is answered and logged must fit into a frame, whatever was asked."""
    if len(value) > most:
        raise RequestError(name, reason=f"has {len(value)} characters, over {most}")
    return value

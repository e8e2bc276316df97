"""The register service on a DLedger log: registers with a text for a name, a number of 64 bits.

| entry, a JSON object                | what it does                         | outcome            |
|-------------------------------------|--------------------------------------|--------------------|
| `{"key":"k","value":7}`             | the register has this value          | None               |
| `{"key":"k","read":true}`           | nothing: a read that is in the log   | its value, or None |

A snapshot is the JSON object of all registers, and its checksum in the snapshot's meta.

Source: RIP-59, "RegisterStateMachine"; openmessaging/dledger example/register
`RegisterStateMachine`, `RegisterReadProcessor` (ReadMode.RAFT_LOG_READ)
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rocketha.formats.json_text import (
    as_integer,
    as_object,
    integer_at,
    read_json,
    text_at,
    write_json,
)

__all__ = ["RegisterService", "read_entry", "write_entry"]


def write_entry(key: str, value: int) -> bytes:
    """Return the entry that sets a register."""
    return write_json({"key": key, "value": value})


def read_entry(key: str) -> bytes:
    """Return the entry of a read."""
    return write_json({"key": key, "read": True})


class RegisterService:
    """Registers by name; it has what the entries of the log say."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        """Begin without registers."""
        self._values: dict[str, int] = {}

    @property
    def values(self) -> Mapping[str, int]:
        """Return all registers."""
        return MappingProxyType(self._values)

    def on_apply(self, entry: bytes) -> int | None:
        """Set a register, or read one. Raises: PacketError"""
        fields = as_object(read_json(entry, "entry"), "entry")
        key = text_at(fields, "key")
        if fields.get("read") is True:
            return self._values.get(key)
        self._values[key] = integer_at(fields, "value")
        return None

    def on_snapshot_save(self) -> bytes:
        """Return all registers."""
        return write_json(dict(sorted(self._values.items())))

    def on_snapshot_load(self, data: bytes) -> None:
        """Have these registers and no others. Raises: PacketError"""
        fields = as_object(read_json(data, "registers"), "registers")
        self._values = {name: as_integer(value, name) for name, value in fields.items()}

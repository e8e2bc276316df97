"""A small state machine: registers with a text for a name and a number of 64 bits.

| entry, a JSON object                | what it does                          |
|-------------------------------------|---------------------------------------|
| `{"key":"k","value":7}`             | the register has this value           |
| `{"key":"k"}`                       | the register is gone                  |

A snapshot has one section, REGISTER: the JSON object of all registers.

Source: RIP-59, "RegisterStateMachine"; openmessaging/dledger example/register
`RegisterStateMachine`, which cannot remove a register
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rocketha.errors import PacketError, SnapshotError
from rocketha.formats.controller_snapshot import SectionType
from rocketha.formats.json_text import (
    as_integer,
    as_object,
    optional_integer_at,
    read_json,
    text_at,
    write_json,
)
from rocketha.replicated_log.rules import SNAPSHOT_RULES, SnapshotRules
from rocketha.replicated_log.snapshot_files import SnapshotReader, SnapshotWriter

__all__ = ["RegisterStateMachine"]


class RegisterStateMachine:
    """Registers by name."""

    __slots__ = ("_rules", "_values")

    def __init__(self, rules: SnapshotRules = SNAPSHOT_RULES) -> None:
        """Begin without registers."""
        self._rules = rules
        self._values: Mapping[str, int] = MappingProxyType({})

    @property
    def values(self) -> Mapping[str, int]:
        """Return all registers."""
        return self._values

    def on_replay(self, entry: bytes) -> None:
        """Set a register, or remove it. Raises: PacketError"""
        fields = as_object(read_json(entry, "entry"), "entry")
        key, value = text_at(fields, "key"), optional_integer_at(fields, "value")
        others = {name: number for name, number in self._values.items() if name != key}
        self._values = MappingProxyType(others if value is None else {**others, key: value})

    def on_snapshot_save(self, writer: SnapshotWriter) -> None:
        """Write all registers."""
        writer.add(SectionType.REGISTER, write_json(dict(self._values)))

    def decode_snapshot(self, reader: SnapshotReader) -> Mapping[str, int]:
        """Read all registers, and take none. Raises: SnapshotError"""
        try:
            fields = as_object(read_json(reader.section(SectionType.REGISTER), "registers"), "all")
            return {name: as_integer(value, name) for name, value in fields.items()}
        except PacketError as error:
            raise SnapshotError("registers", offset=error.offset, reason=error.reason) from None

    def on_snapshot_load(self, found: Mapping[str, int]) -> None:
        """Take these registers and no others."""
        self._values = MappingProxyType(dict(self._rules.loaded(self._values, found)))

"""Mutations that change nothing that anybody could see, each with the reason.

Nobody can decide that by running: a person has looked at it. The file is TOML:

    [[mutation]]
    id = "locks.voting:receive_free:constant:1f3a9c02"
    change = "0 => -1"
    reason = "attempts count from 1"
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from tlatrace.errors import ToolError

__all__ = ["read_equivalents"]


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    change: str
    reason: str


class _File(msgspec.Struct, forbid_unknown_fields=True):
    mutation: list[_Entry] = []


def read_equivalents(path: Path) -> Mapping[str, str]:
    """Return the reason of each, by the mutation's id. Raises: ToolError"""
    try:
        read = msgspec.toml.decode(path.read_bytes(), type=_File)
    except OSError as error:
        raise ToolError("mutations", f"cannot read {path}: {error.strerror}") from None
    except msgspec.MsgspecError as error:
        raise ToolError("mutations", f"{path}: {error}") from None
    return {one.id: one.reason for one in read.mutation}

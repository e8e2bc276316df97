"""What TLC found when it last ran on the entries of a protocol, and when: its `measured.toml`.

    [model]
    small = { found = "holds", distinct = 15, depth = 6, seconds = 2.4, date = ..., tlc = "2.15" }
    [mutant]
    B05 = { found = "violates TypeOK", distinct = 9, length = 3, ... }

A table for each kind of entry and a line for each entry, by name. `checks.toml` beside it declares
what must be found; the counts that a check compares are these. A row counts as long as what was
found is what is declared. `length` is the number of states of the counterexample, and `distinct`
how many states TLC had found by then.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

import msgspec

from tlatrace.errors import SpecError

__all__ = [
    "HOLDS",
    "MEASURED_NAME",
    "Key",
    "Measured",
    "read_measured",
    "violates",
    "write_measured",
]

MEASURED_NAME: Final = "measured.toml"
HOLDS: Final = "holds"
"""What was found where no property fell."""

Kind = Literal["model", "witness", "mutant"]
Key = tuple[str, str, str]
"""Kind, protocol and name of an entry."""
_Count = Annotated[int, msgspec.Meta(ge=0)]
_HEAD: Final = """\
# What TLC found of each entry of checks.toml when it last ran; `rocketproof check --record` and
# `rocketproof rings` write this file.  Where the counts are not found again, a check fails.
"""
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


class Measured(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run of TLC on one entry."""

    found: str
    """`HOLDS`, or what `violates` says."""
    distinct: _Count | None = None
    depth: _Count | None = None
    """None of what was violated."""
    length: _Count | None = None
    """The number of states of the counterexample."""
    seconds: Annotated[float, msgspec.Meta(ge=0)]
    """By the clock, beside whatever else ran on the machine."""
    date: date
    tlc: str
    """The version of TLC."""


def violates(name: str) -> str:
    """Say that a property fell."""
    return f"violates {name}"


def read_measured(folder: Path) -> dict[Key, Measured]:
    """Read the file of a protocol's folder; where there is none, nothing was measured.

    Raises: SpecError when it is no such file.
    """
    path = folder / MEASURED_NAME
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
        by_kind = msgspec.convert(tables, dict[Kind, dict[str, Measured]])
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SpecError(path, f"cannot be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        raise SpecError(path, str(error)) from error
    return {
        (kind, folder.name, name): row
        for kind, rows in by_kind.items()
        for name, row in rows.items()
    }


def write_measured(folder: Path, rows: Iterable[tuple[Key, Measured]]) -> None:
    """Replace the file of a protocol's folder; rows that are as they were stay byte by byte.

    Raises: SpecError when it cannot be written.
    """
    path = folder / MEASURED_NAME
    text = _HEAD
    by_key = dict(rows)
    for kind in get_args(Kind):
        named = sorted((name, row) for (of, _, name), row in by_key.items() if of == kind)
        if named:
            text += "\n".join([f"\n[{kind}]", *(_line(*one) for one in named), ""])
    unfinished = path.with_name(path.name + ".new")
    try:
        unfinished.write_text(text, "utf-8")
        os.replace(unfinished, path)
    except OSError as error:
        raise SpecError(path, f"cannot be written ({error.strerror})") from error


def _line(name: str, row: Measured) -> str:
    fields = {key: value for key, value in msgspec.structs.asdict(row).items() if value is not None}
    shown = ", ".join(f"{key} = {_toml(value)}" for key, value in fields.items())
    return f"{name if _BARE.fullmatch(name) else _toml(name)} = {{ {shown} }}"


def _toml(value: object) -> str:
    return value.isoformat() if isinstance(value, date) else json.dumps(value, ensure_ascii=False)

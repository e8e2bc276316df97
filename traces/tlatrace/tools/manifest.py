"""Read `spec/manifest.toml`: every model, witness, mutant and theorem with its expected result.

A protocol may have a manifest of its own, `spec/<protocol>/manifest.toml`, and then all its entries
are there.

    [[library]]   protocol folder
    [[model]]     protocol name module config expect="holds"|"violated" ring="push"|"weekly"
                  [distinct] [depth] [violates] [length] [seconds] [deadlock]
    [[witness]]   protocol name module config violates shows [length] [ring]
    [[mutant]]    protocol name title module config override expect="killed"|"harmless"
                  [against] [killed_by] [length] [distinct] [reason] [bug] [seeds] [ring]
    [[theorem]]   protocol name module

Paths are relative to `spec/<protocol>/`; a theorem's module is a dotted Python name. A library is a
folder of another protocol whose modules the protocol's own ones use. A model that is violated shows
what a configuration does not promise: `violates` names the first property that falls. A witness is
checked with the constants of its configuration and one invariant only, which must be violated. A
mutant is its configuration with one more override, or with each of a list of them, for bugs that do
harm only together; with `against` it is checked against that one property of its configuration, and
no other falls first. Counts and lengths are optional so that `rocketproof check --record` can fill
them in; until then a check of the entry fails. `seconds` is for information. `deadlock = true` has
TLC check for deadlocks. `ring` says when `rocketproof rings` runs an entry, at every push or once a
week; witnesses and mutants without one are of the push ring.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from tlatrace.errors import SpecError
from tlatrace.tools.spec_root import MANIFEST_NAME

__all__ = [
    "RINGS",
    "Checkable",
    "Entry",
    "Expect",
    "Kind",
    "Manifest",
    "Mutant",
    "Ring",
    "Theorem",
    "TlcModel",
    "Witness",
    "kind_of",
    "read_manifest",
]

Kind = Literal["model", "witness", "mutant", "theorem"]
Ring = Literal["push", "weekly"]
Expect = Literal["killed", "harmless"]

RINGS: Final[tuple[Ring, ...]] = ("push", "weekly")

_OVERRIDE: Final = re.compile(r"\w+ <- \w+")
_KINDS: Final[tuple[Kind, ...]] = ("model", "witness", "mutant", "theorem")
_LIBRARY: Final = "library"
_NAMES: Final = {_LIBRARY: "folder"}
"""The key of a table's name, where it is not `name`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TlcModel:
    """A specification with bounds; its properties hold, or one is known to fall."""

    protocol: str
    name: str
    module: Path
    config: Path
    ring: Ring
    distinct: int | None
    """The number of states; None for a model that is violated."""
    depth: int | None
    violates: str | None
    """The property that falls; None for a model that holds."""
    length: int | None
    """The number of states of the counterexample; None for a model that holds."""
    seconds: float | None
    deadlock: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A situation that must be reached: the invariant that denies it must be violated."""

    protocol: str
    name: str
    module: Path
    config: Path
    """The configuration whose constants it takes."""
    violates: str
    """The invariant that denies the situation."""
    shows: str
    length: int | None
    """The number of states of the counterexample."""
    ring: Ring = "push"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A specification with a wrong operator or several, and the property that finds it."""

    protocol: str
    name: str
    title: str
    module: Path
    config: Path
    """The configuration to which the overrides are added."""
    overrides: tuple[str, ...]
    """Each as in a configuration: "Operator <- WrongOperator"; one, unless bugs are combined."""
    against: str | None
    """The only property that is checked; None for all of the configuration."""
    expect: Expect
    killed_by: str | None
    """None for a harmless mutant only."""
    length: int | None
    """The number of states of the counterexample; None for a harmless mutant."""
    distinct: int | None
    """The number of states of a harmless mutant."""
    reason: str | None
    """Why it is harmless; None for a killed one."""
    bug: bool
    """Whether the implementation has a switch of the same name."""
    seeds: int | None
    """Within how many simulated runs the switch must be found; None leaves it to the caller."""
    ring: Ring = "push"


@dataclass(frozen=True, slots=True, kw_only=True)
class Theorem:
    """A statement that z3 proves."""

    protocol: str
    name: str
    module: str


Checkable = TlcModel | Witness | Mutant
"""What TLC checks."""

Entry = Checkable | Theorem


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """All entries, in the order of the file, and behind them those of protocols with their own."""

    path: Path
    models: tuple[TlcModel, ...]
    witnesses: tuple[Witness, ...]
    mutants: tuple[Mutant, ...]
    theorems: tuple[Theorem, ...]
    shared: Mapping[str, tuple[Path, ...]]
    """The libraries of each protocol that has some."""

    @property
    def root(self) -> Path:
        """The folder `spec`."""
        return self.path.parent

    def file_of(self, protocol: str) -> Path:
        """Return the file with the entries of a protocol: its own one, if it has one."""
        return _file_of(self.root, protocol)

    @property
    def protocols(self) -> tuple[str, ...]:
        """The names of the protocols, in the order of their first entries."""
        entries: tuple[Entry, ...] = (
            *self.models,
            *self.witnesses,
            *self.mutants,
            *self.theorems,
        )
        return tuple(dict.fromkeys(entry.protocol for entry in entries))

    @property
    def checkable(self) -> tuple[Checkable, ...]:
        """All that TLC checks."""
        return (*self.models, *self.witnesses, *self.mutants)

    def ring(self, ring: Ring) -> tuple[Checkable, ...]:
        """Return the models, witnesses and mutants of a ring."""
        return tuple(entry for entry in self.checkable if entry.ring == ring)

    def libraries(self, entry: Checkable) -> tuple[Path, ...]:
        """Return the folders besides the module's own in which its modules may lie."""
        folders = (self.root / entry.protocol, *self.libraries_of(entry.protocol))
        return tuple(f for f in folders if f.is_dir() and f != entry.module.parent)

    def libraries_of(self, protocol: str) -> tuple[Path, ...]:
        """Return the folders besides the protocol's own in which its modules may lie."""
        return self.shared.get(protocol, ())


def kind_of(entry: Entry) -> Kind:
    """Name the table of the manifest that an entry stands in."""
    match entry:
        case TlcModel():
            return "model"
        case Witness():
            return "witness"
        case Mutant():
            return "mutant"
        case Theorem():
            return "theorem"


def read_manifest(root: Path) -> Manifest:
    """Read the manifest in a folder of specifications.

    Raises: SpecError, naming file and entry, when it cannot be read, has unknown or missing keys,
    wrong types, duplicate names, or names a file that is not there.
    """
    path = root / MANIFEST_NAME
    read = [(one, _tables(one)) for one in (path, *sorted(root.glob(f"*/{MANIFEST_NAME}")))]

    def fields_of(kind: str) -> list[_Fields]:
        return [fields for one, tables in read for fields in _fields_of(root, one, tables, kind)]

    models = tuple(map(_model, fields_of("model")))
    witnesses = tuple(map(_witness, fields_of("witness")))
    mutants = tuple(map(_mutant, fields_of("mutant")))
    theorems = tuple(map(_theorem, fields_of("theorem")))
    _refuse_twins(path, (*models, *witnesses, *mutants, *theorems))
    return Manifest(
        path=path,
        models=models,
        witnesses=witnesses,
        mutants=mutants,
        theorems=theorems,
        shared=_shared(root, fields_of(_LIBRARY)),
    )


def _tables(path: Path) -> dict[str, object]:
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SpecError(path, f"cannot be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(path, str(error)) from error
    for name in tables:
        if name not in (*_KINDS, _LIBRARY):
            raise SpecError(path, f"unknown table [[{name}]]")
    return tables


def _file_of(root: Path, protocol: str) -> Path:
    own = root / protocol / MANIFEST_NAME
    return own if own.is_file() else root / MANIFEST_NAME


def _refuse_twins(path: Path, entries: tuple[Entry, ...]) -> None:
    seen: set[tuple[Kind, str, str]] = set()
    for entry in entries:
        key = (kind_of(entry), entry.protocol, entry.name)
        if key in seen:
            raise SpecError(path, f"[[{kind_of(entry)}]] {entry.protocol}/{entry.name}: twice")
        seen.add(key)


class _Fields:
    """The keys of one entry; each is taken once, and none may be left over."""

    def __init__(
        self, root: Path, path: Path, kind: str, number: int, table: Mapping[str, object]
    ) -> None:
        self._root, self._path = root, path
        self._left = dict(table)
        name = f"{table.get('protocol', '?')}/{table.get(_NAMES.get(kind, 'name'), '?')}"
        self._place = f"[[{kind}]] number {number} ({name})"
        self.protocol = self.text("protocol")
        self.name = self.text(_NAMES.get(kind, "name"))
        belongs = _file_of(root, self.protocol)
        if belongs != path:
            raise self.error(f"what is of {self.protocol} stands in {belongs}")

    def error(self, reason: str) -> SpecError:
        return SpecError(self._path, f"{self._place}: {reason}")

    def text(self, key: str) -> str:
        value = self.optional_text(key)
        if value is None:
            raise self.error(f"the key {key!r} is missing")
        return value

    def optional_text(self, key: str) -> str | None:
        value = self._left.pop(key, None)
        if value is None:
            return None
        if not isinstance(value, str) or not value:
            raise self.error(f"{key!r} must be a text, not {value!r}")
        return value

    def word(self, key: str, allowed: tuple[str, ...]) -> str:
        value = self.text(key)
        if value not in allowed:
            raise self.error(f"{key!r} must be one of {', '.join(allowed)}, not {value!r}")
        return value

    def ring(self, default: Ring | None = None) -> Ring:
        """Take the ring."""
        if default is not None and "ring" not in self._left:
            return default
        return "push" if self.word("ring", RINGS) == "push" else "weekly"

    def overrides(self, key: str) -> tuple[str, ...]:
        """Take one override, or a list of at least one for different operators."""
        if key not in self._left:
            raise self.error(f"the key {key!r} is missing")
        value = self._left.pop(key)
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
        value = self._left.pop(key, None)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.error(f"{key!r} must be a count, not {value!r}")
        return value

    def seconds(self, key: str) -> float | None:
        value = self._left.pop(key, None)
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
            raise self.error(f"{key!r} must be a number of seconds, not {value!r}")
        return float(value)

    def flag(self, key: str) -> bool:
        value = self._left.pop(key, False)
        if not isinstance(value, bool):
            raise self.error(f"{key!r} must be true or false, not {value!r}")
        return value

    def file(self, key: str) -> Path:
        path = self._root / self.protocol / self.text(key)
        if not path.is_file():
            raise self.error(f"{key!r} names {path}, which is not there")
        return path

    def finish(self) -> None:
        if self._left:
            raise self.error(f"unknown key {next(iter(self._left))!r}")


def _fields_of(root: Path, path: Path, tables: Mapping[str, object], kind: str) -> list[_Fields]:
    entries = tables.get(kind, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise SpecError(path, f"{kind!r} must be a list of tables, [[{kind}]]")
    return [_Fields(root, path, kind, at, table) for at, table in enumerate(entries, start=1)]


def _shared(root: Path, libraries: Iterable[_Fields]) -> dict[str, tuple[Path, ...]]:
    shared: dict[str, tuple[Path, ...]] = {}
    for fields in libraries:
        folder = root / fields.name
        if not folder.is_dir():
            raise fields.error(f"'folder' names {folder}, which is not there")
        fields.finish()
        shared[fields.protocol] = (*shared.get(fields.protocol, ()), folder)
    return shared


def _model(fields: _Fields) -> TlcModel:
    holds = fields.word("expect", ("holds", "violated")) == "holds"
    model = TlcModel(
        protocol=fields.protocol,
        name=fields.name,
        module=fields.file("module"),
        config=fields.file("config"),
        ring=fields.ring(),
        distinct=fields.number("distinct") if holds else None,
        depth=fields.number("depth") if holds else None,
        violates=None if holds else fields.text("violates"),
        length=None if holds else fields.number("length"),
        seconds=fields.seconds("seconds"),
        deadlock=fields.flag("deadlock"),
    )
    fields.finish()
    return model


def _witness(fields: _Fields) -> Witness:
    witness = Witness(
        protocol=fields.protocol,
        name=fields.name,
        module=fields.file("module"),
        config=fields.file("config"),
        violates=fields.text("violates"),
        shows=fields.text("shows"),
        length=fields.number("length"),
        ring=fields.ring("push"),
    )
    fields.finish()
    return witness


def _mutant(fields: _Fields) -> Mutant:
    killed = fields.word("expect", ("killed", "harmless")) == "killed"
    mutant = Mutant(
        protocol=fields.protocol,
        name=fields.name,
        title=fields.text("title"),
        module=fields.file("module"),
        config=fields.file("config"),
        overrides=fields.overrides("override"),
        against=fields.optional_text("against"),
        expect="killed" if killed else "harmless",
        killed_by=fields.text("killed_by") if killed else None,
        length=fields.number("length") if killed else None,
        distinct=None if killed else fields.number("distinct"),
        reason=None if killed else fields.text("reason"),
        bug=fields.flag("bug"),
        seeds=fields.number("seeds"),
        ring=fields.ring("push"),
    )
    fields.finish()
    if killed and mutant.against not in (None, mutant.killed_by):
        raise fields.error("'killed_by' must be the property that 'against' names")
    return mutant


def _theorem(fields: _Fields) -> Theorem:
    theorem = Theorem(protocol=fields.protocol, name=fields.name, module=fields.text("module"))
    fields.finish()
    return theorem

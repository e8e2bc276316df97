"""Read what each protocol's folder says of its models, witnesses, mutants and theorems.

The manifest is all of it: `spec/<protocol>/checks.toml` declares what TLC must say, `measured.toml`
beside it has the counts that it found (`tlatrace.tools.measured`). All keys of `checks.toml`:

    module = "Counter.tla"              default: the folder's only MC*.tla
    mutants_module = "MutCounter.tla"   default: the only mutants/Mut*.tla
    libraries = ["other_protocol"]      folders of other protocols whose modules its own ones use

    [model]
    NAME = { violates, ring, deadlock, module, config }
    [witness]
    NAME = { shows, model, ring }
    [mutant]
    NAME = { title, killed_by | harmless, against, model, override, bug, seeds, ring }
    [theorem]
    NAME = "dotted.python.module"

A model is the module with the configuration `<module>_NAME.cfg`. It holds, or `violates` names the
first property that falls. `deadlock = true` has TLC check for deadlocks.

A witness is checked with the constants of a model, by default `small`, and with the one invariant
that it is named after, which must be violated: `shows` says which situation that is.

A mutant is a model, by default `small`, with one or more wrong operators. They follow from its name
(`tlatrace.tools.mutant_names`) unless `override` has one, "Operator <- WrongOperator", or a list.
`killed_by` names the property that falls first; with `against` in its place, or in the mutant's
name, only that one is checked. `harmless` says why nothing falls. `bug = true`: the implementation
has a switch of that name, which must be found within `seeds` simulated runs.

`ring` says when `rocketproof rings` runs an entry: "push", at every push, is the default; "weekly".
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from tlatrace.errors import SpecError
from tlatrace.tools.measured import HOLDS, Key, Measured, read_measured, violates
from tlatrace.tools.module_folders import library_folders
from tlatrace.tools.mutant_names import Operators, defined_in
from tlatrace.tools.spec_root import CHECKS_NAME, OLD_NAME
from tlatrace.tools.toml_fields import Fields

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
    "found_of",
    "key_of",
    "kind_of",
    "libraries_declared",
    "read_manifest",
]

Kind = Literal["model", "witness", "mutant", "theorem"]
Ring = Literal["push", "weekly"]
Expect = Literal["killed", "harmless"]

RINGS: Final[tuple[Ring, ...]] = ("push", "weekly")

_KINDS: Final[tuple[Kind, ...]] = ("model", "witness", "mutant", "theorem")
_SMALL: Final = "small"
"""The model of a witness or mutant that names none."""
_DEFAULTS: Final = {"module": "MC*.tla", "mutants_module": "mutants/Mut*.tla"}
"""What a module is called that `checks.toml` does not name."""


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
    """All entries: protocols by their names, and of each the entries in the order of its file."""

    root: Path
    """The folder `spec`."""
    models: tuple[TlcModel, ...]
    witnesses: tuple[Witness, ...]
    mutants: tuple[Mutant, ...]
    theorems: tuple[Theorem, ...]
    shared: Mapping[str, tuple[Path, ...]]
    """The libraries of each protocol that has some."""
    measured: Mapping[Key, Measured]
    """What TLC found last, of entries that are gone, too."""

    @property
    def protocols(self) -> tuple[str, ...]:
        """The names of the protocols."""
        entries: tuple[Entry, ...] = (*self.checkable, *self.theorems)
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
    """Name the table that an entry stands in."""
    match entry:
        case TlcModel():
            return "model"
        case Witness():
            return "witness"
        case Mutant():
            return "mutant"
        case Theorem():
            return "theorem"


def key_of(entry: Entry) -> Key:
    """Return kind, protocol and name of an entry."""
    return (kind_of(entry), entry.protocol, entry.name)


def found_of(entry: Checkable) -> str:
    """Say what must be found, in the words of `tlatrace.tools.measured`."""
    name = entry.killed_by if isinstance(entry, Mutant) else entry.violates
    return HOLDS if name is None else violates(name)


def read_manifest(root: Path) -> Manifest:
    """Read what the folders in a folder of specifications declare and have measured.

    Raises: SpecError, naming file and entry, when one cannot be read, has unknown or missing keys,
    wrong types, or names a file that is not there; and where there is none, or a file of the older
    form.
    """
    for old in (root / OLD_NAME, *sorted(root.glob(f"*/{OLD_NAME}"))):
        if old.is_file():
            raise SpecError(
                old,
                f"is of an older form: each protocol's folder has a {CHECKS_NAME} of its own, "
                "which says what TLC must say (tlatrace/tools/manifest.py has the keys); "
                "`rocketproof check --all --record` writes the counts beside it",
            )
    files = [_Checks(root, path) for path in sorted(root.glob(f"*/{CHECKS_NAME}"))]
    if not files:
        raise SpecError(root, f"there is no folder with {CHECKS_NAME} in this folder")
    return Manifest(
        root=root,
        models=tuple(model for file in files for model in file.models),
        witnesses=tuple(witness for file in files for witness in file.witnesses()),
        mutants=tuple(mutant for file in files for mutant in file.mutants()),
        theorems=tuple(theorem for file in files for theorem in file.theorems()),
        shared={file.protocol: file.libraries for file in files if file.libraries},
        measured={key: row for file in files for key, row in file.measured.items()},
    )


def libraries_declared(folder: Path) -> tuple[Path, ...]:
    """Return what a protocol's folder declares as its libraries, and read nothing else there.

    Raises: SpecError, as `read_manifest`; a folder without declarations has no libraries.
    """
    path = folder / CHECKS_NAME
    return _libraries(folder.parent, Fields(path, "", _tables(path))) if path.is_file() else ()


def _libraries(root: Path, top: Fields) -> tuple[Path, ...]:
    libraries = tuple(root / name for name in top.texts("libraries"))
    for folder in libraries:
        if not folder.is_dir():
            raise top.error(f"'libraries' names {folder}, which is not there")
    return libraries


class _Checks:
    """The file of a protocol, with the counts beside it."""

    def __init__(self, root: Path, path: Path) -> None:
        """Read the file. Raises: SpecError"""
        self._path, self._folder = path, path.parent
        self.protocol = path.parent.name
        tables = _tables(path)
        self._entries = {kind: tables.pop(kind, {}) for kind in _KINDS}
        top = Fields(path, "", tables)
        self._modules = {key: top.optional_text(key) for key in _DEFAULTS}
        self.libraries = _libraries(root, top)
        top.finish()
        self.measured = read_measured(path.parent)
        self.models = [self._model(name, fields) for name, fields in self._fields("model")]
        self._by_name = {model.name: model for model in self.models}

    def witnesses(self) -> list[Witness]:
        """Return the witnesses. Raises: SpecError"""
        return [self._witness(name, fields) for name, fields in self._fields("witness")]

    def mutants(self) -> list[Mutant]:
        """Return the mutants. Raises: SpecError"""
        named = self._fields("mutant")
        if not named:
            return []
        module = self._module("mutants_module")
        folders = library_folders(module, (self._folder, *self.libraries))
        texts = [path for folder in folders for path in sorted(folder.glob("*.tla"))]
        right = [name for path in texts for name in defined_in(path)]
        operators = Operators(right, defined_in(module))
        return [self._mutant(name, fields, module, operators) for name, fields in named]

    def theorems(self) -> list[Theorem]:
        """Return the theorems. Raises: SpecError"""
        fields = Fields(self._path, "[theorem]", self._entries["theorem"])
        return [
            Theorem(protocol=self.protocol, name=name, module=fields.text(name))
            for name in self._entries["theorem"]
        ]

    def _fields(self, kind: Kind) -> list[tuple[str, Fields]]:
        rows = self._entries[kind]
        if not isinstance(rows, Mapping):
            raise SpecError(self._path, f"{kind!r} must be a table, [{kind}]")
        return [(name, Fields(self._path, f"[{kind}] {name}", row)) for name, row in rows.items()]

    def _module(self, key: str) -> Path:
        """Return the module that the file names, or else the only one of a pattern."""
        name, pattern = self._modules[key], _DEFAULTS[key]
        if name is not None:
            return self._file(Fields(self._path, "", {}), key, name)
        found = sorted(self._folder.glob(pattern))
        if len(found) != 1:
            there = ", ".join(path.name for path in found) or "none"
            raise SpecError(
                self._path, f"{key!r} must say which module it is: {pattern} are {there}"
            )
        return found[0]

    def _file(self, fields: Fields, key: str, name: str) -> Path:
        path = self._folder / name
        if not path.is_file():
            raise fields.error(f"{key!r} names {path}, which is not there")
        return path

    def _measured(self, kind: Kind, name: str, violated: str | None) -> Measured | None:
        """Return what was measured of an entry, if it is what must be found."""
        row = self.measured.get((kind, self.protocol, name))
        must = HOLDS if violated is None else violates(violated)
        return row if row is not None and row.found == must else None

    def _model_of(self, fields: Fields) -> TlcModel:
        name = fields.optional_text("model") or _SMALL
        if name not in self._by_name:
            known = ", ".join(self._by_name) or "none"
            raise fields.error(f"there is no model {name!r} (known: {known})")
        return self._by_name[name]

    def _model(self, name: str, fields: Fields) -> TlcModel:
        own = fields.optional_text("module")
        module = self._file(fields, "module", own) if own else self._module("module")
        config = fields.optional_text("config") or f"{module.stem}_{name}.cfg"
        violated = fields.optional_text("violates")
        row = self._measured("model", name, violated)
        model = TlcModel(
            protocol=self.protocol,
            name=name,
            module=module,
            config=self._file(fields, "config", config),
            ring=_ring(fields),
            distinct=row.distinct if row and violated is None else None,
            depth=row.depth if row and violated is None else None,
            violates=violated,
            length=row.length if row and violated is not None else None,
            deadlock=fields.flag("deadlock"),
        )
        fields.finish()
        return model

    def _witness(self, name: str, fields: Fields) -> Witness:
        model = self._model_of(fields)
        row = self._measured("witness", name, name)
        witness = Witness(
            protocol=self.protocol,
            name=name,
            module=model.module,
            config=model.config,
            violates=name,
            shows=fields.text("shows"),
            length=row.length if row else None,
            ring=_ring(fields),
        )
        fields.finish()
        return witness

    def _mutant(self, name: str, fields: Fields, module: Path, operators: Operators) -> Mutant:
        named = operators.named(name)
        overrides = fields.overrides("override") if "override" in fields else named.overrides
        if not overrides or (named.unknown and overrides is named.overrides):
            what = ", ".join(named.unknown)
            raise fields.error(f"{module.name} replaces no operator by one named after {what}")
        killer, reason = fields.optional_text("killed_by"), fields.optional_text("harmless")
        against = fields.optional_text("against") or (named.against if killer is None else None)
        if killer is not None and (reason is not None or against is not None):
            raise fields.error("'killed_by' stands alone, without 'against' and 'harmless'")
        if reason is None:
            killer = killer or against
            if killer is None:
                raise fields.error("one of 'killed_by', 'against' and 'harmless' is missing")
        model = self._model_of(fields)
        row = self._measured("mutant", name, killer)
        mutant = Mutant(
            protocol=self.protocol,
            name=name,
            title=fields.text("title"),
            module=module,
            config=model.config,
            overrides=overrides,
            against=against,
            expect="killed" if reason is None else "harmless",
            killed_by=killer,
            length=row.length if row and killer is not None else None,
            distinct=row.distinct if row and killer is None else None,
            reason=reason,
            bug=fields.flag("bug"),
            seeds=fields.number("seeds"),
            ring=_ring(fields),
        )
        fields.finish()
        return mutant


def _tables(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SpecError(path, f"cannot be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(path, str(error)) from error


def _ring(fields: Fields) -> Ring:
    value = fields.optional_text("ring") or "push"
    for ring in RINGS:
        if value == ring:
            return ring
    raise fields.error(f"'ring' must be one of {', '.join(RINGS)}, not {value!r}")

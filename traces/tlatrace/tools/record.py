"""Write measured counts into the manifest, and leave its comments and order as they are."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Table

from tlatrace.errors import SpecError
from tlatrace.tools.manifest import Manifest, Mutant, TlcModel, Witness, kind_of
from tlatrace.tools.runs import CheckedEntry
from tlatrace.tools.spec_root import is_shipped
from tlatrace.tools.tlc_output import Outcome
from tlatrace.tools.tlc_run import TlcRun

__all__ = ["record", "refuse_shipped"]


def record(manifest: Manifest, results: Iterable[CheckedEntry]) -> tuple[str, ...]:
    """Record counts where the entries stand; return the names of the entries that were written.

    Only numbers are written, and only those of a run that ended as the entry expects: a model that
    holds, a witness or mutant whose property was violated. What must come out is the author's word.
    Depths and lengths are recorded only where TLC ran with one worker.

    Raises: SpecError when the file cannot be read or written.
    """
    by_file: dict[Path, list[CheckedEntry]] = {}
    for checked in results:
        by_file.setdefault(manifest.file_of(checked.entry.protocol), []).append(checked)
    return tuple(name for path, those in by_file.items() for name in _record(path, those))


def _record(path: Path, results: Iterable[CheckedEntry]) -> list[str]:
    try:
        document = tomlkit.parse(path.read_text("utf-8"))
        written = []
        for checked in results:
            entry = checked.entry
            numbers = _numbers(entry, checked.run, checked.exact)
            if numbers:
                _table(path, document, entry).update(numbers)
                written.append(f"{entry.protocol}/{entry.name}")
        if written:
            path.write_text(tomlkit.dumps(document), "utf-8")
    except (OSError, TOMLKitError) as error:
        raise SpecError(path, f"counts cannot be recorded ({error})") from error
    return written


def refuse_shipped(manifest: Manifest) -> None:
    """Refuse to record in a manifest that came with the package.

    Raises: SpecError when it did.
    """
    if is_shipped(manifest.root):
        raise SpecError(
            manifest.path,
            "is part of the installed package: copy its folder, and name the copy with --spec-root",
        )


def _numbers(
    entry: TlcModel | Witness | Mutant, run: TlcRun, exact: bool
) -> dict[str, int | float]:
    match entry:
        case TlcModel(violates=None) if run.outcome is Outcome.SUCCESS and run.distinct is not None:
            depth = {"depth": run.depth} if exact and run.depth is not None else {}
            return {"distinct": run.distinct, **depth, "seconds": max(1, round(run.seconds))}
        case Mutant(killed_by=None) if run.outcome is Outcome.SUCCESS and run.distinct is not None:
            return {"distinct": run.distinct}
        case TlcModel(violates=name) | Witness(violates=name) | Mutant(killed_by=name):
            if exact and name is not None and run.violated == name and run.length is not None:
                return {"length": run.length}
    return {}


def _table(path: Path, document: tomlkit.TOMLDocument, entry: TlcModel | Witness | Mutant) -> Table:
    tables = document[kind_of(entry)]
    assert isinstance(tables, AoT)
    for table in tables.body:
        if table["protocol"] == entry.protocol and table["name"] == entry.name:
            return table
    raise SpecError(path, f"{entry.protocol}/{entry.name} is gone")

"""Finish a corpus: add up what was written, and write the manifests.

The traces of each set of constants lie in a folder of their own. If there is only one set, they
move up, and the folder is that corpus; else it is a folder of corpora.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tlatrace.corpus.checksums import TABLES, missing_files
from tlatrace.corpus.corpora import MAX_CORPORA, finish_corpora, sum_of_corpora
from tlatrace.corpus.manifest import CorpusManifest, finish
from tlatrace.corpus.places import NO_CONSTANTS
from tlatrace.corpus.writer import Part, remove_unfinished
from tlatrace.errors import CorpusError
from tlatrace.trace.lines import DEFAULT_LIMITS
from tlatrace.trace.strict_json import parse_json
from tlatrace.values import Json

__all__ = ["Generated", "Made", "finish_parts"]

_FAILURES: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """A finished corpus, and what went wrong on the way."""

    manifest: CorpusManifest
    """Of all traces; without constants, if they have different ones."""
    corpora: int
    """How many sets of constants they have."""
    failures: tuple[tuple[str, str], ...]
    """(trace id, reason) of the first traces that could not be made, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """How the traces of a corpus were made."""

    expected: int
    """Runs, or files, that were to be taken."""
    chunk_steps: int
    source: Mapping[str, Json]
    reproduce: str | None


def finish_parts(folder: Path, written: Iterable[tuple[Part, ...]], made: Made) -> Generated:
    """Finish the corpus in a folder.

    Raises:
        CorpusError: the traces have different specifications, or too many sets of constants; or
            some, or their files, are missing.
    """
    parts: list[Part] = []
    for some in written:
        parts += some
        _check_places(folder, parts)  # at once: the rest may take hours
    parts.sort(key=lambda part: part.number)
    numbers = sum(part.numbers for part in parts)
    if numbers != made.expected:
        reason = f"the traces of {numbers} runs were written, of {made.expected}"
        raise CorpusError(folder, reason)
    _check_specifications(folder, parts)
    for part in parts:
        lost = missing_files(folder / part.place, part.files)
        if lost:
            raise CorpusError(folder / part.place, f"{lost[0]} was written, and is not seen here")
    with suppress(OSError):
        remove_unfinished(folder)
    places = sorted({part.place for part in parts} - {NO_CONSTANTS}) or [NO_CONSTANTS]
    _place_the_rest(folder, parts, places[0])
    of_place = {place: [part for part in parts if part.place == place] for place in places}
    manifests = {place: _manifest(of_place[place], made) for place in places}
    if len(places) == 1:
        manifest = manifests[places[0]]
        _move(folder / places[0], folder, TABLES)
        finish(folder, manifest)
    else:
        manifest = sum_of_corpora(list(manifests.values()))
        finish_corpora(folder, manifests)
    failures = [failure for part in parts for failure in part.failures]
    return Generated(manifest=manifest, corpora=len(places), failures=tuple(failures[:_FAILURES]))


def _check_places(folder: Path, parts: Sequence[Part]) -> None:
    places = {part.place for part in parts} - {NO_CONSTANTS}
    if len(places) > MAX_CORPORA:
        reason = f"its traces have more than {MAX_CORPORA} sets of constants"
        raise CorpusError(folder, reason)


def _check_specifications(folder: Path, parts: Sequence[Part]) -> None:
    kinds = {kind for part in parts for kind in part.kinds}
    hashes = {sha256 for _, sha256, _ in kinds} - {None}
    if len({spec for spec, _, _ in kinds}) > 1 or len(hashes) > 1:
        reason = "its traces have different specifications: make a corpus of each"
        raise CorpusError(folder, reason)


def _place_the_rest(folder: Path, parts: Sequence[Part], place: str) -> None:
    """Give the parts of which no trace was made to the first corpus.

    Raises:
        CorpusError: a file cannot be moved.
    """
    if place == NO_CONSTANTS:
        return
    for part in parts:
        if part.place == NO_CONSTANTS:
            _move(folder / part.place, folder / place, part.files)
            part.place = place
    shutil.rmtree(folder / NO_CONSTANTS, ignore_errors=True)


def _move(source: Path, target: Path, names: Iterable[str]) -> None:
    try:
        for name in names:
            os.replace(source / name, target / name)
        if not any(path.is_file() for path in source.rglob("*")):
            shutil.rmtree(source, ignore_errors=True)
    except OSError as error:
        raise CorpusError(target, f"cannot be written ({error.strerror})") from error


def _manifest(parts: Sequence[Part], made: Made) -> CorpusManifest:
    """Say what a corpus holds: traces of one specification, with one set of constants."""
    kinds = [kind for part in parts for kind in part.kinds]
    spec, _, constants = min(kinds, default=(None, None, "{}"), key=str)
    return CorpusManifest(
        spec=spec,
        spec_sha256=max((sha256 for _, sha256, _ in kinds if sha256 is not None), default=None),
        constants=_constants(constants),
        traces=sum(part.traces for part in parts),
        steps=sum(part.steps for part in parts),
        variables=sorted({name for part in parts for name in part.variables}),
        failed=sum(part.failed for part in parts),
        chunk_steps=made.chunk_steps,
        source=made.source,
        reproduce=made.reproduce,
        files={name: checksum for part in parts for name, checksum in part.files.items()},
    )


def _constants(text: str) -> Mapping[str, Json]:
    data = parse_json(text.encode(), path=Path("constants"), line=1, limits=DEFAULT_LIMITS)
    assert isinstance(data, dict), "canonical_state writes an object"
    return data

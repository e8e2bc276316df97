"""`corpus.json`: what is in a corpus, and the sign that it is finished.

<corpus>/corpus.json     written last, and replaced in one move: a corpus without it is unfinished
<corpus>/_unfinished     there from the start of the work to its end
<corpus>/steps/*.parquet <corpus>/traces/*.parquet   see `schema`
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final, cast

from tlatrace.corpus.schema import CHUNK_STEPS
from tlatrace.errors import CorpusError
from tlatrace.values import Json

__all__ = ["FORMAT", "VERSION", "CorpusManifest", "begin", "finish", "read_manifest"]

FORMAT: Final = "rocketproof-corpus"
VERSION: Final = 2

_NAME: Final = "corpus.json"
_MARK: Final = "_unfinished"
_MAX_BYTES: Final = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusManifest:
    """What a finished corpus holds: one specification, one set of constants, counted rows."""

    spec: str | None
    """The TLA+ module; None where no trace has one."""
    spec_sha256: str | None
    constants: Mapping[str, Json]
    """Canonical JSON of the constants that all traces share."""
    traces: int
    """Rows of `traces`, failed ones included."""
    steps: int
    """Rows of `steps`, less the carried ones."""
    failed: int
    """Rows of `traces` with an error instead of a trace."""
    chunk_steps: int = CHUNK_STEPS
    """Steps of a trace in one piece."""
    source: Mapping[str, Json] = field(default_factory=dict)
    """How it was made, for people and for `reproduce`."""
    reproduce: str | None = None
    """The command that makes one trace again, with `{seed}` in it."""


def begin(folder: Path, *, force: bool = False) -> None:
    """Make the folder of a new corpus and mark it unfinished.

    `force` replaces a corpus, finished or not, but never a folder that holds anything else.

    Raises:
        CorpusError: the folder is not empty, or cannot be written.
    """
    if ":" in str(folder.resolve()):
        raise CorpusError(folder, "has a colon in its path, which Spark takes for a protocol")
    try:
        if folder.exists() and not folder.is_dir():
            raise CorpusError(folder, "is a file, not a folder")
        if folder.is_dir() and any(folder.iterdir()):
            _clear(folder, force)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _MARK).touch()
    except OSError as error:
        raise CorpusError(folder, f"cannot be written ({error.strerror})") from error


def _clear(folder: Path, force: bool) -> None:
    ours = {_NAME, _MARK, "steps", "traces"}
    names = {path.name for path in folder.iterdir()}
    if not names & {_NAME, _MARK}:
        raise CorpusError(folder, "is not empty, and holds no corpus: choose another folder")
    if not force:
        raise CorpusError(folder, "holds a corpus already: choose another folder, or --force")
    if names - ours:
        raise CorpusError(folder, f"holds more than a corpus: {min(names - ours)}")
    (folder / _MARK).touch()
    (folder / _NAME).unlink(missing_ok=True)
    for name in ("steps", "traces"):
        shutil.rmtree(folder / name, ignore_errors=True)


def finish(folder: Path, manifest: CorpusManifest) -> None:
    """Write the manifest and take the mark away; the corpus is finished from then on.

    Raises:
        CorpusError: the folder cannot be written.
    """
    data = {"format": FORMAT, "version": VERSION, **asdict(manifest)}
    written = folder / f".{_NAME}"
    try:
        written.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", "utf-8")
        os.replace(written, folder / _NAME)
        (folder / _MARK).unlink(missing_ok=True)
    except OSError as error:
        raise CorpusError(folder, f"cannot be written ({error.strerror})") from error


def read_manifest(folder: Path) -> CorpusManifest:
    """Read the manifest of a finished corpus.

    Raises:
        CorpusError: no corpus, an unfinished one, another version, or a broken manifest.
    """
    path = folder / _NAME
    if not path.is_file():
        if (folder / _MARK).exists():
            raise CorpusError(folder, "is unfinished: generating it was interrupted")
        raise CorpusError(folder, f"is no corpus: there is no {_NAME}")
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise CorpusError(path, "is too large for a manifest")
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise CorpusError(path, f"cannot be read ({error})") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise CorpusError(path, f"is not of the format {FORMAT}")
    if data.get("version") != VERSION:
        raise CorpusError(
            path, f"has version {data.get('version')!r}; this program reads {VERSION}"
        )
    return CorpusManifest(
        spec=_text(path, data, "spec"),
        spec_sha256=_text(path, data, "spec_sha256"),
        constants=_object(path, data, "constants"),
        traces=_count(path, data, "traces"),
        steps=_count(path, data, "steps"),
        failed=_count(path, data, "failed"),
        chunk_steps=_chunk_steps(path, data),
        source=_object(path, data, "source"),
        reproduce=_text(path, data, "reproduce"),
    )


def _text(path: Path, data: Mapping[str, object], key: str) -> str | None:
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise CorpusError(path, f'"{key}" must be a string or null')
    return value


def _count(path: Path, data: Mapping[str, object], key: str) -> int:
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise CorpusError(path, f'"{key}" must be a count')
    return value


def _chunk_steps(path: Path, data: Mapping[str, object]) -> int:
    steps = _count(path, data, "chunk_steps")
    if steps < 2:
        raise CorpusError(path, '"chunk_steps" must be at least 2')
    return steps


def _object(path: Path, data: Mapping[str, object], key: str) -> dict[str, Json]:
    value = data.get(key)
    if not isinstance(value, dict):
        raise CorpusError(path, f'"{key}" must be an object')
    return cast("dict[str, Json]", value)  # it came out of json.loads

"""`corpus.json`: what is in a corpus, and the sign that it is finished.

It is damaged, and refused, where its bytes are not what this program would write of what it says:
its last field is the checksum of all others. Version 2 had no checksums, version 3 no columns of
variables.

<corpus>/corpus.json     written last, and replaced in one move: a corpus without it is unfinished
<corpus>/_unfinished     there from the start of the work to its end
<corpus>/steps/*.parquet <corpus>/traces/*.parquet   see `schema`

Where its traces have different constants, a folder holds a corpus of each set: see `corpora`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from tlatrace.corpus.checksums import TABLES, FileChecksum
from tlatrace.corpus.places import is_place
from tlatrace.corpus.schema import CHUNK_BOUNDS, CHUNK_STEPS, variables_with_columns
from tlatrace.errors import CorpusError, TraceFormatError, ValueFormatError
from tlatrace.trace.lines import Limits
from tlatrace.trace.schema import check_name
from tlatrace.trace.strict_json import parse_json
from tlatrace.values import Json, state_from_json

__all__ = [
    "CORPORA",
    "FORMAT",
    "MANIFEST",
    "VERSION",
    "CorpusManifest",
    "begin",
    "finish",
    "is_begun",
    "read_manifest",
    "read_sealed",
    "seal",
]

FORMAT: Final = "rocketproof-corpus"
VERSION: Final = 4

_WITHOUT_CHECKSUMS: Final = 2
_WHOLE_STATES: Final = 3
MANIFEST: Final = "corpus.json"
CORPORA: Final = "corpora.json"
"""In a folder of corpora, instead of the above."""
_CHECKSUM: Final = "sha256"
_MARK: Final = "_unfinished"
_MAX_BYTES: Final = 16 << 20
_LIMITS: Final = Limits(depth=256, values_per_line=1_000_000)
_MAX_COUNT: Final = 2**53
_SHA256: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_FILE: Final = re.compile(rf"(?:{'|'.join(TABLES)})/[^/\\\x00]{{1,255}}")


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
    variables: Sequence[str] = ()
    """Those that have columns in `steps`, in order."""
    chunk_steps: int = CHUNK_STEPS
    """Steps of a trace in one piece."""
    source: Mapping[str, Json] = field(default_factory=dict)
    """How it was made, for people and for `reproduce`."""
    reproduce: str | None = None
    """The command that makes one trace again, with `{seed}` in it."""
    files: Mapping[str, FileChecksum] | None = None
    """Path in the corpus -> checksum; None in a corpus without checksums."""


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


def is_begun(folder: Path) -> bool:
    """Tell whether a corpus has been begun here, and is seen from here."""
    return (folder / _MARK).exists()


def _clear(folder: Path, force: bool) -> None:
    names = {path.name for path in folder.iterdir()}
    places = {name for name in names if is_place(name)}
    ours = {MANIFEST, CORPORA, _MARK, *TABLES, *places}
    if not names & {MANIFEST, CORPORA, _MARK}:
        raise CorpusError(folder, "is not empty, and holds no corpus: choose another folder")
    if not force:
        raise CorpusError(folder, "holds a corpus already: choose another folder, or --force")
    if names - ours:
        raise CorpusError(folder, f"holds more than a corpus: {min(names - ours)}")
    (folder / _MARK).touch()
    for name in (MANIFEST, CORPORA):
        (folder / name).unlink(missing_ok=True)
    for name in (*TABLES, *places):
        shutil.rmtree(folder / name, ignore_errors=True)


def finish(folder: Path, manifest: CorpusManifest) -> None:
    """Write the manifest and take the mark away; the corpus is finished from then on.

    Raises:
        CorpusError: the folder cannot be written.
    """
    seal(folder, MANIFEST, {"format": FORMAT, "version": VERSION, **asdict(manifest)})


def seal(folder: Path, name: str, data: Mapping[str, object]) -> None:
    """Write a document with its checksum, and take the mark away.

    Raises:
        CorpusError: the folder cannot be written.
    """
    written = folder / f".{name}"
    try:
        written.write_bytes(_written(data))
        os.replace(written, folder / name)
        (folder / _MARK).unlink(missing_ok=True)
    except OSError as error:
        raise CorpusError(folder, f"cannot be written ({error.strerror})") from error


def _written(data: Mapping[str, object]) -> bytes:
    """Write the document, with the checksum of its text as the last field."""
    sha256 = hashlib.sha256(_text_of(data)).hexdigest()
    return _text_of({**data, _CHECKSUM: sha256})


def _text_of(data: Mapping[str, object]) -> bytes:
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()


def read_manifest(folder: Path) -> CorpusManifest:
    """Read the manifest of a finished corpus.

    Raises:
        CorpusError: no corpus, an unfinished one, another version, or a broken manifest.
    """
    path = folder / MANIFEST
    if not path.is_file():
        if (folder / _MARK).exists():
            raise CorpusError(folder, "is unfinished: generating it was interrupted")
        raise CorpusError(folder, f"is no corpus: there is no {MANIFEST}")
    raw, data = _read(path, FORMAT)
    _check_version(path, raw, data)
    chunk_steps = _count(path, data, "chunk_steps")
    if not CHUNK_BOUNDS[0] <= chunk_steps <= CHUNK_BOUNDS[1]:
        bounds = " to ".join([f"{bound:,}" for bound in CHUNK_BOUNDS])
        raise CorpusError(path, f'"chunk_steps" must be {bounds}')
    return CorpusManifest(
        spec=_checked(path, data, "spec", _is_module),
        spec_sha256=_checked(path, data, "spec_sha256", _is_sha256),
        constants=_constants(path, data),
        traces=_count(path, data, "traces"),
        steps=_count(path, data, "steps"),
        failed=_count(path, data, "failed"),
        variables=_variables(path, data),
        chunk_steps=chunk_steps,
        source=_object(path, data, "source"),
        reproduce=_checked(path, data, "reproduce", str.isprintable),
        files=_files(path, data),
    )


def read_sealed(path: Path, wanted: str, version: int) -> dict[str, Json]:
    """Read a document of a format that has one version, with its checksum.

    Raises:
        CorpusError: it is missing, damaged, or of another format or version.
    """
    raw, data = _read(path, wanted)
    if data.get("version") != version or isinstance(data.get("version"), bool):
        found = data.get("version")
        raise CorpusError(path, f"has version {found!r}; this program reads {version}")
    _check_seal(path, raw, data)
    return data


def _read(path: Path, wanted: str) -> tuple[bytes, dict[str, Json]]:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise CorpusError(path, "is too large for a manifest")
        raw = path.read_bytes()
    except OSError as error:
        raise CorpusError(path, f"cannot be read ({error})") from error
    try:
        data = parse_json(raw, path=path, line=1, limits=_LIMITS)
    except TraceFormatError as error:
        raise CorpusError(path, f"cannot be read: {error.reason}") from error
    if not isinstance(data, dict) or data.get("format") != wanted:
        raise CorpusError(path, f"is not of the format {wanted}")
    return raw, data


def _check_version(path: Path, raw: bytes, data: dict[str, Json]) -> None:
    version = data.get("version")
    if version == _WITHOUT_CHECKSUMS and not data.keys() & {_CHECKSUM, "files"}:
        return
    if version not in (_WHOLE_STATES, VERSION) or not isinstance(version, int):
        raise CorpusError(
            path,
            f"has version {version!r}; this program reads {_WITHOUT_CHECKSUMS} to {VERSION}",
        )
    _check_seal(path, raw, data)


def _check_seal(path: Path, raw: bytes, data: Mapping[str, Json]) -> None:
    if raw != _written({key: value for key, value in data.items() if key != _CHECKSUM}):
        raise CorpusError(path, "is damaged, or was changed: its checksum is another one")


def _is_module(name: str) -> bool:
    try:
        return check_name(name, "a module") == name
    except ValueFormatError:
        return False


def _is_sha256(text: str) -> bool:
    return _SHA256.fullmatch(text) is not None


def _checked(
    path: Path, data: Mapping[str, Json], key: str, is_one: Callable[[str], bool]
) -> str | None:
    value = data.get(key)
    if value is not None and not (isinstance(value, str) and is_one(value)):
        raise CorpusError(path, f'"{key}" is not what it must be')
    return value


def _count(path: Path, data: Mapping[str, Json], key: str) -> int:
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _MAX_COUNT:
        raise CorpusError(path, f'"{key}" must be a count')
    return value


def _constants(path: Path, data: Mapping[str, Json]) -> dict[str, Json]:
    constants = _object(path, data, "constants")
    try:
        for name in state_from_json(constants):
            check_name(name, "a constant")
    except ValueFormatError as error:
        raise CorpusError(path, f'in "constants": {error.reason}') from error
    return constants


def _variables(path: Path, data: Mapping[str, Json]) -> tuple[str, ...]:
    if data.get("version") != VERSION:
        return ()
    names = data.get("variables")
    variables = tuple(map(str, names)) if isinstance(names, list) else ()
    if list(variables) != names or variables != variables_with_columns(variables):
        raise CorpusError(path, '"variables" must be names of variables, in order')
    return variables


def _files(path: Path, data: Mapping[str, Json]) -> dict[str, FileChecksum] | None:
    if data.get("files") is None:
        return None
    files: dict[str, FileChecksum] = {}
    for name, entry in _object(path, data, "files").items():
        if not isinstance(entry, dict) or not _FILE.fullmatch(name):
            raise CorpusError(path, f'"files" has the strange entry {name[:64]!r}')
        sha256 = _checked(path, entry, "sha256", _is_sha256)
        files[name] = FileChecksum(bytes=_count(path, entry, "bytes"), sha256=sha256 or "")
    return files


def _object(path: Path, data: Mapping[str, Json], key: str) -> dict[str, Json]:
    value = data.get(key)
    if not isinstance(value, dict):
        raise CorpusError(path, f'"{key}" must be an object')
    return value

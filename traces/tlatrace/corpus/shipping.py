"""Our code on its way to executors that lack it, or have another: a zip, and a look at it there.

Spark takes the zip to every executor, also to one that comes later, and puts it before what is
installed there. That is not enough to know which code has run: a Python may have imported another
copy before, and what it has of other packages is its own. So a task is wrapped: the wrapper crosses
by value, imports nothing of ours, compares, and only then reads the task. What differs is refused
with both versions, because a verdict is that of one program, and a part that is made a second time
must be the same bytes.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.serializers import CloudPickleSerializer

from tlatrace.errors import ToolError

__all__ = ["VERSIONS_KEY", "MapBatches", "guarded", "versions_here", "write_zip"]

MapBatches = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

VERSIONS_KEY: Final = "spark.rocketproof.versions"
"""The setting of a session that has to guard its tasks: what `versions_here` has said."""

_OTHERS: Final = ("msgspec", "numpy", "pyarrow", "pyspark", "rich")
"""What our code needs on an executor, besides Python."""
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


def write_zip(packages: Sequence[str], folder: Path) -> Path:
    """Write the Python files of packages as `rocketproof-<digest>.zip`: the same files, same bytes.

    Raises:
        ToolError: a package is not there, or not as files.
    """
    files: dict[str, bytes] = {}
    for name in packages:
        found = importlib.util.find_spec(name)
        places = list(found.submodule_search_locations or ()) if found is not None else []
        if len(places) != 1 or not Path(places[0]).is_dir():
            raise ToolError("Spark", f"the package {name} is not in a folder: it cannot be sent")
        files |= _files_of(name, places[0])
    path = folder / f"rocketproof-{_digest(files)[:16]}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
    return path


def versions_here(packages: Sequence[str]) -> str:
    """Say which code and which libraries this process has, as a text for `guarded`."""
    return json.dumps(_versions(packages, _OTHERS))


def guarded(task: MapBatches, versions: str) -> MapBatches:
    """Wrap a task for `mapInArrow`: it runs only where the code and libraries are of `versions`."""
    by_value: Any = cloudpickle  # pyspark leaves it untyped
    by_value.register_pickle_by_value(sys.modules[__name__])
    serializer: Any = CloudPickleSerializer
    wanted, payload = json.loads(versions), serializer().dumps(task)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        _refuse_others(wanted)
        yield from serializer().loads(payload)(batches)

    return run


# ---- From here on: also on an executor, by value. ----


def _refuse_others(wanted: Mapping[str, str]) -> None:
    import platform

    ours = [name for name, version in wanted.items() if version.startswith("code ")]
    others = [name for name in wanted if name not in (*ours, "python")]
    found = _versions(ours, others)
    differing = [
        f"{name} {found[name]} instead of {version}"
        for name, version in wanted.items()
        if found[name] != version
    ]
    if differing:
        raise RuntimeError(f"the executor on {platform.node()} has {', '.join(differing)}")


def _versions(ours: Sequence[str], others: Sequence[str]) -> dict[str, str]:
    import importlib
    import platform
    from importlib import metadata

    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    for name in others:
        try:
            module = importlib.import_module(name)
            version = getattr(module, "__version__", None)
            found[name] = str(version or metadata.version(name))
        except ImportError:
            found[name] = "missing"
    for name in ours:
        try:
            place = next(iter(importlib.import_module(name).__path__))
            found[name] = f"code {_digest(_files_of(name, place))[:16]}"
        except (ImportError, AttributeError, StopIteration):
            found[name] = "missing"
    return found


def _files_of(name: str, place: str) -> dict[str, bytes]:
    """Read the Python files of a package from its folder, or from the zip that it is in."""
    from pathlib import Path
    from zipfile import ZipFile

    folder = Path(place)
    if folder.is_dir():
        paths = folder.rglob("*.py")
        return {
            f"{name}/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in paths
        }
    if not folder.parent.is_file():
        return {}
    with ZipFile(folder.parent) as archive:
        inside = [at for at in archive.namelist() if at.startswith(f"{name}/")]
        return {at: archive.read(at) for at in inside if at.endswith(".py")}


def _digest(files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()

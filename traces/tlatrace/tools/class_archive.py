"""The classes of TLC and SANY in an archive: a JVM that takes them from there starts faster.

Most runs of TLC take a second, half of which a JVM spends on reading and verifying classes. An
archive (application class-data sharing) has them ready to be mapped. It belongs to one Java and one
jar, is made by the first run that asks, in some seconds, and changes nothing but the time. One that
is not what was written is made again; one of another Java or another jar a JVM passes by.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from tlatrace.tools.jar import TlcJar
from tlatrace.tools.java import JavaHome, cache_folder

__all__ = ["archive_options", "archive_place"]

_TIMEOUT_S: Final = 60.0
_MODULE: Final = """\
---- MODULE Classes ----
EXTENDS Integers, Sequences, FiniteSets, TLC
VARIABLES x, f
Init == x = 0 /\\ f = [n \\in 1..2 |-> <<n>>]
Next == /\\ x' = (x + 1) % 3
        /\\ f' = [f EXCEPT ![1] = IF Len(@) < 2 THEN Append(@, x) ELSE <<CHOOSE n \\in {x} : TRUE>>]
Spec == Init /\\ [][Next]_<<x, f>> /\\ WF_<<x, f>>(Next)
Bounded == \\A n \\in DOMAIN f : Cardinality({x}) = 1 /\\ f[n] \\in Seq(Int) /\\ x \\in 0..2
Returns == []<>(x = 0)
====
"""
_CONFIG: Final = "SPECIFICATION Spec\nINVARIANT Bounded\nPROPERTY Returns\n"


@lru_cache(maxsize=8)
def archive_options(java: JavaHome, jar: TlcJar) -> tuple[str, ...]:
    """Return the options by which a JVM uses the archive; none if it cannot be made."""
    try:
        archive = archive_place(java, jar)
        if not (_is_ours(archive) and _is_whole(archive)):
            _make(java, jar, archive)
    except (OSError, subprocess.SubprocessError):
        return ()
    return (f"-XX:SharedArchiveFile={archive}", "-Xlog:cds=off")


def archive_place(java: JavaHome, jar: TlcJar) -> Path:
    """Return where the archive is, or will be. Raises: OSError if there is no such jar"""
    changed_ns = jar.path.stat().st_mtime_ns
    parts = (java.home, java.version, jar.path, jar.sha256, changed_ns, _MODULE)
    key = hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:24]
    return cache_folder() / "classes" / f"{key}.jsa"


def _make(java: JavaHome, jar: TlcJar, archive: Path) -> None:
    """Note which classes small runs load, and have them written. Raises: as `subprocess.run`"""
    archive.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=archive.parent, ignore_cleanup_errors=True) as own:
        folder = Path(own)
        (folder / "Classes.tla").write_text(_MODULE, "utf-8")
        (folder / "Classes.cfg").write_text(_CONFIG, "utf-8")
        states = str(folder / "states")
        programs = (
            ("tlc2.TLC", "-workers", "1", "-metadir", states, "Classes"),
            ("tla2sany.xml.XMLExporter", "-o", "Classes"),
        )
        classes: dict[str, None] = {}
        for number, program in enumerate(programs):
            seen = folder / f"{number}.classes"
            _run(java, jar, folder, (f"-XX:DumpLoadedClassList={seen}",), program)
            classes |= dict.fromkeys(_classes(seen.read_text("utf-8")))
        listed, made = folder / "classes", folder / "archive.jsa"
        listed.write_text("\n".join(classes) + "\n", "utf-8")
        files = (f"-XX:SharedClassListFile={listed}", f"-XX:SharedArchiveFile={made}")
        _run(java, jar, folder, ("-Xshare:dump", *files), ())
        made.chmod(0o600)
        digest = folder / "digest"
        digest.write_text(_digest(made), "utf-8")
        digest.chmod(0o600)
        os.replace(made, archive)
        os.replace(digest, _digest_of(archive))


def _classes(listed: str) -> list[str]:
    """Return the lines of a list without the numbers of classes, which another list has, too."""
    lines = [line for line in listed.splitlines() if line and not line.startswith("#")]
    return [line if line.startswith("@") else line.split()[0] for line in lines]


def _run(
    java: JavaHome, jar: TlcJar, folder: Path, options: Sequence[str], program: Sequence[str]
) -> None:
    command = [str(java.java), "-XX:+UseSerialGC", "-Xss64m", *options, "-cp", str(jar.path)]
    subprocess.run(
        [*command, *program],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_TIMEOUT_S,
        check=True,
    )


def _digest(archive: Path) -> str:
    with archive.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest_of(archive: Path) -> Path:
    return archive.with_suffix(".sha256")


def _is_whole(archive: Path) -> bool:
    """Tell whether it is what was written: of a part of one, a JVM may die."""
    try:
        return _digest_of(archive).read_text("utf-8") == _digest(archive)
    except (FileNotFoundError, UnicodeDecodeError):
        return False


def _is_ours(archive: Path) -> bool:
    """Tell whether there is an archive that nobody else can have written."""
    try:
        found = (archive.stat(), archive.parent.stat())
    except FileNotFoundError:
        return False
    if os.name != "posix":
        return True
    others = stat.S_IWGRP | stat.S_IWOTH
    return all(one.st_uid == os.getuid() and not one.st_mode & others for one in found)

"""Run SANY's XML exporter: the semantic tree of a module and of all that it extends.

Source: tla2sany.xml.XMLExporter of the TLC jar; it writes the document to standard output and
SANY's own words to standard error or before the document.
"""

from __future__ import annotations

import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from tlatrace.errors import SpecError, ToolError
from tlatrace.tools.jar import find_jar
from tlatrace.tools.java import find_java

__all__ = ["COMMUNITY", "export_xml"]

COMMUNITY: Final = Path(__file__).parents[1] / "community"
"""The community modules in our own words: SANY and TLC look there when no other folder has one."""


_DOCUMENT: Final = "<?xml"
_JVM_ARGS: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss64m")
_ERRORS: Final = "*** Errors: "
_DULL: Final = ("Parsing file ", "Semantic processing of ", "Exception in thread", "\tat ")


def export_xml(
    module: Path, *, libraries: Sequence[Path] = (), timeout_s: float = 120.0
) -> ElementTree.Element:
    """Return the root element of the semantic tree of a module; it is shared: do not change it.

    Asked again for the same files, the last answers are given once more.

    Raises: SpecError when SANY refuses the module; ToolError without a Java or a jar, or when SANY
    takes longer than `timeout_s` or answers nothing that can be read.
    """
    if not module.is_file():
        raise SpecError(module, "there is no such file")
    folders = (module.resolve().parent, *libraries, COMMUNITY)
    files = [path for folder in folders for path in sorted(folder.glob("*.tla"))]
    stamps = tuple([(path, path.stat().st_mtime_ns, path.stat().st_size) for path in files])
    return _export(module, tuple(libraries), timeout_s, stamps)


@lru_cache(maxsize=2)
def _export(
    module: Path,
    libraries: tuple[Path, ...],
    timeout_s: float,
    stamps: tuple[tuple[Path, int, int], ...],  # noqa: ARG001  # tells the answers apart
) -> ElementTree.Element:
    jar, java = find_jar(), find_java()
    with tempfile.TemporaryDirectory(prefix="rocketproof-sany-", ignore_cleanup_errors=True) as own:
        command = [str(java.java), *_JVM_ARGS, f"-Djava.io.tmpdir={own}"]
        # -o leaves out the validation against a schema; -I, because the exporter ignores the
        # property TLA-Library; a bare name, because SANY looks for it in the working directory.
        command += ["-cp", str(jar.path), "tla2sany.xml.XMLExporter", "-o"]
        for folder in (*libraries, COMMUNITY):
            command += ["-I", str(folder.resolve())]
        command.append(module.name)
        try:
            done = subprocess.run(
                command,
                cwd=module.resolve().parent,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout_s,
                check=False,
            )
        except OSError as error:
            raise ToolError("SANY", f"{command[0]} does not start ({error.strerror})") from error
        except subprocess.TimeoutExpired as error:
            raise ToolError("SANY", f"no answer in {timeout_s:.0f} s") from error
    output = done.stdout.decode("utf-8", errors="replace")
    at = output.find(_DOCUMENT)
    words = done.stderr.decode("utf-8", errors="replace")
    if done.returncode != 0 or at < 0 or _ERRORS in words:  # it exits 0 on some errors
        raise SpecError(module, _told((output[:at] if at >= 0 else output) + words))
    try:
        return ElementTree.fromstring(output[at:])
    except ElementTree.ParseError as error:
        raise ToolError("SANY", f"its XML cannot be read: {error}") from error


def _told(text: str) -> str:
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith(_DULL)]
    return "SANY refuses the module: " + ("\n".join(lines[:12]) or "it does not say why")

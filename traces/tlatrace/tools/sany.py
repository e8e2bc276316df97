"""Run SANY's XML exporter: the semantic tree of a module and of all that it extends.

Source: tla2sany.xml.XMLExporter of the TLC jar; it writes the document to standard output and
SANY's own words to standard error or before the document. Where a text is no TLA+ it does not say
at which place; tla2sany.SANY does, and is asked then.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from tlatrace.errors import SpecError, ToolError
from tlatrace.tools.class_archive import archive_options
from tlatrace.tools.jar import find_jar
from tlatrace.tools.java import find_java
from tlatrace.tools.module_folders import library_folders, module_folders

__all__ = ["export_xml", "require_module"]

_DOCUMENT: Final = "<?xml"
_JVM_ARGS: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss64m")
_ERRORS: Final = "*** Errors: "
_UNPARSED: Final = "Could not parse module "
_PARSING: Final = "Parsing file "
_FATAL: Final = "Fatal errors while parsing"
_FAILED: Final = "failed for node."
_PLACE: Final = re.compile(r"line (\d+), col (\d+) to line \d+, col \d+ of module (\w+)")
_PLACE_OF_PARSER: Final = re.compile(r"at line (\d+), column (\d+)")
_DULL: Final = ("Parsing file ", "Semantic processing of ", "Exception in thread", "\tat ")


def require_module(path: Path) -> None:
    """Refuse what is no file of TLA+, before anybody looks for what belongs to it.

    Raises:
        SpecError: it is a folder, is not there, or has another name than SANY takes.
    """
    if path.is_dir():
        raise SpecError(path, "this is a folder, not a module (say which FILE.tla)")
    if not path.exists():
        raise SpecError(path, "there is no such module")
    if path.suffix != ".tla" or not path.is_file():
        raise SpecError(path, "this is no FILE.tla")


def export_xml(
    module: Path, *, libraries: Sequence[Path] = (), timeout_s: float = 120.0
) -> ElementTree.Element:
    """Return the root element of the semantic tree of a module; it is shared: do not change it.

    Asked again for the same texts, in whatever folders, the last answers are given once more.

    Raises: SpecError when SANY refuses the module; ToolError without a Java or a jar, or when SANY
    takes longer than `timeout_s` or answers nothing that can be read.
    """
    require_module(module)
    folders = module_folders(module.resolve(), libraries)
    texts = tuple([tuple(map(_text_of, sorted(folder.glob("*.tla")))) for folder in folders])
    made_by = find_jar().sha256, str(find_java().home)
    return _export(_Question(module.stem, texts, made_by, module, tuple(libraries), timeout_s))


@dataclass(frozen=True, slots=True)
class _Question:
    """What SANY is asked; questions about the same texts are equal, wherever those lie."""

    name: str
    texts: tuple[tuple[tuple[str, bytes], ...], ...]
    """Of each folder, in the order of search, the names and hashes of its modules."""
    made_by: tuple[str, str]
    """The jar and the Java."""
    module: Path = field(compare=False)
    libraries: tuple[Path, ...] = field(compare=False)
    timeout_s: float = field(compare=False)


def _text_of(path: Path) -> tuple[str, bytes]:
    try:
        return path.name, sha256(path.read_bytes()).digest()
    except OSError:
        return path.name, b""  # SANY does not read it, either


@lru_cache(maxsize=2)
def _export(question: _Question) -> ElementTree.Element:
    module, libraries, timeout_s = question.module, question.libraries, question.timeout_s
    done = _run("tla2sany.xml.XMLExporter", module, libraries, timeout_s)
    output = done.stdout.decode("utf-8", errors="replace")
    at = output.find(_DOCUMENT)
    messages = done.stderr.decode("utf-8", errors="replace")
    if done.returncode != 0 or at < 0 or _ERRORS in messages:  # it exits 0 on some errors
        messages = (output[:at] if at >= 0 else output) + messages
        if _UNPARSED in messages:
            again = _run("tla2sany.SANY", module, libraries, timeout_s)
            raise _unparsed(module, again.stdout.decode("utf-8", errors="replace"))
        raise _refused(module, messages)
    try:
        return ElementTree.fromstring(output[at:])
    except ElementTree.ParseError as error:
        raise ToolError("SANY", f"its XML cannot be read: {error}") from error


def _run(
    program: str, module: Path, libraries: Sequence[Path], timeout_s: float
) -> subprocess.CompletedProcess[bytes]:
    """Run the exporter, or SANY itself, on a module.

    Raises: ToolError: there is no Java or no jar, it does not start, or takes too long.
    """
    jar, java = find_jar(), find_java()
    folders = [str(folder.resolve()) for folder in library_folders(module, libraries)]
    with tempfile.TemporaryDirectory(prefix="rocketproof-sany-", ignore_cleanup_errors=True) as own:
        command = [str(java.java), *_JVM_ARGS, *archive_options(java, jar)]
        command.append(f"-Djava.io.tmpdir={own}")
        command += [f"-DTLA-Library={os.pathsep.join(folders)}", "-cp", str(jar.path), program]
        if program.endswith("XMLExporter"):
            # -o leaves out the validation against a schema; -I, because the exporter ignores the
            # property TLA-Library.
            command += ["-o", *[word for folder in folders for word in ("-I", folder)]]
        command.append(module.name)  # a bare name: SANY looks for it in the working directory
        try:
            return subprocess.run(
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


def _unparsed(module: Path, output: str) -> SpecError:
    """Say where a module, or one that it extends, is no TLA+; the exporter keeps that to itself."""
    _, _, last = output.partition(_FATAL)[0].rpartition(_PARSING)
    file, _, reason = last.partition("\n")
    place = _PLACE_OF_PARSER.search(reason)
    if place is None:
        return _refused(module, output)
    named = Path(file.strip())
    if named == module.resolve():
        named = module  # as it was given
    return SpecError(named, _text(reason), int(place[1]), int(place[2]))


def _refused(module: Path, messages: str) -> SpecError:
    messages = messages.partition(_FAILED)[0] or messages
    place = _PLACE.search(messages)
    if place is None or place[3] != module.stem:
        return SpecError(module, _text(messages))
    return SpecError(module, _text(messages), int(place[1]), int(place[2]))


def _text(messages: str) -> str:
    lines = [line for line in messages.split("\n") if line.strip() and not line.startswith(_DULL)]
    return "SANY refuses the module: " + ("\n".join(lines[:12]) or "it does not say why")

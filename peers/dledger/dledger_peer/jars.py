"""The jars of a release of DLedger, and our Java programs compiled against them.

They are in `build/peers/dledger/<version>/` of the checkout: `lib`, `classes`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rocketmq_peer.errors import PeerError
from rocketmq_peer.processes import run_program
from rocketmq_peer.toolchain import Jdk, find_jdk, find_maven

__all__ = ["VERSIONS", "DLedgerJars", "fetch"]

VERSIONS: Final = ("0.3.1.2", "0.3.2", "0.4.0")

_FOLDER: Final = Path(__file__).resolve().parents[1]
_BUILD: Final = _FOLDER.parents[1] / "build" / "peers" / "dledger"
_TIMEOUT_S: Final = 1800.0
_SHOWN: Final = 400


@dataclass(frozen=True, slots=True)
class DLedgerJars:
    """A release that is there."""

    version: str
    folder: Path
    jdk: Jdk

    @property
    def class_path(self) -> str:
        """What runs our programs."""
        return os.pathsep.join((str(self.folder / "classes"), str(self.folder / "lib" / "*")))


def fetch(version: str, *, say: Callable[[str], None]) -> DLedgerJars:
    """Fetch a release by Maven, if it is not there, and compile our programs.

    Raises: ToolMissingError if there is no JDK or no Maven, PeerError if one of them fails
    """
    if version not in VERSIONS:
        raise PeerError(f"{version} is none of {', '.join(VERSIONS)}")
    jars = DLedgerJars(version, _BUILD / version, find_jdk())
    library, classes = jars.folder / "lib", jars.folder / "classes"
    if not any(library.glob("dledger-*.jar")):
        maven = find_maven(jars.jdk)
        say(f"DLedger {version}: Maven {maven.version}, into {jars.folder}")
        command = [
            *(str(maven.program), "-q", "-B", "--strict-checksums"),
            *("-f", str(_FOLDER / "pom.xml"), "dependency:copy-dependencies"),
            *("-DincludeScope=runtime", f"-Ddledger.version={version}"),
            f"-DoutputDirectory={library}",
        ]
        _run(command, jars.jdk)
    classes.mkdir(parents=True, exist_ok=True)
    javac = str(jars.jdk.home / "bin" / "javac")
    source = str(_FOLDER / "src" / "Node.java")
    _run([javac, "-d", str(classes), "-cp", str(library / "*"), source], jars.jdk)
    return jars


def _run(command: list[str], jdk: Jdk) -> None:
    environment = {**os.environ, "JAVA_HOME": str(jdk.home)}
    ended = run_program(command, folder=_FOLDER, timeout_s=_TIMEOUT_S, environment=environment)
    if ended.code != 0:
        raise PeerError(f"{Path(command[0]).name} failed: {ended.output.strip()[-_SHOWN:]}")

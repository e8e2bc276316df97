"""The jars of a release: fetched once by Maven, and our agent and client built against them.

    build/peers/rocketmq/5.3.3/
        lib/*.jar                 what name server, controllers, brokers and clients need
        agent-lib/*.jar           what the agent needs; its manifest names them
        rocketproof-agent.jar
        rocketproof-client.jar
        stamp.json                of which sources these are; written last

The stamp has the release and a hash of the build files and Java sources. Where it agrees there is
nothing to do. Maven is told to refuse a jar whose checksum is not the one that its server says.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rocketmq_peer.errors import PeerError
from rocketmq_peer.processes import run_program
from rocketmq_peer.toolchain import Jdk, find_jdk, find_maven
from rocketmq_peer.versions import checked_version

__all__ = ["JavaSources", "PeerJars", "fetch", "find_jars", "java_sources"]

_PACKAGE: Final = Path(__file__).resolve().parent
_SHIPPED: Final = _PACKAGE / "shipped"
_STAMP: Final = "stamp.json"
_FETCH_TIMEOUT_S: Final = 1800.0
_HOME_VARIABLE: Final = "ROCKETPROOF_PEERS"
_ERRORS_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class JavaSources:
    """The folder with the build files and the sources of our Java."""

    folder: Path

    def sha256(self) -> str:
        """Return a hash of all of them, with their paths."""
        files = [*self.folder.glob("pom.xml"), *self.folder.glob("*/pom.xml")]
        files += self.folder.glob("*/src/main/**/*.*")
        digest = hashlib.sha256()
        for path in sorted(files):
            name = path.relative_to(self.folder).as_posix()
            data = path.read_bytes()
            digest.update(f"{name}\0{len(data)}\0".encode())
            digest.update(data)
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class PeerJars:
    """A release that is there, and what runs it."""

    version: str
    folder: Path
    jdk: Jdk

    @property
    def library(self) -> Path:
        """The folder of all jars of the release."""
        return self.folder / "lib"

    @property
    def agent(self) -> Path:
        """The agent that writes what brokers and controllers do."""
        return self.folder / "rocketproof-agent.jar"

    @property
    def client(self) -> Path:
        """The client that a run drives."""
        return self.folder / "rocketproof-client.jar"


def java_sources() -> JavaSources:
    """Find our Java: of the checkout, or what the wheel brought. Raises: PeerError"""
    for folder in (_PACKAGE.parent, _SHIPPED):
        if (folder / "pom.xml").is_file():
            return JavaSources(folder)
    raise PeerError("this installation has no Java sources of the agent and the client")


def _home(environment: Mapping[str, str]) -> Path:
    """Return the folder of all releases: ROCKETPROOF_PEERS, the checkout's `build`, or ours."""
    named = environment.get(_HOME_VARIABLE)
    if named:
        return Path(named).absolute()
    checkout = _PACKAGE.parents[2]
    root = checkout if (checkout / "pyproject.toml").is_file() else Path.cwd()
    return root / "build" / "peers" / "rocketmq"


def find_jars(version: str, *, jdk: Jdk | None = None, home: Path | None = None) -> PeerJars:
    """Find a release that was fetched.

    Raises: PeerError if it was not, or from other sources than these; ToolMissingError
    """
    checked_version(version)
    folder = (home or _home(os.environ)) / version
    stamp = _stamp(folder)
    again = f"rocketproof peer rocketmq fetch --version {version}"
    if stamp is None:
        raise PeerError(f"the jars of RocketMQ {version} are not there: {again}")
    if stamp != _wanted(version, java_sources()):
        raise PeerError(f"the agent or the client of RocketMQ {version} was changed: {again}")
    return PeerJars(version, folder, jdk or find_jdk())


def fetch(
    version: str,
    *,
    say: Callable[[str], None],
    home: Path | None = None,
    sources: JavaSources | None = None,
) -> PeerJars:
    """Fetch a release and build the agent and the client, if that is not done; `say` progress.

    Raises: PeerError if Maven fails; ToolMissingError
    """
    checked_version(version)
    from_sources = sources or java_sources()
    folder = (home or _home(os.environ)) / version
    jdk = find_jdk()
    jars = PeerJars(version, folder, jdk)
    wanted = _wanted(version, from_sources)
    if _stamp(folder) == wanted:
        say(f"RocketMQ {version}: there already, {folder}")
        return jars
    maven = find_maven(jdk)
    say(f"RocketMQ {version}: Maven {maven.version} with Java {jdk.version}, into {folder}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _STAMP).unlink(missing_ok=True)
    for old in (*folder.glob("*.jar"), *folder.glob("lib/*.jar"), *folder.glob("agent-lib/*.jar")):
        old.unlink()
    shutil.rmtree(folder / "target", ignore_errors=True)  # classes of sources that are gone
    command: list[str | Path] = [
        *(maven.program, "--batch-mode", "--strict-checksums"),
        *("--file", from_sources.folder / "pom.xml"),
        f"-Drocketmq.version={version}",
        f"-Drocketproof.build={folder}",
        "package",
    ]
    progress = MavenProgress(say)
    ended = run_program(
        command,
        folder=folder,
        timeout_s=_FETCH_TIMEOUT_S,
        environment={**os.environ, "JAVA_HOME": str(jdk.home)},
        heard=progress.heard,
    )
    if ended.code != 0:
        raise PeerError(f"Maven failed: {progress.failure() or f'exit code {ended.code}'}")
    if not (jars.agent.is_file() and jars.client.is_file() and any(jars.library.glob("*.jar"))):
        raise PeerError(f"Maven left no jars in {folder}")
    (folder / _STAMP).write_text(json.dumps(wanted) + "\n", "utf-8")
    present = list(jars.library.glob("*.jar"))
    size_mb = sum(path.stat().st_size for path in present) / 1e6
    say(f"RocketMQ {version}: {len(present)} jars, {size_mb:.0f} MB")
    return jars


class MavenProgress:
    """What Maven prints, as few lines as a user wants to read."""

    _EVERY = 50

    def __init__(self, say: Callable[[str], None]) -> None:
        """Say how many files came, every fifty, and what is built."""
        self._say = say
        self._fetched = 0
        self._errors: list[str] = []

    def heard(self, line: str) -> None:
        """Take a line of Maven's."""
        text = line.strip()
        if text.startswith(("Downloaded ", "[INFO] Downloaded ")):
            self._fetched += 1
            if self._fetched % self._EVERY == 0:
                self._say(f"  {self._fetched} files fetched")
        elif text.startswith("[INFO] Building ") and "jar:" not in text:
            self._say(f"  building {text.removeprefix('[INFO] Building ').split()[0]}")
        elif text.startswith("[ERROR] "):
            self._errors.append(text.removeprefix("[ERROR] "))

    def failure(self) -> str:
        """Return the first errors in one line; empty if there was none."""
        return " / ".join(error for error in self._errors[:_ERRORS_SHOWN] if error)


def _wanted(version: str, sources: JavaSources) -> dict[str, str]:
    return {"version": version, "sources_sha256": sources.sha256()}


def _stamp(folder: Path) -> object:
    """Return what is stamped, None if nothing is or nobody can read it."""
    try:
        return json.loads((folder / _STAMP).read_text("utf-8"))
    except (OSError, ValueError):
        return None

"""What is fetched and when; Maven is a script here that leaves files, or fails."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocketmq_peer.doctor import examine
from rocketmq_peer.errors import PeerError
from rocketmq_peer.jars import JavaSources, MavenProgress, fetch, find_jars, java_sources
from rocketmq_peer.versions import BYTE_BUDDY, PINNED, SUPPORTED
from rocketproof.cli import main

_JAVAC = "#!/bin/sh\necho javac 17.0.1\n"
_MAVEN = """#!/bin/sh
[ "$1" = --version ] && { echo Apache Maven 3.9; exit 0; }
echo "$@" >> "$CALLS"
for word in "$@"; do case "$word" in -Drocketproof.build=*) into=${word#*=};; esac; done
echo "[INFO] Building rocketproof-agent 1"
mkdir -p "$into/lib"; echo x > "$into/lib/a.jar"
echo x > "$into/rocketproof-agent.jar"; echo x > "$into/rocketproof-client.jar"
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a JDK and a Maven of a few lines; the file lists the calls of Maven."""
    programs = tmp_path / "jdk" / "bin"
    programs.mkdir(parents=True)
    for name, text in (("javac", _JAVAC), ("mvn", _MAVEN)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    for name in ("JAVA_HOME", "ROCKETPROOF_JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.defpath}")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("ROCKETPROOF_PEERS", str(tmp_path / "peers"))
    return tmp_path / "calls"


def sources(folder: Path) -> JavaSources:
    """Sources of a line, to change."""
    java = folder / "agent" / "src" / "main" / "java"
    java.mkdir(parents=True, exist_ok=True)
    (folder / "pom.xml").write_text("<project/>")
    (java / "A.java").write_text("class A {}")
    return JavaSources(folder)


def test_a_release_is_fetched_once(calls: Path) -> None:
    said: list[str] = []
    jars = fetch("5.3.3", say=said.append)
    assert jars.folder == calls.parent / "peers" / "5.3.3"
    assert jars.agent.is_file()
    (called,) = calls.read_text().splitlines()
    assert "--strict-checksums" in called.split()
    assert "-Drocketmq.version=5.3.3" in called.split()
    assert "  building rocketproof-agent" in said
    assert find_jars("5.3.3").folder == jars.folder
    fetch("5.3.3", say=said.append)
    assert len(calls.read_text().splitlines()) == 1
    assert said[-1] == f"RocketMQ 5.3.3: there already, {jars.folder}"


def test_changed_sources_are_built_again_and_nothing_old_is_left(calls: Path) -> None:
    ours = sources(calls.parent / "sources")
    jars = fetch("5.3.3", say=print, sources=ours)
    (jars.library / "old.jar").write_text("x")
    (ours.folder / "agent" / "src" / "main" / "java" / "A.java").write_text("class A { }")
    fetch("5.3.3", say=print, sources=ours)
    assert len(calls.read_text().splitlines()) == 2
    assert [path.name for path in jars.library.iterdir()] == ["a.jar"]


def test_other_sources_than_these_are_not_run(calls: Path) -> None:
    fetch("5.3.3", say=print, sources=sources(calls.parent / "sources"))
    with pytest.raises(PeerError, match="was changed: rocketproof peer rocketmq fetch"):
        find_jars("5.3.3")


def test_a_fetch_that_fails_leaves_no_stamp(calls: Path) -> None:
    maven = calls.parent / "jdk" / "bin" / "mvn"
    failing = '[ "$1" = --version ] || { echo "[ERROR] no network"; exit 1; }\n'
    maven.write_text(_MAVEN.replace("#!/bin/sh\n", "#!/bin/sh\n" + failing))
    with pytest.raises(PeerError, match="Maven failed: no network"):
        fetch("5.3.3", say=print)
    with pytest.raises(PeerError, match=r"5\.3\.3 are not there: rocketproof peer rocketmq fetch"):
        find_jars("5.3.3")


def test_a_torn_stamp_is_none(calls: Path) -> None:
    jars = fetch("5.3.3", say=print)
    stamp = jars.folder / "stamp.json"
    assert json.loads(stamp.read_text())["version"] == "5.3.3"
    stamp.write_text(stamp.read_text()[:9])
    fetch("5.3.3", say=print)
    assert len(calls.read_text().splitlines()) == 2


def test_only_releases_that_are_complete_are_taken() -> None:
    assert set(PINNED) < set(SUPPORTED)
    with pytest.raises(PeerError, match=r"5\.3\.4: only 5\.3\.3, 5\.4\.0, 5\.5\.0"):
        fetch("5.3.4", say=print)


def test_the_pinned_byte_buddy_is_that_of_the_build() -> None:
    pom = (java_sources().folder / "pom.xml").read_text("utf-8")
    assert f"<bytebuddy.version>{BYTE_BUDDY}</bytebuddy.version>" in pom
    assert f"<rocketmq.version>{PINNED[0]}</rocketmq.version>" in pom


def test_of_maven_a_few_lines_are_said() -> None:
    said: list[str] = []
    progress = MavenProgress(said.append)
    for _ in range(100):
        progress.heard("Downloaded from somewhere: a.jar (1 kB at 2 kB/s)")
    progress.heard("[ERROR] first")
    progress.heard("[ERROR] second")
    assert said == ["  50 files fetched", "  100 files fetched"]
    assert progress.failure() == "first / second"


# ---- The commands ----


def test_the_commands_say_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JAVA_HOME", "ROCKETPROOF_JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    told = CliRunner().invoke(main, ["peer", "rocketmq", "fetch", "--version", "5.3.3"])
    assert told.exit_code == 2
    assert told.stderr.startswith("rocketproof: no JDK with a compiler was found: install a JDK")
    told = CliRunner().invoke(main, ["peer", "rocketmq", "doctor", "--json"])
    found = {one["name"]: one["found"] for one in json.loads(told.stdout)}
    assert (told.exit_code, found) == (2, {"JDK": False, "Maven": False})


@pytest.mark.usefixtures("calls")
def test_the_doctor_names_each_release() -> None:
    fetch(PINNED[0], say=print)
    found = {one.name: one.found for one in examine()}
    first, second = (f"RocketMQ {version}" for version in PINNED)
    assert found.pop("address 127.0.0.2") is (sys.platform == "linux")
    assert found == {"JDK": True, "Maven": True, first: True, second: False}
    told = CliRunner().invoke(main, ["peer", "rocketmq", "doctor"])
    assert told.exit_code == 2
    assert f"fetch --version {PINNED[1]}" in "".join(told.stdout.split("\n"))


@pytest.mark.usefixtures("calls")
def test_all_pinned_releases_are_fetched_by_default() -> None:
    told = CliRunner().invoke(main, ["peer", "rocketmq", "fetch"])
    assert told.exit_code == 0, told.output
    assert all(one.found for one in examine() if one.name.startswith("RocketMQ"))

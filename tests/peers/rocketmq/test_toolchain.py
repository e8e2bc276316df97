"""What is found of a JDK and of Maven, and what is said where there is none; no Java is started."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rocketmq_peer.errors import ProcessError, ToolMissingError
from rocketmq_peer.processes import Ended
from rocketmq_peer.toolchain import Jdk, find_jdk, find_maven


def program(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def answers(texts: dict[Path, str]) -> Callable[[Sequence[str | Path]], Ended]:
    """Pretend to ask the compilers of some homes."""

    def ask(command: Sequence[str | Path]) -> Ended:
        home = Path(command[0]).parents[1]
        if home not in texts:
            raise ProcessError("not there")
        return Ended(0, texts[home])

    return ask


def test_a_jdk_that_is_named_comes_first(tmp_path: Path) -> None:
    wish, usual = tmp_path / "wish", tmp_path / "usual"
    environment = {"ROCKETPROOF_JAVA_HOME": str(wish), "JAVA_HOME": str(usual), "PATH": ""}
    texts = {wish: "javac 21.0.1\n", usual: "javac 17.0.15\n"}
    assert find_jdk(environment, answers(texts)) == Jdk(wish, "21.0.1")
    del texts[wish]
    assert find_jdk(environment, answers(texts)) == Jdk(usual, "17.0.15")


def test_a_jdk_is_found_by_its_compiler_on_path(tmp_path: Path) -> None:
    compiler = program(tmp_path / "jdk" / "bin", "javac")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "javac").symlink_to(compiler)
    home = (tmp_path / "jdk").resolve()
    found = find_jdk({"PATH": str(tmp_path / "links")}, answers({home: "javac 11\n"}))
    assert (found.home, found.version) == (home, "11")
    assert found.java == home / "bin" / "java"


def test_without_a_jdk_it_is_said_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ToolMissingError, match=r"no JDK with a compiler was found: install a JDK"):
        find_jdk({"PATH": ""}, answers({}))
    environment = {"JAVA_HOME": str(tmp_path), "PATH": ""}
    for text, why in (("javac 1.8.0_402\n", "JAVA_HOME is Java 1.8.0_402"),
                      ("what?\n", "javac of JAVA_HOME does not answer")):  # fmt: skip
        with pytest.raises(ToolMissingError, match=why):
            find_jdk(environment, answers({tmp_path: text}))
    with pytest.raises(ToolMissingError, match="JAVA_HOME has no javac"):
        find_jdk(environment, answers({}))


def test_maven_says_its_version_or_is_missing(tmp_path: Path) -> None:
    jdk = Jdk(tmp_path, "17")
    with pytest.raises(ToolMissingError, match="no mvn was found on PATH: install Maven"):
        find_maven(jdk, {"PATH": ""})
    maven = program(tmp_path / "bin", "mvn")
    environment = {"PATH": str(tmp_path / "bin")}
    found = find_maven(jdk, environment, lambda _: Ended(0, "\x1b[1mApache Maven 3.8.7\x1b[m\n"))
    assert (found.program, found.version) == (maven, "3.8.7")
    with pytest.raises(ToolMissingError, match="does not answer like Maven"):
        find_maven(jdk, environment, lambda _: Ended(1, "no java\n"))


def test_maven_is_asked_with_the_jdk_that_was_found(tmp_path: Path) -> None:
    maven = program(tmp_path / "bin", "mvn")
    maven.write_text('#!/bin/sh\necho "Apache Maven 9-$JAVA_HOME"\n')
    found = find_maven(Jdk(Path("jdk17"), "17"), {"PATH": str(tmp_path / "bin")})
    assert found.version == "9-jdk17"

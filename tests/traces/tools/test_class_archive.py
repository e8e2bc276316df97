"""An archive of classes: TLC says with it what it says without, and a bad one is passed by."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tlatrace.tools.class_archive import archive_options, archive_place
from tlatrace.tools.jar import find_jar
from tlatrace.tools.java import find_java
from tlatrace.tools.sany import export_xml
from tlatrace.tools.tlc import TlcRun, run_tlc

pytestmark = pytest.mark.java


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache in which the archive was made."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        archive_options.cache_clear()
        assert archive_options(find_java(), find_jar())
    return folder


@pytest.fixture
def archive(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the archive is in a cache of one's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(cache, tmp_path / "cache")
    return archive_place(find_java(), find_jar())


@pytest.fixture(autouse=True)
def forgotten() -> None:
    archive_options.cache_clear()


def checked(folder: Path) -> TlcRun:
    """Have TLC check a small module that falls."""
    module = folder / "Counter.tla"
    module.write_text(
        "---- MODULE Counter ----\nEXTENDS Naturals\nVARIABLE x\n"
        "Init == x = 0\nNext == x' = x + 1\nSmall == x < 5\n====\n",
        "utf-8",
    )
    (folder / "Counter.cfg").write_text("INIT Init\nNEXT Next\nINVARIANT Small\n", "utf-8")
    run = run_tlc(module, folder / "Counter.cfg")
    assert "[warning]" not in run.output
    return replace(run, seconds=0.0, output="")


def shared(options: Sequence[str]) -> list[str]:
    """Return which of TLC's classes a JVM takes from an archive."""
    command = [str(find_java().java), *options, "-Xlog:class+load", "-cp", str(find_jar().path)]
    done = subprocess.run(
        [*command, "tlc2.TLC", "-h"], capture_output=True, check=False, text=True, timeout=60
    )
    lines = [line for line in done.stdout.splitlines() if " tlc2." in line]
    assert lines
    return [line for line in lines if "shared objects file" in line]


def test_a_jvm_takes_tlcs_classes_from_it(archive: Path) -> None:
    assert archive.is_file()
    assert len(shared(archive_options(find_java(), find_jar()))) > 5
    assert shared(()) == []


def test_it_is_made_once(archive: Path) -> None:
    before = archive.stat()
    archive_options.cache_clear()
    archive_options(find_java(), find_jar())

    assert (archive.stat().st_ino, archive.stat().st_mtime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
    )


@pytest.mark.parametrize("damage", ["cut", "flipped", "emptied", "without its digest"])
def test_one_that_is_damaged_is_made_again(damage: str, archive: Path, tmp_path: Path) -> None:
    right = checked(tmp_path)
    data = bytearray(archive.read_bytes())
    match damage:
        case "cut":
            archive.write_bytes(data[: len(data) // 2])
        case "flipped":
            data[len(data) // 2] ^= 1
            archive.write_bytes(data)
        case "emptied":
            archive.write_bytes(b"")
        case _:
            archive.with_suffix(".sha256").unlink()
    archive_options.cache_clear()

    assert checked(tmp_path) == right
    assert right.violated == "Small"
    assert archive.stat().st_size >= len(data) // 2
    assert shared(archive_options(find_java(), find_jar())) != []


def test_one_of_another_jar_is_passed_by_in_silence(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = checked(tmp_path)
    jar = tmp_path / "other.jar"
    jar.write_bytes(find_jar().path.read_bytes())
    monkeypatch.setenv("TLA2TOOLS_JAR", str(jar))
    options = (f"-XX:SharedArchiveFile={archive}", "-Xlog:cds=off")
    monkeypatch.setattr("tlatrace.tools.tlc.archive_options", lambda *_: options)

    assert checked(tmp_path) == right


def test_one_that_others_can_write_is_made_again(archive: Path) -> None:
    archive.write_bytes(b"theirs")
    archive.chmod(0o666)
    archive_options.cache_clear()
    archive_options(find_java(), find_jar())

    assert archive.stat().st_size > 1_000_000
    assert archive.stat().st_mode & 0o077 == 0


def test_where_it_cannot_be_made_jvms_start_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    (tmp_path / "file").write_text("no folder", "utf-8")

    assert archive_options(find_java(), find_jar()) == ()
    assert checked(tmp_path).violated == "Small"


def test_sany_says_the_same_with_it(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "Once.tla"
    module.write_text("---- MODULE Once ----\nEXTENDS Naturals\nTwo == 1 + 1\n====\n", "utf-8")
    with_it = [element.text for element in export_xml(module).iter()]
    monkeypatch.setattr("tlatrace.tools.sany.archive_options", lambda *_: ())
    module.write_text(module.read_text("utf-8") + "\n", "utf-8")  # or the last answer is given

    assert archive.is_file()
    assert with_it == [element.text for element in export_xml(module).iter()]

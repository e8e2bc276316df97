"""What is printed is as wide as the terminal, and where there is none nothing is cut or broken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tlatrace.terminal import columns, open_console, open_table

PATH: Final = "/" + "/".join(["folder"] * 30)
COMMAND: Final = "rocketproof simulate epoch_truncation --seed 7 --bug B05 --judge --out " + PATH
WIDTHS: Final = (40, 72, 100, 140, 300)


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Print a table with a path and a line with a command."""
    table = open_table("What was found", "what", "where", "seconds", right=("seconds",))
    table.add_row("a specification", PATH, "1.5")
    console = open_console()
    console.print(table)
    console.print(COMMAND)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_table_fits_and_loses_nothing_and_a_command_is_one_line(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))

    *table, command = printed(capsys)

    assert command == COMMAND
    assert max(map(len, table)) <= width
    cells = [line.split("│")[2].strip() for line in table if line.startswith("│")]
    assert "".join(cells) == PATH
    assert (len(cells) == 1) == (width == 300)


@pytest.mark.parametrize("term", ["xterm", "dumb"])
@pytest.mark.parametrize("told", [None, "", "0", "wide", "²"])
def test_a_log_has_no_width(
    told: str | None, term: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if told is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", told)
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("FORCE_COLOR", "1")  # colours do not make a terminal of a log

    lines = printed(capsys)

    assert [line for line in lines if PATH in line and "│" in line]
    assert COMMAND in lines[-1]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("width", WIDTHS)
def test_a_terminal_says_its_width_itself(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    import pty
    import termios

    monkeypatch.delenv("COLUMNS", raising=False)
    ours, theirs = pty.openpty()
    try:
        termios.tcsetwinsize(theirs, (24, width))
        with open(theirs, "w", closefd=False) as terminal:
            assert columns(terminal) == width
            monkeypatch.setenv("COLUMNS", "55")
            assert columns(terminal) == 55
    finally:
        os.close(ours)
        os.close(theirs)


def shown(tmp_path: Path, width: int | None, *words: str) -> list[str]:
    """Run a command whose output is no terminal, with or without COLUMNS."""
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    if width is not None:
        environment["COLUMNS"] = str(width)
    done = subprocess.run(
        [sys.executable, "-m", "rocketproof", *words],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize("width", [None, 60, 100, 150, 220])
def test_a_help_page_is_as_wide_as_the_terminal_and_breaks_no_example(
    width: int | None, tmp_path: Path
) -> None:
    *page, _, example = shown(tmp_path, width, "corpus", "generate", "--help")

    assert example.endswith(
        "rocketproof corpus generate epoch_truncation --runs 2000 --out build/corpus"
    )
    longest = max(map(len, page))
    assert longest <= (width or 80)
    assert longest > min(width or 80, 160) - 15


@pytest.mark.parametrize("width", [None, 90])
def test_the_doctor_shows_whole_paths_in_a_log(width: int | None, tmp_path: Path) -> None:
    lines = shown(tmp_path, width, "doctor")

    python = [line for line in lines if sys.executable in line]
    assert len(python) == 1 or width is not None
    assert width is None or max(map(len, lines)) <= width

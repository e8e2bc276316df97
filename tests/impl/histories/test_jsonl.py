"""A history is the same after it was a file, and a file that is no history is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocketha.errors import HistoryFormatError
from rocketha.histories import Outcome, read_history, write_history
from rocketha.histories.jsonl import dump_history, load_history
from tests.impl.histories.histories import (
    became_master,
    elected,
    final,
    history,
    message,
    put,
    seen,
)

A = message("e1#1;", 0)
ALL = history(
    put("e1#1;"),
    put("e1#2;", None, outcome=Outcome.FAIL),
    seen(A),
    elected(2, clean=False),
    became_master(2, A, message("e1#2;", 128)),
    final(2),
)


def test_a_history_comes_back_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    write_history(path, ALL)
    assert read_history(path) == ALL


def test_the_lines_are_those_of_the_table() -> None:
    lines = dump_history(ALL).decode().splitlines()
    assert json.loads(lines[0])["kind"] == "history"
    assert lines[1] == (
        '{"kind":"put","producer":1,"body":"e1#1;","epoch":1,"invoked":10,"answered":15,'
        '"outcome":"OK","status":"a status","offset":0}'
    )
    assert lines[5].endswith('"log":[[0,"e1#1;","d"],[128,"e1#2;","d"]]}')


HEADER, PUT, SEEN = dump_history(history(put("e1#1;"), seen(A))).splitlines()


@pytest.mark.parametrize(
    ("line", "text", "reason"),
    [
        (1, b"", "line 1: "),
        (1, b"{}", "kind is missing"),
        (1, PUT, "is no history"),
        (1, HEADER.replace(b'"version":1', b'"version":2'), "version is not 1"),
        (1, HEADER.replace(b'"allAck"', b'"allack"'), "promises has other fields"),
        (1, HEADER.replace(b"true", b"1"), "allAck is no truth value"),
        (2, b"[]", "line 2"),
        (2, b"\xff", "line 2"),
        (2, HEADER, "kind is 'history'"),
        (2, b'{"kind":"pat"}', "kind is 'pat'"),
        (2, PUT.replace(b'"OK"', b'"WELL"'), "outcome is 'WELL'"),
        (2, PUT.replace(b'"producer":1', b'"producer":-1'), "producer is no natural number"),
        (2, PUT.replace(b'"producer":1', b'"producer":true'), "producer is no natural number"),
        (2, PUT.replace(b'"producer"', b'"consumer"'), "is no put"),
        (2, SEEN.replace(b'[0,"e1#1;","d"]', b"[0]"), "message is no message"),
        (2, SEEN.replace(b'[0,"e1#1;","d"]', b"0"), "message is no array"),
    ],
)
def test_what_is_no_history_is_refused(line: int, text: bytes, reason: str) -> None:
    lines = [HEADER, PUT]
    lines[line - 1] = text
    with pytest.raises(HistoryFormatError, match="a file, line") as caught:
        load_history(b"".join(one + b"\n" for one in lines), "a file")
    assert caught.value.line == line
    assert reason in str(caught.value)


def test_a_log_is_in_order() -> None:
    data = dump_history(history(final(2, message("b", 128), message("a", 0))))
    with pytest.raises(HistoryFormatError, match="log is not in order"):
        load_history(data, "a file")


@pytest.mark.parametrize("data", [b"", HEADER, HEADER + b"\n" + PUT])
def test_a_file_that_was_cut_is_refused(data: bytes) -> None:
    with pytest.raises(HistoryFormatError, match="the line has no end"):
        load_history(data, "a file")

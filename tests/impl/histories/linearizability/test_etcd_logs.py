"""How logs of Jepsen are read; the logs themselves are not here."""

from __future__ import annotations

import pytest

from benchmarks.etcd_logs import GOOD, NUMBERS, main, read_log
from rocketha.errors import HistoryFormatError
from rocketha.histories import Outcome
from rocketha.histories.linearizability import Kind, Linearizable, check_linearizability


def log(*lines: str) -> str:
    return "".join(f"INFO  jepsen.util - {line}\n" for line in lines)


def test_a_log_is_read() -> None:
    text = log(
        "0\t:invoke\t:write\t3",
        "1 :invoke :cas [3 4]",
        "2\t:invoke\t:cas\t[7 8]",
        "0\t:ok\t:write\t3",
        "1\t:ok\t:cas\t[3 4]",
        "2\t:fail\t:cas\t[7 8]",
        "0\t:invoke\t:read\tnil",
        "0\t:fail\t:read\t:timed-out",
        "0\t:invoke\t:read\tnil",
        "1\t:invoke\t:write\t5",
        "0\t:ok\t:read\t4",
        "1\t:info\t:write\t:timed-out",
        "3\t:invoke\t:cas\t[1 2]",
    )

    one = read_log(text, "a log")

    rows = [
        (o.client, o.kind, o.expected, o.value, o.called_at, o.returned_at, o.outcome, o.swapped)
        for o in one.operations
    ]
    ok, unknown = Outcome.OK, Outcome.UNKNOWN
    assert rows == [
        (0, Kind.WRITE, None, 3, 1, 4, ok, True),
        (1, Kind.CAS, 3, 4, 2, 5, ok, True),
        (2, Kind.CAS, 7, 8, 3, 6, ok, False),
        (0, Kind.READ, None, None, 7, 8, Outcome.FAIL, True),
        (0, Kind.READ, None, 4, 9, 11, ok, True),
        (1, Kind.WRITE, None, 5, 10, None, unknown, True),
        (3, Kind.CAS, 1, 2, 13, None, unknown, True),
    ]
    assert isinstance(check_linearizability(one), Linearizable)


@pytest.mark.parametrize(
    ("lines", "line", "reason"),
    [
        (["0 :invoke :pop 3"], 1, "is no line of an operation"),
        (["0 :invoke :read nil", "0 :invoke :read nil"], 2, "process 0 has an operation already"),
        (["0 :invoke :read nil", "1 :ok :read 3"], 2, "process 1 has called no read"),
        (["0 :invoke :read nil", "0 :ok :write 3"], 2, "process 0 has called no write"),
    ],
)
def test_a_line_that_cannot_be_is_refused(lines: list[str], line: int, reason: str) -> None:
    with pytest.raises(HistoryFormatError, match=reason) as error:
        read_log(log(*lines), "a log")

    assert error.value.line == line


def test_there_are_102_logs_of_which_23_are_good() -> None:
    assert len(NUMBERS) == 102
    assert len(GOOD) == 23
    assert GOOD < NUMBERS


def test_the_command_wants_a_folder(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["etcd_logs"])
    assert main() == 2
    assert "usage" in capsys.readouterr().err

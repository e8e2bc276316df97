"""Recorded runs of mixed groups are judged, and what is broken in them is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dledger_peer.judging import Append, LogEntry, Run, judge, read_run, write_run
from dledger_peer.mixed import main
from tests.source_files import ROOT

SAMPLES = sorted((ROOT / "peers" / "dledger" / "samples").glob("*/run.jsonl.gz"))


def of_samples() -> dict[str, Run]:
    return {path.parent.name: read_run(path) for path in SAMPLES}


def test_recorded_runs_of_mixed_groups_are_kept() -> None:
    runs = of_samples()
    whose = {name: sorted(set(run.members.values())) for name, run in runs.items()}
    assert len(runs) >= 4
    for name, run in runs.items():
        assert judge(run) == [], name
        assert len(whose[name]) == 2, "it is mixed"
        assert "rocketha" in whose[name]
        assert run.faults
        by = {run.members[one.node] for one in run.appends if one.is_acknowledged}
        assert by == set(whose[name]), "both have led"
    of_ours = {sum(one == "rocketha" for one in run.members.values()) for run in runs.values()}
    assert of_ours == {1, 2}


# ---- a small run, broken in each way ----


def append(number: int, **changed: object) -> Append:
    """The call of entry `number`, one second after the other, of 100 ms each."""
    begun = number * 10**9
    made = Append(
        client="c",
        node="n0",
        body=f"b{number}",
        begun_ns=begun,
        ended_ns=begun + 10**8,
        code=200,
        index=number,
        term=1,
    )
    return replace(made, **changed)  # type: ignore[arg-type]


def entry(number: int, **changed: object) -> LogEntry:
    made = LogEntry(index=number, term=1, pos=50 * number, body=f"b{number}")
    return replace(made, **changed)  # type: ignore[arg-type]


LOG = tuple(entry(number) for number in range(4))
GOOD = Run(
    seed=1,
    members={"n0": "0.3.2", "n1": "rocketha"},
    faults=["kill n0"],
    appends=[append(number) for number in range(3)]
    + [append(3, code=None, index=-1, term=-1), append(9, code=404, index=-1, term=-1)],
    logs={"n0": LOG, "n1": LOG},
)


def with_logs(change: Callable[[tuple[LogEntry, ...]], tuple[LogEntry, ...]]) -> Run:
    return replace(GOOD, logs={node: change(tuple(log)) for node, log in GOOD.logs.items()})


def with_log(change: Callable[[tuple[LogEntry, ...]], tuple[LogEntry, ...]]) -> Run:
    return replace(GOOD, logs={**GOOD.logs, "n1": change(LOG)})


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (replace(GOOD, appends=GOOD.appends[3:]), "nothing was acknowledged"),
        (replace(GOOD, logs={"n0": LOG}), "a log is missing"),
        (replace(GOOD, logs={"n0": (), "n1": ()}), "a log is missing, or empty"),
        (with_log(lambda log: log[:3]), "n0 has 4 entries, n1 has 3"),
        (with_log(lambda log: (*log[:3], entry(3, body="x"))), "n0 has b3 at 3 of 1"),
        (with_log(lambda log: (*log[:3], entry(3, term=2))), "n0 has b3 at 3 of 1"),
        (with_log(lambda log: (*log[:3], entry(3, pos=0))), "n0 has b3 at 3 of 1"),
        (with_logs(lambda log: log[:2]), "is lost: n0 has None"),
        (with_logs(lambda log: (entry(0, term=2), *log[1:])), "n0 has term 1 at 1, behind 2"),
        (with_logs(lambda log: log[1:]), "n0 has entry 1 at place 0"),
        (with_logs(lambda log: (*log[:3], entry(3, body="b0"))), "n0 has b0 at 0 and at 3"),
        (with_logs(lambda log: (*log, entry(4, body="?"))), "which nobody has appended"),
        (with_logs(lambda log: (*log, entry(4, body="b9"))), "which was refused with 404"),
        (
            replace(GOOD, appends=[*GOOD.appends[:2], append(2, begun_ns=0, ended_ns=1)]),
            "was acknowledged before",
        ),
    ],
)
def test_what_is_broken_is_found(run: Run, says: str) -> None:
    assert judge(GOOD) == []
    found = judge(run)
    assert any(says in line for line in found), found


def test_an_entry_that_is_lost_on_one_node_of_a_recorded_run_is_found() -> None:
    run = next(iter(of_samples().values()))
    node = next(iter(run.logs))
    for at in (0, len(run.logs[node]) // 2):
        log = [one for one in run.logs[node] if one.index != at]
        assert judge(replace(run, logs={**run.logs, node: log}))


def test_a_file_of_a_run_says_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    write_run(path, GOOD)
    again = read_run(path)
    assert judge(again) == []
    assert again == replace(GOOD, logs={node: list(log) for node, log in GOOD.logs.items()})


def test_without_a_jdk_the_program_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ROCKETPROOF_JAVA_HOME", "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    assert main(["--seeds", "0"]) == 2
    assert "error: no JDK with a compiler was found" in capsys.readouterr().out

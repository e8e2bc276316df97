"""Starts of members that their disks cut short: what a careless start loses is seen in traces."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rocketha.dledger.store_files import FileList
from rocketha.sim.dledger import cluster
from rocketproof.protocols import PROTOCOLS
from tests.traces.rocketproof.recorded_runs import judged, recorded
from tlatrace.judgement.verdict import Conforms, Diverges, Verdict

SEED = 65
recorded_anew = recorded.__wrapped__


def careless(recover: Callable[[FileList], None]) -> Callable[[FileList], None]:
    """Write each file again before it is made durable, and have it empty in between."""

    def recovers(files: FileList) -> None:
        for start in files.starts:
            path, data = files._path(start), files.whole_file(start)
            files._disk.truncate(path, 0)
            files._disk.fsync(path)
            files._disk.write(path, 0, data)
        recover(files)

    return recovers


def verdict_and_failed_starts() -> tuple[Verdict, int]:
    run = recorded_anew("dledger", SEED)
    (verdict,) = judged([PROTOCOLS["dledger"].trace_of_records(run.logs)])
    kinds = [injected.point.kind for injected in run.simulated.injected]
    return verdict, kinds.count("failed-start")


@pytest.mark.java
def test_starts_fail_and_leave_what_the_next_one_finds() -> None:
    verdict, failed = verdict_and_failed_starts()

    assert failed > 0
    assert isinstance(verdict, Conforms)


@pytest.mark.java
def test_a_start_that_loses_something_when_it_is_cut_short_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(FileList, "recover", careless(FileList.recover))
    noticed, failed = verdict_and_failed_starts()
    assert failed > 0
    assert isinstance(noticed, Diverges)
    assert noticed.action == "Crash"

    monkeypatch.setattr(cluster, "fail_a_start", lambda *_: None)
    unnoticed, failed = verdict_and_failed_starts()
    assert failed == 0
    assert isinstance(unnoticed, Conforms)

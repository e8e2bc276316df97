"""Recorded mixed runs are held against DLedgerInPart, and what is changed in them diverges."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from dledger_peer.by_specification import RECORDS, hold, write_files
from dledger_peer.judging import read_run
from rocketha.recording.node_log import NodeLog, read_logs
from rocketha.recording.record import NodeRecord, RecordError
from rocketproof.engines import Judges, match_by_model
from rocketproof.protocols import PROTOCOLS
from rocketproof.records_judge import traces_of
from rocketproof.trace_inputs import SpecChoice
from tests.source_files import ROOT
from tlatrace.errors import TraceFormatError
from tlatrace.judgement.verdict import Conforms, Diverges, Verdict
from tlatrace.trace import Trace

SAMPLES = sorted(path for path in (ROOT / "peers" / "dledger" / "samples").iterdir())
PLUG = PROTOCOLS["dledger"]
SAMPLE = next(path for path in SAMPLES if path.name == "0.3.2-1-41")
"""One of ours leads in it, and follows."""


@cache
def logs_of(folder: Path) -> tuple[NodeLog, ...]:
    return read_logs(folder)


def trace_of(folder: Path, logs: Sequence[NodeLog]) -> Trace:
    (trace,) = traces_of(PLUG, folder, logs)
    return trace


def judged(traces: Sequence[Trace]) -> list[Verdict]:
    """Hold traces with the same constants against the specification; no Java is asked again."""
    choice, header = SpecChoice(), traces[0].header
    assert header is not None
    assert all(trace.header == header for trace in traces)
    return match_by_model(Judges(choice=choice), choice.model(header), header, traces)


def test_recorded_runs_conform() -> None:
    actions: set[str | None] = set()
    for folder in SAMPLES:
        run, logs = read_run(folder / "run.jsonl.gz"), logs_of(folder)
        ours = {name for name, whose in run.members.items() if whose == "rocketha"}
        steps = {log.header.node: len(log.records) for log in logs}
        assert steps.keys() == run.members.keys()
        assert {name for name, count in steps.items() if count > 1} == ours
        trace = trace_of(folder, logs)
        (verdict,) = judged([trace])
        assert isinstance(verdict, Conforms), verdict
        actions |= {event.action for event in trace.events}
    assert actions >= {
        *("IncreaseTerm", "AskVotes", "HandleVote", "ParseVotes", "HandleHeartbeat"),
        *("BecomeCandidate", "AppendAsLeader", "CommitEntry", "Compare", "AppendAsFollower"),
        *("Acknowledge", "LearnCommit", "Sync", "Apply", "Crash", "Unseen"),
    }


# ---- what is changed ----

Change = Callable[[list[NodeRecord]], None]


def changed(node: str, change: Change) -> tuple[NodeLog, ...]:
    logs = []
    for log in logs_of(SAMPLE):
        if log.header.node == node:
            records = list(log.records)
            change(records)
            assert records != list(log.records), "nothing is changed"
            log = replace(log, records=tuple(records))
        logs.append(log)
    return tuple(logs)


def first(records: Sequence[NodeRecord], is_it: Callable[[NodeRecord], Any]) -> int:
    return next(at for at, record in enumerate(records) if is_it(record))


def with_state(records: list[NodeRecord], at: int, **state: object) -> None:
    one = records[at]
    records[at] = msgspec.structs.replace(one, state={**one.state, **state})


def with_heard(records: list[NodeRecord], at: int, old: str, new: str) -> None:
    one = records[at]
    heard = tuple({**frame, "body": re.sub(old, new, frame["body"])} for frame in one.heard)
    records[at] = msgspec.structs.replace(one, heard=heard)


def commits_too_much(records: list[NodeRecord]) -> None:
    at = first(records, lambda one: one.action == "LearnCommit")
    with_state(records, at, committed=records[at].state["committed"] + 3)


def commits_alone(records: list[NodeRecord]) -> None:
    """Nobody has acknowledged, and the leader commits."""
    for at, one in enumerate(records):
        if one.event == "ResponseArrived" and any('"index"' in f["body"] for f in one.heard):
            records[at] = msgspec.structs.replace(one, heard=())


def synchronizes_too_much(records: list[NodeRecord]) -> None:
    at = first(records, lambda one: one.action == "Sync")
    with_state(records, at, synced=records[at].state["synced"] + 1)


def stores_another_entry(records: list[NodeRecord]) -> None:
    at = first(records, lambda one: one.action == "AppendAsFollower")
    ((term, crc),) = records[at].state["log"]["added"]
    with_state(records, at, log={**records[at].state["log"], "added": [[term, crc ^ 1]]})


def follows_nobody(records: list[NodeRecord]) -> None:
    at = first(records, lambda one: one.state.get("role") == "FOLLOWER")
    records[at] = msgspec.structs.replace(records[at], heard=())


def leads_without_votes(records: list[NodeRecord]) -> None:
    at = first(records, lambda one: one.state.get("role") == "LEADER")
    for before in range(at + 1):
        with_heard(records, before, '"voteResult":"ACCEPT"', '"voteResult":"REJECT_ALREADY_VOTED"')


def forgets_its_vote(records: list[NodeRecord]) -> None:
    at = first(records, lambda one: (one.state.get("kept") or {}).get("vote_leader"))
    with_state(records, at + 1, kept={**records[at].state["kept"], "vote_leader": None})


def leader_has_other_entries(records: list[NodeRecord]) -> None:
    """DLedger's leader shows at a place what it has not shown there before."""
    pushes = [at for at, one in enumerate(records) if one.action == "AppendAsFollower"]
    with_heard(records, pushes[3], '"body":"..', '"body":"AA')


def two_lead_a_term(records: list[NodeRecord]) -> None:
    is_beat = [at for at, one in enumerate(records) if any(f["code"] == 51002 for f in one.heard)]
    one = records[is_beat[5]]
    ((frame),) = one.heard
    other = {"n0": "n2", "n2": "n0"}[frame["sender"]]
    body = frame["body"].replace(f'"leaderId":"{frame["sender"]}"', f'"leaderId":"{other}"')
    heard = ({**frame, "sender": other, "body": body},)
    records[is_beat[5]] = msgspec.structs.replace(one, heard=heard)


def files_have_another_entry(records: list[NodeRecord]) -> None:
    added = [
        [term, crc ^ (at == 7)] for at, (term, crc) in enumerate(records[0].state["log"]["added"])
    ]
    with_state(records, 0, log={"kept": 0, "added": added})


CHANGES: Final[dict[Change, tuple[str, str | None]]] = {
    commits_too_much: ("n1", "LearnCommit"),
    commits_alone: ("n1", "CommitEntry"),
    synchronizes_too_much: ("n1", "Sync"),
    stores_another_entry: ("n1", "AppendAsFollower"),
    follows_nobody: ("n1", "HandleHeartbeat"),
    leads_without_votes: ("n1", "ParseVotes"),
    forgets_its_vote: ("n1", "Unexplained"),
    leader_has_other_entries: ("n1", "AppendAsFollower"),
    two_lead_a_term: ("n1", "Unseen"),
    files_have_another_entry: ("n0", "Unseen"),
}
"""A change -> in whose records, and the action of the event at which they diverge."""


def test_what_is_changed_diverges() -> None:
    traces = [trace_of(SAMPLE, changed(node, change)) for change, (node, _) in CHANGES.items()]
    for change, trace, verdict in zip(CHANGES, traces, judged(traces), strict=True):
        assert isinstance(verdict, Diverges), change
        event = trace.events[verdict.step]
        assert (event.node, event.action) == CHANGES[change], change


def test_records_of_one_who_keeps_some_are_missed() -> None:
    logs = [log for log in logs_of(SAMPLE) if log.header.node != "n1"]
    with pytest.raises((RecordError, TraceFormatError)):
        trace_of(SAMPLE, logs)


def test_the_program_judges_what_it_has_recorded(tmp_path: Path) -> None:
    """A run that was not recorded is not judged; files end where their last line does."""
    (ours,) = [log for log in logs_of(SAMPLE) if len(log.records) > 1]
    path = tmp_path / f"{ours.header.node}{RECORDS}"
    lines = gzip.decompress((SAMPLE / f"{path.name}.gz").read_bytes()).splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:40]) + b'{"node":"n1"')
    run = read_run(SAMPLE / "run.jsonl.gz")
    write_files(tmp_path, run.logs)
    assert path.read_bytes() == b"".join(lines[:40])
    (tmp_path / f"n2{RECORDS}").unlink()
    held = hold(tmp_path)
    assert (held.verdict, held.is_good) == ("conforms", True), held.says
    path.unlink()
    held = hold(tmp_path)
    assert (held.verdict, held.is_good) == ("not judged", False), held.says

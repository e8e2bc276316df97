"""Runs of a master that comes back as behaviours of PreOnline, by whole states and by records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from click.testing import CliRunner

from rocketha.known_bugs import Bug
from rocketha.pre_online.core import PreOnlineCore
from rocketha.pre_online.events import PreOnlineActionName, PreOnlineDone, StoreTable
from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import RecordError
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED
from rocketproof.cli import main
from rocketproof.failing import RunJudge
from rocketproof.protocols import PROTOCOLS
from rocketproof.protocols.pre_online.said import SAID
from rocketproof.schedule import Scheduled
from rocketproof.shrinking import How, Shrinking
from rocketproof.timeline import timeline
from rocketproof.trace_inputs import SpecChoice
from tests.traces.rocketproof.recorded_runs import (
    SUBJECTS,
    judged,
    recorded,
    with_first,
    with_settings,
)
from tlatrace.judgement.verdict import Conforms, Diverges
from tlatrace.trace import Trace
from tlatrace.trace.ndjson import read_trace

Change: TypeAlias = Callable[[Sequence[NodeLog]], Sequence[NodeLog]]
PROTOCOL = "pre_online"
SEEDS = range(8)
ACTIONS = {
    "Init",
    "Commit",
    "Persist",
    "Stop",
    "Start",
    "Register",
    "Remove",
    "Hear",
    "Synchronize",
    "AskGroup",
    "LearnHaAddress",
    "SendHaInfo",
    "Handshake",
    "Disconnect",
    "Forget",
    "TakeTable",
    "GoOnline",
}


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return [trace for seed in SEEDS for trace in traces_of(seed)]


def traces_of(seed: int, *bugs: Bug) -> Sequence[Trace]:
    return PROTOCOLS[PROTOCOL].make_traces(seed, SimOptions(bugs=frozenset(bugs))).traces


def test_a_run_is_a_trace_of_each_table_whose_faults_are_counted_once(tmp_path: Path) -> None:
    out, records = tmp_path / "run.ndjson", tmp_path / "records"
    simulated = ["simulate", PROTOCOL, "--seed", "0", "--out", str(out), "--records", str(records)]
    for call in simulated, ["records", str(records), "--out", str(tmp_path / "records.ndjson")]:
        assert CliRunner().invoke(main, call).exit_code == 0

    of_states, of_records = (
        [read_trace(tmp_path / f"{name}-{number}.ndjson") for number in (1, 2)]
        for name in ("run", "records")
    )
    for first, second in (of_states, of_records):
        assert [trace.header.meta["table"] for trace in (first, second) if trace.header] == [
            "config/consumerOffset.json",
            "config/delayOffset.json",
        ]
    faults = [trace.header.meta["faults"] for trace in of_states if trace.header]
    assert faults[0]
    assert faults[1] == {}


def test_runs_conform_and_every_action_is_taken(traces: list[Trace]) -> None:
    assert len(traces) == 2 * len(SEEDS), "a run has two tables"
    assert all(isinstance(verdict, Conforms) for verdict in judged(traces))
    assert {event.action for trace in traces for event in trace.events} == ACTIONS
    slaves = {str(trace.header.constants["Slave"]) for trace in traces if trace.header is not None}
    assert len(slaves) == 2, "groups have one slave, or two"


LATE_ANSWER = 179
"""A seed in which a slave is told that a master is there, commits when that is taken for gone, and
hears it then."""

CAUGHT = SUBJECTS[PROTOCOL].seed_of_bug


@pytest.mark.parametrize("bug", CAUGHT)
def test_a_known_bug_is_no_behaviour(bug: Bug) -> None:
    assert any(isinstance(one, Diverges) for one in judged(traces_of(CAUGHT[bug], bug)))


def test_a_slave_commits_while_an_answer_is_late_and_a_master_is_taken_for_gone() -> None:
    assert all(isinstance(one, Conforms) for one in judged(traces_of(LATE_ANSWER)))


def test_a_run_that_is_cut_where_it_fails_fails_again() -> None:
    options = SimOptions(bugs=frozenset({Bug.TIES}))
    run = Scheduled(protocol=PROTOCOL, seed=10, options=options, schedule=UNRESTRICTED)
    judge = RunJudge(SpecChoice())

    shrunk = Shrinking(judge, runs=4, redraws=False).shrink(run)

    assert shrunk is not None
    before, after = shrunk.before, shrunk.after
    assert {"consumer", "message"} & {injected.point.kind for injected in after.injected}
    assert len(after.injected) < len(before.injected)
    assert after.run.schedule.stop_ms is not None
    again = judge(after.run).failure
    assert again is not None
    assert again.kind == before.failure.kind == (How.REJECTED, "TakeTable")


def test_a_master_that_takes_a_table_and_does_not_write_it_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    step = PreOnlineCore.step

    def forgetful(self: PreOnlineCore, state: Any, event: Any, **others: Any) -> PreOnlineDone:
        done = step(self, state, event, **others)
        if done.action is None or done.action.name is not PreOnlineActionName.TAKE_TABLE:
            return done
        kept = [effect for effect in done.effects if not isinstance(effect, StoreTable)]
        return replace(done, effects=tuple(kept))

    monkeypatch.setattr(PreOnlineCore, "step", forgetful)

    assert any(isinstance(one, Diverges) for seed in (0, 1, 2) for one in judged(traces_of(seed)))


def test_a_timeline_says_what_changed(traces: list[Trace]) -> None:
    lines = "\n".join(line for trace in traces for line in timeline(trace))

    for words in (
        "the master is isolated",
        "the master waits for {1",
        "knows where to connect to",
        "is connected",
        "the master has the tables of {1",
        "the master is online",
        "slave 1 serves",
        "has level:1 at 1",
        "it is on the disk of slave 1",
        "the name server has {",
        "connects to nobody",
        "has no master any more",
    ):
        assert words in lines, words


# ---- records ----


def test_records_are_the_traces_of_whole_states_event_by_event() -> None:
    for seed in (0, 1):
        of_records = PROTOCOLS[PROTOCOL].traces_of_records(recorded(PROTOCOL, seed).logs)
        for one, whole in zip(of_records, traces_of(seed), strict=True):
            assert len(one.events) > 50
            shown = [event for event in one.events if event.action not in SAID]
            assert [(e.action, e.params, e.state, e.clock) for e in shown] == [
                (e.action, e.params, e.state, e.clock) for e in whole.events
            ]


@pytest.mark.parametrize(
    ("logs", "words"),
    [
        (lambda logs: with_settings(logs, "b1", broker_id=7), "a master, 0, and its slaves"),
        (
            lambda logs: with_settings(logs, "b1", steps=[["config/consumerOffset.json", 9]]),
            "differently",
        ),
        (lambda logs: with_settings(logs, "n1", kind="else"), "settings of n1"),
        (
            lambda logs: with_settings(logs, "n1", kind="broker", broker_id=3, steps=[]),
            "one name server",
        ),
        (
            lambda logs: with_first(logs, "b1", lambda one: "tables" in one.state, state={}),
            "`tables`",
        ),
        (
            lambda logs: with_first(
                logs,
                "b0",
                lambda one: one.stored,
                stored=({"is": "Written", "path": "config/delayOffset.json", "data": "e30="},),
            ),
            "a table that is none",
        ),
    ],
)
def test_what_cannot_be_is_an_error(logs: Change, words: str) -> None:
    with pytest.raises(RecordError, match=words):
        PROTOCOLS[PROTOCOL].traces_of_records(logs(recorded(PROTOCOL, 1).logs))

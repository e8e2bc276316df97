"""Runs of a slave that acts as behaviours of Escape, by whole states and by records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from click.testing import CliRunner

from rocketha.escape import pops, services
from rocketha.escape.events import MasterDoes, MasterEvent
from rocketha.escape.master import MasterCore
from rocketha.escape.master_state import MasterState
from rocketha.escape.slave import SlaveCore
from rocketha.escape.state import SlaveState
from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.known_bugs import Bug
from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import RecordError
from rocketha.runtime.effects import AppendMessage, Respond, SendRequest
from rocketha.runtime.events import RequestArrived
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED, Injection
from rocketha.sim.escape.clients import EscapeConsumers
from rocketproof.cli import main
from rocketproof.commands.mutants import judge_of
from rocketproof.protocols import PROTOCOLS
from rocketproof.run_judge import judge_traces
from rocketproof.schedule import Scheduled
from rocketproof.timeline import timeline
from rocketproof.trace_inputs import SpecChoice
from tests.source_files import ROOT
from tests.traces.rocketproof.recorded_runs import (
    SUBJECTS,
    judged,
    recorded,
    with_first,
    with_settings,
)
from tlatrace.judgement.verdict import Conforms, Diverges
from tlatrace.tools.manifest import read_manifest
from tlatrace.trace import Event, Trace
from tlatrace.trace.ndjson import read_trace
from tlatrace.values import canonical_state

Change: TypeAlias = Callable[[Sequence[NodeLog]], Sequence[NodeLog]]
PROTOCOL = "escape"
SEEDS = range(8)
KINDS = ["delayed messages", "half messages", "pops"]
ACTIONS = {
    *("Init", "Act", "LearnRoute", "Put", "StorePut", "HearPut", "FailPut", "Pass", "Save"),
    *("Stop", "Start", "Die", "Return", "End", "Check"),
    *("CheckPoint", "StoreCheckPoint", "Acknowledge", "StoreAck", "Accept", "Revive"),
    "RefuseAck",
}


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return [trace for seed in SEEDS for trace in traces_of(seed)]


def traces_of(seed: int, *bugs: Bug) -> Sequence[Trace]:
    return PROTOCOLS[PROTOCOL].make_traces(seed, SimOptions(bugs=frozenset(bugs))).traces


def test_a_run_is_a_trace_of_each_kind_whose_faults_are_counted_once(tmp_path: Path) -> None:
    out, records = tmp_path / "run.ndjson", tmp_path / "records"
    simulated = ["simulate", PROTOCOL, "--seed", "0", "--out", str(out), "--records", str(records)]
    for call in simulated, ["records", str(records), "--out", str(tmp_path / "records.ndjson")]:
        assert CliRunner().invoke(main, call).exit_code == 0

    of_states, of_records = (
        [read_trace(tmp_path / f"{name}-{number}.ndjson") for number in (1, 2, 3)]
        for name in ("run", "records")
    )
    for some in (of_states, of_records):
        assert [trace.header.meta["of"] for trace in some if trace.header] == KINDS
    faults = [trace.header.meta["faults"] for trace in of_states if trace.header]
    assert faults[0]
    assert faults[1:] == [{}, {}]


def test_runs_conform_and_every_action_is_taken(traces: list[Trace]) -> None:
    assert len(traces) == len(KINDS) * len(SEEDS)
    assert all(isinstance(verdict, Conforms) for verdict in judged(traces))
    assert {event.action for trace in traces for event in trace.events} == ACTIONS


def test_traces_of_many_runs_have_the_same_constants(traces: list[Trace]) -> None:
    """They are judged as so many corpora as there are sets of constants."""
    constants = {canonical_state(trace.header.constants) for trace in traces if trace.header}
    records: set[int] = set()
    for trace in traces:
        assert trace.header is not None
        for name in ("Delayed", "Half"):
            numbers: Any = trace.header.constants[name]
            records.add(len(numbers.elements))

    assert len(constants) <= 12
    assert records == {0, 24}


def test_two_pops_of_one_moment_are_two_pops(monkeypatch: pytest.MonkeyPatch) -> None:
    """A master cannot be reached, and the next consumer pops in the same millisecond."""
    pop, put_request = EscapeConsumers.pop, services.put_request

    def twice(self: EscapeConsumers, injection: Injection) -> None:
        pop(self, injection)
        self._cluster.scheduler.after(0, lambda: pop(self, injection))

    def at_once(state: SlaveState, *of: Any) -> SendRequest:
        request = put_request(state, *of)
        return request if state.numbers % 2 else replace(request, timeout_ms=0)

    monkeypatch.setattr(EscapeConsumers, "pop", twice)
    monkeypatch.setattr(pops, "put_request", at_once)
    traces = PROTOCOLS[PROTOCOL].make_traces(0, SimOptions(steps=100)).traces

    assert all(isinstance(verdict, Conforms) for verdict in judged(traces))
    times = [event.clock for event in traces[2].events if event.action == "CheckPoint"]
    assert len(set(times)) < len(times)


def test_a_half_message_is_read_again_whose_end_a_stop_has_taken() -> None:
    """Seed 12670: a master stops between what is read and that it has ended, on its disk."""
    (_, halves, _) = PROTOCOLS[PROTOCOL].make_traces(12670, SimOptions(steps=60)).traces

    assert all(isinstance(verdict, Conforms) for verdict in judged([halves]))
    assert sum(event.params[:1] == (5,) for event in halves.events if event.action == "Check") == 1


def test_puts_come_late_and_go_to_masters_that_are_dead() -> None:
    """Of a put that comes late nobody waits for the answer."""
    traces, late, dead = traces_of(39), 0, 0
    for trace in traces:
        for before, event in pairwise(trace.events):
            assert before.state is not None
            if event.action in ("Put", "StorePut"):
                record, master = event.params
                alive: Any = before.state["alive"]
                under: Any = before.state["under"]
                puts = [put.fields() for put in under.elements]
                late += event.action == "StorePut" and {"r": record, "m": master} not in puts
                dead += event.action == "Put" and alive[master] is False

    assert all(isinstance(verdict, Conforms) for verdict in judged(traces))
    assert late > 0
    assert dead > 0


RELEASED = SimOptions(rocketmq_defaults=True)


def test_by_rocketmqs_defaults_runs_do_what_the_text_says_of_released_programs() -> None:
    """A half message that is passed, and nobody has it, breaks EscapeGate and nothing else."""
    plug = PROTOCOLS[PROTOCOL]
    traces = [trace for seed in SEEDS for trace in plug.make_traces(seed, RELEASED).traces]
    kept = SpecChoice(invariants=plug.kept_without_promises)
    results = judge_traces(traces, [], kept)
    constants = [trace.header.constants for trace in traces if trace.header]

    assert not plug.keeps_promises(RELEASED)
    assert len(results) == len(KINDS) * len(SEEDS)
    assert [one.summary for one in results if not isinstance(one.outcome, Conforms)] == []
    assert {(one["RemoteEscape"], one["Released"]) for one in constants} == {(False, True)}
    assert any(_is_told_of_no_ack(event) for trace in traces for event in trace.events)
    broken = [one.outcome for one in judge_traces(traces, [], SpecChoice())]
    found = [one for one in broken if isinstance(one, Diverges)]
    assert {one.action for one in found} == {"Pass"}
    assert {"EscapeGate" in str(one) for one in found} == {True}


def _is_told_of_no_ack(event: Event) -> bool:
    """Tell whether a consumer is told that an ACK is stored that nobody has."""
    if event.action != "Accept" or event.state is None:
        return False
    acks: Any = event.state["ackAt"]
    return not acks[event.params[0]].elements


def test_by_rocketmqs_defaults_records_are_the_traces_of_whole_states() -> None:
    plug = PROTOCOLS[PROTOCOL]
    scheduled = Scheduled(protocol=PROTOCOL, seed=4, options=RELEASED, schedule=UNRESTRICTED)
    of_records = plug.recorded_traces(scheduled)

    for one, whole in zip(of_records, plug.make_traces(4, RELEASED).traces, strict=True):
        assert one.events
        assert [(e.action, e.params, e.state) for e in one.events] == [
            (e.action, e.params, e.state) for e in whole.events
        ]


def test_a_search_judges_traces_with_other_constants_each_by_their_own() -> None:
    traces = [*traces_of(0), *traces_of(1)]
    assert len({str(trace.header.constants) for trace in traces if trace.header}) > 2

    verdicts = judge_of(read_manifest(ROOT / "spec"), by_tlc=False)(traces)
    assert [one for one in verdicts if not isinstance(one, Conforms)] == []
    wrong = judge_of(read_manifest(ROOT / "spec"), by_tlc=False)(
        [*traces, *traces_of(0, Bug.STAYS_HALF)]
    )
    assert [isinstance(one, Diverges) for one in wrong].index(True) == len(traces) + 1


CAUGHT = SUBJECTS[PROTOCOL].seed_of_bug


@pytest.mark.parametrize("bug", CAUGHT)
def test_a_known_bug_is_no_behaviour(bug: Bug) -> None:
    assert any(isinstance(one, Diverges) for one in judged(traces_of(CAUGHT[bug], bug)))


def test_a_master_that_says_what_it_does_not_store_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    step = MasterCore.step

    def forgetful(self: MasterCore, state: MasterState, event: MasterEvent, **others: Any) -> Any:
        done = step(self, state, event, **others)
        if not isinstance(event, RequestArrived) or event.command.opaque % 3:
            return done
        if event.command.code != BrokerCode.SEND_MESSAGE_V2:
            return done
        says: tuple[MasterDoes, ...] = (
            Respond(request=event.request, code=BrokerResponse.SUCCESS, body=b""),
        )
        kept = [one for one in done.effects if not isinstance(one, AppendMessage)]
        return replace(done, state=state, effects=(*says, *kept))

    monkeypatch.setattr(MasterCore, "step", forgetful)
    verdicts = judged(traces_of(0))

    found = [one for one in verdicts if isinstance(one, Diverges)]
    assert {one.action for one in found} == {"HearPut", "Acknowledge"}


def test_a_slave_that_acts_and_is_no_master_any_more_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    step = SlaveCore.step

    def restless(self: SlaveCore, state: Any, event: Any, **others: Any) -> Any:
        done = step(self, replace(state, acts=True), event, **others)
        return replace(done, state=replace(done.state, acts=state.acts))

    monkeypatch.setattr(SlaveCore, "step", restless)

    assert any(isinstance(one, Diverges) for one in judged(traces_of(0)))


def test_a_timeline_says_what_changed(traces: list[Trace]) -> None:
    lines = "\n".join(line for trace in traces for line in timeline(trace))

    for words in (
        "it acts",
        "it does not act any more",
        "the slave is down",
        "the slave does not know b11 any more",
        "1 is on its way to b11",
        "b11 has 1",
        "consumers can read 1",
        "the slave has heard of 1",
        "a put of ",
        "1 records are passed",
        "on its disk 1 are",
        "b11 is down",
        "its producer wants for 1: commit",
        "the slave's log says that 1 has ended",
        "the check point of p1 is on its way to b11",
        "b11 has the check point of p1",
        "the ACK of p1 is on its way to b11",
        "b11 has the ACK of p1",
        "a consumer is told that the ACK of p1 is stored",
        "p1 is delivered again",
    ):
        assert words in lines, words


# ---- records ----


def test_records_are_the_traces_of_whole_states_event_by_event() -> None:
    for seed in (0, 1):
        of_records = PROTOCOLS[PROTOCOL].traces_of_records(recorded(PROTOCOL, seed).logs)
        for one, whole in zip(of_records, traces_of(seed), strict=True):
            assert len(one.events) > 50
            assert [(e.action, e.params, e.state, e.clock) for e in one.events] == [
                (e.action, e.params, e.state, e.clock) for e in whole.events
            ]


@pytest.mark.parametrize(
    ("logs", "words"),
    [
        (lambda logs: with_settings(logs, "b11", kind="producer"), "one slave and one producer"),
        (
            lambda logs: with_settings(logs, "b2", masters=["b11"]),
            "the masters that the slave may know",
        ),
        (lambda logs: with_settings(logs, "n1", kind="else"), "settings of n1"),
        (
            lambda logs: with_first(logs, "b2", lambda one: "acts" in one.state, state={}),
            "`progress`",
        ),
        (
            lambda logs: with_first(
                logs,
                "b2",
                lambda one: "known" in one.state and one.sequence,
                state={"known": ["group-x"]},
            ),
            "group-x, which is no group",
        ),
        (
            lambda logs: with_first(
                logs,
                "b2",
                lambda one: one.stored and one.sequence,
                stored=({"is": "Written", "path": "config/delayOffset.json", "data": "e30="},),
            ),
            "a table that is none",
        ),
        (
            lambda logs: with_first(
                logs,
                "b11",
                lambda one: "log" in one.state and one.sequence,
                state={"log": {"kept": 99, "added": []}},
            ),
            "keeps 99 of",
        ),
    ],
)
def test_what_cannot_be_is_an_error(logs: Change, words: str) -> None:
    with pytest.raises(RecordError, match=words):
        PROTOCOLS[PROTOCOL].traces_of_records(logs(recorded(PROTOCOL, 1).logs))

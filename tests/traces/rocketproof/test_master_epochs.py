"""Runs of a group, told as a trace of SyncStateSet for each master epoch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from rocketha.broker.connections import GroupCore
from rocketha.broker.effects import AnswerPut, PutStatus
from rocketha.broker.events import ExpandDue
from rocketha.formats.controller_request_codec import push_request
from rocketha.formats.controller_requests import AlterSyncStateSet
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.known_bugs import GROUP_BUGS
from rocketha.obligations.recorded_frames import request_in
from rocketha.runtime.effects import RequestFlush, SendToController, Then
from rocketha.sim.engine.faults import GROUP_FAULTS, Fault
from rocketha.sim.engine.options import SimOptions
from rocketha.types import BrokerId, SyncStateSetEpoch
from rocketproof.cli import main
from rocketproof.engines import Judges
from rocketproof.protocols import PROTOCOLS
from rocketproof.protocols.sync_state_set.values import names_of
from rocketproof.runs import simulate_trace, simulate_traces
from rocketproof.timeline import timeline
from rocketproof.trace_inputs import SpecChoice
from tlatrace.judgement.verdict import Conforms, Diverges, Verdict
from tlatrace.trace import Event, Trace
from tlatrace.trace.ndjson import read_trace
from tlatrace.values import Fcn, State, TlaSet, Value, canonical, record, tla_set

PROTOCOL = "sync_state_set"
SEEDS = range(8)
ACTIONS = {
    "Acknowledge",
    "ApplyAlter",
    "Connect",
    "Consume",
    "Copy",
    "Crash",
    "CrashMaster",
    "Disconnect",
    "Elect",
    "Expand",
    "Healed",
    "Init",
    "Knows",
    "Learn",
    "PutMessage",
    "ReceiveAck",
    "RefuseAlter",
    "Restart",
    "RestartMaster",
    "SendAlter",
    "Settled",
    "Shown",
    "ShownNothing",
    "Shrink",
    "TimeOut",
    "Waiting",
}


@cache
def runs() -> tuple[tuple[Trace, ...], ...]:
    return tuple(simulate_traces(PROTOCOL, seed) for seed in SEEDS)


def epoch_traces() -> Iterator[Trace]:
    for run in runs():
        yield from run


def judged(traces: list[Trace]) -> list[Verdict]:
    header = traces[0].header
    assert header is not None
    return Judges(choice=SpecChoice(), engine="compiled").judge(header, traces).verdicts


def state_of(event: Event) -> State:
    assert event.state is not None
    return event.state


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


# ---- What a master epoch is ----


def test_all_master_epochs_are_traces_of_one_specification_with_the_same_constants() -> None:
    headers = [trace.header for trace in epoch_traces()]

    assert {header.spec for header in headers if header is not None} == {"SyncStateSet"}
    for header in headers:
        assert header is not None
        assert header.constants == {
            "Master": "m",
            "Slave": tla_set(["s1", "s2"]),
            "None": "none",
        }
    assert PROTOCOLS[PROTOCOL].bugs == GROUP_BUGS


def test_the_master_is_named_m_and_the_others_by_their_ids() -> None:
    one, two, three = map(BrokerId, (1, 2, 3))

    assert names_of(two, [three, one, two]) == {two: "m", one: "s1", three: "s2"}


def test_the_master_epochs_of_a_run_are_numbered_and_their_epochs_grow() -> None:
    for run in runs():
        told = [trace.header.meta["master_epoch"] for trace in run if trace.header is not None]
        numbers = [one["number"] for one in told if isinstance(one, dict)]
        epochs = [one["epoch"] for one in told if isinstance(one, dict)]
        assert numbers == list(range(1, len(run) + 1))
        assert [canonical(e) for e in epochs if isinstance(e, int)] == [
            canonical(e) for e in sorted({e for e in epochs if isinstance(e, int)})
        ]


def test_a_master_epoch_begins_with_the_master_alone_and_anything_in_the_logs_of_slaves() -> None:
    begins = [state_of(trace.events[0]) for trace in epoch_traces()]
    parts: set[str] = set()
    for state in begins:
        assert canonical(state["local"]) == '{"#set":[["m",0]]}'
        assert state["acked"] == state["confirm"] == state["start"]
        end = state["end"]
        assert isinstance(end, Fcn)
        for slave in ("s1", "s2"):
            have, all_of = end.fields()[slave], state["start"]
            parts.add("all" if have == all_of else "none" if have == 0 else "some")
    assert parts == {"all", "none", "some"}
    assert any('"s1":false' in canonical(state["up"]) for state in begins)


def test_members_come_back_with_a_whole_log_or_as_another_incarnation() -> None:
    kept: set[bool] = set()
    for trace in epoch_traces():
        for before, event in zip(trace.events, trace.events[1:], strict=False):
            if event.action == "Restart":
                kept.add(canonical(state_of(before)["inc"]) == canonical(state_of(event)["inc"]))
    assert kept == {True, False}


def test_the_runs_take_every_action_of_the_specification() -> None:
    taken = Counter(event.action for trace in epoch_traces() for event in trace.events)

    # That a slave still copies from the master before is in the next test.
    assert set(taken) | {"CopyElsewhere"} == ACTIONS | {"CopyElsewhere"}


@pytest.mark.java
def test_a_slave_that_has_not_heard_of_a_master_epoch_may_copy_from_the_master_before() -> None:
    faults = tuple(one.value for one in GROUP_FAULTS if one is not Fault.CUT_IN_STEP)
    traces = list(simulate_traces(PROTOCOL, 245, (), faults))

    assert "CopyElsewhere" in {event.action for trace in traces for event in trace.events}
    assert {type(verdict) for verdict in judged(traces)} == {Conforms}


def adds_nobody(done: Any) -> list[Any]:
    return [e for e in done.effects if not (isinstance(e, Then) and type(e.event) is ExpandDue)]


def answers_no_producer(done: Any) -> list[Any]:
    return [e for e in done.effects if not isinstance(e, AnswerPut)]


def asks_for_no_flush(done: Any) -> list[Any]:
    return [e for e in done.effects if not isinstance(e, RequestFlush)]


def answers_producers_at_once(done: Any) -> list[Any]:
    early = [
        AnswerPut(put=one.put, status=PutStatus.PUT_OK, offset=one.offset, end=one.end)
        for one in done.state.waiting
    ]
    return [*done.effects, *early]


def asks_for_the_next_version(done: Any) -> list[Any]:
    return [with_next_version(e) if isinstance(e, SendToController) else e for e in done.effects]


def with_next_version(effect: SendToController) -> SendToController:
    pulled = pull_command(effect.data)
    assert pulled is not None
    request = request_in(pulled[0])
    if not isinstance(request, AlterSyncStateSet):
        return effect
    proposed = request.sync_state_set
    later = replace(proposed, epoch=SyncStateSetEpoch(proposed.epoch + 1))
    changed = push_request(replace(request, sync_state_set=later), opaque=pulled[0].opaque)
    return SendToController(data=push_command(changed))


@pytest.mark.java
def test_a_slave_that_has_everything_is_not_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = GroupCore.step

    def step(*given: Any, **named: Any) -> Any:
        done = whole(*given, **named)
        forgotten: Any = dict.fromkeys(done.state.caught_up_ms, 0)
        return replace(done, state=replace(done.state, caught_up_ms=forgotten))

    assert set(removals(simulate_traces(PROTOCOL, 7))) == {True}
    monkeypatch.setattr(GroupCore, "step", step)

    traces = simulate_traces(PROTOCOL, 7)

    assert False in removals(traces)
    verdicts = judged(list(traces))
    assert "Shrink" in [one.action for one in verdicts if isinstance(one, Diverges)]


def removals(traces: Iterable[Trace]) -> list[Value]:
    """Tell of each removal whether it was due."""
    events = (event for trace in traces for event in trace.events)
    return [event.params[1] for event in events if event.action == "Shrink"]


@pytest.mark.java
@pytest.mark.parametrize(
    ("seed", "wrong", "action"),
    [
        (0, adds_nobody, "Settled"),
        (0, answers_no_producer, "Waiting"),
        (3, asks_for_no_flush, "Silent"),
        (0, answers_producers_at_once, "Acknowledge"),
        (0, asks_for_the_next_version, "SendAlter"),
    ],
)
def test_what_a_master_says_is_held_against_the_specification(
    seed: int, wrong: Callable[[Any], list[Any]], action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = GroupCore.step

    def step(*given: Any, **named: Any) -> Any:
        done = whole(*given, **named)
        return replace(done, effects=tuple(wrong(done)))

    monkeypatch.setattr(GroupCore, "step", step)

    verdicts = judged(list(simulate_traces(PROTOCOL, seed)))

    assert action in [one.action for one in verdicts if isinstance(one, Diverges)]


def test_the_same_seed_gives_the_same_master_epoch() -> None:
    for one, again in zip(runs()[3], simulate_traces(PROTOCOL, 3), strict=True):
        assert list(map(canonical_event, one.events)) == list(map(canonical_event, again.events))


def canonical_event(event: Event) -> tuple[str | None, str, str]:
    return event.action, canonical(event.params), canonical(record(state_of(event)))


def test_a_master_without_slaves_has_no_master_epoch() -> None:
    run = PROTOCOLS[PROTOCOL].run(0, SimOptions(brokers=1))

    assert run.traces == ()
    assert run.trace.events == ()


def test_the_trace_of_a_run_is_its_longest_master_epoch() -> None:
    longest = max(runs()[0], key=lambda trace: len(trace.events))

    assert len(simulate_trace(PROTOCOL, 0).events) == len(longest.events)


# ---- What the specification says of them ----


@pytest.mark.java
def test_every_master_epoch_conforms() -> None:
    traces = list(epoch_traces())

    verdicts = judged(traces)

    assert [v for v in verdicts if not isinstance(v, Conforms)] == []
    assert len(traces) > 3 * len(SEEDS)


def corrupted(trace: Trace, at: int, variable: str, value: Value) -> Trace:
    events = list(trace.events)
    events[at] = replace(events[at], state={**state_of(events[at]), variable: value})
    return replace(trace, events=tuple(events))


@pytest.mark.java
@pytest.mark.parametrize(
    ("action", "variable"),
    [
        ("ReceiveAck", "confirm"),
        ("Acknowledge", "acked"),
        ("ApplyAlter", "ctl"),
        ("Learn", "local"),
        ("Learn", "pend"),
        ("Copy", "end"),
        ("Connect", "conn"),
        ("Elect", "ctl"),
        ("Restart", "up"),
        ("Crash", "torn"),
    ],
)
def test_a_step_whose_effect_is_missing_is_rejected(action: str, variable: str) -> None:
    for trace in epoch_traces():
        for before, event in zip(trace.events, trace.events[1:], strict=False):
            old, new = state_of(before)[variable], state_of(event)[variable]
            if event.action == action and canonical(old) != canonical(new):
                (verdict,) = judged([corrupted(trace, event.step, variable, old)])
                assert isinstance(verdict, Diverges)
                assert (verdict.step, verdict.action) == (event.step, action)
                return
    pytest.fail(f"no {action} changes {variable}")


@pytest.mark.java
def test_an_acknowledgement_that_a_member_lacks_breaks_the_promise() -> None:
    for trace in epoch_traces():
        last = trace.events[-1]
        sss = state_of(last)["local"]
        if isinstance(sss, TlaSet) and len(sss) > 1:
            acked = state_of(last)["acked"]
            assert isinstance(acked, int)
            (verdict,) = judged([corrupted(trace, last.step, "acked", acked + 1)])
            assert isinstance(verdict, Diverges)
            return
    pytest.fail("no master epoch ends with a second member")


@pytest.mark.java
@pytest.mark.parametrize(
    ("bug", "seed", "action"),
    [
        ("W2", 0, "PutMessage"),
        ("B79", 0, "Shrink"),
        ("B25", 0, "Shrink"),
    ],
)
def test_a_bug_shows_in_a_master_epoch(bug: str, seed: int, action: str) -> None:
    verdicts = judged(list(simulate_traces(PROTOCOL, seed, (bug,))))

    (first, *_) = [v for v in verdicts if isinstance(v, Diverges)]
    assert first.action == action


@pytest.mark.java
def test_the_default_of_rocketmq_is_no_behaviour_of_the_specification() -> None:
    run = PROTOCOLS[PROTOCOL].run(4, SimOptions(rocketmq_defaults=True))

    assert any(isinstance(verdict, Diverges) for verdict in judged(list(run.traces)))


# ---- The commands ----


def test_simulate_writes_a_file_for_each_master_epoch(tmp_path: Path) -> None:
    result = call("simulate", PROTOCOL, "--seed", "7", "--out", tmp_path / "run.ndjson")

    assert result.exit_code == 0
    files = sorted(tmp_path.iterdir())
    assert [path.name for path in files] == [
        f"run-{number}.ndjson" for number in range(1, len(runs()[7]) + 1)
    ]
    assert [len(read_trace(path).events) for path in files] == [len(t.events) for t in runs()[7]]


def test_one_master_epoch_can_be_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"

    result = call("simulate", PROTOCOL, "--seed", "7", "--master-epoch", "2", "--out", path)

    assert result.exit_code == 0
    assert len(read_trace(path).events) == len(runs()[7][1].events)
    assert call("simulate", PROTOCOL, "--seed", "7", "--master-epoch", "99").exit_code == 2
    assert call("simulate", "replica_group", "--seed", "7", "--master-epoch", "1").exit_code == 2


def test_a_timeline_tells_each_master_epoch() -> None:
    text = call("simulate", PROTOCOL, "--seed", "7").output

    assert "master epoch 1, of epoch 1: m is " in text
    assert f" events of {len(runs()[7])} master epochs in " in text


@pytest.mark.parametrize(
    "part",
    [
        "pend {m.0 s1.0}; queue {m.0 s1.0}",
        "local {m.0 s1.0}",
        "s1: closed",
        "role Master -> Fenced",
    ],
)
def test_a_timeline_says_what_changed(part: str) -> None:
    assert any(part in line for trace in epoch_traces() for line in timeline(trace))


@pytest.mark.java
def test_a_corpus_has_the_master_epochs_of_each_seed_and_they_conform(tmp_path: Path) -> None:
    out = tmp_path / "corpus"

    made = call("corpus", "generate", PROTOCOL, "--runs", "2", "--first-seed", "6", "--out", out)

    assert made.exit_code == 0, made.output
    count = len(runs()[6]) + len(runs()[7])
    assert f"{count} master epochs, " in made.output
    names = pq.read_table(out / "traces").column("trace_id").to_pylist()
    assert names[0] == "seed-0000000006/1"
    assert len(set(names)) == count
    validated = call("corpus", "validate", out, "--driver", "local")
    assert validated.exit_code == 0, validated.output
    assert f"{count} traces of SyncStateSet, seeds 6 to 7" in validated.output

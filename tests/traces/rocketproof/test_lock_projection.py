"""Runs of queue locks as behaviours of LockQuorum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from rocketha.known_bugs import LOCK_BUGS, Bug
from rocketha.locks import consumer, voting
from rocketha.locks.connections import ConsumerCore, ManagerCore
from rocketha.locks.consumer import ConsumerStepped, ProcessNext
from rocketha.locks.state import ConsumerState
from rocketha.runtime.effects import Respond, SendOneWay, SendRequest
from rocketha.sim.engine.options import SimOptions
from rocketproof.engines import Judges
from rocketproof.known_bugs import is_dead
from rocketproof.protocols import PROTOCOLS
from rocketproof.runs import simulate_trace
from rocketproof.timeline import timeline
from rocketproof.trace_inputs import SpecChoice
from tests.source_files import ROOT
from tests.traces.rocketproof.recorded_runs import judged as judged_in_parts
from tests.traces.rocketproof.recorded_runs import recorded
from tlatrace.judgement.verdict import Conforms, Diverges, Verdict, kind
from tlatrace.trace import Trace
from tlatrace.values import tla_set

PROTOCOL = "lock_quorum"
ACTIONS = {
    "Init",
    "Lock",
    "ReceiveAnswer",
    "GiveUp",
    "Unlock",
    "Process",
    "ReceiveAsk",
    "ReceiveFree",
    "Restart",
    "ExpireEarly",
    "WaitLess",
    "Tick",
    "SendAnswer",
    "IgnoreAnswer",
    "Refrain",
}
CAUGHT = {
    Bug.B45_LEASE: 0,
    Bug.B45_PARTIAL: 0,
    Bug.B45_QUORUM: 0,
    Bug.B45_RESTART: 4,
    Bug.B46: 0,
    Bug.B77: 3,
    Bug.COUNT_ONCE: 23,
    Bug.LATE_ANSWER: 0,
    Bug.LATE_ASK: 4,
    Bug.LATE_FREE: 3,
    Bug.UNLOCK_OWN: 0,
    Bug.VOTE_ONCE: 0,
}
"""The first seed that shows a bug; with B46 and B77 a run stays dead, too."""


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return [simulate_trace(PROTOCOL, seed) for seed in range(24)]


def idle(state: ConsumerState, *_: object, **__: object) -> ConsumerStepped:
    return ConsumerStepped(state)


def judged(traces: Sequence[Trace]) -> tuple[Verdict, ...]:
    header = traces[0].header
    assert header is not None
    return tuple(Judges(choice=SpecChoice(spec_root=ROOT / "spec")).judge(header, traces).verdicts)


def test_a_trace_names_its_spec_and_constants(traces: list[Trace]) -> None:
    header = traces[0].header

    assert header is not None
    assert header.spec == "LockQuorum"
    assert header.constants == {
        "Replica": tla_set(["b1", "b2", "b3"]),
        "Client": tla_set(["c1", "c2", "c3"]),
        "Queue": tla_set(["q1", "q2"]),
        "None": "none",
        "Configured": 3,
        "Strict": True,
        "VoteLife": 3_000,
        "LeaseLife": 1_500,
        "Patience": 100,
        "Skew": 274,
    }
    assert all(trace.header and trace.header.constants == header.constants for trace in traces)
    assert PROTOCOLS[PROTOCOL].bugs == LOCK_BUGS


def test_the_runs_take_every_action_of_the_specification(traces: list[Trace]) -> None:
    taken = Counter(event.action for trace in traces for event in trace.events)

    assert set(taken) == ACTIONS


@pytest.mark.java
def test_runs_conform(traces: list[Trace]) -> None:
    verdicts = judged(traces[:6])

    assert [str(verdict) for verdict in verdicts if not isinstance(verdict, Conforms)] == []


@pytest.mark.java
@pytest.mark.parametrize(("bug", "seed"), CAUGHT.items(), ids=[bug.value for bug in CAUGHT])
def test_a_bug_leaves_the_specification(bug: Bug, seed: int) -> None:
    (verdict,) = judged([simulate_trace(PROTOCOL, seed, (bug.value,))])

    assert isinstance(verdict, Diverges)


@pytest.mark.parametrize("bug", [Bug.B46, Bug.B77])
def test_a_bug_keeps_queues_from_everybody(bug: Bug) -> None:
    assert any(is_dead(simulate_trace(PROTOCOL, seed, (bug.value,))) for seed in range(8))


@pytest.mark.java
@pytest.mark.parametrize(
    ("core", "effect"),
    [
        (ConsumerCore, SendOneWay),
        (ConsumerCore, SendRequest),
        (ConsumerCore, ProcessNext),
        (ManagerCore, SendRequest),
        (ManagerCore, SendOneWay),
        (ManagerCore, Respond),
    ],
)
def test_what_is_not_sent_is_seen_at_the_first_seed(
    core: type[ConsumerCore | ManagerCore], effect: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = core.step

    def step(self: Any, *args: Any, **named: Any) -> Any:
        done: Any = whole(self, *args, **named)
        kept = tuple([one for one in done.effects if not isinstance(one, effect)])
        return replace(done, effects=kept)

    monkeypatch.setattr(core, "step", step)
    run = recorded.__wrapped__(PROTOCOL, 0)

    verdicts = [*judged([run.whole.trace]), *judged_in_parts([run.trace])]

    assert [kind(verdict) for verdict in verdicts] == ["diverges", "diverges"]


NOT_DONE: dict[str, tuple[int, Any, str, Any]] = {
    "votes of others are not counted": (0, voting, "_votes_for", lambda *_: 0),
    "answers are not heard": (0, consumer, "receive_answer", idle),
    "queues are not asked for": (0, consumer, "lock", idle),
    "nothing is given up": (0, consumer, "unlock", idle),
    "messages are not processed": (0, consumer, "process", idle),
}
"""A seed, and what is put in the place of what."""


@pytest.mark.java
@pytest.mark.parametrize("what", NOT_DONE)
def test_what_is_not_done_is_seen(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seed, *place = NOT_DONE[what]
    monkeypatch.setattr(*place)
    run = recorded.__wrapped__(PROTOCOL, seed)

    verdicts = [*judged([run.whole.trace]), *judged_in_parts([run.trace])]

    assert [kind(verdict) for verdict in verdicts] == ["diverges", "diverges"]


@pytest.mark.java
def test_rocketmqs_defaults_have_two_holders() -> None:
    options = SimOptions(rocketmq_defaults=True)
    trace = PROTOCOLS[PROTOCOL].run(3, options).trace
    (verdict,) = judged([trace])

    assert trace.header is not None
    assert trace.header.constants["Strict"] is False
    assert isinstance(verdict, Diverges)
    assert "LockMutex" in str(verdict)


def test_a_run_can_be_read_as_a_timeline(traces: list[Trace]) -> None:
    timelines = [list(timeline(trace)) for trace in traces[:10]]
    text = "\n".join(line for lines in timelines for line in lines)

    assert [len(lines) - 1 for lines in timelines] == [len(t.events) for t in traces[:10]]
    for words in (
        "c1 begins attempt 1; ",
        " is for c1: q1",
        " told to let go: q1",
        " does not hold q1 any more",
        " does not vote for 3000 ms",
        " votes again",
        "q1 is processed by c",
    ):
        assert words in text, words

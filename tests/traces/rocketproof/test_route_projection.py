"""Runs of brokers and name servers as behaviours of Route."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from rocketha.acting.core import ActingActionName, ActingCore, ActingDone, RegisterDue
from rocketha.known_bugs import Bug
from rocketha.nameserver.core import NameServerCore, RemovalDue
from rocketha.runtime.effects import Respond
from rocketha.sim.engine.options import SimOptions
from rocketproof.engines import Judges
from rocketproof.protocols import PROTOCOLS
from rocketproof.timeline import timeline
from rocketproof.trace_inputs import SpecChoice
from tests.source_files import ROOT
from tlatrace.judgement.verdict import Conforms, Diverges, Verdict
from tlatrace.trace import Trace

PROTOCOL = "route"
DEFAULTS = SimOptions(rocketmq_defaults=True)
ACTIONS = {
    "Init",
    "Elect",
    "LearnRole",
    "Register",
    "Stop",
    "Start",
    "Reconnect",
    "Poll",
    "ReceiveNote",
    "ReceiveRegistration",
    "Decide",
    "Remove",
    "Restart",
    "AnswerClient",
    "AnswerMembers",
    "AnswerRegistration",
    "EndAll",
    "EndRegistration",
    "TellSmallest",
}
CAUGHT = {Bug.B40: 13, Bug.B40_FORGOTTEN: 16, Bug.B41: 2, Bug.B42: 2, Bug.B44: 0}
"""The first seed that shows a bug."""


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return [trace_of(seed) for seed in range(12)]


def trace_of(seed: int, options: SimOptions | None = None) -> Trace:
    return PROTOCOLS[PROTOCOL].make_traces(seed, options or SimOptions()).trace


def judged(traces: Sequence[Trace]) -> tuple[Verdict, ...]:
    header = traces[0].header
    assert header is not None
    return tuple(Judges(choice=SpecChoice(spec_root=ROOT / "spec")).judge(header, traces).verdicts)


def judged_one(seed: int, options: SimOptions | None = None) -> Verdict:
    (verdict,) = judged([trace_of(seed, options)])
    return verdict


def test_runs_conform_and_every_action_is_taken(traces: list[Trace]) -> None:
    assert all(isinstance(verdict, Conforms) for verdict in judged(traces))
    assert {event.action for trace in traces for event in trace.events} == ACTIONS


def test_runs_conform_where_nobody_acts() -> None:
    traces = [trace_of(seed, DEFAULTS) for seed in range(6)]

    assert all(isinstance(verdict, Conforms) for verdict in judged(traces))
    perms: Counter[object] = Counter(
        event.params[2] for one in traces for event in one.events if event.action == "AnswerClient"
    )
    assert set(perms) == {"none", "rw"}


@pytest.mark.parametrize("bug", CAUGHT)
def test_a_known_bug_is_no_behaviour(bug: Bug) -> None:
    options = SimOptions(bugs=frozenset({bug}))

    assert isinstance(judged_one(CAUGHT[bug], options), Diverges)


def test_topics_of_a_group_of_which_no_slave_acts_become_read_only_with_b43() -> None:
    options = replace(DEFAULTS, bugs=frozenset({Bug.B43}))
    verdicts = [judged_one(seed, options) for seed in range(4)]

    assert any(isinstance(verdict, Diverges) for verdict in verdicts)


def test_a_broker_that_passes_by_what_it_is_told_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    step = ActingCore.step

    def deaf(self: ActingCore, state: Any, event: Any, **others: Any) -> ActingDone:
        done = step(self, state, event, **others)
        heard = done.action is not None and done.action.name is ActingActionName.RECEIVE_NOTE
        return ActingDone(state) if heard else done

    monkeypatch.setattr(ActingCore, "step", deaf)

    assert any(isinstance(judged_one(seed), Diverges) for seed in (1, 4))


def test_a_broker_that_registers_once_is_noticed_by_a_run_that_stays_dead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is not done again is no step that is wrong: liveness alone is about it."""
    step = ActingCore.step

    def once(self: ActingCore, state: Any, event: Any, **others: Any) -> ActingDone:
        return (
            ActingDone(state)
            if isinstance(event, RegisterDue)
            else step(self, state, event, **others)
        )

    monkeypatch.setattr(ActingCore, "step", once)

    assert not all(
        PROTOCOLS[PROTOCOL].run(seed, SimOptions()).report.converged for seed in range(6)
    )


@pytest.mark.parametrize("lies", ["empty", "writable"])
def test_an_answer_that_is_not_what_the_table_says_is_noticed(
    lies: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = NameServerCore.step

    def lying(self: NameServerCore, state: Any, event: Any, **others: Any) -> Any:
        done = step(self, state, event, **others)
        return replace(done, effects=tuple([lie(effect, lies) for effect in done.effects]))

    monkeypatch.setattr(NameServerCore, "step", lying)

    assert any(isinstance(judged_one(seed), Diverges) for seed in (1, 4))


def lie(effect: Any, how: str) -> Any:
    """Answer a client that there is no route, or that a topic may be written."""
    if not isinstance(effect, Respond) or b"queueDatas" not in effect.body:
        return effect
    if how == "empty":
        return replace(effect, code=17, body=b"")
    return replace(effect, body=effect.body.replace(b'"perm":4', b'"perm":6'))


def test_a_name_server_that_removes_others_too_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    step = NameServerCore.step

    def hasty(self: NameServerCore, state: Any, event: Any, **others: Any) -> Any:
        done = step(self, state, event, **others)
        if isinstance(event, RemovalDue):
            group = done.state.groups["broker"]
            emptied = done.state.groups.put("broker", replace(group, brokers={}))
            return replace(done, state=replace(done.state, groups=emptied))
        return done

    monkeypatch.setattr(NameServerCore, "step", hasty)

    assert any(isinstance(judged_one(seed), Diverges) for seed in (1, 4))


def test_a_timeline_says_what_changed(traces: list[Trace]) -> None:
    lines = "\n".join(line for trace in traces for line in timeline(trace))

    for words in (
        "is master of epoch 1",
        "serves",
        "topics of n1: rw",
        "topics of n2: r",
        "is gone",
        "to end at n1",
        "under way at n2",
        "tells broker 1",
        "is down",
        "knows of 1 as the smallest",
    ):
        assert words in lines, words

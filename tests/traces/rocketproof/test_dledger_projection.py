"""Runs of DLedger groups as behaviours of DLedger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from rocketha.known_bugs import DLEDGER_BUGS
from rocketha.sim.engine.options import SimOptions
from rocketproof.engines import Judges
from rocketproof.protocols import PROTOCOLS
from rocketproof.protocols.dledger.actions import Change, action_of
from rocketproof.protocols.dledger.seen import NO_ROUND, Seen
from rocketproof.runs import simulate_trace
from rocketproof.timeline import timeline
from rocketproof.trace_inputs import SpecChoice
from tests.source_files import ROOT
from tlatrace.judgement.verdict import Conforms, Diverges, Verdict
from tlatrace.trace import Trace
from tlatrace.values import tla_set

PROTOCOL: Final = "dledger"
ACTIONS: Final = {
    "Init",
    "Acknowledge",
    "AppendAsFollower",
    "AppendAsLeader",
    "Apply",
    "AskVotes",
    "BecomeCandidate",
    "CommitEntry",
    "Compare",
    "Crash",
    "Discard",
    "CutLog",
    "GoOnLeading",
    "HandleHeartbeat",
    "HandleVote",
    "HearTerm",
    "IncreaseTerm",
    "InstallSnapshot",
    "LearnCommit",
    "ParseVotes",
    "SaveSnapshot",
    "Sync",
    "TakeLeadership",
    "TransferLeadership",
    "Truncate",
}

pytestmark = pytest.mark.xdist_group("traces of dledger")  # its runs are made once

SEEDS_OF_TWICE: Final = (2802, 10313, 12789, 1382, 1474)
VARIABLES: Final = 26
"""Of DLedger.tla."""


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return [simulate_trace(PROTOCOL, seed) for seed in range(8)]


def judged(traces: Sequence[Trace]) -> tuple[Verdict, ...]:
    header = traces[0].header
    assert header is not None
    return tuple(Judges(choice=SpecChoice(spec_root=ROOT / "spec")).judge(header, traces).verdicts)


def test_a_trace_names_its_spec_and_constants(traces: list[Trace]) -> None:
    header = traces[0].header

    assert header is not None
    assert header.spec == "DLedger"
    assert header.constants == {
        "Node": tla_set(["b1", "b2", "b3"]),
        "None": "none",
        "Preferred": tla_set(["b1"]),
    }
    assert all(trace.header and trace.header.constants == header.constants for trace in traces)
    assert PROTOCOLS[PROTOCOL].bugs == DLEDGER_BUGS


def test_eight_runs_take_every_action_of_the_specification(traces: list[Trace]) -> None:
    taken = Counter(event.action for trace in traces for event in trace.events)

    assert set(taken) == ACTIONS


def test_the_second_answer_to_a_vote_that_is_asked_for_twice_is_heard_by_nobody() -> None:
    """A voter has a leader when the request comes again, or it is of a round before."""
    options = SimOptions(steps=100)
    traces = [PROTOCOLS[PROTOCOL].run(seed, options).trace for seed in SEEDS_OF_TWICE]
    assert all(isinstance(one, Conforms) for one in judged(traces))


def test_the_same_seed_gives_the_same_trace(traces: list[Trace]) -> None:
    assert simulate_trace(PROTOCOL, 1) == traces[1]


@pytest.mark.java
def test_runs_conform(traces: list[Trace]) -> None:
    verdicts = judged(traces)

    assert [str(verdict) for verdict in verdicts if not isinstance(verdict, Conforms)] == []


@pytest.mark.java
@pytest.mark.parametrize("brokers", [1, 5])
def test_runs_of_other_groups_conform(brokers: int) -> None:
    options = SimOptions(brokers=brokers)
    (verdict,) = judged([PROTOCOLS[PROTOCOL].run(2, options).trace])

    assert isinstance(verdict, Conforms), str(verdict)


@pytest.mark.java
def test_what_counts_as_done_is_not_lost_in_the_start_that_follows() -> None:
    """Seed 22: a disk fails behind the rename of a new term, and in that start, with the power."""
    run = PROTOCOLS[PROTOCOL].run(22, SimOptions(brokers=5))

    assert dict(run.report.faults)["disk-error"] > 1
    (verdict,) = judged([run.trace])
    assert isinstance(verdict, Conforms), str(verdict)


@pytest.mark.java
def test_a_change_that_is_not_shown_is_missed_whatever_it_is(traces: list[Trace]) -> None:
    trace = traces[0]
    variables = sorted(trace.events[0].state or {})
    changes = [_first_change(trace, variable) for variable in variables]

    verdicts = judged(
        [_not_shown(trace, variable, at) for variable, at in zip(variables, changes, strict=True)]
    )

    assert len(variables) == VARIABLES
    for variable, at, verdict in zip(variables, changes, verdicts, strict=True):
        assert isinstance(verdict, Diverges), variable
        assert verdict.step in (at, at + 1), variable


def _first_change(trace: Trace, variable: str) -> int:
    for at in range(1, len(trace.events)):
        before, after = trace.events[at - 1].state, trace.events[at].state
        assert before is not None
        assert after is not None
        if before[variable] != after[variable]:
            return at
    raise AssertionError(f"{variable} never changes")


def _not_shown(trace: Trace, variable: str, at: int) -> Trace:
    """Return a trace to the step after a change, which shows the change one step late.

    A vote that is not shown is noticed at that step: a request that is refused changes nothing.
    """
    event, before = trace.events[at], trace.events[at - 1].state
    assert event.state is not None
    assert before is not None
    changed = replace(event, state={**event.state, variable: before[variable]})
    return replace(trace, events=(*trace.events[:at], changed, trace.events[at + 1]))


@pytest.mark.java
def test_a_step_that_was_another_action_is_refused(traces: list[Trace]) -> None:
    actions, wrong = sorted(ACTIONS - {"Init"}), []
    for action in actions:
        trace, at = next(
            (trace, one.step) for trace in traces for one in trace.events if one.action == action
        )
        event = trace.events[at]
        other = "CutLog" if action != "CutLog" else "Truncate"
        changed = replace(event, action=other, params=event.params[:1])
        wrong.append(replace(trace, events=(*trace.events[:at], changed)))

    for action, trace, verdict in zip(actions, wrong, judged(wrong), strict=True):
        assert isinstance(verdict, Diverges), action
        assert verdict.step == trace.events[-1].step, action


def test_a_run_can_be_read_as_a_timeline(traces: list[Trace]) -> None:
    text = "\n".join(line for trace in traces for line in timeline(trace))

    for words in (
        "b1 is Leader",
        "b2's log ends at 1",
        "has committed 1",
        "has a snapshot of",
        "has cut",
        "hands over to b",
        "has started 1 times again",
        "asked for votes",
    ):
        assert words in text, words


# ---- which action a step was ----

MEMBER: Final = Seen(
    term=2,
    vote="b1",
    refill=0,
    log=((1, "b1", 0), (2, "b1", 0)),
    synced=1,
    base=0,
    base_term=0,
    snap=0,
    role="Follower",
    leader="b1",
    known=0,
    raises=False,
    to_next=False,
    taking=0,
    transferee="none",
    same=1,
    commit=0,
    applied=0,
    inc=0,
    has_round=False,
)
ROUND: Final = (("b1", ("ACCEPT", 0)),)


def found(
    *,
    role: str = "Follower",
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    **of_step: Any,
) -> tuple[str, tuple[str, ...]] | None:
    """Return what a step is taken for whose member changes so."""
    first = replace(MEMBER, role=role, **(before or {}))
    step: dict[str, Any] = {
        "round_before": NO_ROUND,
        "round_after": NO_ROUND,
        "of_others": False,
        "acks": False,
        "truncates": False,
        "transferred_to": None,
        "arrived": None,
        "answered_by": None,
        **of_step,
    }
    return action_of(Change(before=first, after=replace(first, **(after or {})), **step))


LONGER: Final = (*MEMBER.log, (2, "b1", 0))


@pytest.mark.parametrize(
    ("role", "after", "action"),
    [
        ("Leader", {"log": LONGER}, "AppendAsLeader"),
        ("Follower", {"log": LONGER}, "AppendAsFollower"),
        ("Follower", {"log": MEMBER.log[:1]}, "Truncate"),
        ("Follower", {"synced": 2}, "Sync"),
        ("Follower", {"applied": 1}, "Apply"),
        ("Leader", {"commit": 1}, "CommitEntry"),
        ("Follower", {"commit": 1}, "LearnCommit"),
        ("Follower", {"same": 2}, "Compare"),
        ("Follower", {"snap": 1}, "SaveSnapshot"),
        ("Follower", {"snap": 4, "applied": 4, "base": 4}, "InstallSnapshot"),
        ("Leader", {"base": 1}, "CutLog"),
    ],
)
def test_a_step_of_the_log_is_what_has_changed(
    role: str, after: dict[str, Any], action: str
) -> None:
    assert found(role=role, after=after) == (action, ())


def test_a_step_of_the_log_may_be_an_answer_alone() -> None:
    assert found(acks=True, arrived="PUSH") == ("Acknowledge", ())
    assert found(truncates=True, arrived="PUSH") == ("Compare", ())
    assert found(after={"same": 2}, acks=True, arrived="PUSH") == ("Acknowledge", ())


def test_an_append_that_syncs_or_learns_nothing_else_is_an_append() -> None:
    assert found(after={"log": LONGER, "same": 3}, arrived="PUSH") == ("AppendAsFollower", ())


@pytest.mark.parametrize(
    ("role", "step", "action"),
    [
        ("Candidate", {"round_after": ROUND}, "AskVotes"),
        ("Candidate", {"round_before": ROUND}, "ParseVotes"),
        ("Candidate", {"after": {"role": "Leader"}, "round_before": ROUND}, "ParseVotes"),
        ("Candidate", {"after": {"term": 3}}, "IncreaseTerm"),
        ("Candidate", {"after": {"role": "Follower"}, "arrived": "HEART_BEAT"}, "HandleHeartbeat"),
        ("Follower", {"after": {"role": "Candidate"}, "arrived": "VOTE"}, "HandleVote"),
        ("Follower", {"after": {"vote": "b2"}, "arrived": "VOTE"}, "HandleVote"),
        ("Leader", {"after": {"role": "Candidate"}, "arrived": "HEART_BEAT"}, "HandleHeartbeat"),
        ("Follower", {"after": {"leader": "b2"}, "arrived": "HEART_BEAT"}, "HandleHeartbeat"),
        (
            "Follower",
            {"after": {"role": "Candidate"}, "arrived": "LEADERSHIP_TRANSFER"},
            "TakeLeadership",
        ),
        ("Follower", {"after": {"role": "Candidate", "taking": 3}}, "TakeLeadership"),
        ("Follower", {"after": {"role": "Candidate"}}, "BecomeCandidate"),
        (
            "Leader",
            {"before": {"transferee": "b2"}, "after": {"transferee": "none"}},
            "GoOnLeading",
        ),
    ],
)
def test_a_step_of_an_election_is_what_arrived_or_has_changed(
    role: str, step: dict[str, Any], action: str
) -> None:
    assert found(role=role, **step) == (action, ())


def test_an_action_names_the_other_member_that_it_is_about() -> None:
    heard = {"role": "Candidate", "known": 5}
    assert found(role="Leader", after=heard, answered_by="b3") == ("HearTerm", ("b3",))
    transferee = {"transferee": "b2"}
    expected = ("TransferLeadership", ("b2",))
    assert found(role="Leader", after=transferee, transferred_to="b2") == expected


def test_a_change_without_a_reason_is_no_action_so_its_step_diverges() -> None:
    assert found(after={"vote": "b2"}) is None
    assert found(after={"leader": "b2"}, arrived="PUSH") is None

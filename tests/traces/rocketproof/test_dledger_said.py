"""What members of a DLedger group say, and what is missed of them, in traces of their records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

import msgspec
import pytest

from rocketha.dledger import transfer
from rocketha.dledger.state import AskedToLead, ElectorState, ElectorStepped
from rocketha.formats.dledger_codes import DLedgerResponseCode
from rocketha.known_bugs import Bug
from rocketha.obligations.dledger_turns import FORGED
from rocketha.recording.merge import merge
from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import NodeRecord, RecordError
from rocketproof.protocols import PROTOCOLS
from rocketproof.protocols.dledger.records import DLedgerRecords
from rocketproof.record_projection import record_of_event
from tests.traces.rocketproof.recorded_runs import changed, judged, recorded
from tlatrace.judgement.verdict import Conforms, Diverges
from tlatrace.trace import Event, Trace

PLUG: Final = PROTOCOLS["dledger"]
SEEDS: Final = (0, 7, 5, 4)
"""Runs in which everything is said that the cases change, and everything is waited for."""

FORGED_SEEDS: Final = (4, 11)
CODES: Final = frozenset(
    {"UNEXPECTED_MEMBER", "UNKNOWN_MEMBER"} | {"REJECT_UNEXPECTED_LEADER", "REJECT_UNKNOWN_LEADER"}
)
FORGED_KINDS: Final = frozenset(
    {("RefuseEntries",), ("RefuseMalformed",), ("RefuseTerm",), ("RefuseTruncate",)}
    | {("AnswerHeartbeat", "UNEXPECTED_MEMBER"), ("AnswerHeartbeat", "UNKNOWN_MEMBER")}
    | {("RefuseCandidate", "REJECT_UNEXPECTED_LEADER")}
    | {("RefuseCandidate", "REJECT_UNKNOWN_LEADER")}
)
_SUCCESS: Final = int(DLedgerResponseCode.SUCCESS)
_INCONSISTENT: Final = int(DLedgerResponseCode.INCONSISTENT_STATE)

Body = Mapping[str, Any]
CASES: Final[tuple[tuple[str, Body], ...]] = (
    ("SendHeartbeat", {"term": 9}),
    ("SendHeartbeat", {"leaderId": "b9"}),
    ("SendCompare", {"preLogTerm": 8}),
    ("SendCompare", {"commitIndex": 60}),
    ("SendTruncate", {"preLogTerm": 8}),
    ("SendEntries", {"commitIndex": 60}),
    ("SendEntries", {"leaderId": None}),
    ("SendCommit", {"commitIndex": 60}),
    ("SendSnapshot", {"lastIncludedTerm": 8}),
    ("AnswerVote", {"voteResult": "REJECT_EXPIRED_LEDGER_TERM"}),
    ("AnswerHeartbeat", {"code": _INCONSISTENT}),
    ("RefusePush", {"code": _SUCCESS}),
    ("RefuseSnapshot", {"code": _INCONSISTENT}),
    ("FindSame", {"code": _INCONSISTENT}),
    ("FindOther", {"xIndex": 61}),
    ("FindOther", {"endIndex": 61}),
    ("AcknowledgePush", {"index": 61}),
    ("AcknowledgePush", {"code": _INCONSISTENT}),
    ("RefuseEntries", {"code": _SUCCESS}),
)
"""An action, and what a message says instead."""
MISSED: Final = frozenset(
    {"NoApply", "NoHeartbeats", "NoLeader", "NoMajority", "NoPush", "NoResult", "NoSync"}
    | {"NoTransfer", "NoVotes"}
)


def first(trace: Trace, *actions: str, begin: int = 0) -> int:
    return next(one.step for one in trace.events if one.step >= begin and one.action in actions)


@cache
def run_of(seed: int) -> tuple[Sequence[NodeLog], Trace]:
    logs = recorded("dledger", seed).logs
    return logs, PLUG.trace_of_records(logs)


def run_with(*actions: str) -> tuple[Sequence[NodeLog], Trace]:
    """Return a run in which all of this is said or done."""
    runs = map(run_of, SEEDS)
    return next(run for run in runs if {*actions} <= {one.action for one in run[1].events})


def saying(**members: Any) -> Callable[[NodeRecord], NodeRecord]:
    def change(record: NodeRecord) -> NodeRecord:
        sent = []
        for one in record.sent:
            body = {**msgspec.json.decode(one.body or "{}"), **members}
            sent.append(msgspec.structs.replace(one, body=msgspec.json.encode(body).decode()))
        return msgspec.structs.replace(record, sent=tuple(sent))

    return change


def anything(_event: Event) -> bool:
    return True


def is_action(action: str) -> Callable[[Event], bool]:
    return lambda event: event.action == action


def silent(record: NodeRecord) -> NodeRecord:
    return msgspec.structs.replace(record, sent=())


def with_change(
    run: tuple[Sequence[NodeLog], Trace],
    step: int,
    change: Callable[[NodeRecord], NodeRecord],
    until: Callable[[Event], bool],
) -> Trace:
    """Return the trace of records of which the one that made an event is another, to some event."""
    logs, whole = run
    headers = [log.header for log in logs]
    meant = record_of_event(DLedgerRecords(headers), logs, step)
    merged = merge(changed(logs, lambda one: one is meant, change))
    events = []
    for event in DLedgerRecords(headers).events(merged):
        events.append(event)
        if event.step >= step and until(event):
            break
    return replace(whole, events=tuple(events))


@pytest.mark.java
def test_what_is_said_otherwise_diverges() -> None:
    places, traces = [], []
    for action, members in CASES:
        run = run_with(action)
        at = first(run[1], action)
        places.append(at)
        traces.append(with_change(run, at, saying(**members), anything))

    for case, at, verdict in zip(CASES, places, judged(traces), strict=True):
        assert isinstance(verdict, Diverges), case
        assert verdict.step in (at - 1, at), case


@pytest.mark.java
def test_an_answer_that_does_not_come_is_missed() -> None:
    said = {
        "AnswerHeartbeat": "LeaveUnanswered",
        "AnswerVote": "HandleVote",  # the first one gives its vote, and this sends it
        "RefusePush": "LeaveUnanswered",
    }
    traces = [
        with_change(run_with(one), first(run_with(one)[1], one), silent, is_action(missed))
        for one, missed in said.items()
    ]

    for (one, missed), verdict in zip(said.items(), judged(traces), strict=True):
        assert isinstance(verdict, Diverges), one
        assert verdict.action == missed, one


@pytest.mark.java
def test_a_leader_that_asks_nobody_what_it_has_has_not_begun() -> None:
    run = run_with("BeginTerm")
    events = run[1].events[: first(run[1], "BeginTerm")]
    compares = max(one.step for one in events if one.action == "SendCompare")

    (verdict,) = judged([with_change(run, compares, silent, is_action("BeginTerm"))])

    assert isinstance(verdict, Diverges)
    assert verdict.action == "BeginTerm"


TOLD: Final[tuple[tuple[str, Body], ...]] = (
    ("AnswerWrite", {"index": 70}),
    ("AnswerWrite", {"ticket": 1}),
    ("AnswerRead", {"ticket": 0}),
    ("RefuseClient", {"code": int(DLedgerResponseCode.LEADER_TRANSFERRING)}),
    ("RefuseClient", {"leader_id": "b9"}),
)
"""What a client is told, and what it is told instead."""


def telling(**members: Any) -> Callable[[NodeRecord], NodeRecord]:
    def change(record: NodeRecord) -> NodeRecord:
        answered = tuple({**one, **members} for one in record.answered)
        return msgspec.structs.replace(record, answered=answered)

    return change


@pytest.mark.java
def test_what_clients_are_told_otherwise_diverges() -> None:
    traces = []
    for action, members in TOLD:
        run = run_with(action)
        at = [one.step for one in run[1].events if one.action == action][:2][-1]
        traces.append(with_change(run, at, telling(**members), anything))

    for case, verdict in zip(TOLD, judged(traces), strict=True):
        assert isinstance(verdict, Diverges), case
        assert verdict.action in (case[0], "RefuseClient"), case


@pytest.mark.java
def test_a_change_that_no_step_explains_diverges() -> None:
    run = run_with("SendHeartbeat")

    def takes(record: NodeRecord) -> NodeRecord:
        return msgspec.structs.replace(record, state={**record.state, "taking": 7})

    at = first(run[1], "SendHeartbeat")
    (verdict,) = judged([with_change(run, at, takes, is_action("Unexplained"))])

    assert isinstance(verdict, Diverges)
    assert verdict.action == "Unexplained"


@pytest.mark.java
def test_a_client_that_is_told_twice_diverges() -> None:
    run = run_with("RefuseClient")

    def twice(record: NodeRecord) -> NodeRecord:
        return msgspec.structs.replace(record, answered=record.answered * 2)

    at = first(run[1], "RefuseClient")
    trace = with_change(run, at, twice, lambda event: "UNKNOWN" in event.params)
    (verdict,) = judged([trace])

    assert isinstance(verdict, Diverges)
    assert verdict.step == len(trace.events) - 1


@pytest.mark.java
@pytest.mark.parametrize(
    ("action", "change", "asked"),
    [
        ("RefuseMisdirected", {"code": _SUCCESS}, "RefuseMisdirected"),
        ("RefuseMisdirected", {"term": 9}, "RefuseMisdirected"),
        ("RefuseMisdirected", {"group": "neither"}, "LeaveUnanswered"),
        ("RefuseCandidate", {"voteResult": "REJECT_TAKING_LEADERSHIP"}, "RefuseCandidate"),
        ("RefuseMalformed", {"code": _SUCCESS}, "RefusePush"),
        ("RefuseTerm", {"code": int(DLedgerResponseCode.INCONSISTENT_STATE)}, "RefuseEntries"),
        ("RefuseTransfer", {"code": _SUCCESS}, "RefuseTransfer"),
        (
            "RefuseTransfer",
            {"code": int(DLedgerResponseCode.FALL_BEHIND_TOO_MUCH)},
            "RefuseTransfer",
        ),
    ],
)
def test_who_is_outside_and_is_answered_otherwise_diverges(
    action: str, change: Body, asked: str
) -> None:
    run = run_with(action)
    at = first(run[1], action)
    (verdict,) = judged([with_change(run, at, answering(change), is_action(asked))])

    assert isinstance(verdict, Diverges)
    assert verdict.action == asked


def answering(change: Body) -> Callable[[NodeRecord], NodeRecord]:
    """Let whoever is outside of the group hear something else."""

    def otherwise(record: NodeRecord) -> NodeRecord:
        told = [
            {
                **one,
                "body": msgspec.json.encode(
                    {**msgspec.json.decode(one["body"]), **change}
                ).decode(),
            }
            for one in record.answered
        ]
        return msgspec.structs.replace(record, answered=tuple(told))

    return otherwise


@pytest.mark.java
def test_what_is_answered_to_forged_requests_is_a_behaviour_and_nothing_else_is() -> None:
    """Of each kind that is answered in these runs the first one, with another term."""
    traces: list[Trace] = []
    kinds: set[tuple[object, ...]] = set()
    for seed in FORGED_SEEDS:
        run = run_of(seed)
        for event in run[1].events:
            kind = event.action, *(of for of in event.params if of in CODES)
            if kind not in FORGED_KINDS - kinds or not is_forged(run, event):
                continue
            assert event.action is not None
            kinds.add(kind)
            traces.append(
                with_change(run, event.step, answering({"term": 61}), is_action(event.action))
            )

    assert kinds == FORGED_KINDS
    assert all(isinstance(verdict, Diverges) for verdict in judged(traces))


def is_forged(run: tuple[Sequence[NodeLog], Trace], event: Event) -> bool:
    logs, _ = run
    record = record_of_event(DLedgerRecords([log.header for log in logs]), logs, event.step)
    assert record is not None
    return any(isinstance(one, dict) and one.get("is") in FORGED for one in record.heard)


@pytest.mark.parametrize("body", ["{", '{"code":9999}', '{"code":200,"term":"x"}'])
def test_who_is_outside_and_is_told_what_no_member_says_is_an_error(body: str) -> None:
    logs, trace = run_with("RefuseMalformed")
    headers = [log.header for log in logs]
    meant = record_of_event(DLedgerRecords(headers), logs, first(trace, "RefuseMalformed"))

    def wrong(record: NodeRecord) -> NodeRecord:
        told = [{**one, "body": body} for one in record.answered]
        return msgspec.structs.replace(record, answered=tuple(told))

    merged = merge(changed(logs, lambda one: one is meant, wrong))
    with pytest.raises(RecordError, match="OutsiderTold"):
        list(DLedgerRecords(headers).events(merged))


@pytest.mark.java
def test_an_operator_who_is_not_answered_and_gets_no_other_leader_is_missed() -> None:
    run = run_with("RefuseTransfer")

    def silent(record: NodeRecord) -> NodeRecord:
        return msgspec.structs.replace(record, answered=())

    at = first(run[1], "RefuseTransfer")
    (verdict,) = judged([with_change(run, at, silent, is_action("LeaveUnanswered"))])

    assert isinstance(verdict, Diverges)
    assert verdict.action == "LeaveUnanswered"


def _forgets_who_asked_it_to_lead(patch: pytest.MonkeyPatch) -> None:
    whole = transfer._take_when_ready

    def forgets(state: ElectorState, waiting: AskedToLead, **named: Any) -> ElectorStepped:
        stepped = whole(state, waiting, **named)
        return replace(stepped, state=replace(stepped.state, asked_to_lead=None))

    patch.setattr(transfer, "_take_when_ready", forgets)


def _tells_operators_nothing(patch: pytest.MonkeyPatch) -> None:
    whole = transfer._end_transfer

    def ends(state: ElectorState, *transferred: Any) -> ElectorStepped:
        return replace(whole(state, *transferred), effects=())

    patch.setattr(transfer, "_end_transfer", ends)


@pytest.mark.java
@pytest.mark.parametrize("omission", [_forgets_who_asked_it_to_lead, _tells_operators_nothing])
def test_who_waits_too_long_for_what_comes_of_a_transfer_is_not_answered(
    omission: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    omission(monkeypatch)

    (verdict,) = judged([PLUG.trace_of_records(recorded.__wrapped__("dledger", 0).logs)])

    assert isinstance(verdict, Diverges)
    assert verdict.action == "LeaveUnanswered"


@pytest.mark.java
def test_a_leader_that_does_not_commit_what_a_majority_has_is_noticed() -> None:
    run = run_with("CommitEntry")
    at = first(run[1], "CommitEntry")

    def stays(record: NodeRecord) -> NodeRecord:
        left = {name: one for name, one in record.state.items() if name != "committed"}
        return msgspec.structs.replace(record, state=left)

    (verdict,) = judged([with_change(run, at, stays, is_action("CountHolders"))])

    assert isinstance(verdict, Diverges)
    assert verdict.action == "CountHolders"


def inserted(trace: Trace, behind: int, action: str, *params: Any) -> Trace:
    """Return a trace to an event, and this as the last one."""
    node = trace.events[behind].node
    assert node is not None
    last = Event(step=behind + 1, action=action, params=(node, *params), node=node)
    return replace(trace, events=(*trace.events[: behind + 1], replace(last, observed={})))


@pytest.mark.java
def test_a_leader_that_stays_closed_when_its_transfer_is_over_is_noticed() -> None:
    seed, bugs = 56, frozenset({Bug.TRANSFER_ENDS})
    runs = [recorded("dledger", seed), recorded("dledger", seed, bugs)]
    right, wrong = judged([PLUG.trace_of_records(run.logs) for run in runs])

    assert isinstance(right, Conforms)
    assert isinstance(wrong, Diverges)
    assert wrong.action == "HearOfTransfer"


def test_operators_are_told_all_that_the_specification_knows() -> None:
    told = {
        event.params[-1]
        for seed in (12, 14)
        for event in PLUG.trace_of_records(recorded("dledger", seed).logs).events
        if event.action == "RefuseTransfer"
    }

    assert told == {
        "UNEXPECTED_ARGUMENT",
        "UNKNOWN_MEMBER",
        "INCONSISTENT_LEADER",
        "INCONSISTENT_TERM",
        "NOT_LEADER",
        "FALL_BEHIND_TOO_MUCH",
        "LEADER_TRANSFERRING",
    }


WAITING: Final[dict[str, tuple[Any, ...]]] = {
    "NoApply": ("CommitEntry", "Apply", 1),
    "NoHeartbeats": ("SendHeartbeat", "AskVotes"),
    "NoLeader": ("HandleHeartbeat", "AskVotes"),
    "NoMajority": ("SendHeartbeat", "AskVotes"),
    "NoPush": ("SendHeartbeat", "AskVotes", "b2"),
    "NoResult": ("AskVotes", "SendHeartbeat"),
    "NoSync": ("AppendAsLeader", "AskVotes"),
    "NoTransfer": ("TransferLeadership", "AskVotes"),
    "NoVotes": ("IncreaseTerm", "AskVotes"),
}
"""What is missed -> of whom it is, of whom it is not; and about what."""
WRONG: Final[dict[str, tuple[Any, ...]]] = {
    "AskEarly": ("IncreaseTerm", "SendHeartbeat"),
    "GiveUpEarly": ("BecomeCandidate", "SendHeartbeat"),
    "HearOfTransfer": ("TransferLeadership", "AskVotes"),
    "KeepEntries": ("SaveSnapshot", "AskVotes"),
    "KeepFiles": ("CutLog", "AskVotes"),
    "KeepRound": ("AskVotes", "SendHeartbeat"),
    "LeaveBehind": ("SendHeartbeat", "AskVotes"),
    "RepeatEarly": ("SendHeartbeat", "AskVotes"),
    "SaveLate": ("Apply", "SaveSnapshot", 1),
}
"""What is done too soon, or left -> where it is wrong, and where it is not; and about what."""


@pytest.mark.java
def test_who_does_not_wait_or_keeps_what_is_cut_diverges() -> None:
    wrong, right = [], []
    for action, (where, elsewhere, *about) in WRONG.items():
        _, trace = run_with(where, elsewhere)
        wrong.append(inserted(trace, first(trace, where), action, *about))
        right.append(inserted(trace, first(trace, elsewhere), action, *about))

    for action, is_wrong, is_right in zip(WRONG, judged(wrong), judged(right), strict=True):
        assert isinstance(is_wrong, Diverges), action
        assert isinstance(is_right, Conforms), action


@pytest.mark.java
def test_who_waits_too_long_diverges_and_who_need_not_conforms() -> None:
    assert set(WAITING) == MISSED
    late, early = [], []
    for missed, (where, elsewhere, *about) in WAITING.items():
        _, trace = run_with(where, elsewhere)
        late.append(inserted(trace, first(trace, where), missed, *about))
        early.append(inserted(trace, first(trace, elsewhere), missed, *about))

    verdicts = zip(WAITING, judged(late), judged(early), strict=True)

    for missed, is_late, is_early in verdicts:
        assert isinstance(is_late, Diverges), missed
        assert isinstance(is_early, Conforms), missed


def test_what_is_not_done_in_time_by_the_settings_is_missed() -> None:
    logs, kept = run_of(SEEDS[0])
    hasty = {
        "heart_beat_time_interval_ms": 1,
        **dict.fromkeys(("max_vote_interval_ms", "push_commit_interval_ms"), 1),
        **dict.fromkeys(("rpc_timeout_ms", "push_retry_ms", "max_push_time_out_ms"), 1),
    }
    headers = [
        msgspec.structs.replace(log.header, settings={**log.header.settings, **hasty})
        for log in logs
    ]
    hurried = [replace(log, header=header) for log, header in zip(logs, headers, strict=True)]

    missed = PLUG.trace_of_records(hurried)

    assert not MISSED & {one.action for one in kept.events}
    found = MISSED & {one.action for one in missed.events}
    assert found == {"NoHeartbeats", "NoLeader", "NoMajority", "NoPush", "NoVotes"}

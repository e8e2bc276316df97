"""What brokers of a group and their controller wrote, as behaviours of SyncStateSet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import msgspec
import pytest

from rocketha.known_bugs import Bug
from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import NodeRecord, RecordError
from rocketproof.protocols import PROTOCOLS
from tests.traces.rocketproof.recorded_runs import SUBJECTS, changed, judged, recorded
from tlatrace.judgement.verdict import Verdict, combine, kind

PLUG: Final = PROTOCOLS["sync_state_set"]
SEED: Final = 19

Change = Callable[[NodeRecord], NodeRecord]


def logs() -> tuple[NodeLog, ...]:
    return recorded("sync_state_set", SEED).logs


def acts(action: str) -> Callable[[NodeRecord], bool]:
    return lambda record: record.action == action


def decides(kind_of_event: str) -> Callable[[NodeRecord], bool]:
    def found(record: NodeRecord) -> bool:
        return any(event["is"] == kind_of_event for event in record.params.get("events", ()))

    return found


def with_part(name: str, value: object) -> Change:
    return lambda r: msgspec.structs.replace(r, state={**r.state, name: value})


def with_params(**params: object) -> Change:
    return lambda r: msgspec.structs.replace(r, params={**r.params, **params})


def answers(what: str) -> Callable[[NodeRecord], bool]:
    def found(record: NodeRecord) -> bool:
        return any(
            answer["is"] == what and (answer.get("status") == "PUT_OK" or answer.get("data"))
            for answer in record.answered
        )

    return found


def with_answer(what: str, **changes: object) -> Change:
    def changed_record(r: NodeRecord) -> NodeRecord:
        answered = [{**a, **changes} if a["is"] == what else a for a in r.answered]
        return msgspec.structs.replace(r, answered=answered)

    return changed_record


def verdicts_of(runs: Sequence[Sequence[NodeLog]]) -> list[Verdict]:
    """Judge runs, each by all its master epochs."""
    traces = [PLUG.traces_of_records(run) for run in runs]
    verdicts = iter(judged([trace for of_run in traces for trace in of_run]))
    return [combine([next(verdicts) for _ in of_run]) for of_run in traces]


def test_each_bug_is_among_the_runs_that_are_compared() -> None:
    subject = SUBJECTS["sync_state_set"]

    # Of NewEpoch there is no master epoch at all.
    assert PLUG.bugs == {*subject.seed_of_bug, *subject.unseen, Bug.NEW_EPOCH}


# ---- what is changed in a record ----


def with_acks(to: int) -> Change:
    def changed_record(r: NodeRecord) -> NodeRecord:
        ends = [[conn, {**end, "slave_ack": to}] for conn, end in r.state["servers"]]
        return with_part("servers", ends)(r)

    return changed_record


def with_another_epoch(record: NodeRecord) -> NodeRecord:
    log = record.state["log"]
    return with_part("log", {"kept": log["kept"], "added": [9 for _ in log["added"]]})(record)


CASES: Final[dict[str, tuple[Callable[[NodeRecord], object], Change, str]]] = {
    "a report of more than the slave has": (
        lambda r: r.action == "ReceiveAck" and "servers" in r.state,
        with_acks(1_280),
        "ReceiveAck",
    ),
    "a producer who hears more than is safe": (
        answers("AnswerPut"),
        with_answer("AnswerPut", end=100_000),
        "Acknowledge",
    ),
    "a consumer who sees more than is confirmed": (
        answers("AnswerPull"),
        with_answer("AnswerPull", data={"size": 100_000}),
        "Consume",
    ),
    "a proposal that changes another set": (
        acts("MaybeShrink"),
        with_part("pending", {"members": [1, 2, 3], "expected": 1, "joining": []}),
        "Shrink",
    ),
    "a set that nobody decided": (
        acts("LearnSyncStateSet"),
        with_part("local", {"members": [1, 2, 3], "epoch": 2}),
        "Learn",
    ),
    "a set with somebody else": (
        decides("SetAltered"),
        with_part("sync_state_set", {"members": [1, 2, 3], "epoch": 2}),
        "ApplyAlter",
    ),
    "a batch with a record of another epoch": (
        lambda r: r.action == "ReceiveTransfer" and r.state.get("log", {}).get("added"),
        with_another_epoch,
        "Copy",
    ),
    "an election of somebody who is not the master then": (
        lambda r: decides("MasterElected")(r) and r.state["master"] == 1,
        with_part("master", 3),
        "Init",  # of the master epoch that begins so
    ),
}


@pytest.mark.java
def test_what_is_changed_in_a_record_diverges() -> None:
    runs = [changed(logs(), is_it, change) for is_it, change, _ in CASES.values()]

    verdicts = verdicts_of([logs(), *runs])

    assert kind(verdicts[0]) == "conforms"
    found = {
        name: (kind(verdict), getattr(verdict, "action", None))
        for name, verdict in zip(CASES, verdicts[1:], strict=True)
    }
    assert found == {name: ("diverges", action) for name, (_, _, action) in CASES.items()}


@pytest.mark.parametrize(
    ("is_it", "change", "said"),
    [
        (acts("PutMessage"), with_part("role", 1), "role: Expected `str`, got `int`"),
        (acts("PutMessage"), with_part("log", {"kept": 99, "added": []}), "log: keeps 99 of"),
        (
            acts("PutMessage"),
            lambda r: msgspec.structs.replace(r, action="Conquer"),
            "a broker has no action 'Conquer'",
        ),
        (
            acts("EntryActed"),
            lambda r: msgspec.structs.replace(r, action="Decree"),
            "a controller has no action 'Decree'",
        ),
        (
            acts("EntryActed"),
            lambda r: msgspec.structs.replace(r, params={}),
            "entry: Object missing required field `entry`",
        ),
        (
            decides("SetAltered"),
            with_params(events=[{"is": "Decreed"}]),
            "nothing is known of 'Decreed'",
        ),
        (acts("MaybeExpand"), with_params(slaves=[1, 2]), "MaybeExpand of 2 slaves"),
        (acts("MaybeExpand"), with_params(slaves=[7]), "no broker is 7"),
        (
            lambda r: r.action == "ReceiveAck" and "servers" in r.state,
            with_params(conn=10_000),
            "a report of nobody",
        ),
    ],
)
def test_a_record_that_lacks_what_its_kind_has_is_named(
    is_it: Callable[[NodeRecord], object], change: Change, said: str
) -> None:
    with pytest.raises(RecordError) as caught:
        PLUG.traces_of_records(changed(logs(), is_it, change))

    assert caught.value.record is not None
    assert caught.value.reason.startswith(said)


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        (["b1", "b2", "b3"], "there are not the records of a controller and of brokers"),
        (["controller"], "there are not the records of a controller and of brokers"),
        (["b1", "b3", "controller"], "b2 has no records"),
    ],
)
def test_a_log_is_needed_of_the_controller_and_of_each_broker(nodes: list[str], said: str) -> None:
    with pytest.raises(RecordError, match=said):
        PLUG.traces_of_records([log for log in logs() if log.header.node in nodes])


def test_a_broker_alone_has_no_master_epoch() -> None:
    alone = {"kind": "broker", "brokers": ["b1"]}
    first, *_, controller = logs()
    header = msgspec.structs.replace(first.header, settings=alone)

    with pytest.raises(RecordError, match="a group of one broker has no slaves"):
        PLUG.traces_of_records([replace(first, header=header), controller])


# ---- what nodes do not write ----

SAID_BY_OURS: Final = ("confirm", "incarnation", "slave_incarnations", "registration")


def as_real_ones_write(record: NodeRecord) -> NodeRecord:
    """Leave out what RocketMQ does not have, or its agent does not write."""
    state = {name: value for name, value in record.state.items() if name not in SAID_BY_OURS}
    if state.get("pending"):
        state["pending"] = {
            "members": state["pending"]["members"],
            "epoch": state["pending"]["expected"],
        }
    sent = tuple([msgspec.structs.replace(one, code=None) for one in record.sent])
    return msgspec.structs.replace(record, state=state, sent=sent)


@pytest.mark.java
def test_what_nobody_writes_is_not_shown_and_a_proposal_is_sent_silently() -> None:
    runs = [logs(), recorded("sync_state_set", 5).logs]
    bare = [
        [replace(log, records=tuple(map(as_real_ones_write, log.records))) for log in run]
        for run in runs
    ]

    traces = [trace for run in bare for trace in PLUG.traces_of_records(run)]

    events = [event for trace in traces for event in trace.events[1:]]
    shown = [event.observed or {} for event in events]
    assert not any("confirm" in one for one in shown if one["role"] == "Master")
    assert {part.at[1:] for event in events for part in event.parts} == {
        (),
        ("ack",),
        ("reported",),
    }
    actions = {event.action for event in events}
    assert "SendAlter" not in actions
    assert {"Expand", "Shrink", "ApplyAlter", "Learn", "Restart"} <= actions
    assert {kind(verdict) for verdict in judged(traces)} == {"conforms"}
    for trace in traces:
        assert trace.header is not None
        assert trace.header.silent is not None
        assert trace.header.silent.actions == ("SendAlter",)

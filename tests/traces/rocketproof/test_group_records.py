"""What brokers of a group and their controller wrote, as behaviours of ReplicaGroup."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import msgspec
import pytest

from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import STOPPED, NodeRecord, RecordError
from rocketproof.protocols import PROTOCOLS
from tests.traces.rocketproof.recorded_runs import changed, judged, recorded
from tlatrace.judgement.verdict import Diverges, kind

PLUG: Final = PROTOCOLS["replica_group"]
SEED: Final = 14

Change = Callable[[NodeRecord], NodeRecord]


def logs() -> tuple[NodeLog, ...]:
    return recorded("replica_group", SEED).logs


def acts(action: str) -> Callable[[NodeRecord], bool]:
    return lambda record: record.action == action


def with_part(name: str, value: object) -> Change:
    return lambda r: msgspec.structs.replace(r, state={**r.state, name: value})


def without_action(record: NodeRecord) -> NodeRecord:
    return msgspec.structs.replace(record, action=None, params={})


def decides(kind_of_event: str) -> Callable[[NodeRecord], bool]:
    def found(record: NodeRecord) -> bool:
        return any(event["is"] == kind_of_event for event in record.params.get("events", ()))

    return found


def with_another_epoch(record: NodeRecord) -> NodeRecord:
    log = record.state["log"]
    return with_part("log", {"kept": log["kept"], "added": [9 for _ in log["added"]]})(record)


CASES: Final[dict[str, tuple[Callable[[NodeRecord], object], Change, str]]] = {
    "a role that nobody gave": (
        lambda r: r.action == "BecomeSlave" and "role" in r.state,
        with_part("role", "Master"),
        "BecomeSlave",
    ),
    "a record of another epoch": (
        acts("PutMessage"),
        with_part("log", {"kept": 0, "added": [9]}),
        "PutMessage",
    ),
    "a batch with a record of another epoch": (
        lambda r: r.action == "ReceiveTransfer" and r.state.get("log", {}).get("added"),
        with_another_epoch,
        "Replicate",
    ),
    "a message that was confirmed too far": (
        acts("Acknowledge"),
        with_part("confirm", 100_000),
        "Acknowledge",
    ),
    "a set with somebody else": (
        decides("SetAltered"),
        with_part("sync_state_set", {"members": [1, 2, 3], "epoch": 99}),
        "AlterSyncStateSet",
    ),
    "a log that is longer after a crash": (
        lambda r: r.event == STOPPED and r.node != "controller",
        with_part("log", {"kept": 0, "added": [1, 2, 3, 4, 5]}),
        "Crash",
    ),
}


@pytest.mark.java
def test_what_is_changed_in_a_record_diverges() -> None:
    runs = [changed(logs(), is_it, change) for is_it, change, _ in CASES.values()]

    verdicts = judged([PLUG.trace_of_records(run) for run in (logs(), *runs)])

    assert kind(verdicts[0]) == "conforms"
    found = {name: kind(verdict) for name, verdict in zip(CASES, verdicts[1:], strict=True)}
    assert found == dict.fromkeys(CASES, "diverges")
    for (name, (_, _, action)), verdict in zip(CASES.items(), verdicts[1:], strict=True):
        assert isinstance(verdict, Diverges)
        assert verdict.action == action, name


@pytest.mark.java
def test_a_change_without_an_action_is_not_passed() -> None:
    run = changed(logs(), acts("MaybeExpand"), without_action)

    trace = PLUG.trace_of_records(run)

    (unnamed,) = [event for event in trace.events if event.action is None]
    assert any(part.variable == "pend" for part in unnamed.parts)
    (verdict,) = judged([trace])
    assert kind(verdict) == "undecided", "Next has a Nat, so that it is not enumerated"


@pytest.mark.parametrize(
    ("is_it", "change", "said"),
    [
        (acts("PutMessage"), with_part("role", 1), "role: Expected `str`, got `int`"),
        (
            acts("PutMessage"),
            with_part("log", {"kept": 99, "added": []}),
            "log: keeps 99 of",
        ),
        (
            acts("ReceiveHandshake"),
            lambda r: msgspec.structs.replace(r, received=()),
            "ReceiveHandshake without a packet",
        ),
        (
            acts("Transfer"),
            lambda r: msgspec.structs.replace(r, action="Conquer"),
            "a broker has no action 'Conquer'",
        ),
        (
            acts("EntryActed"),
            lambda r: msgspec.structs.replace(r, action="Decree"),
            "a controller has no action 'Decree'",
        ),
        (
            lambda r: r.node == "controller" and r.heard,
            lambda r: msgspec.structs.replace(r, heard=({"is": "FrameHeard"},)),
            "heard: Object missing required field `channel`",
        ),
    ],
)
def test_a_record_that_lacks_what_its_kind_has_is_named(
    is_it: Callable[[NodeRecord], object], change: Change, said: str
) -> None:
    with pytest.raises(RecordError) as caught:
        PLUG.trace_of_records(changed(logs(), is_it, change))

    assert caught.value.record is not None
    assert caught.value.reason.startswith(said)


@pytest.mark.parametrize(
    ("without", "said"),
    [
        (["controller"], "there are not the records of a controller and of brokers"),
        (["b2"], "b2 has no records"),
        (["b1", "b2", "b3"], "there are not the records of a controller and of brokers"),
    ],
)
def test_a_log_is_needed_of_the_controller_and_of_each_broker(
    without: list[str], said: str
) -> None:
    with pytest.raises(RecordError, match=said):
        PLUG.trace_of_records([log for log in logs() if log.header.node not in without])


def test_brokers_of_a_group_are_set_up_alike() -> None:
    first, second, *others = logs()
    header = msgspec.structs.replace(
        first.header, settings={**first.header.settings, "in_sync_replicas": 7}
    )
    with pytest.raises(RecordError, match="b1 and b2 are set up differently"):
        PLUG.trace_of_records([replace(first, header=header), second, *others])

"""What a master and its slaves wrote, as behaviours of LegacyReplication."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec
import pytest

from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import NodeRecord, RecordError
from rocketha.sim.engine.records import SEGMENT_SIZE
from rocketproof.protocols import PROTOCOLS
from tests.traces.rocketproof.recorded_runs import changed, judged, recorded
from tlatrace.judgement.verdict import kind

PLUG: Final = PROTOCOLS["legacy_replication"]
SEED: Final = 9
WAITS: Final = [{"put": 0, "offset": 0, "need": 1}]

Change = Callable[[NodeRecord], NodeRecord]


def logs_of_run() -> tuple[NodeLog, ...]:
    return recorded("legacy_replication", SEED).logs


def acts(action: str, node: str = "") -> Callable[[NodeRecord], bool]:
    return lambda r: r.action == action and r.node.startswith(node)


def with_state(**parts: Callable[[Any], Any]) -> Change:
    """Change parts of a record's state."""

    def change(record: NodeRecord) -> NodeRecord:
        turned = {name: turn(record.state[name]) for name, turn in parts.items()}
        return msgspec.structs.replace(record, state={**record.state, **turned})

    return change


def with_params(**params: object) -> Change:
    return lambda r: msgspec.structs.replace(r, params={**r.params, **params})


def without(member: str) -> Change:
    return lambda r: msgspec.structs.replace(r, **{member: ()})


def timed_out(record: NodeRecord) -> NodeRecord:
    said = tuple({**answer, "status": "FLUSH_SLAVE_TIMEOUT"} for answer in record.answered)
    return msgspec.structs.replace(record, answered=said)


def one_end(**values: object) -> Callable[[Any], Any]:
    return lambda ends: [[conn, {**end, **values}] for conn, end in ends]


def appends(record: NodeRecord) -> bool:
    return record.action == "ReceiveTransfer" and bool(record.state.get("log", {}).get("added"))


# ---- what is wrong in a record ----


@pytest.mark.java
def test_what_is_changed_in_a_record_diverges() -> None:
    logs = logs_of_run()
    cases: dict[str, tuple[NodeLog, ...]] = {
        "nothing": logs,
        "the life that wrote a record": changed(
            logs, appends, with_state(log=lambda log: {**log, "added": [9] * len(log["added"])})
        ),
        "what is flushed": changed(
            logs, acts("Flush"), with_state(flushed=lambda at: at + SEGMENT_SIZE)
        ),
        "what a slave has reported": changed(
            logs, appends, with_state(client=lambda end: {**end, "reported": 0})
        ),
        "what the master has heard": changed(
            logs, acts("ReceiveReport"), with_state(ends=one_end(slave_ack=0)), which=3
        ),
        "where the master goes on": changed(
            logs, acts("Transfer"), with_state(ends=one_end(next_offset=0)), which=1
        ),
        "an end that the master has no more": changed(
            logs, acts("ReceiveReport"), with_state(ends=lambda _: []), which=1
        ),
        "for how many slaves a producer waits": changed(
            logs, acts("PutMessage"), lambda r: with_params(need=(r.params["need"] + 1) % 3)(r)
        ),
        "who waits": changed(logs, acts("PutOk"), with_state(waiting=lambda _: WAITS)),
        "what a producer hears": changed(logs, acts("PutOk"), timed_out),
        "why a producer hears it": changed(
            logs, acts("PutOk"), lambda r: msgspec.structs.replace(r, action="PutTimeout")
        ),
        "no word of an action": changed(
            logs, acts("PutMessage"), lambda r: msgspec.structs.replace(r, action=None, params={})
        ),
    }

    verdicts = judged([PLUG.trace_of_records(case) for case in cases.values()])

    found = {name: kind(verdict) for name, verdict in zip(cases, verdicts, strict=True)}
    assert found == {"nothing": "conforms"} | dict.fromkeys(list(cases)[1:], "diverges")


@pytest.mark.parametrize(
    ("action", "change", "said"),
    [
        ("Transfer", without("sent"), "Transfer without a packet"),
        (
            "Transfer",
            lambda r: msgspec.structs.replace(r, action="Conquer"),
            "b1 has no action 'Conquer'",
        ),
        ("ReceiveReport", without("received"), "ReceiveReport without a packet"),
        ("ReceiveTransfer", without("received"), "ReceiveTransfer without a packet"),
        ("Transfer", with_params(offset="0"), "params: .*`int`.*offset"),
        ("PutMessage", with_params(need=None), "params: .*`int`.*need"),
        ("Flush", with_state(flushed=lambda _: None), "flushed: .*`int`"),
        (
            "ReceiveReport",
            with_state(ends=lambda ends: [[conn, {"slave_ack": 0}] for conn, _ in ends]),
            "ends: .*required field `next_offset`",
        ),
        (
            "Connect",
            with_state(client=lambda end: {"id": end["id"]}),
            "client: .*required field `reported`",
        ),
        (
            "PutMessage",
            lambda r: msgspec.structs.replace(r, state={"log": {"kept": 99, "added": []}}),
            "log: keeps 99 of [0-9]+ records",
        ),
        (
            "PutOk",
            lambda r: msgspec.structs.replace(r, answered=({"put": 1},)),
            "answered: .*required field `status`",
        ),
    ],
)
def test_a_record_that_lacks_what_its_kind_has_is_named(
    action: str, change: Change, said: str
) -> None:
    meant: list[NodeRecord] = []

    def noted(record: NodeRecord) -> NodeRecord:
        meant.append(record)
        return change(record)

    with pytest.raises(RecordError) as caught:
        PLUG.trace_of_records(changed(logs_of_run(), acts(action), noted))

    (record,) = meant
    where = f"{record.node}, record {record.sequence} of incarnation {record.incarnation}: "
    error = str(caught.value)
    assert error.startswith(where)
    assert re.match(said, error.removeprefix(where)), error


# ---- how brokers are set up ----


def set_up(node: str, **settings: object) -> Callable[[Sequence[NodeLog]], Sequence[NodeLog]]:
    def change(logs: Sequence[NodeLog]) -> Sequence[NodeLog]:
        return [
            replace(log, header=msgspec.structs.replace(log.header, settings=settings))
            if log.header.node == node
            else log
            for log in logs
        ]

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda logs: logs[1:], "there are the records of 0 masters"),
        (lambda logs: logs[:2], "there are not the records of all slaves of b1"),
        (set_up("b2", kind="slave", master="b3"), "b2 is a slave of b3, not of b1"),
        (set_up("b2", kind="learner"), "settings of b2: .*'learner'"),
        (set_up("b2", kind="slave"), "settings of b2: .*required field `master`"),
        (
            set_up(
                "b3",
                kind="master",
                slaves=["b2"],
                slaves_to_wait_for_max=1,
                segment_bytes=400,
            ),
            "there are the records of 2 masters",
        ),
    ],
)
def test_brokers_that_do_not_belong_together_are_refused(
    change: Callable[[Sequence[NodeLog]], Sequence[NodeLog]], said: str
) -> None:
    with pytest.raises(RecordError, match=said):
        PLUG.trace_of_records(change(logs_of_run()))

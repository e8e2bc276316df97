"""What a master and its slaves wrote, as behaviours of LegacyReplication."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec
import pytest

from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import NodeRecord, RecordError, SentMessage
from rocketha.sim.engine.records import SEGMENT_SIZE
from rocketproof.protocols import PROTOCOLS
from tests.traces.rocketproof.recorded_runs import changed, judged, recorded
from tlatrace.judgement.verdict import kind

PLUG: Final = PROTOCOLS["legacy_replication"]
SEED: Final = 9
HEARD_NOTHING: Final = {"slave_ack": 0, "next_offset": 0}

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


def stating(**parts: object) -> Change:
    """Have a record say what a simulated broker does not say of itself."""
    return lambda r: msgspec.structs.replace(r, state={**r.state, **parts})


def with_params(**params: object) -> Change:
    return lambda r: msgspec.structs.replace(r, params={**r.params, **params})


def without(member: str) -> Change:
    return lambda r: msgspec.structs.replace(r, **{member: ()})


def timed_out(record: NodeRecord) -> NodeRecord:
    said = tuple({**answer, "status": "FLUSH_SLAVE_TIMEOUT"} for answer in record.answered)
    return msgspec.structs.replace(record, answered=said)


def saying(**values: int) -> Change:
    """Change what is in the packets that a record sends."""

    def change(record: NodeRecord) -> NodeRecord:
        sent = []
        for message in record.sent:
            body = {**msgspec.json.decode(message.body or ""), **values}
            text = msgspec.json.encode(body).decode()
            sent.append(msgspec.structs.replace(message, body=text))
        return msgspec.structs.replace(record, sent=tuple(sent))

    return change


def closes_its_end(record: NodeRecord) -> NodeRecord:
    (conn, *_) = record.received[0].split(":")
    closed = SentMessage(id=f"{conn}:server:close")
    return msgspec.structs.replace(record, sent=(*record.sent, closed))


def asks_for_another(record: NodeRecord) -> NodeRecord:
    heard = tuple({**one, "need": (one["need"] + 1) % 3} for one in record.heard)
    return msgspec.structs.replace(record, heard=heard)


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
        "what a slave reports": changed(logs, appends, saying(report=0)),
        "where the master goes on": changed(
            logs, acts("Transfer"), saying(offset=SEGMENT_SIZE), which=1
        ),
        "how much it sends": changed(logs, acts("Transfer"), saying(size=0), which=1),
        "a report that it refuses": changed(logs, acts("ReceiveReport"), closes_its_end, which=1),
        "for how many slaves a producer waits": changed(
            logs, lambda r: r.event == "PutRequested", asks_for_another
        ),
        "who is answered": changed(logs, acts("PutOk"), without("answered")),
        "what a producer hears": changed(logs, acts("PutOk"), timed_out),
    }

    verdicts = judged([PLUG.trace_of_records(case) for case in cases.values()])

    found = {name: kind(verdict) for name, verdict in zip(cases, verdicts, strict=True)}
    assert found == {"nothing": "conforms"} | dict.fromkeys(list(cases)[1:], "diverges")


@pytest.mark.java
def test_what_a_core_says_that_it_did_is_not_asked_where_its_frames_show_it() -> None:
    logs = logs_of_run()
    cases = [
        changed(logs, acts("PutOk"), lambda r: msgspec.structs.replace(r, action="PutTimeout")),
        changed(logs, acts("Transfer"), lambda r: msgspec.structs.replace(r, action=None)),
        changed(logs, acts("PutMessage"), with_params(need=2, offset=77)),
        changed(logs, acts("ReceiveReport"), with_params(offset=0), which=3),
        changed(logs, appends, stating(client={"id": 1, "reported": 0})),
        changed(logs, acts("ReceiveReport"), stating(ends=[[1, HEARD_NOTHING]]), which=3),
    ]

    verdicts = judged([PLUG.trace_of_records(case) for case in cases])

    assert {kind(verdict) for verdict in verdicts} == {"conforms"}


@pytest.mark.parametrize(
    ("action", "change", "said"),
    [
        (
            "Transfer",
            lambda r: msgspec.structs.replace(r, action="Conquer"),
            "b1 has no action 'Conquer'",
        ),
        ("Transfer", with_params(offset="0"), "params: .*`int`.*offset"),
        ("PutMessage", with_params(need=None), "params: .*`int`.*need"),
        ("Flush", with_state(flushed=lambda _: None), "flushed: .*`int`"),
        (
            "ReceiveReport",
            stating(ends=[[1, {"slave_ack": 0}]]),
            "ends: .*required field `next_offset`",
        ),
        (
            "Connect",
            stating(client={"id": 1}),
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

"""Records of brokers and name servers: whole states again, and an error for what cannot be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec
import pytest

from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import NodeHeader, NodeRecord, RecordError
from rocketha.sim.engine.options import SimOptions
from rocketproof.protocols import PROTOCOLS
from tests.traces.rocketproof.recorded_runs import recorded

PROTOCOL = "route"
Logs: TypeAlias = Sequence[NodeLog]
Change: TypeAlias = Callable[[NodeRecord], NodeRecord]


def with_change(node: str, which: Callable[[NodeRecord], bool], change: Change) -> Logs:
    """Return the logs of a run in which a node wrote something else at its first such step."""
    logs = []
    for log in recorded(PROTOCOL, 1).logs:
        records = list(log.records)
        if log.header.node == node:
            at = next(at for at, record in enumerate(records) if which(record))
            records[at] = change(records[at])
        logs.append(NodeLog(header=log.header, records=tuple(records), name=log.name))
    return logs


def with_header(node: str, settings: dict[str, Any] | None) -> Logs:
    """Return the logs of a run in which a node is set up otherwise, or writes nothing."""
    logs = []
    for log in recorded(PROTOCOL, 1).logs:
        header = log.header
        if header.node == node and settings is None:
            continue
        if header.node == node and settings is not None:
            header = NodeHeader(protocol=PROTOCOL, node=node, settings=header.settings | settings)
        logs.append(NodeLog(header=header, records=log.records, name=log.name))
    return logs


def replaced(**changes: Any) -> Change:
    return lambda record: msgspec.structs.replace(record, **changes)


def registers(record: NodeRecord) -> bool:
    return any(message.code == 103 for message in record.sent)


def without_body(record: NodeRecord) -> NodeRecord:
    sent = tuple([msgspec.structs.replace(one, body="{") for one in record.sent])
    return msgspec.structs.replace(record, sent=sent)


def test_records_are_the_trace_of_whole_states_event_by_event() -> None:
    whole = PROTOCOLS[PROTOCOL].make_traces(1, SimOptions()).trace
    of_records = PROTOCOLS[PROTOCOL].trace_of_records(recorded(PROTOCOL, 1).logs)

    assert [(e.action, e.params, e.state) for e in of_records.events] == [
        (e.action, e.params, e.state) for e in whole.events
    ]


@pytest.mark.parametrize(
    ("logs", "words"),
    [
        (lambda: with_header("controller", None), "one controller"),
        (lambda: with_header("controller", {"master": "b9"}), "master is none of them"),
        (lambda: with_header("b3", {"own_id": 7}), "not the whole group"),
        (lambda: with_header("n2", {"support_acting_master": False}), "set up differently"),
        (lambda: with_header("n2", {"kind": "else"}), "settings of n2"),
        (lambda: with_header("b1", {"heartbeat_ms": None}), "what nodes owe cannot be told"),
        (lambda: with_change("b1", registers, without_body), "a frame that is none"),
        (
            lambda: with_change("b1", lambda one: "version" in one.state, replaced(state={})),
            "`role`",
        ),
        (
            lambda: with_change(
                "n1",
                lambda one: "groups" in one.state,
                replaced(state={"groups": [], "removals": 3}),
            ),
            "removals",
        ),
    ],
)
def test_what_cannot_be_is_an_error(logs: Callable[[], Logs], words: str) -> None:
    with pytest.raises(RecordError, match=words):
        PROTOCOLS[PROTOCOL].trace_of_records(logs())

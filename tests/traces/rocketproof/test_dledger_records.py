"""What members of a DLedger group wrote, as behaviours of DLedger."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec
import pytest

from rocketha.recording.record import NodeRecord, RecordError, SentMessage
from rocketha.sim.engine.options import SimOptions
from rocketproof.protocols import PROTOCOLS
from tests.traces.rocketproof.recorded_runs import changed, judged, recorded
from tlatrace.judgement.verdict import kind
from tlatrace.trace import Event

PLUG: Final = PROTOCOLS["dledger"]
SEED: Final = 3
LEGACY_SEED: Final = 62
UNCOMPARED_SEED: Final = 284
PUSHES: Final = ("COMPARE", "TRUNCATE", "APPEND", "COMMIT")

Change = Callable[[NodeRecord], NodeRecord]


def shows(*parts: str) -> Callable[[NodeRecord], bool]:
    """Return whether a step of a member that has been up shows these parts."""
    return lambda record: record.event != "NodeStarted" and set(parts) <= record.state.keys()


def with_state(**state: Any) -> Change:
    return lambda record: msgspec.structs.replace(record, state={**record.state, **state})


def without(part: str) -> Change:
    def change(record: NodeRecord) -> NodeRecord:
        left = {name: value for name, value in record.state.items() if name != part}
        return msgspec.structs.replace(record, state=left)

    return change


def with_other_body(record: NodeRecord) -> NodeRecord:
    log = record.state["log"]
    added = [[term, crc ^ 1] for term, crc in log["added"]]
    return with_state(log={**log, "added": added})(record)


def votes(record: NodeRecord) -> bool:
    return any('"voteResult":"ACCEPT"' in (one.body or "") for one in record.sent)


def appends(record: NodeRecord) -> bool:
    return any('"type":"APPEND"' in (one.body or "") for one in record.sent)


def as_refusal(record: NodeRecord) -> NodeRecord:
    sent = [
        msgspec.structs.replace(
            one, body=(one.body or "").replace("ACCEPT", "REJECT_ALREADY_VOTED")
        )
        for one in record.sent
    ]
    return msgspec.structs.replace(record, sent=tuple(sent))


@pytest.mark.java
def test_what_is_changed_in_a_record_diverges() -> None:
    logs = recorded("dledger", SEED).logs
    cases = {
        "nothing": logs,
        "a term": changed(
            logs, shows("kept"), with_state(kept={"curr_term": 9, "vote_leader": None})
        ),
        "a vote that is not on the disk": changed(logs, votes, without("kept")),
        "an answer": changed(logs, votes, as_refusal),
        "an entry that is not there": changed(logs, shows("log"), without("log"), -1),
        "the body of an entry": changed(logs, shows("log"), with_other_body, 1),
        "an index that is committed": changed(logs, shows("committed"), with_state(committed=70)),
        "a role": changed(logs, shows("role"), with_state(role="LEADER"), 1),
    }

    traces = [PLUG.trace_of_records(one) for one in cases.values()]

    found = dict(zip(cases, map(kind, judged(traces)), strict=True))
    assert found == {case: "diverges" if case != "nothing" else "conforms" for case in cases}


def with_commit_ahead(record: NodeRecord) -> NodeRecord:
    sent = [
        msgspec.structs.replace(
            one, body=re.sub('"commitIndex":-?[0-9]+', '"commitIndex":90', one.body or "")
        )
        for one in record.sent
    ]
    return msgspec.structs.replace(record, sent=tuple(sent))


def test_a_group_that_pushes_as_older_releases_do_is_judged_as_others_are() -> None:
    logs = recorded("dledger", LEGACY_SEED).logs
    assert all(log.header.settings["legacy_push"] for log in logs)
    bodies = [one.body or "" for log in logs for record in log.records for one in record.sent]
    assert all(any(f'"type":"{name}"' in one for one in bodies) for name in PUSHES)
    assert not any("preLogIndex" in one for one in bodies)

    cases = [logs, changed(logs, appends, with_commit_ahead)]
    found = judged([PLUG.trace_of_records(one) for one in cases])

    assert [kind(one) for one in found] == ["conforms", "diverges"]


def test_a_log_may_be_cut_for_a_leader_of_an_older_release_that_has_not_asked_for_it() -> None:
    logs = recorded("dledger", UNCOMPARED_SEED).logs
    trace = PLUG.trace_of_records(logs)
    at = next(n for n, one in enumerate(trace.events) if one.action == "Truncate")
    assert trace.events[at - 1].action == "Compare"
    whole = PLUG.run(UNCOMPARED_SEED, SimOptions()).trace

    other = PLUG.trace_of_records(changed(logs, truncates, of_a_later_entry))
    found = judged([trace, replace(trace, events=without_event(trace.events, at - 1)), other])

    assert [kind(one) for one in found] == ["conforms", "diverges", "diverges"]
    assert [kind(one) for one in judged([whole])] == ["conforms"]


def truncates(record: NodeRecord) -> bool:
    return any('"type":"TRUNCATE"' in (one.body or "") for one in record.sent)


def of_a_later_entry(record: NodeRecord) -> NodeRecord:
    """Let a leader ask to let the log end three entries later."""

    def later(message: SentMessage) -> SentMessage:
        if '"type":"TRUNCATE"' not in (message.body or ""):
            return message
        body = msgspec.json.decode(message.body or "")
        body["entry"]["index"] += 3
        return msgspec.structs.replace(message, body=msgspec.json.encode(body).decode())

    return msgspec.structs.replace(record, sent=tuple(map(later, record.sent)))


def without_event(events: Sequence[Event], at: int) -> tuple[Event, ...]:
    left = [*events[:at], *events[at + 1 :]]
    return tuple([replace(one, step=step) for step, one in enumerate(left)])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (with_state(role="KING"), "role: there is no KING"),
        (with_state(applied="all"), "state: Expected `int`, got `str`"),
        (with_state(log={"kept": 99, "added": []}), "log: keeps 99 of"),
        (with_state(begin=90), "log: entry 2 was never there"),
    ],
)
def test_a_part_that_no_member_has_is_refused(change: Change, said: str) -> None:
    logs = changed(recorded("dledger", SEED).logs, shows("log"), change, 2)

    with pytest.raises(RecordError, match=said):
        PLUG.trace_of_records(logs)


def test_records_of_some_members_are_no_run() -> None:
    first, *others = recorded("dledger", SEED).logs

    with pytest.raises(RecordError, match="records and members of the group differ"):
        PLUG.trace_of_records(others)
    settings = {**first.header.settings, "preferred_leader_ids": ["b2"]}
    header = msgspec.structs.replace(first.header, settings=settings)
    with pytest.raises(RecordError, match="are set up differently"):
        PLUG.trace_of_records([replace(first, header=header), *others])

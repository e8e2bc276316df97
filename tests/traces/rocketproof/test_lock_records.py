"""What brokers and consumers with queue locks wrote, as behaviours of LockQuorum."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

import msgspec
import pytest

from rocketha.recording.merge import MergedRecord, merge
from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import NodeRecord, RecordError, SentMessage
from rocketproof.protocols import PROTOCOLS
from rocketproof.protocols.lock_quorum.records import LockRecords
from tests.traces.rocketproof.recorded_runs import changed, judged, recorded, with_settings
from tlatrace.judgement.verdict import Diverges, kind
from tlatrace.trace import Event

PLUG: Final = PROTOCOLS["lock_quorum"]
LOCK, UNLOCK = 41, 42


# ---- a projection is a function of records in order ----


def events(merged: Iterable[MergedRecord], logs: Sequence[NodeLog]) -> list[Event]:
    return list(LockRecords([log.header for log in logs]).events(merged))


def test_no_record_is_looked_at_before_the_events_of_those_before_it_are_made() -> None:
    logs = recorded("lock_quorum", 0).logs
    everything = list(merge(logs))
    asked = 0

    def one_by_one() -> Iterable[MergedRecord]:
        nonlocal asked
        for one in everything:
            asked += 1
            yield one

    made = {}
    for event in LockRecords([log.header for log in logs]).events(one_by_one()):
        made[event.step] = asked
    for step, count in islice(made.items(), 0, None, 40):
        assert len(events(everything[:count], logs)) > step


# ---- logs that are not as they were ----

Change = Callable[[NodeRecord], NodeRecord]


def with_state(record: NodeRecord, turn: Callable[[bytes], bytes]) -> NodeRecord:
    """Rewrite the text of a record's state."""
    before = msgspec.json.encode(record.state)
    after = turn(before)
    assert after != before
    return msgspec.structs.replace(record, state=msgspec.json.decode(after))


def without_sent(record: NodeRecord, code: int) -> NodeRecord:
    kept = tuple([message for message in record.sent if message.code != code])
    assert len(kept) < len(record.sent)
    return msgspec.structs.replace(record, sent=kept)


def is_vote(message: SentMessage) -> bool:
    """Tell whether a message is an answer with a queue."""
    return '"lockOKMQSet":[{' in (message.body or "")


def without_votes(record: NodeRecord) -> NodeRecord:
    """Let a broker answer that it has not voted."""
    refusal = '{"lockOKMQSet":[]}'
    sent = [msgspec.structs.replace(m, body=refusal) if is_vote(m) else m for m in record.sent]
    return msgspec.structs.replace(record, sent=tuple(sent))


def received(logs: Sequence[NodeLog]) -> set[str]:
    return {message for log in logs for one in log.records for message in one.received}


def sends(record: NodeRecord, code: int) -> bool:
    return any(message.code == code for message in record.sent)


@pytest.mark.java
def test_what_is_changed_in_a_record_diverges() -> None:
    logs = recorded("lock_quorum", 0).logs
    heard = received(logs)

    def unheard_unlock(record: NodeRecord) -> bool:
        return any(m.code == UNLOCK and m.id not in heard for m in record.sent)

    def votes(record: NodeRecord) -> bool:
        return record.action == "ReceiveAsk" and b'"client_id":"c1"' in msgspec.json.encode(
            record.state.get("votes")
        )

    def votes_at_once(record: NodeRecord) -> bool:
        return record.event == "RequestArrived" and any(map(is_vote, record.sent))

    cases: dict[str, tuple[NodeLog, ...]] = {
        "nothing": logs,
        "the client of a vote": changed(
            logs, votes, lambda r: with_state(r, lambda s: s.replace(b'"c1"', b'"c2"'))
        ),
        "the number of tries": changed(
            logs,
            lambda r: r.action == "Lock",
            lambda r: msgspec.structs.replace(r, state={**r.state, "tries": 7}),
        ),
        "the answer of who has voted": changed(logs, votes_at_once, without_votes),
        "a message that is not processed": changed(
            logs,
            lambda r: any(one.get("fresh") for one in r.answered),
            lambda r: msgspec.structs.replace(r, answered=()),
        ),
        "a release that is sent, and lost": changed(
            logs,
            unheard_unlock,
            lambda r: msgspec.structs.replace(
                r, sent=tuple([m for m in r.sent if m.code != UNLOCK or m.id in heard])
            ),
        ),
    }

    verdicts = judged([PLUG.trace_of_records(case) for case in cases.values()])

    found = {name: kind(verdict) for name, verdict in zip(cases, verdicts, strict=True)}
    assert found == {"nothing": "conforms"} | dict.fromkeys(list(cases)[1:], "diverges")
    assert isinstance(verdicts[1], Diverges)
    assert verdicts[1].action == "ReceiveAsk"


def test_what_a_core_says_of_its_step_is_not_asked() -> None:
    logs = recorded("lock_quorum", 0).logs
    silent = tuple(
        replace(
            log,
            records=tuple(
                [msgspec.structs.replace(r, action=None, params={}) for r in log.records]
            ),
        )
        for log in logs
    )

    assert PLUG.trace_of_records(silent) == PLUG.trace_of_records(logs)


def refused(logs: Sequence[NodeLog]) -> str:
    with pytest.raises(RecordError) as caught:
        PLUG.trace_of_records(logs)
    return str(caught.value)


def acts(action: str, text: str) -> Callable[[NodeRecord], bool]:
    return lambda r: r.action == action and text.encode() in msgspec.json.encode(r.state)


def _drop_received(record: NodeRecord) -> NodeRecord:
    return msgspec.structs.replace(record, received=())


def _takes(event: str) -> Change:
    return lambda record: msgspec.structs.replace(record, event=event)


def _turn(before: str, after: str) -> Change:
    return lambda r: with_state(r, lambda state: state.replace(before.encode(), after.encode()))


@pytest.mark.parametrize(
    ("action", "in_state", "change", "said"),
    [
        ("ReceiveAsk", "", _drop_received, "RequestArrived without a request"),
        ("ReceiveFree", "", _drop_received, "RequestArrived without a request"),
        (
            "ReceiveAsk",
            "client_id",
            _turn('"client_id"', '"client"'),
            "votes: .*required field `client_id`",
        ),
        ("ReceiveAsk", "voted_ms", _turn('"voted_ms":', '"voted_ms":-0.5,"a":'), "votes: .*`int`"),
        (
            "Lock",
            "began_ms",
            _turn('"began_ms"', '"began"'),
            "attempt: .*required field `began_ms`",
        ),
        (
            "ReceiveAnswer",
            "ends_ms",
            _turn('"ends_ms"', '"ends"'),
            "leases: .*required field `ends_ms`",
        ),
        ("ReceiveAsk", "", _takes("Vote"), "a broker does not take 'Vote'"),
        ("Process", "", _takes("Sleep"), "a consumer does not take 'Sleep'"),
        (
            "Process",
            "",
            lambda r: msgspec.structs.replace(r, answered=({"queue": {"topic": "t"}},)),
            "answered: .*required field `broker_name`",
        ),
        (
            "Lock",
            "",
            lambda r: msgspec.structs.replace(
                r, sent=tuple([msgspec.structs.replace(m, to=None) for m in r.sent])
            ),
            "message .* goes to nobody",
        ),
        (
            "Lock",
            "",
            lambda r: msgspec.structs.replace(
                r, sent=tuple([msgspec.structs.replace(m, body="{}") for m in r.sent])
            ),
            "message .*: .*required field `attempt`",
        ),
    ],
)
def test_a_record_that_lacks_what_its_kind_has_is_named(
    action: str, in_state: str, change: Change, said: str
) -> None:
    logs = recorded("lock_quorum", 0).logs
    meant: list[NodeRecord] = []

    def noted(record: NodeRecord) -> NodeRecord:
        meant.append(record)
        return change(record)

    error = refused(changed(logs, acts(action, in_state), noted))

    (record,) = meant
    where = f"{record.node}, record {record.sequence} of incarnation {record.incarnation}: "
    assert error.startswith(where)
    assert re.match(said, error.removeprefix(where)), error


def test_a_release_that_is_received_and_was_not_sent_is_refused() -> None:
    logs = recorded("lock_quorum", 0).logs
    heard = received(logs)

    def heard_unlock(record: NodeRecord) -> bool:
        return any(m.code == UNLOCK and m.id in heard for m in record.sent)

    error = refused(changed(logs, heard_unlock, lambda r: without_sent(r, UNLOCK)))

    assert "is received, and no record sends it" in error


# ---- how nodes are set up ----


@pytest.mark.parametrize(
    ("logs", "said"),
    [
        (lambda logs: logs[:3], "there are no records of a broker, or none of a consumer"),
        (lambda logs: logs[3:], "there are no records of a broker, or none of a consumer"),
        (lambda logs: with_settings(logs, "b2", life_ms=1), "b1 and b2 are set up differently"),
        (lambda logs: with_settings(logs, "c3", lease_ms=1), "c1 and c3 are set up differently"),
        (lambda logs: with_settings(logs, "b2", life_ms=None), "settings of b2: .*`int`.*life_ms"),
        (lambda logs: with_settings(logs, "c1", kind="producer"), "settings of c1: .*'producer'"),
        (
            lambda logs: with_settings(
                with_settings(with_settings(logs, "b1", members=["b1"]), "b2", members=["b1"]),
                "b3",
                members=["b1"],
            ),
            "b2 is no member of the group that it names",
        ),
    ],
)
def test_nodes_that_do_not_belong_together_are_refused(
    logs: Callable[[Sequence[NodeLog]], Sequence[NodeLog]], said: str
) -> None:
    with pytest.raises(RecordError, match=said):
        PLUG.trace_of_records(logs(recorded("lock_quorum", 0).logs))

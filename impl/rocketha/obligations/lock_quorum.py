"""What lock managers and consumers must do in time.

| obligation            | who          | by when                                                   |
|-----------------------|--------------|-----------------------------------------------------------|
| answers to requests   | a broker     | at once; who asks others: when the last one has answered, |
| for locks             |              | or the time of the round is up                            |
| votes that all have   | a broker     | its answer has the queues for which it and all others     |
| given count           |              | have voted, as it has heard                               |
| releases passed on    | a broker     | to each other member, in the step in which it hears one   |
| attempts that end     | a consumer   | when its patience is over                                 |
| answers that count    | a consumer   | in the step in which it hears one, and has patience       |
| connections closed    | a consumer   | when it gives an attempt up that nobody has answered:     |
|                       |              | what it sends then, or later goes over another one        |
| leases renewed        | a consumer   | before the end of a lease on a queue that it wants        |
| patience              | a consumer   | it gives no attempt up before its time                    |
| outsiders refused     | all          | an answer that says so, or the end of the connection, in  |
|                       |              | the step in which they hear one                           |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.lock_bodies import LockCode
from rocketha.obligations.obligation import Due, Obligation, RecordedRun, due_in_step, time_ms
from rocketha.obligations.outsiders import CLOSED, Heard, answered, outsiders_answered
from rocketha.obligations.seen import Seen
from rocketha.recording.record import RESPONSE, SentMessage
from rocketha.types import TimestampMs

__all__ = ["LOCK_QUORUM"]


@dataclass(slots=True)
class _Round:
    """A broker asks the others for a request of a consumer."""

    request: str
    at_ms: TimestampMs
    voted: set[str]
    """Queues."""
    waits_for: set[str]
    """Requests to others."""
    heard: list[set[str]] = field(default_factory=list)
    """Queues for which each of those that have answered has voted."""
    all_ms: TimestampMs | None = None
    """When the last one has answered."""


def _body(message: SentMessage) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(message.body or "{}")
    return found


def _queues(message: SentMessage) -> set[str]:
    """Return the queues that a message names."""
    body = _body(message)
    named = body.get("mqSet", body.get("lockOKMQSet", ()))
    return {str(queue["queueId"]) for queue in named}


def _settings(run: RecordedRun, kind: str) -> dict[str, Any]:
    """Return how the nodes of a kind are set up: all alike."""
    return next(
        header.settings for header in run.headers.values() if header.settings["kind"] == kind
    )


def _brokers(run: RecordedRun) -> list[str]:
    return [name for name, head in run.headers.items() if head.settings["kind"] == "broker"]


def _consumers(run: RecordedRun) -> list[str]:
    return [name for name, head in run.headers.items() if head.settings["kind"] == "consumer"]


# ---- brokers ----


def _answers(run: RecordedRun) -> Iterator[Due]:
    messages, round_ms = run.messages, _settings(run, "broker")["round_ms"]
    for broker in _brokers(run):
        answered = {
            message.id: time_ms(record)
            for record in run.by_node[broker]
            for message in record.sent
            if message.to is None
        }
        for round_ in _rounds(run, broker, messages):
            by_ms = round_.at_ms if not round_.waits_for else round_.at_ms + round_ms
            by_ms = min(by_ms, round_.all_ms or by_ms)
            if run.runs_until_ms(broker, round_.at_ms) > by_ms:
                yield Due(
                    node=broker,
                    since_ms=round_.at_ms,
                    by_ms=TimestampMs(by_ms),
                    what=f"answer {round_.request}",
                    done_ms=answered.get(round_.request + RESPONSE),
                )


def _unanimous(run: RecordedRun) -> Iterator[Due]:
    messages = run.messages
    others = len(_settings(run, "broker")["members"]) - 1
    for broker in _brokers(run):
        for round_ in _rounds(run, broker, messages):
            if len(round_.heard) < others or round_.all_ms is None:
                continue
            wanted = round_.voted.intersection(*round_.heard)
            answer = messages.get(round_.request + RESPONSE)
            if answer is not None and wanted:
                yield Due(
                    node=broker,
                    since_ms=round_.all_ms,
                    by_ms=round_.all_ms,
                    what=f"lock {', '.join(sorted(wanted))} in its answer to {round_.request}",
                    done_ms=round_.all_ms if wanted <= _queues(answer) else None,
                )


def _rounds(run: RecordedRun, broker: str, messages: Mapping[str, SentMessage]) -> Iterator[_Round]:
    """Find the requests for locks that a broker has received, and what it heard of others."""
    rounds: dict[str, _Round] = {}
    asked: dict[str, str] = {}
    for record in run.by_node[broker]:
        for received in record.received:
            message = messages[received]
            if message.code == LockCode.LOCK_BATCH_MQ:
                asks = [m for m in record.sent if m.code == LockCode.LOCK_BATCH_MQ]
                voted = set[str]().union(*map(_queues, asks))
                at_ms, waits_for = time_ms(record), {ask.id for ask in asks}
                rounds[received] = _Round(received, at_ms, voted, set(waits_for))
                asked.update(dict.fromkeys(waits_for, received))
            request = received.removesuffix(RESPONSE)
            if request != received and request in asked:
                round_ = rounds[asked.pop(request)]
                round_.heard.append(_queues(message))
                if len(round_.heard) == len(round_.waits_for):
                    round_.all_ms = time_ms(record)
    yield from rounds.values()


def _passed_on(run: RecordedRun) -> Iterator[Due]:
    settings, messages = _settings(run, "broker"), run.messages
    if not settings["strict"]:
        return
    for broker in _brokers(run):
        for record in run.by_node[broker]:
            for received in record.received:
                message = messages[received]
                if message.code != LockCode.UNLOCK_BATCH_MQ or _body(message)["onlyThisBroker"]:
                    continue
                passed = {**_body(message), "onlyThisBroker": True}
                to = {m.to for m in record.sent if m.code == message.code and _body(m) == passed}
                for other in settings["members"]:
                    if other != broker:
                        yield due_in_step(
                            record, f"tell {other} of {received}", is_done=other in to
                        )


# ---- consumers ----


def _attempts(run: RecordedRun) -> Iterator[Due]:
    patience_ms = _settings(run, "consumer")["patience_ms"]
    for consumer in _consumers(run):
        records = run.by_node[consumer]
        for at, record in enumerate(records):
            if any(message.code == LockCode.LOCK_BATCH_MQ for message in record.sent):
                ends = (
                    time_ms(later)
                    for later in records[at + 1 :]
                    if "attempt" in later.state and later.state["attempt"] is None
                )
                yield Due(
                    node=consumer,
                    since_ms=time_ms(record),
                    by_ms=TimestampMs(time_ms(record) + patience_ms + 1),
                    what="end its attempt",
                    done_ms=next(ends, None),
                )


def _heard_answers(run: RecordedRun) -> Iterator[Due]:
    patience_ms = _settings(run, "consumer")["patience_ms"]
    for consumer in _consumers(run):
        request, asked_ms = "", 0
        for record in run.by_node[consumer]:
            for message in record.sent:
                if message.code == LockCode.LOCK_BATCH_MQ:
                    request, asked_ms = message.id, time_ms(record)
            if request + RESPONSE in record.received and (
                time_ms(record) - asked_ms <= patience_ms
            ):
                ends = "attempt" in record.state and record.state["attempt"] is None
                yield due_in_step(record, f"go by the answer to {request}", is_done=ends)


def _hung_up(run: RecordedRun) -> Iterator[Due]:
    """The name of a message begins with that of its connection."""
    for consumer in _consumers(run):
        records = run.by_node[consumer]
        asked: SentMessage | None = None
        for at, record in enumerate(records):
            if record.event == "PatienceOver" and "attempt" in record.state and asked is not None:
                line = asked.id.partition(":")[0]
                later = [m for one in records[at:] for m in one.sent if m.to == asked.to]
                if later:
                    is_closed = all(m.id.partition(":")[0] != line for m in later)
                    yield due_in_step(record, f"close connection {line}", is_done=is_closed)
            if asked is not None and asked.id + RESPONSE in record.received:
                asked = None
            for message in record.sent:
                if message.code == LockCode.LOCK_BATCH_MQ:
                    asked = message


def _renewals(run: RecordedRun) -> Iterator[Due]:
    """A consumer asks again before a lease ends, if it wants the queue all the time."""
    lease_ms = _settings(run, "consumer")["lease_ms"]
    for consumer in _consumers(run):
        asked_ms: list[TimestampMs] = []
        unwanted_ms: list[TimestampMs] = []
        got_ms: list[TimestampMs] = []
        wanted: list[Any] = []
        for record in run.by_node[consumer]:
            at_ms = time_ms(record)
            wanted = record.state.get("wanted", wanted)
            if not wanted:
                unwanted_ms.append(at_ms)
            if any(message.code == LockCode.LOCK_BATCH_MQ for message in record.sent):
                asked_ms.append(at_ms)
            if record.received and record.state.get("leases"):
                got_ms.append(at_ms)
        for since_ms in got_ms:
            by_ms = TimestampMs(since_ms + lease_ms)
            if not any(since_ms <= at_ms <= by_ms for at_ms in unwanted_ms):
                yield Due(
                    node=consumer,
                    since_ms=since_ms,
                    by_ms=by_ms,
                    what="ask for its queues again",
                    done_ms=next((at_ms for at_ms in asked_ms if at_ms > since_ms), None),
                )


def _patient(run: RecordedRun) -> Iterator[Due]:
    patience_ms = _settings(run, "consumer")["patience_ms"]
    for consumer in _consumers(run):
        asked_ms = 0
        for record in run.by_node[consumer]:
            if any(message.code == LockCode.LOCK_BATCH_MQ for message in record.sent):
                asked_ms = time_ms(record)
            if record.event == "PatienceOver" and "attempt" in record.state:
                waited = time_ms(record) - asked_ms > patience_ms
                yield due_in_step(record, "wait for its answer", is_done=waited)


# ---- all ----


def _refused(run: RecordedRun) -> Iterator[Due]:
    yield from outsiders_answered(run, "broker", _of_broker)
    yield from outsiders_answered(run, "consumer", lambda *_: _NO_REQUEST)


def _of_broker(seen: Seen, asked: Heard) -> dict[str, Any]:
    del seen
    return CLOSED if asked["code"] in _CODES else _NO_REQUEST


_CODES: Final = frozenset(LockCode)
_NO_REQUEST: Final = answered(ResponseCode.REQUEST_CODE_NOT_SUPPORTED)


LOCK_QUORUM: Final = (
    Obligation(name="answers to requests for locks", dues=_answers),
    Obligation(name="votes that all have given count", dues=_unanimous),
    Obligation(name="releases passed on", dues=_passed_on),
    Obligation(name="attempts that end", dues=_attempts),
    Obligation(name="answers that count", dues=_heard_answers),
    Obligation(name="connections closed", dues=_hung_up),
    Obligation(name="leases renewed", dues=_renewals),
    Obligation(name="patience", dues=_patient),
    Obligation(name="outsiders refused", dues=_refused),
)

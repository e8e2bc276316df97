"""What a slave that acts must do in time; masters and producers: `escape_masters`; what is refused:
`escape_refusals`.

| obligation            | by when                                                                  |
|-----------------------|--------------------------------------------------------------------------|
| routes asked          | a period after the last answer, or when it waits no longer; not before   |
|                       | one of these                                                             |
| routes taken          | in the step in which it hears which masters there are: it knows these    |
| group taken           | in the step in which it hears who is in its group: it acts if it has the |
|                       | smallest brokerId                                                        |
| what is due is put    | the first record that is not passed, in its service's next turn, if the  |
|                       | slave acts and there is a master to put it to                            |
| failures waited out   | what has failed is not put again before its pause is over                |
| puts in full          | each says of a message what RocketMQ's does                              |
| what is passed stays  | is in a table on its disk within a period                                |
| what is given stays   | so far consumers are is in one, likewise                                 |
| only changes written  | when it is time for it: no table that its file has                       |
| consumers answered    | when a master has answered, or it waits for that no longer               |
| pops held             | a master has the check point of a message before it is given             |
| pops answered in full | each message says which one it is, and how many are left                 |
| actions said          | in the step: that it begins or ceases to act, or knows other masters; a  |
|                       | master, that something is on its disk                                    |

Source: broker/failover `EscapeBridge`; broker/schedule `ScheduleMessageService`; broker/processor
`PopMessageProcessor`, `AckMessageProcessor`; broker/topic `TopicRouteInfoManager`
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from rocketha.escape.state import HALF_KEY, delay_key
from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.formats.due_messages import PRODUCER_GROUP, TRANSACTION_BITS, UNIQ_KEY
from rocketha.formats.message import properties_of
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.offset_tables import QueueKey, TableKind, pull_offsets
from rocketha.formats.pop_messages import is_revive_topic
from rocketha.obligations.escape_masters import MASTERS_AND_PRODUCERS, log_items, stores_said
from rocketha.obligations.escape_refusals import REFUSALS
from rocketha.obligations.obligation import Due, Obligation, RecordedRun, due_in_step
from rocketha.obligations.seen import Seen, changed_tables, members_heard, seen_of
from rocketha.recording.record import RESPONSE, STARTED, STOPPED, SentMessage
from rocketha.types import TimestampMs

__all__ = ["ESCAPE"]

_WRITE: Final = 2
"""PermName.PERM_WRITE"""
_HALVES: Final = 1
"""The place of their service; the other one is of delayed messages."""
_KINDS: Final = (TableKind.DELAY, TableKind.CONSUMER)
"""Where each service has how far it is."""


@dataclass(frozen=True)
class _Slave:
    name: str
    settings: dict[str, Any]
    seen: list[Seen]


def _slave(run: RecordedRun) -> _Slave:
    return run.once(_the_slave)


def _the_slave(run: RecordedRun) -> _Slave:
    ((name, settings),) = run.nodes_of("slave").items()
    return _Slave(name, settings, seen_of(run, name))


# ---- which masters there are ----


def _routes_asked(run: RecordedRun) -> Iterator[Due]:
    slave = _slave(run)
    heard = {name: one.at_ms for one in slave.seen for name in one.record.received}
    asked = [
        (one.at_ms, message.id)
        for one in slave.seen
        for message in one.messages
        if message.code == NameServerCode.GET_ROUTEINFO_BY_TOPIC
    ]
    waits = [
        (
            at_ms,
            min(
                at_ms + slave.settings["request_timeout_ms"],
                heard.get(f"{name}{RESPONSE}", 1 << 62),
            ),
        )
        for at_ms, name in asked
    ]
    waits += [(one.at_ms, one.at_ms) for one in slave.seen if one.record.event == STARTED]
    yield from _one_question(slave)
    for since_ms, free_ms in waits:
        by_ms = TimestampMs(free_ms + slave.settings["route_ms"])
        if run.runs_until_ms(slave.name, since_ms) > by_ms:
            yield Due(
                node=slave.name,
                since_ms=since_ms,
                by_ms=by_ms,
                what="ask again which masters there are",
                done_ms=next((ms for ms, _ in asked if ms > since_ms), None),
            )


def _one_question(slave: _Slave) -> Iterator[Due]:
    """It asks only when it has heard an answer, waits for it no longer, or some request failed."""
    waits, until_ms = "", 0
    for one in slave.seen:
        has_failed = one.record.event == "ResponseArrived" and not one.record.received
        if one.begins_or_ends or has_failed or f"{waits}{RESPONSE}" in one.record.received:
            waits = ""
        for message in one.messages:
            if message.code == NameServerCode.GET_ROUTEINFO_BY_TOPIC:
                done = not waits or one.at_ms >= until_ms
                yield due_in_step(one.record, "wait for the answer before it asks", is_done=done)
                waits = message.id
                until_ms = one.at_ms + slave.settings["request_timeout_ms"]


def _routes_taken(run: RecordedRun) -> Iterator[Due]:
    slave = _slave(run)
    groups = dict(slave.settings["groups"])
    local = {name for name, node in groups.items() if node in slave.settings["local"]}
    asked = ""
    for one in slave.seen:
        heard = run.messages.get(f"{asked}{RESPONSE}")
        if asked and heard is not None and heard.id in one.record.received:
            there = _masters_of(heard) & groups.keys()
            known = set(one.state["known"]) - local
            what = f"know {', '.join(sorted(there)) or 'no master'}"
            yield due_in_step(one.record, what, is_done=known == there - local)
        for message in one.messages:
            if message.code == NameServerCode.GET_ROUTEINFO_BY_TOPIC:
                asked = message.id


def _group_taken(run: RecordedRun) -> Iterator[Due]:
    slave = _slave(run)
    for one in slave.seen:
        for broker in map(min, members_heard(run, one)):
            acts = broker == slave.settings["own_id"]
            what = f"{'act' if acts else 'not act'}, as {broker} is the smallest"
            done = one.state["acts"] == acts
            yield due_in_step(one.record, what, is_done=done, of="acts" if acts else "")


def _masters_of(answer: SentMessage) -> set[str]:
    """Return the groups whose masters take messages of the topic, as a name server says."""
    if answer.code != BrokerResponse.SUCCESS:
        return set()
    route = msgspec.json.decode(answer.body or "{}")
    writable = {one["brokerName"] for one in route["queueDatas"] if one["perm"] & _WRITE}
    masters = {one["brokerName"] for one in route["brokerDatas"] if "0" in one["brokerAddrs"]}
    return writable & masters


def _actions_said(run: RecordedRun) -> Iterator[Due]:
    for one in _slave(run).seen:
        if one.begins_or_ends:
            continue
        for part, action in ("acts", "Act"), ("known", "LearnRoute"):
            is_so = one.state[part] != one.before[part]
            says = one.record.action == action
            if is_so or says:
                yield due_in_step(one.record, f"say {action} if it is so", is_done=is_so == says)
    yield from stores_said(run)


# ---- what is due ----


def _due_is_put(run: RecordedRun) -> Iterator[Due]:
    slave = _slave(run)
    for service, period_ms in enumerate(slave.settings["serve_ms"]):
        yield from _put_in_turn(slave, service, period_ms)


def _put_in_turn(slave: _Slave, service: int, period_ms: int) -> Iterator[Due]:
    """Find from when a record could be put that is first in its service, and when it was."""
    since_ms: int | None = None
    record, free_ms = 0, 0
    for one in slave.seen:
        at_ms, now = one.at_ms, _first(slave, one, service)
        if one.record.event == STARTED:
            free_ms = 0
        if since_ms is not None and now != record:
            is_done = not one.begins_or_ends and _is_past(one, service, record)
            by_ms = TimestampMs(since_ms + period_ms)
            if is_done or at_ms > by_ms:
                yield Due(
                    node=slave.name,
                    since_ms=TimestampMs(since_ms),
                    by_ms=by_ms,
                    what=f"put record {record} of service {service}",
                    of=f"{service} {record}",
                    done_ms=at_ms if is_done else None,
                )
            since_ms = None
        if not one.begins_or_ends and _has_failed(one, service):
            free_ms = at_ms + slave.settings["retry_ms"]
        if since_ms is None and now is not None:
            record = now
            due_ms = one.state["due_ms"][service][record - 1] - one.record.shows_ms + at_ms
            since_ms = max(at_ms, due_ms, free_ms)


def _first(slave: _Slave, seen: Seen, service: int) -> int | None:
    """Return which record is to be put next; None: none may be, or it is under way."""
    state = seen.state
    if seen.record.event == STOPPED or not (state["acts"] and _has_target(slave, state)):
        return None
    record: int = state["progress"][service] + 1
    if record > len(state["due_ms"][service]) or record in state["waits"][service]:
        return None
    return record


def _has_target(slave: _Slave, state: dict[str, Any]) -> bool:
    groups = dict(slave.settings["groups"])
    known = {groups[name] for name in state["known"]}
    return bool(known if slave.settings["remote_escape"] else known & set(slave.settings["local"]))


def _is_past(seen: Seen, service: int, record: int) -> bool:
    is_passed: bool = seen.state["progress"][service] >= record
    return is_passed or record in seen.state["waits"][service]


def _has_failed(seen: Seen, service: int) -> bool:
    gone = set(seen.before["waits"][service]) - set(seen.state["waits"][service])
    return any(record > seen.state["progress"][service] for record in gone)


def _failures_waited_out(run: RecordedRun) -> Iterator[Due]:
    slave = _slave(run)
    for service in range(len(slave.settings["serve_ms"])):
        failed: dict[int, int] = {}
        for one in slave.seen:
            if one.begins_or_ends:
                failed.clear()
                continue
            before, waits = (set(x["waits"][service]) for x in (one.before, one.state))
            failed |= dict.fromkeys(before - waits, one.at_ms)
            for record in waits - before:
                if record in failed:
                    done = one.at_ms >= failed[record] + slave.settings["retry_ms"]
                    what = f"wait before it puts record {record} again"
                    yield due_in_step(one.record, what, is_done=done, of=f"{service} {record}")


def _puts_in_full(run: RecordedRun) -> Iterator[Due]:
    slave = _slave(run)
    inner = f"InnerProducerGroup_{slave.settings['broker_name']}_{slave.settings['own_id']}"
    halves = {item.of for item in log_items(slave.seen) if item.kind == "half"}
    for one in slave.seen:
        for message in one.messages:
            if message.code == BrokerCode.SEND_MESSAGE_V2:
                done = _is_full(message, inner, halves)
                what = f"say all of {message.id}"
                yield due_in_step(one.record, what, is_done=done, of=message.id)


def _is_full(message: SentMessage, inner: str, halves: set[str]) -> bool:
    """Tell whether a put says what it must, by its own properties."""
    fields = message.fields
    properties = properties_of(fields["i"])
    key = properties.get(UNIQ_KEY, "")
    if is_revive_topic(fields["b"]):
        return key.endswith(("@ck", "@ack")) and (fields["a"], fields["f"]) == (inner, "0")
    return (
        fields["a"] == (properties.get(PRODUCER_GROUP) or inner)
        and fields["b"] == properties.get("REAL_TOPIC")
        and fields["e"] == properties.get("REAL_QID", "0")
        and (int(fields["f"]) & TRANSACTION_BITS != 0) == (key in halves)
        and (message.body or "") == key
    )


# ---- what is on the disk ----


def _passed_stays(run: RecordedRun) -> Iterator[Due]:
    slave = _slave(run)
    keys = (delay_key(slave.settings["level"]), HALF_KEY)
    for service, (kind, key) in enumerate(zip(_KINDS, keys, strict=True)):
        written = [(ms, offsets.get(key, 0)) for ms, offsets in _written(slave, kind)]
        for one in slave.seen:
            if one.begins_or_ends or not _passes(one, service):
                continue
            by_ms = TimestampMs(one.at_ms + slave.settings["persist_ms"])
            passed = one.state["progress"][service]
            if run.runs_until_ms(slave.name, one.at_ms) > by_ms:
                later = (ms for ms, offset in written if one.at_ms <= ms and passed <= offset)
                yield Due(
                    node=slave.name,
                    since_ms=one.at_ms,
                    by_ms=by_ms,
                    what=f"write that {passed} are passed into {kind}",
                    of=str(service),
                    done_ms=next(later, None),
                )


def _written(
    slave: _Slave, kind: TableKind
) -> Iterator[tuple[TimestampMs, Mapping[QueueKey, int]]]:
    """Yield when a table was written, and what is in it."""
    for one in slave.seen:
        for did in one.record.stored:
            if did["is"] == "Written" and did["path"] == kind:
                yield one.at_ms, pull_offsets(kind, b64decode(did["data"])).offsets


def _passes(seen: Seen, service: int) -> bool:
    passes: bool = seen.state["progress"][service] != seen.before["progress"][service]
    return passes


def _given_stays(run: RecordedRun) -> Iterator[Due]:
    """How far consumers are that pop is written, with the message or some time behind it."""
    slave = _slave(run)
    written = list(_written(slave, TableKind.CONSUMER))
    for one in slave.seen:
        for told in _told(one):
            by_ms = TimestampMs(one.at_ms + slave.settings["persist_ms"])
            if not _is_given(told) or run.runs_until_ms(slave.name, one.at_ms) <= by_ms:
                continue
            topic, queue, offset, group, *_ = told["pop"].split("@")
            where = (f"{topic}@{group}", int(queue))
            later = (
                ms for ms, offsets in written if one.at_ms <= ms and offsets[where] > int(offset)
            )
            yield Due(
                node=slave.name,
                since_ms=one.at_ms,
                by_ms=by_ms,
                what=f"write that {told['pop']} is given",
                of=told["pop"],
                done_ms=next(later, None),
            )


def _only_changes(run: RecordedRun) -> Iterator[Due]:
    for kind in _KINDS:
        yield from changed_tables(_slave(run).seen, kind)


# ---- consumers ----


def _told(seen: Seen) -> list[dict[str, Any]]:
    return [one for one in seen.record.answered if one["is"] == "ConsumerTold"]


def _is_given(told: dict[str, Any]) -> bool:
    is_ack: bool = told["is_ack"]
    return not is_ack and told["code"] == BrokerResponse.SUCCESS


def _consumers_answered(run: RecordedRun) -> Iterator[Due]:
    """Who asks is answered before the next one of its kind is, or when a put is given up."""
    slave = _slave(run)
    patience_ms = slave.settings["request_timeout_ms"]
    for is_ack in (False, True):
        told = [one for one in slave.seen if any(x["is_ack"] is is_ack for x in _told(one))]
        for one in slave.seen:
            asked = [x for x in one.record.heard if x == {"is": "ConsumerAsked", "is_ack": is_ack}]
            by_ms = TimestampMs(one.at_ms + patience_ms)
            if asked and run.runs_until_ms(slave.name, one.at_ms) > by_ms:
                at = one.record.sequence, one.record.incarnation
                later = (x for x in told if _is_behind(x, *at))
                yield Due(
                    node=slave.name,
                    since_ms=one.at_ms,
                    by_ms=by_ms,
                    what="answer a consumer",
                    done_ms=next((x.at_ms for x in later), None),
                )


def _is_behind(seen: Seen, sequence: int, incarnation: int) -> bool:
    return (seen.record.incarnation, seen.record.sequence) >= (incarnation, sequence)


def _pops_in_full(run: RecordedRun) -> Iterator[Due]:
    slave = _slave(run)
    for one in slave.seen:
        for told in _told(one):
            if not _is_given(told):
                continue
            _, queue, offset, _, popped_ms, _ = told["pop"].split("@")
            place = f"0 {queue} {offset}"
            wanted = {
                "invisibleTime": str(slave.settings["invisible_ms"]),
                "msgOffsetInfo": place,
                "popTime": popped_ms,
                "restNum": str(one.state["messages"] - 1 - int(offset)),
                "reviveQid": "0",
                "startOffsetInfo": place,
            }
            done = dict(told["fields"]) == wanted
            what = f"say {wanted} of {told['pop']}"
            yield due_in_step(one.record, what, is_done=done, of=told["pop"])


def _pops_held(run: RecordedRun) -> Iterator[Due]:
    """A check point is on a master's disk in a record that stands before."""
    slave = _slave(run)
    held_ns: dict[str, int] = {}
    for master in run.nodes_of("master"):
        for item in log_items(seen_of(run, master)):
            if item.kind == "check point":
                held_ns.setdefault(item.of, item.seen.record.at_ns)
    for one in slave.seen:
        for told in _told(one):
            if _is_given(told):
                done = held_ns.get(told["pop"], 1 << 62) <= one.record.at_ns
                what = f"give {told['pop']} when a master has its check point"
                yield due_in_step(one.record, what, is_done=done, of=told["pop"])


ESCAPE: Final = (
    Obligation(name="routes asked", dues=_routes_asked),
    Obligation(name="routes taken", dues=_routes_taken),
    Obligation(name="group taken", dues=_group_taken),
    Obligation(name="what is due is put", dues=_due_is_put),
    Obligation(name="failures waited out", dues=_failures_waited_out),
    Obligation(name="puts in full", dues=_puts_in_full),
    Obligation(name="what is passed stays", dues=_passed_stays),
    Obligation(name="what is given stays", dues=_given_stays),
    Obligation(name="only changes written", dues=_only_changes),
    Obligation(name="consumers answered", dues=_consumers_answered),
    Obligation(name="pops answered in full", dues=_pops_in_full),
    Obligation(name="pops held", dues=_pops_held),
    Obligation(name="actions said", dues=_actions_said),
    *REFUSALS,
    *MASTERS_AND_PRODUCERS,
)
"""All that a slave that acts, masters of other groups and a producer owe."""

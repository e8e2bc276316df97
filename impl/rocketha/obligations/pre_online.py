"""What a master that comes back, and its slaves, must do in time.

| obligation             | who      | by when                                                   |
|------------------------|----------|-----------------------------------------------------------|
| registrations repeated | a broker | a period after the last one, unless it is in isolation    |
| registrations count on | a broker | the next one behind a lost connection has a later version |
| signs of life          | a broker | in each of its periods, likewise                          |
| polls repeated         | a slave  | a period after the last one                               |
| copies repeated        | a slave  | a period after the last one, while it has a master and    |
|                        |          | does not act for it                                       |
| copies in turn         | a slave  | each asks for another table than the one before           |
| groups taken           | a slave  | when it hears who is in its group: it acts if its         |
|                        |          | brokerId is the smallest, and copies no master who is not |
|                        |          | there                                                     |
| masters forgotten      | a slave  | in the step behind that, if its master is not there       |
| tables written         | a broker | a period after it has something that its file has not     |
| only changes written   | a broker | when it is time for it: no table that its file has        |
| connections kept       | a slave  | unless one is lost or silent for too long, its master is  |
|                        |          | gone, or says where to connect to                         |
| connections known      | a slave  | in each step: the one that it has stands, and no other    |
|                        | a master | in each step: none stands that was a slave's and is not   |
| silent ones given up   | a slave  | when it looks after its connection, and heard nothing of  |
|                        |          | its master for too long                                   |
| heard ones kept        | a slave  | when it looks after it, and has heard something           |
| connections used       | a master | a packet over each, in each of its periods                |
| connections made       | a slave  | when it hears where to connect to, and a pause after its  |
|                        |          | connection, or an attempt, is lost                        |
| isolation goes on      | a master | a pause after the last answer, or when it waits no longer |
| slaves asked           | a master | in the step behind an answer that says who is there       |
| slaves in turn         | a master | each asks another slave than before, if more are wanted   |
| tables used            | a master | in the step in which it is given one: it asks for the     |
|                        |          | other one, or for a report, or takes both                 |
| copies taken           | a slave  | in the step in which it is given its master's table       |
| requests in full       | a broker | each says all that RocketMQ's does                        |
| answers to requests    | a broker | in the step in which it hears one, with the table that it |
|                        |          | has; a master in isolation gives none                     |
| packets answered       | a broker | in the step: a connection by a handshake, that by its     |
|                        |          | answer, whoever is asked to report by a report            |
| outsiders answered     | a broker | in the step: who asks where the master is; what is no     |
|                        |          | request is refused, with the code that says why           |

A broker that waits for an answer puts off what is due; it is due when it waits no longer.

Source: broker `BrokerController`, `BrokerPreOnlineService`, broker/slave `SlaveSynchronize`,
store/ha/autoswitch `AutoSwitchHAClient`, `AutoSwitchHAConnection`
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Any, Final

import msgspec

from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.offset_tables import TableKind, pull_offsets
from rocketha.obligations.obligation import Due, Obligation, RecordedRun, due_in_step
from rocketha.obligations.outsiders import Heard, answered, outsiders_answered
from rocketha.obligations.pre_online_brokers import Broker, brokers, slaves, table_in
from rocketha.obligations.pre_online_connections import (
    connections_kept,
    connections_known,
    connections_made,
    connections_used,
    heard_ones_kept,
    packets_answered,
    silent_given_up,
)
from rocketha.obligations.pre_online_groups import groups_taken, masters_forgotten
from rocketha.obligations.pre_online_isolation import (
    ASKED,
    KIND_OF,
    copies_taken,
    isolation_goes_on,
    slaves_asked,
    slaves_in_turn,
    tables_used,
)
from rocketha.obligations.seen import Seen, changed_tables
from rocketha.recording.record import RESPONSE, STARTED, STOPPED, SentMessage
from rocketha.types import MASTER, TimestampMs

__all__ = ["PRE_ONLINE", "changes_written", "tables_written"]


# ---- what comes again and again ----


def _repeated(
    run: RecordedRun,
    broker: Broker,
    period: str,
    *,
    is_it: Callable[[SentMessage], bool],
    owed: Callable[[dict[str, Any]], bool],
    what: str,
) -> Iterator[Due]:
    """Find when a broker is to send something again, as long as it owes it."""
    sent_ms = [one.at_ms for one in broker.seen for message in one.messages if is_it(message)]
    period_ms = broker.settings[period]
    since_ms: int | None = None
    for at, one in enumerate(broker.seen):
        owes = one.record.event != STOPPED and owed(one.state)
        begins = one.record.event == STARTED or not owed(one.before)
        if owes and (begins or any(is_it(message) for message in one.messages)):
            since_ms = one.at_ms
            by_ms = TimestampMs(broker.free_ms(since_ms + period_ms))
            ends = (later.at_ms for later in broker.seen[at:] if not _owes(later, owed))
            if min(run.runs_until_ms(broker.name, one.at_ms), next(ends, run.ended_ms)) > by_ms:
                done_ms = next((ms for ms in sent_ms if since_ms < ms), None)
                yield Due(
                    node=broker.name, since_ms=one.at_ms, by_ms=by_ms, what=what, done_ms=done_ms
                )


def _owes(seen: Seen, owed: Callable[[dict[str, Any]], bool]) -> bool:
    return seen.record.event not in (STARTED, STOPPED) and owed(seen.state)


def _is_there(state: dict[str, Any]) -> bool:
    return "isolated" in state and not state["isolated"]


def _copies(state: dict[str, Any]) -> bool:
    return bool(state) and state.get("master_address") is not None and not state["serves"]


def _always(state: dict[str, Any]) -> bool:
    return bool(state)


def _again(
    who: Callable[[RecordedRun], list[Broker]],
    period: str,
    codes: Container[int | None],
    owed: Callable[[dict[str, Any]], bool],
    what: str,
) -> Callable[[RecordedRun], Iterator[Due]]:
    """Let brokers owe a request with one of these codes in each period."""

    def dues(run: RecordedRun) -> Iterator[Due]:
        for broker in who(run):
            yield from _repeated(
                run,
                broker,
                period,
                is_it=lambda message: message.code in codes,
                owed=owed,
                what=what,
            )

    return dues


def _copies_in_turn(run: RecordedRun) -> Iterator[Due]:
    for broker in slaves(run):
        last: int | None = None
        for one in broker.seen:
            last = None if one.record.event == STARTED else last
            for message in one.messages:
                if message.code in KIND_OF:
                    what = f"ask {message.to} for another table than before"
                    yield due_in_step(one.record, what, is_done=message.code != last)
                    last = message.code


def tables_written(run: RecordedRun, kind: TableKind) -> Iterator[Due]:
    """Find when a broker is to write one of its tables, again and again."""
    for broker in brokers(run):
        yield from _written(run, broker, kind)


def _written(run: RecordedRun, broker: Broker, kind: TableKind) -> Iterator[Due]:
    """Each change is due: with the next table that is written it is done."""
    written_ms = [
        one.at_ms
        for one in broker.seen
        if any(did["is"] == "Written" and did["path"] == kind for did in one.record.stored)
    ]
    for one in broker.seen:
        present, before = table_in(one.state, kind), table_in(one.before, kind)
        stored = any(did["is"] == "Written" and did["path"] == kind for did in one.record.stored)
        if one.record.event in (STARTED, STOPPED) or present == before or stored:
            continue
        by_ms = TimestampMs(broker.free_ms(one.at_ms + broker.settings["persist_ms"]))
        if run.runs_until_ms(broker.name, one.at_ms) > by_ms:
            yield Due(
                node=broker.name,
                since_ms=one.at_ms,
                by_ms=by_ms,
                what=f"write {kind}",
                done_ms=next((ms for ms in written_ms if ms >= one.at_ms), None),
            )


def changes_written(run: RecordedRun, kind: TableKind) -> Iterator[Due]:
    """Find when a broker writes one of its tables: its file must have another one."""
    for broker in brokers(run):
        yield from changed_tables(broker.seen, kind)


def _of_each_table(
    dues: Callable[[RecordedRun, TableKind], Iterator[Due]],
) -> Callable[[RecordedRun], Iterator[Due]]:
    return lambda run: (due for kind in TableKind for due in dues(run, kind))


# ---- messages ----


def _in_full(run: RecordedRun) -> Iterator[Due]:
    for broker in brokers(run):
        for one in broker.seen:
            for message in one.messages:
                wanted = _says(broker, message.code)
                if wanted is not None and not message.id.endswith(RESPONSE):
                    done = wanted.items() <= message.fields.items() and _body_is_full(
                        broker, message
                    )
                    yield due_in_step(one.record, f"say {wanted} in {message.id}", is_done=done)


def _says(broker: Broker, code: int | None) -> dict[str, str] | None:
    settings = broker.settings
    group = {"clusterName": settings["cluster_name"], "brokerName": settings["broker_name"]}
    match code:
        case NameServerCode.REGISTER_BROKER:
            return {
                **group,
                "brokerAddr": broker.name,
                "brokerId": str(settings["broker_id"]),
                "haServerAddr": settings["ha_address"],
                "heartbeatTimeoutMillis": str(settings["not_active_ms"]),
                "enableActingMaster": "true",
            }
        case NameServerCode.BROKER_HEARTBEAT:
            return {**group, "brokerAddr": broker.name}
        case NameServerCode.GET_BROKER_MEMBER_GROUP:
            return group
        case BrokerCode.EXCHANGE_BROKER_HA_INFO:
            return {
                "masterHaAddress": settings["ha_address"],
                "masterFlushOffset": "0",
                "masterAddress": broker.name,
            }
        case _:
            return None


def _counts_on(run: RecordedRun) -> Iterator[Due]:
    """Whoever has lost a connection with its name server has a later version in what it says."""
    for broker in brokers(run):
        last: int | None = None
        loses = False
        for one in broker.seen:
            if one.record.event == STARTED:
                last, loses = None, False
            loses |= one.record.event == "NameServerLost"
            for message in one.messages:
                if message.code != NameServerCode.REGISTER_BROKER:
                    continue
                counter = _topics_said(message)["dataVersion"]["counter"]
                if last is not None and loses:
                    what = f"register with a version behind {last}"
                    yield due_in_step(one.record, what, is_done=counter > last)
                last, loses = counter, False


def _topics_said(registration: SentMessage) -> dict[str, Any]:
    said: dict[str, Any] = msgspec.json.decode(registration.body or "{}")
    topics: dict[str, Any] = said["topicConfigSerializeWrapper"]
    return topics


def _body_is_full(broker: Broker, message: SentMessage) -> bool:
    if message.code != NameServerCode.REGISTER_BROKER:
        return True
    return set(_topics_said(message)["topicConfigTable"]) == set(broker.settings["topics"])


def _answers(run: RecordedRun) -> Iterator[Due]:
    messages = run.messages
    for broker in brokers(run):
        for one in broker.seen:
            for received in one.record.received:
                request = messages.get(received)
                if request is None or request.code not in ASKED:
                    continue
                answers = [m for m in one.messages if m.id == received + RESPONSE]
                done = len(answers) == 1 and _is_answer(one, BrokerCode(request.code), answers[0])
                yield due_in_step(one.record, f"answer {received}", is_done=done)


def _is_answer(seen: Seen, code: BrokerCode, answer: SentMessage) -> bool:
    if code not in KIND_OF:
        return answer.code == BrokerResponse.SUCCESS
    if seen.state["isolated"]:
        return answer.code == BrokerResponse.SYSTEM_ERROR
    if answer.code != BrokerResponse.SUCCESS:
        return False
    kind = KIND_OF[code]
    given = pull_offsets(kind, (answer.body or "").encode())
    has = table_in(seen.state, kind)
    offsets = {tuple(queue): offset for queue, offset in has["offsets"]}
    return dict(given.offsets) == offsets and given.version.counter == has["version"]["counter"]


_REGISTRATIONS: Final = _again(
    brokers, "register_ms", {NameServerCode.REGISTER_BROKER}, _is_there, "register again"
)
_SIGNS_OF_LIFE: Final = _again(
    brokers,
    "heartbeat_ms",
    {NameServerCode.BROKER_HEARTBEAT},
    _is_there,
    "give a sign of life",
)
_POLLS: Final = _again(
    slaves, "poll_ms", {NameServerCode.GET_BROKER_MEMBER_GROUP}, _always, "ask again who is there"
)
_COPIES: Final = _again(slaves, "copy_ms", {*KIND_OF}, _copies, "copy a table again")


def _outsiders(run: RecordedRun) -> Iterator[Due]:
    known = {broker.name: broker for broker in brokers(run)}

    def wanted(seen: Seen, asked: Heard) -> dict[str, Any]:
        return _to_outsider(known[seen.record.node], asked)

    yield from outsiders_answered(run, "broker", wanted)


def _to_outsider(broker: Broker, asked: Heard) -> dict[str, Any]:
    """Return how a broker answers: a master says where it is to who asks, and a slave nothing."""
    if asked["code"] != BrokerCode.EXCHANGE_BROKER_HA_INFO:
        return answered(BrokerResponse.REQUEST_CODE_NOT_SUPPORTED)
    if asked["fields"]:
        return answered(BrokerResponse.SYSTEM_ERROR)
    is_master = broker.settings["broker_id"] == MASTER
    fields = _says(broker, BrokerCode.EXCHANGE_BROKER_HA_INFO) if is_master else None
    return answered(BrokerResponse.SUCCESS, fields or {})


PRE_ONLINE: Final = (
    Obligation(name="registrations repeated", dues=_REGISTRATIONS),
    Obligation(name="signs of life", dues=_SIGNS_OF_LIFE),
    Obligation(name="polls repeated", dues=_POLLS),
    Obligation(name="copies repeated", dues=_COPIES),
    Obligation(name="copies in turn", dues=_copies_in_turn),
    Obligation(name="groups taken", dues=groups_taken),
    Obligation(name="masters forgotten", dues=masters_forgotten),
    Obligation(name="tables written", dues=_of_each_table(tables_written)),
    Obligation(name="only changes written", dues=_of_each_table(changes_written)),
    Obligation(name="connections kept", dues=connections_kept),
    Obligation(name="connections known", dues=connections_known),
    Obligation(name="silent ones given up", dues=silent_given_up),
    Obligation(name="heard ones kept", dues=heard_ones_kept),
    Obligation(name="connections used", dues=connections_used),
    Obligation(name="connections made", dues=connections_made),
    Obligation(name="isolation goes on", dues=isolation_goes_on),
    Obligation(name="slaves asked", dues=slaves_asked),
    Obligation(name="slaves in turn", dues=slaves_in_turn),
    Obligation(name="tables used", dues=tables_used),
    Obligation(name="copies taken", dues=copies_taken),
    Obligation(name="registrations count on", dues=_counts_on),
    Obligation(name="requests in full", dues=_in_full),
    Obligation(name="answers to requests", dues=_answers),
    Obligation(name="packets answered", dues=packets_answered),
    Obligation(name="outsiders answered", dues=_outsiders),
)
"""All that a master that comes back and its slaves owe."""

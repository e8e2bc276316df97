"""What brokers owe name servers in time; the table is in `rocketha.obligations.route`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from rocketha.formats.name_server_codes import NameServerCode
from rocketha.obligations.obligation import Due, RecordedRun, due_in_step, time_ms
from rocketha.recording.record import RESPONSE, STARTED, NodeRecord, SentMessage
from rocketha.types import TimestampMs

__all__ = [
    "ends_said",
    "in_full",
    "polls_moved",
    "polls_repeated",
    "registrations_repeated",
    "roles_registered",
    "signs_of_life",
]

_SHUTDOWN: Final = "ShutdownWanted"
_LOST: Final = "NameServerLost"


def _sent(record: NodeRecord, code: NameServerCode, to: str) -> list[SentMessage]:
    return [message for message in record.sent if message.code == code and message.to == to]


def roles_registered(run: RecordedRun) -> Iterator[Due]:
    for broker, settings in run.nodes_of("broker").items():
        records = run.by_node[broker]
        for at, record in enumerate(records):
            role = record.state.get("role")
            at_ms = time_ms(record)
            if role is None or run.runs_until_ms(broker, at_ms) <= at_ms:
                continue
            for name_server in settings["name_servers"]:
                said = [
                    message
                    for later in records[at:]
                    if time_ms(later) == at_ms
                    for message in _sent(later, NameServerCode.REGISTER_BROKER, name_server)
                    if _role_of(message) == (role["broker_id"], role["epoch"])
                ]
                yield due_in_step(
                    record, f"register as {role} with {name_server}", is_done=bool(said)
                )


def _role_of(registration: SentMessage) -> tuple[int, int]:
    """Return the brokerId and the epoch that a registration says."""
    body = msgspec.json.decode(registration.body or "{}")
    version = body["topicConfigSerializeWrapper"]["dataVersion"]
    return int(registration.fields["brokerId"]), int(version["stateVersion"])


def registrations_repeated(run: RecordedRun) -> Iterator[Due]:
    """Who has another version than in the registration that waits for its answer goes on, too."""
    code = NameServerCode.REGISTER_BROKER
    for broker, settings in run.nodes_of("broker").items():
        counts_on = [time_ms(one) for one in run.by_node[broker] if "version" in one.state]
        for name_server in settings["name_servers"]:
            yield from _repeated(
                run,
                broker,
                (code, name_server),
                period_ms=settings["register_ms"],
                waits_ms=settings["register_timeout_ms"],
                goes_on_ms=counts_on,
            )


def polls_repeated(run: RecordedRun) -> Iterator[Due]:
    for broker, settings in run.nodes_of("broker").items():
        yield from _repeated(
            run,
            broker,
            (NameServerCode.GET_BROKER_MEMBER_GROUP, None),
            period_ms=settings["poll_ms"],
            waits_ms=settings["poll_timeout_ms"],
            begins_at_start=True,
        )


def polls_moved(run: RecordedRun) -> Iterator[Due]:
    """Whoever has answered is asked again, as long as no connection with a name server ends.

    Who does not answer is asked until its connection ends; if another one ends, too, nobody can
    tell from records which was the last.
    """
    code = NameServerCode.GET_BROKER_MEMBER_GROUP
    for broker, settings in run.nodes_of("broker").items():
        name_servers = settings["name_servers"]
        last: SentMessage | None = None
        answers, lost = False, 0
        for record in run.by_node[broker]:
            lost += record.event == _LOST
            if record.event == STARTED:
                last = None
            elif last is not None and last.id + RESPONSE in record.received:
                answers = True
            for message in record.sent:
                if message.code != code:
                    continue
                if last is not None and lost == (not answers):
                    moves = 0 if answers else 1
                    place = (name_servers.index(last.to) + moves) % len(name_servers)
                    done = message.to == name_servers[place]
                    yield due_in_step(record, f"ask {name_servers[place]}", is_done=done)
                last, answers, lost = message, False, 0


def signs_of_life(run: RecordedRun) -> Iterator[Due]:
    for broker, settings in run.nodes_of("broker").items():
        for name_server in settings["name_servers"]:
            yield from _repeated(
                run,
                broker,
                (NameServerCode.BROKER_HEARTBEAT, name_server),
                period_ms=settings["heartbeat_ms"],
                waits_ms=0,
                begins_with_role=True,
            )


def _repeated(
    run: RecordedRun,
    broker: str,
    what: tuple[NameServerCode, str | None],
    *,
    period_ms: int,
    waits_ms: int,
    goes_on_ms: list[TimestampMs] | None = None,
    begins_at_start: bool = False,
    begins_with_role: bool = False,
) -> Iterator[Due]:
    """Find when a broker is to send a request again; None: to any name server."""
    code, to = what
    whom = "a name server" if to is None else to
    records = run.by_node[broker]
    since: list[tuple[TimestampMs, str | None]] = []
    knew_role = False
    answered: dict[str, TimestampMs] = {}
    for record in records:
        at_ms = time_ms(record)
        answered.update(dict.fromkeys(record.received, at_ms))
        is_start = record.event == STARTED
        knows_role = record.state.get("role") is not None or (knew_role and not is_start)
        if (begins_at_start and is_start) or (begins_with_role and knows_role and not knew_role):
            since.append((at_ms, None))
        knew_role = knows_role
        since += [(at_ms, m.id) for m in record.sent if m.code == code and to in (None, m.to)]
    sent_ms = [at_ms for at_ms, message in since if message is not None]
    for at_ms, message in since:
        free_ms: int = at_ms
        if message is not None:
            ends = [one for one in goes_on_ms or () if one > at_ms]
            free_ms = min([answered.get(message + RESPONSE, at_ms + waits_ms), *ends])
        by_ms = TimestampMs(max(at_ms, free_ms) + period_ms)
        if run.runs_until_ms(broker, at_ms) > by_ms:
            yield Due(
                node=broker,
                since_ms=at_ms,
                by_ms=by_ms,
                what=f"send a {code.name} to {whom} again",
                done_ms=next((one for one in sent_ms if one > at_ms), None),
            )


def in_full(run: RecordedRun) -> Iterator[Due]:
    for broker, settings in run.nodes_of("broker").items():
        wanted = {
            "clusterName": settings["cluster_name"],
            "brokerName": settings["broker_name"],
            "brokerAddr": broker,
            "haServerAddr": settings["ha_address"],
            "heartbeatTimeoutMillis": str(settings["not_active_ms"]),
            "enableActingMaster": str(settings["acting"]).lower(),
        }
        for record in run.by_node[broker]:
            for message in record.sent:
                if message.code == NameServerCode.REGISTER_BROKER:
                    body = msgspec.json.decode(message.body or "{}")
                    topics = body["topicConfigSerializeWrapper"]["topicConfigTable"]
                    done = wanted.items() <= message.fields.items()
                    done = done and set(topics) == set(settings["topics"])
                    yield due_in_step(
                        record, f"say all of what it is in {message.id}", is_done=done
                    )


def ends_said(run: RecordedRun) -> Iterator[Due]:
    for broker, settings in run.nodes_of("broker").items():
        role: dict[str, Any] | None = None
        for record in run.by_node[broker]:
            role = record.state.get("role", role)
            if record.event != _SHUTDOWN or role is None:
                continue
            for name_server in settings["name_servers"]:
                said = _sent(record, NameServerCode.UNREGISTER_BROKER, name_server)
                done = [m.fields.get("brokerId") for m in said] == [str(role["broker_id"])]
                yield due_in_step(record, f"tell {name_server} that it ends", is_done=done)

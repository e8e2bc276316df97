"""What brokers owe each other over the connections between a master and its slaves.

The table is in `rocketha.obligations.pre_online`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rocketha.formats.broker_requests import BrokerCode
from rocketha.obligations.obligation import Due, RecordedRun, due_in_step
from rocketha.obligations.pre_online_brokers import Broker, brokers, connection_of, slaves
from rocketha.obligations.pre_online_groups import hears_that_its_master_is_gone
from rocketha.obligations.seen import Seen
from rocketha.recording.record import RESPONSE, STARTED, STOPPED
from rocketha.types import MASTER, TimestampMs

__all__ = [
    "connections_kept",
    "connections_known",
    "connections_made",
    "connections_used",
    "heard_ones_kept",
    "packets_answered",
    "silent_given_up",
]


def connections_kept(run: RecordedRun) -> Iterator[Due]:
    for broker in slaves(run):
        previous: Seen | None = None
        for one in broker.seen:
            before, after = connection_of(one.before), connection_of(one.state)
            if one.record.event not in (STARTED, STOPPED) and before is not None:
                forgets = one.record.event == "ForgetMaster"
                may_forget = previous is not None and hears_that_its_master_is_gone(run, previous)
                gives_up = one.record.event in _GIVES_UP or (forgets and may_forget)
                done = after == before or gives_up or _is_told(run, one)
                yield due_in_step(one.record, f"keep connection {before}", is_done=done)
            previous = one


_GIVES_UP: Final = frozenset({"ConnectionLost", "PacketRefused", "ReconnectDue"})


def connections_known(run: RecordedRun) -> Iterator[Due]:
    """No other connection stands than the one that a slave has, and this one does.

    Of a master none stands any more that was a slave's and is not.
    """
    for broker in brokers(run):
        is_master = broker.settings["broker_id"] == MASTER
        for one in broker.seen:
            if one.record.event not in (STARTED, STOPPED):
                yield from _leaves_none(one) if is_master else _has_one(one)


def _has_one(seen: Seen) -> Iterator[Due]:
    conn, standing = seen.state["ha_conn"], seen.state["ha_standing"]
    changes = any(seen.state[part] != seen.before[part] for part in ("ha_conn", "ha_standing"))
    if changes or seen.record.event == "ConnectionLost":
        done = standing == ([] if conn is None else [conn])
        yield due_in_step(seen.record, f"have {standing}, and no other", is_done=done)


def _leaves_none(seen: Seen) -> Iterator[Due]:
    gone = {*dict(seen.before["links"]).values()} - {*dict(seen.state["links"]).values()}
    if gone:
        done = gone.isdisjoint(seen.state["ha_standing"])
        yield due_in_step(seen.record, f"have {sorted(gone)} no more", is_done=done)


def silent_given_up(run: RecordedRun) -> Iterator[Due]:
    for one, conn, gone, is_silent in _looks(run):
        if is_silent:
            yield due_in_step(one.record, f"close connection {conn}", is_done=gone)


def heard_ones_kept(run: RecordedRun) -> Iterator[Due]:
    for one, conn, gone, is_silent in _looks(run):
        if not is_silent:
            yield due_in_step(one.record, f"keep connection {conn}", is_done=not gone)


def _looks(run: RecordedRun) -> Iterator[tuple[Seen, int, bool, bool]]:
    """Yield when a slave looks after its connection, whether that is gone then, and was silent.

    A connection of which the handshake was not answered is silent from the beginning.
    """
    for broker in slaves(run):
        conn, heard_ms, limit = None, 0, "reconnect_ms"
        for one in broker.seen:
            now = connection_of(one.state)
            if one.record.event == "ReconnectDue" and conn is not None:
                yield one, conn, now != conn, one.at_ms - heard_ms >= broker.settings[limit]
            if now != conn:
                conn, heard_ms, limit = now, one.at_ms, "reconnect_ms"
            if any(_is_over(received, conn) for received in one.record.received):
                heard_ms, limit = one.at_ms, "silent_ms"


def _is_over(received: str, conn: int | None) -> bool:
    """Tell whether what was received is a packet of a connection."""
    return received.partition(":")[0] == str(conn) and not received.endswith(RESPONSE)


def connections_used(run: RecordedRun) -> Iterator[Due]:
    """Whoever has started sends something a period later, and then in each period."""
    for broker in brokers(run):
        times = [one for one in broker.seen if one.record.event == "TransferDue"]
        for one in times:
            sent = sum(message.code is None for message in one.record.sent)
            what = "send something over each connection"
            yield due_in_step(one.record, what, is_done=sent == len(one.before["links"]))
        if broker.settings["broker_id"] == MASTER:
            yield from _each_period(run, broker, [one.at_ms for one in times])


def _each_period(run: RecordedRun, broker: Broker, times: list[int]) -> Iterator[Due]:
    for one in broker.seen:
        if one.record.event not in (STARTED, "TransferDue"):
            continue
        by_ms = TimestampMs(one.at_ms + broker.settings["transfer_ms"])
        if run.runs_until_ms(broker.name, one.at_ms) > by_ms:
            yield Due(
                node=broker.name,
                since_ms=one.at_ms,
                by_ms=by_ms,
                what="look after its connections",
                done_ms=next((TimestampMs(ms) for ms in times if ms > one.at_ms), None),
            )


def _is_told(run: RecordedRun, seen: Seen) -> bool:
    code = BrokerCode.EXCHANGE_BROKER_HA_INFO
    requests = (run.messages.get(received) for received in seen.record.received)
    return any(request is not None and request.code == code for request in requests)


def connections_made(run: RecordedRun) -> Iterator[Due]:
    for broker in slaves(run):
        for at, one in enumerate(broker.seen):
            if one.record.event == STOPPED:
                continue
            lacks, knew = _lacks_connection(one.state), one.before.get("ha_address") is not None
            if one.state["ha_address"] is not None and (_is_told(run, one) or not knew):
                yield due_in_step(one.record, "connect", is_done=not lacks)
            by_ms = TimestampMs(one.at_ms + broker.settings["reconnect_ms"])
            begins = lacks and not (knew and _lacks_connection(one.before))
            if begins and run.runs_until_ms(broker.name, one.at_ms) > by_ms:
                later = (x.at_ms for x in broker.seen[at:] if not _lacks_connection(x.state))
                yield Due(
                    node=broker.name,
                    since_ms=one.at_ms,
                    by_ms=by_ms,
                    what="connect again",
                    done_ms=next(later, None),
                )


def _lacks_connection(state: dict[str, Any]) -> bool:
    """Tell whether a slave knows where to connect to, and neither is connected nor tries."""
    is_connected = connection_of(state) is not None or state.get("ha_asked") is not None
    return state.get("ha_address") is not None and not is_connected


def packets_answered(run: RecordedRun) -> Iterator[Due]:
    for broker in brokers(run):
        for one in broker.seen:
            packets = [message for message in one.record.sent if message.code is None]
            said = [message for message in packets if not message.id.endswith(RESPONSE)]
            if one.record.event == "PeerConnected" and _lacks_only_this(one.before):
                yield due_in_step(one.record, "say who it is", is_done=len(said) == 1)
            for received in one.record.received:
                end, _, number = received.partition(":")[2].partition(":")
                first = number == "1"
                if (end == "client" and first) or (end == "server" and number and not first):
                    done = len(said) == 1
                    yield due_in_step(one.record, f"answer packet {received}", is_done=done)


def _lacks_only_this(state: dict[str, Any]) -> bool:
    """Tell whether a slave waits for a connection, and has no other."""
    return state["ha_address"] is not None and state["ha_conn"] is None

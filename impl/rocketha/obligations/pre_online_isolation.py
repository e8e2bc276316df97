"""What a master in isolation owes, and what brokers make of tables that they are given.

The table is in `rocketha.obligations.pre_online`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.formats.offset_tables import OffsetTable, TableKind, pull_offsets
from rocketha.obligations.obligation import Due, RecordedRun, due_in_step
from rocketha.obligations.pre_online_brokers import brokers, slaves, table_in
from rocketha.obligations.seen import Seen
from rocketha.recording.record import RESPONSE, STARTED, STOPPED, SentMessage
from rocketha.types import MASTER, TimestampMs

__all__ = [
    "ASKED",
    "KIND_OF",
    "copies_taken",
    "isolation_goes_on",
    "slaves_asked",
    "slaves_in_turn",
    "tables_used",
]

KIND_OF: Final = {kind.code: kind for kind in TableKind}
ASKED: Final = frozenset({*KIND_OF, BrokerCode.EXCHANGE_BROKER_HA_INFO})
"""What brokers ask of each other."""


def isolation_goes_on(run: RecordedRun) -> Iterator[Due]:
    """Whatever it sends goes on: a question, a word to a slave, a request to report."""
    for broker in brokers(run):
        for at, one in enumerate(broker.seen):
            if one.record.event == STOPPED or not one.state["isolated"]:
                continue
            if one.record.event != STARTED and not _went_on(one):
                continue
            pause_ms = broker.settings["pre_online_ms"]
            by_ms = TimestampMs(broker.free_ms(broker.free_ms(one.at_ms) + pause_ms))
            if run.runs_until_ms(broker.name, one.at_ms) > by_ms:
                later = (x for x in broker.seen[at + 1 :] if _went_on(x))
                done_ms = next((x.at_ms for x in later), None)
                yield Due(
                    node=broker.name,
                    since_ms=one.at_ms,
                    by_ms=by_ms,
                    what="ask again, or go online",
                    done_ms=done_ms,
                )


def _went_on(seen: Seen) -> bool:
    """Tell whether a master asks something, or is online; what it sends in each period does not."""
    asks = any(not message.id.endswith(RESPONSE) for message in seen.record.sent)
    is_period = seen.record.event == "TransferDue"
    return (asks and not is_period) or not seen.state.get("isolated", True)


def slaves_in_turn(run: RecordedRun) -> Iterator[Due]:
    """Whoever is told where to connect to, or asked for a table first, is the next in turn."""
    for broker in brokers(run):
        last: tuple[frozenset[int], str | None] | None = None
        for one in broker.seen:
            if one.record.event in (STARTED, STOPPED):
                last = None
                continue
            wanted = _wanted(one.state)
            for message in one.messages:
                if one.record.event != "Decide" or message.code not in ASKED:
                    continue
                if last is not None and last[0] == wanted and len(wanted) > 1:
                    what = f"ask another slave than {last[1]}"
                    yield due_in_step(one.record, what, is_done=message.to != last[1])
                last = (wanted, message.to)


def _wanted(state: dict[str, Any]) -> frozenset[int]:
    return frozenset(state["members"]) - frozenset(state["done"])


def slaves_asked(run: RecordedRun) -> Iterator[Due]:
    """A master that knows whom it waits for asks one of them in the next step, or is online."""
    for broker in brokers(run):
        for one in broker.seen:
            if one.record.event == "Decide" and _wanted(one.before):
                asks = any(message.code in ASKED for message in one.messages)
                done = asks or not one.state["isolated"]
                yield due_in_step(one.record, "ask a slave that it waits for", is_done=done)


def tables_used(run: RecordedRun) -> Iterator[Due]:
    """A master that is given a table asks for the other one, or for a report, or takes both.

    It does not where the slave's connection is another one by now, or none.
    """
    for broker in brokers(run):
        if broker.settings["broker_id"] != MASTER:
            continue
        asked: tuple[str | None, dict[int, int]] = (None, {})
        for one in broker.seen:
            given = [x for x in _given(run, one) if x[0].to == asked[0]]
            if given and asked[1] == dict(one.before["links"]):
                asks = any(not message.id.endswith(RESPONSE) for message in one.record.sent)
                done = asks or one.state["done"] != one.before["done"]
                yield due_in_step(one.record, f"use the table of {asked[0]}", is_done=done)
            for message in one.messages:
                if message.code in KIND_OF and not message.id.endswith(RESPONSE):
                    asked = message.to, dict(one.state["links"])


def copies_taken(run: RecordedRun) -> Iterator[Due]:
    """A slave that is given its master's table has what is in it, in memory and on its disk."""
    for broker in slaves(run):
        for one in broker.seen:
            for _, kind, table in _given(run, one):
                has = table_in(one.state, kind)
                offsets = {tuple(queue): at for queue, at in has["offsets"]}
                is_stored = any(
                    did["is"] == "Written" and did["path"] == kind for did in one.record.stored
                )
                is_known = dict(table.offsets).items() <= offsets.items()
                is_so = is_known and has["version"]["counter"] == table.version.counter
                yield due_in_step(one.record, f"have its {kind}", is_done=is_so and is_stored)


def _given(run: RecordedRun, seen: Seen) -> Iterator[tuple[SentMessage, TableKind, OffsetTable]]:
    """Yield the tables that a broker is given in a step, each with what was asked for it."""
    for received in seen.record.received:
        asked, answer = (
            run.messages.get(received.removesuffix(RESPONSE)),
            run.messages.get(received),
        )
        if asked is None or answer is None or not received.endswith(RESPONSE):
            continue
        if asked.code in KIND_OF and answer.code == BrokerResponse.SUCCESS:
            kind = KIND_OF[BrokerCode(asked.code)]
            yield asked, kind, pull_offsets(kind, (answer.body or "").encode())

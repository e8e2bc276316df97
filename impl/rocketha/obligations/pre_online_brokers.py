"""Brokers that may be gone, in the records of a run, and when they wait for answers."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.offset_tables import TableKind
from rocketha.obligations.obligation import RecordedRun
from rocketha.obligations.seen import Seen, seen_of
from rocketha.recording.record import RESPONSE
from rocketha.types import MASTER

__all__ = ["Broker", "brokers", "connection_of", "slaves", "table_in"]


@dataclass(frozen=True)
class Broker:
    name: str
    settings: dict[str, Any]
    seen: list[Seen]
    waits: list[tuple[int, int]]
    """From when until when it waits for answers, milliseconds; in order, none touches another."""

    def free_ms(self, at_ms: int) -> int:
        """Return when it waits for nothing, at a time or behind it."""
        found = bisect_right(self.waits, (at_ms, 1 << 62)) - 1
        return max(at_ms, self.waits[found][1]) if found >= 0 else at_ms


def brokers(run: RecordedRun) -> list[Broker]:
    return run.once(_all_brokers)


def _all_brokers(run: RecordedRun) -> list[Broker]:
    found = []
    for name, settings in run.nodes_of("broker").items():
        seen = seen_of(run, name)
        found.append(Broker(name, settings, seen, _waits(settings, seen)))
    return found


def _waits(settings: dict[str, Any], seen: list[Seen]) -> list[tuple[int, int]]:
    heard = {received: one.at_ms for one in seen for received in one.record.received}
    waits: list[tuple[int, int]] = []
    for one in seen:
        for message in one.record.sent:
            if message.id.endswith(RESPONSE) or message.code == NameServerCode.BROKER_HEARTBEAT:
                continue
            if message.code is not None:
                latest_ms = one.at_ms + settings["request_timeout_ms"]
                answer = message.id + RESPONSE
            elif one.record.event != "TransferDue" and (report := _report_of(message.id)):
                latest_ms, answer = one.at_ms + settings["report_ms"], report
            else:
                continue
            end_ms = min(latest_ms, heard.get(answer, latest_ms))
            if waits and one.at_ms <= waits[-1][1]:
                waits[-1] = (waits[-1][0], max(waits[-1][1], end_ms))
            else:
                waits.append((one.at_ms, end_ms))
    return waits


def _report_of(packet: str) -> str | None:
    """Name the report of what a master sends, which has its number; None: it is a handshake's."""
    conn, end, number = packet.split(":")
    return f"{conn}:client:{number}" if end == "server" and number != "1" else None


def slaves(run: RecordedRun) -> list[Broker]:
    return [one for one in brokers(run) if one.settings["broker_id"] != MASTER]


def connection_of(state: dict[str, Any]) -> int | None:
    """Return the connection of a slave with its master, if it stands."""
    conn: int | None = state.get("ha_conn")
    return conn if conn in state.get("ha_standing", ()) else None


def table_in(state: dict[str, Any], kind: TableKind) -> Any:
    """Return a table of a broker as records have it; None: it is down."""
    return dict(state.get("tables", ())).get(kind)

"""What is missed of brokers and name servers: what they do not say in time, or say for too long.

How long they may wait is in their settings, which their obligations read; Route has no time, and
says whether something was to be waited for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rocketha.errors import RockethaError
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.obligations.obligation import RecordedRun, time_ms
from rocketha.obligations.route import AGAIN, REFUSED, ROLES, VERSIONS, heard_taken, silent_named
from rocketha.recording.record import NodeHeader, NodeRecord, RecordError
from rocketha.types import TimestampMs

__all__ = ["MissedOfRoutes"]

_ACTIONS: Final = {
    NameServerCode.REGISTER_BROKER: "NoRegistration",
    NameServerCode.BROKER_HEARTBEAT: "NoHeartbeat",
    NameServerCode.GET_BROKER_MEMBER_GROUP: "NoPoll",
}


class MissedOfRoutes:
    """Looks at all records of a run, and then says record by record what is missed."""

    def __init__(self, headers: Mapping[str, NodeHeader], records: Sequence[NodeRecord]) -> None:
        """Find what is missed."""
        self._last = records[-1] if records else None
        ended_ms = time_ms(records[-1]) if records else TimestampMs(0)
        there = {record.node for record in records}
        known = {node: header for node, header in headers.items() if node in there}
        run = RecordedRun(headers=known, records=records, ended_ms=ended_ms)
        self._overdue: deque[tuple[TimestampMs, str, str]] = deque()
        self._named: dict[int, list[str]] = {}
        self._taken: dict[int, str] = {}
        self._answered_wrong: set[int] = set()
        """`id` of each record of a name server that answers an outsider otherwise than it is."""
        self._wrong: str | None = None
        """Why it cannot be told; who reads a record by itself says better what is wrong with it."""
        try:
            self._overdue.extend(sorted(_overdue(run)))
            self._named = {id(record): gone for record, gone in silent_named(run) if gone}
            self._taken = {
                id(record): address for record, address, done in heard_taken(run) if not done
            }
            self._answered_wrong = {id(record) for record in _answered_wrong(run)}
        except (RockethaError, LookupError, TypeError, ValueError) as error:
            self._wrong = f"{type(error).__name__}: {error}"

    def before(self, record: NodeRecord) -> Iterator[tuple[str, str]]:
        """Yield brokers and actions that are overdue when a record comes.

        Raises: RecordError with the last record, if it cannot be told what is missed
        """
        if record is self._last and self._wrong is not None:
            raise RecordError(f"what nodes owe cannot be told: {self._wrong}")
        while self._overdue and self._overdue[0][0] < time_ms(record):
            _, broker, action = self._overdue.popleft()
            yield broker, action

    def silent(self, record: NodeRecord) -> Sequence[str]:
        """Return whom a name server tells of in a step that it has not heard for too long."""
        return self._named.get(id(record), ())

    def taken(self, record: NodeRecord) -> str | None:
        """Return the broker that a name server takes for silent though it is heard."""
        return self._taken.get(id(record))

    def is_answered_wrong(self, record: NodeRecord) -> bool:
        """Tell whether a name server has answered an outsider otherwise than it is, or nobody."""
        return id(record) in self._answered_wrong


def _answered_wrong(run: RecordedRun) -> Iterator[NodeRecord]:
    for obligation in (REFUSED, VERSIONS):
        for due in obligation.dues(run):
            if due.is_missed and due.step is not None:
                yield due.step


def _overdue(run: RecordedRun) -> Iterator[tuple[TimestampMs, str, str]]:
    of_roles = (ROLES, _ACTIONS[NameServerCode.REGISTER_BROKER])
    for obligation, action in (of_roles, *((AGAIN[code], said) for code, said in _ACTIONS.items())):
        for due in obligation.dues(run):
            if due.is_missed and due.by_ms < run.ended_ms:
                yield due.by_ms, due.node, action

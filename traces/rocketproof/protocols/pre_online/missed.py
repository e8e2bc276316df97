"""What is missed of a master that comes back and its slaves, or done without need, by the records.

How long they may wait is in their settings, which their obligations read; PreOnlineMessages has no
time, and says whether something was to be waited for.

| obligation             | in the specification                                               |
|------------------------|--------------------------------------------------------------------|
| registrations repeated | NoRegistration                                                     |
| signs of life          | NoHeartbeat                                                        |
| polls repeated         | NoPoll                                                             |
| copies repeated        | NoCopy                                                             |
| copies in turn         | PassOver, in the trace of the table that is not asked for          |
| tables written         | NoPersist, in the trace of the table                               |
| only changes written   | PersistAgain, likewise                                             |
| masters forgotten      | NoForget                                                           |
| connections kept       | GiveUp: allowed of one that is not in TRANSFER at both ends        |
| heard ones kept        | GiveUp                                                             |
| silent ones given up   | NoConnection                                                       |
| connections made       | NoConnection                                                       |
| isolation goes on      | NoProgress                                                         |
| slaves asked           | NoProgress                                                         |
| slaves in turn         | AskAgain                                                           |
| tables used            | NoProgress                                                         |
| packets answered       | NoHandshake, Unanswered                                            |

`said` has the answers to requests, and what slaves make of answers; requests in full are left to
the obligations. What a step does without need stands before what else it does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rocketha.errors import RockethaError
from rocketha.formats.offset_tables import TableKind
from rocketha.obligations.obligation import Due, RecordedRun, time_ms
from rocketha.obligations.pre_online import PRE_ONLINE, changes_written, tables_written
from rocketha.recording.record import (
    RESPONSE,
    NodeHeader,
    NodeRecord,
    RecordError,
    SentMessage,
)
from rocketha.types import TimestampMs

__all__ = ["MissedOfTables", "Overdue"]

_ACTIONS: Final = {
    "registrations repeated": "NoRegistration",
    "signs of life": "NoHeartbeat",
    "polls repeated": "NoPoll",
    "copies repeated": "NoCopy",
    "copies in turn": "PassOver",
    "masters forgotten": "NoForget",
    "connections kept": "GiveUp",
    "heard ones kept": "GiveUp",
    "silent ones given up": "NoConnection",
    "connections made": "NoConnection",
    "isolation goes on": "NoProgress",
    "slaves asked": "NoProgress",
    "slaves in turn": "AskAgain",
    "tables used": "NoProgress",
    "packets answered": "Unanswered",
}
"""Obligation -> action."""
assert _ACTIONS.keys() <= {one.name for one in PRE_ONLINE}, "an obligation has another name"
_OF_TABLES: Final = {"NoPersist": tables_written, "PersistAgain": changes_written}
_CONNECTS: Final = "PeerConnected"
_TABLES: Final = {int(kind.code): kind for kind in TableKind}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overdue:
    """Something that is missed."""

    node: str
    action: str
    of: str | None
    """The node that is the action's parameter; None: it has none."""
    kind: TableKind | None = None
    """Of which table it is said only."""


class MissedOfTables:
    """Looks at all records of a run, and then says record by record what is missed."""

    def __init__(self, headers: Mapping[str, NodeHeader], records: Sequence[NodeRecord]) -> None:
        """Find what is missed."""
        self._last = records[-1] if records else None
        ended_ms = time_ms(records[-1]) if records else TimestampMs(0)
        there = {record.node for record in records}
        known = {node: header for node, header in headers.items() if node in there}
        run = RecordedRun(headers=known, records=records, ended_ms=ended_ms)
        self._late: deque[tuple[TimestampMs, Overdue]] = deque()
        self._in_step: dict[int, list[Overdue]] = {}
        self._wrong: str | None = None
        """Why it cannot be told; who reads a record by itself says better what is wrong with it."""
        try:
            self._find(run)
        except (RockethaError, LookupError, TypeError, ValueError) as error:
            self._wrong = f"{type(error).__name__}: {error}"

    def _find(self, run: RecordedRun) -> None:
        late = []
        for due, overdue in _missed(run):
            if due.step is not None:
                self._in_step.setdefault(id(due.step), []).append(overdue)
            elif due.by_ms < run.ended_ms:
                late.append((due.by_ms, overdue))
        self._late.extend(sorted(late, key=lambda one: one[0]))

    def before(self, record: NodeRecord) -> Iterator[Overdue]:
        """Yield what is overdue when a record comes, and then what is wrong in its own step.

        Raises: RecordError with the last record, if it cannot be told what is missed
        """
        if record is self._last and self._wrong is not None:
            raise RecordError(f"what nodes owe cannot be told: {self._wrong}")
        while self._late and self._late[0][0] < time_ms(record):
            yield self._late.popleft()[1]
        yield from self._in_step.get(id(record), ())


def _missed(run: RecordedRun) -> Iterator[tuple[Due, Overdue]]:
    for obligation in PRE_ONLINE:
        action = _ACTIONS.get(obligation.name)
        for due in obligation.dues(run) if action is not None else ():
            if due.is_missed and action is not None:
                yield due, _overdue(action, due)
    for action, dues in _OF_TABLES.items():
        for kind in TableKind:
            for due in dues(run, kind):
                if due.is_missed:
                    yield due, Overdue(node=due.node, action=action, of=due.node, kind=kind)


def _overdue(action: str, due: Due) -> Overdue:
    step, of, kind = due.step, due.node, None
    match action:
        case "NoProgress":
            return Overdue(node=due.node, action=action, of=None)
        case "Unanswered" if step is not None and step.event == _CONNECTS:
            action = "NoHandshake"
        case "PassOver":
            asked = [_TABLES[one.code] for one in _requests(step) if one.code in _TABLES]
            kind = next(one for one in TableKind if one not in asked)
        case "AskAgain":
            of = next(one.to for one in _requests(step) if one.to is not None)
        case _:
            pass
    return Overdue(node=due.node, action=action, of=of, kind=kind)


def _requests(step: NodeRecord | None) -> list[SentMessage]:
    sent = () if step is None else step.sent
    return [one for one in sent if one.code is not None and not one.id.endswith(RESPONSE)]

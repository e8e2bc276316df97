"""What is missed of a slave that acts, of masters and a producer: what they do not do in time.

| obligation             | action of Escape                             | in the trace of        |
|------------------------|----------------------------------------------|------------------------|
| routes asked           | NoAsk                                        | all                    |
| routes taken           | NoLearn                                      | all                    |
| group taken            | NoAct                                        | all                    |
| what is due is put     | NoPut: the first record that is not passed   | its service            |
| puts in full           | PutPart                                      | its service            |
| failures waited out    | PutEarly                                     | its service            |
| what is passed stays   | NoSave                                       | its service            |
| what is given stays    | NoKeep                                       | pops                   |
| consumers answered     | LeaveConsumer                                | pops                   |
| pops held              | GiveUnheld                                   | pops                   |
| pops answered in full  | GivePart                                     | pops                   |
| pops refused           | NoRefusal                                    | pops                   |
| outsiders refused      | NoRefusal                                    | all                    |
| signs answered         | NoSign                                       | all                    |
| written through        | NoFlush                                      | all                    |
| places in queues       | NoPlace                                      | all                    |
| puts answered          | NoAnswer: of a record, not of pops           | its service            |
| halves asked for       | NoCheck                                      | half messages          |
| ends taken             | NoCheck                                      | half messages          |
| pops come again        | NoRevive: too late; too early is a Revive    | pops                   |
| checks answered        | NoWord                                       | half messages          |

How long they may wait is in their settings, which their obligations read; Escape has no time, and
says whether something was to be waited for. What else they owe is not in its variables.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rocketha.errors import RockethaError
from rocketha.obligations.escape import ESCAPE
from rocketha.obligations.obligation import RecordedRun, time_ms
from rocketha.recording.record import NodeHeader, NodeRecord, RecordError
from rocketha.types import TimestampMs

__all__ = ["MISSED", "Late", "MissedOfEscape"]

_ACTIONS: Final = {
    "routes asked": "NoAsk",
    "routes taken": "NoLearn",
    "group taken": "NoAct",
    "what is due is put": "NoPut",
    "puts in full": "PutPart",
    "failures waited out": "PutEarly",
    "what is passed stays": "NoSave",
    "what is given stays": "NoKeep",
    "consumers answered": "LeaveConsumer",
    "pops held": "GiveUnheld",
    "pops answered in full": "GivePart",
    "pops refused": "NoRefusal",
    "outsiders refused": "NoRefusal",
    "signs answered": "NoSign",
    "written through": "NoFlush",
    "places in queues": "NoPlace",
    "puts answered": "NoAnswer",
    "halves asked for": "NoCheck",
    "ends taken": "NoCheck",
    "pops come again": "NoRevive",
    "checks answered": "NoWord",
}
MISSED: Final = frozenset(_ACTIONS.values())
"""All of them: records show it, and whole states do not."""
_IN_TIME: Final = frozenset({"NoRevive"})
"""Of these what is not due in a step of its own is missed only."""


@dataclass(frozen=True, slots=True, order=True)
class Late:
    """Something that is missed."""

    by_ms: TimestampMs
    node: str
    action: str
    of: str
    """What it is about, as the obligation says."""


class MissedOfEscape:
    """Looks at all records of a run, and then says record by record what is missed."""

    def __init__(self, headers: Mapping[str, NodeHeader], records: Sequence[NodeRecord]) -> None:
        """Find what is missed."""
        self._last = records[-1] if records else None
        ended_ms = time_ms(records[-1]) if records else TimestampMs(0)
        run = RecordedRun(headers=headers, records=records, ended_ms=ended_ms)
        self._overdue: deque[Late] = deque()
        self._in_step: dict[int, list[Late]] = {}
        """`id` of a record -> what is due in its step."""
        self._wrong: str | None = None
        """Why it cannot be told; who reads a record by itself says better what is wrong with it."""
        try:
            late = list(_overdue(run))
        except (RockethaError, LookupError, TypeError, ValueError) as error:
            self._wrong = f"{type(error).__name__}: {error}"
            return
        self._overdue.extend(sorted(one for one, step in late if step is None))
        for one, step in late:
            if step is not None:
                self._in_step.setdefault(id(step), []).append(one)

    def before(self, record: NodeRecord) -> Iterator[Late]:
        """Yield what is overdue when a record comes.

        Raises: RecordError with the last record, if it cannot be told what is missed
        """
        if record is self._last and self._wrong is not None:
            raise RecordError(f"what nodes owe cannot be told: {self._wrong}")
        while self._overdue and self._overdue[0].by_ms < time_ms(record):
            yield self._overdue.popleft()

    def behind(self, record: NodeRecord) -> Iterator[Late]:
        """Yield what was due in the step of a record."""
        yield from self._in_step.get(id(record), ())


def _overdue(run: RecordedRun) -> Iterator[tuple[Late, NodeRecord | None]]:
    for obligation in ESCAPE:
        action = _ACTIONS.get(obligation.name)
        if action is None:
            continue
        for due in obligation.dues(run):
            is_meant = due.step is None or action not in _IN_TIME
            if is_meant and due.is_missed and due.by_ms < run.ended_ms:
                yield Late(due.by_ms, due.node, action, due.of), due.step

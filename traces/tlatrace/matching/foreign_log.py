"""Read a log of another system as a trace, with a mapping.

A log is NDJSON: one JSON object a line. The limits are those of trace files: strict JSON, bounded
lines and depth. Every field that the mapping names must be in each line that it speaks of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tlatrace.errors import TraceFormatError, ValueFormatError
from tlatrace.matching.conditions import holds
from tlatrace.matching.log_line import MISSING, LineError, find, path_text
from tlatrace.matching.mapping import LogMapping
from tlatrace.matching.order_of_lines import OrderError, ordered
from tlatrace.matching.steps_of_line import actions_of, steps_of
from tlatrace.trace import INIT, Event, Header, Trace
from tlatrace.trace.lines import DEFAULT_LIMITS, Limits, numbered_lines
from tlatrace.trace.strict_json import parse_json
from tlatrace.values import Json

__all__ = ["LogCounts", "MappedLog", "read_log"]

_EACH: Final = "each"
"""The key of a line under which the element stands that makes it one of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCounts:
    """What became of the lines of a log."""

    lines: int
    skipped: int
    """Lines that are no step."""
    actions: Mapping[str, int]
    """Action -> its events, by name; "?" for those that say no action."""

    def text(self) -> str:
        """Say it in a line."""
        counts = ", ".join([f"{name} {number}" for name, number in self.actions.items()])
        return f"{self.lines} lines, {self.skipped} skipped; {counts or 'no steps'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedLog:
    """A log as a trace, with the lines that its events stand in."""

    trace: Trace
    lines: tuple[int, ...]
    """Line of each event, from 1; of an initial state that no line shows, the first event's."""
    files: tuple[Path, ...]
    """File of each event: the log, or one of the logs in the folder."""
    counts: LogCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    path: Path
    number: int
    obj: dict[str, Json]
    is_step: bool


def read_log(path: Path, mapping: LogMapping, limits: Limits = DEFAULT_LIMITS) -> MappedLog:
    """Read a log; one without a line that is a step gives a trace without events.

    With an order in the mapping the path may be a folder: the logs of the nodes of one run.

    Raises:
        TraceFormatError: with the file and the line.
    """
    events: list[Event] = []
    places: list[tuple[Path, int]] = []
    numbers: Counter[str] = Counter()
    read: list[tuple[Path, int]] = []
    """The lines of the log, and..."""
    used: set[tuple[Path, int]] = set()
    """...those that are steps."""
    last_step: list[int] = []
    """For each line that is a step, its last step."""
    for line, follows, surely, lost in _in_order(path, mapping, limits, read):
        place = line.path, line.number
        if not events and not mapping.starts_with_init:
            events.append(Event(step=0, action=INIT))
            places.append(place)
        try:
            steps = steps_of(mapping, line.obj, len(events))
        except LineError as error:
            raise TraceFormatError(*place, str(error)) from None
        except ValueFormatError as error:
            raise TraceFormatError(*place, error.reason) from None
        if len(events) + len(steps) > limits.events:
            raise TraceFormatError(*place, f"more than {limits.events} events")
        if follows is not None:
            steps = _behind(
                steps,
                [last_step[one] for one in follows],
                None if surely is None else [last_step[one] for one in surely],
                lost,
            )
        for event in steps:
            events.append(event)
            places.append(place)
            numbers[event.action or "?"] += 1
        last_step.append(len(events) - 1)
        if steps:
            used.add(place)
    header = Header(
        spec=mapping.spec,
        constants=mapping.constants,
        silent=mapping.silent,
        expressions=mapping.expressions,
    )
    if not numbers:
        events, places = [], []
    return MappedLog(
        trace=Trace(header=header, events=tuple(events)),
        lines=tuple([number for _, number in places]),
        files=tuple([file for file, _ in places]),
        counts=LogCounts(
            lines=len(read),
            skipped=len(read) - len(used),
            actions=dict(sorted(numbers.items())),
        ),
    )


def _behind(
    steps: Sequence[Event], follows: Sequence[int], surely: Sequence[int] | None, lost: str
) -> list[Event]:
    """Say what the first step of a line follows, and each other one: the step before it."""
    placed: list[Event] = []
    for event in steps:
        own = (event.step - 1,)
        clues = replace(
            event.clues,
            follows=own if placed else tuple(follows),
            surely=None if surely is None else own if placed else tuple(surely),
            lost="" if placed else lost,
        )
        placed.append(replace(event, clues=clues))
    return placed


_Placed = tuple[_Line, "tuple[int, ...] | None", "tuple[int, ...] | None", str]


def _in_order(
    path: Path, mapping: LogMapping, limits: Limits, read: list[tuple[Path, int]]
) -> Iterator[_Placed]:
    """Give the lines that are steps, in an order that is possible, with what they follow."""
    order = mapping.order
    if order is None:
        for line in _lines(path, mapping, limits, read):
            if line.is_step:
                yield line, None, None, ""
        return
    files = [path]
    if path.is_dir():
        files = sorted({file for pattern in order.files for file in path.glob(pattern)})
        if not files:
            raise TraceFormatError(path, None, f"no {', '.join(order.files)} in this folder")
    lines = [line for file in files for line in _lines(file, mapping, limits, read)]
    try:
        found = ordered(order, [line.obj for line in lines], [line.is_step for line in lines])
    except OrderError as error:
        line = lines[error.at]
        raise TraceFormatError(line.path, line.number, error.reason) from None
    surely = found.surely or (None,) * len(found.lines)
    lost = "; ".join(
        [f"{lines[at].path.name}:{lines[at].number}: {reason}" for at, reason in found.lost]
    )
    for at, follows, certain in zip(found.lines, found.follows, surely, strict=True):
        yield lines[at], follows, certain, lost
        lost = ""  # it stands in the first event, for the line that counts may be no step


def _lines(
    path: Path, mapping: LogMapping, limits: Limits, read: list[tuple[Path, int]]
) -> Iterator[_Line]:
    """Read a file; a line that stands for several is as many."""
    for number, raw in numbered_lines(path, limits):
        obj = parse_json(raw, path=path, line=number, limits=limits)
        if not isinstance(obj, dict):
            raise TraceFormatError(path, number, "the line is not a JSON object")
        read.append((path, number))
        try:
            for one in _elements(mapping, obj):
                is_step = not any(holds(condition, one) for condition in mapping.skip)
                if is_step and mapping.order is not None:
                    is_step = bool(actions_of(mapping, one))
                yield _Line(path=path, number=number, obj=one, is_step=is_step)
        except LineError as error:
            raise TraceFormatError(path, number, str(error)) from None


def _elements(mapping: LogMapping, obj: dict[str, Json]) -> list[dict[str, Json]]:
    """Return the line once for each element of the array that the mapping names."""
    if mapping.each is None:
        return [obj]
    where = path_text(mapping.each.path)
    found = find(obj, mapping.each.path)
    if found is MISSING and mapping.each.optional:
        return [obj]
    if not isinstance(found, list):
        raise LineError(f"the field {where}, which holds the steps of the line, is no array")
    if _EACH in obj:
        raise LineError(f"the line has a field {_EACH!r}, where its elements are to stand")
    return [{**obj, _EACH: element} for element in found]

"""Trace files as NDJSON: a header line, then one event a line; plain or gzip.

`traces/FORMAT.md` is the definition. Reading is strict and bounded, because traces come from
anywhere; writing is deterministic: the same trace gives the same bytes.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path

from tlatrace.errors import TraceFormatError, ValueFormatError
from tlatrace.trace.lines import DEFAULT_LIMITS, Limits, numbered_lines
from tlatrace.trace.model import Event, Header, Trace
from tlatrace.trace.schema import event_from_json, event_line, header_from_json, header_line
from tlatrace.trace.strict_json import parse_json

__all__ = [
    "DEFAULT_LIMITS",
    "Limits",
    "dump_trace",
    "event_line",
    "header_line",
    "iter_events",
    "open_trace",
    "read_trace",
    "write_trace",
]


def read_trace(path: Path, limits: Limits = DEFAULT_LIMITS) -> Trace:
    """Read a whole trace; an empty file has no header, and a header alone has no events.

    Both are for a checker to call Undecided: they are not format errors.

    Raises:
        TraceFormatError: with the file, the line and, where known, the column.
    """
    header, events = open_trace(path, limits)
    return Trace(header=header, events=tuple(events))


def open_trace(
    path: Path, limits: Limits = DEFAULT_LIMITS
) -> tuple[Header | None, Iterator[Event]]:
    """Read the header now, and each event when it is asked for, holding one at a time.

    Raises:
        TraceFormatError: now for the header; for an event, when the iterator comes to it.
    """
    lines = numbered_lines(path, limits)
    first = next(lines, None)
    if first is None:
        return None, iter(())
    number, raw = first
    try:
        header = header_from_json(parse_json(raw, path=path, line=number, limits=limits))
    except ValueFormatError as error:
        raise TraceFormatError(path, number, error.reason) from None
    return header, _events(path, lines, limits)


def iter_events(path: Path, limits: Limits = DEFAULT_LIMITS) -> Iterator[Event]:
    """Yield the events of a trace one by one.

    Raises:
        TraceFormatError: as `open_trace`.
    """
    return open_trace(path, limits)[1]


def _events(path: Path, lines: Iterator[tuple[int, bytes]], limits: Limits) -> Iterator[Event]:
    for step, (number, raw) in enumerate(lines):
        if step >= limits.events:
            raise TraceFormatError(path, number, f"the trace has more than {limits.events} events")
        obj = parse_json(raw, path=path, line=number, limits=limits)
        try:
            yield event_from_json(obj, step)
        except ValueFormatError as error:
            raise TraceFormatError(path, number, error.reason) from None


def dump_trace(header: Header, events: Iterable[Event]) -> Iterator[bytes]:
    """Yield the lines of a trace file, each with its end.

    Raises:
        ValueFormatError: something that the reader would refuse.
    """
    yield header_line(header).encode() + b"\n"
    for step, event in enumerate(events):
        assert event.step == step, f"event {step} says that it is step {event.step}"
        yield event_line(event).encode() + b"\n"


def write_trace(path: Path, trace: Trace) -> None:
    """Write a trace, compressed if the file's name ends with ".gz".

    Raises:
        ValueFormatError: something that the reader would refuse.
        OSError: the file cannot be written.
    """
    lines = () if trace.header is None else dump_trace(trace.header, trace.events)
    with path.open("wb") as file:
        if path.suffix != ".gz":
            file.writelines(lines)
            return
        # No name and no time in the gzip header: same trace, same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            packed.writelines(lines)

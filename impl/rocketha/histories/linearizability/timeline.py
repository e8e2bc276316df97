r"""A few operations as text: a row for each client, time from left to right.

    client 0 |-write 1-|     |-write 2------|
    client 1                     |-*read 1*-|

Calls and returns are drawn in their order, not to scale; of equal times calls come first. The
operation that no order explains has stars. An operation of UNKNOWN outcome ends in `?` where its
client gave up, or in `>` at the right edge, though it may take effect later in either case. What
is wider than a page goes on in another block below. A client has a second row if it calls at the
very time at which it returns. All is ASCII, values and keys are cut, and no line is longer than a
page is wide, whatever strings there are.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rocketha.histories.history import Outcome
from rocketha.histories.linearizability.checker import NotLinearizable
from rocketha.histories.linearizability.operation import Kind, Operation, shown

__all__ = ["PAGE", "draw", "draw_operations"]

PAGE: Final = 100
"""Columns."""

_VALUE: Final = 12
_NAME: Final = 20


@dataclass(slots=True)
class _Bar:
    """An operation as drawn: where it begins and ends, in columns from 0."""

    operation: Operation
    label: str
    begin: int = 0
    end: int = 0


def draw(verdict: NotLinearizable) -> str:
    """Draw the operations of a verdict, and say what explains those before the stuck one."""
    order = [_label(one) for one in verdict.prefix]
    words = f"explained before the stars: {', '.join(order) if order else 'nothing'}"
    lines = [
        *textwrap.wrap(verdict.reason, PAGE),
        draw_operations(verdict.operations, verdict.stuck),
    ]
    return "\n".join([*lines, *textwrap.wrap(words, PAGE)])


def draw_operations(operations: Sequence[Operation], stuck: Operation | None = None) -> str:
    """Draw operations, in any order; `stuck` gets stars. None: an empty text."""
    bars, width = _laid_out(operations, stuck)
    rows = _rows(bars, width)
    margin = max((len(name) for name, _ in rows), default=0) + 1
    room = PAGE - margin
    blocks = []
    for begin in range(0, width, room):
        cut = [f"{name:{margin}}{text[begin : begin + room]}".rstrip() for name, text in rows]
        blocks.append("\n".join(cut))
    return "\n\n".join(blocks)


def _laid_out(operations: Sequence[Operation], stuck: Operation | None) -> tuple[list[_Bar], int]:
    """Give columns to all calls and returns; return the first free one, too."""
    calls = sorted(operations, key=lambda one: one.called_at)
    bars = [_Bar(one, f"*{_label(one)}*" if one is stuck else _label(one)) for one in calls]
    events: list[tuple[int, bool, int]] = []
    for number, one in enumerate(calls):
        events.append((one.called_at, False, number))
        if one.returned_at is not None:
            events.append((one.returned_at, True, number))
    column = -1
    for _, returns, number in sorted(events):
        bar = bars[number]
        column += 1
        if returns:
            column = max(column, bar.begin + len(bar.label) + 3)
            bar.end = column
        else:
            bar.begin = column
    edge = max((bar.begin + len(bar.label) + 3 for bar in bars), default=0)
    edge = max(edge, column + 1)
    for bar in bars:
        if bar.operation.returned_at is None:
            bar.end = edge
    return bars, edge + 1 if bars else 0


def _rows(bars: Sequence[_Bar], width: int) -> list[tuple[str, str]]:
    """Return (client, its row), where a client whose operations touch has several."""
    rows: dict[int, list[list[str]]] = {}
    ends: dict[int, list[int]] = {}
    for bar in bars:
        of_client = rows.setdefault(bar.operation.client, [])
        free = ends.setdefault(bar.operation.client, [])
        lane = next((n for n, end in enumerate(free) if end < bar.begin), len(free))
        if lane == len(free):
            of_client.append([" "] * width)
            free.append(0)
        free[lane] = bar.end
        of_client[lane][bar.begin : bar.end + 1] = _drawn(bar)
    return list(_named(rows))


def _drawn(bar: _Bar) -> str:
    end = "|"
    if bar.operation.outcome is Outcome.UNKNOWN:
        end = ">" if bar.operation.returned_at is None else "?"
    return f"|-{bar.label}".ljust(bar.end - bar.begin, "-") + end


def _named(rows: dict[int, list[list[str]]]) -> Iterator[tuple[str, str]]:
    for client in sorted(rows):
        for row in rows[client]:
            yield f"client {client}"[:_NAME], "".join(row)


def _label(one: Operation) -> str:
    value = shown(one.value, _VALUE)
    if one.kind is Kind.CAS:
        value = f"{shown(one.expected, _VALUE)} to {value}{'' if one.swapped else ', not held'}"
    return f"{one.kind} {value}"

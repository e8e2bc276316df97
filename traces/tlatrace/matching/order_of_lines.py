"""The order of steps that several nodes logged, each on its own: from clocks, or from messages.

Each line stands after the lines of its node before it. A vector clock says besides which lines of
the other nodes it knew of; the ids of messages say it, too. Lamport clocks only rule out orders: of
two lines of different nodes the one with the smaller clock did not happen because of the other.
Lines that nothing orders are concurrent, and may have happened in any order.

Source: Lamport, Time, Clocks, and the Ordering of Events; Mattern, Virtual Time and Global States
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Final

from tlatrace.matching.log_line import LineError, find, path_text
from tlatrace.matching.sources import Field, Source, SourceReader, value_of
from tlatrace.matching.toml_tables import FaultError, Table, read_path
from tlatrace.values import Json, Value, canonical

__all__ = ["LogOrder", "OrderError", "Ordered", "ordered", "read_order"]

_WAYS: Final = ("vector", "lamport", "messages")
_DEFAULT_FILES: Final = ("*.jsonl", "*.ndjson", "*.log")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOrder:
    """How the lines of a log, or of the logs of several nodes, are ordered."""

    by: str
    """"vector", "lamport" or "messages"."""
    node: Source
    clock: Field | None
    """The vector or Lamport clock; None with messages."""
    sends: Field | None = None
    """The id of the message, or an array of ids, that a line sends..."""
    receives: Field | None = None
    """...or receives."""
    tie: Field | None = None
    """A field whose values decide what is tried first of concurrent lines."""
    files: tuple[str, ...] = _DEFAULT_FILES
    """Patterns of the files of a folder that are the logs of one run."""


def read_order(table: Table, sources: SourceReader) -> LogOrder:
    """Read `[order]`.

    Raises:
        FaultError: it is wrong.
    """
    by = table.choice("by", ("", *_WAYS))
    if not by:
        raise FaultError(f"[order] does not say by which of {', '.join(_WAYS)}", "order")
    if not table.has("node"):
        raise FaultError("[order] does not say which node logged a line", "order")

    def take(key: str, *, wanted: bool, optional: bool = False) -> Field | None:
        obj = table.take(key)
        if (obj is not None) != wanted and not optional:
            what = "needs" if wanted else "has no use for"
            raise FaultError(f"[order] by {by} {what} {key}", key if obj is not None else "order")
        return None if obj is None else Field(path=read_path(obj, key))

    order = LogOrder(
        by=by,
        node=sources.source(table.take("node"), "order"),
        clock=take("clock", wanted=by != "messages"),
        sends=take("sends", wanted=by == "messages"),
        receives=take("receives", wanted=by == "messages"),
        tie=take("tie", wanted=False, optional=True),
        files=tuple(table.texts("files")) if table.has("files") else _DEFAULT_FILES,
    )
    table.end()
    return order


class OrderError(Exception):
    """What is wrong with the order of lines, and the position of the line among all."""

    def __init__(self, at: int, reason: str) -> None:
        super().__init__(reason)
        self.at = at
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered:
    """Lines in an order that is possible."""

    lines: tuple[int, ...]
    """Positions in what was given."""
    follows: tuple[tuple[int, ...], ...]
    """For each line here, positions here: of the line of its node before it, if there is one, and
    of others that are certain to have happened before it; what follows from these is left out."""
    surely: tuple[tuple[int, ...], ...] | None
    """As `follows`, of what the log proves; None: that is the same. Lamport clocks prove less."""
    lost: tuple[tuple[int, str], ...] = ()
    """(position of a line in what was given, what it follows and no log has)."""


@dataclass(slots=True)
class _Node:
    """The lines of one node."""

    at: list[int] = field(default_factory=list)
    ticks: list[int] = field(default_factory=list)
    """Its own component of its clock, which grows."""


def ordered(order: LogOrder, lines: Sequence[Json], kept: Sequence[bool]) -> Ordered:
    """Order the lines that are kept; those of each node stand behind each other already.

    The others are no steps, but what stands between them may be ordered by the messages in them.

    Raises:
        OrderError: a line does not say what it must, or there is no such order.
    """
    if order.by == "messages":
        used = [at for at, line in enumerate(lines) if kept[at] or _has_node(order, line)]
    else:
        used = [at for at in range(len(lines)) if kept[at]]
    reader = _Reader(order, lines, used)
    surely: list[list[int]] | None = None
    match order.by:
        case "vector":
            after = reader.by_vectors()
        case "lamport":
            after, surely = reader.by_numbers(), reader.of_own()
        case _:
            after = reader.by_messages()
    positions = _linear(after, reader.ties(), used)
    steps = [at for at in positions if kept[used[at]]]
    new = {at: step for step, at in enumerate(steps)}

    def renumbered(given: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
        direct = _without_the_rest(positions, given, new)
        return tuple([tuple([new[one] for one in direct[at]]) for at in steps])

    return Ordered(
        lines=tuple([used[at] for at in steps]),
        follows=renumbered(after),
        surely=None if surely is None else renumbered(surely),
        lost=tuple(_lost(order, lines)) if order.by == "vector" else (),
    )


def _lost(order: LogOrder, lines: Sequence[Json]) -> Iterator[tuple[int, str]]:
    """Find clocks that count more lines of a node than its log has: it was cut off, perhaps.

    Only of a node whose lines are counted one by one; others count what nobody logs, too.
    """
    clocks: list[dict[str, int]] = []
    ticks: dict[str, list[int]] = {}
    for at, line in enumerate(lines):
        try:
            clocks.append(_vector(order, line))
            name = canonical(value_of(order.node, line) or "")
        except LineError:
            if len(clocks) == at:
                clocks.append({})
            continue
        if name in clocks[at]:
            ticks.setdefault(name, []).append(clocks[at][name])
    for name, own in ticks.items():
        if own != list(range(own[0], own[0] + len(own))):
            continue
        for at, clock in enumerate(clocks):
            if clock.get(name, 0) > own[-1]:
                yield at, f"it counts {clock[name]} lines of {name}, whose log ends with {own[-1]}"
                break


def _has_node(order: LogOrder, line: Json) -> bool:
    try:
        return value_of(order.node, line) is not None
    except LineError:
        return False


def _without_the_rest(
    positions: Sequence[int], after: Sequence[Sequence[int]], kept: Mapping[int, int]
) -> dict[int, list[int]]:
    """Say of each line which kept lines it follows, through others, too."""
    direct: dict[int, list[int]] = {}
    for at in positions:
        found: dict[int, None] = {}
        for one in after[at]:
            found.update(dict.fromkeys([one] if one in kept else direct[one]))
        direct[at] = list(found)
    return direct


class _Reader:
    """Finds for each line those that it certainly follows, the one of its own node first."""

    def __init__(self, order: LogOrder, lines: Sequence[Json], used: Sequence[int]) -> None:
        self._order = order
        self._lines = [lines[at] for at in used]
        self._used = used
        self._nodes: dict[str, _Node] = {}
        self._node_of: list[str] = []
        self._own: list[int | None] = []
        for at in range(len(used)):
            name = canonical(self._wanted(at, order.node))
            node = self._nodes.setdefault(name, _Node())
            self._own.append(node.at[-1] if node.at else None)
            node.at.append(at)
            self._node_of.append(name)

    def _wrong(self, at: int, reason: str) -> OrderError:
        return OrderError(self._used[at], reason)

    def _wanted(self, at: int, source: Source) -> Value:
        try:
            value = value_of(source, self._lines[at])
        except LineError as error:
            raise self._wrong(at, str(error)) from None
        if value is None:
            raise self._wrong(at, "the line does not say which node logged it")
        return value

    def of_own(self) -> list[list[int]]:
        """Return for each line the one of its node before it."""
        return [[] if own is None else [own] for own in self._own]

    def ties(self) -> list[tuple[object, ...]]:
        """Return what decides between concurrent lines."""
        tie = self._order.tie
        if tie is None:
            return [(at,) for at in range(len(self._lines))]
        found: list[tuple[object, ...]] = []
        for at, line in enumerate(self._lines):
            value = find(line, tie.path)
            if isinstance(value, bool) or not isinstance(value, int | float | str):
                where = path_text(tie.path)
                raise self._wrong(at, f"the field {where} is neither a number nor a string")
            is_text = isinstance(value, str)
            found.append((is_text, value, at))
        return found

    # ---- vector clocks ----------------------------------------------------------------------

    def by_vectors(self) -> list[list[int]]:
        clocks = [self._vector(at) for at in range(len(self._lines))]
        for at, name in enumerate(self._node_of):
            own = clocks[at].get(name)
            node = self._nodes[name]
            if own is None:
                raise self._wrong(at, f"the vector clock does not count the line's own node {name}")
            if node.ticks and own <= node.ticks[-1]:
                raise self._wrong(
                    at, f"the count of {name} is {own}, after {node.ticks[-1]} before"
                )
            node.ticks.append(own)
        after = self.of_own()
        for at, clock in enumerate(clocks):
            for name, count in clock.items():
                if name == self._node_of[at] or name not in self._nodes:
                    continue  # itself; or a node that logged nothing, or only what is no step
                other = self._nodes[name]
                known = bisect_right(other.ticks, count)
                if known:
                    after[at].append(other.at[known - 1])
        return after

    def _vector(self, at: int) -> dict[str, int]:
        try:
            return _vector(self._order, self._lines[at])
        except LineError as error:
            raise self._wrong(at, str(error)) from None

    # ---- Lamport clocks ---------------------------------------------------------------------

    def by_numbers(self) -> list[list[int]]:
        """Put each line behind all with a smaller clock: the last ones of each node are enough."""
        clocks = [self._number(at) for at in range(len(self._lines))]
        for name, node in self._nodes.items():
            node.ticks = [clocks[at] for at in node.at]
            for before, at in zip(node.at, node.at[1:], strict=False):
                if clocks[at] <= clocks[before]:
                    raise self._wrong(at, f"the clock of {name} does not grow")
        after = self.of_own()
        for at, clock in enumerate(clocks):
            for name, node in self._nodes.items():
                known = bisect_right(node.ticks, clock - 1)
                if known and name != self._node_of[at]:
                    after[at].append(node.at[known - 1])
        return after

    def _number(self, at: int) -> int:
        assert self._order.clock is not None
        found = find(self._lines[at], self._order.clock.path)
        if isinstance(found, bool) or not isinstance(found, int):
            raise self._wrong(at, f"the field {path_text(self._order.clock.path)} is no number")
        return found

    # ---- messages ---------------------------------------------------------------------------

    def by_messages(self) -> list[list[int]]:
        assert self._order.sends is not None
        assert self._order.receives is not None
        sent: dict[str, int] = {}
        for at in range(len(self._lines)):
            for name in self._ids(at, self._order.sends):
                if name in sent:
                    raise self._wrong(at, f"the message {name} is sent twice")
                sent[name] = at
        after = self.of_own()
        for at in range(len(self._lines)):
            for name in self._ids(at, self._order.receives):
                if name not in sent:
                    raise self._wrong(at, f"the message {name} is received, and sent by no line")
                if sent[name] not in after[at]:
                    after[at].append(sent[name])
        return after

    def _ids(self, at: int, source: Field) -> list[str]:
        found = find(self._lines[at], source.path)
        if found is None or not isinstance(found, str | int | list):
            return []
        many = found if isinstance(found, list) else [found]
        return list(dict.fromkeys([canonical(_value(one)) for one in many]))


def _vector(order: LogOrder, line: Json) -> dict[str, int]:
    """Read the vector clock of a line.

    Raises:
        LineError: it has none.
    """
    assert order.clock is not None
    found = find(line, order.clock.path)
    pairs: list[tuple[object, object]] = []
    if isinstance(found, dict):
        pairs = list(found.items())
    elif isinstance(found, list) and all(isinstance(p, list) and len(p) == 2 for p in found):
        pairs = [(pair[0], pair[1]) for pair in found]
    else:
        where = path_text(order.clock.path)
        raise LineError(f"the field {where} is no vector clock: an object, or [key, n]s")
    clock: dict[str, int] = {}
    for key, count in pairs:
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise LineError(f"{count!r} in the vector clock is no count")
        name = canonical(_value(key))
        if name in clock:
            raise LineError(f"{name} stands twice in the vector clock")
        clock[name] = count
    return clock


def _value(key: object) -> Value:
    """Return a key of a clock, or an id: a string, a number, or an array of them."""
    if isinstance(key, list):
        return tuple([_value(one) for one in key])
    return key if isinstance(key, str | int) else str(key)


def _linear(
    after: Sequence[Sequence[int]], ties: Sequence[tuple[object, ...]], used: Sequence[int]
) -> list[int]:
    """Put lines behind those that they follow, the least tie first; the same for the same lines."""
    left = [len(set(before)) for before in after]
    behind: list[list[int]] = [[] for _ in after]
    for at, before in enumerate(after):
        for one in set(before):
            behind[one].append(at)
    ready: list[tuple[tuple[object, ...], int]] = [
        (ties[at], at) for at, number in enumerate(left) if not number
    ]
    heapify(ready)
    order: list[int] = []
    while ready:
        _, at = heappop(ready)
        order.append(at)
        for one in behind[at]:
            left[one] -= 1
            if not left[one]:
                heappush(ready, (ties[one], one))
    if len(order) < len(after):
        stuck = min(at for at, number in enumerate(left) if number)
        raise OrderError(used[stuck], "the clocks go round: lines follow each other")
    return order

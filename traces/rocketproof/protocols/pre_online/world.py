"""The variables of PreOnline, changed one by one as steps are seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from rocketha.formats.offset_tables import TableKind
from rocketproof.protocols.pre_online.seen import BrokerSeen, Offsets, SavedSeen
from tlatrace.values import State, Value, fcn, record, tla_set

__all__ = ["MASTER", "Delta", "World", "initial", "of_broker"]

MASTER: Final = 0
Delta: TypeAlias = Mapping[tuple[str, int | None], Any]
"""Variable and broker, None where it is of no broker -> what it has now."""


@dataclass(slots=True)
class World:
    """All variables."""

    slaves: Sequence[int]
    queues: Sequence[str]
    values: dict[tuple[str, int | None], Any] = field(default_factory=dict)
    there: frozenset[int] = frozenset()
    met: frozenset[int] = frozenset()

    def take(self, action: str, params: Sequence[Value], delta: Delta) -> None:
        """Take an action with what was seen to change; history follows from it."""
        broker = params[0] if params else None
        number = broker if isinstance(broker, int) else None
        was_connected = action == "TakeTable" and self.values["link", number] == "transfer"
        self.values.update(delta)
        group: frozenset[int] = self.values["group", None]
        match action:
            case "Start" if number == MASTER:
                self.there, self.met = group - {MASTER}, frozenset()
            case "Remove":
                self.there -= {number}
            case "TakeTable":
                self.there = group - {MASTER}
                if was_connected and number is not None:
                    self.met |= {number}
            case _:
                pass

    def state(self) -> State:
        """Return all variables of the specification."""
        brokers = (MASTER, *self.slaves)
        saved = {
            b: record({"table": self._table(one.offsets), "version": one.version})
            for b in brokers
            for one in [self.values["saved", b]]
        }
        return {
            "up": self._of("up", brokers),
            "group": tla_set(self.values["group", None]),
            "serves": self._of("serves", brokers),
            "table": fcn((b, self._table(self.values["table", b])) for b in brokers),
            "version": self._of("version", brokers),
            "moves": self._of("moves", brokers),
            "masterAddr": self._of("masterAddr", self.slaves),
            "saved": fcn(saved.items()),
            "link": self._of("link", self.slaves),
            "isolated": self.values["isolated", None],
            "members": tla_set(self.values["members", None]),
            "asked": self.values["asked", None],
            "done": tla_set(self.values["done", None]),
            "there": tla_set(self.there),
            "met": tla_set(self.met),
        }

    def _of(self, variable: str, brokers: Iterable[int]) -> Value:
        return fcn((b, self.values[variable, b]) for b in brokers)

    def _table(self, offsets: Offsets) -> Value:
        return record({queue: offsets.get(queue, 0) for queue in self.queues})


def initial(slaves: Sequence[int]) -> dict[tuple[str, int | None], Any]:
    """Return what Init says: all are there, the master serves, and nobody has an offset."""
    brokers = (MASTER, *slaves)
    values: dict[tuple[str, int | None], Any] = {
        ("group", None): frozenset(brokers),
        ("isolated", None): False,
        ("members", None): frozenset(),
        ("asked", None): False,
        ("done", None): frozenset(),
    }
    for b in brokers:
        values |= {
            ("up", b): True,
            ("serves", b): b == MASTER,
            ("table", b): {},
            ("version", b): 0,
            ("moves", b): 0,
            ("saved", b): SavedSeen(),
        }
    for s in slaves:
        values |= {("masterAddr", s): True, ("link", s): "transfer"}
    return values


def of_broker(
    number: int, seen: BrokerSeen | None, left: SavedSeen, kind: TableKind
) -> dict[tuple[str, int | None], Any]:
    """Return the variables of a broker but its link; None: it is down, and `left` is its disk."""
    if seen is None:
        nothing = BrokerSeen(tables={kind: left}, moves={kind: 0}, saved={kind: left})
        values = of_broker(number, nothing, left, kind)
        values["up", number] = False
        return values
    table = seen.tables[kind]
    values = {
        ("up", number): True,
        ("serves", number): seen.serves,
        ("table", number): table.offsets,
        ("version", number): table.version,
        ("moves", number): seen.moves[kind],
        ("saved", number): seen.saved[kind],
    }
    if number == MASTER:
        values["isolated", None] = seen.isolated
        values["members", None] = seen.members
        values["asked", None] = seen.asked
        values["done", None] = seen.done
    else:
        values["masterAddr", number] = seen.has_master
    return values

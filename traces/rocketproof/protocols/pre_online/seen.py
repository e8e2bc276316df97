"""What is seen of a broker, whether by its memory and its disk or by its records."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from rocketha.formats.offset_tables import OffsetTable, TableKind
from rocketha.pre_online.state import PreOnlineState

__all__ = [
    "BrokerSeen",
    "Message",
    "Offsets",
    "SavedSeen",
    "broker_seen",
    "queue_name",
    "saved_seen",
]

Offsets: TypeAlias = Mapping[str, int]
"""Queue -> offset; a queue that is missing has 0."""


@dataclass(frozen=True, slots=True)
class SavedSeen:
    """A table, and the counter of its DataVersion."""

    offsets: Offsets = field(default_factory=dict)
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSeen:
    """What a broker has in its memory, and on its disk."""

    tables: Mapping[TableKind, SavedSeen]
    moves: Mapping[TableKind, int]
    saved: Mapping[TableKind, SavedSeen]
    serves: bool = False
    has_master: bool = False
    """It has the address of a master to copy from."""
    knows_where: bool = False
    """It knows where to connect to."""
    conn: int | None = None
    """Its connection with its master, if it stands."""
    isolated: bool = False
    members: frozenset[int] = frozenset()
    asked: bool = False
    done: frozenset[int] = frozenset()
    links: Mapping[int, int] = field(default_factory=dict)
    """Slave -> connection that stands."""


class Message(Protocol):
    """A frame that a node has sent, or a packet."""

    @property
    def id(self) -> str:
        """What both ends call it."""
        ...

    @property
    def code(self) -> int | None:
        """What is asked, or how it went; None: it is a packet."""
        ...


def broker_seen(
    state: PreOnlineState, saved: Mapping[TableKind, SavedSeen], standing: Container[int]
) -> BrokerSeen:
    """Look at a broker that runs, at its disk, and at which connections it has that stand."""
    return BrokerSeen(
        tables={kind: saved_seen(table.present) for kind, table in state.tables.items()},
        moves={kind: table.moves for kind, table in state.tables.items()},
        saved=saved,
        serves=state.serves,
        has_master=state.master_address is not None,
        knows_where=state.ha.address is not None,
        conn=state.ha.conn if state.ha.conn in standing else None,
        isolated=state.isolated,
        members=frozenset(state.members),
        asked=state.asked,
        done=frozenset(state.done),
        links={int(slave): int(conn) for slave, conn in state.links.items() if conn in standing},
    )


def saved_seen(table: OffsetTable | None) -> SavedSeen:
    """Look at a table; None: there is none."""
    if table is None:
        return SavedSeen()
    offsets = {queue_name(*queue): offset for queue, offset in table.offsets.items() if offset}
    return SavedSeen(offsets, table.version.counter)


def queue_name(name: str, number: int) -> str:
    """Return what the specification's queues are called: of a level of delays the level."""
    return f"{name or 'level'}:{number}"

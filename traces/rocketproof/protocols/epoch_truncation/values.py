"""The values of EpochTruncation, made from what the implementation has.

Offsets in bytes become numbers of records; epochs without an end get -1; a broker is the string
that a configuration declares as a model value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Final, Protocol

from rocketha.sim.engine.node import broker_address
from rocketha.sim.engine.records import record_count
from rocketha.types import UNBOUNDED, BrokerId, Epoch, EpochEntry, Offset
from tlatrace.values import Value, record

__all__ = [
    "NONE",
    "NO_LINK",
    "broker_name",
    "entries_value",
    "entry_value",
    "handshake_value",
    "index",
    "index_or_minus_one",
    "link_value",
    "starts_value",
    "transfer_value",
]


class EntryFields(Protocol):
    """An epoch entry, as a core has it, or read from a record."""

    @property
    def epoch(self) -> int: ...
    @property
    def start_offset(self) -> Offset: ...
    @property
    def end_offset(self) -> Offset: ...


NONE: Final = "none"
NO_LINK: Final = record({"peer": NONE})
_NO_ENTRY: Final = record({"e": 0, "s": 0, "end": -1})


@cache
def broker_name(broker: BrokerId) -> str:
    """Return the name of a broker in the trace."""
    return str(broker_address(broker))


def index(offset: Offset) -> int:
    """Return the number of whole records before an offset."""
    return record_count(offset)


def index_or_minus_one(offset: Offset, count: Callable[[int], int] = record_count) -> int:
    """Return the number of whole records before an offset; -1, as it is, if it is not known yet."""
    return offset if offset < 0 else count(offset)


def entry_value(entry: EntryFields | None, count: Callable[[int], int] = record_count) -> Value:
    """Return an `Entry`, `NoEntry` for none."""
    if entry is None:
        return _NO_ENTRY
    end = -1 if entry.end_offset == UNBOUNDED else count(entry.end_offset)
    return record({"e": int(entry.epoch), "s": count(entry.start_offset), "end": end})


def entries_value(
    entries: Iterable[EntryFields], count: Callable[[int], int] = record_count
) -> Value:
    """Return a sequence of `Entry`."""
    return tuple([entry_value(entry, count) for entry in entries])


def starts_value(
    entries: Iterable[EntryFields], count: Callable[[int], int] = record_count
) -> Value:
    """Return a sequence of `Start`."""
    return tuple(
        [record({"e": int(entry.epoch), "s": count(entry.start_offset)}) for entry in entries]
    )


def handshake_value(*, epoch: Epoch, end: Offset, entries: Iterable[EpochEntry]) -> Value:
    """Return a `HandshakeReply`; a master without epochs, -1 on the wire, has epoch 0."""
    return record(
        {
            "type": "Handshake",
            "epoch": max(epoch, 0),
            "offset": index(end),
            "entries": starts_value(entries),
        }
    )


def transfer_value(*, epoch: Epoch, start: Offset, offset: Offset, recs: Sequence[int]) -> Value:
    """Return a `TransferBatch`."""
    return record(
        {
            "type": "Transfer",
            "epoch": int(epoch),
            "start": index(start),
            "offset": index(offset),
            "recs": tuple(recs),
        }
    )


def link_value(
    *,
    peer: str,
    is_open: bool,
    phase: str,
    down: Sequence[Value],
    reported: Offset,
    ack: Offset,
    next_offset: Offset,
    cur: EpochEntry | None,
) -> Value:
    """Return a `Link`."""
    return record(
        {
            "peer": peer,
            "open": is_open,
            "phase": phase,
            "down": tuple(down),
            "reported": index_or_minus_one(reported),
            "ack": index_or_minus_one(ack),
            "next": index_or_minus_one(next_offset),
            "cur": entry_value(cur),
        }
    )

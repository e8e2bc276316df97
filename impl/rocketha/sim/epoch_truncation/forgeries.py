"""Packets that no honest peer sends, whatever an end of a connection has: all must be refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from rocketha.formats.ha_packets import (
    Ack,
    Handshake,
    HandshakeReply,
    Transfer,
    push_ack,
    push_handshake,
    push_handshake_reply,
    push_transfer,
)
from rocketha.ha.state import NOT_YET, BrokerState, MasterConnection, Phase
from rocketha.sim.engine.records import SEGMENT_SIZE
from rocketha.types import ConnectionId, Epoch, EpochEntry, Offset

__all__ = ["forgeries"]

_NO_STATE: Final = (99).to_bytes(4, "big")
_NEWEST: Final = Epoch(1 << 20)
"""No run comes so far."""


def forgeries(state: BrokerState, conn: ConnectionId, log_end: Offset) -> list[bytes]:
    """Return what an end of a connection must refuse, of a broker whose log ends here."""
    client = state.client
    if client is None or client.id != conn:
        return list(_to_master(state, state.servers[conn], log_end))
    if client.phase is Phase.HANDSHAKE:
        return list(_to_slave_that_waits(state, log_end))
    return list(_to_slave_that_copies(state, log_end))


def _to_master(state: BrokerState, end: MasterConnection, log_end: Offset) -> Iterator[bytes]:
    beyond = _ack(log_end + 1)
    yield beyond
    yield beyond[:4] + b"\xff" * 8
    yield _NO_STATE + beyond[4:]
    if end.introduced is None:
        yield _ack(0)
        yield push_handshake(Handshake(broker_id=state.broker_id))
        return
    is_learner = end.introduced.async_learner
    yield push_handshake(replace(end.introduced, async_learner=not is_learner, incarnation=0))
    if end.slave_ack != NOT_YET:
        yield push_handshake(end.introduced)
    if end.slave_ack > 0:
        yield _ack(end.slave_ack - 1)
    if NOT_YET < end.next_offset < log_end:
        yield _ack(end.next_offset + 1)


def _ack(offset: int) -> bytes:
    return push_ack(Ack(max_phy_offset=Offset(offset)))


def _to_slave_that_waits(state: BrokerState, log_end: Offset) -> Iterator[bytes]:
    """A slave that has sent its handshake waits for the answer of a master it may follow."""
    known = state.known_epoch
    yield _batch(log_end, max(known, 1), 0)
    yield _reply(log_end, [(_NEWEST, log_end + 1)])
    if known > 0:
        yield _reply(log_end, [(known - 1, 0)] if known > 1 else [])
    yield from _garbage(_batch(log_end, 1, 0))


def _to_slave_that_copies(state: BrokerState, log_end: Offset) -> Iterator[bytes]:
    """A slave whose log was cut takes batches that continue its log and its epochs."""
    yield _reply(log_end, state.cache.starts())
    yield _batch(log_end + SEGMENT_SIZE, 1, 0, b"forged")
    yield _batch(log_end, 0, 0)
    yield _batch(log_end, _NEWEST, log_end + 1)
    yield _batch(log_end, _NEWEST, -1)
    if log_end > 0:
        yield _batch(log_end - 1, max(state.known_epoch, 1), 0)
    for last in state.cache.entries[-1:]:
        yield _batch(log_end, last.epoch, last.start_offset + 1)
        yield _batch(log_end, last.epoch - 1, last.start_offset)
        if last.start_offset > 0:
            yield _batch(log_end, _NEWEST, last.start_offset - 1)
    yield from _garbage(_batch(log_end, 1, 0))


def _garbage(data: bytes) -> Iterator[bytes]:
    """Yield a packet of no state, and one of a negative size."""
    yield _NO_STATE + data[4:]
    yield data[:4] + b"\xff" * 4 + data[8:]


def _batch(offset: int, epoch: int, start: int, body: bytes = b"") -> bytes:
    return push_transfer(
        Transfer(
            offset=Offset(offset),
            epoch=Epoch(epoch),
            epoch_start_offset=Offset(start),
            confirm_offset=Offset(0),
            body=body,
        )
    )


def _reply(log_end: int, starts: Iterable[tuple[int, int]]) -> bytes:
    entries = tuple(
        EpochEntry(epoch=Epoch(epoch), start_offset=Offset(start)) for epoch, start in starts
    )
    return push_handshake_reply(HandshakeReply(max_phy_offset=Offset(log_end), entries=entries))

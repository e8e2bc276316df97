"""Ends of connections that are gone, beside whatever else a step has changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rocketha.types import BrokerId
from rocketproof.protocols.epoch_truncation.values import NONE, broker_name
from rocketproof.protocols.replica_group.parts import GroupStateReader, Key
from rocketproof.protocols.replica_group.values import NO_CONN
from tlatrace.values import Value

__all__ = ["Loss", "losses"]


@dataclass(frozen=True, slots=True)
class Loss:
    """The end of a connection, as an action."""

    broker: BrokerId
    action: str
    params: tuple[Value, ...]
    only: tuple[Key, ...]
    """The parts of the state that it changes."""


def losses(parts: GroupStateReader, but: BrokerId | None) -> Iterator[Loss]:
    """Yield the ends of connections that go, but for those that go with the role of `but`.

    Who takes one records it before it asks for the next.
    """
    if not parts.changes:
        return
    for slave in parts.brokers:
        for master in parts.brokers:
            if master not in (but, slave):
                yield from _closed(parts, master, slave)
        link: Key = ("link", broker_name(slave), "")
        was, now = parts.recorded("link", slave), parts.changes.get(link)
        if now is None or was == NONE or but == slave:
            continue
        if but is not None and was == broker_name(but):
            continue
        parts.changes[link] = NONE
        yield Loss(slave, "Disconnect", (broker_name(slave),), (link,))
        if now != NONE:
            parts.changes[link] = now


def _closed(parts: GroupStateReader, master: BrokerId, slave: BrokerId) -> Iterator[Loss]:
    """Yield that a master has dropped its end, and with it what the slave may still hear."""
    peer, me = broker_name(master), broker_name(slave)
    conn: Key = ("conn", peer, me)
    link: Key = ("link", me, "")
    if parts.changes.get(conn) != NO_CONN:
        return
    with_link = parts.recorded("link", slave) == peer and parts.changes.get(link) == NONE
    only = (conn, link) if with_link else (conn,)
    yield Loss(master, "CloseConnection", (peer, me), only)

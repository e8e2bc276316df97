"""Connections between brokers of a group, as both ends have written of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

__all__ = ["RecordedLinks"]


@dataclass(slots=True)
class _Conn:
    """A connection over which a slave has shaken hands."""

    master: str
    slave: str
    ack: int = -1


class RecordedLinks:
    """Connections that masters have not closed, and those over which slaves copy."""

    def __init__(self, brokers: Iterable[str]) -> None:
        """Begin without a connection."""
        self._conns: dict[int, _Conn] = {}
        self._newest: dict[tuple[str, str], int] = {}
        self._links: dict[str, int | None] = dict.fromkeys(brokers)
        """Slave -> the connection over which it copies, if its master has not closed it."""

    def is_linked(self, slave: str) -> bool:
        """Tell whether a slave copies from a master."""
        return self._links[slave] is not None

    def shook_hands(self, master: str, slave: str, conn: int) -> None:
        """Note that a slave copies over a connection from now on."""
        self._links[slave] = conn
        self._conns[conn] = _Conn(master, slave)
        self._newest[master, slave] = conn

    def slave_of(self, master: str, number: int) -> str | None:
        """Return who copies over a connection, if it is the newest that this master has of it."""
        conn = self._conns.get(number)
        if conn is None or self._newest.get((master, conn.slave)) != number:
            return None
        return conn.slave

    def heard(self, number: int, ack: int) -> bool:
        """Note a report over a connection; tell whether it is further than those before."""
        conn = self._conns[number]
        if ack <= conn.ack:
            return False
        conn.ack = ack
        return True

    def closed(self, master: str, kept: Collection[int]) -> dict[str, bool]:
        """Forget connections that a master does not have any more.

        Returns whose newest they are, and whether that slave copies over it: until it has left it,
        or `unlink`.
        """
        slaves = {}
        mine = [number for number, conn in self._conns.items() if conn.master == master]
        for number in mine:
            if number in kept:
                continue
            slave = self._conns.pop(number).slave
            if self._newest.get((master, slave)) == number:
                del self._newest[master, slave]
                slaves[slave] = self._links[slave] == number
        return slaves

    def left(self, slave: str, client: int | None) -> bool:
        """Note over which connection a slave copies; tell whether it has left another one."""
        link = self._links[slave]
        if link is None or link == client:
            return False
        self._links[slave] = None
        return True

    def drop(self, me: str) -> bool:
        """Forget the connections of a broker that has another role, or is down."""
        had = self._links[me] is not None
        self._links[me] = None
        for number, conn in list(self._conns.items()):
            if conn.master == me:
                had = True
                del self._conns[number]
                self._newest.pop((me, conn.slave), None)
                if self._links[conn.slave] == number:
                    self.unlink(conn.slave)
        return had

    def unlink(self, slave: str) -> None:
        """Note that nothing more comes to a slave from its master."""
        self._links[slave] = None

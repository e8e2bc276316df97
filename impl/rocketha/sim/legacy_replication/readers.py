"""Whoever reads the slaves' logs all the time, and what producers hear of their messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TypeVar

from rocketha.histories.history import LoggedMessage
from rocketha.histories.replicas import Copied, ReplicaReads
from rocketha.sim.engine.log_reader import logged_messages, messages_of, shown_body
from rocketha.sim.engine.node import Node
from rocketha.sim.engine.records import record_count, record_offset
from rocketha.types import BrokerId, Epoch, Offset

__all__ = ["Readers"]

S = TypeVar("S")


class Readers:
    """Notes what was written, from whom it could be read, and what producers heard."""

    def __init__(self) -> None:
        """Nobody has read anything yet."""
        self._written: dict[str, Epoch] = {}
        self._ends: dict[BrokerId, Offset] = {}
        self._read_from: defaultdict[LoggedMessage, set[BrokerId]] = defaultdict(set)
        self._copied: list[Copied] = []
        self._ahead: set[BrokerId] = set()

    def wrote(self, body: bytes, epoch: Epoch) -> None:
        """Note that a producer sends a message."""
        self._written[shown_body(body)] = epoch

    def read(self, slave: Node[S]) -> None:
        """Read what is new in the log of a slave; one that lost something is read again."""
        log, known = slave.log, self._ends.get(slave.id, slave.log.min_offset)
        end = log.max_phy_offset
        if end != known:
            whole = record_offset(record_count(known)) if end > known else log.min_offset
            begin = max(log.min_offset, whole)
            messages = logged_messages(log.read(begin, end - begin), begin)
            for message in messages:
                self._read_from[message].add(slave.id)
            self._ends[slave.id] = end

    def stopped(self, slave: Node[S]) -> None:
        """Hear that a slave stopped: its log may be another one when it is back."""
        self._ends.pop(slave.id, None)

    def came_back(self, master: Node[S], nodes: Mapping[BrokerId, Node[S]]) -> None:
        """Note the slaves that have more than a master that comes back."""
        end = master.log.max_phy_offset
        self._ahead |= {node.id for node in nodes.values() if node.log.max_phy_offset > end}

    def heard(self, master: Node[S], offset: Offset, slaves: int, at_ms: int) -> None:
        """Note that a producer hears that so many slaves have the message at an offset."""
        log = master.log
        message, *_ = logged_messages(log.read(offset, log.max_phy_offset - offset), offset)
        self._copied.append(
            Copied(
                at_ms=at_ms,
                message=message,
                slaves=slaves,
                read_from=frozenset(self._read_from[message]),
                were_ahead=frozenset(self._ahead),
            )
        )

    def reads(self, nodes: Mapping[BrokerId, Node[S]], at_ms: int) -> ReplicaReads:
        """Read the logs of brokers that run; a slave that was ahead stays different."""
        return ReplicaReads(
            written=frozenset(self._written),
            epochs=self._written,
            copied=tuple(self._copied),
            logs={
                node.id: messages_of(node.log) for node in nodes.values() if node.state is not None
            },
            alike=False,
            at_ms=at_ms,
        )

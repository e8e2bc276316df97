"""A broker of a group, as the host of a node sees it: its core, and what connections carry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from rocketha.broker import core
from rocketha.broker.effects import GroupAction, GroupEffect, GroupStepped
from rocketha.broker.events import GroupEvent
from rocketha.broker.state import FlushedLogView, GroupBroker
from rocketha.ha.connections import PacketInbox, packet_inbox, senders
from rocketha.ha.effects import SpecAction
from rocketha.runtime.core import Core, Sender
from rocketha.types import ConnectionId, TimestampMs

__all__ = ["GroupCore"]


class GroupCore(Core[GroupBroker, GroupEvent, SpecAction | GroupAction, FlushedLogView]):
    """The core of a broker of a group."""

    effects = get_args(GroupEffect)

    def step(
        self, state: GroupBroker, event: GroupEvent, *, now_ms: TimestampMs, log: FlushedLogView
    ) -> GroupStepped:
        """Take one event."""
        return core.step(state, event, now_ms=now_ms, log=log)

    def next_timer_ms(self, state: GroupBroker) -> TimestampMs | None:
        """Return when `TimerFired` is due."""
        return core.next_timer_ms(state)

    def senders(self, state: GroupBroker, log: FlushedLogView) -> Iterator[Sender]:
        """Yield the connections over which a master may send."""
        return senders(state.ha, log.max_phy_offset)

    def inbox(self, conn: ConnectionId, *, accepted: bool) -> PacketInbox:
        """Begin to hear a master, or a slave."""
        return packet_inbox(conn, accepted=accepted)

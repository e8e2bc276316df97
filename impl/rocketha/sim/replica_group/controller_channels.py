"""The channels between brokers and all members of a controller group, as if there were one.

What happens to a broker's channel happens to those to all members; an operator speaks to the member
that serves, if there is one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rocketha.sim.engine.faults import FaultCounts
from rocketha.sim.engine.random_source import RandomSource
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.replica_group.channels import OUTSIDE, ChannelFaults, Channels, Peers
from rocketha.types import BrokerId, ConnectionId

__all__ = ["ControllerChannels", "place_of"]

_EACH: Final = 100_000
"""So many channels a member may have."""


def place_of(channel: ConnectionId) -> int:
    """Return the place of the member that a channel is with."""
    return channel % OUTSIDE // _EACH


class ControllerChannels:
    """All channels to all members."""

    def __init__(
        self,
        peers: Peers,
        *,
        names: tuple[str, ...],
        leader: Callable[[], int | None],
        scheduler: Scheduler,
        random_source: RandomSource,
        counts: FaultCounts,
        faults: ChannelFaults,
    ) -> None:
        """Begin without channels; `leader` returns the place of the member that serves."""
        self._leader = leader
        self._each = tuple(
            Channels(
                peers,
                scheduler=scheduler,
                random_source=random_source,
                counts=counts,
                faults=faults,
                controller=name,
                before=place * _EACH,
            )
            for place, name in enumerate(names)
        )

    @property
    def faults(self) -> ChannelFaults:
        """Return what goes wrong with what is said."""
        return self._each[0].faults

    @faults.setter
    def faults(self, faults: ChannelFaults) -> None:
        for channels in self._each:
            channels.faults = faults

    def _with(self, channel: ConnectionId) -> Channels:
        return self._each[place_of(channel)]

    def of(self, broker: BrokerId) -> ConnectionId | None:
        """Return a channel that a broker uses."""
        used = (channels.of(broker) for channels in self._each)
        return next((channel for channel in used if channel is not None), None)

    def owner(self, channel: ConnectionId) -> BrokerId | None:
        """Return whose a channel is; None: an operator's."""
        return self._with(channel).owner(channel)

    # ---- what is said ----

    def ask(
        self, broker: BrokerId, data: bytes, *, leaves: bool = True, controller: int = 0
    ) -> ConnectionId:
        """Send a broker's frame to a member; return the channel that it goes over."""
        return self._each[controller].ask(broker, data, leaves=leaves)

    def notify(self, broker: BrokerId, data: bytes, *, controller: int = 0) -> None:
        """Send a frame of a member that nobody asked for."""
        self._each[controller].notify(broker, data)

    def answer(self, channel: ConnectionId, data: bytes) -> None:
        """Send the answer to a request over its channel."""
        self._with(channel).answer(channel, data)

    def operate(self, data: bytes) -> None:
        """Send an operator's frame to the member that serves."""
        leader = self._leader()
        if leader is not None:
            self._each[leader].operate(data)

    def command(self, data: bytes) -> None:
        """Let an operator on the machine that serves say something, without delay."""
        leader = self._leader()
        if leader is not None:
            self._each[leader].command(data)

    def ask_from_outside(self, data: bytes) -> None:
        """Send a frame of who belongs to no group to the member that serves."""
        leader = self._leader()
        if leader is not None:
            self._each[leader].ask_from_outside(data)

    # ---- channels end ----

    def drop(self, broker: BrokerId, *, silent: bool = False) -> None:
        """End all channels of a broker."""
        for channels in self._each:
            channels.drop(broker, silent=silent)

    def refuse(self, channel: ConnectionId) -> None:
        """Let a member end a channel."""
        self._with(channel).refuse(channel)

    def refuse_all(self) -> None:
        """Do nothing: a member that stops ends its own channels (`stopped`)."""

    def stopped(self, place: int) -> None:
        """A member is gone, and with it all its channels."""
        self._each[place].refuse_all()

    # ---- partitions ----

    def block(self, broker: BrokerId, *, up: bool) -> None:
        """Let nothing through, to any member (`up`) or from it."""
        for channels in self._each:
            channels.block(broker, up=up)

    def unblock(self, broker: BrokerId, *, up: bool) -> None:
        """Let everything through again."""
        for channels in self._each:
            channels.unblock(broker, up=up)

    def lose(self, broker: BrokerId) -> None:
        """Lose what waits on its way to a broker."""
        for channels in self._each:
            channels.lose(broker)

    def heal(self) -> None:
        """End all partitions."""
        for channels in self._each:
            channels.heal()

"""The channels between brokers and the controller: what is said on them, and what goes wrong.

A broker opens a channel with the first frame that it sends, and another one when that is gone. The
frames on a channel keep their order, as TCP has it, unless one is held up inside of a peer
(`CONTROLLER_REORDER`). The controller hears that a channel is gone after what was sent on it, and
perhaps much later: then its broker is heard on another one. Notices of the controller go over a
connection of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Final, Protocol, TypeAlias

from rocketha.sim.engine.faults import Fault, FaultCounts
from rocketha.sim.engine.node import broker_address
from rocketha.sim.engine.random_source import InjectionPoint, RandomSource
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.types import BrokerId, ConnectionId

__all__ = ["CALM_CHANNELS", "OUTSIDE", "ChannelFaults", "Channels", "Peers", "is_outside"]

_LATENCY_MAX_MS: Final = 4
_ROLL_BITS: Final = 128
OUTSIDE: Final = 1_000_000
"""From this number on channels are those of whoever belongs to no group."""

_Delivery: TypeAlias = Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelFaults:
    """How often what is said is harmed, in percent, and by how much."""

    delay_percent: int = 0
    delay_max_ms: int = 1
    loss_percent: int = 0
    duplicate_percent: int = 0
    reorder_percent: int = 0
    late_close_percent: int = 0
    late_close_max_ms: int = 1


CALM_CHANNELS: Final = ChannelFaults()
"""No faults."""


def is_outside(channel: ConnectionId) -> bool:
    """Tell whether a channel is one of whoever belongs to no group."""
    return channel >= OUTSIDE


class Peers(Protocol):
    """Who hears what arrives."""

    def asked(self, channel: ConnectionId, data: bytes) -> None:
        """Give a frame to the controller, which answers with `Channels.answer`, or never."""
        ...

    def closed(self, channel: ConnectionId) -> None:
        """Tell the controller that a channel is gone."""
        ...

    def answered(self, broker: BrokerId, data: bytes, channel: ConnectionId | None) -> None:
        """Give a frame of the controller to a broker, which has this channel to it now."""
        ...


@dataclass(slots=True)
class _Way:
    """One direction between a broker and the controller."""

    name: str
    rng: Random
    last_arrival_ms: int = 0
    blocked: bool = False
    held: list[_Delivery] = field(default_factory=list)
    numbers: Counter[Fault] = field(default_factory=Counter)


class Channels:
    """All channels to the controller."""

    def __init__(
        self,
        peers: Peers,
        *,
        scheduler: Scheduler,
        random_source: RandomSource,
        counts: FaultCounts,
        faults: ChannelFaults,
        controller: str = "controller",
        before: int = 0,
    ) -> None:
        """Begin without channels; `faults` may be replaced.

        Their numbers follow `before`, and those of outsiders the same number of theirs.
        """
        self.faults = faults
        self._controller = controller
        self._peers = peers
        self._scheduler = scheduler
        self._random_source = random_source
        self._counts = counts
        self._last = before
        self._last_outside = OUTSIDE + before
        self._open: dict[BrokerId, ConnectionId] = {}
        self._owners: dict[ConnectionId, BrokerId] = {}
        """Whose a channel is on which the controller was asked."""
        self._ended: set[ConnectionId] = set()
        self._ways: dict[tuple[BrokerId, bool], _Way] = {}

    def of(self, broker: BrokerId) -> ConnectionId | None:
        """Return the channel that a broker uses."""
        return self._open.get(broker)

    def owner(self, channel: ConnectionId) -> BrokerId | None:
        """Return whose a channel is on which the controller was asked; None: an operator's."""
        return self._owners.get(channel)

    # ---- what is said ----

    def ask(
        self, broker: BrokerId, data: bytes, *, leaves: bool = True, controller: int = 0
    ) -> ConnectionId:
        """Send a broker's frame to the controller; return the channel that it goes over.

        Of a broker that ends before it leaves, only the channel is found.
        """
        assert not controller, "there is one controller"
        channel = self._open.get(broker)
        if channel is None:
            channel = self._next()
        if not leaves:
            return channel
        self._open[broker] = channel
        self._post(broker, lambda: self._reach(broker, channel, data), up=True)
        return channel

    def notify(self, broker: BrokerId, data: bytes, *, controller: int = 0) -> None:
        """Send a frame of the controller that nobody asked for."""
        assert not controller, "there is one controller"
        self._post(broker, lambda: self._arrive(broker, data), up=False)

    def operate(self, data: bytes) -> None:
        """Send an operator's frame, over a channel of its own that nothing happens to."""
        channel = self._next()
        delay_ms = 1 + self._random_source.of("channel", "operator").randrange(_LATENCY_MAX_MS)
        self._scheduler.after(delay_ms, lambda: self._serve_operator(channel, data))

    def command(self, data: bytes) -> None:
        """Let an operator on the controller's machine say something, without delay."""
        self._serve_operator(self._next(), data)

    def ask_from_outside(self, data: bytes) -> None:
        """Send a frame of who belongs to no group, over a channel of its own, without delay."""
        self._last_outside += 1
        self._serve_operator(ConnectionId(self._last_outside), data)

    def _serve_operator(self, channel: ConnectionId, data: bytes) -> None:
        self._peers.asked(channel, data)

    def _next(self) -> ConnectionId:
        self._last += 1
        return ConnectionId(self._last)

    def _reach(self, broker: BrokerId, channel: ConnectionId, data: bytes) -> None:
        if channel in self._ended:
            return
        self._owners[channel] = broker
        self._peers.asked(channel, data)

    def answer(self, channel: ConnectionId, data: bytes) -> None:
        """Send the controller's answer to a broker; an operator does not wait for it."""
        broker = self._owners.get(channel)
        if broker is not None:
            self._post(broker, lambda: self._return(broker, channel, data), up=False)

    def _return(self, broker: BrokerId, channel: ConnectionId, answer: bytes) -> None:
        if self._open.get(broker) == channel:
            self._arrive(broker, answer)

    def _arrive(self, broker: BrokerId, data: bytes) -> None:
        self._peers.answered(broker, data, self._open.get(broker))

    # ---- channels end ----

    def drop(self, broker: BrokerId, *, silent: bool = False) -> None:
        """End a broker's channel; unless it is silent, the controller hears it some time."""
        channel = self._open.pop(broker, None)
        if channel is None or silent:
            return
        way = self._way(broker, up=True)
        wait_ms = max(0, way.last_arrival_ms - self._scheduler.now_ms)
        roll = _Roll(way.rng.getrandbits(_ROLL_BITS))
        wait_ms += roll.wait_ms()
        if roll.happens(self.faults.late_close_percent):
            more_ms = 1 + roll.below(self.faults.late_close_max_ms)
            if self._takes(way, Fault.LATE_CLOSE, f"a close is heard {more_ms} ms later"):
                wait_ms += more_ms
        self._aside(way, lambda: self._end(channel), wait_ms)

    def _end(self, channel: ConnectionId) -> None:
        if channel not in self._ended:
            self._ended.add(channel)
            self._peers.closed(channel)

    def refuse(self, channel: ConnectionId) -> None:
        """Let the controller end a channel; the broker notices, and opens another one."""
        self._ended.add(channel)
        for broker, present in self._open.items():
            if present == channel:
                way = self._way(broker, up=False)
                wait_ms = _Roll(way.rng.getrandbits(_ROLL_BITS)).wait_ms()
                self._in_order(way, partial(self._forget, broker, channel), wait_ms)

    def _forget(self, broker: BrokerId, channel: ConnectionId) -> None:
        if self._open.get(broker) == channel:
            del self._open[broker]

    def refuse_all(self) -> None:
        """The controller is gone, and with it all channels."""
        for channel in list(self._open.values()):
            self.refuse(channel)

    def stopped(self, place: int) -> None:
        """A controller is gone, by its place, and with it all its channels."""
        assert not place, "there is one controller"
        self.refuse_all()

    # ---- partitions ----

    def block(self, broker: BrokerId, *, up: bool) -> None:
        """Let nothing through, to the controller (`up`) or from it."""
        self._way(broker, up=up).blocked = True

    def unblock(self, broker: BrokerId, *, up: bool) -> None:
        """Let everything through again, also what has waited."""
        way = self._way(broker, up=up)
        way.blocked = False
        held, way.held = way.held, []
        for delivery in held:
            delivery()

    def lose(self, broker: BrokerId) -> None:
        """Lose what waits on its way from the controller to a broker."""
        self._way(broker, up=False).held.clear()

    def heal(self) -> None:
        """End all partitions."""
        for broker, up in sorted(self._ways):
            self.unblock(broker, up=up)

    # ---- deliveries ----

    def _way(self, broker: BrokerId, *, up: bool) -> _Way:
        way = self._ways.get((broker, up))
        if way is None:
            ends = (broker_address(broker), self._controller)
            name = ">".join(ends if up else reversed(ends))
            way = self._ways[broker, up] = _Way(name, self._random_source.of("channel", name))
        return way

    def _takes(self, way: _Way, fault: Fault, words: str) -> bool:
        """Tell whether a fault that was drawn comes to pass, and count it."""
        way.numbers[fault] += 1
        point = InjectionPoint(fault, way.name, way.numbers[fault])
        if not self._random_source.allows(point):
            return False
        self._random_source.note(point, f"{way.name}: {words}")
        self._counts.add(fault)
        return True

    def _post(self, broker: BrokerId, delivery: _Delivery, *, up: bool) -> None:
        """Send a frame, and do to it what faults do.

        One draw is for all of them, so that the next frame does not notice what became of this one.
        """
        faults, way = self.faults, self._way(broker, up=up)
        roll = _Roll(way.rng.getrandbits(_ROLL_BITS))
        wait_ms, again_ms = roll.wait_ms(), roll.wait_ms()
        if roll.happens(faults.loss_percent) and self._takes(
            way, Fault.CONTROLLER_LOSS, "a frame is lost"
        ):
            return
        if roll.happens(faults.duplicate_percent):
            aside_ms = roll.below(faults.delay_max_ms)
            words = f"a frame comes again after {aside_ms} ms"
            if self._takes(way, Fault.CONTROLLER_DUPLICATE, words):
                self._aside(way, delivery, again_ms + aside_ms)
        if roll.happens(faults.reorder_percent):
            aside_ms = roll.below(faults.delay_max_ms)
            words = f"a frame is held up for {aside_ms} ms"
            if self._takes(way, Fault.CONTROLLER_REORDER, words):
                self._aside(way, delivery, wait_ms + aside_ms)
                return
        if roll.happens(faults.delay_percent):
            more_ms = roll.below(faults.delay_max_ms)
            if self._takes(way, Fault.CONTROLLER_DELAY, f"a frame comes {more_ms} ms later"):
                wait_ms += more_ms
        self._in_order(way, delivery, wait_ms)

    def _in_order(self, way: _Way, delivery: _Delivery, wait_ms: int) -> None:
        """Deliver after what was sent before."""
        now_ms = self._scheduler.now_ms
        way.last_arrival_ms = max(way.last_arrival_ms, now_ms + wait_ms)
        self._aside(way, delivery, way.last_arrival_ms - now_ms)

    def _aside(self, way: _Way, delivery: _Delivery, wait_ms: int) -> None:
        """Deliver beside what else is sent."""

        def land() -> None:
            if way.blocked:
                way.held.append(delivery)
            else:
                delivery()

        self._scheduler.after(wait_ms, land)


class _Roll:
    """One draw, cut in pieces."""

    __slots__ = ("_rest",)

    def __init__(self, drawn: int) -> None:
        self._rest = drawn

    def below(self, limit: int) -> int:
        self._rest, piece = divmod(self._rest, limit)
        return piece

    def happens(self, percent: int) -> bool:
        return self.below(100) < percent

    def wait_ms(self) -> int:
        return 1 + self.below(_LATENCY_MAX_MS)

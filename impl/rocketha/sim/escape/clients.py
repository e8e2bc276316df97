"""Consumers and the producer around a slave that acts: what they do, and what they see.

What a master has on its disk in a topic that is read, consumers read at once. What they pop from
the slave they acknowledge a while later, again and again until they are told that it is stored; or
they forget it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rocketha.escape.events import Decided, PoppedHere
from rocketha.formats.broker_requests import BrokerResponse, QueueName
from rocketha.formats.due_messages import COMMITTED, DELAYED_TOPIC, ROLLED_BACK
from rocketha.formats.put_requests import AckMessage, PopMessage
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.histories.escaped import (
    Acknowledged,
    Again,
    Ended,
    EscapeEvent,
    Given,
    MessageRead,
    Waits,
)
from rocketha.sim.engine.node import broker_address
from rocketha.sim.engine.random_source import Injection
from rocketha.sim.escape.cluster import EscapeCluster
from rocketha.sim.escape.logged import Logged, LoggedKind
from rocketha.sim.escape.nodes import given
from rocketha.sim.escape.plan import CONSUMERS, SLAVE, TOPIC, EscapePlan, group_of
from rocketha.sim.escape.steps import (
    EscapeStep,
    MasterStarted,
    MasterStepped,
    ProducerStepped,
    SlaveStepped,
)
from rocketha.types import BrokerId, TimestampMs

__all__ = ["EscapeConsumers", "Holds"]

_ACK_MS: Final = 800
_AGAIN_MS: Final = 150
_TRIES: Final = 30
_LAST_POPS: Final = 3
"""So many are kept for when faults are over."""
_QUEUE: Final = QueueName(topic=TOPIC, queue_id=0)


@dataclass(slots=True)
class Holds:
    """What a consumer was given, and what it does with it."""

    pop: str
    offset: int
    extra_info: str
    is_forgotten: bool
    is_told: bool = False
    """Its ACK is stored, as it was told."""


class EscapeConsumers:
    """All clients of a run; they note what they see."""

    def __init__(self, cluster: EscapeCluster, plan: EscapePlan) -> None:
        """Note what is in the slave's log."""
        self._cluster = cluster
        self._plan = plan
        self.events: list[EscapeEvent] = []
        self.holds: dict[str, Holds] = {}
        self.pops = 0
        """So many pops were begun."""
        self.halves: list[str] = []
        """Those that have not ended, in the slave's log or since."""
        self.open_halves: frozenset[str] = frozenset()
        """Those that had not ended in the slave's log."""
        self._is_given = False
        """A message was given since faults are over."""
        self._seen: dict[BrokerId, int] = dict.fromkeys(cluster.masters, 0)
        self._note_log()
        cluster.watch(self)

    def _note_log(self) -> None:
        log = self._cluster.hosted_slave.log()
        items = [one for one in log.items if isinstance(one, Logged)]
        keys = [one.of for one in items if one.kind is LoggedKind.HALF]
        read = {one.of for one in items if one.kind is LoggedKind.READ}
        ended = {int(one.of) for one in items if one.kind is LoggedKind.OP}
        level_ms = self._plan.slave.level_ms
        stored = [
            message.store_timestamp_ms
            for message in self._plan.messages
            if message.topic == DELAYED_TOPIC
        ]
        delayed = [one.of for one in items if one.kind is LoggedKind.DELAYED]
        for key, stored_ms in zip(delayed, stored, strict=True):
            self.events.append(Waits(key, TimestampMs(stored_ms + level_ms)))
        for place, key in enumerate(keys):
            self.events.append(Waits(key, None))
            if place in ended:
                now_ms = self._cluster.now_ms()
                self.events.append(Ended(now_ms, key, key in read))
                if key in read:
                    self.events.append(MessageRead(now_ms, broker_address(SLAVE), key))
        self.halves = [key for place, key in enumerate(keys) if place not in ended]
        self.open_halves = frozenset(self.halves)

    # ---- what they see (rocketha.sim.escape.cluster.EscapeWatcher) ----

    def stepped(self, step: EscapeStep) -> None:
        """Note what can be read now, and who was told what."""
        now_ms = self._cluster.now_ms()
        match step:
            case MasterStepped(master=master) | MasterStarted(master=master):
                self._read(master)
            case SlaveStepped(told=told):
                for one in told:
                    if one.is_ack and one.code == BrokerResponse.SUCCESS:
                        self.events.append(Acknowledged(now_ms, one.pop))
                    elif not one.is_ack and one.code == BrokerResponse.SUCCESS:
                        message = "@".join(one.pop.split("@")[:3])
                        self.events.append(Given(now_ms, one.pop, message))
            case ProducerStepped(event=Decided(key=key, how=how), action=action) if action:
                self.events.append(Ended(now_ms, key, how == COMMITTED))
            case _:
                pass

    def _read(self, master: BrokerId) -> None:
        items = self._cluster.hosted_masters[master].log().items
        now_ms, name = self._cluster.now_ms(), broker_address(master)
        ours = self._plan.slave.acting.broker_name
        for one in items[self._seen[master] :]:
            assert isinstance(one, Logged)
            if one.kind is LoggedKind.READ:
                self.events.append(MessageRead(now_ms, name, one.of))
            elif one.kind is LoggedKind.AGAIN and one.of.endswith(f"@{ours}"):
                self.events.append(Again(now_ms, name, one.of))
        self._seen[master] = len(items)

    # ---- what they do ----

    def pop(self, injection: Injection) -> None:
        """Let a consumer pop from the slave, and perhaps another one from a master."""
        rng = injection.rng
        forgets, wait_ms, beside = rng.randrange(4) == 0, 1 + rng.randrange(_ACK_MS), rng.random()
        if self.pops < self._plan.pops_max - _LAST_POPS:
            self._pop(forgets=forgets, wait_ms=wait_ms, beside=beside < 0.5)

    def _pop(self, *, forgets: bool, wait_ms: int, beside: bool) -> None:
        cluster = self._cluster
        if cluster.slave.state is None or self.pops >= self._plan.pops_max:
            return
        state = cluster.slave.running()
        offset = state.queue.at
        asks = PopMessage(
            group=CONSUMERS,
            queue=_QUEUE,
            invisible_ms=self._plan.invisible_ms,
            born_ms=cluster.now_ms(),
        )

        def told(answer: RemotingCommand) -> None:
            found = given(answer)
            if answer.code != BrokerResponse.SUCCESS or found is None:
                return
            info, popped = found
            holds = Holds(popped.name, popped.offset, info, forgets)
            self.holds[popped.name] = holds
            self._is_given = True
            if not forgets:
                cluster.scheduler.after(wait_ms, lambda: self._acknowledge(holds, _TRIES))

        before = len(state.pops)
        cluster.hosted_slave.pop(asks, told)
        if len(cluster.slave.running().pops) > before:
            self.pops += 1
            if beside:
                self._pop_beside(offset)

    # ---- what they do when faults are over ----

    def settle(self) -> None:
        """Acknowledge what is not forgotten, and pop until a message is given."""
        self._is_given = False
        for holds in self.holds.values():
            if not holds.is_forgotten:
                self._acknowledge(holds, _TRIES)
        self._pop_on()

    def _pop_on(self) -> None:
        if not self._is_given:
            self._pop(forgets=False, wait_ms=1, beside=False)
            self._cluster.scheduler.after(_AGAIN_MS, self._pop_on)

    def are_served(self) -> bool:
        """Tell whether they were given a message, and told of each ACK whose master is there.

        By RocketMQ's defaults nobody is given anything while no master is in the slave's process.
        """
        gone = None if self._plan.gone is None else group_of(self._plan.gone)
        waits = [
            one
            for one in self.holds.values()
            if not (one.is_told or one.is_forgotten or one.extra_info.endswith(f" {gone}"))
        ]
        is_over = self.pops >= self._plan.pops_max or not self._are_messages_left()
        if self._plan.released and not self._cluster.slave.running().targets:
            is_over = True
        return not waits and (self._is_given or is_over)

    def _are_messages_left(self) -> bool:
        queue = self._cluster.slave.running().queue
        return queue.at < len(queue.messages)

    def _pop_beside(self, offset: int) -> None:
        """Let a consumer pop from each master what has the same place in its queue there."""
        for number, node in self._cluster.masters.items():
            if node.state is not None:
                here = PoppedHere(CONSUMERS, TOPIC, offset)
                self._cluster.hosted_masters[number].host.take(here)

    def _acknowledge(self, holds: Holds, tries: int) -> None:
        cluster = self._cluster
        if holds.is_told or not tries:
            return
        cluster.scheduler.after(_AGAIN_MS, lambda: self._acknowledge(holds, tries - 1))
        if cluster.slave.state is None:
            return
        asks = AckMessage(
            group=CONSUMERS, queue=_QUEUE, offset=holds.offset, extra_info=holds.extra_info
        )

        def told(answer: RemotingCommand) -> None:
            holds.is_told = holds.is_told or answer.code == BrokerResponse.SUCCESS

        cluster.hosted_slave.acknowledge(asks, told)

    def decide(self, injection: Injection) -> None:
        """Let the producer decide what becomes of a transaction."""
        if self.halves:
            rng = injection.rng
            key = self.halves.pop(rng.randrange(len(self.halves)))
            self._decide(key, COMMITTED if rng.randrange(3) else ROLLED_BACK)

    def decide_all(self) -> None:
        """Let the producer decide of all that is left."""
        while self.halves:
            self._decide(self.halves.pop(), COMMITTED)

    def _decide(self, key: str, how: int) -> None:
        self._cluster.hosted_producer.host.take(Decided(key, how))

"""Consumers of a run: those that read queues from their offsets on, and those that pop.

Each asks brokerId 0 of a group, as some name server says who that is. A reader asks how far its
group is, processes the message there, and commits; sometimes it stops before it commits. Who pops
acknowledges a while later, again and again until it is told that the ACK is stored, or forgets it.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from rocketha.formats.broker_requests import BrokerCode, BrokerResponse, QueueName
from rocketha.formats.due_messages import key_of
from rocketha.formats.ext_fields import FieldReader, push_fields
from rocketha.formats.put_requests import (
    AckMessage,
    PopMessage,
    PutCode,
    push_ack_message,
    push_pop_message,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.histories.acting_master import Consumed, QueueEvent
from rocketha.histories.escaped import Acknowledged, Again, EscapeEvent, Given, MessageRead
from rocketha.histories.offsets import OffsetTold
from rocketha.sim.acting_master.cluster import ActingMasterCluster
from rocketha.sim.acting_master.nodes import BrokerNode, BrokerStepped
from rocketha.sim.acting_master.plan import (
    BILLS,
    DEALS,
    ORDERS,
    READERS,
    TASKS,
    ActingMasterPlan,
    group_of,
    number_in_group,
)
from rocketha.sim.acting_master.routes import Routes
from rocketha.sim.engine.node import broker_address
from rocketha.sim.engine.random_source import Injection
from rocketha.sim.escape.logged import Logged, LoggedKind
from rocketha.sim.escape.nodes import given
from rocketha.sim.escape.plan import CONSUMERS
from rocketha.types import BrokerId

__all__ = ["READ", "Poppers", "Readers"]

READ: Final = (ORDERS, BILLS, DEALS)
_STOPS: Final = 10
"""Of so many messages a reader stops once before it commits."""
_ACK_MS: Final = 600
_AGAIN_MS: Final = 150
_TASK_QUEUE: Final = QueueName(topic=TASKS, queue_id=0)


class Readers:
    """Those who read queues from their offsets on."""

    def __init__(
        self,
        cluster: ActingMasterCluster,
        queues: list[QueueEvent],
        escaped: list[EscapeEvent],
        routes: Routes,
    ) -> None:
        """Take where they note what they see."""
        self._routes = routes
        self._cluster = cluster
        self._queues = queues
        self._escaped = escaped
        self.read: set[str] = set()

    def consume(self, group: str, topic: str, rng: Random) -> None:
        """Process a message of a queue, if there is one, and commit."""
        master = self._routes.masters(topic, rng).get(group)
        stops = rng.randrange(_STOPS) == 0
        if master is None or not self._cluster.is_up(master.broker):
            return
        hosted = self._cluster.hosted[master.broker]
        fields: dict[str, str | int] = {"consumerGroup": READERS, "topic": topic, "queueId": 0}
        found = _ask(hosted, BrokerCode.QUERY_CONSUMER_OFFSET, fields)
        offset = 0
        if found.code == BrokerResponse.SUCCESS:
            offset = FieldReader(found.ext_fields).int64("offset")
        elif found.code != BrokerResponse.QUERY_NOT_FOUND:
            return
        self._told(hosted, topic, offset, committed=False)
        messages = hosted.queue(topic)
        if offset >= len(messages):
            return
        key = key_of(messages[offset]) or ""
        self._process(hosted, topic, offset, key)
        if stops:
            return
        fields["commitOffset"] = offset + 1
        if _ask(hosted, BrokerCode.UPDATE_CONSUMER_OFFSET, fields).code == BrokerResponse.SUCCESS:
            self._told(hosted, topic, offset + 1, committed=True)

    def _told(self, hosted: BrokerNode, topic: str, offset: int, *, committed: bool) -> None:
        number = number_in_group(hosted.id)
        told = OffsetTold(self._cluster.now_ms(), number, topic, offset, committed)
        self._cluster.history[group_of(hosted.id)].append(told)

    def _process(self, hosted: BrokerNode, topic: str, place: int, key: str) -> None:
        now_ms, name = self._cluster.now_ms(), broker_address(hosted.id)
        self._queues.append(Consumed(now_ms, group_of(hosted.id), topic, place, key, name))
        self._escaped.append(MessageRead(now_ms, name, key))
        self.read.add(key)


def _ask(hosted: BrokerNode, code: int, fields: dict[str, str | int]) -> RemotingCommand:
    answers: list[RemotingCommand] = []
    hosted.ask(code, push_fields(fields), answers.append)
    (answer,) = answers
    return answer


@dataclass(slots=True)
class _Holds:
    """What a consumer was given, and what it does with it."""

    pop: str
    group: str
    offset: int
    extra_info: str
    is_forgotten: bool
    is_told: bool = False
    """Its ACK is stored, as it was told."""


class Poppers:
    """Those who pop."""

    def __init__(
        self,
        cluster: ActingMasterCluster,
        plan: ActingMasterPlan,
        escaped: list[EscapeEvent],
        routes: Routes,
        rng: Random,
    ) -> None:
        """Take where they note what they see, and what is drawn for their acknowledgements."""
        self._routes = routes
        self._cluster = cluster
        self._plan = plan
        self._escaped = escaped
        self._holds: list[_Holds] = []
        self._rng = rng
        self._seen: dict[BrokerId, int] = dict.fromkeys(cluster.masters, 0)
        cluster.watch(self)

    # ---- what they see (rocketha.sim.acting_master.cluster.BrokerWatcher) ----

    def stepped(self, step: BrokerStepped) -> None:
        """Note what is delivered again."""
        if step.broker in self._seen:
            items = self._cluster.hosted[step.broker].log().items
            for one in items[self._seen[step.broker] :]:
                if isinstance(one, Logged) and one.kind is LoggedKind.AGAIN:
                    name = broker_address(step.broker)
                    self._escaped.append(Again(self._cluster.now_ms(), name, one.of))
            self._seen[step.broker] = len(items)

    # ---- what they do ----

    def pop(self, injection: Injection) -> None:
        """Pop from some group, and acknowledge a while later, or forget it."""
        rng = injection.rng
        found = self._routes.masters(TASKS, rng)
        forgets, wait_ms = rng.randrange(4) == 0, 1 + rng.randrange(_ACK_MS)
        if found:
            group = rng.choice(sorted(found))
            self._pop(group, found[group].broker, forgets=forgets, wait_ms=wait_ms)

    def _pop(self, group: str, broker: BrokerId, *, forgets: bool, wait_ms: int) -> None:
        cluster = self._cluster
        if not cluster.is_up(broker):
            return
        asks = PopMessage(
            group=CONSUMERS,
            queue=_TASK_QUEUE,
            invisible_ms=self._plan.invisible_ms,
            born_ms=cluster.now_ms(),
        )

        def told(answer: RemotingCommand) -> None:
            found = given(answer) if answer.code == BrokerResponse.SUCCESS else None
            if found is None:
                return
            info, popped = found
            self._escaped.append(Given(cluster.now_ms(), popped.name, popped.name))
            holds = _Holds(popped.name, group, popped.offset, info, forgets)
            self._holds.append(holds)
            if not forgets:
                cluster.scheduler.after(wait_ms, lambda: self._acknowledge(holds))

        cluster.hosted[broker].ask(PutCode.POP_MESSAGE, push_pop_message(asks), told)

    def _acknowledge(self, holds: _Holds) -> None:
        """Acknowledge, and do it again as long as it is not told that this is stored."""
        cluster = self._cluster
        if holds.is_told:
            return
        cluster.scheduler.after(_AGAIN_MS, lambda: self._acknowledge(holds))
        master = self._routes.masters(TASKS, self._rng).get(holds.group)
        if master is None or not cluster.is_up(master.broker):
            return
        asks = AckMessage(
            group=CONSUMERS,
            queue=_TASK_QUEUE,
            offset=holds.offset,
            extra_info=holds.extra_info,
        )

        def told(answer: RemotingCommand) -> None:
            if answer.code == BrokerResponse.SUCCESS and not holds.is_told:
                holds.is_told = True
                self._escaped.append(Acknowledged(cluster.now_ms(), holds.pop))

        cluster.hosted[master.broker].ask(PutCode.ACK_MESSAGE, push_ack_message(asks), told)

    # ---- the end ----

    def are_served(self) -> bool:
        """Tell whether they were told of each ACK."""
        return all(one.is_told or one.is_forgotten for one in self._holds)

    def owed(self) -> set[str]:
        """Return the pops of which they were told nothing, and that did not come again."""
        again = {one.pop for one in self._escaped if isinstance(one, Again)}
        return {one.pop for one in self._holds if not one.is_told} - again

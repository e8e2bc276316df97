"""What producers send, and what becomes of their transactions.

They look for a group that may be written, and send to its brokerId 0 over the network. Of ordered
messages one goes to a group at a time.
"""

from __future__ import annotations

from typing import Final

from rocketha.escape.events import Decided
from rocketha.formats.broker_requests import BrokerCode
from rocketha.formats.due_messages import (
    COMMITTED,
    DELAY,
    PREPARED,
    PRODUCER_GROUP,
    ROLLED_BACK,
    UNIQ_KEY,
)
from rocketha.formats.message import Message, properties_text
from rocketha.formats.put_requests import is_put_ok, push_put
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.histories.acting_master import MessageKind, QueueEvent, Sent, Stored
from rocketha.histories.escaped import Ended, EscapeEvent, Waits
from rocketha.sim.acting_master.cluster import ActingMasterCluster
from rocketha.sim.acting_master.plan import BILLS, DEALS, LEVEL, ORDERS, TASKS
from rocketha.sim.acting_master.routes import Routes
from rocketha.sim.engine.node import FIRST_PRODUCER
from rocketha.sim.engine.random_source import Injection
from rocketha.sim.engine.remoting_calls import Content
from rocketha.sim.escape.plan import PRODUCERS
from rocketha.types import BrokerId, TimestampMs

__all__ = ["ActingMasterProducers"]

_TIMEOUT_MS: Final = 300
_TOPICS: Final = {
    MessageKind.ORDERED: ORDERS,
    MessageKind.DELAYED: BILLS,
    MessageKind.HALF: DEALS,
    MessageKind.POPPED: TASKS,
}
_KINDS: Final = tuple(_TOPICS)


class ActingMasterProducers:
    """All producers of a run; they note what they send, and what they are told."""

    def __init__(
        self,
        cluster: ActingMasterCluster,
        queues: list[QueueEvent],
        escaped: list[EscapeEvent],
        *,
        routes: Routes,
        level_ms: int,
    ) -> None:
        """Take where they note it."""
        self._cluster = cluster
        self._queues = queues
        self._escaped = escaped
        self._routes = routes
        self._level_ms = level_ms
        self._waits_for: set[str] = set()
        """Groups to which an ordered message is under way."""
        self._under_way = 0
        self._open: list[str] = []
        """Transactions of which nothing is decided."""
        self.sent = 0
        self.stored: set[str] = set()
        self.unanswered: set[str] = set()
        """Messages of which nobody was told that they are stored."""
        self.committed: set[str] = set()

    @property
    def are_done(self) -> bool:
        """Tell whether they wait for nothing, and have decided everything."""
        return not self._under_way and not self._open

    def send(self, injection: Injection) -> None:
        """Send a message to some group, if there is one that may be written."""
        rng = injection.rng
        kind = rng.choice(_KINDS)
        found = self._routes.masters(_TOPICS[kind], rng)
        groups = sorted(name for name, master in found.items() if master.may_write)
        if not groups:
            return
        group = rng.choice(groups)
        if kind is MessageKind.ORDERED and group in self._waits_for:
            return
        self.sent += 1
        self._send(kind, f"{kind[0]}{self.sent}", group, found[group].broker)

    def _send(self, kind: MessageKind, key: str, group: str, broker: BrokerId) -> None:
        cluster, now_ms = self._cluster, self._cluster.now_ms()
        message = _message(kind, key, now_ms)
        self._note_sent(kind, key, group, now_ms)
        content = Content(
            code=BrokerCode.SEND_MESSAGE_V2,
            body=message.body,
            ext_fields=push_put(message, PRODUCERS),
        )
        waits = True

        def told(answer: RemotingCommand | None) -> None:
            nonlocal waits
            waits = False
            self._under_way -= 1
            if kind is MessageKind.ORDERED:
                self._waits_for.discard(group)
            if is_put_ok(answer):
                self.stored.add(key)
                self.unanswered.discard(key)
                self._queues.append(Stored(cluster.now_ms(), key))

        def over() -> None:
            if waits:
                cluster.calls.hang_up(FIRST_PRODUCER, broker)

        cluster.calls.ask(FIRST_PRODUCER, broker, content, told)
        cluster.scheduler.after(_TIMEOUT_MS, over)

    def _note_sent(self, kind: MessageKind, key: str, group: str, now_ms: TimestampMs) -> None:
        self._under_way += 1
        self.unanswered.add(key)
        self._queues.append(Sent(now_ms, key, kind, group))
        match kind:
            case MessageKind.ORDERED:
                self._waits_for.add(group)
                self._escaped.append(Waits(key, now_ms))
            case MessageKind.DELAYED:
                self._escaped.append(Waits(key, TimestampMs(now_ms + self._level_ms)))
            case MessageKind.HALF:
                self._open.append(key)
                self._escaped.append(Waits(key, None))
            case MessageKind.POPPED:
                pass

    # ---- transactions ----

    def decide(self, injection: Injection) -> None:
        """Decide what becomes of a transaction."""
        if self._open:
            rng = injection.rng
            key = self._open.pop(rng.randrange(len(self._open)))
            self._decide(key, COMMITTED if rng.randrange(3) else ROLLED_BACK)

    def decide_all(self) -> None:
        """Decide of all that is left."""
        while self._open:
            self._decide(self._open.pop(), COMMITTED)

    def _decide(self, key: str, how: int) -> None:
        if how == COMMITTED:
            self.committed.add(key)
        self._escaped.append(Ended(self._cluster.now_ms(), key, how == COMMITTED))
        self._cluster.hosted_producer.host.take(Decided(key, how))


def _message(kind: MessageKind, key: str, now_ms: TimestampMs) -> Message:
    properties = {UNIQ_KEY: key}
    if kind is MessageKind.DELAYED:
        properties[DELAY] = str(LEVEL)
    if kind is MessageKind.HALF:
        properties |= {PRODUCER_GROUP: PRODUCERS, "TRAN_MSG": "true"}
    return Message(
        topic=_TOPICS[kind],
        body=key.encode(),
        sys_flag=PREPARED if kind is MessageKind.HALF else 0,
        born_timestamp_ms=now_ms,
        properties=properties_text(properties),
    )

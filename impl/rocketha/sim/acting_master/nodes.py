"""The nodes of a run: brokers with all their parts, and name servers that clients ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from rocketha.acting_master.core import BrokerCore
from rocketha.acting_master.events import BrokerAction, BrokerEvent, BrokerHears
from rocketha.acting_master.state import BrokerState
from rocketha.formats.message import Message
from rocketha.formats.name_server_codes import RELEASE_5_3_3
from rocketha.formats.name_server_requests import TopicRouteData
from rocketha.formats.offset_tables import OffsetTable, TableKind
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.pre_online.performers import OffsetPerformer
from rocketha.recording.recorder import LongSequence
from rocketha.runtime.effects import Respond
from rocketha.runtime.performers import ConnectionPerformer, FilePerformer
from rocketha.sim.acting_master.plan import SOME_NAME_SERVER, in_group_of, is_in_group
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.open_node import OpenNode
from rocketha.sim.engine.remoting_calls import Arrived, RemotingCalls
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.escape.nodes import Flushing, ReadLog, TableFiles
from rocketha.sim.pre_online.broker import ReplicationAround, ReplicationPorts
from rocketha.sim.route.nodes import RouteNameServer
from rocketha.types import BrokerId, ConnectionId, TimestampMs

__all__ = ["ActingNameServer", "BrokerAround", "BrokerNode", "BrokerStepped", "OnTold"]

_CLIENT: Final = ConnectionId(-2)
"""No connection of the network has this number, nor has an outsider's."""
OnTold: TypeAlias = Callable[[RemotingCommand], None]
"""Hears an answer, in the middle of the step of who answers."""


@dataclass(frozen=True, slots=True)
class BrokerStepped:
    """A broker took a step."""

    broker: BrokerId
    event: BrokerEvent
    action: BrokerAction | None
    """What the core of a part of it says of the step."""


class BrokerAround(ReplicationAround, Protocol):
    """What is around brokers."""

    @property
    def calls(self) -> RemotingCalls:
        """What carries requests."""
        ...

    @property
    def scheduler(self) -> Scheduler:
        """When things happen."""
        ...

    def stepped(self, step: BrokerStepped) -> None:
        """Hear of a step of a broker."""
        ...


class BrokerNode(OpenNode[BrokerState, BrokerHears, BrokerAction]):
    """A broker, which clients ask without a network."""

    release = RELEASE_5_3_3

    def __init__(self, node: Node[BrokerState], around: BrokerAround, *, flush_ms: int) -> None:
        """Make a broker that is down."""
        core, ports = BrokerCore(), ReplicationPorts(node.id, around)
        self.connections: ConnectionPerformer[BrokerEvent, BrokerAction] = ConnectionPerformer(
            core.inbox, transport=ports, recorder=ports
        )
        self._files = TableFiles(node)
        flushing = Flushing(node, around, flush_ms)
        files = flushing.files = FilePerformer(node.files, flushing)
        super().__init__(
            node.id,
            core,
            around,
            performers=(self.connections, OffsetPerformer(self._files), files),
            see=lambda: node.files.log,
        )
        self._node = node
        self._cluster = around
        self._read_log = ReadLog(node)
        self._queues: dict[str, list[Message]] = {}
        self._queues_of: LongSequence | None = None
        self._clients: dict[int, OnTold] = {}
        self._asked = 0
        node.host = self.host

    def log(self) -> LongSequence:
        """Return what is in its log, on its disk."""
        return self._read_log()

    def queue(self, topic: str) -> list[Message]:
        """Return what of its log consumers of a topic may read."""
        read = self._read_log()
        if read is not self._queues_of:
            self._queues, self._queues_of = {}, read
            for message in self._read_log.messages:
                self._queues.setdefault(message.topic, []).append(message)
        return self._queues.get(topic, [])

    def load(self, kind: TableKind) -> OffsetTable | None:
        """Read what is on the disk."""
        return self._files.on_disk().load(kind)

    def now_ms(self) -> TimestampMs:
        """Return the virtual time."""
        return TimestampMs(self._cluster.scheduler.now_ms)

    def name_of(self, peer: BrokerId) -> str:
        """Return the name of a node."""
        return broker_address(peer)

    def resolve(self, peer: BrokerId) -> BrokerId:
        """Find a peer: of its own group, some name server, or anybody."""
        if is_in_group(peer):
            return in_group_of(self.id, peer)
        return self._node.running().name_server if peer == SOME_NAME_SERVER else peer

    def stop(self) -> None:
        """Stop; no client is answered any more."""
        super().stop()
        self._clients.clear()

    def after_step(self, event: BrokerEvent, action: BrokerAction | None) -> None:
        """Tell the cluster of a step."""
        self._cluster.stepped(BrokerStepped(self.id, event, action))

    # ---- clients ----

    def ask(self, code: int, fields: Mapping[str, str], on_told: OnTold) -> None:
        """Let a client ask."""
        self._asked += 1
        self._clients[self._asked] = on_told
        command = RemotingCommand(code=code, opaque=self._asked, ext_fields=fields)
        self.take_request(Arrived(_CLIENT, command))

    def respond(self, answer: Respond) -> None:
        """Answer a request."""
        arrived = self.waiting(answer.request)
        if arrived.conn != _CLIENT:
            super().respond(answer)
            return
        on_told = self._clients.pop(arrived.command.opaque)
        on_told(
            RemotingCommand(
                code=answer.code, opaque=1, ext_fields=answer.ext_fields, body=answer.body
            )
        )


class ActingNameServer(RouteNameServer):
    """A name server whose clients look at routes of several groups."""

    _found: TopicRouteData | None = None

    def find(self, topic: str) -> TopicRouteData | None:
        """Let a client ask who has a topic; return what it is told."""
        self._found = None
        self.ask_route(topic)
        return self._found

    def tell_route(self, found: TopicRouteData | None) -> None:
        """Tell a client who has a topic."""
        self._found = found

"""The nodes of a run: brokers and name servers, each with its host and its ports."""

from __future__ import annotations

from typing import Final, Protocol

from rocketha.acting.core import ActingAction, ActingCore, ActingHears, ChangeSpecialService
from rocketha.acting.state import ActingOptions, ActingState
from rocketha.formats.name_server_codec import (
    pull_name_server_reply,
    push_name_server_request,
)
from rocketha.formats.name_server_codes import RELEASE_5_3_3, NameServerCode
from rocketha.formats.name_server_requests import (
    GetRouteInfo,
    QueryDataVersion,
    QueryDataVersionResult,
    TopicRouteData,
)
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.histories.routes import RouteAnswer
from rocketha.nameserver.core import NameServerAction, NameServerCore, NameServerHears
from rocketha.nameserver.performers import ChannelPerformer
from rocketha.nameserver.state import NameServerOptions, NameServerState
from rocketha.recording.recorder import Parts, Recording
from rocketha.runtime.effects import Respond, SendOneWay
from rocketha.runtime.events import ConnectionLost, RequestEvent
from rocketha.runtime.performer import Performer
from rocketha.sim.engine.frames import FrameRecorder
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.open_node import OpenNode
from rocketha.sim.engine.remoting_calls import Arrived, RemotingCalls
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.route.outsiders import (
    OTHERS,
    OthersGone,
    OthersRegistered,
    VersionAsked,
    VersionTold,
)
from rocketha.sim.route.steps import BrokerStepped, NameServerStepped, RouteStep
from rocketha.types import BrokerId, ConnectionId, TimestampMs

__all__ = ["NodeAround", "RouteBroker", "RouteNameServer"]

_CLIENT: Final = ConnectionId(-2)
"""No connection of the network has this number, nor has an outsider's."""
_OTHERS: Final = ConnectionId(-3)
"""Neither has this one."""
_BROKER_SETTINGS: Final = (
    "own_id",
    "cluster_name",
    "broker_name",
    "ha_address",
    "acting",
    "register_ms",
    "register_timeout_ms",
    "heartbeat_ms",
    "not_active_ms",
    "poll_ms",
    "poll_timeout_ms",
)
_SERVER_SETTINGS: Final = (
    "support_acting_master",
    "notify_min_broker_id_changed",
    "scan_not_active_ms",
    "removal_ms",
)
_PERM_WRITE: Final = 2


class NodeAround(Protocol):
    """What is around nodes."""

    @property
    def calls(self) -> RemotingCalls:
        """What carries requests."""
        ...

    @property
    def scheduler(self) -> Scheduler:
        """When things happen."""
        ...

    @property
    def recording(self) -> Recording:
        """Where nodes write what they saw and did."""
        ...

    def number_of(self, address: str) -> BrokerId:
        """Return which broker has an address."""
        ...

    def report(self, step: RouteStep) -> None:
        """Hear of a step."""
        ...


class _Services(Performer[ActingHears | RequestEvent, ActingAction]):
    """A master's services, of which it matters only whether they run."""

    effects = (ChangeSpecialService,)

    def __init__(self) -> None:
        self.run = False

    def perform(self, effect: ChangeSpecialService, action: ActingAction | None) -> None:
        """Begin or cease to run."""
        del action
        self.run = effect.runs

    def stop(self) -> None:
        """Run no more."""
        self.run = False


class RouteBroker(OpenNode[ActingState, ActingHears, ActingAction]):
    """A broker, as far as name servers matter."""

    release = RELEASE_5_3_3

    def __init__(
        self, node: Node[ActingState], around: NodeAround, options: ActingOptions, core: ActingCore
    ) -> None:
        """Make a broker that is down."""
        self._services = _Services()
        super().__init__(node.id, core, around, performers=(self._services,))
        self._node = node
        self._cluster = around
        node.host = self.host
        settings = {
            "kind": "broker",
            **{name: getattr(options, name) for name in _BROKER_SETTINGS},
            "name_servers": [self.name_of(one) for one in options.name_servers],
            "topics": sorted(options.topics),
        }
        recorder = around.recording.of(
            self.name_of(node.id), settings, parts=self._parts, shows_ms=self.now_ms
        )
        self.recorder = self._frames = FrameRecorder(recorder)

    @property
    def serves(self) -> bool:
        """Tell whether a master's services run."""
        return self._services.run

    def _parts(self) -> Parts:
        state = self._node.running()
        return {
            "role": state.role,
            "version": state.version,
            "min_broker_id": state.min_broker_id,
            "serves": self.serves,
        }

    def now_ms(self) -> TimestampMs:
        """Return the virtual time."""
        return TimestampMs(self._cluster.scheduler.now_ms)

    def name_of(self, peer: BrokerId) -> str:
        """Return the name of a node."""
        return broker_address(peer)

    def after_step(self, event: ActingHears | RequestEvent, action: ActingAction | None) -> None:
        """Tell the cluster of a step."""
        received, sent = self._frames.take_received(), self._frames.take()
        self._cluster.report(BrokerStepped(self.id, event, received, sent, action))


class RouteNameServer(OpenNode[NameServerState, NameServerHears, NameServerAction]):
    """A name server, which clients ask without a network."""

    release = RELEASE_5_3_3

    def __init__(
        self, node: Node[NameServerState], around: NodeAround, options: NameServerOptions
    ) -> None:
        """Make a name server that is down."""
        super().__init__(node.id, NameServerCore(), around, performers=(ChannelPerformer(self),))
        self.answers: list[RouteAnswer] = []
        """What clients were told."""
        self._node = node
        self._cluster = around
        self._told: RouteAnswer | None = None
        node.host = self.host
        settings = {
            "kind": "name server",
            **{name: getattr(options, name) for name in _SERVER_SETTINGS},
        }
        recorder = around.recording.of(
            self.name_of(node.id), settings, parts=self._parts, shows_ms=self.now_ms
        )
        self.recorder = self._frames = FrameRecorder(recorder)

    def _parts(self) -> Parts:
        state = self._node.running()
        return {"groups": state.groups, "removals": state.removals}

    def now_ms(self) -> TimestampMs:
        """Return the virtual time."""
        return TimestampMs(self._cluster.scheduler.now_ms)

    def name_of(self, peer: BrokerId) -> str:
        """Return the name of a node."""
        return broker_address(peer)

    # ---- brokers (rocketha.nameserver.performers.BrokerChannels) ----

    def tell(self, address: str, command: RemotingCommand) -> None:
        """Tell a broker; those of other groups listen to nobody."""
        if address in [one.broker_address for one in OTHERS]:
            return
        peer = self._cluster.number_of(address)
        self.one_way(
            SendOneWay(
                peer=peer, code=command.code, body=command.body, ext_fields=command.ext_fields
            )
        )

    def close(self, conn: ConnectionId) -> None:
        """Close a connection of a broker."""
        self._cluster.calls.drop(self.id, conn)

    # ---- clients ----

    def ask_route(self, topic: str) -> None:
        """Let a client ask who has a topic, over a connection of its own."""
        request = GetRouteInfo(topic=topic)
        self.recorder.heard(request)
        self.take_request(Arrived(_CLIENT, push_name_server_request(request, opaque=1)))

    def ask_version(self, request: QueryDataVersion) -> None:
        """Let a client ask whether the topics of a broker have another version than this."""
        self.recorder.heard(VersionAsked(request.broker_address, request.data_version))
        self.take_request(Arrived(_CLIENT, push_name_server_request(request, opaque=1)))

    def others_come_or_go(self) -> None:
        """Let a process with two brokers of other groups register both, or end."""
        if any(one.broker_name in self._node.running().groups for one in OTHERS):
            self.recorder.heard(OthersGone())
            self.host.hear(ConnectionLost(conn=_OTHERS))
            return
        for one in OTHERS:
            self.recorder.heard(OthersRegistered(one.broker_name))
            self.take_request(Arrived(_OTHERS, push_name_server_request(one, opaque=1)))

    def respond(self, answer: Respond) -> None:
        """Answer a request."""
        request = self.waiting(answer.request)
        if request.conn == _OTHERS:
            return
        if request.conn != _CLIENT:
            super().respond(answer)
            return
        command = RemotingCommand(
            code=answer.code,
            opaque=1,
            flag=FLAG_RESPONSE,
            remark=answer.remark,
            ext_fields=answer.ext_fields,
            body=answer.body,
        )
        found = pull_name_server_reply(command, NameServerCode(request.command.code)).answer
        if isinstance(found, QueryDataVersionResult):
            self.recorder.answered(VersionTold(found.changed, found.data_version))
        else:
            assert found is None or isinstance(found, TopicRouteData)
            self.tell_route(found)

    def tell_route(self, found: TopicRouteData | None) -> None:
        """Tell a client who has the topic it has asked for, all of one group."""
        route = RouteAnswer(self.now_ms(), self.name_of(self.id), self._node.incarnation, (), False)
        if found is not None:
            (brokers,), (queues,) = found.broker_datas, found.queue_datas
            route = RouteAnswer(
                route.at_ms,
                route.name_server,
                route.incarnation,
                tuple(sorted(brokers.addresses.items())),
                bool(queues.perm & _PERM_WRITE),
            )
        self._told = route
        self.answers.append(route)
        self.recorder.answered(route)

    def after_step(
        self, event: NameServerHears | RequestEvent, action: NameServerAction | None
    ) -> None:
        """Tell the cluster of a step."""
        received, sent = self._frames.take_received(), self._frames.take()
        answered, self._told = self._told, None
        self._cluster.report(NameServerStepped(self.id, event, received, sent, answered, action))

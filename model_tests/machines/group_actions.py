"""What a test can do to a broker group, one thing at a time, and what it sees of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from model_tests.machines.manual_cluster import GroupNode, ManualCluster
from model_tests.machines.manual_network import Wire
from model_tests.machines.manual_rpc import Frame, Sent
from rocketha.broker.events import ConfirmDue, ExpandDue, PullRequested, PutRequested
from rocketha.broker.options import GroupOptions
from rocketha.broker.replicas import connection_of
from rocketha.broker.roles import View
from rocketha.broker.state import PullId
from rocketha.controller.dispatch import ControllerOptions
from rocketha.controller.state import NO_CHANNEL, Group, Replica
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    ControllerRequest,
    ElectMaster,
    GetReplicaInfo,
    Heartbeat,
    RegisterBroker,
)
from rocketha.formats.controller_responses import MetadataInfo
from rocketha.ha.state import HaOptions, MasterConnection
from rocketha.known_bugs import Bugs
from rocketha.known_bugs.epoch_truncation import ha_rules
from rocketha.known_bugs.replica_group import broker_rules, controller_rules
from rocketha.runtime.events import TimerFired, TransferDue
from rocketha.sim.engine.records import RECORD_SIZE, message_of_epoch
from rocketha.types import BrokerId, ConnectionId, Offset, PutId
from rocketproof.protocols.replica_group.projection import GroupProjection

__all__ = ["GroupActions"]

_METADATA: Final = MetadataInfo(
    group="controllers", leader_id="n0", leader_address="n0", is_leader=True, peers="n0"
)
_FOREVER_MS: Final = 10**12
_BEAT_MS: Final = 1
_POLL_MS: Final = 2
_TIMEOUT_MS: Final = 10
"""The controller takes a broker for dead that it has not heard for so long."""
_BEHIND_MS: Final = 1_000
_CHECK_MS: Final = 10**6
_PATIENCE_MS: Final = 10**9
"""A broker waits so long for an answer."""


def _options(bugs: Bugs) -> GroupOptions:
    return GroupOptions(
        ha=HaOptions(
            transfer_batch_bytes=RECORD_SIZE,
            heartbeat_ms=0,
            reconnect_ms=0,
            housekeeping_ms=_FOREVER_MS,
            tells_incarnation=True,
            rules=ha_rules(bugs),
        ),
        rules=broker_rules(bugs),
        all_ack_in_sync_state_set=True,
        slave_timeout_ms=_FOREVER_MS,
        slave_not_catchup_ms=_BEHIND_MS,
        check_sync_state_set_ms=_CHECK_MS,
        sync_metadata_ms=_POLL_MS,
        heartbeat_interval_ms=_BEAT_MS,
        heartbeat_timeout_ms=_TIMEOUT_MS,
        request_timeout_ms=_PATIENCE_MS,
    )


class GroupActions:
    """Moves what a `ManualCluster` leaves lying."""

    def __init__(self, *, brokers: int, elect_unclean: bool, bugs: Bugs) -> None:
        """Begin with brokers that are registered."""
        self.projection = GroupProjection()
        self.group = ManualCluster(
            brokers=brokers,
            options=_options(bugs),
            controller=ControllerOptions(
                metadata=_METADATA, elect_unclean=elect_unclean, rules=controller_rules(bugs)
            ),
            bugs=bugs,
            observer=self.projection,
        )
        self._asked_of = 0
        """The version of the set that everybody has asked for."""
        self._messages = 0
        self._pulls = 0
        self.hear_everybody()
        for node in self.nodes():
            self.group.read(self._ask(node))  # there is no master: it asks for an election

    # ---- what there is ----

    @property
    def known(self) -> Group:
        """Return what the controller knows of the group."""
        group = self.group.group
        assert group is not None
        return group

    @property
    def is_cleaned(self) -> bool:
        """Tell whether an operator has removed all brokers from the controller."""
        return not self.known.replicas

    def nodes(self) -> list[GroupNode]:
        """Return the brokers."""
        return list(self.group.nodes.values())

    def node(self, broker: str) -> GroupNode:
        """Return the broker of a name."""
        return self.group.nodes[BrokerId(int(broker.removeprefix("b")))]

    def end_at(self, master: GroupNode, slave: GroupNode) -> MasterConnection:
        """Return the master's end of the newest connection of a slave."""
        end = connection_of(master.running().ha, slave.id)
        assert end is not None, f"{slave.id} is not connected to {master.id}"
        return end

    def wire(self, end: MasterConnection) -> Wire:
        """Return what is under way on a connection."""
        wire = self.group.network.find(end.id)
        assert wire is not None
        return wire

    def served(self, slave: GroupNode) -> tuple[GroupNode, MasterConnection]:
        """Return the master that a slave is connected to, and its end."""
        client = slave.running().ha.client
        assert client is not None, f"{slave.id} has no connection"
        wire = self.group.network.find(client.id)
        assert wire is not None
        master = self.group.nodes[wire.server]
        return master, master.running().ha.servers[client.id]

    def behind(self, master: GroupNode) -> frozenset[BrokerId]:
        """Return the members of a master's set that have not the whole log, as far as it knows."""
        state, end = master.running(), master.log.max_phy_offset
        others = state.local.members - {master.id}
        ends = {other: connection_of(state.ha, other) for other in others}
        return frozenset([b for b, conn in ends.items() if conn is None or conn.slave_ack != end])

    # ---- frames to the controller ----

    def last_sent(self, broker: BrokerId, kind: type[ControllerRequest]) -> Sent | None:
        """Return the last request of a kind that may still arrive."""
        for sent in reversed(self.group.post.sent):
            if sent.broker == broker and isinstance(sent.request, kind):
                return sent if self.group.post.is_open(sent.channel) else None
        return None

    def channels(self, broker: BrokerId) -> list[ConnectionId]:
        """Return the channels on which the controller has heard a broker."""
        replica = self.known.replicas.get(broker)
        heard = () if replica is None else replica.heard.channels
        return [channel for channel in heard if channel != NO_CHANNEL]

    def can_be_heard(self, broker: BrokerId) -> bool:
        """Tell whether a broker can give a sign of life; one that is down perhaps a late one."""
        if self.group.nodes[broker].state is not None:
            return True
        beat, replica = self.last_sent(broker, Heartbeat), self._replica(broker)
        return beat is not None and beat.start == replica.incarnation

    def _replica(self, broker: BrokerId) -> Replica:
        """Return what the controller knows of a broker, or knew before an operator removed it."""
        known = self.known
        return known.replicas.get(broker) or known.former[broker]

    def hear(self, broker: BrokerId) -> None:
        """Let a heartbeat arrive, of a broker that is down the last one, perhaps once more.

        Of one that an operator has removed a copy of its registration arrives before.
        """
        node = self.group.nodes[broker]
        if node.state is not None:
            self.group.fire(node, _BEAT_MS)
        beat = self.last_sent(broker, Heartbeat)
        assert beat is not None
        if broker not in self.known.replicas:
            [*_, registration] = [
                sent
                for sent in self.group.post.sent
                if sent.broker == broker and isinstance(sent.request, RegisterBroker)
            ]
            self.group.serve(replace(registration, channel=beat.channel))
        self.group.serve(beat)

    def hear_everybody(self) -> None:
        """Let a heartbeat of everybody arrive of whom that is possible."""
        for node in self.nodes():
            if self.can_be_heard(node.id):
                self.hear(node.id)

    def be_deaf(self) -> None:
        """Let the controller hear nobody for so long that it takes everybody for dead."""
        self.group.wait(_TIMEOUT_MS + 1)

    def proposals(self) -> Iterator[tuple[Sent, AlterSyncStateSet]]:
        """Yield the proposals that may arrive, each once, the last copy of it."""
        seen: set[object] = set()
        for sent in reversed(self.group.post.sent):
            request = sent.request
            if isinstance(request, AlterSyncStateSet) and self.group.post.is_open(sent.channel):
                key = sent.start, request.master_epoch, request.sync_state_set
                if (sent.broker, *key) not in seen:
                    seen.add((sent.broker, *key))
                    yield sent, request

    def proposal(self, master: BrokerId) -> Sent | None:
        """Return a master's proposal for the present set, or any other one of it."""
        present = self.known.master_epoch, self.known.sync_state_set.epoch
        own = [(sent, request) for sent, request in self.proposals() if sent.broker == master]
        fresh = [s for s, r in own if (r.master_epoch, r.sync_state_set.epoch) == present]
        return next(iter([*fresh, *[sent for sent, _ in own]]), None)

    def election(self, broker: BrokerId) -> Sent | None:
        """Return a broker's wish for an election that may arrive."""
        return self.last_sent(broker, ElectMaster)

    def ask_around(self) -> None:
        """Let everybody ask for the present set, if it is a new one; the answers may come late."""
        version = int(self.known.sync_state_set.epoch)
        if self.is_cleaned or version == self._asked_of:
            return
        self._asked_of = version
        for node in self.nodes():
            if node.state is not None:
                self._ask(node)

    def _ask(self, node: GroupNode) -> Frame:
        """Let a broker ask how it is, and return the answer."""
        self.group.fire(node, _POLL_MS)
        query = self.last_sent(node.id, GetReplicaInfo)
        assert query is not None
        self.group.serve(query)
        return self.group.post.frames[-1]

    # ---- frames of the controller ----

    def frames(self, node: GroupNode) -> list[tuple[Frame, View]]:
        """Return what a broker may still hear of the group, old or new."""
        state = node.state
        if state is None:
            return []
        return [
            (frame, frame.view)
            for frame in self.group.post.frames
            if frame.broker == node.id
            and frame.view is not None
            and (frame.start is None or frame.command.opaque in state.asked)
        ]

    def refusals(self, node: GroupNode) -> list[Frame]:
        """Return the refusals that a broker may still hear."""
        state = node.state
        if state is None:
            return []
        return [
            frame
            for frame in self.group.post.frames
            if frame.broker == node.id and frame.refuses and frame.command.opaque in state.asked
        ]

    def news(self, action: str, node: GroupNode) -> Frame | None:
        """Return the oldest frame that makes a broker take an action.

        A master may also hear of the set that it has.
        """
        found = [
            (view.sync_state_set.epoch == node.running().local.epoch, view, frame)
            for frame, view in self.frames(node)
            if leads_to(node, view) == action
        ]
        if not found:
            return None
        return min(found, key=lambda one: (one[0], one[1].sync_state_set.epoch))[2]

    # ---- brokers ----

    def look(self, node: GroupNode, event: ConfirmDue | ExpandDue) -> None:
        """Let a master look whether something is possible now."""
        self.group.due[node.id].discard(event)
        self.group.deliver(node, event)

    def put(self, node: GroupNode) -> None:
        """Let a producer's message arrive."""
        self._messages += 1
        message = message_of_epoch(node.running().ha.known_epoch, self._messages)
        self.group.deliver(node, PutRequested(put=PutId(self._messages), message=message))

    def pull(self, node: GroupNode) -> None:
        """Let a consumer read from the beginning."""
        self._pulls += 1
        self.group.deliver(node, PullRequested(pull=PullId(self._pulls), offset=Offset(0)))

    def check_set(self, node: GroupNode) -> None:
        """Let so much time pass that a master looks who is behind."""
        self.group.fire(node, _CHECK_MS)

    def lose_patience(self, node: GroupNode) -> None:
        """Let so much time pass that a broker waits for no answer any more."""
        self.group.fire(node, _PATIENCE_MS)

    # ---- connections ----

    def shake_hands(self, master: GroupNode, slave: GroupNode) -> None:
        """Let a slave connect, wherever it believes the master to be, and say who it is."""
        network = self.group.network
        self.group.route = master.id
        self.group.deliver(slave, TimerFired())
        self.group.route = None
        conn = slave.asked
        assert conn is not None, f"{slave.id} does not connect"
        network.establish(conn)
        network.to_server(conn)
        wire = network.find(conn)
        if wire is not None and wire.down:
            network.to_client(conn)

    def report(self, slave: GroupNode, wire: Wire) -> None:
        """Let the oldest report of a slave arrive; if there is none it reports once more."""
        if not wire.up:
            self.group.deliver(slave, TimerFired())
        self.group.network.to_server(wire.id)

    def transfer(self, slave: GroupNode) -> None:
        """Let the master of a slave send a record, or a heartbeat, and let it arrive."""
        master, end = self.served(slave)
        self.group.deliver(master, TransferDue(conn=end.id))
        self.group.network.to_client(end.id)


def leads_to(node: GroupNode, view: View) -> str | None:
    """Name the action that a broker is to take when it hears a view; None: it is to do nothing."""
    state = node.running()
    if view.epoch > state.ha.known_epoch:
        return "BecomeMaster" if view.master == node.id else "BecomeSlave"
    if view.epoch < state.ha.known_epoch or view.master != node.id or not state.is_master:
        return None
    return "LearnSyncStateSet" if view.sync_state_set.epoch >= state.local.epoch else None

"""A broker group that a test drives: an adapter for ReplicaGroup.

A step is taken by doing to the cores and to the controller what makes them take it: a frame
arrives, perhaps one from long ago, a packet arrives, a timer fires. What they do is up to them.
Then the state is projected as it is for traces.

| step                           | what is done                                                    |
|--------------------------------|-----------------------------------------------------------------|
| ElectMaster                    | the controller hears nobody else, and scans; where there was    |
|                                | never a master, what the broker asked at its start arrives      |
| DesignateMaster                | an operator's request arrives                                   |
| CleanBrokerData                | the same                                                        |
| AlterSyncStateSet              | a proposal arrives while everybody in it is heard of            |
| RefuseAlter                    | one arrives while nobody is heard of, or that may not be taken  |
| EvictBroker                    | the channel of a broker that is down is closed                  |
| BecomeMaster, BecomeSlave,     | the oldest answer or notice arrives that is news                |
| LearnSyncStateSet              |                                                                 |
| Acknowledge, MaybeExpand       | the core looks, after a report if need be                       |
| MaybeShrink                    | time passes                                                     |
| CloseConnection, Disconnect    | an end hears that the connection is gone                        |
| Replicate, HearEpoch           | the master sends one packet, and it arrives                     |
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from model_tests.machines.group_actions import GroupActions
from model_tests.machines.group_model import Bounds
from model_tests.machines.group_stuttering import stuttering_calls
from model_tests.machines.manual_cluster import GroupNode
from model_tests.machines.manual_disk import cut_power
from rocketha.broker.events import ConfirmDue, ExpandDue
from rocketha.formats.controller_requests import AlterSyncStateSet, CleanBrokerData, ElectMaster
from rocketha.ha.state import NOT_YET
from rocketha.known_bugs import Bugs
from rocketha.sim.engine.node import Node
from rocketha.sim.engine.records import record_count
from rocketha.types import BrokerId
from rocketproof.protocols.replica_group.values import NO_CONN, names
from tlatrace.testing.calls import Call, call_of
from tlatrace.testing.moves import Moves
from tlatrace.values import Fcn, State, Value

__all__ = ["SAID_OF_NODES", "ManualGroup"]


class ManualGroup:
    """A group that takes the steps of a finite model."""

    def __init__(self, moves: Moves, bounds: Bounds, bugs: Bugs) -> None:
        """Begin in the initial state; `moves` tells what else the model allows at each step."""
        self._moves = moves
        self._bounds = bounds
        self._actions = GroupActions(
            brokers=bounds.brokers, elect_unclean=bounds.elect_unclean, bugs=bugs
        )
        self._group = self._actions.group

    # ---- what an adapter has ----

    def perform(self, action: str, params: tuple[Value, ...]) -> None:
        """Let the group take one action, and no other."""
        events = self._actions.projection.events
        before = len(events)
        self._make(call_of(action, params))
        self._group.network.settle()
        taken = [call_of(e.action or "nothing", e.params) for e in events[before:]]
        if action == "LearnSyncStateSet" and not taken:
            return  # it has heard what it knows
        assert taken == [call_of(action, params)], f"the group took {taken or 'no action'}"
        self._actions.ask_around()
        assert len(events) == before + 1, f"the group took {events[-1].action} by itself"

    def observe(self) -> State:
        """Return the state of the group after the last action."""
        state = self._actions.projection.events[-1].state
        assert state is not None
        return state

    def feasible(self, action: str, params: tuple[Value, ...]) -> bool:
        """Tell whether somebody can make the group take an action now."""
        actions = self._actions
        match action, [self._node_or_value(param) for param in params]:
            case "ElectMaster", [Node() as node]:
                return self._can_win(node)
            case "DesignateMaster", [Node() as node]:
                return actions.can_be_heard(node.id)
            case "AlterSyncStateSet", [Node() as node]:
                members = self._proposed(node)
                return bool(members) and all(map(actions.can_be_heard, members))
            case "RefuseAlter", [Node() as node]:
                return bool(self._proposed(node))
            case "EvictBroker", [Node() as node, _]:
                return bool(actions.channels(node.id)) or actions.can_be_heard(node.id)
            case (("BecomeMaster" | "BecomeSlave" | "LearnSyncStateSet"), [Node() as node]):
                return actions.news(action, node) is not None
            case "Crash", [Node() as node, int() as kept]:
                return kept >= record_count(node.log.flushed_offset)
            case "MaybeShrink", [Node() as node, members]:
                return members == names(actions.behind(node))
            case "MaybeExpand", [Node() as master, Node() as slave]:
                return self._can_look(master, slave)
            case "Handshake", [Node() as master, Node() as slave]:
                return self._can_connect(master, slave)
            case (("Replicate" | "HearEpoch"), [Node() as slave]):
                return actions.served(slave)[1].next_offset != NOT_YET
            case (said, _) if said in SAID_OF_NODES:
                return False
            case _:
                return True

    def stuttering_calls(self) -> Sequence[str]:
        """List what must change nothing now."""
        return list(self._idle_calls())

    def make_idle_call(self, name: str) -> None:
        """Have something happen that must change nothing."""
        events = self._actions.projection.events
        before = len(events)
        make = self._idle_calls().get(name)
        if make is None:
            return  # what was done since has made it impossible
        make()
        self._group.network.settle()
        taken = [call_of(e.action or "nothing", e.params) for e in events[before:]]
        assert not taken, f"the group took {taken}"

    def _idle_calls(self) -> dict[str, Callable[[], None]]:
        return stuttering_calls(self._actions, self._bounds, self.observe(), self._allowed())

    # ---- what the group is ----

    def _node_or_value(self, param: Value) -> Value | GroupNode:
        return self._actions.node(param) if isinstance(param, str) else param

    def _of(self, variable: str, *brokers: GroupNode) -> Value:
        """Return what a variable has for a broker, or for two."""
        value = self.observe()[variable]
        for broker in brokers:
            assert isinstance(value, Fcn)
            value = value[f"b{broker.id}"]
        return value

    def _allowed(self) -> Collection[Call]:
        """Return what the model allows in the state of the group."""
        observed = self.observe()
        state = [self._moves.adopt(name, observed[name]) for name in self._moves.model.variables]
        return self._moves.of(tuple(state)).keys()

    def _proposed(self, master: GroupNode) -> Collection[BrokerId]:
        """Return who is in the proposal of a master that may arrive."""
        sent = None if self._actions.is_cleaned else self._actions.proposal(master.id)
        if sent is None:
            return ()
        assert isinstance(sent.request, AlterSyncStateSet)
        return sent.request.sync_state_set.members

    def _can_win(self, node: GroupNode) -> bool:
        """Tell whether a broker can be elected while nothing else happens at the controller."""
        actions = self._actions
        if not actions.can_be_heard(node.id):
            return False
        if not actions.known.members:
            return actions.election(node.id) is not None
        others = [other for other in actions.nodes() if other is not node]
        return not any(other.state is None and actions.channels(other.id) for other in others)

    def _can_look(self, master: GroupNode, slave: GroupNode) -> bool:
        """Tell whether a master asked itself if a slave can join, or can be made to."""
        if ExpandDue(slave=slave.id) in self._group.due[master.id]:
            return True
        conn = self._of("conn", master, slave)
        assert isinstance(conn, Fcn)
        return self._of("link", slave) == f"b{master.id}" and conn["ack"] == conn["reported"]

    def _can_connect(self, master: GroupNode, slave: GroupNode) -> bool:
        """Tell whether a slave knows of a master; an old connection is dropped before, a step."""
        told = slave.running().ha.master_address is not None
        return told and self._of("conn", master, slave) == NO_CONN

    # ---- the steps ----

    def _make(self, step: Call) -> None:
        actions, group = self._actions, self._group
        match step.action, [self._node_or_value(param) for param in step.params]:
            case "EvictBroker", [Node() as node, _]:
                if not actions.channels(node.id):
                    actions.hear(node.id)
                for channel in actions.channels(node.id):
                    group.close(channel)
            case "CleanBrokerData", []:
                group.operate(CleanBrokerData(broker_name=actions.known.broker_name))
            case (("BecomeMaster" | "BecomeSlave" | "LearnSyncStateSet"), [Node() as node]):
                frame = actions.news(step.action, node)
                assert frame is not None
                group.read(frame)
            case "Crash", [Node() as node, int() as kept]:
                if kept < record_count(node.log.max_phy_offset):
                    cut_power(node, kept)
                    node.files.boot += "'"
                group.stop(node)
            case "Restart", [Node() as node]:
                group.restart(node)
                group.answer(group.post.sent[-1])
                actions.hear(node.id)
            case "PutMessage", [Node() as node]:
                actions.put(node)
            case "Consume", [Node() as node]:
                actions.pull(node)
            case "Acknowledge", [Node() as node]:
                assert ConfirmDue() in group.due[node.id], "the master does not look by itself"
                actions.look(node, ConfirmDue())
            case "MaybeShrink", [Node() as node, _]:
                actions.check_set(node)
            case _, [Node() as node] if step.action in _OF_CONTROLLER:
                self._decide(step, node)
            case _, nodes:
                self._connect(step.action, [node for node in nodes if isinstance(node, Node)])

    def _decide(self, step: Call, node: GroupNode) -> None:
        """Let the controller elect a broker, or judge its proposal."""
        actions, group = self._actions, self._group
        match step.action:
            case "ElectMaster" if actions.known.members:
                actions.be_deaf()
                actions.hear(node.id)
                group.host.scan()
                actions.hear_everybody()
            case "ElectMaster":
                actions.hear(node.id)
                wish = actions.election(node.id)
                assert wish is not None
                group.serve(wish)
            case "DesignateMaster":
                actions.hear(node.id)
                name = actions.known.broker_name
                wanted = ElectMaster(broker_name=name, broker_id=node.id, designate_elect=True)
                group.operate(wanted)
            case _:
                sent = actions.proposal(node.id)
                assert sent is not None
                may_be_taken = call_of("AlterSyncStateSet", step.params) in self._allowed()
                if step.action == "RefuseAlter" and may_be_taken:
                    actions.be_deaf()
                else:
                    actions.hear_everybody()
                group.serve(sent)

    def _connect(self, action: str, nodes: Sequence[GroupNode]) -> None:
        """Let something happen between a master and a slave."""
        actions, network = self._actions, self._group.network
        match action, nodes:
            case "Handshake", [master, slave]:
                actions.shake_hands(master, slave)
            case "ReceiveAck", [master, slave]:
                wire = actions.wire(actions.end_at(master, slave))
                before = len(actions.projection.events)
                while len(actions.projection.events) == before:
                    actions.report(slave, wire)
            case "MaybeExpand", [master, slave]:
                due = ExpandDue(slave=slave.id)
                if due not in self._group.due[master.id]:
                    actions.report(slave, actions.wire(actions.end_at(master, slave)))
                actions.look(master, due)
            case "CloseConnection", [master, slave]:
                network.tell_server(actions.end_at(master, slave).id)
            case "Disconnect", [slave]:
                network.sever(actions.served(slave)[1].id)
            case "Replicate" | "HearEpoch", [slave]:
                actions.transfer(slave)
            case _:
                raise AssertionError(f"nobody knows how to make {action}")


SAID_OF_NODES: Final = frozenset(
    {
        "Healed",
        "Heard",
        "KeepMember",
        "NoElection",
        "RefuseCall",
        "Settled",
        "Shown",
        "ShownNothing",
        "Silent",
        "TimeOut",
        "Unnotified",
        "Waiting",
    }
)
"""What is said of nodes, and nothing that they do: it changes nothing."""


_OF_CONTROLLER = frozenset({"ElectMaster", "DesignateMaster", "AlterSyncStateSet", "RefuseAlter"})

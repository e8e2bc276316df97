"""What can happen to a broker group that must change nothing: late frames, vain wishes, idle looks.

A model has bounds, and the cores go on behind them: so what may be only a bound is left out here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import TypeAlias

from model_tests.machines.group_actions import GroupActions, leads_to
from model_tests.machines.group_model import Bounds
from model_tests.machines.manual_cluster import GroupNode
from model_tests.machines.manual_rpc import Frame, Sent
from rocketha.broker.events import ConfirmDue, ExpandDue
from rocketha.broker.replicas import slaves
from rocketha.broker.roles import View
from rocketha.formats.controller_requests import CleanBrokerData, ElectMaster
from rocketha.types import BrokerId, ConnectionId
from rocketproof.protocols.epoch_truncation.values import broker_name
from rocketproof.protocols.replica_group.values import NO_CONN, names
from tlatrace.testing.calls import Call, call_of
from tlatrace.values import Fcn, State, TlaSet

__all__ = ["stuttering_calls"]

_IdleCall: TypeAlias = tuple[str, Callable[[], None]]


def stuttering_calls(
    actions: GroupActions, bounds: Bounds, observed: State, allowed: Collection[Call]
) -> dict[str, Callable[[], None]]:
    """Return what can be done now that must change nothing, by a name for each.

    `observed` is the present state, `allowed` what the model allows in it.
    """
    calls = _StutteringCalls(actions, bounds, observed, allowed)
    found: dict[str, Callable[[], None]] = {}
    for name, make in calls.all():
        found.setdefault(name, make)
    return found


class _StutteringCalls:
    """What is idle in one state."""

    def __init__(
        self, actions: GroupActions, bounds: Bounds, observed: State, allowed: Collection[Call]
    ) -> None:
        self._actions = actions
        self._allowed = allowed
        alters = observed["alters"]
        assert isinstance(alters, TlaSet)
        self._observed = observed
        self._may_propose_more = len(alters.elements) < bounds.alters
        self._may_elect_more = actions.known.master_epoch < bounds.epoch

    def all(self) -> Iterator[_IdleCall]:
        """Yield all of them, in a fixed order."""
        for node in self._actions.nodes():
            if node.state is not None:
                yield from self._of_frames(node)
                yield from self._of_clients(node)
                if node.state.is_master:
                    yield from self._of_master(node)
                else:
                    yield from self._of_slave(node)
        yield from self._of_proposals()
        if not self._actions.is_cleaned:
            yield from self._of_operators()
        # The last ones: what was sent on a channel that is closed does not arrive any more.
        for node in self._actions.nodes():
            if node.state is not None:
                yield from self._of_channels(node)

    def _allows(self, action: str, *brokers: GroupNode) -> bool:
        params = tuple([broker_name(broker.id) for broker in brokers])
        return call_of(action, params) in self._allowed

    # ---- brokers ----

    def _of_frames(self, node: GroupNode) -> Iterator[_IdleCall]:
        actions, group, me = self._actions, self._actions.group, broker_name(node.id)
        for frame, view in actions.frames(node):
            if leads_to(node, view) is None:
                yield f"{me} hears late that {_words(view)}", partial(self._read, node, frame)
        for frame in actions.refusals(node):
            yield f"{me} hears that it was refused", partial(group.read, frame)
            break

    def _read(self, node: GroupNode, frame: Frame) -> None:
        """Let a frame arrive; another one may have made it one that nobody waits for."""
        if frame in [still for still, _ in self._actions.frames(node)]:
            self._actions.group.read(frame)

    def _of_clients(self, node: GroupNode) -> Iterator[_IdleCall]:
        actions, me = self._actions, broker_name(node.id)
        if not self._allows("Consume", node):
            yield f"a consumer reads from {me} what is known", partial(actions.pull, node)
        if not node.running().is_master:
            yield f"a producer asks {me}, a slave", partial(actions.put, node)

    def _of_master(self, node: GroupNode) -> Iterator[_IdleCall]:
        actions, me, state = self._actions, broker_name(node.id), node.running()
        if not self._allows("Acknowledge", node):
            yield f"{me} looks what is safe", partial(actions.look, node, ConfirmDue())
        for slave in slaves(state.ha) if self._may_propose_more else ():
            if not self._allows("MaybeExpand", node, actions.group.nodes[slave]):
                due = ExpandDue(slave=slave)
                name = f"{me} looks if {broker_name(slave)} can join"
                yield name, partial(actions.look, node, due)
        behind = actions.behind(node)
        shrink = call_of("MaybeShrink", (broker_name(node.id), names(behind)))
        if shrink not in self._allowed and (state.pending is not None or not behind):
            yield f"{me} looks who is behind", partial(actions.check_set, node)
        if state.pending is not None:
            yield f"{me} waits in vain", partial(actions.lose_patience, node)

    def _of_slave(self, node: GroupNode) -> Iterator[_IdleCall]:
        actions, state = self._actions, node.running()
        if state.ha.client is not None or state.ha.master_address is None:
            return
        for other in actions.nodes():
            if other is node or other.state is None or self._allows("Handshake", other, node):
                continue
            if self._conn(other, node) == NO_CONN:
                name = f"{broker_name(node.id)} connects to {broker_name(other.id)} in vain"
                yield name, partial(self._connect, other, node)

    def _conn(self, master: GroupNode, slave: GroupNode) -> object:
        conns = self._observed["conn"]
        assert isinstance(conns, Fcn)
        ends = conns[broker_name(master.id)]
        assert isinstance(ends, Fcn)
        return ends[broker_name(slave.id)]

    def _connect(self, other: GroupNode, slave: GroupNode) -> None:
        """Shake hands, and let the other broker notice if the slave has gone."""
        if slave.running().ha.client is not None:
            return
        self._actions.shake_hands(other, slave)
        end = slaves(other.running().ha).get(slave.id)
        if end is not None and slave.running().ha.client is None:
            self._actions.group.network.tell_server(end.id)

    # ---- the controller ----

    def _of_channels(self, node: GroupNode) -> Iterator[_IdleCall]:
        post = self._actions.group.post
        for channel, (broker, start) in post.channels.items():
            old = broker == node.id and start < node.running().incarnation
            if old and post.is_open(channel) and not self._actions.is_cleaned:
                name = f"an old channel of {broker_name(broker)} is closed"
                if broker == self._living_master:
                    name += ", and an operator removes the group"
                    yield name, partial(self._close_and_remove, node, channel)
                else:
                    yield name, partial(self._close, node, channel)

    def _close(self, node: GroupNode, channel: ConnectionId) -> None:
        self._actions.hear(node.id)
        self._actions.group.close(channel)

    def _close_and_remove(self, node: GroupNode, channel: ConnectionId) -> None:
        """Show by a wish that may not be granted whether the controller still hears its master."""
        self._close(node, channel)
        self._operate_removal()

    def _of_proposals(self) -> Iterator[_IdleCall]:
        actions = self._actions
        for sent, request in actions.proposals():
            master = actions.group.nodes[sent.broker]
            if self._allows("RefuseAlter", master) and actions.proposal(master.id) == sent:
                continue
            members = ", ".join(map(broker_name, sorted(request.sync_state_set.members)))
            version = f"{request.master_epoch}, {request.sync_state_set.epoch}"
            name = f"{broker_name(master.id)} proposes {{{members}}} late, for {version}"
            yield name, partial(self._propose, sent)

    def _propose(self, sent: Sent) -> None:
        self._actions.hear_everybody()
        if self._actions.group.post.is_open(sent.channel):
            self._actions.group.serve(sent)

    def _of_operators(self) -> Iterator[_IdleCall]:
        if self._living_master is not None:
            yield "an operator removes the group", self._remove
        if self._may_elect_more:
            yield from self._of_elections(self._alive)

    @property
    def _alive(self) -> TlaSet:
        alive = self._observed["alive"]
        assert isinstance(alive, TlaSet)
        return alive

    @property
    def _living_master(self) -> BrokerId | None:
        """Return the master, if it is alive and can be heard: its group is not to be removed."""
        master = self._actions.known.master
        if master is None or broker_name(master) not in self._alive.elements:
            return None
        return master if self._actions.can_be_heard(master) else None

    def _remove(self) -> None:
        self._actions.hear_everybody()
        self._operate_removal()

    def _operate_removal(self) -> None:
        self._actions.group.operate(CleanBrokerData(broker_name=self._actions.known.broker_name))

    def _of_elections(self, alive: TlaSet) -> Iterator[_IdleCall]:
        actions = self._actions
        nodes = actions.nodes()
        heard = names(node.id for node in nodes if actions.can_be_heard(node.id))
        if not any(self._allows("ElectMaster", node) for node in nodes) and alive == heard:
            yield "the controller scans", self._scan
        for node in nodes:
            if self._allows("ElectMaster", node) or self._allows("DesignateMaster", node):
                continue
            if actions.can_be_heard(node.id):
                yield f"an operator wants {broker_name(node.id)}", partial(self._want, node)

    def _scan(self) -> None:
        self._actions.hear_everybody()
        self._actions.group.host.scan()

    def _want(self, node: GroupNode) -> None:
        actions = self._actions
        actions.hear_everybody()
        actions.group.operate(
            ElectMaster(
                broker_name=actions.known.broker_name, broker_id=node.id, designate_elect=True
            )
        )


def _words(view: View) -> str:
    who = "nobody" if view.master is None else broker_name(view.master)
    return f"{who} is master in {view.epoch}, {view.sync_state_set.epoch}"

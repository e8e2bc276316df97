"""What is shown, and what is missed, of the brokers of a simulated group and of its controller."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rocketha.broker.effects import AnswerPull, AnswerPut
from rocketha.broker.events import PullRequested, PutRequested
from rocketha.broker.options import GroupOptions
from rocketha.broker.state import GroupBroker, Registration
from rocketha.runtime.events import LogFlushed
from rocketha.sim.engine.node import Node
from rocketha.sim.replica_group.actions import (
    ClientAnswered,
    ClientAsked,
    ControllerFrame,
    EventTaken,
    Exchanged,
)
from rocketha.sim.replica_group.cluster import GroupCluster
from rocketha.sim.replica_group.recorders import command_in
from rocketha.types import BrokerId, Epoch, Offset
from rocketproof.protocols.epoch_truncation.values import index
from rocketproof.protocols.replica_group.owed import BrokerDurations, OwedByBroker, Shows

__all__ = ["OwedByGroup"]


class OwedByGroup:
    """Hears what goes between brokers, clients and the controller."""

    def __init__(self, cluster: GroupCluster) -> None:
        """Begin when nobody was asked anything."""
        durations = _durations(cluster.plan.broker)
        self._of = {broker: OwedByBroker(durations) for broker in cluster.nodes}
        self._epochs: dict[BrokerId, Epoch | None] = {}
        """Broker -> the epoch that it is master of, if it is."""

    def hear(self, cluster: GroupCluster, what: Exchanged) -> None:
        """Note a call, an answer, or a request to the controller."""
        match what:
            case ClientAsked(broker=broker, call=PutRequested(put=put)):
                self._of[broker].put_asked(put, _shows_ms(cluster, broker))
            case ClientAsked(broker=broker, call=PullRequested(pull=pull)):
                self._of[broker].pull_asked(pull)
            case ClientAnswered(broker=broker, answer=AnswerPut() as answer):
                end = None if answer.end is None else index(answer.end)
                now_ms = _shows_ms(cluster, broker)
                self._of[broker].put_answered(answer.put, answer.status, end, now_ms)
            case ClientAnswered(broker=broker, answer=AnswerPull() as answer):
                self._pull_answered(broker, answer)
            case ControllerFrame(by_controller=False, has_arrived=False, broker=broker) if broker:
                self._of[broker].sent(command_in(what.data).code, _shows_ms(cluster, broker))
            case _:
                pass

    def _pull_answered(self, broker: BrokerId, answer: AnswerPull) -> None:
        end = None
        if answer.data is not None:
            end = index(Offset(answer.offset + len(answer.data)))
        self._of[broker].pull_answered(answer.pull, index(answer.offset), end)

    def after(
        self,
        cluster: GroupCluster,
        taken: EventTaken,
        is_connected: Callable[[BrokerId, BrokerId], bool],
        *,
        is_down: bool,
    ) -> Iterator[Shows]:
        """Yield what a step of a broker shows, of which the trace has the state.

        `is_connected` tells whether a master has, in the trace, a connection of a slave, `is_down`
        whether the broker is down there.
        """
        node, of = cluster.nodes[taken.broker], self._of[taken.broker]
        state, now_ms = node.state, node.shows_ms(cluster.scheduler)
        if isinstance(taken.event, LogFlushed):
            of.flushed()
        slow = cluster.slow_disks.get(node.id)
        if slow is not None and cluster.now_ms <= sum(slow):
            of.disk_is_slow()
        if state is None or is_down:
            of.is_unknown()
            return
        is_master = state.is_master
        epoch = state.ha.known_epoch if is_master else None
        if self._epochs.get(node.id) not in (None, epoch):
            of.began_epoch()
        self._epochs[node.id] = epoch
        yield from of.step_is_over(
            records=index(node.log.max_phy_offset),
            now_ms=now_ms,
            is_registered=state.registration is Registration.REGISTERED,
            proposes=is_master and state.pending is not None,
        )
        if taken.is_continued:
            return
        yield from of.settled((is_master, state.confirm))
        yield from of.members_away(_away(node, state, is_connected) if is_master else (), now_ms)

    def stopped(self, broker: BrokerId) -> None:
        """Forget what a broker owed that is down."""
        self._of[broker].stopped()


def _away(
    node: Node[GroupBroker],
    state: GroupBroker,
    is_connected: Callable[[BrokerId, BrokerId], bool],
) -> Iterator[BrokerId]:
    """Yield the members that are not connected, if their master may propose to remove them."""
    if state.pending is None:
        for member in sorted(state.local.members - {node.id}):
            if not is_connected(node.id, member):
                yield member


def _durations(options: GroupOptions) -> BrokerDurations:
    return BrokerDurations(
        sync_flush=options.sync_flush,
        sync_flush_timeout_ms=options.sync_flush_timeout_ms,
        slave_timeout_ms=options.slave_timeout_ms,
        heartbeat_interval_ms=options.heartbeat_interval_ms,
        sync_metadata_ms=options.sync_metadata_ms,
        request_timeout_ms=options.request_timeout_ms,
        check_sync_state_set_ms=options.check_sync_state_set_ms,
        slave_not_catchup_ms=options.slave_not_catchup_ms,
    )


def _shows_ms(cluster: GroupCluster, broker: BrokerId) -> int:
    return cluster.nodes[broker].shows_ms(cluster.scheduler)

"""A simulated group does to brokers and controller what the world does to them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.broker.effects import AnswerPull, AnswerPut, PutStatus
from rocketha.broker.events import PutRequested
from rocketha.broker.state import Registration
from rocketha.sim.engine.faults import NO_FAULTS, FaultCounts
from rocketha.sim.engine.network import Network
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.engine.records import message_of_epoch
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.replica_group.cluster import GroupCluster
from rocketha.sim.replica_group.null_observer import NullGroupObserver
from rocketha.sim.replica_group.plan import draw_group_run
from rocketha.types import BrokerId, Epoch, PutId

ONE, TWO = BrokerId(1), BrokerId(2)


class World:
    """A group without faults; somebody else makes time pass."""

    def __init__(self, *, sync_flush: bool = False, brokers: int = 2) -> None:
        streams, self.scheduler = PerPurposeStreams(5), Scheduler()
        drawn = draw_group_run(streams, SimOptions(faults=NO_FAULTS, brokers=brokers))
        broker = replace(
            drawn.broker, sync_flush=sync_flush, min_in_sync_replicas=1, sync_flush_timeout_ms=500
        )
        self.plan = replace(drawn, broker=broker)
        counts = FaultCounts()
        self.answers: list[AnswerPut] = []
        self.cluster = GroupCluster(
            brokers=brokers,
            plan=self.plan,
            scheduler=self.scheduler,
            network=Network(
                self.scheduler, streams, counts=counts, plan=drawn.faults, servers_linger=False
            ),
            random_source=streams,
            counts=counts,
            observer=NullGroupObserver(),
        )
        self.cluster.attach(self)
        self.cluster.boot()
        self.cluster.observe()

    def put_answered(self, broker: BrokerId, answer: AnswerPut) -> None:
        assert broker in self.cluster.nodes
        self.answers.append(answer)

    def pull_answered(self, broker: BrokerId, answer: AnswerPull) -> None:
        raise AssertionError(f"nobody pulls from {broker}: {answer}")

    def run(self, ms: int) -> None:
        """Let time pass; the controller scans as it does."""
        end_ms = self.scheduler.now_ms + ms
        while self.scheduler.now_ms < end_ms:
            step_ms = min(end_ms, self.scheduler.now_ms + self.plan.scan_ms)
            self.scheduler.after(step_ms - self.scheduler.now_ms, self.cluster.controller.scan)
            while self.scheduler.run_next(step_ms):
                pass

    def master(self) -> BrokerId:
        self.run(3_000)
        group = self.cluster.group
        assert group is not None
        assert group.master is not None
        assert group.members == self.cluster.nodes.keys()
        return group.master

    def put(self, number: int = 1) -> None:
        message = message_of_epoch(Epoch(1), number)
        self.cluster.call(self.master(), PutRequested(put=PutId(number), message=message))


def test_brokers_get_their_identities_and_one_becomes_master() -> None:
    world = World(brokers=3)
    master = world.master()
    states = {b: node.running() for b, node in world.cluster.nodes.items()}
    assert [b for b, state in states.items() if state.is_master] == [master]
    assert all(state.broker_id == b for b, state in states.items())


def test_a_message_is_safe_when_everybody_has_it() -> None:
    world = World()
    world.put()
    world.run(500)
    [answer] = world.answers
    assert answer.status is PutStatus.PUT_OK
    ends = {node.log.max_phy_offset for node in world.cluster.nodes.values()}
    assert ends == {answer.end}


@pytest.mark.parametrize(
    ("slow_ms", "status"), [(200, PutStatus.PUT_OK), (5_000, PutStatus.FLUSH_DISK_TIMEOUT)]
)
def test_a_slow_disk_makes_producers_wait(slow_ms: int, status: PutStatus) -> None:
    world = World(sync_flush=True)
    master = world.master()
    world.cluster.slow_disks[master] = (world.scheduler.now_ms + 60_000, slow_ms)
    world.put()
    world.run(150)
    assert world.answers == []
    world.run(6_000)
    assert [answer.status for answer in world.answers] == [status]
    assert world.cluster.counts.by_name() == {"slow-disk": 1}


@pytest.mark.parametrize("power", [True, False])
def test_only_who_lost_power_registers_with_a_torn_log(power: bool) -> None:
    world = World()
    node = world.cluster.nodes[ONE if world.master() == TWO else TWO]
    if power:
        node.lose_power(None)
    world.cluster.crash(node)
    world.cluster.restart(node)
    assert node.running().log_torn is power
    assert node.running().incarnation == 1
    assert world.cluster.starting == {node.id}
    while node.id in world.cluster.starting:
        assert world.scheduler.run_next(60_000)
    group = world.cluster.group
    assert group is not None
    assert group.unfit == ({node.id} if power else set())


def test_a_broker_that_stops_before_it_is_registered_is_torn_still() -> None:
    world = World()
    node = world.cluster.nodes[ONE if world.master() == TWO else TWO]
    node.lose_power(None)
    for _ in range(2):
        world.cluster.crash(node)
        world.cluster.restart(node)
        assert node.running().log_torn
    world.run(500)
    assert node.running().registration is Registration.REGISTERED
    world.cluster.crash(node)
    world.cluster.restart(node)
    assert not node.running().log_torn


def test_a_controller_that_was_away_knows_what_it_knew() -> None:
    world = World()
    master = world.master()
    before = world.cluster.group
    world.cluster.controller.stop_one()
    world.cluster.channels.refuse_all()
    world.run(50)
    world.cluster.controller.restart_stopped()
    after = world.cluster.group
    assert before is not None
    assert after is not None
    assert (after.master, after.master_epoch) == (master, before.master_epoch)
    assert after.sync_state_set == before.sync_state_set
    world.run(2_000)
    assert world.master() == master, "nobody was deposed"

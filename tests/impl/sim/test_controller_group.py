"""A controller group of three: it survives any minority, and its members agree on one state."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.controller.applied import Applied
from rocketha.controller.dledger_controller import (
    DLedgerControllerMachine,
)
from rocketha.controller.entry import Entry
from rocketha.controller.state_machine import ControllerStateMachine
from rocketha.controller.tables import push_tables
from rocketha.dledger.config import DLedgerConfig
from rocketha.errors import SnapshotError
from rocketha.formats.controller_codes import RequestCode, ResponseCode
from rocketha.formats.controller_request_codec import push_request
from rocketha.formats.controller_requests import (
    ApplyBrokerId,
    ControllerRequest,
    GetMetadataInfo,
    GetNextBrokerId,
)
from rocketha.formats.controller_responses import MetadataInfo, Reply, pull_reply
from rocketha.formats.dledger_entry_json import PUSHED_BODY_MAX
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.known_bugs import NO_BUGS, Bug, Bugs
from rocketha.recording.recorder import NOT_RECORDED
from rocketha.sim.engine.clock import TRUE_TIME
from rocketha.sim.engine.crash_points import CrashPoints
from rocketha.sim.engine.failure import CoreFailure
from rocketha.sim.engine.fault_injector import NO_FAULT_PLAN
from rocketha.sim.engine.faults import FaultCounts
from rocketha.sim.engine.network import Network
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED, PerPurposeStreams
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.engine.simulation import simulate
from rocketha.sim.replica_group.controller_channels import place_of
from rocketha.sim.replica_group.controller_group import ControllerGroup, ControllerMember
from rocketha.sim.replica_group.null_observer import NullGroupObserver
from rocketha.sim.replica_group.plan import draw_group_run
from rocketha.sim.replica_group.simulation import SIMULATION
from rocketha.types import BrokerId, ConnectionId, TimestampMs
from tests.impl.controller.scene import CLUSTER, GROUP, with_master

NEXT_ID = GetNextBrokerId(cluster_name=CLUSTER, broker_name=GROUP)


class World:
    """Hears what the members say. Implements `GroupListener`."""

    def __init__(self, members: int = 3, *, seed: int = 1, bugs: Bugs = NO_BUGS) -> None:
        self.said: list[tuple[ConnectionId, Reply]] = []
        self.entries: list[Entry] = []
        self.asked: dict[tuple[ConnectionId, int], RequestCode] = {}
        self.scheduler = Scheduler()
        streams = PerPurposeStreams(seed, UNRESTRICTED)
        plan = draw_group_run(streams, SimOptions(controllers=members, bugs=bugs))
        counts = FaultCounts()
        configs = tuple(
            [replace(one, enable_snapshot=True, snapshot_threshold=5) for one in plan.members]
        )
        self.group = ControllerGroup(
            configs,
            plan.controller,
            clocks=(TRUE_TIME,) * members,
            bugs=bugs,
            scheduler=self.scheduler,
            network=Network(self.scheduler, streams, counts=counts, plan=NO_FAULT_PLAN),
            random_source=streams,
            counts=counts,
            recording=NOT_RECORDED,
            crash_points=CrashPoints(),
            listener=self,
            has_doubled=False,
        )

    # ---- the listener ----

    def answer(self, channel: ConnectionId, data: bytes) -> None:
        pulled = pull_command(data)
        assert pulled is not None
        command = pulled[0]
        self.said.append((channel, pull_reply(command, self.asked[channel, command.opaque])))

    def close(self, channel: ConnectionId, *, reason: str) -> None:
        raise AssertionError(f"{channel}: {reason}")

    def notify_from(self, controller: int, address: str, data: bytes) -> None:
        del controller, address, data

    def applied(self, entry: Entry, events: object) -> None:
        del events
        self.entries.append(entry)

    def controller_stopped(self, controller: int) -> None:
        del controller

    # ---- what a test does ----

    def run(self, for_ms: int = 2_000) -> None:
        until_ms = self.scheduler.now_ms + for_ms
        while self.scheduler.run_next(until_ms):
            pass

    def lead(self) -> ControllerMember:
        """Wait for a leader that serves."""
        for _ in range(20):
            self.run(500)
            leader = self.group.leader()
            if leader is not None:
                return leader
        raise AssertionError("nobody leads")

    def ask(
        self, member: ControllerMember, request: ControllerRequest, number: int
    ) -> ConnectionId:
        channel = ConnectionId(100_000 * member.number + 1)
        assert place_of(channel) == member.number
        command = push_request(request, opaque=number)
        self.asked[channel, number] = RequestCode(command.code)
        self.group.received(channel, push_command(command))
        return channel

    def reply(self, member: ControllerMember, request: ControllerRequest, number: int) -> Reply:
        """Ask, and wait for the answer."""
        channel = self.ask(member, request, number)
        self.run(1_000)
        [(asked, reply)] = self.said
        assert asked == channel
        self.said.clear()
        return reply


def register(group: int) -> ApplyBrokerId:
    """Return a request that makes a broker group known."""
    return ApplyBrokerId(
        cluster_name=CLUSTER,
        broker_name=f"group-{group}",
        applied_broker_id=BrokerId(1),
        register_check_code=f"b{group};1",
    )


@pytest.mark.parametrize("members", [3, 5])
def test_what_was_answered_survives_the_leader(members: int) -> None:
    world = World(members)
    for number in range(3):
        leader = world.lead()
        assert world.reply(leader, register(number), number + 1).code is ResponseCode.SUCCESS
        world.group.crash(leader.machine)
        world.group.restart(leader.machine)
    leader = world.lead()
    assert {
        f"group-{number}" for number in range(3)
    } <= leader.machine.running().controller.state.groups.keys()
    assert world.group.has_settled


def test_a_member_that_does_not_lead_says_who_does() -> None:
    world = World()
    leader = world.lead()
    other = next(one for one in world.group.members.values() if one is not leader)
    assert world.reply(other, NEXT_ID, 1).code is ResponseCode.NOT_LEADER
    assert world.reply(other, register(1), 2).code is ResponseCode.NOT_LEADER
    said = world.reply(other, GetMetadataInfo(), 3).content
    assert isinstance(said, MetadataInfo)
    assert (said.leader_address, said.is_leader) == (leader.config.self_id, False)
    said = world.reply(leader, GetMetadataInfo(), 4).content
    assert isinstance(said, MetadataInfo)
    assert said.is_leader


def cut_off(world: World, leader: ControllerMember) -> None:
    """Let nobody hear the leader, and let it hear nobody, while a query and a write come to it."""
    for other in world.group.members.values():
        if other is not leader:
            world.group.network.block(leader.id, other.id)
            world.group.network.block(other.id, leader.id)
    world.ask(leader, NEXT_ID, 1)
    world.ask(leader, register(1), 2)


def test_a_leader_that_is_cut_off_answers_neither_writes_nor_queries() -> None:
    world = World()
    leader = world.lead()
    cut_off(world, leader)
    world.run(3_000)
    assert [reply.code for _, reply in world.said] == [ResponseCode.NOT_LEADER]  # of the query
    successor = world.group.leader()
    assert successor is not None
    assert successor is not leader
    groups = successor.machine.running().controller.state.groups
    assert "group-1" not in groups


def test_a_query_that_is_answered_without_a_majority_is_noticed() -> None:
    world = World(bugs=frozenset({Bug.LOCAL_READ}))
    cut_off(world, world.lead())
    world.run(3_000)
    assert [reply.code for _, reply in world.said] == [ResponseCode.SUCCESS]


def test_an_entry_that_no_majority_has_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    leader = world.lead()
    monkeypatch.setattr(DLedgerConfig, "is_quorum", lambda *_: True)
    cut_off(world, leader)
    with pytest.raises(CoreFailure, match="which 1 have on their disks"):
        world.run()


def test_a_member_that_was_away_for_long_is_refilled_by_a_snapshot() -> None:
    world = World()
    leader = world.lead()
    away = next(one for one in world.group.members.values() if one is not leader)
    world.group.crash(away.machine)
    for number in range(20):
        world.reply(leader, register(number), number + 1)
    assert leader.files().store.before_begin_index > away.files().store.end_index
    world.group.restart(away.machine)
    world.run(3_000)
    state = away.machine.running()
    assert state.node.pusher.snapshot_index > 0
    assert state.controller.state.groups == leader.machine.running().controller.state.groups


def test_a_member_that_makes_something_else_of_an_entry_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    leader = world.lead()
    other = next(one for one in world.group.members.values() if one is not leader)
    machine = other._service.machine
    right = machine.on_apply

    def wrong(entry: Entry) -> Applied:
        done = right(entry)
        return replace(
            done, state=replace(done.state, clock_ms=TimestampMs(done.state.clock_ms + 1))
        )

    class Wrong(ControllerStateMachine):
        __slots__ = ()
        on_apply = staticmethod(wrong)

    monkeypatch.setattr(other._service, "machine", Wrong())
    world.ask(leader, register(1), 1)
    with pytest.raises(CoreFailure, match="has another state than others"):
        world.run()


def test_a_snapshot_has_all_groups_and_damage_is_refused() -> None:
    machine = DLedgerControllerMachine(ControllerStateMachine())
    for entry in with_master(1, 2).entries:
        machine.machine.on_apply(entry)
    data = machine.on_snapshot_save()
    fresh = DLedgerControllerMachine(ControllerStateMachine())
    fresh.on_snapshot_load(data)
    assert fresh.machine.state == machine.machine.state
    for at in range(0, len(data), 7):
        damaged = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        with pytest.raises(SnapshotError):
            fresh.on_snapshot_load(damaged)


def test_a_snapshot_of_a_hundred_thousand_groups_has_room_in_a_request() -> None:
    machine, groups = DLedgerControllerMachine(ControllerStateMachine()), 1_000
    for number in range(groups):
        request = ApplyBrokerId(
            cluster_name=CLUSTER,
            broker_name=f"broker-{number}",
            applied_broker_id=BrokerId(1),
            register_check_code=f"10.0.{number}:10911;{number}",
        )
        machine.machine.on_apply(
            Entry(at_ms=TimestampMs(number), change=request, channel=ConnectionId(number))
        )
    tables, data = push_tables(machine.machine.state), machine.on_snapshot_save()

    assert len(tables) > 200 * groups
    assert len(data) * 100_000 / groups < PUSHED_BODY_MAX


def test_one_seed_is_one_run() -> None:
    runs = [
        simulate(SIMULATION, 3, SimOptions(controllers=3), NullGroupObserver()) for _ in range(2)
    ]
    assert runs[0].report == runs[1].report
    assert runs[0].clients.content() == runs[1].clients.content()

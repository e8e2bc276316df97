"""Whom each nemesis of a DLedger group cuts off or stops, and for how long."""

from __future__ import annotations

from typing import Final

import pytest

from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.sim.dledger.cluster import DLedgerCluster, NullDLedgerObserver
from rocketha.sim.dledger.nemeses import Nemeses
from rocketha.sim.dledger.plan import NEMESES, draw_dledger_run
from rocketha.sim.engine.faults import NO_FAULTS, Fault, FaultCounts
from rocketha.sim.engine.network import Network
from rocketha.sim.engine.options import BROKERS_MAX, SimOptions
from rocketha.sim.engine.random_source import Injection, InjectionPoint, PerPurposeStreams
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.types import BrokerId

STRIKES: Final = range(1, 9)
SIZES: Final = (3, 5)
LONGEST_MS: Final = 2_500


class WatchedNetwork(Network):
    """A network that tells who does not hear whom."""

    def __init__(self, scheduler: Scheduler, streams: PerPurposeStreams) -> None:
        plan = draw_dledger_run(streams, SimOptions(faults=NO_FAULTS)).faults
        super().__init__(scheduler, streams, counts=FaultCounts(), plan=plan)
        self.blocked: set[tuple[BrokerId, BrokerId]] = set()

    def block(self, sender: BrokerId, receiver: BrokerId) -> None:
        self.blocked.add((sender, receiver))
        super().block(sender, receiver)

    def unblock(self, sender: BrokerId, receiver: BrokerId) -> None:
        self.blocked.discard((sender, receiver))
        super().unblock(sender, receiver)


class Scene:
    """A group of which nobody asks anything, and one strike after the other."""

    def __init__(self, size: int, seed: int = 0) -> None:
        self.scheduler = Scheduler()
        self.streams = PerPurposeStreams(seed, now_ms=lambda: self.scheduler.now_ms)
        self.network = WatchedNetwork(self.scheduler, self.streams)
        self.counts = FaultCounts()
        self.group = DLedgerCluster(
            plan=draw_dledger_run(self.streams, SimOptions(brokers=size, faults=NO_FAULTS)),
            scheduler=self.scheduler,
            network=self.network,
            random_source=self.streams,
            counts=self.counts,
            observer=NullDLedgerObserver(),
        )
        self.group.begin()

    def strike(self, fault: Fault, number: int) -> None:
        injection = Injection(self.streams, InjectionPoint(fault, "", number))
        Nemeses(self.group).handlers()[fault](injection)

    def heard_by(self, node: BrokerId) -> frozenset[BrokerId]:
        """Return whom a node hears; nobody hears those whom it does not hear."""
        blocked = self.network.blocked
        assert all((b, a) in blocked for a, b in blocked)
        return frozenset(one for one in self.group.nodes if (one, node) not in blocked)

    def all_heard(self) -> list[frozenset[BrokerId]]:
        return [self.heard_by(node) for node in self.group.nodes]

    def go_on(self, wait_ms: int) -> None:
        until_ms = self.scheduler.now_ms + wait_ms
        while self.scheduler.run_next(until_ms):
            pass


def struck(fault: Fault, size: int, number: int) -> list[frozenset[BrokerId]]:
    """Return whom each hears during a strike; all hear all after it."""
    scene = Scene(size)
    scene.strike(fault, number)
    found = scene.all_heard()
    assert scene.counts.by_name() == ({fault.value: 1} if scene.network.blocked else {})
    scene.go_on(299)
    assert scene.all_heard() == found
    scene.go_on(LONGEST_MS)
    assert scene.network.blocked == set()
    return found


@pytest.mark.parametrize("number", STRIKES)
@pytest.mark.parametrize("size", SIZES)
def test_a_random_node_hears_nobody_but_itself_and_all_others_hear_each_other(
    size: int, number: int
) -> None:
    heard = struck(Fault.PARTITION_RANDOM_NODE, size, number)

    assert sorted(map(len, heard)) == [1, *[size - 1] * (size - 1)]


@pytest.mark.parametrize("number", STRIKES)
@pytest.mark.parametrize("size", SIZES)
def test_of_two_halves_each_hears_itself(size: int, number: int) -> None:
    heard = struck(Fault.PARTITION_RANDOM_HALVES, size, number)
    left, right = sorted(set(heard), key=len)

    assert (len(left), len(right)) == (size // 2, size - size // 2)
    assert not left & right
    assert all(node in heard[node - 1] for node in left | right)


@pytest.mark.parametrize("number", STRIKES)
@pytest.mark.parametrize("size", SIZES)
def test_over_a_bridge_exactly_one_node_hears_all_and_no_other_hears_both_halves(
    size: int, number: int
) -> None:
    heard = struck(Fault.BRIDGE, size, number)
    bridge = [node for node, whom in enumerate(heard, 1) if len(whom) == size]

    assert len(bridge) == 1
    without = {frozenset(whom - set(bridge)) for whom in heard if len(whom) < size}
    left, right = without
    assert not left & right
    assert len(left | right) == size - 1


@pytest.mark.parametrize("number", STRIKES)
@pytest.mark.parametrize("size", range(3, BROKERS_MAX + 1))
def test_in_a_ring_each_hears_a_majority_and_no_two_the_same(size: int, number: int) -> None:
    heard = struck(Fault.PARTITION_MAJORITIES_RING, size, number)

    assert all(len(whom) > size // 2 for whom in heard)
    assert len(set(heard)) == size
    if size == 5:
        assert {len(whom) for whom in heard} == {3}


@pytest.mark.parametrize("fault", NEMESES)
@pytest.mark.parametrize("size", [1, 2])
def test_a_group_too_small_for_a_nemesis_is_left_alone_or_comes_back(
    size: int, fault: Fault
) -> None:
    for number in STRIKES:
        scene = Scene(size)
        scene.strike(fault, number)
        scene.go_on(LONGEST_MS)
        assert scene.network.blocked == set()
        assert len(scene.group.up()) == size


def test_a_ring_of_two_would_leave_nobody_a_majority_so_nothing_is_cut() -> None:
    for size in (1, 2):
        assert (
            struck(Fault.PARTITION_MAJORITIES_RING, size, 1)
            == [frozenset(BrokerId(node) for node in range(1, size + 1))] * size
        )


@pytest.mark.parametrize("fault", [Fault.KILL_RANDOM_PROCESSES, Fault.CRASH_RANDOM_NODES])
@pytest.mark.parametrize("size", SIZES)
def test_a_minority_stops_and_comes_back(size: int, fault: Fault) -> None:
    stopped = set()
    for number in STRIKES:
        scene = Scene(size)
        scene.go_on(1_000)
        scene.strike(fault, number)
        down = size - len(scene.group.up())
        assert scene.counts.by_name() == {fault.value: down}
        stopped.add(down)
        scene.go_on(299)
        assert size - len(scene.group.up()) == down
        scene.go_on(LONGEST_MS)
        assert len(scene.group.up()) == size
    assert stopped == set(range(1, (size - 1) // 2 + 1))


def test_a_killed_process_leaves_what_it_wrote_and_a_crashed_machine_may_not() -> None:
    kept: dict[Fault, list[bool]] = {}
    for fault in (Fault.KILL_RANDOM_PROCESSES, Fault.CRASH_RANDOM_NODES):
        for number in range(1, 25):
            scene = Scene(3, seed=number)
            scene.go_on(1_000)
            leader = scene.group.leader()
            assert leader is not None
            term = leader.state.elector.member.curr_term
            for _ in range(3):
                leader.files().store.append(DLedgerEntryType.NORMAL, term, b"written")
            assert leader.machine.unsynced == 3
            end = leader.files().store.end_index
            scene.strike(fault, number)
            if leader.host.is_up:
                continue
            if fault is Fault.KILL_RANDOM_PROCESSES:
                in_order = number % 2 == 1
                assert leader.machine.unsynced == (0 if in_order else 3)
            leader.start()
            kept.setdefault(fault, []).append(leader.files().store.end_index == end)

    assert set(kept[Fault.KILL_RANDOM_PROCESSES]) == {True}
    assert False in kept[Fault.CRASH_RANDOM_NODES]


@pytest.mark.parametrize("size", SIZES)
def test_the_hammer_stops_a_minority_and_ends_nobody(size: int) -> None:
    stood_still = set()
    for number in STRIKES:
        scene = Scene(size)
        scene.go_on(1_000)
        scene.strike(Fault.HAMMER_TIME, number)
        now = scene.scheduler.now_ms
        still = [one for one in scene.group.members.values() if one._still_until_ms > now]
        assert scene.counts.by_name() == {Fault.HAMMER_TIME.value: len(still)}
        assert len(scene.group.up()) == size
        assert all(300 <= one._still_until_ms - now < LONGEST_MS for one in still)
        stood_still.add(len(still))
    assert stood_still == set(range(1, (size - 1) // 2 + 1))

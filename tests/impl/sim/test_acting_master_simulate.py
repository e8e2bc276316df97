"""Runs of groups whose slaves act: reproducible, full of faults, and all comes to its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

import pytest

from rocketha.escape.events import EscapeActionName
from rocketha.histories import Broken
from rocketha.histories.acting_master import ActingMasterKept, MessageKind
from rocketha.histories.verdicts import Promise
from rocketha.known_bugs import ESCAPE_BUGS, PRE_ONLINE_BUGS, ROUTE_BUGS, Bug
from rocketha.pre_online.events import PreOnlineActionName
from rocketha.sim.acting_master.cluster import ActingMasterCluster
from rocketha.sim.acting_master.nodes import BrokerStepped
from rocketha.sim.acting_master.plan import group_of, number_in_group
from rocketha.sim.acting_master.simulation import SIMULATION
from rocketha.sim.engine.faults import ACTING_MASTER_FAULTS, NO_FAULTS
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.engine.simulation import SimulatedRun, simulate
from rocketha.types import MASTER, BrokerId

SEEDS: Final = range(16)
WITHIN: Final = "of them smaller by less than a step"
"""Where the larger offset is taken there are none."""


class Watch:
    """An observer that notes what brokers do, and who acts for whom."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, str]] = []
        self.actions: Counter[str] = Counter()
        self.acted: Counter[str] = Counter()
        self.came_back: Counter[str] = Counter()
        self.cluster: ActingMasterCluster | None = None
        self._acts: set[BrokerId] = set()

    def stepped(self, cluster: ActingMasterCluster, step: BrokerStepped) -> None:
        self.cluster = cluster
        self.lines.append((cluster.scheduler.now_ms, repr(step)))
        if step.action is not None:
            self.actions[step.action.name] += 1
        if step.action is not None and step.action.name is PreOnlineActionName.GO_ONLINE:
            self.came_back[group_of(step.broker)] += 1
        acts = cluster.brokers[step.broker].running().services.acts
        is_slave = number_in_group(step.broker) != MASTER
        if acts and is_slave and step.broker not in self._acts:
            self.acted[group_of(step.broker)] += 1
        (self._acts.add if acts else self._acts.discard)(step.broker)


Runs = list[tuple[SimulatedRun, Watch]]


@pytest.fixture(scope="module")
def runs() -> Runs:
    return [run(seed) for seed in SEEDS]


def run(seed: int, options: SimOptions | None = None) -> tuple[SimulatedRun, Watch]:
    watch = Watch()
    return simulate(SIMULATION, seed, options or SimOptions(), watch), watch


def kept(runs: Iterable[tuple[SimulatedRun, Watch]]) -> list[ActingMasterKept]:
    verdicts = [simulated.check() for simulated, _ in runs]
    return [one for one in verdicts if isinstance(one, ActingMasterKept)]


def test_the_same_seed_gives_the_same_run(runs: Runs) -> None:
    again, watch = run(2)

    assert again == runs[2][0]
    assert watch.lines == runs[2][1].lines


def test_a_master_whose_log_ends_with_filler_comes_back_to_life() -> None:
    """A power cut takes what it had appended behind the filler, in another file."""
    assert run(3251)[0].report.converged


def test_all_is_well_in_the_end(runs: Runs) -> None:
    assert [one.report.seed for one, _ in runs if not one.report.converged] == []
    assert len(kept(runs)) == len(runs)
    for _, watch in runs:
        assert watch.cluster is not None
        for number, node in watch.cluster.brokers.items():
            assert node.running().services.acts == (number in watch.cluster.masters)


def test_every_kind_of_message_and_fault_is_seen(runs: Runs) -> None:
    sums: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    for verdict in kept(runs):
        sums.update(verdict.parts)
    for simulated, _ in runs:
        faults.update(simulated.report.faults)

    assert set(faults) == {fault.value for fault in ACTING_MASTER_FAULTS}
    assert all(sums[f"{kind} messages"] > len(runs) for kind in MessageKind)
    assert [name for name, count in sums.items() if not count] == [WITHIN], sums


def test_slaves_act_again_and_again_and_masters_come_back(runs: Runs) -> None:
    for _, watch in runs:
        assert watch.cluster is not None
        groups = {group_of(number) for number in watch.cluster.masters}
        assert set(watch.came_back) == groups
    assert sum(sum(watch.acted.values()) for _, watch in runs) > 2 * len(runs)
    assert sum(sum(watch.came_back.values()) for _, watch in runs) > 3 * len(runs)


def test_parts_take_the_actions_of_their_specifications(runs: Runs) -> None:
    actions: Counter[str] = Counter()
    for _, watch in runs:
        actions += watch.actions

    of_escape = {
        EscapeActionName.ACT,
        EscapeActionName.LEARN_ROUTE,
        EscapeActionName.PUT,
        EscapeActionName.HEAR_PUT,
        EscapeActionName.FAIL_PUT,
        EscapeActionName.SAVE,
        EscapeActionName.STORE,
        EscapeActionName.CHECK_POINT,
        EscapeActionName.ACKNOWLEDGE,
        EscapeActionName.ACCEPT,
    }
    of_pre_online = set(PreOnlineActionName) - {PreOnlineActionName.REGISTER}
    assert {str(one) for one in of_escape | of_pre_online} <= set(actions)
    assert EscapeActionName.PUT_HERE not in actions


def test_a_master_may_be_late(runs: Runs) -> None:
    late = [watch.cluster.plan.late for _, watch in runs if watch.cluster is not None]

    assert 0 < sum(one is not None for one in late) < len(late)


def test_a_group_may_have_one_slave_or_two() -> None:
    plans = [
        SIMULATION.draw_plan(PerPurposeStreams(seed), SimOptions(brokers=brokers))
        for seed in range(12)
        for brokers in (2, 3)
    ]

    sizes = {max(number_in_group(number) for number, _ in plan.brokers) for plan in plans}
    groups = {len({group_of(number) for number, _ in plan.brokers}) for plan in plans}
    assert (sizes, groups) == ({1, 2}, {2, 3})


def test_without_faults_nothing_strikes() -> None:
    simulated, _ = run(5, SimOptions(faults=NO_FAULTS))

    assert (simulated.report.converged, simulated.report.faults) == (True, {})


SEEN_BY_CLIENTS: Final = {
    Bug.B76: (0, Promise.CARRIED),
    Bug.MEETS: (1, Promise.DONE_WITH),
    Bug.SENT: (1, Promise.DELIVERED),
    Bug.SKIPS: (1, Promise.DELIVERED),
    Bug.STAYS_HALF: (1, Promise.COMMITTED),
    Bug.UNASKED: (0, Promise.COMMITTED),
    Bug.VERSIONS: (4, Promise.CARRIED),
}
"""The first seed at which a promise is broken, and which one."""


@pytest.mark.parametrize("bug", SEEN_BY_CLIENTS)
def test_clients_see_a_bug(bug: Bug) -> None:
    seed, promise = SEEN_BY_CLIENTS[bug]
    simulated, _ = run(seed, SimOptions(bugs=frozenset({bug})))
    verdict = simulated.check()

    assert isinstance(verdict, Broken)
    assert verdict.promise == promise


STAYS_DEAD: Final = {Bug.B47: 3, Bug.B48: 1}
"""The first seed at which something is never delivered, or never copied."""


@pytest.mark.parametrize("bug", STAYS_DEAD)
def test_a_run_does_not_come_to_its_end(bug: Bug) -> None:
    simulated, _ = run(STAYS_DEAD[bug], SimOptions(bugs=frozenset({bug})))

    assert not simulated.report.converged


def test_bugs_that_nothing_here_can_show_are_none_of_it() -> None:
    parts = ESCAPE_BUGS | PRE_ONLINE_BUGS | ROUTE_BUGS

    assert set(SEEN_BY_CLIENTS) | set(STAYS_DEAD) < SIMULATION.bugs < parts
    assert parts - SIMULATION.bugs == {
        Bug.B40,
        Bug.B40_FORGOTTEN,
        Bug.B43,
        Bug.B51,
        Bug.LOCAL_FIRST,
        Bug.NAMES,
    }


def test_with_rocketmqs_defaults_nothing_is_put_over_the_network() -> None:
    simulated = [run(seed, SimOptions(rocketmq_defaults=True)) for seed in range(3)]

    assert all(one.report.converged for one, _ in simulated)
    assert [verdict.elsewhere for verdict in kept(simulated)] == [0, 0, 0]
    for _, watch in simulated:
        assert watch.cluster is not None
        assert watch.cluster.plan.late is None

"""A stream for each purpose: what is left out leaves everything else as it is."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import (
    Injection,
    InjectionPoint,
    PerPurposeStreams,
    Schedule,
)
from rocketha.sim.engine.simulation import SimulatedRun, simulate
from rocketha.sim.replica_group.null_observer import NullGroupObserver
from rocketha.sim.replica_group.simulation import SIMULATION

STRUCK = InjectionPoint("reset", "", 2)
TIMED = {Fault.POWER_CUT, Fault.PARTITION, Fault.CHANNEL_RESET, Fault.DESIGNATE, Fault.RESET}


def numbers(rng: Random) -> list[int]:
    return [rng.randrange(1_000_000) for _ in range(5)]


def test_a_stream_does_not_notice_what_others_draw() -> None:
    alone = numbers(PerPurposeStreams(7).of("network", 1, 2))
    streams = PerPurposeStreams(7)
    for other in (("network", 2, 1), ("network", 1, 3), ("gap", "reset", "")):
        numbers(streams.of(*other))
    numbers(streams.once(STRUCK))
    assert numbers(streams.of("network", 1, 2)) == alone
    assert numbers(streams.of("network", 1, 2)) != alone, "it goes on"


def test_streams_differ_by_seed_and_purpose_and_are_the_same_everywhere() -> None:
    drawn = [numbers(PerPurposeStreams(seed).of(name)) for seed in (0, 1) for name in ("a", "b")]
    assert len({tuple(one) for one in drawn}) == 4
    assert PerPurposeStreams(0).of("plan").randrange(1_000_000) == 245_390


def test_a_part_of_what_happens_can_be_left_out_by_itself() -> None:
    half_open = InjectionPoint("half-open", "reset", 2)
    for only, parts in (({STRUCK}, []), ({STRUCK, half_open}, [half_open])):
        streams = PerPurposeStreams(1, Schedule(only=frozenset(only)))
        injection = Injection(streams, STRUCK)
        assert injection.part("half-open", "nobody is told") is bool(parts)
        assert [injected.point for injected in streams.injected] == parts


@pytest.mark.parametrize(
    ("stop_ms", "healed_ms", "allowed"),
    [(None, None, False), (None, 5, True), (9, 5, False), (9, None, False)],
)
def test_clients_are_free_again_in_a_run_that_heals(
    stop_ms: int | None, healed_ms: int | None, allowed: bool
) -> None:
    streams = PerPurposeStreams(1, Schedule(only=frozenset(), stop_ms=stop_ms))
    streams.healed_ms = healed_ms
    assert streams.allows(InjectionPoint("pull", "c1", 30)) is allowed


SEED = 3


@cache
def whole() -> SimulatedRun:
    return simulate(SIMULATION, SEED, SimOptions(), NullGroupObserver())


def part(schedule: Schedule) -> SimulatedRun:
    return simulate(SIMULATION, SEED, SimOptions(), NullGroupObserver(), schedule)


def test_a_run_of_which_nothing_is_left_out_is_the_run() -> None:
    everything = frozenset(injected.point for injected in whole().injected)
    assert len(everything) == len(whole().injected) > 100
    assert part(Schedule(only=everything)) == whole()


def test_what_is_left_out_does_not_happen_and_other_strikes_come_when_they_came() -> None:
    struck = {h.point: h.at_ms for h in whole().injected if h.point.kind in TIMED}
    first = min(struck, key=lambda one: struck[one])
    rest = frozenset(injected.point for injected in whole().injected) - {first}
    run = part(Schedule(only=rest))
    again = {h.point: h.at_ms for h in run.injected if h.point.kind in TIMED}
    assert first not in again
    assert len(again) > 3
    assert {one: at_ms for one, at_ms in struck.items() if one in again} == again


def test_a_run_ends_when_its_schedule_says_so() -> None:
    stop_ms = whole().injected[len(whole().injected) // 2].at_ms
    run = part(Schedule(stop_ms=stop_ms))
    assert run.report.virtual_ms <= stop_ms
    assert run.healed_ms is None
    assert run.injected == tuple(h for h in whole().injected if h.at_ms <= stop_ms)
    assert not run.report.converged
    assert run.report.lives, "nobody says that it stays dead"


def test_faults_end_when_a_schedule_says_so() -> None:
    run = part(Schedule(only=frozenset(), heal_ms=1_000))
    assert run.report.faults == {}
    assert run.healed_ms is not None
    assert run.healed_ms <= 1_000
    assert run.report.converged
    assert {injected.point.kind for injected in run.injected} <= {"pull", "probe"}

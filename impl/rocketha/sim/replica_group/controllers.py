"""What a simulated broker group asks: one controller or a group of them, and the channels to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rocketha.controller.host import Channels as ChannelsPort
from rocketha.controller.host import ControllerRecorder
from rocketha.recording.recorder import Recording
from rocketha.sim.engine.crash_points import CrashPoints
from rocketha.sim.engine.faults import Fault, FaultCounts
from rocketha.sim.engine.network import Network
from rocketha.sim.engine.random_source import RandomSource
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.replica_group.channels import Channels, Peers
from rocketha.sim.replica_group.controller import ControllerMachine
from rocketha.sim.replica_group.controller_channels import ControllerChannels
from rocketha.sim.replica_group.controller_group import ControllerGroup, GroupListener
from rocketha.sim.replica_group.plan import GroupPlan

__all__ = ["Around", "Surroundings", "group_of", "single"]


class Around(Peers, ChannelsPort, ControllerRecorder, GroupListener, Protocol):
    """Who hears what controllers say, and what is said to them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the engine gives to controllers and channels."""

    scheduler: Scheduler
    random_source: RandomSource
    counts: FaultCounts
    recording: Recording
    crash_points: CrashPoints


def single(
    around: Around, plan: GroupPlan, given: Surroundings
) -> tuple[Channels, ControllerMachine]:
    """Make the channels to one controller, and let it come up."""
    channels = Channels(
        around,
        scheduler=given.scheduler,
        random_source=given.random_source,
        counts=given.counts,
        faults=plan.channels,
    )
    controller = ControllerMachine(
        plan.controller,
        clock=plan.controller_clock,
        scheduler=given.scheduler,
        rng=given.random_source.of("controller"),
        channels=around,
        recorder=around,
        recording=given.recording,
        broker_name=plan.broker.broker_name,
        scan_ms=plan.scan_ms,
    )
    return channels, controller


def group_of(
    around: Around, plan: GroupPlan, network: Network, given: Surroundings
) -> tuple[ControllerChannels, ControllerGroup]:
    """Make the channels to the members of the plan, and let these come up."""
    channels = ControllerChannels(
        around,
        names=tuple([config.self_id for config in plan.members]),
        leader=lambda: group.leader_place,
        scheduler=given.scheduler,
        random_source=given.random_source,
        counts=given.counts,
        faults=plan.channels,
    )
    group = ControllerGroup(
        plan.members,
        plan.controller,
        clocks=plan.member_clocks,
        bugs=plan.bugs,
        scheduler=given.scheduler,
        network=network,
        random_source=given.random_source,
        counts=given.counts,
        recording=given.recording,
        crash_points=given.crash_points,
        listener=around,
        has_doubled=Fault.CONTROLLER_DUPLICATE in plan.faults,
    )
    return channels, group

"""A simulated run of any protocol: faults until enough has happened, then none until all is well.

A protocol brings one `Simulation`: how a plan is drawn from the seed, and the workload that runs a
cluster by it. Everything else is the engine's: virtual time, a random stream for each purpose, the
schedule that leaves things out, the two phases, and the report. So the same seed, options and
schedule give the same run, always and everywhere, whatever the protocol is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar

from rocketha.histories.clients import ClientHistory
from rocketha.histories.verdicts import AnyVerdict, Broken
from rocketha.known_bugs import Bugs
from rocketha.obligations.obligation import (
    Obligation,
    ObligationFindings,
    RecordedRun,
    check_obligations,
)
from rocketha.recording.record import NodeHeader, NodeRecord
from rocketha.recording.recorder import NOT_RECORDED, MachineRecording, Recording
from rocketha.sim.engine.clock import MachineClock
from rocketha.sim.engine.crash_points import CrashPoints, DiskUse
from rocketha.sim.engine.failure import CoreFailure
from rocketha.sim.engine.faults import Fault, FaultCounts, FaultPlan
from rocketha.sim.engine.network import Network
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import (
    UNRESTRICTED,
    InjectedEvent,
    PerPurposeStreams,
    Schedule,
)
from rocketha.sim.engine.report import SimReport
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.types import TimestampMs

__all__ = [
    "Environment",
    "Limits",
    "RunPlan",
    "SimulatedRun",
    "Simulation",
    "Workload",
    "simulate",
]

P = TypeVar("P", bound="RunPlan")
O = TypeVar("O")  # noqa: E741

_NEVER_MS: Final = 1 << 62
_STOPPED: Final = "its schedule stopped it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What the engine gives to a run."""

    options: SimOptions
    scheduler: Scheduler
    streams: PerPurposeStreams
    counts: FaultCounts
    recording: Recording = NOT_RECORDED
    """Where nodes write what they saw and did."""
    crash_points: CrashPoints = field(default_factory=CrashPoints)
    """Where they may end in the middle of a step."""

    def network(self, faults: FaultPlan, *, servers_linger: bool = True) -> Network:
        """Make a network without connections, with these faults (see `Network`)."""
        return Network(
            self.scheduler,
            self.streams,
            counts=self.counts,
            plan=faults,
            servers_linger=servers_linger,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a run ends that does not end by itself."""

    faults_end_ms: int = 60_000
    """A run that takes few actions ends its fault phase then."""
    healing_ms: int = 60_000
    """A healed cluster that did not converge in this time never will."""
    healing_actions: int = 400
    """Nor does one that took so many actions since."""


class RunPlan(Protocol):
    """What was drawn for a run, as far as the engine looks at it."""

    @property
    def steps(self) -> int:
        """Actions before the faults end and the cluster heals."""
        ...

    @property
    def faults(self) -> FaultPlan:
        """The faults of the run."""
        ...


class Workload(Protocol):
    """A cluster, and everything that happens to it: clients, services, faults."""

    @property
    def actions(self) -> int:
        """Actions of the specification that were taken so far."""
        ...

    def begin(self) -> None:
        """Put everything in motion."""
        ...

    def heal(self) -> None:
        """End all faults: what is down comes back, everybody hears everybody."""
        ...

    def converged(self) -> bool:
        """Tell whether all is well."""
        ...

    def unavailable_because(self) -> str | None:
        """Return why it cannot become well, whatever the nodes do; None if it can."""
        ...

    def clients(self, *, converged: bool) -> ClientHistory:
        """Return what clients saw, at the end of the run."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation(Generic[P, O]):
    """The plug of a protocol."""

    name: str
    """As in `spec/<name>/`."""
    faults: tuple[Fault, ...]
    """What can go wrong in its runs. The order is part of a seed."""
    bugs: Bugs
    """The switches that its cores have."""
    draw_plan: Callable[[PerPurposeStreams, SimOptions], P]
    workload: Callable[[Environment, P, O], Workload]
    """Makes a cluster that an observer watches, and what happens to it."""
    unobserved: Callable[[], O]
    """Makes an observer that does not look."""
    clients: str
    """What is counted when promises to its clients are kept, in the plural."""
    obligations: tuple[Obligation, ...] = ()
    """What its nodes must do in time; with any, every run is recorded."""
    limits: Limits = Limits()
    has_controllers: bool = False
    """Its controllers may be members of a group (`SimOptions.controllers`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedRun:
    """What came out of a run."""

    report: SimReport
    clients: ClientHistory
    injected: tuple[InjectedEvent, ...]
    """What came to pass and could have been left out, in its order."""
    healed_ms: int | None
    """When the faults ended; None: they had not when the run was stopped."""
    seams: Mapping[str, int]
    """Node -> how often it could have ended between two effects of a step."""
    disk_use: Mapping[str, Sequence[DiskUse]]
    """Node -> its effects and starts that changed its disk, of nodes that end in the middle."""
    obligations: ObligationFindings
    """What nodes had to do in time, and what they missed."""

    def check(self) -> AnyVerdict:
        """Hold what clients saw against what is promised, and then nodes against what they owe."""
        verdict = self.clients.check()
        if isinstance(verdict, Broken):
            return verdict
        return self.obligations.broken or verdict


class _RecordKeeper:
    """Keeps what nodes write, and hands it on."""

    def __init__(self, write: Callable[[NodeHeader | NodeRecord], None] | None) -> None:
        self._write = write
        self._headers: dict[str, NodeHeader] = {}
        self._records: list[NodeRecord] = []

    def write(self, line: NodeHeader | NodeRecord) -> None:
        if isinstance(line, NodeHeader):
            self._headers[line.node] = line
        else:
            self._records.append(line)
        if self._write is not None:
            self._write(line)

    def run(self, *, ended_ms: int, healed_ms: int | None) -> RecordedRun:
        return RecordedRun(
            headers=self._headers,
            records=self._records,
            ended_ms=TimestampMs(ended_ms),
            healed_ms=None if healed_ms is None else TimestampMs(healed_ms),
        )


def simulate(
    simulation: Simulation[P, O],
    seed: int,
    options: SimOptions,
    observer: O,
    schedule: Schedule = UNRESTRICTED,
    *,
    write: Callable[[NodeHeader | NodeRecord], None] | None = None,
    errors_are_failures: bool = False,
) -> SimulatedRun:
    """Run a protocol; the same arguments give the same run, always and everywhere.

    With `write`, or with obligations, nodes are recorded; that changes nothing. An error is raised,
    or is the failure that ends the run: then what happened before can be judged.
    """
    scheduler, counts = Scheduler(), FaultCounts()
    streams = PerPurposeStreams(seed, schedule, lambda: scheduler.now_ms)
    plan = simulation.draw_plan(streams, options)
    recording: Recording = NOT_RECORDED
    keeper = _RecordKeeper(write)
    if write is not None or simulation.obligations:
        recording = MachineRecording(simulation.name, keeper.write, MachineClock(scheduler))
    environment = Environment(
        options=options,
        scheduler=scheduler,
        streams=streams,
        counts=counts,
        recording=recording,
        crash_points=CrashPoints(schedule.crash_point),
    )
    workload = simulation.workload(environment, plan, observer)
    try:
        failure = _run_phases(
            workload, environment, steps=plan.steps, limits=simulation.limits, schedule=schedule
        )
    except Exception as error:
        if not errors_are_failures:
            raise
        failure = f"{type(error).__name__}: {error}"
    converged = failure is None and workload.converged()
    because = None
    if not converged and failure is None:
        stopped = schedule.stop_ms is not None
        because = _STOPPED if stopped else workload.unavailable_because()
    report = SimReport(
        seed=seed,
        actions=workload.actions,
        virtual_ms=scheduler.now_ms,
        faults=counts.by_name(),
        converged=converged,
        failure=failure,
        unavailable_because=because,
    )
    recorded = keeper.run(ended_ms=scheduler.now_ms, healed_ms=streams.healed_ms)
    return SimulatedRun(
        report=report,
        clients=workload.clients(converged=converged),
        injected=tuple(streams.injected),
        healed_ms=streams.healed_ms,
        obligations=check_obligations(simulation.obligations, recorded),
        seams=dict(environment.crash_points.passed),
        disk_use=environment.crash_points.disk_use,
    )


def _run_phases(
    workload: Workload,
    environment: Environment,
    *,
    steps: int,
    limits: Limits,
    schedule: Schedule,
) -> str | None:
    """Run a workload; return why the run ended early, if it did.

    The schedule may end the faults, and the run, at a time of its own.
    """
    scheduler = environment.scheduler
    stop_ms = schedule.stop_ms if schedule.stop_ms is not None else _NEVER_MS
    heal_ms = schedule.heal_ms if schedule.heal_ms is not None else limits.faults_end_ms
    wanted = steps if schedule.heal_ms is None else _NEVER_MS
    try:
        workload.begin()
        until_ms = min(heal_ms, stop_ms)
        while workload.actions < wanted and scheduler.run_next(until_ms):
            pass
        if workload.actions < wanted and heal_ms >= stop_ms:
            return None
        environment.streams.healed_ms = scheduler.now_ms
        workload.heal()
        end_ms = min(scheduler.now_ms + limits.healing_ms, stop_ms)
        end_actions = workload.actions + limits.healing_actions
        while not _is_over(workload) and workload.actions < end_actions:
            if not scheduler.run_next(end_ms):
                break
    except CoreFailure as error:
        return str(error)
    return None


def _is_over(workload: Workload) -> bool:
    return workload.converged() or workload.unavailable_because() is not None

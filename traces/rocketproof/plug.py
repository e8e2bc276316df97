"""What a protocol brings to the command: its specification, its simulation, its projection.

A protocol is a folder in `rocketproof.protocols` with a `PLUG`. Whatever makes runs (`simulate`,
`campaign`, `shrink`, corpora, the search for known bugs) asks plugs only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Generic, TypeVar

from rocketha.histories import AnyVerdict
from rocketha.histories.clients import ClientHistory
from rocketha.known_bugs import Bug, Bugs
from rocketha.obligations.obligation import ObligationFindings
from rocketha.recording.node_log import NodeLines, NodeLog
from rocketha.recording.record import NodeHeader, NodeRecord, RecordError
from rocketha.sim.engine.crash_points import DiskUse
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED, InjectedEvent
from rocketha.sim.engine.report import SimReport
from rocketha.sim.engine.simulation import SimulatedRun, Simulation, simulate
from rocketproof import __version__
from rocketproof.projected_trace import ProjectedTrace
from rocketproof.record_projection import RecordProjection, project
from rocketproof.schedule import Scheduled, schedule_json
from tlatrace.errors import ModelGapError, SpecError
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.trace import Header, Implementation, Trace
from tlatrace.values import Json, State

__all__ = ["ProtocolPlug", "Run", "RunTraces", "spec_sha256"]

O = TypeVar("O")  # noqa: E741


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTraces:
    """One simulated run in the words of its specification."""

    trace: Trace
    """Of several traces the longest; without events if there is none."""
    traces: tuple[Trace, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(RunTraces):
    """One simulated run: its traces, and what the simulator says of it."""

    report: SimReport
    clients: ClientHistory
    verdict: AnyVerdict
    """What is promised to clients, and then what nodes owe, held against what they did."""
    obligations: ObligationFindings
    injected: tuple[InjectedEvent, ...]
    """What a schedule could leave out."""
    healed_ms: int | None
    """When its faults ended."""
    seams: Mapping[str, int]
    """Node -> how often it could have ended between two effects of a step."""
    disk_use: Mapping[str, Sequence[DiskUse]]
    """Node -> its effects and starts in the middle of which it could have ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolPlug(Generic[O]):
    """A protocol of which the implementation can be simulated."""

    spec: str
    """The TLA+ module, in `spec/<name>/`; empty, where it has none (`held_by`)."""
    simulation: Simulation[Any, Any]
    """Its observers are what `projection` makes."""
    projection: Callable[[], O]
    """Makes an observer of a run."""
    traces: Callable[[O, SimulatedRun, SimOptions], Sequence[ProjectedTrace]]
    """What the observer has made of a run that is over."""
    changes: Callable[[State, State], str]
    """Says what a step changed, for timelines."""
    settings: Mapping[str, Callable[[SimOptions], Json]] = field(default_factory=dict)
    """Options that it has beside those of all protocols, by their names in headers."""
    records: Callable[[Sequence[NodeHeader]], RecordProjection] | None = None
    """Makes the traces of what the nodes of a run wrote; None: whole states only."""
    own_logs: Callable[[Sequence[NodeLog]], Sequence[NodeLog]] = tuple
    """Takes of the logs of a run what is of this protocol, perhaps nothing. By default: all."""
    kept_without_promises: tuple[str, ...] = ()
    """The invariants that hold where a release promises nothing to producers; none named: all of
    the specification's small model do."""
    cores: tuple[str, ...] = ()
    """The packages and modules of `rocketha` that are its cores, which `mutate-implementation`
    mutates, if its runs have traces; a package's tests are in the folder of its name in
    `tests/impl`."""
    configurations: tuple[SimOptions, ...] = (SimOptions(),)
    """With what `mutate-implementation` runs its seeds, one after the other."""
    brokers: int = 3
    """So many nodes its runs have where nobody asks for another number."""
    traces_are: str | None = None
    """Of what each trace of a run is, in the plural; None: a run is one trace."""
    shown_later: bool = False
    """Steps may stand in its traces before the moment that shows them: where an answer was given
    that arrived later."""
    held_by: tuple[str, ...] = ()
    """The protocols whose specifications hold its parts, where it has none of its own. Then its
    runs have no traces: what clients saw is held against what is promised, and nothing else."""

    @property
    def has_traces(self) -> bool:
        """Tell whether its runs have traces, which a specification judges."""
        return not self.held_by

    @property
    def has_master_epochs(self) -> bool:
        """Tell whether a run is a trace for each epoch of a master."""
        return self.traces_are == "master epochs"

    @property
    def name(self) -> str:
        """Return its name, as in `spec/<name>/`."""
        return self.simulation.name

    @property
    def bugs(self) -> Bugs:
        """Return the switches that its implementation has."""
        return self.simulation.bugs

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Return what can go wrong in its runs."""
        return self.simulation.faults

    def configured(self, seed: int) -> SimOptions:
        """Return the configuration of a seed that is run with all of them in turn."""
        return self.configurations[seed % len(self.configurations)]

    def keeps_promises(self, options: SimOptions) -> bool:
        """Tell whether all invariants hold in runs with these options."""
        is_lossy = options.rocketmq_defaults or options.elect_unclean
        return not self.kept_without_promises or not (is_lossy or options.in_sync_replicas)

    def run(self, seed: int, options: SimOptions) -> Run:
        """Simulate a seed."""
        scheduled = Scheduled(protocol=self.name, seed=seed, options=options, schedule=UNRESTRICTED)
        return self.run_scheduled(scheduled)

    def make_traces(self, seed: int, options: SimOptions) -> RunTraces:
        """Simulate a seed for its traces, the same as those of `run`.

        Nobody asks what its nodes owe, so they write nothing.
        """
        scheduled = Scheduled(protocol=self.name, seed=seed, options=options, schedule=UNRESTRICTED)
        observer, unjudged = self.projection(), replace(self.simulation, obligations=())
        simulated = simulate(unjudged, seed, options, observer)
        return self._traces_seen(scheduled, observer, simulated)

    def observe(self, seed: int, options: SimOptions) -> SimulatedRun:
        """Simulate a seed, and ask only what its clients saw."""
        return simulate(self.simulation, seed, options, self.simulation.unobserved())

    def record(
        self, scheduled: Scheduled, write: Callable[[NodeHeader | NodeRecord], None]
    ) -> SimulatedRun:
        """Simulate a run whose nodes write what they see and do."""
        return simulate(
            self.simulation,
            scheduled.seed,
            scheduled.options,
            self.simulation.unobserved(),
            scheduled.schedule,
            write=write,
        )

    def recorded_traces(self, scheduled: Scheduled) -> tuple[Trace, ...]:
        """Simulate a run whose nodes are recorded; return the traces of what they wrote.

        There are none if no record is a step of the specification.

        Raises: as `traces_of_records`.
        """
        lines = NodeLines()
        simulated = self.record(scheduled, lines.write)
        meta = _meta(self, scheduled.options, simulated.report)
        traces = []
        for at, trace in enumerate(self._traces_of(lines.logs())):
            assert trace.header is not None
            said = _with_its_own(meta, trace.header.meta, at)
            header = replace(trace.header, seed=scheduled.seed, meta=said)
            traces.append(replace(trace, header=header))
        return tuple(traces) if _has_steps(traces) else ()

    def trace_of_records(self, logs: Sequence[NodeLog]) -> Trace:
        """Merge what nodes wrote, and make a trace of it; of several return the longest.

        Raises: as `traces_of_records`.
        """
        return max(self.traces_of_records(logs), key=lambda trace: len(trace.events))

    def traces_of_records(self, logs: Sequence[NodeLog]) -> tuple[Trace, ...]:
        """Merge what nodes wrote, and make the traces of it.

        Raises:
            RecordError: the logs do not belong together, a record lacks what its kind has, or none
                is a step of the specification.
            ModelGapError: the protocol has no projection of records.
        """
        traces = self._traces_of(logs)
        if not _has_steps(traces):
            raise RecordError("no record is a step of the specification: there is nothing to judge")
        return traces

    def _traces_of(self, logs: Sequence[NodeLog]) -> tuple[Trace, ...]:
        if self.records is None:
            raise ModelGapError(f"{self.name} has no projection of records")
        recorded_by: list[Json] = [log.header.node for log in logs]
        projected = project(self.records([log.header for log in logs]), logs)
        traces = []
        for one in projected:
            spec = one.spec or self.spec
            header = Header(
                spec=spec,
                spec_sha256=spec_sha256(self.name, spec),
                constants=one.constants,
                meta={"recorded_by": recorded_by, **one.meta},
                silent=one.silent,
            )
            traces.append(Trace(header=header, events=tuple(one.events)))
        return tuple(traces)

    def run_scheduled(
        self,
        scheduled: Scheduled,
        *,
        write: Callable[[NodeHeader | NodeRecord], None] | None = None,
        errors_are_failures: bool = False,
    ) -> Run:
        """Simulate a run that is given a schedule; its traces say so.

        With `write`, its nodes write what they see and do; that changes nothing. An error is
        raised, or is the run's failure: then its traces end there.
        """
        observer = self.projection()
        simulated = simulate(
            self.simulation,
            scheduled.seed,
            scheduled.options,
            observer,
            scheduled.schedule,
            write=write,
            errors_are_failures=errors_are_failures,
        )
        seen = self._traces_seen(scheduled, observer, simulated)
        return Run(
            trace=seen.trace,
            traces=seen.traces,
            report=simulated.report,
            clients=simulated.clients,
            verdict=simulated.check(),
            obligations=simulated.obligations,
            injected=simulated.injected,
            healed_ms=simulated.healed_ms,
            seams=simulated.seams,
            disk_use=simulated.disk_use,
        )

    def _traces_seen(self, scheduled: Scheduled, observer: O, simulated: SimulatedRun) -> RunTraces:
        """Return what the observer of a run has made of it."""
        meta = _meta(self, scheduled.options, simulated.report)
        if scheduled.schedule != UNRESTRICTED:
            meta["schedule"] = schedule_json(scheduled)
        projected = self.traces(observer, simulated, scheduled.options)
        traces = tuple(
            self._trace(scheduled, one, _with_its_own(meta, one.meta, at))
            for at, one in enumerate(projected)
        )
        without = ProjectedTrace(constants={}, events=())
        longest = max(
            traces,
            key=lambda trace: len(trace.events),
            default=self._trace(scheduled, without, meta),
        )
        return RunTraces(trace=longest, traces=traces)

    def _trace(
        self, scheduled: Scheduled, projected: ProjectedTrace, meta: Mapping[str, Json]
    ) -> Trace:
        header = Header(
            spec=self.spec,
            spec_sha256=spec_sha256(self.name, self.spec),
            constants=projected.constants,
            seed=scheduled.seed,
            implementation=Implementation(name="rocketha", version=__version__),
            meta=meta,
        )
        return Trace(header=header, events=tuple(projected.events[: scheduled.events]))


def _has_steps(traces: Sequence[Trace]) -> bool:
    return any(len(trace.events) > 1 for trace in traces)


def _with_its_own(meta: Mapping[str, Json], own: Mapping[str, Json], at: int) -> dict[str, Json]:
    """Return what is said of a run with a trace of it; its faults are counted with the first."""
    return {**meta, **({"faults": {}} if at else {}), **own}


def _meta(plug: ProtocolPlug[Any], options: SimOptions, report: SimReport) -> dict[str, Json]:
    faults: dict[str, Json] = {**report.faults}
    asked: dict[str, Json] = {
        "brokers": options.brokers,
        "steps": options.steps,
        "faults": [fault.value for fault in plug.faults if fault in options.faults],
        **{name: setting(options) for name, setting in plug.settings.items()},
    }
    meta: dict[str, Json] = {
        "bugs": [bug.value for bug in Bug if bug in options.bugs],
        "converged": report.converged,
        "faults": faults,
        "options": asked,
        "virtual_ms": report.virtual_ms,
    }
    if report.failure is not None:
        meta["failure"] = report.failure
    if report.unavailable_because is not None:
        meta["unavailable_because"] = report.unavailable_because
    return meta


@cache
def spec_sha256(protocol: str, spec: str) -> str | None:
    """Return the hash of the module's text, None where the specifications are not installed."""
    try:
        text = (find_spec_root() / protocol / f"{spec}.tla").read_bytes()
    except (SpecError, OSError):
        return None
    return hashlib.sha256(text).hexdigest()

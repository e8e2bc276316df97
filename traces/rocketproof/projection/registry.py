"""The protocols that can be simulated, by name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Final

from rocketha.histories import AnyVerdict, History, check_history
from rocketha.histories.ordered import Processed, check_order
from rocketha.known_bugs import (
    EPOCH_BUGS,
    GROUP_BUGS,
    LEGACY_BUGS,
    LOCK_BUGS,
    SNAPSHOT_BUGS,
    Bug,
    Bugs,
)
from rocketha.sim.engine.faults import (
    ALL_FAULTS,
    EPOCH_FAULTS,
    GROUP_FAULTS,
    LEGACY_FAULTS,
    LOCK_FAULTS,
    SNAPSHOT_FAULTS,
    Fault,
)
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED, InjectedEvent
from rocketha.sim.engine.records import RECORDS_PER_SEGMENT
from rocketha.sim.engine.report import SimReport
from rocketha.sim.epoch_truncation.simulate import simulate
from rocketha.sim.legacy_replication.cluster import MASTER
from rocketha.sim.legacy_replication.plan import MOST_NEEDED
from rocketha.sim.legacy_replication.simulate import simulate_legacy
from rocketha.sim.lock_quorum.simulate import simulate_locks
from rocketha.sim.replica_group.simulate import simulate_group
from rocketha.sim.snapshot_loading.reader import RegisterRun, simulate_registers
from rocketproof import __version__
from rocketproof.projection.epoch_truncation import SPEC, EpochProjection
from rocketproof.projection.epoch_values import NONE, broker_name
from rocketproof.projection.legacy_replication import LEGACY_SPEC, LegacyProjection
from rocketproof.projection.lock_quorum import LOCK_SPEC, LockProjection
from rocketproof.projection.reign import Reign
from rocketproof.projection.reign_values import constants_of
from rocketproof.projection.replica_group import GROUP_SPEC, GroupProjection
from rocketproof.projection.snapshot_loading import SNAPSHOT_SPEC, SnapshotProjection
from rocketproof.projection.sync_state_set import SET_SPEC, SetProjection
from rocketproof.schedule import Scheduled, schedule_json
from tlatrace.errors import ModelGapError, SpecError
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.trace import Event, Header, Implementation, Trace
from tlatrace.values import Json, State, tla_set

__all__ = [
    "PROTOCOLS",
    "Protocol",
    "Run",
    "run_scheduled",
    "simulate_trace",
    "simulate_traces",
    "spec_sha256",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One simulated run: its trace, and the figures of the simulator."""

    trace: Trace
    """Of several traces the longest; without events if there is none."""
    report: SimReport
    history: History | None = None
    """What clients saw, where there are any."""
    processed: tuple[Processed, ...] | None = None
    """What consumers processed in order, where there are any."""
    registers: RegisterRun | None = None
    """What a reader of registers saw, where there are any."""
    reigns: tuple[Trace, ...] | None = None
    """Of a run that is a trace for each reign: all of them."""
    injected: tuple[InjectedEvent, ...] = ()
    """What a schedule could leave out, of a run that can have one."""
    healed_ms: int | None = None
    """When its faults ended."""

    @property
    def verdict(self) -> AnyVerdict | None:
        """Hold what clients saw against what they were promised; None where there are none."""
        if self.history is not None:
            return check_history(self.history)
        if self.registers is not None:
            return self.registers.verdict
        return None if self.processed is None else check_order(self.processed)

    @property
    def traces(self) -> tuple[Trace, ...]:
        """Return all traces of the run."""
        return (self.trace,) if self.reigns is None else self.reigns


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """A protocol of which the implementation can be simulated."""

    name: str
    """As in `spec/<name>/`."""
    spec: str
    """The TLA+ module."""
    run: Callable[[int, SimOptions], Run]
    bugs: Bugs
    """The switches that its implementation has."""
    faults: tuple[Fault, ...]
    """What can go wrong in its runs."""
    has_reigns: bool = False
    """Its runs are a trace for each reign."""


def simulate_trace(
    protocol: str,
    seed: int,
    bugs: tuple[str, ...] = (),
    faults: tuple[str, ...] | None = None,
) -> Trace:
    """Simulate one run; return its trace, of several the longest.

    Raises: as `simulate_traces`.
    """
    return _simulated(protocol, seed, bugs, faults).trace


def simulate_traces(
    protocol: str,
    seed: int,
    bugs: tuple[str, ...] = (),
    faults: tuple[str, ...] | None = None,
) -> tuple[Trace, ...]:
    """Simulate one run with the bugs and faults of these names; None means all faults.

    Everything is plain data, so that a task of a cluster can call it.

    Raises:
        ModelGapError: an unknown protocol.
        ValueError: an unknown bug or fault.
    """
    return _simulated(protocol, seed, bugs, faults).traces


def _simulated(
    protocol: str, seed: int, bugs: tuple[str, ...], faults: tuple[str, ...] | None
) -> Run:
    if protocol not in PROTOCOLS:
        raise ModelGapError(f"unknown protocol {protocol!r}; there are: {', '.join(PROTOCOLS)}")
    options = SimOptions(
        bugs=frozenset(Bug(name) for name in bugs),
        faults=ALL_FAULTS if faults is None else frozenset(Fault(name) for name in faults),
    )
    return PROTOCOLS[protocol].run(seed, options)


def _run_epoch_truncation(seed: int, options: SimOptions) -> Run:
    projection = EpochProjection()
    report = simulate(seed, options, projection)
    constants: State = {
        "Broker": tla_set(broker_name(broker) for broker in projection.brokers),
        "None": NONE,
    }
    return _run("epoch_truncation", options, report, constants, projection.events)


def _run_legacy_replication(seed: int, options: SimOptions) -> Run:
    projection = LegacyProjection()
    report = simulate_legacy(seed, options, projection)
    constants: State = {
        "Master": broker_name(MASTER),
        "Slave": tla_set(broker_name(slave) for slave in projection.slaves),
        "Needs": tla_set(range(min(MOST_NEEDED, len(projection.slaves)) + 1)),
        "FileRecords": RECORDS_PER_SEGMENT,
    }
    return _run("legacy_replication", options, report, constants, projection.events)


def _run_lock_quorum(seed: int, options: SimOptions) -> Run:
    projection = LockProjection()
    locks = simulate_locks(seed, options, projection)
    run = _run("lock_quorum", options, locks.report, projection.constants, projection.events)
    return replace(run, processed=locks.history)


def _run_replica_group(seed: int, options: SimOptions) -> Run:
    return run_scheduled(Scheduled(seed=seed, options=options, schedule=UNRESTRICTED))


def run_scheduled(scheduled: Scheduled) -> Run:
    """Simulate a group that is told what may happen; its trace says so."""
    projection, options = GroupProjection(), scheduled.options
    group = simulate_group(scheduled.seed, options, projection, scheduled.schedule)
    constants: State = {
        "Broker": tla_set(broker_name(broker) for broker in projection.brokers),
        "None": NONE,
        "AllAckInSyncStateSet": group.history.promises.all_ack_in_sync_state_set,
        "InSyncReplicas": group.history.promises.in_sync_replicas,
        "EnableElectUncleanMaster": group.history.promises.elect_unclean,
    }
    events = projection.events[: scheduled.events]
    run = _run("replica_group", options, group.report, constants, events)
    trace = run.trace
    if scheduled.schedule != UNRESTRICTED:
        assert trace.header is not None
        meta = {**trace.header.meta, "schedule": schedule_json(scheduled)}
        trace = replace(trace, header=replace(trace.header, meta=meta))
    return replace(
        run,
        trace=trace,
        history=group.history,
        injected=group.injected,
        healed_ms=group.healed_ms,
    )


def _run_snapshot_loading(seed: int, options: SimOptions) -> Run:
    projection = SnapshotProjection()
    read = simulate_registers(seed, options, projection)
    run = _run("snapshot_loading", options, read.report, projection.constants, projection.events)
    return replace(run, registers=read)


def _run_sync_state_set(seed: int, options: SimOptions) -> Run:
    projection = SetProjection()
    group = simulate_group(seed, options, projection)
    constants = constants_of(options.brokers)
    run = _run("sync_state_set", options, group.report, constants, ())
    # The specification has slaves.
    reigns = projection.reigns if options.brokers > 1 else []
    traces = [_reign(run.trace, reign, at) for at, reign in enumerate(reigns, start=1)]
    longest = max(traces, key=lambda trace: len(trace.events), default=run.trace)
    return replace(run, trace=longest, reigns=tuple(traces), history=group.history)


def _reign(run: Trace, reign: Reign, number: int) -> Trace:
    """Return the trace of a reign; the faults of the run are counted with the first one."""
    assert run.header is not None
    meta: dict[str, Json] = {
        **run.header.meta,
        "reign": {
            "number": number,
            "epoch": int(reign.epoch),
            "brokers": {name: broker_name(broker) for broker, name in reign.names.items()},
        },
    }
    if number > 1:
        meta["faults"] = {}
    return Trace(header=replace(run.header, meta=meta), events=tuple(reign.events))


def _run(
    protocol: str,
    options: SimOptions,
    report: SimReport,
    constants: State,
    events: Sequence[Event],
) -> Run:
    spec = PROTOCOLS[protocol].spec
    header = Header(
        spec=spec,
        spec_sha256=spec_sha256(protocol, spec),
        constants=constants,
        seed=report.seed,
        implementation=Implementation(name="rocketha", version=__version__),
        meta=_meta(PROTOCOLS[protocol], options, report),
    )
    return Run(trace=Trace(header=header, events=tuple(events)), report=report)


def _meta(protocol: Protocol, options: SimOptions, report: SimReport) -> Mapping[str, Json]:
    faults: dict[str, Json] = {**report.faults}
    asked: dict[str, Json] = {
        "brokers": options.brokers,
        "steps": options.steps,
        "faults": [fault.value for fault in protocol.faults if fault in options.faults],
    }
    meta: dict[str, Json] = {
        "bugs": [bug.value for bug in Bug if bug in options.bugs],
        "converged": report.converged,
        "faults": faults,
        "options": asked,
        "virtual_ms": report.virtual_ms,
    }
    if protocol.faults is not EPOCH_FAULTS and protocol.faults is not LEGACY_FAULTS:
        asked["rocketmq_defaults"] = options.rocketmq_defaults
    if protocol.faults is GROUP_FAULTS:
        asked["elect_unclean"] = options.elect_unclean
    if report.failure is not None:
        meta["failure"] = report.failure
    if report.excuse is not None:
        meta["excuse"] = report.excuse
    return meta


@cache
def spec_sha256(protocol: str, spec: str) -> str | None:
    """Return the hash of the module's text, None where the specifications are not installed."""
    try:
        text = (find_spec_root() / protocol / f"{spec}.tla").read_bytes()
    except (SpecError, OSError):
        return None
    return hashlib.sha256(text).hexdigest()


PROTOCOLS: Final[Mapping[str, Protocol]] = MappingProxyType(
    {
        protocol.name: protocol
        for protocol in (
            Protocol(
                name="epoch_truncation",
                spec=SPEC,
                run=_run_epoch_truncation,
                bugs=EPOCH_BUGS,
                faults=EPOCH_FAULTS,
            ),
            Protocol(
                name="legacy_replication",
                spec=LEGACY_SPEC,
                run=_run_legacy_replication,
                bugs=LEGACY_BUGS,
                faults=LEGACY_FAULTS,
            ),
            Protocol(
                name="lock_quorum",
                spec=LOCK_SPEC,
                run=_run_lock_quorum,
                bugs=LOCK_BUGS,
                faults=LOCK_FAULTS,
            ),
            Protocol(
                name="replica_group",
                spec=GROUP_SPEC,
                run=_run_replica_group,
                bugs=GROUP_BUGS,
                faults=GROUP_FAULTS,
            ),
            Protocol(
                name="snapshot_loading",
                spec=SNAPSHOT_SPEC,
                run=_run_snapshot_loading,
                bugs=SNAPSHOT_BUGS,
                faults=SNAPSHOT_FAULTS,
            ),
            Protocol(
                name="sync_state_set",
                spec=SET_SPEC,
                run=_run_sync_state_set,
                bugs=GROUP_BUGS,
                faults=GROUP_FAULTS,
                has_reigns=True,
            ),
        )
    }
)

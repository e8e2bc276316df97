"""Simulated runs as traces, by the names of their protocols, bugs and faults."""

from __future__ import annotations

from typing import Any

from rocketha.known_bugs import Bug
from rocketha.sim.engine.faults import ALL_FAULTS, Fault
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED
from rocketproof.plug import ProtocolPlug, Run, RunTraces
from rocketproof.protocols import PROTOCOLS
from rocketproof.schedule import Scheduled
from tlatrace.errors import ModelGapError
from tlatrace.trace import Trace

__all__ = ["recorded_traces", "run_scheduled", "simulate_trace", "simulate_traces"]


def run_scheduled(scheduled: Scheduled) -> Run:
    """Simulate a run that is given a schedule."""
    return PROTOCOLS[scheduled.protocol].run_scheduled(scheduled)


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


def recorded_traces(
    protocol: str,
    seed: int,
    bugs: tuple[str, ...] = (),
    faults: tuple[str, ...] | None = None,
) -> tuple[Trace, ...]:
    """Simulate a run as `simulate_traces`, and return the traces of what its nodes wrote.

    Raises: as `simulate_traces`; ModelGapError, too, if the protocol has no projection of records.
    """
    plug, options = _chosen(protocol, bugs, faults)
    scheduled = Scheduled(protocol=protocol, seed=seed, options=options, schedule=UNRESTRICTED)
    return plug.recorded_traces(scheduled)


def _simulated(
    protocol: str, seed: int, bugs: tuple[str, ...], faults: tuple[str, ...] | None
) -> RunTraces:
    plug, options = _chosen(protocol, bugs, faults)
    return plug.make_traces(seed, options)


def _chosen(
    protocol: str, bugs: tuple[str, ...], faults: tuple[str, ...] | None
) -> tuple[ProtocolPlug[Any], SimOptions]:
    if protocol not in PROTOCOLS:
        raise ModelGapError(f"unknown protocol {protocol!r}; there are: {', '.join(PROTOCOLS)}")
    options = SimOptions(
        brokers=PROTOCOLS[protocol].brokers,
        bugs=frozenset(Bug(name) for name in bugs),
        faults=ALL_FAULTS if faults is None else frozenset(Fault(name) for name in faults),
    )
    return PROTOCOLS[protocol], options

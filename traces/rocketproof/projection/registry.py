"""The protocols that can be simulated, by name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from rocketha.bugs import Bug
from rocketha.sim import ALL_FAULTS, Fault, SimOptions, SimReport, simulate
from rocketproof import __version__
from rocketproof.projection.epoch_truncation import SPEC, EpochProjection
from rocketproof.projection.epoch_values import NONE, broker_name
from tlatrace.errors import ModelGapError, SpecError
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.trace import Header, Implementation, Trace
from tlatrace.values import Json, tla_set

__all__ = ["PROTOCOLS", "Protocol", "Run", "simulate_trace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One simulated run: its trace, and the figures of the simulator."""

    trace: Trace
    report: SimReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """A protocol of which the implementation can be simulated."""

    name: str
    """As in `spec/<name>/`."""
    spec: str
    """The TLA+ module."""
    run: Callable[[int, SimOptions], Run]


def simulate_trace(
    protocol: str,
    seed: int,
    bugs: tuple[str, ...] = (),
    faults: tuple[str, ...] | None = None,
) -> Trace:
    """Simulate one run with the bugs and faults of these names; None means all faults.

    Everything is plain data, so that a task of a cluster can call it.

    Raises:
        ModelGapError: an unknown protocol.
        ValueError: an unknown bug or fault.
    """
    if protocol not in PROTOCOLS:
        raise ModelGapError(f"unknown protocol {protocol!r}; there are: {', '.join(PROTOCOLS)}")
    options = SimOptions(
        bugs=frozenset(Bug(name) for name in bugs),
        faults=ALL_FAULTS if faults is None else frozenset(Fault(name) for name in faults),
    )
    return PROTOCOLS[protocol].run(seed, options).trace


def _run_epoch_truncation(seed: int, options: SimOptions) -> Run:
    projection = EpochProjection()
    report = simulate(seed, options, projection)
    header = Header(
        spec=SPEC,
        spec_sha256=_spec_sha256("epoch_truncation", SPEC),
        constants={
            "Broker": tla_set(broker_name(broker) for broker in projection.brokers),
            "None": NONE,
        },
        seed=seed,
        implementation=Implementation(name="rocketha", version=__version__),
        meta=_meta(options, report),
    )
    return Run(trace=Trace(header=header, events=tuple(projection.events)), report=report)


def _meta(options: SimOptions, report: SimReport) -> Mapping[str, Json]:
    faults: dict[str, Json] = {**report.faults}
    asked: dict[str, Json] = {
        "brokers": options.brokers,
        "steps": options.steps,
        "faults": [fault.value for fault in Fault if fault in options.faults],
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
    return meta


@cache
def _spec_sha256(protocol: str, spec: str) -> str | None:
    """Return the hash of the module's text, None where the specifications are not installed."""
    try:
        text = (find_spec_root() / protocol / f"{spec}.tla").read_bytes()
    except (SpecError, OSError):
        return None
    return hashlib.sha256(text).hexdigest()


PROTOCOLS: Final[Mapping[str, Protocol]] = MappingProxyType(
    {
        "epoch_truncation": Protocol(name="epoch_truncation", spec=SPEC, run=_run_epoch_truncation),
    }
)

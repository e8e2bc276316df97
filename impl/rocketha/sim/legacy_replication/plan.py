"""What a run of the legacy service is made of: what the seed draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rocketha.known_bugs import Bugs
from rocketha.known_bugs.legacy_replication import legacy_rules
from rocketha.legacy_ha.state import LegacyOptions
from rocketha.sim.engine.faults import (
    LEGACY_FAULTS,
    Fault,
    FaultPlan,
    draw_plan,
    with_forged_packets,
)
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.engine.records import TRANSFER_BATCHES
from rocketha.types import SizeBytes

__all__ = ["MOST_NEEDED", "LegacyPlan", "draw_legacy_run"]

MOST_NEEDED: Final = 2
"""No producer waits for more slaves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyPlan:
    """What one run does: sizes, rates and faults. All times are virtual."""

    steps: int
    faults: FaultPlan
    bugs: Bugs
    options: LegacyOptions
    records_max: int
    """Producers stop when the master's log has so many."""
    needs: tuple[int, ...]
    """For how many slaves a producer waits: one of these."""
    put_gap_ms: int
    """Mean time between two messages."""
    flush_ms: int
    """How often the flush service runs."""
    late_ms: int
    """A slave that comes up connects within this time."""


def draw_legacy_run(streams: PerPurposeStreams, options: SimOptions) -> LegacyPlan:
    """Draw one run. Small numbers, so that different seeds pass through equal states."""
    rng, share = streams.of("plan"), 1.0 if streams.redrawn else 0.5
    cuts = streams.of("plan", Fault.CUT_IN_STEP)
    faults = draw_plan(rng, LEGACY_FAULTS, options.faults, share=share, cuts=cuts)
    forged = streams.of("plan", Fault.FORGED_PACKET)
    if not options.bugs:  # a run shows its bug by the packets of honest peers
        faults = with_forged_packets(faults, forged, options.faults, share)
    heartbeat_ms = rng.choice((150, 800, 5_000))
    drawn_steps = rng.randrange(60, 140)
    slaves = options.brokers - 1
    needs = rng.choice(((0, 1, MOST_NEEDED), (1,), (1, MOST_NEEDED), (MOST_NEEDED,)))
    return LegacyPlan(
        steps=drawn_steps if options.steps is None else options.steps,
        faults=faults,
        bugs=options.bugs,
        options=LegacyOptions(
            transfer_batch_bytes=SizeBytes(rng.choice(TRANSFER_BATCHES)),
            heartbeat_ms=heartbeat_ms,
            housekeeping_ms=heartbeat_ms * rng.choice((3, 4, 8)),
            reconnect_ms=rng.choice((20, 50, 300)),
            slave_timeout_ms=rng.choice((100, 800, 3_000)),
            rules=legacy_rules(options.bugs),
        ),
        records_max=rng.randrange(3, 8),
        needs=tuple(sorted({min(need, slaves) for need in needs})),
        put_gap_ms=rng.choice((30, 120, 500)),
        flush_ms=rng.choice((300, 5_000, 30_000)),
        late_ms=rng.choice((5, 60, 1_500)),
    )

"""What a run of replication by epochs is made of: what the seed draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rocketha.ha.state import HaOptions
from rocketha.known_bugs import Bugs
from rocketha.known_bugs.epoch_truncation import ha_rules
from rocketha.sim.engine.faults import (
    EPOCH_FAULTS,
    Fault,
    FaultPlan,
    draw_plan,
    with_fault,
    with_forged_packets,
)
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.engine.records import TRANSFER_BATCHES
from rocketha.types import SizeBytes

__all__ = ["RunPlan", "draw_run"]

_FORGED_SHARE: Final = 0.75
_FORGED_GAPS_MS: Final = (40, 120, 400)
"""There are many kinds of them, and each run shows several."""
_DAMAGE_GAPS_MS: Final = (100, 300, 1_000)
"""Only brokers that are down lose something."""
_INTRODUCTIONS: Final = ("plain", "learner", "incarnation")
"""What slaves say of themselves in their handshakes; a learner has no room for its incarnation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """What one run does: sizes, rates and faults. All times are virtual."""

    steps: int
    faults: FaultPlan
    bugs: Bugs
    ha: HaOptions
    records_max: int
    """Producers stop when the log they write to has so many."""
    records_per_epoch: int
    """They also stop when the log has so many of the present epoch, so that later ones get some."""
    elections_max: int
    """No faulty or needless elections after so many."""
    put_gap_ms: int
    """Mean time between two messages."""
    poll_ms: int
    """How often a broker asks the controller."""
    slow_poll_ms: int
    """How long it may stay without an answer."""
    flush_ms: int
    """How often the flush service runs."""
    failover_gap_ms: int
    """Mean time between two elections that are nobody's fault."""


def draw_run(streams: PerPurposeStreams, options: SimOptions) -> RunPlan:
    """Draw one run. Small numbers, so that different seeds pass through equal states."""
    rng, share = streams.of("plan"), 1.0 if streams.redrawn else 0.5
    cuts = streams.of("plan", Fault.CUT_IN_STEP)
    kinds = [fault for fault in EPOCH_FAULTS if fault is not Fault.DAMAGED_FILE]
    faults = draw_plan(rng, kinds, options.faults, share=share, cuts=cuts)
    forged = streams.of("plan", Fault.FORGED_PACKET)
    damage = streams.of("plan", Fault.DAMAGED_FILE)
    if not options.bugs:  # a run shows its bug by the packets of honest peers, and on sound disks
        is_forged = max(share, _FORGED_SHARE)
        faults = with_forged_packets(faults, forged, options.faults, is_forged, _FORGED_GAPS_MS)
        if damage.random() < share:
            gap_ms = damage.choice(_DAMAGE_GAPS_MS)
            faults = with_fault(faults, Fault.DAMAGED_FILE, options.faults, gap_ms)
    introduction = streams.of("plan", "introduction").choice(_INTRODUCTIONS)
    heartbeat_ms = rng.choice((150, 800, 5_000))
    drawn_steps = rng.randrange(60, 140)
    return RunPlan(
        steps=drawn_steps if options.steps is None else options.steps,
        faults=faults,
        bugs=options.bugs,
        ha=HaOptions(
            transfer_batch_bytes=SizeBytes(rng.choice(TRANSFER_BATCHES)),
            heartbeat_ms=heartbeat_ms,
            housekeeping_ms=heartbeat_ms * rng.choice((3, 4, 8)),
            reconnect_ms=rng.choice((50, 300)),
            is_sync_from_last_file=False,
            is_async_learner=introduction == "learner",
            tells_incarnation=introduction != "plain",
            rules=ha_rules(options.bugs),
        ),
        records_max=rng.randrange(3, 7),
        records_per_epoch=rng.choice((1, 2, 3, 6)),
        elections_max=rng.randrange(3, 7),
        put_gap_ms=rng.choice((30, 120, 500)),
        poll_ms=rng.choice((20, 100)),
        slow_poll_ms=rng.choice((500, 1_500, 4_000)),
        flush_ms=rng.choice((300, 5_000, 30_000)),
        failover_gap_ms=rng.choice((400, 1_200, 4_000)),
    )

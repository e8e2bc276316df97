"""What a run of a node with snapshots is made of: what the seed draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rocketha.replicated_log.snapshot_manager import SnapshotOptions
from rocketha.sim.engine.faults import SNAPSHOT_FAULTS, Fault, FaultPlan, draw_plan
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.snapshot_loading.entries import RegisterHistory, draw_history

__all__ = ["SNAPSHOTS", "SnapshotPlan", "draw_snapshot_run"]

SNAPSHOTS: Final = SnapshotOptions(snapshot_threshold=2, max_snapshot_reserved_num=2)
"""Of all runs, so that one model judges them."""
_FAULT_SHARE: Final = 0.7
_COMPACTED: Final = (0, 0, 1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotPlan:
    """What one run does."""

    steps: int
    faults: FaultPlan
    entries: RegisterHistory
    """What the group agrees on."""
    compacted: int
    """So many of them the leader has in a snapshot alone when the node comes."""
    begins_with_uncommitted: bool
    """The first entry that the node gets is one of a leader that does not last."""


def draw_snapshot_run(streams: PerPurposeStreams, options: SimOptions) -> SnapshotPlan:
    """Draw one run."""
    rng, share = streams.of("plan"), 1.0 if streams.redrawn else _FAULT_SHARE
    cuts = streams.of("plan", Fault.CUT_IN_STEP)
    faults = draw_plan(rng, SNAPSHOT_FAULTS, options.faults, share=share, cuts=cuts)
    drawn_steps = rng.randrange(160, 400)
    return SnapshotPlan(
        steps=drawn_steps if options.steps is None else options.steps,
        faults=faults,
        entries=draw_history(streams.of("entries")),
        compacted=streams.of("plan", "compacted").choice(_COMPACTED),
        begins_with_uncommitted=streams.of("plan", "uncommitted").randrange(4) == 0,
    )

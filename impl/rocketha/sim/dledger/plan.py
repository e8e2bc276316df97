"""What a run of a DLedger group is made of: what the seed draws.

All periods are ten times shorter than DLedger's, so that a short run sees many elections.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from rocketha.dledger.config import DLedgerConfig
from rocketha.known_bugs import Bugs
from rocketha.known_bugs.dledger import elector_rules, pusher_rules
from rocketha.known_bugs.register import answer_rules, read_rules
from rocketha.sim.engine.clock import TRUE_TIME, Clock
from rocketha.sim.engine.faults import (
    DLEDGER_FAULTS,
    Fault,
    FaultPlan,
    Faults,
    draw_plan,
    with_fault,
)
from rocketha.sim.engine.node import broker_address
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import InjectionPoint, PerPurposeStreams
from rocketha.types import BrokerId

__all__ = [
    "DISK_FAULTS",
    "MISTAKES",
    "NEMESES",
    "DLedgerPlan",
    "draw_dledger_run",
    "draw_restarts",
]

NEMESES: Final = (
    Fault.PARTITION_RANDOM_NODE,
    Fault.PARTITION_RANDOM_HALVES,
    Fault.KILL_RANDOM_PROCESSES,
    Fault.CRASH_RANDOM_NODES,
    Fault.HAMMER_TIME,
    Fault.BRIDGE,
    Fault.PARTITION_MAJORITIES_RING,
)
"""Those of DLedger's Jepsen test, by their names there."""

DISK_FAULTS: Final = (Fault.DISK_ERROR, Fault.DISK_FULL, Fault.SLOW_DISK, Fault.DAMAGED_FILE)
"""What a disk does to a member. Each has a stream of its own: a seed has otherwise the faults that
it always had."""

MISTAKES: Final = (Fault.MISDIRECTED_REQUEST, Fault.MISTAKEN_OPERATOR, Fault.FORGED_REQUEST)
"""Of who takes a member for something that it is not, or says that it is itself something else;
streams of their own, too."""

_NEMESIS_GAPS_MS: Final = (1_500, 4_000)
_GAPS_MS: Final = {
    Fault.DISK_ERROR: (500, 2_000),
    Fault.DISK_FULL: (500, 2_000),
    Fault.MISTAKEN_OPERATOR: (300, 1_000),
    Fault.FORGED_REQUEST: (100, 300),
}
"""What is rarely noticed by what a member is in the middle of comes more often."""
_FLUSH_INTERVALS_MS: Final = (1, 1, 10, 200)
_RATES_PERMILLE: Final = (900, 970, 1_030, 1_100)
_OFFSET_MS: Final = 100_000
_NEVER_MS: Final = 10**9
_APPLY_WAITS_MS: Final = (0, 0, 20, 150)
_PENDING_REQUESTS: Final = (2, *[10_000] * 15)
"""So many clients wait for their entries at most; 10,000 in DLedger."""
_CLIENT_LOSS_PERCENT: Final = (5, 30)
_TRANSFER_WAIT_INDEXES: Final = (1_000, 1_000, 1_000, 2)
"""Who lacks so many entries is handed no leadership; 1,000 in DLedger."""
_LATE_START_MAX_MS: Final = 300
_RESTARTS: Final = 4
_WAITS: Final = 0
"""Of so many groups, one waits as processes do; the others ask at once, as DLedger does."""
_PUSHES: Final = 10
_LEGACY_PUSH: Final = 3
"""Of so many ways to push, this one is that of releases up to 0.3.2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DLedgerPlan:
    """What one run does: sizes, rates and faults. All times are virtual."""

    steps: int
    faults: FaultPlan
    bugs: Bugs
    configs: tuple[DLedgerConfig, ...]
    """Of each member, in the order of members."""
    clocks: tuple[Clock, ...]
    late_starts_ms: tuple[int, ...]
    """How long after the first ones a member takes its first event; until then it hears nothing."""
    clients: int
    keys: int
    think_ms: int
    """Mean time between an answer and a client's next call."""
    write_percent: int
    log_read_percent: int
    """Share of reads by an entry in the log; the others are by the read index."""
    client_loss_percent: int
    doubled_percent: int
    """Share of requests between members that arrive twice."""
    transfer_ms: int | None
    """Mean time between two leaderships that an operator hands over."""


def draw_dledger_run(streams: PerPurposeStreams, options: SimOptions) -> DLedgerPlan:
    """Draw one run."""
    rng, faults = streams.of("plan"), _draw_faults(streams, options.faults)
    numbers = [BrokerId(number) for number in range(1, options.brokers + 1)]
    peers = tuple(map(broker_address, numbers))
    with_snapshots = rng.randrange(3) > 0
    looks_ms = rng.choice((100, 1_000, _NEVER_MS, _NEVER_MS))
    threshold, batches = rng.choice((3, 8, 20)), rng.randrange(2) == 0
    apply_wait_ms = streams.of("plan", "apply").choice(_APPLY_WAITS_MS)
    as_releases = _draw_release(streams, with_snapshots=with_snapshots)
    steps = rng.randrange(300, 900)
    loss = rng.choice(_CLIENT_LOSS_PERCENT) if Fault.CLIENT_LOSS in faults else 0
    return DLedgerPlan(
        steps=steps if options.steps is None else options.steps,
        faults=faults,
        bugs=options.bugs,
        configs=tuple(
            [
                DLedgerConfig(
                    group="g",
                    self_id=peer,
                    peers=peers,
                    heart_beat_time_interval_ms=200,
                    min_vote_interval_ms=30,
                    max_vote_interval_ms=100,
                    preferred_leader_ids=peers[:1],
                    preferred_leader_interval_ms=looks_ms,
                    min_take_leadership_vote_interval_ms=3,
                    max_take_leadership_vote_interval_ms=10,
                    leadership_transfer_wait_timeout_ms=300,
                    max_push_time_out_ms=100,
                    rpc_timeout_ms=300,
                    push_commit_interval_ms=100,
                    push_retry_ms=50,
                    max_wait_ack_time_ms=500,
                    enable_batch_append=batches,
                    max_batch_append_size=200,
                    flush_file_interval_ms=rng.choice(_FLUSH_INTERVALS_MS),
                    **as_releases,
                    snapshot_threshold=threshold,
                    max_snapshot_reserved_num=2,
                    apply_wait_ms=apply_wait_ms,
                    rules=elector_rules(options.bugs),
                    push_rules=pusher_rules(options.bugs),
                    read_rules=read_rules(options.bugs),
                    answer_rules=answer_rules(options.bugs),
                )
                for peer in peers
            ]
        ),
        clocks=tuple([_draw_clock(streams, number, faults) for number in numbers]),
        late_starts_ms=tuple([_draw_late_start(streams, peer) for peer in peers]),
        clients=rng.choice((3, 5, 8)),
        keys=rng.choice((1, 3)),
        think_ms=rng.choice((10, 40, 150)),
        write_percent=rng.choice((30, 60)),
        log_read_percent=rng.choice((20, 50)),
        client_loss_percent=loss,
        doubled_percent=rng.choice((2, 10)) if Fault.DOUBLED_REQUEST in faults else 0,
        transfer_ms=rng.choice((None, 1_000, 3_000)),
    )


def _draw_faults(streams: PerPurposeStreams, allowed: Faults) -> FaultPlan:
    """Draw what goes wrong, the first draws of a plan."""
    rng, share = streams.of("plan"), 1.0 if streams.redrawn else 0.35
    cuts = streams.of("plan", Fault.CUT_IN_STEP)
    faults = draw_plan(rng, DLEDGER_FAULTS, allowed, share=share, cuts=cuts)
    for nemesis in NEMESES:
        if rng.random() < share:
            faults = with_fault(faults, nemesis, allowed, rng.choice(_NEMESIS_GAPS_MS))
    for fault in (*DISK_FAULTS, *MISTAKES):
        own = streams.of("plan", fault)
        if own.random() < share:
            gap_ms = own.choice(_GAPS_MS.get(fault, _NEMESIS_GAPS_MS))
            faults = with_fault(faults, fault, allowed, gap_ms)
    return faults


def _draw_release(streams: PerPurposeStreams, *, with_snapshots: bool) -> dict[str, Any]:
    """Draw whether the group pushes as releases do that have no NOOPs and no snapshots.

    And whether its members wait after a restart, as no release does, how many clients may wait, and
    who lacks too much to be handed the leadership.
    """
    pending = streams.of("plan", "max_pending_requests_num")
    lacking = streams.of("plan", "max_leadership_transfer_wait_index")
    legacy = streams.of("plan", "legacy").randrange(_PUSHES) == _LEGACY_PUSH
    return {
        "waits_after_restart": draw_restarts(streams),
        "max_pending_requests_num": pending.choice(_PENDING_REQUESTS),
        "max_leadership_transfer_wait_index": lacking.choice(_TRANSFER_WAIT_INDEXES),
        "legacy_push": legacy,
        "enable_fast_advance_commit_index": not legacy,
        "enable_snapshot": with_snapshots and not legacy,
    }


def draw_restarts(streams: PerPurposeStreams) -> bool:
    """Draw whether members wait for a leader when they are started again, as processes do."""
    return streams.of("plan", "restarts").randrange(_RESTARTS) == _WAITS


def _draw_clock(streams: PerPurposeStreams, number: BrokerId, faults: FaultPlan) -> Clock:
    name = broker_address(number)
    rng = streams.of("clock", name)
    offset_ms, rate = rng.randrange(_OFFSET_MS), rng.choice(_RATES_PERMILLE)
    point = InjectionPoint(Fault.CLOCK_SKEW, name, 1)
    if Fault.CLOCK_SKEW not in faults or not streams.allows(point):
        return TRUE_TIME
    words = f"the clock of {name} is {offset_ms} ms ahead and runs at {rate} permille"
    streams.note(point, words)
    return Clock(offset_ms=offset_ms, rate_permille=rate)


def _draw_late_start(streams: PerPurposeStreams, name: str) -> int:
    rng = streams.of("start", name)
    late_ms = rng.choice((0, 1 + rng.randrange(_LATE_START_MAX_MS)))
    point = InjectionPoint("late-start", name, 1)
    if not late_ms or not streams.allows(point):
        return 0
    streams.note(point, f"{name} starts {late_ms} ms after the first ones")
    return late_ms

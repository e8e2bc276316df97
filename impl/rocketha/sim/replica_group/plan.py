"""What a run of a broker group is made of: what the seed draws.

All periods are some hundred times shorter than RocketMQ's, in the same proportions, so that a short
run sees failovers, members that fall behind, and come back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Final

from rocketha.broker.options import GroupOptions
from rocketha.controller.dispatch import ControllerOptions
from rocketha.dledger.config import DLedgerConfig
from rocketha.formats.controller_responses import MetadataInfo
from rocketha.ha.state import HaOptions
from rocketha.histories.history import Promises
from rocketha.known_bugs import Bugs
from rocketha.known_bugs.dledger import elector_rules, pusher_rules
from rocketha.known_bugs.epoch_truncation import ha_rules
from rocketha.known_bugs.register import read_rules
from rocketha.known_bugs.replica_group import broker_rules, controller_rules
from rocketha.replicated_log.snapshot_manager import SnapshotOptions
from rocketha.sim.dledger.plan import draw_restarts
from rocketha.sim.engine.clock import TRUE_TIME, Clock
from rocketha.sim.engine.faults import GROUP_FAULTS, Fault, FaultPlan, Faults, draw_plan
from rocketha.sim.engine.node import FIRST_CONTROLLER, broker_address
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import InjectionPoint, PerPurposeStreams
from rocketha.sim.engine.records import SEGMENT_SIZE
from rocketha.sim.replica_group.channels import ChannelFaults
from rocketha.types import BrokerId, SizeBytes

__all__ = ["SNAPSHOTS", "GroupPlan", "draw_group_run"]

_METADATA: Final = MetadataInfo(
    group="controllers", leader_id="n0", leader_address="n0", is_leader=True, peers="n0"
)
SNAPSHOTS: Final = SnapshotOptions(snapshot_threshold=20, max_snapshot_reserved_num=2)
"""A controller that restarts in a run does so from a snapshot and the log behind it."""
_WHOLE_RECORDS: Final = (SEGMENT_SIZE, 32 * 1024)
"""A batch of so many bytes that begins with a record ends with one: segments repeat."""
_TIMED: Final = (
    Fault.CONTROLLER_PARTITION,
    Fault.CHANNEL_RESET,
    Fault.CONTROLLER_RESTART,
    Fault.DESIGNATE,
    Fault.SLOW_DISK,
)
_GAPS_MS: Final = (400, 1_200, 3_000)
_CLEANING_GAPS_MS: Final = (80, 200)
"""There is little time between the first election and the first promise."""
_RESTART_GAPS_MS: Final = (1_200, 4_000)
_SKEWED_PERMILLE: Final = (800, 950, 1_050, 1_250)
_AWAY_PERCENT: Final = 6
_SKEWED_MS: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPlan:
    """What one run does: sizes, rates and faults. All times are virtual."""

    steps: int
    faults: FaultPlan
    bugs: Bugs
    channels: ChannelFaults
    mean_gap_ms: tuple[tuple[Fault, int], ...]
    """As in `faults`, for the faults that only a group with a controller has."""
    broker: GroupOptions
    controller: ControllerOptions
    clocks: tuple[Clock, ...]
    """Of broker 1, 2, ..."""
    controller_clock: Clock
    scan_ms: int
    """How often the controller looks for masters that are gone."""
    flush_ms: int
    """How often the flush service runs."""
    producers: int
    consumers: int
    records_max: int
    """Producers stop when the log they write to has so many."""
    put_gap_ms: int
    """Mean time between two messages of one producer."""
    pull_gap_ms: int
    """Mean time between two looks of one consumer."""
    patience_ms: int
    """How long a client waits for an answer."""
    client_loss_percent: int
    away: BrokerId | None = None
    """A broker that stops at the beginning, and comes back when the faults are over."""
    members: tuple[DLedgerConfig, ...] = ()
    """Of each member of a controller group; none: the controller is on its own."""
    member_clocks: tuple[Clock, ...] = ()

    @property
    def promises(self) -> Promises:
        """Return what the group promises its clients."""
        return Promises(
            all_ack_in_sync_state_set=self.broker.all_ack_in_sync_state_set,
            in_sync_replicas=self.broker.in_sync_replicas,
            min_in_sync_replicas=self.broker.min_in_sync_replicas,
            sync_flush=self.broker.sync_flush,
            elect_unclean=self.controller.elect_unclean,
        )


def draw_group_run(streams: PerPurposeStreams, options: SimOptions) -> GroupPlan:
    """Draw one run. Small numbers, so that different seeds pass through equal states."""
    rng = streams.of("plan")
    share = 1.0 if streams.redrawn else 0.5
    kinds = [fault for fault in GROUP_FAULTS if fault is not Fault.CLEAN_DATA]
    cuts = streams.of("plan", Fault.CUT_IN_STEP)
    faults = draw_plan(rng, kinds, options.faults, share=share, cuts=cuts)
    drawn_steps = rng.randrange(100, 160)
    gaps = [(fault, rng.choice(_gaps(fault))) for fault in _TIMED]
    cleaning_ms = _draw_cleaning(streams, options.faults, share)
    if cleaning_ms is not None and options.controllers == 1:
        faults = replace(faults, faults=faults.faults | {Fault.CLEAN_DATA})
        gaps.append((Fault.CLEAN_DATA, cleaning_ms))
    clocks = {
        name: _draw_clock(streams, name, skewed=Fault.CLOCK_SKEW in faults)
        for name in ("controller", *map(broker_address, _brokers(options)))
    }
    members = _draw_members(streams, options)
    return GroupPlan(
        steps=drawn_steps if options.steps is None else options.steps,
        faults=faults,
        bugs=options.bugs,
        channels=_draw_channels(rng, faults),
        mean_gap_ms=tuple((fault, gap) for fault, gap in gaps if fault in faults),
        broker=replace(
            _draw_broker(rng, options),
            controllers=tuple([config.self_id for config in members]),
            sync_controller_metadata_ms=streams.of("plan", "metadata").choice((200, 1_000)),
        ),
        controller=ControllerOptions(
            metadata=_METADATA,
            elect_unclean=options.elect_unclean,
            snapshots=SNAPSHOTS,
            rules=controller_rules(options.bugs),
        ),
        clocks=tuple(clocks[broker_address(broker)] for broker in _brokers(options)),
        controller_clock=clocks["controller"],
        scan_ms=rng.choice((100, 250)),
        flush_ms=rng.choice((100, 1_000, 10_000)),
        producers=rng.randrange(1, 4),
        consumers=rng.randrange(1, 3),
        records_max=rng.randrange(4, 10),
        put_gap_ms=rng.choice((40, 120, 300)),
        pull_gap_ms=rng.choice((60, 200)),
        patience_ms=rng.choice((200, 800, 2_500)),
        client_loss_percent=rng.choice((5, 20)) if Fault.CLIENT_LOSS in faults else 0,
        away=_draw_away(streams, options),
        members=members,
        member_clocks=tuple(
            _draw_clock(streams, config.self_id, skewed=Fault.CLOCK_SKEW in faults)
            for config in members
        ),
    )


def _draw_members(streams: PerPurposeStreams, options: SimOptions) -> tuple[DLedgerConfig, ...]:
    """Draw how the members of a controller group are configured, if there is one."""
    if options.controllers == 1:
        return ()
    rng = streams.of("plan", "controllers")
    names = [broker_address(BrokerId(FIRST_CONTROLLER + at)) for at in range(options.controllers)]
    batches, with_snapshots = rng.randrange(2) == 0, rng.randrange(4) > 0
    beat_ms, threshold = rng.choice((40, 80)), rng.choice((10, 30))
    flush_ms, waits = rng.choice((1, 5)), draw_restarts(streams)
    return tuple(
        [
            DLedgerConfig(
                group="controllers",
                self_id=name,
                peers=tuple(names),
                heart_beat_time_interval_ms=beat_ms,
                min_vote_interval_ms=10,
                max_vote_interval_ms=40,
                waits_after_restart=waits,
                max_push_time_out_ms=60,
                rpc_timeout_ms=150,
                push_commit_interval_ms=30,
                push_retry_ms=20,
                max_wait_ack_time_ms=500,
                enable_batch_append=batches,
                flush_file_interval_ms=flush_ms,
                enable_fast_advance_commit_index=True,
                enable_snapshot=with_snapshots,
                snapshot_threshold=threshold,
                max_snapshot_reserved_num=2,
                rules=elector_rules(options.bugs),
                push_rules=pusher_rules(options.bugs),
                read_rules=read_rules(options.bugs),
            )
            for name in names
        ]
    )


def _draw_away(streams: PerPurposeStreams, options: SimOptions) -> BrokerId | None:
    """Draw who is away for the whole run: in a few, of groups that can do without."""
    rng = streams.of("plan", "away")
    away, drawn = rng.choice(_brokers(options)), rng.randrange(100) < _AWAY_PERCENT
    point = InjectionPoint(Fault.PROCESS_CRASH, f"{broker_address(away)} for the whole run", 1)
    allowed = Fault.PROCESS_CRASH in options.faults and options.brokers > 2
    if not drawn or not allowed or not streams.allows(point):
        return None
    streams.note(point, f"{broker_address(away)} is away until the faults end")
    return away


def _gaps(fault: Fault) -> tuple[int, ...]:
    return _RESTART_GAPS_MS if fault is Fault.CONTROLLER_RESTART else _GAPS_MS


def _draw_cleaning(streams: PerPurposeStreams, allowed: Faults, share: float) -> int | None:
    """Draw how often an operator looks whether to begin anew; None: never."""
    rng = streams.of("plan", Fault.CLEAN_DATA)
    drawn, gap_ms = rng.random() < share, rng.choice(_CLEANING_GAPS_MS)
    return gap_ms if drawn and Fault.CLEAN_DATA in allowed else None


def _draw_broker(rng: Random, options: SimOptions) -> GroupOptions:
    heartbeat_ms = rng.choice((30, 80, 200))
    interval_ms = rng.choice((80, 200))
    return GroupOptions(
        ha=HaOptions(
            transfer_batch_bytes=SizeBytes(rng.choice(_WHOLE_RECORDS)),
            heartbeat_ms=heartbeat_ms,
            housekeeping_ms=heartbeat_ms * rng.choice((3, 4, 8)),
            reconnect_ms=rng.choice((20, 50, 300)),
            tells_incarnation=True,
            rules=ha_rules(options.bugs),
        ),
        rules=broker_rules(options.bugs),
        all_ack_in_sync_state_set=not options.rocketmq_defaults
        and options.in_sync_replicas is None,
        in_sync_replicas=options.in_sync_replicas or 1,
        min_in_sync_replicas=(
            1 if options.rocketmq_defaults else min(rng.choice((1, 1, 2)), options.brokers)
        ),
        sync_flush=rng.random() < 0.5,
        sync_flush_timeout_ms=rng.choice((40, 150, 600)),
        slave_timeout_ms=rng.choice((60, 250, 1_000)),
        slave_not_catchup_ms=heartbeat_ms * rng.choice((3, 5, 8)),
        check_sync_state_set_ms=rng.choice((80, 200, 500)),
        sync_metadata_ms=rng.choice((100, 250, 700)),
        heartbeat_interval_ms=interval_ms,
        heartbeat_timeout_ms=interval_ms * rng.choice((3, 6)),
        request_timeout_ms=rng.choice((60, 150, 400)),
    )


def _draw_channels(rng: Random, faults: FaultPlan) -> ChannelFaults:
    delay_max_ms = rng.choice((30, 200, 1_000))
    late_max_ms = rng.choice((100, 600, 2_000))

    def percent(fault: Fault, choices: tuple[int, ...]) -> int:
        drawn = rng.choice(choices)
        return drawn if fault in faults else 0

    return ChannelFaults(
        delay_percent=percent(Fault.CONTROLLER_DELAY, (2, 10, 30)),
        delay_max_ms=delay_max_ms,
        loss_percent=percent(Fault.CONTROLLER_LOSS, (5, 20)),
        duplicate_percent=percent(Fault.CONTROLLER_DUPLICATE, (5, 30)),
        reorder_percent=percent(Fault.CONTROLLER_REORDER, (5, 20)),
        late_close_percent=percent(Fault.LATE_CLOSE, (50, 100)),
        late_close_max_ms=late_max_ms,
    )


def _brokers(options: SimOptions) -> tuple[BrokerId, ...]:
    return tuple(map(BrokerId, range(1, options.brokers + 1)))


def _draw_clock(streams: PerPurposeStreams, name: str, *, skewed: bool) -> Clock:
    rng = streams.of("clock", name)
    offset_ms, rate = rng.randrange(_SKEWED_MS), rng.choice(_SKEWED_PERMILLE)
    point = InjectionPoint(Fault.CLOCK_SKEW, name, 1)
    if not skewed or not streams.allows(point):
        return TRUE_TIME
    streams.note(point, f"the clock of {name} is {offset_ms} ms ahead and runs at {rate} permille")
    return Clock(offset_ms=offset_ms, rate_permille=rate)

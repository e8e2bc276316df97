"""What a run of queue locks is made of: what the seed draws.

All periods are twenty times shorter than RocketMQ's, so that a short run sees leases end, votes
expire, and brokers that wait after a restart; only an answer may take twice as long in proportion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rocketha.known_bugs import Bugs
from rocketha.known_bugs.lock_quorum import consumer_rules, voting_rules
from rocketha.locks.state import ConsumerOptions, LockOptions
from rocketha.sim.engine.clock import TRUE_TIME, Clock
from rocketha.sim.engine.faults import LOCK_FAULTS, Fault, FaultPlan, draw_plan
from rocketha.sim.engine.node import broker_address
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import InjectionPoint, PerPurposeStreams
from rocketha.types import BrokerId

__all__ = ["LIFE_MS", "SKEW_MS", "LockPlan", "draw_lock_run"]

_CONSUMERS: Final = 3
_QUEUES: Final = 2

LIFE_MS: Final = 3_000
"""For how long a vote holds."""
_LEASE_MS: Final = 1_500
_RELOCK_MS: Final = 1_000
_PATIENCE_MS: Final = 100
_FAST_PERMILLE: Final = (1_010, 1_050, 1_100)
SKEW_MS: Final = LIFE_MS - LIFE_MS * 1_000 // max(_FAST_PERMILLE) + 1
"""By how much a vote may be over early."""
_OFFSET_MS: Final = 1_000_000
_CLIENT_LOSS_GAPS_MS: Final = (1_000, 3_000)
_BORDER_GAPS_MS: Final = (500, 1_500)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockPlan:
    """What one run does: sizes, rates and faults. All times are virtual."""

    steps: int
    faults: FaultPlan
    bugs: Bugs
    locks: LockOptions
    consumer: ConsumerOptions
    clocks: tuple[Clock, ...]
    """Of broker 1, 2, ..., each at least as fast as those of consumers."""
    gone: BrokerId | None
    """A broker that is down for the whole run."""
    consumers: int
    eager: int
    """So many consumers want queues."""
    queues: int
    wanted: int
    """So many queues are wanted."""
    process_ms: int
    """Mean time between two messages that one consumer processes."""
    change_ms: int
    """Mean time between two changes of what a consumer wants."""
    retry_ms: int
    """A consumer that was refused tries again within this time."""
    client_loss_ms: int | None
    """Mean time between two losses of the consumers' connections."""
    border_ms: int | None = None
    """Mean time between two choices of an end at which something happens."""


def draw_lock_run(streams: PerPurposeStreams, options: SimOptions) -> LockPlan:
    """Draw one run. Small numbers, so that different seeds pass through equal states."""
    rng, share = streams.of("plan"), 1.0 if streams.redrawn else 0.5
    cuts = streams.of("plan", Fault.CUT_IN_STEP)
    faults = draw_plan(rng, LOCK_FAULTS, options.faults, share=share, cuts=cuts)
    members = tuple(BrokerId(number) for number in range(1, options.brokers + 1))
    drawn_steps = rng.randrange(60, 140)
    # A group without a majority locks nothing.
    spare = len(members) - 1 >= len(members) // 2 + 1
    gone = rng.choice(members[1:]) if spare and rng.randrange(3) == 0 else None
    loss_ms = rng.choice(_CLIENT_LOSS_GAPS_MS)
    return LockPlan(
        steps=drawn_steps if options.steps is None else options.steps,
        faults=faults,
        bugs=options.bugs,
        locks=LockOptions(
            members=members,
            total_replicas=1 if options.rocketmq_defaults else len(members),
            strict=not options.rocketmq_defaults,
            life_ms=LIFE_MS,
            round_ms=2 * _PATIENCE_MS,
            rules=voting_rules(options.bugs),
        ),
        consumer=ConsumerOptions(
            lease_ms=_LEASE_MS,
            relock_ms=_RELOCK_MS,
            patience_ms=_PATIENCE_MS,
            rules=consumer_rules(options.bugs),
        ),
        clocks=tuple([_draw_clock(streams, member, faults) for member in members]),
        gone=gone,
        consumers=_CONSUMERS,
        eager=rng.choice((2, 2, _CONSUMERS)),
        queues=_QUEUES,
        wanted=rng.choice((1, 1, _QUEUES)),
        process_ms=rng.choice((200, 600)),
        change_ms=rng.choice((800, 2_500)),
        retry_ms=rng.choice((300, 1_000)),
        client_loss_ms=loss_ms if Fault.CLIENT_LOSS in faults else None,
        border_ms=rng.choice((None, *_BORDER_GAPS_MS)),
    )


def _draw_clock(streams: PerPurposeStreams, broker: BrokerId, faults: FaultPlan) -> Clock:
    name = broker_address(broker)
    rng = streams.of("clock", name)
    offset_ms, rate = rng.randrange(_OFFSET_MS), rng.choice(_FAST_PERMILLE)
    point = InjectionPoint(Fault.CLOCK_SKEW, name, 1)
    if Fault.CLOCK_SKEW not in faults or not streams.allows(point):
        return TRUE_TIME
    words = f"the clock of {name} is {offset_ms} ms ahead and runs at {rate} permille"
    streams.note(point, words)
    return Clock(offset_ms=offset_ms, rate_permille=rate)

"""What may go wrong in a run, how often, and how often it did.

Swarm testing: a seed does not use every fault, it draws a subset and its own rates, because faults
hide each other (a cluster that restarts all the time never replicates far).

Source: Groce et al., "Swarm Testing", ISSTA 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from typing import Final

__all__ = [
    "ACTING_MASTER_FAULTS",
    "ALL_FAULTS",
    "DLEDGER_FAULTS",
    "EPOCH_FAULTS",
    "ESCAPE_FAULTS",
    "GROUP_FAULTS",
    "LEGACY_FAULTS",
    "LOCK_FAULTS",
    "NO_FAULTS",
    "PRE_ONLINE_FAULTS",
    "ROUTE_FAULTS",
    "SNAPSHOT_FAULTS",
    "Fault",
    "FaultCounts",
    "FaultPlan",
    "Faults",
    "draw_plan",
    "with_fault",
    "with_forged_packets",
]


class Fault(StrEnum):
    """A kind of fault; the value is its name in options and reports."""

    DELAY = "delay"
    """Bytes arrive much later than usual."""
    FRAGMENTATION = "fragmentation"
    """Bytes arrive in pieces that no packet border explains."""
    RESET = "reset"
    """A connection breaks and loses a suffix of what is in flight."""
    PARTITION = "partition"
    """Two brokers do not hear each other for a while; their connections stall."""
    ONE_WAY_PARTITION = "one-way-partition"
    """One broker does not hear another, but is heard by it."""
    POWER_CUT = "power-cut"
    """A broker stops and loses everything that it wrote and did not sync."""
    TORN_WRITE = "torn-write"
    """A broker stops; each write that was not synced is kept, lost or torn."""
    PROCESS_CRASH = "process-crash"
    """A broker stops; the operating system keeps what was written and syncs it."""
    RE_ELECTION = "re-election"
    """A master is elected, with a new epoch: the present one again, or another broker."""
    UNCLEAN_ELECTION = "unclean-election"
    """A broker is elected that lacks records of the master, or is down, or nobody is."""
    STALE_ROUTE = "stale-route"
    """A slave, or a consumer, is sent to a broker that is not the master."""
    SLOW_POLL = "slow-poll"
    """A broker learns late of elections, and may be a zombie until then."""
    IDLE_GROUP = "idle-group"
    """Nobody writes for a while, so that epochs stay empty."""
    HALF_OPEN = "half-open"
    """A broker loses its power, or a slave its connection, and the peer is not told: it notices by
    the silence."""
    CONTROLLER_DELAY = "controller-delay"
    """A request to the controller, or its answer, takes much longer than usual."""
    CONTROLLER_LOSS = "controller-loss"
    """A request to the controller, or its answer, is lost."""
    CONTROLLER_DUPLICATE = "controller-duplicate"
    """A request to the controller, or its answer, arrives again later."""
    CONTROLLER_REORDER = "controller-reorder"
    """A request to the controller, or its answer, is overtaken by later ones."""
    CONTROLLER_PARTITION = "controller-partition"
    """A broker and the controller do not hear each other for a while, or one does not."""
    CHANNEL_RESET = "channel-reset"
    """A broker's channel to the controller breaks."""
    LATE_CLOSE = "late-close"
    """The controller hears late that a channel is gone, perhaps when its broker is back."""
    CONTROLLER_RESTART = "controller-restart"
    """The controller stops, and comes back with its log."""
    CLOCK_SKEW = "clock-skew"
    """The clocks of brokers and controller differ, and run at different speeds."""
    DESIGNATE = "designate"
    """An operator designates another master."""
    SLOW_DISK = "slow-disk"
    """A disk takes long to write a log through."""
    CLIENT_LOSS = "client-loss"
    """A producer's or consumer's request, or the answer, is lost."""
    CLEAN_DATA = "clean-data"
    """An operator stops a group that has promised nothing yet, has the controller forget it, and
    starts it again."""
    DAMAGED_FILE = "damaged-file"
    """A disk damages a snapshot or a log, or loses the end of a log, that was durable."""
    FORGED_PACKET = "forged-packet"
    """A broker takes a packet that no honest peer sends."""
    CUT_IN_STEP = "cut-in-step"
    """A broker stops, or loses its power, between two effects of one step."""
    PARTITION_RANDOM_NODE = "partition-random-node"
    """One node of a group hears nobody, and nobody hears it."""
    PARTITION_RANDOM_HALVES = "partition-random-halves"
    """Two halves of a group do not hear each other."""
    KILL_RANDOM_PROCESSES = "kill-random-processes"
    """A minority of the processes of a group ends."""
    CRASH_RANDOM_NODES = "crash-random-nodes"
    """A minority of the machines of a group loses power."""
    HAMMER_TIME = "hammer-time"
    """A minority of the processes of a group stands still for a while."""
    BRIDGE = "bridge"
    """Two halves of a group do not hear each other, but for one node that hears all."""
    PARTITION_MAJORITIES_RING = "partition-majorities-ring"
    """Each node of a group hears a majority, and no two of them the same one."""
    DOUBLED_REQUEST = "doubled-request"
    """A request between members of a group arrives once more, later."""
    DISK_ERROR = "disk-error"
    """A disk fails an operation (EIO), and the process ends."""
    DISK_FULL = "disk-full"
    """A disk has no room for what is written (ENOSPC), and the process ends."""
    MISDIRECTED_REQUEST = "misdirected-request"
    """A member of a group hears a request that is for another one, or for another group."""
    FORGED_REQUEST = "forged-request"
    """A member of a group hears a request that no member sends."""
    MISTAKEN_OPERATOR = "mistaken-operator"
    """Who administers a group wants a leadership handed over that is none, or to nobody."""


Faults = frozenset[Fault]

ALL_FAULTS: Final[Faults] = frozenset(Fault)
EPOCH_FAULTS: Final = (
    Fault.DELAY,
    Fault.FRAGMENTATION,
    Fault.RESET,
    Fault.PARTITION,
    Fault.ONE_WAY_PARTITION,
    Fault.POWER_CUT,
    Fault.TORN_WRITE,
    Fault.PROCESS_CRASH,
    Fault.RE_ELECTION,
    Fault.UNCLEAN_ELECTION,
    Fault.STALE_ROUTE,
    Fault.SLOW_POLL,
    Fault.IDLE_GROUP,
    Fault.CUT_IN_STEP,
    Fault.FORGED_PACKET,
    Fault.DAMAGED_FILE,
)
"""What can happen to replication under an abstract controller. The order of the kinds is part of a
seed."""
_BROKER_FAULTS: Final = (
    Fault.DELAY,
    Fault.FRAGMENTATION,
    Fault.RESET,
    Fault.PARTITION,
    Fault.ONE_WAY_PARTITION,
    Fault.POWER_CUT,
    Fault.TORN_WRITE,
    Fault.PROCESS_CRASH,
    Fault.IDLE_GROUP,
    Fault.HALF_OPEN,
    Fault.CUT_IN_STEP,
)
"""What can happen to any group of brokers."""
LEGACY_FAULTS: Final = (*_BROKER_FAULTS, Fault.FORGED_PACKET)
"""What can happen to a group without a controller."""
GROUP_FAULTS: Final = (
    *_BROKER_FAULTS,
    Fault.CONTROLLER_DELAY,
    Fault.CONTROLLER_LOSS,
    Fault.CONTROLLER_DUPLICATE,
    Fault.CONTROLLER_REORDER,
    Fault.CONTROLLER_PARTITION,
    Fault.CHANNEL_RESET,
    Fault.LATE_CLOSE,
    Fault.CONTROLLER_RESTART,
    Fault.CLOCK_SKEW,
    Fault.DESIGNATE,
    Fault.SLOW_DISK,
    Fault.CLIENT_LOSS,
    Fault.STALE_ROUTE,
    Fault.CLEAN_DATA,
)
"""What can happen to a group with its controller."""
LOCK_FAULTS: Final = (
    Fault.DELAY,
    Fault.FRAGMENTATION,
    Fault.RESET,
    Fault.PARTITION,
    Fault.ONE_WAY_PARTITION,
    Fault.PROCESS_CRASH,
    Fault.HALF_OPEN,
    Fault.STALE_ROUTE,
    Fault.CLOCK_SKEW,
    Fault.CLIENT_LOSS,
    Fault.CUT_IN_STEP,
)
"""What can happen to queue locks, which no disk keeps."""
SNAPSHOT_FAULTS: Final = (
    Fault.POWER_CUT,
    Fault.TORN_WRITE,
    Fault.DAMAGED_FILE,
    Fault.PROCESS_CRASH,
    Fault.CUT_IN_STEP,
)
"""What can happen to a node with snapshots, whose group is always there."""
DLEDGER_FAULTS: Final = (
    Fault.DELAY,
    Fault.FRAGMENTATION,
    Fault.RESET,
    Fault.PARTITION,
    Fault.ONE_WAY_PARTITION,
    Fault.POWER_CUT,
    Fault.TORN_WRITE,
    Fault.PROCESS_CRASH,
    Fault.HALF_OPEN,
    Fault.CLOCK_SKEW,
    Fault.CLIENT_LOSS,
    Fault.DOUBLED_REQUEST,
    Fault.CUT_IN_STEP,
)
"""What can happen to a DLedger group, besides its nemeses."""
ROUTE_FAULTS: Final = (
    Fault.DELAY,
    Fault.FRAGMENTATION,
    Fault.RESET,
    Fault.PARTITION,
    Fault.ONE_WAY_PARTITION,
    Fault.PROCESS_CRASH,
    Fault.HALF_OPEN,
    Fault.RE_ELECTION,
    Fault.SLOW_POLL,
)
"""What can happen to name servers and their brokers, which no disk keeps."""
ESCAPE_FAULTS: Final = (
    Fault.DELAY,
    Fault.FRAGMENTATION,
    Fault.RESET,
    Fault.PARTITION,
    Fault.ONE_WAY_PARTITION,
    Fault.POWER_CUT,
    Fault.TORN_WRITE,
    Fault.PROCESS_CRASH,
    Fault.HALF_OPEN,
)
"""What can happen to a slave that acts, other masters and their name server."""
PRE_ONLINE_FAULTS: Final = (*ESCAPE_FAULTS, Fault.FORGED_PACKET)
"""What can happen to brokers that come back, their slaves and their name server."""
ACTING_MASTER_FAULTS: Final = ESCAPE_FAULTS
"""What can happen to groups whose slaves act, with all that is around them."""
NO_FAULTS: Final[Faults] = frozenset()


class FaultCounts:
    """How often each fault struck in one run."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[Fault, int] = dict.fromkeys(Fault, 0)

    def add(self, fault: Fault) -> None:
        """Count one more."""
        self._counts[fault] += 1

    def by_name(self) -> dict[str, int]:
        """Return the counts of those that struck, by name, in the order of `Fault`."""
        return {fault.value: count for fault, count in self._counts.items() if count}


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultPlan:
    """What one run draws from: the faults that are on, and how often each strikes."""

    faults: Faults
    mean_gap_ms: tuple[tuple[Fault, int], ...]
    """Mean time between two strikes of the faults that come by themselves, in a fixed order."""
    delay_percent: int
    """Share of sends that are delayed."""
    delay_max_ms: int
    fragment_percent: int
    """Share of sends that are cut in pieces."""
    stale_route_percent: int
    """Share of look-ups of the master's address that answer another broker."""

    def __contains__(self, fault: Fault) -> bool:
        return fault in self.faults


_TIMED: Final = (
    Fault.RESET,
    Fault.PARTITION,
    Fault.ONE_WAY_PARTITION,
    Fault.POWER_CUT,
    Fault.TORN_WRITE,
    Fault.PROCESS_CRASH,
    Fault.RE_ELECTION,
    Fault.UNCLEAN_ELECTION,
    Fault.IDLE_GROUP,
)
_GAPS_MS: Final = (400, 1_200, 4_000)
_CRASH_GAPS_MS: Final = (1_000, 3_000, 8_000)
_CUT_GAPS_MS: Final = (300, 1_000, 4_000)
_CRASHES: Final = frozenset({Fault.POWER_CUT, Fault.TORN_WRITE, Fault.PROCESS_CRASH})
"""There are three of them, and a cluster must replicate in between."""


_OF_THEIR_OWN_STREAM: Final = (Fault.CUT_IN_STEP, Fault.FORGED_PACKET)
"""They came last; each seed has otherwise the faults that it always had."""


def with_forged_packets(
    plan: FaultPlan,
    rng: Random,
    allowed: Faults,
    share: float,
    gaps_ms: Sequence[int] = _GAPS_MS,
) -> FaultPlan:
    """Draw whether a run has forged packets, too, and the mean time between two."""
    if rng.random() >= share:
        return plan
    return with_fault(plan, Fault.FORGED_PACKET, allowed, rng.choice(gaps_ms))


def with_fault(plan: FaultPlan, fault: Fault, allowed: Faults, gap_ms: int) -> FaultPlan:
    """Add a fault that comes by itself, if it is allowed, with the mean time between two."""
    if fault not in allowed:
        return plan
    gaps = (*plan.mean_gap_ms, (fault, gap_ms))
    return replace(plan, faults=plan.faults | {fault}, mean_gap_ms=gaps)


def draw_plan(
    rng: Random,
    kinds: Sequence[Fault],
    allowed: Faults,
    *,
    share: float = 0.5,
    cuts: Random | None = None,
) -> FaultPlan:
    """Draw the faults of one run: each of its kinds that is allowed, with a probability.

    Whether steps are cut is drawn from `cuts`, a stream of its own: that fault came last, and each
    seed has otherwise the faults that it always had.
    """
    drawn = [fault for fault in kinds if fault not in _OF_THEIR_OWN_STREAM]
    chosen: list[Fault] = [fault for fault in drawn if rng.random() < share and fault in allowed]
    gaps: list[tuple[Fault, int]] = [
        (f, rng.choice(_CRASH_GAPS_MS if f in _CRASHES else _GAPS_MS)) for f in _TIMED
    ]
    if cuts is not None and cuts.random() < share and Fault.CUT_IN_STEP in allowed:
        chosen.append(Fault.CUT_IN_STEP)
        gaps.append((Fault.CUT_IN_STEP, cuts.choice(_CUT_GAPS_MS)))
    return FaultPlan(
        faults=frozenset(chosen),
        mean_gap_ms=tuple((fault, gap) for fault, gap in gaps if fault in chosen),
        delay_percent=rng.choice((5, 20, 60)) if Fault.DELAY in chosen else 0,
        delay_max_ms=rng.choice((50, 300, 1500)),
        fragment_percent=rng.choice((20, 100)) if Fault.FRAGMENTATION in chosen else 0,
        stale_route_percent=rng.choice((20, 50)) if Fault.STALE_ROUTE in chosen else 0,
    )

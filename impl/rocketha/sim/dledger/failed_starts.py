"""Starts of a member that its disk cuts short: an operation fails, and then it starts again.

What a start reads it makes durable, and what another one left unfinished it finishes; so the next
start must find the same, wherever the one before ended. A start that throws a damaged log away is
left alone: it may go to a new term each time that it is cut, and nobody would see those between.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from rocketha.sim.dledger.failing_disk import DiskFailure
from rocketha.sim.dledger.member import LedgerMember
from rocketha.sim.dledger.plan import DLedgerPlan
from rocketha.sim.engine.crash_points import ENDS, Ending
from rocketha.sim.engine.faults import Fault, FaultCounts
from rocketha.sim.engine.random_source import Injection, InjectionPoint, RandomSource

__all__ = ["fail_a_start"]

_FAULTS: Final = (Fault.DISK_ERROR, Fault.DISK_FULL)
_OPERATIONS_MAX: Final = 12
"""A start that finds everything as it should be has fewer."""


class _Surroundings(Protocol):
    """What is around a member."""

    @property
    def plan(self) -> DLedgerPlan:
        """Return which faults there are."""
        ...

    @property
    def random_source(self) -> RandomSource:
        """Return where to draw from."""
        ...

    @property
    def counts(self) -> FaultCounts:
        """Return where faults are counted."""
        ...


def fail_a_start(member: LedgerMember[Any, Any, Any], around: _Surroundings, number: int) -> None:
    """Draw whether the disk of a member fails in a start before this one, its `number`-th."""
    drawn = [fault for fault in _FAULTS if fault in around.plan.faults]
    name = member.config.self_id
    injection = Injection(around.random_source, InjectionPoint("failed-start", name, number))
    if not drawn or member.machine.is_damaged or not around.random_source.allows(injection.point):
        return
    rng = injection.rng
    if rng.randrange(2) == 0:
        return
    fault, operations = rng.choice(drawn), rng.randrange(_OPERATIONS_MAX)
    ending = Ending(end=rng.choice(ENDS), rng=rng)
    failure = DiskFailure(fault=fault, operations=operations, ending=ending)
    if member.fails_to_start(failure):
        words = f"operation {operations} of the disk of {name} fails while it starts"
        injection.note(f"{words} ({fault.value}): {ending.end.value}")

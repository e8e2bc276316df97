"""What the disks of a group do: they fail, are full, or slow.

| fault      | what it does to a member                                                            |
|------------|-------------------------------------------------------------------------------------|
| disk-error | one of the next operations of its disk fails, the process ends, perhaps the machine |
| disk-full  | the same of what needs room                                                         |
| slow-disk  | for a while it stands still after each step that has synchronized files             |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rocketha.sim.dledger.cluster import DLedgerCluster
from rocketha.sim.dledger.failing_disk import DiskFailure
from rocketha.sim.engine.crash_points import ENDS, Ending
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.node import broker_address
from rocketha.sim.engine.random_source import Injection

__all__ = ["DiskFaults"]

_OPERATIONS_MAX: Final = 12
_RESTART_MS: Final = (20, 1_500)
_SLOW_MS: Final = (200, 1_500)


class DiskFaults:
    """What strikes the disks of a group."""

    def __init__(self, cluster: DLedgerCluster) -> None:
        """Take the group."""
        self._cluster = cluster

    def handlers(self) -> dict[Fault, Callable[[Injection], None]]:
        """Return what each of these does when it strikes."""
        return {
            Fault.DISK_ERROR: lambda injection: self._fail(injection, Fault.DISK_ERROR),
            Fault.DISK_FULL: lambda injection: self._fail(injection, Fault.DISK_FULL),
            Fault.SLOW_DISK: self._slow_down,
        }

    def _fail(self, injection: Injection, fault: Fault) -> None:
        """Let an operation of a disk fail, unless the member ends before."""
        cluster, rng = self._cluster, injection.rng
        up = [node for node in cluster.up() if cluster.machines[node.id].device.failure is None]
        if not up:
            return
        node, operations = rng.choice(up), rng.randrange(_OPERATIONS_MAX)
        ending = Ending(end=rng.choice(ENDS), rng=rng, restart_ms=rng.randrange(*_RESTART_MS))
        words = f"operation {operations} from now of the disk of {broker_address(node.id)} fails"
        injection.note(f"{words} ({fault.value}): {ending.end.value}")
        failure = DiskFailure(fault=fault, operations=operations, ending=ending)
        cluster.machines[node.id].device.fail(failure)

    def _slow_down(self, injection: Injection) -> None:
        cluster, rng = self._cluster, injection.rng
        up = cluster.up()
        if not up:
            return
        node, lasts_ms = rng.choice(up), rng.randrange(*_SLOW_MS)
        cluster.counts.add(Fault.SLOW_DISK)
        injection.note(f"the disk of {broker_address(node.id)} is slow for {lasts_ms} ms")
        cluster.members[node.id].slow_down(lasts_ms)

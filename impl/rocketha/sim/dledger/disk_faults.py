"""What the disks of a group do: they fail, are full, slow, or damage a log.

| fault        | what it does to a member                                                          |
|--------------|-----------------------------------------------------------------------------------|
| disk-error   | one of the next operations of its disk fails, the process ends, perhaps the       |
|              | machine                                                                           |
| disk-full    | the same of what needs room                                                       |
| slow-disk    | for a while it stands still after each step that has synchronized files           |
| damaged-file | it ends, and a bit of its log is turned; it refuses to start, until it may throw  |
|              | its log away                                                                      |

A log is damaged where its node notices: what the index does not name yet looks like a torn write.
And only as long as a majority of the others can vote: with too many logs gone nobody may lead.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Final

from rocketha.dledger.node_state import NodeState
from rocketha.dledger.performers import DLedgerFiles
from rocketha.dledger.store import DLedgerStore
from rocketha.errors import DamagedLogError
from rocketha.formats.segment import segment_name
from rocketha.sim.dledger.cluster import DLedgerCluster
from rocketha.sim.dledger.failing_disk import DiskFailure
from rocketha.sim.dledger.machine import DLedgerMachine, Member
from rocketha.sim.dledger.member import STORE
from rocketha.sim.engine.crash_points import ENDS, Ending
from rocketha.sim.engine.failure import CoreFailure
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.random_source import Injection
from rocketha.types import LogIndex, Offset

__all__ = ["DiskFaults"]

_OPERATIONS_MAX: Final = 12
_RESTART_MS: Final = (20, 1_500)
_SLOW_MS: Final = (200, 1_500)
_DATA: Final = "data"
_TRIES: Final = 8
"""So many bits are tried, until there is one that the node misses."""


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
            Fault.DAMAGED_FILE: self._damage,
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

    def _damage(self, injection: Injection) -> None:
        """End a member, and turn a bit of its log."""
        cluster, rng = self._cluster, injection.rng
        up = [node for node in cluster.up() if self._others_can_elect(node)]
        if not up:
            return
        node = rng.choice(up)
        name, wait_ms = broker_address(node.id), rng.randrange(*_RESTART_MS)
        cluster.crash(node)
        where = _turn_a_bit(cluster.machines[node.id], rng)
        if where is None:
            injection.note(f"{name} ends, and its log is whole")
        else:
            cluster.counts.add(Fault.DAMAGED_FILE)
            injection.note(f"{name} ends, and its disk damages {where}")
            _require_refusal(cluster.members[node.id])
        incarnation = node.incarnation

        def restart() -> None:
            if node.state is None and node.incarnation == incarnation:
                cluster.restart(node)

        cluster.scheduler.after(wait_ms, restart)

    def _others_can_elect(self, node: Node[NodeState]) -> bool:
        cluster = self._cluster
        count = sum(
            _can_vote(machine) and not machine.is_damaged
            for machine in cluster.machines.values()
            if machine is not node
        )
        return cluster.members[node.id].config.is_quorum(count)


def _require_refusal(member: Member) -> None:
    """Try to start a member that nobody has allowed to throw its log away.

    Raises: CoreFailure if it starts.
    """
    disk = copy.deepcopy(member.machine.disk)
    try:
        DLedgerFiles.open(disk, STORE, member.new_machine())
    except DamagedLogError:
        return
    raise CoreFailure(f"{member.config.self_id} starts, and its log is damaged")


def _can_vote(machine: DLedgerMachine) -> bool:
    """Tell whether a member votes, also after a power cut."""
    if machine.opened is None:
        return False
    store = machine.opened.store
    term = store.term_at(store.synced_index)
    return store.kept is None or (term is not None and term >= store.kept.refill_term)


def _turn_a_bit(machine: DLedgerMachine, rng: Random) -> str | None:
    """Turn a bit of an entry, and return where; None: there is none that would be missed."""
    assert machine.opened is not None
    machine.device.fail(None)
    disk, store = machine.disk, machine.opened.store
    first, last = store.before_begin_index + 1, store.synced_index
    for _ in range(_TRIES if first <= last else 0):
        entry = store.entry(LogIndex(rng.randrange(first, last + 1)))
        at, bit = rng.randrange(entry.pos, entry.end), 1 << rng.randrange(8)
        start = Offset(at - at % STORE.mapped_file_size_for_entry_data)
        path = STORE.path(f"{_DATA}/{segment_name(start)}")
        turned = bytes([disk.read(path, at - start, 1)[0] ^ bit])
        damaged = copy.deepcopy(disk)
        damaged.write(path, at - start, turned)
        try:
            DLedgerStore.open(damaged, STORE)
        except DamagedLogError:
            disk.write(path, at - start, turned)
            disk.fsync(path)  # no power cut takes it back
            machine.is_damaged = True
            return f"entry {entry.index}"
    return None

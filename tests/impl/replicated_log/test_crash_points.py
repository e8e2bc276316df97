"""Every power cut in saving, loading, installing and cleaning up leaves the state of one index."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from rocketha.errors import PowerCutError, RockethaError
from rocketha.known_bugs import NO_BUGS, Bug, Bugs
from rocketha.replicated_log.log import NO_TERM
from rocketha.replicated_log.snapshot_files import SnapshotMeta, SnapshotWriter
from rocketha.storage.cut_disk import CutDisk
from rocketha.storage.disk import Disk
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, Term
from tests.impl.replicated_log.registers import Entry, Registers, entry_data, fold, install
from tests.impl.storage.tears import ALL, NAMES, SIZES, Told, Torn, every_tear

LONG = "x" * 5000
"""With it, a snapshot and an entry are longer than every piece that survives."""
LOG: tuple[Entry, ...] = (
    ("a", 1),
    (LONG, 2),
    ("a", None),
    ("b", 4),
    (LONG, 5),
    ("b", None),
    ("c", 7),
)
STATES = [fold(LOG[:n]) for n in range(len(LOG) + 1)]


def grow(disk: Disk, told: Told, bugs: Bugs = NO_BUGS) -> None:
    """Start a node and give it what it lacks of the log."""
    node = Registers(disk, bugs=bugs)
    told.append(node.applied)
    for entry in LOG[node.applied :]:
        node.put(entry)
        told.append(node.applied)


def leaders_snapshot(term: Term = NO_TERM) -> bytes:
    meta = SnapshotMeta(last_included_index=LogIndex(6), last_included_term=term)
    node, writer = Registers(MemoryDisk()), SnapshotWriter(meta)
    for entry in LOG[:6]:
        node.put(entry)
    node.machine.on_snapshot_save(writer)
    return writer.encoded()


SNAPSHOT = leaders_snapshot()
OLD, STRAY, NEW = Term(1), Term(2), Term(3)
SNAPSHOT_OF_LEADER = leaders_snapshot(NEW)


def install_one(disk: Disk, told: Told) -> None:
    """Start a node, install the leader's snapshot, and go on behind it."""
    node = Registers(disk)
    told.append(node.applied)
    install(node, SNAPSHOT)
    told.append(node.applied)
    for entry in LOG[node.applied :]:
        node.put(entry)
        told.append(node.applied)


def follow(disk: Disk, told: Told, bugs: Bugs = NO_BUGS) -> None:
    """Get entries of three leaders, one of whom does not last, and a snapshot among them."""
    node = Registers(disk, follows=True, bugs=bugs)
    told.append(node.applied)

    def append(index: int, term: Term) -> None:
        node.manager.append(LogIndex(index), entry_data(LOG[index - 1]), term)
        told.append(index)

    def apply(index: int) -> None:
        node.caller.learn_commit(LogIndex(index))
        while node.manager.apply_next():
            node.manager.save_if_due()

    for index in (1, 2, 3):
        append(index, OLD)
    apply(2)
    for index in (4, 5):
        node.manager.append(LogIndex(index), entry_data(("stray", index)), STRAY)
    append(4, NEW)
    node.manager.receive(SNAPSHOT_OF_LEADER)
    apply(4)
    node.manager.load_received()
    told.append(6)
    append(7, NEW)
    apply(7)


def grown(size: int) -> MemoryDisk:
    """Make the disk of a node that has so much of the log, all of it durable."""
    disk = MemoryDisk()
    node = Registers(disk)
    for entry in LOG[:size]:
        node.put(entry)
    disk.tear(lambda size: size, names=ALL)
    return disk


def damaged() -> MemoryDisk:
    """Make a disk whose newest snapshot is damaged, and half of another one is in its place."""
    disk = grown(5)
    path = "snapshot/snapshot_4"
    disk.write(path, 60, bytes([disk.read(path, 60, 1)[0] ^ 1]))
    disk.fsync(path)
    disk.write("snapshot/tmp", 0, bytes(5000))
    disk.fsync("snapshot/tmp")
    disk.fsync_dir("snapshot")
    return disk


def wrong(torn: Torn, *, steps: tuple[int, ...] = ()) -> str | None:
    """Say what is wrong with the node that starts on this disk.

    What was acknowledged is there, and at most the next step (by 1, or as given) besides.
    """
    where = f"cut before operation {torn.cut_before}, {torn.how}"
    try:
        node = Registers(torn.disk)
    except RockethaError as error:
        return f"{where}: {error}"
    least = torn.told[-1] if torn.told else 0
    if node.values != STATES[node.applied]:
        return f"{where}: not the state after entry {node.applied}"
    if node.applied < least or (torn.ended and node.applied != least):
        return f"{where}: {node.applied} after {least} was acknowledged"
    if torn.told and node.applied > max(least + 1, *steps, 0):
        return f"{where}: {node.applied} after {least}"
    return None


def test_a_node_that_saves_and_cleans_up() -> None:
    found = [(torn.cut_before, wrong(torn)) for torn in every_tear(MemoryDisk, grow)]
    assert [what for _, what in found if what] == []
    assert found[-1][0] >= 38, "so many operations"
    assert len(found) == (found[-1][0] + 1) * len(SIZES) * len(NAMES)


def test_a_node_that_falls_back_to_an_older_snapshot() -> None:
    found = [(torn.cut_before, wrong(torn)) for torn in every_tear(damaged, grow)]
    assert [what for _, what in found if what] == []
    assert found[-1][0] >= 12


def test_a_node_that_installs_a_snapshot() -> None:
    found = [
        (torn.cut_before, wrong(torn, steps=(6,)))
        for torn in every_tear(lambda: grown(3), install_one)
    ]
    assert [what for _, what in found if what] == []
    assert found[-1][0] >= 12


def lacks(torn: Torn) -> str | None:
    """Say what a node that follows has not that it had taken."""
    where = f"cut before operation {torn.cut_before}, {torn.how}"
    try:
        node = Registers(torn.disk, follows=True)
    except RockethaError as error:
        return f"{where}: {error}"
    if node.values != STATES[node.applied]:
        return f"{where}: not the state after entry {node.applied}"
    for index in range(node.applied + 1, (torn.told[-1] if torn.told else 0) + 1):
        found = node.log.entry(LogIndex(index)) if index <= node.log.end_index else b""
        if found != entry_data(LOG[index - 1]):
            return f"{where}: entry {index} is {found!r}"
    return None


def test_a_node_that_follows_leaders() -> None:
    found = [(torn.cut_before, lacks(torn)) for torn in every_tear(MemoryDisk, follow)]
    assert [what for _, what in found if what] == []
    assert found[-1][0] >= 35, "so many operations"


@pytest.mark.parametrize("bug", [Bug.B55, Bug.DIRECTORY_SYNC, Bug.SYNC_FIRST])
def test_a_node_that_follows_badly_is_caught(bug: Bug) -> None:
    bugs = frozenset({bug})
    found = [lacks(torn) for torn in every_tear(MemoryDisk, lambda d, t: follow(d, t, bugs))]
    assert any(found)


def test_a_node_that_loses_power_again_while_it_starts() -> None:
    found = 0
    for torn in every_tear(MemoryDisk, grow):
        if torn.how not in ("half and 1 names survive", "0 bytes and all names survive"):
            continue
        for second in _second_cuts(torn):
            found += 1
            assert wrong(second) is None
    assert found >= 5000


def _second_cuts(torn: Torn) -> Iterator[Torn]:
    for second in every_tear(lambda: copy.deepcopy(torn.disk), lambda disk, _: Registers(disk)):
        how = f"{torn.how}; then before {second.cut_before}, {second.how}"
        yield replace(second, told=torn.told, ended=False, cut_before=torn.cut_before, how=how)


def every_exit(
    setup: Callable[[], MemoryDisk], act: Callable[[Disk, Told], object], *, follows: bool
) -> Iterator[Torn]:
    """End the process everywhere while the disk goes on, start it, and cut the power then."""
    cut_before, ended = 0, False
    while not ended:
        disk, told = setup(), Told()
        try:
            act(CutDisk(disk, cut_before=cut_before), told)
            ended = True
        except PowerCutError:
            Registers(disk, follows=follows)
        for names in NAMES:
            left = copy.deepcopy(disk)
            left.tear(lambda size: size // 2, names=names)
            how = f"the process has ended and started; {names} names survive"
            yield Torn(disk=left, told=tuple(told), ended=ended, cut_before=cut_before, how=how)
        cut_before += 1


def test_a_process_that_ends_anywhere_starts_on_what_stays() -> None:
    found = [wrong(torn) for torn in every_exit(MemoryDisk, grow, follows=False)]
    found += [wrong(torn) for torn in every_exit(damaged, grow, follows=False)]
    for torn in every_exit(lambda: grown(3), install_one, follows=False):
        found.append(wrong(torn, steps=(6,)))
    found += [lacks(torn) for torn in every_exit(MemoryDisk, follow, follows=True)]
    assert [what for what in found if what] == []
    assert len(found) >= 300


def test_the_operations_are_those_of_the_specification_in_its_order() -> None:
    counting = CutDisk(MemoryDisk())
    grow(counting, [])
    operations = [o for o in counting.operations if "controllerLog" not in o or ".tmp" in o]
    save = ["write snapshot/tmp", "fsync snapshot/tmp", "rename snapshot/tmp", "fsync_dir snapshot"]
    cut = [f"{o} controllerLog.tmp" for o in ("write", "fsync", "rename")]
    assert [o for o in operations if o != "fsync_dir "] == [
        "fsync_dir snapshot",
        *save,
        *save,
        *cut,
        *save,
        "unlink snapshot/snapshot_2",
        *cut,
    ]


@pytest.mark.parametrize("bug", [Bug.SYNC_FIRST, Bug.DIRECTORY_SYNC, Bug.B68])
def test_a_node_that_leaves_out_a_step_is_caught(bug: Bug) -> None:
    bugs = frozenset({bug})
    found = [wrong(torn) for torn in every_tear(MemoryDisk, lambda d, t: grow(d, t, bugs))]
    caught = [what for what in found if what]
    assert caught
    assert all("the log begins with entry" in what for what in caught)

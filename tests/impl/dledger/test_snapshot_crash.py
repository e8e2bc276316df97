"""A crash at every operation of saving and installing snapshots, and of the recovery after it."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Final

import pytest

from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.performers import DLedgerFiles, LedgerPerformer, MachinePerformer
from rocketha.dledger.push_state import (
    ApplyCommitted,
    DeleteBefore,
    InstallSnapshot,
    SaveSnapshot,
    SyncLedger,
    WriteEntry,
)
from rocketha.dledger.register import RegisterService, write_entry
from rocketha.dledger.state import KeepTermAndVote
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.formats.dledger_term_file import TermAndVote
from rocketha.runtime.effects import Effect, SendRequest
from rocketha.runtime.performer import Performer
from rocketha.storage.cut_disk import CutDisk
from rocketha.storage.disk import Disk
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, Term
from tests.impl.dledger.store_model import OPTIONS, Log, seen
from tests.impl.dledger.test_store_crash import SwitchedDisk, cuts, until_the_cut

NORMAL: Final = DLedgerEntryType.NORMAL
NO_INDEX: Final = -1
SECOND: Final = 5
"""Ways in which the power goes off in a recovery."""


def body(index: int, term: int) -> bytes:
    """What an entry of this index and term has."""
    return write_entry(f"k{index % 3}", 100 * term + index)


def state_after(terms: Sequence[int]) -> Mapping[str, int]:
    """The registers when the entries of these terms were applied."""
    registers = RegisterService()
    for index, term in enumerate(terms):
        registers.on_apply(body(index, term))
    return registers.values


def snapshot_of(terms: Sequence[int]) -> bytes:
    registers = RegisterService()
    for index, term in enumerate(terms):
        registers.on_apply(body(index, term))
    return registers.on_snapshot_save()


# ---- a node, and what it does ----


class Running:
    """A node's files, its state machine, and who performs its effects."""

    def __init__(self, disk: Disk, reserved: int) -> None:
        self.sent: list[SendRequest] = []
        self.registers = RegisterService()
        self.files = DLedgerFiles.open(disk, OPTIONS, self.registers)
        config = DLedgerConfig(max_snapshot_reserved_num=reserved)
        files, registers = (lambda: self.files), (lambda: self.registers)
        ledger = LedgerPerformer(files)
        self.machine = MachinePerformer(files, registers, config, self.sent.append)
        self._performers: tuple[Performer[Any, object], ...] = (ledger, self.machine)

    def perform(self, effect: Effect) -> None:
        (performer,) = [one for one in self._performers if type(effect) in one.effects]
        performer.perform(effect, None)

    def seen(self) -> Seen:
        store = self.files.store
        return Seen(
            log=seen(store),
            snapshot=self.files.snapshot_index,
            term=store.term_at(self.files.snapshot_index),
            registers=dict(self.registers.values),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a node has when it has started."""

    log: Log
    snapshot: int
    term: int | None
    registers: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Promised:
    """What a node must have after a crash: the snapshot of which it is and its log.

    `terms` are of all entries, those that are no more in the log among them.
    """

    terms: tuple[int, ...] = ()
    begin: int = -1
    """Before the first entry of the log."""
    synced: int = -1
    snapshots: frozenset[int] = frozenset({NO_INDEX})
    """Which may be the newest."""

    def refusal(self, found: Seen) -> str | None:
        """Say why this may not be what is left; `None` if it may."""
        end = found.log.end
        if found.snapshot not in self.snapshots:
            return f"the snapshot is {found.snapshot}, none of {sorted(self.snapshots)}"
        if not max(self.synced, found.snapshot) <= end < len(self.terms):
            return f"the log ends at {end}, and {self.synced} was synchronized"
        if not found.log.before[0] <= found.snapshot:
            return f"no snapshot has what was cut up to {found.log.before[0]}"
        at = found.snapshot + 1
        if found.registers != state_after(self.terms[:at]):
            return f"the state is not that of entry {found.snapshot}"
        if found.term != (self.terms[found.snapshot] if at else -1):
            return f"the log has term {found.term} at entry {found.snapshot}"
        begin = found.log.before[0] + 1
        here = [
            (self.terms[index], NORMAL, body(index, self.terms[index]))
            for index in range(begin, end + 1)
        ]
        return None if list(found.log.entries) == here else "the log has other entries"


@dataclass(slots=True)
class Life:
    """A node that does things, and what may be left of it if the power goes off."""

    before: Promised = field(default_factory=Promised)
    after: Promised | None = None
    """What also may be left, while an effect is under way."""

    def perform(self, running: Running, effects: Sequence[Effect]) -> None:
        """Do these, as far as the disk lets it."""
        for effect in effects:
            self.after = promised_after(self.before, effect)
            running.perform(effect)
            self.before, self.after = self.after, None

    def may_be(self) -> Iterator[Promised]:
        yield self.before
        if self.after is not None:
            yield self.after
            # A new snapshot that the old log goes with.
            newer = self.before.snapshots | self.after.snapshots
            yield replace(self.before, snapshots=newer)

    def refusal(self, found: Seen) -> str | None:
        """Say why this may not be what is left; `None` if it may."""
        if found.log.synced != found.log.end:
            return "not all that was found is durable"
        refused = [promised.refusal(found) for promised in self.may_be()]
        return None if None in refused else f"{found}: {refused}"


def promised_after(before: Promised, effect: Effect) -> Promised:
    """What a node has promised when it has done something."""
    match effect:
        case WriteEntry(term=term):
            return replace(before, terms=(*before.terms, term))
        case SyncLedger():
            return replace(before, synced=len(before.terms) - 1)
        case DeleteBefore(index=index):
            return replace(before, begin=index, synced=len(before.terms) - 1)
        case SaveSnapshot(index=index):
            return replace(before, snapshots=frozenset({int(index)}))
        case InstallSnapshot(index=index, keeps_log=keeps):
            terms = before.terms if keeps else LEADER[: index + 1]
            synced = len(terms) - 1 if keeps else int(index)
            return replace(
                before, terms=terms, begin=index, synced=synced, snapshots=frozenset({int(index)})
            )
        case _:
            return before


# ---- what is done ----


def appends(first: int, terms: Sequence[int]) -> tuple[Effect, ...]:
    return tuple(
        [
            WriteEntry(kind=NORMAL, term=Term(term), body=body(index, term))
            for index, term in enumerate(terms, start=first)
        ]
    )


def applies(first: int, last: int) -> tuple[Effect, ...]:
    return tuple([ApplyCommitted(index=LogIndex(index)) for index in range(first, last + 1)])


def saves(index: int, term: int = 1) -> Effect:
    return SaveSnapshot(index=LogIndex(index), term=Term(term))


def cuts_log(index: int) -> tuple[Effect, ...]:
    """As a node cuts its log: all of it is on the disk first."""
    return SyncLedger(), DeleteBefore(index=LogIndex(index))


def installs(index: int, *, keeps_log: bool = False) -> Effect:
    return InstallSnapshot(
        index=LogIndex(index),
        term=Term(LEADER[index]),
        data=snapshot_of(LEADER[: index + 1]),
        keeps_log=keeps_log,
    )


LEADER: Final = (1,) * 6 + (3,) * 20
"""The terms of a leader's log, whose snapshots are installed."""

EIGHT: Final[tuple[Effect, ...]] = (
    KeepTermAndVote(kept=TermAndVote(curr_term=Term(3))),
    *appends(0, (1,) * 6 + (2, 2)),
    SyncLedger(),
    *applies(0, 4),
)
"""The last two are not the leader's."""

Effects = tuple[Effect, ...]
SCENARIOS: Final[dict[str, tuple[Effects, Effects]]] = {
    "a first snapshot": (EIGHT, (saves(4),)),
    "a snapshot, and the log cut behind it": (EIGHT, (saves(4), *cuts_log(4))),
    "a snapshot of all, and the log cut": (
        (*EIGHT, *applies(5, 7)),
        (saves(7, 2), *cuts_log(7), *appends(8, (2, 2)), SyncLedger()),
    ),
    "several snapshots": (
        (*EIGHT[:-5], *applies(0, 1), saves(1), *cuts_log(1)),
        (*applies(2, 2), saves(2), *cuts_log(2), *applies(3, 4), saves(4), *cuts_log(4)),
    ),
    "a snapshot of what is not synchronized": (
        (*EIGHT, *appends(8, (2, 2, 2)), *applies(5, 9)),
        (saves(9, 2), *cuts_log(9)),
    ),
    "an install behind the end": (EIGHT, (installs(12), *appends(13, (3, 3)), SyncLedger())),
    "an install in the place of other entries": (
        EIGHT,
        (installs(7), *appends(8, (3, 3)), SyncLedger()),
    ),
    "an install of what is there": (EIGHT, (installs(5, keeps_log=True),)),
    "an install into an empty log": (EIGHT[:1], (installs(12), *appends(13, (3,)), SyncLedger())),
    "an install over a snapshot": (
        (*EIGHT[:-5], *applies(0, 1), saves(1), *cuts_log(1), *applies(2, 3), saves(3)),
        (installs(9),),
    ),
    "an install of what is there over a snapshot": (
        (*EIGHT[:-5], *applies(0, 1), saves(1), *cuts_log(1)),
        (installs(4, keeps_log=True),),
    ),
    "an install over an install": ((*EIGHT, installs(9)), (installs(20),)),
}


@dataclass(slots=True)
class Crashes:
    """What is left of one scenario's disk; what was looked at before is passed by."""

    reserved: int
    life: Life = field(default_factory=Life)
    counted: Counter[str] = field(default_factory=Counter)
    known: set[object] = field(default_factory=set)

    def is_new(self, kind: str, disk: MemoryDisk) -> bool:
        self.counted[kind] += 1
        key = (kind, files_of(disk), files_of(disk.durable()), self.life.before, self.life.after)
        is_new = key not in self.known
        self.known.add(key)
        self.counted[f"different {kind}"] += is_new
        return is_new

    def crash(self, disk: MemoryDisk, name: str) -> None:
        """Cut the power; then at every operation of each recovery of what is left."""
        for number, left in enumerate(cuts(disk, name)):
            if self.is_new("crashes", left):
                self.crash_recovery(left, f"{name} {number}")

    def crash_recovery(self, left: MemoryDisk, name: str) -> None:
        ended, at = False, 0
        while not ended:
            disk = copy.deepcopy(left)
            cut = CutDisk(disk, cut_before=at)
            ended = until_the_cut(partial(DLedgerFiles.open, cut, OPTIONS, RegisterService()))
            for again in islice(cuts(disk, f"{name} {at}"), SECOND):
                if self.is_new("second crashes", again):
                    self.look(again)
            at += 1

    def look(self, disk: MemoryDisk) -> None:
        """What is recovered is durable, and goes on with snapshots of its own."""
        running = Running(disk, self.reserved)
        found = running.seen()
        refusal = self.life.refusal(found)
        assert refusal is None, refusal
        self.counted[f"with snapshot {found.snapshot}"] += 1
        disk.lose_unsynced()
        running = Running(disk, self.reserved)
        assert running.seen() == found, "what was found is durable"
        end, term = found.log.end + 1, 9
        running.perform(KeepTermAndVote(kept=TermAndVote(curr_term=Term(term))))
        for effect in (
            *appends(end, (term,)),
            SyncLedger(),
            *applies(found.snapshot + 1, end),
            saves(end, term),
            *cuts_log(end),
        ):
            running.perform(effect)
        after = running.seen()
        assert Running(copy.deepcopy(disk), self.reserved).seen() == after
        disk.lose_unsynced()
        assert Running(disk, self.reserved).seen() == after


def files_of(disk: MemoryDisk) -> tuple[tuple[str, bytes], ...]:
    """All files of a node."""
    folders = ["", "/data", "/index"]
    snapshots = f"{OPTIONS.directory}/snapshot"
    folders += [f"/snapshot/{name}" for name in disk.folders(snapshots)]
    paths = [
        f"{OPTIONS.directory}{folder}/{name}"
        for folder in folders
        for name in disk.names(f"{OPTIONS.directory}{folder}")
    ]
    return tuple([(path, disk.read(path)) for path in paths])


def crash_everywhere(name: str, reserved: int) -> Counter[str]:
    """Crash a scenario at every operation, and each recovery of what is left at each of its."""
    setup, script = SCENARIOS[name]
    crashes = Crashes(reserved)
    ended, at = False, 0
    while not ended:
        disk, crashes.life = MemoryDisk(), Life()
        switch = SwitchedDisk(disk)
        running = Running(switch, reserved)
        crashes.life.perform(running, setup)
        switch.cut_before(at)
        ended = until_the_cut(partial(crashes.life.perform, running, script))
        crashes.counted["operations"] += not ended
        crashes.crash(disk, f"{name} {at}")
        at += 1
    return crashes.counted


@pytest.mark.parametrize(
    ("name", "reserved"), [*((name, 1) for name in SCENARIOS), ("several snapshots", 3)]
)
def test_the_state_is_the_old_one_or_the_new_one_and_the_log_goes_on_behind_it(
    name: str, reserved: int
) -> None:
    counted = crash_everywhere(name, reserved)
    assert counted["operations"] >= 6
    assert counted["different crashes"] >= 6
    assert counted["different second crashes"] >= counted["different crashes"]
    assert len([one for one in counted if one.startswith("with snapshot")]) >= 2

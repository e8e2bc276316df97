"""A DLedger store as a list: what each operation makes of it, and what a crash may leave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from rocketha.dledger.store import DLedgerStore, StoreOptions
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.formats.dledger_entry import DLedgerEntry, body_crc
from rocketha.formats.dledger_term_file import TermAndVote
from rocketha.types import LogIndex, Offset, SizeBytes, Term

OPTIONS: Final = StoreOptions(
    directory="dledger-n0",
    mapped_file_size_for_entry_data=SizeBytes(256),
    mapped_file_size_for_entry_index=SizeBytes(96),
)
"""Some three entries a file of each kind."""

Content: TypeAlias = tuple[int, DLedgerEntryType, bytes]
"""Term, type and body of an entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """What a log is: what was before it, its entries, and up to where it is durable."""

    before: tuple[int, int] = (-1, -1)
    entries: tuple[Content, ...] = ()
    synced: int = -1
    kept: TermAndVote | None = None

    @property
    def end(self) -> int:
        """The index of the last entry."""
        return self.before[0] + len(self.entries)

    @property
    def end_term(self) -> int:
        return self.entries[-1][0] if self.entries else self.before[1]

    def may_be_left_of(self, earlier: Log, synced: int) -> bool:
        """Tell whether this may be what is left of another one that is durable up to `synced`."""
        return (
            self.kept == earlier.kept
            and self.before == earlier.before
            and self.entries == earlier.entries[: len(self.entries)]
            and self.end >= synced
        )


@dataclass(frozen=True, slots=True)
class Keep:
    """A vote."""

    term: int
    vote: str | None = None

    @property
    def kept(self) -> TermAndVote:
        return TermAndVote(curr_term=Term(self.term), vote_leader=self.vote)

    def perform(self, store: DLedgerStore) -> None:
        store.keep(self.kept)

    def after(self, log: Log) -> Log:
        return replace(log, kept=self.kept)


@dataclass(frozen=True, slots=True)
class Append:
    """An entry, of a leader or from one."""

    term: int
    body: bytes
    kind: DLedgerEntryType = DLedgerEntryType.NORMAL
    follower: bool = False

    def perform(self, store: DLedgerStore) -> None:
        if not self.follower:
            store.append(self.kind, Term(self.term), self.body)
            return
        # A leader's own pos, channel and chainCrc.
        entry = DLedgerEntry(
            kind=self.kind,
            index=LogIndex(store.end_index + 1),
            term=Term(self.term),
            pos=Offset(77),
            channel=0,
            chain_crc=4711,
            body_crc=body_crc(self.body),
            body=self.body,
        )
        store.append_entry(entry)

    def after(self, log: Log) -> Log:
        return replace(log, entries=(*log.entries, (self.term, self.kind, self.body)))


@dataclass(frozen=True, slots=True)
class Sync:
    """What was appended becomes durable."""

    def perform(self, store: DLedgerStore) -> None:
        store.sync()

    def after(self, log: Log) -> Log:
        return replace(log, synced=log.end)


@dataclass(frozen=True, slots=True)
class Truncate:
    """An entry and all behind it go."""

    index: int

    def perform(self, store: DLedgerStore) -> None:
        store.truncate(LogIndex(self.index))

    def after(self, log: Log) -> Log:
        left = log.entries[: self.index - log.before[0] - 1]
        return replace(log, entries=left, synced=min(log.synced, self.index - 1))


@dataclass(frozen=True, slots=True)
class DeleteBefore:
    """An entry and all before it go."""

    index: int

    def perform(self, store: DLedgerStore) -> None:
        store.delete_before(LogIndex(self.index))

    def after(self, log: Log) -> Log:
        deleted = self.index - log.before[0]
        if deleted <= 0:
            return log
        last = log.entries[deleted - 1]
        return replace(
            log, before=(self.index, last[0]), entries=log.entries[deleted:], synced=log.end
        )


@dataclass(frozen=True, slots=True)
class Reset:
    """All entries go, and a snapshot stands for them."""

    index: int
    term: int

    def perform(self, store: DLedgerStore) -> None:
        store.reset(LogIndex(self.index), Term(self.term))

    def after(self, log: Log) -> Log:
        return replace(log, before=(self.index, self.term), entries=(), synced=self.index)


Operation: TypeAlias = Keep | Append | Sync | Truncate | DeleteBefore | Reset


@dataclass(slots=True)
class Life:
    """A store and its list; what was under way when it broke off."""

    log: Log = field(default_factory=Log)
    under_way: Operation | None = None

    def perform(self, store: DLedgerStore, operations: Sequence[Operation]) -> None:
        """Do these, as far as the disk lets it."""
        for operation in operations:
            self.under_way = operation
            operation.perform(store)
            self.log = operation.after(self.log)
            self.under_way = None
            assert seen(store) == self.log

    def refusal(self, found: Log) -> str | None:
        """Say why this may not be what is left after a power cut; `None` if it may."""
        if found.synced != found.end:
            return "not all that was found is durable"
        if any(found.may_be_left_of(log, synced) for log, synced in self._possible()):
            return None
        return f"{found} is left of {self.log} and {self.under_way}"

    def _possible(self) -> Iterator[tuple[Log, int]]:
        kept = self.log.synced
        if isinstance(self.under_way, Truncate):
            kept = min(kept, self.under_way.index - 1)
        yield self.log, kept
        if self.under_way is not None:
            after = self.under_way.after(self.log)
            yield after, after.synced


def content(entry: DLedgerEntry) -> Content:
    """What an entry says to those who read it."""
    return entry.term, entry.kind, entry.body


def seen(store: DLedgerStore) -> Log:
    """Read a whole store, and compare its ways to be asked."""
    first, last = store.before_begin_index + 1, store.end_index
    entries = [store.entry(LogIndex(index)) for index in range(first, last + 1)]
    assert [entry.index for entry in entries] == list(range(first, last + 1))
    terms = [store.term_at(LogIndex(index)) for index in range(first - 1, last + 1)]
    assert terms == [store.before_begin_term, *(entry.term for entry in entries)]
    assert store.term_at(LogIndex(first - 2)) is None
    assert store.term_at(LogIndex(last + 1)) is None
    assert store.end_term == terms[-1]
    return Log(
        before=(store.before_begin_index, store.before_begin_term),
        entries=tuple(map(content, entries)),
        synced=store.synced_index,
        kept=store.kept,
    )


def body(number: int, size: int = 20) -> bytes:
    """Make a body that no other one is."""
    return f"{number}:".encode().ljust(size, b"x")


def appends(
    first: int, count: int, *, term: int = 1, size: int = 20, follower: bool = False
) -> tuple[Append, ...]:
    """Make entries of one size."""
    return tuple(
        [
            Append(term, body(number, size), follower=follower)
            for number in range(first, first + count)
        ]
    )

"""Write our golden DLedger files again (see dledger/README.md): a difference changes a format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rocketha.formats.dledger_checkpoint import CHECKPOINT_FILE, Checkpoint, encode_checkpoint
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.formats.dledger_data_file import DataFile, end_filler, prefix_filler
from rocketha.formats.dledger_entry import (
    LOG_START,
    DLedgerEntry,
    LogPoint,
    channel_of,
    encode_entry,
    sealed,
)
from rocketha.formats.dledger_index_file import INDEX_UNIT_SIZE, encode_index
from rocketha.formats.dledger_snapshot import (
    SNAPSHOT_DATA_FILE,
    SNAPSHOT_META_FILE,
    SnapshotMeta,
    data_sum,
    encode_snapshot_meta,
    snapshot_dir,
)
from rocketha.formats.dledger_term_file import TERM_FILE, TermAndVote, encode_term_file
from rocketha.types import LogIndex, Offset, Term

GOLDEN: Final = Path(__file__).parent / "dledger"
FILE_SIZE: Final = 512
INDEX_FILE_SIZE: Final = 256
SNAPSHOT_DATA: Final = b"sum=4"
CHECKED_TERM: Final = TermAndVote(curr_term=Term(4), vote_leader="n0")
CHECKED_CHECKPOINT: Final = Checkpoint(end_index=LogIndex(9), committed_index=LogIndex(7))


@dataclass(frozen=True)
class Body:
    """What becomes an entry: its term, its type, and how many before it were not synchronized."""

    body: bytes
    term: int
    kind: DLedgerEntryType = DLedgerEntryType.NORMAL
    unsynced: int = 0


BODIES: Final = (
    Body(b"hello", 0),
    Body(b"", 0, DLedgerEntryType.NOOP),
    Body(b"a body of its own length", 0, unsynced=1),
    Body(b"x", 0, unsynced=2),
    Body(b"second term", 4),
    Body(b"0123456789" * 4, 4),
    Body(b"fills the file", 4, unsynced=1),
    Body(b"in the second file", 4),
    Body(b"also there", 4),
    Body(b"end", 5, DLedgerEntryType.CONFIG_CHANGE, unsynced=1),
)


def laid_out(
    bodies: Sequence[Body], *, before: LogPoint = LOG_START, begin: int = 0
) -> tuple[tuple[DLedgerEntry, ...], bytes]:
    """Place entries one after the other from `begin` on; return them, and the bytes from there."""
    entries: list[DLedgerEntry] = []
    written = b""
    chain = before.chain_crc or 0
    for number, one in enumerate(bodies):
        entry = DLedgerEntry(
            kind=one.kind,
            index=LogIndex(before.index + 1 + number),
            term=Term(one.term),
            pos=Offset(0),
            channel=channel_of(one.unsynced),
            body=one.body,
        )
        end = Offset(begin + len(written))
        written += end_filler(end, entry.size, file_size=FILE_SIZE)
        entry = sealed(replace(entry, pos=Offset(begin + len(written))), chain)
        chain = entry.chain_crc
        entries.append(entry)
        written += encode_entry(entry)
    return tuple(entries), written


def files_of(written: bytes) -> tuple[DataFile, ...]:
    """Cut bytes into files of one size, the last one with zeros."""
    starts = range(0, len(written), FILE_SIZE)
    return tuple(
        [DataFile(Offset(s), written[s : s + FILE_SIZE].ljust(FILE_SIZE, b"\0")) for s in starts]
    )


def checked_log() -> tuple[tuple[DLedgerEntry, ...], tuple[DataFile, ...]]:
    """Make a log of two files that begins with entry 0."""
    entries, written = laid_out(BODIES)
    return entries, files_of(written)


def checked_log_behind_snapshot() -> tuple[tuple[DLedgerEntry, ...], tuple[DataFile, ...]]:
    """Make a log of which entries 0 .. 3 were deleted: a filler is written over them."""
    entries, written = laid_out(BODIES)
    last = entries[3]
    deleted = prefix_filler(last.end, LogPoint(last.index, last.term, last.chain_crc))
    return entries[4:], files_of(deleted + written[len(deleted) :])


def checked_meta() -> SnapshotMeta:
    """Make the meta of a snapshot that stands for entries 0 .. 3."""
    last = checked_log()[0][3]
    return SnapshotMeta(
        last_included_index=last.index,
        last_included_term=last.term,
        chain_crc=last.chain_crc,
        data=data_sum(SNAPSHOT_DATA),
    )


def golden_dledger_files() -> Mapping[str, bytes]:
    """Make all files, by their paths below `dledger/checked`."""
    entries, files = checked_log()
    meta = checked_meta()
    folder = f"snapshot/{snapshot_dir(meta.last_included_index)}"
    index = encode_index(entries)
    index = index.ljust(-(-len(index) // INDEX_FILE_SIZE) * INDEX_FILE_SIZE, b"\0")
    assert INDEX_FILE_SIZE % INDEX_UNIT_SIZE == 0
    made = {
        TERM_FILE: encode_term_file(CHECKED_TERM),
        CHECKPOINT_FILE: encode_checkpoint(CHECKED_CHECKPOINT),
        f"{folder}/{SNAPSHOT_META_FILE}": encode_snapshot_meta(meta),
        f"{folder}/{SNAPSHOT_DATA_FILE}": SNAPSHOT_DATA,
    }
    made |= {f"data/{file.offset:020}": file.data for file in files}
    behind = checked_log_behind_snapshot()[1]
    made |= {f"data_behind_snapshot/{file.offset:020}": file.data for file in behind}
    starts = range(0, len(index), INDEX_FILE_SIZE)
    return made | {f"index/{at:020}": index[at : at + INDEX_FILE_SIZE] for at in starts}


if __name__ == "__main__":
    for name, data in golden_dledger_files().items():
        path = GOLDEN / "checked" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

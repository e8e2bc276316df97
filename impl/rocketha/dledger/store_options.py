"""How the files of a DLedger node are laid out, and the small one among them read.

Source: DLedgerConfig, MemberState (`loadPersistentState`)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rocketha.dledger.store_files import joined
from rocketha.errors import ConfigurationError, TermFileError
from rocketha.formats.dledger_data_file import FILLER_MIN
from rocketha.formats.dledger_entry import ENTRY_HEADER_SIZE, EntryCheck
from rocketha.formats.dledger_index_file import INDEX_UNIT_SIZE
from rocketha.formats.dledger_lines import LINES_MAX
from rocketha.formats.dledger_term_file import TERM_FILE, TermAndVote, decode_term_file
from rocketha.storage.disk import Disk, parent
from rocketha.types import SizeBytes

__all__ = ["StoreOptions", "look_at_term", "read_term"]

_BACKUP: Final = ".bak"
_DATA_FILE_SIZE: Final = SizeBytes(64 * 1024 * 1024)
_INDEX_FILE_SIZE: Final = SizeBytes(65_536 * INDEX_UNIT_SIZE)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOptions:
    """Where the files are, how large, and whose. Source: DLedgerConfig"""

    directory: str = ""
    """Of the node, on its disk; DLedger's is `dledger-<selfId>`."""
    mapped_file_size_for_entry_data: SizeBytes = _DATA_FILE_SIZE
    """`mappedFileSizeForEntryData`, 1 GiB in DLedger; whole files are read when a store opens."""
    mapped_file_size_for_entry_index: SizeBytes = _INDEX_FILE_SIZE
    """`mappedFileSizeForEntryIndex`, 160 MiB in DLedger."""
    check: EntryCheck = EntryCheck.CHECKED
    """`ORIGINAL`: DLedger wrote the files, or some of their entries."""
    discard_damaged_log: bool = False
    """A log that is damaged is thrown away, and the leader sends it again; else it is refused.

    Of a group of one nobody could send it.
    """

    def __post_init__(self) -> None:
        least = 2 * ENTRY_HEADER_SIZE + FILLER_MIN
        if self.mapped_file_size_for_entry_data < least:
            raise ConfigurationError("mappedFileSizeForEntryData", reason=f"is less than {least}")
        index = self.mapped_file_size_for_entry_index
        if index <= 0 or index % INDEX_UNIT_SIZE:
            reason = f"is no multiple of {INDEX_UNIT_SIZE}"
            raise ConfigurationError("mappedFileSizeForEntryIndex", reason=reason)

    def path(self, name: str) -> str:
        """Return the path of a file or folder of the node."""
        return joined(self.directory, name)


def read_term(disk: Disk, options: StoreOptions) -> TermAndVote | None:
    """Read term and vote; what was read is durable. Raises: TermFileError, DiskError"""
    kept = look_at_term(disk, options)
    if kept is not None:
        # A program that ended before it had done so may have left it.
        path = options.path(TERM_FILE)
        disk.fsync(path)
        disk.fsync_dir(parent(path))
    return kept


def look_at_term(disk: Disk, options: StoreOptions) -> TermAndVote | None:
    """Read term and vote, and change nothing. Raises: TermFileError, DiskError"""
    path = options.path(TERM_FILE)
    if not disk.exists(path):
        # DLedger removes the file before it renames the new one.
        if disk.exists(path + _BACKUP):
            reason = f"is not there, and {TERM_FILE}{_BACKUP} is, which is older"
            raise TermFileError(TERM_FILE, offset=0, reason=reason)
        return None
    data = disk.read(path, 0, LINES_MAX + 1)
    return decode_term_file(data, accept_unchecked=options.check is EntryCheck.ORIGINAL)

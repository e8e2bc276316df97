"""The files of a broker that ended, decoded by rocketha and written back.

| file of `nodes/<node>/store`            | compared                                               |
|-----------------------------------------|--------------------------------------------------------|
| `commitlog/*`                           | each record whole, of fillers the header               |
| `epochFileCheckpoint`, `.bak`           | whole                                                  |
| `checkpoint`                            | whole                                                  |
| `brokerIdentity`, `brokerIdentity-temp` | whole; cluster and group are those of `node.conf`      |

Bytes behind the end of a CommitLog are passed by, unless they say of themselves that they are a
record of this place, or the log goes on in the next file; one that is all zeros was only made in
advance. A record of which only the beginning was written, as a killed slave leaves it, is passed
by, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rocketha.errors import CommitLogError
from rocketha.formats.epoch_file import decode_epoch_file, encode_epoch_file
from rocketha.formats.message import Record, RecordCheck, push_blank, push_record
from rocketha.formats.segment import Segment, decode_segment, segment_start
from rocketha.formats.store_checkpoint import decode_store_checkpoint, encode_store_checkpoint
from rocketha.storage.disk import RealDisk
from rocketha.storage.identity_store import IdentityStore
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import Identity, Offset, SizeBytes
from rocketmq_peer.interop_tally import Kind, Tally, first_difference, said_of

__all__ = ["configuration_of", "examine_files"]

_IDENTITY: Final = "brokerIdentity"
_EPOCH_FILES: Final = ("epochFileCheckpoint", "epochFileCheckpoint.bak")
_CRC_MARK: Final = b"__CRC32#"
_CRC_SIZE: Final = 20
_FILLER_HEADER: Final = 8
_BEGINNING: Final = 8
"""Size and magic number: not zero where anything begins."""
_OWN_OFFSET: Final = slice(28, 36)


def configuration_of(node: Path) -> dict[str, str]:
    """Read a process's `node.conf`, which may be missing: nothing. Raises: OSError, ValueError"""
    path = node / "node.conf"
    if not path.is_file():
        return {}
    pairs = (line.partition("=") for line in path.read_text("utf-8").splitlines())
    return {name: value for name, _, value in pairs}


def examine_files(run: Path, tally: Tally) -> None:
    """Decode the files of all nodes of a run, and write them back. Raises: OSError"""
    for node in sorted(path for path in run.glob("nodes/*") if (path / "store").is_dir()):
        store = node / "store"
        _commit_log(run, store / "commitlog", tally)
        for name in _EPOCH_FILES:
            _epoch_file(run, store / name, tally)
        _checkpoint(run, store / "checkpoint", tally)
        _identity(run, store, configuration_of(node), tally)


# ---- The CommitLog ----


def _commit_log(run: Path, folder: Path, tally: Tally) -> None:
    named = [(segment_start(path.name), path) for path in folder.glob("*")]
    segments = sorted((start, path) for start, path in named if start is not None)
    read = [(start, path, path.read_bytes()) for start, path in segments]
    written = {start for start, _, data in read if any(data[:_BEGINNING])}
    for start, path, data in read:
        goes_on = start + len(data) in written
        _segment(_place(run, path), data, start, goes_on=goes_on, tally=tally)


def _segment(where: str, data: bytes, start: Offset, *, goes_on: bool, tally: Tally) -> None:
    size = SizeBytes(len(data))
    try:
        segment = decode_segment(data, start=start, size=size, check=RecordCheck.BODY)
    except Exception as error:
        tally.mismatch(Kind.RECORD, where, said_of(error))
        return
    for record in segment.records:
        _record(where, data, start, record, tally)
    filler_at = segment.records[-1].offset + segment.records[-1].size if segment.records else start
    if segment.rest is None and segment.end > filler_at:
        _filler(where, data, filler_at - start, tally)
    if segment.rest is not None:
        _rest(where, data, start, segment, segment.rest, goes_on=goes_on, tally=tally)
    elif goes_on and segment.end < start + size:
        reason = "nothing follows to the end of the file, but the log goes on in the next one"
        tally.mismatch(Kind.RECORD, f"{where}, byte {segment.end - start}", reason)


def _record(where: str, data: bytes, start: Offset, record: Record, tally: Tally) -> None:
    at = record.offset - start
    raw = data[at : at + record.size]
    checked = raw[-_CRC_SIZE:].startswith(_CRC_MARK)
    tally.counts[Kind.RECORD].decoded += 1
    tally.write_back(
        Kind.RECORD,
        f"{where}, byte {at}",
        lambda: first_difference(
            raw, push_record(record.message, record.offset, whole_crc=checked)
        ),
    )


def _filler(where: str, data: bytes, at: int, tally: Tally) -> None:
    """Compare the header of a filler; what follows it has no meaning."""
    tally.counts[Kind.FILLER].decoded += 1
    came = data[at : at + _FILLER_HEADER]
    tally.write_back(
        Kind.FILLER,
        f"{where}, byte {at}",
        lambda: first_difference(came, push_blank(SizeBytes(len(data) - at))[:_FILLER_HEADER]),
    )


def _rest(
    where: str,
    data: bytes,
    start: Offset,
    segment: Segment,
    rest: CommitLogError,
    *,
    goes_on: bool,
    tally: Tally,
) -> None:
    at = segment.end - start
    written = len(data.rstrip(b"\0"))
    if written < at + int.from_bytes(data[at : at + 4]) and not goes_on:
        tally.pass_by("bytes of a record that was not written to its end", written - at)
    elif goes_on or data[at:][_OWN_OFFSET] == segment.end.to_bytes(8):
        tally.mismatch(Kind.RECORD, f"{where}, byte {at}", str(rest))
    else:
        tally.pass_by("bytes behind the end of a CommitLog", written - at)


# ---- Small files ----


def _epoch_file(run: Path, path: Path, tally: Tally) -> None:
    if not path.is_file():
        return
    data, where = path.read_bytes(), _place(run, path)
    entries = tally.decode(Kind.EPOCH_FILE, where, lambda: decode_epoch_file(data))
    if entries is not None:
        line_break = b"\r\n" if b"\r" in data else b"\n"
        tally.write_back(
            Kind.EPOCH_FILE,
            where,
            lambda: first_difference(data, encode_epoch_file(entries, line_break=line_break)),
        )


def _checkpoint(run: Path, path: Path, tally: Tally) -> None:
    if not path.is_file():
        return
    data, where = path.read_bytes(), _place(run, path)
    said = tally.decode(Kind.CHECKPOINT, where, lambda: decode_store_checkpoint(data))
    if said is not None:
        tally.write_back(
            Kind.CHECKPOINT, where, lambda: first_difference(data, encode_store_checkpoint(said))
        )


def _identity(run: Path, store: Path, conf: Mapping[str, str], tally: Tally) -> None:
    """Let the store of identities read what is there, and write it onto a disk in memory."""
    temporary = f"{_IDENTITY}-temp"
    found = [name for name in (_IDENTITY, temporary) if (store / name).is_file()]
    if not found:
        return
    where = _place(run, store / found[0])

    def at(disk: RealDisk | MemoryDisk) -> IdentityStore:
        cluster, group = conf.get("brokerClusterName", ""), conf.get("brokerName", "")
        return IdentityStore(disk, cluster_name=cluster, broker_name=group, boot="none")

    def written_back(identity: Identity) -> str | None:
        disk = MemoryDisk()
        at(disk).store(identity)
        name = _IDENTITY if identity.register_check_code is None else temporary
        return first_difference((store / name).read_bytes(), disk.read(name))

    identity = tally.decode(Kind.IDENTITY, where, lambda: at(RealDisk(store)).load())
    if identity is not None:
        tally.write_back(Kind.IDENTITY, where, lambda: written_back(identity))


def _place(run: Path, path: Path) -> str:
    return f"{run.name}/{path.relative_to(run)}"

"""Are the files of all brokers of a group the same? Logs byte for byte, and epoch files.

A log ends where its broker says, not where its file has no more records: behind the end of a log
that was cut RocketMQ leaves what was there, and its files are made in their full size.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rocketha.errors import PacketError
from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.epoch_entry_cache import EpochEntryCache, pull_epoch_entry_cache
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.segment import segment_start
from rocketmq_peer.configuration import SEGMENT_SIZE
from rocketmq_peer.controller_view import exchange

__all__ = ["StoreDifference", "ask_epochs", "compare_stores", "log_bytes"]

_EPOCH_FILE: Final = "epochFileCheckpoint"


@dataclass(frozen=True, slots=True)
class StoreDifference:
    """What of two brokers is not the same."""

    brokers: tuple[str, str]
    what: str
    """One line."""

    def __str__(self) -> str:
        return f"{self.brokers[0]} and {self.brokers[1]}: {self.what}"


def ask_epochs(port: int) -> EpochEntryCache | None:
    """Ask a broker that runs for its epochs and the end of its log; None: it does not say."""
    command = exchange(port, RemotingCommand(code=RequestCode.GET_BROKER_EPOCH_CACHE, opaque=1))
    if command is None or command.code:
        return None
    try:
        return pull_epoch_entry_cache(command.body)
    except PacketError:
        return None


def compare_stores(stores: Mapping[str, Path], end: int) -> tuple[StoreDifference, ...]:
    """Compare the logs of brokers up to an offset where all of them end, and their epoch files.

    Raises: OSError
    """
    return tuple(
        StoreDifference((one, other), what)
        for one, other in itertools.pairwise(stores)
        for what in _differences(stores[one], stores[other], end)
    )


def _differences(one: Path, other: Path, end: int) -> Iterator[str]:
    logs = log_bytes(one, end), log_bytes(other, end)
    if len(logs[0]) != len(logs[1]) or len(logs[0]) != end:
        yield f"of {end} bytes of the log there are {len(logs[0])} and {len(logs[1])}"
    elif logs[0] != logs[1]:
        at = next(at for at, (a, b) in enumerate(zip(*logs, strict=True)) if a != b)
        yield f"the logs differ at byte {at} of {end}"
    epochs = _content(one / _EPOCH_FILE), _content(other / _EPOCH_FILE)
    if not any(epochs):
        yield "neither has an epoch file"
    elif epochs[0] != epochs[1]:
        yield f"the epoch files are {epochs[0]!r} and {epochs[1]!r}"


def log_bytes(store: Path, end: int) -> bytes:
    """Read the log of a broker from its beginning to an offset, or as far as there are files.

    Raises: OSError
    """
    pieces: list[bytes] = []
    at = 0
    for start, path in sorted(_segments(store / "commitlog")):
        if start != at or at >= end:
            break
        pieces.append(path.read_bytes()[: end - at])
        at += SEGMENT_SIZE
    return b"".join(pieces)


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _segments(folder: Path) -> Iterator[tuple[int, Path]]:
    for path in folder.glob("*"):
        start = segment_start(path.name)
        if start is not None:
            yield start, path

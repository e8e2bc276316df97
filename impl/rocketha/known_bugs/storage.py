"""Known bugs of a broker's disk: they are options of what keeps the files."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final

from rocketha.known_bugs.bug import Bug, Bugs
from rocketha.known_bugs.overrides import Override, overridden
from rocketha.runtime.broker_files import FileOptions
from rocketha.storage.commit_log import CommitLogOptions
from rocketha.types import SizeBytes

__all__ = ["STORAGE_BUGS", "STORAGE_OVERRIDES", "file_options"]


@cache
def file_options(segment_size: SizeBytes, bugs: Bugs) -> FileOptions:
    """Return how a broker with these bugs keeps its files."""
    right = FileOptions(log=CommitLogOptions(segment_size=segment_size))
    return overridden(right, STORAGE_OVERRIDES, bugs)


def _never_emptied(options: FileOptions) -> FileOptions:
    return replace(options, epochs=replace(options.epochs, skip_empty_write=True))


def _truncated_in_memory(options: FileOptions) -> FileOptions:
    return replace(options, log=replace(options.log, durable_truncate=False))


def _rewritten_in_place(options: FileOptions) -> FileOptions:
    return replace(options, epochs=replace(options.epochs, in_place=True))


STORAGE_OVERRIDES: Final[dict[Bug, Override[FileOptions]]] = {
    Bug.B06: _never_emptied,
    Bug.B07: _truncated_in_memory,
    Bug.B86: _rewritten_in_place,
}

STORAGE_BUGS: Final[Bugs] = frozenset(STORAGE_OVERRIDES)
"""Bugs that no core has."""

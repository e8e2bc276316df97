"""What whoever reads the replicas of a log sees, and what replication promises without consumers.

| promise  | in words                                                                             |
|----------|--------------------------------------------------------------------------------------|
| WRITTEN  | what a replica shows at the end, somebody has written                                |
| GROWS    | the epochs in which the messages of a replica were written never fall along its log  |
| ALIKE    | at the end, when the group says that all is well, all replicas show the same, if     |
|          | their protocol promises it                                                           |
| COPIED   | a producer that waits for k slaves and hears that they have its message: so many     |
|          | slaves have had it, at its offset, with its bytes; or were ahead of a master that    |
|          | lost the end of its log, of which nothing is promised                                |

The reader knows nothing of the protocol: it reads whole logs.

Source: none in RocketMQ; COPIED is what `GroupTransferService` is for, ALIKE what truncation is for
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from rocketha.histories.history import LoggedMessage
from rocketha.histories.verdicts import AllKept, Broken, Promise, Undecided
from rocketha.types import BrokerId, Epoch

__all__ = ["Alike", "Copied", "ReplicaReads", "ReplicaVerdict", "check_replicas"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """A producer that had waited for slaves heard that they have its message."""

    at_ms: int
    message: LoggedMessage
    slaves: int
    """For so many it waited."""
    read_from: frozenset[BrokerId]
    """The slaves from which a reader has got it until then."""
    were_ahead: frozenset[BrokerId]
    """Slaves that had more than the master when it came back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaReads:
    """What readers saw of one run."""

    written: frozenset[str]
    """The bodies of all messages that producers sent."""
    epochs: Mapping[str, Epoch]
    """Body -> the epoch in which it was written."""
    copied: tuple[Copied, ...] = ()
    logs: Mapping[BrokerId, tuple[LoggedMessage, ...]]
    """What each replica that runs shows at the end."""
    alike: bool
    """The protocol promises that they are alike, and the group says that all is well."""
    at_ms: int
    """The end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike(AllKept):
    """All promises are kept, and some were put to the test."""

    messages: int
    """That replicas show at the end, and that producers heard are copied."""
    replicas: int

    @property
    def counted(self) -> int:
        """Return the number of messages."""
        return self.messages

    def in_words(self) -> str:
        """Say it in a line."""
        return f"kept: {self.messages} messages read from {self.replicas} replicas"


ReplicaVerdict: TypeAlias = Alike | Broken | Undecided


def check_replicas(reads: ReplicaReads) -> ReplicaVerdict:
    """Hold what was read against the promises."""
    for broken in _broken(reads):
        return broken
    messages = sum(map(len, reads.logs.values())) + len(reads.copied)
    if not messages:
        return Undecided(reason="no replica has a message")
    return Alike(messages=messages, replicas=len(reads.logs))


def _broken(reads: ReplicaReads) -> Iterator[Broken]:
    for one in reads.copied:
        if len(one.read_from | one.were_ahead) < one.slaves:
            yield Broken(
                promise=Promise.COPIED,
                reason=f"a producer hears at {one.at_ms} ms that {one.slaves} slaves have "
                f"{one.message.body} at offset {one.message.offset}; "
                f"it could be read from {len(one.read_from)}",
            )
    for broker, log in sorted(reads.logs.items()):
        for message in log:
            if message.body not in reads.written:
                yield Broken(
                    promise=Promise.WRITTEN,
                    reason=f"broker {broker} shows {message.body} at offset {message.offset}, "
                    "which nobody has written",
                )
        for before, after in pairwise(log):
            if reads.epochs.get(before.body, 0) > reads.epochs.get(after.body, 0):
                yield Broken(
                    promise=Promise.GROWS,
                    reason=f"broker {broker} shows {after.body} behind {before.body}",
                )
    if reads.alike:
        yield from _unlike(reads)


def _unlike(reads: ReplicaReads) -> Iterator[Broken]:
    first, *others = sorted(reads.logs.items())
    for broker, log in others:
        if log != first[1]:
            yield Broken(
                promise=Promise.ALIKE,
                reason=f"at {reads.at_ms} ms all is well, and brokers {first[0]} and {broker} "
                "show different messages",
            )

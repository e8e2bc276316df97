"""The records of all nodes in one order: hybrid logical time, from clocks and messages.

A record comes after those of its node before it, and after those that sent what it received. Among
those that may be next, the one whose recorder's clock showed least comes first. So where clocks
agree, as on one machine, the order is that of the clock; where they do not, it is one in which
nothing is received before it was sent.

The time of a record is that of its clock, or just after what it follows if its clock is behind:
RocketMQ's packets have no room for a time, so it is not sent along but computed here, by the ids of
messages.

Source: Kulkarni et al., "Logical Physical Clocks" (OPODIS 2014), section 3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import NodeRecord, RecordError

__all__ = ["MergedRecord", "merge"]


@dataclass(frozen=True, slots=True)
class MergedRecord:
    """A record, and its place in time."""

    time_ns: int
    """Greater than that of every record before it that it may know of."""
    record: NodeRecord


def merge(logs: Sequence[NodeLog]) -> Iterator[MergedRecord]:
    """Put the records of all nodes in order.

    Raises:
        RecordError: a message was received that no record sends, or not before it is received; or
            two nodes send it. A node may: it answers a request that comes twice.
    """
    heads = [0] * len(logs)
    times = [-1] * len(logs)
    sent_ns: dict[str, int] = {}
    senders: dict[str, int] = {}
    waiting: dict[str, list[int]] = {}
    ready = [(log.records[0].at_ns, of) for of, log in enumerate(logs)]
    heapify(ready)
    while ready:
        _, of = heappop(ready)
        record = logs[of].records[heads[of]]
        missing = next((one for one in record.received if one not in sent_ns), None)
        if missing is not None:
            waiting.setdefault(missing, []).append(of)
            continue
        follows = max((sent_ns[one] for one in record.received), default=-1)
        times[of] = max(record.at_ns, times[of] + 1, follows + 1)
        yield MergedRecord(times[of], record)
        heads[of] += 1
        again = [of] if heads[of] < len(logs[of].records) else []
        for message in record.sent:
            if senders.setdefault(message.id, of) != of:
                raise RecordError(f"{message.id!r} is sent a second time", record)
            sent_ns.setdefault(message.id, times[of])
            again += waiting.pop(message.id, [])
        for other in again:
            at_ns = logs[other].records[heads[other]].at_ns
            heappush(ready, (max(at_ns, times[other] + 1), other))
    if waiting:
        raise _never_received(logs, heads, waiting)


def _never_received(
    logs: Sequence[NodeLog], heads: Sequence[int], waiting: Mapping[str, Sequence[int]]
) -> RecordError:
    """Say why records are left whose messages never come: the sender's are missing, or wait, too.

    What waits for a record that waits itself is not to blame, so who lacks a sender is looked for.
    """
    later = {
        message.id
        for log, head in zip(logs, heads, strict=True)
        for record in log.records[head:]
        for message in record.sent
    }
    lost, why = next(iter(waiting)), "it is sent only after what follows from it"
    for message in waiting:
        if message not in later:
            lost, why = message, "no record sends it: the log of its sender is cut off"
            break
    of = waiting[lost][0]
    return RecordError(f"{lost!r} is received, and {why}", logs[of].records[heads[of]])

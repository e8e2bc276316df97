"""The zones of Gibbons and Korach: a register is explained at once if no value is written twice.

Then each read says which write it saw; the write and its reads are a cluster, and an order has each
cluster in one piece. Say a cluster's first return is f and its last call s. Another one cannot be
wholly before it if f of the other is less than s of it: there is an operation of the other that
returned before one of it was called. So there is an order unless

- a read returned a value that was never written, or was written only after the read returned;
- of two clusters neither can be wholly before the other.

Longer circles of clusters have such a pair in them. A cluster with f < s has a forward zone [f, s],
in which the register held its value, any other a backward zone [s, f]: two zones are in each
other's way if both are forward and overlap, or if a backward one is inside a forward one. Of
disjoint forward zones, sorted, the last that begins before a backward zone does is the only one
that can hold it.

None, which a register holds before any write, is a write that returned before all calls. An unknown
write returns never; the reads of its cluster do, and without reads its zone is in nobody's way.

Time: O(n log n) for n operations, however many are concurrent.

Source: Gibbons, Korach, "Testing Shared Memories", 1997, section 3
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from rocketha.histories.history import Outcome
from rocketha.histories.linearizability.operation import Kind, Operation, Value, shown

__all__ = ["Conflict", "are_unique", "find_conflict"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why there is no order."""

    reason: str
    """A clause without a full stop."""
    values: tuple[Value, ...]
    """The operations that write or read these are not linearizable by themselves."""


@dataclass(slots=True)
class _Cluster:
    """A value, its write and its reads."""

    value: Value
    written_at: float = math.inf
    """The call of the write; inf: there is none."""
    first_return: float = math.inf
    last_call: float = -math.inf
    first_read: float = math.inf
    """The first return of a read."""


def are_unique(operations: Iterable[Operation]) -> bool:
    """Tell whether there are only reads and writes, and no two writes of one value."""
    written = set()
    write, cas = Kind.WRITE, Kind.CAS
    for one in operations:
        if one.kind is write:
            if one.value in written:
                return False
            written.add(one.value)
        elif one.kind is cas:
            return False
    return True


def find_conflict(operations: Sequence[Operation]) -> Conflict | None:
    """Say why operations of one key, unique in the sense of `are_unique`, have no order, if so.

    They are as `RegisterHistory.by_key` gives them: none that failed, no read unanswered.
    """
    clusters = _clusters(operations)
    for cluster in clusters:
        if cluster.first_read < cluster.written_at:
            reason = "was never written"
            if cluster.written_at < math.inf:
                reason = f"was written from {cluster.written_at} on"
            what = f"{shown(cluster.value)} was read until {cluster.first_read}, and {reason}"
            return Conflict(what, (cluster.value,))
    pair = _pair_in_each_others_way(clusters)
    if pair is None:
        return None
    holds, other = pair
    return Conflict(f"{_held(holds)}, and {_held(other)}", (holds.value, other.value))


def _clusters(operations: Sequence[Operation]) -> list[_Cluster]:
    nothing = _Cluster(None, written_at=-math.inf, first_return=-math.inf)
    clusters: dict[Value, _Cluster] = {None: nothing}
    write, ok = Kind.WRITE, Outcome.OK
    for one in operations:
        value = one.value
        cluster = clusters.get(value)
        if cluster is None:
            cluster = clusters[value] = _Cluster(value)
        called = one.called_at
        if called > cluster.last_call:
            cluster.last_call = called
        if one.kind is write:
            cluster.written_at = called
            if one.outcome is not ok:
                continue
            returned = one.returned_at
            assert returned is not None, "it was answered"
        else:
            returned = one.returned_at
            assert returned is not None, "it was answered"
            if returned < cluster.first_read:
                cluster.first_read = returned
        if returned < cluster.first_return:
            cluster.first_return = returned
    return list(clusters.values())


def _pair_in_each_others_way(clusters: Iterable[_Cluster]) -> tuple[_Cluster, _Cluster] | None:
    forward: list[_Cluster] = []
    backward: list[_Cluster] = []
    for cluster in clusters:
        (forward if cluster.first_return < cluster.last_call else backward).append(cluster)
    forward.sort(key=attrgetter("first_return"))
    for index in range(1, len(forward)):
        if forward[index].first_return < forward[index - 1].last_call:
            return forward[index - 1], forward[index]
    begins = [zone.first_return for zone in forward]
    for other in backward:
        index = bisect_left(begins, other.last_call) - 1
        if index >= 0 and other.first_return < forward[index].last_call:
            return forward[index], other
    return None


def _held(cluster: _Cluster) -> str:
    """Say what is known of when the register held a value."""
    first, last = cluster.first_return, cluster.last_call
    if first < last:
        since = "the beginning" if first == -math.inf else str(first)
        return f"{shown(cluster.value)} was held from {since} to {last}"
    return f"{shown(cluster.value)} was held at some time from {last} to {first}"

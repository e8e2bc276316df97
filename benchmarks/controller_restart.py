"""A controller that starts from a snapshot, against one that replays its whole log."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from benchmarks.stopwatch import median_seconds
from rocketha.controller.dispatch import ControllerOptions
from rocketha.controller.entry import Entry, LoggedRequest, encode_entry
from rocketha.controller.node import ControllerNode
from rocketha.controller.tables import push_tables
from rocketha.formats.controller_requests import (
    ApplyBrokerId,
    ElectMaster,
    Heartbeat,
    RegisterBroker,
)
from rocketha.formats.controller_responses import MetadataInfo
from rocketha.replicated_log.log import DurableLog
from rocketha.replicated_log.snapshot_manager import SnapshotOptions
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import BrokerId, ConnectionId, TimestampMs

GROUPS = 100_000
SUFFIX = 999
"""Entries behind the snapshot: with the default threshold there are never more."""

_OPTIONS = ControllerOptions(
    metadata=MetadataInfo(
        group="bench", leader_id="n0", leader_address="h:9878", is_leader=True, peers="n0-h:9878"
    ),
    # So the first entry after all groups are there makes the only snapshot.
    snapshots=SnapshotOptions(snapshot_threshold=3 * GROUPS + 1, max_snapshot_reserved_num=1),
)


def main() -> None:
    """Print the seconds of both starts, their ratio, and the bytes on the disk."""
    disk = MemoryDisk()
    log, _ = DurableLog.open(disk)
    for entry in _entries():
        log.append(encode_entry(entry))
    before = _bytes(disk)
    nodes: list[ControllerNode] = []

    def start() -> None:
        nodes[:] = [ControllerNode.open(disk, _OPTIONS)[0]]

    replayed = median_seconds(start, times=1)
    for number in range(1 + SUFFIX):
        nodes[0].log.propose(_entry(number, _heartbeat(number)))
    expected = _digest(nodes[0])
    after = _bytes(disk)
    loaded = median_seconds(start, times=3)
    assert _digest(nodes[0]) == expected, "both have one state"
    assert nodes[0].loaded.replayed == SUFFIX
    print(f"a controller of {GROUPS} groups replays {3 * GROUPS} entries:  {replayed:8.2f} s")
    print(f"it loads a snapshot and replays {SUFFIX} entries:  {loaded:8.2f} s")
    print(f"ratio: {replayed / loaded:.1f}; on the disk {before} and {after} bytes")


def _entries() -> Iterator[Entry]:
    """Let each group have one broker, which is elected."""
    for number in range(GROUPS):
        name, address = f"broker-{number}", f"h{number}:10911"
        requests: tuple[LoggedRequest, ...] = (
            ApplyBrokerId(
                cluster_name="cluster",
                broker_name=name,
                applied_broker_id=BrokerId(1),
                register_check_code=f"{address};1",
            ),
            RegisterBroker(
                cluster_name="cluster",
                broker_name=name,
                broker_id=BrokerId(1),
                broker_address=address,
            ),
            ElectMaster(broker_name=name, broker_id=BrokerId(1)),
        )
        for request in requests:
            yield _entry(number, request)


def _entry(number: int, request: LoggedRequest) -> Entry:
    return Entry(at_ms=TimestampMs(number), change=request, channel=ConnectionId(number + 1))


def _heartbeat(number: int) -> Heartbeat:
    return Heartbeat(
        cluster_name="cluster",
        broker_name=f"broker-{number}",
        broker_address=f"h{number}:10911",
        broker_id=BrokerId(1),
    )


def _digest(node: ControllerNode) -> str:
    return hashlib.sha256(push_tables(node.state)).hexdigest()


def _bytes(disk: MemoryDisk) -> int:
    paths = ["controllerLog", *(f"snapshot/{name}" for name in disk.names("snapshot"))]
    return sum(disk.size(path) for path in paths)

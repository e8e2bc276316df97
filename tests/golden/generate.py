"""Write the golden CommitLog and frames again (see README.md): a difference changes a format."""

from __future__ import annotations

from pathlib import Path

from rocketha.formats.controller_snapshot import (
    Section,
    SectionType,
    SnapshotVersion,
    encode_snapshot,
)
from rocketha.formats.message import Host, Message, properties_text
from rocketha.formats.remoting_command import (
    FLAG_RESPONSE,
    Language,
    RemotingCommand,
    Serialization,
)
from rocketha.formats.remoting_frame import push_command
from rocketha.storage.commit_log import CommitLog, CommitLogOptions
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import Offset, SizeBytes, TimestampMs

SEGMENT_SIZE = SizeBytes(768)

_BORN = TimestampMs(1_700_000_000_000)
_STORED = TimestampMs(1_700_000_000_005)
_BROKER = Host(bytes([192, 168, 0, 1]), 10911)
_CLIENT_V6 = Host(bytes.fromhex("20010db8000000000000000000000007"), 51234)
_BROKER_V6 = Host(bytes.fromhex("20010db8000000000000000000000001"), 10911)

MESSAGES: tuple[Message, ...] = (
    Message(
        topic="TopicTest",
        body=b"Hello RocketMQ",
        queue_id=3,
        queue_offset=7,
        born_timestamp_ms=_BORN,
        born_host=Host(bytes([10, 0, 0, 7]), 51234),
        store_timestamp_ms=_STORED,
        store_host=_BROKER,
    ),
    Message(
        topic="TopicTest",
        body="Grüße, 世界".encode(),
        queue_offset=8,
        flag=-1,
        sys_flag=1 << 2,
        born_timestamp_ms=_BORN,
        born_host=_CLIENT_V6,
        store_timestamp_ms=_STORED,
        store_host=_BROKER_V6,
        reconsume_times=2,
        prepared_transaction_offset=Offset(42),
        properties=properties_text({"TAGS": "A", "KEYS": "k1 k2"}),
    ),
    Message(topic="t" * 200, body=b"", store_timestamp_ms=_STORED, store_host=_BROKER),
    Message(topic="TopicTest", body=bytes(range(100)), born_host=_CLIENT_V6),
    Message(topic="", body=b"last", store_host=_BROKER_V6),
)
"""Hosts of both families, both versions of the record, a filler before the fourth message."""


def golden_segments() -> dict[str, bytes]:
    """Return the golden segments by name, each with its full size as RocketMQ allocates it."""
    disk = MemoryDisk()
    log, _ = CommitLog.open(disk, CommitLogOptions(segment_size=SEGMENT_SIZE))
    for message in MESSAGES:
        log.append(message)
    names = disk.names("commitlog")
    return {name: disk.read(f"commitlog/{name}").ljust(SEGMENT_SIZE, b"\0") for name in names}


COMMANDS: dict[str, RemotingCommand] = {
    "request.json": RemotingCommand(
        code=1001,
        opaque=7,
        language=Language.JAVA,
        version=493,
        ext_fields={"brokerName": "broker-a", "masterBrokerId": "1", "masterEpoch": "3"},
        body=b'{"syncStateSet":[1,2],"syncStateSetEpoch":5}',
    ),
    "request.rocketmq": RemotingCommand(
        code=1001,
        opaque=7,
        language=Language.JAVA,
        version=493,
        ext_fields={"brokerName": "broker-a", "masterBrokerId": "1", "masterEpoch": "3"},
        body=b'{"syncStateSet":[1,2],"syncStateSetEpoch":5}',
        serialization=Serialization.ROCKETMQ,
    ),
    "response.json": RemotingCommand(
        code=2001, opaque=7, flag=FLAG_RESPONSE, remark="Grüße, 世界", language=Language.GO
    ),
    "response.rocketmq": RemotingCommand(
        code=2001,
        opaque=7,
        flag=FLAG_RESPONSE,
        remark="Grüße, 世界",
        language=Language.GO,
        serialization=Serialization.ROCKETMQ,
    ),
}
"""One request and one response in both serialisations; the first request has no remark, no response
has fields."""


def golden_frames() -> dict[str, bytes]:
    """Return the golden frames by name."""
    return {name: push_command(command) for name, command in COMMANDS.items()}


SECTIONS: tuple[Section, ...] = (
    Section(SectionType.META, b'{"lastIncludedIndex":1000,"lastIncludedTerm":3}'),
    Section(SectionType.REPLICAS_INFO_MANAGER, '{"brokerName":"Gr\u00fc\u00dfe"}'.encode()),
    Section(0xFFFF, b""),
)
"""The file does not look into its sections, so these need not be what a controller writes."""


def golden_snapshots() -> dict[str, bytes]:
    """Return the golden snapshots by name, one for each version of the header, and an empty one."""
    return {
        "checked": encode_snapshot(SECTIONS),
        "empty": encode_snapshot(()),
        "rip59": encode_snapshot(SECTIONS, SnapshotVersion.RIP_59),
        "unmerged": encode_snapshot(SECTIONS, SnapshotVersion.UNMERGED),
    }


if __name__ == "__main__":
    for folder, files in (
        ("commitlog", golden_segments()),
        ("remoting", golden_frames()),
        ("snapshot", golden_snapshots()),
    ):
        directory = Path(__file__).parent / folder
        directory.mkdir(exist_ok=True)
        for name, data in files.items():
            (directory / name).write_bytes(data)

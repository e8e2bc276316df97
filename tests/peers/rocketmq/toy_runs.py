"""Folders as runs leave them, with a little of everything that rocketha has a codec for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.controller_request_codec import push_request, push_role_changed
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    GetReplicaInfo,
    Heartbeat,
    RoleChanged,
)
from rocketha.formats.controller_responses import ReplicaInfo, Reply, push_reply
from rocketha.formats.epoch_file import encode_epoch_file
from rocketha.formats.ha_packets import (
    Ack,
    Handshake,
    HandshakeReply,
    Transfer,
    push_ack,
    push_handshake,
    push_handshake_reply,
    push_transfer,
)
from rocketha.formats.legacy_ha_packets import LegacyTransfer, push_legacy_transfer, push_report
from rocketha.formats.message import Message, push_blank, push_record
from rocketha.formats.remoting_command import (
    FLAG_ONEWAY,
    FLAG_RESPONSE,
    RemotingCommand,
    Serialization,
)
from rocketha.formats.remoting_frame import push_command
from rocketha.formats.segment import segment_name
from rocketha.formats.store_checkpoint import StoreCheckpoint, encode_store_checkpoint
from rocketha.types import BrokerId, Epoch, Offset, SizeBytes, SyncStateSetEpoch, chain_epochs
from rocketmq_peer.interop_tally import Tally

__all__ = [
    "FIRST",
    "SECOND",
    "SEGMENT",
    "Wire",
    "counts",
    "flip",
    "frame",
    "said",
    "write_broker",
    "write_legacy",
    "write_run",
]

SEGMENT: Final = 1024
"""Bytes of a file of the CommitLog."""

LOG: Final = "nodes/b1/store/commitlog"
FIRST: Final = f"{LOG}/{0:020d}"
SECOND: Final = f"{LOG}/{SEGMENT:020d}"
"""The two segments that `write_broker` fills, and begins to fill, in the folder of a run."""

_ENTRIES: Final = chain_epochs([(Epoch(1), Offset(0)), (Epoch(2), Offset(300))])
_SET: Final = SyncStateSet(frozenset({BrokerId(1), BrokerId(2)}), SyncStateSetEpoch(3))
_ASKED: Final = push_request(GetReplicaInfo(broker_name="g"), opaque=7)


def counts(tally: Tally) -> dict[str, tuple[int, int, int]]:
    """Return what was decoded, came out equal and did not, of each kind that was met."""
    return {
        kind.value: (count.decoded, count.equal, count.mismatched)
        for kind, count in tally.counts.items()
        if tally.seen(kind)
    }


def said(tally: Tally) -> list[str]:
    """Return the lines of the mismatches."""
    return [str(one) for one in tally.mismatches]


def flip(path: Path, at: int) -> None:
    """Turn the last bit of a byte of a file."""
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


class Wire:
    """Lines of a capture."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, link: str, port: int, way: str, data: bytes = b"") -> None:
        """Add a line: a chunk, or the beginning or the end of a connection."""
        line: dict[str, object] = {"at_ns": len(self.lines), "link": link, "port": port, "way": way}
        if data:
            line["hex"] = data.hex()
        self.lines.append(json.dumps(line) + "\n")

    def connection(
        self, link: str, port: int, chunks: Sequence[tuple[str, bytes]], *, piece: int = 7
    ) -> None:
        """Add a whole connection; its chunks, (way, bytes), arrive in pieces of some bytes."""
        self.add(link, port, "open")
        for way, data in chunks:
            for at in range(0, len(data), piece):
                self.add(link, port, way, data[at : at + piece])
        self.add(link, port, "close")

    def write(self, run: Path) -> None:
        """Write the file of a run."""
        run.mkdir(parents=True, exist_ok=True)
        (run / "wire.ndjson").write_text("".join(self.lines))


def write_broker(run: Path, name: str = "b1") -> Path:
    """Write what a broker leaves: two segments, small files; return its store."""
    store = run / "nodes" / name / "store"
    (store / "commitlog").mkdir(parents=True)
    conf = f"brokerClusterName=c\nbrokerName=g\nenableControllerMode=true\nstore={store}\n"
    (store.parent / "node.conf").write_text(conf)
    body = Message(topic="T", body=b"x" * 300, properties="KEYS\x01a\x02")
    first = push_record(body, Offset(0), whole_crc=False)
    second = push_record(body, Offset(len(first)))
    left = SizeBytes(SEGMENT - len(first) - len(second))
    full = first + second + push_blank(left)[:8].ljust(left, b"\x77")
    begun = push_record(body, Offset(SEGMENT)).ljust(SEGMENT, b"\0")
    unused = bytes(SEGMENT)
    for number, data in enumerate((full, begun, unused)):
        (store / "commitlog" / segment_name(Offset(number * SEGMENT))).write_bytes(data)
    (store / "epochFileCheckpoint").write_bytes(encode_epoch_file(_ENTRIES))
    (store / "epochFileCheckpoint.bak").write_bytes(
        encode_epoch_file(_ENTRIES[:1], line_break=b"\r\n")
    )
    (store / "checkpoint").write_bytes(encode_store_checkpoint(StoreCheckpoint()))
    (store / "brokerIdentity").write_text(f"c#g#{name[1:]}")
    return store


def frame(command: RemotingCommand, *, like_java: bool = True) -> bytes:
    """Write a frame; like Java with the members of a JSON header in an order of their own."""
    data = push_command(command)
    if not like_java or command.serialization is not Serialization.JSON:
        return data
    size = int.from_bytes(data[5:8])
    members = json.loads(data[8 : 8 + size])
    header = json.dumps(dict(reversed(members.items())), separators=(",", ":")).encode()
    assert len(header) == size
    return data[:8] + header + data[8 + size :]


def _controller_chunks() -> list[tuple[str, bytes]]:
    heartbeat = Heartbeat(
        cluster_name="c", broker_name="g", broker_address="127.0.0.1:1", broker_id=BrokerId(1)
    )
    alter = AlterSyncStateSet(
        broker_name="g", master_broker_id=BrokerId(1), master_epoch=Epoch(1), sync_state_set=_SET
    )
    binary = push_request(alter, opaque=8, serialization=Serialization.ROCKETMQ)
    info = ReplicaInfo(
        master_broker_id=BrokerId(1),
        master_address="127.0.0.1:1",
        master_epoch=Epoch(1),
        sync_state_set=_SET,
    )
    refused = RemotingCommand(
        code=2001,
        opaque=8,
        flag=FLAG_RESPONSE,
        remark="no",
        ext_fields={"newSyncStateSetEpoch": "0"},
        serialization=Serialization.ROCKETMQ,
    )
    unknown = RemotingCommand(code=1014, opaque=9)
    return [
        ("to_server", frame(replace(push_request(heartbeat, opaque=6), flag=FLAG_ONEWAY))),
        ("to_server", frame(_ASKED) + frame(binary) + frame(unknown)),
        ("to_client", frame(refused) + frame(push_reply(Reply(content=info), _ASKED))),
        ("to_client", frame(RemotingCommand(code=0, opaque=9, flag=FLAG_RESPONSE))),
    ]


def write_run(run: Path) -> Wire:
    """Write a run with controllers; return its wire, written, to be added to and written again."""
    write_broker(run)
    wire = Wire()
    reply = push_handshake_reply(HandshakeReply(max_phy_offset=Offset(5), entries=_ENTRIES))
    transfer = Transfer(
        offset=Offset(0),
        epoch=Epoch(1),
        epoch_start_offset=Offset(0),
        confirm_offset=Offset(0),
        body=b"bytes",
    )
    shake = push_handshake(Handshake(broker_id=BrokerId(2)))
    wire.connection(
        "ha.b1.b2",
        40_000,
        [
            ("to_server", shake + shake + push_ack(Ack(max_phy_offset=Offset(0)))),
            ("to_client", reply + reply + push_transfer(transfer)),
            ("to_client", push_transfer(transfer)[:11]),
        ],
    )
    wire.connection("c1.b1", 40_001, _controller_chunks())
    notice = RoleChanged(
        master_broker_id=BrokerId(1),
        master_address="127.0.0.1:1",
        master_epoch=Epoch(2),
        sync_state_set=_SET,
    )
    topics = RemotingCommand(code=21, opaque=3)
    answered = RemotingCommand(code=0, opaque=3, flag=FLAG_RESPONSE)
    wire.connection(
        "to.b1.c",
        40_002,
        [
            ("to_server", frame(push_role_changed(notice, opaque=1)) + frame(topics)),
            ("to_client", frame(answered)),
        ],
    )
    heard = RemotingCommand(code=RequestCode.BROKER_HEARTBEAT, opaque=1)
    wire.connection("ns.b1", 40_003, [("to_server", frame(heard))])
    wire.add("to.b1.c", 40_004, "refused")
    wire.write(run)
    return wire


def write_legacy(run: Path) -> Wire:
    """Write a run without controllers."""
    node = run / "nodes" / "b1"
    node.mkdir(parents=True)
    (node / "node.conf").write_text("enableControllerMode=false\n")
    wire = Wire()
    packet = push_legacy_transfer(LegacyTransfer(offset=Offset(8), body=b"log"))
    reports = push_report(Offset(0)) + push_report(Offset(8))
    wire.connection("ha.b1.b2", 50_000, [("to_server", reports), ("to_client", packet)])
    wire.write(run)
    return wire

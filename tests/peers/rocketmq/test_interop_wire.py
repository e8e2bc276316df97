"""The bytes of a capture: what cannot be decoded is told with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketha.formats.controller_request_codec import push_request
from rocketha.formats.controller_requests import GetReplicaInfo
from rocketha.formats.ha_packets import (
    Handshake,
    HandshakeReply,
    push_handshake,
    push_handshake_reply,
)
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.types import BrokerId, Offset
from rocketmq_peer import interop_wire
from rocketmq_peer.errors import PeerError
from rocketmq_peer.interop import examine
from tests.peers.rocketmq.toy_runs import Wire, counts, frame, said, write_legacy, write_run


def test_legacy_packets_that_cannot_be_are_mismatches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire = write_legacy(tmp_path / "run")
    wire.connection(
        "ha.b1.b2",
        50_001,
        [
            ("to_server", b"\xff" * 8),
            ("to_client", b"\0" * 8 + b"\xff" * 4),
            ("to_client", b"more"),
        ],
        piece=100,
    )
    wire.write(tmp_path / "run")
    where = "run/wire.ndjson, link ha.b1.b2, connection 50001"

    tally = examine([tmp_path / "run"])

    assert said(tally) == [
        f"legacy report, {where}, to_server, packet 1: slave maxPhyOffset at byte 0: is -1, "
        "below 0",
        f"legacy transfer, {where}, to_client, packet 1: body size at byte 8: is -1, not between "
        "0 and 4194304",
    ]
    assert dict(tally.passed_by) == {"bytes behind what nobody can measure": 8 + 12 + 4}
    monkeypatch.setattr(interop_wire, "push_report", lambda _: b"?")
    monkeypatch.setattr(interop_wire, "push_legacy_transfer", lambda _: b"?")
    found = counts(examine([tmp_path / "run"]))
    assert found == {"legacy transfer": (1, 0, 2), "legacy report": (2, 0, 3)}


ASK = push_request(GetReplicaInfo(broker_name="g"), opaque=7)
SHAKE = push_handshake(Handshake(broker_id=BrokerId(2)))
SHAKEN = push_handshake_reply(HandshakeReply(max_phy_offset=Offset(0)))
TO_SERVER, TO_CLIENT = "to_server", "to_client"


def changed(data: bytes, old: bytes, new: bytes) -> bytes:
    assert data.count(old) == 1
    assert len(old) == len(new)
    return data.replace(old, new)


def answered(code: int, body: bytes = b"", **fields: str) -> bytes:
    answer = RemotingCommand(code=code, opaque=7, flag=FLAG_RESPONSE, ext_fields=fields, body=body)
    return frame(answer)


PACKETS: list[tuple[str, str, list[tuple[str, bytes]], str]] = [
    (
        "an ack before the handshake",
        "ha.b1.b2",
        [(TO_SERVER, b"\0\0\0\2" + bytes(8))],
        "ack, {}, to_server, packet 1: state at byte 0: is 2, but HANDSHAKE (1) is expected now",
    ),
    (
        "a slave without a number",
        "ha.b1.b2",
        [(TO_SERVER, SHAKE[:8] + bytes(8))],
        "handshake, {}, to_server, packet 1: slaveBrokerId at byte 8: is 0, not 1 or more",
    ),
    (
        "a transfer of an epoch below 0",
        "ha.b1.b2",
        [(TO_CLIENT, SHAKEN + b"\0\0\0\2" + bytes(12) + b"\xff" * 4 + bytes(16))],
        "transfer, {}, to_client, packet 2: epoch at byte 16: is -1, below 0",
    ),
    (
        "a reply whose epochs do not end as it says",
        "ha.b1.b2",
        [(TO_CLIENT, SHAKEN[:-1] + b"\0")],
        "handshake reply, {}, to_client, packet 1: last epoch at byte 16: is -256, but the",
    ),
    (
        "a header that is no JSON",
        "c1.b1",
        [(TO_SERVER, changed(frame(ASK), b'"code"', b"'code'") + frame(ASK))],
        "JSON frame, {}, to_server, frame 1: header at byte",
    ),
    (
        "a length that no frame has",
        "c1.b1",
        [(TO_SERVER, b"\0\0\0\1\0\0\0\0"), (TO_SERVER, frame(ASK))],
        "JSON frame, {}, to_server, frame 1: says that it has 5 bytes",
    ),
    (
        "a member that must be there",
        "c1.b1",
        [(TO_SERVER, changed(frame(ASK), b'"version"', b'"Version"'))],
        "JSON frame, {}, to_server, frame 1: version at byte 8: is missing or null",
    ),
    (
        "a member that nobody keeps",
        "ns.b1",
        [
            (
                TO_SERVER,
                changed(frame(ASK), b'{"brokerName":"g"},"code"', b'{"b":"g"},"xy":[1],"code"'),
            )
        ],
        "JSON frame, {}, to_server, frame 1: xy [1] is written back as None",
    ),
    (
        "a field that rocketha does not know",
        "c1.b1",
        [
            (
                TO_SERVER,
                frame(
                    RemotingCommand(code=1004, opaque=1, ext_fields={"brokerName": "g", "x": "1"})
                ),
            )
        ],
        "controller request, {}, to_server, frame 1: field x '1' is written back as None",
    ),
    (
        "a request without its field",
        "c1.b1",
        [(TO_SERVER, frame(RemotingCommand(code=1004, opaque=1)))],
        "controller request, {}, to_server, frame 1: brokerName is missing",
    ),
    (
        "a request with a body that it has not",
        "c1.b1",
        [(TO_SERVER, frame(RemotingCommand(code=1005, opaque=1, body=b"{}")))],
        "controller request, {}, to_server, frame 1: a body of 2 bytes is written back as 0",
    ),
    (
        "a notice with a field that rocketha does not know",
        "to.b1.c",
        [
            (
                TO_SERVER,
                frame(
                    RemotingCommand(
                        code=1008,
                        opaque=1,
                        ext_fields={
                            "masterAddress": "127.0.0.1:1",
                            "masterBrokerId": "1",
                            "masterEpoch": "1",
                            "syncStateSetEpoch": "1",
                            "x": "1",
                        },
                        body=b'{"syncStateSet":[1],"syncStateSetEpoch":1}',
                    )
                ),
            )
        ],
        "role change, {}, to_server, frame 1: field x '1' is written back as None",
    ),
    (
        "an answer to nothing",
        "c1.b1",
        [(TO_CLIENT, answered(0))],
        "controller response, {}, to_client, frame 1: no request with the opaque 7 came before it",
    ),
    (
        "an answer with a code that is none",
        "c1.b1",
        [(TO_SERVER, frame(ASK)), (TO_CLIENT, answered(77))],
        "controller response, {}, to_client, frame 1: response code is 77, which is none",
    ),
    (
        "an answer with more in its body",
        "c1.b1",
        [
            (TO_SERVER, frame(ASK)),
            (
                TO_CLIENT,
                answered(0, b'{"syncStateSet":[1],"syncStateSetEpoch":1,"x":1}', masterEpoch="1"),
            ),
        ],
        "controller response, {}, to_client, frame 1: body {{'syncStateSet': [1], "
        "'syncStateSetEpoch': 1, 'x': 1}} is written back as",
    ),
    (
        "a notice whose epochs differ",
        "to.b1.c",
        [
            (
                TO_SERVER,
                frame(
                    RemotingCommand(
                        code=1008,
                        opaque=1,
                        ext_fields={"syncStateSetEpoch": "2"},
                        body=b'{"syncStateSet":[1],"syncStateSetEpoch":1}',
                    )
                ),
            )
        ],
        "role change, {}, to_server, frame 1: syncStateSetEpoch is 2, in the body 1",
    ),
]


@pytest.mark.parametrize(
    ("link", "chunks", "expected"), [row[1:] for row in PACKETS], ids=[row[0] for row in PACKETS]
)
def test_what_nobody_may_send_is_a_mismatch_with_its_place(
    tmp_path: Path, link: str, chunks: list[tuple[str, bytes]], expected: str
) -> None:
    wire = Wire()
    wire.connection(link, 5, chunks)
    wire.write(tmp_path / "run")

    found = said(examine([tmp_path / "run"]))

    assert len(found) == 1, found
    where = f"run/wire.ndjson, link {link}, connection 5"
    assert found[0].startswith(expected.format(where))


def test_frames_behind_one_that_cannot_be_decoded_are_decoded(tmp_path: Path) -> None:
    wire = Wire()
    wrong = changed(frame(ASK), b'"code"', b"'code'")
    wire.connection("c1.b1", 5, [(TO_SERVER, wrong + frame(ASK))])
    wire.write(tmp_path / "run")

    tally = examine([tmp_path / "run"])

    assert counts(tally) == {"JSON frame": (1, 1, 1), "controller request": (1, 1, 0)}


def test_a_capture_that_is_none_is_an_error_and_one_cut_off_is_not(tmp_path: Path) -> None:
    wire = write_run(tmp_path / "run")
    whole = counts(examine([tmp_path / "run"]))
    wire.lines.append(wire.lines[-1][:20])
    wire.write(tmp_path / "run")
    tally = examine([tmp_path / "run"])
    assert counts(tally) == whole
    assert tally.passed_by["lines of a capture without an end"] == 1

    for bad in (
        "nonsense",
        "[]",
        '{"link":"ns.b1","port":1}',
        '{"link":"ns.b1","port":1,"way":"up"}',
    ):
        (tmp_path / "run" / "wire.ndjson").write_text(bad + "\n")
        with pytest.raises(PeerError, match=r"wire\.ndjson, line 1 is no line of a capture"):
            examine([tmp_path / "run"])

"""AutoSwitchHA packets byte by byte, and the streams that they come out of."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.format_strategies import (
    cuts,
    master_sessions,
    slave_sessions,
)
from rocketha.errors import EncodingError, PacketError
from rocketha.formats.ha_packets import (
    HANDSHAKE_BODY_MAX,
    INCARNATION_MAX,
    TRANSFER_BODY_MAX,
    Ack,
    Expecting,
    Handshake,
    HandshakeReply,
    MasterPacket,
    SlavePacket,
    Transfer,
    push_master_packet,
    push_slave_packet,
)
from rocketha.formats.packet_stream import PacketStream, master_stream, slave_stream
from rocketha.types import NO_EPOCH, BrokerId, Epoch, Offset, chain_epochs

P = TypeVar("P")

HANDSHAKE, TRANSFER = Expecting.HANDSHAKE, Expecting.TRANSFER
EPOCHS = chain_epochs([(Epoch(1), Offset(0)), (Epoch(2), Offset(100))])

HEARTBEAT = Transfer(
    offset=Offset(100),
    epoch=Epoch(2),
    epoch_start_offset=Offset(100),
    confirm_offset=Offset(90),
)

SLAVE_GOLDEN: list[tuple[str, SlavePacket, str]] = [
    (
        "handshake",
        Handshake(broker_id=BrokerId(3)),
        "00000001 0000 0000 0000000000000003",
    ),
    (
        "handshake from the last file",
        Handshake(broker_id=BrokerId(3), sync_from_last_file=True),
        "00000001 0001 0000 0000000000000003",
    ),
    (
        "handshake of a learner",
        Handshake(broker_id=BrokerId(3), async_learner=True),
        "00000001 0000 0001 0000000000000003",
    ),
    (
        "handshake of a slave that has started before (ours)",
        Handshake(broker_id=BrokerId(3), incarnation=1),
        "00000001 0000 0002 0000000000000003",
    ),
    (
        "handshake with the greatest incarnation (ours)",
        Handshake(broker_id=BrokerId(3), incarnation=INCARNATION_MAX),
        "00000001 FFFE FFFE 0000000000000003",
    ),
    ("ack", Ack(max_phy_offset=Offset(4096)), "00000002 0000000000001000"),
]

MASTER_GOLDEN: list[tuple[str, MasterPacket, str]] = [
    (
        "reply without epochs",
        HandshakeReply(max_phy_offset=Offset(0)),
        "00000001 00000000 0000000000000000 FFFFFFFF",
    ),
    (
        "reply with two epochs",
        HandshakeReply(max_phy_offset=Offset(0x1F4), entries=EPOCHS),
        "00000001 00000018 00000000000001F4 00000002"
        "00000001 0000000000000000 00000002 0000000000000064",
    ),
    (
        "heartbeat",
        HEARTBEAT,
        "00000002 00000000 0000000000000064 00000002 0000000000000064 000000000000005A",
    ),
    (
        "heartbeat of a master on an empty disk",
        Transfer(
            offset=Offset(-1),
            epoch=Epoch(2),
            epoch_start_offset=Offset(0),
            confirm_offset=Offset(-1),
        ),
        "00000002 00000000 FFFFFFFFFFFFFFFF 00000002 0000000000000000 FFFFFFFFFFFFFFFF",
    ),
    (
        "batch",
        replace(HEARTBEAT, body=b"\xda\xa3\x20"),
        "00000002 00000003 0000000000000064 00000002 0000000000000064 000000000000005A DAA320",
    ),
]

# name, who reads, in which state, the bytes, what the error says
REFUSED: list[tuple[str, str, Expecting, str, str]] = [
    ("ack before the handshake", "master", HANDSHAKE, "00000002", "state at byte 0: is 2"),
    ("handshake after it", "master", TRANSFER, "00000001", "state at byte 0: is 1"),
    ("state READY", "master", HANDSHAKE, "00000000", "state at byte 0: is 0"),
    ("state SUSPEND", "slave", TRANSFER, "00000003", "state at byte 0: is 3"),
    ("no state at all", "slave", HANDSHAKE, "48545450", "state at byte 0: is 1213486160"),
    ("negative state", "slave", HANDSHAKE, "FFFFFFFF", "state at byte 0: is -1"),
    ("batch before the reply", "slave", HANDSHAKE, "00000002", "state at byte 0: is 2"),
    ("reply after it", "slave", TRANSFER, "00000001", "state at byte 0: is 1"),
    ("last-file flag", "master", HANDSHAKE, "00000001 0003 0000 0000000000000003", "at byte 4"),
    ("incarnation 1", "master", HANDSHAKE, "00000001 0001 0002 0000000000000003", "at byte 6"),
    ("learner flag", "master", HANDSHAKE, "00000001 0000 FFFF 0000000000000003", "at byte 6"),
    ("broker 0", "master", HANDSHAKE, "00000001 0000 0000 0000000000000000", "at byte 8: is 0"),
    ("broker -1", "master", HANDSHAKE, "00000001 0000 0000 FFFFFFFFFFFFFFFF", "is -1"),
    ("ack -1", "master", TRANSFER, "00000002 FFFFFFFFFFFFFFFF", "at byte 4: is -1"),
    (
        "negative body of a reply",
        "slave",
        HANDSHAKE,
        "00000001 FFFFFFF4 0000000000000000 FFFFFFFF",
        "body size at byte 4: is -12, below 0",
    ),
    (
        "body of a reply with a rest",
        "slave",
        HANDSHAKE,
        "00000001 0000000D 0000000000000000 00000001",
        "is 13, no multiple of 12",
    ),
    (
        "body of a reply over the bound",
        "slave",
        HANDSHAKE,
        f"00000001 {HANDSHAKE_BODY_MAX + 8:08X} 0000000000000000 00000001",
        "over 1048576",
    ),
    (
        "negative end of the master",
        "slave",
        HANDSHAKE,
        "00000001 00000000 FFFFFFFFFFFFFFFF FFFFFFFF",
        "master maxPhyOffset at byte 8",
    ),
    (
        "last epoch without epochs",
        "slave",
        HANDSHAKE,
        "00000001 00000000 0000000000000000 00000001",
        "last epoch at byte 16: is 1, but the entries end with -1",
    ),
    (
        "last epoch of others",
        "slave",
        HANDSHAKE,
        "00000001 0000000C 0000000000000000 00000002 00000001 0000000000000000",
        "last epoch at byte 16: is 2, but the entries end with 1",
    ),
    (
        "equal epochs",
        "slave",
        HANDSHAKE,
        "00000001 00000018 0000000000000009 00000001"
        "00000001 0000000000000000 00000001 0000000000000005",
        "epoch at byte 32: is 1 after 1",
    ),
    (
        "equal starts",
        "slave",
        HANDSHAKE,
        "00000001 00000018 0000000000000009 00000002"
        "00000001 0000000000000005 00000002 0000000000000005",
        "start offset at byte 36: is 5 after 5",
    ),
    (
        "negative start",
        "slave",
        HANDSHAKE,
        "00000001 0000000C 0000000000000009 00000001 00000001 FFFFFFFFFFFFFFFF",
        "start offset at byte 24: is -1 after -1",
    ),
    (
        "negative body of a batch",
        "slave",
        TRANSFER,
        "00000002 80000000 0000000000000064 00000002 0000000000000064 000000000000005A",
        "body size at byte 4: is -2147483648",
    ),
    (
        "body of a batch over the bound",
        "slave",
        TRANSFER,
        f"00000002 {TRANSFER_BODY_MAX + 1:08X} 0000000000000064 00000002"
        "0000000000000064 000000000000005A",
        "over 4194304",
    ),
    (
        "batch at -1",
        "slave",
        TRANSFER,
        "00000002 00000001 FFFFFFFFFFFFFFFF 00000002 0000000000000064 000000000000005A",
        "offset at byte 8: is -1, below 0",
    ),
    (
        "negative epoch",
        "slave",
        TRANSFER,
        "00000002 00000000 0000000000000064 FFFFFFFF 0000000000000064 000000000000005A",
        "epoch at byte 16: is -1",
    ),
    (
        "negative start of the epoch",
        "slave",
        TRANSFER,
        "00000002 00000000 0000000000000064 00000002 FFFFFFFFFFFFFFFF 000000000000005A",
        "epoch start offset at byte 20: is -1",
    ),
    (
        "negative confirm offset",
        "slave",
        TRANSFER,
        "00000002 00000000 0000000000000064 00000002 0000000000000064 FFFFFFFFFFFFFFFE",
        "confirm offset at byte 28: is -2",
    ),
]


def _slave_state(packet: SlavePacket) -> Expecting:
    return HANDSHAKE if isinstance(packet, Handshake) else TRANSFER


def _master_state(packet: MasterPacket) -> Expecting:
    return HANDSHAKE if isinstance(packet, HandshakeReply) else TRANSFER


def _drain(stream: PacketStream[P]) -> list[P]:
    packets: list[P] = []
    while (packet := stream.next_packet()) is not None:
        packets.append(packet)
    return packets


def _outcome(stream: PacketStream[P], pieces: Sequence[bytes]) -> tuple[list[P], str | None]:
    """Feed pieces one after the other; return the packets and how it failed."""
    packets: list[P] = []
    for piece in pieces:
        stream.feed(piece)
        try:
            while (packet := stream.next_packet()) is not None:
                packets.append(packet)
        except PacketError:
            break
    return packets, str(stream.failure) if stream.failure else None


def _bytewise(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


@pytest.mark.parametrize(
    ("packet", "golden"), [row[1:] for row in SLAVE_GOLDEN], ids=[row[0] for row in SLAVE_GOLDEN]
)
def test_packets_of_a_slave_have_rocketmqs_bytes(packet: SlavePacket, golden: str) -> None:
    stream = slave_stream(_slave_state(packet))

    stream.feed(bytes.fromhex(golden))

    assert push_slave_packet(packet) == bytes.fromhex(golden)
    assert _drain(stream) == [packet]


@pytest.mark.parametrize(
    ("packet", "golden"), [row[1:] for row in MASTER_GOLDEN], ids=[row[0] for row in MASTER_GOLDEN]
)
def test_packets_of_a_master_have_rocketmqs_bytes(packet: MasterPacket, golden: str) -> None:
    stream = master_stream(_master_state(packet))

    stream.feed(bytes.fromhex(golden))

    assert push_master_packet(packet) == bytes.fromhex(golden)
    assert _drain(stream) == [packet]


@pytest.mark.parametrize(
    ("reader", "expecting", "data", "said"),
    [row[1:] for row in REFUSED],
    ids=[row[0] for row in REFUSED],
)
def test_wrong_bytes_are_one_typed_error_and_the_stream_stays_failed(
    reader: str, expecting: Expecting, data: str, said: str
) -> None:
    make: Callable[[Expecting], PacketStream[SlavePacket] | PacketStream[MasterPacket]]
    make = slave_stream if reader == "master" else master_stream
    stream = make(expecting)

    stream.feed(bytes.fromhex(data))
    with pytest.raises(PacketError, match=re.escape(said)):
        stream.next_packet()

    stream.feed(push_slave_packet(Handshake(broker_id=BrokerId(3))))
    with pytest.raises(PacketError, match=re.escape(said)):
        stream.next_packet()
    assert stream.buffered == 0


@pytest.mark.parametrize("size", range(1, 16))
def test_a_part_of_a_handshake_is_no_handshake(size: int) -> None:
    """RocketMQ's master decodes from 12 bytes on, with an id that has not arrived (B78)."""
    whole = push_slave_packet(Handshake(broker_id=BrokerId(3)))
    stream = slave_stream()

    stream.feed(whole[:size])
    early = stream.next_packet()
    stream.feed(whole[size:])

    assert early is None
    assert stream.next_packet() == Handshake(broker_id=BrokerId(3))


@pytest.mark.parametrize("missing", range(1, 17))
def test_a_batch_is_complete_when_its_own_header_and_body_are(missing: int) -> None:
    """RocketMQ's slave once took a batch for complete at 20 bytes and the body (B12)."""
    batch = MASTER_GOLDEN[-1][1]
    whole = push_master_packet(batch)
    stream = master_stream(TRANSFER)

    stream.feed(whole[:-missing])
    early = stream.next_packet()
    stream.feed(whole[-missing:])

    assert early is None
    assert stream.next_packet() == batch


def test_an_ack_says_transfer_even_before_the_slave_transfers() -> None:
    """RocketMQ's slave once wrote its present state (B13)."""
    assert push_slave_packet(Ack(max_phy_offset=Offset(0)))[:4] == b"\0\0\0\2"


def test_a_body_that_is_too_large_is_refused_before_it_arrives() -> None:
    stream = master_stream(TRANSFER)

    stream.feed(bytes.fromhex("00000002 7FFFFFFF") + bytes(28))

    with pytest.raises(PacketError, match="body size"):
        stream.next_packet()


def test_a_stream_that_nobody_reads_does_not_grow_without_bound() -> None:
    stream = slave_stream()

    stream.feed(bytes(4 << 20))
    with pytest.raises(PacketError, match="bytes wait"):
        stream.feed(bytes(1 << 20))
    assert stream.buffered == 0
    with pytest.raises(PacketError, match="bytes wait"):
        stream.next_packet()


def test_the_largest_batch_passes() -> None:
    packet = replace(HEARTBEAT, body=bytes(TRANSFER_BODY_MAX))
    stream = master_stream(TRANSFER)
    data = push_master_packet(packet)

    stream.feed(data[:1000])
    early = stream.next_packet()
    stream.feed(data[1000:])

    assert early is None
    assert stream.next_packet() == packet


def test_packets_before_damage_are_handed_out_and_the_error_counts_from_the_beginning() -> None:
    good = push_slave_packet(Handshake(broker_id=BrokerId(3)))
    stream = slave_stream()

    stream.feed(good + b"\0\0\0\3")

    assert stream.next_packet() == Handshake(broker_id=BrokerId(3))
    said = re.escape("state at byte 16: is 3, but HANDSHAKE (1) or TRANSFER (2)")
    with pytest.raises(PacketError, match=said):
        stream.next_packet()


def test_a_slave_repeats_its_handshake_until_its_first_ack() -> None:
    """As a slave of RocketMQ 5.3.3 did on 3 of 36 connections."""
    hello, ack = Handshake(broker_id=BrokerId(3)), Ack(max_phy_offset=Offset(0))
    stream = slave_stream()

    for packet in (hello, hello, hello, ack):
        stream.feed(push_slave_packet(packet))
    heard = _drain(stream)
    stream.feed(push_slave_packet(hello))

    assert heard == [hello, hello, hello, ack]
    with pytest.raises(PacketError, match="state at byte 60: is 1, but TRANSFER"):
        stream.next_packet()


def test_the_last_epoch_of_a_reply_without_epochs_is_minus_one() -> None:
    assert HandshakeReply(max_phy_offset=Offset(0)).last_epoch == NO_EPOCH


@given(st.data())
def test_a_slaves_packets_survive_any_fragmentation(data: st.DataObject) -> None:
    session = data.draw(slave_sessions())
    sent = b"".join(push_slave_packet(packet) for packet in session)

    expected: tuple[list[SlavePacket], str | None] = (session, None)
    assert _outcome(slave_stream(), [sent]) == expected
    assert _outcome(slave_stream(), _bytewise(sent)) == expected
    assert _outcome(slave_stream(), data.draw(cuts(sent))) == expected


@given(st.data())
def test_a_masters_packets_survive_any_fragmentation(data: st.DataObject) -> None:
    session = data.draw(master_sessions())
    sent = b"".join(push_master_packet(packet) for packet in session)

    expected: tuple[list[MasterPacket], str | None] = (session, None)
    assert _outcome(master_stream(), [sent]) == expected
    assert _outcome(master_stream(), _bytewise(sent)) == expected
    assert _outcome(master_stream(), data.draw(cuts(sent))) == expected


@pytest.mark.parametrize(
    "packet",
    [
        Handshake(broker_id=BrokerId(3), incarnation=INCARNATION_MAX + 1),
        Handshake(broker_id=BrokerId(3), incarnation=-1),
        Handshake(broker_id=BrokerId(3), incarnation=1, sync_from_last_file=True),
        Handshake(broker_id=BrokerId(3), incarnation=1, async_learner=True),
    ],
)
def test_an_incarnation_that_does_not_fit_is_not_sent(packet: Handshake) -> None:
    with pytest.raises(EncodingError, match="incarnation"):
        push_slave_packet(packet)


@given(st.data(), st.sampled_from(Expecting))
def test_garbage_raises_nothing_else_and_does_so_at_the_same_byte_in_any_fragmentation(
    data: st.DataObject, expecting: Expecting
) -> None:
    # A right state in front, or else nearly all garbage is refused at once.
    state = data.draw(st.sampled_from((b"", bytes([0, 0, 0, expecting]))))
    size = data.draw(st.sampled_from((b"", bytes(4), b"\0\0\0\x0c", b"\0\0\0\x18")))
    garbage = state + size + data.draw(st.binary(max_size=100))

    pieces = data.draw(cuts(garbage))

    as_slave = _outcome(slave_stream(expecting), [garbage])
    assert _outcome(slave_stream(expecting), _bytewise(garbage)) == as_slave
    assert _outcome(slave_stream(expecting), pieces) == as_slave
    as_master = _outcome(master_stream(expecting), [garbage])
    assert _outcome(master_stream(expecting), _bytewise(garbage)) == as_master
    assert _outcome(master_stream(expecting), pieces) == as_master


@given(st.data())
def test_a_flipped_bit_gives_packets_or_the_typed_error(data: st.DataObject) -> None:
    session = data.draw(master_sessions())
    sent = bytearray(b"".join(push_master_packet(packet) for packet in session))
    bit = data.draw(st.integers(0, len(sent) * 8 - 1))
    sent[bit // 8] ^= 1 << bit % 8

    at_once = _outcome(master_stream(), [bytes(sent)])

    assert _outcome(master_stream(), _bytewise(bytes(sent))) == at_once

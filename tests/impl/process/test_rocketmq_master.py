"""Headers of a RocketMQ master that name the epoch behind their bytes."""

from __future__ import annotations

from rocketha.formats.ha_packets import HandshakeReply, MasterPacket, Transfer
from rocketha.ha.events import PacketReceived
from rocketha.process.rocketmq_master import RepairedInbox
from rocketha.types import ConnectionId, Epoch, EpochEntry, Offset


class Heard:
    """An inbox with packets in it."""

    def __init__(self, *packets: MasterPacket) -> None:
        self.packets = list(packets)

    def feed(self, data: bytes) -> None:
        raise AssertionError(data)

    def next_event(self) -> PacketReceived | None:
        if not self.packets:
            return None
        return PacketReceived(conn=ConnectionId(1), packet=self.packets.pop(0))


def reply(*starts: tuple[int, int]) -> HandshakeReply:
    entries = tuple(EpochEntry(Epoch(epoch), Offset(start)) for epoch, start in starts)
    return HandshakeReply(max_phy_offset=Offset(900), entries=entries)


def batch(offset: int, size: int, epoch: int, start: int) -> Transfer:
    return Transfer(
        offset=Offset(offset),
        epoch=Epoch(epoch),
        epoch_start_offset=Offset(start),
        confirm_offset=Offset(0),
        body=bytes(size),
    )


def named(*packets: MasterPacket) -> list[tuple[int, int]]:
    """Return the epochs and their starts as the core hears them."""
    inbox = RepairedInbox(Heard(*packets))
    found: list[tuple[int, int]] = []
    while (event := inbox.next_event()) is not None:
        if isinstance(event.packet, Transfer):
            found.append((event.packet.epoch, event.packet.epoch_start_offset))
    return found


def test_a_batch_that_ends_with_its_epoch_is_of_that_epoch() -> None:
    """RocketMQ 5.3.3, seed 5 of the mixed groups: epoch 9 from 3110 on, for the bytes from 622."""
    heard = named(reply((1, 0), (9, 3110)), batch(622, 2488, 9, 3110), batch(3110, 100, 9, 3110))
    assert heard == [(1, 0), (9, 3110)]


def test_no_epoch_is_left_out_that_had_its_bytes_in_one_batch() -> None:
    packets = (batch(0, 100, 2, 100), batch(100, 200, 5, 300), batch(300, 9, 5, 300))
    assert named(reply((1, 0), (2, 100), (5, 300)), *packets) == [(1, 0), (2, 100), (5, 300)]


def test_an_epoch_that_began_after_the_handshake_is_known_by_its_header() -> None:
    packets = (batch(50, 50, 2, 100), batch(100, 20, 3, 120), batch(120, 1, 3, 120))
    assert named(reply((1, 0)), *packets) == [(1, 0), (2, 100), (3, 120)]


def test_other_headers_stay_as_they_are() -> None:
    packets = (batch(10, 5, 1, 0), batch(15, 0, 1, 15), batch(15, 5, 4, 17))
    assert named(reply((1, 0)), *packets) == [(1, 0), (1, 15), (4, 17)]
    assert named(batch(0, 10, 2, 10)) == [(2, 10)]

"""Packets of the HA service without a controller."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.format_strategies import cuts, legacy_transfers, offsets
from rocketha.errors import PacketError
from rocketha.formats.legacy_ha_packets import (
    LEGACY_BODY_MAX,
    LegacyReports,
    LegacyTransfer,
    feed_reports,
    push_legacy_transfer,
    push_report,
)
from rocketha.formats.packet_stream import legacy_master_stream
from rocketha.types import Offset


def test_a_report_has_rocketmqs_bytes() -> None:
    assert push_report(Offset(4096)) == bytes.fromhex("0000000000001000")


@pytest.mark.parametrize(
    ("body", "golden"),
    [(b"", "0000000000001000 00000000"), (b"\xda\xa3", "0000000000001000 00000002 DAA3")],
    ids=["heartbeat", "batch"],
)
def test_a_batch_has_rocketmqs_bytes(body: bytes, golden: str) -> None:
    packet = LegacyTransfer(offset=Offset(4096), body=body)
    stream = legacy_master_stream()

    stream.feed(bytes.fromhex(golden))

    assert push_legacy_transfer(packet) == bytes.fromhex(golden)
    assert stream.next_packet() == packet


@pytest.mark.parametrize(
    ("arrived", "newest", "kept"),
    [
        ("", None, 0),
        ("00000000000010", None, 7),
        ("0000000000001000", 0x1000, 0),
        ("0000000000001000 0000000000002000", 0x2000, 0),
        ("0000000000001000 0000000000002000 0000000000", 0x2000, 5),
    ],
    ids=["nothing", "a part", "one", "two", "two and a part"],
)
def test_the_last_complete_report_counts(arrived: str, newest: int | None, kept: int) -> None:
    reports = feed_reports(LegacyReports(), bytes.fromhex(arrived))

    assert (reports.newest, len(reports.partial)) == (newest, kept)


@pytest.mark.parametrize(
    "data",
    [
        "FFFFFFFFFFFFFFFF 00000000",
        "0000000000001000 FFFFFFFF",
        f"0000000000001000 {LEGACY_BODY_MAX + 1:08X}",
        "7FFFFFFFFFFFFFFF 00000001",
    ],
    ids=["offset", "negative body", "body over the bound", "end behind every offset"],
)
def test_a_wrong_header_is_refused(data: str) -> None:
    stream = legacy_master_stream()

    stream.feed(bytes.fromhex(data))

    for _ in range(2):
        with pytest.raises(PacketError):
            stream.next_packet()


def test_a_negative_report_is_refused() -> None:
    with pytest.raises(PacketError, match="is -1"):
        feed_reports(LegacyReports(), push_report(Offset(7)) + b"\xff" * 8)


@given(st.lists(offsets(), min_size=1), st.data())
def test_reports_survive_any_fragmentation(sent: list[Offset], data: st.DataObject) -> None:
    stream = b"".join(map(push_report, sent))
    reports = LegacyReports()

    for piece in data.draw(cuts(stream)):
        reports = feed_reports(reports, piece)

    assert reports == LegacyReports(newest=sent[-1])


@given(st.lists(legacy_transfers()), st.data())
def test_batches_survive_any_fragmentation(sent: list[LegacyTransfer], data: st.DataObject) -> None:
    stream = legacy_master_stream()
    received: list[LegacyTransfer] = []

    for piece in data.draw(cuts(b"".join(map(push_legacy_transfer, sent)))):
        stream.feed(piece)
        while (packet := stream.next_packet()) is not None:
            received.append(packet)

    assert received == sent


@given(st.binary(max_size=64))
def test_garbage_raises_nothing_but_the_typed_error(garbage: bytes) -> None:
    stream = legacy_master_stream()
    stream.feed(garbage)

    try:
        feed_reports(LegacyReports(), garbage)
        while stream.next_packet() is not None:
            pass
    except PacketError:
        pass

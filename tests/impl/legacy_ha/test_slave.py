"""The legacy slave, event by event, with a master that may say anything."""

from __future__ import annotations

import pytest

from rocketha.errors import PacketError
from rocketha.formats.legacy_ha_packets import LegacyTransfer, push_report
from rocketha.known_bugs import Bug
from rocketha.legacy_ha.broker import next_timer_ms, step
from rocketha.legacy_ha.events import BatchReceived, ReportReceived, Started
from rocketha.legacy_ha.state import LegacySlave
from rocketha.runtime.events import (
    ConnectionLost,
    PacketRefused,
    PeerConnected,
    TimerFired,
    TransferDue,
)
from rocketha.types import HaAddress, Offset, TimestampMs
from tests.impl.legacy_ha.bench import SEGMENT_SIZE, MasterBench, SlaveBench, conn


def master_bytes(records: int) -> bytes:
    bench = MasterBench()
    for _ in range(records):
        bench.put(0)
    return bench.log.read(Offset(0), bench.end)


def connected(*bugs: Bug, log: bytes = b"") -> SlaveBench:
    bench = SlaveBench(*bugs)
    if log:
        bench.log.append_raw(Offset(0), log)
    bench.take(PeerConnected(conn=conn(1), peer=HaAddress("m")))
    return bench


def batch(offset: int, body: bytes = b"") -> BatchReceived:
    return BatchReceived(conn=conn(1), batch=LegacyTransfer(offset=Offset(offset), body=body))


def test_a_slave_connects_and_reports_its_log_end() -> None:
    record = master_bytes(1)
    bench = SlaveBench()
    bench.log.append_raw(Offset(0), record)

    bench.take(TimerFired())
    bench.take(PeerConnected(conn=conn(1), peer=HaAddress("m")))

    assert bench.connects == 1
    assert bench.sent == [push_report(Offset(len(record)))]
    assert bench.actions == ["Connect"]


@pytest.mark.parametrize("by_timer", [True, False])
def test_half_a_record_is_cut_off_before_the_slave_connects(by_timer: bool) -> None:
    data = master_bytes(2)
    bench = SlaveBench()
    bench.log.append_raw(Offset(0), data[:-1])

    bench.take(TimerFired() if by_timer else Started())

    assert bench.log.max_phy_offset == len(data) // 2


def test_a_batch_is_appended_and_its_end_reported() -> None:
    data = master_bytes(2)
    half = len(data) // 2
    bench = connected(log=data[:half])

    bench.take(batch(half, data[half:]))

    assert bench.log.read(Offset(0), len(data)) == data
    assert bench.sent[-1] == push_report(Offset(len(data)))
    assert bench.actions[-1] == "ReceiveTransfer"


def test_an_empty_log_begins_at_any_file() -> None:
    bench = connected()

    bench.take(batch(SEGMENT_SIZE, b"abc"))

    assert bench.log.min_offset == SEGMENT_SIZE
    assert bench.sent[-1] == push_report(Offset(SEGMENT_SIZE + 3))


def test_a_heartbeat_lets_no_log_begin() -> None:
    bench = connected()

    bench.take(batch(SEGMENT_SIZE))

    assert bench.log.max_phy_offset == 0
    assert bench.sent[-1] == push_report(Offset(0))


@pytest.mark.parametrize(
    ("log", "offset", "body"),
    [
        (1, 0, b""),
        (1, 3 * SEGMENT_SIZE, b"x"),
        (0, 1, b"x"),
    ],
)
def test_a_batch_that_does_not_continue_the_log_closes_the_connection(
    log: int, offset: int, body: bytes
) -> None:
    bench = connected(log=master_bytes(log) if log else b"")

    bench.take(batch(offset, body))

    assert bench.closed == [conn(1)]
    assert bench.state.client is None
    assert bench.actions[-1] == "Disconnect"


def test_with_a_bug_a_batch_is_appended_wherever_it_belongs() -> None:
    data = master_bytes(1)
    bench = connected(Bug.OFFSET_CONTINUES, log=data)

    bench.take(batch(7, b"xy"))

    assert bench.log.max_phy_offset == len(data) + 2


def test_a_silent_master_is_left_and_a_silent_slave_reports_again() -> None:
    bench = connected()
    assert next_timer_ms(bench.state) == 5_000

    bench.take(TimerFired(), now_ms=5_000)
    assert bench.sent == [push_report(Offset(0))] * 2
    bench.take(TimerFired(), now_ms=20_000)

    assert bench.closed == [conn(1)]
    assert next_timer_ms(bench.state) == 25_000


def test_a_slave_without_a_connection_waits_and_tries_again() -> None:
    bench = connected()
    bench.take(ConnectionLost(conn=conn(1)), now_ms=100)

    bench.take(TimerFired(), now_ms=5_099)
    assert bench.connects == 0
    bench.take(TimerFired(), now_ms=5_100)

    assert bench.connects == 1


def test_what_no_master_sends_closes_the_connection() -> None:
    error = PacketError("offset", offset=0, reason="is -1, below 0")
    bench = connected()

    bench.take(PacketRefused(conn=conn(1), error=error))

    assert bench.closed == [conn(1)]


def test_events_of_other_connections_change_nothing() -> None:
    bench = connected()
    state, actions = bench.state, list(bench.actions)

    bench.take(ConnectionLost(conn=conn(9)))
    bench.take(BatchReceived(conn=conn(9), batch=LegacyTransfer(offset=Offset(0))))
    bench.take(TransferDue(conn=conn(1)))
    bench.take(ReportReceived(conn=conn(1), max_phy_offset=Offset(0)))

    assert bench.state is state
    assert bench.actions == actions


def test_a_broker_steps_by_its_role() -> None:
    master, slave = MasterBench(), SlaveBench()

    stepped = step(slave.state, TimerFired(), now_ms=TimestampMs(0), log=slave.log)
    assert isinstance(stepped.state, LegacySlave)
    assert stepped.effects
    quiet = step(master.state, TimerFired(), now_ms=TimestampMs(0), log=master.log)
    assert quiet.effects == ()

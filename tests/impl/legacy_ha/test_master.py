"""The legacy master and the producers that wait for its slaves, event by event."""

from __future__ import annotations

import pytest

from rocketha.errors import PacketError
from rocketha.formats.legacy_ha_packets import LegacyTransfer, pull_legacy_transfer
from rocketha.ha.state import NOT_YET
from rocketha.known_bugs import Bug
from rocketha.legacy_ha.broker import next_timer_ms
from rocketha.legacy_ha.events import BatchReceived
from rocketha.runtime.core import Sender
from rocketha.runtime.events import ConnectionLost, PacketRefused, TimerFired, TransferDue
from rocketha.types import Offset
from tests.impl.legacy_ha.bench import SEGMENT_SIZE, MasterBench, conn


def batches(bench: MasterBench) -> list[LegacyTransfer]:
    pulled = [pull_legacy_transfer(data) for data in bench.sent]
    return [one[0] for one in pulled if one is not None]


def follower(bench: MasterBench, number: int, host: str, end: int) -> None:
    bench.accept(number, host)
    bench.report(number, end)


def test_the_first_report_starts_the_transfer_there() -> None:
    bench = MasterBench()
    bench.put(0)
    middle = bench.end
    bench.put(0)
    follower(bench, 1, "s1", middle)

    bench.take(TransferDue(conn=conn(1)))

    assert [batch.offset for batch in batches(bench)] == [middle]
    assert middle + len(batches(bench)[0].body) == bench.end


def test_nothing_is_sent_before_the_first_report() -> None:
    bench = MasterBench()
    bench.put(0)
    bench.accept(1, "s1")

    assert bench.senders == []
    bench.report(1, 0)
    assert bench.senders == [Sender(conn=conn(1), behind=True, heartbeat_at_ms=5_000)]


def test_a_slave_without_a_log_gets_the_last_file_only() -> None:
    bench = MasterBench()
    while bench.end <= SEGMENT_SIZE:
        bench.put(0)

    follower(bench, 1, "s1", 0)

    assert bench.state.ends[conn(1)].next_offset == SEGMENT_SIZE


@pytest.mark.parametrize(("bugs", "start"), [((), 0), ((Bug.START_COVERS_WAITING,), SEGMENT_SIZE)])
def test_a_slave_without_a_log_gets_what_a_producer_waits_for(
    bugs: tuple[Bug, ...], start: int
) -> None:
    bench = MasterBench(*bugs)
    bench.put(1)
    while bench.end <= SEGMENT_SIZE:
        bench.put(0)

    follower(bench, 1, "s1", 0)

    assert bench.state.ends[conn(1)].next_offset == start


def test_a_batch_ends_with_its_file() -> None:
    bench = MasterBench()
    while bench.end <= SEGMENT_SIZE:
        bench.put(1)
    follower(bench, 1, "s1", 0)

    bench.take(TransferDue(conn=conn(1)))
    bench.take(TransferDue(conn=conn(1)))

    assert [(b.offset, len(b.body)) for b in batches(bench)] == [
        (0, SEGMENT_SIZE),
        (SEGMENT_SIZE, bench.end - SEGMENT_SIZE),
    ]


def test_an_idle_master_sends_a_heartbeat() -> None:
    bench = MasterBench()
    bench.put(0)
    follower(bench, 1, "s1", bench.end)

    assert bench.senders == [Sender(conn=conn(1), behind=False, heartbeat_at_ms=5_000)]
    bench.take(TransferDue(conn=conn(1)), now_ms=5_000)

    assert batches(bench) == [LegacyTransfer(offset=bench.end)]


@pytest.mark.parametrize("first", [True, False])
def test_a_report_beyond_the_log_closes_the_connection(first: bool) -> None:
    bench = MasterBench()
    bench.put(0)
    bench.accept(1, "s1")
    if not first:
        bench.report(1, bench.end)

    bench.report(1, bench.end + 1)

    assert bench.closed == [conn(1)]
    assert bench.state.ends == {}


@pytest.mark.parametrize("bug", [Bug.B52, Bug.FIRST_REPORT])
def test_with_a_bug_the_first_report_may_be_beyond_the_log(bug: Bug) -> None:
    bench = MasterBench(bug)
    bench.accept(1, "s1")

    bench.report(1, 1_000)

    assert bench.state.ends[conn(1)].slave_ack == 1_000
    put = bench.put(1)
    bench.report(1, 1_000)
    # 4.9.x closes the connection at the second report, when the harm is done.
    assert bench.answers.get(put) == (None if bug is Bug.FIRST_REPORT else "PUT_OK")


def test_a_report_that_goes_back_or_ahead_of_what_was_sent_closes_the_connection() -> None:
    for second in (0, 3):
        bench = MasterBench(batch=2)
        bench.put(0)
        follower(bench, 1, "s1", 1)
        bench.report(1, second)
        assert bench.closed == [conn(1)]


def test_a_producer_that_waits_for_nobody_is_answered_at_once() -> None:
    bench = MasterBench()

    put = bench.put(0)

    assert bench.answers == {put: "PUT_OK"}


def test_a_producer_hears_put_ok_when_the_slave_has_the_end_of_its_message() -> None:
    bench = MasterBench()
    follower(bench, 1, "s1", 0)
    put = bench.put(1)
    bench.take(TransferDue(conn=conn(1)))

    bench.report(1, bench.end - 1)
    assert bench.answers == {}
    bench.report(1, bench.end)

    assert bench.answers == {put: "PUT_OK"}
    assert bench.actions[-2:] == ["ReceiveReport", "PutOk"]


def test_a_producer_that_waits_too_long_hears_that_nobody_knows() -> None:
    bench = MasterBench()
    put = bench.put(1, now_ms=1_000)
    assert next_timer_ms(bench.state) == 4_000

    bench.take(TimerFired(), now_ms=3_999)
    assert bench.answers == {}
    bench.take(TimerFired(), now_ms=4_000)

    assert bench.answers == {put: "FLUSH_SLAVE_TIMEOUT"}


@pytest.mark.parametrize(("bugs", "answers"), [((), {}), ((Bug.B23,), {1: "PUT_OK"})])
def test_two_connections_of_one_slave_are_one_slave(
    bugs: tuple[Bug, ...], answers: dict[int, str]
) -> None:
    bench = MasterBench(*bugs)
    bench.put(2)

    follower(bench, 1, "s1", bench.end)
    follower(bench, 2, "s1", bench.end)
    assert bench.answers == answers
    follower(bench, 3, "s2", bench.end)

    assert bench.answers == {1: "PUT_OK"}


def test_the_newest_connection_that_was_heard_counts() -> None:
    bench = MasterBench()
    bench.put(0)
    before = bench.end
    bench.put(2)
    follower(bench, 1, "s1", bench.end)
    bench.accept(2, "s1")
    assert bench.answers == {1: "PUT_OK"}, "nothing new was heard"

    bench.report(2, before)
    follower(bench, 3, "s2", bench.end)

    assert bench.answers == {1: "PUT_OK"}


def test_with_a_bug_a_producer_that_waits_for_one_slave_waits_for_none() -> None:
    bench = MasterBench(Bug.SYNC_WAITS)
    put = bench.put(1)

    bench.take(TimerFired())

    assert bench.answers == {put: "PUT_OK"}


def test_a_silent_slave_is_dropped() -> None:
    bench = MasterBench()
    follower(bench, 1, "s1", 0)
    assert next_timer_ms(bench.state) == 20_000

    bench.take(TimerFired(), now_ms=20_000)

    assert bench.closed == [conn(1)]
    assert bench.actions[-1] == "CloseConnection"


def test_a_lost_connection_is_forgotten_once() -> None:
    bench = MasterBench()
    follower(bench, 1, "s1", 0)

    bench.take(ConnectionLost(conn=conn(1)))
    bench.take(ConnectionLost(conn=conn(1)))

    assert bench.actions.count("CloseConnection") == 1
    assert next_timer_ms(bench.state) is None


def test_bytes_that_are_no_report_close_the_connection() -> None:
    error = PacketError("slave maxPhyOffset", offset=0, reason="is -1, below 0")
    bench = MasterBench()
    bench.accept(1, "s1")

    bench.take(PacketRefused(conn=conn(1), error=error))

    assert bench.closed == [conn(1)]


def test_events_of_unknown_connections_change_nothing() -> None:
    bench = MasterBench()
    state = bench.state

    bench.report(9, 0)
    bench.take(TransferDue(conn=conn(9)))
    bench.take(BatchReceived(conn=conn(9), batch=LegacyTransfer(offset=Offset(0))))

    assert bench.state is state
    assert bench.actions == []


def test_a_new_connection_knows_nothing() -> None:
    bench = MasterBench()
    bench.accept(1, "s1")

    assert bench.state.ends[conn(1)].slave_ack == NOT_YET
    assert bench.state.ends[conn(1)].next_offset == NOT_YET

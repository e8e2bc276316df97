"""Two or three brokers talk through encoded bytes, in pieces of any size, and end with one log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketha.formats.ha_packets import (
    ACK_SIZE,
    HANDSHAKE_SIZE,
    Expecting,
    Handshake,
    MasterPacket,
    pull_master_packet,
)
from rocketha.formats.packet_stream import master_stream, slave_stream
from rocketha.ha.events import PacketReceived
from rocketha.ha.state import Role
from rocketha.known_bugs import NO_BUGS, Bug, Bugs
from rocketha.known_bugs.epoch_truncation import ha_rules
from rocketha.runtime.effects import Connect, TruncateLog
from rocketha.runtime.events import TimerFired
from rocketha.types import BrokerId, Offset
from tests.impl.ha.replicas import SEGMENT_SIZE, WHOLE, Group, following

BODIES = (b"a" * 40, b"b" * 300, b"", b"c" * 7)

Scenario = Callable[[Group], None]


def idle_reconnect(group: Group) -> None:
    """A master epoch without records survives a reconnect, and its first record comes later."""
    group.elect(1, 1)
    group.put(1, *BODIES)
    group.pass_time()
    group.elect(1, 2)
    group.pass_time()
    group.cut_all()
    group.pass_time()
    group.put(1, b"late")
    group.pass_time()
    assert group[2].starts() == [(1, 0), (2, group[2].starts()[1][1])]


def failover_with_divergence(group: Group) -> None:
    """A zombie wrote more than one record that nobody has; it cuts them when it comes back."""
    group.elect(1, 1)
    group.put(1, *BODIES)
    group.pass_time()
    group.cut_all()
    group.put(1, b"only here", b"x" * 500, b"and this")
    group.elect(2, 2, notified=(2,))
    group.put(2, b"instead")
    group.elect(2, 2)
    group.pass_time()
    assert group[1].actions[-4:].count("ReceiveHandshake") == 1


def batch_at_the_epoch_border(group: Group) -> None:
    """The slave lacks two epochs, each far smaller than a batch."""
    group.elect(1, 1, notified=(1,))
    group.put(1, b"one", b"two")
    group.elect(1, 2, notified=(1,))
    group.put(1, b"three")
    group.elect(1, 2)
    group.pass_time()


def empty_epoch(group: Group) -> None:
    """Two masters write no record, and both entries give way to the third."""
    group.elect(1, 1)
    group.put(1, b"one")
    group.pass_time()
    group.elect(1, 2)
    group.pass_time()
    group.elect(2, 3)
    group.pass_time()
    group.elect(1, 4)
    group.pass_time()
    group.put(1, b"two")
    group.pass_time()
    assert [epoch for epoch, _ in group[2].starts()] == [1, 4]


def three_epochs_behind(group: Group) -> None:
    """A slave that saw only the first epoch learns each of the others with its first batch."""
    group.elect(1, 1)
    group.put(1, b"one")
    group.pass_time()
    group.cut_all()
    for epoch in (2, 3, 4):
        group.elect(1, epoch, notified=(1,))
        group.put(1, *BODIES)
    group.elect(1, 4)
    group.pass_time()
    assert [epoch for epoch, _ in group[2].starts()] == [1, 2, 3, 4]


def master_elected_again(group: Group) -> None:
    """The connections of a master's slaves outlive its election, and carry the new epoch."""
    group.elect(1, 1)
    group.put(1, b"one")
    group.pass_time()
    conns = list(group[1].state.servers)
    group.elect(1, 2, notified=(1,))
    group.put(1, b"two", b"three")
    group.settle()
    assert list(group[1].state.servers) == conns
    assert [epoch for epoch, _ in group[2].starts()] == [1, 2]


def rejoin_after_power_cut(group: Group) -> None:
    """A slave loses what it had not flushed, with the epoch that began there."""
    group.elect(1, 1)
    group.put(1, b"one")
    group.pass_time()
    group[2].log.flush()
    group.elect(1, 2)
    group.put(1, b"two", b"x" * 900, b"three")
    group.pass_time()
    group.cut_all()
    group[2].lose_power(group.now_ms)
    assert group[2].starts() == [(1, 0), (2, group[2].log.max_phy_offset)]
    group.elect(1, 3)
    group.pass_time()
    assert following(group, 1) == 1
    group.pass_time()  # the first heartbeat carries the epoch without records


SCENARIOS: dict[str, Scenario] = {
    scenario.__name__: scenario
    for scenario in (
        idle_reconnect,
        failover_with_divergence,
        batch_at_the_epoch_border,
        empty_epoch,
        three_epochs_behind,
        master_elected_again,
        rejoin_after_power_cut,
    )
}


@pytest.mark.parametrize("batch", [32 * 1024, 100], ids=["32 KiB", "records cut in two"])
@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_the_brokers_end_with_one_log(scenario: Scenario, batch: int) -> None:
    group = Group(batch=batch)

    scenario(group)

    group.assert_equal_logs()
    assert group[1].bytes()


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_no_fragmentation_changes_what_happens(scenario: Scenario) -> None:
    whole = Group(batch=200)
    scenario(whole)

    for fragment in (*range(1, 22), 35, 36, 37, 63, 236, 237):
        group = Group(batch=200, fragment=fragment)
        scenario(group)

        for broker_id in (1, 2):
            assert group[broker_id].bytes() == whole[broker_id].bytes(), fragment
            assert group[broker_id].starts() == whole[broker_id].starts(), fragment
            assert group[broker_id].closed == whole[broker_id].closed, fragment


@pytest.mark.parametrize("fragment", [1, WHOLE])
def test_three_brokers_agree_after_two_failovers(fragment: int) -> None:
    group = Group(3, fragment=fragment)
    group.elect(1, 1)
    group.put(1, *BODIES)
    group.pass_time()
    group.cut_all()
    group.put(1, b"lost 1")
    group.elect(2, 2, notified=(2,))
    group.put(2, b"lost 2", b"lost 3")
    group.elect(3, 3, notified=(3,))
    group.put(3, b"kept")

    group.elect(3, 3)
    group.pass_time()

    group.assert_equal_logs()
    assert following(group, 3) == 2


def _tear_the_slave(group: Group) -> Offset:
    """Let the slave lack the last byte of two records; return where the second one begins."""
    group.elect(1, 1)
    group.put(1, b"one", b"two")
    group.pass_time()
    group.cut_all()
    group[2].log.truncate(Offset(group[2].log.max_phy_offset - 1))
    return group[1].log.record_offsets()[1]


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("fragment", [7, 16, WHOLE])
def test_a_slave_that_repeats_its_handshake_follows(times: int, fragment: int) -> None:
    """As RocketMQ's does while the reply has not reached it."""
    group = Group(fragment=fragment)
    group.elect(1, 1)
    group.put(1, *BODIES)
    group.take(group[2], TimerFired())
    [link] = group.links.values()
    assert len(link.up) == HANDSHAKE_SIZE
    link.up *= times

    group.settle()

    assert group[1].actions.count("Handshake") == 1
    assert (group[1].closed, group[2].closed) == ([], [])
    assert following(group, 1) == 1
    group.assert_equal_logs()


@pytest.mark.parametrize("records", [0, 3])
def test_a_slave_whose_first_report_comes_on_its_timer_follows(records: int) -> None:
    """RocketMQ's slave does not report at the handshake when its log ends where it was cut."""
    group = Group()
    group.elect(1, 1)
    group.put(1, *BODIES[:records])
    group.pass_time()
    group.cut_all()
    group.put(1, b"missed")
    group.now_ms += 5_000
    group.take(group[2], TimerFired())
    [(conn, link)] = group.links.items()
    group.take(group[1], PacketReceived(conn=conn, packet=Handshake(broker_id=BrokerId(2))))
    link.up.clear()
    group.take(group[2], PacketReceived(conn=conn, packet=_reply(bytes(link.down))))
    link.down.clear()
    link.heard_by_master, link.heard_by_slave = (
        slave_stream(Expecting.TRANSFER),
        master_stream(Expecting.TRANSFER),
    )
    assert len(link.up) == ACK_SIZE
    link.up.clear()  # here it says nothing

    group.pass_time(4_999)
    waiting = (group[1].closed, following(group, 1), bytes(link.down))
    group.pass_time(1)

    assert waiting == ([], 0, b""), "nothing is sent, nothing is closed"
    assert following(group, 1) == 1
    group.assert_equal_logs()
    assert group[2].bytes()


def _reply(data: bytes) -> MasterPacket:
    pulled = pull_master_packet(data, Expecting.HANDSHAKE)
    assert pulled is not None
    return pulled[0]


EARLY_ANSWERS = frozenset({Bug.MASTER_ANSWERS})


def _restarted_master(bugs: Bugs) -> Group:
    """Let a slave ask a master that has come back, short of a record, and knows of no election."""
    group = Group(bugs=bugs)
    group.elect(1, 1)
    group.put(1, b"flushed")
    group[1].log.flush()
    group.put(1, b"copied")
    group.pass_time()
    group.assert_equal_logs()
    group.cut_all()
    group[1].lose_power(group.now_ms)
    group.pass_time()
    return group


def test_a_slave_keeps_what_a_master_has_lost_until_another_is_elected() -> None:
    group = _restarted_master(NO_BUGS)
    assert group[1].closed == ["this broker is not a master"]
    assert (len(group[2].log.record_offsets()), len(group[1].log.record_offsets())) == (2, 1)

    group.elect(2, 2)
    group.put(2, b"new")
    group.pass_time()

    group.assert_equal_logs()
    assert len(group[1].log.record_offsets()) == 3


def test_a_slave_is_cut_by_who_answers_with_its_epoch_before_it_is_master() -> None:
    """As HA servers of RocketMQ do: nothing in the packet tells them from a master."""
    group = _restarted_master(EARLY_ANSWERS)
    assert group[1].state.role is Role.SLAVE
    assert group[2].closed == []
    assert len(group[2].log.record_offsets()) == 1, "cut to what the other has left"

    group.elect(1, 2)
    group.put(1, b"new")
    group.pass_time()

    assert following(group, 1) == 1, "it shakes hands with the master that the other has become"
    group.assert_equal_logs()


def test_a_slave_refuses_who_answers_with_an_older_epoch_before_it_is_master() -> None:
    group = _restarted_master(NO_BUGS)
    group.elect(2, 2, notified=(2,))
    group.put(2, b"of epoch 2")
    early = group[1]
    early.state = replace(
        early.state, options=replace(early.state.options, rules=ha_rules(EARLY_ANSWERS))
    )
    group.elect(1, 3, notified=(2,))
    group.pass_time()

    assert group[2].closed[-1] == "its epoch is 1, 3 is known"
    assert len(group[2].log.record_offsets()) == 3


def test_a_slave_drops_a_torn_record_before_it_connects() -> None:
    group = Group()
    second = _tear_the_slave(group)
    group.now_ms += 5_000

    stepped = group[2].take(TimerFired(), group.now_ms)

    assert stepped.effects == (TruncateLog(offset=second), Connect(peer=group[1].address))
    assert stepped.action is None
    group.pass_time()
    group.assert_equal_logs()


def test_a_new_master_begins_its_epoch_at_the_end_of_the_last_whole_record() -> None:
    group = Group()
    second = _tear_the_slave(group)

    group.elect(2, 2)

    assert group[2].starts() == [(1, 0), (2, second)]
    assert group[2].log.max_phy_offset == second


def test_a_new_master_begins_its_epoch_before_a_filler() -> None:
    group = Group()
    group.elect(1, 1)
    group.put(1, b"x" * 600)
    message_end = group[1].log.max_phy_offset
    group.put(1, b"y" * 600)
    group.pass_time()
    group.cut_all()
    group[2].log.truncate(Offset(SEGMENT_SIZE))

    group.elect(2, 2)

    assert group[2].starts() == [(1, 0), (2, message_end)]
    assert group[2].log.max_phy_offset == message_end
    group.elect(2, 2)
    group.put(2, b"z" * 600)
    group.pass_time()
    group.assert_equal_logs()

"""Each switch does what is said of it, and nothing of the kind happens without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketha.epoch.cache import EpochCache
from rocketha.formats.ha_packets import Ack, Handshake, HandshakeReply, Transfer, push_ack
from rocketha.ha.effects import Stepped
from rocketha.ha.events import MasterAddressLearnt, MasterLearnt, PacketReceived
from rocketha.known_bugs import EPOCH_BUGS, NO_BUGS, STORAGE_BUGS, Bug, Bugs
from rocketha.runtime.effects import CloseConnection, SendPacket
from rocketha.runtime.events import PeerAccepted, PeerConnected
from rocketha.types import BrokerId, ConnectionId, Epoch, HaAddress, Offset, chain_epochs
from tests.impl.ha.replicas import Group, Replica

Experiment = Callable[[Bugs], object]

CONN = ConnectionId(99)
MASTER = HaAddress("somebody")


def _in_sync(bugs: Bugs) -> Group:
    """Make a group whose broker 1 is master of epoch 1, with two records that both have."""
    group = Group(bugs=bugs)
    group.elect(1, 1)
    group.put(1, b"one", b"two")
    group.pass_time()
    return group


def _epochs(replica: Replica) -> list[int]:
    return [epoch for epoch, _ in replica.starts()]


def _entries(*starts: tuple[int, int]) -> EpochCache:
    return EpochCache(chain_epochs([(Epoch(epoch), Offset(start)) for epoch, start in starts]))


def _slave(bugs: Bugs, cache: EpochCache, *, size: int) -> Replica:
    """Make a slave that has sent its handshake, with these epochs and so many bytes of log."""
    slave = Group(bugs=bugs)[2]
    slave.log.append_raw(Offset(0), bytes(size))
    learnt = MasterLearnt(epoch=Epoch(9), master=BrokerId(1), address=MASTER)
    slave.take(learnt, now_ms=0)
    slave.take(PeerConnected(conn=CONN, peer=MASTER), now_ms=0)
    slave.state = replace(slave.state, cache=cache)
    return slave


def _reply(slave: Replica, epochs: EpochCache, *, end: int) -> Stepped:
    """Let the slave hear a master with these epochs."""
    reply = HandshakeReply(max_phy_offset=Offset(end), entries=epochs.entries)
    return slave.take(PacketReceived(conn=CONN, packet=reply), now_ms=0)


def _reported(stepped: Stepped, candidates: tuple[int, ...]) -> list[int]:
    """Return which of the candidates the step acknowledges."""
    sent = [effect.data for effect in stepped.effects if isinstance(effect, SendPacket)]
    return [c for c in candidates if push_ack(Ack(max_phy_offset=Offset(c))) in sent]


def b01_epochs_of_a_slave_after_an_idle_reconnect(bugs: Bugs) -> object:
    group = _in_sync(bugs)
    group.elect(1, 2, notified=(1,))
    group.pass_time()
    group.cut_all()
    group.pass_time()
    group.put(1, b"three")
    group.settle()
    return _epochs(group[2])


def b02_epochs_of_a_slave_whose_master_is_elected_again(bugs: Bugs) -> object:
    group = _in_sync(bugs)
    group.elect(1, 2, notified=(1,))
    group.put(1, b"three")
    group.settle()
    return _epochs(group[2])


def b03_epochs_of_a_master_after_an_empty_epoch(bugs: Bugs) -> object:
    group = Group(bugs=bugs)
    group.elect(1, 1)
    group.elect(1, 2)
    return _epochs(group[1])


def b04_a_slave_that_was_cut_knows_the_epoch_at_its_end(bugs: Bugs) -> object:
    group = _in_sync(bugs)
    group.cut_all()
    group.elect(1, 2, notified=(1,))
    group.put(1, b"only here")
    group.elect(2, 3)
    group.pass_time()
    cut = group[1].state.cache
    assert len(cut.entries) == 1
    return cut.find_epoch_entry_by_offset(group[1].log.max_phy_offset) is not None


def b05_epochs_of_a_slave_that_lacked_three(bugs: Bugs) -> object:
    group = Group(bugs=bugs)
    for epoch in (1, 2, 3):
        group.elect(1, epoch, notified=(1,))
        group.put(1, b"record of this epoch")
    group.elect(1, 3)
    group.pass_time()
    return _epochs(group[2])


def b06_epochs_after_all_were_cut_and_a_restart(bugs: Bugs) -> object:
    group = Group(bugs=bugs)
    group.elect(1, 1, notified=(1,))
    group.elect(2, 2)
    group.now_ms += 5_000
    slave, epochs = group[1], _entries((2, 0))
    slave.take(PeerConnected(conn=CONN, peer=group[2].address), now_ms=0)
    _reply(slave, epochs, end=0)
    cut = _epochs(slave)
    slave.lose_power(now_ms=0)
    return cut, _epochs(slave)


def b07_records_after_a_truncation_and_a_crash(bugs: Bugs) -> object:
    group = _in_sync(bugs)
    group.cut_all()
    group.put(1, b"only here")
    group[1].log.flush()
    group.elect(2, 2)
    group.pass_time()
    cut = len(group[1].log.record_offsets())
    group[1].lose_power(group.now_ms)
    return cut, len(group[1].log.record_offsets())


def b10_a_master_that_restarted_keeps_the_start_of_its_epoch(bugs: Bugs) -> object:
    group = _in_sync(bugs)
    group[1].log.flush()
    group[1].lose_power(group.now_ms)
    group.elect(1, 1)
    return group[1].starts() == group[2].starts()


def b11_records_of_a_slave_that_is_sent_to_a_replaced_master(bugs: Bugs) -> object:
    group = Group(3, bugs=bugs)
    group.elect(1, 1)
    group.elect(2, 2, notified=(2, 3))
    group.put(2, b"newer")
    group.pass_time()
    group.cut_all()
    group.take(group[3], MasterAddressLearnt(address=group[1].address))
    group.pass_time()
    return len(group[3].log.record_offsets())


def kept_link_of_a_slave_whose_master_was_replaced(bugs: Bugs) -> object:
    """It has not heard of what was written since."""
    group = Group(3, bugs=bugs)
    group.elect(1, 1)
    group.put(1, b"one", b"two")
    group.pass_time()
    group.elect(3, 2, notified=(2, 3))
    group.put(3, b"three")
    group.pass_time()
    return group[2].bytes() == group[3].bytes()


def known_follows_batch_of_a_master_elected_again(bugs: Bugs) -> object:
    """It would follow a master of epoch 2 that never heard of epoch 3."""
    group = _in_sync(bugs)
    group.elect(1, 3, notified=(1,))
    group.put(1, b"three")
    group.pass_time()
    return group[2].state.known_epoch


def b83_what_a_slave_reports_that_lost_its_last_epoch(bugs: Bugs) -> object:
    group = _in_sync(bugs)
    group[2].log.flush()
    kept = group[2].log.max_phy_offset
    group.put(1, b"lost")
    group.elect(1, 2)
    group.put(1, b"lost, too")
    group.pass_time()
    group.cut_all()
    slave, master = group[2], group[1]
    slave.lose_power(group.now_ms)
    assert slave.log.max_phy_offset == kept
    learnt = MasterLearnt(epoch=Epoch(2), master=BrokerId(1), address=master.address)
    slave.take(learnt, group.now_ms)
    slave.take(PeerConnected(conn=CONN, peer=master.address), group.now_ms)
    masters_end = master.log.max_phy_offset
    stepped = _reply(slave, master.state.cache, end=masters_end)
    return ["own end", "master's end"][bool(_reported(stepped, (masters_end,)))]


def b86_epochs_after_a_power_cut(bugs: Bugs) -> object:
    group = _in_sync(bugs)
    group.elect(1, 2)
    group.put(1, b"three")
    group[1].log.flush()
    group[1].lose_power(group.now_ms)
    return _epochs(group[1])


def flush_before_epoch_leaves_nothing_to_lose(bugs: Bugs) -> object:
    group = _in_sync(bugs)
    assert group[2].log.flushed_offset < group[2].log.max_phy_offset
    group.elect(2, 2)
    return group[2].log.flushed_offset == group[2].log.max_phy_offset


def master_answers_a_slave_that_is_asked(bugs: Bugs) -> object:
    slave = Group(bugs=bugs)[2]
    slave.take(PeerAccepted(conn=CONN), now_ms=0)
    request = Handshake(broker_id=BrokerId(1))
    stepped = slave.take(PacketReceived(conn=CONN, packet=request), now_ms=0)
    return isinstance(stepped.effects[0], SendPacket)


def min_end_what_a_longer_slave_keeps(bugs: Bugs) -> object:
    group = _in_sync(bugs)
    group.cut_all()
    group.put(1, b"only here")
    group.elect(2, 2)
    group.pass_time()
    return len(group[1].log.record_offsets())


def offset_continues_a_batch_from_elsewhere(bugs: Bugs) -> object:
    slave = _slave(bugs, _entries(), size=0)
    _reply(slave, _entries((9, 0)), end=500)
    batch = Transfer(
        offset=Offset(200),
        epoch=Epoch(9),
        epoch_start_offset=Offset(0),
        confirm_offset=Offset(0),
        body=b"xxx",
    )
    stepped = slave.take(PacketReceived(conn=CONN, packet=batch), now_ms=0)
    closed = isinstance(stepped.effects[0], CloseConnection)
    return "closed" if closed else f"{slave.log.max_phy_offset} bytes"


def report_own_end_when_the_cache_reaches_beyond_the_log(bugs: Bugs) -> object:
    """No broker gets there with a sound cache; the guard is for the others."""
    slave = _slave(bugs, _entries((1, 0), (2, 100)), size=0)
    stepped = _reply(slave, _entries((1, 0), (9, 200)), end=300)
    return _reported(stepped, (0, 100, 200, 300))


def start_compared_two_starts_of_one_epoch(bugs: Bugs) -> object:
    slave = _slave(bugs, _entries((9, 0)), size=40)
    _reply(slave, _entries((1, 0), (9, 20)), end=60)
    return slave.log.max_phy_offset


EXPERIMENTS: dict[Bug, tuple[Experiment, object, object]] = {
    Bug.B01: (b01_epochs_of_a_slave_after_an_idle_reconnect, [1, 2], [1]),
    Bug.B02: (b02_epochs_of_a_slave_whose_master_is_elected_again, [1, 2], [1]),
    Bug.B03: (b03_epochs_of_a_master_after_an_empty_epoch, [2], [1]),
    Bug.B04: (b04_a_slave_that_was_cut_knows_the_epoch_at_its_end, True, False),
    Bug.B05: (b05_epochs_of_a_slave_that_lacked_three, [1, 2, 3], [2, 3]),
    Bug.B06: (b06_epochs_after_all_were_cut_and_a_restart, ([], []), ([], [1])),
    Bug.B07: (b07_records_after_a_truncation_and_a_crash, (2, 2), (2, 3)),
    Bug.B10: (b10_a_master_that_restarted_keeps_the_start_of_its_epoch, True, False),
    Bug.B11: (b11_records_of_a_slave_that_is_sent_to_a_replaced_master, 1, 0),
    Bug.B83: (b83_what_a_slave_reports_that_lost_its_last_epoch, "own end", "master's end"),
    Bug.B86: (b86_epochs_after_a_power_cut, [1, 2], []),
    Bug.FLUSH_BEFORE_EPOCH: (flush_before_epoch_leaves_nothing_to_lose, True, False),
    Bug.KEPT_LINK: (kept_link_of_a_slave_whose_master_was_replaced, True, False),
    Bug.KNOWN_FOLLOWS_BATCH: (known_follows_batch_of_a_master_elected_again, 3, 1),
    Bug.MASTER_ANSWERS: (master_answers_a_slave_that_is_asked, False, True),
    Bug.MIN_END: (min_end_what_a_longer_slave_keeps, 2, 3),
    Bug.OFFSET_CONTINUES: (offset_continues_a_batch_from_elsewhere, "closed", "3 bytes"),
    Bug.REPORT_OWN_END: (report_own_end_when_the_cache_reaches_beyond_the_log, [0], [100]),
    Bug.START_COMPARED: (start_compared_two_starts_of_one_epoch, 0, 40),
}


def test_every_switch_has_its_experiment() -> None:
    assert set(EXPERIMENTS) == EPOCH_BUGS


@pytest.mark.parametrize("bug", sorted(EPOCH_BUGS))
def test_a_switch_does_what_the_museum_says(bug: Bug) -> None:
    experiment, right, wrong = EXPERIMENTS[bug]

    assert experiment(NO_BUGS) == right
    assert experiment(frozenset({bug})) == wrong


@pytest.mark.parametrize("bug", sorted(STORAGE_BUGS))
def test_the_cores_do_not_read_the_switches_of_the_disk(bug: Bug) -> None:
    plain, switched = _in_sync(NO_BUGS), _in_sync(frozenset({bug}))
    for group in (plain, switched):
        group.elect(2, 2)
        group.pass_time()
    for broker_id in (1, 2):
        assert switched[broker_id].actions == plain[broker_id].actions
        assert switched[broker_id].bytes() == plain[broker_id].bytes()

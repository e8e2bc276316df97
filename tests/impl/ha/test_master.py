"""The master's end of a connection, event by event, with a slave that may say anything."""

from __future__ import annotations

import pytest

from rocketha.errors import PacketError
from rocketha.formats.ha_packets import (
    Ack,
    Expecting,
    Handshake,
    HandshakeReply,
    MasterPacket,
    SlavePacket,
    Transfer,
    pull_master_packet,
)
from rocketha.ha.effects import ActionName, Effect, Stepped
from rocketha.ha.events import MasterLearnt, PacketReceived
from rocketha.ha.state import MasterConnection, Phase, Role
from rocketha.runtime.effects import CloseConnection, SendPacket
from rocketha.runtime.events import (
    ConnectionLost,
    PacketRefused,
    PeerAccepted,
    TimerFired,
    TransferDue,
)
from rocketha.types import BrokerId, ConnectionId, Epoch, Offset
from tests.impl.ha.replicas import SEGMENT_SIZE, Group, Replica

CONN = ConnectionId(7)
HELLO = Handshake(broker_id=BrokerId(2))
RECORD = b"x" * 100


def ack(offset: int) -> Ack:
    return Ack(max_phy_offset=Offset(offset))


def become_master(replica: Replica, epoch: int, records: int) -> None:
    """Let a broker be master of an epoch and take messages; nobody follows."""
    learnt = MasterLearnt(epoch=Epoch(epoch), master=replica.state.broker_id)
    replica.take(learnt, now_ms=0)
    group = Group()
    group.replicas[0] = replica
    group.put(1, *[RECORD] * records)


def make_master(*, records: int = 2, batch: int = 32 * 1024) -> Replica:
    """Make a master of epoch 1 to which somebody has connected."""
    master = Group(batch=batch)[1]
    become_master(master, 1, records)
    master.take(PeerAccepted(conn=CONN), now_ms=0)
    return master


def hear(master: Replica, *packets: SlavePacket | MasterPacket, now_ms: int = 0) -> Stepped:
    """Let the master hear packets; return what it does after the last one."""
    for packet in packets[:-1]:
        master.take(PacketReceived(conn=CONN, packet=packet), now_ms)
    return master.take(PacketReceived(conn=CONN, packet=packets[-1]), now_ms)


def transfer(master: Replica, now_ms: int = 0) -> Transfer | None:
    """Let the master send a batch."""
    effects = master.take(TransferDue(conn=CONN), now_ms).effects
    if not effects:
        return None
    packet = sent(effects[0], Expecting.TRANSFER)
    assert isinstance(packet, Transfer)
    return packet


def sent(effect: Effect, expecting: Expecting) -> MasterPacket:
    assert isinstance(effect, SendPacket)
    pulled = pull_master_packet(effect.data, expecting)
    assert pulled is not None
    return pulled[0]


def connection(master: Replica) -> MasterConnection:
    return master.state.servers[CONN]


def test_a_master_answers_with_its_epochs_and_its_log_end() -> None:
    master = make_master()

    stepped = hear(master, HELLO)

    reply = sent(stepped.effects[0], Expecting.HANDSHAKE)
    assert reply == HandshakeReply(
        max_phy_offset=master.log.max_phy_offset, entries=master.state.cache.entries
    )
    assert stepped.action is not None
    assert stepped.action.name is ActionName.HANDSHAKE
    assert stepped.action.slave == 2
    assert connection(master).phase is Phase.TRANSFER


def test_a_handshake_that_is_repeated_is_answered_once() -> None:
    """RocketMQ's slave repeats it until the reply is there, and closes when it gets two."""
    master = make_master()
    hear(master, HELLO)

    repeated = [hear(master, HELLO, now_ms=at) for at in (5_000, 10_000)]

    assert [(each.effects, each.action) for each in repeated] == [((), None)] * 2
    assert connection(master).phase is Phase.TRANSFER
    assert master.take(TimerFired(), 29_999).effects == (), "it was not silent since 10,000"
    hear(master, ack(0), now_ms=29_999)
    assert transfer(master, now_ms=29_999) is not None


def test_flags_of_the_slave_are_noted() -> None:
    master = make_master()

    hear(master, Handshake(broker_id=BrokerId(3), sync_from_last_file=True, async_learner=True))

    assert connection(master).slave_id == 3
    assert connection(master).sync_from_last_file
    assert connection(master).async_learner


def test_nothing_is_sent_before_the_first_ack() -> None:
    master = make_master()
    assert transfer(master) is None
    hear(master, HELLO)
    assert transfer(master, now_ms=60_000) is None
    hear(master, ack(0))
    assert transfer(master) is not None


def test_the_transfer_starts_at_the_first_ack_and_goes_on_from_there() -> None:
    master = make_master(records=3)
    second, third = master.log.record_offsets()[1:]
    hear(master, HELLO, ack(second))

    first_batch = transfer(master)
    hear(master, ack(third))

    assert first_batch is not None
    assert first_batch.offset == second
    assert first_batch.body == master.bytes()[second:]
    assert connection(master).slave_ack == third
    assert connection(master).next_offset == master.log.max_phy_offset
    assert transfer(master) is None


def test_batches_have_a_limit_and_need_not_end_with_a_record() -> None:
    master = make_master(records=2, batch=150)
    hear(master, HELLO, ack(0))

    bodies = []
    while (batch := transfer(master)) is not None:
        bodies.append(batch.body)

    assert b"".join(bodies) == master.bytes()
    assert [len(body) for body in bodies[:-1]] == [150] * (len(bodies) - 1)


def test_a_batch_ends_with_its_epoch_and_the_next_one_begins_at_once() -> None:
    master = make_master(records=1)
    hear(master, HELLO, ack(0))
    become_master(master, 2, 1)
    become_master(master, 4, 2)

    batches = [transfer(master) for _ in range(4)]

    assert [b and (b.epoch, b.epoch_start_offset, b.offset) for b in batches] == [
        *[(epoch, start, start) for epoch, start in master.state.cache.starts()],
        None,
    ]
    assert b"".join(b.body for b in batches if b is not None) == master.bytes()


def test_an_idle_master_sends_a_heartbeat_with_its_present_epoch() -> None:
    master = make_master()
    hear(master, HELLO, ack(0))
    transfer(master, now_ms=100)

    early, due = transfer(master, now_ms=5_099), transfer(master, now_ms=5_100)

    assert early is None
    assert due is not None
    assert due.body == b""
    assert due.offset == master.log.max_phy_offset
    assert due.epoch == 1
    assert transfer(master, now_ms=5_100) is None


def test_a_slave_that_skips_the_past_gets_the_last_segment() -> None:
    master = make_master(records=20)
    assert master.log.max_phy_offset > 2 * SEGMENT_SIZE
    hear(master, Handshake(broker_id=BrokerId(2), sync_from_last_file=True), ack(0))
    batch = transfer(master)
    assert batch is not None
    assert batch.offset == master.log.last_segment > 0


def test_a_slave_that_skips_the_past_but_has_some_goes_on_there() -> None:
    master = make_master(records=20)
    second = master.log.record_offsets()[1]
    hear(master, Handshake(broker_id=BrokerId(2), sync_from_last_file=True), ack(second))
    batch = transfer(master)
    assert batch is not None
    assert batch.offset == second


REPLY = HandshakeReply(max_phy_offset=Offset(0))
BATCH = Transfer(
    offset=Offset(0), epoch=Epoch(1), epoch_start_offset=Offset(0), confirm_offset=Offset(0)
)


@pytest.mark.parametrize(
    "packets",
    [
        (ack(0),),
        (HELLO, Handshake(broker_id=BrokerId(3))),
        (HELLO, HELLO, Handshake(broker_id=BrokerId(2), sync_from_last_file=True)),
        (HELLO, Handshake(broker_id=BrokerId(2), async_learner=True)),
        (HELLO, ack(0), HELLO),
        (HELLO, ack(10_000)),
        (HELLO, ack(0), ack(10_000)),
        (HELLO, ack(0), ack(1)),
        (HELLO, ack(1), ack(0)),
        (Handshake(broker_id=BrokerId(1)),),
        (REPLY,),
        (HELLO, REPLY),
        (HELLO, ack(0), BATCH),
    ],
    ids=[
        "an ack before the handshake",
        "a handshake of another slave",
        "a handshake with another flag",
        "a handshake of a learner after one of none",
        "a handshake during the transfer",
        "a first ack beyond the log",
        "an ack beyond the log",
        "an ack of what was never sent",
        "an ack that goes back",
        "the broker itself",
        "a master",
        "a master after the handshake",
        "a batch",
    ],
)
def test_what_no_slave_says_closes_the_connection(
    packets: tuple[SlavePacket | MasterPacket, ...],
) -> None:
    """The ack beyond the log end is #3015: a message counted as replicated that nobody had."""
    master = make_master()

    stepped = hear(master, *packets)

    assert [type(effect) for effect in stepped.effects] == [CloseConnection]
    assert stepped.action is None
    assert master.state.servers == {}
    assert hear(master, HELLO).effects == ()


def test_bytes_that_are_no_packet_close_the_connection() -> None:
    master = make_master()
    error = PacketError("state", offset=0, reason="is 9")
    stepped = master.take(PacketRefused(conn=CONN, error=error), now_ms=0)
    assert stepped.effects == (CloseConnection(conn=CONN, reason=str(error)),)
    assert master.state.servers == {}


def test_a_slave_answers_no_handshake() -> None:
    slave = Group()[1]
    slave.take(PeerAccepted(conn=CONN), now_ms=0)
    assert slave.state.role is Role.SLAVE
    assert [type(effect) for effect in hear(slave, HELLO).effects] == [CloseConnection]


def test_a_silent_slave_is_dropped() -> None:
    master = make_master()
    hear(master, HELLO, ack(0), now_ms=1_000)
    assert master.take(TimerFired(), 20_999).effects == ()
    assert [type(e) for e in master.take(TimerFired(), 21_000).effects] == [CloseConnection]
    assert master.state.servers == {}


def test_events_of_a_connection_that_is_gone_change_nothing() -> None:
    master = make_master()
    master.take(ConnectionLost(conn=CONN), now_ms=0)
    before = master.state
    for event in (
        TransferDue(conn=CONN),
        ConnectionLost(conn=CONN),
        PacketReceived(conn=CONN, packet=HELLO),
        PacketRefused(conn=CONN, error=PacketError("state", offset=0, reason="is 9")),
    ):
        stepped = master.take(event, now_ms=0)
        assert (stepped.state, stepped.effects, stepped.action) == (before, (), None)

"""The slave's end of a connection, event by event, with a master that may say anything."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.errors import PacketError
from rocketha.formats.ha_packets import (
    INCARNATION_MAX,
    Ack,
    Handshake,
    HandshakeReply,
    MasterPacket,
    SlavePacket,
    Transfer,
    push_ack,
    push_handshake,
)
from rocketha.formats.message import BLANK_MIN, Message, push_blank, push_record
from rocketha.ha.broker import next_timer_ms
from rocketha.ha.effects import ActionName, Stepped
from rocketha.ha.events import MasterLearnt, MessagePut, PacketReceived, Restarted
from rocketha.ha.state import Phase, SlaveConnection
from rocketha.runtime.effects import (
    AppendLog,
    CloseConnection,
    Connect,
    FlushLog,
    SendPacket,
    StoreEpochs,
    TruncateLog,
)
from rocketha.runtime.events import ConnectionLost, PacketRefused, PeerConnected, TimerFired
from rocketha.types import (
    INT64_MAX,
    BrokerId,
    ConnectionId,
    Epoch,
    EpochEntry,
    HaAddress,
    Offset,
    SizeBytes,
    chain_epochs,
)
from tests.impl.ha.replicas import SEGMENT_SIZE, Group, Replica

CONN = ConnectionId(7)
MASTER = HaAddress("somebody")
LEARNT = MasterLearnt(epoch=Epoch(3), master=BrokerId(1), address=MASTER)
SIZE = len(push_record(Message(topic="t", body=b"x"), Offset(0)))
"""All records here have one size."""


def entries(*starts: tuple[int, int]) -> tuple[EpochEntry, ...]:
    return chain_epochs([(Epoch(epoch), Offset(start)) for epoch, start in starts])


def reply(*starts: tuple[int, int], end: int) -> HandshakeReply:
    return HandshakeReply(max_phy_offset=Offset(end), entries=entries(*starts))


def batch(offset: int, epoch: int, start: int, body: bytes = b"") -> Transfer:
    return Transfer(
        offset=Offset(offset),
        epoch=Epoch(epoch),
        epoch_start_offset=Offset(start),
        confirm_offset=Offset(0),
        body=body,
    )


def make_slave(
    *starts: tuple[int, int], records: int = 0, last_file: bool = False, learner: bool = False
) -> Replica:
    """Make a slave with these epochs and records, connected to the master of epoch 3."""
    slave = Group(last_file=last_file, learner=learner)[2]
    for _ in range(records):
        slave.log.append(Message(topic="t", body=b"x"))
    slave.take(Restarted(incarnation=1, entries=entries(*starts)), now_ms=0)
    slave.take(LEARNT, now_ms=0)
    slave.take(PeerConnected(conn=CONN, peer=MASTER), now_ms=0)
    slave.node.actions.clear()
    return slave


def client(slave: Replica) -> SlaveConnection:
    assert slave.state.client is not None
    return slave.state.client


def hear(slave: Replica, *packets: SlavePacket | MasterPacket, now_ms: int = 0) -> Stepped:
    """Let the slave hear packets; return what it does after the last one."""
    for packet in packets[:-1]:
        slave.take(PacketReceived(conn=CONN, packet=packet), now_ms)
    return slave.take(PacketReceived(conn=CONN, packet=packets[-1]), now_ms)


def says(offset: int) -> SendPacket:
    return SendPacket(conn=CONN, data=push_ack(Ack(max_phy_offset=Offset(offset))))


@pytest.mark.parametrize("last_file", [False, True])
@pytest.mark.parametrize("learner", [False, True])
def test_a_slave_introduces_itself_with_its_flags(last_file: bool, learner: bool) -> None:
    slave = Group(last_file=last_file, learner=learner)[2]
    slave.take(LEARNT, now_ms=0)

    asked = slave.take(TimerFired(), now_ms=0)
    stepped = slave.take(PeerConnected(conn=CONN, peer=MASTER), now_ms=1)

    assert asked.effects == (Connect(peer=MASTER),)
    hello = Handshake(broker_id=BrokerId(2), sync_from_last_file=last_file, async_learner=learner)
    assert stepped.effects == (SendPacket(conn=CONN, data=push_handshake(hello)),)
    assert stepped.action is None
    assert client(slave).phase is Phase.HANDSHAKE


@pytest.mark.parametrize(
    ("tells", "learner", "incarnation", "said"),
    [
        (False, False, 5, 0),
        (True, False, 5, 5),
        (True, True, 5, 0),
        (True, False, INCARNATION_MAX, INCARNATION_MAX),
        (True, False, INCARNATION_MAX + 1, 0),
    ],
)
def test_a_slave_tells_its_incarnation_if_it_is_told_to_and_there_is_room(
    tells: bool, learner: bool, incarnation: int, said: int
) -> None:
    slave = Group(learner=learner)[2]
    options = replace(slave.state.options, tells_incarnation=tells)
    slave.state = replace(slave.state, options=options, incarnation=incarnation)
    slave.take(LEARNT, now_ms=0)
    slave.take(TimerFired(), now_ms=0)
    stepped = slave.take(PeerConnected(conn=CONN, peer=MASTER), now_ms=1)
    hello = Handshake(broker_id=BrokerId(2), async_learner=learner, incarnation=said)
    assert stepped.effects == (SendPacket(conn=CONN, data=push_handshake(hello)),)


def test_a_slave_cuts_at_the_consistent_point_and_reports_its_end() -> None:
    slave = make_slave((1, 0), (2, 2 * SIZE), records=5)

    stepped = hear(slave, reply((1, 0), (3, 3 * SIZE), end=9 * SIZE))

    assert stepped.effects == (
        TruncateLog(offset=Offset(2 * SIZE)),
        FlushLog(),
        StoreEpochs(entries=entries((1, 0))),
        says(2 * SIZE),
    )
    assert stepped.action is not None
    assert stepped.action.name is ActionName.RECEIVE_HANDSHAKE
    assert stepped.action.offset == 2 * SIZE
    assert slave.state.received_epoch == 1
    assert slave.state.known_epoch == 3
    assert client(slave).phase is Phase.TRANSFER
    assert client(slave).reported == 2 * SIZE


def test_a_filler_without_a_record_is_no_part_of_an_epoch() -> None:
    """The new epoch begins before the filler; all that the slave has of it is the filler."""
    per_segment = (SEGMENT_SIZE - BLANK_MIN) // SIZE
    full = per_segment * SIZE
    slave = Group()[2]
    for _ in range(per_segment):
        slave.log.append(Message(topic="t", body=b"x"))
    slave.log.append_raw(Offset(full), push_blank(SizeBytes(SEGMENT_SIZE - full)))
    slave.take(Restarted(incarnation=1, entries=entries((1, 0), (3, full))), now_ms=0)
    slave.take(LEARNT, now_ms=0)
    slave.take(TimerFired(), now_ms=0)
    slave.take(PeerConnected(conn=CONN, peer=MASTER), now_ms=0)

    stepped = hear(slave, reply((1, 0), (3, full), end=2 * SEGMENT_SIZE))

    assert slave.starts() == [(1, 0)]
    assert says(full) in stepped.effects


def test_a_slave_that_agrees_only_reports() -> None:
    slave = make_slave((1, 0), (3, 2 * SIZE), records=5)
    assert hear(slave, reply((1, 0), (3, 2 * SIZE), end=9 * SIZE)).effects == (says(5 * SIZE),)


def test_a_slave_without_a_common_epoch_starts_over() -> None:
    slave = make_slave((1, 0), records=5)
    stepped = hear(slave, reply((3, 0), end=9 * SIZE))
    assert stepped.effects[0] == TruncateLog(offset=Offset(0))
    assert stepped.effects[-1] == says(0)
    assert slave.starts() == []


def test_records_without_epochs_are_cut() -> None:
    """RocketMQ keeps them unseen: its slave skips the truncation when it has no epochs."""
    slave = make_slave(records=2)
    hear(slave, reply((3, 0), end=9 * SIZE))
    assert slave.log.max_phy_offset == 0


def test_a_newer_master_epoch_is_remembered() -> None:
    slave = make_slave()
    hear(slave, reply((5, 0), end=0))
    assert slave.state.known_epoch == 5
    assert slave.take(LEARNT, now_ms=0).action is None


def test_a_batch_is_appended_behind_the_note_of_its_epoch() -> None:
    slave = make_slave((1, 0), records=2)
    hear(slave, reply((1, 0), (3, 2 * SIZE), end=9 * SIZE))

    first = hear(slave, batch(2 * SIZE, 3, 2 * SIZE, b"ab"))
    second = hear(slave, batch(2 * SIZE + 2, 3, 2 * SIZE, b"c"))

    assert first.effects == (
        StoreEpochs(entries=entries((1, 0), (3, 2 * SIZE))),
        AppendLog(offset=Offset(2 * SIZE), data=b"ab"),
        says(2 * SIZE + 2),
    )
    assert second.effects == (
        AppendLog(offset=Offset(2 * SIZE + 2), data=b"c"),
        says(2 * SIZE + 3),
    )


def test_a_heartbeat_carries_its_epoch_too() -> None:
    slave = make_slave((1, 0), records=2)
    hear(slave, reply((1, 0), (3, 2 * SIZE), end=2 * SIZE))
    stepped = hear(slave, batch(2 * SIZE, 3, 2 * SIZE))
    assert stepped.effects == (
        StoreEpochs(entries=entries((1, 0), (3, 2 * SIZE))),
        says(2 * SIZE),
    )


def test_a_heartbeat_of_a_master_on_an_empty_disk_is_for_the_end_of_an_empty_log() -> None:
    """RocketMQ 5.3.3: `nextTransferFromWhere` is -1 until there is a segment."""
    slave = make_slave()
    hear(slave, reply((3, 0), end=0))
    stepped = hear(slave, batch(-1, 3, 0))
    assert stepped.effects == (StoreEpochs(entries=entries((3, 0))), says(0))
    assert stepped.action is not None
    assert stepped.action.offset == 0


def test_who_may_follow_an_older_epoch_still_knows_the_newer_one() -> None:
    """A master of RocketMQ that is elected again without a message between keeps its epoch."""
    slave = make_slave((2, 0), records=2)
    rules = replace(slave.state.options.rules, may_follow=lambda *_: True)
    options = replace(slave.state.options, rules=rules)
    slave.state = replace(slave.state, known_epoch=Epoch(10), options=options)
    stepped = hear(slave, reply((2, 0), end=2 * SIZE), batch(2 * SIZE, 2, 0, b"ab"))
    assert AppendLog(offset=Offset(2 * SIZE), data=b"ab") in stepped.effects
    assert slave.state.known_epoch == 10


HELLO = reply((1, 0), (3, 2 * SIZE), end=9 * SIZE)


@pytest.mark.parametrize(
    "packets",
    [
        (batch(2 * SIZE, 3, 2 * SIZE),),
        (HELLO, HELLO),
        (HELLO, batch(2 * SIZE, 3, 2 * SIZE), HELLO),
        (reply((1, 0), (2, SIZE), end=9 * SIZE),),
        (reply(end=9 * SIZE),),
        (reply((1, 0), (3, 2 * SIZE), end=SIZE),),
        (reply((1, 0), (3, SIZE + 1), end=9 * SIZE),),
        (HELLO, batch(SIZE, 3, SIZE, b"x")),
        (HELLO, batch(3 * SIZE, 3, 2 * SIZE, b"x")),
        (HELLO, batch(-1, 3, 2 * SIZE)),
        (HELLO, batch(0, 3, 0, b"x")),
        (HELLO, batch(2 * SIZE, 0, 2 * SIZE, b"x")),
        (HELLO, batch(2 * SIZE, 3, 3 * SIZE, b"x")),
        (HELLO, batch(2 * SIZE, 3, -1, b"x")),
        (HELLO, batch(2 * SIZE, -1, 0, b"x")),
        (HELLO, batch(2 * SIZE, 3, 2 * SIZE), batch(2 * SIZE, 3 - 1, 2 * SIZE)),
        (Ack(max_phy_offset=Offset(0)),),
        (HELLO, Handshake(broker_id=BrokerId(2))),
    ],
    ids=[
        "a batch before the handshake",
        "a second handshake",
        "a handshake during the transfer",
        "an older master",
        "a broker without epochs",
        "a log that ends before its last epoch",
        "an epoch that begins inside a record",
        "a batch from before the log end",
        "a batch from behind the log end",
        "a batch from nowhere",
        "a batch from the beginning",
        "an older epoch",
        "an epoch that begins behind its batch",
        "an epoch without a start",
        "no epoch",
        "an epoch that goes back",
        "an ack",
        "a slave",
    ],
)
def test_what_no_master_says_closes_the_connection(
    packets: tuple[SlavePacket | MasterPacket, ...],
) -> None:
    slave = make_slave((1, 0), records=2)

    stepped = hear(slave, *packets)

    assert [type(effect) for effect in stepped.effects] == [CloseConnection]
    assert slave.actions[-1] == ActionName.DISCONNECT
    assert slave.state.client is None
    assert slave.log.max_phy_offset == 2 * SIZE
    assert hear(slave, HELLO).effects == ()


@pytest.mark.parametrize(
    "other", [batch(2 * SIZE, 4, SIZE), batch(2 * SIZE, 5, SIZE)], ids=["twice", "instead"]
)
def test_an_epoch_that_begins_among_older_records_closes_the_connection(other: Transfer) -> None:
    slave = make_slave((1, 0), records=2)
    hear(slave, reply((1, 0), (4, 2 * SIZE), end=9 * SIZE), batch(2 * SIZE, 4, 2 * SIZE))
    assert [type(effect) for effect in hear(slave, other).effects] == [CloseConnection]
    assert slave.starts() == [(1, 0), (4, 2 * SIZE)]


def test_bytes_that_are_no_packet_close_the_connection() -> None:
    slave = make_slave()
    error = PacketError("state", offset=0, reason="is 9")
    stepped = slave.take(PacketRefused(conn=CONN, error=error), now_ms=0)
    assert stepped.effects == (CloseConnection(conn=CONN, reason=str(error)),)
    assert slave.state.client is None


def test_a_slave_that_skips_the_past_begins_at_a_segment() -> None:
    slave = make_slave(last_file=True)
    hear(slave, reply((1, 0), (3, SIZE), end=9 * SEGMENT_SIZE))

    stepped = hear(slave, batch(4 * SEGMENT_SIZE, 3, SIZE, b"ab"))

    assert stepped.effects[1] == AppendLog(offset=Offset(4 * SEGMENT_SIZE), data=b"ab")
    assert slave.log.min_offset == 4 * SEGMENT_SIZE
    assert stepped.effects[2] == says(4 * SEGMENT_SIZE + 2)


@pytest.mark.parametrize(
    ("last_file", "records", "offset"),
    [
        (False, 0, SEGMENT_SIZE),
        (True, 0, SEGMENT_SIZE + 1),
        (True, 1, SEGMENT_SIZE),
        (True, 0, INT64_MAX - INT64_MAX % SEGMENT_SIZE),
    ],
    ids=["not asked for", "inside a segment", "not empty", "at the end of the world"],
)
def test_no_other_slave_leaves_a_hole(last_file: bool, records: int, offset: int) -> None:
    slave = make_slave((1, 0), records=records, last_file=last_file)
    hear(slave, reply((1, 0), (3, SIZE), end=INT64_MAX))
    stepped = hear(slave, batch(offset, 3, SIZE, bytes(SEGMENT_SIZE)))
    assert [type(effect) for effect in stepped.effects] == [CloseConnection]


def test_a_slave_without_the_beginning_starts_over_below_it() -> None:
    slave = make_slave(last_file=True)
    hear(slave, reply((3, 0), end=9 * SEGMENT_SIZE))
    record = push_record(Message(topic="t", body=b"x"), Offset(4 * SEGMENT_SIZE))
    hear(slave, batch(4 * SEGMENT_SIZE, 3, 0, record))
    slave.take(ConnectionLost(conn=CONN), now_ms=0)
    slave.take(PeerConnected(conn=CONN, peer=MASTER), now_ms=0)

    stepped = hear(slave, reply((3, 0), (4, SIZE), end=9 * SEGMENT_SIZE))

    assert stepped.effects[0] == TruncateLog(offset=Offset(0))
    assert stepped.effects[-1] == says(0)
    assert slave.log.max_phy_offset == 0


def test_an_idle_slave_reports_again() -> None:
    slave = make_slave((1, 0), records=2)
    assert slave.take(TimerFired(), now_ms=5_000).effects == ()
    hear(slave, HELLO, now_ms=5_000)

    assert next_timer_ms(slave.state) == 10_000
    assert slave.take(TimerFired(), now_ms=9_999).effects == ()
    stepped = slave.take(TimerFired(), now_ms=10_000)

    assert stepped.effects == (says(2 * SIZE),)
    assert stepped.action is None
    assert next_timer_ms(slave.state) == 15_000


@pytest.mark.parametrize("heard", [(), (HELLO,)], ids=["in the handshake", "in the transfer"])
def test_a_silent_master_is_left_and_asked_again_later(heard: tuple[MasterPacket, ...]) -> None:
    slave = make_slave((1, 0), records=2)
    for packet in heard:
        hear(slave, packet)

    closed = slave.take(TimerFired(), now_ms=20_000)

    assert [type(effect) for effect in closed.effects] == [CloseConnection]
    assert closed.action is not None
    assert closed.action.name is ActionName.DISCONNECT
    assert next_timer_ms(slave.state) == 25_000
    assert slave.take(TimerFired(), now_ms=24_999).effects == ()
    assert slave.take(TimerFired(), now_ms=25_000).effects == (Connect(peer=MASTER),)
    assert next_timer_ms(slave.state) == 30_000


def test_a_connection_that_nobody_waits_for_is_closed() -> None:
    slave = make_slave()
    other = ConnectionId(8)
    for peer in (MASTER, HaAddress("somebody else")):
        stepped = slave.take(PeerConnected(conn=other, peer=peer), now_ms=0)
        assert [type(effect) for effect in stepped.effects] == [CloseConnection]
        assert client(slave).id == CONN


def test_a_slave_takes_no_message() -> None:
    stepped = make_slave().take(MessagePut(message=Message(topic="t")), now_ms=0)
    assert (stepped.effects, stepped.action) == ((), None)

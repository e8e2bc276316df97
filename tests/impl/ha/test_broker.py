"""What a broker does when its role changes, when it restarts, and when time passes."""

from __future__ import annotations

import pytest

from rocketha.formats.ha_packets import Ack, Handshake
from rocketha.formats.message import Message
from rocketha.ha.broker import next_timer_ms
from rocketha.ha.effects import ActionName, SpecAction, Stepped
from rocketha.ha.events import (
    MasterAddressLearnt,
    MasterLearnt,
    MessagePut,
    PacketReceived,
    Restarted,
)
from rocketha.ha.state import Phase, Role
from rocketha.runtime.effects import AppendMessage, CloseConnection, Connect, FlushLog, StoreEpochs
from rocketha.runtime.events import PeerAccepted, PeerConnected, TimerFired
from rocketha.types import (
    BrokerId,
    ConnectionId,
    Epoch,
    EpochEntry,
    HaAddress,
    Offset,
    chain_epochs,
)
from tests.impl.ha.replicas import Group, Replica

CONN = ConnectionId(7)
OTHER = HaAddress("other")
FOUND = chain_epochs([(Epoch(1), Offset(0)), (Epoch(4), Offset(10))])


def learn(replica: Replica, epoch: int, master: int | None, now_ms: int = 0) -> Stepped:
    known = None if master is None else BrokerId(master)
    address = None if master == replica.state.broker_id else OTHER
    return replica.take(MasterLearnt(epoch=Epoch(epoch), master=known, address=address), now_ms)


def entry(epoch: int, start: int = 0) -> tuple[EpochEntry, ...]:
    return chain_epochs([(Epoch(epoch), Offset(start))])


def test_a_new_master_flushes_and_then_stores_its_epoch() -> None:
    broker = Group()[1]

    stepped = learn(broker, 1, 1)

    assert stepped.effects == (FlushLog(), StoreEpochs(entries=entry(1)))
    assert stepped.action == SpecAction(
        name=ActionName.BECOME_MASTER, epoch=Epoch(1), offset=Offset(0)
    )
    assert broker.state.role is Role.MASTER
    assert broker.state.known_epoch == 1


def test_a_new_slave_connects_to_its_master_at_the_next_timer() -> None:
    broker = Group()[1]

    stepped = learn(broker, 1, 2, now_ms=70)

    assert stepped.effects == ()
    assert stepped.action == SpecAction(name=ActionName.BECOME_SLAVE, epoch=Epoch(1))
    assert next_timer_ms(broker.state) == 70
    assert broker.take(TimerFired(), now_ms=70).effects == (Connect(peer=OTHER),)


@pytest.mark.parametrize("master", [1, 2, None])
@pytest.mark.parametrize("epoch", [0, 4, 5])
def test_an_epoch_that_is_not_newer_changes_no_role(epoch: int, master: int | None) -> None:
    """A broker that was notified of its own old epoch again would give it a second start (B10)."""
    broker = Group()[1]
    learn(broker, 5, 1)
    before = broker.state

    stepped = learn(broker, epoch, master)

    assert (stepped.state, stepped.effects, stepped.action) == (before, (), None)


def test_nobody_is_master_before_the_first_election() -> None:
    broker = Group()[1]
    assert learn(broker, 0, None).action is None


def test_a_slave_that_knows_the_epoch_learns_the_address() -> None:
    broker = Group()[1]
    broker.log.append_raw(Offset(0), b"x" * 20)
    broker.take(Restarted(incarnation=1, entries=FOUND), now_ms=0)

    stepped = learn(broker, 4, 2)

    assert stepped.action is None
    assert broker.take(TimerFired(), now_ms=0).effects[-1] == Connect(peer=OTHER)


def test_a_slave_asks_where_the_name_server_points() -> None:
    broker = Group()[1]
    learn(broker, 1, 2)
    elsewhere = HaAddress("elsewhere")
    broker.take(MasterAddressLearnt(address=elsewhere), now_ms=0)
    assert broker.take(TimerFired(), now_ms=0).effects == (Connect(peer=elsewhere),)


def test_a_role_change_closes_what_is_open() -> None:
    broker = Group()[1]
    learn(broker, 1, 2)
    broker.take(PeerConnected(conn=CONN, peer=OTHER), now_ms=0)
    broker.take(PeerAccepted(conn=ConnectionId(8)), now_ms=0)

    elected = learn(broker, 2, 1)
    broker.take(PeerAccepted(conn=ConnectionId(9)), now_ms=0)
    replaced = learn(broker, 3, 2)

    closed = [e.conn for e in elected.effects if isinstance(e, CloseConnection)]
    assert closed == [7, 8]
    assert elected.action == SpecAction(
        name=ActionName.BECOME_MASTER, epoch=Epoch(2), offset=Offset(0)
    )
    assert [e.conn for e in replaced.effects if isinstance(e, CloseConnection)] == [9]
    assert broker.state.client is None
    assert broker.state.servers == {}


def test_a_master_that_is_elected_again_keeps_its_slaves_and_refreshes_their_epoch() -> None:
    broker = Group()[1]
    learn(broker, 1, 1)
    broker.take(MessagePut(message=Message(topic="t")), now_ms=0)
    end = broker.log.max_phy_offset
    broker.take(PeerAccepted(conn=CONN), now_ms=0)
    hello = Handshake(broker_id=BrokerId(2))
    broker.take(PacketReceived(conn=CONN, packet=hello), now_ms=0)
    broker.take(PacketReceived(conn=CONN, packet=Ack(max_phy_offset=Offset(0))), now_ms=0)
    at_zero = broker.state.servers[CONN].cur

    learn(broker, 2, 1)

    assert at_zero == EpochEntry(Epoch(1), Offset(0))
    assert broker.state.servers[CONN].cur == EpochEntry(Epoch(1), Offset(0), end)


def test_a_master_takes_messages() -> None:
    broker = Group()[1]
    learn(broker, 1, 1)
    message = Message(topic="t", body=b"x")
    stepped = broker.take(MessagePut(message=message), now_ms=9)
    [append] = stepped.effects
    assert isinstance(append, AppendMessage)
    assert (append.message, append.store_timestamp_ms) == (message, 9)
    assert stepped.action == SpecAction(name=ActionName.PUT_MESSAGE)


@pytest.mark.parametrize(
    ("log_size", "kept", "known"),
    [(0, 1, 1), (9, 1, 1), (10, 2, 4), (11, 2, 4)],
    ids=["empty", "one byte missing", "the epoch has no bytes", "the epoch has bytes"],
)
def test_a_restart_cuts_the_epochs_to_the_log(log_size: int, kept: int, known: int) -> None:
    broker = Group()[1]
    broker.log.append_raw(Offset(0), b"x" * log_size)
    learn(broker, 9, 2)

    stepped = broker.take(Restarted(incarnation=3, entries=FOUND), now_ms=50)

    assert broker.state.role is Role.SLAVE
    assert broker.state.incarnation == 3
    assert broker.state.known_epoch == known
    assert broker.starts() == [(1, 0), (4, 10)][:kept]
    stored = [e for e in stepped.effects if isinstance(e, StoreEpochs)]
    assert bool(stored) is (kept < 2)
    assert stepped.action == SpecAction(name=ActionName.RESTART)
    assert next_timer_ms(broker.state) is None


def test_a_master_has_a_timer_for_each_slave() -> None:
    broker = Group()[1]
    learn(broker, 1, 1)
    assert next_timer_ms(broker.state) is None
    broker.take(PeerAccepted(conn=CONN), now_ms=100)
    broker.take(PeerAccepted(conn=ConnectionId(8)), now_ms=50)
    assert next_timer_ms(broker.state) == 20_050


def test_the_same_event_has_the_same_result() -> None:
    first, second = Group()[1], Group()[1]
    assert learn(first, 1, 1).effects == learn(second, 1, 1).effects
    assert first.state == second.state


def following(group: Group, *, at: int) -> Replica:
    """Let broker 2 connect to broker 1, of which it has heard that it is master since `at`."""
    group.elect(1, at, notified=(2,))
    group.pass_time()
    slave = group[2]
    assert slave.state.client is not None
    assert slave.state.client.phase is Phase.TRANSFER
    return slave


def test_a_slave_keeps_its_connection_to_a_master_that_was_elected_again() -> None:
    group = Group()
    group.elect(1, 1, notified=(1,))
    slave = following(group, at=1)
    connection, received = slave.state.client, slave.state.received_epoch

    group.elect(1, 2, notified=(2,))

    assert slave.node.actions[-1] == SpecAction(name=ActionName.LEARN_EPOCH, epoch=Epoch(2))
    assert (slave.state.client, slave.state.received_epoch) == (connection, received)
    assert (slave.state.role, slave.state.known_epoch) == (Role.SLAVE, 2)

    group.elect(1, 2, notified=(1,))
    group.put(1, b"of the second epoch")
    group.pass_time()

    assert slave.starts() == [(2, 0)]
    assert slave.actions.count("Handshake") + slave.actions.count("ReceiveHandshake") == 1


@pytest.mark.parametrize("hears", [True, False])
def test_a_slave_knows_its_master_once_it_has_heard_of_its_epoch(hears: bool) -> None:
    group = Group()
    for epoch in (1, 2):
        group.elect(1, epoch, notified=(1,))
    slave = following(group, at=1)
    assert slave.state.known_epoch == 2
    if hears:
        group.elect(1, 2, notified=(2,))

    group.elect(1, 3, notified=(2,))

    assert slave.actions[-1] == ("LearnEpoch" if hears else "BecomeSlave")
    assert (slave.state.client is not None) is hears


def test_a_slave_whose_connection_led_to_another_broker_drops_it() -> None:
    group = Group(3)
    group.elect(1, 2, notified=(1,))
    slave, wrong = group[2], group[1].address
    for epoch in (1, 3):
        learnt = MasterLearnt(epoch=Epoch(epoch), master=BrokerId(3), address=wrong)
        group.take(slave, learnt)
        group.pass_time(1)

    assert slave.actions.count("BecomeSlave") == 2
    assert "ReceiveHandshake" in slave.actions


def test_an_address_of_the_name_server_is_not_that_of_the_elected_master() -> None:
    group = Group()
    group.elect(1, 1, notified=(1,))
    slave = group[2]
    learn(slave, 1, 3)
    group.take(slave, MasterAddressLearnt(address=group[1].address))
    group.pass_time()
    assert slave.state.client is not None

    group.elect(1, 2, notified=(2,))

    assert slave.actions[-1] == "BecomeSlave"

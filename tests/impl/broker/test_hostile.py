"""No sequence of events makes the core raise, or serve what it must not."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from rocketha.broker.core import next_timer_ms
from rocketha.broker.events import (
    CommandReceived,
    ConfirmDue,
    ExpandDue,
    GroupEvent,
    PullRequested,
    PutRequested,
    StaleConnection,
)
from rocketha.broker.state import EMPTY_SET, PullId
from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_request_codec import push_role_changed
from rocketha.formats.controller_requests import RoleChanged
from rocketha.formats.controller_responses import (
    BrokerIdApplied,
    Elected,
    LiveMaster,
    NextBrokerId,
    Registered,
    ReplicaInfo,
    Reply,
    ReplyContent,
    SyncStateSetAltered,
    push_reply,
)
from rocketha.formats.ha_packets import Ack, Handshake
from rocketha.formats.message import Message
from rocketha.ha.events import MasterLearnt, MessagePut, PacketReceived, Restarted
from rocketha.known_bugs import BROKER_BUGS, NO_BUGS, Bugs
from rocketha.runtime.events import (
    ConnectionLost,
    LogFlushed,
    PeerAccepted,
    PeerConnected,
    TimerFired,
    TransferDue,
)
from rocketha.types import (
    BrokerId,
    ConnectionId,
    Epoch,
    HaAddress,
    Offset,
    PutId,
    SyncStateSetEpoch,
)
from tests.impl.broker.bench import NAME, options_of
from tests.impl.broker.lone import Lone

Move = Callable[[Lone], object]

BROKERS = st.integers(1, 3).map(BrokerId)
EPOCHS = st.integers(0, 5).map(Epoch)
CONNS = st.integers(1, 4).map(ConnectionId)
OFFSETS = st.sampled_from([0, 1, 100, 170, 340, 1024]).map(Offset)
SETS = st.builds(
    SyncStateSet,
    st.frozensets(BROKERS, max_size=3),
    st.integers(0, 6).map(SyncStateSetEpoch),
)
MASTERS = st.builds(
    LiveMaster,
    broker_id=BROKERS,
    address=st.sampled_from(["b1", "b2", ""]),
    epoch=EPOCHS,
    sync_state_set_epoch=st.integers(0, 6).map(SyncStateSetEpoch),
)
CONTENTS: st.SearchStrategy[ReplyContent] = st.one_of(
    st.builds(
        NextBrokerId,
        cluster_name=st.just("c"),
        broker_name=st.just(NAME),
        next_broker_id=BROKERS,
    ),
    st.just(BrokerIdApplied(cluster_name="c", broker_name=NAME)),
    st.builds(
        Registered,
        cluster_name=st.just("c"),
        broker_name=st.just(NAME),
        master=st.none() | MASTERS,
        master_epoch=EPOCHS,
        sync_state_set=SETS,
    ),
    st.builds(Elected, master=MASTERS, members=st.frozensets(BROKERS)),
    st.builds(
        ReplicaInfo,
        master_broker_id=st.none() | BROKERS,
        master_address=st.none() | st.just("b2"),
        master_epoch=EPOCHS,
        sync_state_set=SETS,
    ),
    st.builds(SyncStateSetAltered, sync_state_set=SETS),
)
REPLIES = st.builds(
    Reply,
    code=st.sampled_from([ResponseCode.SUCCESS] * 4 + list(ResponseCode)),
    content=st.none() | CONTENTS,
)
NOTICES = st.builds(
    RoleChanged,
    master_broker_id=BROKERS,
    master_address=st.sampled_from(["b1", "b2"]),
    master_epoch=EPOCHS,
    sync_state_set=SETS,
)
HELLOS = st.builds(
    Handshake, broker_id=BROKERS, incarnation=st.integers(0, 2), async_learner=st.booleans()
)
EVENTS: st.SearchStrategy[GroupEvent] = st.one_of(
    st.builds(PacketReceived, conn=CONNS, packet=HELLOS),
    st.builds(PacketReceived, conn=CONNS, packet=st.builds(Ack, max_phy_offset=OFFSETS)),
    st.builds(PeerAccepted, conn=CONNS),
    st.builds(PeerConnected, conn=CONNS, peer=st.just(HaAddress("b2"))),
    st.builds(ConnectionLost, conn=CONNS),
    st.builds(TransferDue, conn=CONNS),
    st.builds(StaleConnection, conn=CONNS),
    st.builds(ExpandDue, slave=BROKERS),
    st.builds(
        PutRequested,
        put=st.integers(1, 10**9).map(PutId),
        message=st.just(Message(topic="t", body=b"x" * 80)),
    ),
    st.builds(PullRequested, pull=st.just(PullId(1)), offset=OFFSETS),
    st.sampled_from([LogFlushed(), ConfirmDue(), TimerFired()]),
    st.sampled_from(
        [
            Restarted(incarnation=1, entries=()),
            MasterLearnt(epoch=Epoch(9), master=BrokerId(1)),
            MessagePut(message=Message(topic="t", body=b"x")),
        ]
    ),
)


def _answers(reply: Reply) -> Move:
    def move(lone: Lone) -> None:
        if lone.frames:
            lone.hear(push_reply(reply, lone.frames.pop()))

    return move


def _hears(notice: RoleChanged) -> Move:
    command = push_role_changed(notice, opaque=1)
    return lambda lone: lone.take(CommandReceived(command=command))


def _takes(event: GroupEvent) -> Move:
    def move(lone: Lone) -> None:
        state = lone.state.ha
        opened = {*state.servers, *([] if state.client is None else [state.client.id])}
        match event:  # numbers are never used twice
            case PeerAccepted(conn=conn) | PeerConnected(conn=conn) if conn in opened:
                return
            case PutRequested(put=put) if put in lone.replica.answers:
                return
            case _:
                lone.take(event)

    return move


def _waits(ms: int) -> Move:
    return lambda lone: lone.pass_time(ms)


def _register(lone: Lone) -> None:
    """Let the controller answer until the broker is registered."""
    for content in (
        NextBrokerId(cluster_name="c", broker_name=NAME, next_broker_id=BrokerId(1)),
        BrokerIdApplied(cluster_name="c", broker_name=NAME),
        Registered(
            cluster_name="c",
            broker_name=NAME,
            master=None,
            master_epoch=Epoch(0),
            sync_state_set=EMPTY_SET,
        ),
    ):
        lone.hear(push_reply(Reply(content=content), lone.frames.pop()))


def _restarts(lone: Lone) -> None:
    lone.replica.identity = lone.state.identity
    lone.again()


MOVES = st.one_of(
    REPLIES.map(_answers),
    NOTICES.map(_hears),
    EVENTS.map(_takes),
    st.sampled_from([1, 1_000, 5_000, 20_000]).map(_waits),
    st.just(_restarts),
)


@given(
    st.lists(MOVES, max_size=40),
    st.just(NO_BUGS) | st.frozensets(st.sampled_from(sorted(BROKER_BUGS)), max_size=3),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_nothing_that_is_heard_makes_the_core_raise(
    moves: list[Move], bugs: Bugs, all_ack: bool
) -> None:
    lone = Lone(options_of(bugs=bugs, all_ack=all_ack, copies=2, sync_flush=True))
    _register(lone)
    for move in moves:
        move(lone)

        state = lone.state
        assert next_timer_ms(state) is not None
        assert set(state.slave_incarnations) <= {
            connection.slave_id for connection in state.ha.servers.values()
        }
        if bugs:
            continue
        assert state.confirm <= lone.end
        if not state.is_master:
            assert (state.local, state.pending, state.waiting) == (EMPTY_SET, None, ())
        if state.pending is not None:
            assert state.pending.expected == state.local.epoch
            assert state.pending.master_epoch == state.ha.known_epoch

"""No sequence of events makes a core raise or break its epoch cache."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rocketha.formats.ha_packets import (
    Ack,
    Handshake,
    HandshakeReply,
    MasterPacket,
    SlavePacket,
    Transfer,
)
from rocketha.formats.message import Message
from rocketha.ha.events import Event, MasterLearnt, MessagePut, PacketReceived
from rocketha.ha.state import BrokerState
from rocketha.runtime.events import (
    ConnectionLost,
    PeerAccepted,
    PeerConnected,
    TimerFired,
    TransferDue,
)
from rocketha.types import (
    INT64_MAX,
    BrokerId,
    ConnectionId,
    Epoch,
    EpochEntry,
    HaAddress,
    Offset,
    chain_epochs,
)
from tests.impl.ha.replicas import SEGMENT_SIZE, Group

MASTER = HaAddress("master")
OFFSETS = [0, 1, 100, SEGMENT_SIZE, 2 * SEGMENT_SIZE, INT64_MAX - SEGMENT_SIZE + 1, INT64_MAX]


def _conns() -> st.SearchStrategy[ConnectionId]:
    return st.integers(1, 3).map(ConnectionId)


def _offsets(*more: int) -> st.SearchStrategy[Offset]:
    return st.sampled_from([*OFFSETS, *more]).map(Offset)


def _entries() -> st.SearchStrategy[tuple[EpochEntry, ...]]:
    starts = st.lists(_offsets(), max_size=3, unique=True).map(sorted)
    epochs = st.lists(st.integers(0, 8).map(Epoch), min_size=3, max_size=3, unique=True).map(sorted)
    return st.builds(lambda es, ss: chain_epochs(list(zip(es, ss, strict=False))), epochs, starts)


def _packets() -> st.SearchStrategy[MasterPacket | SlavePacket]:
    return st.one_of(
        st.builds(
            Handshake,
            broker_id=st.integers(1, 3).map(BrokerId),
            sync_from_last_file=st.booleans(),
            async_learner=st.booleans(),
        ),
        st.builds(Ack, max_phy_offset=_offsets()),
        st.builds(HandshakeReply, max_phy_offset=_offsets(), entries=_entries()),
        st.builds(
            Transfer,
            offset=_offsets(-1),
            epoch=st.integers(-1, 8).map(Epoch),
            epoch_start_offset=_offsets(-1),
            confirm_offset=st.just(Offset(0)),
            body=st.sampled_from([b"", b"x", bytes(SEGMENT_SIZE)]),
        ),
    )


def _events() -> st.SearchStrategy[Event]:
    return st.one_of(
        st.builds(PacketReceived, conn=_conns(), packet=_packets()),
        st.builds(
            MasterLearnt,
            epoch=st.integers(1, 8).map(Epoch),
            master=st.integers(1, 2).map(BrokerId),
            address=st.just(MASTER),
        ),
        st.builds(PeerConnected, conn=_conns(), peer=st.just(MASTER)),
        st.builds(PeerAccepted, conn=_conns()),
        st.just(MessagePut(message=Message(topic="t", body=b"x" * 300))),
        st.builds(TransferDue, conn=_conns()),
        st.builds(ConnectionLost, conn=_conns()),
        st.just(TimerFired()),
    )


def _open_connections(state: BrokerState) -> set[ConnectionId]:
    return set(state.servers) | ({state.client.id} if state.client is not None else set())


@given(st.lists(st.tuples(_events(), st.sampled_from([0, 5_000, 20_000])), max_size=30), st.data())
@settings(max_examples=60, deadline=None)
def test_nothing_that_is_heard_makes_a_core_raise(
    heard: list[tuple[Event, int]], data: st.DataObject
) -> None:
    replica = Group(1, last_file=data.draw(st.booleans()))[1]
    now_ms = 0
    for event, later_ms in heard:
        now_ms += later_ms
        if isinstance(event, PeerConnected | PeerAccepted) and event.conn in _open_connections(
            replica.state
        ):
            continue  # an identifier is never used twice

        replica.take(event, now_ms)

        epochs = [epoch for epoch, _ in replica.starts()]
        starts = [start for _, start in replica.starts()]
        assert epochs == sorted(set(epochs))
        assert starts == sorted(set(starts))
        assert not starts or starts[-1] <= max(replica.log.max_phy_offset, starts[0])
        assert replica.stored() == replica.starts()

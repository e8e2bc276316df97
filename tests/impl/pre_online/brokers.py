"""Brokers that tests step by hand, and what they are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from rocketha.formats.broker_requests import BrokerCode
from rocketha.formats.ha_packets import (
    Handshake,
    Transfer,
)
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.name_server_requests import DataVersion
from rocketha.formats.offset_tables import OffsetTable, TableKind, push_offsets
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.ha.events import PacketReceived
from rocketha.pre_online.core import PreOnlineCore, fresh
from rocketha.pre_online.due import (
    GoOn,
)
from rocketha.pre_online.events import (
    PreOnlineActionName,
    PreOnlineDone,
    PreOnlineEvent,
)
from rocketha.pre_online.state import PreOnlineOptions, PreOnlineState
from rocketha.runtime.effects import (
    Respond,
    SendPacket,
    SendRequest,
    Then,
)
from rocketha.runtime.events import (
    PeerAccepted,
    RequestArrived,
    ResponseArrived,
)
from rocketha.types import (
    MASTER,
    BrokerId,
    ConnectionId,
    Epoch,
    HaAddress,
    Offset,
    RequestId,
    TimestampMs,
)

CORE = PreOnlineCore()
NAME_SERVER = BrokerId(201)
QUEUE = ("orders@audit", 0)
CONN = ConnectionId(7)
NOW = TimestampMs(1_000)
BEAT = Transfer(
    offset=Offset(0), epoch=Epoch(0), epoch_start_offset=Offset(0), confirm_offset=Offset(0)
)


def options(broker: int) -> PreOnlineOptions:
    return PreOnlineOptions(
        cluster_name="cluster",
        broker_name="broker",
        address=f"b{broker}",
        broker_id=BrokerId(broker),
        ha_address=HaAddress(f"b{broker}:ha"),
        name_server=NAME_SERVER,
        topics=MappingProxyType({}),
        steps={TableKind.CONSUMER: 2, TableKind.DELAY: 0},
    )


def table(offset: int, counter: int = 0) -> OffsetTable:
    version = DataVersion(0, counter, TimestampMs(1))
    return OffsetTable(offsets={QUEUE: offset} if offset else {}, version=version)


def broker(number: int, offset: int = 0, counter: int = 0) -> PreOnlineState:
    files = {TableKind.CONSUMER: table(offset, counter), TableKind.DELAY: None}
    return fresh(options(number), files, now_ms=NOW)


def step(state: PreOnlineState, event: PreOnlineEvent) -> PreOnlineDone:
    return CORE.step(state, event, now_ms=NOW)


def run(state: PreOnlineState, *events: PreOnlineEvent) -> tuple[PreOnlineState, list[Any]]:
    """Take events and all that follows from each; return what was done."""
    done: list[Any] = []
    for event in events:
        due: list[Any] = [event]
        while due:
            stepped = step(state, due.pop(0))
            state = stepped.state
            due += [one.event for one in stepped.effects if isinstance(one, Then)]
            done += [one for one in stepped.effects if not isinstance(one, Then)]
            done += [] if stepped.action is None else [stepped.action.name]
    return state, done


def answer(
    state: PreOnlineState, body: bytes = b"", fields: dict[str, str] | None = None, code: int = 0
) -> ResponseArrived:
    """Answer what a broker has asked last."""
    assert state.waits is not None
    command = RemotingCommand(
        code=code, opaque=1, flag=FLAG_RESPONSE, ext_fields=fields or {}, body=body
    )
    return ResponseArrived(reference=(state.waits.what, state.waits.number), command=command)


def group(*brokers: int) -> bytes:
    addresses = ",".join(f'{one}:"b{one}"' for one in brokers)
    members = f'{{"brokerAddrs":{{{addresses}}},"brokerName":"broker","cluster":"cluster"}}'
    return f'{{"brokerMemberGroup":{members}}}'.encode()


def asks(effects: Sequence[Any]) -> list[tuple[int, int]]:
    return [(int(one.peer), one.code) for one in effects if isinstance(one, SendRequest)]


def request(code: int, fields: dict[str, str] | None = None) -> RequestArrived:
    command = RemotingCommand(code=code, opaque=1, ext_fields=fields or {})
    return RequestArrived(request=RequestId(1), command=command)


def commit(offset: int) -> RequestArrived:
    fields = {"consumerGroup": "audit", "topic": "orders", "queueId": "0"}
    return request(BrokerCode.UPDATE_CONSUMER_OFFSET, fields | {"commitOffset": str(offset)})


def codes(effects: Sequence[Any]) -> list[int]:
    return [one.code for one in effects if isinstance(one, Respond)]


def offset_of(state: PreOnlineState) -> int:
    return state.tables[TableKind.CONSUMER].present.offsets.get(QUEUE, 0)


def waiting(*members: int, offset: int = 3) -> PreOnlineState:
    """Return a master that has heard who is there, and has told the first of them."""
    state, done = run(broker(MASTER, offset), GoOn())
    assert asks(done) == [(NAME_SERVER, NameServerCode.GET_BROKER_MEMBER_GROUP)]
    state, done = run(state, answer(state, group(*members)))
    assert asks(done) == [(members[0], BrokerCode.EXCHANGE_BROKER_HA_INFO)]
    return run(state, answer(state))[0]


def connected(state: PreOnlineState, slave: int, conn: ConnectionId = CONN) -> PreOnlineState:
    state, done = run(
        state,
        PeerAccepted(conn=conn),
        PacketReceived(conn=conn, packet=Handshake(broker_id=BrokerId(slave))),
    )
    assert PreOnlineActionName.HANDSHAKE in done
    return state


def given(state: PreOnlineState, *members: int, theirs: OffsetTable) -> PreOnlineState:
    """Let the master ask again, and its slave give both tables."""
    state, _ = run(state, GoOn())
    state, done = run(state, answer(state, group(*members)))
    assert asks(done) == [(members[0], BrokerCode.GET_ALL_DELAY_OFFSET)]
    delays = push_offsets(TableKind.DELAY, OffsetTable(offsets={}, version=theirs.version))
    state, done = run(state, answer(state, delays))
    assert asks(done) == [(members[0], BrokerCode.GET_ALL_CONSUMER_OFFSET)]
    state, done = run(state, answer(state, push_offsets(TableKind.CONSUMER, theirs)))
    assert [one for one in done if isinstance(one, SendPacket)], "it wants a report"
    return state


def slave_with(offset: int, *, serves: bool = False, master: str | None = "b0") -> PreOnlineState:
    return replace(broker(1, offset), serves=serves, master_address=master)

"""A slave: it hears who is there, acts for a master that is gone, copies one that is there.

Source: `BrokerController` (`syncBrokerMemberGroup`, `updateMinBroker`, `onMasterOffline`),
broker/slave `SlaveSynchronize`, store/ha/autoswitch `AutoSwitchHAClient`
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.errors import PacketError, RequestError
from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.broker_requests import BrokerResponse
from rocketha.formats.ha_info import BrokerSyncInfo
from rocketha.formats.ha_packets import Ack, Handshake, push_ack, push_handshake
from rocketha.formats.name_server_codec import pull_name_server_reply
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.name_server_requests import RegisterBrokerResult
from rocketha.formats.offset_tables import OffsetTable, TableKind, pull_offsets
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.pre_online.asking import ask_broker, ask_name_server, group_question, later
from rocketha.pre_online.due import CopyDue, PollDue, ReconnectDue
from rocketha.pre_online.events import (
    ForgetMaster,
    PreOnlineAction,
    PreOnlineActionName,
    PreOnlineDoes,
    PreOnlineDone,
    PreOnlineHears,
)
from rocketha.pre_online.state import Asked, HaClient, PreOnlineState, Waits
from rocketha.pre_online.tables import keep
from rocketha.runtime.effects import After, CloseConnection, Connect, Respond, SendPacket, Then
from rocketha.runtime.events import PeerConnected, RequestArrived
from rocketha.types import MASTER, BrokerId, ConnectionId, HaAddress, Offset, TimestampMs

__all__ = [
    "acknowledge",
    "connected",
    "copy",
    "disconnected",
    "forget",
    "given",
    "heard_group",
    "heard_reply",
    "look_after_connection",
    "members",
    "poll",
    "registered",
    "synchronize",
    "told",
]

_Name = PreOnlineActionName


# ---- who is there ----


def poll(state: PreOnlineState) -> PreOnlineDone:
    """Ask who is in the group."""
    if state.waits is not None:
        return later(state, PollDue())
    state, ask = ask_name_server(state, Waits(what=Asked.POLLED, number=0), group_question(state))
    again: After[PreOnlineHears] = After(wait_ms=state.options.poll_ms, event=PollDue())
    return PreOnlineDone(state, (ask, again))


def heard_group(state: PreOnlineState, command: RemotingCommand) -> PreOnlineDone:
    """Act if no smaller brokerId is there, and do not copy a master who is not.

    Spec: PreOnline!Hear, PreOnline!IsSmallest
    """
    group = members(command)
    if not group:
        return PreOnlineDone(state)
    serves = min(group) == state.options.broker_id
    gone = state.master_address is not None and MASTER not in group
    address = None if gone else state.master_address
    state = replace(state, serves=serves, master_address=address)
    forgets: tuple[PreOnlineDoes, ...] = (Then(event=ForgetMaster()),) if gone else ()
    return PreOnlineDone(state, forgets, PreOnlineAction(_Name.HEAR))


def members(command: RemotingCommand) -> frozenset[BrokerId] | None:
    """Return whom a name server has named; None: it has not answered that."""
    try:
        reply = pull_name_server_reply(command, NameServerCode.GET_BROKER_MEMBER_GROUP)
    except (PacketError, RequestError):
        return None
    group = reply.answer
    return frozenset(group.addresses) if isinstance(group, BrokerMemberGroup) else None


def registered(state: PreOnlineState, answer: RegisterBrokerResult) -> PreOnlineDone:
    """Know whom to copy from; who knows no place to connect to connects to its.

    Spec: PreOnline!Register, PreOnline!LearnHaAddress
    Source: BrokerController.handleRegisterBrokerResult
    """
    state = replace(state, master_address=answer.master_address)
    address = answer.ha_server_address
    if address is None or state.ha.address is not None:
        return PreOnlineDone(state)
    state = replace(state, ha=HaClient(address=HaAddress(address)))
    connects = Connect(peer=HaAddress(address))
    return PreOnlineDone(state, (connects,), PreOnlineAction(_Name.LEARN_HA_ADDRESS))


def forget(state: PreOnlineState) -> PreOnlineDone:
    """Connect to nobody any more.

    Spec: PreOnline!Forget
    Source: BrokerController.onMasterOffline
    """
    closes: tuple[PreOnlineDoes, ...] = ()
    if state.ha.conn is not None:
        closes = (CloseConnection(conn=state.ha.conn, reason="its master is gone"),)
    return PreOnlineDone(replace(state, ha=HaClient()), closes, PreOnlineAction(_Name.FORGET))


# ---- the master's tables ----


def copy(state: PreOnlineState) -> PreOnlineDone:
    """Ask the master for a table, the one and then the other.

    Source: SlaveSynchronize (syncConsumerOffset, syncDelayOffset)
    """
    if state.waits is not None:
        return later(state, CopyDue())
    again: After[PreOnlineHears] = After(wait_ms=state.options.copy_ms, event=CopyDue())
    if state.master_address is None or not state.options.rules.may_copy(state.serves):
        return PreOnlineDone(state, (again,))
    kinds = tuple(TableKind)
    kind = kinds[state.turn % len(kinds)]
    state = replace(state, turn=state.turn + 1)
    state, ask = ask_broker(state, Waits(what=Asked.COPY, number=0, slave=MASTER, kind=kind))
    return PreOnlineDone(state, (ask, again))


def synchronize(state: PreOnlineState, waits: Waits, command: RemotingCommand) -> PreOnlineDone:
    """Have what the master has, in memory and on the disk.

    Spec: PreOnline!Synchronize
    """
    theirs = given(waits, command)
    if theirs is None:
        return PreOnlineDone(state)
    rules, mine = state.options.rules, state.tables[waits.kind].present
    version = rules.copied_version(mine.version, theirs.version)
    stores: list[PreOnlineDoes] = []
    for offsets in rules.copied(mine.offsets, theirs.offsets):
        table = OffsetTable(offsets=offsets, version=version)
        state, store = keep(state, waits.kind, table)
        stores.append(store)
    return PreOnlineDone(state, tuple(stores), PreOnlineAction(_Name.SYNCHRONIZE))


def given(waits: Waits, command: RemotingCommand) -> OffsetTable | None:
    """Read the table that was asked for; None: it was refused, or is none."""
    if command.code != BrokerResponse.SUCCESS:
        return None
    try:
        return pull_offsets(waits.kind, command.body)
    except PacketError:
        return None


# ---- its connection ----


def told(state: PreOnlineState, event: RequestArrived, info: BrokerSyncInfo) -> PreOnlineDone:
    """Connect to a master that says where it is; it does not say so if it has a connection.

    Spec: PreOnline!SendHaInfo
    """
    says = Respond(request=event.request, code=BrokerResponse.SUCCESS, body=b"")
    ha = state.ha
    does: list[PreOnlineDoes] = [says, Connect(peer=info.master_ha_address)]
    if ha.conn is not None and ha.has_reply:
        does.insert(1, CloseConnection(conn=ha.conn, reason="its master has another one, or none"))
    elif ha.conn is not None and ha.address == info.master_ha_address:
        return PreOnlineDone(state, (says,))
    state = replace(state, ha=HaClient(address=info.master_ha_address))
    return PreOnlineDone(state, tuple(does), PreOnlineAction(_Name.SEND_HA_INFO))


def connected(state: PreOnlineState, event: PeerConnected, *, now_ms: TimestampMs) -> PreOnlineDone:
    """Say who it is. Source: AutoSwitchHAClient.handshakeWithMaster"""
    if state.ha.address != event.peer or state.ha.conn is not None:
        closes = CloseConnection(conn=event.conn, reason="nobody wants it any more")
        return PreOnlineDone(state, (closes,))
    ha = replace(state.ha, conn=event.conn, heard_ms=now_ms, has_reply=False)
    says = push_handshake(Handshake(broker_id=state.options.broker_id))
    return PreOnlineDone(replace(state, ha=ha), (SendPacket(conn=event.conn, data=says),))


def heard_reply(state: PreOnlineState, conn: ConnectionId, *, now_ms: TimestampMs) -> PreOnlineDone:
    """Know that the connection is in TRANSFER."""
    if conn != state.ha.conn:
        return PreOnlineDone(state)
    return PreOnlineDone(replace(state, ha=replace(state.ha, has_reply=True, heard_ms=now_ms)))


def acknowledge(state: PreOnlineState, conn: ConnectionId, *, now_ms: TimestampMs) -> PreOnlineDone:
    """Report to the master. Source: AutoSwitchHAClient.reportSlaveOffset"""
    if conn == state.ha.conn:
        state = replace(state, ha=replace(state.ha, heard_ms=now_ms))
    return PreOnlineDone(
        state, (SendPacket(conn=conn, data=push_ack(Ack(max_phy_offset=Offset(0)))),)
    )


def disconnected(state: PreOnlineState, conn: ConnectionId) -> PreOnlineDone:
    """Have no connection any more, and know where to connect to.

    Spec: PreOnline!Disconnect
    """
    if conn != state.ha.conn:
        return PreOnlineDone(state)
    ha = HaClient(address=state.ha.address)
    return PreOnlineDone(replace(state, ha=ha), (), PreOnlineAction(_Name.DISCONNECT))


def look_after_connection(state: PreOnlineState, *, now_ms: TimestampMs) -> PreOnlineDone:
    """Connect again, also where the master was not heard for too long.

    The master may have started again, and the connection be gone at its end only.

    Source: DefaultHAClient.run, AutoSwitchHAClient.run (`haHousekeepingInterval`)
    """
    wait_ms, ha = state.options.reconnect_ms, state.ha
    again: After[PreOnlineHears] = After(wait_ms=wait_ms, event=ReconnectDue())
    if ha.address is None:
        return PreOnlineDone(state, (again,))
    if ha.conn is None:
        return PreOnlineDone(state, (Connect(peer=ha.address), again))
    limit_ms = state.options.silent_ms if ha.has_reply else wait_ms
    if now_ms - ha.heard_ms < limit_ms:
        return PreOnlineDone(state, (again,))
    closes = CloseConnection(conn=ha.conn, reason=f"its master is silent for {limit_ms} ms")
    state = replace(state, ha=HaClient(address=ha.address))
    action = PreOnlineAction(_Name.DISCONNECT)
    return PreOnlineDone(state, (closes, Connect(peer=ha.address), again), action)

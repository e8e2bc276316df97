"""A master in isolation: it asks who is there, tells each, takes its tables, and goes online.

A connection that its own end holds may be gone at the slave's, which may even have started again.
So a master that has got a slave's tables asks it, over the connection, to report: what is reported
was said after the tables were given, so the connection was there when they were.

Source: `BrokerPreOnlineService`, `HAConnectionStateNotificationService`, store/ha/autoswitch
`AutoSwitchHAConnection`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from rocketha.formats.broker_requests import BrokerResponse
from rocketha.formats.ha_packets import (
    HandshakeReply,
    Transfer,
    push_handshake_reply,
    push_transfer,
)
from rocketha.formats.offset_tables import OffsetTable, TableKind
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.pre_online.asking import (
    ask_broker,
    ask_name_server,
    group_question,
    later,
    tell_broker,
)
from rocketha.pre_online.due import GoOn, RegisterNow, ReportOver, TransferDue
from rocketha.pre_online.events import (
    Decide,
    PreOnlineAction,
    PreOnlineActionName,
    PreOnlineDoes,
    PreOnlineDone,
    PreOnlineHears,
)
from rocketha.pre_online.slave import given, members
from rocketha.pre_online.state import Asked, PreOnlineState, Waits
from rocketha.pre_online.tables import keep
from rocketha.runtime.effects import After, CloseConnection, SendPacket, Then
from rocketha.types import BrokerId, ConnectionId, Epoch, Offset

__all__ = [
    "decide",
    "go_on",
    "handshake",
    "heard_members",
    "heard_of",
    "link_lost",
    "report_over",
    "reported",
    "table_given",
    "transfer",
]

_Name = PreOnlineActionName
_KINDS: Final = (TableKind.DELAY, TableKind.CONSUMER)
"""In which order tables are asked for. Source: BrokerPreOnlineService.syncMetadataReverse"""


def go_on(state: PreOnlineState) -> PreOnlineDone:
    """Ask who is there, as long as it waits."""
    if not state.isolated:
        return PreOnlineDone(state)
    if state.waits is not None:
        return later(state, GoOn())
    if _is_complete(state):
        return go_online(state)
    state, ask = ask_name_server(state, Waits(what=Asked.GROUP, number=0), group_question(state))
    return PreOnlineDone(state, (ask,))


def heard_members(state: PreOnlineState, command: RemotingCommand) -> PreOnlineDone:
    """Know who is in the group.

    Spec: PreOnline!AskGroup
    Source: BrokerPreOnlineService.prepareForBrokerOnline
    """
    group = members(command)
    if group is None:
        return PreOnlineDone(state, (_again(state),))
    waits_for = state.options.rules.members_of(group)
    state = replace(state, members=waits_for, asked=True)
    decides: Then[PreOnlineHears] = Then(event=Decide())
    return PreOnlineDone(state, (decides,), PreOnlineAction(_Name.ASK_GROUP))


def decide(state: PreOnlineState) -> PreOnlineDone:
    """Go online, or do what comes next for the next of those that are wanted."""
    if not state.isolated or state.waits is not None:
        return PreOnlineDone(state)
    if _is_complete(state):
        return go_online(state)
    wanted = sorted(state.wanted)
    if not wanted:
        return PreOnlineDone(state, (_again(state),))
    slave = wanted[state.turn % len(wanted)]
    state = replace(state, turn=state.turn + 1)
    if not state.options.rules.is_connected(state.links, state.told, slave):
        state, tells = tell_broker(state, Waits(what=Asked.TOLD, number=0, slave=slave))
        return PreOnlineDone(state, (tells,))
    waits = Waits(
        what=Asked.TABLE, number=0, slave=slave, kind=_KINDS[0], conn=state.links.get(slave)
    )
    state, asks = ask_broker(state, waits)
    return PreOnlineDone(state, (asks,))


def _is_complete(state: PreOnlineState) -> bool:
    return state.options.rules.is_complete(state.asked, state.members, state.done)


def heard_of(state: PreOnlineState, waits: Waits, command: RemotingCommand) -> PreOnlineDone:
    """Know that a slave knows where to connect to."""
    if command.code == BrokerResponse.SUCCESS:
        state = replace(state, told=state.told | {waits.slave})
    return PreOnlineDone(state, (_again(state),))


def _again(state: PreOnlineState) -> After[PreOnlineHears]:
    return After(wait_ms=state.options.pre_online_ms, event=GoOn())


# ---- tables ----


def table_given(state: PreOnlineState, waits: Waits, command: RemotingCommand) -> PreOnlineDone:
    """Have a table, and ask for the next one, or whether the connection is still there."""
    table = given(waits, command)
    if table is None:
        return PreOnlineDone(state, (_again(state),))
    has = MappingProxyType({**waits.given, waits.kind: table})
    left = [kind for kind in _KINDS if kind not in has]
    if left:
        state, asks = ask_broker(state, replace(waits, kind=left[0], given=has))
        return PreOnlineDone(state, (asks,))
    conn = waits.conn
    if conn is None:
        return take_table(state, waits.slave, has)
    number = state.asks + 1
    waits = replace(waits, what=Asked.REPORT, number=number, given=has)
    over: After[PreOnlineHears] = After(wait_ms=state.options.report_ms, event=ReportOver(number))
    state, says = _sent(replace(state, asks=number, waits=waits), conn)
    return PreOnlineDone(state, (says, over))


def reported(state: PreOnlineState, conn: ConnectionId) -> PreOnlineDone:
    """Take the tables of a slave whose connection was there when it gave them.

    It reports of each packet, in order: of what was sent last, when nothing is left.
    """
    if not state.unreported.get(conn):
        return PreOnlineDone(state)
    waits, left = state.waits, state.unreported[conn] - 1
    state = replace(state, unreported=MappingProxyType({**state.unreported, conn: left}))
    if left or waits is None or waits.what is not Asked.REPORT or waits.conn != conn:
        return PreOnlineDone(state)
    return take_table(replace(state, waits=None), waits.slave, waits.given)


def take_table(
    state: PreOnlineState, slave: BrokerId, tables: Mapping[TableKind, OffsetTable]
) -> PreOnlineDone:
    """Have of each queue the larger offset, in memory and on the disk.

    Spec: PreOnline!TakeTable
    Source: BrokerPreOnlineService.syncMetadataReverse
    """
    rules = state.options.rules
    stores: list[PreOnlineDoes] = []
    for kind, theirs in tables.items():
        mine = state.tables[kind].present
        version = max(mine.version, theirs.version)
        table = OffsetTable(offsets=rules.merged(mine, theirs), version=version)
        state, store = keep(state, kind, table)
        stores.append(store)
    state = replace(state, done=state.done | {slave}, asked=not rules.asks_again())
    goes_on: Then[PreOnlineHears] = Then(event=GoOn())
    return PreOnlineDone(state, (*stores, goes_on), PreOnlineAction(_Name.TAKE_TABLE))


def go_online(state: PreOnlineState) -> PreOnlineDone:
    """Serve, and say so to the name server.

    Spec: PreOnline!GoOnline
    Source: BrokerController.startService
    """
    state = replace(
        state, isolated=False, serves=True, members=frozenset(), asked=False, done=frozenset()
    )
    registers: Then[PreOnlineHears] = Then(event=RegisterNow())
    return PreOnlineDone(state, (registers,), PreOnlineAction(_Name.GO_ONLINE))


# ---- connections ----


def handshake(state: PreOnlineState, conn: ConnectionId, slave: BrokerId) -> PreOnlineDone:
    """Answer a slave; its connection is in TRANSFER, and another one of it is none any more.

    Spec: PreOnline!Handshake
    Source: AutoSwitchHAConnection.buildHandshakeBuffer
    """
    old = state.links.get(slave)
    effects: list[PreOnlineDoes] = []
    if old is not None and old != conn:
        closes = CloseConnection(conn=old, reason="its slave has another one")
        effects += [closes, *_abandoned(state, old)]
        state = _without(state, old)
    links = MappingProxyType({**state.links, slave: conn})
    reply = push_handshake_reply(HandshakeReply(max_phy_offset=Offset(0)))
    effects.append(SendPacket(conn=conn, data=reply))
    state = replace(state, links=links)
    return PreOnlineDone(state, tuple(effects), PreOnlineAction(_Name.HANDSHAKE))


def link_lost(state: PreOnlineState, conn: ConnectionId) -> PreOnlineDone:
    """Have a connection no more, nor what its slave has given meanwhile.

    Spec: PreOnline!Disconnect
    """
    if conn not in state.links.values():
        return PreOnlineDone(state)
    action = PreOnlineAction(_Name.DISCONNECT)
    return PreOnlineDone(_without(state, conn), tuple(_abandoned(state, conn)), action)


def transfer(state: PreOnlineState) -> PreOnlineDone:
    """Send something over each connection, so that slaves know that it is there.

    Source: AutoSwitchHAConnection.transferToSlave (`haSendHeartbeatInterval`)
    """
    does: list[PreOnlineDoes] = []
    for conn in state.links.values():
        state, says = _sent(state, conn)
        does.append(says)
    again: After[PreOnlineHears] = After(wait_ms=state.options.transfer_ms, event=TransferDue())
    return PreOnlineDone(state, (*does, again))


def _sent(state: PreOnlineState, conn: ConnectionId) -> tuple[PreOnlineState, SendPacket]:
    """Send a packet that the slave is to report."""
    says = Transfer(
        offset=Offset(0), epoch=Epoch(0), epoch_start_offset=Offset(0), confirm_offset=Offset(0)
    )
    unreported = {**state.unreported, conn: state.unreported.get(conn, 0) + 1}
    state = replace(state, unreported=MappingProxyType(unreported))
    return state, SendPacket(conn=conn, data=push_transfer(says))


def report_over(state: PreOnlineState, event: ReportOver) -> PreOnlineDone:
    """Close a connection over which nobody reports."""
    waits = state.waits
    if waits is None or waits.number != event.number or waits.conn is None:
        return PreOnlineDone(state)
    done = link_lost(state, waits.conn)
    closes = CloseConnection(conn=waits.conn, reason="its slave does not report")
    return replace(done, effects=(closes, *done.effects))


def _without(state: PreOnlineState, conn: ConnectionId) -> PreOnlineState:
    links = {slave: one for slave, one in state.links.items() if one != conn}
    waits = state.waits
    if waits is not None and waits.conn == conn:
        waits = None
    unreported = {one: count for one, count in state.unreported.items() if one != conn}
    return replace(
        state, links=MappingProxyType(links), waits=waits, unreported=MappingProxyType(unreported)
    )


def _abandoned(state: PreOnlineState, conn: ConnectionId) -> list[PreOnlineDoes]:
    """Go on where the master has waited for who had this connection."""
    waits = state.waits
    return [_again(state)] if waits is not None and waits.conn == conn else []

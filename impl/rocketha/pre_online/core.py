"""A broker that may have been gone, as its host sees it.

The master is isolated when it starts (`rocketha.pre_online.master`), and a slave acts while it is
gone (`rocketha.pre_online.slave`). A broker asks one thing after the other, and clients may change
its tables meanwhile.

Pure: the host hands in what was heard and what the clock shows.

Source: `BrokerController`, broker/out `BrokerOuterAPI`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, assert_never, get_args

from rocketha.errors import PacketError, RequestError
from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.formats.ha_info import BrokerSyncInfo, pull_ha_info, push_ha_info
from rocketha.formats.ha_packets import (
    Ack,
    Handshake,
    HandshakeReply,
    MasterPacket,
    SlavePacket,
    Transfer,
)
from rocketha.formats.name_server_codec import pull_name_server_reply
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.name_server_requests import DataVersion, RegisterBrokerResult
from rocketha.formats.offset_tables import OffsetTable, TableKind
from rocketha.formats.remoting_command import NO_FIELDS, RemotingCommand
from rocketha.ha.connections import packet_inbox
from rocketha.ha.events import PacketReceived
from rocketha.pre_online import master, slave
from rocketha.pre_online.asking import ask_name_server, goes_on, heartbeat, later, registration
from rocketha.pre_online.due import (
    CopyDue,
    GoOn,
    HeartbeatDue,
    PersistDue,
    PollDue,
    ReconnectDue,
    RegisterDue,
    RegisterNow,
    ReportOver,
    TransferDue,
)
from rocketha.pre_online.events import (
    Decide,
    ForgetMaster,
    MessageDue,
    NameServerLost,
    PreOnlineAction,
    PreOnlineActionName,
    PreOnlineDoes,
    PreOnlineDone,
    PreOnlineEvent,
    PreOnlineHears,
)
from rocketha.pre_online.state import Asked, PreOnlineOptions, PreOnlineState, Waits, loaded
from rocketha.pre_online.tables import client_asked, deliver, give_table, persist
from rocketha.runtime.core import Core, Inbox
from rocketha.runtime.effects import After, CloseConnection, Respond
from rocketha.runtime.events import (
    ConnectionLost,
    PacketRefused,
    PeerAccepted,
    PeerConnected,
    RequestArrived,
    ResponseArrived,
)
from rocketha.types import ConnectionId, Offset, TimestampMs

__all__ = ["PreOnlineCore", "fresh", "heard_registration", "started"]

_TABLE_CODES: Final = {int(kind.code): kind for kind in TableKind}
_CLIENT_CODES: Final = (BrokerCode.QUERY_CONSUMER_OFFSET, BrokerCode.UPDATE_CONSUMER_OFFSET)


def fresh(
    options: PreOnlineOptions,
    files: Mapping[TableKind, OffsetTable | None],
    *,
    now_ms: TimestampMs,
) -> PreOnlineState:
    """Return what a broker knows that has just started, by its files: the master is isolated.

    Spec: PreOnline!Start
    """
    return PreOnlineState(
        options=options,
        tables=loaded(files, now_ms=now_ms),
        version=DataVersion(0, 0, now_ms),
        isolated=options.is_master,
    )


def started(options: PreOnlineOptions) -> Iterable[After[PreOnlineHears]]:
    """Return what a broker that has started waits for."""
    yield After(wait_ms=1, event=RegisterDue())
    yield After(wait_ms=options.heartbeat_ms, event=HeartbeatDue())
    yield After(wait_ms=options.persist_ms, event=PersistDue())
    if options.is_master:
        yield After(wait_ms=1, event=GoOn())
        yield After(wait_ms=options.transfer_ms, event=TransferDue())
    else:
        yield After(wait_ms=options.poll_ms, event=PollDue())
        yield After(wait_ms=options.copy_ms, event=CopyDue())
        yield After(wait_ms=options.reconnect_ms, event=ReconnectDue())


class PreOnlineCore(Core[PreOnlineState, PreOnlineEvent, PreOnlineAction, object]):
    """The core of a broker, as far as its tables of offsets matter."""

    effects = get_args(PreOnlineDoes)

    def step(
        self,
        state: PreOnlineState,
        event: PreOnlineEvent,
        *,
        now_ms: TimestampMs,
        log: object = None,
    ) -> PreOnlineDone:
        """Take one event."""
        del log
        return goes_on(_step(state, event, now_ms=now_ms))

    def inbox(self, conn: ConnectionId, *, accepted: bool) -> Inbox[PreOnlineEvent]:
        """Begin to hear the peer of a connection, which this node accepted or asked for."""
        return packet_inbox(conn, accepted=accepted)


def _step(state: PreOnlineState, event: PreOnlineEvent, *, now_ms: TimestampMs) -> PreOnlineDone:
    match event:
        case RequestArrived():
            return _asked(state, event, now_ms=now_ms)
        case ResponseArrived(reference=reference, command=command):
            return _answered(state, reference[1], command)
        case MessageDue():
            return deliver(state, event, now_ms=now_ms)
        case PersistDue():
            return later(state, event) if state.waits is not None else persist(state)
        case RegisterDue() | RegisterNow():
            return register(state, event)
        case HeartbeatDue():
            return _heartbeat(state)
        case NameServerLost():
            version = state.version
            counts_on = replace(version, counter=version.counter + 1)
            return PreOnlineDone(replace(state, version=counts_on))
        case PollDue() | CopyDue() | ForgetMaster() | ReconnectDue():
            return _slave(state, event, now_ms=now_ms)
        case GoOn():
            return master.go_on(state)
        case Decide():
            return master.decide(state)
        case ReportOver():
            return master.report_over(state, event)
        case TransferDue():
            return master.transfer(state)
        case _:
            return _connection(state, event, now_ms=now_ms)


def _slave(
    state: PreOnlineState,
    event: PollDue | CopyDue | ForgetMaster | ReconnectDue,
    *,
    now_ms: TimestampMs,
) -> PreOnlineDone:
    match event:
        case PollDue():
            return slave.poll(state)
        case CopyDue():
            return slave.copy(state)
        case ForgetMaster():
            return slave.forget(state)
        case ReconnectDue():
            return slave.look_after_connection(state, now_ms=now_ms)
        case _ as unreachable:
            assert_never(unreachable)


def _connection(
    state: PreOnlineState,
    event: PeerAccepted | PeerConnected | PacketReceived | PacketRefused | ConnectionLost,
    *,
    now_ms: TimestampMs,
) -> PreOnlineDone:
    match event:
        case PeerAccepted(conn=conn):
            if state.options.is_master:
                return PreOnlineDone(state)
            closes = CloseConnection(conn=conn, reason="this broker is no master")
            return PreOnlineDone(state, (closes,))
        case PeerConnected():
            return slave.connected(state, event, now_ms=now_ms)
        case PacketReceived(conn=conn, packet=packet):
            return _packet(state, conn, packet, now_ms=now_ms)
        case ConnectionLost(conn=conn):
            return _lost(state, conn)
        case PacketRefused(conn=conn):
            done = _lost(state, conn)
            closes = CloseConnection(conn=conn, reason="its peer sends what is no packet")
            return replace(done, effects=(closes, *done.effects))
        case _ as unreachable:
            assert_never(unreachable)


def _packet(
    state: PreOnlineState,
    conn: ConnectionId,
    packet: MasterPacket | SlavePacket,
    *,
    now_ms: TimestampMs,
) -> PreOnlineDone:
    match packet:
        case Handshake(broker_id=slave_id):
            return master.handshake(state, conn, slave_id)
        case Ack():
            return master.reported(state, conn)
        case HandshakeReply():
            return slave.heard_reply(state, conn, now_ms=now_ms)
        case Transfer():
            return slave.acknowledge(state, conn, now_ms=now_ms)
        case _ as unreachable:
            assert_never(unreachable)


def _lost(state: PreOnlineState, conn: ConnectionId) -> PreOnlineDone:
    if state.options.is_master:
        return master.link_lost(state, conn)
    return slave.disconnected(state, conn)


# ---- requests ----


def _asked(state: PreOnlineState, event: RequestArrived, *, now_ms: TimestampMs) -> PreOnlineDone:
    code = event.command.code
    if code in _TABLE_CODES:
        return give_table(state, event, _TABLE_CODES[code])
    if code in _CLIENT_CODES:
        return client_asked(state, event, now_ms=now_ms)
    if code == BrokerCode.EXCHANGE_BROKER_HA_INFO:
        return _ha_info(state, event)
    refusal = BrokerResponse.REQUEST_CODE_NOT_SUPPORTED
    says = Respond(request=event.request, code=refusal, body=b"")
    return PreOnlineDone(state, (says,))


def _ha_info(state: PreOnlineState, event: RequestArrived) -> PreOnlineDone:
    """Be told where a master is, or say it. Source: AdminBrokerProcessor.updateBrokerHaInfo"""
    try:
        info = pull_ha_info(event.command.ext_fields)
    except RequestError as error:
        says = Respond(
            request=event.request, code=BrokerResponse.SYSTEM_ERROR, body=b"", remark=str(error)
        )
        return PreOnlineDone(state, (says,))
    options = state.options
    if info is not None and not options.is_master:
        return slave.told(state, event, info)
    fields = NO_FIELDS
    if info is None and options.is_master:
        own = BrokerSyncInfo(
            master_ha_address=options.ha_address,
            master_flush_offset=Offset(0),
            master_address=options.address,
        )
        fields = push_ha_info(own)
    answer = Respond(
        request=event.request, code=BrokerResponse.SUCCESS, body=b"", ext_fields=fields
    )
    return PreOnlineDone(state, (answer,))


def _answered(state: PreOnlineState, number: int, command: RemotingCommand | None) -> PreOnlineDone:
    """Take the answer to what was asked last; of what is not waited for any more, nothing."""
    waits = state.waits
    if waits is None or waits.number != number:
        return PreOnlineDone(state)
    state = replace(state, waits=None)
    if command is None:
        does: tuple[PreOnlineDoes, ...] = ()
        if waits.what in (Asked.GROUP, Asked.TOLD, Asked.TABLE):
            does = (After(wait_ms=state.options.pre_online_ms, event=GoOn()),)
        return PreOnlineDone(state, does)
    match waits.what:
        case Asked.REGISTERED:
            return heard_registration(state, command)
        case Asked.POLLED:
            return slave.heard_group(state, command)
        case Asked.COPY:
            return slave.synchronize(state, waits, command)
        case Asked.GROUP:
            return master.heard_members(state, command)
        case Asked.TOLD:
            return master.heard_of(state, waits, command)
        case Asked.TABLE:
            return master.table_given(state, waits, command)
        case Asked.REPORT:
            raise AssertionError("a report is no answer to a request")
        case _ as unreachable:
            assert_never(unreachable)


# ---- the name server ----


def register(state: PreOnlineState, event: RegisterDue | RegisterNow) -> PreOnlineDone:
    """Say that it is there, unless it is isolated.

    Spec: PreOnline!Register
    Source: BrokerController.registerBrokerAll
    """
    options = state.options
    again: tuple[PreOnlineDoes, ...] = ()
    if isinstance(event, RegisterDue):
        again = (After(wait_ms=options.register_ms, event=RegisterDue()),)
    if not options.rules.may_register(state.isolated):
        return PreOnlineDone(state, again)
    if state.waits is not None:
        return later(state, event)
    waits = Waits(what=Asked.REGISTERED, number=0)
    state, ask = ask_name_server(state, waits, registration(state))
    return PreOnlineDone(state, (ask, *again), PreOnlineAction(PreOnlineActionName.REGISTER))


def heard_registration(state: PreOnlineState, command: RemotingCommand) -> PreOnlineDone:
    """Know whom to copy from, and where to connect to."""
    try:
        reply = pull_name_server_reply(command, NameServerCode.REGISTER_BROKER)
    except (PacketError, RequestError):
        return PreOnlineDone(state)
    if state.options.is_master or not isinstance(reply.answer, RegisterBrokerResult):
        return PreOnlineDone(state)
    return slave.registered(state, reply.answer)


def _heartbeat(state: PreOnlineState) -> PreOnlineDone:
    options = state.options
    again: After[PreOnlineHears] = After(wait_ms=options.heartbeat_ms, event=HeartbeatDue())
    if not options.rules.may_register(state.isolated):
        return PreOnlineDone(state, (again,))
    return PreOnlineDone(state, (heartbeat(state), again))

"""What a broker asks others: one thing after the other, each with a number of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rocketha.formats.broker_requests import BrokerCode
from rocketha.formats.ha_info import BrokerSyncInfo, push_ha_info
from rocketha.formats.name_server_codec import push_name_server_request
from rocketha.formats.name_server_requests import (
    BrokerHeartbeat,
    GetBrokerMemberGroup,
    NameServerRequest,
    RegisterBroker,
)
from rocketha.formats.remoting_command import NO_FIELDS
from rocketha.pre_online.due import Due
from rocketha.pre_online.events import PreOnlineDoes, PreOnlineDone
from rocketha.pre_online.state import PreOnlineState, Waits
from rocketha.runtime.effects import SendOneWay, SendRequest, Then
from rocketha.types import BrokerId, Offset

__all__ = [
    "ask_broker",
    "ask_name_server",
    "goes_on",
    "group_question",
    "heartbeat",
    "later",
    "registration",
    "tell_broker",
]


def later(state: PreOnlineState, event: Due) -> PreOnlineDone:
    """Put off what is due: the broker waits for something else."""
    due = state.due if event in state.due else (*state.due, event)
    return PreOnlineDone(replace(state, due=due))


def goes_on(done: PreOnlineDone) -> PreOnlineDone:
    """Let what was put off come, if the broker waits for nothing any more."""
    state = done.state
    if state.waits is not None or not state.due:
        return done
    comes: list[PreOnlineDoes] = [Then(event=event) for event in state.due]
    return replace(done, state=replace(state, due=()), effects=(*done.effects, *comes))


def ask_name_server(
    state: PreOnlineState, waits: Waits, says: NameServerRequest
) -> tuple[PreOnlineState, SendRequest]:
    """Ask the name server."""
    command = push_name_server_request(says, opaque=0)
    peer, fields = state.options.name_server, command.ext_fields
    return _ask(state, waits, peer, command.code, command.body, fields)


def ask_broker(state: PreOnlineState, waits: Waits) -> tuple[PreOnlineState, SendRequest]:
    """Ask a broker for a table."""
    return _ask(state, waits, waits.slave, waits.kind.code)


def tell_broker(state: PreOnlineState, waits: Waits) -> tuple[PreOnlineState, SendRequest]:
    """Tell a slave where to connect to. Source: BrokerOuterAPI.sendBrokerHaInfo"""
    options = state.options
    info = BrokerSyncInfo(
        master_ha_address=options.ha_address,
        master_flush_offset=Offset(0),
        master_address=options.address,
    )
    code = BrokerCode.EXCHANGE_BROKER_HA_INFO
    return _ask(state, waits, waits.slave, code, fields=push_ha_info(info))


def _ask(
    state: PreOnlineState,
    waits: Waits,
    peer: BrokerId,
    code: int,
    body: bytes = b"",
    fields: Mapping[str, str] = NO_FIELDS,
) -> tuple[PreOnlineState, SendRequest]:
    number = state.asks + 1
    request = SendRequest(
        peer=peer,
        code=code,
        body=body,
        ext_fields=fields,
        reference=(waits.what, number),
        timeout_ms=state.options.request_timeout_ms,
    )
    return replace(state, asks=number, waits=replace(waits, number=number)), request


# ---- what name servers are told ----


def group_question(state: PreOnlineState) -> GetBrokerMemberGroup:
    """Ask who is in the group. Source: BrokerOuterAPI.syncBrokerMemberGroup"""
    options = state.options
    return GetBrokerMemberGroup(cluster_name=options.cluster_name, broker_name=options.broker_name)


def registration(state: PreOnlineState) -> RegisterBroker:
    """Say what the broker is. Source: BrokerOuterAPI.registerBrokerAll"""
    options = state.options
    return RegisterBroker(
        cluster_name=options.cluster_name,
        broker_name=options.broker_name,
        broker_address=options.address,
        broker_id=options.broker_id,
        ha_server_address=options.ha_address,
        heartbeat_timeout_ms=options.not_active_ms,
        enable_acting_master=True,
        data_version=state.version,
        topic_configs=options.topics,
    )


def heartbeat(state: PreOnlineState) -> SendOneWay:
    """Give a sign of life. Source: BrokerController.sendHeartbeat"""
    options = state.options
    says = BrokerHeartbeat(
        cluster_name=options.cluster_name,
        broker_name=options.broker_name,
        broker_address=options.address,
    )
    command = push_name_server_request(says, opaque=0)
    return SendOneWay(
        peer=options.name_server,
        code=command.code,
        body=command.body,
        ext_fields=command.ext_fields,
    )

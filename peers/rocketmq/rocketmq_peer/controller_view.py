"""What controllers say of a group, asked as RocketMQ's own tools ask, on a connection each time."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rocketha.errors import PacketError, RequestError
from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.controller_request_codec import push_request
from rocketha.formats.controller_requests import (
    ControllerRequest,
    GetMetadataInfo,
    GetReplicaInfo,
    GetSyncStateData,
)
from rocketha.formats.controller_responses import (
    MetadataInfo,
    ReplicaInfo,
    Reply,
    SyncStateData,
    pull_reply,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import pull_command, push_command

__all__ = [
    "GroupView",
    "ask",
    "ask_group",
    "ask_leader",
    "ask_members",
    "exchange",
    "exchange_over",
    "knows_master",
]

_TIMEOUT_S: Final = 3.0
_CHUNK: Final = 65536
_GET_BROKER_CLUSTER_INFO: Final = 106


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupView:
    """A group, as the leading controller sees it."""

    master: int | None
    """Its id among the brokers, alive or not."""
    master_address: str | None
    master_epoch: int
    sync_state_set: frozenset[int]
    sync_state_set_epoch: int


def ask(port: int, request: ControllerRequest, code: RequestCode) -> Reply | None:
    """Ask the controller at a port; None if it does not answer, or what nobody understands."""
    answer = exchange(port, push_request(request, opaque=1))
    if answer is None:
        return None
    try:
        return pull_reply(answer, code)
    except (PacketError, RequestError):
        return None


def exchange(port: int, command: RemotingCommand) -> RemotingCommand | None:
    """Send a request to a port and return the response; None: there is none that can be read."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_S) as connection:
            return exchange_over(connection, command)
    except OSError:
        return None


def exchange_over(connection: socket.socket, command: RemotingCommand) -> RemotingCommand | None:
    """Send a request over a connection and return the response; None: none can be read."""
    heard = bytearray()
    deadline = time.monotonic() + _TIMEOUT_S
    try:
        connection.sendall(push_command(command))
        while data := connection.recv(_CHUNK):
            heard += data
            while (found := pull_command(heard)) is not None:
                answer, size = found
                del heard[:size]
                if answer.opaque == command.opaque and answer.is_response:
                    return answer
            if time.monotonic() > deadline:
                return None
    except (OSError, PacketError):
        return None
    return None


def knows_master(port: int, group: str) -> bool:
    """Tell whether the name server at a port knows a master of a group: broker 0.

    Source: `RequestCode.GET_BROKER_CLUSTER_INFO`; the answer is JSON of fastjson, which has
    numbers as names.
    """
    answer = exchange(port, RemotingCommand(code=_GET_BROKER_CLUSTER_INFO, opaque=1))
    return answer is not None and f'"{group}":{{"brokerAddrs":{{0:'.encode() in answer.body


def ask_leader(ports: Sequence[int]) -> int | None:
    """Return the port of the controller that leads, as any of them says; None: nobody does."""
    for port in ports:
        reply = ask(port, GetMetadataInfo(), RequestCode.GET_METADATA_INFO)
        if reply is not None and isinstance(reply.content, MetadataInfo):
            leader = (reply.content.leader_address or "").rpartition(":")[2]
            if leader.isdecimal():
                return int(leader)
    return None


def ask_group(ports: Sequence[int], group: str) -> GroupView | None:
    """Return what the leading controller knows of a group; None: nobody says."""
    leader = ask_leader(ports)
    if leader is None:
        return None
    reply = ask(leader, GetReplicaInfo(broker_name=group), RequestCode.GET_REPLICA_INFO)
    if reply is None or not isinstance(reply.content, ReplicaInfo):
        return None
    said = reply.content
    return GroupView(
        master=said.master_broker_id,
        master_address=said.master_address or None,
        master_epoch=said.master_epoch,
        sync_state_set=frozenset(said.sync_state_set.members),
        sync_state_set_epoch=said.sync_state_set.epoch,
    )


def ask_members(ports: Sequence[int], group: str) -> dict[str, int]:
    """Return the id of each broker of a group by its address, those outside of the set, too."""
    leader = ask_leader(ports)
    if leader is None:
        return {}
    request = GetSyncStateData(broker_names=(group,))
    reply = ask(leader, request, RequestCode.GET_SYNC_STATE_DATA)
    if reply is None or not isinstance(reply.content, SyncStateData):
        return {}
    known = reply.content.groups.get(group)
    if known is None:
        return {}
    return {one.broker_address: one.broker_id for one in (*known.in_sync, *known.not_in_sync)}

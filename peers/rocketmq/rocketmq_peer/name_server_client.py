"""What brokers of one group say to a name server, and the route that it shows clients.

A broker here is an address and a connection: nothing listens there. Each registers two topics, as a
name server passes by a first registration that has one.

Source: broker/out `BrokerOuterAPI`
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rocketha.errors import PacketError, RequestError
from rocketha.formats.name_server_codec import pull_name_server_reply, push_name_server_request
from rocketha.formats.name_server_codes import NameServerCode, NameServerResponse
from rocketha.formats.name_server_requests import (
    DataVersion,
    GetRouteInfo,
    NameServerAnswer,
    NameServerRequest,
    RegisterBroker,
    TopicConfig,
    TopicRouteData,
    UnregisterBroker,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.types import BrokerId, TimestampMs
from rocketmq_peer.controller_view import exchange, exchange_over
from rocketmq_peer.errors import PeerError

__all__ = ["TOPIC", "Channel", "Route", "ask_route", "ask_routes"]

TOPIC: Final = "t"
_GROUP: Final = "g"
_CLUSTER: Final = "c"
_TIMEOUT_S: Final = 5.0
_SILENT_MS: Final = 120_000
"""After so long without a heartbeat a broker is taken for gone: no history lasts that long."""
_READ_WRITE: Final = 6
_WRITE: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What a name server shows of the group."""

    brokers: dict[int, str]
    """brokerId -> address."""
    may_write: bool
    """The topic's permission."""


class Channel:
    """A connection of a broker to a name server."""

    def __init__(self, port: int, address: str) -> None:
        """Connect. Raises: PeerError"""
        self._address = address
        self._opaque = 0
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_S)
        except OSError as error:
            raise PeerError(f"the name server at port {port}: {error}") from error

    def close(self) -> None:
        """Close the connection: the name server takes the broker for gone."""
        self._socket.close()

    def register(self, broker_id: int, version: int) -> None:
        """Register under a brokerId, with a state version. Raises: PeerError"""
        # Topics are taken over whose version is another one: each broker counts for itself.
        data_version = DataVersion(version, 1, TimestampMs(time.time_ns()))
        self._ask(
            RegisterBroker(
                cluster_name=_CLUSTER,
                broker_name=_GROUP,
                broker_address=self._address,
                broker_id=BrokerId(broker_id),
                ha_server_address=self._address,
                heartbeat_timeout_ms=_SILENT_MS,
                enable_acting_master=True,
                data_version=data_version,
                topic_configs={name: _topic(name) for name in (TOPIC, "u")},
            )
        )

    def unregister(self, broker_id: int) -> None:
        """Say that the broker goes, as what it was. Raises: PeerError"""
        self._ask(
            UnregisterBroker(
                cluster_name=_CLUSTER,
                broker_name=_GROUP,
                broker_address=self._address,
                broker_id=BrokerId(broker_id),
            )
        )

    def _ask(self, request: NameServerRequest) -> None:
        self._opaque += 1
        _answered(request, self._opaque, lambda command: exchange_over(self._socket, command))


def ask_route(port: int, topic: str = TOPIC) -> Route | None:
    """Ask for a topic's route; None: there is none. Raises: PeerError"""
    routes = ask_routes(port, topic)
    if len(routes) > 1:
        raise PeerError(f"a route that is not of one group: {routes}")
    return next(iter(routes.values()), None)


def ask_routes(port: int, topic: str) -> dict[str, Route]:
    """Ask for a topic's route in each group, by their brokerName. Raises: PeerError"""
    answer = _answered(GetRouteInfo(topic=topic), 1, lambda command: exchange(port, command))
    if answer is None:
        return {}
    assert isinstance(answer, TopicRouteData)
    perms = {one.broker_name: one.perm for one in answer.queue_datas}
    if perms.keys() != {one.broker_name for one in answer.broker_datas}:
        raise PeerError(f"a route whose queues are not of its brokers: {answer}")
    return {
        one.broker_name: Route(
            brokers={int(broker_id): at for broker_id, at in one.addresses.items()},
            may_write=bool(perms[one.broker_name] & _WRITE),
        )
        for one in answer.broker_datas
    }


def _topic(name: str) -> TopicConfig:
    return TopicConfig(topic_name=name, read_queue_nums=1, write_queue_nums=1, perm=_READ_WRITE)


def _answered(
    request: NameServerRequest,
    opaque: int,
    exchanged: Callable[[RemotingCommand], RemotingCommand | None],
) -> NameServerAnswer | None:
    """Return what a request is answered; None: nothing, or no such topic. Raises: PeerError"""
    command = push_name_server_request(request, opaque=opaque)
    answer = exchanged(command)
    if answer is None:
        raise PeerError(f"the name server does not answer request {command.code}")
    try:
        reply = pull_name_server_reply(answer, NameServerCode(command.code))
    except (PacketError, RequestError) as error:
        raise PeerError(f"request {command.code}: {error}") from error
    if reply.code not in (NameServerResponse.SUCCESS, NameServerResponse.TOPIC_NOT_EXIST):
        raise PeerError(f"request {command.code}: {reply.code}, {reply.remark}")
    return reply.answer

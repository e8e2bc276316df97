"""What brokers of one group say to a name server, and the route that it shows clients.

A broker here is an address and a connection: nothing listens there. Each registers two topics, as a
name server passes by a first registration that has one.

Source: `RequestCode`, `RegisterBrokerRequestHeader`, `RegisterBrokerBody`, `TopicRouteData`
"""

from __future__ import annotations

import json
import socket
import time
import zlib
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from rocketha.formats.remoting_command import RemotingCommand
from rocketmq_peer.controller_view import exchange, exchange_over
from rocketmq_peer.errors import PeerError

__all__ = ["TOPIC", "Channel", "Route", "ask_route"]

TOPIC: Final = "t"
_GROUP: Final = "g"
_CLUSTER: Final = "c"
_REGISTER_BROKER: Final = 103
_UNREGISTER_BROKER: Final = 104
_GET_ROUTEINFO_BY_TOPIC: Final = 105
_TOPIC_NOT_EXIST: Final = 17
_VERSION: Final = 453
"""5.0.0: a body of any release before 3.0.11 is read otherwise."""
_TIMEOUT_S: Final = 5.0
_SILENT_MS: Final = 120_000
"""After so long without a heartbeat a broker is taken for gone: no history lasts that long."""
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
        topics = {
            name: {
                "topicName": name,
                "readQueueNums": 1,
                "writeQueueNums": 1,
                "perm": 6,
                "topicFilterType": "SINGLE_TAG",
                "topicSysFlag": 0,
                "order": False,
            }
            for name in (TOPIC, "u")
        }
        # Topics are taken over whose version is another one: each broker counts for itself.
        data_version = {"stateVersion": version, "timestamp": time.time_ns(), "counter": 1}
        wrapper = {"topicConfigTable": topics, "dataVersion": data_version}
        body = json.dumps({"topicConfigSerializeWrapper": wrapper, "filterServerList": []}).encode()
        fields = {
            **self._named(broker_id),
            "haServerAddr": self._address,
            "compressed": "false",
            "bodyCrc32": str(zlib.crc32(body)),
            "heartbeatTimeoutMillis": str(_SILENT_MS),
            "enableActingMaster": "true",
        }
        self._ask(_REGISTER_BROKER, fields, body)

    def unregister(self, broker_id: int) -> None:
        """Say that the broker goes, as what it was. Raises: PeerError"""
        self._ask(_UNREGISTER_BROKER, self._named(broker_id))

    def _named(self, broker_id: int) -> dict[str, str]:
        return {
            "brokerName": _GROUP,
            "brokerAddr": self._address,
            "clusterName": _CLUSTER,
            "brokerId": str(broker_id),
        }

    def _ask(self, code: int, fields: dict[str, str], body: bytes = b"") -> RemotingCommand:
        self._opaque += 1
        command = _command(code, self._opaque, fields, body)
        return _answered(exchange_over(self._socket, command), command)


def ask_route(port: int) -> Route | None:
    """Ask for the topic's route; None: there is none. Raises: PeerError"""
    fields = {"topic": TOPIC, "acceptStandardJsonOnly": "true"}
    command = _command(_GET_ROUTEINFO_BY_TOPIC, 1, fields)
    answer = _answered(exchange(port, command), command)
    if answer.code == _TOPIC_NOT_EXIST:
        return None
    try:
        said: dict[str, Any] = json.loads(answer.body)
        (broker,) = said["brokerDatas"]
        (queues,) = said["queueDatas"]
        addresses = {int(number): str(at) for number, at in broker["brokerAddrs"].items()}
        return Route(brokers=addresses, may_write=bool(queues["perm"] & _WRITE))
    except (ValueError, KeyError, TypeError) as error:
        raise PeerError(f"a route that is none: {answer.body[:200]!r}") from error


def _command(code: int, opaque: int, fields: dict[str, str], body: bytes = b"") -> RemotingCommand:
    return RemotingCommand(
        code=code, opaque=opaque, version=_VERSION, ext_fields=MappingProxyType(fields), body=body
    )


def _answered(answer: RemotingCommand | None, command: RemotingCommand) -> RemotingCommand:
    """Return an answer that says something. Raises: PeerError"""
    if answer is None:
        raise PeerError(f"the name server does not answer request {command.code}")
    if answer.code not in (0, _TOPIC_NOT_EXIST):
        raise PeerError(f"request {command.code}: {answer.code}, {answer.remark}")
    return answer

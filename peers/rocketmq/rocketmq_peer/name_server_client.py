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
from types import MappingProxyType, TracebackType
from typing import Any, Final, Self

from rocketha.errors import PacketError
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import pull_command, push_command
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
_CHUNK: Final = 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What a name server shows of the group."""

    brokers: dict[int, str]
    """brokerId -> address."""
    may_write: bool
    """The topic's permission."""


class Channel:
    """A connection of a broker to a name server; a context manager, which closes it."""

    def __init__(self, port: int, address: str) -> None:
        """Connect. Raises: PeerError"""
        self._address = address
        self._opaque = 0
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_S)
        except OSError as error:
            raise PeerError(f"the name server at port {port}: {error}") from error

    def __enter__(self) -> Self:
        """Give it."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

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
        return _exchange(self._socket, _command(code, self._opaque, fields, body))


def ask_route(port: int) -> Route | None:
    """Ask for the topic's route; None: there is none. Raises: PeerError"""
    fields = {"topic": TOPIC, "acceptStandardJsonOnly": "true"}
    with socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_S) as connection:
        answer = _exchange(connection, _command(_GET_ROUTEINFO_BY_TOPIC, 1, fields))
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


def _exchange(connection: socket.socket, command: RemotingCommand) -> RemotingCommand:
    """Ask, and wait for the answer. Raises: PeerError"""
    heard = bytearray()
    try:
        connection.sendall(push_command(command))
        while data := connection.recv(_CHUNK):
            heard += data
            found = pull_command(heard)
            if found is not None:
                answer, _ = found
                if answer.code not in (0, _TOPIC_NOT_EXIST):
                    raise PeerError(f"request {command.code}: {answer.code}, {answer.remark}")
                return answer
    except (OSError, PacketError) as error:
        raise PeerError(f"request {command.code}: {error}") from error
    raise PeerError(f"request {command.code}: the name server closed the connection")

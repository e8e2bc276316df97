"""Who asks brokers and name servers besides: it is refused, or wants to know a version.

`rocketha.obligations.route` has what must be answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.name_server_requests import DataVersion
from rocketha.formats.remoting_command import RemotingCommand

__all__ = ["VersionAsked", "VersionTold", "draw_request"]

_NO_REQUEST: Final = 999
_KNOWN: Final = (
    NameServerCode.REGISTER_BROKER,
    NameServerCode.UNREGISTER_BROKER,
    NameServerCode.GET_ROUTEINFO_BY_TOPIC,
    NameServerCode.QUERY_DATA_VERSION,
    NameServerCode.BROKER_HEARTBEAT,
)


@dataclass(frozen=True, slots=True)
class VersionAsked:
    """Somebody asks whether the topics of a broker have another version (QUERY_DATA_VERSION)."""

    address: str
    version: DataVersion


@dataclass(frozen=True, slots=True)
class VersionTold:
    """The answer."""

    changed: bool
    version: DataVersion | None
    """What is registered."""


def draw_request(rng: Random) -> RemotingCommand:
    """Draw a code that nobody knows, or a request without its fields."""
    code = rng.choice((_NO_REQUEST, rng.choice(_KNOWN)))
    return RemotingCommand(code=code, opaque=1, body=rng.choice((b"", b"{", b"{}")))

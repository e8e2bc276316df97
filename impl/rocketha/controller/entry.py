"""The entries of a controller's log: requests as they came in, judged when they are applied.

An entry is what happened, not what came of it: applying it again to the same state gives the same
state and the same answer. Whatever else decides is in it, too: the time, the connection, and
whether an unclean election was allowed. RocketMQ's controller on DLedger logs outcomes, which it
worked out on a state that may have changed by the time they are applied (B36).

An entry is stored as the frame of its request (`rocketha.formats.remoting_frame`, JSON header) with
more fields:

| field            | value                                                         |
|------------------|---------------------------------------------------------------|
| logAtMs          | time of the entry                                             |
| logChannel       | channel that the request came on; 0: none                     |
| logElectUnclean  | `enableElectUncleanMaster` at that time                       |

The entries that are no request have no other field: code 1014, the channel was closed; 1015, look
for groups whose master is gone; 0 (no number of RocketMQ's), the controller started.

Source: controller/impl `JRaftControllerStateMachine`, controller/impl/task
`BrokerCloseChannelRequest`, `CheckNotActiveBrokerRequest`; `DLedgerController`, which differs
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, TypeAlias

from rocketha.controller.state import NO_CHANNEL
from rocketha.errors import ControllerLogError, FormatError, RequestError
from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.controller_request_codec import pull_request, push_request
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    ApplyBrokerId,
    CleanBrokerData,
    ElectMaster,
    Heartbeat,
    RegisterBroker,
)
from rocketha.formats.ext_fields import FieldReader, push_fields
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.types import ConnectionId, TimestampMs

__all__ = [
    "Change",
    "ChannelClosed",
    "Entry",
    "InactiveScanned",
    "LoggedRequest",
    "Started",
    "decode_entry",
    "encode_entry",
]


@dataclass(frozen=True, slots=True)
class ChannelClosed:
    """The entry's channel was closed."""


@dataclass(frozen=True, slots=True)
class InactiveScanned:
    """It is time to look for groups whose master is gone."""


@dataclass(frozen=True, slots=True)
class Started:
    """The controller starts to hear brokers; what it heard before is old."""


LoggedRequest: TypeAlias = (
    Heartbeat | AlterSyncStateSet | ElectMaster | RegisterBroker | CleanBrokerData | ApplyBrokerId
)
"""Requests that change the state."""

Change: TypeAlias = LoggedRequest | ChannelClosed | InactiveScanned | Started

_BARE: Final[dict[int, ChannelClosed | InactiveScanned | Started]] = {
    RequestCode.BROKER_CLOSE_CHANNEL: ChannelClosed(),
    RequestCode.CHECK_NOT_ACTIVE_BROKER: InactiveScanned(),
    0: Started(),
}
_CODES: Final = {change: code for code, change in _BARE.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry: what happened, when, on which connection, under which configuration."""

    at_ms: TimestampMs
    change: Change
    channel: ConnectionId = NO_CHANNEL
    elect_unclean: bool = False


def encode_entry(entry: Entry) -> bytes:
    """Write an entry. Raises: EncodingError"""
    match entry.change:
        case ChannelClosed() | InactiveScanned() | Started():
            command = RemotingCommand(code=_CODES[entry.change], opaque=0)
        case request:
            command = push_request(request, opaque=0)
    fields = push_fields(
        {
            "logAtMs": entry.at_ms,
            "logChannel": entry.channel,
            "logElectUnclean": entry.elect_unclean,
        }
    )
    return push_command(
        replace(command, ext_fields=MappingProxyType({**command.ext_fields, **fields}))
    )


def decode_entry(data: bytes) -> Entry:
    """Read an entry.

    Raises: ControllerLogError
    """
    try:
        pulled = pull_command(data)
        if pulled is None or pulled[1] != len(data):
            raise ControllerLogError("entry", offset=0, reason="is not one frame")
        command, _ = pulled
        reader = FieldReader(command.ext_fields)
        return Entry(
            at_ms=TimestampMs(reader.int64("logAtMs", least=0)),
            channel=ConnectionId(reader.int64("logChannel", least=0)),
            elect_unclean=reader.boolean("logElectUnclean"),
            change=_change(command),
        )
    except (FormatError, RequestError) as error:
        raise ControllerLogError("entry", offset=0, reason=str(error)) from None


def _change(command: RemotingCommand) -> Change:
    """Raises: ControllerLogError, RequestError, PacketError"""
    if command.code in _BARE:
        return _BARE[command.code]
    request = pull_request(command)
    if not isinstance(request, LoggedRequest):
        raise ControllerLogError("entry", offset=0, reason=f"has the query {command.code}")
    return request

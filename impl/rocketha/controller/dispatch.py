"""A frame in, a frame out or "close": what a controller does with what it hears.

| heard                                             | done                                         |
|---------------------------------------------------|----------------------------------------------|
| no frame: wrong length, serialisation, header     | close the connection                         |
| a body that is not the JSON that it must be       | close the connection                         |
| a response                                        | nothing: a controller waits for none         |
| a code that no controller answers                 | answer REQUEST_CODE_NOT_SUPPORTED            |
| a field that is missing or cannot be              | answer INVALID_REQUEST                       |
| a request that changes nothing                    | answer from the state                        |
| a request that changes the state                  | log it, apply it, answer what came of it     |

A one-way request gets no answer. All functions are pure.

Source: controller/processor `ControllerRequestProcessor`, remoting/netty `NettyRemotingAbstract`
(`processRequestCommand`), `NettyDecoder`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Final, TypeAlias

from rocketha.controller.entry import Entry, LoggedRequest
from rocketha.controller.queries import Query, StateQuery, answer_query
from rocketha.controller.rules import CONTROLLER_RULES, ControllerRules
from rocketha.controller.state import ControllerState
from rocketha.errors import EncodingError, PacketError, RequestError
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_request_codec import has_request, pull_request
from rocketha.formats.controller_responses import MetadataInfo, Reply, push_reply
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.replicated_log.snapshot_manager import SnapshotOptions
from rocketha.types import ConnectionId, TimestampMs

__all__ = [
    "Answered",
    "Arrival",
    "Close",
    "ControllerOptions",
    "Ignored",
    "Need",
    "Proposal",
    "admit",
    "answer",
    "need_of",
    "read_frame",
]

_SNAPSHOTS: Final = SnapshotOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerOptions:
    """How a controller is configured."""

    metadata: MetadataInfo
    settings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """What GET_CONTROLLER_CONFIG is answered, in RocketMQ's names."""
    elect_unclean: bool = False
    """`enableElectUncleanMaster`: a broker that lacks acknowledged messages may be elected."""
    rules: ControllerRules = field(default=CONTROLLER_RULES, repr=False)
    snapshots: SnapshotOptions = _SNAPSHOTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """When and on which connection a frame came."""

    at_ms: TimestampMs
    channel: ConnectionId


@dataclass(frozen=True, slots=True)
class Close:
    """The peer does not speak the protocol: close the connection."""

    error: PacketError


@dataclass(frozen=True, slots=True)
class Ignored:
    """Nothing is to be done."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer is known without the log."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Proposal:
    """The log decides."""

    entry: Entry


class Need(Enum):
    """What must be so before a command is served."""

    NOTHING = "nothing"
    """Who leads, how this controller is configured, and what cannot be served at all."""
    LOG = "log"
    """The log takes an entry."""
    CONFIRMED_LEADERSHIP = "confirmed leadership"
    """No other leader has answered anybody meanwhile: the state is looked at."""


Admitted: TypeAlias = Close | Ignored | Answered | Proposal


def read_frame(data: bytes) -> RemotingCommand | Close:
    """Read exactly one frame."""
    try:
        pulled = pull_command(data)
    except PacketError as error:
        return Close(error)
    if pulled is not None and pulled[1] == len(data):
        return pulled[0]
    return Close(PacketError("frame", offset=len(data), reason="is not exactly one"))


def admit(
    state: ControllerState,
    command: RemotingCommand,
    *,
    arrival: Arrival,
    options: ControllerOptions,
) -> Admitted:
    """Say what is to be done with a command."""
    if command.is_response:
        return Ignored()
    if not has_request(command.code):
        remark = f"request type {command.code} not supported"
        return Answered(Reply(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark))
    try:
        request = pull_request(command)
    except PacketError as error:
        return Close(error)
    except RequestError as error:
        return Answered(Reply(code=ResponseCode.INVALID_REQUEST, remark=str(error)))
    if isinstance(request, LoggedRequest):
        return Proposal(
            Entry(
                at_ms=arrival.at_ms,
                change=request,
                channel=arrival.channel,
                elect_unclean=options.elect_unclean,
            )
        )
    query: Query = request
    now_ms = TimestampMs(max(arrival.at_ms, state.clock_ms))
    reply = answer_query(
        state, query, now_ms=now_ms, metadata=options.metadata, settings=options.settings
    )
    return Answered(reply)


def need_of(command: RemotingCommand) -> Need:
    """Say what a controller of a group needs before it may serve a command.

    Source: controller/impl `DLedgerController`, whose event scheduler only a leader has
    """
    if command.is_response or not has_request(command.code):
        return Need.NOTHING
    try:
        request = pull_request(command)
    except (PacketError, RequestError):
        return Need.NOTHING
    if isinstance(request, LoggedRequest):
        return Need.LOG
    return Need.CONFIRMED_LEADERSHIP if isinstance(request, StateQuery) else Need.NOTHING


def answer(command: RemotingCommand, reply: Reply) -> bytes | None:
    """Write the answer to a command, if its sender waits for one."""
    if command.is_oneway:
        return None
    try:
        return push_command(push_reply(reply, command))
    except EncodingError as error:
        # Only the data of very many groups can be as large.
        too_large = Reply(code=ResponseCode.SYSTEM_ERROR, remark=str(error))
        return push_command(push_reply(too_large, command))

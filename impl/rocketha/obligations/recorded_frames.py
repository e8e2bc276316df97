"""Frames between brokers and their controller, as records have them: fields and body in JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from rocketha.errors import PacketError, RequestError
from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.controller_request_codec import has_request, pull_request, pull_role_changed
from rocketha.formats.controller_requests import ControllerRequest, RoleChanged
from rocketha.formats.controller_responses import Reply, pull_reply
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.recording.record import NodeRecord, RecordError, SentMessage

__all__ = [
    "HeardFrame",
    "answers_to_outsiders",
    "command_of",
    "heard_frames",
    "notice_in",
    "reply_in",
    "request_in",
    "requests_sent",
]


class _Content(msgspec.Struct, frozen=True):
    fields: dict[str, str]
    body: str


class HeardFrame(msgspec.Struct, frozen=True, rename={"kind": "is"}):
    """A frame that its receiver cannot name, or the end of a channel (`ChannelClosed`)."""

    kind: str
    channel: int
    code: int = 0
    body: str = ""
    opaque: int = 0
    flag: int = 0

    @property
    def command(self) -> RemotingCommand:
        """Return the frame. Raises: RecordError"""
        is_response = bool(self.flag & FLAG_RESPONSE)
        return replace(
            command_of(self.code, self.body, is_response=is_response), opaque=self.opaque
        )


def command_of(code: int | None, content: str | None, *, is_response: bool) -> RemotingCommand:
    """Return a frame whose content is in a record. Raises: RecordError"""
    try:
        found = msgspec.json.decode(content or "", type=_Content)
    except msgspec.MsgspecError as error:
        raise RecordError(f"the content of a frame: {error}") from None
    return RemotingCommand(
        code=code or 0,
        opaque=0,
        flag=FLAG_RESPONSE if is_response else 0,
        ext_fields=found.fields,
        body=found.body.encode(),
    )


def request_in(command: RemotingCommand) -> ControllerRequest | None:
    """Return the request of a frame to a controller; None: it is none that can be read."""
    if command.is_response:
        return None
    try:
        return pull_request(command)
    except (PacketError, RequestError):
        return None


def notice_in(command: RemotingCommand) -> RoleChanged | None:
    """Return the notice of an election; None: it is none that can be read."""
    try:
        return pull_role_changed(command)
    except (PacketError, RequestError):
        return None


def reply_in(message: SentMessage, request_code: int) -> Reply | None:
    """Return the answer to a request of this code; None: it cannot be read. Raises: RecordError"""
    command = command_of(message.code, message.body, is_response=True)
    try:
        return pull_reply(command, RequestCode(request_code))
    except (PacketError, RequestError, ValueError):
        return None


def heard_frames(record: NodeRecord) -> Iterator[HeardFrame]:
    """Yield what a node heard in a step. Raises: RecordError"""
    for one in record.heard:
        if isinstance(one, dict) and one.get("is") in ("FrameHeard", "ChannelClosed"):
            try:
                yield msgspec.convert(one, HeardFrame)
            except msgspec.ValidationError as error:
                raise RecordError(f"heard: {error}", record) from None


def answers_to_outsiders(record: NodeRecord) -> Iterator[SentMessage]:
    """Yield what a controller answers to who keeps no records. Raises: RecordError"""
    for one in record.answered:
        if isinstance(one, dict) and one.get("is") == "FrameAnswered":
            try:
                found = msgspec.convert(one, HeardFrame)
            except msgspec.ValidationError as error:
                raise RecordError(f"answered: {error}", record) from None
            name = f"controller-{found.channel}:{found.opaque}:response"
            yield SentMessage(id=name, code=found.code, body=found.body)


def requests_sent(record: NodeRecord) -> Iterator[ControllerRequest]:
    """Yield the requests to the controller that a broker sent in a step. Raises: RecordError"""
    for message in record.sent:
        if message.code is None or message.body is None or not has_request(message.code):
            continue
        request = request_in(command_of(message.code, message.body, is_response=False))
        if request is not None:
            yield request

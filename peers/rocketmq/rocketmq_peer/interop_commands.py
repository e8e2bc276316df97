"""What a controller is asked, answers and tells, decoded by rocketha and written back.

Fields are compared as texts by their names, bodies as the values of their JSON. Whether a request
is one way is a matter of the frame, which is compared, too: senders decide it, not codecs.
"""

from __future__ import annotations

from typing import Final

from rocketha.formats.controller_codes import RequestCode, ResponseCode
from rocketha.formats.controller_request_codec import (
    has_request,
    pull_request,
    pull_role_changed,
    push_request,
    push_role_changed,
)
from rocketha.formats.controller_responses import pull_reply, push_reply
from rocketha.formats.json_text import read_json
from rocketha.formats.remoting_command import RemotingCommand
from rocketmq_peer.interop_tally import Kind, Tally

__all__ = ["examine_request", "examine_response"]

_SHOWN: Final = 80


def examine_request(where: str, request: RemotingCommand, tally: Tally, *, of: str) -> None:
    """Decode what a server `of` a kind ("controller", "broker", ...) is asked, if rocketha can."""
    if of == "controller" and has_request(request.code):
        _controller_request(where, request, tally)
    elif of == "broker" and request.code == RequestCode.NOTIFY_BROKER_ROLE_CHANGED:
        _role_changed(where, request, tally)
    else:
        tally.pass_by(f"requests to a {of}, code {request.code}")


def examine_response(
    where: str, response: RemotingCommand, asked: RemotingCommand | None, tally: Tally, *, of: str
) -> None:
    """Decode what a server `of` a kind answers, if rocketha can decode what it was `asked`."""
    if asked is None:
        if of == "controller":
            reason = f"no request with the opaque {response.opaque} came before it"
            tally.mismatch(Kind.CONTROLLER_RESPONSE, where, reason)
        else:
            tally.pass_by(f"responses of a {of} to nothing")
    elif of == "controller" and has_request(asked.code):
        _controller_response(where, response, asked, tally)
    else:
        tally.pass_by(f"responses of a {of}, code {asked.code}")


def _controller_request(where: str, request: RemotingCommand, tally: Tally) -> None:
    kind = Kind.CONTROLLER_REQUEST
    decoded = tally.decode(kind, where, lambda: pull_request(request))
    if decoded is not None:
        tally.write_back(
            kind, where, lambda: _difference(request, push_request(decoded, opaque=request.opaque))
        )


def _role_changed(where: str, request: RemotingCommand, tally: Tally) -> None:
    kind = Kind.ROLE_CHANGE
    decoded = tally.decode(kind, where, lambda: pull_role_changed(request))
    if decoded is not None:
        tally.write_back(
            kind,
            where,
            lambda: _difference(request, push_role_changed(decoded, opaque=request.opaque)),
        )


def _controller_response(
    where: str, response: RemotingCommand, asked: RemotingCommand, tally: Tally
) -> None:
    kind = Kind.CONTROLLER_RESPONSE
    reply = tally.decode(kind, where, lambda: pull_reply(response, RequestCode(asked.code)))
    if reply is None:
        return
    if reply.content is None and reply.code is not ResponseCode.SUCCESS:
        name = f"{reply.code.name} to {RequestCode(asked.code).name}"
        if response.ext_fields or response.body:
            tally.pass_by(f"fields and bodies of refusals, {name}")
        tally.write_back(
            kind,
            where,
            lambda: _head_difference(response, push_reply(reply, asked)),
        )
        return
    tally.write_back(kind, where, lambda: _difference(response, push_reply(reply, asked)))


def _head_difference(came: RemotingCommand, written: RemotingCommand) -> str | None:
    for name in ("code", "opaque", "remark", "is_response"):
        was, now = getattr(came, name), getattr(written, name)
        if was != now:
            return f"{name} {was!r} is written back as {now!r}"
    return None


def _difference(came: RemotingCommand, written: RemotingCommand) -> str | None:
    """Say what is different in a command that was written back; None: nothing."""
    if (head := _head_difference(came, written)) is not None:
        return head
    for name in sorted({*came.ext_fields, *written.ext_fields}):
        was, now = came.ext_fields.get(name), written.ext_fields.get(name)
        if was != now:
            return f"field {name} {was!r} is written back as {now!r}"
    if came.body == written.body:
        return None
    if not came.body or not written.body:
        return f"a body of {len(came.body)} bytes is written back as {len(written.body)}"
    was_body, now_body = read_json(came.body, "body"), read_json(written.body, "body")
    if was_body == now_body:
        return None
    return f"body {str(was_body)[:_SHOWN]} is written back as {str(now_body)[:_SHOWN]}"

"""What comes from the controller and is no answer that somebody waits for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.broker.controller_calls import ask, first_opaque
from rocketha.formats.controller_codes import RequestCode, ResponseCode
from rocketha.formats.controller_requests import GetReplicaInfo, Incarnation
from rocketha.formats.controller_responses import Reply, push_reply
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.types import TimestampMs
from tests.impl.broker.lone import Lone, registered


def polling() -> Lone:
    lone = registered()
    lone.pass_time(lone.state.options.sync_metadata_ms)
    return lone


@pytest.mark.parametrize(
    "command",
    [
        RemotingCommand(code=0, opaque=99, flag=FLAG_RESPONSE),
        RemotingCommand(code=12345, opaque=1),
        RemotingCommand(code=RequestCode.ELECT_MASTER, opaque=1),
        RemotingCommand(code=RequestCode.NOTIFY_BROKER_ROLE_CHANGED, opaque=1),
        RemotingCommand(code=RequestCode.NOTIFY_BROKER_ROLE_CHANGED, opaque=1, body=b"{}"),
        RemotingCommand(code=RequestCode.NOTIFY_BROKER_ROLE_CHANGED, opaque=1, body=b"\xff"),
    ],
)
def test_what_nobody_asked_for_changes_nothing(command: RemotingCommand) -> None:
    lone = polling()
    before = lone.state
    lone.hear(command)
    assert (lone.state, lone.actions) == (before, [])


@pytest.mark.parametrize(
    ("code", "body"), [(0, b""), (0, b"\xff"), (0, b"[]"), (4711, b""), (-1, b"")]
)
def test_an_answer_that_cannot_be_read_counts_as_none(code: int, body: bytes) -> None:
    lone = polling()
    before = lone.state
    good = push_reply(Reply(), lone.frame(GetReplicaInfo))
    lone.hear(replace(good, code=code, body=body))
    assert lone.state == before


@pytest.mark.parametrize("code", [c for c in ResponseCode if c is not ResponseCode.SUCCESS])
def test_any_refusal_of_a_poll_is_let_be(code: ResponseCode) -> None:
    lone = polling()
    lone.answer(GetReplicaInfo, code=code)
    assert lone.state.asked == {}
    assert lone.actions == []


def test_an_answer_after_the_timeout_counts_for_nothing() -> None:
    lone = polling()
    late = push_reply(Reply(code=ResponseCode.NOT_LEADER), lone.frame(GetReplicaInfo))
    lone.pass_time(lone.state.options.request_timeout_ms)
    before = lone.state
    lone.hear(late)
    assert lone.state == before


@pytest.mark.parametrize("incarnation", [0, 1, 2**15 - 1])
def test_the_numbers_of_different_starts_differ(incarnation: int) -> None:
    first = first_opaque(Incarnation(incarnation))
    after = first_opaque(Incarnation(incarnation + 1))
    state = replace(registered().state, next_opaque=first + 2**16 - 3)
    numbers = []
    for _ in range(5):
        numbers.append(state.next_opaque)
        request = GetReplicaInfo(broker_name="g")
        state, _ = ask(state, request, now_ms=TimestampMs(0))
    assert numbers == [first + 2**16 - 3, first + 2**16 - 2, first, first + 1, first + 2]
    assert after == (first + 2**16 if incarnation < 2**15 - 1 else 1)
    assert max(numbers) < 2**31

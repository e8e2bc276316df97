"""Whoever received a request of RocketMQ's remoting answers it, unless it stops before.

The id of an answer is that of the request with another ending (`RemotingCalls`), as the
`opaque` of a RemotingCommand is the same in both.

Source: NettyRemotingAbstract.processRequestCommand, NettyRemotingAbstract.invokeSyncImpl
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from rocketha.obligations.obligation import Due, Obligation, RecordedRun, time_ms
from rocketha.recording.record import RESPONSE
from rocketha.types import TimestampMs

__all__ = ["answers_to_requests"]

_REQUEST: Final = ":request"


def answers_to_requests(within_ms: int) -> Obligation:
    """Return the obligation to answer each request that was received within a time."""
    return Obligation(name="answers to requests", dues=partial(_dues, within_ms))


def _dues(within_ms: int, run: RecordedRun) -> Iterator[Due]:
    answers: dict[str, list[TimestampMs]] = {}
    for record in run.records:
        for message in record.sent:
            answers.setdefault(message.id, []).append(time_ms(record))
    for record in run.records:
        for request in record.received:
            if not request.endswith(_REQUEST):
                continue
            at_ms = time_ms(record)
            by_ms = TimestampMs(at_ms + within_ms)
            if run.runs_until_ms(record.node, at_ms) <= by_ms:
                continue
            made_ms = answers.get(request.removesuffix(_REQUEST) + RESPONSE, ())
            yield Due(
                node=record.node,
                since_ms=at_ms,
                by_ms=by_ms,
                what=f"answer {request}",
                done_ms=next((one for one in made_ms if one >= at_ms), None),
            )

"""The history of consumers that keep the order of messages, and what they are promised.

IN_TURN: from when a consumer has got a queue until somebody else gets it, nobody else processes
anything of it; it goes on behind the last message that was finished, message by message. A message
may be processed again by a later holder, none is passed by.

Source: the guarantee of `MessageListenerOrderly`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rocketha.formats.lock_bodies import MessageQueue
from rocketha.histories.verdicts import AllKept, Broken, Promise, Undecided

__all__ = ["InTurn", "OrderVerdict", "Processed", "check_order"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Processed:
    """A consumer has processed a message."""

    queue: MessageQueue
    message: int
    """Its place in the queue, from 0."""
    client_id: str
    fresh: bool
    """The first one since the consumer got the queue."""
    at_ms: int
    """In true time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InTurn(AllKept):
    """The order is kept."""

    processed: int
    """Times that a message was processed."""
    turns: int
    """Times that a queue was got by somebody else than before."""

    @property
    def counted(self) -> int:
        """Return the number of messages."""
        return self.processed

    def in_words(self) -> str:
        """Say it in a line."""
        return f"kept: {self.processed} messages in order, {self.turns} turns"


OrderVerdict: TypeAlias = InTurn | Broken | Undecided


def check_order(history: Sequence[Processed]) -> OrderVerdict:
    """Hold a history against the promise."""
    reason = _first_break(history)
    if reason is not None:
        return Broken(promise=Promise.IN_TURN, reason=reason)
    if not history:
        return Undecided(reason="no message was processed")
    last: dict[MessageQueue, str] = {}
    turns = 0
    for now in history:
        turns += last.get(now.queue, now.client_id) != now.client_id
        last[now.queue] = now.client_id
    return InTurn(processed=len(history), turns=turns)


def _first_break(history: Sequence[Processed]) -> str | None:
    last: dict[MessageQueue, Processed] = {}
    ends: dict[MessageQueue, int] = {}
    for now in history:
        before, end = last.get(now.queue), ends.get(now.queue, 0)
        what = f"{now.client_id} processes message {now.message} of queue {now.queue.queue_id}"
        if now.message > end:
            return f"{what} at {now.at_ms} ms: message {end} was passed by"
        if not now.fresh:
            if before is None or before.client_id != now.client_id:
                who = "nobody" if before is None else before.client_id
                return f"{what} at {now.at_ms} ms after {who}, without having got the queue anew"
            if now.message != before.message + 1:
                return f"{what} at {now.at_ms} ms after message {before.message}"
        last[now.queue] = now
        ends[now.queue] = max(end, now.message + 1)
    return None

"""What a broker has heard of the others when it answers a consumer, as frames show it.

A consumer's request arrives at a broker, which asks the others in the same step. Their answers come
in, or do not; its own answer ends the round. Frames are called what both ends call them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from rocketha.formats.lock_bodies import LockCode
from rocketha.recording.record import RESPONSE

__all__ = ["Answered", "Message", "Rounds"]


class Message(Protocol):
    """A frame that a node has sent."""

    @property
    def id(self) -> str:
        """What both ends call it."""
        ...

    @property
    def to(self) -> str | None:
        """The node at the other end; None: who sent the request that this answers."""
        ...

    @property
    def code(self) -> int | None:
        """What is asked."""
        ...


@dataclass(frozen=True, slots=True)
class Answered:
    """A broker has answered a consumer."""

    request: str
    answer: str
    """What its frame is called."""
    heard: frozenset[str]
    """The broker itself, and those whose answers have reached it before."""


class Rounds:
    """The requests of consumers that brokers have received and not answered."""

    def __init__(self) -> None:
        """Begin with none."""
        self._heard: dict[str, set[str]] = {}
        self._asks: dict[str, tuple[str, str]] = {}
        """A broker's request to another one -> that of the consumer, and who is asked."""

    def asked(self, broker: str, request: str, sent: Iterable[Message]) -> None:
        """Take the step in which a broker has received a consumer's request."""
        self._heard[request] = {broker}
        for message in sent:
            if message.code == LockCode.LOCK_BATCH_MQ and message.to is not None:
                self._asks[message.id] = (request, message.to)

    def answered(self, received: Iterable[str], sent: Iterable[Message]) -> Iterator[Answered]:
        """Take a step of a broker, and give the answers to consumers in it."""
        responses = [name for name in received if name.endswith(RESPONSE)]
        for name in responses:
            request, voter = self._asks.pop(name.removesuffix(RESPONSE), (None, None))
            if request in self._heard and voter is not None:
                self._heard[request].add(voter)
        for message in sent:
            request = message.id.removesuffix(RESPONSE)
            if message.to is None and request in self._heard:
                yield Answered(request, message.id, frozenset(self._heard.pop(request)))

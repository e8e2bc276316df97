"""Who asks brokers and consumers and speaks another language: it is refused, and changes nothing.

It keeps no records: a node has what it `heard` and `answered` in its own. What must be answered is
a matter of `rocketha.obligations.lock_quorum`.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final, TypeVar

from rocketha.formats.lock_bodies import LockCode
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.runtime.effects import Respond
from rocketha.sim.engine.remoting_calls import Arrived
from rocketha.sim.engine.request_ports import CallingNode
from rocketha.types import ConnectionId, RequestId

__all__ = ["OpenNode", "OutsiderAnswered", "OutsiderHeard", "OutsiderRefused", "draw_request"]

S = TypeVar("S")
E = TypeVar("E")
A = TypeVar("A")

_OUTSIDE: Final = ConnectionId(-1)
"""No connection of the network has this number."""
_NO_REQUEST: Final = 999
_NO_BODIES: Final = (b"{", b"{}", b'{"clientId":"c1","consumerGroup":"orderly"}')


@dataclass(frozen=True, slots=True)
class OutsiderHeard:
    """A request that is none."""

    code: int


@dataclass(frozen=True, slots=True)
class OutsiderAnswered:
    """The code of the answer to it."""

    code: int


@dataclass(frozen=True, slots=True)
class OutsiderRefused:
    """Its connection is closed."""


class OpenNode(CallingNode[S, E, A]):
    """A node that anybody may ask."""

    def ask_from_outside(self, command: RemotingCommand) -> None:
        """Hear a request that comes over a connection of its own."""
        self.recorder.heard(OutsiderHeard(command.code))
        self.take_request(Arrived(_OUTSIDE, command))

    def respond(self, answer: Respond) -> None:
        """Answer a request."""
        if self.waiting(answer.request).conn == _OUTSIDE:
            self.recorder.answered(OutsiderAnswered(answer.code))
        else:
            super().respond(answer)

    def refuse(self, request: RequestId) -> None:
        """Close the connection of a request."""
        if self.waiting(request).conn == _OUTSIDE:
            self.recorder.answered(OutsiderRefused())
        else:
            super().refuse(request)


def draw_request(rng: Random) -> RemotingCommand:
    """Draw a code that nobody knows, or a body that cannot be read."""
    code = rng.choice((LockCode.LOCK_BATCH_MQ, LockCode.UNLOCK_BATCH_MQ, _NO_REQUEST))
    return RemotingCommand(code=code, opaque=1, body=rng.choice(_NO_BODIES))

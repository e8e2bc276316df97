"""A node that anybody may ask, also who is no node of the run and keeps no records.

The node has what it `heard` of outsiders and `answered` them in its own records. What must be
answered is a matter of the obligations of its protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from rocketha.formats.remoting_command import RemotingCommand
from rocketha.runtime.effects import Respond
from rocketha.sim.engine.remoting_calls import Arrived
from rocketha.sim.engine.request_ports import CallingNode
from rocketha.types import ConnectionId, RequestId

__all__ = ["NO_REQUEST", "OpenNode", "OutsiderAnswered", "OutsiderHeard", "OutsiderRefused"]

S = TypeVar("S")
E = TypeVar("E")
A = TypeVar("A")

NO_REQUEST: Final = 999
"""A code that no node knows."""
_OUTSIDE: Final = ConnectionId(-1)
"""No connection of the network has this number."""


@dataclass(frozen=True, slots=True)
class OutsiderHeard:
    """A request."""

    code: int
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class OutsiderAnswered:
    """The answer to it."""

    code: int
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class OutsiderRefused:
    """Its connection is closed."""


class OpenNode(CallingNode[S, E, A]):
    """A node that anybody may ask."""

    def ask_from_outside(self, command: RemotingCommand) -> None:
        """Hear a request that comes over a connection of its own."""
        self.recorder.heard(OutsiderHeard(command.code, dict(command.ext_fields)))
        self.take_request(Arrived(_OUTSIDE, command))

    def respond(self, answer: Respond) -> None:
        """Answer a request."""
        if self.waiting(answer.request).conn == _OUTSIDE:
            self.recorder.answered(OutsiderAnswered(answer.code, dict(answer.ext_fields)))
        else:
            super().respond(answer)

    def refuse(self, request: RequestId) -> None:
        """Close the connection of a request."""
        if self.waiting(request).conn == _OUTSIDE:
            self.recorder.answered(OutsiderRefused())
        else:
            super().refuse(request)

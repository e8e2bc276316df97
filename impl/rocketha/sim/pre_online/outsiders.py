"""What others ask of a broker: where the master is, or what is refused; it changes nothing."""

from __future__ import annotations

from random import Random
from types import MappingProxyType
from typing import Final

from rocketha.formats.broker_requests import BrokerCode
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.sim.engine.open_node import NO_REQUEST

__all__ = ["draw_request"]

_PLACES: Final = (
    MappingProxyType[str, str]({}),
    MappingProxyType({"masterHaAddress": " ", "masterFlushOffset": "0"}),
    MappingProxyType({"masterHaAddress": "b9:ha", "masterFlushOffset": "-1"}),
    MappingProxyType({"masterHaAddress": "b9:ha", "masterFlushOffset": "zero"}),
)
"""The first asks where a master is; others say it, and not so that anybody could connect."""


def draw_request(rng: Random) -> RemotingCommand:
    """Draw a code that nobody knows, or a question, or what no master says of itself."""
    if rng.randrange(2):
        return RemotingCommand(code=NO_REQUEST, opaque=1)
    fields = rng.choice(_PLACES)
    return RemotingCommand(code=BrokerCode.EXCHANGE_BROKER_HA_INFO, opaque=1, ext_fields=fields)

"""What outsiders ask of brokers and consumers: it is refused, and changes nothing."""

from __future__ import annotations

from random import Random
from typing import Final

from rocketha.formats.lock_bodies import LockCode
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.sim.engine.open_node import NO_REQUEST

__all__ = ["draw_request"]

_NO_BODIES: Final = (b"{", b"{}", b'{"clientId":"c1","consumerGroup":"orderly"}')


def draw_request(rng: Random) -> RemotingCommand:
    """Draw a code that nobody knows, or a body that cannot be read."""
    code = rng.choice((LockCode.LOCK_BATCH_MQ, LockCode.UNLOCK_BATCH_MQ, NO_REQUEST))
    return RemotingCommand(code=code, opaque=1, body=rng.choice(_NO_BODIES))

"""The values of SyncStateSet, made from what the implementation has.

The broker that is master is `m`, the others are `s1`, `s2`, ... by their ids, so that the master
epochs of all brokers are traces of one specification with the same constants. Offsets in bytes
become numbers of records; epochs of the SyncStateSet and incarnations are counted from the
election on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias, TypeVar

from rocketha.types import BrokerId
from rocketproof.protocols.epoch_truncation.values import NONE
from tlatrace.values import State, Value, record, tla_set

__all__ = [
    "MASTER",
    "NO_CONN",
    "ConnParts",
    "Members",
    "conn_value",
    "constants_of",
    "control_value",
    "members_value",
    "names_of",
    "proposal_value",
]

B = TypeVar("B")

MASTER: Final = "m"
NO_CONN: Final = record({"inc": -1})

ConnParts: TypeAlias = tuple[int, int, int, bool]
"""Of a connection: the slave's incarnation, what the master has heard of it, -1 is "nothing yet",
what it has reported, and whether it could be added then."""

Members: TypeAlias = Mapping[BrokerId, int]
"""A set of members: broker -> the incarnation in which it is one."""


def names_of(master: BrokerId, brokers: Iterable[BrokerId]) -> dict[BrokerId, str]:
    """Return what the brokers are called in the traces of a master epoch."""
    others = [broker for broker in sorted(brokers) if broker != master]
    return {master: MASTER, **{broker: f"s{at}" for at, broker in enumerate(others, start=1)}}


def constants_of(brokers: int) -> State:
    """Return the constants of the master epochs in a group of so many brokers."""
    slaves = tla_set(f"s{number}" for number in range(1, brokers))
    return {"Master": MASTER, "Slave": slaves, "None": NONE}


def members_value(members: Mapping[B, int], names: Mapping[B, str]) -> Value:
    """Return a set of `Member`."""
    return tla_set((names[broker], inc) for broker, inc in members.items())


def control_value(master: str, sss: Value, epoch: int) -> Value:
    """Return what the controller has."""
    return record({"master": master, "sss": sss, "sssE": epoch})


def proposal_value(proposed: Value, expected: int, base: Value) -> Value:
    """Return a `Proposal`."""
    return record({"set": proposed, "exp": expected, "base": base})


def conn_value(parts: ConnParts | None) -> Value:
    """Return a `Conn`."""
    if parts is None:
        return NO_CONN
    incarnation, ack, reported, ready = parts
    return record({"inc": incarnation, "ack": ack, "reported": reported, "ready": ready})

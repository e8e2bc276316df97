"""What is seen of a broker and of a name server, whether by its memory or by its records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from rocketha.acting.state import ActingState
from rocketha.nameserver.state import NameServerState
from rocketha.nameserver.table import Registration
from rocketha.sim.route.plan import BROKER_NAME

__all__ = [
    "BrokerSeen",
    "Message",
    "Order",
    "RegistrationSeen",
    "ServerSeen",
    "broker_seen",
    "perm_of",
    "server_seen",
]

Order: TypeAlias = tuple[int, int]
"""What is greater in a later registration of a broker: timestamp and counter of its DataVersion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSeen:
    """What a broker has in its memory, and whether its services run."""

    role: tuple[int, int] | None = None
    """brokerId and epoch."""
    order: Order | None = None
    """None: nothing has been seen of it."""
    min_broker_id: int = 0
    serves: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationSeen:
    """A registration in a table, or one whose end is decided."""

    broker_id: int
    address: str
    epoch: int
    order: Order
    conn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSeen:
    """What a name server has of the group."""

    brokers: tuple[RegistrationSeen, ...] = ()
    newest_epoch: int = 0
    perm: str = "none"
    removals: tuple[RegistrationSeen, ...] = ()
    """Those of this group that wait."""
    removes_ours: bool = True
    """Whether the next one is of this group; others may be in the process of another one."""


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
        """What is asked, or how it went."""
        ...

    @property
    def fields(self) -> Mapping[str, str]:
        """Its `extFields`."""
        ...

    @property
    def body(self) -> bytes | str | None:
        """Its body, as bytes or as text."""
        ...


def broker_seen(state: ActingState, *, serves: bool) -> BrokerSeen:
    """Look at a broker that runs."""
    role, version = state.role, state.version
    return BrokerSeen(
        role=None if role is None else (int(role.broker_id), role.epoch),
        order=(int(version.timestamp_ms), version.counter),
        min_broker_id=int(state.min_broker_id),
        serves=serves,
    )


def server_seen(state: NameServerState) -> ServerSeen:
    """Look at a name server that runs."""
    ours = [one for one in state.removals if one.broker_name == BROKER_NAME]
    removals = tuple([_registration(one.meant) for one in ours])
    removes_ours = state.removals[:1] == tuple(ours[:1])
    group = state.groups.get(BROKER_NAME)
    if group is None:
        return ServerSeen(removals=removals, removes_ours=removes_ours)
    return ServerSeen(
        brokers=tuple(map(_registration, group.brokers.values())),
        newest_epoch=group.newest_epoch,
        perm=perm_of(has_topics=bool(group.topics), masked=group.masked),
        removals=removals,
        removes_ours=removes_ours,
    )


def perm_of(*, has_topics: bool, masked: bool) -> str:
    """Return what producers may do, as the specification calls it."""
    if not has_topics:
        return "none"
    return "r" if masked else "rw"


def _registration(one: Registration) -> RegistrationSeen:
    return RegistrationSeen(
        broker_id=int(one.broker_id),
        address=one.address,
        epoch=one.epoch,
        order=one.order,
        conn=int(one.conn),
    )

"""What clients were told by name servers, held against who was elected.

| promise    | broken by                                                                           |
|------------|-------------------------------------------------------------------------------------|
| `once`     | a broker is found under two brokerIds                                               |
| `writable` | topics may be written, and there is nobody to write to, in a group with an acting   |
|            | slave                                                                               |
| `newest`   | topics may be written on a broker that nobody has elected, or, as one name server   |
|            | has it without starting again, on one of before                                     |

A broker that acts is found under the master's brokerId, as a master is: what tells them apart is
that nobody may write.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rocketha.histories.verdicts import AllKept, AnyVerdict, Broken, Promise, Undecided
from rocketha.types import MASTER, BrokerId, TimestampMs

__all__ = ["Election", "RouteAnswer", "RoutesKept", "check_routes"]


@dataclass(frozen=True, slots=True)
class Election:
    """A broker was made master."""

    at_ms: TimestampMs
    address: str


@dataclass(frozen=True, slots=True)
class RouteAnswer:
    """A client has asked for a topic."""

    at_ms: TimestampMs
    name_server: str
    incarnation: int
    """How often the name server had started."""
    brokers: tuple[tuple[BrokerId, str], ...]
    """brokerId and address; none: nobody has the topic."""
    writable: bool


@dataclass(frozen=True, slots=True)
class RoutesKept(AllKept):
    """Nobody was sent to a wrong broker."""

    routes: int
    acting: int
    """So many of them show a slave in the master's place."""

    @property
    def counted(self) -> int:
        """Return the number of routes."""
        return self.routes

    def in_words(self) -> str:
        """Say it in a line."""
        return f"kept: {self.routes} routes found, {self.acting} of them of an acting slave"


def check_routes(
    elections: Sequence[Election], answers: Sequence[RouteAnswer], *, has_acting: bool
) -> AnyVerdict:
    """Hold all answers against the elections, which are in order.

    With `has_acting` a slave acts for a master that is gone: then nobody may write.
    """
    reached: dict[tuple[str, int], int] = {}
    acting = 0
    for answer in answers:
        broken = _in_itself(answer, has_acting=has_acting)
        if broken is not None:
            return broken
        if not answer.writable:
            acting += any(broker_id == MASTER for broker_id, _ in answer.brokers)
            continue
        whose = (answer.name_server, answer.incarnation)
        master = dict(answer.brokers).get(MASTER)
        if master is None:
            continue
        found = _election_of(master, elections, answer.at_ms, reached.get(whose, 0))
        if found is None:
            reason = (
                f"{answer.name_server} sends producers to {master} at {answer.at_ms} ms, which is "
                f"not the master that it has known"
            )
            return Broken(promise=Promise.NEWEST, reason=reason)
        reached[whose] = found
    routes = sum(bool(answer.brokers) for answer in answers)
    return RoutesKept(routes, acting) if routes else Undecided(reason="no route was found")


def _in_itself(answer: RouteAnswer, *, has_acting: bool) -> Broken | None:
    """Look for what no route may be."""
    where = f"{answer.name_server} at {answer.at_ms} ms"
    addresses = [address for _, address in answer.brokers]
    if len(set(addresses)) < len(addresses):
        return Broken(promise=Promise.ONCE, reason=f"{where} has {sorted(addresses)}")
    if has_acting and answer.writable and MASTER not in dict(answer.brokers):
        reason = f"{where} says that topics may be written, and has no master"
        return Broken(promise=Promise.WRITABLE, reason=reason)
    return None


def _election_of(
    master: str, elections: Sequence[Election], at_ms: TimestampMs, least: int
) -> int | None:
    """Return the first election from a place on in which a broker became master by a time."""
    for place in range(least, len(elections)):
        election = elections[place]
        if election.at_ms > at_ms:
            return None
        if election.address == master:
            return place
    return None

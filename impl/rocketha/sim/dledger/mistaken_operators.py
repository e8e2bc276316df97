"""Who administers a DLedger group, and is mistaken about who leads it, since when, or who is in it.

| whom it asks | what it wants                                                                  |
|--------------|--------------------------------------------------------------------------------|
| a member     | its leadership, of the present term, for another one                           |
| the leader   | its leadership of the term before, or of one that is yet to come               |
| the leader   | its leadership for who is no member, or has it already                         |
| the leader   | its leadership for another member, and at once for the next one                |
| a member     | that another one hands over its leadership, to a third one where there is one  |
| a member     | that it takes over from another one, which does not lead it, or in another     |
|              | term                                                                           |

It is told that, and nothing changes, but for the first of two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Final

from rocketha.formats.dledger_requests import LeadershipTransferRequest
from rocketha.sim.dledger.cluster import DLedgerCluster
from rocketha.sim.dledger.machine import Member
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.random_source import Injection
from rocketha.types import Term

__all__ = ["MistakenOperators", "transfer_request"]

_OPERATOR: Final = "operator"
_STRANGER: Final = "stranger"


class MistakenOperators:
    """Who asks for what cannot be."""

    def __init__(self, cluster: DLedgerCluster) -> None:
        """Take the group."""
        self._cluster = cluster

    def handlers(self) -> dict[Fault, Callable[[Injection], None]]:
        """Return what happens then."""
        return {Fault.MISTAKEN_OPERATOR: self._ask}

    def _ask(self, injection: Injection) -> None:
        """Let a member be asked, perhaps twice."""
        cluster, rng = self._cluster, injection.rng
        up, leader = cluster.up(), cluster.leader()
        if not up or len(cluster.members) < 2:
            return
        drawn = cluster.members[rng.choice(up).id]
        member = drawn if leader is None or rng.randrange(3) == 0 else leader
        cluster.counts.add(Fault.MISTAKEN_OPERATOR)
        for asked in _requests(member, rng, leads=member is leader):
            wanted = f"that {asked.transferee_id} leads instead of {asked.transfer_id}"
            injection.note(f"{member.config.self_id} is asked, of term {asked.term}: {wanted}")
            member.ask_from_outside(asked)


def _requests(member: Member, rng: Random, *, leads: bool) -> tuple[LeadershipTransferRequest, ...]:
    config = member.config
    others = rng.sample(config.others, len(config.others))
    right = transfer_request(member, others[0])
    wrong = (
        replace(right, term=Term(right.term + rng.choice((-1, 1)))),
        replace(right, transferee_id=rng.choice((_STRANGER, config.self_id, None))),
        replace(right, transfer_id=others[-1], transferee_id=others[0]),
        _to_take_over(member, right, rng),
    )
    if leads and rng.randrange(4) == 0:
        return right, replace(right, transferee_id=others[-1])
    if not leads:
        return (rng.choice((right, wrong[-1], rng.choice(wrong))),)
    return (rng.choice(wrong),)


def _to_take_over(
    member: Member, right: LeadershipTransferRequest, rng: Random
) -> LeadershipTransferRequest:
    """Return what its leader does not ask a member for."""
    config, leader = member.config, member.state.elector.member.leader_id
    asked = replace(right, transferee_id=config.self_id)
    if leader not in config.others:
        return replace(asked, transfer_id=rng.choice(config.others))
    return replace(asked, transfer_id=leader, term=Term(right.term + rng.choice((-1, 1))))


def transfer_request(member: Member, transferee: str) -> LeadershipTransferRequest:
    """Return what an operator sends to a member whose leadership another one is to have."""
    config = member.config
    return LeadershipTransferRequest(
        group=config.group,
        local_id=_OPERATOR,
        remote_id=config.self_id,
        leader_id=config.self_id,
        term=member.state.elector.member.curr_term,
        transfer_id=config.self_id,
        transferee_id=transferee,
    )

"""Requests that come to a member and are for another one, or that no member of its group sends.

Who has the address that somebody else had hears what is sent there. Each of these would change
something in who took it: it is of the present term, or of a larger one. The others are forged
(`forged_requests`): in the name of its leader, of another member, its own, or of no member.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

from rocketha.formats.dledger_codes import PushType
from rocketha.formats.dledger_requests import (
    DLedgerRequest,
    HeartBeatRequest,
    InstallSnapshotRequest,
    LeadershipTransferRequest,
    PushEntryRequest,
    VoteRequest,
)
from rocketha.sim.dledger.cluster import DLedgerCluster
from rocketha.sim.dledger.forged_requests import STRANGER, forged_request, unreadable_request
from rocketha.sim.dledger.machine import Member
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.random_source import Injection
from rocketha.types import LogIndex, Term

__all__ = ["WrongRequests"]

_OTHER_GROUP: Final = "another"
_FAR: Final = LogIndex(10**6)
_UNREADABLE: Final = 4
"""Of what no member sends one of so many cannot be read."""


class WrongRequests:
    """Who takes a member of a group for somebody else, or says that it is somebody else."""

    def __init__(self, cluster: DLedgerCluster) -> None:
        """Take the group."""
        self._cluster = cluster

    def handlers(self) -> dict[Fault, Callable[[Injection], None]]:
        """Return what happens then."""
        return {Fault.MISDIRECTED_REQUEST: self._misdirect, Fault.FORGED_REQUEST: self._forge}

    def _misdirect(self, injection: Injection) -> None:
        """Let a member hear something that is not for it."""
        member = self._drawn(injection.rng)
        if member is None:
            return
        request = _misdirected(member, injection.rng)
        self._cluster.counts.add(Fault.MISDIRECTED_REQUEST)
        whom = f"{request.remote_id} of group {request.group}"
        name = type(request).__name__
        injection.note(f"{member.config.self_id} hears a {name} that is for {whom}")
        member.ask_from_outside(request)

    def _forge(self, injection: Injection) -> None:
        """Let a member hear something that no member sends."""
        member = self._drawn(injection.rng)
        if member is None:
            return
        cluster, rng = self._cluster, injection.rng
        injection.note(f"{member.config.self_id} hears what nobody of its group sends")

        def hear() -> None:
            cluster.counts.add(Fault.FORGED_REQUEST)
            if rng.randrange(_UNREADABLE) == 0:
                member.ask_unreadably(unreadable_request(member, rng))
            else:
                member.ask_from_outside(forged_request(member, rng))

        member.when_it_runs(hear)

    def _drawn(self, rng: Random) -> Member | None:
        up = self._cluster.up()
        return self._cluster.members[rng.choice(up).id] if up else None


def _misdirected(member: Member, rng: Random) -> DLedgerRequest:
    config, term = member.config, member.state.elector.member.curr_term
    others = (*config.others, STRANGER)
    is_of_group = rng.randrange(2) == 0
    base: dict[str, Any] = {
        "group": config.group if is_of_group else _OTHER_GROUP,
        "local_id": rng.choice(others),
        "remote_id": rng.choice(others) if is_of_group else config.self_id,
        "term": Term(term + rng.randrange(3)),
    }
    leader = base["local_id"]
    made: tuple[Callable[[], DLedgerRequest], ...] = (
        lambda: VoteRequest(
            **base, leader_id=leader, ledger_end_index=_FAR, ledger_end_term=base["term"]
        ),
        lambda: HeartBeatRequest(**base, leader_id=leader),
        lambda: PushEntryRequest(**base, leader_id=leader, kind=PushType.COMMIT, commit_index=_FAR),
        lambda: InstallSnapshotRequest(
            **base, leader_id=leader, last_included_index=_FAR, last_included_term=term, data=b"{}"
        ),
        lambda: LeadershipTransferRequest(
            **base, leader_id=leader, transfer_id=config.self_id, transferee_id=leader
        ),
    )
    return rng.choice(made)()

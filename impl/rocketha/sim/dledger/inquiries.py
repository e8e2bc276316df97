"""Clients that ask a member of a DLedger group who leads, or for an entry of its log.

Now and then they ask who is another member, or one of another group; then so do some that append.
Others append what no file of the log has room for. Each is answered at once, and nothing changes.
"""

from __future__ import annotations

from random import Random
from typing import Final

from rocketha.dledger.client_requests import ClientRequest
from rocketha.formats.dledger_requests import (
    AppendEntryRequest,
    GetEntriesRequest,
    MetadataRequest,
)
from rocketha.sim.dledger.cluster import DLedgerCluster
from rocketha.sim.dledger.machine import Member
from rocketha.sim.engine.random_source import Injection
from rocketha.types import LogIndex

__all__ = ["Inquiries"]

_OTHER_GROUP: Final = "another"
_STRANGER: Final = "stranger"
_ASKS_LEADER: Final = 2
"""Of three requests, so many go to who leads."""
_MISDIRECTED: Final = 4
"""One of so many is."""


class Inquiries:
    """Who wants to know something of a group."""

    def __init__(self, cluster: DLedgerCluster) -> None:
        """Take the group."""
        self._cluster = cluster

    def inquire(self, injection: Injection) -> None:
        """Let a client ask a member."""
        cluster, rng = self._cluster, injection.rng
        up, leader = cluster.up(), cluster.leader()
        if not up:
            return
        member = cluster.members[rng.choice(up).id]
        if leader is not None and rng.randrange(3) < _ASKS_LEADER:
            member = leader
        request = _request(member, rng)
        whom = f"{request.remote_id} of group {request.group}"
        injection.note(f"{member.config.self_id} hears a {type(request).__name__} for {whom}")
        member.asked(request)


def _request(member: Member, rng: Random) -> ClientRequest:
    config, store = member.config, member.files().store
    group, remote_id = config.group, config.self_id
    is_misdirected = rng.randrange(_MISDIRECTED) == 0
    if is_misdirected:
        others = (*config.others, _STRANGER)
        group, remote_id = rng.choice(((_OTHER_GROUP, remote_id), (group, rng.choice(others))))
    first, last = store.before_begin_index - 1, store.end_index + 1
    index = None if rng.randrange(8) == 0 else LogIndex(rng.randint(first, last))
    body = b"for another one" if is_misdirected else bytes(store.body_max + 1)
    made: tuple[ClientRequest, ...] = (
        MetadataRequest(group=group, remote_id=remote_id),
        GetEntriesRequest(group=group, remote_id=remote_id, begin_index=index),
        AppendEntryRequest(group=group, remote_id=remote_id, body=body),
    )
    return rng.choice(made)

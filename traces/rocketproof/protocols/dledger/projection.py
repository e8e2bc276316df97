"""Runs of `rocketha.dledger` as behaviours of DLedger.

Which action a step is, what arrived, what was sent and what has changed say; what its core says of
it is not asked. After every action the whole state is read from the real one:

| specification        | implementation                                                       |
|----------------------|----------------------------------------------------------------------|
| term, vote           | `currterm` on the disk                                               |
| log, synced, base    | the entries in the data files, with those that a snapshot stands for |
| snap                 | the newest snapshot on the disk                                      |
| round                | of a candidate with a round: what was answered, arrived or not       |
| asks, transfers      | requests that were sent                                              |
| sent                 | of each leadership: the leader's log, its commit index, its snapshot |
| truncates            | of each COMPARE that succeeded: what its leader will have cut        |
| acks                 | answers that were sent, the largest index of each member and term    |
| agreed               | the longest log of which a leader has said that it is committed      |
| all else             | the member's memory                                                  |

A member that is down has the state that it had; when it is back, that was a Crash, or a
Discard; or nothing, if it had neither written a term nor learnt anything.
"""

from __future__ import annotations

from typing import Final

from rocketha.sim.dledger.cluster import (
    DLedgerCluster,
    DLedgerStep,
    MemberStarted,
    MemberStopped,
)
from rocketha.sim.dledger.machine import MemberStepped
from rocketha.sim.engine.node import broker_address
from rocketproof.protocols.dledger.group import GroupFollower, Told
from rocketproof.protocols.dledger.seen import RunningMember
from rocketproof.protocols.dledger.values import GroupValues
from rocketproof.protocols.epoch_truncation.values import NONE
from tlatrace.trace import Event
from tlatrace.values import State, tla_set

__all__ = ["DLEDGER_SPEC", "DLedgerProjection"]

DLEDGER_SPEC: Final = "DLedger"


class DLedgerProjection:
    """An observer of a simulated run that records the events of a trace."""

    def __init__(self) -> None:
        """Begin an empty trace."""
        self.events: list[Event] = []
        self._cluster: DLedgerCluster | None = None
        self._group = GroupFollower(())
        self._values = GroupValues()

    @property
    def constants(self) -> State:
        """Return the constants of the specification, as the run has them."""
        assert self._cluster is not None
        configs = self._cluster.plan.configs
        return {
            "Node": tla_set(self._group.names),
            "None": NONE,
            "Preferred": tla_set(configs[0].preferred_leader_ids),
        }

    def started(self, cluster: DLedgerCluster) -> None:
        """Record the initial state."""
        self._cluster = cluster
        self._group = GroupFollower([broker_address(number) for number in cluster.members])
        for member in cluster.members.values():
            self._group.begins(RunningMember(member))
        self._record(cluster, NONE, ("Init", ()))

    def stepped(self, cluster: DLedgerCluster, step: DLedgerStep) -> None:
        """Record an action, and the state after it."""
        if isinstance(step, MemberStopped):
            return
        look = RunningMember(cluster.members[step.member])
        told: Told | None
        match step:
            case MemberStepped(event=event, received=received, sent=sent):
                uncompared = self._group.cuts_uncompared(look, received)
                if uncompared is not None:
                    self._record(cluster, look.name, uncompared)
                told = self._group.steps(look, type(event).__name__, received, sent)
            case MemberStarted():
                told = self._group.starts_again(look)
        if told is not None:
            self._record(cluster, look.name, told)

    def _record(self, cluster: DLedgerCluster, node: str, told: Told) -> None:
        action, params = told
        self.events.append(
            Event(
                step=len(self.events),
                action=action,
                params=params,
                node=node,
                state=self._values.state(self._group.parts()),
                clock=cluster.now_ms,
            )
        )

"""What happens to a DLedger group: clients of its registers, operators, faults."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Final

from rocketha.dledger.node_state import NodeState
from rocketha.dledger.push_state import NO_INDEX
from rocketha.histories.clients import LinearizableClients
from rocketha.histories.linearizability.operation import Kind
from rocketha.sim.dledger.clients import How
from rocketha.sim.dledger.cluster import DLedgerCluster
from rocketha.sim.dledger.disk_faults import DiskFaults
from rocketha.sim.dledger.inquiries import Inquiries
from rocketha.sim.dledger.machine import Member
from rocketha.sim.dledger.mistaken_operators import MistakenOperators, transfer_request
from rocketha.sim.dledger.nemeses import Nemeses
from rocketha.sim.dledger.plan import DLedgerPlan
from rocketha.sim.dledger.wrong_requests import WrongRequests
from rocketha.sim.engine.clock import TRUE_TIME
from rocketha.sim.engine.fault_injector import FaultInjector
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.node import broker_address
from rocketha.sim.engine.random_source import Injection, InjectionPoint, PerPurposeStreams
from rocketha.types import BrokerId

__all__ = ["DLedgerWorkload"]

_ASKS_ANY_LEADER_PERCENT: Final = 40
_ASKS_LEADER_PERCENT: Final = 85
_INQUIRY_MS: Final = 400
"""Mean time between two clients that want to know who leads, or to have an entry."""


@dataclass(slots=True)
class _Caller:
    """Who calls; after a call that may never return it goes on under another number."""

    name: str
    calls: int = 0


class DLedgerWorkload:
    """Clients, operators and faults around a group."""

    def __init__(
        self, cluster: DLedgerCluster, plan: DLedgerPlan, streams: PerPurposeStreams
    ) -> None:
        """Prepare the world; nothing happens yet."""
        self._cluster = cluster
        self._plan = plan
        self._streams = streams
        self._healed_with: tuple[int, int, int] | None = None
        """What was answered before the faults ended: writes, reads by the log, by the index."""
        self._to_apply = NO_INDEX
        """What was committed when the faults ended."""
        self._injector: FaultInjector[NodeState] = FaultInjector(
            cluster, streams, is_master=self._leads
        )

    def _leads(self, node: object) -> bool:
        leader = self._cluster.leader()
        return leader is not None and leader.machine is node

    def begin(self) -> None:
        """Let all come up, and clients begin."""
        plan, cluster = self._plan, self._cluster
        for clock in plan.clocks:
            if clock != TRUE_TIME:
                cluster.counts.add(Fault.CLOCK_SKEW)
        handlers = {**self._injector.handlers(), **Nemeses(cluster).handlers()}
        handlers |= DiskFaults(cluster).handlers() | WrongRequests(cluster).handlers()
        handlers |= MistakenOperators(cluster).handlers()
        cluster.clients.loss_percent = plan.client_loss_percent
        cluster.begin()
        for number in range(1, plan.clients + 1):
            caller = _Caller(f"c{number}")
            self._next_call(caller, cluster.clients.new_client())
        for fault, gap_ms in plan.faults.mean_gap_ms:
            self._injector.sometimes(gap_ms, handlers[fault], fault)
        inquire = Inquiries(cluster).inquire
        self._injector.sometimes(_INQUIRY_MS, inquire, "inquiry")
        if plan.transfer_ms is not None:
            self._injector.sometimes(plan.transfer_ms, self._transfer, "transfer")

    def heal(self) -> None:
        """End all faults."""
        cluster = self._cluster
        self._injector.calm_network()
        self._injector.restart_all()
        cluster.calm_down()
        self._healed_with = self._answered()
        committed = [one.state.pusher.committed_index for one in cluster.members.values()]
        self._to_apply = max(committed)

    # ---- the end ----

    @property
    def actions(self) -> int:
        """Return the number of actions so far."""
        return self._cluster.actions

    def _answered(self) -> tuple[int, int, int]:
        clients = self._cluster.clients
        reads = clients.answered_reads
        return clients.answered_writes, reads[True], reads[False]

    def converged(self) -> bool:
        """Tell whether clients were answered in each way since, and all follow one leader.

        All have applied what anybody knew to be committed when the faults ended.
        """
        before, cluster = self._healed_with, self._cluster
        if before is None or cluster.leader() is None:
            return False
        if not all(now > then for now, then in zip(self._answered(), before, strict=True)):
            return False
        states = [member.state for member in cluster.members.values() if member.host.is_up]
        led = {(one.elector.member.curr_term, one.elector.member.leader_id) for one in states}
        applied = [one.pusher.applied_index for one in states]
        return (
            len(states) == len(cluster.members) and len(led) == 1 and min(applied) >= self._to_apply
        )

    def unavailable_because(self) -> str | None:
        """Return None: all are there."""
        return None

    def clients(self, *, converged: bool) -> LinearizableClients:
        """Return what clients saw."""
        del converged
        clients = self._cluster.clients
        operations = [*clients.operations, *clients.pending()]
        return LinearizableClients(tuple(sorted(operations, key=lambda one: one.called_at)))

    # ---- what happens ----

    def _next_call(self, caller: _Caller, client: int) -> None:
        rng = self._streams.of("calls", caller.name)
        wait_ms = 1 + rng.randrange(2 * self._plan.think_ms)
        self._cluster.scheduler.after(wait_ms, partial(self._call, caller, client))

    def _call(self, caller: _Caller, client: int) -> None:
        """Let a client ask for something, unless the schedule leaves it out."""
        rng, plan, cluster = self._streams.of("calls", caller.name), self._plan, self._cluster
        key = f"r{rng.randrange(plan.keys)}"
        kind = Kind.WRITE if rng.randrange(100) < plan.write_percent else Kind.READ
        how = How(kind, by_log=rng.randrange(100) < plan.log_read_percent)
        whom, then = self._whom(rng), partial(self._next_call, caller)
        caller.calls += 1
        point = InjectionPoint("call", caller.name, caller.calls)
        if not self._streams.allows(point):
            then(client)
            return
        way = "by the log" if how.by_log else "by the index"
        words = kind.value if kind is Kind.WRITE else f"{kind.value} {way}"
        self._streams.note(point, f"{caller.name} asks {broker_address(whom)}: {words} {key}")
        cluster.clients.call(client, whom, key, how, rng=self._streams.once(point), then=then)

    def _whom(self, rng: Random) -> BrokerId:
        """Ask the leader, or who takes itself for it; now and then anybody."""
        leader, members = self._cluster.leader(), self._cluster.members
        led = [one.id for one in members.values() if self._takes_itself_for_leader(one)]
        drawn, asks = rng.choice(list(members)), rng.randrange(100)
        if led and asks < _ASKS_ANY_LEADER_PERCENT:
            return rng.choice(led)
        return leader.id if leader is not None and asks < _ASKS_LEADER_PERCENT else drawn

    @staticmethod
    def _takes_itself_for_leader(member: Member) -> bool:
        return member.host.is_up and member.state.elector.member.is_leader

    def _transfer(self, injection: Injection) -> None:
        """Let an operator hand the leadership over."""
        cluster = self._cluster
        leader = cluster.leader()
        if leader is None or len(cluster.members) < 2:
            return
        config = leader.config
        transferee = injection.rng.choice(config.others)
        injection.note(f"an operator wants {transferee} to lead instead of {config.self_id}")
        leader.ask_from_outside(transfer_request(leader, transferee))

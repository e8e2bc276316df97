"""What happens to any cluster, whatever its protocol: resets, partitions, crashes.

Everything that comes by itself is drawn from the seed, so a seed is a run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Final, Generic, Protocol, TypeVar

from rocketha.sim.engine.crash_points import ENDS, CrashPoints, Ending
from rocketha.sim.engine.faults import Fault, FaultCounts, FaultPlan
from rocketha.sim.engine.network import Network
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.random_source import Injection, RandomSource
from rocketha.sim.engine.recurrence import Recurrence
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.types import BrokerId

__all__ = ["NO_FAULT_PLAN", "FaultInjector", "FaultTarget"]

S = TypeVar("S")

NO_FAULT_PLAN: Final = FaultPlan(
    faults=frozenset(),
    mean_gap_ms=(),
    delay_percent=0,
    delay_max_ms=1,
    fragment_percent=0,
    stale_route_percent=0,
)
"""No faults."""

_QUICK_RESTART_MS: Final = 60
_SLOW_RESTART_MS: Final = 2_500
_SEAMS_MAX: Final = 3
_PARTITION_MS: Final = (200, 2_500)


class FaultTarget(Protocol[S]):
    """A cluster, as far as faults see it."""

    @property
    def nodes(self) -> Mapping[BrokerId, Node[S]]:
        """Return the brokers."""
        ...

    @property
    def scheduler(self) -> Scheduler:
        """Return the clock."""
        ...

    @property
    def network(self) -> Network:
        """Return what connects the brokers."""
        ...

    @property
    def counts(self) -> FaultCounts:
        """Return where faults are counted."""
        ...

    @property
    def crash_points(self) -> CrashPoints:
        """Return where brokers end in the middle of a step."""
        ...

    def up(self) -> list[Node[S]]:
        """Return the brokers that run."""
        ...

    def crash(self, node: Node[S], *, silent: bool) -> None:
        """Stop a broker of which the disk is what survives; a silent one tells no peer."""
        ...

    def restart(self, node: Node[S]) -> None:
        """Let a broker come back that is down."""
        ...


class FaultInjector(Recurrence, Generic[S]):
    """Faults that come by themselves, until the cluster heals."""

    def __init__(
        self,
        cluster: FaultTarget[S],
        random_source: RandomSource,
        *,
        is_master: Callable[[Node[S]], bool],
        may_stop: Callable[[Node[S]], bool] = lambda _: True,
        may_lose_power: Callable[[Node[S], Random], bool] = lambda *_: True,
    ) -> None:
        """Prepare them; nothing happens yet. Who may not stop now is passed by."""
        super().__init__(cluster.scheduler, random_source)
        self._cluster = cluster
        self._is_master = is_master
        self._may_stop = may_stop
        self._may_lose_power = may_lose_power

    # ---- the end of faults ----

    def calm_network(self) -> None:
        """Let nothing strike any more, and everybody hear everybody."""
        self.healed = True
        self._cluster.network.heal()
        self._cluster.network.plan = NO_FAULT_PLAN
        self._cluster.crash_points.is_calm = True

    def restart_all(self) -> None:
        """Let everybody come back that is down."""
        for node in self._cluster.nodes.values():
            if node.state is None:
                self._cluster.restart(node)

    # ---- faults ----

    def handlers(self) -> dict[Fault, Callable[[Injection], None]]:
        """Return what each of these faults does when it strikes."""
        return {
            Fault.RESET: self._reset,
            Fault.PARTITION: lambda injection: self._partition(injection, Fault.PARTITION),
            Fault.ONE_WAY_PARTITION: lambda injection: self._partition(
                injection, Fault.ONE_WAY_PARTITION
            ),
            Fault.POWER_CUT: lambda injection: self._crash(injection, Fault.POWER_CUT),
            Fault.TORN_WRITE: lambda injection: self._crash(injection, Fault.TORN_WRITE),
            Fault.PROCESS_CRASH: lambda injection: self._crash(injection, Fault.PROCESS_CRASH),
            Fault.CUT_IN_STEP: self._cut_in_step,
        }

    def _reset(self, injection: Injection) -> None:
        connections = self._cluster.network.connections()
        if connections:
            self._cluster.counts.add(Fault.RESET)
            broken = injection.rng.choice(connections)
            client, server = broker_address(broken.client), broker_address(broken.server)
            injection.note(f"the connection of {client} to {server} breaks")
            half_open = self._is_silent(injection, Fault.RESET, f"{server} is not told")
            self._cluster.network.reset(broken, half_open=half_open)

    def _partition(self, injection: Injection, fault: Fault) -> None:
        cluster = self._cluster
        if len(cluster.nodes) < 2:
            return
        one, other = injection.rng.sample(list(cluster.nodes), 2)
        cluster.counts.add(fault)
        directions = [(one, other)]
        if fault is Fault.PARTITION:
            directions.append((other, one))
        for sender, receiver in directions:
            cluster.network.block(sender, receiver)

        def end() -> None:
            for sender, receiver in directions:
                cluster.network.unblock(sender, receiver)

        wait_ms = injection.rng.randrange(*_PARTITION_MS)
        arrow = "<->" if fault is Fault.PARTITION else "->"
        names = f"{broker_address(one)} {arrow} {broker_address(other)}"
        injection.note(f"nothing comes through {names} for {wait_ms} ms")
        cluster.scheduler.after(wait_ms, end)

    def _crash(self, injection: Injection, fault: Fault) -> None:
        cluster, rng = self._cluster, injection.rng
        up = [node for node in cluster.up() if self._may_stop(node)]
        if fault is not Fault.PROCESS_CRASH:
            up = [node for node in up if self._may_lose_power(node, rng)]
        if not up:
            return
        node = self._victim(up, rng)
        cluster.counts.add(fault)
        match fault:
            case Fault.POWER_CUT:
                node.lose_power(None)
            case Fault.TORN_WRITE:
                node.lose_power(rng)
            case _:
                pass
        silent = self._is_silent(injection, fault, "its peers are not told")
        cluster.crash(node, silent=silent)
        limit = rng.choice((_QUICK_RESTART_MS, _SLOW_RESTART_MS))
        incarnation = node.incarnation

        def restart() -> None:
            if node.state is None and node.incarnation == incarnation:
                cluster.restart(node)

        wait_ms = 1 + rng.randrange(limit)
        injection.note(f"{broker_address(node.id)} stops, and comes back after {wait_ms} ms")
        cluster.scheduler.after(wait_ms, restart)

    def _cut_in_step(self, injection: Injection) -> None:
        """Let a broker end at one of the next seams of its steps."""
        cluster, rng = self._cluster, injection.rng
        end = rng.choice(ENDS)
        up = [node for node in cluster.up() if self._may_stop(node)]
        if end is not Fault.PROCESS_CRASH:
            up = [node for node in up if self._may_lose_power(node, rng)]
        if not up:
            return
        node = self._victim(up, rng)
        seams = 1 + rng.randrange(_SEAMS_MAX)
        restart_ms = 1 + rng.randrange(rng.choice((_QUICK_RESTART_MS, _SLOW_RESTART_MS)))
        silent = self._draws_silence(injection, end, "its peers are not told")
        ending = Ending(end=end, rng=rng, silent=silent, restart_ms=restart_ms)
        name = broker_address(node.id)
        injection.note(f"{name} ends in the middle of a step, {seams} seams from now: {end}")
        cluster.crash_points.arm(name, seams, ending)

    def _is_silent(self, injection: Injection, fault: Fault, words: str) -> bool:
        """Tell whether the peers are not told, and count it if so."""
        silent = self._draws_silence(injection, fault, words)
        if silent:
            self._cluster.counts.add(Fault.HALF_OPEN)
        return silent

    def _draws_silence(self, injection: Injection, fault: Fault, words: str) -> bool:
        """Draw whether the peers are not told; a process that stops says goodbye."""
        plan = self._cluster.network.plan
        if (
            fault is Fault.PROCESS_CRASH
            or Fault.HALF_OPEN not in plan
            or injection.rng.randrange(2)
        ):
            return False
        return injection.part(Fault.HALF_OPEN, words)

    def _victim(self, up: list[Node[S]], rng: Random) -> Node[S]:
        """Choose who stops; often a master, or the one that has the most to lose."""
        match rng.randrange(3):
            case 0:
                return rng.choice(up)
            case 1:
                return rng.choice([node for node in up if self._is_master(node)] or up)
            case _:
                return max(up, key=lambda n: (n.unsynced, -n.id))

"""The members of a DLedger group, and the clients of their registers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol, TypeAlias

from rocketha.dledger.node_state import NodeState
from rocketha.recording.recorder import NOT_RECORDED, Recording
from rocketha.sim.dledger.clients import Clients
from rocketha.sim.dledger.failed_starts import fail_a_start
from rocketha.sim.dledger.machine import DLedgerMachine, Member, MemberStepped, SavedClient
from rocketha.sim.dledger.member import end_in_step
from rocketha.sim.dledger.plan import DLedgerPlan
from rocketha.sim.engine.crash_points import CrashPoints, Ending
from rocketha.sim.engine.faults import Fault, FaultCounts
from rocketha.sim.engine.network import Network
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.random_source import RandomSource
from rocketha.sim.engine.remoting_calls import Arrived, Calls, RemotingCalls
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.types import BrokerId

__all__ = [
    "DLedgerCluster",
    "DLedgerObserver",
    "DLedgerStep",
    "MemberStarted",
    "MemberStopped",
    "NullDLedgerObserver",
]


@dataclass(frozen=True, slots=True)
class MemberStopped:
    """A member is down; its disk is what survives."""

    member: BrokerId


@dataclass(frozen=True, slots=True)
class MemberStarted:
    """A member is back with what its disk has."""

    member: BrokerId


DLedgerStep: TypeAlias = MemberStepped | MemberStopped | MemberStarted


class DLedgerObserver(Protocol):
    """Whoever watches a run. It may look at everything and must change nothing."""

    def started(self, cluster: DLedgerCluster) -> None:
        """Look at the group before anything happens."""
        ...

    def stepped(self, cluster: DLedgerCluster, step: DLedgerStep) -> None:
        """Look at the group after a step."""
        ...


class NullDLedgerObserver:
    """Whoever looks away."""

    def started(self, cluster: DLedgerCluster) -> None:
        """Do nothing."""

    def stepped(self, cluster: DLedgerCluster, step: DLedgerStep) -> None:
        """Do nothing."""


_DOUBLED_MS: Final = (20, 1_000)


class DLedgerCluster:
    """A group and its clients."""

    def __init__(
        self,
        *,
        plan: DLedgerPlan,
        scheduler: Scheduler,
        network: Network,
        random_source: RandomSource,
        counts: FaultCounts,
        observer: DLedgerObserver,
        recording: Recording = NOT_RECORDED,
        crash_points: CrashPoints | None = None,
    ) -> None:
        """Make a group whose disks are empty, and let all its members come up."""
        self.plan = plan
        self.scheduler = scheduler
        self.network = network
        self.random_source = random_source
        self.counts = counts
        self.recording = recording
        self.crash_points = crash_points or CrashPoints()
        self.actions = 0
        self.is_calm = False
        """Nothing goes wrong any more."""
        self.clients = Clients(self)
        self._observer = observer
        self.machines: dict[BrokerId, DLedgerMachine] = {}
        self.members: dict[BrokerId, Member] = {}
        self._starts: Counter[BrokerId] = Counter()
        """How often each member has come back."""
        self._unbegun = set(map(BrokerId, range(1, len(plan.configs) + 1)))
        """Who has not taken its first event."""
        for config, clock in zip(plan.configs, plan.clocks, strict=True):
            number = BrokerId(config.peers.index(config.self_id) + 1)
            machine = DLedgerMachine(number, plan.bugs)
            machine.clock = clock
            self.machines[number] = machine
            self.members[number] = Member(machine, config, self)
        self.calls: Calls = RemotingCalls(network, self)
        for member in self.members.values():
            member.start()
        observer.started(self)

    def begin(self) -> None:
        """Let all members take their first event, each in its time."""
        for member, late_ms in zip(self.members.values(), self.plan.late_starts_ms, strict=True):
            if late_ms:
                member.stand_still(late_ms)
            member.when_it_runs(partial(self._begin, member))

    def calm_down(self) -> None:
        """Let nothing go wrong any more, and have all members run."""
        self.clients.loss_percent = 0
        self.is_calm = True
        for member in self.members.values():
            member.go_on()
            self._begin(member)

    def _begin(self, member: Member) -> None:
        if member.id in self._unbegun:
            self._unbegun.remove(member.id)
            member.begin()

    @property
    def nodes(self) -> Mapping[BrokerId, Node[NodeState]]:
        """Return the machines."""
        return self.machines

    @property
    def now_ms(self) -> int:
        """Return the virtual time."""
        return self.scheduler.now_ms

    def up(self) -> list[Node[NodeState]]:
        """Return the machines whose members run, and have begun: they can end."""
        return [
            machine
            for number, machine in self.machines.items()
            if machine.state is not None and number not in self._unbegun
        ]

    def leader(self) -> Member | None:
        """Return the leader of the largest term, of those that run and say that they lead."""
        led = [
            (member.state.elector.member.curr_term, member.id, member)
            for member in self.members.values()
            if member.host.is_up and member.state.elector.member.is_leader
        ]
        return max(led)[2] if led else None

    def draw_seed(self, machine: Node[NodeState]) -> int:
        """Return where the random numbers of a member that starts begin."""
        return self.random_source.of("elections", machine.id).getrandbits(63)

    # ---- what happens from outside ----

    def crash(self, node: Node[NodeState], *, silent: bool = False) -> None:
        """Stop a member of which the disk is what survives."""
        self.crash_points.disarm(broker_address(node.id))
        member = self.members[node.id]
        member.recorder.stopped(dict)
        member.stop()
        node.stop()
        self.calls.stop(node.id, silent=silent)
        self._tell(MemberStopped(node.id))

    def restart(self, node: Node[NodeState]) -> None:
        """Let a member come back that is down."""
        assert node.state is None
        if not self.is_calm:
            self._starts[node.id] += 1
            fail_a_start(self.members[node.id], self, self._starts[node.id])
        member = self.members[node.id]
        member.start()
        self._tell(MemberStarted(node.id))
        if member.ends_as_it_started():
            self.crash(node)
            self.restart(node)
        else:
            member.begin()

    def end_in_step(self, machine: Node[NodeState], ending: Ending) -> None:
        """Stop a member in the middle of a step; it comes back."""
        end_in_step(self, machine, ending)

    # ---- who hears requests (rocketha.sim.engine.remoting_calls.Servers) ----

    def is_up(self, peer: BrokerId) -> bool:
        """Tell whether a member runs."""
        return self.members[peer].host.is_up

    def asked(self, peer: BrokerId, arrived: Arrived) -> None:
        """Give a request to a member."""
        self.members[peer].arrive(arrived)

    # ---- what members tell ----

    def doubled_after_ms(self, machine: Node[Any]) -> int | None:
        """Draw whether a request arrives once more, and when."""
        percent = 0 if self.is_calm else self.plan.doubled_percent
        rng = self.random_source.of("doubled", machine.id)
        if not percent or rng.randrange(100) >= percent:
            return None
        self.counts.add(Fault.DOUBLED_REQUEST)
        return 1 + rng.randrange(rng.choice(_DOUBLED_MS))

    def client_told(self, told: SavedClient) -> None:
        """Tell a client."""
        self.clients.answered(told)

    def report(self, stepped: MemberStepped) -> None:
        """Tell who watches of a step."""
        if stepped.action is not None:
            self.actions += 1
        self._tell(stepped)

    def _tell(self, step: DLedgerStep) -> None:
        self._observer.stepped(self, step)

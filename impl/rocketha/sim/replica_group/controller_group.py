"""A controller of several members in a simulated broker group: each real, on a DLedger node.

Brokers have a channel to each member. What the group has agreed on is what any member has applied;
whoever watches the brokers sees one controller, whose entries come one by one. A member that has
made something else of the same entries is a failure of the core.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, Final, Protocol, TypeAlias

from rocketha.controller.applied import ControllerEvent
from rocketha.controller.core import (
    ChannelGone,
    ControllerHears,
    EntryActed,
    FrameReceived,
    LeadingController,
    ScanDue,
)
from rocketha.controller.dispatch import ControllerOptions
from rocketha.controller.dledger_controller import (
    ControllerMachinePerformer,
    DLedgerController,
    DLedgerControllerCore,
    DLedgerControllerMachine,
    NoopApplied,
    StateLoaded,
)
from rocketha.controller.entry import Entry
from rocketha.controller.host import ChannelPerformer
from rocketha.controller.state import ControllerState
from rocketha.controller.state_machine import ControllerStateMachine
from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.node_state import NodeAction, NodeHears, Started
from rocketha.dledger.performers import RolePerformer
from rocketha.dledger.state import RoleChanged
from rocketha.known_bugs import Bugs
from rocketha.recording.dledger_parts import MemberParts, settings_of
from rocketha.recording.recorder import Recording, StepRecorder
from rocketha.replicated_log.replicated_log import EntryApplied, LogPosition
from rocketha.runtime.events import RequestEvent
from rocketha.sim.dledger.member import LedgerMachine, LedgerMember, end_in_step
from rocketha.sim.engine.clock import Clock
from rocketha.sim.engine.crash_points import CrashPoints, Ending
from rocketha.sim.engine.failure import CoreFailure
from rocketha.sim.engine.faults import Fault, FaultCounts
from rocketha.sim.engine.network import Network
from rocketha.sim.engine.node import FIRST_CONTROLLER, Node, broker_address
from rocketha.sim.engine.random_source import RandomSource
from rocketha.sim.engine.remoting_calls import Arrived, Calls, RemotingCalls
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.replica_group.controller_channels import place_of
from rocketha.types import BrokerId, ConnectionId, TimestampMs

__all__ = ["ControllerGroup", "ControllerMember", "GroupListener"]

_SOON_MAX_MS: Final = 4
_DOUBLED_PERCENT: Final = 4
_DOUBLED_MS: Final = 400
_LEADER_PERCENT: Final = 70

_Hears: TypeAlias = NodeHears | ControllerHears | NoopApplied | StateLoaded


class GroupListener(Protocol):
    """Who hears what the members of a controller group say to brokers, and agree on."""

    def answer(self, channel: ConnectionId, data: bytes) -> None:
        """Send the answer to a request over its channel."""
        ...

    def close(self, channel: ConnectionId, *, reason: str) -> None:
        """End a channel."""
        ...

    def notify_from(self, controller: int, address: str, data: bytes) -> None:
        """Send a frame of a member to the broker at an address."""
        ...

    def applied(self, entry: Entry, events: tuple[ControllerEvent, ...]) -> None:
        """Hear that the group has one more entry, and what came of it."""
        ...

    def controller_stopped(self, controller: int) -> None:
        """Hear that a member is down, and its channels with it."""
        ...


class ControllerMember(LedgerMember[DLedgerController, _Hears, NodeAction | EntryActed]):
    """One member of the group, on its machine."""

    def __init__(
        self,
        machine: LedgerMachine[DLedgerController],
        config: DLedgerConfig,
        group: ControllerGroup,
        options: ControllerOptions,
    ) -> None:
        """Make a member that is down."""
        self.number = config.peers.index(config.self_id)
        """Its place in the list of controllers that brokers have."""
        self._group = group
        self._options = options
        self._service = self.new_machine()
        addresses = {peer: peer for peer in config.peers}
        applying = ControllerMachinePerformer(
            self.files, lambda: self._service, config, self.request
        )
        ports = _Ports(self, group)
        performers = (applying, RolePerformer(self._role_changed), ChannelPerformer(ports, ports))
        core = DLedgerControllerCore(options, addresses)
        super().__init__(machine, core, config, group, performers)
        seen = MemberParts(self.files, self.on_disk)
        self.record(settings_of(config), lambda: seen.of(machine.running().node))

    def start(self) -> None:
        """Come up with what the disk has."""
        self._service = self.new_machine()
        node = self.open(self._service)
        controller = LeadingController(self._service.machine.state)
        self.machine.state = DLedgerController(node=node, controller=controller)
        self.recorder.started()

    def new_machine(self) -> DLedgerControllerMachine:
        """Return a controller that knows nothing."""
        return DLedgerControllerMachine(ControllerStateMachine(self._options.rules))

    def begin(self) -> None:
        """Take the first event."""
        self.host.take(Started())

    @property
    def serves_in(self) -> int:
        """Return the term in which it serves brokers; 0: it does not."""
        state = self.machine.state
        return 0 if state is None or state.serves_in is None else state.serves_in

    def holds(self, position: LogPosition) -> bool:
        """Tell whether no power cut takes an entry from its disk, be it up or down."""
        store = self.files().store
        if position.index <= store.before_begin_index:
            return True
        is_there = store.term_at(position.index) == position.term
        return is_there and position.index <= store.synced_index

    def hear(self, event: FrameReceived | ChannelGone | ScanDue) -> None:
        """Let it hear a broker, or its timer, if it runs, as soon as it does not stand still."""
        incarnation = self.machine.incarnation

        def take() -> None:
            if self.host.is_up and self.machine.incarnation == incarnation:
                self.host.take(event)

        self.when_it_runs(take)

    # ---- what the engine asks ----

    def resolve(self, peer: BrokerId) -> BrokerId:
        """Find a member: the list of members begins with the first of them."""
        return BrokerId(FIRST_CONTROLLER + peer - 1)

    def name_of(self, peer: BrokerId) -> str:
        """Return the name of a member."""
        return broker_address(peer)

    def after_step(
        self, event: _Hears | RequestEvent, action: NodeAction | EntryActed | None
    ) -> None:
        """Tell the group of an entry."""
        self.frames.take_received()
        self.frames.take()
        if isinstance(event, EntryApplied) and isinstance(action, EntryActed):
            state = self.machine.running().controller.state
            self._group.member_applied(self, event.position, state, action)
        self.wait_for_disk()

    def _role_changed(self, changed: RoleChanged) -> None:
        """Have nothing that leads or follows but the node itself."""


class _Ports:
    """The channels and the timer of a member (rocketha.controller.host)."""

    def __init__(self, member: ControllerMember, group: ControllerGroup) -> None:
        self._member = member
        self._group = group

    def answer(self, channel: ConnectionId, data: bytes) -> None:
        """Send the answer to a request over its channel."""
        if not self._member.is_muted:
            self._group.listener.answer(channel, data)

    def close(self, channel: ConnectionId, *, reason: str) -> None:
        """End a channel."""
        if not self._member.is_muted:
            self._group.listener.close(channel, reason=reason)

    def notify(self, address: str, data: bytes) -> None:
        """Send a frame to the broker at an address."""
        if not self._member.is_muted:
            self._group.listener.notify_from(self._member.number, address, data)

    def scan_soon(self) -> None:
        """Scan after a time that is drawn."""
        wait_ms = 1 + self._group.rng.randrange(_SOON_MAX_MS)
        self._group.scheduler.after(wait_ms, lambda: self._member.hear(ScanDue()))


class ControllerGroup:
    """All members; what is around them, and what they have agreed on."""

    def __init__(
        self,
        configs: tuple[DLedgerConfig, ...],
        options: ControllerOptions,
        *,
        clocks: tuple[Clock, ...],
        bugs: Bugs,
        scheduler: Scheduler,
        network: Network,
        random_source: RandomSource,
        counts: FaultCounts,
        recording: Recording,
        crash_points: CrashPoints,
        listener: GroupListener,
        has_doubled: bool,
    ) -> None:
        """Make members with empty disks, and let them come up."""
        self.scheduler = scheduler
        self.network = network
        self.random_source = random_source
        self.counts = counts
        self.recording = recording
        self.crash_points = crash_points
        self.listener = listener
        self.steps = StepRecorder()
        self.rng: Random = random_source.of("controllers")
        self.is_calm = False
        """Nothing goes wrong any more."""
        self._has_doubled = has_doubled
        self._states: dict[int, ControllerState] = {}
        """Index of an entry -> what the first member has made of it."""
        self._last = -1
        self._to_apply = 0
        """What was agreed on when the faults ended."""
        self.agreed: list[Entry] = []
        """All entries that any member has applied, in their order."""
        self.machines: dict[BrokerId, LedgerMachine[DLedgerController]] = {}
        self.members: dict[BrokerId, ControllerMember] = {}
        for at, (config, clock) in enumerate(zip(configs, clocks, strict=True)):
            number = BrokerId(FIRST_CONTROLLER + at)
            machine: LedgerMachine[DLedgerController] = LedgerMachine(number, bugs)
            machine.clock = clock
            self.machines[number] = machine
            self.members[number] = ControllerMember(machine, config, self, options)
        self.calls: Calls = RemotingCalls(network, self)
        for member in self.members.values():
            member.start()
        for member in self.members.values():
            member.begin()

    # ---- what whoever looks may see ----

    @property
    def nodes(self) -> Mapping[BrokerId, Node[DLedgerController]]:
        """Return the machines."""
        return self.machines

    @property
    def state(self) -> ControllerState:
        """Return what the group has agreed on, as far as any member has applied it."""
        return self._states.get(self._last) or ControllerState()

    def up(self) -> list[Node[DLedgerController]]:
        """Return the machines whose members run."""
        return [machine for machine in self.machines.values() if machine.state is not None]

    def leader(self) -> ControllerMember | None:
        """Return who serves brokers, of the largest term."""
        serving = [(one.serves_in, one.id, one) for one in self.members.values() if one.serves_in]
        return max(serving)[2] if serving else None

    @property
    def has_stopped(self) -> bool:
        """Tell whether a member is down."""
        return len(self.up()) < len(self.machines)

    @property
    def leader_place(self) -> int | None:
        """Return the place of who serves brokers in their list of controllers."""
        leader = self.leader()
        return None if leader is None else leader.number

    @property
    def serves(self) -> bool:
        """Tell whether a member serves brokers."""
        return self.leader() is not None

    @property
    def has_settled(self) -> bool:
        """Tell whether all members run, one serves, and none lacks what was agreed on at the heal.

        Heartbeats make new entries all the time, so that their ends are seldom the same.
        """
        applied = [
            -1 if one.state is None else one.state.node.pusher.applied_index
            for one in self.machines.values()
        ]
        return self.serves and min(applied) >= self._to_apply

    def member_applied(
        self,
        member: ControllerMember,
        position: LogPosition,
        state: ControllerState,
        action: EntryActed,
    ) -> None:
        """Compare what a member has made of an entry; the first one tells it to who watches.

        A majority has the entry on its disks then. Raises: CoreFailure
        """
        index = position.index
        if index in self._states:
            if self._states[index] != state:
                name = member.config.self_id
                raise CoreFailure(f"{name} has another state than others after entry {index}")
            return
        assert index > self._last, (index, self._last)
        holders = sum(one.holds(position) for one in self.members.values())
        if 2 * holders <= len(self.members):
            name = member.config.self_id
            raise CoreFailure(f"{name} applies entry {index}, which {holders} have on their disks")
        self._states[index], self._last = state, index
        self.agreed.append(action.entry)
        self.listener.applied(action.entry, action.events)

    # ---- what the world around it sees (SimulatedController) ----

    def now_ms(self) -> TimestampMs:
        """Return the time of the last entry."""
        return TimestampMs(self.state.clock_ms)

    def _member_of(self, channel: ConnectionId) -> ControllerMember:
        return self.members[BrokerId(FIRST_CONTROLLER + place_of(channel))]

    def steps_of(self, channel: ConnectionId) -> StepRecorder:
        """Return what writes down what the member at the end of a channel does."""
        return self._member_of(channel).recorder

    def steps_from(self, controller: int) -> StepRecorder:
        """Return what writes down what a member does, by its place."""
        return self.members[BrokerId(FIRST_CONTROLLER + controller)].recorder

    def received(self, channel: ConnectionId, data: bytes) -> None:
        """Let the member at the end of a channel hear a frame."""
        self._member_of(channel).hear(FrameReceived(channel, data))

    def channel_closed(self, channel: ConnectionId) -> None:
        """Let the member at the end of a channel hear that it is gone."""
        self._member_of(channel).hear(ChannelGone(channel))

    def set_clock_back(self, by_ms: int) -> None:
        """Do nothing: clocks of members are wrong from the beginning."""
        del by_ms

    # ---- what happens from outside ----

    def scan(self) -> None:
        """Let the scan of each member come; it belongs to the leader."""
        for member in self.members.values():
            member.hear(ScanDue())

    def crash(self, node: Node[DLedgerController], *, silent: bool = False) -> None:
        """Stop a member of which the disk is what survives."""
        self.crash_points.disarm(broker_address(node.id))
        member = self.members[node.id]
        member.recorder.stopped(dict)
        member.stop()
        node.stop()
        self.calls.stop(node.id, silent=silent)
        self.listener.controller_stopped(member.number)

    def stop_one(self) -> None:
        """Stop a member, mostly the leader."""
        up, leader = self.up(), self.leader()
        if not up:
            return
        drawn = self.rng.choice(up)
        chosen = self.rng.randrange(100) < _LEADER_PERCENT and leader is not None
        self.crash(leader.machine if chosen and leader is not None else drawn)

    def restart(self, node: Node[DLedgerController]) -> None:
        """Let a member come back that is down."""
        assert node.state is None
        member = self.members[node.id]
        member.start()
        if member.ends_as_it_started():
            self.crash(node)
            self.restart(node)
        else:
            member.begin()

    def restart_stopped(self) -> None:
        """Let all members come back that are down."""
        for machine in self.machines.values():
            if machine.state is None:
                self.restart(machine)

    def calm(self) -> None:
        """Let nothing go wrong any more."""
        self.is_calm = True
        self._to_apply = self._last
        for member in self.members.values():
            member.go_on()

    def end_in_step(self, machine: Node[DLedgerController], ending: Ending) -> None:
        """Stop a member in the middle of a step; it comes back."""
        end_in_step(self, machine, ending)

    # ---- who hears requests (rocketha.sim.engine.remoting_calls.Servers) ----

    def is_up(self, peer: BrokerId) -> bool:
        """Tell whether a member runs."""
        return self.members[peer].host.is_up

    def asked(self, peer: BrokerId, arrived: Arrived) -> None:
        """Give a request to a member."""
        self.members[peer].arrive(arrived)

    # ---- what members draw ----

    def draw_seed(self, machine: Node[DLedgerController]) -> int:
        """Return where the random numbers of a member that starts begin."""
        return self.random_source.of("elections", machine.id).getrandbits(63)

    def doubled_after_ms(self, machine: Node[Any]) -> int | None:
        """Draw whether a request arrives once more, and when."""
        del machine
        if self.is_calm or not self._has_doubled:
            return None
        if self.rng.randrange(100) >= _DOUBLED_PERCENT:
            return None
        self.counts.add(Fault.DOUBLED_REQUEST)
        return 1 + self.rng.randrange(_DOUBLED_MS)

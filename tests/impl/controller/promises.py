"""What a controller promises, judged from its log, its states and its answers.

Nothing of the controller's rules is used: who is alive and whose log is torn is worked out from the
entries once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rocketha.controller.applied import Applied, MasterElected, SetAltered
from rocketha.controller.entry import ChannelClosed, Entry, InactiveScanned, Started
from rocketha.controller.machine import apply
from rocketha.controller.state import ControllerState, Group
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    ElectMaster,
    Heartbeat,
    RegisterBroker,
)
from rocketha.known_bugs import NO_BUGS, Bugs
from rocketha.known_bugs.replica_group import controller_rules

Who = tuple[str, int]
"""A replica: its group and its id."""


@dataclass(slots=True)
class Witness:
    """What somebody saw who heard what the controller heard."""

    signs: dict[Who, dict[int, int]] = field(default_factory=dict)
    """When a replica's present incarnation was last heard on each open channel."""
    timeouts: dict[Who, int] = field(default_factory=dict)
    incarnations: dict[Who, int] = field(default_factory=dict)
    torn: set[Who] = field(default_factory=set)
    masters: dict[tuple[str, int], int] = field(default_factory=dict)
    """The master of each epoch of a group."""
    incarnation_of_master: dict[str, int] = field(default_factory=dict)
    """The incarnation in which the present master of a group was elected."""

    def alive(self, who: Who, now: int) -> bool:
        timeout = self.timeouts.get(who, 10_000)
        return any(last + timeout >= now for last in self.signs.get(who, {}).values())

    def hear(self, before: ControllerState, entry: Entry, outcome: Applied) -> None:
        """Take in what was heard, before the promises are judged."""
        now, channel = outcome.state.clock_ms, entry.channel
        taken = outcome.reply.code is ResponseCode.SUCCESS
        who: Who
        match entry.change:
            case Heartbeat() as beat if taken:
                who = (beat.broker_name, beat.broker_id)
                self._sign(who, channel, now)
                self.timeouts[who] = 10_000 if beat.timeout_ms is None else beat.timeout_ms
            case RegisterBroker() as request if taken:
                who = (request.broker_name, request.broker_id)
                said = request.incarnation
                if said is None or said > self.incarnations.get(who, 0):
                    self.incarnations[who] = said or 0
                    self.signs[who] = {}
                    self.timeouts.pop(who, None)
                    if request.log_torn and request.broker_id in before.groups[who[0]].members:
                        self.torn.add(who)
                self._sign(who, channel, now)
            case ChannelClosed():
                for signs in self.signs.values():
                    signs.pop(channel, None)
            case Started():
                for who in list(self.signs):
                    self.signs[who] = {0: now} if self.alive(who, before.clock_ms) else {}
            case InactiveScanned():
                for who, signs in self.signs.items():
                    timeout = self.timeouts.get(who, 10_000)
                    self.signs[who] = {c: t for c, t in signs.items() if t + timeout >= now}
            case _:
                pass

    def forget(self, after: ControllerState) -> None:
        """Forget replicas that were removed, and torn logs outside of the set."""
        for who in list(self.signs):
            group = after.groups.get(who[0])
            if group is None or who[1] not in group.replicas:
                self.signs.pop(who)
                self.timeouts.pop(who, None)
        for who in list(self.torn):
            if who[1] not in after.groups[who[0]].members:
                self.torn.discard(who)

    def _sign(self, who: Who, channel: int, now: int) -> None:
        signs = self.signs.setdefault(who, {})
        signs.pop(0, None)
        signs[channel] = now


def broken_promises(log: Sequence[Entry], bugs: Bugs = NO_BUGS) -> frozenset[str]:
    """Apply a log and name what was broken on the way."""
    state, witness = ControllerState(), Witness()
    found: set[str] = set()
    for entry in log:
        outcome = apply(state, entry, controller_rules(bugs))
        witness.hear(state, entry, outcome)
        found.update(_of_events(witness, state, entry, outcome))
        found.update(_of_refusal(state, entry, outcome))
        for name, group in outcome.state.groups.items():
            old = state.groups.get(name)
            found.update(_of_step(old, group))
            found.update(_of_master(witness, name, old, group))
        if isinstance(entry.change, InactiveScanned):
            found.update(_of_scan(witness, outcome.state))
        if outcome.state.clock_ms < state.clock_ms:
            found.add("ClockMonotone")
        witness.forget(outcome.state)
        state = outcome.state
    return frozenset(found)


def _of_step(old: Group | None, new: Group) -> Iterator[str]:
    """Promises about one group before and after an entry."""
    if not new.members <= new.replicas.keys():
        yield "MembersRegistered"
    if new.master is not None and new.master not in new.members:
        yield "MasterInSSS"
    if any(broker >= new.next_broker_id for broker in new.replicas):
        yield "IdUnique"
    if old is None:
        return
    if new.master_epoch < old.master_epoch:
        yield "CtlEpochMonotone"
    if new.sync_state_set.epoch < old.sync_state_set.epoch:
        yield "CtlEpochMonotone"
    if new.members != old.members and new.sync_state_set.epoch <= old.sync_state_set.epoch:
        yield "SetVersion"
    for broker in new.replicas.keys() - old.replicas.keys():
        former = old.former.get(broker)
        is_back = former is not None and former.check_code == new.replicas[broker].check_code
        if broker < old.next_broker_id and not is_back:
            yield "IdUnique"
    if new.master not in (old.master, None) and (
        new.members != {new.master} or new.master_epoch != old.master_epoch + 1
    ):
        yield "SSSAfterElect"


def _of_refusal(before: ControllerState, entry: Entry, outcome: Applied) -> Iterator[str]:
    """Whoever proposes for the present set learns from its version what became of it."""
    request = entry.change
    if not isinstance(request, AlterSyncStateSet) or request.broker_name not in before.groups:
        return
    old, new = before.groups[request.broker_name], outcome.state.groups[request.broker_name]
    fresh = (request.master_broker_id, request.master_epoch) == (old.master, old.master_epoch)
    if fresh and request.sync_state_set.epoch == old.sync_state_set.epoch:
        if new.sync_state_set.epoch != old.sync_state_set.epoch + 1:
            yield "RefusalFinal"
    elif outcome.reply.code is not ResponseCode.SUCCESS and new != old:
        yield "RefusalFinal"


def _of_master(witness: Witness, name: str, old: Group | None, new: Group) -> Iterator[str]:
    """Promises about who is master in which epoch and in which incarnation."""
    if new.master is None:
        witness.incarnation_of_master.pop(name, None)
        return
    if witness.masters.setdefault((name, new.master_epoch), new.master) != new.master:
        yield "OneMasterPerEpoch"
    incarnation = new.replicas[new.master].incarnation
    if old is None or (old.master, old.master_epoch) != (new.master, new.master_epoch):
        witness.incarnation_of_master[name] = incarnation
    elif witness.incarnation_of_master[name] != incarnation:
        yield "EpochOfOneIncarnation"


def _of_events(
    witness: Witness, before: ControllerState, entry: Entry, outcome: Applied
) -> Iterator[str]:
    """Promises about elections and proposals."""
    for event in outcome.events:
        match event:
            case MasterElected():
                yield from _of_election(witness, before, entry, event, outcome)
            case SetAltered():
                yield from _of_proposal(before, entry, event)
            case _:
                pass


def _of_election(
    witness: Witness,
    before: ControllerState,
    entry: Entry,
    event: MasterElected,
    outcome: Applied,
) -> Iterator[str]:
    name, now = event.broker_name, outcome.state.clock_ms
    old = before.groups[name]
    designated = isinstance(entry.change, ElectMaster) and entry.change.designate_elect
    if not designated and old.master is not None and witness.alive((name, old.master), now):
        yield "NoSpuriousElect"
    if not witness.alive((name, event.master), now):
        yield "ElectAlive"
    is_first = not old.members
    has_all = event.master in old.members and (name, event.master) not in witness.torn
    if not (is_first or has_all or (entry.elect_unclean and not event.clean)):
        yield "ElectClean"


def _of_proposal(before: ControllerState, entry: Entry, event: SetAltered) -> Iterator[str]:
    request, old = entry.change, before.groups[event.broker_name]
    assert isinstance(request, AlterSyncStateSet)
    if old.master is None:
        yield "AlterNeedsMaster"
    if (request.master_broker_id, request.master_epoch, request.sync_state_set.epoch) != (
        old.master,
        old.master_epoch,
        old.sync_state_set.epoch,
    ):
        yield "AlterFenced"
    for broker, incarnation in request.joining.items():
        if broker in event.members and old.replicas[broker].incarnation != incarnation:
            yield "JoinsAsSeen"


def _of_scan(witness: Witness, after: ControllerState) -> Iterator[str]:
    """After a scan nobody waits for a master who could have one."""
    now = after.clock_ms
    for name, group in after.groups.items():
        fit = [b for b in group.members if (name, b) not in witness.torn]
        has_master = group.master is not None and witness.alive((name, group.master), now)
        if not has_master and any(witness.alive((name, b), now) for b in fit):
            yield "ElectLive"

"""Runs of `rocketha.dledger` and clients of a register as behaviours of Register.

What a step was is said by what arrived, what left, and what is on the disk; what the core says of
it is not asked.

| specification      | implementation                                                             |
|--------------------|----------------------------------------------------------------------------|
| Elect              | a member that leads has written the no-op of its term: with its whole log  |
| StepDown           | it does not lead any more                                                  |
| Write, LogRead     | a client's entry is in its data files                                      |
| CommitEntry, Follow, Apply | its commit index, its state machine                               |
| Install            | both in one step, and its newest snapshot is of that index                 |
| Restart            | it starts again, with its newest snapshot                                  |
| IndexRead          | it has heard of a read, and has not refused it                             |
| ConfirmLeadership  | a majority has answered heartbeats that it sent since                      |
| AnswerEntry, AnswerIndexRead | an answer left it; its value is what the client gets             |
| GiveUp             | a client was refused, or waits no more                                     |

A log is that of the disk: of a leader all of it, of others what is committed. A client here is
whoever waits: a place that a call takes when it arrives, and that is free again when it is over. A
value is the number of its write, in the order in which leaders wrote them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from rocketha.dledger.node_state import (
    AnswerRead,
    AppendAsked,
    ReadAsked,
    RefuseClient,
)
from rocketha.sim.dledger.cluster import (
    DLedgerCluster,
    DLedgerStep,
    MemberStarted,
    MemberStopped,
)
from rocketha.sim.dledger.machine import Member, MemberStepped, SavedClient
from rocketha.sim.engine.node import broker_address
from rocketha.sim.register.simulation import CLIENTS_MAX
from rocketproof.protocols.epoch_truncation.values import NONE
from rocketproof.protocols.register.disk_log import DiskLogs, written_value
from rocketproof.protocols.register.heartbeats import Heartbeats
from rocketproof.protocols.register.values import (
    Call,
    Entry,
    Log,
    Office,
    RegisterParts,
    RegisterValues,
)
from tlatrace.trace import Event
from tlatrace.values import State, tla_set

__all__ = ["REGISTER_SPEC", "RegisterProjection"]

REGISTER_SPEC: Final = "Register"
_KEY: Final = "r0"
_PLACES: Final = tuple(f"c{number}" for number in range(1, CLIENTS_MAX + 2))
"""All that wait, and one call that arrives when nobody waits for it any more."""


@dataclass(slots=True)
class _Waiting:
    """The calls that are under way: who waits at which place."""

    ticket_of: dict[str, int] = field(default_factory=dict)

    def place_of(self, ticket: int) -> str | None:
        return next((place for place, one in self.ticket_of.items() if one == ticket), None)


class RegisterProjection:
    """An observer of a simulated run that records the events of a trace."""

    def __init__(self) -> None:
        """Begin an empty trace."""
        self.events: list[Event] = []
        self._names: tuple[str, ...] = ()
        self._members: dict[str, Office] = {}
        self._led: dict[int, Log] = {}
        self._agreed: Log = ()
        self._calls: dict[str, Call | None] = dict.fromkeys(_PLACES)
        self._waiting = _Waiting()
        self._numbers: dict[int, int] = {}
        """What clients wrote -> the number of the write."""
        self._disks = DiskLogs()
        self._heartbeats = Heartbeats()
        self._values = RegisterValues()

    @property
    def constants(self) -> State:
        """Return the constants of the specification, as the run has them."""
        return {"Node": tla_set(self._names), "Client": tla_set(_PLACES), "None": NONE}

    # ---- the observer ----

    def started(self, cluster: DLedgerCluster) -> None:
        """Record the initial state."""
        self._names = tuple(map(broker_address, cluster.members))
        self._members = {name: Office() for name in self._names}
        self._record(cluster, NONE, "Init")

    def stepped(self, cluster: DLedgerCluster, step: DLedgerStep) -> None:
        """Record the actions of a step, and the state after each."""
        self._give_up(cluster)
        match step:
            case MemberStepped():
                self._member_stepped(cluster, step)
            case MemberStopped():
                pass
            case MemberStarted(member=number):
                self._restarted(cluster, cluster.members[number])

    def _give_up(self, cluster: DLedgerCluster) -> None:
        """Free the places of those that wait no more."""
        for place, ticket in tuple(self._waiting.ticket_of.items()):
            if not cluster.clients.waits(ticket):
                self._end_call(cluster, place)

    def _restarted(self, cluster: DLedgerCluster, member: Member) -> None:
        name, kept = member.config.self_id, member.state.pusher.applied_index + 1
        log = self._members[name].log[:kept]
        self._members[name] = Office(log=log, commit=kept, applied=kept)
        self._heartbeats.forget(name)
        self._record(cluster, name, "Restart", name, kept)

    def _member_stepped(self, cluster: DLedgerCluster, step: MemberStepped) -> None:
        member = cluster.members[step.member]
        name = member.config.self_id
        self._follow_office(cluster, member)
        self._follow_log(cluster, member, step)
        self._follow_state(cluster, member)
        refused = {one.answer.ticket for one in step.told if isinstance(one.answer, RefuseClient)}
        if isinstance(step.event, ReadAsked) and step.event.ticket not in refused:
            self._index_read(cluster, name, step.event.ticket)
        self._heartbeats.note(name, step)
        for place, ticket in tuple(self._waiting.ticket_of.items()):
            self._confirm(cluster, name, place, ticket)
        for told in step.told:
            self._answer(cluster, name, told)

    # ---- the group ----

    def _follow_office(self, cluster: DLedgerCluster, member: Member) -> None:
        """Note that a leader leads no more."""
        name, known = member.config.self_id, member.state.elector.member
        office = self._members[name]
        if office.term and not (known.is_leader and known.curr_term + 1 == office.term):
            log = office.log[: office.commit]
            self._members[name] = replace(office, term=0, log=log)
            self._record(cluster, name, "StepDown", name)

    def _follow_log(self, cluster: DLedgerCluster, member: Member, step: MemberStepped) -> None:
        """Note what a leader has written."""
        known, store = member.state.elector.member, member.files().store
        name, end = member.config.self_id, store.end_index + 1
        office = self._members[name]
        if not known.is_leader or (office.term and end == len(office.log)):
            return
        asked = step.event if isinstance(step.event, AppendAsked) else None
        term = known.curr_term + 1
        if asked is not None and end > len(office.log):
            self._propose(cluster, member, asked)
            return
        if end == len(self._led.get(term, ())):
            return  # it leads again, and has not written its no-op yet
        log = self._disks.read(store, office.log, self._agreed, end)
        if not log or log[-1] != Entry("noop", 0, NONE, term):
            return
        self._members[name] = replace(office, term=term, office=term, log=log)
        self._led[term] = log
        self._record(cluster, name, "Elect", name, term)

    def _propose(self, cluster: DLedgerCluster, member: Member, asked: AppendAsked) -> None:
        """Note the entry of a client."""
        store, name, place = member.files().store, member.config.self_id, self._place()
        office, index = self._members[name], store.end_index + 1
        term = member.state.elector.member.curr_term + 1
        found = written_value(store.entry(store.end_index).body)
        number = 0
        if found is not None:
            number = self._numbers.setdefault(found, len(self._numbers) + 1)
        kind = "read" if found is None else "write"
        entry = Entry(kind, number, place, term)
        self._disks.note(store, index, entry)
        log = self._disks.read(store, office.log, self._agreed, index)
        self._members[name] = replace(office, log=log)
        self._led[term] = log
        action = "LogRead" if found is None else "Write"
        self._begin_call(place, asked.ticket, name, "log read" if found is None else "write", index)
        if found is not None:
            self._replace_call(place, value=number)
        self._record(cluster, name, action, name, place)

    def _follow_state(self, cluster: DLedgerCluster, member: Member) -> None:
        """Note what a member has committed and applied."""
        name, pusher = member.config.self_id, member.state.pusher
        office, store = self._members[name], member.files().store
        commit, applied = pusher.committed_index + 1, pusher.applied_index + 1
        if commit != office.commit:
            log = office.log
            if not office.term:
                log = self._disks.read(store, log, self._agreed, commit)
            office = replace(office, log=log, commit=commit)
            action = "CommitEntry" if office.term else "Follow"
            if applied != office.applied:
                office = replace(office, applied=applied)
                is_loaded = member.files().snapshot_index == pusher.applied_index
                action = "Install" if is_loaded else "Apply"
            elif office.term:
                agreed = log[:commit]
                self._agreed = self._agreed if self._agreed[:commit] == agreed else agreed
            self._members[name] = office
            self._record(cluster, name, action, name)
        elif applied != office.applied:
            self._members[name] = replace(office, applied=applied)
            self._record(cluster, name, "Apply", name)

    # ---- calls ----

    def _place(self) -> str:
        """Return a place at which nobody waits."""
        return next(place for place in _PLACES if place not in self._waiting.ticket_of)

    def _begin_call(self, place: str, ticket: int, name: str, kind: str, index: int) -> None:
        writes = sum(entry.kind == "write" for entry in self._agreed)
        self._waiting.ticket_of[place] = ticket
        self._calls[place] = Call(
            kind=kind,
            value=-1,
            since=writes + 1,
            newest=max(self._led, default=0),
            at=name,
            term=self._members[name].term,
            index=index,
        )

    def _replace_call(self, place: str, **changes: int | bool) -> Call:
        call = self._calls[place]
        assert call is not None, place
        call = self._calls[place] = replace(call, **changes)  # type: ignore[arg-type]
        return call

    def _end_call(self, cluster: DLedgerCluster, place: str) -> None:
        del self._waiting.ticket_of[place]
        self._calls[place] = None
        self._record(cluster, NONE, "GiveUp", place)

    def _index_read(self, cluster: DLedgerCluster, name: str, ticket: int) -> None:
        place = self._place()
        self._begin_call(place, ticket, name, "index read", self._members[name].commit)
        self._heartbeats.begin(name, ticket)
        self._record(cluster, name, "IndexRead", name, place)

    def _confirm(self, cluster: DLedgerCluster, name: str, place: str, ticket: int) -> None:
        """Note that a majority has answered since a read began; who leads no more counts nobody."""
        call = self._calls[place]
        if call is None or call.at != name or call.kind != "index read" or call.confirmed:
            return
        leads = self._members[name].term == call.term
        if leads and 2 * (1 + self._heartbeats.answered(ticket)) > len(self._names):
            self._replace_call(place, confirmed=True)
            self._record(cluster, name, "ConfirmLeadership", name, place)

    def _answer(self, cluster: DLedgerCluster, name: str, told: SavedClient) -> None:
        """Note what left a member for a client."""
        place = self._waiting.place_of(told.answer.ticket)
        if place is None:
            return
        call = self._calls[place]
        assert call is not None, place
        if isinstance(told.answer, RefuseClient):
            self._end_call(cluster, place)
            return
        if isinstance(told.answer, AnswerRead):
            action, value = "AnswerIndexRead", self._number(told.registers.get(_KEY))
        else:
            action = "AnswerEntry"
            value = call.value if call.kind == "write" else self._number(told.outcome)
        del self._waiting.ticket_of[place]
        self._replace_call(place, answered=True, value=value)
        self._record(cluster, name, action, name, place)

    def _number(self, value: object) -> int:
        """Return the number of the write that wrote a value; 0: none has."""
        return self._numbers.get(value, 0) if isinstance(value, int) else 0

    # ---- the trace ----

    def _record(
        self, cluster: DLedgerCluster, node: str, action: str | None, *params: str | int
    ) -> None:
        members: Mapping[str, Office] = self._members
        parts = RegisterParts(
            agreed=self._agreed,
            led=self._led,
            members=members,
            calls=self._calls,
            writes=len(self._numbers),
        )
        self.events.append(
            Event(
                step=len(self.events),
                action=action,
                params=params,
                node=node,
                state=self._values.state(parts),
                clock=cluster.now_ms,
            )
        )

"""One master epoch as a trace of SyncStateSet: its state, as nodes have written theirs.

As where whole states are read (`master_epoch`), an event is made when something of what the nodes
have written is another thing than the events before have shown. Each event shows all that is
written: of a node that does nothing, what it had when it wrote last. What a broker writes that
knows of a later master epoch is left to ReplicaGroup.

What nobody writes is not shown: what a slave has reported, proposals under way, sets of before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol

from rocketha.formats.controller_requests import AlterSyncStateSet
from rocketproof.protocols.sync_state_set.lags import Lags
from rocketproof.protocols.sync_state_set.recorded_nodes import KnownProposal, RecordedReplica
from rocketproof.protocols.sync_state_set.recorded_run import RecordedRun, common_length
from rocketproof.protocols.sync_state_set.recorded_state import (
    KnownMembers,
    SeenBroker,
    SeenConn,
    SeenControl,
    SeenProposal,
    SeenState,
    requests_value,
)
from rocketproof.protocols.sync_state_set.values import (
    MASTER,
    NO_CONN,
    conn_value,
    control_value,
    members_value,
)
from tlatrace.trace import INIT, Part
from tlatrace.values import State, Value, record, tla_set

__all__ = ["RecordedMasterEpoch", "WriteEvent"]

_CONTROLLER: Final = "controller"
_ANOTHERS: Final = -1
"""What a request expects that is not of this master and its master epoch: no epoch."""
_CONFIRMING: Final = frozenset({"PutMessage", "ReceiveAck", "Learn"})
"""Steps in which confirmOffset moves; a node moves it in a step of its own that follows."""


class WriteEvent(Protocol):
    """What makes an event of the trace."""

    def __call__(
        self,
        action: str | None,
        params: tuple[Value, ...],
        *,
        node: str,
        observed: State,
        parts: tuple[Part, ...],
    ) -> None:
        """Make it."""
        ...


@dataclass(slots=True)
class _Broker:
    """What a master epoch has of a broker; of one that has left, what was written last."""

    born: int
    """Losses when the master epoch began: incarnations count those since."""
    up: bool = True
    inc: int = 0
    torn: bool = False
    end: int = 0
    has_left: bool = False

    def seen(self) -> SeenBroker:
        return SeenBroker(self.up, self.inc, self.torn, self.end)


def _kept(conn: SeenConn | None) -> Value:
    """Return a connection that a master epoch begins with."""
    if conn is None:
        return NO_CONN
    reported = max(conn.ack, 0) if conn.reported is None else conn.reported
    return conn_value((0, conn.ack, reported, False))


class RecordedMasterEpoch:
    """A master epoch, and what its trace has shown of it."""

    def __init__(self, run: RecordedRun, master: str, write: WriteEvent) -> None:
        """Look at a group of which a broker has just become the master."""
        group = run.group
        self.master = master
        self.epoch = group.epoch
        others = [name for name in run.brokers if name != master]
        self.names = {master: MASTER, **{b: f"s{at}" for at, b in enumerate(others, start=1)}}
        self.is_over = False
        """The controller has elected another broker."""
        self._run = run
        self._write = write
        self._log = run.replicas[master].log
        """The master's; after its crash, what it was."""
        self.acked = self.visible = len(self._log)
        self._base = group.sss.epoch - 1
        self._of = {
            b: _Broker(run.losses[b].registered, end=common_length(self._log, replica.log))
            for b, replica in run.replicas.items()
        }
        self._members: KnownMembers = dict.fromkeys(run.names_of(group.sss), 0)
        self._views = [self._members]
        self._has_control = True
        """What the controller has is known: nobody, or somebody else, was elected since."""
        self._after: SeenControl | None = None
        """What the controller had when the master epoch was over."""
        self._proposals: list[tuple[KnownProposal, SeenProposal]] = []
        self._lags: Lags[str] = Lags()
        self._heard_ms: dict[str, int] = {}
        """When each slave was heard last, by the master's clock."""
        self._shows_ms = 0
        self._unsent = False
        """A proposal is made, and no node has written that it was sent."""
        self._sent: list[SeenProposal] = []
        self._last: tuple[str | None, int] = (INIT, run.now_ms)
        """The action of the last event, and when it was."""
        self._now = self._shown = self._look()

    # ---- what there is ----

    def is_master(self) -> bool:
        """Tell whether the master of this epoch is so, even if it does not know its end."""
        replica = self._run.replicas[self.master]
        return replica.is_master and replica.known_epoch == self.epoch

    def has_left(self, name: str) -> bool:
        """Tell whether what a broker does is no step of this master epoch any more."""
        return self._of[name].has_left

    def is_up(self, name: str) -> bool:
        """Tell whether a broker ran, and the controller knew it, when it was looked at."""
        return self._of[name].up

    def hears(self, slave: str) -> bool:
        """Tell whether the master had a connection of a slave when it was looked at."""
        return self._now.conns[slave] is not None

    def ack_of(self, slave: str) -> int:
        """Return how many records a slave had reported when it was looked at; -1: nothing yet."""
        conn = self._now.conns[slave]
        return -1 if conn is None else conn.ack

    def end_of(self, name: str) -> int:
        """Return how much of the master's log a broker had when it was looked at."""
        return self._of[name].end

    @property
    def known_set(self) -> int:
        """Return the epoch of the set that the master knows, as it was looked at."""
        return self._now.set_epoch or 0

    def count(self, offset: int) -> int:
        """Return how many records of the master's log lie before an offset in bytes."""
        return self._run.count(self._log, offset)

    def look(self) -> bool:
        """Read what is written; tell whether it is another thing than what was shown."""
        self._now = self._look()
        return self._now != self._shown

    def _look(self) -> SeenState:
        is_master = self.is_master()
        replica = RecordedReplica(confirm=0, pending=())
        if is_master:
            replica = self._run.replicas[self.master]
            self._log = replica.log
        for name, of in self._of.items():
            self._read_broker(name, of)
        local = self._local(replica) if is_master else {}
        known, confirm = replica.local, replica.confirm
        epoch = None if known is None else known.epoch - self._base
        return SeenState(
            control=self._control() if self._has_control else None,
            is_master=is_master,
            local=local,
            set_epoch=epoch if is_master else 0,
            pending=self._pending(replica, local),
            confirm=None if confirm is None else self.count(confirm),
            conns={b: self._conn(replica, b) for b in self.names if b != self.master},
            brokers={b: of.seen() for b, of in self._of.items()},
            acked=self.acked,
            visible=self.visible,
        )

    def _read_broker(self, name: str, of: _Broker) -> None:
        run = self._run
        runs, replica = name not in run.down, run.replicas[name]
        if name != self.master and runs and replica.known_epoch > self.epoch:
            of.has_left = True
        if not of.has_left:
            of.up = runs
            if runs:
                of.end = common_length(self._log, replica.log)

    def _control(self) -> SeenControl:
        if self._after is not None:
            return self._after
        run, group = self._run, self._run.group
        members = {b: self._members.get(b, self._of[b].inc) for b in run.names_of(group.sss)}
        master = None if group.master is None else run.name_of(group.master)
        return SeenControl(master, members, group.sss.epoch - self._base)

    def _local(self, replica: RecordedReplica) -> KnownMembers | None:
        """Return the master's set; it knows the brokers, the views their incarnations."""
        known = replica.local
        if known is None:
            return None
        at = known.epoch - self._base - 1
        view = self._views[at] if 0 <= at < len(self._views) else self._members
        return {b: view.get(b, self._of[b].inc) for b in self._run.names_of(known)}

    def _pending(
        self, replica: RecordedReplica, local: KnownMembers | None
    ) -> tuple[SeenProposal, ...] | None:
        if not replica.pending or local is None:
            return () if replica.pending == () else None
        (proposal,) = replica.pending
        return (self._proposal(proposal, local),)

    def _proposal(self, proposal: KnownProposal, local: KnownMembers) -> SeenProposal:
        """Return what is asked for; it was made from the set that the master knows then."""
        for known, seen in self._proposals:
            if known == proposal:
                return seen
        told = self._run.by_name(proposal.joining)
        members = {
            b: local[b] if b in local else self._joining(told, b)
            for b in self._run.names_of(proposal)
        }
        seen = SeenProposal(members, proposal.changes - self._base, local)
        self._proposals.append((proposal, seen))
        return seen

    def _joining(self, told: Mapping[str, int], name: str) -> int:
        """Return the incarnation in which a broker is to join; without one it is the present."""
        of = self._of[name]
        lost = self._run.losses[name].of.get(told[name]) if name in told else None
        return of.inc if lost is None else lost - of.born

    def _conn(self, replica: RecordedReplica, slave: str) -> SeenConn | None:
        run = self._run
        conn = run.conn_of(self.master, slave) if replica.is_master else None
        if conn is None:
            return None
        inc: int | None = None
        if replica.slave_incarnations is not None:
            known = run.by_name(replica.slave_incarnations.items()).get(slave, 0)
            inc = run.losses[slave].of.get(known, 0) - self._of[slave].born
        reported = run.reported[conn]
        ack = self.count(replica.servers[conn].slave_ack)
        return SeenConn(inc, ack, None if reported is None else self.count(reported))

    # ---- what others tell ----

    def note_lags(self, heard: Iterable[str], shows_ms: int) -> None:
        """Note whom the master has heard in a step, and which slaves have everything then."""
        run, replica = self._run, self._run.replicas[self.master]
        self._shows_ms = shows_ms
        self._heard_ms.update(dict.fromkeys(heard, shows_ms))
        if not self.is_master() or replica.local is None:
            return
        conns = {b: self._conn(replica, b) for b in self.names if b != self.master}
        self._lags.note(
            end=len(replica.log),
            acks={
                slave: (conn.ack, self._heard_ms.get(slave, shows_ms))
                for slave, conn in conns.items()
                if conn is not None
            },
            members=frozenset(run.names_of(replica.local)) - {self.master},
            now_ms=shows_ms,
        )

    def is_due(self, removed: Iterable[str]) -> bool:
        """Tell whether brokers that the master takes out have not had everything for long.

        It is so, where nobody knows how long that is.
        """
        for_ms = self._run.slave_not_catchup_ms[self.master]
        return for_ms is None or self._lags.are_behind(
            removed, for_ms=for_ms, now_ms=self._shows_ms
        )

    def note_stop(self, name: str) -> int:
        """Note that a broker stopped; return how much of the master's log is left to it."""
        of, kept = self._of[name], common_length(self._log, self._run.replicas[name].log)
        of.torn = kept < of.end
        of.end = kept
        return kept

    def note_start(self, name: str, *, is_told: bool) -> None:
        """Note that a broker is back; `is_told`: by the controller, with its incarnation.

        Else it is another one if it has lost something.
        """
        of = self._of[name]
        if self.is_over and name != self.master:
            of.has_left = True
            return
        of.inc = self._run.losses[name].registered - of.born if is_told else of.inc + of.torn
        of.torn = False

    def note_set(self, joining: Mapping[str, int]) -> None:
        """Note the set that the controller has now: some members stay, others joined."""
        if self._run.group.sss.epoch - self._base <= len(self._views):
            return  # it is the one of before
        was = self._members
        self._members = {
            b: was[b] if b in was else self._joining(joining, b)
            for b in self._run.names_of(self._run.group.sss)
        }
        self._views.append(self._members)

    def note_vacancy(self) -> None:
        """Note that the controller has no master any more, of which there is no step."""
        self._has_control = False
        self._shown = replace(self._shown, control=None)

    def note_election(self) -> None:
        """Note that another broker was elected: the controller goes on without this epoch."""
        self._members = {b: self._of[b].inc for b in self._run.names_of(self._run.group.sss)}
        self._after = self._control()
        self._has_control = self.is_over = True

    def note_confirmed(self) -> None:
        """Let confirmOffset be as the last event has moved it, if that was just its cause.

        That event has not shown it; the next one does.
        """
        action, at_ms = self._last
        if action in _CONFIRMING and at_ms == self._run.now_ms:
            self._shown = replace(self._shown, confirm=self._now.confirm)

    # ---- the trace ----

    def begin(self) -> None:
        """Write the initial state, all of it: it is one of infinitely many.

        What is counted from the election on, and what no node writes, is as it begins. A master
        that is elected once more keeps its connections.
        """
        names, nothing = self.names, tla_set(())
        alone = members_value({self.master: 0}, names)
        begins: State = {
            "ctl": control_value(MASTER, alone, 1),
            "views": (members_value(self._members, names),),
            "alters": nothing,
            "start": len(self._log),
            "local": alone,
            "sssE": 1,
            "pend": nothing,
            "queue": nothing,
            "confirm": len(self._log),
            "conn": record({names[b]: _kept(conn) for b, conn in self._now.conns.items()}),
        }
        observed = {**begins, **self._now.variables(names)}
        self._write(INIT, (), node=MASTER, observed=observed, parts=())

    def record(
        self,
        name: str | None,
        action: str | None,
        params: tuple[Value, ...] = (),
        *,
        seen: SeenState | None = None,
        alters: Iterable[SeenProposal] | None = None,
    ) -> None:
        """Write an event of a broker, or of the controller, with what was looked at.

        `alters` are all requests that were sent; None: they are not shown.
        """
        self._shown = shown = seen or self._now
        self._last = (action, self._run.now_ms)
        if action in _CONFIRMING:
            shown = replace(shown, confirm=None)
        self._write(
            action,
            params,
            node=_CONTROLLER if name is None else self.names[name],
            observed={**shown.variables(self.names), **requests_value(alters, self.names)},
            parts=shown.connections(self.names),
        )

    def record_answer(self, action: str, count: int) -> None:
        """Write what a producer (Acknowledge) or a consumer (Consume) has heard, if it is news."""
        if action == "Acknowledge":
            self.acked = max(self.acked, count)
        else:
            self.visible = max(self.visible, count)
        self.look()
        self.note_confirmed()
        if self.look():
            self.record(self.master, action, (count,))

    def record_proposal(self, action: str, params: tuple[Value, ...]) -> None:
        """Write that a proposal was made."""
        self._unsent = True
        self.record(self.master, action, params)

    def record_sent(self, requests: Iterable[AlterSyncStateSet | None]) -> None:
        """Write that the master has sent a proposal, if it has not sent that before.

        What it sends is shown where it is written. None: it is not.
        """
        for request in requests:
            if request is None:
                if self._unsent:
                    self._unsent = False
                    self.record(self.master, "SendAlter")
                continue
            proposal = self._sent_proposal(request)
            if proposal in self._sent and not self._unsent:
                continue  # sent again
            self._unsent = False
            if proposal not in self._sent:
                self._sent.append(proposal)
            self.record(self.master, "SendAlter", alters=self._sent)

    def _sent_proposal(self, request: AlterSyncStateSet) -> SeenProposal:
        proposed = request.sync_state_set
        asked = KnownProposal(
            members=tuple(sorted(map(int, proposed.members))),
            expected=int(proposed.epoch),
            joining=tuple(sorted((int(b), int(i)) for b, i in request.joining.items())),
        )
        seen = self._proposal(asked, self._now.local or {})
        by_whom = (self._run.name_of(int(request.master_broker_id)), request.master_epoch)
        return seen if by_whom == (self.master, self.epoch) else replace(seen, expected=_ANOTHERS)

    def record_rest(self, name: str) -> None:
        """Write what no action explains: lost connections, and what slaves hear elsewhere."""
        if self.look():
            self._record_losses()
            self._record_elsewhere()
        if self.look():
            self.record(name, None)

    def _record_losses(self) -> None:
        """Write that the master has lost connections, one after the other."""
        for slave, conn in self._now.conns.items():
            if conn is None and self._shown.conns[slave] is not None:
                seen = replace(self._shown, conns={**self._shown.conns, slave: None})
                self.record(self.master, "Disconnect", (self.names[slave],), seen=seen)

    def _record_elsewhere(self) -> None:
        """Write that slaves without a connection have more of the log, or less: from elsewhere."""
        for slave, conn in self._now.conns.items():
            was, end = self._shown.brokers[slave], self._of[slave].end
            if conn is None and end != was.end:
                brokers = {**self._shown.brokers, slave: replace(was, end=end)}
                seen = replace(self._shown, brokers=brokers)
                self.record(slave, "CopyElsewhere", (self.names[slave], end), seen=seen)

"""Records of released brokers and controllers as behaviours of ReplicaGroup.

| a record                                     | the specification                               |
|----------------------------------------------|-------------------------------------------------|
| PutMessage, MaybeExpand, MaybeShrink of a    | the same                                        |
| master; ReceiveAck that says more            |                                                 |
| Acknowledge: a producer is answered          | the same, where it is behind those before       |
| LearnSyncStateSet of a master                | the same; of a set that came with the role: no  |
|                                              | step, the role's shows it                       |
| BecomeMaster                                 | the same                                        |
| BecomeSlave                                  | the same, if it is not known already            |
| ReceiveHandshake, ReceiveTransfer of a slave | Handshake; Replicate for each record, HearEpoch |
| the master's, or the slave's, end is gone    | CloseConnection, Disconnect                     |
| NodeStopped, with what is left of the log    | Crash; before it PutMessage or Replicate of     |
|                                              | what was stored and could not be written        |
| BrokerRegistered of the controller, or, if   | Restart, of a broker that had stopped           |
| it has written none, a role or an election   |                                                 |
| ElectMaster of the controller                | EvictBroker and ElectMaster if the master had   |
|                                              | stopped, else DesignateMaster                   |
| AlterSyncStateSet, RefuseAlter of the        | the same, of a broker that is found             |
| controller                                   |                                                 |

Each event shows what its node has, and nothing of the others. What nobody writes is not shown: what
a proposal says of incarnations, who lives, what consumers read, and confirmOffset but for what
producers are answered. A refusal changes nothing in a released controller, and is no record; in
rocketha's it is one.

That nobody is elected is no step, and its masterEpoch no number: those of masters are counted.

A master that closes a connection while its slave still reads from it does so, for the
specification, when the slave has read all: what it had heard of the slave by then is true.

The first of several controllers to apply an entry counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from rocketha.recording.record import (
    STARTED,
    STOPPED,
    NodeHeader,
    NodeRecord,
    RecordError,
    SentMessage,
)
from rocketproof.protocols.epoch_truncation.values import NONE
from rocketproof.protocols.replica_group.recorded_broker import broker
from rocketproof.protocols.replica_group.recorded_controller import read_settings
from rocketproof.protocols.replica_group.recorded_links import RecordedLinks
from rocketproof.protocols.replica_group.released_broker import (
    MasterEpochs,
    NumberedSet,
    ReleasedBroker,
)
from rocketproof.record_projection import RecordProjection, alike, part, read_field
from rocketproof.recorded_log import LogItem, RunLogs
from tlatrace.trace import Part
from tlatrace.values import State, Value, tla_set

__all__ = ["ReleasedGroupRecords"]

_NO_STEPS: Final = frozenset({"Handshake", "Transfer", "Flush", "Restart", "LearnEpoch"})
"""What the specification has no step for; the other end's step, or the controller's, counts."""


class _Params(msgspec.Struct, frozen=True):
    conn: int | None = None
    slaves: tuple[int, ...] = ()
    offset: int = 0
    master_epoch: int = 0


class _Elected(msgspec.Struct, frozen=True):
    master: str | None


class _Registered(msgspec.Struct, frozen=True):
    broker: str


class _Group(msgspec.Struct, frozen=True):
    """What a controller has written of the group."""

    master: str | None
    epoch: int
    sync_state_set: NumberedSet


@dataclass(slots=True)
class _Of:
    """What is remembered of a broker."""

    now: ReleasedBroker
    crashes: int = 0
    registered: int = 0
    """Crashes before the start that the controller has heard of last."""
    answered: int = 0
    """Records that producers of this master, or masters before it, need not ask for any more."""
    cut_off: tuple[LogItem, ...] = field(default=())
    """What it has cut off its log last."""

    @property
    def is_down(self) -> bool:
        """Tell whether the controller does not know this incarnation."""
        return self.registered < self.crashes


class ReleasedGroupRecords(RecordProjection):
    """Makes a trace of the records of a group of released brokers."""

    def __init__(self, headers: Sequence[NodeHeader]) -> None:
        """Read how brokers and controllers are set up. Raises: RecordError"""
        super().__init__()
        brokers, controllers = read_settings(headers)
        self._settings = alike(brokers)
        self._elects_unclean = alike(controllers).elect_unclean
        self._controllers = frozenset(controllers)
        self._of = {name: _Of(ReleasedBroker(name=name)) for name in brokers}
        self._ids: dict[int, str] = {}
        self._clients: dict[int, str] = {}
        """Connection -> its slave."""
        self._logs = RunLogs()
        self._epochs = MasterEpochs()
        self._links = RecordedLinks(brokers)
        self._closing: dict[str, str] = {}
        """Slave that copies over a connection -> its master, which has closed that."""
        self._group: _Group | None = None
        self._says_starts = False
        """Controllers write who registers."""
        self._master: str | None = None
        """Who was elected last and has not registered since."""
        self._epoch_of_set: dict[int, int] = {}
        """Number of a set -> that of the masterEpoch of which it is."""

    @property
    def constants(self) -> State:
        """Return the constants, as brokers and controllers are set up."""
        return {
            "Broker": tla_set(self._of),
            "None": NONE,
            "AllAckInSyncStateSet": self._settings.all_ack_in_sync_state_set,
            "InSyncReplicas": self._settings.in_sync_replicas,
            "EnableElectUncleanMaster": self._elects_unclean,
        }

    def take(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Make the events of a record. Raises: RecordError"""
        if record.node in self._controllers:
            self._controller_stepped(record)
            return
        of = self._of[record.node]
        before, of.now = of.now, of.now.after(record)
        if record.event == STOPPED:
            self._stopped(record.node, before)
            return
        if len(of.now.log) < len(before.log):
            of.cut_off = before.log[len(of.now.log) :]
        self._note_names(record.node)
        if record.event == STARTED:
            of.cut_off = ()
        elif record.action in ("BecomeMaster", "BecomeSlave"):
            self._changed_role(record, before)
        else:
            self._acted(record, before, received)

    def _name_of(self, member: int | str) -> str:
        name = member if isinstance(member, str) else self._ids.get(member, broker(member))
        if name not in self._of:
            raise RecordError(f"no broker is {member!r}")
        return name

    def _note_names(self, me: str) -> None:
        """Note who has which id: it is seen when a broker connects."""
        now = self._of[me].now
        if now.link is not None:
            self._clients[now.link] = me
        for conn, end in now.servers.items():
            if end.slave is not None and conn in self._clients:
                self._ids[end.slave] = self._clients[conn]

    def _note_first_master(self, me: str, local: NumberedSet) -> None:
        """Note which id a master has whose first set is itself; of others slaves have shown it."""
        (first, *others) = local.members or ("",)
        if isinstance(first, int) and not others and me not in self._ids.values():
            self._ids.setdefault(first, me)

    # ---- controllers ----

    def _controller_stepped(self, record: NodeRecord) -> None:
        match record.action:
            case None if record.event == "BrokerRegistered":
                self._says_starts = True
                registered: _Registered = read_field(record.params, _Registered, "params")
                self._registered(self._name_of(registered.broker))
            case None:
                pass
            case "ElectMaster" | "AlterSyncStateSet" | "RefuseAlter":
                self._applied(record)
            case other:
                raise RecordError(f"a controller has no action {other!r}")

    def _applied(self, record: NodeRecord) -> None:
        group: _Group = read_field(record.state, _Group, "state")
        if self._group is not None and _age(group) <= _age(self._group):
            return  # another controller of the same group has applied it before
        self._group = group
        if record.action != "ElectMaster":
            self._epoch_of_set[group.sync_state_set.epoch] = self._epochs.last
            self._controller_event(record.node, str(record.action), None)
            return
        elected: _Elected = read_field(record.params, _Elected, "params")
        if elected.master is None:
            self._epochs.elect(group.epoch, somebody=False)
            return
        new = self._name_of(elected.master)
        if not self._says_starts:
            self._registered(new)
        self._epochs.elect(group.epoch, somebody=True)
        self._epoch_of_set[group.sync_state_set.epoch] = self._epochs.last
        old, self._master = self._master, new
        if old is not None and self._of[old].is_down:
            known = self._of[old].registered
            self.event("EvictBroker", (old, known), node=record.node)
            old = None
        action = "ElectMaster" if old is None else "DesignateMaster"
        self._controller_event(record.node, action, (new,))

    def _controller_event(self, node: str, action: str, params: tuple[Value, ...] | None) -> None:
        """Make an event with what a controller has; None: it does not say of which broker."""
        group = self._group
        assert group is not None, "it has applied something"
        shown = (
            part("ctl", "master", value=NONE if group.master is None else group.master),
            part("ctl", "epoch", value=self._epochs.number(group.epoch)),
            part("ctl", "sss", value=group.sync_state_set.names(self._name_of)),
            part("ctl", "sssEpoch", value=group.sync_state_set.epoch),
        )
        self.event(action, params, node=node, parts=shown)

    def _registered(self, me: str) -> None:
        """Make the event of a broker that was down, and is heard of again."""
        of = self._of[me]
        if not of.is_down:
            return
        of.registered = of.crashes
        if self._master == me:
            self._master = None
        of.now = replace(of.now, known=self._epochs.last)
        self._event(me, "Restart", more=[of.now.known_part()])

    # ---- brokers: starts, stops, roles ----

    def _stopped(self, me: str, before: ReleasedBroker) -> None:
        of = self._of[me]
        left = of.now
        if not of.is_down:
            self._cut_short(me, before, left.log)
            of.crashes += 1
            self._drop_ends(me)
            shown = part("log", me, value=self._logs.epochs(left.log))
            self.event("Crash", (me, len(left.log)), node=me, parts=(shown,))
        of.now = ReleasedBroker(name=me, log=left.log, epochs=left.epoch_file)

    def _cut_short(self, me: str, before: ReleasedBroker, left: tuple[LogItem, ...]) -> None:
        """Make events of what a node that was killed had stored, and could not write any more."""
        of, known = self._of[me], len(before.log)
        if left[:known] != before.log or left[known : known + 1] == of.cut_off[:1]:
            return  # nothing more, or what was cut off is still on the disk
        is_linked = self._links.is_linked(me)
        if before.is_master:
            self._logs.taken(left, before.known)
        elif not is_linked:
            return
        action = "PutMessage" if before.is_master else "Replicate"
        for length in range(known + 1, len(left) + 1):
            shown = before.parts(self._logs, self._epochs, log=left[:length])
            self.event(action, (me,), node=me, parts=tuple(shown))

    def _changed_role(self, record: NodeRecord, before: ReleasedBroker) -> None:
        me, of = record.node, self._of[record.node]
        params: _Params = read_field(record.params, _Params, "params")
        if of.is_down:
            now, of.now = of.now, before
            self._registered(me)
            before, of.now = of.now, now
        epoch = self._epochs.number(params.master_epoch)
        is_known = not before.is_master and epoch <= before.known
        if record.action == "BecomeSlave" and is_known:
            of.now = replace(of.now, known=before.known)
            self._close_ends(me)
            return
        of.now = replace(of.now, known=epoch)
        if of.now.is_master:
            self._note_first_master(me, of.now.local)
            of.answered = len(of.now.log)
            self._logs.taken(of.now.log, of.now.known)
        self._drop_ends(me)
        more = [of.now.known_part(), *of.now.set_parts(self._name_of)]
        self._event(me, str(record.action), more=more)

    # ---- brokers: what they do in a role ----

    def _acted(
        self, record: NodeRecord, before: ReleasedBroker, received: Sequence[SentMessage]
    ) -> None:
        """Make the events of a record, if the specification can see what it did."""
        me, of = record.node, self._of[record.node]
        if of.is_down:
            return
        self._close_ends(me)
        params: _Params = read_field(record.params, _Params, "params")
        is_seen = before.visible() != of.now.visible()
        match record.action:
            case "PutMessage":
                self._logs.taken(of.now.log, of.now.known)
                self._event(me, "PutMessage")
            case "ReceiveAck":
                self._acknowledged(me, params)
            case "ReceiveHandshake":
                self._shook_hands(me, received)
            case "ReceiveTransfer" if is_seen:
                self._replicated(me, before)
            case "Acknowledge":
                self._answered(me, params.offset)
            case "LearnSyncStateSet" if self._is_of_master_epoch(of.now):
                self._event(me, "LearnSyncStateSet", more=of.now.set_parts(self._name_of))
            case "MaybeShrink" | "MaybeExpand":
                named = [self._name_of(slave) for slave in params.slaves]
                proposed = tla_set(named) if record.action == "MaybeShrink" else named[0]
                self._event(me, record.action, proposed, more=of.now.set_parts(self._name_of))
            case other if other in _NO_STEPS or other in _SEEN_ELSEWHERE:
                pass
            case other:
                raise RecordError(f"a broker has no action {other!r}")

    def _is_of_master_epoch(self, now: ReleasedBroker) -> bool:
        """Tell whether a master's set is of its masterEpoch; others come with a role, or late."""
        return now.is_master and self._epoch_of_set.get(now.local.epoch) == now.known

    def _answered(self, me: str, offset: int) -> None:
        of = self._of[me]
        count = self._logs.count(of.now.log, offset)
        if count > of.answered:
            of.answered = count
            self._event(me, "Acknowledge", more=[part("confirm", me, value=count)])

    def _replicated(self, me: str, before: ReleasedBroker) -> None:
        """Make one event a record that a batch brought, and one for an epoch without records.

        A step may be of several packets: an epoch that begins where the log ends came after them.
        """
        now = self._of[me].now
        hears = now.log == before.log or now.begins_epoch(self._logs)
        end = len(now.log) + hears
        for length in range(len(before.log) + 1, end):
            shown = now.parts(self._logs, self._epochs, log=now.log[:length])
            self.event("Replicate", (me,), node=me, parts=tuple(shown))
        self._event(me, "HearEpoch" if hears else "Replicate")

    def _shook_hands(self, me: str, received: Sequence[SentMessage]) -> None:
        conn = self._of[me].now.link
        if conn is None or not received:
            raise RecordError("ReceiveHandshake without a connection, or without a packet")
        master = self.sender(received[-1])
        self._links.shook_hands(master, me, conn)
        shown = self._of[me].now.parts(self._logs, self._epochs)
        self.event("Handshake", (master, me), node=me, parts=tuple(shown))

    def _acknowledged(self, me: str, params: _Params) -> None:
        number, of = params.conn, self._of[me]
        slave = None if number is None else self._links.slave_of(me, number)
        if number is None or slave is None:
            return
        end = of.now.servers.get(number)
        offset = -1 if end is None else end.slave_ack
        ack = -1 if offset < 0 else self._logs.count(of.now.log, offset)
        if self._links.heard(number, ack):
            shown = part("conn", me, slave, "ack", value=ack)
            self._event(me, "ReceiveAck", slave, more=[shown])

    def _close_ends(self, me: str) -> None:
        """Make events of the ends of connections that a node does not have any more."""
        now = self._of[me].now
        for slave, is_linked in self._links.closed(me, now.servers).items():
            if is_linked:
                self._closing[slave] = me
            else:
                self.event("CloseConnection", (me, slave), node=me)
        if self._links.left(me, now.link):
            self.event("Disconnect", (me,), node=me)
            self._close_late(me)

    def _close_late(self, slave: str) -> None:
        """Make the event of a master that closed a connection before its slave had read all."""
        master = self._closing.pop(slave, None)
        if master is not None:
            self.event("CloseConnection", (master, slave), node=master)

    def _drop_ends(self, me: str) -> None:
        """Forget the connections of a broker that has another role, or is down."""
        self._links.drop(me)
        self._close_late(me)
        for slave in [slave for slave, master in self._closing.items() if master == me]:
            del self._closing[slave]
            self._links.unlink(slave)

    def _event(self, me: str, action: str, *params: Value, more: Sequence[Part] = ()) -> None:
        """Make an event of a broker with what it has, and with `more`."""
        shown = self._of[me].now.parts(self._logs, self._epochs)
        self.event(action, (me, *params), node=me, parts=(*shown, *more))


_SEEN_ELSEWHERE: Final = frozenset({None, "Disconnect", "ReceiveTransfer", "LearnSyncStateSet"})
"""What changed nothing, or what the ends of connections and roles say."""


def _age(group: _Group) -> tuple[int, int]:
    """Return what grows with each entry of the log that controllers agree on."""
    return group.epoch, group.sync_state_set.epoch

"""Records of brokers and their controller as behaviours of SyncStateSet, one a master epoch.

A master epoch begins and ends as where whole states are read (`projection`); the controller's
records say who is elected, that of the broker itself when it becomes master.

| a record                                     | the specification                               |
|----------------------------------------------|-------------------------------------------------|
| PutMessage, ReceiveAck of the master         | the same, if it changed what that can see       |
| the master answers a producer: PUT_OK        | Acknowledge, if nobody has heard as much before |
| it answers a consumer with messages          | Consume, the same                               |
| LearnSyncStateSet of the master              | Learn                                           |
| MaybeExpand, MaybeShrink of the master       | Expand, Shrink                                  |
| a request to the controller left the master: | SendAlter, for the first time; silent where     |
| AlterSyncStateSet                            | nodes do not write what they send               |
| ReceiveHandshake, ReceiveTransfer of a slave | Connect, Copy, if the master hears it, else     |
|                                              | CopyElsewhere                                   |
| the master's end of a connection is gone,    | Disconnect                                      |
| or there is a newer one                      |                                                 |
| NodeStopped, with what is left of the log    | CrashMaster, Crash                              |
| an entry of the controller: MasterElected    | Elect                                           |
| a proposal that reached it; without its      | ApplyAlter, RefuseAlter: what must be decided   |
| content SetAltered, SetKept                  |                                                 |
| BrokerRegistered, in a new incarnation       | RestartMaster, Restart                          |

confirmOffset moves in a step of its own that follows its cause, where the specification has one
step: so the cause does not show it, and the events behind it do.

Real controllers write ElectMaster and AlterSyncStateSet, each for itself: the first one to apply an
entry counts; rocketha's in the place of one writes RefuseAlter as well. They write of no starts: so
a broker is back when it hears its role, and is another incarnation if it has lost something; one
that stops before it has heard its role was down all the time. That nobody is elected is no step:
until somebody is, what the controller has is not shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import msgspec

from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.controller_requests import AlterSyncStateSet
from rocketha.obligations.recorded_frames import command_of, request_in
from rocketha.recording.record import (
    STARTED,
    STOPPED,
    NodeHeader,
    NodeRecord,
    RecordError,
    SentMessage,
)
from rocketproof.protocols.sync_state_set.recorded_decisions import RecordedDecisions
from rocketproof.protocols.sync_state_set.recorded_epoch import RecordedMasterEpoch
from rocketproof.protocols.sync_state_set.recorded_nodes import (
    Applied,
    BrokerSettings,
    ControllerSettings,
    Happened,
    Losses,
    Named,
    RecordedGroup,
    RecordedReplica,
    applied,
)
from rocketproof.protocols.sync_state_set.recorded_run import RecordedRun
from rocketproof.protocols.sync_state_set.values import constants_of
from rocketproof.record_projection import RecordProjection, alike, read_field
from tlatrace.trace import Silent
from tlatrace.values import Json, State, Value, tla_set

__all__ = ["SetRecords"]

_ALTERED: Final = ("SetAltered", "SetKept")
"""What a controller says of a proposal that it has judged."""
_ROLE_CHANGES: Final = ("BecomeMaster", "BecomeSlave")
_REPLICATES: Final = frozenset(
    {
        "PutMessage",
        "ReceiveAck",
        "ReceiveHandshake",
        "ReceiveTransfer",
        "Handshake",
        "Transfer",
        "Flush",
        "Restart",
        "Disconnect",
        "LearnEpoch",
    }
)
_OF_GROUPS: Final = frozenset(
    {
        "Acknowledge",
        "Consume",
        "MaybeExpand",
        "MaybeShrink",
        "LearnSyncStateSet",
        "CloseConnection",
    }
)


class _Params(msgspec.Struct, frozen=True):
    conn: int | None = None
    slaves: tuple[Named, ...] = ()


class _Put(msgspec.Struct, frozen=True):
    status: str
    end: int | None


class _Pull(msgspec.Struct, frozen=True):
    offset: int
    data: dict[str, int] | None


class _Message(msgspec.Struct, frozen=True):
    offset: int = 0
    size: int = 0


class SetRecords(RecordProjection):
    """Makes a trace of each master epoch of the records of a group."""

    silent = Silent(actions=("SendAlter",))

    def __init__(self, headers: Sequence[NodeHeader]) -> None:
        """Read how brokers and the controller are set up. Raises: RecordError"""
        super().__init__()
        brokers: dict[str, BrokerSettings] = {}
        controllers: dict[str, ControllerSettings] = {}
        for header in headers:
            what = f"settings of {header.node}"
            settings: BrokerSettings | ControllerSettings = read_field(
                header.settings, BrokerSettings | ControllerSettings, what
            )
            if isinstance(settings, BrokerSettings):
                brokers[header.node] = settings
            else:
                controllers[header.node] = settings
        if not controllers or not brokers:
            raise RecordError("there are not the records of a controller and of brokers")
        names = alike(brokers).brokers
        missing = sorted(set(names) ^ set(brokers))
        if missing:
            raise RecordError(f"{missing[0]} has no records, or is none of the group's brokers")
        if len(names) == 1:
            raise RecordError("a group of one broker has no slaves, of which SyncStateSet speaks")
        self._run = RecordedRun(
            brokers=names,
            replicas={name: RecordedReplica() for name in names},
            losses={name: Losses() for name in names},
            down=set(names),
            slave_not_catchup_ms={b: of.slave_not_catchup_ms for b, of in brokers.items()},
        )
        self._started: set[str] = set()
        """Brokers that run, whether the controller knows it or not."""
        self._controllers = {name: RecordedGroup() for name in controllers}
        self._decisions = {
            name: RecordedDecisions(of.broker_name) for name, of in controllers.items()
        }
        self._open: list[RecordedMasterEpoch] = []

    @property
    def constants(self) -> State:
        """Return the constants of all master epochs."""
        return constants_of(len(self._run.brokers))

    def begin(self) -> None:
        """Begin without a master epoch."""

    def take(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Make the events of a record, in each master epoch that it is seen in.

        Raises: RecordError
        """
        self._run.now_ms = self.now_ms
        if record.node in self._controllers:
            self._controller_stepped(record, received)
        elif record.event == STOPPED:
            self._stopped(record)
        else:
            self._stepped(record, [self.sender(message) for message in received])

    def _end(self, epoch: RecordedMasterEpoch) -> None:
        self._open.remove(epoch)

    # ---- the controller ----

    def _controller_stepped(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Take what a controller has applied, if no other one, or a replay, has been before it."""
        run, me = self._run, record.node
        group = self._controllers[me] = self._controllers[me].after(record)
        told = applied(record)
        decision = self._decisions[me].after(record, received) if group.tells_starts else None
        if not group.tells_starts and group.age <= run.group.age:
            return
        run.group = group
        for event in told.events:
            if decision is None or event.kind not in _ALTERED:
                self._controller_event(event, told)
        if decision is not None:
            self._decided(decision.action, decision.params, decision.joining)

    def _controller_event(self, event: Happened, told: Applied) -> None:
        match event.kind:
            case "MasterElected":
                self._elected(event.master)
            case "SetAltered":
                self._decided("ApplyAlter", (), dict(told.entry.change.joining))
            case "SetKept":
                self._decided("RefuseAlter", (True,), {})
            case "BrokerRegistered":
                self._registered(event, torn=told.entry.change.log_torn)
            case "DataCleaned":
                self._open.clear()
            case "BrokerEvicted" | "BrokerIdAssigned":
                pass
            case _:
                raise RecordError(f"nothing is known of {event.kind!r}")

    def _decided(self, action: str, params: tuple[Value, ...], joining: Mapping[int, int]) -> None:
        """Write what must become of a proposal; why one was refused is known to who hears all."""
        who = self._run.by_name(joining.items())
        for epoch in self._present():
            epoch.note_set(who)
            epoch.look()
            epoch.record(None, action, params)

    def _present(self) -> list[RecordedMasterEpoch]:
        """Return the master epoch that the controller has not ended, if there is one."""
        return [epoch for epoch in self._open if not epoch.is_over]

    def _elected(self, elected: Named | None) -> None:
        master = None if elected is None else self._run.name_of(elected)
        for epoch in self._present():
            if master is None:
                epoch.note_vacancy()
                continue
            if epoch.master == master:
                self._end(epoch)
                continue
            epoch.note_election()
            epoch.look()
            epoch.record(None, "Elect", (epoch.names[master],))
            if not epoch.is_master():
                self._end(epoch)

    def _registered(self, event: Happened, *, torn: bool) -> None:
        run, name = self._run, self._run.name_of(event.broker_id)
        losses, incarnation = run.losses[name], event.incarnation
        if event.restarted or not losses.of:
            losses.register(incarnation, torn=torn and event.restarted)
        if name in self._started and run.replicas[name].incarnation in (None, incarnation):
            run.down.discard(name)
        if event.restarted:
            self._is_back(name, is_told=True)

    def _is_back(self, name: str, *, is_told: bool) -> None:
        for epoch in self._open:
            epoch.note_start(name, is_told=is_told)
            if epoch.has_left(name):
                continue
            epoch.look()
            if name == epoch.master:
                epoch.record(name, "RestartMaster")
            else:
                epoch.record(name, "Restart", (epoch.names[name],))

    # ---- brokers ----

    def _stopped(self, record: NodeRecord) -> None:
        me, run = record.node, self._run
        left = run.replicas[me].after(record).log
        run.replicas[me] = RecordedReplica(log=left)
        run.down.add(me)
        self._started.discard(me)
        for epoch in list(self._open):
            if epoch.has_left(me) or not epoch.is_up(me):
                continue  # it was killed before it was back
            kept = epoch.note_stop(me)
            epoch.look()
            if me != epoch.master:
                epoch.record(me, "Crash", (epoch.names[me], kept))
                continue
            epoch.record(me, "CrashMaster", (kept,))
            if epoch.is_over:
                self._end(epoch)

    def _stepped(self, record: NodeRecord, heard: Sequence[str]) -> None:
        me, run = record.node, self._run
        run.replicas[me] = run.replicas[me].after(record)
        run.note_connections(me)
        for epoch in self._of_master(me):
            epoch.note_lags(heard, record.shows_ms)
        if record.event == STARTED:
            self._started.add(me)
            return
        action = record.action
        params: _Params = read_field(record.params, _Params, "params")
        if action in _ROLE_CHANGES:
            self._role_changed(me)
        elif action in _REPLICATES:
            for epoch in self._open:
                self._replicated(epoch, me, action, params)
        elif action in _OF_GROUPS:
            for epoch in self._open:
                self._group_acted(epoch, me, action, params)
        elif action is not None:
            raise RecordError(f"a broker has no action {action!r}")
        for told, end in _told(record):
            for epoch in self._of_master(me):
                epoch.record_answer(told, epoch.count(end))
        requests = list(_proposals_sent(record))
        for epoch in self._of_master(me) if requests else ():
            epoch.record_sent(requests)
        for epoch in self._open:
            epoch.record_rest(me)

    def _of_master(self, me: str) -> list[RecordedMasterEpoch]:
        """Return the master epochs of a broker that have not ended."""
        return [epoch for epoch in self._open if epoch.master == me]

    def _role_changed(self, me: str) -> None:
        """End what the broker was the master of; begin anew if it is the controller's master."""
        run, group = self._run, self._run.group
        if me in run.down and not group.tells_starts:
            run.down.discard(me)
            self._is_back(me, is_told=False)
        for epoch in [one for one in self._open if one.master == me]:
            self._end(epoch)
        for epoch in self._open:
            epoch.record_rest(me)
        local = run.replicas[me].local
        master = group.master
        if master is None or (run.name_of(master), group.epoch) != (
            me,
            run.replicas[me].known_epoch,
        ):
            return
        if local is not None and len(local.members) == 1:
            run.note_id(local.members[0], me)
        number = len(self.metas)
        epoch = RecordedMasterEpoch(run, me, partial(self.event, of=number))
        called: dict[str, Json] = {name: of for of, name in epoch.names.items()}
        said: dict[str, Json] = {"number": number + 1, "epoch": epoch.epoch, "brokers": called}
        self.begin_trace({"master_epoch": said})
        epoch.begin()
        self._open.append(epoch)

    def _replicated(
        self, epoch: RecordedMasterEpoch, me: str, action: str | None, params: _Params
    ) -> None:
        if not epoch.look():
            return
        name = epoch.names[me]
        match action:
            case "ReceiveAck" if me == epoch.master:
                slave = None if params.conn is None else self._run.slave_of(params.conn)
                if slave is None:
                    raise RecordError("a report of nobody")
                epoch.record(me, "ReceiveAck", (epoch.names[slave], epoch.ack_of(slave)))
            case "PutMessage" if me == epoch.master:
                epoch.record(me, "PutMessage")
            case _ if me == epoch.master or not epoch.hears(me):
                epoch.record_rest(me)
            case "ReceiveHandshake":
                epoch.record(me, "Connect", (name,))
            case "ReceiveTransfer":
                epoch.record(me, "Copy", (name, epoch.end_of(me)))
            case _:
                epoch.record_rest(me)

    def _group_acted(
        self, epoch: RecordedMasterEpoch, me: str, action: str | None, params: _Params
    ) -> None:
        is_seen = epoch.look()
        if epoch.master != me:
            epoch.record_rest(me)
            return
        match action:
            case "Acknowledge":
                epoch.note_confirmed()
                epoch.record_rest(me)
            case "MaybeExpand" | "MaybeShrink":
                named = [epoch.names[self._run.name_of(slave)] for slave in params.slaves]
                if action == "MaybeShrink":
                    is_due = epoch.is_due(map(self._run.name_of, params.slaves))
                    epoch.record_proposal("Shrink", (tla_set(named), is_due))
                elif len(named) == 1:
                    epoch.record_proposal("Expand", (named[0],))
                else:
                    raise RecordError(f"MaybeExpand of {len(named)} slaves")
            case "LearnSyncStateSet" if is_seen:
                epoch.record(me, "Learn", (epoch.known_set,))
            case _:
                epoch.record_rest(me)


def _proposals_sent(record: NodeRecord) -> Iterator[AlterSyncStateSet | None]:
    """Yield the proposals that a broker has sent; None: one whose content is not written.

    Raises: RecordError
    """
    for message in record.sent:
        if message.code != RequestCode.ALTER_SYNC_STATE_SET:
            continue
        request = None
        if message.body is not None:
            request = request_in(command_of(message.code, message.body, is_response=False))
        yield request if isinstance(request, AlterSyncStateSet) else None


def _told(record: NodeRecord) -> Iterator[tuple[str, int]]:
    """Yield up to where producers hear that messages are safe, and consumers see the log.

    A real broker writes of producers only, in a record of its own for each.

    Raises: RecordError
    """
    for answer in record.answered:
        match answer.get("is"):
            case "AnswerPut":
                put: _Put = read_field(answer, _Put, "AnswerPut")
                if put.status == "PUT_OK":
                    yield "Acknowledge", put.end or 0
            case "AnswerPull":
                pull: _Pull = read_field(answer, _Pull, "AnswerPull")
                if pull.data is not None and pull.data["size"]:
                    yield "Consume", pull.offset + pull.data["size"]
            case "AnswerSend" if record.action == "Acknowledge":
                message: _Message = read_field(answer, _Message, "answered")
                yield "Acknowledge", message.offset + message.size
            case _:
                pass

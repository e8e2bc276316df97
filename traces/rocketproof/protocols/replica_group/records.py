"""Records of brokers and their controller as behaviours of ReplicaGroup.

| a record                                     | the specification                               |
|----------------------------------------------|-------------------------------------------------|
| an action of a broker                        | the same, if it changed what that can see       |
| RECEIVE_TRANSFER                             | Replicate for each record, or HearEpoch         |
| RECEIVE_HANDSHAKE                            | Handshake with who sent the packet              |
| a server's, or the client's, end is gone     | CloseConnection, Disconnect                     |
| NodeStopped, with what is left of the log    | Crash                                           |
| answered: AnswerPull                         | Consume, if it is more than anybody has seen    |
| the controller has another master, or epoch  | ElectMaster; DesignateMaster if it was asked to |
|                                              | by an operator, or did not hear the present one |
| a proposal for the present set               | AlterSyncStateSet, if nothing speaks against    |
|                                              | it; else RefuseAlter                            |
| a scan does not elect where it must          | ElectMaster, which is none then                 |
| it has another set otherwise                 | CleanBrokerData                                 |
| it registers a new incarnation               | Restart                                         |
| it did not hear who is gone, or hears it     | EvictBroker, HearAgain                          |
| no notice of an election for who is alive    | Unnotified                                      |
| its answers and notices                      | ctl, if they say something else than it has     |
| PUT_OK beyond confirmOffset, or a producer   | Acknowledge, which is none then                 |
| that waits no more for slaves below it       |                                                 |
| the changed parts of a state                 | those of the node; ctl                          |

Each event shows what its node has, and nothing of the others. Whom the controller hears follows
from the frames that it received, and its clock (`rocketha.obligations.signs_of_life`); so does whom
it must elect, and which proposal it must take (`controller_choices`). Proposals under way, what was
acknowledged and the rest of connections are the specification's.

An incarnation is the number of crashes before it. A broker that is not registered is down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from rocketha.sim.engine.records import record_count
from rocketproof.protocols.epoch_truncation.values import NONE
from rocketproof.protocols.replica_group.recorded_broker import (
    RecordedBroker,
    broker,
)
from rocketproof.protocols.replica_group.recorded_controller import (
    RecordedController,
    read_settings,
)
from rocketproof.protocols.replica_group.recorded_links import RecordedLinks
from rocketproof.record_projection import RecordProjection, alike, part, read_field
from tlatrace.trace import Part
from tlatrace.values import State, Value, tla_set

__all__ = ["GroupRecords"]

_ROLE_CHANGES: Final = ("BecomeMaster", "BecomeSlave")
_OF_SLAVES_END: Final = ("Handshake", "Transfer", "Flush", "Restart")
"""What the specification has no step for; the other end's step, or the controller's, counts."""
_READ_ELSEWHERE: Final = ("Consume", "Disconnect", "CloseConnection")
"""What answers and the ends of connections say."""
_ACTIONS: Final = frozenset(
    {
        *_ROLE_CHANGES,
        *_OF_SLAVES_END,
        *_READ_ELSEWHERE,
        "PutMessage",
        "ReceiveAck",
        "ReceiveHandshake",
        "ReceiveTransfer",
        "Acknowledge",
        "LearnSyncStateSet",
        "MaybeExpand",
        "MaybeShrink",
    }
)


class _Params(msgspec.Struct, frozen=True):
    conn: int | None = None
    slave: int | None = None
    slaves: tuple[int, ...] = ()


class _Pull(msgspec.Struct, frozen=True):
    offset: int
    data: dict[str, int] | None


class _Put(msgspec.Struct, frozen=True):
    status: str
    end: int | None


@dataclass(slots=True)
class _Of:
    """What is remembered of a broker."""

    now: RecordedBroker
    crashes: int = 0
    is_down: bool = False
    """The controller does not know this incarnation."""
    is_unshown: bool = False
    """It has changed in this step, and no event has shown it."""


class GroupRecords(RecordProjection):
    """Makes a trace of the records of a group."""

    def __init__(self, headers: Sequence[NodeHeader]) -> None:
        """Read how brokers and the controller are set up. Raises: RecordError"""
        super().__init__()
        brokers, controllers = read_settings(headers)
        if len(controllers) != 1:
            raise RecordError("there are the records of more than one controller")
        self._settings = alike(brokers)
        self._of = {name: _Of(RecordedBroker(name=name)) for name in brokers}
        ((self._controller, self._controller_settings),) = controllers.items()
        self._elects_unclean = self._controller_settings.elect_unclean
        self._ctl = RecordedController(tuple(self._of), self._controller_settings)
        self._links = RecordedLinks(brokers)
        self._seen: tuple[int, ...] = ()

    @property
    def constants(self) -> State:
        """Return the constants, as brokers and controller are set up."""
        return {
            "Broker": tla_set(self._of),
            "None": NONE,
            "AllAckInSyncStateSet": self._settings.all_ack_in_sync_state_set,
            "InSyncReplicas": self._settings.in_sync_replicas,
            "EnableElectUncleanMaster": self._controller_settings.elect_unclean,
        }

    def take(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Make the events of a record. Raises: RecordError"""
        if record.node == self._controller:
            self._controller_stepped(record, received)
        elif record.event == STOPPED:
            self._crashed(record)
        else:
            self._stepped(record, received)

    # ---- brokers ----

    def _crashed(self, record: NodeRecord) -> None:
        of = self._of[record.node]
        of.now = RecordedBroker(name=record.node, log=of.now.after(record).log)
        if of.is_down:
            return
        of.crashes += 1
        of.is_down = True
        self._links.drop(record.node)
        left = part("log", record.node, value=of.now.log)
        self._event(record.node, "Crash", len(of.now.log), parts=[left])

    def _stepped(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        me, of = record.node, self._of[record.node]
        before, of.now = of.now, of.now.after(record)
        if record.action is not None and record.action not in _ACTIONS:
            raise RecordError(f"a broker has no action {record.action!r}")
        if of.is_down or record.event == STARTED:
            return
        of.is_unshown = before.visible() != of.now.visible()
        if record.action in _ROLE_CHANGES:
            if self._links.drop(me) or of.is_unshown:
                self._event(me, str(record.action))
            return
        self._close_ends(me)
        self._acted(record, before, received)
        self._asked_controller(me, record)
        for answer in record.answered:
            if answer.get("is") == "AnswerPull":
                self._consumed(me, read_field(answer, _Pull, "AnswerPull"))
            elif answer.get("is") == "AnswerPut":
                self._promised(me, read_field(answer, _Put, "AnswerPut"))
        if of.is_unshown:
            self._event(me, None)

    def _acted(
        self, record: NodeRecord, before: RecordedBroker, received: Sequence[SentMessage]
    ) -> None:
        """Make the event of an action, if the specification can see what it did."""
        me, of = record.node, self._of[record.node]
        is_seen = before.visible() != of.now.visible()
        params: _Params = read_field(record.params, _Params, "params")
        match record.action:
            case "ReceiveHandshake":
                self._shook_hands(me, received)
            case "ReceiveAck":
                self._acknowledged(me, params)
            case "ReceiveTransfer" if is_seen:
                self._replicated(me, before)
            case "PutMessage" | "Acknowledge" | "LearnSyncStateSet" if is_seen:
                self._event(me, record.action)
            case "MaybeShrink" if is_seen:
                self._event(me, "MaybeShrink", tla_set(map(broker, params.slaves)))
            case "MaybeExpand" if is_seen:
                (slave,) = params.slaves
                self._event(me, "MaybeExpand", broker(slave))
            case _:
                pass

    def _replicated(self, me: str, before: RecordedBroker) -> None:
        """Make one event a record that a batch brought, or one for an epoch without records."""
        now = self._of[me].now
        if before.log == now.log:
            self._event(me, "HearEpoch")
            return
        for length in range(len(before.log) + 1, len(now.log)):
            shown = now.parts(self._ctl.starts, log=now.log[:length])
            self._event(me, "Replicate", parts=shown)
        self._event(me, "Replicate")

    def _asked_controller(self, me: str, record: NodeRecord) -> None:
        """Make an event of a proposal that is sent, if it is not the one that the node has."""
        of = self._of[me]
        for message in record.sent:
            if message.code != RequestCode.ALTER_SYNC_STATE_SET or message.body is None:
                continue
            request = request_in(command_of(message.code, message.body, is_response=False))
            if isinstance(request, AlterSyncStateSet):
                sent = of.now.proposal(request, self._ctl.starts)
                if sent != of.now.pending_value(self._ctl.starts):
                    self._event(
                        me, "MaybeShrink", tla_set(()), parts=[part("pend", me, value=sent)]
                    )

    def _promised(self, me: str, put: _Put) -> None:
        """Make an event of an answer that says otherwise of a message than that it is confirmed."""
        end, now = record_count(put.end or 0), self._of[me].now
        confirmed = record_count(now.confirm)
        if put.status == "PUT_OK" and end > confirmed:
            self._event(me, "Acknowledge", parts=[part("confirm", me, value=end)])
        is_waiting = put.status == "FLUSH_SLAVE_TIMEOUT" and not self._elects_unclean
        if is_waiting and now.is_master and 0 < end <= confirmed:
            self._event(me, "Acknowledge", parts=[part("confirm", me, value=end - 1)])

    def _consumed(self, me: str, pull: _Pull) -> None:
        if pull.data is None or not pull.data["size"]:
            return
        shown = self._of[me].now.log[: record_count(pull.offset + pull.data["size"])]
        if self._seen[: len(shown)] != shown:
            self._seen = shown
            self._event(me, "Consume", observed={"seen": shown})

    # ---- connections ----

    def _shook_hands(self, me: str, received: Sequence[SentMessage]) -> None:
        of = self._of[me]
        conn = of.now.link
        if conn is None:
            return
        if not received:
            raise RecordError("ReceiveHandshake without a packet")
        master = self.sender(received[-1])
        self._links.shook_hands(master, me, conn)
        self._event(me, "Handshake", first=master)

    def _acknowledged(self, me: str, params: _Params) -> None:
        number = params.conn
        slave = None if number is None else self._links.slave_of(me, number)
        if number is None or slave is None:
            return
        end = self._of[me].now.servers.get(number)
        ack = -1 if end is None or end.slave_ack < 0 else record_count(end.slave_ack)
        if self._links.heard(number, ack):
            shown = part("conn", me, slave, "ack", value=ack)
            self._event(me, "ReceiveAck", slave, more=[shown])

    def _close_ends(self, me: str) -> None:
        """Make events of the ends of connections that a node does not have any more."""
        now = self._of[me].now
        for slave, is_linked in self._links.closed(me, now.servers).items():
            if is_linked:
                self._links.unlink(slave)
            self._event(me, "CloseConnection", slave, parts=[])
        if self._links.left(me, now.link):
            self._event(me, "Disconnect", parts=[])

    # ---- the controller ----

    def _controller_stepped(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        ctl = self._ctl
        crashes = {name: of.crashes for name, of in self._of.items()}
        decided = ctl.after(record, received, crashes)
        # An event of silence is before all else; what is said, behind it.
        last = sum(one.shown is None for one in decided)
        for at, one in enumerate(decided, start=1):
            observed: State = {"ctl": ctl.value()} if at == last else {}
            if one.shown is not None:
                observed = {"ctl": one.shown}
            params = list(one.params)
            parts: list[Part] = []
            if one.restarted is not None:
                of = self._of[one.restarted]
                of.is_down = False
                of.now = replace(of.now, registered_epoch=ctl.epoch)
                parts = of.now.parts(ctl.starts)
            self._event(
                self._controller, one.action, *params, first="", parts=parts, observed=observed
            )

    # ---- events ----

    def _event(
        self,
        node: str,
        action: str | None,
        *params: Value,
        first: str | None = None,
        parts: list[Part] | None = None,
        more: Sequence[Part] = (),
        observed: State | None = None,
    ) -> None:
        """Make an event with what its node has, or the `parts` that are given.

        The first argument is the node, or `first` before it; "": it is none.
        """
        arguments: tuple[Value, ...] = () if first == "" else (node,)
        if first:
            arguments = (first, *arguments)
        shown: list[Part] = list(parts or ())
        if parts is None:
            shown = self._of[node].now.parts(self._ctl.starts)
            self._of[node].is_unshown = False
        self.event(
            action,
            () if action is None else (*arguments, *params),
            node=node,
            observed=observed,
            parts=(*shown, *more),
        )

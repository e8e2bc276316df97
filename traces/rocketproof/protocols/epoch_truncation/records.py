"""Records of brokers and of who elects them as behaviours of EpochTruncation.

| a record                                   | the specification                                  |
|--------------------------------------------|----------------------------------------------------|
| ElectMaster of the controller              | ElectMaster; ctl                                   |
| ElectNobody, or ElectMaster of no master   | ElectNobody; ctl; the latter before the next       |
|                                            | election                                           |
| BecomeMaster, BecomeSlave, PutMessage,     | the same                                           |
| Restart                                    |                                                    |
| LearnEpoch of an epoch that is new to its  | LearnEpoch                                         |
| node: in no packet that it took since its  |                                                    |
| start, and not in its epoch cache          |                                                    |
| Flush, if another record is safe now       | Flush                                              |
| NodeStopped, with what is left on the disk | Crash; before it PutMessage, ReceiveTransfer of    |
|                                            | what was stored, if the node could not write it    |
| NodeStarted with a part of it, or nothing  | LoseLog, or LoseStore                              |
| Handshake on a connection that its slave   | Handshake, and `link` of the slave                 |
| holds                                      |                                                    |
| ReceiveAck, Transfer over such a link      | the same                                           |
| ReceiveHandshake, ReceiveTransfer          | the same                                           |
| a batch without a byte                     | Heartbeat                                          |
| an ack of a slave that took no packet      | Report                                             |
| Disconnect of a slave that has a link      | Disconnect                                         |
| the state of a broker                      | role, known, inc, log, epochs, received, disk,     |
|                                            | flushed, epochsDisk                                |
| `client`, the slave's end of a connection  | peer, phase and reported of its link, or NoLink    |
| `servers`, the master's ends               | ack, next and cur of the links of its slaves       |
| a packet sent over a link                  | the last of `down`, of which its epoch             |
| a change without an action                 | a step of which only what the node has is known    |

Each event shows what its node has, and nothing of the others. What else is in flight (`down`), and
whether a master has closed its end (`open`), are the specification's: its actions say them.

A link is there from the answer to a handshake until its slave notices that the connection is gone.

Real controllers elect nobody many times a second while they have no candidate, and brokers hear of
the election before in the midst of that. Nobody hears of these: so they are shown when somebody is
elected again, and until then a broker may learn what the controller had decided before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
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
from rocketha.types import Offset
from rocketproof.occasions import Occasions
from rocketproof.protocols.epoch_truncation.frames import BrokerFrames
from rocketproof.protocols.epoch_truncation.recorded_state import (
    BrokerSettings,
    ClientEnd,
    ControllerSettings,
    RecordedState,
    ServerEnd,
)
from rocketproof.protocols.epoch_truncation.values import (
    NO_LINK,
    NONE,
    entries_value,
    entry_value,
    index_or_minus_one,
    starts_value,
)
from rocketproof.record_projection import (
    RecordProjection,
    part,
    read_field,
)
from rocketproof.recorded_log import LogItem, RunLogs
from tlatrace.trace import Part
from tlatrace.values import State, Value, tla_set
from tlatrace.values import record as tla_record

__all__ = ["EpochRecords"]


class _Elected(msgspec.Struct, frozen=True):
    master: str | None


class _Election(msgspec.Struct, frozen=True):
    epoch: int


@dataclass(frozen=True, slots=True)
class _Vacancy:
    """A controller has elected nobody."""

    node: str
    epoch: int


class _Became(msgspec.Struct, frozen=True):
    master_epoch: int | None = None


class _Params(msgspec.Struct, frozen=True):
    conn: int
    epoch: int = 0
    offset: int = 0
    size: int = 0
    due: bool = True
    """There was an occasion for it."""
    incarnation: int = 0
    """Of a slave that says in its handshake how often it has crashed, if it ever did."""


_NO_STEPS: Final = frozenset(
    {
        "Acknowledge",
        "AlterSyncStateSet",
        "LearnSyncStateSet",
        "MaybeExpand",
        "MaybeShrink",
        "RefuseAlter",
    }
)
"""What this specification has no step for."""


@dataclass(slots=True)
class _Link:
    """A connection, from the answer to its handshake on."""

    conn: int
    master: str
    in_flight: list[int] = field(default_factory=list)
    """The epochs of the packets of the master that the slave has not processed."""


class EpochRecords(RecordProjection):
    """Makes a trace of the records of brokers and of their controller."""

    def __init__(self, headers: Sequence[NodeHeader]) -> None:
        """Read which brokers there are. Raises: RecordError"""
        super().__init__()
        brokers: dict[str, BrokerSettings] = {}
        controllers: list[str] = []
        for header in headers:
            settings = read_field(
                header.settings, BrokerSettings | ControllerSettings, f"settings of {header.node}"
            )
            if isinstance(settings, BrokerSettings):
                brokers[header.node] = settings
            else:
                controllers.append(header.node)
        complete = all(sorted(one.brokers) == sorted(brokers) for one in brokers.values())
        if not controllers or not brokers or not complete:
            raise RecordError("there are not the records of a controller and all brokers")
        self._controllers = frozenset(controllers)
        self._epoch = 0
        """The masterEpoch of the last election that a controller has applied."""
        self._vacancies: list[_Vacancy] = []
        """Elections of nobody that are not shown yet."""
        self._logs = RunLogs()
        self._master_epochs: dict[str, int | None] = {}
        """Broker -> the masterEpoch with which it became master, if its records say that."""
        self._heard: dict[str, int] = {}
        """Broker -> the largest epoch in the packets that it took in this incarnation."""
        self._cut_off: dict[str, tuple[LogItem, ...]] = {}
        """Broker -> what it has cut off its log last."""
        self._of = {name: RecordedState() for name in brokers}
        self._frames = {
            name: BrokerFrames(Occasions(one.waits))
            for name, one in brokers.items()
            if one.frames_are_shown
        }
        self._links: dict[str, _Link] = {}
        self._is_shown = False

    @property
    def constants(self) -> State:
        """Return the constants."""
        return {"Broker": tla_set(self._of), "None": NONE}

    def take(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Make the event of a record, if the specification can see it. Raises: RecordError"""
        if record.node in self._controllers:
            if record.action in ("ElectMaster", "ElectNobody"):
                self._elected(record)
            elif record.action is not None and record.action not in _NO_STEPS:
                raise RecordError(f"a controller has no action {record.action!r}")
            return
        me, before = record.node, self._of[record.node]
        now, frames = before.after(record), self._frames.get(me)
        if frames is not None:
            now = frames.after(record, received, now)
        self._of[me] = now
        if record.event != STOPPED and len(now.log) < len(before.log):
            self._cut_off[me] = before.log[len(now.log) :]
        if record.event == STOPPED:
            self._cut_short(record, before)
            self._crashed(record)
        elif record.event == STARTED:
            self._started(record, before)
        else:
            self._is_shown = False
            done = [record] if frames is None else frames.done(record, received, before, now)
            for one in done:
                self._acted(one, before)
            if not self._is_shown and before.visible(self._logs) != now.visible(self._logs):
                self._event(record, None)
            link = self._links.get(me)
            if link is not None and (now.client is None or now.client.id != link.conn):
                del self._links[me]
                if frames is not None and not self._is_shown:
                    self._event(record, "Disconnect")

    def _elected(self, record: NodeRecord) -> None:
        elected = _Elected(master=None)
        if record.action != "ElectNobody":
            elected = read_field(record.params, _Elected, "params")
        election: _Election = read_field(record.state, _Election, "state")
        if election.epoch <= self._epoch:
            return  # another controller of the same group has applied it before
        self._epoch = election.epoch
        if elected.master is None:
            self._vacancies.append(_Vacancy(record.node, election.epoch))
        if record.action == "ElectNobody" or elected.master is not None:
            self._show_vacancies()
        if elected.master is not None:
            ctl = tla_record({"master": elected.master, "epoch": election.epoch})
            params = (elected.master,)
            self.event("ElectMaster", params, node=record.node, observed={"ctl": ctl})

    def _show_vacancies(self) -> None:
        for one in self._vacancies:
            ctl = tla_record({"master": NONE, "epoch": one.epoch})
            self.event("ElectNobody", (), node=one.node, observed={"ctl": ctl})
        self._vacancies.clear()

    def _started(self, record: NodeRecord, before: RecordedState) -> None:
        """Make an event of what a disk has lost between a stop and a start."""
        me, now = record.node, self._of[record.node]
        kept = len(now.log)
        if before.role == "Down" and before.epoch_file and not now.epoch_file:
            empty = replace(before, log=now.log, on_disk=now.on_disk, epochs=(), epoch_file=())
            self._of[me] = empty
            self._event(record, "LoseStore")
            self._of[me] = now
        elif before.role == "Down" and kept < len(before.log) and before.log[:kept] == now.log:
            self._of[me] = replace(before, log=now.log, on_disk=now.on_disk)
            self._event(record, "LoseLog", kept)
            self._of[me] = now

    def _cut_short(self, record: NodeRecord, before: RecordedState) -> None:
        """Make events of what a node that was killed had stored, and could not write any more."""
        me, left = record.node, self._of[record.node]
        known = len(before.log)
        is_longer = len(left.log) > known and left.log[:known] == before.log
        if not is_longer or before.role == "Down" or isinstance(left.log[-1], int):
            return
        if left.log[known] in self._cut_off.get(me, ()):
            return  # what was cut off is still on the disk
        epoch = self._master_epochs.get(me)
        if before.role == "Master" and epoch is not None:
            self._logs.taken(left.log, epoch)
            for length in range(known + 1, len(left.log) + 1):
                self._of[me] = replace(before, log=left.log[:length])
                self._event(record, "PutMessage")
        elif me in self._links and before.client is not None:
            self._of[me] = replace(
                before,
                log=left.log,
                epochs=left.epoch_file,
                epoch_file=left.epoch_file,
                client=ClientEnd(before.client.id, before.client.phase, None),
            )
            self._event(record, "ReceiveTransfer")
        self._of[me] = left

    def _crashed(self, record: NodeRecord) -> None:
        me, left = record.node, self._of[record.node]
        self._links.pop(me, None)
        self._heard.pop(me, None)
        self._of[me] = now = RecordedState(
            role="Down",
            known_epoch=None if left.known_epoch is None else 0,
            received_epoch=None if left.received_epoch is None else 0,
            epochs=left.epoch_file,
            epoch_file=left.epoch_file,
            log=left.log,
            on_disk=left.on_disk,
        )
        self._event(record, "Crash", len(now.log))

    def _acted(self, record: NodeRecord, before: RecordedState) -> None:
        """Make the event of an action, if the specification can see what it did."""
        me, now = record.node, self._of[record.node]
        match record.action:
            case None:
                pass
            case "BecomeMaster" | "BecomeSlave":
                self._changed_role(record, before)
            case "PutMessage":
                epoch = self._master_epochs.get(me)
                if epoch is not None:
                    self._logs.taken(now.log, epoch)
                self._event(record, record.action)
            case "Restart":
                self._event(record, record.action)
            case "Flush":
                if before.flushed(self._logs) != now.flushed(self._logs):
                    self._event(record, record.action)
            case "Handshake" | "ReceiveAck" | "RefuseAck" | "Transfer" | "Heartbeat":
                self._served(record)
            case "ReceiveHandshake" | "ReceiveTransfer":
                self._took_packet(me)
                self._event(record, record.action)
            case "RefuseHandshake":
                if self._links.pop(me, None) is not None:
                    self._event(record, record.action)
            case "Report":
                if me in self._links:
                    params: _Params = read_field(record.params, _Params, "params")
                    self._event(record, record.action, params.due)
            case "SaidUnheld" | "KeptForged" | "Misremembered" | "ClosedInVain":
                self._did_what_none_does(record)
            case "LearnEpoch":
                self._learnt(record, before)
            case "Disconnect":
                if self._links.pop(me, None) is not None:
                    self._event(record, record.action)
            case other if other not in _NO_STEPS:
                raise RecordError(f"a broker has no action {other!r}")
            case _:
                pass

    def _changed_role(self, record: NodeRecord, before: RecordedState) -> None:
        """Make the event of a broker that hears who is master.

        After a start a real slave hears it again, of the epoch that its cache ends with, too: that
        is no step, as it knew it.
        """
        me = record.node
        became: _Became = read_field(record.params, _Became, "params")
        if record.action == "BecomeMaster":
            self._master_epochs[me] = became.master_epoch
        elif became.master_epoch is not None and me not in self._links:
            last = before.epochs[-1].epoch if before.epochs else 0
            if before.role == "Slave" and became.master_epoch <= last:
                return
        self._links.pop(me, None)
        self._event(record, str(record.action))

    def _took_packet(self, me: str) -> None:
        link = self._links.get(me)
        if link is not None and link.in_flight:
            self._heard[me] = max(self._heard.get(me, 0), link.in_flight.pop(0))

    def _learnt(self, record: NodeRecord, before: RecordedState) -> None:
        """Make the event of a slave whose master was elected again, if the epoch is new to it."""
        me = record.node
        became: _Became = read_field(record.params, _Became, "params")
        last = before.epochs[-1].epoch if before.epochs else 0
        heard = max(last, self._heard.get(me, 0))
        if became.master_epoch is None or became.master_epoch > heard:
            self._event(record, str(record.action))

    def _served(self, record: NodeRecord) -> None:
        """Make the event of a master's action on the link of a slave, if there is one."""
        me = record.node
        params: _Params = read_field(record.params, _Params, "params")
        begin, end = Offset(params.offset), Offset(params.offset + params.size)
        if record.action == "Handshake":
            if any(link.conn == params.conn for link in self._links.values()):
                return  # asked again before it was read; the slave drops the second answer
            for name, state in self._of.items():
                if state.client is not None and state.client.id == params.conn:
                    self._links[name] = _Link(params.conn, me)
        for slave, link in self._served_by(me):
            if link.conn != params.conn:
                continue
            if record.action == "ReceiveAck":
                self._event(record, record.action, slave, self._count(me, begin))
                continue
            if record.action == "RefuseAck":  # none that a slave has sent is refused
                closed = part("link", slave, "open", value=False)
                ack = self._count(me, begin)
                self._event(record, "ReceiveAck", slave, ack, more=(closed,))
                continue
            link.in_flight.append(params.epoch)
            header = part("link", slave, "down", len(link.in_flight), "epoch", value=params.epoch)
            sent = (self._count(me, end) - self._count(me, begin),)
            arguments: tuple[Value, ...] = sent if record.action == "Transfer" else ()
            if record.action == "Heartbeat":
                arguments = (params.due,)
            shown = [header]
            if params.incarnation:
                shown.append(part("inc", slave, value=params.incarnation))
            self._event(record, str(record.action), slave, *arguments, more=tuple(shown))

    def _did_what_none_does(self, record: NodeRecord) -> None:
        """Make an event that no specification allows: of a link that is gone and still there."""
        params: _Params = read_field(record.params, _Params, "params")
        slaves = [name for name, link in self._links.items() if link.conn == params.conn]
        slave = slaves[0] if slaves else record.node
        there = part("link", slave, "open", value=True)
        self.event("Disconnect", (slave,), node=record.node, parts=(there,))

    def _served_by(self, master: str) -> Iterator[tuple[str, _Link]]:
        return ((slave, link) for slave, link in self._links.items() if link.master == master)

    # ---- events ----

    def _event(
        self,
        record: NodeRecord,
        action: str | None,
        *params: Value,
        more: tuple[Part, ...] = (),
    ) -> None:
        """Make an event with what its node has, and with `more`."""
        self._is_shown = True
        me, now = record.node, self._of[record.node]
        is_down = now.role == "Down"
        logs, count = self._logs, partial(self._logs.count, now.log)
        shown = [
            part("role", me, value=now.role),
            part("inc", me, value=record.incarnation - (0 if record.event == STOPPED else 1)),
            part("log", me, value=logs.epochs(now.log)),
            part("epochs", me, value=entries_value(now.epochs, count)),
            part("epochsDisk", me, value=starts_value(now.epoch_file, count)),
            *self._own_link(me, now),
        ]
        if now.known_epoch is not None:
            shown.append(part("known", me, value=now.known_epoch))
        if now.received_epoch is not None:
            shown.append(part("received", me, value=now.received_epoch))
        if now.on_disk is not None:
            shown.append(part("disk", me, value=logs.epochs(now.on_disk)))
        flushed = len(now.log) if is_down else now.flushed(logs)
        if flushed is not None:
            shown.append(part("flushed", me, value=flushed))
        for slave, link in self._served_by(me):
            end = now.servers.get(link.conn)
            if end is not None:
                shown += self._shown_end(slave, end, count)
        if me in self._frames:
            shown += self._beliefs(me, now, count)
        arguments = () if action is None else (me, *params)
        self.event(action, arguments, node=me, parts=(*shown, *more))

    def _shown_end(self, slave: str, end: ServerEnd, count: Callable[[int], int]) -> Iterator[Part]:
        """Yield what a master has of the link of a slave."""
        yield part("link", slave, "ack", value=index_or_minus_one(end.slave_ack, count))
        if end.next_offset is not None:
            yield part("link", slave, "next", value=index_or_minus_one(end.next_offset, count))
        if end.cur is not msgspec.UNSET:
            yield part("link", slave, "cur", value=entry_value(end.cur, count))

    def _beliefs(self, me: str, now: RecordedState, count: Callable[[int], int]) -> Iterator[Part]:
        """Yield what a broker believes of its connections where its packets say something else.

        Both are shown then, and no state has both.
        """
        client = now.believed_client
        if client != now.client:
            if client is None or (now.client is not None and now.client.id != client.id):
                yield part("link", me, value=NO_LINK)
            elif client.reported is not None:
                yield part("link", me, "phase", value=client.phase)
                reported = index_or_minus_one(client.reported, count)
                yield part("link", me, "reported", value=reported)
        for slave, link in self._served_by(me):
            end, believed = now.servers.get(link.conn), now.believed_servers.get(link.conn)
            if (end is None) != (believed is None):
                yield part("link", slave, "open", value=end is None)
            elif end is not None and believed is not None and end != believed:
                yield from self._shown_end(slave, believed, count)

    def _count(self, broker: str, offset: Offset) -> int:
        """Return how many records of a broker's log lie before an offset."""
        return self._logs.count(self._of[broker].log, offset)

    def _own_link(self, me: str, now: RecordedState) -> list[Part]:
        """Return what a slave has of its connection."""
        link = self._links.get(me)
        if link is None or now.client is None or now.client.id != link.conn:
            return [part("link", me, value=NO_LINK)]
        shown = [
            part("link", me, "peer", value=link.master),
            part("link", me, "phase", value=now.client.phase),
        ]
        if now.client.reported is not None:
            reported = index_or_minus_one(now.client.reported, partial(self._logs.count, now.log))
            shown.append(part("link", me, "reported", value=reported))
        return shown

"""Records of brokers and of who elects them as behaviours of EpochTruncation.

| a record                                   | the specification                                  |
|--------------------------------------------|----------------------------------------------------|
| ElectMaster of the controller              | ElectMaster; ctl                                   |
| BecomeMaster, BecomeSlave, PutMessage,     | the same                                           |
| Restart                                    |                                                    |
| Flush, if another record is safe now       | Flush                                              |
| NodeStopped, with what is left on the disk | Crash                                              |
| Handshake on a connection that its slave   | Handshake, and `link` of the slave                 |
| holds                                      |                                                    |
| ReceiveAck, Transfer over such a link      | the same                                           |
| ReceiveHandshake, ReceiveTransfer          | the same                                           |
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
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec

from rocketha.recording.record import (
    STARTED,
    STOPPED,
    NodeHeader,
    NodeRecord,
    RecordError,
    SentMessage,
)
from rocketha.sim.engine.records import record_count
from rocketha.types import Offset
from rocketproof.protocols.epoch_truncation.values import (
    NO_LINK,
    NONE,
    entries_value,
    entry_value,
    index_or_minus_one,
    starts_value,
)
from rocketproof.record_projection import RecordProjection, part, read_field, sequence_after
from tlatrace.trace import Part
from tlatrace.values import State, Value, tla_set
from tlatrace.values import record as tla_record

__all__ = ["EpochRecords"]


class _Broker(msgspec.Struct, frozen=True, tag_field="kind", tag="broker"):
    brokers: tuple[str, ...]


class _Controller(msgspec.Struct, frozen=True, tag_field="kind", tag="controller"):
    pass


class _Elected(msgspec.Struct, frozen=True):
    master: str


class _Election(msgspec.Struct, frozen=True):
    epoch: int


class _Params(msgspec.Struct, frozen=True):
    conn: int
    epoch: int = 0
    offset: int = 0
    size: int = 0


class _Entry(msgspec.Struct, frozen=True):
    epoch: int
    start_offset: Offset
    end_offset: Offset


class _ClientEnd(msgspec.Struct, frozen=True):
    id: int
    phase: str
    reported: Offset


class _ServerEnd(msgspec.Struct, frozen=True):
    slave_ack: Offset
    next_offset: Offset
    cur: _Entry | None


_KINDS: Final[dict[str, object]] = {
    "role": str,
    "known_epoch": int,
    "received_epoch": int,
    "epochs": tuple[_Entry, ...],
    "epoch_file": tuple[_Entry, ...],
    "flushed_offset": Offset,
    "client": _ClientEnd | None,
    "servers": tuple[tuple[int, _ServerEnd], ...],
}


_BEGIN: Final = Offset(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """What a broker has, as it has written it last."""

    role: str = "Slave"
    known_epoch: int = 0
    received_epoch: int = 0
    epochs: tuple[_Entry, ...] = ()
    epoch_file: tuple[_Entry, ...] = ()
    log: tuple[int, ...] = ()
    on_disk: tuple[int, ...] = ()
    flushed_offset: Offset = _BEGIN
    client: _ClientEnd | None = None
    servers: Mapping[int, _ServerEnd] = field(default_factory=dict)

    def visible(self) -> tuple[object, ...]:
        """Return what the specification can see of it by itself."""
        flushed = record_count(self.flushed_offset)
        epochs = (self.known_epoch, self.received_epoch, self.epochs, self.epoch_file)
        return (self.role, *epochs, self.log, self.on_disk, flushed)

    def after(self, written: NodeRecord) -> _State:
        """Return what it has after a step. Raises: RecordError"""
        changed: dict[str, Any] = {}
        for name, kind in _KINDS.items():
            if name in written.state:
                changed[name] = read_field(written.state[name], kind, name)
        if "servers" in changed:
            changed["servers"] = dict(changed["servers"])
        for name, before in (("log", self.log), ("on_disk", self.on_disk)):
            if name in written.state:
                changed[name] = sequence_after(before, written.state[name], int, name)
        return replace(self, **changed) if changed else self


@dataclass(slots=True)
class _Link:
    """A connection, from the answer to its handshake on."""

    conn: int
    master: str
    in_flight: int = 0
    """Packets of the master that the slave has not processed."""


class EpochRecords(RecordProjection):
    """Makes a trace of the records of brokers and of their controller."""

    def __init__(self, headers: Sequence[NodeHeader]) -> None:
        """Read which brokers there are. Raises: RecordError"""
        super().__init__()
        brokers: dict[str, _Broker] = {}
        controllers: list[str] = []
        for header in headers:
            settings = read_field(
                header.settings, _Broker | _Controller, f"settings of {header.node}"
            )
            if isinstance(settings, _Broker):
                brokers[header.node] = settings
            else:
                controllers.append(header.node)
        complete = all(sorted(one.brokers) == sorted(brokers) for one in brokers.values())
        if len(controllers) != 1 or not brokers or not complete:
            raise RecordError("there are not the records of one controller and all brokers")
        (self._controller,) = controllers
        self._of = {name: _State() for name in brokers}
        self._links: dict[str, _Link] = {}
        self._is_shown = False

    @property
    def constants(self) -> State:
        """Return the constants."""
        return {"Broker": tla_set(self._of), "None": NONE}

    def take(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Make the event of a record, if the specification can see it. Raises: RecordError"""
        del received
        if record.node == self._controller:
            if record.action is not None:
                self._elected(record)
            return
        me, before = record.node, self._of[record.node]
        now = self._of[me] = before.after(record)
        if record.event == STOPPED:
            self._crashed(record)
        elif record.event != STARTED:
            self._is_shown = False
            self._acted(record, before)
            if not self._is_shown and before.visible() != now.visible():
                self._event(record, None)
            link = self._links.get(me)
            if link is not None and (now.client is None or now.client.id != link.conn):
                del self._links[me]

    def _elected(self, record: NodeRecord) -> None:
        elected: _Elected = read_field(record.params, _Elected, "params")
        election: _Election = read_field(record.state, _Election, "state")
        ctl = tla_record({"master": elected.master, "epoch": election.epoch})
        params = (elected.master,)
        self.event(record.action, params, node=record.node, observed={"ctl": ctl})

    def _crashed(self, record: NodeRecord) -> None:
        me, left = record.node, self._of[record.node]
        self._links.pop(me, None)
        self._of[me] = now = _State(
            role="Down",
            epochs=left.epoch_file,
            epoch_file=left.epoch_file,
            log=left.log,
            on_disk=left.on_disk,
        )
        self._event(record, "Crash", len(now.log))

    def _acted(self, record: NodeRecord, before: _State) -> None:
        """Make the event of an action, if the specification can see what it did."""
        me, now = record.node, self._of[record.node]
        match record.action:
            case None:
                pass
            case "BecomeMaster" | "BecomeSlave":
                self._links.pop(me, None)
                self._event(record, record.action)
            case "Restart" | "PutMessage":
                self._event(record, record.action)
            case "Flush":
                if record_count(before.flushed_offset) != record_count(now.flushed_offset):
                    self._event(record, record.action)
            case "Handshake" | "ReceiveAck" | "Transfer":
                self._served(record)
            case "ReceiveHandshake" | "ReceiveTransfer":
                link = self._links.get(me)
                if link is not None:
                    link.in_flight -= 1
                self._event(record, record.action)
            case "Disconnect":
                if self._links.pop(me, None) is not None:
                    self._event(record, record.action)
            case other:
                raise RecordError(f"a broker has no action {other!r}")

    def _served(self, record: NodeRecord) -> None:
        """Make the event of a master's action on the link of a slave, if there is one."""
        me = record.node
        params: _Params = read_field(record.params, _Params, "params")
        begin, end = Offset(params.offset), Offset(params.offset + params.size)
        if record.action == "Handshake":
            for name, state in self._of.items():
                if state.client is not None and state.client.id == params.conn:
                    self._links[name] = _Link(params.conn, me)
        for slave, link in self._served_by(me):
            if link.conn != params.conn:
                continue
            if record.action == "ReceiveAck":
                self._event(record, record.action, slave, record_count(begin))
                continue
            link.in_flight += 1
            header = part("link", slave, "down", link.in_flight, "epoch", value=params.epoch)
            sent = (record_count(end) - record_count(begin),)
            arguments = sent if record.action == "Transfer" else ()
            self._event(record, str(record.action), slave, *arguments, more=(header,))

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
        flushed = len(now.log) if is_down else record_count(now.flushed_offset)
        shown = [
            part("role", me, value=now.role),
            part("known", me, value=now.known_epoch),
            part("inc", me, value=record.incarnation - (0 if is_down else 1)),
            part("log", me, value=now.log),
            part("epochs", me, value=entries_value(now.epochs)),
            part("received", me, value=now.received_epoch),
            part("disk", me, value=now.on_disk),
            part("flushed", me, value=flushed),
            part("epochsDisk", me, value=starts_value(now.epoch_file)),
            *self._own_link(me, now),
        ]
        for slave, link in self._served_by(me):
            end = now.servers.get(link.conn)
            if end is not None:
                shown += [
                    part("link", slave, "ack", value=index_or_minus_one(end.slave_ack)),
                    part("link", slave, "next", value=index_or_minus_one(end.next_offset)),
                    part("link", slave, "cur", value=entry_value(end.cur)),
                ]
        arguments = () if action is None else (me, *params)
        self.event(action, arguments, node=me, parts=(*shown, *more))

    def _own_link(self, me: str, now: _State) -> list[Part]:
        """Return what a slave has of its connection."""
        link = self._links.get(me)
        if link is None or now.client is None or now.client.id != link.conn:
            return [part("link", me, value=NO_LINK)]
        return [
            part("link", me, "peer", value=link.master),
            part("link", me, "phase", value=now.client.phase),
            part("link", me, "reported", value=index_or_minus_one(now.client.reported)),
        ]

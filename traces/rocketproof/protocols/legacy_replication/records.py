"""Records of a master and its slaves as behaviours of LegacyReplication.

| a record                                      | the specification                              |
|-----------------------------------------------|------------------------------------------------|
| Restart, PutMessage, PutOk, PutTimeout        | the same                                       |
| Flush that completes a record; of a real      | Flush                                          |
| broker one of all that its log has            |                                                |
| a slave's end of a connection, its report,    | Connect; Disconnect                            |
| and the master's end                          |                                                |
| a slave's report that no batch asked for      | Report                                         |
| Transfer, ReceiveReport and ReceiveTransfer   | the same; ReceiveStaleReport over a connection |
|                                               | that its slave has given up                    |
| a master's end is gone                        | CloseConnection, RefuseReport if a report came |
|                                               | with it; DropStale of one that was given up    |
| NodeStopped, with what is left of the log     | Crash; before it PutMessage, ReceiveTransfer   |
|                                               | of what was stored, if the node could not      |
|                                               | write it                                       |
| the changed parts of a state                  | begin, log, flushed; waiting; of link and      |
|                                               | stale what this end of them has                |
| answered: PUT_OK to a producer that waits     | acked                                          |

Where brokers write what is in each packet (`frames_are_shown`), what happened is read from packets,
answers and closed connections (`frames`), and by when it happened whether it was due (`occasions`);
`action` is looked at only where nothing happened. Of released brokers, which do not, their word is
taken. What a run comes to once its faults have ended (Healed) no record says.

Which connections are links, and in which order slaves gave up the others, is remembered from the
records before. One that the master has not yet, or has lost before its slave knew of it, is none,
and what happens on it is left out. What is in flight, and the ghosts, are the specification's.

A log changes one step before the action that says why (PutMessage): the next event shows it.

Records of a real log have any size, and say no life: it is that of the master which took them. How
many a file has is said by the header (`records_per_segment`): the master's log is held against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rocketha.recording.record import (
    STARTED,
    STOPPED,
    NodeHeader,
    NodeRecord,
    RecordError,
    SentMessage,
)
from rocketha.sim.engine.records import record_count
from rocketproof.occasions import Occasions, Waits
from rocketproof.protocols.legacy_replication.frames import (
    Answer,
    MasterFrames,
    Params,
    SlaveFrames,
)
from rocketproof.protocols.legacy_replication.recorded_broker import (
    RecordedBroker,
    SlaveEnd,
    Waiting,
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

__all__ = ["LegacyRecords"]

_RECEIVES: Final = ("ReceiveReport", "ReceiveTransfer")
_OF_BOTH: Final = ("Restart", "Flush")
_OF_MASTER: Final = frozenset(
    {
        *_OF_BOTH,
        "PutMessage",
        "PutOk",
        "PutTimeout",
        "ReceiveReport",
        "Transfer",
        "CloseConnection",
    }
)
_OF_SLAVES: Final = frozenset({*_OF_BOTH, "Connect", "ReceiveTransfer", "Disconnect"})
_NEVER: Final = -1


class _MasterSettings(Waits, frozen=True, tag_field="kind", tag="master"):
    slaves: tuple[str, ...]
    slaves_to_wait_for_max: int
    segment_bytes: int
    frames_are_shown: bool = False
    """Records say what is in each packet, and who closes a connection."""
    records_per_segment: int | None = None
    """Of a real master's log, at most."""


class _SlaveSettings(Waits, frozen=True, tag_field="kind", tag="slave"):
    master: str


class LegacyRecords(RecordProjection):
    """Makes a trace of the records of a master and its slaves."""

    def __init__(self, headers: Sequence[NodeHeader]) -> None:
        """Read how they are set up. Raises: RecordError"""
        super().__init__()
        masters: dict[str, _MasterSettings] = {}
        slaves: dict[str, _SlaveSettings] = {}
        for header in headers:
            settings: _MasterSettings | _SlaveSettings = read_field(
                header.settings, _MasterSettings | _SlaveSettings, f"settings of {header.node}"
            )
            if isinstance(settings, _MasterSettings):
                masters[header.node] = settings
            else:
                slaves[header.node] = settings
        if len(masters) != 1:
            raise RecordError(f"there are the records of {len(masters)} masters")
        ((self._master, self._settings),) = masters.items()
        if sorted(slaves) != sorted(self._settings.slaves):
            raise RecordError(f"there are not the records of all slaves of {self._master}")
        for slave, its in slaves.items():
            if its.master != self._master:
                raise RecordError(f"{slave} is a slave of {its.master}, not of {self._master}")
        self._now = {header.node: RecordedBroker() for header in headers}
        self._frames: MasterFrames | None = None
        self._slave_frames: dict[str, SlaveFrames] = {}
        """Where records show frames."""
        if self._settings.frames_are_shown:
            self._frames = MasterFrames(Occasions(self._settings))
            self._slave_frames = {
                slave: SlaveFrames(Occasions(its)) for slave, its in slaves.items()
            }
        self._links: dict[str, int] = {}
        self._given_up: dict[str, list[int]] = {slave: [] for slave in slaves}
        """Connections of which the master's end is still there, oldest first."""
        self._ended: set[int] = set()
        """Connections that the master had."""
        self._reported: dict[str, tuple[int, bool]] = {}
        """Slave -> the connection over which it has reported, and that the master has not yet; and
        whether it was due."""
        self._acked: set[Value] = set()
        self._logs = RunLogs()
        self._begins = dict.fromkeys(self._now, 0)
        """Broker -> the number of records before its log."""
        self._written = 0
        """Of real logs: the end of the last record that any master had."""
        self._flushed = dict.fromkeys(self._now, 0)
        """Real broker -> the number of records that it is known to have flushed."""

    @property
    def constants(self) -> State:
        """Return the constants, as the brokers are set up."""
        settings = self._settings
        return {
            "Master": self._master,
            "Slave": tla_set(settings.slaves),
            "Needs": tla_set(range(settings.slaves_to_wait_for_max + 1)),
            "FileRecords": settings.records_per_segment or record_count(settings.segment_bytes),
        }

    def take(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Make the events of a record. Raises: RecordError"""
        me, before = record.node, self._now[record.node]
        now = before.after(record)
        if me == self._master and self._frames is not None:
            now = self._frames.after(record, received, now)
        elif me in self._slave_frames:
            now = self._slave_frames[me].after(record, received, now)
        self._now[me] = now
        if record.event == STOPPED:
            self._cut_short(record, before)
        self._read_log(record)
        if record.event == STOPPED:
            self._crashed(record)
            return
        if record.event == STARTED:
            return
        known = _OF_MASTER if me == self._master else _OF_SLAVES
        if record.action is not None and record.action not in known:
            raise RecordError(f"{me} has no action {record.action!r}")
        is_sent = record.action != "Transfer" or record.sent
        if self._frames is None and (not is_sent or (record.action in _RECEIVES and not received)):
            raise RecordError(f"{record.action} without a packet")
        if record.action == "Restart":
            up = part("up", me, value=True), part("inc", me, value=record.incarnation - 1)
            self._event(me, "Restart", me, more=up)
        elif record.action == "Flush":
            self._flush(me, before, now)
        elif me == self._master:
            self._answered(record, before)
            for action, params in self._done(record, received):
                self._master_acted(action, params)
            self._close_ends(before, received)
            self._connect()
        else:
            self._slave_acted(record, before, received)

    def _done(
        self, record: NodeRecord, received: Sequence[SentMessage]
    ) -> Sequence[tuple[str | None, Params]]:
        """Return what a step of the master has done; where nothing shows it, its own word."""
        params: Params = read_field(record.params, Params, "params")
        claimed = (record.action, params)
        if self._frames is None:
            return [claimed]
        done = list(self._frames.done(record, received, self._now[self._master]))
        return done or ([] if record.action == "ReceiveReport" else [claimed])

    def _read_log(self, record: NodeRecord) -> None:
        """Remember which life wrote real records, and where logs begin. Raises: RecordError"""
        me, now = record.node, self._now[record.node]
        self._begins[me] = self._logs.count((), now.begin)
        if me != self._master or not now.log or "log" not in record.state:
            return
        self._logs.taken(now.log, record.incarnation - 1)
        last, per_segment = now.log[-1], self._settings.records_per_segment
        if isinstance(last, int) or per_segment is None:
            return
        self._written = max(self._written, last.end)
        self._logs.epochs(now.log)
        if (last.end - 1) // self._settings.segment_bytes != (len(now.log) - 1) // per_segment:
            raise RecordError(f"record {last.id!r}: files do not have {per_segment} records each")

    def _flush(self, me: str, before: RecordedBroker, now: RecordedBroker) -> None:
        if before.flushed is not None and now.flushed is not None:
            if record_count(before.flushed) != record_count(now.flushed):
                self._event(me, "Flush", me)
            return
        reached = self._index(me, now.flushed_offset or 0)
        if now.log and reached == self._end(me) > self._flushed[me]:
            self._flushed[me] = reached
            self._event(me, "Flush", me)

    def _cut_short(self, record: NodeRecord, before: RecordedBroker) -> None:
        """Make events of what a node that was killed had stored, and could not write any more."""
        me, left, known = record.node, self._now[record.node], len(before.log)
        is_longer = len(left.log) > known and left.log[:known] == before.log
        if not is_longer or isinstance(left.log[-1], int):
            return
        ends = [0, *(item.end for item in left.log if not isinstance(item, int))]
        if me == self._master:
            need = self._settings.slaves_to_wait_for_max
            for length in range(known + 1, len(left.log) + 1):
                put = Waiting(put=ends[length - 1], offset=ends[length - 1], need=need)
                waiting = (*self._now[me].waiting, put) if need else ()
                self._now[me] = replace(before, log=left.log[:length], waiting=waiting)
                self._read_log(record)
                self._event(me, "PutMessage", need)
        elif me in self._links and before.client is not None:
            client = SlaveEnd(before.client.id, ends[-1])
            self._now[me] = replace(left, client=client)
            self._read_log(record)
            self._event(me, "ReceiveTransfer", me)
        self._now[me] = left

    def _crashed(self, record: NodeRecord) -> None:
        me, now = record.node, self._now[record.node]
        self._now[me] = RecordedBroker(begin=now.begin, log=now.log)
        self._flushed[me] = self._end(me)
        self._reported.pop(me, None)
        if me == self._master:
            self._ended |= {*now.ends, *self._links.values()}
            for given_up in self._given_up.values():
                given_up.clear()
        else:
            self._give_up(me)
        self.event(
            "Crash",
            (me, self._end(me)),
            node=me,
            parts=(
                part("up", me, value=False),
                part("inc", me, value=record.incarnation),
                part("begin", me, value=self._begins[me]),
                part("log", me, value=self._lives(now.log)),
            ),
        )

    # ---- the master ----

    def _answered(self, record: NodeRecord, before: RecordedBroker) -> None:
        """Note which producers heard PUT_OK after they had waited."""
        waiting = {one.put: one for one in before.waiting}
        said: list[Answer] = [read_field(one, Answer, "answered") for one in record.answered]
        answers = [(one.status, waiting[one.put]) for one in said if one.put in waiting]
        if self._frames is not None:
            answers = [(status, put) for status, put, _ in self._frames.answers]
        for status, put in answers:
            if status == "PUT_OK" and put.need:
                o = self._index(self._master, put.offset)
                acked = {"o": o, "i": record.incarnation - 1, "need": put.need}
                self._acked.add(tla_record(acked))

    def _master_acted(self, action: str | None, params: Params) -> None:
        me, at = self._master, self._index(self._master, params.offset)
        match action:
            case "PutMessage":
                self._event(me, "PutMessage", params.need)
            case "PutOk":
                self._event(me, action, at)
            case "PutTimeout":
                self._event(me, action, at, params.due)
            case "ReceiveReport":
                slave, place = self._holder(params.conn)
                if slave is not None and place is not None:
                    self._event(me, "ReceiveStaleReport", slave, place, at)
                elif slave is not None:
                    self._event(me, "ReceiveReport", slave, at)
            case "Transfer":
                slave, place = self._holder(params.conn)
                if slave is not None and place is None:
                    size = self._index(me, params.offset + params.size) - at
                    self._event(me, "Transfer", slave, size, params.due)
            case "CloseConnection" if params.conn in self._now[me].ends and self._frames:
                slave, place = self._holder(params.conn)
                if slave is not None and place is None:
                    self._event(me, "CloseConnection", slave, True)
            case _:
                pass

    def _close_ends(self, before: RecordedBroker, received: Sequence[SentMessage]) -> None:
        """Make events of the ends of connections that the master does not have any more."""
        refused = {} if self._frames is None else self._frames.refused(received)
        for conn in before.ends:
            if conn in self._now[self._master].ends:
                continue
            slave, place = self._holder(conn)
            self._ended.add(conn)
            if slave is None:
                continue
            due = self._frames is None or conn in self._frames.over
            if place is None:
                served = part("link", slave, "served", value=False)
                report = refused.get(conn)
                if report is None:
                    self._event(self._master, "CloseConnection", slave, due, more=(served,))
                else:
                    at = self._index(self._master, report)
                    self._event(self._master, "RefuseReport", slave, at, more=(served,))
            else:
                self._given_up[slave].remove(conn)
                self._event(self._master, "DropStale", slave, place, due or conn in refused)

    def _holder(self, conn: int) -> tuple[str | None, int | None]:
        """Return whose connection it is, and its place among those that were given up, from 1."""
        for slave, link in self._links.items():
            if link == conn:
                return slave, None
        for slave, given_up in self._given_up.items():
            if conn in given_up:
                return slave, given_up.index(conn) + 1
        return None, None

    # ---- slaves ----

    def _slave_acted(
        self, record: NodeRecord, before: RecordedBroker, received: Sequence[SentMessage]
    ) -> None:
        me, link = record.node, self._now[record.node].link
        frames = self._slave_frames.get(me)
        took = bool(received) if frames else record.action == "ReceiveTransfer"
        if before.link is not None and before.link != link and self._give_up(me):
            # No batch that the master has sent is refused.
            if frames is not None and took:
                self._event(me, "ReceiveTransfer", me)
            else:
                self._event(me, "Disconnect", me, frames is None or frames.is_over)
            took = False
        if before.link != link:
            self._reported.pop(me, None)
            if link is not None and link not in self._ended:
                self._reported[me] = link, frames is None or frames.may_connect
                self._connect()
        if took and me in self._links:
            self._event(me, "ReceiveTransfer", me)
        elif frames is not None and before.link == link:
            for due in frames.again if me in self._links else ():
                self._event(me, "Report", me, due)
            # Its core says so, or must do so, and nothing has happened.
            says = record.action == "Disconnect" or frames.is_forged(record)
            is_held = link is not None and says and me in self._links
            if is_held or (record.action == "Connect" and not record.sent):
                self._event(me, "Disconnect" if is_held else "Connect", me, True)

    def _connect(self) -> None:
        """Make links of connections over which slaves have reported, and that the master has."""
        for slave, (conn, due) in sorted(self._reported.items()):
            if conn in self._now[self._master].ends:
                del self._reported[slave]
                self._links[slave] = conn
                self._event(slave, "Connect", slave, due)

    def _give_up(self, slave: str) -> bool:
        """End a slave's link; False if it has none."""
        conn = self._links.pop(slave, None)
        if conn is None:
            return False
        if conn not in self._ended:
            self._given_up[slave].append(conn)
        return True

    # ---- events ----

    def _event(self, node: str, action: str, *params: Value, more: Sequence[Part] = ()) -> None:
        """Make an event with what its node has."""
        now, observed = self._now[node], None
        parts = [
            part("begin", node, value=self._begins[node]),
            part("log", node, value=self._lives(now.log)),
        ]
        if now.flushed is not None:
            parts.append(part("flushed", node, value=record_count(now.flushed)))
        if node == self._master:
            parts += self._ends(now)
            observed = {"waiting": self._waiting(now), "acked": tla_set(self._acked)}
        else:
            held = node in self._links
            parts.append(part("link", node, "held", value=held))
            if held and now.client is not None:
                reported = self._index(node, now.client.reported)
                parts.append(part("link", node, "reported", value=reported))
        self.event(action, params, node=node, observed=observed, parts=(*parts, *more))

    def _ends(self, now: RecordedBroker) -> list[Part]:
        """Show what the master has of the connections of slaves that have connected."""
        parts = []
        for conn, end in now.ends.items():
            slave, place = self._holder(conn)
            if slave is None:
                continue
            ack = self._index(self._master, end.slave_ack)
            if place is None:
                parts.append(part("link", slave, "ack", value=ack))
                if end.next_offset is not None:
                    following = self._index(self._master, end.next_offset)
                    parts.append(part("link", slave, "next", value=following))
            else:
                parts.append(part("stale", slave, place, "ack", value=ack))
        return parts

    def _index(self, broker: str, offset: int) -> int:
        """Return how many records lie before an offset, of a broker's log or of the longest.

        Behind all that any master wrote, up to the end of that file, there is one more.
        """
        log = self._now[broker].log
        if offset < 0:
            return _NEVER
        if log and not isinstance(log[-1], int) and offset <= log[-1].end:
            return self._begins[broker] + self._logs.count(log, offset)
        of_file = -self._written % self._settings.segment_bytes
        is_beyond = 0 < self._written < offset and offset != self._written + of_file
        return self._logs.count((), offset) + is_beyond

    def _end(self, broker: str) -> int:
        """Return where a broker's log ends, in records."""
        return self._begins[broker] + len(self._now[broker].log)

    def _lives(self, log: tuple[LogItem, ...]) -> Value:
        """Count the master's lives from 0; -1 is unreadable. Raises: RecordError"""
        return tuple(
            life - 1 if isinstance(item, int) else life
            for item, life in zip(log, self._logs.epochs(log), strict=True)
        )

    def _waiting(self, now: RecordedBroker) -> Value:
        puts = ((self._index(self._master, one.offset), one.need) for one in now.waiting)
        return tla_set(tla_record({"o": o, "need": need}) for o, need in puts)

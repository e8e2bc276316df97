"""What brokers of an abstract controller must do in time.

| obligation          | on the occasion                                      | by when            |
|---------------------|------------------------------------------------------|--------------------|
| elections taken     | a broker hears of one that is newer than it knows    | in that step       |
| handshakes answered | a master takes a handshake, the first of its         | in that step       |
|                     | connection                                           |                    |
| puts appended       | a producer writes to a master                        | in that step       |
| masters kept        | a slave hears that the master whose connection it    | in that step       |
|                     | has, as that one said, was elected again, if no name |                    |
|                     | server pointed elsewhere before that one said so     |                    |
| connections used    | a connection stands that a broker asked for          | in that step       |
| addresses used      | a connection stands that a broker asked for          | where it heard the |
|                     |                                                      | last time before   |
| handshakes true     | a slave introduces itself                            | in that step       |
| patient slaves      | a connection stands that was asked for after another | not before the     |
|                     | one was lost, if no election was heard of since      | reconnect time     |
| quiet senders       | a heartbeat is sent                                  | not before its     |
|                     |                                                      | time               |
| quiet timers        | a timer fires                                        | not often at once  |

Source: ReplicasManager.changeBrokerRole, AutoSwitchHAConnection.HAServerReader, CommitLog
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rocketha.obligations.connections import CONNECTIONS, packet
from rocketha.obligations.obligation import Due, Obligation, RecordedRun, due_in_step, time_ms
from rocketha.recording.record import STARTED, STOPPED, NodeRecord
from rocketha.types import TimestampMs

__all__ = ["EPOCH_TRUNCATION"]

_ELECTION: Final = "election:"

_Memory = tuple[str, int]
"""A broker, and how often it has started."""


def _steps(run: RecordedRun) -> Iterator[tuple[NodeRecord, dict[str, Any], dict[str, Any]]]:
    """Yield each step of a broker, with what it had before and after."""
    for node, header in run.headers.items():
        if header.settings["kind"] != "broker":
            continue
        known: dict[str, Any] = {}
        for record in run.by_node[node]:
            before = {} if record.event in (STARTED, STOPPED) else known
            known = {**before, **record.state}
            if record.event not in (STARTED, STOPPED):
                yield record, before, known


def _memory(record: NodeRecord) -> _Memory:
    """Return whose memory it is: a broker that starts again knows nothing of what it heard."""
    return record.node, record.incarnation


def _masters(run: RecordedRun) -> dict[int, str]:
    """Return who was elected in which masterEpoch, without those in which nobody was."""
    return {
        int(record.state["epoch"]): str(record.params["master"])
        for record in run.records
        if record.action == "ElectMaster"
    }


def _elections(run: RecordedRun) -> Iterator[Due]:
    masters = _masters(run)
    for record, before, after in _steps(run):
        for message in record.received:
            epoch = int(message.removeprefix(_ELECTION)) if message.startswith(_ELECTION) else 0
            if epoch in masters and epoch > before["known_epoch"]:
                is_done = after["known_epoch"] == epoch and record.action is not None
                yield due_in_step(record, f"take its role in epoch {epoch}", is_done=is_done)


def _handshakes(run: RecordedRun) -> Iterator[Due]:
    contents = {message.id: packet(message) for one in run.records for message in one.sent}
    for record, before, _ in _steps(run):
        for message in record.received:
            is_first = message.endswith(":client:1")
            if not is_first or contents.get(message, {}).get("is") != "Handshake":
                continue
            if before["role"] == "Master":
                replies = [packet(one).get("is") == "Reply" for one in record.sent]
                yield due_in_step(record, f"answer {message}", is_done=any(replies))


def _puts(run: RecordedRun) -> Iterator[Due]:
    for record, before, _ in _steps(run):
        if record.event == "MessagePut" and before["role"] == "Master":
            added = record.state.get("log", {"added": []})["added"]
            yield due_in_step(record, "append a message", is_done=len(added) == 1)


def _kept(run: RecordedRun) -> Iterator[Due]:
    """A connection stays when its master, as both ends of it have said, is elected again."""
    masters = _masters(run)
    contents = {message.id: packet(message) for one in run.records for message in one.sent}
    followed: dict[_Memory, _Followed] = {}
    for record, before, _ in _steps(run):
        slave = followed.setdefault(_memory(record), _Followed())
        for message in record.received:
            if not message.startswith(_ELECTION):
                if contents[message].get("is") == "Reply":
                    slave.conn = message.partition(":")[0]
                    slave.answered = contents[message]["epoch"]
                continue
            epoch = int(message.removeprefix(_ELECTION))
            closes = f"{slave.conn}:client:close" in {one.id for one in record.sent}
            if epoch not in masters or epoch < before["known_epoch"]:
                continue
            if slave.master == masters[epoch]:
                yield due_in_step(record, f"keep connection {slave.conn}", is_done=not closes)
            slave.named, slave.address = epoch, masters[epoch]
        slave.hear(record.heard)
        closed = {one.id for one in record.sent} | {f"{one.get('conn')}" for one in record.heard}
        if f"{slave.conn}:client:close" in closed or slave.conn in closed:
            slave.answered = slave.master = None
        elif slave.answered is not None and slave.answered == slave.named and slave.is_there:
            slave.master = masters[slave.named]


@dataclass(slots=True)
class _Followed:
    """What a slave has heard of its master since it started."""

    conn: str = ""
    """Over which a master has answered its handshake."""
    answered: int | None = None
    """The masterEpoch that this one said, as long as the connection is there."""
    named: int | None = None
    """The last election that the slave has heard of, if no name server pointed elsewhere since."""
    address: str | None = None
    """Where the controller or a name server pointed last."""
    peers: dict[str, str] = field(default_factory=dict)
    """Connection -> the address that it was asked for with."""
    master: str | None = None
    """Who is at the other end, if both have said so."""

    @property
    def is_there(self) -> bool:
        """Tell whether the connection was asked for with the address that was heard last."""
        return self.address is not None and self.peers.get(self.conn) == self.address

    def hear(self, heard: Iterable[Mapping[str, Any]]) -> None:
        """Take in addresses: one that is another takes the place of what the controller said."""
        for one in heard:
            if one["is"] == "PeerConnected":
                self.peers[f"{one['conn']}"] = one["peer"]
            elif one["is"] == "MasterAddressLearnt" and one["address"] != self.address:
                self.named, self.address = None, one["address"]


def _connections(run: RecordedRun) -> Iterator[Due]:
    """A broker introduces itself over a connection that it asked for, or closes it."""
    for record, _, _ in _steps(run):
        for heard in record.heard:
            if heard["is"] == "PeerConnected":
                conn = heard["conn"]
                said = [one for one in record.sent if one.id.startswith(f"{conn}:client:")]
                yield due_in_step(record, f"use connection {conn} or close it", is_done=bool(said))


def _addresses(run: RecordedRun) -> Iterator[Due]:
    """A slave connects where the controller or a name server points, whichever spoke last."""
    masters = _masters(run)
    pointed: dict[_Memory, list[str]] = {}
    for record, _, _ in _steps(run):
        heard = pointed.setdefault(_memory(record), [])
        for message in record.received:
            epoch = int(message.removeprefix(_ELECTION)) if message.startswith(_ELECTION) else 0
            if epoch in masters and masters[epoch] != record.node:
                heard.append(masters[epoch])
        for one in record.heard:
            if one["is"] == "MasterAddressLearnt":
                heard.append(one["address"])
            elif one["is"] == "PeerConnected":
                client = f"{one['conn']}:client:1"
                is_used = client in {message.id for message in record.sent}
                is_done = not is_used or heard[-1:] == [one["peer"]]
                yield due_in_step(record, "connect where it is told", is_done=is_done)


def _reconnects(run: RecordedRun) -> Iterator[Due]:
    lost_ms: dict[_Memory, TimestampMs] = {}
    for record, before, _ in _steps(run):
        memory, settings = _memory(record), run.headers[record.node].settings
        gone = {one["conn"] for one in record.heard if one["is"] == "ConnectionLost"}
        gone |= {int(one.id.split(":")[0]) for one in record.sent if one.id.endswith(":close")}
        client = before.get("client")
        if any(one.startswith(_ELECTION) for one in record.received):
            lost_ms.pop(memory, None)
        elif client is not None and client["id"] in gone:
            lost_ms[memory] = time_ms(record)
        for heard in record.heard:
            if heard["is"] == "PeerConnected" and memory in lost_ms:
                waited_ms = time_ms(record) - lost_ms.pop(memory)
                what = f"wait {settings['reconnect_ms']} ms after a connection was lost"
                yield due_in_step(record, what, is_done=waited_ms >= settings["reconnect_ms"])


def _introductions(run: RecordedRun) -> Iterator[Due]:
    for record, _, _ in _steps(run):
        settings = run.headers[record.node].settings
        for message in record.sent:
            said = packet(message)
            if said.get("is") == "Handshake":
                is_said = settings["tells_incarnation"] and not settings["learner"]
                starts = record.incarnation - 1 if is_said else 0
                is_true = said == {
                    "is": "Handshake",
                    "slave": settings["slave"],
                    "learner": settings["learner"],
                    "last_file": False,
                    "incarnation": starts,
                }
                yield due_in_step(record, "say who it is", is_done=is_true)


def _heartbeats(run: RecordedRun) -> Iterator[Due]:
    said_ms: dict[tuple[str, str], TimestampMs] = {}
    for record, _, _ in _steps(run):
        heartbeat_ms = run.headers[record.node].settings["heartbeat_ms"]
        for message in record.sent:
            end = (record.node, message.id.partition(":")[0])
            content = packet(message)
            beat = record.event == "TimerFired" if "ack" in content else content.get("size") == 0
            if beat and end in said_ms:
                silent_ms = time_ms(record) - said_ms[end]
                what = f"say nothing over connection {end[1]} for {heartbeat_ms} ms"
                yield due_in_step(record, what, is_done=silent_ms >= heartbeat_ms)
            said_ms[end] = time_ms(record)


_TIMERS_AT_ONCE: Final = 4
_AT_ONCE_MS: Final = 10


def _timers(run: RecordedRun) -> Iterator[Due]:
    """A timer is set for when there is something to do: one that fires all the time is not."""
    fired: dict[str, list[TimestampMs]] = {}
    for record, _, _ in _steps(run):
        if record.event == "TimerFired":
            times = fired.setdefault(record.node, [])
            times.append(time_ms(record))
            is_busy = times[-1] - times[-_TIMERS_AT_ONCE:][0] < _AT_ONCE_MS
            is_done = len(times) < _TIMERS_AT_ONCE or not is_busy
            yield due_in_step(record, "sleep until its timer is due", is_done=is_done)


EPOCH_TRUNCATION: Final = (
    Obligation(name="elections taken", dues=_elections),
    Obligation(name="handshakes answered", dues=_handshakes),
    Obligation(name="puts appended", dues=_puts),
    Obligation(name="masters kept", dues=_kept),
    Obligation(name="connections used", dues=_connections),
    Obligation(name="addresses used", dues=_addresses),
    Obligation(name="patient slaves", dues=_reconnects),
    Obligation(name="handshakes true", dues=_introductions),
    Obligation(name="quiet senders", dues=_heartbeats),
    Obligation(name="quiet timers", dues=_timers),
    *CONNECTIONS,
)
"""Of brokers and their connections."""

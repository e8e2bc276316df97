"""From steps of a slave, other masters and a producer to actions of Escape, and states after them.

A trace is of one service: of delayed messages, of half messages; or of what consumers pop. Which
action a step is, what was sent, stored and answered says; what a core says of it is not asked.

| specification               | what is seen                                                     |
|-----------------------------|------------------------------------------------------------------|
| acts, known, progress       | what the slave has in its memory                                 |
| saved                       | the table on its disk                                            |
| under, sent                 | a put that was sent, by its UNIQ_KEY, until it is answered, sent |
|                             | again, or waited for no longer; until it is in a master's log    |
| heard, failed               | what the master has answered, once the slave has the answer      |
| own                         | what was appended to the slave's log                             |
| log, visible                | what is on the disk of a master: half messages, and what is read |
| ended                       | what the producer has decided; op: what the slave's log says     |
| popSent                     | check points and ACKs that were sent, by their UNIQ_KEY          |
| ckAt, ackAt, revived        | what is on the disk of a master                                  |
| accepted                    | what a consumer was answered                                     |

That the slave waits no longer its memory says, and that it waits for what is answered (WaitFor).
How consumers are answered is held against what masters have just said of their pops (Deny, SkipAck,
RefuseAck); what is missed in time stands before what comes next. A half
message that lies twice with a master may be shown twice; what is shown more often is a `Check` too
many, and what is delivered again twice a `Revive`. Records are numbered as they lie in the slave's
log, pops as their check points were sent. The trace begins when all run, and the slave does not
act, as Init has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.formats.due_messages import COMMITTED, UNIQ_KEY
from rocketha.formats.message import properties_of
from rocketha.recording.record import RESPONSE, RecordError
from rocketha.sim.escape.logged import LoggedKind
from rocketproof.protocols.escape.seen import (
    Layout,
    LogItem,
    Message,
    SlaveSeen,
    Told,
    TraceKind,
)
from rocketproof.protocols.escape.world import NONE, World, constants_of, pop_id
from tlatrace.values import State, Value

__all__ = ["Act", "EscapeFollower"]

Act = Callable[[str | None, str, Sequence[Value], State], None]
"""Hears of each action: its node, its name and parameters, and the state after it."""
_TAILS: Final = ("ck", "ack")
"""What keys of check points and ACKs end with, and what the specification calls them."""
_OF_POPS: Final = frozenset({LoggedKind.CHECK_POINT, LoggedKind.ACK, LoggedKind.AGAIN})
_SERVICES: Final = {TraceKind.DELAYED: "0", TraceKind.HALVES: "1"}
"""What their obligations call the services."""
_RECORDS: Final = {TraceKind.DELAYED: LoggedKind.DELAYED, TraceKind.HALVES: LoggedKind.HALF}


class EscapeFollower:
    """What is remembered of all steps so far."""

    def __init__(self, kind: TraceKind, layout: Layout, act: Act) -> None:
        """Take of what the trace is, and who there is.

        Raises here and in all steps: RecordError, if what is seen cannot be.
        """
        self._kind = kind
        self._layout = layout
        self._act = act
        self._slave: SlaveSeen | None = None
        self._alive = dict.fromkeys(layout.masters, False)
        self._world: World | None = None
        self._numbers: dict[str, int] = {}
        """UNIQ_KEY -> record."""
        self._keys_known = False
        self._own_length = 0
        self._lengths = dict.fromkeys(layout.masters, 0)
        """How much of the log of a master was looked at."""
        self._puts: dict[str, tuple[int, str]] = {}
        """What a put is called -> the record and the master."""
        self._current: dict[int, str] = {}
        """Record -> its last put."""
        self._codes: dict[str, int] = {}
        """What a put is called -> how it was answered."""
        self._unread: dict[tuple[str, int], int] = {}
        """Master and half message -> how many of it lie there that may still be made readable."""
        self._waits_on: frozenset[int] = frozenset()
        """Records for which the slave waits, though it has heard what became of them."""
        self._pop_puts: dict[str, tuple[str, str]] = {}
        """What a put of a pop is called -> the pop, and whether it is a check point or an ACK."""
        self._pops: dict[str, str] = {}
        """The name of a pop -> what the specification calls it."""

    @property
    def constants(self) -> State:
        """Return the constants of the specification."""
        return constants_of(self._kind, self._layout, len(self._numbers))

    # ---- the slave ----

    def slave_starts(self, seen: SlaveSeen) -> None:
        """Take the start of the slave."""
        self._slave = seen
        if not self._keys_known:
            self._read_log(seen.log)
        world = self._world
        if world is None:
            return
        world.up, world.progress = True, seen.progress.get(self._kind, 0)
        self._tell(self._layout.slave, "Start")

    def slave_stops(self, saved: Mapping[TraceKind, int]) -> None:
        """Take the stop of the slave, and what its disk has."""
        self._slave = None
        world = self._world
        if world is None:
            return
        world.up = world.acts = False
        for forgotten in (world.known, world.under, world.heard, world.failed):
            forgotten.clear()
        world.saved = saved.get(self._kind, 0)
        self._current.clear()
        self._waits_on = frozenset()
        self._tell(self._layout.slave, "Stop")

    def slave_steps(
        self,
        seen: SlaveSeen,
        *,
        received: Iterable[str],
        sent: Sequence[Message],
        told: Sequence[Told],
        is_asked: bool,
    ) -> None:
        """Take a step of the slave; `is_asked`: a request begins it."""
        if self._slave is None:
            raise RecordError("the slave takes a step, and is down")
        self._slave = seen
        world = self._world
        if world is None:
            self._begin()
            return
        node = self._layout.slave
        stored = set()
        for message in received:
            self._hears(world, message)
            stored |= self._stored_of_pop(message)
        if seen.acts != world.acts:
            world.acts = seen.acts
            self._tell(node, "Act", seen.acts)
        for master in sorted(seen.known ^ world.known):
            runs = master in seen.known
            (world.known.add if runs else world.known.discard)(master)
            self._tell(node, "LearnRoute", master, runs)
        for one in sent:
            if one.code == BrokerCode.SEND_MESSAGE_V2:
                self._sends(world, one)
        self._waits(world, seen.waits.get(self._kind, frozenset()))
        self._appends(world, seen.log)
        while world.progress < seen.progress.get(self._kind, 0):
            world.progress += 1
            self._tell(node, "Pass")
        if seen.saved.get(self._kind, 0) != world.saved:
            world.saved = seen.saved.get(self._kind, 0)
            self._tell(node, "Save")
        for answer in told:
            self._answers(world, answer, at_once=is_asked)
            for pop, tail in sorted(stored):
                if answer.code != BrokerResponse.SUCCESS and answer.is_ack == (tail == "ack"):
                    self._tell(node, "Deny", pop, tail)

    def _hears(self, world: World, message: str) -> None:
        """Take the answer to a put, unless the slave has put its record again since."""
        put = message.removesuffix(RESPONSE)
        record, master = self._puts.get(put, (0, ""))
        if self._current.get(record) != put:
            return
        del self._current[record]
        world.under.discard((record, master))
        if self._codes.get(put) == BrokerResponse.SUCCESS:
            world.heard.add(record)
            self._tell(self._layout.slave, "HearPut", record, master)
        else:
            world.failed.add(record)
            self._tell(self._layout.slave, "FailPut", record, master)

    def _stored_of_pop(self, message: str) -> set[tuple[str, str]]:
        """Return the pop whose check point, or ACK, a master says to have; nothing, if none is."""
        put = message.removesuffix(RESPONSE)
        is_stored = put in self._pop_puts and self._codes.get(put) == BrokerResponse.SUCCESS
        return {self._pop_puts[put]} if is_stored else set()

    def _waits(self, world: World, waits: frozenset[int]) -> None:
        """Take which puts it has given up, and that it waits for some which are answered."""
        for record in sorted(self._current.keys() - waits):
            self._fails(world, record)
        for record in sorted(waits - self._current.keys() - self._waits_on):
            self._tell(self._layout.slave, "WaitFor", record)
        self._waits_on = waits - self._current.keys()

    def _fails(self, world: World, record: int) -> None:
        _, master = self._puts[self._current.pop(record)]
        world.under.discard((record, master))
        world.failed.add(record)
        self._tell(self._layout.slave, "FailPut", record, master)

    def _sends(self, world: World, message: Message) -> None:
        key = properties_of(message.fields.get("i", "")).get(UNIQ_KEY, "")
        master = message.to or ""
        if master not in self._alive:
            raise RecordError(f"a put goes to {master or 'nobody'}, which is no master")
        name, _, tail = key.rpartition("@")
        if tail in _TAILS and name:
            if self._kind is TraceKind.POPS:
                self._pop_puts[message.id] = self._sends_of_pop(world, name, tail, master), tail
            return
        record = self._numbers.get(key)
        if record is None:
            return
        if record in self._current:
            self._fails(world, record)
        self._puts[message.id] = (record, master)
        self._current[record] = message.id
        world.under.add((record, master))
        world.sent.add((record, master))
        world.failed.discard(record)
        self._tell(self._layout.slave, "Put", record, master)

    def _sends_of_pop(self, world: World, name: str, tail: str, master: str) -> str:
        if name not in self._pops and tail == "ck":
            self._pops[name] = pop_id(len(self._pops) + 1)
        pop = self._pop(name)
        if (pop, master, tail) not in world.pop_sent:
            world.pop_sent.add((pop, master, tail))
            action = "CheckPoint" if tail == "ck" else "Acknowledge"
            self._tell(self._layout.slave, action, pop, master)
        return pop

    def _appends(self, world: World, log: Sequence[LogItem]) -> None:
        """Take what was appended to the slave's own log."""
        for item in log[self._own_length :]:
            record = self._numbers.get(item.of)
            if record is not None:
                world.own.add(record)
                world.heard.add(record)
                self._tell(self._layout.slave, "PutHere", record)
        self._own_length = len(log)

    def _answers(self, world: World, answer: Told, *, at_once: bool) -> None:
        if self._kind is not TraceKind.POPS or not answer.is_ack:
            return
        pop = self._pop(answer.pop)
        if answer.code == BrokerResponse.SUCCESS and at_once:
            self._tell(self._layout.slave, "SkipAck", pop)
        if answer.code == BrokerResponse.SUCCESS and pop not in world.accepted:
            world.accepted.add(pop)
            self._tell(self._layout.slave, "Accept", pop)
        elif answer.code != BrokerResponse.SUCCESS and at_once:
            self._tell(self._layout.slave, "RefuseAck", pop)

    # ---- other masters ----

    def master_starts(self, node: str, log: Sequence[LogItem]) -> None:
        """Take the start of a master, with its log."""
        self._alive[node] = True
        if self._world is None:
            self._begin()
            return
        self._world.alive[node] = True
        self._tell(node, "Return", node)
        self._stores(self._world, node, log)
        self._look_for_open_halves(node, log)

    def _look_for_open_halves(self, node: str, log: Sequence[LogItem]) -> None:
        """Find what may end once more: a stop may take that it has ended, behind what is read."""
        halves = [item.of for item in log if item.kind == LoggedKind.HALF]
        ended = {place for item in log if item.kind == LoggedKind.OP for place in _ended_by(item)}
        for record in self._numbers.values():
            self._unread.pop((node, record), None)
        for place, key in enumerate(halves):
            if place not in ended and key in self._numbers:
                record = self._numbers[key]
                self._unread[node, record] = self._unread.get((node, record), 0) + 1

    def master_stops(self, node: str) -> None:
        """Take the stop of a master."""
        self._alive[node] = False
        if self._world is not None:
            self._world.alive[node] = False
            self._tell(node, "Die", node)

    def master_steps(self, node: str, log: Sequence[LogItem], *, sent: Sequence[Message]) -> None:
        """Take a step of a master: what is on its disk now, and what it answers."""
        for message in sent:
            if message.id.endswith(RESPONSE) and message.code is not None:
                self._codes[message.id.removesuffix(RESPONSE)] = message.code
        if self._world is not None:
            self._stores(self._world, node, log)

    def _stores(self, world: World, node: str, log: Sequence[LogItem]) -> None:
        known = self._lengths[node]
        if len(log) < known:
            raise RecordError(f"the log of {node} is shorter than it was")
        self._lengths[node] = len(log)
        for item in log[known:]:
            if self._kind is TraceKind.POPS:
                self._stores_of_pop(world, node, item)
            elif item.kind in (LoggedKind.HALF, LoggedKind.READ) and item.of in self._numbers:
                self._stores_record(world, node, item, self._numbers[item.of])

    def _stores_record(self, world: World, node: str, item: LogItem, record: int) -> None:
        has = record in world.log.setdefault(node, set())
        can_be_read = item.kind == LoggedKind.READ
        unread = self._unread.get((node, record), 0)
        if self._kind is TraceKind.HALVES:
            self._unread[node, record] = unread - 1 if can_be_read else unread + 1
        if self._kind is TraceKind.HALVES and can_be_read and has:
            if record not in world.visible or not unread:
                world.visible.add(record)
                self._tell(node, "Check", record, node)
            return
        if has and (record, node) not in world.sent:
            return
        world.log[node].add(record)
        world.sent.discard((record, node))
        if can_be_read:
            world.visible.add(record)
        self._tell(node, "StorePut", record, node)

    def _stores_of_pop(self, world: World, node: str, item: LogItem) -> None:
        if not item.of.endswith(f"@{self._layout.broker_name}"):
            return
        if item.kind not in _OF_POPS:
            return
        pop = self._pop(item.of)
        if item.kind == LoggedKind.ACK and node not in world.ack_at.get(pop, ()):
            world.ack_at.setdefault(pop, set()).add(node)
            self._tell(node, "StoreAck", pop, node)
        elif item.kind == LoggedKind.CHECK_POINT and world.ck_at.get(pop) != node:
            world.ck_at[pop] = node
            self._tell(node, "StoreCheckPoint", pop, node)
        elif item.kind == LoggedKind.AGAIN:
            world.revived.add(pop)
            self._tell(node, "Revive", pop, node)

    # ---- the producer ----

    def producer_steps(self, decided: Mapping[str, int]) -> None:
        """Take a step of the producer, which has decided this by now."""
        world = self._world
        if world is None or self._kind is not TraceKind.HALVES:
            return
        for key, how in decided.items():
            record = self._numbers.get(key)
            if record is not None and record not in world.ended:
                self._ends(world, self._layout.producer, record, how == COMMITTED, told=False)

    def _ends(self, world: World, node: str, record: int, is_commit: bool, *, told: bool) -> None:
        how = "commit" if is_commit else "rollback"
        world.ended[record] = how
        if told:
            world.op.add(record)
            if is_commit:
                world.visible.add(record)
        self._tell(node, "End", record, how, told)

    # ---- what is missed ----

    def misses(self, node: str, action: str, of: str) -> None:
        """Take what is missed of a node, if it is of what the trace is of."""
        if self._world is None:
            return
        params = self._missed_params(node, action, of)
        if params is not None:
            self._tell(node, action, *params)

    def _missed_params(self, node: str, action: str, of: str) -> tuple[Value, ...] | None:
        """Return the parameters of an action that says that something is missed; None: others'."""
        match action:
            case "NoAsk" | "NoLearn":
                return ()
            case "NoAct":
                return (bool(of),)
            case "NoSign" | "NoFlush" | "NoPlace":
                return (node,)
            case "LeaveConsumer" if self._kind is TraceKind.POPS:
                return ()
            case "GiveUnheld" | "GivePart" | "NoKeep" if of in self._pops:
                return (self._pops[of],)
            case "NoRefusal" if not of or self._kind is TraceKind.POPS:
                return (node if node in self._alive else NONE,)
            case "NoPut" | "PutEarly" if of.startswith(f"{_SERVICES.get(self._kind)} "):
                return (int(of.split()[1]),)
            case "PutPart" if of in self._puts:
                return (self._puts[of][0],)
            case "NoSave" if of == _SERVICES.get(self._kind):
                return ()
            case "NoAnswer" if of in self._puts:
                return self._puts[of]
            case "NoCheck" if self._kind is TraceKind.HALVES and of in self._numbers:
                return (self._numbers[of], node)
            case "NoWord" if self._kind is TraceKind.HALVES and of in self._numbers:
                return (self._numbers[of],)
            case "NoRevive" if of in self._pops:
                return (self._pops[of], node)
            case _:
                return None

    # ---- the rest ----

    def _read_log(self, log: Sequence[LogItem]) -> None:
        """Number the records of the slave's log."""
        self._keys_known = True
        self._own_length = len(log)
        kind = _RECORDS.get(self._kind)
        keys = [item.of for item in log if item.kind == kind]
        self._numbers = {key: number for number, key in enumerate(keys, start=1)}
        if len(self._numbers) != len(keys):
            raise RecordError("two records of the slave's log have one UNIQ_KEY")

    def _begin(self) -> None:
        """Begin the trace, if all is as Init says; and have what the slave's log says."""
        seen, masters = self._slave, self._layout.masters
        if seen is None or seen.acts or not all(self._alive.values()):
            return
        world = World(self._kind, self._layout, len(self._numbers), known=set(seen.known))
        world.alive = dict.fromkeys(masters, True)
        self._world = world
        self._act(None, "Init", (), world.state())
        if self._kind is TraceKind.HALVES:
            read = {item.of for item in seen.log if item.kind == LoggedKind.READ}
            keys = list(self._numbers)
            for item in seen.log:
                for place in _ended_by(item):
                    is_commit = keys[place] in read
                    self._ends(world, self._layout.slave, place + 1, is_commit, told=True)

    def _pop(self, name: str) -> str:
        if name not in self._pops:
            raise RecordError(f"{name} was not popped")
        return self._pops[name]

    def _tell(self, node: str, action: str, *params: Value) -> None:
        assert self._world is not None
        self._act(node, action, params, self._world.state())


def _ended_by(item: LogItem) -> list[int]:
    """Return the places of the half messages of which a record says that they have ended."""
    return list(map(int, item.of.split(","))) if item.kind == LoggedKind.OP else []

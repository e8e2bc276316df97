"""What brokers around a master that comes back do, or what happens to them, and nothing changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from model_tests.machines.manual_pre_online import ManualBrokers
from rocketha.formats.offset_tables import TableKind
from rocketha.pre_online.due import CopyDue, GoOn, PersistDue, PollDue, RegisterNow, ReportOver
from rocketha.pre_online.events import Decide
from rocketha.pre_online.state import Asked
from rocketha.sim.pre_online.plan import QUEUES
from rocketha.types import MASTER, BrokerId

__all__ = ["IDLE", "StutteringBrokers"]

_BUSY: Final = "is to wait for an answer when it is time to write"
_COPIES_NOT: Final = "copies nothing"
_FIRST: Final = "is to hear first of the next connection that breaks"
_LOSES_ANSWER: Final = "is to lose the answer to its next registration"
_LOSES_TABLE: Final = "loses the table that it asks for"
_LOST_LINE: Final = "hears that a connection is gone"
_POLLS: Final = "asks who is there, and hears nothing new"
_REFUSES: Final = "refuses a consumer"
_REGISTERS: Final = "registers again, or may not"
_WAITS: Final = "goes on, and waits"
_WRITES_NOTHING: Final = "has nothing to write"
IDLE: Final = frozenset(
    {
        _BUSY,
        _COPIES_NOT,
        _FIRST,
        _LOSES_ANSWER,
        _LOSES_TABLE,
        _LOST_LINE,
        _POLLS,
        _REFUSES,
        _REGISTERS,
        _WAITS,
        _WRITES_NOTHING,
    }
)
"""All that changes nothing."""


class StutteringBrokers(ManualBrokers):
    """The brokers of a model, which also do what is no step."""

    def stuttering_calls(self) -> Sequence[str]:
        """List brokers with what they can do now."""
        brokers = self._cluster.brokers
        return [f"{one} {what}" for one in brokers for what in self._idle_of(one)]

    def make_idle_call(self, name: str) -> None:
        """Let a broker do it, if it still can."""
        number, _, what = name.partition(" ")
        broker = BrokerId(int(number))
        if what in self._idle_of(broker):
            took = self._made(lambda: self._do(broker, what))
            assert not took, f"the cores took {took}"

    # ---- when ----

    def _idle_of(self, broker: BrokerId) -> Iterator[str]:
        state = self._node(broker).state
        if state is None:
            return
        group = self._cluster.group()
        if not state.serves:
            yield _REFUSES
        if all(table.present == table.saved for table in state.tables.values()):
            yield _WRITES_NOTHING
        if broker not in self._busy:
            yield _BUSY
        if broker != MASTER:
            yield from self._idle_of_slave(broker)
        else:
            if state.isolated or MASTER in group:
                yield _REGISTERS
            if state.isolated and self._waits():
                yield _WAITS
            if not self._master_first:
                yield _FIRST
        if self._lost_lines(broker):
            yield _LOST_LINE

    def _idle_of_slave(self, slave: BrokerId) -> Iterator[str]:
        state, group = self._running(slave), self._cluster.group()
        has_master = state.master_address is not None
        if slave in group and has_master == (MASTER in group):
            yield _REGISTERS
        if slave not in self._loses:
            yield _LOSES_ANSWER
        acts = bool(group) and min(group) == slave
        if not group or (state.serves == acts and not (has_master and MASTER not in group)):
            yield _POLLS
        master = self._node(MASTER).state
        if state.serves or not has_master or master is None or master.isolated:
            yield _COPIES_NOT
        else:
            yield _LOSES_TABLE

    def _waits(self) -> bool:
        """Tell whether a master in isolation can do nothing now but ask, or say, it again."""
        if self._is_complete() or not self._knows_who_is_there():
            return False
        return not any(self._has_work_with(slave) for slave in self._running(MASTER).wanted)

    def _has_work_with(self, slave: BrokerId) -> bool:
        """Tell whether it can tell a slave where it is, or take its table."""
        state = self._node(slave).state
        if state is None:
            return False
        conn = self._running(MASTER).links.get(slave)
        return state.ha.address is None or (
            conn is not None and conn == state.ha.conn and self._lines.stands(conn)
        )

    # ---- what ----

    def _do(self, broker: BrokerId, what: str) -> None:
        if what == _REFUSES:
            self._commit(broker, QUEUES[self._kind][0])
        elif what == _WRITES_NOTHING:
            self._take(broker, PersistDue())
        elif what == _REGISTERS:
            self._tell(broker, RegisterNow())
        elif what == _LOST_LINE:
            self._hear_of_lost_lines(broker)
        elif what == _POLLS:
            self._tell(broker, PollDue())
        elif what == _COPIES_NOT:
            for _ in TableKind:
                self._tell(broker, CopyDue())
        elif what == _LOSES_TABLE:
            for _ in TableKind:
                self._take(broker, CopyDue())
                self._carry({broker})
            self._ask_in_vain(broker)
        elif what == _LOSES_ANSWER:
            self._loses.add(broker)
        elif what == _BUSY:
            self._busy.add(broker)
        elif what == _FIRST:
            self._master_first = True
        else:
            assert what == _WAITS
            self._wait()

    def _wait(self) -> None:
        """Let the master ask who is there, and whom it needs, though nothing comes of it.

        A slave may have a connection of which the other end is gone: then it gives its tables, and
        does not report.
        """
        self._tell(MASTER, GoOn())
        self._decides = False
        self._tell(MASTER, Decide())
        waits = self._running(MASTER).waits
        if waits is not None and waits.what is Asked.REPORT:
            self._take(MASTER, ReportOver(waits.number))
        self._ask_in_vain(MASTER)

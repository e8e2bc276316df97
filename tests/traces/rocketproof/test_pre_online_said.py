"""What brokers say while a master comes back, and what is missed of them, in traces of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final, TypeAlias

import msgspec
import pytest

from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.pre_online import core, master, slave, tables
from rocketha.pre_online.due import PersistDue
from rocketha.pre_online.events import PreOnlineDone
from rocketha.pre_online.state import HaClient
from rocketha.pre_online.tables import keep
from rocketha.recording.node_log import NodeLines
from rocketha.recording.record import RESPONSE, NodeRecord, RecordError, SentMessage
from rocketha.runtime.effects import After, CloseConnection, Connect, Respond, SendPacket, Then
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import simulate
from rocketproof.protocols import PROTOCOLS
from rocketproof.protocols.pre_online.said import SAID
from tests.traces.rocketproof.recorded_runs import judged, recorded, rewritten
from tlatrace.judgement.verdict import Conforms, Diverges
from tlatrace.trace import Event, Trace
from tlatrace.values import Value, tla_set

PLUG: Final = PROTOCOLS["pre_online"]
SEEDS: Final = (0, 1, 3, 7)
MISSED: Final = frozenset(
    {"AskAgain", "GiveUp", "NoCopy", "NoForget", "NoHandshake", "NoHeartbeat", "NoPersist"}
    | {"NoConnection", "NoPoll", "NoProgress", "NoRegistration", "PassOver", "PersistAgain"}
    | {"Unanswered"}
)

Change: TypeAlias = Callable[[NodeRecord, SentMessage], SentMessage | None]


@cache
def traces() -> Sequence[Trace]:
    return [trace for seed in SEEDS for trace in recorded("pre_online", seed).traces]


@pytest.mark.java
def test_all_is_said_in_the_traces_of_both_tables_and_is_right() -> None:
    assert all(isinstance(verdict, Conforms) for verdict in judged(traces()))
    for table in (0, 1):
        said = {event.action for trace in traces()[table::2] for event in trace.events}
        assert said >= SAID
        assert not said & MISSED
    assert {one.header.spec for one in traces() if one.header} == {"PreOnlineMessages"}


# ---- inserted where it is wrong, and where it is right ----


def inserted(trace: Trace, behind: Event, action: str, *params: Value) -> Trace:
    """Return the trace to an event, and this as the last one."""
    last = Event(step=behind.step + 1, action=action, params=params, state=behind.state)
    return replace(trace, events=(*trace.events[: behind.step + 1], last))


def at(value: Any, broker: int) -> Any:
    """Return what a variable has of a broker; of slaves 1, 2, ... it is a sequence."""
    return value[broker - 1] if isinstance(value, tuple) else value[broker]


def where(holds: Callable[[Mapping[str, Any], int], object], broker: int) -> tuple[Trace, Event]:
    """Find a state in which something holds of a broker."""
    for trace in traces():
        for event in trace.events:
            assert event.state is not None
            if holds(event.state, broker):
                return trace, event
    raise AssertionError("there is no such state")


def runs(state: Mapping[str, Any], broker: int) -> Any:
    return at(state["up"], broker)


def is_down(state: Mapping[str, Any], broker: int) -> bool:
    return not runs(state, broker)


def is_found(state: Mapping[str, Any], broker: int) -> Any:
    return runs(state, broker) and not (broker == 0 and state["isolated"])


def is_isolated(state: Mapping[str, Any], broker: int) -> Any:
    return runs(state, broker) and state["isolated"]


def copies(state: Mapping[str, Any], broker: int) -> Any:
    may = at(state["masterAddr"], broker) and not at(state["serves"], broker)
    return runs(state, broker) and may


def acts(state: Mapping[str, Any], broker: int) -> Any:
    return runs(state, broker) and at(state["serves"], broker)


def wanted(state: Mapping[str, Any]) -> set[int]:
    return set(state["members"]) - set(state["done"])


def is_wanted(state: Mapping[str, Any], broker: int) -> Any:
    return is_isolated(state, 0) and broker in wanted(state)


def is_done(state: Mapping[str, Any], broker: int) -> Any:
    return is_isolated(state, 0) and broker in state["done"]


def is_one_of_two(state: Mapping[str, Any], broker: int) -> bool:
    return is_wanted(state, broker) and len(wanted(state)) > 1


def is_alone(state: Mapping[str, Any], broker: int) -> bool:
    return is_wanted(state, broker) and len(wanted(state)) == 1


def is_unsaved(state: Mapping[str, Any], broker: int) -> bool:
    saved = at(state["saved"], broker)
    has = (at(state["table"], broker), at(state["version"], broker))
    return runs(state, broker) and (saved["table"], saved["version"]) != has


def is_saved(state: Mapping[str, Any], broker: int) -> bool:
    return runs(state, broker) and not is_unsaved(state, broker)


def has_link(*links: str) -> Callable[[Mapping[str, Any], int], Any]:
    return lambda state, broker: runs(state, broker) and at(state["link"], broker) in links


CASES: Final = (
    ("SendRegistration", 0, is_isolated, is_found),
    ("SendHeartbeat", 0, is_isolated, is_found),
    ("AskCopy", 1, acts, copies),
    ("TellHaInfo", 1, is_done, is_wanted),
    ("AskTable", 1, is_done, is_wanted),
    ("GiveNoTable", 0, is_found, is_isolated),
    ("GiveNoTable", 1, is_found, None),
    ("TakeHaInfo", 1, has_link("none"), has_link("told")),
    ("Unanswered", 1, runs, is_down),
    ("NoHandshake", 1, has_link("told"), has_link("transfer")),
    ("NoConnection", 1, has_link("told"), has_link("transfer")),
    ("NoForget", 1, has_link("told", "transfer"), has_link("none")),
    ("NoRegistration", 0, is_found, is_isolated),
    ("NoRegistration", 1, is_found, is_down),
    ("NoHeartbeat", 0, is_found, is_isolated),
    ("NoHeartbeat", 1, is_found, is_down),
    ("NoPoll", 1, runs, is_down),
    ("NoCopy", 1, copies, acts),
    ("NoPersist", 0, is_unsaved, is_saved),
    ("NoPersist", 1, is_unsaved, is_down),
    ("PersistAgain", 0, is_saved, is_unsaved),
    ("GiveUp", 1, has_link("transfer"), has_link("told")),
    ("PassOver", 1, copies, acts),
    ("AskAgain", 1, is_one_of_two, is_alone),
)
"""An action, its broker, where it is wrong and where it is right."""


@pytest.mark.java
def test_what_is_said_and_missed_is_wrong_here_and_right_there() -> None:
    wrong, right = [], []
    for action, broker, here, there in CASES:
        wrong.append(inserted(*where(here, broker), action, broker))
        if there is not None:
            right.append(inserted(*where(there, broker), action, broker))
    wrong.append(inserted(*where(is_isolated, 0), "NoProgress"))
    right.append(inserted(*where(is_found, 0), "NoProgress"))

    assert {trace.events[-1].action for trace in wrong} == MISSED | SAID - {
        "GiveTable",
        "TakeCopy",
        "TakeGroup",
    }
    for trace, verdict in zip(wrong, judged(wrong), strict=True):
        assert isinstance(verdict, Diverges), trace.events[-1]
        assert verdict.action == trace.events[-1].action
    for trace, verdict in zip(right, judged(right), strict=True):
        assert isinstance(verdict, Conforms), trace.events[-1]


@pytest.mark.java
def test_a_table_is_given_as_it_is_and_by_no_master_in_isolation() -> None:
    def gives(trace: Trace, behind: Event, broker: int, more: int = 0) -> Trace:
        assert behind.state is not None
        table, version = at(behind.state["table"], broker), at(behind.state["version"], broker)
        return inserted(trace, behind, "GiveTable", broker, table, version + more)

    here, isolated, down = where(is_unsaved, 1), where(is_isolated, 0), where(is_down, 1)
    assert here[1].state is not None
    version = at(here[1].state["version"], 1)
    saved = at(here[1].state["saved"], 1)["table"]
    wrong = [gives(*isolated, 0), gives(*down, 1), gives(*here, 1, more=1)]
    wrong.append(inserted(*here, "GiveTable", 1, saved, version))
    right = [gives(*here, 1), gives(*where(is_found, 0), 0)]

    assert all(isinstance(verdict, Diverges) for verdict in judged(wrong))
    assert all(isinstance(verdict, Conforms) for verdict in judged(right))


@pytest.mark.java
def test_a_slave_has_what_its_master_has_said() -> None:
    def takes(behind: Event, more: int = 0) -> tuple[Value, ...]:
        assert behind.state is not None
        return 1, at(behind.state["table"], 1), at(behind.state["version"], 1) + more

    here, down = where(is_unsaved, 1), where(is_down, 1)
    assert here[1].state is not None
    saved = at(here[1].state["saved"], 1)
    wrong = [
        inserted(*down, "TakeCopy", *takes(down[1])),
        inserted(*here, "TakeCopy", *takes(here[1], more=1)),
        inserted(*here, "TakeCopy", 1, saved["table"], at(here[1].state["version"], 1)),
    ]

    assert all(isinstance(verdict, Diverges) for verdict in judged(wrong))
    right = [inserted(*here, "TakeCopy", *takes(here[1]))]
    assert all(isinstance(verdict, Conforms) for verdict in judged(right))


@pytest.mark.java
def test_a_slave_does_as_its_group_is() -> None:
    """It acts where its brokerId is the smallest, and has no master that is not there."""

    def has_no_master(state: Mapping[str, Any], broker: int) -> Any:
        return acts(state, broker) and not at(state["masterAddr"], broker)

    alone, led = where(has_no_master, 1), where(copies, 1)
    wrong = [
        inserted(*alone, "TakeGroup", 1, tla_set([0, 1])),
        inserted(*alone, "TakeGroup", 1, tla_set([2])),
        inserted(*led, "TakeGroup", 1, tla_set([1])),
        inserted(*where(is_down, 1), "TakeGroup", 1, tla_set([0, 1])),
    ]
    right = [
        inserted(*alone, "TakeGroup", 1, tla_set([1])),
        inserted(*alone, "TakeGroup", 1, tla_set([1, 2])),
        inserted(*led, "TakeGroup", 1, tla_set([0, 1])),
        inserted(*led, "TakeGroup", 1, tla_set([0])),
    ]

    assert all(isinstance(verdict, Diverges) for verdict in judged(wrong))
    assert all(isinstance(verdict, Conforms) for verdict in judged(right))


# ---- records that say something else ----


def actions_of(change: Change, seed: int = 1) -> Iterator[tuple[str | None, tuple[Value, ...]]]:
    for trace in PLUG.traces_of_records(rewritten(recorded("pre_online", seed).logs, change)):
        yield from ((event.action, event.params) for event in trace.events)


@pytest.mark.parametrize(
    ("code", "action"),
    [
        (NameServerCode.REGISTER_BROKER, "NoRegistration"),
        (NameServerCode.BROKER_HEARTBEAT, "NoHeartbeat"),
        (NameServerCode.GET_BROKER_MEMBER_GROUP, "NoPoll"),
    ],
)
def test_what_a_slave_says_no_more_is_missed(code: NameServerCode, action: str) -> None:
    said = [
        one.id
        for log in recorded("pre_online", 1).logs
        for record in log.records
        for one in record.sent
        if record.node == "b1" and one.code == code
    ]
    found = actions_of(lambda _, one: None if one.id in said[4:] else one)

    assert {params for name, params in found if name == action} == {(1,)}


def test_a_table_that_is_none_is_an_error() -> None:
    def spoilt(record: NodeRecord, one: SentMessage) -> SentMessage:
        gives = record.node == "b0" and one.id.endswith(RESPONSE) and one.body
        return msgspec.structs.replace(one, body="{") if gives else one

    with pytest.raises(RecordError, match="a table that is none"):
        PLUG.traces_of_records(rewritten(recorded("pre_online", 0).logs, spoilt))


def test_who_tells_somebody_else_where_to_connect_to_is_an_error() -> None:
    def misled(_: NodeRecord, one: SentMessage) -> SentMessage:
        tells = one.code == BrokerCode.EXCHANGE_BROKER_HA_INFO
        return msgspec.structs.replace(one, to="n1") if tells else one

    with pytest.raises(RecordError, match="'n1' is no broker"):
        PLUG.traces_of_records(rewritten(recorded("pre_online", 0).logs, misled))


def test_settings_without_a_time_are_an_error() -> None:
    logs = []
    for log in recorded("pre_online", 1).logs:
        left = {name: told for name, told in log.header.settings.items() if name != "poll_ms"}
        header = msgspec.structs.replace(log.header, settings=left)
        logs.append(replace(log, header=header))
    with pytest.raises(RecordError, match="what nodes owe cannot be told: KeyError: 'poll_ms'"):
        PLUG.traces_of_records(logs)


# ---- implementations that say something else, or nothing ----


def gives_old_table(state: Any, event: Any, kind: Any) -> PreOnlineDone:
    """Give what the disk has."""
    table = state.tables[kind]
    has_file = replace(table, present=table.saved or table.present)
    done = GIVE_TABLE(state.with_table(kind, has_file), event, kind)
    return replace(done, state=state)


def gives_in_isolation(state: Any, event: Any, kind: Any) -> PreOnlineDone:
    return replace(GIVE_TABLE(replace(state, isolated=False), event, kind), state=state)


def refuses_tables(state: Any, event: Any, kind: Any) -> PreOnlineDone:
    """Refuse as a master that is online."""
    if not state.options.is_master:
        return GIVE_TABLE(state, event, kind)
    refusal = Respond(request=event.request, code=BrokerResponse.SYSTEM_ERROR, body=b"")
    return PreOnlineDone(state, (refusal,))


def answers_no_slave(state: Any, event: Any, kind: Any) -> PreOnlineDone:
    return PreOnlineDone(state) if state.options.is_master else GIVE_TABLE(state, event, kind)


def does_nothing(state: Any, *_: Any, **__: Any) -> PreOnlineDone:
    return PreOnlineDone(state)


def takes_no_ha_info(state: Any, event: Any, info: Any) -> PreOnlineDone:
    """Say that it knows where to connect to, and forget it."""
    del info
    says = Respond(request=event.request, code=BrokerResponse.SUCCESS, body=b"")
    return PreOnlineDone(replace(state, ha=HaClient()), (says,))


def without(effect: type, function: Callable[..., PreOnlineDone]) -> Callable[..., PreOnlineDone]:
    """Leave an effect out."""

    def left(*args: Any, **others: Any) -> PreOnlineDone:
        done = function(*args, **others)
        return replace(
            done, effects=tuple([one for one in done.effects if not isinstance(one, effect)])
        )

    return left


def copies_once(state: Any) -> PreOnlineDone:
    return PreOnlineDone(state) if state.turn else COPY(state)


def copies_one_table(state: Any) -> PreOnlineDone:
    return COPY(replace(state, turn=0))


def asks_one_slave(state: Any) -> PreOnlineDone:
    return DECIDE(replace(state, turn=0))


def never_persists(state: Any) -> PreOnlineDone:
    again = After(wait_ms=state.options.persist_ms, event=PersistDue())
    return PreOnlineDone(state, (again,))


def persists_all(state: Any) -> PreOnlineDone:
    """Write both tables whenever it is time."""
    stores: list[Any] = []
    for kind in state.tables:
        state, store = keep(state, kind, state.tables[kind].present)
        stores.append(store)
    again = After(wait_ms=state.options.persist_ms, event=PersistDue())
    return PreOnlineDone(state, (*stores, again))


def gives_up(state: Any) -> PreOnlineDone:
    """Close its connection whenever it copies."""
    done, conn = COPY(state), state.ha.conn
    if conn is None:
        return done
    closes = CloseConnection(conn=conn, reason="it is time")
    ha = HaClient(address=state.ha.address)
    return replace(done, state=replace(done.state, ha=ha), effects=(closes, *done.effects))


def says_and_forgets(state: Any, conn: Any, *, now_ms: Any) -> PreOnlineDone:
    """Acknowledge, and do not know that it has heard of its master."""
    return replace(ACKNOWLEDGE(state, conn, now_ms=now_ms), state=state)


def behind(calls: int, function: Callable[..., Any], otherwise: Callable[..., Any]) -> Any:
    """Do something else from the first call behind so many on: those in which all come."""
    done = 0

    def called(*args: Any, **others: Any) -> Any:
        nonlocal done
        done += 1
        return (function if done <= calls else otherwise)(*args, **others)

    return called


GIVE_TABLE: Final = tables.give_table
COPY: Final = slave.copy
DECIDE: Final = master.decide
ACKNOWLEDGE: Final = slave.acknowledge

Function: TypeAlias = Callable[..., Any]
IMPLEMENTATIONS: Final[tuple[tuple[str, int, Any, str, Function, int], ...]] = (
    ("GiveTable", 0, core, "give_table", gives_old_table, 0),
    ("GiveTable", 7, core, "give_table", gives_in_isolation, 0),
    ("GiveNoTable", 0, core, "give_table", refuses_tables, 0),
    ("Unanswered", 0, core, "give_table", answers_no_slave, 0),
    ("TakeHaInfo", 0, slave, "told", takes_no_ha_info, 2),
    ("Unanswered", 0, master, "handshake", without(SendPacket, master.handshake), 2),
    ("Unanswered", 0, slave, "acknowledge", does_nothing, 2),
    ("NoHandshake", 0, slave, "connected", without(SendPacket, slave.connected), 2),
    ("NoConnection", 2, slave, "told", without(Connect, slave.told), 0),
    ("NoRegistration", 0, core, "register", without(After, core.register), 6),
    ("NoHeartbeat", 0, core, "_heartbeat", without(After, core._heartbeat), 0),
    ("NoPoll", 0, slave, "poll", without(After, slave.poll), 6),
    ("NoCopy", 0, slave, "copy", copies_once, 0),
    ("PassOver", 0, slave, "copy", copies_one_table, 0),
    ("NoPersist", 0, core, "persist", never_persists, 0),
    ("PersistAgain", 0, core, "persist", persists_all, 0),
    ("GiveUp", 0, slave, "copy", gives_up, 0),
    ("NoProgress", 0, master, "heard_of", does_nothing, 2),
    ("NoProgress", 0, master, "given", lambda *_: None, 0),
    ("TakeCopy", 0, slave, "given", lambda *_: None, 0),
    ("TakeGroup", 0, slave, "heard_group", does_nothing, 0),
    ("NoForget", 0, slave, "heard_group", without(Then, slave.heard_group), 0),
    ("NoConnection", 2, slave, "disconnected", does_nothing, 0),
    ("GiveUp", 1, slave, "acknowledge", says_and_forgets, 0),
    ("AskAgain", 0, master, "decide", asks_one_slave, 0),
)
"""What a trace diverges by, at which seed; which function does what else, behind which call."""


@pytest.mark.java
@pytest.mark.parametrize(
    ("action", "seed", "module", "name", "otherwise", "calls"), IMPLEMENTATIONS
)
def test_an_implementation_that_does_otherwise_diverges(
    action: str,
    seed: int,
    module: Any,
    name: str,
    otherwise: Function,
    calls: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, name, behind(calls, getattr(module, name), otherwise))

    assert action in diverging(seed)


def diverging(seed: int) -> list[str | None]:
    """Return by what the traces of a run diverge."""
    lines, simulation = NodeLines(), PLUG.simulation
    simulate(simulation, seed, SimOptions(), simulation.unobserved(), write=lines.write)
    verdicts = judged(PLUG.traces_of_records(lines.logs()))
    return [one.action for one in verdicts if isinstance(one, Diverges)]

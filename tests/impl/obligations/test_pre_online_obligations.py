"""What a master that comes back and its slaves owe: correct runs miss nothing, and each omission is
noticed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import pytest

from rocketha.formats.broker_requests import BrokerCode
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.offset_tables import TableKind
from rocketha.obligations.pre_online import PRE_ONLINE
from rocketha.pre_online import master, slave, tables
from rocketha.pre_online.core import PreOnlineCore
from rocketha.pre_online.due import (
    CopyDue,
    GoOn,
    HeartbeatDue,
    PersistDue,
    PollDue,
    ReconnectDue,
    RegisterDue,
    ReportOver,
    TransferDue,
)
from rocketha.pre_online.events import Decide, ForgetMaster, PreOnlineDone, StoreTable
from rocketha.pre_online.state import HaClient
from rocketha.runtime.effects import (
    After,
    CloseConnection,
    Connect,
    Respond,
    SendOneWay,
    SendPacket,
    SendRequest,
    Then,
)
from rocketha.runtime.events import PeerConnected, RequestArrived
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun, simulate
from rocketha.sim.pre_online.simulation import SIMULATION
from tests.impl.omissions import Patch, changes

SEEDS: Final = range(6)
LOSES_CONNECTION: Final = 65
"""When its faults end a slave loses a connection, and nobody tells it where to connect to."""


def run(seed: int, options: SimOptions | None = None) -> SimulatedRun:
    return simulate(SIMULATION, seed, options or SimOptions(), SIMULATION.unobserved())


def missed() -> Iterator[str]:
    """Yield the obligations that are missed, seed after seed."""
    return (one.obligation for seed in SEEDS for one in run(seed).obligations.missed)


def test_correct_runs_have_occasions_of_all_and_miss_none() -> None:
    counted: Counter[str] = Counter()
    for seed in range(30):
        findings = run(seed).obligations
        assert findings.missed == ()
        counted.update(findings.counted)

    assert set(+counted) == {obligation.name for obligation in PRE_ONLINE}


# ---- omissions ----


def _drops(effect: type, *, after: type = object, event: type = object) -> Patch:
    """Drop effects of a kind that follow from events of a kind, and timers with an event."""

    def changed(taken: Any, one: Any) -> Any:
        is_meant = isinstance(one, effect) and isinstance(taken, after)
        return None if is_meant and isinstance(getattr(one, "event", None), event) else one

    return changes(PreOnlineCore, changed)


def _says(code: int, name: str, value: str) -> Patch:
    def changed(event: Any, one: Any) -> Any:
        del event
        if not isinstance(one, SendRequest | SendOneWay) or one.code != code:
            return one
        return replace(one, ext_fields={**one.ext_fields, name: value})

    return changes(PreOnlineCore, changed)


def _writes_one_table_at_a_time(event: Any, one: Any) -> Any:
    is_delay = isinstance(one, StoreTable) and one.kind is TableKind.DELAY
    return None if is_delay and isinstance(event, PersistDue) else one


def _gives_another_table(event: Any, one: Any) -> Any:
    asked = isinstance(event, RequestArrived) and event.command.code in {k.code for k in TableKind}
    return replace(one, body=b'{"offsetTable":{}}') if asked and isinstance(one, Respond) else one


def _forgets_what_it_wrote(patch: pytest.MonkeyPatch) -> None:
    whole = tables.keep

    def keep(state: Any, kind: TableKind, table: Any) -> Any:
        after, store = whole(state, kind, table)
        nothing = replace(after.tables[kind], saved=replace(table, offsets={("x", 0): 1}))
        return after.with_table(kind, nothing), store

    patch.setattr(tables, "keep", keep)


def _connects_with_each_registration(patch: pytest.MonkeyPatch) -> None:
    whole = slave.registered

    def registered(state: Any, answer: Any) -> Any:
        return whole(replace(state, ha=HaClient()), answer)

    patch.setattr(slave, "registered", registered)


def _looks_at_another_clock(late_ms: int) -> Patch:
    """Let a slave think that it is so much later when it looks after its connection."""

    def put_in(patch: pytest.MonkeyPatch) -> None:
        whole = slave.look_after_connection

        def looks(state: Any, *, now_ms: Any) -> Any:
            return whole(state, now_ms=now_ms + late_ms)

        patch.setattr(slave, "look_after_connection", looks)

    return put_in


def _stays_with_one(name: str, module: Any) -> Patch:
    """Let it be the same one's turn again and again."""

    def put_in(patch: pytest.MonkeyPatch) -> None:
        whole = getattr(module, name)

        def stays(state: Any) -> Any:
            done = whole(state)
            return replace(done, state=replace(done.state, turn=state.turn))

        patch.setattr(module, name, stays)

    return put_in


def _does_not_say_where_it_is(event: Any, one: Any) -> Any:
    asks = isinstance(event, RequestArrived) and not event.command.ext_fields
    return replace(one, ext_fields={}) if asks and isinstance(one, Respond) else one


def _counts_nothing(patch: pytest.MonkeyPatch) -> None:
    """Have one version from the start to the stop."""
    whole: Any = vars(PreOnlineCore)["step"]

    def step(self: Any, state: Any, event: Any, *, now_ms: Any, log: Any = None) -> Any:
        done = whole(self, state, event, now_ms=now_ms, log=log)
        return replace(done, state=replace(done.state, version=state.version))

    patch.setattr(PreOnlineCore, "step", step)


def _hears_no_group(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(slave, "heard_group", lambda state, _: PreOnlineDone(state))


def _keeps_what_is_lost(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(slave, "disconnected", lambda state, _: PreOnlineDone(state))


def _takes_no_table(module: Any) -> Patch:
    """Let a slave, or a master, take a table that it is given for a refusal."""
    return lambda patch: patch.setattr(module, "given", lambda *_: None)


@pytest.mark.parametrize(
    ("omission", "obligation"),
    [
        (_drops(After, after=RegisterDue), "registrations repeated"),
        (_drops(After, after=HeartbeatDue), "signs of life"),
        (_drops(SendOneWay, after=HeartbeatDue), "signs of life"),
        (_drops(After, after=PollDue), "polls repeated"),
        (_drops(After, after=CopyDue), "copies repeated"),
        (_stays_with_one("copy", slave), "copies in turn"),
        (_drops(After, after=PersistDue), "tables written"),
        (changes(PreOnlineCore, _writes_one_table_at_a_time), "tables written"),
        (_forgets_what_it_wrote, "only changes written"),
        (_connects_with_each_registration, "connections kept"),
        (_hears_no_group, "groups taken"),
        (_drops(Then, event=ForgetMaster), "masters forgotten"),
        (_keeps_what_is_lost, "connections known"),
        (_drops(CloseConnection, after=ReconnectDue), "connections known"),
        (_drops(CloseConnection, after=ReportOver), "connections known"),
        (_looks_at_another_clock(2_000), "heard ones kept"),
        (_looks_at_another_clock(-60_000), "silent ones given up"),
        (_drops(SendPacket, after=TransferDue), "connections used"),
        (_drops(After, after=TransferDue), "connections used"),
        (_drops(After, event=TransferDue), "connections used"),
        (_drops(Connect, after=ReconnectDue), "connections made"),
        (_drops(Connect, after=RequestArrived), "connections made"),
        (_drops(After, event=GoOn), "isolation goes on"),
        (_drops(After, event=ReportOver), "isolation goes on"),
        (_drops(SendRequest, after=Decide), "slaves asked"),
        (_stays_with_one("decide", master), "slaves in turn"),
        (_takes_no_table(master), "tables used"),
        (_takes_no_table(slave), "copies taken"),
        (changes(PreOnlineCore, _does_not_say_where_it_is), "outsiders answered"),
        (_counts_nothing, "registrations count on"),
        (_says(NameServerCode.REGISTER_BROKER, "heartbeatTimeoutMillis", "9"), "requests in full"),
        (_says(NameServerCode.BROKER_HEARTBEAT, "brokerAddr", "b9"), "requests in full"),
        (_says(NameServerCode.GET_BROKER_MEMBER_GROUP, "brokerName", "x"), "requests in full"),
        (
            _says(BrokerCode.EXCHANGE_BROKER_HA_INFO, "masterFlushOffset", "1"),
            "requests in full",
        ),
        (_drops(Respond), "answers to requests"),
        (changes(PreOnlineCore, _gives_another_table), "answers to requests"),
        (_drops(SendPacket), "packets answered"),
        (_drops(SendPacket, after=PeerConnected), "packets answered"),
    ],
)
def test_an_omission_is_noticed_within_six_seeds(
    omission: Patch, obligation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    omission(monkeypatch)

    assert obligation in missed()


def test_a_run_in_which_slaves_do_not_connect_again_does_not_converge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run(LOSES_CONNECTION).report.converged
    monkeypatch.setattr(slave, "look_after_connection", lambda state, **_: PreOnlineDone(state))

    assert not run(LOSES_CONNECTION).report.converged


def test_a_connection_that_is_gone_at_the_masters_end_only_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A master that has started again does not wait for a slave that no name server knows then."""
    options = SimOptions(steps=100)
    good = run(157, options)
    assert good.report.converged
    assert good.obligations.missed == ()

    _looks_at_another_clock(-60_000)(monkeypatch)
    bad = run(157, options)

    assert not bad.report.converged
    assert {one.obligation for one in bad.obligations.missed} == {"silent ones given up"}

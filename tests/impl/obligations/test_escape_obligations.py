"""What a slave that acts, masters and a producer owe: correct runs miss nothing, each omission is
noticed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, Final

import pytest

from rocketha.escape import master, pops, services, slave, transactions
from rocketha.escape.events import (
    CheckDue,
    Done,
    EscapeAction,
    EscapeActionName,
    HeartbeatDue,
    PersistDue,
    PoppedHere,
    ReviveDue,
    RouteDue,
    ServeDue,
)
from rocketha.escape.master import MasterCore
from rocketha.escape.producer import ProducerCore
from rocketha.escape.slave import SlaveCore
from rocketha.formats.broker_requests import BrokerResponse
from rocketha.formats.message import LOOPBACK
from rocketha.formats.offset_tables import TableKind
from rocketha.formats.put_requests import PutCode
from rocketha.obligations.escape import ESCAPE
from rocketha.pre_online.events import StoreTable
from rocketha.runtime.effects import (
    AppendMessage,
    RequestFlush,
    Respond,
    SendOneWay,
    SendRequest,
)
from rocketha.runtime.events import LogFlushed, RequestArrived, ResponseArrived
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun, simulate
from rocketha.sim.escape.simulation import SIMULATION
from rocketha.types import MASTER
from tests.impl.escape.omissions import (
    counts_one_more,
    drops_the_table_of_consumers,
    gives_without_a_check_point,
    learns_nothing,
    leaves_a_place_free,
    leaves_signs_unanswered,
    never_acts,
    puts_again_at_once,
    puts_half_messages_as_others,
    takes_no_end,
)
from tests.impl.omissions import Patch, changes, drops, sleeps

SEEDS: Final = range(6)
_WRITE: Final = 2


def run(seed: int, options: SimOptions | None = None) -> SimulatedRun:
    return simulate(SIMULATION, seed, options or SimOptions(), SIMULATION.unobserved())


@pytest.mark.parametrize("released", [False, True])
def test_correct_runs_have_occasions_of_all_and_miss_none(released: bool) -> None:
    counted: Counter[str] = Counter()
    for seed in range(12):
        findings = run(seed, SimOptions(rocketmq_defaults=released)).obligations
        assert findings.missed == ()
        counted.update(findings.counted)

    assert set(+counted) == {obligation.name for obligation in ESCAPE}


def test_a_master_that_is_down_and_does_not_come_back_owes_nothing() -> None:
    """In run 62 one stops with check points whose time comes later."""
    assert run(62).obligations.missed == ()


# ---- omissions ----


def _asks_while_it_waits(patch: pytest.MonkeyPatch) -> None:
    whole: Any = vars(slave)["_ask_route"]
    patch.setattr(slave, "_ask_route", lambda state: whole(replace(state, asked=None)))


def _ends_before_it_shows(patch: pytest.MonkeyPatch) -> None:
    """Append that a half message has ended before the message that can be read."""
    whole: Any = vars(transactions)["_ended"]

    def ended(*given: Any, **named: Any) -> Any:
        state, does = whole(*given, **named)
        return state, does[::-1]

    patch.setattr(transactions, "_ended", ended)


def _drops_the_table_of_delays(event: Any, one: Any) -> Any:
    is_delay = isinstance(one, StoreTable) and one.kind is TableKind.DELAY
    return None if is_delay and isinstance(event, PersistDue) else one


def _writes_without_what_is_passed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(services, "_written", lambda *_: 0)


def _writes_whatever_there_is(patch: pytest.MonkeyPatch) -> None:
    whole = services.persist

    def persist(state: Any) -> Any:
        done = whole(state)
        state, store = services.stored_table(done.state, TableKind.DELAY)
        return replace(done, state=state, effects=(store, *done.effects))

    patch.setattr(slave, "persist", persist)


def _takes_any_end(patch: pytest.MonkeyPatch) -> None:
    """Append that a half message has ended, whoever says so of whichever place in the log."""
    whole: Any = vars(master)["appended_end"]

    def appended_end(state: Any, command: Any, *, now_ms: Any) -> Any:
        fields = dict(command.ext_fields)
        half = state.halves.get(int(fields.get("tranStateTableOffset", -1)))
        if half is not None:
            fields |= {"producerGroup": "shop", "commitLogOffset": str(half.offset)}
        return whole(state, replace(command, ext_fields=fields), now_ms=now_ms)

    patch.setattr(master, "appended_end", appended_end)


def _refuses_half_of_the_queue(patch: pytest.MonkeyPatch) -> None:
    """The second half of a queue is not given: it seems to be at its end before."""
    whole: Any = pops.pop

    def pop(state: Any, event: Any, *, now_ms: Any) -> Any:
        queue = state.queue
        seen = replace(queue, messages=queue.messages[: max(1, len(queue.messages) // 2)])
        done = whole(replace(state, queue=seen), event, now_ms=now_ms)
        return replace(done, state=replace(done.state, queue=queue))

    patch.setattr(pops, "pop", pop)


def _refuses_with_another_code(patch: pytest.MonkeyPatch) -> None:
    whole: Any = vars(pops)["_refused"]

    def refused(state: Any, request: Any, code: Any, remark: str) -> Any:
        is_empty = code == BrokerResponse.PULL_NOT_FOUND
        return whole(state, request, BrokerResponse.SYSTEM_ERROR if is_empty else code, remark)

    patch.setattr(pops, "_refused", refused)


def _takes_any_group_that_may_be_written_to(patch: pytest.MonkeyPatch) -> None:
    """A slave that never acts is there alone when its master is gone."""
    patch.setattr(
        slave,
        "_masters",
        lambda route: {one.broker_name for one in route.queue_datas if one.perm & _WRITE},
    )


def _takes_whoever_is_shown_as_master(patch: pytest.MonkeyPatch) -> None:
    """A slave that acts is shown as master, and its topics without WRITE."""
    patch.setattr(
        slave,
        "_masters",
        lambda route: {one.broker_name for one in route.broker_datas if MASTER in one.addresses},
    )


def _stores_as_another_host(event: Any, one: Any) -> Any:
    if not isinstance(event, ReviveDue) or not isinstance(one, AppendMessage):
        return one
    return replace(one, message=replace(one.message, store_host=LOOPBACK))


def _says_nothing_of_routes(patch: pytest.MonkeyPatch) -> None:
    whole: Any = slave.learn_route
    patch.setattr(slave, "learn_route", lambda *of: replace(whole(*of), action=None))


def _says_what_is_not_so(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        slave,
        "_knows",
        lambda state, known: Done(
            replace(state, known=known), (), EscapeAction(EscapeActionName.LEARN_ROUTE)
        ),
    )


def _says_that_it_stores_nothing(patch: pytest.MonkeyPatch) -> None:
    whole: Any = vars(master)["_flushed"]
    patch.setattr(master, "_flushed", lambda *of: replace(whole(*of), action=None))


def _says_another_place(event: Any, one: Any) -> Any:
    if not (isinstance(event, LogFlushed) and isinstance(one, Respond)):
        return one
    return replace(one, ext_fields={**one.ext_fields, "queueOffset": "999"})


def _revives_too_early(patch: pytest.MonkeyPatch) -> None:
    whole: Any = vars(MasterCore)["step"]

    def step(self: Any, state: Any, event: Any, *, now_ms: Any, log: Any) -> Any:
        early_ms = now_ms + 50 if isinstance(event, ReviveDue) else now_ms
        return whole(self, state, event, now_ms=early_ms, log=log)

    patch.setattr(MasterCore, "step", step)


def _says_that_all_are_committed(event: Any, one: Any) -> Any:
    del event
    if not isinstance(one, SendOneWay) or one.code != PutCode.END_TRANSACTION:
        return one
    return replace(one, ext_fields={**one.ext_fields, "commitOrRollback": "1"})


OMISSIONS: Final[list[tuple[str, Patch]]] = [
    ("routes asked", sleeps(SlaveCore, RouteDue)),
    ("routes asked", _asks_while_it_waits),
    ("routes taken", learns_nothing),
    ("routes taken", _takes_any_group_that_may_be_written_to),
    ("routes taken", _takes_whoever_is_shown_as_master),
    ("group taken", never_acts),
    ("what is due is put", sleeps(SlaveCore, ServeDue)),
    ("failures waited out", puts_again_at_once),
    ("puts in full", changes(SlaveCore, puts_half_messages_as_others)),
    ("what is passed stays", changes(SlaveCore, _drops_the_table_of_delays)),
    ("what is passed stays", _writes_without_what_is_passed),
    ("what is given stays", changes(SlaveCore, drops_the_table_of_consumers)),
    ("only changes written", _writes_whatever_there_is),
    ("consumers answered", drops(SlaveCore, Respond, after=ResponseArrived)),
    ("pops held", gives_without_a_check_point),
    ("pops answered in full", changes(SlaveCore, counts_one_more)),
    ("outsiders refused", drops(SlaveCore, Respond, after=RequestArrived)),
    ("outsiders refused", drops(ProducerCore, Respond, after=RequestArrived)),
    ("outsiders refused", _takes_any_end),
    ("pops refused", _refuses_half_of_the_queue),
    ("pops refused", _refuses_with_another_code),
    ("actions said", _says_nothing_of_routes),
    ("actions said", _says_what_is_not_so),
    ("actions said", _says_that_it_stores_nothing),
    ("signs answered", changes(MasterCore, leaves_signs_unanswered)),
    ("puts answered", changes(MasterCore, _says_another_place)),
    ("puts answered", drops(MasterCore, Respond, after=LogFlushed)),
    ("written through", drops(MasterCore, RequestFlush, after=PoppedHere)),
    ("places in queues", changes(MasterCore, leaves_a_place_free)),
    ("places in queues", changes(MasterCore, _stores_as_another_host)),
    ("halves asked for", sleeps(MasterCore, CheckDue)),
    ("ends taken", takes_no_end),
    ("ends taken", _ends_before_it_shows),
    ("pops come again", sleeps(MasterCore, ReviveDue)),
    ("pops come again", _revives_too_early),
    ("checks answered", drops(ProducerCore, SendOneWay)),
    ("checks answered", changes(ProducerCore, _says_that_all_are_committed)),
    ("signs of life", drops(ProducerCore, SendRequest, after=HeartbeatDue)),
]


@pytest.mark.parametrize(("obligation", "omission"), OMISSIONS)
def test_each_omission_is_noticed(
    obligation: str, omission: Patch, monkeypatch: pytest.MonkeyPatch
) -> None:
    omission(monkeypatch)

    assert any(
        one.obligation == obligation for seed in SEEDS for one in run(seed).obligations.missed
    )


def test_there_is_an_omission_of_each() -> None:
    assert {name for name, _ in OMISSIONS} == {obligation.name for obligation in ESCAPE}

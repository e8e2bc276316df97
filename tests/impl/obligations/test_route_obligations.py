"""What brokers and name servers owe: correct runs miss nothing, and each omission is noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

import pytest

from rocketha.acting import core as acting
from rocketha.acting.core import ActingCore, HeartbeatDue, PollDue, RegisterDue, RegisterNow
from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.name_server_codes import (
    REGISTER_FAILED_REMARK,
    NameServerCode,
    NameServerResponse,
)
from rocketha.formats.name_server_requests import QueryDataVersionResult, RegisterBrokerResult
from rocketha.nameserver import core, routes
from rocketha.nameserver.core import (
    CloseChannel,
    NameServerCore,
    NameServerDone,
    ScanDue,
    SilentFound,
    TellMinBrokerId,
)
from rocketha.nameserver.state import NameServerState
from rocketha.obligations.route import ROUTE
from rocketha.runtime.effects import After, Respond, SendOneWay, SendRequest, Then
from rocketha.runtime.events import ConnectionLost, RequestArrived
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun, simulate
from rocketha.sim.route.simulation import SIMULATION
from rocketha.types import MASTER, BrokerId, ConnectionId
from tests.impl.omissions import Patch, changes

SEEDS: Final = range(6)
_ROUTE: Final = NameServerCode.GET_ROUTEINFO_BY_TOPIC


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

    assert set(+counted) == {obligation.name for obligation in ROUTE}


def test_so_do_runs_with_the_defaults_of_rocketmq() -> None:
    for seed in range(10):
        assert run(seed, SimOptions(rocketmq_defaults=True)).obligations.missed == ()


# ---- omissions ----


def _drops(core: type, effect: type, *, code: int | None = None, after: type = object) -> Patch:
    def changed(event: Any, one: Any) -> Any:
        is_meant = isinstance(one, effect) and isinstance(event, after)
        is_meant = is_meant and (code is None or getattr(one, "code", None) == code)
        return None if is_meant else one

    return changes(core, changed)


def _says(code: NameServerCode, name: str, value: str) -> Patch:
    def changed(event: Any, one: Any) -> Any:
        del event
        if not isinstance(one, SendRequest | SendOneWay) or one.code != code:
            return one
        return replace(one, ext_fields={**one.ext_fields, name: value})

    return changes(ActingCore, changed)


def _names_nobody(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(routes, "registered", lambda *_: RegisterBrokerResult())


def _takes_no_end(patch: pytest.MonkeyPatch) -> None:
    """Answer who says that it ends, and leave it registered."""
    whole = core._decided

    def decided(*args: Any, asked_for: bool = False) -> NameServerDone:
        return NameServerDone(args[0]) if asked_for else whole(*args)

    patch.setattr(core, "_decided", decided)


def _tells_of_everybody(patch: pytest.MonkeyPatch) -> None:
    everybody = {MASTER: "b1", BrokerId(2): "b2", BrokerId(3): "b3"}

    def member_group(_: object, cluster: str, name: str) -> BrokerMemberGroup:
        return BrokerMemberGroup(cluster_name=cluster, broker_name=name, addresses=everybody)

    patch.setattr(routes, "member_group", member_group)


def _ends_another(patch: pytest.MonkeyPatch) -> None:
    """Take the other brokers of a group for gone where the channel of one is."""

    def ends(state: NameServerState, conn: ConnectionId) -> NameServerDone:
        for name in state.groups_over(conn):
            for one in state.groups[name].brokers.values():
                if one.conn != conn:
                    return core._decided(state, name, one)
        return NameServerDone(state)

    patch.setattr(core, "_ends", ends)


def _is_always_new(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(routes, "data_version", lambda *_: QueryDataVersionResult(changed=True))


def _hears_no_sign(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(core, "heard", lambda state, *_, **__: state)


def _takes_one_topic(event: Any, one: Any) -> Any:
    del event
    refused = isinstance(one, Respond) and one.remark == REGISTER_FAILED_REMARK
    return replace(one, code=0) if refused else one


def _asks_first(place: Callable[[int], int]) -> Patch:
    """Let a broker that has lost a name server ask the one at another place."""

    def put_in(patch: pytest.MonkeyPatch) -> None:
        whole = acting.reconnect

        def reconnect(state: Any, *others: Any, **named: Any) -> Any:
            done = whole(state, *others, **named)
            return replace(done, state=replace(done.state, asks_first=place(done.state.asks_first)))

        patch.setattr(acting, "reconnect", reconnect)

    return put_in


def _tells_of_another(event: Any, one: Any) -> Any:
    del event
    if not isinstance(one, TellMinBrokerId):
        return one
    says = replace(one.notice.says, min_broker_address="b9")
    return replace(one, notice=replace(one.notice, says=says))


def _answers_no_client(event: Any, one: Any) -> Any:
    """Drop the answers to those who ask for a route."""
    asks = isinstance(event, RequestArrived) and event.command.code == _ROUTE
    return None if asks and isinstance(one, Respond) else one


def _supports_all(event: Any, one: Any) -> Any:
    del event
    unknown = NameServerResponse.REQUEST_CODE_NOT_SUPPORTED
    return replace(one, code=0) if isinstance(one, Respond) and one.code == unknown else one


@pytest.mark.parametrize(
    ("omission", "obligation"),
    [
        (_drops(ActingCore, SendRequest, after=RegisterNow), "roles registered"),
        (_drops(ActingCore, After, after=RegisterDue), "registrations repeated"),
        (_says(NameServerCode.REGISTER_BROKER, "haServerAddr", "b9"), "registrations in full"),
        (
            _says(NameServerCode.REGISTER_BROKER, "heartbeatTimeoutMillis", "9"),
            "registrations in full",
        ),
        (_drops(ActingCore, After, after=HeartbeatDue), "signs of life"),
        (_drops(ActingCore, After, after=PollDue), "polls repeated"),
        (_asks_first(lambda _: 0), "polls moved"),
        (_asks_first(lambda place: 1 - place), "polls moved"),
        (_drops(ActingCore, SendOneWay, code=NameServerCode.UNREGISTER_BROKER), "ends said"),
        (_says(NameServerCode.UNREGISTER_BROKER, "brokerId", "7"), "ends said"),
        (_drops(NameServerCore, Respond), "answers to requests"),
        (_names_nobody, "masters named"),
        (_takes_no_end, "ends taken"),
        (_tells_of_everybody, "the silent left out"),
        (_drops(NameServerCore, After, after=ScanDue), "the silent left out"),
        (_drops(NameServerCore, Then, after=ScanDue), "the silent found"),
        (_drops(NameServerCore, Then, after=ConnectionLost), "the gone found"),
        (_hears_no_sign, "the heard kept"),
        (_drops(NameServerCore, CloseChannel), "the gone heard no more"),
        (_ends_another, "the gone heard no more"),
        (changes(NameServerCore, _tells_of_another), "notices in full"),
        (_is_always_new, "versions compared"),
        (_drops(NameServerCore, Respond), "versions compared"),
        (changes(NameServerCore, _answers_no_client), "answers to requests"),
        (changes(NameServerCore, _supports_all), "outsiders refused"),
        (changes(ActingCore, _supports_all), "outsiders refused"),
        (changes(NameServerCore, _takes_one_topic), "outsiders refused"),
    ],
)
def test_an_omission_is_noticed_within_six_seeds(
    omission: Patch, obligation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    omission(monkeypatch)

    assert obligation in missed()


def test_who_is_silent_together_with_somebody_is_found_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In seed 18 two brokers are silent when a name server looks for them."""
    assert run(18).obligations.missed == ()
    _drops(NameServerCore, Then, after=SilentFound)(monkeypatch)

    assert {one.obligation for one in run(18).obligations.missed} == {"the silent found"}

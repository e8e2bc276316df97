"""What brokers and name servers say, and what is missed of them, in traces of their records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final, TypeAlias

import msgspec
import pytest

from rocketha.acting import core as acting_core
from rocketha.acting.core import ActingDone
from rocketha.acting.rules import Role
from rocketha.acting.state import ActingState
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.name_server_requests import QueryDataVersionResult
from rocketha.nameserver import core, routes
from rocketha.recording.merge import merge
from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import SentMessage
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED
from rocketha.types import TimestampMs
from rocketproof.protocols import PROTOCOLS
from rocketproof.protocols.route.records import RouteRecords
from rocketproof.protocols.route.said import SAID
from rocketproof.record_projection import record_of_event
from rocketproof.schedule import Scheduled
from tests.traces.rocketproof.recorded_runs import judged, recorded, rewritten
from tlatrace.judgement.verdict import Conforms, Diverges
from tlatrace.trace import Event, Trace
from tlatrace.values import tla_set

PLUG: Final = PROTOCOLS["route"]
SEED: Final = 1

Change: TypeAlias = Callable[[SentMessage], SentMessage | None]


@cache
def run() -> tuple[Sequence[NodeLog], Trace]:
    logs = recorded("route", SEED).logs
    return logs, PLUG.trace_of_records(logs)


def events_of(logs: Sequence[NodeLog]) -> Iterator[Event]:
    projection = RouteRecords([log.header for log in logs])
    return projection.events(merge(logs))


def up_to(logs: Sequence[NodeLog], action: str, behind: int) -> Trace:
    """Return the trace up to the first event of an action from a step on."""
    events = []
    for event in events_of(logs):
        events.append(event)
        if event.step >= behind and event.action == action:
            return replace(run()[1], events=tuple(events))
    raise AssertionError(f"no {action} behind step {behind}")


def says_otherwise(event: Event, change: Change) -> Sequence[NodeLog]:
    """Return the logs of the run in which the frames of one event's record are others, or none."""
    logs, _ = run()
    meant = record_of_event(RouteRecords([log.header for log in logs]), logs, event.step)
    return rewritten(logs, lambda record, one: change(one) if record is meant else one)


def with_fields(**fields: str) -> Change:
    return lambda one: msgspec.structs.replace(one, fields={**one.fields, **fields})


def with_body(old: str, new: str) -> Change:
    return lambda one: msgspec.structs.replace(one, body=(one.body or "").replace(old, new))


def unsaid(one: SentMessage) -> None:
    del one


def first(action: str, is_meant: Callable[[Event], bool] = bool) -> Event:
    return next(one for one in run()[1].events if one.action == action and is_meant(one))


@pytest.mark.java
def test_all_is_said_and_is_right() -> None:
    _, trace = run()
    (verdict,) = judged([trace])

    assert isinstance(verdict, Conforms)
    assert {one.action for one in trace.events} >= SAID


def has_another_master(event: Event) -> bool:
    return event.params[3] not in (tla_set([]), tla_set([2]))


CASES: Final[tuple[tuple[str, Callable[[Event], bool], Change, str], ...]] = (
    ("AnswerRegistration", has_another_master, with_fields(masterAddr="b2"), "AnswerRegistration"),
    ("AnswerRegistration", has_another_master, unsaid, "LeaveUnanswered"),
    ("AnswerMembers", bool, with_body("b1", "b2"), "AnswerMembers"),
    ("TellSmallest", bool, with_fields(minBrokerAddr="b3"), "TellSmallest"),
    ("EndRegistration", bool, with_fields(brokerId="7"), "EndRegistration"),
)


@pytest.mark.java
@pytest.mark.parametrize(("action", "is_meant", "change", "diverges"), CASES)
def test_what_is_said_otherwise_diverges(
    action: str, is_meant: Callable[[Event], bool], change: Change, diverges: str
) -> None:
    event = first(action, is_meant)
    (verdict,) = judged([up_to(says_otherwise(event, change), diverges, event.step)])

    assert isinstance(verdict, Diverges)
    assert verdict.action == diverges


@pytest.mark.java
def test_who_ends_with_one_name_server_only_has_not_ended_with_all() -> None:
    event = first("EndAll")
    logs = says_otherwise(
        event,
        lambda one: None if (one.code, one.to) == (NameServerCode.UNREGISTER_BROKER, "n1") else one,
    )
    (verdict,) = judged([up_to(logs, "EndAll", event.step - 1)])

    assert isinstance(verdict, Diverges)
    assert verdict.action == "EndAll"


AGAIN: Final = {
    NameServerCode.REGISTER_BROKER: "NoRegistration",
    NameServerCode.BROKER_HEARTBEAT: "NoHeartbeat",
    NameServerCode.GET_BROKER_MEMBER_GROUP: "NoPoll",
}


@pytest.mark.parametrize("code", AGAIN)
def test_what_a_broker_says_no_more_is_missed(code: NameServerCode) -> None:
    logs, _ = run()
    (log,) = [log for log in logs if log.header.node == "b1"]
    said = [one.id for record in log.records for one in record.sent if one.code == code]
    left = rewritten(logs, lambda _, one: None if one.id in said[2:] else one)

    assert not [one for one in run()[1].events if one.action == AGAIN[code]]
    assert {one.params for one in events_of(left) if one.action == AGAIN[code]} == {(1,)}


def test_whom_a_name_server_names_that_says_nothing_any_more_is_shown() -> None:
    logs, _ = run()
    signs = (NameServerCode.REGISTER_BROKER, NameServerCode.BROKER_HEARTBEAT)
    silent = rewritten(
        logs,
        lambda record, one: None if record.node == "b1" and one.code in signs else one,
    )

    assert not [one for one in run()[1].events if one.action == "NoSign"]
    assert any(one.action == "NoSign" for one in events_of(silent))


def inserted(behind: Event, action: str, *params: Any) -> Trace:
    """Return the trace to an event, and this as the last one."""
    trace = run()[1]
    last = Event(step=behind.step + 1, action=action, params=params, state=behind.state)
    return replace(trace, events=(*trace.events[: behind.step + 1], last))


@pytest.mark.java
def test_what_is_missed_of_who_runs_and_is_found_diverges() -> None:
    learns, stops = first("LearnRole"), first("Stop")
    runs, gone = learns.params[0], stops.params[0]
    registered = first("ReceiveRegistration")
    name_server, found = registered.params
    wrong = [inserted(learns, action, runs) for action in AGAIN.values()]
    wrong.append(inserted(registered, "NoSign", name_server, tla_set([found])))
    right = [inserted(stops, action, gone) for action in AGAIN.values()]
    right.append(inserted(learns, "NoSign", name_server, tla_set([found])))

    assert all(isinstance(verdict, Diverges) for verdict in judged(wrong))
    assert all(isinstance(verdict, Conforms) for verdict in judged(right))


def traces_of(seed: int) -> tuple[Trace, ...]:
    scheduled = Scheduled(protocol="route", seed=seed, options=SimOptions(), schedule=UNRESTRICTED)
    return PLUG.recorded_traces(scheduled)


def _stays_what_it_was(patch: pytest.MonkeyPatch) -> None:
    """Learn the first role, and no other one."""
    whole = acting_core.learn_role

    def stays(state: ActingState, role: Role, *, now_ms: TimestampMs) -> ActingDone:
        return ActingDone(state) if state.role else whole(state, role, now_ms=now_ms)

    patch.setattr(acting_core, "learn_role", stays)


def _finds_all_versions_changed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(routes, "data_version", lambda *_: QueryDataVersionResult(changed=True))


def _hears_no_sign(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(core, "heard", lambda state, *_, **__: state)


@pytest.mark.java
@pytest.mark.parametrize(
    ("omission", "action"),
    [
        (_stays_what_it_was, "KeepRole"),
        (_finds_all_versions_changed, "LeaveUnanswered"),
        (_hears_no_sign, "TakeForSilent"),
    ],
)
def test_what_is_done_otherwise_is_noticed(
    omission: Callable[[pytest.MonkeyPatch], None], action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    omission(monkeypatch)

    verdicts = [verdict for seed in range(3) for verdict in judged(traces_of(seed))]

    assert action in {one.action for one in verdicts if isinstance(one, Diverges)}

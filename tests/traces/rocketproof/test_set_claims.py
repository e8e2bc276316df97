"""What a trace of SyncStateSet reads from frames: a node that does something else than it says.

Whether a proposal is taken follows from what reached the controller, what a master asks for from
what it sends, what it knows from what it heard.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest

from rocketha.broker import controller_calls, roles, sync_state_set
from rocketha.broker.effects import GroupStepped
from rocketha.controller import machine
from rocketha.controller import sync_state_set as controller_set
from rocketha.controller.state import Group
from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import AlterSyncStateSet
from rocketha.recording.node_log import NodeLines
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED
from rocketha.types import BrokerId
from rocketproof.protocols import PROTOCOLS
from rocketproof.schedule import Scheduled
from tests.traces.rocketproof.recorded_runs import judged
from tlatrace.judgement.verdict import Conforms, Diverges
from tlatrace.trace import Trace

PROTOCOL: Final = "sync_state_set"
SEEDS: Final = 12
"""In so many seeds each wrong node is seen."""
EVENTS: Final = 400

Patch = Callable[[pytest.MonkeyPatch], None]
Traces = Callable[[int], tuple[Trace, ...]]


def of_whole_states(seed: int) -> tuple[Trace, ...]:
    return tuple(PROTOCOLS[PROTOCOL].run(seed, SimOptions()).traces)


def of_records(seed: int) -> tuple[Trace, ...]:
    plug, lines = PROTOCOLS[PROTOCOL], NodeLines()
    run = Scheduled(protocol=PROTOCOL, seed=seed, options=SimOptions(), schedule=UNRESTRICTED)
    plug.record(run, lines.write)
    return tuple(plug.traces_of_records(lines.logs()))


def refuses_all(patch: pytest.MonkeyPatch) -> None:
    """A controller takes no proposal."""
    refusal = ResponseCode.BROKER_NOT_ALIVE, "nobody is alive"
    patch.setattr(controller_set, "_refusal", lambda *_: refusal)


def takes_the_silent(patch: pytest.MonkeyPatch) -> None:
    """A controller takes a proposal whoever is silent in it."""
    alter = controller_set.alter_sync_state_set

    def altered(state: Any, request: Any, **named: Any) -> Any:
        with pytest.MonkeyPatch.context() as during:
            during.setattr(Group, "is_alive", lambda group, broker, _: broker in group.replicas)
            return alter(state, request, **named)

    patch.setattr(machine, "alter_sync_state_set", altered)


def spends_nothing(patch: pytest.MonkeyPatch) -> None:
    """A controller refuses a fresh proposal, and keeps the version of the set."""
    patch.setattr(controller_set, "_with_version_spent", lambda refused, _: refused)


def asks_for_another(patch: pytest.MonkeyPatch) -> None:
    """A master sends a request for another set than it has proposed."""
    whole = controller_calls.ask

    def ask(state: Any, request: Any, **named: Any) -> Any:
        if isinstance(request, AlterSyncStateSet):
            found = request.sync_state_set
            other = SyncStateSet(found.members | state.slave_incarnations.keys(), found.epoch)
            request = replace(request, sync_state_set=other)
        return whole(state, request, **named)

    patch.setattr(sync_state_set, "ask", ask)


def names_another_master(patch: pytest.MonkeyPatch) -> None:
    """A master sends a request in the name of another broker."""
    whole = controller_calls.ask

    def ask(state: Any, request: Any, **named: Any) -> Any:
        if isinstance(request, AlterSyncStateSet):
            other = 2 if request.master_broker_id == 1 else 1
            request = replace(request, master_broker_id=BrokerId(other))
        return whole(state, request, **named)

    patch.setattr(sync_state_set, "ask", ask)


@pytest.mark.parametrize("traces_of", [of_whole_states, of_records])
@pytest.mark.parametrize(
    ("wrong", "action"),
    [
        (refuses_all, "ApplyAlter"),
        (takes_the_silent, "RefuseAlter"),
        (spends_nothing, "RefuseAlter"),
        (asks_for_another, "SendAlter"),
        (names_another_master, "SendAlter"),
    ],
)
def test_what_was_sent_and_heard_shows_a_wrong_node(
    traces_of: Traces, wrong: Patch, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong(monkeypatch)
    found: Diverges | None = None
    for seed in range(SEEDS):
        begun = [replace(one, events=one.events[:EVENTS]) for one in traces_of(seed)]
        found = next((one for one in judged(begun) if isinstance(one, Diverges)), None)
        if found is not None:
            break

    assert found is not None
    assert found.action == action


def keeps_an_old_set(patch: pytest.MonkeyPatch) -> None:
    """A master does not learn what becomes of its set."""
    patch.setattr(roles, "learn_set", lambda state, *_, **_named: GroupStepped(state))


def test_a_master_knows_what_it_has_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    keeps_an_old_set(monkeypatch)
    verdicts = [verdict for seed in range(3) for verdict in judged(of_whole_states(seed))]

    assert "Knows" in {one.action for one in verdicts if isinstance(one, Diverges)}


def test_the_controller_refuses_for_a_reason() -> None:
    """Nothing is amiss with the set that is asked for, and it is refused all the same."""
    refused = [
        trace
        for seed in range(3)
        for trace in of_whole_states(seed)
        if any(event.action == "RefuseAlter" for event in trace.events)
    ]
    without = [
        replace(
            trace,
            events=tuple(
                replace(event, params=(False,)) if event.action == "RefuseAlter" else event
                for event in trace.events
            ),
        )
        for trace in refused
    ]

    assert refused
    assert all(isinstance(verdict, Conforms) for verdict in judged(refused))
    for verdict in judged(without):
        assert isinstance(verdict, Diverges)
        assert verdict.action == "RefuseAlter"

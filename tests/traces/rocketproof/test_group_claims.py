"""What a trace of a group reads from its network and its clients: wrong effects are no behaviour.

Each core does something else than it says; its state, or what others see, is what shows it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest

from rocketha.broker import core, roles
from rocketha.broker.effects import AnswerPut, GroupStepped, PutStatus
from rocketha.broker.events import ConfirmDue, ExpandDue
from rocketha.controller import election, liveness, machine
from rocketha.controller.core import ControllerCore
from rocketha.recording.node_log import NodeLines
from rocketha.runtime.effects import CloseConnection, Then
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED
from rocketha.sim.replica_group.workload import GroupWorkload
from rocketproof.protocols import PROTOCOLS
from rocketproof.schedule import Scheduled
from tests.traces.rocketproof.recorded_runs import judged
from tlatrace.judgement.verdict import Diverges, kind

SEEDS: Final = 6
EVENTS: Final = 120
"""Of a group that does not come to life there are many more."""

Patch = Callable[[pytest.MonkeyPatch], None]


def keeps_its_set(patch: pytest.MonkeyPatch) -> None:
    """A master that follows another one forgets nothing of what only a master has."""
    whole = roles.become_slave

    def become_slave(state: Any, view: Any, **named: Any) -> Any:
        stepped = whole(state, view, **named)
        return replace(stepped, state=replace(stepped.state, local=state.local))

    patch.setattr(roles, "become_slave", become_slave)


def leaves_connections_open(patch: pytest.MonkeyPatch) -> None:
    """A master that follows another one forgets its connections, and does not close them."""
    whole = roles.become_slave

    def become_slave(state: Any, view: Any, **named: Any) -> Any:
        stepped = whole(state, view, **named)
        kept = tuple(e for e in stepped.effects if not isinstance(e, CloseConnection))
        return replace(stepped, effects=kept)

    patch.setattr(roles, "become_slave", become_slave)


def says_that_it_waits(patch: pytest.MonkeyPatch) -> None:
    """A master tells producers of confirmed messages that it has waited in vain."""
    whole = core.step

    def step(state: Any, event: Any, **named: Any) -> Any:
        stepped = whole(state, event, **named)
        effects = tuple(
            replace(e, status=PutStatus.FLUSH_SLAVE_TIMEOUT)
            if isinstance(e, AnswerPut) and e.status is PutStatus.PUT_OK
            else e
            for e in stepped.effects
        )
        return replace(stepped, effects=effects)

    patch.setattr(core, "step", step)


def answers_nobody(patch: pytest.MonkeyPatch) -> None:
    """A controller answers nobody, so that no broker gets registered."""
    whole = ControllerCore.step

    def step(self: Any, state: Any, event: Any, **named: Any) -> Any:
        stepped = whole(self, state, event, **named)
        kept = tuple(e for e in stepped.effects if type(e).__name__ != "AnswerRequest")
        return replace(stepped, effects=kept)

    patch.setattr(ControllerCore, "step", step)


@pytest.mark.parametrize(
    "wrong",
    [
        keeps_its_set,
        leaves_connections_open,
        says_that_it_waits,
        answers_nobody,
    ],
)
def test_a_wrong_effect_is_no_behaviour(wrong: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong(monkeypatch)
    plug = PROTOCOLS["replica_group"]
    found = set()
    for seed in range(SEEDS):
        run = plug.run(seed, SimOptions())
        begun = [replace(one, events=one.events[:EVENTS]) for one in run.traces]
        found |= {kind(verdict) for verdict in judged(begun)}
        if "diverges" in found:
            break

    assert "diverges" in found


def follows_nothing(patch: pytest.MonkeyPatch, event: type[object]) -> None:
    """Nothing of this kind follows from any step of a broker."""
    whole = core.step

    def step(state: Any, taken: Any, **named: Any) -> Any:
        stepped = whole(state, taken, **named)
        asks = (isinstance(e, Then) and isinstance(e.event, event) for e in stepped.effects)
        kept = (e for e, is_left_out in zip(stepped.effects, asks, strict=True) if not is_left_out)
        return replace(stepped, effects=tuple(kept))

    patch.setattr(core, "step", step)


def adds_nobody(patch: pytest.MonkeyPatch) -> None:
    """A master proposes nobody."""
    follows_nothing(patch, ExpandDue)


def confirms_nothing(patch: pytest.MonkeyPatch) -> None:
    """A master does not look whether confirmOffset can move."""
    follows_nothing(patch, ConfirmDue)


def keeps_an_old_set(patch: pytest.MonkeyPatch) -> None:
    """A master does not learn what becomes of its set."""
    patch.setattr(roles, "learn_set", lambda state, *_, **_named: GroupStepped(state))


def hears_no_election(patch: pytest.MonkeyPatch) -> None:
    """A broker lets all be that it hears of masters."""
    patch.setattr(roles, "become_slave", lambda state, *_, **_named: GroupStepped(state))


def ends_too_soon(patch: pytest.MonkeyPatch) -> None:
    """A run ends with its faults, and says that all is well."""
    patch.setattr(GroupWorkload, "converged", lambda _: True)


def notifies_nobody(patch: pytest.MonkeyPatch) -> None:
    """A controller notifies nobody of an election."""
    whole = election.elect_master

    def elect_master(*args: Any, **named: Any) -> Any:
        return replace(whole(*args, **named), effects=())

    patch.setattr(liveness, "elect_master", elect_master)
    patch.setattr(machine, "elect_master", elect_master)


@pytest.mark.parametrize(
    ("wrong", "action"),
    [
        (adds_nobody, "Settled"),
        (confirms_nothing, "Settled"),
        (keeps_an_old_set, "Heard"),
        (hears_no_election, "Heard"),
        (ends_too_soon, "Healed"),
        (notifies_nobody, "Unnotified"),
    ],
)
def test_what_a_broker_must_do_and_does_not_is_seen(
    wrong: Patch, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong(monkeypatch)

    run = PROTOCOLS["replica_group"].run(0, SimOptions())
    (verdict,) = judged(run.traces)

    assert isinstance(verdict, Diverges)
    assert verdict.action == action


def test_records_show_who_is_not_notified(monkeypatch: pytest.MonkeyPatch) -> None:
    notifies_nobody(monkeypatch)
    plug, lines = PROTOCOLS["replica_group"], NodeLines()
    run = Scheduled(protocol="replica_group", seed=0, options=SimOptions(), schedule=UNRESTRICTED)
    plug.record(run, lines.write)

    (verdict,) = judged(plug.traces_of_records(lines.logs()))

    assert isinstance(verdict, Diverges)
    assert verdict.action == "Unnotified"

"""Whom a controller hears, and elections that have no such reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.broker import core
from rocketha.broker.effects import AnswerPut, GroupStepped, PutStatus
from rocketha.broker.puts import appended
from rocketha.controller.rules import ControllerRules
from rocketha.controller.state import Group
from rocketha.known_bugs import Bugs
from rocketha.obligations.signs_of_life import SignsOfLife
from rocketha.sim.replica_group import plan as group_plan
from rocketha.types import BrokerId
from rocketproof.engines import Judges
from rocketproof.runs import simulate_trace
from rocketproof.trace_inputs import SpecChoice
from tests.source_files import ROOT
from tlatrace.judgement.verdict import Conforms, Diverges, Verdict

SEEDS = 4
"""In so many seeds each wrong effect here is seen."""


def verdict_of(seed: int) -> Verdict:
    trace = simulate_trace("replica_group", seed)
    assert trace.header is not None
    judges = Judges(choice=SpecChoice(spec_root=ROOT / "spec"))
    (verdict,) = judges.judge(trace.header, [trace]).verdicts
    return verdict


def heard() -> SignsOfLife:
    signs = SignsOfLife()
    signs.note_time(100)
    signs.registered("b1", 7, restarted=True)
    signs.beat("b1", 7, 50)
    return signs


def test_a_sign_holds_as_long_as_it_says() -> None:
    signs = heard()
    signs.note_time(150)
    assert signs.is_alive("b1")
    signs.note_time(151)
    assert not signs.is_alive("b1")
    signs.note_time(90)
    assert not signs.is_alive("b1"), "the clock does not go back"
    assert not signs.is_alive("b2"), "nobody has heard of it"


def test_a_sign_goes_with_its_channel_and_with_its_incarnation() -> None:
    signs = heard()
    signs.beat("b1", 8, 50)
    signs.closed(7)
    assert signs.is_alive("b1"), "it is heard on another one"
    signs.closed(8)
    assert not signs.is_alive("b1")
    signs = heard()
    signs.note_time(140)
    signs.registered("b1", 9, restarted=True)
    signs.closed(9)
    assert not signs.is_alive("b1"), "what its last incarnation has sent says nothing"
    signs = heard()
    signs.forget()
    signs.beat("b1", 7, 50)
    assert not signs.is_alive("b1"), "it is not registered"


def test_who_was_alive_is_so_once_more_when_the_controller_starts() -> None:
    signs = heard()
    signs.started(1_000)
    signs.note_time(1_050)
    assert signs.is_alive("b1")
    signs.closed(7)
    assert signs.is_alive("b1"), "its channels are gone already"
    signs.applied(1_051)
    assert not signs.is_alive("b1")
    signs.started(2_000)
    assert not signs.is_alive("b1")


def test_a_controller_that_starts_knows_no_later_time_than_that_of_its_last_entry() -> None:
    signs = heard()
    signs.applied(150)
    signs.note_time(151)
    assert not signs.is_alive("b1"), "who asks now hears that it is gone"
    signs.started(160)
    assert signs.is_alive("b1"), "no entry said so"
    signs = heard()
    signs.applied(150)
    signs.note_time(400)
    signs.started(90)
    signs.beat("b1", 8, 50)
    signs.note_time(200)
    assert signs.is_alive("b1")
    signs.note_time(201)
    assert not signs.is_alive("b1"), "it was heard at 150, and not when an operator asked"


@pytest.mark.java
def test_a_run_conforms_in_which_a_dead_broker_is_heard_again_and_elected() -> None:
    assert isinstance(verdict_of(957), Conforms)


def first_diverging(seeds: int) -> Diverges | None:
    verdicts = (verdict_of(seed) for seed in range(seeds))
    return next((one for one in verdicts if isinstance(one, Diverges)), None)


@pytest.mark.java
def test_an_election_without_a_reason_is_no_operators_election(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At each scan another member becomes master, although the present one is heard."""

    def others(group: Group) -> frozenset[BrokerId]:
        return group.members - group.unfit - {group.master}

    def restless(bugs: Bugs) -> ControllerRules:
        del bugs
        return ControllerRules(
            needs_election=lambda group, now_ms: now_ms > 0 and not group.is_new, whole=others
        )

    monkeypatch.setattr(group_plan, "controller_rules", restless)
    found = first_diverging(SEEDS)

    assert found is not None
    assert found.action == "ElectMaster"


@pytest.mark.java
def test_a_producer_that_is_answered_too_early_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """PUT_OK as soon as the message is written: confirmOffset has not moved."""

    def at_once(*args: object, **kwargs: object) -> GroupStepped:
        stepped = appended(*args, **kwargs)  # type: ignore[arg-type]
        waiting = stepped.state.waiting
        early = tuple(
            AnswerPut(put=one.put, status=PutStatus.PUT_OK, offset=one.offset, end=one.end)
            for one in waiting
        )
        return replace(stepped, effects=(*early, *stepped.effects))

    monkeypatch.setattr(core, "appended", at_once)
    assert first_diverging(SEEDS) is not None

"""Why nothing explains an event of a partial trace: a false conjunct, or another outcome."""

from __future__ import annotations

import re
from typing import Final

import pytest
from click.testing import CliRunner

from rocketproof.cli import main
from tests.source_files import ROOT
from tlatrace.matching import match_traces
from tlatrace.matching.explain import Reasons, explain_verdict
from tlatrace.oracle import Model, load_model
from tlatrace.trace import Event, Header, Silent, Trace
from tlatrace.values import ModelValue

pytestmark = pytest.mark.java

SAMPLES: Final = ROOT / "traces" / "samples" / "lock_server"
C1, C2 = ModelValue("c1"), ModelValue("c2")


@pytest.fixture(scope="module")
def model() -> Model:
    return load_model(SAMPLES / "LockServer.tla", SAMPLES / "LockServer.cfg", conjuncts=True)


def explained(model: Model, *events: Event, silent: Silent | None = None) -> Reasons:
    header = Header(spec="LockServer", silent=silent)
    trace = Trace(header=header, events=(Event(step=0, action="Init"), *events))
    (verdict,) = match_traces(model, [trace])
    return explain_verdict(model, trace, verdict, [SAMPLES])


def test_the_false_conjunct_of_an_action_that_is_not_possible(model: Model) -> None:
    """c2 is not the holder, whoever of the others the first Request was of."""
    reasons = explained(
        model,
        Event(step=1, action="Request", known_params=()),
        Event(step=2, action="Grant", params=(C1,)),
        Event(step=3, action="Release", params=(C2,), node="server"),
    )

    own = reasons.conjuncts[0]
    assert reasons.explanation.event is not None
    assert (reasons.explanation.event.node, own.action, own.claimed) == ("server", "Release", True)
    assert re.fullmatch(r"LockServer.tla:\d+:\d+", own.place)
    assert own.text == "holder = c"
    assert (own.left, own.right) == (C1, C2)


def test_the_argument_that_comes_furthest_is_chosen_for_one_that_is_not_logged(
    model: Model,
) -> None:
    reasons = explained(model, Event(step=1, action="Grant", known_params=()))

    assert [item.action for item in reasons.conjuncts if item.claimed] == ["Grant"]
    assert reasons.explanation.is_partial


def test_an_outcome_that_is_not_what_was_observed(model: Model) -> None:
    reasons = explained(
        model,
        Event(step=1, action="Request", params=(C1,)),
        Event(step=2, action="Grant", known_params=(), observed={"token": 5}),
    )

    (own,) = [item for item in reasons.explanation.candidates if item.claimed]
    assert [change.text() for change in own.differences] == ["token: 1 -> 5"]
    assert not [item for item in reasons.conjuncts if item.claimed]


def test_an_unnamed_step_is_compared_with_every_action(model: Model) -> None:
    reasons = explained(model, Event(step=1, action=None, observed={"token": 3, "queue": (C1,)}))

    nearest = reasons.explanation.candidates[0]
    assert (nearest.action, nearest.claimed) == ("Request", False)
    assert [change.path for change in nearest.differences] == ["token"]
    assert {item.action for item in reasons.conjuncts} == {"Grant", "Release", "Expire"}


def test_the_command_shows_it_for_a_mapped_log() -> None:
    arguments = ["explain", "--map", str(SAMPLES / "lock_server.toml")]
    arguments += ["--spec", str(SAMPLES / "LockServer.tla")]
    arguments += ["--config", str(SAMPLES / "LockServer.cfg"), str(SAMPLES / "two_holders.jsonl")]

    result = CliRunner().invoke(main, arguments)

    assert result.exit_code == 1, result.output
    assert "the trace says    Release(" in result.output
    assert re.search(
        r"False in Release\(\w+\), LockServer.tla:\d+:\d+\n    holder = c\n", result.output
    )
    assert re.search(r"diverges at step \d+ \(line \d+\) at client-7", result.output)

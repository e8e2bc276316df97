"""The comparison of verdicts detects a judge that errs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import pytest

from tests.traces.tlc.toy import INITIAL, all_steps, state_of, transition_of
from tlatrace.judgement.transition import (
    Allowed,
    Failed,
    Judged,
    Refused,
    Transition,
    transition_key,
)
from tlatrace.judgement.verdict import Diverges, Undecided
from tlatrace.selfcheck.corruption import Corrupted, corruptions
from tlatrace.selfcheck.verdicts import compare_verdicts

RIGHT: Final = tuple([transition_of(step) for step in all_steps(200)])
RIGHT_KEYS: Final = frozenset(transition_key(step) for step in RIGHT)
DRAWN: Final = tuple(corruptions(RIGHT, [state_of(INITIAL)], count=300, seed="Mailbox"))


def table(transitions: Sequence[Transition]) -> list[Judged]:
    """Judge by the table of the toy: a state whose total is no number has no value."""
    return [one(transition) for transition in transitions]


def one(transition: Transition) -> Judged:
    total = transition.post["total"]
    if type(total) is not int:
        return Judged(step=Failed("total is no number"), unevaluated="total is no number")
    step = Allowed() if transition_key(transition) in RIGHT_KEYS else Refused()
    return Judged(step=step, violated=("Positive",) if total < 0 else ())


def test_judges_that_agree_agree() -> None:
    found = compare_verdicts("Mailbox", DRAWN, tlc=table, model=table, max_failed=2)
    assert found.disagreements == ()
    assert found.facts["no value"] == 2
    assert found.facts["not asked"] > 0
    assert found.facts["refused"] > 100
    assert found.examined + found.facts["not asked"] == len(DRAWN)
    assert found.facts["by order"] == 0
    assert found.examined == sum(found.facts.values()) - found.facts["not asked"]


def test_steps_on_which_the_model_fails_are_put_to_tlc_apart() -> None:
    asked: list[int] = []

    def tlc(transitions: Sequence[Transition]) -> list[Judged]:
        asked.append(len(transitions))
        return table(transitions)

    compare_verdicts("Mailbox", DRAWN, tlc=tlc, model=table, max_failed=2)
    assert len(asked) == 2
    assert asked[1] == 2


@pytest.mark.parametrize(
    "wrong",
    [
        Judged(step=Allowed()),
        Judged(step=Failed("a gap of ours")),
        Judged(step=Refused(), violated=("Positive",)),
        Judged(step=Refused(), unevaluated="a gap of ours"),
    ],
    ids=["accepts", "fails", "sees a violation", "cannot evaluate an invariant"],
)
def test_one_wrong_verdict_is_found(wrong: Judged) -> None:
    at = next(i for i, item in enumerate(DRAWN) if one(item.transition) == Judged(step=Refused()))
    key = transition_key(DRAWN[at].transition)

    def model(transitions: Sequence[Transition]) -> list[Judged]:
        return [wrong if transition_key(t) == key else one(t) for t in transitions]

    found = compare_verdicts("Mailbox", DRAWN, tlc=table, model=model, max_failed=1000)
    (disagreement,) = found.disagreements
    assert disagreement.tlc == "Refused"
    assert "changed)" in disagreement.question
    assert isinstance(found.verdict, Diverges)


@pytest.mark.parametrize(("most", "found_wrong"), [(1, 0), (3, 3)])
def test_a_few_states_of_wrong_types_may_differ_by_the_order_of_a_set(
    most: int, found_wrong: int
) -> None:
    mine = Judged(step=Refused(), violated=("TypeOK",))
    theirs = Judged(step=Refused(), unevaluated="no field of this name")
    keys = [transition_key(item.transition) for item in DRAWN]
    refused = [
        at for at, item in enumerate(DRAWN) if one(item.transition) == Judged(step=Refused())
    ]
    differ = {keys[at] for at in refused[:most]}

    def judge(answer: Judged) -> Callable[[Sequence[Transition]], list[Judged]]:
        return lambda steps: [answer if transition_key(t) in differ else one(t) for t in steps]

    found = compare_verdicts("Mailbox", DRAWN, tlc=judge(theirs), model=judge(mine), max_failed=0)
    assert found.facts["by order"] == most
    assert len(found.disagreements) == found_wrong


def test_many_wrong_verdicts_are_counted() -> None:
    def model(transitions: Sequence[Transition]) -> list[Judged]:
        return [Judged(step=Allowed())] * len(transitions)

    found = compare_verdicts("Mailbox", DRAWN, tlc=table, model=model, max_failed=0)
    assert found.disagreements[-1].question.startswith("and ")
    assert len(found.disagreements) == 6


def test_without_steps_nothing_was_examined() -> None:
    nothing: tuple[Corrupted, ...] = ()
    found = compare_verdicts("Mailbox", nothing, tlc=table, model=table, max_failed=5)
    assert isinstance(found.verdict, Undecided)

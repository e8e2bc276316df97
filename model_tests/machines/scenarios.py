"""Ways into a model: calls as a text, the check that a bug shows behind them, and random steps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from random import Random
from typing import Final

import pytest
from hypothesis import Phase, settings

from tlatrace.testing import Call, Lockstep, Mismatch, ModelMachine, check, replay
from tlatrace.testing.calls import call_of
from tlatrace.values import Value, tla_set

__all__ = ["ALONE", "assert_scenario_fails", "scenario", "step_somewhere"]

ALONE: Final = settings(
    stateful_step_count=6,
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=1,
    phases=[Phase.generate],
)
"""Next to nothing beside the scenarios that are given."""
_WORDS: Final[dict[str, Value]] = {"TRUE": True, "FALSE": False}


def scenario(text: str) -> Sequence[Call]:
    """Read calls, one after the other: `Crash b1 0; MaybeShrink b1 {b2,b3}; Lose {} TRUE`."""
    calls = [words.split() for words in text.split(";")]
    return [call_of(action, tuple(map(_param, params))) for action, *params in calls]


def _param(word: str) -> Value:
    if word.startswith("{"):
        return tla_set([name for name in word[1:-1].split(",") if name])
    return int(word) if word.isdigit() else _WORDS.get(word, word)


def assert_scenario_fails(
    text: str, buggy: type[ModelMachine], sound: Callable[[], type[ModelMachine]]
) -> int:
    """Let a buggy system take a scenario, and return how many steps are left when it is shrunk.

    The system without the bug must be able to take these.
    """
    with pytest.raises(Mismatch) as caught:
        check(buggy, ALONE, [scenario(text)])
    print(caught.value)
    assert replay(sound(), caught.value.steps) is None
    return len(caught.value.steps)


def step_somewhere(run: Lockstep, rng: Random, rare: Collection[str]) -> None:
    """Take an action that is possible, a `rare` one a tenth as often, or change nothing."""
    idle, offers = run.stuttering_calls(), run.offers()
    if idle and rng.random() < 0.3:
        run.stutter(rng.choice(idle))
    elif offers:
        actions = sorted({call.action for call in offers})
        [action] = rng.choices(actions, [0.1 if name in rare else 1 for name in actions])
        run.take(rng.choice([call for call in offers if call.action == action]))

"""What should be logged, so that a search which gave up would have had less to do.

Measured where the search had the most candidates: how many of them would be left if a variable was
logged there, how many results of a step if an argument or the action was. Nothing is known of what
the log would have shown, so what is left is what a candidate has in common with the others, on
average.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from tlatrace.errors import EvaluationError
from tlatrace.matching.deadline import Clock, TimeIsUpError, time_limit
from tlatrace.matching.observation import Observation, fits, params_fit
from tlatrace.matching.observation import claimed_steps as steps_of
from tlatrace.matching.search import Search
from tlatrace.oracle import Step
from tlatrace.oracle.cached import CachedOracle
from tlatrace.oracle.states import ModelState

__all__ = ["what_to_log"]

_FEW: Final = 8
"""Candidates for one event that need no advice."""
_SAMPLE: Final = 500
_EVENTS: Final = 24
_STATES: Final = 6
_SHOWN: Final = 3
_WORTH: Final = 1.5
"""What leaves more than one of so many is not shown."""
_SECONDS: Final = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hint:
    """Something to log, and of how many one would be left on average."""

    what: str
    of: float


def what_to_log(oracle: CachedOracle, search: Search) -> str:
    """Say what would have cut off most candidates, "" if nothing that is known."""
    sizes = search.sizes()
    most = max(range(len(sizes)), key=sizes.__getitem__, default=0)
    if not sizes or sizes[most] < _FEW:
        return ""
    found: list[_Hint] = []
    with suppress(TimeIsUpError), time_limit(Clock(_SECONDS)):
        found += _variables(oracle, search, most + 1)
        found += _steps(oracle, search, most)
    best = sorted(found, key=lambda hint: -hint.of)
    shown = [f"{hint.what} (one of {hint.of:.1f})" for hint in best if hint.of >= _WORTH]
    if not shown:
        return ""
    where = f"{sizes[most]} candidates before step {most + 1}"
    return f"; the most are {where}; fewer would be left with {', '.join(shown[:_SHOWN])}"


def _variables(oracle: CachedOracle, search: Search, next_step: int) -> list[_Hint]:
    """Ask in how many groups the values of hidden variables divide the candidates."""
    seen = search.events[next_step - 1]
    known = {index for index, _ in seen.known}
    states = _some(search.candidates(next_step), _SAMPLE)
    found = []
    for at, name in enumerate(oracle.model.variables):
        if at not in known and seen.whole is None:
            found.append(_Hint(what=name, of=_divided([state[at] for state in states])))
    return found


def _steps(oracle: CachedOracle, search: Search, before: int) -> list[_Hint]:
    """Ask in how many groups arguments, or actions, divide the results of single steps."""
    shares: dict[str, list[float]] = {}
    asked: Counter[str | None] = Counter()
    for at in range(before, 0, -1):
        seen = search.events[at]
        asked[seen.event.action] += 1
        if asked[seen.event.action] > _EVENTS:
            continue
        for state in _some(search.candidates(at), _STATES):
            with suppress(EvaluationError):
                steps = _fitting(oracle, seen, state)
                for what, key in _keys(seen, steps):
                    shares.setdefault(what, []).append(_divided([key(step) for step in steps]))
    return [
        _Hint(what=what, of=sum(many) / len(many)) for what, many in shares.items() if len(many) > 1
    ]


def _fitting(oracle: CachedOracle, seen: Observation, state: ModelState) -> list[Step]:
    return [
        step
        for step in steps_of(oracle, seen, state)
        if params_fit(seen, step) and fits(oracle, seen, step.post)
    ]


def _keys(
    seen: Observation, steps: Sequence[Step]
) -> Iterable[tuple[str, Callable[[Step], Hashable]]]:
    """List what of a step is not logged, and how to tell it."""
    action = seen.event.action
    if action is not None and seen.all_params is not None:
        return
    if action is None:
        yield "the action of lines without one", lambda step: step.action
        return
    known = seen.params or (None,) * min([len(step.params) for step in steps], default=0)
    for at, given in enumerate(known):
        if given is None:
            number = "the argument" if len(known) == 1 else f"argument {at + 1}"
            yield f"{number} of {action}", _argument(at)


def _argument(at: int) -> Callable[[Step], Hashable]:
    return lambda step: step.params[at]


def _divided(keys: Sequence[Hashable]) -> float:
    """Return of how many one is left on average if the keys are known; 1 where all are alike."""
    if not keys:
        return 1.0
    return len(keys) ** 2 / sum([many**2 for many in Counter(keys).values()])


def _some(states: Sequence[ModelState], number: int) -> Sequence[ModelState]:
    """Take so many of the states from everywhere among them."""
    return states[:: max(1, len(states) // number)][:number]

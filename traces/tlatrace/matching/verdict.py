"""Verdicts on partial traces, in words: from what a search has seen."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Final

from tlatrace.errors import EvaluationError
from tlatrace.judgement.difference import Change
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, Verdict
from tlatrace.matching.concurrent import Concurrent, Stuck
from tlatrace.matching.deadline import Clock, TimeIsUpError, time_limit
from tlatrace.matching.hints import what_to_log
from tlatrace.matching.horizon import SearchAhead
from tlatrace.matching.observation import (
    Observation,
    changes_before,
    changes_from,
    claim,
    claimed_steps,
    fits_before,
    fits_earlier,
    params_fit,
)
from tlatrace.matching.search import Budget, Search, ViolatingCandidate
from tlatrace.oracle.cached import CachedOracle
from tlatrace.oracle.states import ModelState
from tlatrace.tlc.traces import Names
from tlatrace.trace import Silent

__all__ = ["concurrent_verdict", "search_verdict"]

_CANDIDATES_ASKED: Final = 64
_CHANGES_SHOWN: Final = 6
_ACTIONS_SHOWN: Final = 8
_ACTIONS_SECONDS: Final = 2.0
"""For listing what is possible instead: Next may have steps without end."""


def search_verdict(
    oracle: CachedOracle,
    names: Names,
    events: list[Observation],
    silent: Silent | None,
    budget: Budget,
) -> Verdict:
    """Search for an explanation of a trace, and say what came of it; `events` is not empty.

    Undecided names the first step whose candidates have no value, or the step at which the search
    gave up and how many candidates it had looked at.
    """
    clock = Clock(budget.seconds)
    ahead = SearchAhead(oracle, events, silent, budget, clock)
    violating: list[ViolatingCandidate] | None = None
    spent = ""
    try:
        with time_limit(clock):
            ahead.run()
            violating = _violating(oracle, silent, budget, ahead.answer, clock)
    except TimeIsUpError:
        spent = f"{budget.seconds:g} s and "
    search, found = ahead.answer, ahead.answer.found
    if found.reached == len(events):
        return Conforms(len(events))
    stuck = found.reached
    if found.gap is not None:
        return Undecided(f"step {found.gap.step}: {found.gap.reason}")
    if found.over_budget or spent:
        return Undecided(
            f"step {stuck}: gave up after {spent}{found.looked_at} candidates for what the trace "
            f"does not show; {len(search.candidates(stuck))} of them fit the events before this "
            f"step{what_to_log(oracle, search)}"
        )
    if found.cut and (silent is None or silent.most is None):
        return Undecided(
            f"step {stuck}: nothing explains it with {budget.silent} silent steps before an "
            "event, and the trace does not say that there are no more"
        )
    if violating is not None:
        return _violation(events[stuck], violating)
    return _divergence(oracle, names, search.events[stuck], search.candidates(stuck))


def concurrent_verdict(
    oracle: CachedOracle,
    names: Names,
    events: list[Observation],
    silent: Silent | None,
    budget: Budget,
) -> Verdict:
    """Search for an explanation of events in any order that they allow; `events` is not empty.

    It diverges if there is none in any order; the step reported is the earliest of those that
    could be next where the search came furthest.
    """
    found = _in_any_order(oracle, names, events, silent, budget)
    lost = [seen.event.clues.lost for seen in events if seen.event.clues.lost]
    if isinstance(found, Diverges) and lost:
        return Undecided(
            f"step {found.step}, {found.action}: expected {found.expected}; observed "
            f"{found.observed}; but lines are missing, perhaps, which would allow it: {lost[0]}"
        )
    return found


def _in_any_order(
    oracle: CachedOracle,
    names: Names,
    events: list[Observation],
    silent: Silent | None,
    budget: Budget,
) -> Verdict:
    clues = [seen.event.clues for seen in events]
    follows = [
        tuple(range(1, step)) if clue.follows is None else clue.follows
        for step, clue in enumerate(clues)
    ]
    found = _stuck(oracle, events, follows, silent, budget)
    if not isinstance(found, Stuck):
        return found
    surely = [follows[at] if clue.surely is None else clue.surely for at, clue in enumerate(clues)]
    if surely != follows:
        other = _stuck(oracle, events, surely, silent, budget)
        if isinstance(other, Conforms):
            return Undecided(
                f"step {found.explained + 1}: no order that the clocks allow explains it, but one "
                "that they rule out does; such clocks do not tell what was the cause of what"
            )
        if not isinstance(other, Stuck):
            return other
        found = other
    if not found.ready:
        return _divergence(oracle, names, events[0], [])
    seen = events[found.ready[0]]
    many = len(found.ready)
    where = "" if many == 1 else f", nor one of the {many - 1} that are concurrent with it"
    if found.violated:
        holds = " and ".join(sorted(found.violated))
        return Diverges(
            step=seen.event.step,
            action=seen.event.action,
            expected=f"an explanation in which {holds} holds",
            observed=f"none, in any order that the log allows{where}",
        )
    divergence = _divergence(oracle, names, seen, found.states)
    return replace(
        divergence, observed=f"{divergence.observed}; in any order that the log allows{where}"
    )


def _stuck(
    oracle: CachedOracle,
    events: list[Observation],
    follows: list[tuple[int, ...]],
    silent: Silent | None,
    budget: Budget,
) -> Verdict | Stuck:
    """Search once: what came of it, or what was seen where nothing explains the events."""
    clock = Clock(budget.seconds)
    search = Concurrent(oracle, events, follows, silent=silent, budget=budget, clock=clock)
    spent = ""
    try:
        with time_limit(clock):
            if search.explains():
                return Conforms(len(events))
    except TimeIsUpError:
        spent = f"{budget.seconds:g} s and "
    found = search.stuck
    if found.gap is not None:
        return Undecided(f"step {found.gap.step}: {found.gap.reason}")
    if found.over_budget or spent:
        return Undecided(
            f"gave up after {spent}{found.looked_at} states in orders that the log allows; at most "
            f"{found.explained} of {len(events) - 1} events were explained, and {len(found.ready)} "
            "could be next there"
        )
    if found.cut and (silent is None or silent.most is None):
        return Undecided(
            f"nothing explains it with {budget.silent} silent steps before an event, and the log "
            "does not say that there are no more"
        )
    return found


def _violating(
    oracle: CachedOracle,
    silent: Silent | None,
    budget: Budget,
    clean: Search,
    clock: Clock,
) -> list[ViolatingCandidate] | None:
    """Say where the explanations of the event that has no clean one are violated first.

    None if that event has no explanation at all.
    """
    found, events = clean.found, clean.events
    goal = found.reached + 1
    if goal > len(events) or found.over_budget:
        return None
    left = [one for one in found.violating.values() if one.next_step <= goal]
    at_once = [one for one in left if one.next_step == goal]
    if events[goal - 1].whole is not None and at_once:
        return at_once
    if at_once or not left:
        return left or None
    search = Search(
        oracle,
        events[:goal],
        silent=silent,
        budget=budget,
        check_invariants=False,
        apart_from=clean,
        clock=clock,
    )
    return left if search.from_violating(left, goal).reached == goal else None


def _violation(seen: Observation, violating: list[ViolatingCandidate]) -> Diverges:
    """Say that no explanation of an event is free of violations, which begin at `violating`."""
    names = sorted({name for one in violating for name in one.violated})
    if seen.whole is not None and all(one.next_step == seen.event.step + 1 for one in violating):
        expected = f"a state in which {' and '.join(names)} holds"
        observed = f"a state that violates {', '.join(names)}"
    else:
        expected = f"an explanation in which {' and '.join(names)} holds"
        observed = f"that each goes through a state that violates {' or '.join(names)}"
    return Diverges(
        step=seen.event.step, action=seen.event.action, expected=expected, observed=observed
    )


def _divergence(
    oracle: CachedOracle, names: Names, seen: Observation, candidates: list[ModelState]
) -> Diverges:
    if not candidates:
        return Diverges(
            step=0,
            action=seen.event.action,
            expected=f"a state that {names.init} of {names.module} allows",
            observed=_nearest_initial(oracle, seen),
        )
    what = f"of {names.module} that is {claim(seen)}"
    if seen.event.action is None:
        what = f"that {names.next} of {names.module} allows"
    expected = f"a step {what}"
    if len(candidates) > 1 or seen.whole is None:
        expected += f", from {_that_explain(len(candidates))} the events before it"
    return Diverges(
        step=seen.event.step,
        action=seen.event.action,
        expected=expected,
        observed=_nearest_result(oracle, seen, candidates),
    )


def _nearest_initial(oracle: CachedOracle, seen: Observation) -> str:
    if seen.whole is not None:
        return "another initial state"
    states = oracle.model.initial_states()
    if not states:
        return "that there is none"
    nearest = min([changes_from(oracle, seen, state) for state in states], key=len)
    return f"{_texts(nearest)} (the nearest of {_count(len(states), 'state')} -> the trace)"


def _nearest_result(oracle: CachedOracle, seen: Observation, candidates: list[ModelState]) -> str:
    """Say how the results of the event's action differ from it, or what is possible instead."""
    asked = candidates[:_CANDIDATES_ASKED]
    fitting = [
        state
        for state in asked
        if fits_before(oracle, seen, state)
        and (not seen.earlier or fits_earlier(oracle, seen, state))
    ]
    if not fitting:
        wrong = min([changes_before(oracle, seen, state) for state in asked], key=len)
        return (
            f"before it, {_texts(wrong)} (the nearest of {_count(len(asked), 'state')} -> the log)"
        )
    results: dict[ModelState, ModelState] = {}
    """Result -> the state before it."""
    for state in fitting:
        with suppress(EvaluationError):
            for step in claimed_steps(oracle, seen, state):
                if params_fit(seen, step):
                    results.setdefault(step.post, state)
    if not results:
        return f"no such step is possible{_instead(oracle, fitting)}"
    nearest = min([changes_from(oracle, seen, *pair) for pair in results.items()], key=len)
    some = "" if len(asked) == len(candidates) else f" from {len(asked)} of them"
    results_text = _count(len(results), "result")
    if not nearest:
        return f"other arguments in each of {results_text}{some}"
    return f"{_texts(nearest)} (the nearest of {results_text}{some} -> the trace)"


def _instead(oracle: CachedOracle, states: list[ModelState]) -> str:
    """Name the actions that are possible in some state; those that are found in time."""
    possible: set[str] = set()
    with suppress(TimeIsUpError), time_limit(Clock(_ACTIONS_SECONDS)):
        for state in states:
            with suppress(EvaluationError):
                possible.update([step.action for step in oracle.successors(state)])
    shown = sorted(possible)[:_ACTIONS_SHOWN]
    more = f" and {len(possible) - len(shown)} more" if len(possible) > len(shown) else ""
    return f"; possible are {', '.join(shown)}{more}" if shown else ""


def _texts(changes: tuple[Change, ...]) -> str:
    """Write the first changes; there are some, or the state would have fitted."""
    shown = [change.text() for change in changes[:_CHANGES_SHOWN]]
    if len(changes) > len(shown):
        shown.append(f"and {len(changes) - len(shown)} more")
    return "; ".join(shown)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _that_explain(number: int) -> str:
    one, many = "the one state that explains", f"one of the {number} states that explain"
    return one if number == 1 else many

"""Events of which the order is not known altogether."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations
from random import Random

import pytest

from tests.traces.matching.test_against_naive_search import partial_trace
from tests.traces.matching.toy import ToyModel, counters, lock_server
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, Verdict
from tlatrace.matching import Budget, match_traces
from tlatrace.trace import Clues, Event, Header, Part, Silent, Trace

CASES = 120


def loosened(rng: Random, trace: Trace) -> Trace:
    """Spread the events over nodes, and forget the order of the nodes but for some of it."""
    nodes: dict[int, int] = {}
    events = [trace.events[0]]
    for event in trace.events[1:]:
        node = rng.randrange(3)
        follows = [nodes[node]] if node in nodes else []
        if event.step > 1 and rng.random() < 0.4:
            other = rng.randrange(1, event.step)
            follows += [] if other in follows else [other]
        nodes[node] = event.step
        events.append(replace(event, clues=Clues(follows=tuple(follows))))
    return replace(trace, events=tuple(events))


def orders(trace: Trace) -> list[Trace]:
    """List the trace in each order that it allows."""
    found: list[Trace] = []
    for order in permutations(trace.events[1:]):
        done: set[int] = set()
        for event in order:
            if not done.issuperset(event.clues.follows or ()):
                break
            done.add(event.step)
        else:
            steps = [
                replace(event, step=step, clues=Clues())
                for step, event in enumerate([trace.events[0], *order])
            ]
            found.append(replace(trace, events=tuple(steps)))
    return found


@pytest.mark.parametrize(
    "model",
    [
        counters(Apart=lambda state: state["left"] != state["right"] or state["left"] == 0),
        lock_server(),
        lock_server(Cheap=lambda state: state["token"] in (0, 1, 2)),
    ],
    ids=["apart", "lock server", "cheap"],
)
def test_it_finds_what_all_orders_one_by_one_find(model: ToyModel) -> None:
    rng = Random(model.module + "".join(model.invariants) + "orders")
    kinds: Counter[str] = Counter()
    while sum(kinds.values()) < CASES:
        trace = partial_trace(model, rng)
        if not 3 <= len(trace.events) <= 6:
            continue
        trace = loosened(rng, trace)
        one_by_one = match_traces(model, orders(trace))
        (found,) = match_traces(model, [trace])
        kinds[type(found).__name__] += 1
        expected = Conforms if any(isinstance(v, Conforms) for v in one_by_one) else Diverges
        assert isinstance(found, expected), (trace, found)

    assert min(kinds["Conforms"], kinds["Diverges"]) > CASES // 20, kinds


def judge(model: ToyModel, *events: tuple[str, Clues], **given: Silent | Budget) -> Verdict:
    """Judge events that show nothing but their actions."""
    silent, budget = given.get("silent"), given.get("budget")
    steps = [Event(step=0, action="Init")]
    steps += [
        Event(step=at, action=action, known_params=() if action != "Expire" else None, clues=clues)
        for at, (action, clues) in enumerate(events, start=1)
    ]
    assert silent is None or isinstance(silent, Silent)
    trace = Trace(header=Header(spec=model.module, silent=silent), events=tuple(steps))
    if isinstance(budget, Budget):
        return match_traces(model, [trace], budget=budget)[0]
    return match_traces(model, [trace])[0]


FREE = Clues(follows=())


def test_an_event_may_have_happened_before_one_that_stands_before_it() -> None:
    assert judge(lock_server(), ("Grant", FREE), ("Request", FREE)) == Conforms(3)


def test_what_a_clock_orders_stays_in_order() -> None:
    found = judge(lock_server(), ("Grant", FREE), ("Request", Clues(follows=(1,))))

    assert isinstance(found, Diverges)
    assert found.step == 1
    assert found.observed.endswith("in any order that the log allows")


def test_a_divergence_says_how_many_events_were_concurrent() -> None:
    found = judge(lock_server(), ("Grant", FREE), ("Release", FREE), ("Expire", FREE))

    assert isinstance(found, Diverges)
    assert found.observed.endswith("nor one of the 2 that are concurrent with it")


def test_an_order_that_lamport_clocks_rule_out_is_no_divergence() -> None:
    ruled_out = Clues(follows=(1,), surely=())
    events = [("Grant", Clues(follows=(), surely=())), ("Request", ruled_out)]

    found = judge(lock_server(), *events)

    assert isinstance(found, Undecided)
    assert "one that they rule out does" in found.reason
    assert isinstance(judge(lock_server(), *events, ("Grant", ruled_out)), Diverges)


def test_silent_steps_are_searched_for_between() -> None:
    events = [("Grant", FREE), ("Request", FREE), ("Request", FREE), ("Grant", Clues(follows=(1,)))]

    assert isinstance(judge(lock_server(), *events), Diverges)
    for most, verdict in ((0, Diverges), (1, Conforms), (None, Conforms)):
        silent = Silent(actions=("Expire",), most=most)
        assert isinstance(judge(lock_server(), *events, silent=silent), verdict)
    late = Silent(actions=("Expire",), most=1, only_before={"Expire": frozenset(["Request"])})
    assert isinstance(judge(lock_server(), *events, silent=late), Conforms)
    never = Silent(actions=("Expire",), most=1, only_before={"Expire": frozenset(["Expire"])})
    assert isinstance(judge(lock_server(), *events, silent=never), Diverges)


def test_silent_steps_without_a_number_leave_it_undecided() -> None:
    seven = Clues(follows=(), before=(Part(variable="left", at=(), value=7),))

    found = judge(counters(), ("Right", seven), silent=Silent(actions=("Left",)))

    assert isinstance(found, Undecided)
    assert found.reason.startswith("nothing explains it with 6 silent steps before an event")
    seven_steps = Silent(actions=("Left",), most=7)
    assert judge(counters(), ("Right", seven), silent=seven_steps) == Conforms(2)


def test_a_search_that_gives_up_says_how_far_it_came() -> None:
    never = Clues(follows=(), before=(Part(variable="left", at=(), value=7),))
    events = [("Right", FREE)] * 6 + [("Left", FREE), ("Left", never)]

    found = judge(counters(), *events, budget=Budget(states=5, states_per_event=1))

    assert isinstance(found, Undecided)
    assert "at most 7 of 8 events were explained, and 1 could be next there" in found.reason
    assert isinstance(judge(counters(), *events), Diverges)


def test_an_invariant_that_each_explanation_violates_diverges() -> None:
    model = lock_server(Free=lambda state: state["token"] == 0)

    found = judge(model, ("Grant", FREE), ("Request", FREE))

    assert isinstance(found, Diverges)
    assert found.expected == "an explanation in which Free holds"


def test_a_value_that_is_missing_leaves_it_undecided() -> None:
    model = counters()
    model.fails_at = lambda _state, action: action == "Both"

    assert isinstance(judge(model, ("Both", FREE), ("Left", FREE)), Undecided)


def test_an_end_that_nobody_understands_leaves_all_of_it_undecided() -> None:
    events = (("Grant", FREE), ("Fly", FREE))

    assert judge(lock_server(), *events) == Undecided("step 2: LockServer has no action Fly")

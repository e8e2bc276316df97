"""A search by machine code finds what that of the compiled model finds, or knows nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

from tests.traces.explore.test_native_space import PYTHONS
from tlatrace.explore import CheckedModel, Images, check_model, explore, images_of, native_search
from tlatrace.explore.native_search import NativeSearch, check_natively
from tlatrace.explore.native_space import NotSure
from tlatrace.oracle import Model, Step, load_model
from tlatrace.runtime.words import searching
from tlatrace.selfcheck.subjects import Subject, packaged_subjects
from tlatrace.tla.config import parse_config
from tlatrace.tools.tlc import run_tlc
from tlatrace.tools.tlc_output import Outcome

pytestmark = pytest.mark.java

SUBJECTS: Final = [one for one in packaged_subjects() if one.name not in PYTHONS]
GUESTS: Final = r"""---- MODULE Guests ----
EXTENDS Naturals, FiniteSets, TLC
CONSTANT Guest
VARIABLES seats, turn, noted
Init == seats = [g \in Guest |-> {}] /\ turn \in {0, 1} /\ noted = <<>>
Sit(g, n) == /\ n \notin UNION {seats[h] : h \in Guest}
             /\ seats' = [seats EXCEPT ![g] = @ \union {n}]
             /\ turn' = 1 - turn
             /\ noted' = IF Cardinality(seats[g]) = 1 THEN <<g>> ELSE noted
Rise(g) == seats[g] # {} /\ seats' = [seats EXCEPT ![g] = {}] /\ UNCHANGED <<turn, noted>>
Wait == turn = 1 /\ UNCHANGED <<seats, turn, noted>>
Next == (\E g \in Guest, n \in 1..3 : Sit(g, n)) \/ (\E g \in Guest : Rise(g)) \/ Wait \/ Wait
Seating == \E g \in Guest, n \in 1..3 : Sit(g, n)
Sitting == Cardinality({g \in Guest : seats[g] # {}})
Symmetry == Permutations(Guest)
Few == Sitting < 3
Spread == \A g \in Guest : Cardinality(seats[g]) < 3
None == Sitting < 0
Known == noted = <<>> \/ noted[1] \in Guest
Narrow == \A g \in Guest : 3 \notin seats[g]
Slow == turn' = 1 \/ seats' # seats
Lasting == \A g \in Guest : seats[g] \subseteq seats'[g]
Turns == [][turn' = turn \/ seats' # seats]_<<seats, turn, noted>>
Starts == Init /\ Turns
Wrong == (turn = 0) /\ Turns
Keeps == [][noted' = noted]_noted
Stays == [][seats' = seats]_<<turn, noted>>
Calm == [][turn < 1 \/ noted' = noted]_<<seats, turn, noted>>
Lives == Turns /\ <>(turn = 1)
Always == [](turn < 2)
Everything == <<seats, turn, noted>>
Swapped == <<turn, noted, seats>>
Seats == <<seats, noted>>
Turn == turn
UnsureView == CHOOSE n \in {1, 2} : n > turn - 1
Unsure == turn < 1 \/ (CHOOSE n \in {1, 2} : n > 0) = 1
UnsureStep == turn' < 1 \/ (CHOOSE n \in {1, 2} : n > 0) = 1
UnsureProperty == [][UnsureStep]_turn
Sum[n \in 0..9] == IF n = 0 THEN 0 ELSE n + Sum[n - 1]
Sums == [][Sum[turn'] # Sum[turn]]_turn
Summed == Sum[0] = 0 /\ Turns /\ [](Sum[turn] < 2)
Zero == Sum[0 * turn] = 0
====
"""


VIEWS: Final = {"Everything": 1, "Swapped": 1, "Seats": 2, "Turn": 120, "UnsureView": 0}
"""Views, and how many times fewer states they leave at least."""


def guests(
    folder: Path,
    config: str,
    *,
    expressions: tuple[str, ...] = (),
    properties: tuple[str, ...] = (),
    stuck: bool = False,
) -> Model:
    module = folder / "Guests.tla"
    module.write_text(GUESTS, "utf-8")
    text = "CONSTANT Guest = {g1, g2, g3} g1 = g1 g2 = g2 g3 = g3 INIT Init NEXT "
    text += f"{'Seating' if stuck else 'Next'} {config}"
    return load_model(
        module,
        parse_config(text, module),
        native=True,
        kept=False,
        expressions=expressions,
        properties=properties,
    )


def both(
    model: Model, *, images: Images | None = None, view: str | None = None, **limits: Any
) -> CheckedModel:
    """Search by the model and by machine code.

    The answers are the same, but for what depends on the order of steps where a search ends early.
    """
    viewed = None if view is None else partial(model.evaluate, view)
    broken = model.broken if model.properties else None
    expected = check_model(model, images=images, view=viewed, broken=broken, **limits)
    permutations = () if images is None else images.permutations
    found = check_natively(model, permutations=permutations, view=view, **limits)
    if found.outcome is Outcome.SUCCESS:
        assert replace(found, actions=(), sample=()) == expected
        is_untaken = not all(one.generated for one in found.actions)
        assert len(found.sample) == min(found.distinct, 500) * is_untaken
        assert sum(one.generated for one in found.actions) == found.generated
        assert sum(one.new for one in found.actions) == found.distinct
    assert (found.outcome, found.violated, found.message, len(found.path)) == (
        *(expected.outcome, expected.violated, expected.message),
        len(expected.path),
    )
    for before, after in pairwise(found.path):
        assert after.action is not None
        step = Step(after.action, after.params, after.state)
        assert step in model.successors(before.state)
    if found.path:
        assert found.path[0].state in model.initial_states()
    return found


def symmetric(folder: Path, config: str) -> tuple[Model, Images]:
    model = guests(folder, config, expressions=("Symmetry", *VIEWS))
    return model, images_of(model.evaluate("Symmetry"), "Symmetry")


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_searches_of_the_packaged_specifications_agree(subject: Subject) -> None:
    model = load_model(subject.module, subject.config, native=True)
    for deadlock in (True, False):
        found = both(model, deadlock=deadlock, max_states=500)
        assert found.generated > 1


@pytest.mark.parametrize(
    "config",
    [
        "INVARIANT Known",
        "INVARIANTS Known Spread CONSTRAINT Few",
        "INVARIANT Known CONSTRAINTS Few Narrow",
        "INVARIANT Known ACTION_CONSTRAINT Slow",
        "INVARIANTS Known Few ACTION_CONSTRAINTS Slow Lasting CONSTRAINT Few",
        "INVARIANT Spread CONSTRAINT Narrow",
        "INVARIANT Narrow",
        "INVARIANTS Few Spread",
        "INVARIANT Few ACTION_CONSTRAINT Lasting",
    ],
)
def test_constraints_invariants_and_symmetry_agree(tmp_path: Path, config: str) -> None:
    model, images = symmetric(tmp_path, config)
    plain = both(model, deadlock=False)
    few = both(model, deadlock=False, images=images)
    assert len(images) == 5
    assert few.outcome is plain.outcome
    if plain.outcome is Outcome.SUCCESS:
        assert plain.distinct / 6 < few.distinct < plain.distinct
        assert few.depth == plain.depth


@pytest.mark.parametrize("config", ["", "CONSTRAINT Few", "ACTION_CONSTRAINT Slow"])
def test_the_steps_of_each_action_are_counted_as_the_model_lists_them(
    tmp_path: Path, config: str
) -> None:
    model = guests(tmp_path, config)
    found = both(model, deadlock=False)
    states = explore(model).states
    listed = Counter([step.action for state in states for step in model.successors(state)])
    listed["Init"] = len(model.initial_states())
    assert {one.action: one.generated for one in found.actions} == listed
    assert sum(one.new for one in found.actions) == found.distinct > 2


LIFT: Final = r"""---- MODULE Lift ----
EXTENDS Naturals
VARIABLES floor, open
Init == floor = 0 /\ open \in BOOLEAN
Rise(n) == ~open /\ floor < n /\ floor' = n /\ UNCHANGED open
Open(n) == ~open /\ open' = (n > 0) /\ UNCHANGED floor
Shut == open /\ open' = FALSE /\ UNCHANGED floor
Fall(n) == floor > 9 /\ floor' = n /\ UNCHANGED open
Jump(n) == Fall(n) \/ (floor > n /\ floor' = n /\ UNCHANGED open)
Next == \/ \E n \in 1..5 : Rise(n)
        \/ \E n \in 1..2 : Open(n)
        \/ Shut
        \/ \E n \in 6..8 : Jump(n)
        \/ floor = 3 /\ floor' = 0 /\ UNCHANGED open
Low == floor < 5
====
"""


def test_actions_are_counted_as_tlc_counts_them(tmp_path: Path) -> None:
    module, config = tmp_path / "Lift.tla", tmp_path / "Lift.cfg"
    module.write_text(LIFT)
    config.write_text("INIT Init NEXT Next CONSTRAINT Low")
    run = run_tlc(module, config, extra_args=["-coverage", "1"])
    last = run.output[run.output.rindex("coverage statistics") :]
    tlc = re.findall(r"^<(\w+) line [^>]+>: (\d+):(\d+)$", last, re.MULTILINE)

    found = check_natively(load_model(module, config, native=True, kept=False), deadlock=False)
    assert sorted([(one.action, str(one.new), str(one.generated)) for one in found.actions]) == (
        sorted(tlc)
    )
    never = [one.action for one in found.actions if one.generated == 0]
    assert never == ["Fall", "Jump"]
    assert len(tlc) == len(found.actions) > len(never)


def test_both_outcomes_are_among_those_compared(tmp_path: Path) -> None:
    holds = both(guests(tmp_path, "INVARIANT Known"), deadlock=False)
    falls = both(guests(tmp_path, "INVARIANT Few CONSTRAINT Few"), deadlock=False)
    assert (holds.outcome, holds.distinct > 300) == (Outcome.SUCCESS, True)
    assert (falls.outcome, falls.violated, len(falls.path)) == (Outcome.INVARIANT, "Few", 4)


def test_a_deadlock_is_one_where_it_is_wanted(tmp_path: Path) -> None:
    model, images = symmetric(tmp_path, "INVARIANT Known")
    assert both(model, images=images).outcome is Outcome.SUCCESS
    full = guests(tmp_path, "INVARIANT Known", stuck=True)
    assert both(full, deadlock=True).outcome is Outcome.DEADLOCK
    assert both(full, deadlock=False).outcome is Outcome.SUCCESS


@pytest.mark.parametrize(
    "config",
    [
        "INVARIANT Unsure",
        "INVARIANTS Known Unsure",
        "INVARIANTS Unsure Known",
        "CONSTRAINT Unsure",
        "ACTION_CONSTRAINT UnsureStep",
    ],
)
def test_what_is_not_sure_is_no_answer(tmp_path: Path, config: str) -> None:
    with pytest.raises(NotSure, match="something has no value"):
        check_natively(guests(tmp_path, config), deadlock=False)


def test_an_invariant_that_is_not_sure_is_none_where_another_one_is_false(tmp_path: Path) -> None:
    with pytest.raises(NotSure, match="something has no value"):
        check_natively(guests(tmp_path, "INVARIANTS None Unsure"), deadlock=False)


@pytest.mark.parametrize(
    ("properties", "config", "broken", "length"),
    [
        (("Turns", "Starts"), "", None, 0),
        (("Turns", "Keeps"), "INVARIANT Known", "Keeps", 3),
        (("Stays",), "", "Stays", 2),
        (("Starts", "Wrong"), "INVARIANT Known", "Wrong", 1),
        (("Keeps",), "INVARIANT Few CONSTRAINT None", None, 0),
        (("Keeps",), "CONSTRAINT Few", "Keeps", 3),
        (("Stays",), "ACTION_CONSTRAINT None", "Stays", 2),
        (("Calm",), "CONSTRAINT Few", "Calm", 3),
    ],
)
def test_properties_of_steps_and_initial_states_agree(
    tmp_path: Path, properties: tuple[str, ...], config: str, broken: str | None, length: int
) -> None:
    model = guests(tmp_path, config, properties=properties, expressions=("Symmetry",))
    assert model.properties == properties
    images = images_of(model.evaluate("Symmetry"), "Symmetry")
    for one in (None, images):
        found = both(model, deadlock=False, images=one)
        assert (found.violated, len(found.path)) == (broken, length)
        wanted = Outcome.SUCCESS if broken is None else Outcome.ACTION_PROPERTY
        assert found.outcome is wanted or found.distinct == 0


def test_a_property_that_says_more_or_is_not_sure_is_no_answer(tmp_path: Path) -> None:
    model = guests(tmp_path, "", properties=("Lives", "Turns", "Always", "Missing"))
    assert (model.properties, model.invariants) == (("Turns", "Always"), ("Always",))
    with pytest.raises(NotSure, match="something has no value"):
        check_natively(guests(tmp_path, "", properties=("UnsureProperty",)), deadlock=False)


def test_a_property_that_is_not_written_is_named_and_not_asked(tmp_path: Path) -> None:
    names = ("Summed", "Always", "Sums", "Turns")
    model = guests(tmp_path, "INVARIANT Known", properties=names)
    assert model.invariants == ("Known", "Summed", "Always")
    found = check_natively(model, deadlock=False)
    assert (found.outcome, found.unasked) == (Outcome.SUCCESS, ("Summed", "Sums"))
    broken = guests(tmp_path, "INVARIANT Known", properties=("Summed", "Keeps"))
    assert check_natively(broken, deadlock=False).violated == "Keeps"
    assert both(guests(tmp_path, "", properties=("Turns",)), deadlock=False).unasked == ()


@pytest.mark.parametrize("properties", [(), ("Zero",)])
def test_an_invariant_that_is_not_written_is_never_left_out(
    tmp_path: Path, properties: tuple[str, ...]
) -> None:
    model = guests(tmp_path, "INVARIANT Zero", properties=properties)
    assert model.properties == properties
    with pytest.raises(NotSure, match="invariant Zero: "):
        check_natively(model, deadlock=False)


@pytest.mark.parametrize("view", [view for view, fewer in VIEWS.items() if fewer])
def test_states_with_the_same_view_count_once(tmp_path: Path, view: str) -> None:
    model, images = symmetric(tmp_path, "INVARIANT Known")
    whole = both(model, deadlock=False).distinct
    viewed = both(model, deadlock=False, view=view).distinct
    assert (viewed == whole) if VIEWS[view] == 1 else (viewed * VIEWS[view] <= whole)
    assert both(model, deadlock=False, view=view, images=images).distinct <= viewed


def test_a_view_that_is_not_sure_or_says_nothing_is_no_answer(tmp_path: Path) -> None:
    model, images = symmetric(tmp_path, "INVARIANT Known")
    for permutations in ((), images.permutations):
        with pytest.raises(NotSure, match="something has no value"):
            check_natively(model, view="UnsureView", permutations=permutations)
    with pytest.raises(NotSure, match="it is no expression of a state"):
        check_natively(model, view="Symmetry")


def test_what_does_not_fit_is_no_answer(tmp_path: Path) -> None:
    model, images = symmetric(tmp_path, "INVARIANT Known")
    for table, nodes in ((1 << 6, 1 << 20), (1 << 16, 1 << 9), (1 << 8, 1 << 20)):
        for permutations in ((), images.permutations):
            with pytest.raises(NotSure, match="do not fit into memory"):
                run(NativeSearch(model, permutations=permutations, table=table, nodes=nodes))


def test_steps_that_do_not_fit_into_the_list_are_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = guests(tmp_path, "INVARIANT Known")
    for words, fits in ((8, False), (64, True)):
        monkeypatch.setattr(native_search, "_LIST", words)
        if fits:
            assert both(model, deadlock=False).outcome is Outcome.SUCCESS
        else:
            with pytest.raises(NotSure, match="do not fit into memory"):
                check_natively(model, deadlock=False)


def run(search: NativeSearch) -> int:
    search.begin()
    for _ in range(1000):
        answer = search.go_on(None)
        if answer != searching.MORE_TO_DO:
            return answer
    raise AssertionError("the search does not end")


def test_limits_are_no_success(tmp_path: Path) -> None:
    model = guests(tmp_path, "INVARIANT Known")
    ticks: Iterator[float] = iter(range(100))
    by_time = check_natively(model, deadlock=False, timeout_s=0, clock=lambda: next(ticks))
    by_states = check_natively(model, deadlock=False, max_states=100)
    assert (by_time.outcome, by_states.outcome) == (Outcome.TIMEOUT, Outcome.TIMEOUT)
    assert "after 0 s" in by_time.message
    assert "more than 100 states" in by_states.message


def test_zero_states_are_no_success(tmp_path: Path) -> None:
    found = both(guests(tmp_path, "CONSTRAINT None"), deadlock=False)
    assert found.outcome is Outcome.EVALUATION_ERROR
    assert "no initial state" in found.message


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    model = guests(tmp_path, "INVARIANT Known")
    found = check_natively(model, deadlock=False, on_progress=lambda *seen: told.append(seen))
    assert told[-1] == (found.distinct, found.distinct)


def test_tables_grow_and_what_is_remembered_is_lost_at_no_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, small in (("_SEEN", 4), ("_IMAGES", 2), ("_TAKEN", 1)):
        monkeypatch.setattr(native_search, name, small)
    model, images = symmetric(tmp_path, "INVARIANT Known ACTION_CONSTRAINT Slow CONSTRAINT Few")
    assert both(model, deadlock=False).distinct > 100
    assert both(model, deadlock=False, images=images).distinct > 20

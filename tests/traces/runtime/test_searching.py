"""The search in flat Python, run by Python, of a model that is written here."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.traces.runtime.word_array import SIZE, STACK, WordArray, python_array
from tlatrace.runtime.values import model_value
from tlatrace.runtime.words import asked, layout, searching, steps

ROOM = SIZE
LIST = ROOM + 4_000
STATES = LIST + 1_000
TAKEN = STATES + 1_000
SEEN = TAKEN + 4_096
END = SEEN + 2 * 4 * 512
AFTER = ROOM + 100
ACTIONS = ROOM + 200
LIMIT = 4
"""States are pairs of numbers below."""


def both_grow(s: int, _t: int, _p: int) -> int:
    """List the steps of a pair: the left number grows, under two labels; or the right one does."""
    left, right = layout.mem[s], layout.mem[s + 1]
    for label, arguments, post in (
        (0, (), (left + 8, right)),
        (1, (8,), (left + 8, right)),
        (1, (8,), (left + 8, right)),
        (2, (), (left, right + 8)),
    ):
        if max(post) < LIMIT << 3:
            steps.list_word(label)
            for word in arguments:
                steps.list_word(word)
            layout.mem[AFTER : AFTER + 2] = post
            steps.list_state(AFTER, 2)
    return 1


def starts(_s: int, _t: int, _p: int) -> int:
    steps.list_word(0)
    layout.mem[AFTER : AFTER + 2] = [0, 0]
    steps.list_state(AFTER, 2)
    return 1


def searched(
    monkeypatch: pytest.MonkeyPatch,
    *,
    deadlock: bool = False,
    viewed: bool = False,
    **answers: Callable[..., int],
) -> tuple[WordArray, int]:
    given = {
        "asked_initials": starts,
        "asked_steps": both_grow,
        "asked_arity": lambda label: int(label == 1),
        "asked_invariants": lambda _s, _p: 1,
        "asked_constraints": lambda _s, _p: 1,
        "asked_properties": lambda _s, _t, _p: 1,
        "asked_initial_properties": lambda _s, _p: 1,
        "asked_view": lambda s, _p: layout.mem[s] + layout.mem[s + 1],
        "asked_step": lambda _s, _t, _p: 1,
    }
    for name, answer in (given | answers).items():
        monkeypatch.setattr(searching, name, answer)
    array = python_array()
    layout.mem.extend([0] * (END - SIZE))
    for place, word in (
        (searching.FOUND_MOST, 100),
        (searching.STATES, STATES),
        (searching.TAKEN, TAKEN),
        (searching.SEEN, SEEN),
        (searching.SEEN_MASK, 1),
        (searching.SEEN_END, END),
        (searching.LIST, LIST),
        (searching.BOTTOM, STACK),
        (searching.AFTER, AFTER),
        (searching.ACTIONS, ACTIONS),
        (searching.DEADLOCK, int(deadlock)),
        (searching.VIEWED, int(viewed)),
    ):
        layout.mem[ROOM + place] = word
    layout.mem[layout.LISTED_END] = LIST + 1_000
    began = searching.begin(ROOM)
    return array, searching.search(1_000, 1_000, ROOM) if began == 1 else began


def own(name: int) -> int:
    return layout.mem[ROOM + name]


def state(number: int, array: WordArray) -> object:
    return array.value(layout.mem[STATES + 2 * number])


def test_states_are_counted_once_and_steps_once_for_each_label(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    array, answer = searched(monkeypatch)
    assert answer == searching.ALL_SEEN
    assert own(searching.FOUND) == own(searching.EXPANDED) == LIMIT**2
    assert own(searching.GENERATED) == 1 + 3 * LIMIT * (LIMIT - 1)
    assert own(searching.LEVEL) == 2 * LIMIT - 1
    counts = layout.mem[ACTIONS : ACTIONS + 6]
    steps_of = LIMIT * (LIMIT - 1)
    assert counts[::2] == [1 + steps_of, steps_of, steps_of]
    assert counts[1::2] == [LIMIT**2 - counts[5], 0, counts[5]]
    assert {state(number, array) for number in range(LIMIT**2)} == {
        (left, right) for left in range(LIMIT) for right in range(LIMIT)
    }


def test_a_violation_is_the_first_one_with_the_state_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    array, answer = searched(
        monkeypatch, asked_invariants=lambda s, _p: int(sum(layout.mem[s : s + 2]) < 3 << 3)
    )
    assert answer == searching.VIOLATED
    assert sum(array.value(own(searching.VIOLATING))) == 3  # type: ignore[arg-type]
    assert sum(state(own(searching.VIOLATING_SOURCE), array)) == 2  # type: ignore[call-overload]


def test_a_broken_property_is_noted_with_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    array, answer = searched(
        monkeypatch, asked_properties=lambda s, t, _p: int(layout.mem[t] <= layout.mem[s])
    )
    assert (answer, own(searching.BROKEN)) == (searching.VIOLATED, 1)
    assert array.value(own(searching.VIOLATING)) == (1, 0)
    array, answer = searched(monkeypatch, asked_initial_properties=lambda _s, _p: 0)
    assert (answer, own(searching.BROKEN)) == (searching.VIOLATED, 1)
    assert own(searching.VIOLATING_SOURCE) == -1


def test_constraints_leave_states_and_steps_out_and_invariants_are_asked_of_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[tuple[int, int]] = []

    def note(s: int, _p: int) -> int:
        seen.append((layout.mem[s] >> 3, layout.mem[s + 1] >> 3))
        return 1

    _, answer = searched(
        monkeypatch,
        asked_invariants=note,
        asked_constraints=lambda s, _p: int(layout.mem[s] < 2 << 3),
        asked_step=lambda _s, t, _p: int(layout.mem[t + 1] == 0),
    )
    assert answer == searching.ALL_SEEN
    assert own(searching.FOUND) == 2
    assert sorted(seen) == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]


def test_a_deadlock_ends_the_search_where_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    array, answer = searched(monkeypatch, deadlock=True)
    assert answer == searching.DEADLOCKED
    assert state(own(searching.EXPANDED), array) == (LIMIT - 1, LIMIT - 1)


@pytest.mark.parametrize("name", [one for one in asked.__all__ if one != "asked_arity"])
def test_what_is_not_sure_ends_the_search(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    _, answer = searched(monkeypatch, viewed=True, **{name: getattr(asked, name)})
    assert answer == searching.NOT_SURE


def test_states_with_the_same_view_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    _, answer = searched(monkeypatch, viewed=True)
    assert answer == searching.ALL_SEEN
    assert own(searching.FOUND) == own(searching.LEVEL) == 2 * LIMIT - 1


def test_a_full_table_of_what_was_seen_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "END", SEEN + 40)
    _, answer = searched(monkeypatch)
    assert answer == searching.NOT_SURE
    assert layout.mem[layout.FULL] == 1


def test_the_least_image_of_a_state_is_the_same_for_all_its_images() -> None:
    array = python_array()
    layout.mem.extend([0] * 200)
    one, two = model_value("one"), model_value("two")
    words = [array.word(one), array.word(two)]
    layout.mem[ROOM : ROOM + 2] = words[::-1]
    q = ROOM + 10
    for place, word in (
        (searching.PERMUTATIONS, ROOM),
        (searching.PERMUTATIONS_END, ROOM + 2),
        (searching.PERMUTATION_SIZE, 2),
        (searching.IMAGES, ROOM + 60),
        (searching.IMAGES_MASK, 7),
    ):
        layout.mem[q + place] = word
    for left, right, alike in (
        ((1, one, frozenset([two])), (1, two, frozenset([one])), True),
        ((1, one, ((one, 2),)), (1, two, ((two, 2),)), True),
        ((1, one, ((one, 2),)), (1, two, ((one, 2),)), False),
        ((frozenset([one, two]), "a"), (frozenset([one, two]), "b"), False),
    ):
        first, second = [searching.representative(array.word(value), q) for value in (left, right)]
        assert (first == second) == alike
        assert array.value(first) in (left, right) or not alike
        assert layout.mem[layout.STACK] == STACK

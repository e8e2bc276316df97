"""A map that is followed by another one is a dictionary, and stays what it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rocketha.nameserver.sharded_map import ShardedMap

NAMES = st.sampled_from([f"name-{number}" for number in range(8)])
CHANGES = st.lists(st.tuples(NAMES, st.none() | st.integers(0, 3)))


@given(CHANGES)
def test_it_is_what_a_dictionary_is_after_the_same_changes(
    changes: list[tuple[str, int | None]],
) -> None:
    held: ShardedMap[int] = ShardedMap()
    expected: dict[str, int] = {}
    for name, value in changes:
        before, as_it_was = held, dict(held)
        if value is None:
            held = held.drop(name)
            expected.pop(name, None)
        else:
            held = held.put(name, value)
            expected[name] = value
        assert dict(before) == as_it_was
        assert (len(held), dict(held)) == (len(expected), expected)
        assert held == expected
    assert all(held[name] == value for name, value in expected.items())


def test_the_order_of_names_does_not_depend_on_the_process() -> None:
    held: ShardedMap[int] = ShardedMap()
    for name in ("b", "a", "c"):
        held = held.put(name, 1)

    assert list(held) == ["a", "c", "b"]

"""What is made of the same is the same object, and what is made of something else is made anew."""

from __future__ import annotations

from rocketproof.known_values import KnownValues
from tlatrace.values import Value, canonical, record, tla_set


def numbers(raw: list[int]) -> Value:
    return tla_set(raw)


def test_a_part_of_the_same_is_the_same_object() -> None:
    known = KnownValues()

    first, again, other = (known.of("x", raw, numbers) for raw in ([1, 2], [1, 2], [3]))

    assert first is again
    assert (canonical(first), canonical(other)) == ('{"#set":[1,2]}', '{"#set":[3]}')
    assert canonical(known.of("x", [1, 2], numbers)) == canonical(first), "only the last is known"


def test_parts_do_not_mix() -> None:
    known = KnownValues()
    assert known.of("x", [1], numbers) is not known.of("y", [1], numbers)


def test_a_variable_is_made_anew_and_the_parts_that_stay_are_not() -> None:
    known, names = KnownValues(), ("b1", "b2")

    before = known.of_each("x", names, [[1], [2]], numbers)
    same = known.of_each("x", names, [[1], [2]], numbers)
    after = known.of_each("x", names, [[1], [3]], numbers)

    assert before is same
    assert after == record({"b1": tla_set([1]), "b2": tla_set([3])})
    assert known.of(("x", "b1"), [1], numbers) is dict(after.pairs)["b1"]  # type: ignore[union-attr]

"""Values that TLC may fail to build."""

from __future__ import annotations

import pytest

from tlatrace.tlc.comparable import is_doubtful, state_is_doubtful
from tlatrace.values import ModelValue, Value, fcn, record, tla_set

M = ModelValue("m")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (tla_set([1, 2]), False),
        (tla_set([1, "a"]), True),
        (tla_set([1, True]), True),
        (tla_set([1, M]), False),
        (tla_set([tla_set([1]), tla_set(["a"])]), True),
        (tla_set([(1,), ("a",)]), True),
        (tla_set([(1,), ("a", 2)]), False),
        (tla_set([record({"t": "a"}), record({"t": "b", "v": 1})]), False),
        (tla_set([record({"v": "a"}), record({"v": 1})]), True),
        (tla_set([record({"v": M}), record({"v": 1})]), False),
        (fcn([(1, 0), ("a", 0)]), True),
        (fcn([(M, 0), ("a", 0)]), False),
        ((0, (tla_set([1, "a"]),)), True),
        (record({"deep": tla_set([1, "a"])}), True),
        ((1, "a", True), False),
    ],
    ids=str,
)
def test_a_set_or_domain_of_mixed_types_is_doubtful(value: Value, expected: bool) -> None:
    assert is_doubtful(value) is expected


def test_a_known_value_does_not_vouch_for_another_one() -> None:
    clean: set[str] = set()

    assert not state_is_doubtful({"x": tla_set([1, 2])}, clean)
    assert state_is_doubtful({"x": tla_set([1, "2"])}, clean)

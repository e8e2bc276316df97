"""What a change makes of a value."""

from __future__ import annotations

import pytest

from tlatrace.errors import EvaluationError
from tlatrace.matching.changes import OPERATIONS, changed
from tlatrace.trace import Change
from tlatrace.values import Value, canonical, fcn, record, tla_set

CASES: list[tuple[str, Value, tuple[Value, ...], Value]] = [
    ("set", 1, ("x",), "x"),
    ("unchanged", 1, (), 1),
    ("add", tla_set([1]), (2,), tla_set([1, 2])),
    ("add", tla_set([1]), (True,), tla_set([1, True])),
    ("add all", tla_set([1]), (tla_set([2, 3]),), tla_set([1, 2, 3])),
    ("remove", tla_set([1, True]), (1,), tla_set([True])),
    ("remove all", tla_set([1, 2, 3]), (tla_set([3, 2]),), tla_set([1])),
    ("append", (1,), (1,), (1, 1)),
    ("append", (), ("a",), ("a",)),
    ("remove head", (1, 2), (), (2,)),
    ("set key", record({"a": 1, "b": 2}), ("a", 5), record({"a": 5, "b": 2})),
    ("set key", record({"b": 2}), ("a", 5), record({"b": 2})),
    ("set key", (1, 2), (2, 5), (1, 5)),
    ("put key", record({"b": 2}), ("a", 5), record({"a": 5, "b": 2})),
    ("put key", (), (1, "x"), ("x",)),
    ("remove key", fcn([(0, 1), (5, 2)]), (5,), fcn([(0, 1)])),
    ("set fields", record({"a": 1, "b": 2}), (record({"b": 3, "c": 4}),), record({"a": 1, "b": 3})),
    ("add copy", fcn([("m", 1)]), ("m",), fcn([("m", 2)])),
    ("add copy", (), ("m",), fcn([("m", 1)])),
    ("remove copy", fcn([("m", 2)]), ("m",), fcn([("m", 1)])),
    ("remove copy", fcn([("m", 1)]), ("m",), ()),
    ("plus", 3, (4,), 7),
    ("minus", 3, (4,), -1),
]


@pytest.mark.parametrize(("operation", "value", "arguments", "result"), CASES)
def test_an_operation_gives_the_value_of_the_operator(
    operation: str, value: Value, arguments: tuple[Value, ...], result: Value
) -> None:
    change = Change(variable="v", at=(), operation=operation, arguments=arguments)

    assert canonical(changed(value, [change])) == canonical(result)


def test_every_operation_has_a_case_with_its_number_of_arguments() -> None:
    assert {(name, len(given)) for name, _, given, _ in CASES} == {
        (name, arity) for name, (arity, _) in OPERATIONS.items()
    }


def test_a_change_in_depth_leaves_the_rest_and_changes_are_made_one_after_the_other() -> None:
    value = fcn([(1, record({"log": (), "term": 0})), (2, record({"log": (), "term": 9}))])
    first = Change(variable="v", at=(1, "log"), operation="append", arguments=("x",))
    second = Change(variable="v", at=(1, "term"), operation="plus", arguments=(2,))

    result = changed(value, [first, second, first])

    assert isinstance(result, tuple)
    assert result[0] == record({"log": ("x", "x"), "term": 2})
    assert result[1] == record({"log": (), "term": 9})


@pytest.mark.parametrize(
    ("operation", "value", "at", "arguments"),
    [
        ("add", (1,), (), (2,)),
        ("add all", tla_set([1]), (), (2,)),
        ("remove", 1, (), (2,)),
        ("append", tla_set([]), (), (2,)),
        ("remove head", (), (), ()),
        ("set key", tla_set([]), (), (1, 2)),
        ("plus", True, (), (2,)),
        ("minus", 3, (), ("x",)),
        ("set", record({"a": 1}), ("b",), (2,)),
        ("set", 7, ("b",), (2,)),
        ("set", (5,), (2,), (2,)),
        ("set", (5,), (True,), (2,)),
    ],
)
def test_a_change_that_has_no_value_is_no_answer(
    operation: str, value: Value, at: tuple[Value, ...], arguments: tuple[Value, ...]
) -> None:
    with pytest.raises(EvaluationError):
        changed(value, [Change(variable="v", at=at, operation=operation, arguments=arguments)])

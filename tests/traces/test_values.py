"""Values: one canonical form, lossless JSON, and typed errors for everything else."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given

from model_tests.value_strategies import json_documents, values
from tlatrace.errors import ModelGapError, ValueFormatError
from tlatrace.readings import Reading, Types
from tlatrace.values import (
    MAX_DEPTH,
    ExactString,
    Fcn,
    Json,
    ModelValue,
    TlaSet,
    Value,
    canonical,
    canonical_state,
    fcn,
    from_json,
    record,
    same,
    state_from_json,
    state_to_json,
    tla_set,
    to_json,
)

CANONICAL: list[tuple[Value, str]] = [
    (True, "true"),
    (-7, "-7"),
    (2**53 - 1, "9007199254740991"),
    (2**53, '{"#bigint":"9007199254740992"}'),
    (-(2**53), '{"#bigint":"-9007199254740992"}'),
    ('q"\\\n', '"q\\"\\\\\\n"'),
    ("é", '"é"'),
    (ModelValue("b1"), '{"#model":"b1"}'),
    ((), "[]"),
    ((1, (2, "x")), '[1,[2,"x"]]'),
    (tla_set([3, 10, 3]), '{"#set":[10,3]}'),
    (record({"b": 1, "a": 2}), '{"a":2,"b":1}'),
    (record({"a!": 1, "a": 2}), '{"a":2,"a!":1}'),
    (record({"#set": 1}), '{"#map":[["#set",1]]}'),
    (fcn([(2, "b"), (0, "a")]), '{"#map":[[0,"a"],[2,"b"]]}'),
    (fcn([(ModelValue("b"), 1), ("b", 2)]), '{"#map":[["b",2],[{"#model":"b"},1]]}'),
]


@pytest.mark.parametrize(("value", "text"), CANONICAL, ids=[text for _, text in CANONICAL])
def test_canonical_text_of_each_kind_of_value(value: Value, text: str) -> None:
    assert text == canonical(value)
    assert text == canonical(from_json(json.loads(text)))
    assert text == json.dumps(to_json(value), separators=(",", ":"), ensure_ascii=False)


@given(values())
def test_json_loses_nothing(value: Value) -> None:
    decoded = from_json(json.loads(json.dumps(to_json(value))))

    assert canonical(value) == canonical(decoded)
    assert type(value) is type(decoded)


@given(values())
def test_canonical_text_is_compact_json_with_sorted_keys(value: Value) -> None:
    text = canonical(value)

    compact = json.dumps(
        json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    assert compact == text


@given(json_documents())
def test_any_json_is_a_value_or_a_value_format_error(document: Json) -> None:
    try:
        value = from_json(document)
    except ValueFormatError:
        return
    assert same(value, from_json(to_json(value)))


@given(values())
def test_sets_and_functions_survive_pickling(value: Value) -> None:
    assert same(value, pickle.loads(pickle.dumps(value)))


DIFFERENT: list[tuple[Value, Value]] = [
    (True, 1),
    (False, 0),
    (1, "1"),
    ("b1", ModelValue("b1")),
    ((True,), (1,)),
    (tla_set([True]), tla_set([1])),
    (record({"a": 0}), record({"a": False})),
    (tla_set([]), ()),
    (tla_set([1, 2]), (1, 2)),
]


@pytest.mark.parametrize(("left", "right"), DIFFERENT, ids=repr)
def test_values_that_python_may_confuse_are_different(left: Value, right: Value) -> None:
    assert not same(left, right)
    assert same(left, left)


def test_sets_and_functions_are_equal_and_hash_alike_in_any_order() -> None:
    assert tla_set([1, "a", (2,)]) == tla_set([(2,), 1, "a", 1])
    assert len({tla_set([1, 2]), tla_set([2, 1])}) == 1
    assert record({"x": 1, "y": 2}) == record({"y": 2, "x": 1})
    assert tla_set([1]) != tla_set([True])
    assert record({"x": 1}) != record({"x": True})


def test_a_function_with_the_domain_one_to_n_is_a_tuple() -> None:
    assert fcn([(2, "b"), (3, "c"), (1, "a")]) == ("a", "b", "c")
    assert fcn([]) == ()
    assert from_json({}) == ()
    assert from_json({"#map": []}) == ()
    assert isinstance(fcn([(True, "a")]), Fcn)
    assert isinstance(fcn([(1, "a"), (3, "c")]), Fcn)
    assert isinstance(fcn([("1", "a")]), Fcn)
    assert isinstance(fcn([(2, "a")]), Fcn)


def test_a_map_over_strings_is_the_same_as_a_record() -> None:
    assert same(record({"a": 1}), from_json({"#map": [["a", 1]]}))


def test_membership_and_application_are_by_the_tla_value() -> None:
    members = tla_set([1, (2, 3)])
    steps = fcn([((1, 2), "x"), (True, "y")])

    assert 1 in members
    assert (2, 3) in members
    assert True not in members
    assert isinstance(steps, Fcn)
    assert steps[True] == "y"
    with pytest.raises(KeyError):
        steps[1]


def test_fields_of_a_record_by_name() -> None:
    log = record({"end": 3, "epoch": 1})

    assert isinstance(log, Fcn)
    assert log.fields() == {"end": 3, "epoch": 1}


REFUSED: list[tuple[str, Json]] = [
    ("null", None),
    ("a fraction", 1.5),
    ("a whole float", 2.0),
    ("an unknown key", {"#unserializable": "x"}),
    ("a special key beside another", {"#set": [], "a": 1}),
    ("two special keys", {"#set": [], "#tup": []}),
    ("a set that is no array", {"#set": {}}),
    ("a pair of three", {"#map": [[1, 2, 3]]}),
    ("a pair that is no array", {"#map": [{"a": 1}]}),
    ("the same key twice", {"#map": [[1, 2], [1, 3]]}),
    ("keys that are the same value", {"#map": [[[1], 2], [{"#tup": [1]}, 3]]}),
    ("a bigint that is a number", {"#bigint": 5}),
    ("a bigint with a plus", {"#bigint": "+5"}),
    ("a bigint with a zero in front", {"#bigint": "05"}),
    ("a bigint with other digits", {"#bigint": "٣"}),
    ("a bigint of 1001 digits", {"#bigint": "1" * 1001}),
    ("an integer of 1001 digits", 10**1000),
    ("half of a surrogate pair", "\ud800"),
    ("half of a surrogate pair in a field", {"\ud800": 1}),
    ("a model value without a name", {"#model": ""}),
    ("a model value that is no name", {"#model": "a b"}),
]


@pytest.mark.parametrize("obj", [obj for _, obj in REFUSED], ids=[name for name, _ in REFUSED])
def test_json_that_encodes_no_value_is_refused(obj: Json) -> None:
    with pytest.raises(ValueFormatError):
        from_json(obj)


def test_the_same_element_of_a_set_twice_counts_once() -> None:
    assert tla_set([1]) == from_json({"#set": [1, {"#bigint": "1"}]})


def test_an_integer_of_1000_digits_is_kept() -> None:
    number = 10**1000 - 1

    assert same(number, from_json(to_json(number)))


def test_nesting_beyond_the_limit_is_a_typed_error_and_not_a_full_stack() -> None:
    deep_json: Json = 0
    deep_value: Value = 0
    for _ in range(100_000):
        deep_json, deep_value = [deep_json], (deep_value,)

    with pytest.raises(ValueFormatError):
        from_json(deep_json)
    with pytest.raises(ValueFormatError):
        canonical(deep_value)
    with pytest.raises(ValueFormatError):
        to_json(deep_value)
    with pytest.raises(ValueFormatError):
        tla_set([deep_value])


def test_nesting_up_to_the_limit_is_kept() -> None:
    value: Value = 0
    for _ in range(MAX_DEPTH):
        value = (value,)

    assert same(value, from_json(to_json(value)))


def test_a_state_is_an_object_even_if_it_is_empty() -> None:
    assert canonical_state({}) == "{}"
    assert canonical_state({"b": tla_set([1]), "a": ()}) == '{"a":[],"b":{"#set":[1]}}'
    assert state_from_json({"x": [1]}) == {"x": (1,)}
    assert state_to_json({"x": (1,)}) == {"x": [1]}
    with pytest.raises(ValueFormatError):
        state_from_json([1])


def test_strings_become_the_model_values_that_a_configuration_declares() -> None:
    names = frozenset({"b1", "b2"})
    value = record(
        {
            "alive": tla_set(["b1", "other"]),
            "log": record({"b1": ("b2",), "b2": ()}),
            "pairs": fcn([(("b1", 1), 2)]),
        }
    )

    mapped = Reading(Types.of_names(names)).plain(value)

    b1, b2 = ModelValue("b1"), ModelValue("b2")
    expected = record(
        {
            "alive": tla_set([b1, "other"]),
            "log": fcn([(b1, (b2,)), (b2, ())]),
            "pairs": fcn([((b1, 1), 2)]),
        }
    )
    assert canonical(expected) == canonical(mapped)


def test_a_string_that_is_no_model_value_is_another_value_until_it_is_read() -> None:
    exact = from_json({"#str": "b1"})

    assert exact == ExactString("b1")
    assert canonical(exact) == '{"#str":"b1"}'
    assert to_json(exact) == {"#str": "b1"}
    assert not same(exact, "b1")
    reading = Reading(Types.of_names(["b1"]))
    assert reading.plain(fcn([(exact, exact), ("c", "b1")])) == record(
        {"b1": "b1", "c": ModelValue("b1")}
    )
    with pytest.raises(ModelGapError, match="same key twice"):
        reading.plain(fcn([(exact, 1), ("b1", 1), (1, 1), (ModelValue("b1"), 2)]))


@pytest.mark.parametrize("payload", [1, None, ["b1"], {"#str": "b1"}])
def test_an_exact_string_holds_a_string(payload: object) -> None:
    with pytest.raises(ValueFormatError, match='"#str" does not hold'):
        from_json({"#str": payload})


def test_a_set_iterates_in_canonical_order() -> None:
    assert tuple(canonical(v) for v in tla_set([2, 10, "b"])) == ('"b"', "10", "2")
    assert isinstance(tla_set([]), TlaSet)
    assert len(tla_set([])) == 0

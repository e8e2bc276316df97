"""Words are values: what is answered is what the operators of compiled models say, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.traces.runtime.word_array import (
    NODES,
    SIZE,
    STACK,
    WordArray,
    compiled,
    python_array,
)
from tlatrace.machine_code.flat import parse
from tlatrace.runtime import lazy, operators
from tlatrace.runtime.values import (
    FALSE,
    TRUE,
    Fcn,
    RuntimeValue,
    eq,
    function,
    model_value,
)
from tlatrace.runtime.words import flat_text, layout

WORDS: Final[dict[str, Callable[..., Any]]] = {
    "union": operators.union,
    "intersection": operators.intersection,
    "difference": operators.difference,
    "big_union": operators.big_union,
    "cardinality": operators.cardinality,
    "apply": operators.apply,
    "put": operators.put,
    "domain": operators.domain_of,
    "single": operators.single,
    "override": operators.override,
    "length": operators.length,
    "append": operators.append,
    "concat": operators.concatenate,
    "head": operators.head,
    "tail": operators.tail,
    "sub_sequence": operators.sub_sequence,
    "add": operators.add,
    "subtract": operators.subtract,
    "multiply": operators.multiply,
    "quotient": operators.quotient,
    "remainder": operators.remainder,
    "negate": operators.negate,
    "make_interval": lambda low, high: frozenset(operators.interval(low, high)),
}
ANSWERS: Final[dict[str, Callable[..., Any]]] = {
    "eq": eq,
    "member": lazy.member,
    "subset": operators.subset,
    "less": operators.less,
    "less_equal": operators.less_equal,
    "truth": operators.truth,
    "in_interval": operators.in_interval,
    "is_nat": operators.is_nat,
    "is_int": operators.is_int,
    "is_string": operators.is_string,
    "is_sequence": operators.is_sequence,
    "has_domain": operators.has_domain,
    "has_length": operators.has_length,
    "in_domain": operators.in_domain,
}
FUNCTIONS: Final = parse(flat_text()).functions
"""The functions of the runtime, each with its parameters."""

_PLAIN: Final = st.sampled_from(
    [-1, 0, 1, 2, 3, "a", "b", TRUE, FALSE, model_value("m"), model_value("n")]
)


def _larger(parts: st.SearchStrategy[RuntimeValue]) -> st.SearchStrategy[RuntimeValue]:
    few = st.lists(parts, max_size=3)
    keys = st.one_of(st.sampled_from(["a", "b", "c"]), st.integers(0, 3), parts)
    return st.one_of(
        few.map(tuple),
        few.map(frozenset),
        st.frozensets(st.integers(0, 3), max_size=3),
        st.dictionaries(keys, parts, max_size=3).map(function),
    )


_VALUES: Final = st.recursive(_PLAIN, _larger, max_leaves=8)


@pytest.fixture(scope="module")
def machine() -> WordArray:
    return compiled()


def said(operator: Callable[..., Any], values: tuple[RuntimeValue, ...]) -> Any:
    """Return what an operator says; the class of the error where it has no value."""
    try:
        return operator(*values)
    except Exception as error:
        return type(error)


def check(name: str, operator: Callable[..., Any], array: WordArray, values: Any) -> bool:
    """Hold an answer against the operator's; tell whether there was one."""
    array.clear()
    given_words = [array.word(value) for value in values]
    if layout.BAD in given_words:
        return False
    found = array.call(name, *given_words)
    assert not array.memory[layout.FULL]
    if name in ANSWERS:
        assert found in (0, 1, 2)
        if found != 2:
            assert said(operator, values) is bool(found), (name, values)
        return found != 2
    if found != layout.BAD:
        assert said(operator, values) == array.value(found), (name, values)
    return found != layout.BAD


@given(st.data())
@settings(max_examples=1000, deadline=None)
def test_machine_code_says_what_operators_say(machine: WordArray, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted({*WORDS, *ANSWERS})))
    values = tuple([data.draw(_VALUES) for _ in FUNCTIONS[name].parameters])
    check(name, {**WORDS, **ANSWERS}[name], machine, values)


SOME: Final[tuple[Any, ...]] = (
    *(-3, 0, 1, 2, "a", "b", TRUE, model_value("m"), (), (1,), (1, 2), ("a",)),
    *(frozenset(), frozenset([1]), frozenset([1, 2]), frozenset([3]), frozenset(["a", "b"])),
    *(frozenset([model_value("m"), 1]), frozenset([(1,), (2,)]), frozenset([frozenset([1])])),
    *(Fcn({"a": 1}), Fcn({"a": 1, "b": 2}), Fcn({0: 1}), Fcn({model_value("m"): ()})),
    *(Fcn({"a": "x", "c": 1}), Fcn({"a": 1, "c": 1}), Fcn({(1,): 2})),
)


@pytest.mark.parametrize("name", sorted({*WORDS, *ANSWERS}))
def test_every_operator_is_answered_and_alike_by_python_and_machine_code(
    machine: WordArray, name: str
) -> None:
    operator, python = {**WORDS, **ANSWERS}[name], python_array()
    arity = len(FUNCTIONS[name].parameters)
    answered = 0
    for values in product(SOME, repeat=min(arity, 2)):
        some = values if arity < 3 else (*values, 2)
        is_known = check(name, operator, machine, some)
        answered += is_known
        if answered < 40 or not is_known:
            assert check(name, operator, python, some) == is_known
    assert answered > 0


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("add", (2**58 - 1, 1)),
        ("subtract", (-(2**58) + 1, 1)),
        ("multiply", (2**29, 2**29)),
        ("multiply", (-(2**40), 2**40)),
        ("quotient", (1, 0)),
        ("remainder", (1, -1)),
        ("make_interval", (0, 100_000)),
    ],
)
def test_what_is_too_large_has_no_word(
    machine: WordArray, name: str, values: tuple[int, ...]
) -> None:
    machine.clear()
    assert machine.call(name, *[value << 3 for value in values]) == layout.BAD


def test_a_full_array_says_so_and_no_word_is_written_outside_of_it() -> None:
    array = compiled(end=NODES + 100)
    found = [array.word((at, at + 1, at + 2)) for at in range(40)]
    assert found[-1] == layout.BAD
    assert array.memory[layout.FULL] == 1
    assert not any(array.memory[NODES + 100 : STACK])
    array.clear()
    for at in range(SIZE - STACK + 5):
        array.call("push", at << 3)
    assert array.memory[layout.FULL] == 1
    assert array.memory[layout.STACK] == SIZE


def test_equal_values_are_one_word_whatever_they_were_made_of(machine: WordArray) -> None:
    machine.clear()
    base = machine.memory[layout.STACK]
    for word in (2 << 3, 1 << 3, 2 << 3):
        machine.call("push", word)
    made = machine.call("make_set", base)
    assert made == machine.word(frozenset([1, 2]))
    for key, image in ((2, "b"), (1, "a")):
        machine.call("push", key << 3)
        machine.call("push", machine.word(image))
    assert machine.call("make_function", base) == machine.word(("a", "b"))


def test_words_whose_nodes_meet_in_the_table_are_told_apart() -> None:
    """All nodes are looked for at one place: only what they hold tells them apart."""
    array = compiled(flat_text().replace("slot = mixed & mem[MASK]", "slot = 0"))
    some = [(at, at % 7) for at in range(300)]
    found = [array.word(value) for value in some]
    assert len(set(found)) == 300
    assert [array.value(word) for word in found] == some

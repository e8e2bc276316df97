"""TLA+ text: what TLC reads and what TLC prints."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.value_strategies import tlc_values
from tlatrace.errors import ModelGapError, TlaTextError
from tlatrace.tla_text import is_identifier, parse_state, parse_tla, to_tla
from tlatrace.values import ModelValue, Value, canonical, fcn, record, same, tla_set

WRITTEN: list[tuple[Value, str]] = [
    (True, "TRUE"),
    (-3, "-3"),
    (2**31 - 1, "2147483647"),
    ('say "hi"\\\n\t', '"say \\"hi\\"\\\\\\n\\t"'),
    ("", '""'),
    (ModelValue("b1"), "b1"),
    ((), "<<>>"),
    ((1, ("a",)), '<<1, <<"a">>>>'),
    (tla_set([2, 1]), "{1, 2}"),
    (record({"end": 3, "epoch": 1}), "[end |-> 3, epoch |-> 1]"),
    (record({"two words": 1}), '("two words" :> 1)'),
    (record({"IF": 1, "a": 2}), '("IF" :> 1 @@ "a" :> 2)'),
    (record({"WF_x": 1}), '("WF_x" :> 1)'),
    (fcn([(0, True), (-1, False)]), "(-1 :> FALSE @@ 0 :> TRUE)"),
]


@pytest.mark.parametrize(("value", "text"), WRITTEN, ids=[text for _, text in WRITTEN])
def test_each_kind_of_value_is_written_and_read_back(value: Value, text: str) -> None:
    assert text == to_tla(value)
    assert canonical(value) == canonical(parse_tla(text))


@given(tlc_values().filter(lambda value: "-2147483648" not in canonical(value)))
def test_reading_what_was_written_gives_the_same_value(value: Value) -> None:
    assert canonical(value) == canonical(parse_tla(to_tla(value)))


def test_the_least_integer_is_written_as_a_difference() -> None:
    """TLC reads -2147483648 as the negation of a literal that does not fit its integers."""
    assert to_tla(-(2**31)) == "(-2147483647 - 1)"


@pytest.mark.parametrize(
    "value",
    [
        2**31,
        -(2**31) - 1,
        "é",
        "\x00",
        "a`b'",
        ModelValue("IF"),
        ModelValue("a b"),
        tla_set([2**40]),
    ],
    ids=repr,
)
def test_what_tlc_cannot_hold_is_a_model_gap(value: Value) -> None:
    with pytest.raises(ModelGapError):
        to_tla(value)


def test_nesting_beyond_the_limit_is_a_model_gap() -> None:
    value: Value = 0
    for _ in range(1000):
        value = (value,)

    with pytest.raises(ModelGapError):
        to_tla(value)


PRINTED: list[tuple[str, Value]] = [
    ("<< >>", ()),
    ("{ }", tla_set([])),
    ("1..3", tla_set([1, 2, 3])),
    ("-1..1", tla_set([-1, 0, 1])),
    ("3..1", tla_set([])),
    ("(1)", 1),
    ("[2nd |-> 1, IF |-> 2]", record({"2nd": 1, "IF": 2})),
    ("(1 :> 2 @@ 2 :> 3)", (2, 3)),
    (
        '[ k |-> <<>>,\n  z |-> {1, 2},\n  long |->\n      << "a",\n         b >> ]',
        record({"k": (), "z": tla_set([1, 2]), "long": ("a", ModelValue("b"))}),
    ),
    ('{[a |-> "|->, >>"]}', tla_set([record({"a": "|->, >>"})])),
    (r"<<[x \in {} |-> x], [y \in { } |-> <<1>>]>>", ((), ())),  # as PGo writes it
]


@pytest.mark.parametrize(("text", "value"), PRINTED, ids=[text for text, _ in PRINTED])
def test_spellings_of_tlc(text: str, value: Value) -> None:
    assert canonical(value) == canonical(parse_tla(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 2",
        "<<1",
        "<<1,>>",
        "{1 2}",
        "[a -> 1]",
        "[a |-> 1",
        "[a |-> 1, a |-> 2]",
        "[]",
        r"[x \in {1} |-> x]",
        r"[x \in {} |-> ]",
        r"[x \in {} |-> x, y |-> 1]",
        r"[1 \in {} |-> 1]",
        r"x \in {}",
        "(1 :> 2 @@ 1 :> 3)",
        "(1 :> 2",
        "()",
        "1..",
        "1..x",
        "1..10000000000",
        "SUBSET {1}",
        "[{1} -> {2}]",
        '"open',
        '"bad \\q"',
        "a + b",
        "IF",
        "9" * 30,
        "1.5",
        "é",
        "<<" * 100_000,
        "(" * 100_000,
    ],
    ids=lambda text: text[:20],
)
def test_anything_else_is_a_tla_text_error(text: str) -> None:
    with pytest.raises(TlaTextError) as caught:
        parse_tla(text)

    assert len(str(caught.value)) < 200


@given(st.text(alphabet='<>{}[]()|->:@.,"\\ \n\t123abTRUE/=', max_size=30))
def test_no_text_raises_anything_but_tla_text_error(text: str) -> None:
    for parse in (parse_tla, parse_state):
        try:
            parse(text)
        except TlaTextError:
            continue


def test_the_error_says_where() -> None:
    with pytest.raises(TlaTextError) as caught:
        parse_tla("<<1, 2, ]")

    assert caught.value.offset == 8
    assert str(caught.value) == "expected a value at character 8, near ']'"


def test_a_state_of_several_variables_with_values_over_lines() -> None:
    text = '/\\ log = (b1 :> <<1,\n  2>> @@\n  b2 :> <<>>)\n/\\ s = "/\\\\ x = 1"\n/\\ n = -2\n'

    state = parse_state(text)

    assert list(state) == ["log", "s", "n"]
    assert same(fcn([(ModelValue("b1"), (1, 2)), (ModelValue("b2"), ())]), state["log"])
    assert state["s"] == "/\\ x = 1"
    assert state["n"] == -2


def test_a_state_of_one_variable_has_no_conjunction() -> None:
    assert parse_state("x = 0") == {"x": 0}


@pytest.mark.parametrize(
    "text", ["", "/\\ x", "/\\ x = 1\n/\\ x = 1", "x = 1\n/\\ y = 2", "/\\ = 1", "x = 1 2"]
)
def test_anything_else_is_not_a_state(text: str) -> None:
    with pytest.raises(TlaTextError):
        parse_state(text)


def test_identifiers_are_what_tla_allows() -> None:
    assert is_identifier("epochMap_2")
    assert is_identifier("_a")
    for name in ("", "_", "2", "two words", "THEN", "SF_a", "é", "a\n"):
        assert not is_identifier(name)

"""TLC configurations."""

from __future__ import annotations

from pathlib import Path

import pytest

from tlatrace.errors import SpecError
from tlatrace.tla.config import parse_config
from tlatrace.values import ModelValue, Value, tla_set

PATH = Path("model.cfg")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", 3),
        ("-3", -3),
        ('"a b"', "a b"),
        ("TRUE", True),
        ("b1", ModelValue("b1")),
        ("{}", tla_set([])),
        ("{b1, b2}", tla_set([ModelValue("b1"), ModelValue("b2")])),
        ('{{1}, {"x"}}', tla_set([tla_set([1]), tla_set(["x"])])),
    ],
)
def test_a_constant_has_the_value_that_tlc_would_read(text: str, expected: Value) -> None:
    config = parse_config(f"CONSTANT C = {text}", PATH)

    assert [item.value for item in config.assignments] == [expected]


def test_comments_sections_and_replacements_are_understood() -> None:
    text = """
    \\* SPECIFICATION Other
    SPECIFICATION Spec (* INIT x *)
    CONSTANTS A = 1 B <- C
      D <- [Mod] E
    CONSTANT Nat <- MyNat
    INVARIANTS TypeOK
      Safe
    INVARIANT Third
    PROPERTY Live
    CHECK_DEADLOCK FALSE
    """

    config = parse_config(text, PATH)

    assert config.specification == "Spec"
    assert config.init is None
    assert config.invariants == ("Third", "TypeOK", "Safe")
    expected = ["A = 1", "B <- C", "D <- [ Mod ] E", "Nat <- MyNat"]
    assert [item.text for item in config.assignments] == expected


@pytest.mark.parametrize(
    "text",
    [
        "Spec",
        "CONSTANT A",
        "CONSTANT A =",
        "CONSTANT A = {1",
        "CONSTANT A = {1 2}",
        "CONSTANT = 3",
        "CONSTANT A <- ",
        "INIT A B",
        "CONSTANT A = 1 ; B",
        "CONSTANT A = " + "{" * 100,
    ],
)
def test_what_is_no_configuration_is_refused_with_its_file(text: str) -> None:
    with pytest.raises(SpecError, match=r"model\.cfg"):
        parse_config(text, PATH)

"""What machine code is not sure of is not accepted: each thing that it could get wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from tlatrace.errors import EvaluationError
from tlatrace.explore.native_space import NativeSpace, NotSure
from tlatrace.oracle import Model, load_model, native
from tlatrace.oracle.native import NativeModel
from tlatrace.runtime.values import RuntimeValue, model_value
from tlatrace.runtime.words import flat_text
from tlatrace.tla.config import parse_config

pytestmark = pytest.mark.java

MODULE: Final = r"""---- MODULE Edges ----
EXTENDS Integers, Sequences, FiniteSets
CONSTANT Node, Other
VARIABLE x
Init == x \in {0}
Same == x' = x
Grow == x' = x + 1
Twice(n) == n \in Nat /\ x' = n * n
Is(v) == x = v /\ x' = x
Differs(v) == ~(x = v) /\ UNCHANGED x
Not(v) == v \notin x /\ UNCHANGED x
Any == (\E y \in x : y = 1) /\ UNCHANGED x
Each == (\A y \in x : y > 0) /\ UNCHANGED x
First == x' = CHOOSE y \in x : y > 0
Even == x \in {n \in Nat : n % 2 = 0} /\ UNCHANGED x
Later == LET half == 10 \div x IN x # 0 /\ half > 2 /\ UNCHANGED x
Twin(v) == <<v, v, v, v>> = <<v, v, v, v>> /\ <<v, 1>> = <<v, 1>>
Lost == (LET half == 10 \div x IN x = 1 \/ Twin(half)) /\ UNCHANGED x
Half(n, s) == IF n > 0 THEN n ELSE Cardinality(s)
Unread(v) == /\ {Half(n, {m \in 1..3 : m < 3 \/ 10 \div x = 1}) : n \in 1..1} = 1..v
             /\ UNCHANGED x
Next == \/ Lost \/ (\E v \in {1, 2} : Unread(v))
        \/ Same \/ Grow \/ (\E n \in Nat : Twice(n)) \/ Any \/ Each \/ First \/ Even \/ Later
        \/ (\E v \in {1, 2} : Is(v) \/ Differs(v) \/ Not(v))
Small == x < 10
====
"""
CONFIG: Final = "CONSTANTS Node = {n1, n2} n1 = n1 n2 = n2 Other = o\no = o\nINIT Init\nNEXT Next\n"
LARGE: Final = 2**58


def edges(folder: Path, config: str = CONFIG) -> tuple[Model, NativeModel]:
    module = folder / "Edges.tla"
    module.write_text(MODULE, "utf-8")
    model = load_model(
        module, parse_config(config, module), native=True, kept=False, invariants=["Small"]
    )
    return model, NativeModel(model.source)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, NativeModel]:
    return edges(tmp_path_factory.mktemp("edges"))


def python(
    model: Model,
    action: str,
    pre: RuntimeValue,
    post: RuntimeValue,
    params: tuple[RuntimeValue, ...],
) -> str:
    try:
        return str(model.allows(action, params, (pre,), (post,)))
    except EvaluationError:
        return "no value"


ONE: Final = frozenset([1])
MIXED: Final = ("a", 1)


@pytest.mark.parametrize(
    ("action", "pre", "post", "params", "says"),
    [
        ("Grow", 1, 2, (), "True"),
        ("Grow", 1, 3, (), "False"),
        ("Grow", "a", "a", (), "no value"),
        ("Twice", 0, 9, (3,), "True"),
        ("Is", 1, 1, (1,), "True"),
        ("Is", 1, 1, (2,), "False"),
        ("Is", "a", "a", (1,), "no value"),
        ("Differs", 3, 3, (1,), "True"),
        ("Differs", "a", "a", (1,), "no value"),
        ("Differs", (1, 2), (1, 2), (1,), "no value"),
        ("Differs", model_value("n1"), model_value("n1"), (1,), "True"),
        ("Not", ONE, ONE, (2,), "True"),
        ("Not", frozenset(["a"]), frozenset(["a"]), (2,), "no value"),
        ("Not", frozenset([MIXED]), frozenset([MIXED]), (2,), "no value"),
        ("Any", ONE, ONE, (), "True"),
        ("Any", frozenset(["a", model_value("n1")]), frozenset(["a"]), (), "no value"),
        ("Each", frozenset([1, 2]), frozenset([1, 2]), (), "True"),
        ("Each", frozenset([0, 2]), frozenset([0, 2]), (), "False"),
        ("First", ONE, 1, (), "True"),
        ("First", frozenset([1, 2]), 1, (), "no value"),
        ("Even", 4, 4, (), "True"),
        ("Even", 3, 3, (), "False"),
        ("Even", "a", "a", (), "no value"),
        ("Later", 3, 3, (), "True"),
        ("Later", 0, 0, (), "False"),
        ("Lost", 5, 5, (), "True"),
        ("Lost", 1, 1, (), "True"),
        ("Lost", 0, 0, (), "no value"),  # a name without value is passed to who surely needs it
        ("Unread", 0, 0, (1,), "True"),  # what was begun of an argument that nobody reads is gone
        ("Unread", 0, 0, (2,), "False"),
    ],
)
def test_machine_code_accepts_what_python_does(
    both: tuple[Model, NativeModel],
    action: str,
    pre: RuntimeValue,
    post: RuntimeValue,
    params: tuple[RuntimeValue, ...],
    says: str,
) -> None:
    model, opened = both
    assert python(model, action, pre, post, params) == says
    assert opened.surely(f"action {action}", (pre,), (post,), params) == (says == "True")


@pytest.mark.parametrize(
    ("action", "pre", "post", "params"),
    [
        ("Grow", LARGE - 1, LARGE, ()),
        ("Grow", 2**63 - 1, 2**63, ()),
        ("Grow", 2**64, 2**64 + 1, ()),
        ("Twice", 0, 2**80, (2**40,)),
        ("Same", ((((),) * 70,) * 70,) * 70, (((),),), ()),
    ],
)
def test_what_does_not_fit_into_a_word_is_left_to_python(
    both: tuple[Model, NativeModel],
    action: str,
    pre: RuntimeValue,
    post: RuntimeValue,
    params: tuple[RuntimeValue, ...],
) -> None:
    assert not both[1].surely(f"action {action}", (pre,), (post,), params)


def test_numbers_that_would_be_equal_in_a_word_are_not(both: tuple[Model, NativeModel]) -> None:
    for shift in (58, 60, 61, 63, 64):
        assert not both[1].surely("action Same", (5,), (5 + 2**shift,))
        assert not both[1].surely("action Grow", (5 + 2**shift,), (6,))


def test_a_value_that_is_nested_too_deeply_is_left_to_python(
    both: tuple[Model, NativeModel],
) -> None:
    deep: RuntimeValue = ()
    for _ in range(99):
        deep = (deep,)
    assert both[1].surely("action Same", (deep,), (deep,))
    assert not both[1].surely("action Same", ((deep,),), ((deep,),))


def test_what_is_not_there_is_not_accepted(both: tuple[Model, NativeModel]) -> None:
    opened = both[1]
    assert not opened.surely("action Nothing", (1,), (1,))
    assert not opened.surely("action Is", (1,), (1,), (1,) * 65)
    assert opened.surely("invariant Small", None, (3,))
    assert not opened.surely("invariant Small", None, (10,))
    assert opened.surely("initial", None, (0,))
    assert not opened.surely("initial", None, (1,))


def test_model_values_with_types_are_left_to_python(tmp_path: Path) -> None:
    typed = CONFIG.replace("Node = {n1, n2}", "Node = {T_a, T_b}").replace(
        "n1 = n1 n2 = n2", "T_a = T_a T_b = T_b"
    )
    _, opened = edges(tmp_path, typed)
    one = model_value("T_a")
    assert not opened.surely("action Same", (one,), (one,))
    assert opened.surely("action Same", (1,), (1,))


def test_a_constant_without_a_word_leaves_all_to_python(tmp_path: Path) -> None:
    module = tmp_path / "Edges.tla"
    module.write_text(MODULE.replace("Small == x < 10", "Small == x < Other"), "utf-8")
    config = CONFIG.replace("Other = o\no = o", f"Other = {2**60}").replace(
        "NEXT Next", "NEXT Same"
    )
    model = load_model(
        module, parse_config(config, module), native=True, kept=False, invariants=["Small"]
    )
    opened = NativeModel(model.source)
    assert not opened.surely("action Same", (1,), (1,))
    assert set(opened.unlowered.values()) >= {"a constant has no word"}
    with pytest.raises(NotSure, match="a constant has no word"):
        NativeSpace(model, table=1 << 12, nodes=1 << 12)


def test_a_full_array_is_begun_anew_and_forgets_nothing_that_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "_NODES", 4_000)
    _, opened = edges(tmp_path)
    for at in range(3_000):
        value = (at, at + 1, (at,))
        assert opened.surely("action Same", (value,), (value,))
        assert not opened.surely("action Same", (value,), ((at, at + 2, (at,)),))
    large = tuple(range(5_000))
    assert not opened.surely("action Same", (large,), (large,))
    assert opened.surely("action Same", (ONE,), (ONE,))


def test_machine_code_is_kept_and_another_text_has_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCKETPROOF_CACHE", str(tmp_path / "cache"))
    model, _ = edges(tmp_path)
    assert model.source.native is not None
    (kept,) = (tmp_path / "cache").glob("*.o")
    monkeypatch.setattr(native, "object_of", lambda _text: pytest.fail("it is kept"))
    assert native.code_of(model.source.native) == kept.read_bytes()[32:]
    whole = kept.read_bytes()
    for damaged in (whole[:-1], whole[:40] + bytes([whole[40] ^ 1]) + whole[41:], b""):
        kept.write_bytes(damaged)
        with pytest.raises(pytest.fail.Exception):
            native.code_of(model.source.native)
    kept.write_bytes(whole)
    kept.chmod(0o666)
    with pytest.raises(pytest.fail.Exception):
        native.code_of(model.source.native)
    kept.chmod(0o600)
    text = flat_text()
    monkeypatch.setattr(native, "flat_text", lambda: f"{text}# another\n")
    with pytest.raises(pytest.fail.Exception):
        native.code_of(model.source.native)


def test_an_object_has_the_functions_that_it_was_made_for(both: tuple[Model, NativeModel]) -> None:
    source = both[0].source.native
    assert source is not None
    few = replace(source, functions=source.functions[:1])
    assert native.code_of(few) != native.code_of(source)
    assert native.code_of(source) == native.code_of(replace(source))

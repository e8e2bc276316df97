"""Specifications that mean harm, or that nobody thought of: each ends in a typed error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tlatrace.errors import EvaluationError, SpecError, SubsetError, TlatraceError
from tlatrace.oracle import Model, load_model
from tlatrace.runtime.values import FALSE, TRUE

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("hostile")]

_EXPLOSIONS = {
    "Range": "{i \\in 1..1000000000 : i > 3}",
    "RangeSize": "Cardinality(1..1000000000)",
    "LongRange": "{-i : i \\in 1..(10^400)}",
    "Map": "{<<a, b, c>> : a \\in 1..1000, b \\in 1..1000, c \\in 1..1000}",
    "MapOfSets": "{<<a, b>> : a \\in SUBSET (1..18), b \\in SUBSET (1..18)}",
    "Function": "[i \\in 1..1000000000 |-> i]",
    "FunctionOfThree": "[a \\in 1..1000, b \\in 1..1000, c \\in 1..1000 |-> 0]",
    "Functions": "Cardinality([1..30 -> 1..30])",
    "ManyFunctions": "Cardinality([1..1000000 -> 1..1000000])",
    "Subsets": "{s \\in SUBSET (1..60) : Cardinality(s) = 1}",
    "SubsetsOfSubsets": "Cardinality(SUBSET SUBSET (1..30))",
    "Records": "Cardinality([a: 1..1000, b: 1..1000, c: 1..1000])",
    "Product": "Cardinality((1..1000) \\X (1..1000) \\X (1..1000))",
    "Sequences": "{s \\in Seq({1}) : Len(s) < 2}",
    "Orders": "Permutations(1..20)",
    "Power": "2^(2^40)",
    "Forever": "Endless(0)",
    "ForeverInside": "EndlessFunction[0]",
    "Doubled": "Double(<<1>>, 60)",
    "Squared": "Square(3, 60)",
    "Unbounded": "CHOOSE v : v \\notin {1}",
}

_RECURSIVE = """RECURSIVE Endless(_), Double(_, _), Square(_, _)
Endless(n) == <<Endless(n + 1)>>
EndlessFunction[n \\in Nat] == EndlessFunction[n + 1] + 1
Double(s, n) == IF n = 0 THEN s ELSE Double(s \\o s, n - 1)
Square(i, n) == IF n = 0 THEN i ELSE Square(i * i, n - 1)
"""


def _load(folder: Path, body: str, expressions: tuple[str, ...] = ()) -> Model:
    extended = "EXTENDS Integers, Sequences, FiniteSets, TLC"
    (folder / "Spec.tla").write_text(f"---- MODULE Spec ----\n{extended}\n{body}\n====\n")
    (folder / "Spec.cfg").write_text("INIT Init\nNEXT Next\n")
    return load_model(folder / "Spec.tla", folder / "Spec.cfg", expressions=expressions)


@pytest.fixture(scope="module")
def explosive(tmp_path_factory: pytest.TempPathFactory) -> Model:
    text = "".join([f"{name} == {value}\n" for name, value in _EXPLOSIONS.items()])
    body = f"VARIABLE x\nInit == x = 0\nNext == x' = x\n{_RECURSIVE}{text}"
    return _load(tmp_path_factory.mktemp("explosive"), body, tuple(_EXPLOSIONS))


@pytest.mark.parametrize("name", _EXPLOSIONS)
def test_what_would_fill_the_memory_has_no_value(explosive: Model, name: str) -> None:
    with pytest.raises(EvaluationError):
        explosive.evaluate(name)


def test_states_without_number_have_no_enumeration(tmp_path: Path) -> None:
    model = _load(
        tmp_path,
        "VARIABLE x\nInit == x \\in SUBSET (1..60)\nNext == x' \\in [1..60 -> 1..1000000000]",
    )
    with pytest.raises(EvaluationError, match="more than"):
        model.initial_states()
    with pytest.raises(EvaluationError, match="more than"):
        model.successors((0,))
    assert not model.is_initial((frozenset([61]),))
    assert model.is_initial((frozenset([1, 60]),))


def test_names_of_python_are_names_like_others(tmp_path: Path) -> None:
    model = _load(
        tmp_path,
        "VARIABLES __import__, exec, class, None, True\n__builtins__ == {1}\nlambda == 2\n"
        "eval(def) == def + lambda\nstop == 5\nUNSET == 6\ns0 == 7\n"
        "Init == __import__ = 1 /\\ exec = eval(1) /\\ class = {} /\\ None = 0 /\\ True = TRUE\n"
        "self(return) == exec' = return /\\ class' = {stop, UNSET, s0}\n"
        "Next == self(3) /\\ True' = ~True /\\ UNCHANGED <<__import__, None>>",
    )
    (state,) = model.initial_states()
    assert model.show(state)["True"] is True
    (step,) = model.successors(state)
    assert dict(zip(model.variables, step.post, strict=True)) == {
        "__import__": 1,
        "exec": 3,
        "class": frozenset([5, 6, 7]),
        "None": 0,
        "True": FALSE,
    }
    assert model.allows("self", (3,), state, step.post)


def test_strings_stay_strings(tmp_path: Path) -> None:
    texts = [r"a\"b\\c\n\t'''{0}%s", r"\"); import os; (\"", "s0 t0 s[0] {s0}"]
    body = "".join([f'T{at}(unused) == "{text}"\n' for at, text in enumerate(texts)])
    model = _load(
        tmp_path, f"VARIABLE x\n{body}Init == x = T0(0)\nNext == x' = <<T1(x), [a |-> T2(x)].a>>\n"
    )
    ((first,),) = model.initial_states()
    assert first == "a\"b\\c\n\t'''{0}%s"
    (step,) = model.successors((first,))
    assert step.post == (('"); import os; ("', "s0 t0 s[0] {s0}"),)


def test_a_variable_is_never_read_out_of_a_text(tmp_path: Path) -> None:
    """The writer replaces a variable that is read once: it once found it in a string."""
    model = _load(
        tmp_path,
        'VARIABLE x\nInit == x = 0\nSay(unused) == "the s0 of x"\nNext == x\' = Say(x)',
    )
    (step,) = model.successors((0,))
    assert step.post == ("the s0 of x",)
    assert model.allows(None, (), (0,), step.post)


_NESTED = {
    "IF": "x' = " + "".join([f"IF x = {i} THEN {i} ELSE " for i in range(1_000)]) + "0",
    "LET": "x' = " + "".join([f"LET a{i} == x + {i} IN " for i in range(1_000)]) + "a999",
    "sets": "x' = " + "{" * 390 + "x" + "}" * 390,
    "sums": "x' = " + "+".join(["x"] * 2_000),
    "quantifiers": "".join([f"\\E a{i} \\in {{x}} : " for i in range(60)]) + "x' = a59",
}


@pytest.mark.parametrize("what", _NESTED)
def test_what_is_nested_too_deeply_is_refused(tmp_path: Path, what: str) -> None:
    with pytest.raises(SubsetError, match="nested"):
        _load(tmp_path, f"VARIABLE x\nInit == x = 0\nNext == {_NESTED[what]}")


def test_ten_thousand_parentheses_are_no_nesting(tmp_path: Path) -> None:
    many = 10_000
    model = _load(
        tmp_path,
        f"VARIABLE x\nInit == x = {'(' * many}TRUE{')' * many}\nNext == x' = x",
    )
    assert model.initial_states() == [(TRUE,)]


def test_operators_that_double_each_other_are_refused(tmp_path: Path) -> None:
    sums = "".join([f"A{i}(n) == A{i - 1}(n) + A{i - 1}(n)\n" for i in range(1, 40)])
    acts = "".join([f"B{i} == B{i - 1} \\/ B{i - 1}\n" for i in range(1, 40)])
    head = "VARIABLE x\nInit == x = 0\nA0(n) == n + n\nB0 == x' = 0 \\/ x' = 1\n"
    for body in (f"{sums}Next == x' = A39(x)", f"{acts}Next == B39"):
        with pytest.raises(SubsetError, match="too much for the compiler"):
            _load(tmp_path, head + body)


def test_a_numeral_of_thousands_of_digits_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SubsetError, match="1000 digits"):
        _load(tmp_path, f"VARIABLE x\nInit == x = {'9' * 5_000}\nNext == x' = x")


@pytest.mark.parametrize(
    "text", [b"", b"\x00\xff\xfe", b"---- MODULE Spec ----\n====", b"---- MODULE Other ----\n===="]
)
def test_a_file_that_is_no_such_module_is_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "Spec.tla").write_bytes(text)
    (tmp_path / "Spec.cfg").write_text("INIT Init\nNEXT Next\n")
    with pytest.raises(SpecError):
        load_model(tmp_path / "Spec.tla", tmp_path / "Spec.cfg")


@pytest.mark.parametrize(
    "text", ["INIT", "INIT Init Next", "CONSTANT A = {", "CONSTANT A = " + "{" * 5_000, "\x00", '"']
)
def test_a_configuration_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "Spec.tla").write_text("---- MODULE Spec ----\nVARIABLE x\nInit == x = 1\n====\n")
    (tmp_path / "Spec.cfg").write_text(text)
    with pytest.raises(TlatraceError):
        load_model(tmp_path / "Spec.tla", tmp_path / "Spec.cfg")

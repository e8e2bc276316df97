r"""The community modules: what their Java says, built in, with no `--library`.

The answers of JAVA were worked out by hand from the Java that is named beside each (the jar itself
is not at hand): most are those where the published text says something else.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tlatrace.compiler.lower.builtin import NOT_DONE
from tlatrace.errors import EvaluationError, SubsetError
from tlatrace.oracle import Model, load_model
from tlatrace.runtime.lazy import Subsets, Union
from tlatrace.runtime.operators.community import fold_function, fold_set, set_to_sorted
from tlatrace.runtime.values import TRUE, Fcn, RuntimeValue, from_runtime
from tlatrace.selfcheck.expressions import Is, model_answers, read_corpus, tlc_answers
from tlatrace.tools import module_folders
from tlatrace.tools.module_folders import COMMUNITY

SUBSET: Final = Path(__file__).parents[3] / "spec" / "SUBSET.md"
EXTENDED: Final = (
    "EXTENDS Integers, Sequences, FiniteSets, TLC, Bitwise, Combinatorics, Graphs, BagsExt"
)

JAVA: Final[list[tuple[str, list[tuple[str, str | None]]]]] = [
    (
        "SequencesExt.SelectInSubSeq: an index in the whole sequence",
        [
            ('SelectInSubSeq(<<"x", "y", "z">>, 2, 3, LAMBDA e : e = "z")', "3"),
            ("SelectInSubSeq(<<7, 0, 7>>, 2, 3, LAMBDA e : e = 7)", "3"),
            ("SelectInSubSeq(<<7, 0, 7>>, 2, 4, LAMBDA e : e = 7)", None),
            ("SelectInSubSeq(<<7, 0, 7>>, 0, 2, LAMBDA e : e = 7)", None),
        ],
    ),
    (
        "SequencesExt.SelectLastInSubSeq: an index in the whole sequence",
        [
            ("SelectLastInSubSeq(<<0, 7, 7, 0>>, 3, 4, LAMBDA e : e = 7)", "3"),
            ("SelectLastInSubSeq(<<0, 7>>, 3, 1, LAMBDA e : e = 7)", "0"),
        ],
    ),
    (
        "SequencesExt.selectInSeq, selectLastInSeq, removeFirstMatch: no look beyond the first",
        [
            ('SelectInSeq(<<4, "a">>, LAMBDA e : e > 3)', "1"),
            ('SelectLastInSeq(<<"a", 4>>, LAMBDA e : e > 3)', "2"),
            ('RemoveFirstMatch(<<4, "a">>, LAMBDA e : e > 3)', '["a"]'),
        ],
    ),
    (
        "FiniteSetsExt.foldSet: the first element is the innermost",
        [("FoldSet(LAMBDA e, acc : acc + e, 100, {1, 2})", "103")],
    ),
    (
        "Functions.foldFunction, SequencesExt.foldSeq: the first index is the innermost",
        [
            ("FoldFunction(LAMBDA e, acc : Append(acc, e), <<>>, <<8, 9>>)", "[8,9]"),
            ("FoldSeq(LAMBDA e, acc : Append(acc, e), <<>>, <<8, 9>>)", "[8,9]"),
            ("FoldFunction(LAMBDA e, acc : <<e, acc>>, 0, [i \\in {4, 2} |-> i])", "[4,[2,0]]"),
        ],
    ),
    (
        "BagsExt.foldBag: the base once, the element as the right operand",
        [
            ("FoldBag(LAMBDA acc, e : acc + e, 100, 1 :> 2 @@ 5 :> 1)", "107"),
            ('FoldBag(LAMBDA acc, e : Append(acc, e), <<>>, "p" :> 2)', '["p","p"]'),
            ("FoldBag(LAMBDA acc, e : acc + e, 0, 1 :> 0)", None),
        ],
    ),
    (
        "SequencesExt.foldLeft, foldRight: of sequences only",
        [
            ("FoldLeft(LAMBDA acc, e : acc + e, 0, [i \\in 0..1 |-> 5])", None),
            ("FoldRight(LAMBDA e, acc : acc + e, [i \\in 0..1 |-> 5], 0)", None),
            ("FoldLeft(LAMBDA acc, e : 10 * acc + e, 0, <<1, 2, 3>>)", "123"),
            ("FoldRight(LAMBDA e, acc : 10 * acc + e, <<1, 2, 3>>, 0)", "321"),
        ],
    ),
    (
        "SequencesExt.SetToSeq: the elements in TLC's order",
        [("SetToSeq({30, 10, 20})", "[10,20,30]")],
    ),
    (
        "SequencesExt.AllSubSeqs: in the order of the sequence",
        [("AllSubSeqs(<<1, 2>>)", '{"#set":[[1,2],[1],[2],[]]}')],
    ),
    (
        "SequencesExt.isPrefix, replaceFirstSubSeq, replaceAllSubSeq: of strings, too",
        [
            ('IsPrefix("ro", "rocket")', "true"),
            ('ReplaceFirstSubSeq("_", "oo", "boot ooze")', '"b_t ooze"'),
            ('ReplaceAllSubSeqs("_", "oo", "booot oo")', '"b_ot _"'),
            ('ReplaceAllSubSeqs("_", "", "xy")', '"_x_y"'),
        ],
    ),
    ("Functions.antiFunction: of injective functions only", [("AntiFunction(<<3, 3>>)", None)]),
    (
        "Bitwise.And, Or, Xor: two's complement",
        [("(-2) & 7", "6"), ("8 | (-3)", "-3"), ("6 ^^ (-1)", "-7"), ("(-4) & (-6)", "-8")],
    ),
    ("Bitwise.NotR: no bit of a negative number", [("Not(-7)", "0"), ("Not(10)", "5")]),
    (
        "Bitwise.shiftR: 32 bits, and five bits of the distance",
        [("shiftR(-2, 1)", "2147483647"), ("shiftR(9, 32)", "9"), ("shiftR(9, 35)", "1")],
    ),
    ("Combinatorics.chse: none of fewer", [("choose(3, 4)", "0"), ("choose(6, 3)", "20")]),
    (
        "AbstractGraphs.areConnectedIn, simplePath: edges that are none are skipped",
        [
            ("AreConnectedIn(1, 2, [node |-> 1..2, edge |-> {<<1, 2>>, <<1>>}])", "true"),
            ("SimplePath([node |-> {1}, edge |-> {<<1, 1>>, <<1, 9>>}])", '{"#set":[[1]]}'),
            ('AreConnectedIn(7, "x", EmptyGraph)', "false"),
        ],
    ),
    ("DyadicRationals.reduce: zero, too", [("D!Half(D!Zero)", '{"den":1,"num":0}')]),
]


@pytest.mark.java
def test_both_engines_say_what_java_says(tmp_path: Path) -> None:
    cases = [(place, *case) for place, group in JAVA for case in group]
    lines = [f"Case{at:02d} == {text}" for at, (_, text, _) in enumerate(cases)]
    _write(tmp_path, "Cases", EXTENDED, "D == INSTANCE DyadicRationals", *lines)
    corpus = read_corpus(tmp_path)
    _write(tmp_path, "Asked", "EXTENDS Cases", "VARIABLE v", "Init == v = 0", "Next == UNCHANGED v")
    names = [expression.name for expression in corpus]
    model = load_model(tmp_path / "Asked.tla", expressions=names)
    mine = model_answers(corpus, lambda name: from_runtime(model.evaluate(name)))
    tlc = tlc_answers(corpus, tmp_path)
    assert len(corpus) == len(cases)
    for name, (place, text, wanted) in zip(names, cases, strict=True):
        for answer in (mine[name], tlc[name]):
            found = answer.text if isinstance(answer, Is) else None
            assert found == wanted, (place, text, answer)


def _write(folder: Path, module: str, *lines: str) -> Path:
    path = folder / f"{module}.tla"
    path.write_text("\n".join([f"---- MODULE {module} ----", *lines, "===="]))
    return path


def _model(path: Path, init: str = "Start", next_: str = "Go") -> Model:
    path.with_suffix(".cfg").write_text(f"INIT {init}\nNEXT {next_}\n")
    return load_model(path, path.with_suffix(".cfg"))


@pytest.mark.java
def test_operators_that_commute_by_their_text_fold_any_number_of_elements(tmp_path: Path) -> None:
    path = _write(
        tmp_path,
        "Folding",
        "EXTENDS Integers, FiniteSetsExt",
        "VARIABLE v",
        "none == [i \\in 0..1 |-> 0]",
        "Larger(a, b) == IF a >= b THEN a ELSE b",
        "Both(op(_, _), S) == FoldSet(op, 0, S)",
        r"Start == v \in {{}, 1..40}",
        r"Go == \/ v' = FoldSet(LAMBDA x, acc : acc + x * x, 5, v)",
        r"      \/ v' = FoldSet(Larger, 0, v)",
        r"      \/ v' = Both(LAMBDA x, acc : Larger(acc, x - 3), v)",
        r"      \/ v' = FoldSet(LAMBDA x, acc : IF x < 4 THEN acc ELSE {x} \cup acc, {}, v)",
        r"      \/ v' = FoldSet(LAMBDA x, acc : [acc EXCEPT ![x % 2] = @ + x], none, v)",
    )
    model = _model(path)
    found = {step.post[0] for step in model.successors((frozenset(range(1, 41)),))}
    assert found == {5 + 22140, 40, 37, frozenset(range(4, 41)), Fcn({0: 420, 1: 400})}


@pytest.mark.java
def test_an_operator_that_does_not_commute_has_no_value(tmp_path: Path) -> None:
    operators = [
        "x - acc",
        "2 * acc + x",
        "IF acc > 30 THEN acc ELSE acc + x",
        "IF x > 5 THEN acc + x ELSE acc * 2",
        "IF x > acc THEN acc + 1 ELSE x",
        "acc + acc + x",
        "LET more == acc + x IN more * x",
    ]
    steps = [
        f"Go{at} == v' = FoldSet(LAMBDA x, acc : {operator}, 1, v)"
        for at, operator in enumerate(operators)
    ]
    head = ("EXTENDS Integers, FiniteSetsExt", "VARIABLE v", "Start == v = 0")
    path = _write(tmp_path, "Folding", *head, *steps)
    for at in range(len(operators)):
        model = _model(path, next_=f"Go{at}")
        with pytest.raises(EvaluationError, match="orders to be tried"):
            model.successors((frozenset(range(1, 13)),))
        with pytest.raises(EvaluationError, match="depends on the order"):
            model.successors((frozenset([1, 2, 7, 31]),))
        assert len(model.successors((frozenset([3]),))) == 1


@pytest.mark.java
def test_a_module_of_the_specification_hides_ours(tmp_path: Path) -> None:
    _write(tmp_path, "FiniteSetsExt", "FoldSet(op(_, _), base, S) == <<base, S>>")
    lines = ("Init == v = 0", "Next == v' = FoldSet(LAMBDA x, y : x, 3, {4})")
    path = _write(tmp_path, "Own", "EXTENDS FiniteSetsExt", "VARIABLE v", *lines)
    (step,) = load_model(path).successors((0,))
    assert step.post == ((3, frozenset([4])),)


@pytest.mark.java
def test_a_module_of_a_library_hides_ours(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    _write(library, "Functions", "Range(f) == 17")
    lines = ("Init == v = Range(<<1>>)", "Next == UNCHANGED v")
    path = _write(tmp_path, "Own", "EXTENDS Functions", "VARIABLE v", *lines)
    assert load_model(path, libraries=[library]).initial_states() == [(17,)]


REFUSED: Final = [
    (
        'J!ndJsonDeserialize("log")',
        "ndJsonDeserialize of Json is not evaluated: it reads or writes",
    ),
    ("IOEnv", "IOEnv of IOUtils is not evaluated: it reads or writes outside"),
    ('CSVWrite("%s", <<1>>, "f")', "CSVWrite of CSV is not evaluated"),
    ("Trace", "Trace of TLCExt is not evaluated: it shows or steers a run"),
    ("S!Group(<<>>, <<>>)", "Group of SVG is not evaluated: it makes text for people"),
    ("HTMLNewLine", "HTMLNewLine of HTML is not evaluated"),
    ("DotDiGraph(1, LAMBDA x : x, LAMBDA x : x)", "DotDiGraph of GraphViz is not evaluated"),
    ("Clock", "Clock of ShiViz is not evaluated"),
    ('ChiSquare(<<1>>, <<1>>, "0.1")', "ChiSquare of Statistics is not evaluated"),
    (
        "CausalOrder(<<>>, LAMBDA x : x, LAMBDA x : x, LAMBDA x : x)",
        "CausalOrder of VectorClocks is not evaluated: TLC takes one order of several",
    ),
]


@pytest.mark.java
def test_what_has_no_value_is_refused_where_it_is_used(tmp_path: Path) -> None:
    extended = "EXTENDS IOUtils, CSV, TLCExt, HTML, GraphViz, ShiViz, Statistics, VectorClocks"
    uses = [f"Use{at} == v' = {text}" for at, (text, _) in enumerate(REFUSED)]
    named = ["J == INSTANCE Json", "S == INSTANCE SVG", "VARIABLE v"]
    path = _write(tmp_path, "Uses", extended, *named, "Start == v = 0", "Go == v' = 1", *uses)
    assert len(_model(path).successors((0,))) == 1
    for at, (_, reason) in enumerate(REFUSED):
        with pytest.raises(SubsetError, match=reason) as caught:
            _model(path, next_=f"Use{at}")
        assert caught.value.line == at + 8


@pytest.mark.java
def test_a_module_with_proofs_can_be_read(tmp_path: Path) -> None:
    path = _write(
        tmp_path,
        "Proved",
        "EXTENDS FiniteSetTheorems, TLAPS",
        "VARIABLE v",
        "Start == v = {}",
        "Go == v' = v \\cup {1}",
        "Inv == IsFiniteSet(v)",
        "Induction == IsWellFoundedOn({}, v)",
        "THEOREM Kept == Start /\\ [][Go]_v => []Inv",
        "<1>1. Start => Inv BY FS_EmptySet DEF Start, Inv",
        "<1>2. Inv /\\ [Go]_v => Inv' BY FS_AddElement, SMTT(10) DEF Inv, Go",
        "<1>. QED BY <1>1, <1>2, PTL",
    )
    assert len(_model(path).successors((frozenset(),))) == 1
    with pytest.raises(SubsetError, match="IsWellFoundedOn of WellFoundedInduction"):
        _model(path, init="Induction")


@pytest.mark.java
def test_every_community_module_can_be_had_beside_the_others(tmp_path: Path) -> None:
    names = sorted(path.stem for path in COMMUNITY.glob("*.tla"))
    instances = [f"{name}_ == INSTANCE {name}" for name in names]
    own = ("VARIABLE v", "Start == v = SequencesExt_!Last(<<7>>)", "Go == UNCHANGED v")
    path = _write(tmp_path, "All", *instances, *own)
    assert _model(path).initial_states() == [(7,)]


@pytest.mark.java
def test_a_model_is_kept_under_the_text_of_the_community_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fingerprint() -> str:
        lines = ("EXTENDS FiniteSetsExt", "VARIABLE v", "Start == v = 0", "Go == v' = SumSet({1})")
        return _model(_write(tmp_path, "Kept", *lines)).source.fingerprint

    before = fingerprint()
    assert fingerprint() == before
    other = tmp_path / "community"
    other.mkdir()
    for path in COMMUNITY.glob("*.tla"):
        (other / path.name).write_text(path.read_text() + "changed")
    monkeypatch.setattr(module_folders, "COMMUNITY", other)
    assert fingerprint() != before


def test_a_fold_has_a_value_if_all_orders_have_it() -> None:
    def at_most_nine(element: RuntimeValue, folded: RuntimeValue) -> RuntimeValue:
        assert isinstance(element, int)
        assert isinstance(folded, int)
        return min(9, folded + element)

    assert fold_set(at_most_nine, 0, frozenset([1, 2, 3]), False) == 6
    assert fold_set(at_most_nine, 0, frozenset(range(1, 30)), False) == 9


def test_orders_that_lead_to_one_value_on_different_ways_are_tried() -> None:
    def to_the_end(element: RuntimeValue, folded: RuntimeValue) -> RuntimeValue:
        assert isinstance(folded, tuple)
        return "done" if len(folded) == 2 else (*folded, element)

    assert fold_set(to_the_end, (), frozenset([1, 2, 3]), False) == "done"
    with pytest.raises(EvaluationError, match="depends on the order"):
        fold_set(to_the_end, (), frozenset([1, 2]), False)


def test_an_order_without_a_value_leaves_the_fold_without_one() -> None:
    def picky(element: RuntimeValue, folded: RuntimeValue) -> RuntimeValue:
        if (element, folded) == (2, 0):
            raise EvaluationError("2 may not come first")
        return TRUE

    with pytest.raises(EvaluationError, match="2 may not come first"):
        fold_set(picky, 0, frozenset([1, 2]), False)


def test_a_union_that_java_may_list_twice_has_no_fold() -> None:
    both = Union(Subsets(frozenset([1])), frozenset([frozenset()]))
    with pytest.raises(EvaluationError, match="twice"):
        fold_set(lambda _, folded: folded, 0, both, True)


def test_the_values_of_a_function_are_folded_by_key_if_keys_are_integers() -> None:
    def listed(element: RuntimeValue, folded: RuntimeValue) -> RuntimeValue:
        assert isinstance(folded, tuple)
        return (*folded, element)

    assert fold_function(listed, (), Fcn({7: "c", 0: "a", 3: "b"}), False) == ("a", "b", "c")
    with pytest.raises(EvaluationError, match="depends on the order"):
        fold_function(listed, (), Fcn({"x": 1, "y": 2}), False)


@pytest.mark.parametrize(
    "before",
    [
        lambda _one, _other: False,
        lambda _one, _other: True,
        lambda one, other: (one, other) in {(1, 2), (2, 3), (3, 1)},
        lambda one, other: one // 2 < other // 2,
    ],
    ids=["never", "always", "in a circle", "with ties"],
)
def test_a_set_that_can_be_sorted_in_two_ways_is_not_sorted(before: object) -> None:
    assert callable(before)
    with pytest.raises(EvaluationError, match="more than one way"):
        set_to_sorted(frozenset([1, 2, 3]), before)
    assert set_to_sorted(frozenset([1]), before) == (1,)


def test_every_module_says_what_it_is_for() -> None:
    for path in COMMUNITY.glob("*.tla"):
        lines = path.read_text().split("\n")
        assert f" MODULE {path.stem} " in lines[0]
        assert lines[1].startswith("(* "), path
        assert max(map(len, lines)) <= 100, path


def test_the_document_names_every_module_and_operator() -> None:
    document = SUBSET.read_text("utf-8")
    words = set(re.findall(r"\w+", document))
    for path in COMMUNITY.glob("*.tla"):
        text = path.read_text("utf-8")
        names = set(re.findall(r"^([A-Za-z]\w*)(?:\(|\[| ==)", text, re.MULTILINE))
        assert names or "THEOREM" in text
        if path.stem in NOT_DONE or path.stem == "TLAPS":
            names = set()  # all of them, says the document
        assert sorted({path.stem, *names} - words) == []


def test_the_document_names_the_java_of_each_difference() -> None:
    document = SUBSET.read_text("utf-8")
    for place, cases in JAVA:
        named = re.findall(r"[\w.]+", place.partition(":")[0])
        assert named
        assert cases
        assert [name for name in named if name not in document] == []

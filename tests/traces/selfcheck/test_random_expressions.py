"""Random expressions, and what the comparison of their values detects."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from tests.traces.selfcheck.asked_once import both
from tlatrace.errors import ToolError
from tlatrace.selfcheck.expressions import Answer, Is, Raises, read_answers
from tlatrace.selfcheck.random_expressions import examine, questions
from tlatrace.selfcheck.random_expressions.categories import categories, rewritten_categories
from tlatrace.selfcheck.random_expressions.examine import (
    draw_question,
    examine_random_expressions,
)
from tlatrace.selfcheck.random_expressions.questions import Question, model_answers, tlc_answers
from tlatrace.selfcheck.random_expressions.rewriting import guarded
from tlatrace.selfcheck.random_expressions.shrink import Differing, differ, shrunk
from tlatrace.selfcheck.random_expressions.term import (
    Term,
    atom,
    closed_parts,
    listed,
    smaller,
    written,
)
from tlatrace.tools.tlc import Outcome

DRAWN: Final = tuple([draw_question(random.Random(number)) for number in range(1500)])
SUM: Final = Term("+", ("", " + ", ""), (atom("1"), atom("2")))
NO_SET: Final = Term("join", ("", " \\cup ", ""), (atom("{}"), atom("1")))
ALL: Final = Term(
    "quantified",
    ("\\A n_1 \\in ", " : ", ""),
    (
        listed("{", [SUM, atom("4")], "}", "set"),
        Term("order", ("n_1", " > ", ""), (SUM, atom("0"))),
    ),
    frozenset({"n_1"}),
)


def texts(terms: Sequence[Term]) -> set[str]:
    return {written(term) for term in terms}


# ---- drawing ----


def test_the_same_seed_draws_the_same() -> None:
    again = [draw_question(random.Random(number)).text for number in range(50)]
    assert again == [question.text for question in DRAWN[:50]]


def test_many_forms_and_states_are_drawn() -> None:
    forms: Counter[str] = Counter()

    def count(term: Term) -> None:
        forms[term.form] += 1
        for part in term.parts:
            count(part)

    for question in DRAWN:
        count(question.term)
    assert len(forms) > 45
    assert min(forms.values()) >= 5
    assert {question.state for question in DRAWN} == {None, 0, 1, 2, 3}


@pytest.mark.parametrize(
    "text", ["Nat", "SUBSET", "EXCEPT", "CHOOSE", "\\E <<", "LAMBDA", "FALSE /\\ ", "1..", "@@"]
)
def test_every_kind_of_expression_is_drawn(text: str) -> None:
    assert any(text in question.text for question in DRAWN)


# ---- writing, and making small ----


def test_expressions_are_written_in_parentheses() -> None:
    assert written(ALL) == "(\\A n_1 \\in ({(1 + 2), 4}) : (n_1(1 + 2) > 0))"
    assert written(listed("<<", [], ">>")) == "<<>>"


def test_a_smaller_expression_is_closed() -> None:
    found = texts(list(smaller(ALL)))
    assert "(1 + 2)" in found
    assert "({(1 + 2), 4})" in found
    assert "(\\A n_1 \\in ({1, 4}) : (n_1(1 + 2) > 0))" in found
    assert not any("n_1" in text and "\\A" not in text for text in found)
    assert "(n_1(1 + 2) > 0)" not in texts(list(closed_parts(ALL)))


def test_a_local_name_is_exchanged_for_its_value() -> None:
    body = Term("equal", ("", " = ", ""), (atom("n_1"), atom("1")))
    let = Term("let", ("LET n_1 == ", " IN ", ""), (SUM, body), frozenset({"n_1"}))
    assert "((1 + 2) = 1)" in texts(list(smaller(let)))
    applied = Term("let", let.texts, (SUM, atom("n_1[1]")), let.binds)
    assert not any("n_1" in text and "LET" not in text for text in texts(list(smaller(applied))))


def broken(questions: Sequence[Question]) -> list[Answer]:
    """Answer as a model whose `+` is one too large."""
    return [Is("4" if "+" in question.text else "0") for question in questions]


def test_what_differs_is_made_small() -> None:
    def ask(questions: Sequence[Question]) -> list[tuple[Answer, Answer]]:
        return [
            (Is("3") if "+" in question.text else Is("0"), answer)
            for question, answer in zip(questions, broken(questions), strict=True)
        ]

    (found,) = shrunk([Differing(Question(ALL, 2), Is("3"), Is("4"))], ask)
    assert found.question == Question(SUM, 2)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (Is("1"), Is("1"), False),
        (Is("1"), Is("2"), True),
        (Is("1"), Is("true"), True),
        (Is("1"), Raises("no"), True),
        (Raises("no"), Raises("never"), False),
    ],
)
def test_answers_differ_by_value_or_by_having_one(
    one: Answer, other: Answer, expected: bool
) -> None:
    assert differ(one, other) is expected
    assert differ(other, one) is expected


def test_what_tlc_leaves_unevaluated_has_no_value() -> None:
    found = read_answers(['"Rp__At P1"', "[x \\in {1} |-> <expression 2>]"], may_be_lazy=True)
    assert isinstance(found["P1"], Raises)


# ---- categories ----


def category(term: Term, tlc: Answer, model: Answer, operands: Sequence[str] = ()) -> str | None:
    given = iter(operands)
    (found,) = categories(
        [Differing(Question(term, None), tlc, model)],
        lambda asked: [Is(next(given, "0")) for _ in asked],
    )
    return found


def test_a_difference_is_documented_only_where_everything_fits() -> None:
    no_set = Raises("an integer is not a set")
    subset = Term("subset", ("", " \\subseteq ", ""), (atom("{}"), atom("1")))
    empty = ['{"#set":[]}', "1"]
    assert category(subset, Is("true"), no_set, empty) == "an operand that TLC does not look at"
    assert category(subset, Is("true"), Raises("1 \\div 0"), empty) is None
    assert category(subset, Is("true"), Is("false"), empty) is None
    conjunction = Term("/\\", ("", " /\\ ", ""), (atom("FALSE"), atom("1")))
    assert category(conjunction, Is("false"), no_set, ["false", "1"]) is None


def test_elements_that_cannot_be_ordered_are_told_by_their_values() -> None:
    pair = listed("{", [atom("a"), atom("b")], "}", "set")
    none = Raises("an error")
    mixed, plain = '{"#set":[["a"],[1]]}', '{"#set":[["a"],["b"]]}'
    assert category(pair, none, Is(mixed), ["[1]", '["a"]']) == "elements that TLC cannot order"
    beside = '{"#set":[[1],{"a":0,"b":0}]}'
    assert category(pair, none, Is(beside), ["1", "1"]) == "elements that TLC cannot order"
    other = '{"#set":[{"#map":[[2,0],[3,0]]},{"a":0,"b":0}]}'
    assert category(pair, none, Is(other), ["1", "1"]) == "elements that TLC cannot order"
    records = '{"#set":[{"a":0,"b":1},{"a":0,"b":0}]}'
    assert category(pair, none, Is(records), ["1", "1"]) is None
    assert category(pair, none, Is(plain), ['["b"]', '["a"]']) is None


def test_an_order_decides_only_where_several_elements_are_looked_at() -> None:
    body = Term("quantified", ("\\A n_1 \\in ", " : 1", ""), (atom("s"), atom("")))
    none = Raises("an integer is not a boolean")
    several, one = '{"#set":["a","b"]}', '{"#set":["a"]}'
    assert category(body, Is("false"), none, [several, "1"]) == "an order that cannot be seen"
    assert category(body, Is("false"), none, [one, "1"]) is None
    assert category(body, none, Is("false"), [several, "1"]) is None
    alike = Term("equal", ("", " = ", ""), (atom("a"), atom("b")))
    unlike = Raises("an integer cannot be compared with a string: 1 = 'a'")
    assert category(alike, Is("false"), unlike, ['["a",1]', '["b","a"]']) is not None
    assert category(alike, Is("false"), unlike, ["1", '"a"']) is None


def test_a_set_of_strings_and_sequences_is_documented_where_nothing_else_differs() -> None:
    pair = listed("{", [atom("r"), atom("s")], "}", "set")
    two = Is('{"#set":[{"b":""},{"b":[]}]}')
    assert category(pair, Is('{"#set":[{"b":""}]}'), two) == "a string as a sequence"
    assert category(pair, Is('{"#set":[{"b":[]}]}'), two) == "a string as a sequence"
    assert category(pair, Is('{"#set":[{"b":[1]}]}'), two) is None
    assert category(pair, Is('{"#set":[]}'), two) is None
    assert category(pair, Is('["a","b"]'), Is('"ab"')) == "a string as a sequence"
    assert category(pair, Is('["a","b"]'), Is('"ba"')) is None


def test_a_string_is_looked_for_among_sequences_by_tlc_only() -> None:
    member = Term("member", ("", " \\in ", ""), (atom('"a"'), atom("S")))
    among = Raises("a string cannot be looked for in a Cartesian product")
    assert category(member, Is("false"), among) == "a string as a sequence"
    other = Raises("an integer cannot be looked for in a Cartesian product")
    assert category(member, Is("false"), other) is None
    assert category(member, Raises("an error"), Is("false")) is None


def test_choose_looks_through_elements_that_tlc_cannot_order_or_has_come_to_first() -> None:
    texts_ = ("CHOOSE n_1 \\in ({", "} \\cup ", ") : n_1 = ", "")
    chosen = Term("choose", texts_, (atom("e"), atom("S"), atom("e")), frozenset({"n_1"}))
    none, record = Raises("an error"), '{"a":1,"b":"a"}'
    mixed = [record, '{"#set":[[1]]}', record]
    assert category(chosen, none, Is(record), mixed) == "elements that TLC cannot order"
    plain = [record, '{"#set":[{"a":2,"b":"a"}]}', record]
    assert category(chosen, none, Is(record), plain) is None
    unlike = Raises('a string cannot be compared with a set: "" = {-1}')
    assert category(chosen, Is(record), unlike, plain) == "an order that cannot be seen"
    assert category(chosen, Is(record), unlike, [record, '{"#set":[]}', record]) is None
    assert category(chosen, Is(record), Raises("1 \\div 0"), plain) is None


def test_the_fields_of_a_record_are_asked_in_an_order_that_cannot_be_seen() -> None:
    member = Term("member", ("", " \\in ", ""), (atom("r"), atom("[a : Nat, b : STRING]")))
    none, false = Raises("a boolean cannot be looked for in Nat"), Is("false")
    nothing = '{"#set":[]}'
    for own in ('{"a":true,"b":1}', '{"a":true,"c":1}'):
        assert category(member, false, none, [own, nothing]) == "an order that cannot be seen"
        assert category(member, Is("true"), none, [own, nothing]) is None
        assert category(member, none, false, [own, nothing]) is None
    others = ('{"c":1,"d":1}', '{"a":true}', "[1,2]")
    assert {category(member, false, none, [other, nothing]) for other in others} == {None}


def test_the_cardinality_of_an_intersection_with_no_set_is_told_by_the_intersection() -> None:
    counted = Term("cardinality", ("Cardinality(", ")"), (NO_SET,))
    none = Raises("an integer is not a set")
    assert category(counted, Is("0"), none) == "an operand that TLC does not look at"
    assert category(replace(counted, parts=(atom("0"),)), Is("0"), none) is None


def test_several_names_are_drawn_from_nothing() -> None:
    def drawn(names: str) -> Term:
        texts = (f"\\E {names} \\in ", " : ", "")
        bound = frozenset(names.strip("<>").split(", "))
        return Term("quantified", texts, (atom("SUBSET {}"), atom("{1}")), bound)

    none, empty = Raises("a set is not a boolean"), ['{"#set":[{"#set":[]}]}', '{"#set":[1]}']
    assert category(drawn("n_1, n_2"), Is("false"), none, empty) == "several names from SUBSET {}"
    assert category(drawn("n_1"), Is("false"), none, empty) is None
    assert category(drawn("<<n_1, n_2>>"), Is("false"), none, empty) is None
    other = ['{"#set":[{"#set":[1]}]}', '{"#set":[1]}']
    assert category(drawn("n_1, n_2"), Is("false"), none, other) is None
    assert category(drawn("n_1, n_2"), Raises("an error"), Is("true"), empty) is None


def test_an_empty_function_has_keys_of_its_own_where_it_stays_empty() -> None:
    term = Term("except", ("[", " EXCEPT !.b = ", "]"), (atom("f"), atom("0")))
    none = Raises("a string is no index of a sequence")
    assert category(term, Is("[]"), none, ["[]", "0"]) == "EXCEPT of an empty function"
    assert category(term, Is("0"), none, ["[]", "0"]) is None
    assert category(term, Is("[]"), Raises("1 \\div 0"), ["[]", "0"]) is None
    assert category(term, Raises("an error"), Is("[]"), ["[]", "0"]) is None


def test_an_operand_that_is_no_set_is_explained_only_where_one_is_empty() -> None:
    term = Term("powerset", ("SUBSET ", ""), (atom("f"),))
    none, found = Raises("a function is not a set"), Is('{"#set":[{"#set":[]}]}')
    assert category(term, found, none, ["[]"]) == "an operand that TLC does not look at"
    assert category(term, found, none, ["[1]"]) is None
    assert category(term, found, Raises("an integer is not a set"), ["1"]) is None
    term = Term("records", ("[a : ", ", b : ", "]"), (atom("{}"), atom("f")))
    empty = '{"#set":[]}'
    assert category(term, Is(empty), none, [empty]) == "an operand that TLC does not look at"
    assert category(term, Is(empty), none, ['{"#set":[1]}']) is None


def test_elements_cannot_be_ordered_only_where_tlc_compares_them() -> None:
    none, among = Raises("an error"), ['{"#set":[{"#set":[1,2]}]}', "true"]
    texts_ = ("\\A <<n_1, n_2>> \\in ", " : ", "")
    pattern = Term("quantified", texts_, (atom("S"), atom("TRUE")), frozenset({"n_1", "n_2"}))
    assert category(pattern, none, Is("true"), among) is None  # a set is no tuple
    joined = Term("join", ("", " \\cap ", ""), (atom("S"), atom("T")))
    empty = Is('{"#set":[]}')
    sets = ['{"#set":[{"#set":[1]}]}', '{"#set":[{"#set":["a"]}]}']
    assert category(joined, none, empty, sets) == "elements that TLC cannot order"
    assert category(joined, none, empty, [sets[0], '{"#set":[{"#set":[2]}]}']) is None


FOUND_FIRST: Final = Term(
    "member",
    ("", " \\in ", ""),
    (atom("FALSE"), listed("{", [atom("FALSE"), atom("0")], "}", "set")),
)
UNSEEN: Final = Term(
    "len",
    ("Len(<<", ">>)"),
    (Term("function", ("[n_1 \\in ", " |-> ", "]"), (atom("0"), atom("1")), frozenset({"n_1"})),),
)
PAIR: Final = Term("function", ("[n_3 \\in 1..2 |-> ", "]"), (atom("n_3"),), frozenset({"n_3"}))


def fitted(element: Term) -> Term:
    parts = (listed("{", [element], "}", "set"), atom("TRUE"))
    texts_ = ("\\E <<n_1, n_2>> \\in ", " : ", "")
    return Term("quantified", texts_, parts, frozenset({"n_1", "n_2"}))


SETS_OF_FUNCTIONS: Final = "sets of functions, compared by what they are made of"


def functions(keys: str, images: str) -> Term:
    return Term("functions", ("[", " -> ", "]"), (atom(keys), atom(images)))


def equal(left: Term, right: Term) -> Term:
    return Term("equal", ("", " = ", ""), (left, right))


@pytest.mark.java
def test_what_is_written_otherwise_tells_the_category() -> None:
    unlisted = Term("function", ("[n_1 \\in ", " |-> ", "]"), (atom("{5}"), NO_SET))
    numbered = Term("except", ("[", " EXCEPT ![1] = ", "]"), (atom("<<>>"), atom("Head({})")))
    partly = "a set or function that TLC does not look at as a whole"
    outside = Term(
        "except", ("[", " EXCEPT ![", "] = ", "]"), (atom("<<1>>"), atom("3"), atom("1[1]"))
    )
    nothing = Term("function", ("[n_1 \\in ", " |-> ", "]"), (atom("{}"), atom("5")))
    field = Term("except", ("[", " EXCEPT !.a = ", " + @]"), (nothing, atom('"a"')))
    filtered = Term(
        "filter", ("{n_1 \\in ", " : ", "}"), (atom("1"), atom('"a"')), frozenset({"n_1"})
    )
    expected = {
        FOUND_FIRST: partly,
        UNSEEN: partly,
        replace(UNSEEN, parts=(filtered,)): partly,
        equal(functions("{}", "{}"), functions("{}", "{1}")): SETS_OF_FUNCTIONS,
        equal(functions("{1}", "{}"), functions("{2}", "{}")): SETS_OF_FUNCTIONS,
        fitted(PAIR): "a tuple pattern and a function, by how it was made",
        outside: "EXCEPT outside of the domain",
        field: "EXCEPT outside of the domain",
        equal(atom("<<1>>"), unlisted): partly,
        numbered: "EXCEPT outside of the domain",
    }
    asked = [Question(term, None) for term in expected]
    found = [Differing(q, *pair) for q, pair in zip(asked, both(asked), strict=True)]
    assert all(differ(one.tlc, one.model) for one in found)
    assert categories(found, model_answers) == [None] * len(found)
    assert rewritten_categories(found, both) == list(expected.values())
    exchanged_ = [Differing(one.question, one.model, one.tlc) for one in found]
    assert rewritten_categories(exchanged_, both) == [None] * len(found)
    others = [Differing(one.question, Is("7"), Is("8")) for one in found]
    assert rewritten_categories(others, both) == [None] * len(found)


@pytest.mark.java
def test_what_no_category_explains_has_none() -> None:
    none = Raises("an error")
    agreed = Term("member", FOUND_FIRST.texts, (atom("0"), listed("{", [atom("1")], "}", "set")))
    unlike = Term("if", ("IF ", " THEN ", " ELSE ", ""), (atom("TRUE"), atom("1"), UNSEEN.parts[0]))
    found = [
        Differing(Question(fitted(atom("{1, 2}")), None), none, Is("true")),  # a set is no tuple
        Differing(Question(fitted(PAIR), None), none, Is("false")),
        Differing(Question(agreed, None), Is("false"), none),
        # a set of functions is compared with nothing
        Differing(
            Question(Term("join", ("", " \\ ", ""), (atom("{1}"), functions("{1}", "{}"))), None),
            none,
            Is('{"#set":[1]}'),
        ),
        # another value than that of the listed sets, and sets of which none is the other
        Differing(
            Question(equal(functions("{}", "{}"), functions("{}", "{1}")), None),
            Is("true"),
            Is("false"),
        ),
        Differing(
            Question(equal(functions("{1}", "{1}"), functions("{1}", "{2}")), None),
            Is("false"),
            Is("true"),
        ),
        Differing(Question(unlike, None), Is("1"), none),  # the function is not looked at by both
    ]
    assert rewritten_categories(found, both) == [None] * len(found)


def test_except_is_guarded_key_by_key() -> None:
    texts_ = ("[", " EXCEPT ![", "] = ", ", ![", "] = ", "]")
    term = Term("except", texts_, (atom("f"), atom("1"), atom("2"), atom("3"), atom("4")))
    first = "(IF (1 \\in DOMAIN f) THEN ([f EXCEPT ![1] = 2]) ELSE f)"
    assert written(guarded(term)) == (
        f"(IF (3 \\in DOMAIN {first}) THEN ([{first} EXCEPT ![3] = 4]) ELSE {first})"
    )
    record = Term("except", ("[", " EXCEPT !.a = ", "]"), (atom("r"), atom("1")))
    assert written(guarded(record)) == '(IF ("a" \\in DOMAIN r) THEN ([r EXCEPT !.a = 1]) ELSE r)'


# ---- an expression at which TLC does not end ----


@dataclass(frozen=True)
class Run:
    """What is asked of a run of TLC."""

    outcome: Outcome
    printed: tuple[str, ...]
    message: str = "no message"


@pytest.mark.parametrize("slow", [False, True])
def test_tlc_goes_on_behind_an_expression_at_which_it_does_not_end(
    monkeypatch: pytest.MonkeyPatch, slow: bool
) -> None:
    asked: list[int] = []

    def run(module: Path, *_: object, **__: object) -> Run:
        texts = re.findall(r"PrintT\((\d+)\)", module.read_text("utf-8"))
        asked.append(len(texts))
        lines: list[str] = []
        for at, text in enumerate(texts):
            lines.append(f'"Rp__At P{at}"')
            if text == "3" and (len(texts) > 1 or not slow):
                return Run(Outcome.TIMEOUT, tuple(lines))
            lines.append(text)
        return Run(Outcome.SUCCESS, (*lines, '"Rp__At End"'))

    monkeypatch.setattr(questions, "run_tlc", run)
    found = tlc_answers([Question(atom(str(number)), None) for number in range(6)])
    at_three: Answer = Is("3") if slow else questions.UNENDING
    assert found == [Is("0"), Is("1"), Is("2"), at_three, Is("4"), Is("5")]
    assert asked == [6, 1, 2]


def test_where_tlc_does_not_end_nothing_differs() -> None:
    assert not differ(questions.UNENDING, Is("1"))
    assert not differ(questions.UNENDING, Raises("an error"))


def test_tlc_has_to_begin_within_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "run_tlc", lambda *_, **__: Run(Outcome.TIMEOUT, ()))
    with pytest.raises(ToolError):
        tlc_answers([Question(atom("1"), None)])


# ---- detecting ----

ALL_OF: Final = Term(
    "quantified", ("\\A n_1 \\in ", " : ", " > 0"), (atom("{1}"), atom("n_1")), frozenset({"n_1"})
)


def exchanged(questions: Sequence[Question]) -> list[Answer]:
    """Answer as a model that takes <= for <."""
    return [
        Is("false") if "1 <= 1" in question.text else answer
        for question, answer in zip(questions, model_answers(questions), strict=True)
    ]


@pytest.mark.java
def test_a_model_that_errs_is_found_and_its_error_made_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = Term("order", ("", " <= ", ""), (atom("1"), atom("1")))
    long = Term("if", ("IF ", " THEN ", " ELSE ", ""), (compared, ALL_OF, atom("FALSE")))
    monkeypatch.setattr(examine, "draw_question", lambda _draw: Question(long, None))
    found = examine_random_expressions(2, seed=0, model=exchanged, reproducers=tmp_path)
    assert [d.question for d in found.disagreements] == ["(1 <= 1)", "(1 <= 1)"]
    assert "(1 <= 1)" in (tmp_path / "expression-0" / "Asked.tla").read_text()


@pytest.mark.java
def test_the_model_agrees_on_some() -> None:
    found = examine_random_expressions(90, seed=2)
    assert found.disagreements == ()
    assert found.facts["values"] > 50
    assert found.facts["errors"] > 10


@pytest.mark.java
def test_the_documented_differences_still_are() -> None:
    term = Term(
        "except", ("[", " EXCEPT ![", "] = ", "]"), (atom("<<1>>"), atom("3"), atom("1[1]"))
    )
    question = Question(term, None)
    assert differ(*tlc_answers([question]), *model_answers([question]))
    inside = Question(guarded(term), None)
    assert tlc_answers([inside]) == model_answers([inside]) == [Is("[1]")]

"""Which of the documented differences (`spec/SUBSET.md`) a small expression shows, if any.

Only expressions are judged that were made small: what is left of one is the operator that differs,
with operands that do not. A category asks for the operator, for who has a value, and for the
values of the operands or the model's own reason; or it writes the expression otherwise and asks
both again. What fits none is a disagreement.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Final

from tlatrace.selfcheck.expressions import Answer, Is, Raises
from tlatrace.selfcheck.random_expressions.questions import AskModel
from tlatrace.selfcheck.random_expressions.rewriting import (
    guarded,
    listed_functions,
    listed_parts,
    looked_at,
    taken_apart,
)
from tlatrace.selfcheck.random_expressions.shrink import Ask, Differing, differ
from tlatrace.selfcheck.random_expressions.term import Term, closed_parts
from tlatrace.tlc.comparable import is_doubtful
from tlatrace.values import Fcn, TlaSet, Value, canonical, fcn, from_json, tla_set

__all__ = ["BY_ORDER", "EXCEPT", "categories", "rewritten_categories", "without_except"]

EXCEPT: Final = "EXCEPT outside of the domain"
_CHOICE: Final = "CHOOSE with several witnesses"
_TEXT: Final = "a string as a sequence"
_OPERAND: Final = "an operand that TLC does not look at"
_ELEMENTS: Final = "elements that TLC cannot order"
BY_ORDER: Final = "an order that cannot be seen"
_APPLIED: Final = "a function that is applied at once"
_EMPTY: Final = "several names from SUBSET {}"
_MADE: Final = "a function beside a tuple, by how it was made"
_NO_KEYS: Final = "EXCEPT of an empty function"
_PARTLY: Final = "a set or function that TLC does not look at as a whole"
_PATTERN: Final = "a tuple pattern and a function, by how it was made"
_OF_FUNCTIONS: Final = "sets of functions, compared by what they are made of"

_SET_FORMS: Final = frozenset({"join", "subset", "member"})
_COMPARING: Final = frozenset({"equal", "member", "subset", "join", "set"})
_INCOMPARABLE: Final = "cannot be compared with"
_NO_SEQUENCE: Final = "a string is not a sequence"
_IN_TUPLES: Final = tuple(
    [f"a string cannot be looked for in a {of}" for of in ("Cartesian product", "set of sequences")]
)
_MIXED: Final = ("function", "string")
_UNITED: Final = "} \\cup "
_RECORDS: Final = "[a : "
_NO_RECORDS: Final = '{"#set":[]}'
_FIELDS: Final = frozenset({"a", "b"})
"""Of every set of records that is drawn."""


@dataclass(slots=True)
class _Operands:
    """The values that the model has for the closed parts of an expression, and for all of it."""

    all: list[Value] = field(default_factory=list)
    own: list[Value] = field(default_factory=list)
    """Those of the operator's own operands."""


def categories(found: Sequence[Differing], ask_model: AskModel) -> list[str | None]:
    """Tell the category of each expression; None: it is not documented that it differs."""
    asked = [
        (at, part in one.question.term.parts, replace(one.question, term=part))
        for at, one in enumerate(found)
        for part in closed_parts(one.question.term)
    ]
    operands = [_Operands() for _ in found]
    answers = ask_model([question for _, _, question in asked]) if asked else []
    for (at, own, _), answer in zip(asked, answers, strict=True):
        operands[at].all += _values(answer)
        operands[at].own += _values(answer) if own else []
    for one, values in zip(found, operands, strict=True):
        values.all += _values(one.model)
    return [_category(one, values) for one, values in zip(found, operands, strict=True)]


def _category(one: Differing, operands: _Operands) -> str | None:
    match one.tlc, one.model:
        case Is(text=text), Raises(reason=reason):
            return _without_a_value(one.question.term, text, reason, operands)
        case Raises(), Is():
            return _ELEMENTS if _cannot_be_ordered(one.question.term, operands) else None
        case Is(text=left), Is(text=right):
            if _draws_from_nothing(one.question.term, operands.all):
                return _EMPTY
            values = [_as_sequences(from_json(json.loads(text))) for text in (left, right)]
            return _TEXT if canonical(values[0]) == canonical(values[1]) else None
        case _:
            return None


def _without_a_value(term: Term, text: str, reason: str, known: _Operands) -> str | None:
    """Tell why TLC has a value (`text`) where the model has none (`reason`)."""
    form, operands = term.form, known.all
    if text == "false" and _asks_every_field(term, known.own):
        return BY_ORDER
    if "more than one element" in reason:
        return _CHOICE
    if reason == _NO_SEQUENCE or all(word in reason for word in _MIXED) or reason in _IN_TUPLES:
        return _TEXT
    if reason.endswith("is not a set") and (
        form in _SET_FORMS or (form == "cardinality" and term.parts[0].form == "join")
    ):
        return _OPERAND
    if form == "powerset" and reason == "a function is not a set" and () in operands:
        return _OPERAND
    if form == "records" and reason.endswith("is not a set") and text == _NO_RECORDS:
        return _OPERAND if tla_set([]) in operands else None
    if form == "image" and len(term.parts) == 3 and tla_set([]) in operands:
        return _OPERAND
    if form == "except" and text == "[]" and reason.endswith("is no index of a sequence"):
        return _NO_KEYS
    if form == "equal" and {tuple, Fcn} <= {type(value) for value in operands}:
        return _MADE
    if form == "apply" and term.parts[0].form in ("function", "recursive"):
        return _APPLIED
    if _draws_from_nothing(term, operands):
        return _EMPTY
    return BY_ORDER if _may_be_order(form, reason, operands) else None


def _draws_from_nothing(term: Term, operands: Sequence[Value]) -> bool:
    """Tell whether several names are drawn from SUBSET {}, of which TLC has no two."""
    several = len(term.binds) > 1 and "<<" not in term.texts[0]
    return several and term.form in ("quantified", "image") and tla_set([tla_set([])]) in operands


def _asks_every_field(term: Term, own: Sequence[Value]) -> bool:
    r"""Tell whether a record of two fields, or some others, is looked for in a set of records.

    TLC stops at the first field of its order that decides; the model asks all that both have.
    """
    if term.form != "member" or not term.parts[1].texts[0].startswith(_RECORDS):
        return False
    record = own[0] if own else None
    if not isinstance(record, Fcn) or not _is_record(record):
        return False
    names = {key for key, _ in record.pairs}
    return len(names) == len(_FIELDS) and not names.isdisjoint(_FIELDS)


def _cannot_be_ordered(term: Term, operands: _Operands) -> bool:
    """Tell whether TLC may stop at a set among these, or where it compares two of them."""
    if any(is_doubtful(value) or _is_mixed(value) for value in operands.all):
        return True
    form = term.form
    if form == "choose" and _UNITED in term.texts:  # CHOOSE x \in {e} \cup S : x = e
        among = operands.own[1] if len(operands.own) > 1 else None
        joined = tla_set([operands.own[0], *among.elements]) if isinstance(among, TlaSet) else None
        return joined is not None and (is_doubtful(joined) or _is_mixed(joined))
    if form not in _COMPARING:
        return False
    for one, other in combinations(operands.own, 2):
        together = [one, other]
        if isinstance(other, TlaSet):
            elements = one.elements if form != "member" and isinstance(one, TlaSet) else (one,)
            together = [*elements, *other.elements]
        if is_doubtful(tla_set(together)) or _is_mixed(tla_set(together)):
            return True
    return False


def _is_mixed(value: Value) -> bool:
    """Tell whether a set, or one in it, has a tuple or a record beside another function.

    TLC stops there, too.
    """
    if not isinstance(value, TlaSet):
        return False
    shapes = {_is_record(element) for element in value if isinstance(element, Fcn)}
    beside = bool(shapes) and any(isinstance(element, tuple) for element in value)
    return beside or len(shapes) > 1 or any(map(_is_mixed, value))


def _is_record(function: Fcn) -> bool:
    return all(isinstance(key, str) for key, _ in function.pairs)


def _may_be_order(form: str, reason: str, operands: Sequence[Value]) -> bool:
    """Tell whether TLC may have come to what decides before what has no value.

    A quantifier goes through several elements; `=` and what compares elements goes through their
    parts, some of which cannot be compared.
    """
    if form == "choose":  # from {e} \cup S, so two will do
        return _INCOMPARABLE in reason and any(
            isinstance(value, TlaSet) and len(value) for value in operands
        )
    if form == "quantified":
        return any(isinstance(value, TlaSet) and len(value) > 1 for value in operands)
    composite = any(not isinstance(value, bool | int | str) for value in operands)
    return form in _COMPARING and composite and _INCOMPARABLE in reason


def _as_sequences(value: Value) -> Value:
    """Take strings for sequences of strings of one character, which they are in TLC 2.15."""
    match value:
        case str() if len(value) != 1:
            return tuple(value)
        case tuple():
            parts = tuple([_as_sequences(part) for part in value])
            alone = len(parts) == 1 and isinstance(parts[0], str)
            return parts[0] if alone else parts
        case TlaSet():
            return tla_set([_as_sequences(element) for element in value])
        case Fcn():
            return fcn([(_as_sequences(key), _as_sequences(part)) for key, part in value.pairs])
        case _:
            return value


def _values(answer: Answer) -> list[Value]:
    return [from_json(json.loads(answer.text))] if isinstance(answer, Is) else []


# ---- written otherwise ----


def without_except(found: Sequence[Differing], ask: Ask) -> tuple[list[Differing], int]:
    """Leave out what differs by EXCEPT outside of a domain only; return how many do.

    Written so that nothing is looked at there, such an expression has TLC's value for both.
    """
    outside = _rewritten(
        found,
        ask,
        guarded,
        lambda one, answers: (
            isinstance(one.model, Raises) and not any(differ(one.tlc, answer) for answer in answers)
        ),
    )
    kept = [one for one, is_outside in zip(found, outside, strict=True) if not is_outside]
    return kept, len(found) - len(kept)


def rewritten_categories(found: Sequence[Differing], ask: Ask) -> list[str | None]:
    """Tell the category of each expression by how both answer when it is written otherwise."""
    partly = _rewritten(found, ask, looked_at, _has_none)
    partly = [at and some for at, some in zip(partly, _has_broken_parts(found, ask), strict=True)]
    pattern = _rewritten(found, ask, taken_apart, _has_the_models)
    pattern = [at and isinstance(one.tlc, Raises) for at, one in zip(pattern, found, strict=True)]
    functions = _rewritten(found, ask, listed_functions, _has_the_models)
    two = [_count(one.question.term, "functions") > 1 for one in found]
    functions = [at and both for at, both in zip(functions, two, strict=True)]
    outside = set(map(id, found)) - set(map(id, without_except(found, ask)[0]))
    named: list[str | None] = []
    for at, one in enumerate(found):
        reasons = (
            (EXCEPT, id(one) in outside),
            (_PARTLY, partly[at]),
            (_PATTERN, pattern[at]),
            (_OF_FUNCTIONS, functions[at]),
        )
        named.append(next((reason for reason, holds in reasons if holds), None))
    return named


def _count(term: Term, form: str) -> int:
    return (term.form == form) + sum(_count(part, form) for part in term.parts)


def _has_none(one: Differing, answers: tuple[Answer, Answer]) -> bool:
    """Tell whether TLC has no value, either, where it looks at everything."""
    gone = all(isinstance(answer, Raises) for answer in answers)
    return gone and isinstance(one.tlc, Is) and isinstance(one.model, Raises)


def _has_the_models(one: Differing, answers: tuple[Answer, Answer]) -> bool:
    """Tell whether TLC has the model's value now."""
    return isinstance(one.model, Is) and all(answer == one.model for answer in answers)


def _has_broken_parts(found: Sequence[Differing], ask: Ask) -> list[bool]:
    """Tell of each expression whether a part that TLC may not look at has no value for both."""
    asked = [
        (at, replace(one.question, term=looked_at(part)))
        for at, one in enumerate(found)
        for part in listed_parts(one.question.term)
    ]
    answers = ask([question for _, question in asked]) if asked else []
    broken = {
        at
        for (at, _), pair in zip(asked, answers, strict=True)
        if all(isinstance(answer, Raises) for answer in pair)
    }
    return [at in broken for at in range(len(found))]


def _rewritten(
    found: Sequence[Differing],
    ask: Ask,
    rewrite: Callable[[Term], Term],
    explains: Callable[[Differing, tuple[Answer, Answer]], bool],
) -> list[bool]:
    """Tell of each expression whether the answers to it, written otherwise, explain it."""
    questions = [replace(one.question, term=rewrite(one.question.term)) for one in found]
    changed = [at for at, one in enumerate(found) if questions[at].text != one.question.text]
    answers = ask([questions[at] for at in changed]) if changed else []
    explained = [False] * len(found)
    for at, pair in zip(changed, answers, strict=True):
        explained[at] = explains(found[at], pair)
    return explained

"""Which of the documented differences (`spec/SUBSET.md`) a small expression shows, if any.

Only expressions are judged that were made small: what is left of one is the operator that differs,
with operands that do not. A category asks for the operator, for who has a value, and for the
values of the operands or the model's own reason; what fits none is a disagreement.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from tlatrace.selfcheck.expressions import Answer, Is, Raises
from tlatrace.selfcheck.random_expressions.questions import AskModel
from tlatrace.selfcheck.random_expressions.shrink import Differing
from tlatrace.selfcheck.random_expressions.term import Term, closed_parts
from tlatrace.validate.comparable import is_doubtful
from tlatrace.values import Fcn, TlaSet, Value, from_json, tla_set

__all__ = ["BY_ORDER", "EXCEPT", "categories", "guarded"]

EXCEPT: Final = "EXCEPT outside of the domain"
_CHOICE: Final = "CHOOSE with several witnesses"
_TEXT: Final = "a string as a sequence"
_OPERAND: Final = "an operand that TLC does not look at"
_ELEMENTS: Final = "elements that TLC cannot order"
BY_ORDER: Final = "an order that cannot be seen"
_APPLIED: Final = "a function that is applied at once"

_EMPTY: Final = "several names from SUBSET {}"
_MADE: Final = "a function beside a tuple, by how it was made"

_SET_FORMS: Final = frozenset({"join", "subset", "member"})
_COMPARING: Final = frozenset({"equal", "member", "subset", "join", "set"})
_INCOMPARABLE: Final = "cannot be compared with"
_NO_SEQUENCE: Final = "a string is not a sequence"
_MIXED: Final = ("function", "string")


def guarded(term: Term) -> Term:
    r"""Write EXCEPT so that nothing happens outside of the domain, which is its meaning.

    `[f EXCEPT ![k] = e]` becomes `IF k \in DOMAIN f THEN [f EXCEPT ![k] = e] ELSE f`, one key
    after the other.
    """
    parts = tuple([guarded(part) for part in term.parts])
    keyed = term.form == "except" and " EXCEPT ![" in term.texts[1] and len(parts) % 2 == 1
    if not keyed:
        return replace(term, parts=parts)
    function = parts[0]
    for key, image in zip(parts[1::2], parts[2::2], strict=True):
        one = Term("except", ("[", " EXCEPT ![", "] = ", "]"), (function, key, image))
        inside = Term("member", ("", " \\in DOMAIN ", ""), (key, function))
        function = Term("if", ("IF ", " THEN ", " ELSE ", ""), (inside, one, function))
    return function


def categories(found: Sequence[Differing], ask_model: AskModel) -> list[str | None]:
    """Tell the category of each expression; None: it is not documented that it differs."""
    asked = [
        (at, replace(one.question, term=part))
        for at, one in enumerate(found)
        for part in closed_parts(one.question.term)
    ]
    operands: list[list[Value]] = [[] for _ in found]
    answers = ask_model([question for _, question in asked]) if asked else []
    for (at, _), answer in zip(asked, answers, strict=True):
        operands[at] += _values(answer)
    return [
        _category(one, [*values, *_values(one.model)])
        for one, values in zip(found, operands, strict=True)
    ]


def _category(one: Differing, operands: Sequence[Value]) -> str | None:
    form = one.question.term.form
    match one.tlc, one.model:
        case Is(), Raises(reason=reason):
            if "more than one element" in reason:
                return _CHOICE
            if reason == _NO_SEQUENCE or all(word in reason for word in _MIXED):
                return _TEXT
            if form in _SET_FORMS and reason.endswith("is not a set"):
                return _OPERAND
            if form == "image" and len(one.question.term.parts) == 3 and tla_set([]) in operands:
                return _OPERAND
            if form == "equal" and {tuple, Fcn} <= {type(value) for value in operands}:
                return _MADE
            if form == "apply" and one.question.term.parts[0].form in ("function", "recursive"):
                return _APPLIED
            return BY_ORDER if _may_be_order(form, reason, operands) else None
        case Raises(), Is():
            elements = [element for value in operands for element in _elements(value)]
            if _cannot_be_ordered(elements):
                return _ELEMENTS
            if form == "join" and any(part.form == "product" for part in one.question.term.parts):
                return _ELEMENTS
            return None
        case _:
            empties = tla_set([tla_set([])]) in operands
            return _EMPTY if empties and form in ("quantified", "image") else None


def _cannot_be_ordered(elements: Sequence[Value]) -> bool:
    """Tell whether TLC may stop at a set of these; at a record beside a tuple it does, too."""
    kinds = {type(element) for element in elements}
    return is_doubtful(tla_set(elements)) or {tuple, Fcn} <= kinds


def _may_be_order(form: str, reason: str, operands: Sequence[Value]) -> bool:
    """Tell whether TLC may have come to what decides before what has no value.

    A quantifier goes through several elements; `=` and what compares elements goes through their
    parts, some of which cannot be compared.
    """
    if form == "quantified":
        return any(isinstance(value, TlaSet) and len(value) > 1 for value in operands)
    composite = any(not isinstance(value, bool | int | str) for value in operands)
    return form in _COMPARING and composite and _INCOMPARABLE in reason


def _values(answer: Answer) -> list[Value]:
    return [from_json(json.loads(answer.text))] if isinstance(answer, Is) else []


def _elements(value: Value) -> Iterator[Value]:
    """Yield the elements of a set, and of sets in it."""
    if isinstance(value, TlaSet):
        for element in value:
            yield element
            yield from _elements(element)

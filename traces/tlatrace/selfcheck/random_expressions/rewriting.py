"""Write an expression otherwise, so that one documented difference is no longer there.

Where the answers then are as the difference would have them, it was that one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tlatrace.selfcheck.random_expressions.term import Term, atom, closed_parts, written

__all__ = ["guarded", "listed_functions", "listed_parts", "looked_at", "taken_apart"]

_COUNTED: Final = ("(IF Cardinality(", ") >= 0 THEN ", " ELSE {})")
_SETS: Final = (
    "join",
    "union",
    "filter",
    "powerset",
    "product",
    "functions",
    "records",
)
_FORCED: Final = {
    "function": ("TLCEval(", ")"),
    "set": _COUNTED,
    "image": _COUNTED,
} | dict.fromkeys(_SETS, _COUNTED)
"""Form -> the texts around an expression with which TLC looks at all of its value."""
_FIELD: Final = re.compile(r" EXCEPT !(?:\.(?P<field>\w+)|\[(?P<index>\d+)\]) = $")
_INFINITE: Final = re.compile(r"\b(Nat|Int|STRING|Seq)\b")


def guarded(term: Term) -> Term:
    r"""Write EXCEPT so that nothing happens outside of the domain, which is its meaning.

    `[f EXCEPT ![k] = e]` becomes `IF k \in DOMAIN f THEN [f EXCEPT ![k] = e] ELSE f`, one key
    after the other; `![k]`, `![1]` and `!.k` alike.
    """
    parts = tuple([guarded(part) for part in term.parts])
    named = _FIELD.search(term.texts[1]) if term.form == "except" else None
    if named is not None:
        key = atom(named["index"] or f'"{named["field"]}"')
        field = Term("member", ("", " \\in DOMAIN ", ""), (key, parts[0]))
        kept = (field, replace(term, parts=parts), parts[0])
        return Term("if", ("IF ", " THEN ", " ELSE ", ""), kept)
    keyed = term.form == "except" and " EXCEPT ![" in term.texts[1] and len(parts) % 2 == 1
    if not keyed:
        return replace(term, parts=parts)
    function = parts[0]
    for key, image in zip(parts[1::2], parts[2::2], strict=True):
        one = Term("except", ("[", " EXCEPT ![", "] = ", "]"), (function, key, image))
        inside = Term("member", ("", " \\in DOMAIN ", ""), (key, function))
        function = Term("if", ("IF ", " THEN ", " ELSE ", ""), (inside, one, function))
    return function


def looked_at(term: Term) -> Term:
    """Have TLC look at every function and finite set as a whole, as the model does."""
    inner = replace(term, parts=tuple([looked_at(part) for part in term.parts]))
    if not _is_forced(term):
        return inner
    texts = _FORCED[term.form]
    return Term("forced", texts, (inner,) * (len(texts) - 1))


def _is_forced(term: Term) -> bool:
    if term.form == "join" and term.texts[1].strip() not in ("\\cup", "\\cap", "\\"):
        return False  # it joins functions
    return term.form in _FORCED and not _INFINITE.search(written(term))


def listed_parts(term: Term) -> Iterator[Term]:
    """Yield the closed parts, and the whole, that `looked_at` has TLC look at."""
    yield from filter(_is_forced, (term, *closed_parts(term)))


def listed_functions(term: Term) -> Term:
    r"""Write every set of functions so that TLC lists it, and does not compare S and T.

    `[S -> T]` becomes `{f_ : f_ \in [S -> T]}`.
    """
    inner = replace(term, parts=tuple([listed_functions(part) for part in term.parts]))
    return Term("image", ("{f_ : f_ \\in ", "}"), (inner,)) if term.form == "functions" else inner


def taken_apart(term: Term) -> Term:
    r"""Write every tuple pattern so that it is held against tuples that are written as such.

    `\E <<x, y>> \in S` becomes `\E <<x, y>> \in {<<p_[1], p_[2]>> : p_ \in S}`.
    """
    parts = tuple([taken_apart(part) for part in term.parts])
    if term.form == "quantified" and "<<" in term.texts[0]:
        texts = ("{<<p_[1], p_[2]>> : p_ \\in ", "}")
        parts = (Term("image", texts, parts[:1]), *parts[1:])
    return replace(term, parts=parts)

"""Expressions as trees, so that they can be drawn, written and made smaller."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

__all__ = ["Term", "atom", "closed_parts", "listed", "smaller", "written"]

_NAME: Final = re.compile(r"\w+_\d+")
_SIMPLE: Final = ("0", "1", '"a"', "TRUE", "FALSE", "{}", "<<>>", "{1}", "<<1>>")


@dataclass(frozen=True, slots=True)
class Term:
    """An expression: its texts with its parts between them."""

    form: str
    """What kind of expression it is: "plus", "forall", ..."""
    texts: tuple[str, ...]
    parts: tuple[Term, ...] = ()
    binds: frozenset[str] = frozenset()
    """Names, different from all others of the expression, that some parts may use."""


def atom(text: str) -> Term:
    """Make an expression without parts."""
    return Term("atom", (text,))


def listed(opening: str, parts: Sequence[Term], closing: str, form: str = "tuple") -> Term:
    """Make an expression of parts with commas between them."""
    if not parts:
        return atom(opening + closing)
    return Term(form, (opening, *[", "] * (len(parts) - 1), closing), tuple(parts))


def written(term: Term) -> str:
    """Write an expression on one line; what is not an atom stands in parentheses."""
    text = term.texts[0]
    for part, after in zip(term.parts, term.texts[1:], strict=True):
        text += written(part) + after
    return text if term.form == "atom" else f"({text})"


def smaller(term: Term) -> Iterator[Term]:
    """Yield expressions that differ by one change, and use no name that is not bound."""
    yield from closed_parts(term)
    yield from _instead(term) if term.form == "let" else ()
    yield from _with_less(term)


def closed_parts(term: Term) -> Iterator[Term]:
    """Yield the parts at any depth that use no names of what is around them."""
    for part in term.parts:
        if not _free(part):
            yield part
        yield from closed_parts(part)


def _with_less(term: Term) -> Iterator[Term]:
    for at, part in enumerate(term.parts):
        for less in (*_instead(part), *_with_less(part)):
            yield replace(term, parts=(*term.parts[:at], less, *term.parts[at + 1 :]))


def _instead(term: Term) -> Iterator[Term]:
    """Yield what may stand for a part: one of its own, or a simple value."""
    for part in term.parts:
        if not _free(part) & term.binds:
            yield part
    if term.form == "let" and len(term.parts) == 2:
        value, body = term.parts
        for name in term.binds:
            inlined = _with_value(body, name, value)
            if name not in _free(inlined):
                yield inlined
    if term.form != "atom" or term.texts[0] not in _SIMPLE:
        for text in _SIMPLE:
            yield atom(text)


def _with_value(term: Term, name: str, value: Term) -> Term:
    """Put a value where a local name stands alone."""
    if term.form == "atom" and term.texts == (name,):
        return value
    return replace(term, parts=tuple([_with_value(part, name, value) for part in term.parts]))


def _free(term: Term) -> frozenset[str]:
    """Return the local names that an expression uses and does not bind."""
    own = frozenset(_NAME.findall(" ".join(term.texts)))
    return own.union(*[_free(part) for part in term.parts]) - term.binds

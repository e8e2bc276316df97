"""Where the compiled model is meant to answer otherwise than TLC.

Every expression of the module `DifferentExpressions` must differ; when one no longer does, its
entry is out of date, and that is reported as a disagreement, too. `spec/SUBSET.md` tells them to a
reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["DIFFERENCES"]

_OVERFLOW: Final = "TLC's integers have 32 bits and it reports an overflow; the model's have no end"
_CHOOSE: Final = "TLC takes the first witness in an order of its own; the model asks for only one"
_STRINGS: Final = "TLC 2.15 takes a string for the sequence of its characters; the model never does"
_OPERAND: Final = "TLC does not always look at the other operand of a set; the model asks for a set"
_ORDERED: Final = "TLC orders the elements of a set by their parts; the model compares kinds only"
_EXCEPT: Final = "TLC evaluates no new value for a key outside of the domain; the model does"
_BAGS: Final = "TLC has Bags in Java, where only bags are added; the model takes the text of Bags"
_EAGER: Final = "TLC evaluates a function that is applied at once at this argument only"
_ENDLESS: Final = "TLC orders sets by listing them; the model looks into one after another"
_FOLDED: Final = "TLC takes the elements in an order of its own; the model asks for only one value"
_UNUSED: Final = "TLC looks at no argument of a fold that is not used; the model does, as Java does"
_EMPTIES: Final = "TLC 2.15 draws no two names from SUBSET {}, which has an element"
_MADE: Final = "TLC compares a function with a tuple or not, depending on how it was written"
_PARTLY: Final = "TLC looks at a set or a function only as far as it has to; the model at all of it"
_NO_KEYS: Final = "TLC may take an empty function for one that is no sequence; the model never does"
_PATTERN: Final = "TLC fits a tuple pattern to a tuple only if it was written as one"
_NOTHING: Final = "TLC takes <<>> for an empty set below SUBSET; the model asks for a set"
_OF_FUNCTIONS: Final = "TLC compares [S -> T] by S and T, though they are empty"
_FIELDS: Final = "TLC asks the fields of a record in an order of its own; the model asks all"

_RANGES: Final = (
    (1, 4, _OVERFLOW),
    (5, 6, _CHOOSE),
    (7, 17, _STRINGS),
    (18, 23, _OPERAND),
    (24, 26, _ORDERED),
    (27, 28, _EXCEPT),
    (29, 30, _EAGER),
    (31, 32, _BAGS),
    (33, 33, _ENDLESS),
    (61, 65, _FOLDED),
    (66, 66, _UNUSED),
    (67, 68, _EMPTIES),
    (69, 69, _MADE),
    (71, 74, _PARTLY),
    (75, 76, _NO_KEYS),
    (77, 77, _PATTERN),
    (78, 80, _STRINGS),
    (81, 81, _NOTHING),
    (82, 82, _EMPTIES),
    (83, 83, _PARTLY),
    (84, 85, _OF_FUNCTIONS),
    (86, 86, _PARTLY),
    (87, 89, _FIELDS),
    (90, 90, _OPERAND),
)
"""(first, last, reason): the expressions with these numbers."""

DIFFERENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        f"Different{number:02d}": reason
        for first, last, reason in _RANGES
        for number in range(first, last + 1)
    }
)
"""Name of an expression -> why the answers differ."""

"""Which names of TLA+ and of the standard modules are built in, and under which key.

SANY gives the standard modules dummy bodies; TLC has them in Java. The keys are what the nodes
`Apply` carry. A module that is written in TLA+ (Bags) needs nothing here: it is compiled from its
text. So are the community modules, whose text is ours (`tlatrace.community`),
but for what Python does better than that text.

Source: tla2sany.semantic.BuiltInOps; the standard modules of the TLC jar.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "IN_JAVA",
    "NOT_DONE",
    "OF_COMMUNITY",
    "OF_LANGUAGE",
    "OF_MODULES",
    "REFUSED",
    "STANDARD_MODULES",
    "UNSETTLED",
    "WITH_A_VALUE",
]

OF_LANGUAGE: Final = {
    "TRUE": "TRUE",
    "FALSE": "FALSE",
    "BOOLEAN": "BOOLEAN",
    "STRING": "STRING",
    "=": "=",
    "/=": "#",
    "\\lnot": "not",
    "\\land": "and",
    "$ConjList": "and",
    "\\lor": "or",
    "$DisjList": "or",
    "=>": "=>",
    "\\equiv": "<=>",
    "\\in": "in",
    "\\notin": "notin",
    "\\subseteq": "subseteq",
    "\\intersect": "cap",
    "\\union": "cup",
    "\\": "setminus",
    "SUBSET": "SUBSET",
    "UNION": "UNION",
    "DOMAIN": "DOMAIN",
    "$SetEnumerate": "set",
    "$Tuple": "tuple",
    "$FcnApply": "apply",
    "$SetOfFcns": "functions",
    "$CartesianProd": "product",
}
"""Operators whose operands are ordinary expressions; the reader has the other constructs."""

STANDARD_MODULES: Final = frozenset(["Naturals", "Integers", "Sequences", "FiniteSets", "TLC"])

OF_MODULES: Final = {
    "Nat": "Nat",
    "Int": "Int",
    "+": "+",
    "-": "-",
    "-.": "negate",
    "*": "*",
    "^": "^",
    "<": "<",
    ">": ">",
    "\\leq": "<=",
    "\\geq": ">=",
    "%": "%",
    "\\div": "div",
    "..": "..",
    "Seq": "Seq",
    "Len": "Len",
    "\\o": "concat",
    "Append": "Append",
    "Head": "Head",
    "Tail": "Tail",
    "SubSeq": "SubSeq",
    "SelectSeq": "SelectSeq",
    "IsFiniteSet": "IsFiniteSet",
    "Cardinality": "Cardinality",
    "Print": "Print",
    "PrintT": "PrintT",
    "Assert": "Assert",
    ":>": ":>",
    "@@": "@@",
    "Permutations": "Permutations",
    "SortSeq": "SortSeq",
    "ToString": "ToString",
    "TLCEval": "TLCEval",
}

REFUSED: Final = {
    "[]": "temporal formulas are for TLC",
    "<>": "temporal formulas are for TLC",
    "~>": "temporal formulas are for TLC",
    "$WF": "fairness is for TLC",
    "$SF": "fairness is for TLC",
    "-+->": "temporal formulas are for TLC",
    "$TemporalExists": "temporal quantifiers are for TLC",
    "$TemporalForall": "temporal quantifiers are for TLC",
    "$UnboundedExists": "a quantifier without a set cannot be evaluated",
    "$UnboundedForall": "a quantifier without a set cannot be evaluated",
    "JavaTime": "JavaTime has another value at each use",
    "TLCGet": "TLCGet depends on the run of TLC",
    "TLCSet": "TLCSet changes the run of TLC",
    "RandomElement": "RandomElement has another value at each use",
    "Any": "Any has no elements that could be looked for",
    "Real": "real numbers are not evaluated",
    "/": "real numbers are not evaluated",
    "Infinity": "real numbers are not evaluated",
}
"""Names that are understood and refused, with the reason."""

OF_COMMUNITY: Final = frozenset(
    [
        ("BagsExt", "FoldBag"),
        ("FiniteSetsExt", "FoldSet"),
        ("Folds", "MapThenFoldSet"),
        ("Functions", "FoldFunction"),
        ("Functions", "FoldFunctionOnSet"),
        ("SequencesExt", "FoldLeft"),
        ("SequencesExt", "FoldRight"),
        ("SequencesExt", "IsPrefix"),
        ("SequencesExt", "ReplaceAllSubSeqs"),
        ("SequencesExt", "ReplaceFirstSubSeq"),
        ("SequencesExt", "SetToSeq"),
        ("SequencesExt", "SetToSortSeq"),
    ]
)
"""Operators of our own text of the community modules, by module; the key is the name."""

_OUTSIDE: Final = "it reads or writes outside of the specification: give a log as a trace"
_OF_A_RUN: Final = "it shows or steers a run of TLC"
_PROOFS: Final = "it is there for proofs"
_PICTURES: Final = "it makes text for people to look at"

IN_JAVA: Final = {
    "CSV": _OUTSIDE,
    "IOUtils": _OUTSIDE,
    "Json": _OUTSIDE,
    "Randomization": "it has another value at each use",
    "TLCExt": _OF_A_RUN,
}
"""Modules whose text, wherever it is from, only says what TLC's Java does, with the reason why
their operators are refused where they are used."""

NOT_DONE: Final = {
    "BagsTheorems": _PROOFS,
    "FiniteSetTheorems": _PROOFS,
    "GraphViz": _PICTURES,
    "HTML": _PICTURES,
    "NaturalsInduction": _PROOFS,
    "SVG": _PICTURES,
    "SequencesExtTheorems": _PROOFS,
    "ShiViz": _PICTURES,
    "Statistics": "it is a part of TLC, in Java",
    "WellFoundedInduction": _PROOFS,
}
"""Modules of which our text has only the names."""

UNSETTLED: Final = {("VectorClocks", "CausalOrder"): "TLC takes one order of several, in Java"}
"""Operators of which our text has only the name."""

WITH_A_VALUE: Final = frozenset(["AssertEq", "TLCCache", "TLCNoOp"])
"""Operators of those modules that are functions of their arguments all the same."""

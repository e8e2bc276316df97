"""The forms of expressions of each type: operators with operands of the types that they ask for."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeAlias

from tlatrace.selfcheck.random_expressions.term import Term, atom, listed

__all__ = ["BOOL", "FORMS", "INT", "REC", "STATE_TYPES", "STR", "Type"]

Type: TypeAlias = tuple[Any, ...]
Scope: TypeAlias = Mapping[str, Type]

INT: Final[Type] = ("int",)
BOOL: Final[Type] = ("bool",)
STR: Final[Type] = ("str",)
REC: Final[Type] = ("rec",)
"""[a |-> a number, b |-> a string]"""

STATE_TYPES: Final[Mapping[str, Type]] = {
    "vi": INT,
    "vs": ("set", INT),
    "vf": ("fun", INT, INT),
    "vr": REC,
    "vq": ("seq", STR),
}
"""The variables of the state, with their types."""


class Draws(Protocol):
    """Draws what a form is made of."""

    draw: random.Random

    def name(self) -> str:
        """Return a name that nothing else has."""

    def type(self, depth: int) -> Type:
        """Draw a type."""

    def leaf(self, of: Type) -> Term:
        """Draw a short expression of a type."""

    def term(self, of: Type, depth: int, scope: Scope) -> Term:
        """Draw an expression of a type, or, seldom, of another one."""

    def parts(self, depth: int, scope: Scope, *types: Type) -> tuple[Term, ...]:
        """Draw an expression of each type."""


_INFINITE: Final[Mapping[str, tuple[str, ...]]] = {
    "int": ("Nat", "Int", "(Nat \\cup {(-1)})", "(Int \\ {1})"),
    "str": ("STRING", '(STRING \\cup {"a"})'),
    "bool": ("BOOLEAN",),
    "rec": ("[a : Nat, b : STRING]", '[a : Int, b : {"a"}]'),
}


def _int(d: Draws, of: Type, depth: int, scope: Scope) -> Term:  # noqa: ARG001
    name, draw = d.name(), d.draw
    match draw.randrange(13):
        case 0 | 1 | 2:
            sign = draw.choice(("+", "-", "*"))
            return Term(sign, ("", f" {sign} ", ""), d.parts(depth, scope, INT, INT))
        case 3:
            sign = draw.choice(("\\div", "%"))
            return Term(sign, ("", f" {sign} ", ""), d.parts(depth, scope, INT, INT))
        case 4:
            return Term("minus", ("-", ""), d.parts(depth, scope, INT))
        case 5:
            inner: Type = ("seq", d.type(0))
            return Term("len", ("Len(", ")"), d.parts(depth, scope, inner))
        case 6 | 7:
            inner = ("set", d.type(1))
            return Term("cardinality", ("Cardinality(", ")"), d.parts(depth, scope, inner))
        case 8:
            return Term("head", ("Head(", ")"), d.parts(depth, scope, ("seq", INT)))
        case 9:
            return Term("field", ("", ".a"), d.parts(depth, scope, REC))
        case 10:
            index = draw.choice(("1", "2", "2", "3"))
            inner = ("tup", INT, INT)
            return Term("index", ("", f"[{index}]"), d.parts(depth, scope, inner))
        case 11:
            other = d.name()
            texts: tuple[str, ...] = (
                f"CHOOSE {name} \\in ",
                f" : \\A {other} \\in ",
                f" : {other} <= {name}",
            )
            among = d.term(("set", INT), depth, scope)
            return Term("choose", texts, (among, among), frozenset({name, other}))
        case _:
            return atom(f"{draw.randrange(4)}^{draw.randrange(4)}")


def _bool(d: Draws, of: Type, depth: int, scope: Scope) -> Term:  # noqa: ARG001
    draw = d.draw
    match draw.randrange(16):
        case 0 | 1 | 2:
            sign = draw.choice(("/\\", "\\/", "=>", "<=>"))
            return Term(sign, ("", f" {sign} ", ""), d.parts(depth, scope, BOOL, BOOL))
        case 3:
            return Term("not", ("~", ""), d.parts(depth, scope, BOOL))
        case 4 | 5 | 6:
            inner, sign = d.type(2), draw.choice(("=", "=", "#"))
            return Term("equal", ("", f" {sign} ", ""), d.parts(depth, scope, inner, inner))
        case 7:
            sign = draw.choice(("<", ">", "<=", ">="))
            return Term("order", ("", f" {sign} ", ""), d.parts(depth, scope, INT, INT))
        case 8 | 9:
            inner, sign = d.type(1), draw.choice(("\\in", "\\in", "\\notin"))
            parts = d.parts(depth, scope, inner, ("set", inner))
            return Term("member", ("", f" {sign} ", ""), parts)
        case 10:
            inner = ("set", d.type(1))
            return Term("subset", ("", " \\subseteq ", ""), d.parts(depth, scope, inner, inner))
        case 11 | 12 | 13:
            return _quantified(d, depth, scope)
        case _:
            inner = d.type(2)
            value = d.term(inner, depth, scope)
            return Term("member", ("", " \\in ", ""), (value, _infinite(d, inner)))


def _infinite(d: Draws, of: Type) -> Term:
    """Draw a set, mostly infinite, of which something can only be an element or not."""
    draw = d.draw
    match of:
        case ("set", inner):
            return Term("powerset", ("SUBSET ", ""), (_infinite(d, inner),))
        case ("seq", inner):
            return Term("seqs", ("Seq(", ")"), (_infinite(d, inner),))
        case ("tup", one, other):
            parts = _infinite(d, one), _infinite(d, other)
            return Term("product", ("", " \\X ", ""), parts)
        case ("fun", key, value):
            domain = d.leaf(("set", key))
            return Term("functions", ("[", " -> ", "]"), (domain, _infinite(d, value)))
        case (kind,):
            return atom(draw.choice(_INFINITE[kind]))
        case _:
            raise AssertionError(of)


def _quantified(d: Draws, depth: int, scope: Scope) -> Term:
    draw, name, other = d.draw, d.name(), d.name()
    sign, inner = draw.choice(("\\A", "\\E")), d.type(1)
    match draw.randrange(4):
        case 0:
            bound = d.term(("set", inner), depth, scope)
            body = d.term(BOOL, depth, {**scope, name: inner, other: inner})
            head = f"{sign} {name}, {other} \\in "
            return Term("quantified", (head, " : ", ""), (bound, body), frozenset({name, other}))
        case 1:
            pair: Type = ("tup", inner, INT)
            bound = d.term(("set", pair), depth, scope)
            body = d.term(BOOL, depth, {**scope, name: inner, other: INT})
            head = f"{sign} <<{name}, {other}>> \\in "
            return Term("quantified", (head, " : ", ""), (bound, body), frozenset({name, other}))
        case _:
            bound = d.term(("set", inner), depth, scope)
            body = d.term(BOOL, depth, {**scope, name: inner})
            return Term(
                "quantified", (f"{sign} {name} \\in ", " : ", ""), (bound, body), frozenset({name})
            )


def _str(d: Draws, of: Type, depth: int, scope: Scope) -> Term:
    match d.draw.randrange(3):
        case 0:
            return Term("field", ("", ".b"), d.parts(depth, scope, REC))
        case 1:
            return Term("head", ("Head(", ")"), d.parts(depth, scope, ("seq", STR)))
        case _:
            return d.leaf(of)


def _rec(d: Draws, of: Type, depth: int, scope: Scope) -> Term:  # noqa: ARG001
    match d.draw.randrange(4):
        case 0:
            texts: tuple[str, ...] = ("[", " EXCEPT !.a = ", d.draw.choice(("]", " + @]")))
            return Term("except", texts, d.parts(depth, scope, REC, INT))
        case 1:
            return Term("except", ("[", " EXCEPT !.b = ", "]"), d.parts(depth, scope, REC, STR))
        case 2:
            return Term("record", ("[b |-> ", ", a |-> ", "]"), d.parts(depth, scope, STR, INT))
        case _:
            return Term("record", ("[a |-> ", ", b |-> ", "]"), d.parts(depth, scope, INT, STR))


def _set(d: Draws, of: Type, depth: int, scope: Scope) -> Term:
    draw, name, other, inner = d.draw, d.name(), d.name(), of[1]
    special = _set_of(d, inner, depth, scope) if draw.random() < 0.4 else None
    if special is not None:
        return special
    match draw.randrange(9):
        case 0 | 1:
            parts = d.parts(depth, scope, *[inner] * draw.choice((1, 2, 2, 3)))
            return listed("{", list(parts), "}", "set")
        case 2 | 3:
            sign = draw.choice(("\\cup", "\\cap", "\\"))
            return Term("join", ("", f" {sign} ", ""), d.parts(depth, scope, of, of))
        case 4:
            condition = d.term(BOOL, depth, {**scope, name: inner})
            texts: tuple[str, ...] = (f"{{{name} \\in ", " : ", "}")
            return Term("filter", texts, (d.term(of, depth, scope), condition), frozenset({name}))
        case 5:
            source = d.type(0)
            image = d.term(inner, depth, {**scope, name: source})
            texts = ("{", f" : {name} \\in ", "}")
            bound = d.term(("set", source), depth, scope)
            return Term("image", texts, (image, bound), frozenset({name}))
        case 6:
            image = d.term(inner, depth, {**scope, name: INT, other: inner})
            texts = ("{", f" : {name} \\in ", f", {other} \\in ", "}")
            bounds = d.parts(depth, scope, ("set", INT), of)
            return Term("image", texts, (image, *bounds), frozenset({name, other}))
        case 7:
            return Term("union", ("UNION ", ""), d.parts(depth, scope, ("set", of)))
        case _:
            texts = (f"LET {name} == ", f" IN {{{name}[{other}] : {other} \\in DOMAIN {name}}}")
            function = d.parts(depth, scope, ("fun", INT, inner))
            return Term("let", texts, function, frozenset({name, other}))


def _set_of(d: Draws, inner: Type, depth: int, scope: Scope) -> Term | None:
    """Draw a set that is special to the type of its elements; None if there is none."""
    draw = d.draw
    match inner:
        case ("int",):
            if draw.random() < 0.3:
                domain = d.parts(depth, scope, ("seq", STR))
                return Term("domain", ("DOMAIN ", ""), domain)
            low, high = draw.choice(((0, 2), (1, 2), (1, 3), (-1, 1), (2, 1)))
            return atom(f"({low}..{high})")
        case ("bool",):
            return atom("BOOLEAN")
        case ("str",):
            return Term("domain", ("DOMAIN ", ""), d.parts(depth, scope, REC))
        case ("rec",):
            texts = ("[a : ", ", b : ", "]")
            return Term("records", texts, (d.leaf(("set", INT)), d.leaf(("set", STR))))
        case ("set", _):
            return Term("powerset", ("SUBSET ", ""), (d.leaf(inner),))
        case ("tup", one, other):
            parts = d.leaf(("set", one)), d.leaf(("set", other))
            return Term("product", ("", " \\X ", ""), parts)
        case ("fun", key, value):
            parts = d.leaf(("set", key)), d.leaf(("set", value))
            return Term("functions", ("[", " -> ", "]"), parts)
        case _:
            return None


def _seq(d: Draws, of: Type, depth: int, scope: Scope) -> Term:
    draw, name, inner = d.draw, d.name(), of[1]
    match draw.randrange(9):
        case 0 | 1:
            parts = d.parts(depth, scope, *[inner] * draw.choice((1, 2, 2, 3)))
            return listed("<<", list(parts), ">>")
        case 2:
            return Term("append", ("Append(", ", ", ")"), d.parts(depth, scope, of, inner))
        case 3:
            return Term("join", ("", " \\o ", ""), d.parts(depth, scope, of, of))
        case 4:
            return Term("tail", ("Tail(", ")"), d.parts(depth, scope, of))
        case 5:
            texts: tuple[str, ...] = ("SubSeq(", ", ", ", ", ")")
            return Term("subseq", texts, d.parts(depth, scope, of, INT, INT))
        case 6:
            test = d.term(BOOL, depth, {**scope, name: inner})
            texts = ("SelectSeq(", f", LAMBDA {name} : ", ")")
            return Term("select", texts, (d.term(of, depth, scope), test), frozenset({name}))
        case 7:
            image = d.term(inner, depth, {**scope, name: INT})
            texts = (f"[{name} \\in 1..{draw.randrange(4)} |-> ", "]")
            return Term("function", texts, (image,), frozenset({name}))
        case _:
            texts = ("[", " EXCEPT ![", "] = ", "]")
            return Term("except", texts, d.parts(depth, scope, of, INT, inner))


def _tup(d: Draws, of: Type, depth: int, scope: Scope) -> Term:
    if d.draw.random() < 0.2:
        texts = ("[", " EXCEPT ![1] = ", "]")
        return Term("except", texts, d.parts(depth, scope, of, of[1]))
    return listed("<<", list(d.parts(depth, scope, *of[1:])), ">>")


def _fun(d: Draws, of: Type, depth: int, scope: Scope) -> Term:
    draw, name, (_, key, value) = d.draw, d.name(), of
    match draw.randrange(8):
        case 0 | 1 | 2:
            image = d.term(value, depth, {**scope, name: key})
            bound = d.term(("set", key), depth, scope)
            texts: tuple[str, ...] = (f"[{name} \\in ", " |-> ", "]")
            return Term("function", texts, (bound, image), frozenset({name}))
        case 3 | 4:
            texts = ("[", " EXCEPT ![", "] = ", "]")
            return Term("except", texts, d.parts(depth, scope, of, key, value))
        case 5:
            texts = ("[", " EXCEPT ![", "] = ", ", ![", "] = ", "]")
            return Term("except", texts, d.parts(depth, scope, of, key, value, key, value))
        case 6:
            return Term("pair", ("", " :> ", ""), d.parts(depth, scope, key, value))
        case _:
            return Term("join", ("", " @@ ", ""), d.parts(depth, scope, of, of))


FORMS: Final[Mapping[str, Callable[[Draws, Type, int, Scope], Term]]] = MappingProxyType(
    {
        "int": _int,
        "bool": _bool,
        "str": _str,
        "rec": _rec,
        "set": _set,
        "seq": _seq,
        "tup": _tup,
        "fun": _fun,
    }
)
"""Kind of a type -> how an expression of it is drawn."""

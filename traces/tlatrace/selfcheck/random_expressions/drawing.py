r"""Draw expressions: typed, mostly, so that most have a value, and deep enough to be odd.

A type is a tuple: `("int",)`, `("set", t)`, `("fun", k, v)` ... Some operands are of another type
than the operator asks for, some operators are partial (`Head`, `\div`, `f[x]`), and some operands
are never looked at. An expression of a state uses its variables.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

from tlatrace.selfcheck.random_expressions.forms import BOOL, FORMS, INT, STATE_TYPES, STR, Type
from tlatrace.selfcheck.random_expressions.term import Term, atom, listed

__all__ = ["Drawing"]

_WRONG: Final = 0.03
_UNSEEN: Final = 0.03
_ATOMS: Final[Mapping[str, tuple[str, ...]]] = {
    "int": ("0", "1", "2", "3", "(-1)", "5"),
    "bool": ("TRUE", "FALSE"),
    "str": ('"a"', '"b"', '"ab"', '""'),
    "rec": ('[a |-> 1, b |-> "a"]', '[b |-> "b", a |-> 0]'),
}
_FAILS: Final = ("(1 \\div 0)", "Head(<<>>)", "<<1>>[2]", "(CHOOSE u_ \\in {} : TRUE)", '(1 + "a")')


class Drawing:
    """Draws one expression; `state` tells whether it may use the variables."""

    def __init__(self, draw: random.Random, *, state: bool) -> None:
        self.draw = draw
        self._count = 0
        self._state = state

    def expression(self) -> Term:
        """Draw an expression of any type."""
        return self.term(self.type(2), self.draw.choice((2, 3, 3, 4)), {})

    # ---- types and names ----

    def type(self, depth: int) -> Type:
        """Draw a type."""
        kind = self.draw.choices(
            ("int", "bool", "str", "rec", "set", "seq", "tup", "fun"), (6, 7, 2, 2, 6, 3, 2, 4)
        )[0]
        if depth <= 0 and kind in ("set", "seq", "tup", "fun"):
            kind = "int"
        match kind:
            case "set" | "seq":
                return kind, self.type(depth - 1)
            case "tup":
                return kind, self.type(depth - 1), self.type(depth - 1)
            case "fun":
                return kind, self.draw.choice((INT, STR, INT)), self.type(depth - 1)
            case _:
                return (kind,)

    def name(self) -> str:
        """Return a name that nothing else has."""
        self._count += 1
        return f"n_{self._count}"

    # ---- terms ----

    def term(self, of: Type, depth: int, scope: Mapping[str, Type]) -> Term:
        """Draw an expression of a type, or, seldom, of another one."""
        draw = self.draw
        if draw.random() < _WRONG:
            of = self.type(1)
        if draw.random() < _UNSEEN:
            return self._unseen(of, depth, scope)
        names = [name for name, type_ in scope.items() if type_ == of]
        if self._state:
            names += [name for name, type_ in STATE_TYPES.items() if type_ == of]
        if names and draw.random() < (0.75 if depth <= 0 else 0.3):
            return atom(draw.choice(names))
        if depth <= 0:
            return self.leaf(of)
        if draw.random() < 0.14:
            return self._of_any_type(of, depth, scope)
        return FORMS[of[0]](self, of, depth - 1, scope)

    def leaf(self, of: Type) -> Term:
        """Draw a short expression of a type."""
        draw = self.draw
        match of:
            case ("set", inner):
                count = draw.choice((0, 1, 2, 2))
                return listed("{", [self.leaf(inner) for _ in range(count)], "}", "set")
            case ("seq", inner):
                return listed("<<", [self.leaf(inner) for _ in range(draw.choice((0, 1, 2)))], ">>")
            case ("tup", one, other):
                return listed("<<", [self.leaf(one), self.leaf(other)], ">>")
            case ("fun", key, value):
                name = self.name()
                parts = (self.leaf(("set", key)), self.leaf(value))
                return Term("function", (f"[{name} \\in ", " |-> ", "]"), parts, frozenset({name}))
            case (kind,):
                return atom(draw.choice(_ATOMS[kind]))
            case _:
                raise AssertionError(of)

    def _unseen(self, of: Type, depth: int, scope: Mapping[str, Type]) -> Term:
        """Draw an expression with an operand that is not looked at, and has no value."""
        fails = atom(self.draw.choice(_FAILS))
        seen = self.term(of, depth - 1, scope)
        name, given = self.name(), self.name()
        forms = [
            Term("if", ("IF ", " THEN ", " ELSE ", ""), (atom("TRUE"), seen, fails)),
            Term("if", ("IF ", " THEN ", " ELSE ", ""), (atom("FALSE"), fails, seen)),
            Term("let", (f"LET {name} == ", " IN ", ""), (fails, seen), frozenset({name})),
            Term(
                "operator",
                (f"LET {name}({given}) == ", f" IN {name}(", ")"),
                (seen, fails),
                frozenset({name, given}),
            ),
            Term("case", ("CASE ", " -> ", " [] OTHER -> ", ""), (atom("TRUE"), seen, fails)),
        ]
        if of == BOOL:
            broken = Term("equal", ("", " = 1"), (fails,))
            forms = [
                Term("and", ("", " /\\ ", ""), (atom("FALSE"), broken)),
                Term("or", ("", " \\/ ", ""), (atom("TRUE"), broken)),
                Term("implies", ("", " => ", ""), (atom("FALSE"), broken)),
                Term("exists", (f"\\E {name} \\in ", " : ", ""), (atom("{}"), broken)),
                *forms,
            ]
        return self.draw.choice(forms)

    def _of_any_type(self, of: Type, depth: int, scope: Mapping[str, Type]) -> Term:
        """Draw what can be of every type: IF, CASE, LET, an application, CHOOSE."""
        depth -= 1
        name, given, draw = self.name(), self.name(), self.draw
        texts: tuple[str, ...]
        match draw.choice(
            ("if", "case", "let", "operator", "apply", "choose", "recursive", "field")
        ):
            case "if":
                parts = self.parts(depth, scope, BOOL, of, of)
                return Term("if", ("IF ", " THEN ", " ELSE ", ""), parts)
            case "case":
                parts = self.parts(depth, scope, BOOL, of, BOOL, of, of)
                if draw.random() < 0.3:  # without OTHER it may have no value
                    return Term("case", ("CASE ", " -> ", " [] ", " -> ", ""), parts[:4])
                return Term("case", ("CASE ", " -> ", " [] ", " -> ", " [] OTHER -> ", ""), parts)
            case "let":
                inner = self.type(1)
                value = self.term(inner, depth, scope)
                body = self.term(of, depth, {**scope, name: inner})
                return Term(
                    "let", (f"LET {name} == ", " IN ", ""), (value, body), frozenset({name})
                )
            case "operator":
                inner = self.type(1)
                body = self.term(of, depth, {**scope, given: inner})
                value = self.term(inner, depth, scope)
                texts = (f"LET {name}({given}) == ", f" IN {name}(", ")")
                return Term("operator", texts, (body, value), frozenset({name, given}))
            case "apply":
                key = draw.choice((INT, STR))
                return Term(
                    "apply", ("", "[", "]"), self.parts(depth, scope, ("fun", key, of), key)
                )
            case "choose":
                value = self.term(of, depth, scope)
                among = self.term(("set", of), depth, scope)
                parts, head = (value, among, value), f"CHOOSE {name} \\in ({{"
                texts = (head, "} \\cup ", f") : {name} = ", "")
                return Term("choose", texts, parts, frozenset({name}))
            case "recursive":
                first = f"LET {name}[{given} \\in 0..3] == IF {given} = 0 THEN "
                texts = (first, f" ELSE {name}[{given} - 1] IN {name}[", "]")
                parts = (self.term(of, depth, scope), self.term(INT, 0, scope))
                return Term("recursive", texts, parts, frozenset({name, given}))
            case _:
                parts = self.parts(depth, scope, of)
                return Term("field", ("[a |-> ", ", b |-> 1].a"), parts)

    def parts(self, depth: int, scope: Mapping[str, Type], *types: Type) -> tuple[Term, ...]:
        """Draw an expression of each type."""
        return tuple([self.term(of, depth, scope) for of in types])

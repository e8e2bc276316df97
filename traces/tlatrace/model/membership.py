r"""Turn `x \in S` into a condition on x that needs no S, where S is written as a construct.

`x \in [Broker -> Seq(Nat)]` asks for the domain of x and then for each of its images; no set is
built. So membership in infinite sets costs nothing special, and type invariants are cheap.

TLC evaluates S and T before it looks into `S \cup T`: where one of them has no value, the whole has
none. So what has to be evaluated is asked first, and only constructs are left unasked.

Source: Specifying Systems, section 16.1; TLC's `member` methods do the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tlatrace.model.domain import FALSE
from tlatrace.model.tree import (
    Apply,
    Call,
    Case,
    Expr,
    If,
    Let,
    Literal,
    Local,
    OperatorRef,
    Place,
    Quantified,
)

__all__ = ["expand_member"]

_STRUCTURAL: Final = frozenset(
    [
        "Nat",
        "Int",
        "STRING",
        "..",
        "Seq",
        "SUBSET",
        "UNION",
        "functions",
        "records",
        "product",
        "cup",
        "cap",
        "setminus",
        "DOMAIN",
    ]
)


def expand_member(item: Expr, among: Expr, fresh: Callable[[str], str]) -> Expr | None:
    r"""Return a tree for `item \in among`; None if `among` has to be evaluated.

    `item` is an atom: it may be repeated. `fresh` makes new names of locals.
    """
    place = among.place
    match among:
        case Apply() if among.operator in _STRUCTURAL:
            return _of_operator(item, among, fresh)
        case Quantified() if among.what == "filter" and not among.bounds[0][1]:
            ((names, _, base),) = among.bounds
            assert base is not None
            inner = Let(((names[0], item),), among.body, place)
            return Apply("and", (_member(item, base), inner), place)
        case Quantified() if among.what == "map":
            equal = Apply("=", (item, among.body), place)
            return Quantified("exists", among.bounds, equal, place)
        case If():
            yes, no = _member(item, among.yes), _member(item, among.no)
            return If(among.condition, yes, no, place)
        case Case():
            arms = tuple([(guard, _member(item, value)) for guard, value in among.arms])
            other = None if among.other is None else _member(item, among.other)
            return Case(arms, other, place)
        case Let():
            return Let(among.bindings, _member(item, among.body), place)
        case Call() if _is_structural(among):
            definition = among.definition
            pairs = list(zip(definition.parameters, among.arguments, strict=True))
            bindings = tuple([(n, a) for n, a in pairs if not isinstance(a, OperatorRef)])
            body = _member(item, definition.expression)
            return Let(bindings, body, place) if bindings else body
        case _:
            return None


def _member(item: Expr, among: Expr) -> Apply:
    return Apply("in", (item, among), among.place)


def _is_structural(call: Call) -> bool:
    definition = call.definition
    if definition.recursive or definition.operator_parameters or definition.free:
        return False
    match definition.expression:
        case Apply() as body:
            return body.operator in _STRUCTURAL
        case Quantified() as body:
            return body.what in ("filter", "map")
        case Call() as body:
            return _is_structural(body)
        case _:
            return False


def _of_operator(item: Expr, among: Apply, fresh: Callable[[str], str]) -> Expr | None:
    place = among.place
    operands = [operand for operand in among.operands if not isinstance(operand, OperatorRef)]
    match among.operator:
        case "Nat":
            return Apply("is_nat", (item,), place)
        case "Int":
            return Apply("is_int", (item,), place)
        case "STRING":
            return Apply("is_string", (item,), place)
        case "..":
            return Apply("in_interval", (item, *operands), place)
        case "Seq":
            name = fresh("element")
            images = Apply("images", (item,), place)
            each = Quantified(
                "forall",
                (((name,), False, images),),
                _member(Local(name, place), operands[0]),
                place,
            )
            return Apply("and", (Apply("is_sequence", (item,), place), each), place)
        case "SUBSET":
            return Apply("subseteq", (item, operands[0]), place)
        case "functions":
            name = fresh("image")
            images = Apply("images", (item,), place)
            each = Quantified(
                "forall",
                (((name,), False, images),),
                _member(Local(name, place), operands[1]),
                place,
            )
            return Apply("and", (Apply("has_domain", (item, operands[0]), place), each), place)
        case "records":
            names = operands[0::2]
            fields = [
                _member(Apply("select", (item, name), place), values)
                for name, values in zip(names, operands[1::2], strict=True)
            ]
            return Apply("and", (Apply("has_fields", (item, *names), place), *fields), place)
        case "product":
            parts = [
                _member(Apply("apply", (item, Literal(at, place)), place), factor)
                for at, factor in enumerate(operands, start=1)
            ]
            arity = Literal(len(operands), place)
            return Apply("and", (Apply("has_length", (item, arity), place), *parts), place)
        case "cup" | "cap" | "setminus" if all(map(_is_evaluated, operands)):
            return None
        case "cup" | "cap":
            joined = "or" if among.operator == "cup" else "and"
            parts = [_member(item, part) for part in _evaluated_first(operands)]
            return Apply(joined, tuple(parts), place)
        case "setminus":
            inside = _member(item, operands[0])
            outside = Apply("not", (_member(item, operands[1]),), place)
            first = _evaluated_first(operands)[0] is operands[0]
            return Apply("and", (inside, outside) if first else (outside, inside), place)
        case "UNION":
            return _of_union(item, operands[0], fresh, place)
        case "DOMAIN":
            return Apply("in_domain", (item, operands[0]), place)
        case _:
            return None


def _is_evaluated(among: Expr) -> bool:
    """Tell whether membership in the set asks for its value."""
    return expand_member(Local("probe"), among, lambda stem: stem) is None


def _evaluated_first(sets: Sequence[Expr]) -> list[Expr]:
    """Put those first that may have no value; literals have one, and stay where they are."""
    return sorted(sets, key=lambda part: isinstance(part, Literal) or not _is_evaluated(part))


def _of_union(
    item: Expr, sets: Expr, fresh: Callable[[str], str], place: Place | None
) -> Expr | None:
    """Ask one set after another, so that none of them has to be built."""
    match sets:
        case Apply() if sets.operator == "set":
            parts = [part for part in sets.operands if not isinstance(part, OperatorRef)]
            if parts and all(map(_is_evaluated, parts)):
                return None
            each = tuple([_member(item, part) for part in _evaluated_first(parts)])
            return Apply("or", each, place) if each else Literal(FALSE, place)
        case Quantified() if sets.what == "map":
            return Quantified("exists", sets.bounds, _member(item, sets.body), place)
        case _:
            name = fresh("part")
            inside = _member(item, Local(name, place))
            return Quantified("exists", (((name,), False, sets),), inside, place)

r"""Turn `x \in S` into a condition on x that needs no S, where S is written as a construct.

`x \in [Broker -> Seq(Nat)]` asks for the domain of x and then for each of its images; no set is
built. So membership in infinite sets costs nothing special, and type invariants are cheap.

TLC builds what can be listed before it looks into it: both operands of `S \cup T`, `S \cap T` if it
can list S or T, `S \ T` if it can list S, every element of `{f(x) : x \in S}`, and
`{x \in S : P(x)}` unless S is a construct such as Nat. Where a part of that has no value, the whole
has none. So it is built here, too, and only constructs are left unbuilt; their parts are evaluated
first, whether or not the answer needs them: `<<>> \in Seq(U)` has no value where U has none.

TLC goes through the fields of records in an order that hangs on where their names stand first in
all modules. So every field is asked here, and one without a value leaves the whole without one.

Source: Specifying Systems, section 16.1; TLC's `member` methods do the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tlatrace.compiler.ir.analysis import is_closed
from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Case,
    Expr,
    If,
    Let,
    Literal,
    Local,
    OperatorRef,
    Quantified,
    Variable,
)
from tlatrace.runtime.values import TRUE
from tlatrace.tla.sany_nodes import Location

__all__ = ["Settled", "expand_member", "expand_settled", "settle"]

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

_NEVER_LISTED: Final = frozenset(
    ["Nat", "Int", "STRING", "Seq", "SUBSET", "functions", "records", "product"]
)


@dataclass(slots=True)
class Settled:
    """A construct whose parts are named: TLC evaluates them before it looks into the set."""

    among: Expr
    bindings: list[tuple[str, Expr]] = field(default_factory=list)
    checks: list[Expr] = field(default_factory=list)
    """What has to have a value, whether or not membership looks at it."""

    def around(self, condition: Expr) -> Expr:
        """Return a condition that has a value only if the parts have one."""
        place = condition.place
        if self.checks:
            condition = Apply("and", (Apply("evaluated", tuple(self.checks)), condition), place)
        return Let(tuple(self.bindings), condition, place) if self.bindings else condition


def settle(among: Expr, fresh: Callable[[str], str]) -> Settled:
    r"""Name the parts of a construct such as `[S -> Seq(T)]`; `fresh` makes new names of locals."""
    found = Settled(among)
    found.among = _settled(among, fresh, found)
    return found


def _settled(among: Expr, fresh: Callable[[str], str], found: Settled) -> Expr:
    match among:
        case Literal() | Variable():
            return among
        case Apply() if among.operator == "set" and not all(map(_is_evaluated, _parts(among))):
            parts = tuple([_settled(part, fresh, found) for part in _parts(among)])
            return Apply("set", parts, among.place)
        case Apply() if among.operator in _STRUCTURAL and not _is_evaluated(among):
            if among.operator == "..":
                probe = Literal(0, among.place)
                found.checks.append(Apply("in_interval", (probe, *among.operands), among.place))
                return among
            each = _constructs(among)
            if each is not None:
                inside = settle(each.body, fresh).around(Literal(TRUE, among.place))
                found.checks.append(Quantified("forall", each.bounds, inside, among.place))
                return among
            operands = [
                item if isinstance(item, OperatorRef) else _settled(item, fresh, found)
                for item in among.operands
            ]
            return Apply(among.operator, tuple(operands), among.place)
        case Quantified() if among.what == "filter" and not _is_evaluated(among):
            ((names, pattern, base),) = among.bounds
            assert base is not None
            bounds = ((names, pattern, _settled(base, fresh, found)),)
            return replace(among, bounds=bounds)
        case Call() if not among.arguments and _is_structural(among):
            return _settled(among.definition.expression, fresh, found)
        case _:
            found.checks.append(among)
            if isinstance(among, Local) or is_closed(among):
                return among
            name = fresh("among")
            found.bindings.append((name, among))
            found.checks[-1] = Local(name, among.place)
            return found.checks[-1]


def _constructs(among: Apply) -> Quantified | None:
    r"""Return the set in UNION {S : x \in T} where S is a construct."""
    sets = among.operands[0] if among.operator == "UNION" else None
    if not isinstance(sets, Quantified) or sets.what != "map":
        return None
    return None if _is_listed(sets.body, {}) else sets


def _parts(among: Apply) -> list[Expr]:
    return [part for part in among.operands if not isinstance(part, OperatorRef)]


def expand_member(item: Expr, among: Expr, fresh: Callable[[str], str]) -> Expr | None:
    r"""Return a tree for `item \in among`; None if `among` has to be evaluated.

    `item` is an atom: it may be repeated. `fresh` makes new names of locals.
    """
    match among:
        case Apply() if among.operator == "..":
            settled = Settled(among)  # both ends are looked at, whatever the item is
        case Apply() if among.operator in _STRUCTURAL:
            settled = settle(among, fresh)
        case Quantified():
            settled = settle(among, fresh)
        case _:
            settled = Settled(among)
    expanded = expand_settled(item, settled.among, fresh)
    return None if expanded is None else settled.around(expanded)


def expand_settled(item: Expr, among: Expr, fresh: Callable[[str], str]) -> Expr | None:
    r"""Return a tree for `item \in among`, as `expand_member`, that asks only what it needs."""
    place = among.place
    match among:
        case Apply() if among.operator in _STRUCTURAL:
            return _of_operator(item, among, fresh)
        case Quantified() if among.what == "filter" and not among.bounds[0][1]:
            ((names, _, base),) = among.bounds
            assert base is not None
            if _is_listed(base, {}):
                return None
            inner = Let(((names[0], item),), among.body, place)
            return Apply("and", (_member(item, base), inner), place)
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
            return body.what == "filter"
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
            images = Apply("elements", (item,), place)
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
            other = (  # with as many fields, of which some have these names
                Apply("shares_fields", (item, *names), place),
                Apply("in_lazy", (item, among), place),
            )
            same = Apply("has_fields", (item, *names), place)
            return If(same, Apply("every", tuple(fields), place), Apply("and", other, place), place)
        case "product":
            parts = [
                _member(Apply("apply", (item, Literal(at, place)), place), factor)
                for at, factor in enumerate(operands, start=1)
            ]
            arity = Literal(len(operands), place)
            return Apply("and", (Apply("has_length", (item, arity), place), *parts), place)
        case "cup" | "cap" | "setminus" if _is_built(among.operator, operands):
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


def _is_listed(among: Expr | OperatorRef, known: Mapping[str, bool]) -> bool:
    """Tell whether TLC lists the set, in every case; `known` tells it of the locals."""
    match among:
        case Apply() if among.operator == "cap":
            return any(_is_listed(part, known) for part in among.operands)
        case Apply() if among.operator == "setminus":
            return _is_listed(among.operands[0], known)
        case Apply() if among.operator == "cup":
            return all(_is_listed(part, known) for part in among.operands)
        case Apply():
            return among.operator not in _NEVER_LISTED
        case Quantified() if among.what == "filter":
            base = among.bounds[0][2]
            return base is None or _is_listed(base, known)
        case If():
            return _is_listed(among.yes, known) and _is_listed(among.no, known)
        case Case():
            return all(_is_listed(value, known) for value in _values(among))
        case Let():
            for name, value in among.bindings:
                known = {**known, name: _is_listed(value, known)}
            return _is_listed(among.body, known)
        case Call() if not among.definition.recursive:
            listed = [_is_listed(argument, known) for argument in among.arguments]
            parameters = dict(zip(among.definition.parameters, listed, strict=True))
            return _is_listed(among.definition.expression, {**known, **parameters})
        case Local():
            return known.get(among.name, True)
        case _:
            return True


def _values(among: Case) -> list[Expr]:
    values = [value for _, value in among.arms]
    return values if among.other is None else [*values, among.other]


def _is_evaluated(among: Expr) -> bool:
    """Tell whether membership in the set asks for its value, in some case."""
    match among:
        case Call() if _is_structural(among):
            return _is_evaluated(among.definition.expression)
        case Let():
            return _is_evaluated(among.body)
        case If():
            return _is_evaluated(among.yes) or _is_evaluated(among.no)
        case Case():
            return any(map(_is_evaluated, _values(among)))
        case _:
            return expand_settled(Local("probe"), among, lambda stem: stem) is None


def _is_built(operator: str, operands: Sequence[Expr]) -> bool:
    r"""Tell whether TLC builds what an operator on sets makes, before it looks into it.

    Of `S \ T` it asks every element of S, if S is listed, whether it is in T, of `S \cap T` every
    element of one that is listed, and of `S \cup T` every element, if both are.
    """
    if all(map(_is_evaluated, operands)):
        return True
    listed = [_is_listed(part, {}) for part in operands]
    return all(listed) if operator == "cup" else any(listed if operator == "cap" else listed[:1])


def _evaluated_first(sets: Sequence[Expr]) -> list[Expr]:
    """Put those first that may have no value; literals have one, and stay where they are."""
    return sorted(sets, key=lambda part: isinstance(part, Literal) or not _is_evaluated(part))


def _of_union(
    item: Expr, sets: Expr, fresh: Callable[[str], str], place: Location | None
) -> Expr | None:
    """Ask one set after another, so that none of them has to be built."""
    match sets:
        case Apply() if sets.operator == "set":
            parts = [part for part in sets.operands if not isinstance(part, OperatorRef)]
            if all(map(_is_evaluated, parts)):  # of UNION {}, too: the item is looked at
                return None
            each = tuple([_member(item, part) for part in _evaluated_first(parts)])
            return Apply("or", each, place)
        case Quantified() if sets.what == "map" and not _is_listed(sets.body, {}):
            return Quantified("exists", sets.bounds, _member(item, sets.body), place)
        case _:
            name = fresh("part")
            inside = _member(item, Local(name, place))
            return Quantified("exists", (((name,), False, sets),), inside, place)

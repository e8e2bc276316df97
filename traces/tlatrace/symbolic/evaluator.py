"""Evaluate expressions of the closed tree on values with unknown parts.

The result is exact wherever TLC has a value. Where TLC has none, as for a field that a record does
not have, some value stands here: in a guarded expression, such as c # NoConn /\\ c.ack > 0, it does
not matter. Operators are unfolded, quantifiers range over the listed elements of sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Sequence as Many
from typing import Final, TypeAlias

import z3

from tlatrace.errors import EvaluationError
from tlatrace.model.tree import (
    Apply,
    Call,
    Case,
    Except,
    Expr,
    If,
    Let,
    Literal,
    Local,
    Operand,
    OperatorRef,
    Quantified,
    Variable,
    unsupported,
)
from tlatrace.runtime.values import Atom, RuntimeValue
from tlatrace.symbolic.functions import applied, updated
from tlatrace.symbolic.values import (
    NO,
    YES,
    Choice,
    Function,
    Functions,
    Interval,
    Naturals,
    Nothing,
    Powerset,
    Sequence,
    Set,
    Symbolic,
    Tuple,
    all_of,
    any_of,
    equal,
    implies,
    is_no,
    is_yes,
    literal,
    member,
    merge,
    negation,
    options_of,
    set_of,
    subset,
)

__all__ = ["Evaluator", "Names"]

Names: TypeAlias = Mapping[str, Symbolic]
_Bound: TypeAlias = tuple[tuple[str, ...], bool, Expr | None]

_ARITHMETIC: Final[Mapping[str, Callable[[z3.ArithRef, z3.ArithRef], z3.ExprRef]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


class Evaluator:
    """Evaluates in a state `pre`, and in `post` as far as it is known.

    `parameters` are constants of the specification of which only the sort is known.
    """

    def __init__(self, pre: Many[Symbolic], parameters: Mapping[Atom, Symbolic]) -> None:
        self.pre = tuple(pre)
        self.post: dict[int, Symbolic] = {}
        self.parameters = parameters
        self.obligations: list[z3.BoolRef] = []
        """What must hold of values that were put into a structure that cannot hold all."""

    def truth(self, expr: Operand, names: Names) -> z3.BoolRef:
        """Evaluate a formula."""
        value = self.value(expr, names)
        if isinstance(value, Nothing):
            return NO
        if not isinstance(value, z3.BoolRef):
            raise EvaluationError(f"a {type(value).__name__} is no formula")
        return value

    def value(self, expr: Operand, names: Names) -> Symbolic:
        """Evaluate an expression."""
        match expr:
            case Literal():
                return self._literal(expr.value)
            case Variable():
                return self._variable(expr)
            case Local():
                return names[expr.name]
            case Call():
                return self.value(expr.definition.expression, self.passed(expr, names))
            case If():
                condition = self.truth(expr.condition, names)
                return self._branch(condition, expr.yes, expr.no, names)
            case Case():
                return self._case(expr, names)
            case Let():
                return self.value(expr.body, self.named(expr, names))
            case Except():
                return self._except(expr, names)
            case Quantified():
                return self._quantified(expr, names)
            case Apply():
                return self._apply(expr, names)
            case _:
                raise unsupported(expr.place, f"a {type(expr).__name__} has no symbolic form")

    def _literal(self, value: RuntimeValue) -> Symbolic:
        if isinstance(value, Atom) and value in self.parameters:
            return self.parameters[value]
        return literal(value)

    def _variable(self, expr: Variable) -> Symbolic:
        if not expr.primed:
            return self.pre[expr.index]
        if expr.index not in self.post:
            raise unsupported(expr.place, f"{expr.name}' is used before it is given a value")
        return self.post[expr.index]

    def passed(self, call: Call, names: Names) -> Names:
        """Return the names that the body of a called operator sees."""
        definition = call.definition
        if definition.recursive or definition.operator_parameters:
            raise unsupported(call.place, f"{definition.name} cannot be unfolded")
        arguments = [self.value(argument, names) for argument in call.arguments]
        outer = names if definition.local else {}
        return {**outer, **dict(zip(definition.parameters, arguments, strict=True))}

    def named(self, let: Let, names: Names) -> Names:
        """Return the names that the body of a LET sees."""
        found = dict(names)
        for name, value in let.bindings:
            found[name] = self.value(value, found)
        return found

    def _branch(self, condition: z3.BoolRef, yes: Expr, no: Expr, names: Names) -> Symbolic:
        if is_yes(condition):
            return self.value(yes, names)
        if is_no(condition):
            return self.value(no, names)
        return merge(condition, self.value(yes, names), self.value(no, names))

    def _case(self, expr: Case, names: Names) -> Symbolic:
        arms = list(expr.arms)
        found = self.value(expr.other if expr.other is not None else arms.pop()[1], names)
        for guard, value in reversed(arms):
            found = merge(self.truth(guard, names), self.value(value, names), found)
        return found

    def _except(self, expr: Except, names: Names) -> Symbolic:
        found = self.value(expr.function, names)
        for update in expr.updates:
            path = [self.value(item, names) for item in update.path]

            def changed(
                old: Symbolic, name: str = update.old, new: Expr = update.value
            ) -> Symbolic:
                return self.value(new, {**names, name: old})

            found = updated(found, path, changed)
        return found

    # ---- Bound names ----

    def _quantified(self, expr: Quantified, names: Names) -> Symbolic:
        if expr.what == "function":
            return self._function(expr, names)
        if expr.what == "choose":
            return self._choose(expr, names)
        chosen = self.choices(expr.bounds, names, expr)
        match expr.what:
            case "forall":
                return all_of(implies(g, self.truth(expr.body, inner)) for g, inner in chosen)
            case "exists":
                return any_of(all_of([g, self.truth(expr.body, inner)]) for g, inner in chosen)
            case "map":
                return set_of([(g, self.value(expr.body, inner)) for g, inner in chosen])
            case "filter":
                (((name,), _, _),) = expr.bounds
                return set_of([(all_of([g, self.truth(expr.body, i)]), i[name]) for g, i in chosen])
            case _:
                raise unsupported(expr.place, f"{expr.what} has no symbolic form")

    def choices(
        self, bounds: Iterable[_Bound], names: Names, expr: Quantified
    ) -> Iterator[tuple[z3.BoolRef, Names]]:
        """Yield the listed elements that names are bound to, each with its condition."""
        found: list[tuple[z3.BoolRef, Names]] = [(YES, names)]
        for bound, pattern, among in bounds:
            if pattern or among is None:
                raise unsupported(expr.place, "a tuple pattern, or no set")
            elements = self._elements(self.value(among, names), expr)
            found = [
                (all_of([guard, also]), {**known, bound[0]: element})
                for guard, known in found
                for also, element in elements
            ]
        yield from found

    def _elements(self, among: Symbolic, expr: Quantified) -> list[tuple[z3.BoolRef, Symbolic]]:
        found: list[tuple[z3.BoolRef, Symbolic]] = []
        for guard, option in options_of(among):
            if not isinstance(option, Set):
                raise unsupported(expr.place, f"the elements of {type(option).__name__}")
            found += [(all_of([guard, also]), element) for also, element in option.elements]
        return found

    def _function(self, expr: Quantified, names: Names) -> Symbolic:
        keys: list[RuntimeValue] = []
        values: list[Symbolic] = []
        (((name,), _, _),) = expr.bounds
        for guard, inner in self.choices(expr.bounds, names, expr):
            key = getattr(inner[name], "value", None)
            if not is_yes(guard) or key is None:
                raise unsupported(expr.place, "a function whose domain is not known")
            keys.append(key)
            values.append(self.value(expr.body, inner))
        return Function(tuple(keys), tuple(values))

    def _choose(self, expr: Quantified, names: Names) -> Symbolic:
        (((name,), _, _),) = expr.bounds
        found: Symbolic = Nothing()
        for guard, inner in reversed(list(self.choices(expr.bounds, names, expr))):
            here = all_of([guard, self.truth(expr.body, inner)])
            found = merge(here, inner[name], found)
        return found

    # ---- Operators ----

    def _apply(self, expr: Apply, names: Names) -> Symbolic:
        operator = expr.operator
        match operator:
            case "and":
                return all_of(self._until(expr.operands, names, is_no))
            case "or":
                return any_of(self._until(expr.operands, names, is_yes))
            case "=>":
                return any_of(self._implication(expr, names))
            case "Nat":
                return Naturals()
            case "BOOLEAN":
                return set_of([(YES, YES), (YES, NO)])
            case _:
                if any(isinstance(operand, OperatorRef) for operand in expr.operands):
                    raise unsupported(expr.place, f"{operator} has no symbolic form")
                return self._applied(expr, [self.value(one, names) for one in expr.operands])

    def _until(
        self, operands: Many[Operand], names: Names, stops: Callable[[z3.BoolRef], bool]
    ) -> Iterator[z3.BoolRef]:
        """Yield operands as TLC evaluates them: those behind a known end are not looked at."""
        for operand in operands:
            found = self.truth(operand, names)
            yield found
            if stops(found):
                return

    def _implication(self, expr: Apply, names: Names) -> Iterator[z3.BoolRef]:
        premise, conclusion = expr.operands
        found = negation(self.truth(premise, names))
        yield found
        if not is_yes(found):
            yield self.truth(conclusion, names)

    def _applied(self, expr: Apply, values: list[Symbolic]) -> Symbolic:
        if expr.operator != "set" and any(isinstance(value, Nothing) for value in values):
            return Nothing()
        match expr.operator, values:
            case "not", [one]:
                return negation(one)
            case "<=>", [one, other]:
                return one == other
            case "=", [one, other]:
                return equal(one, other)
            case "#", [one, other]:
                return negation(equal(one, other))
            case "in", [one, other]:
                return member(one, other)
            case "notin", [one, other]:
                return negation(member(one, other))
            case "subseteq", [one, other]:
                return subset(one, other)
            case "..", [low, high]:
                return Interval(low, high)
            case "negate", [one]:
                return _ARITHMETIC["-"](z3.IntVal(0), one)
            case (("apply" | "select"), [function, place]):
                return applied(function, place)
            case "functions", [keys, of]:
                return Functions(_constants(keys, expr), of)
            case "tuple", _:
                return Tuple(tuple(values))
            case "record", _:
                keys = [getattr(key, "value", None) for key in values[0::2]]
                return Function(tuple(k for k in keys if k is not None), tuple(values[1::2]))
            case "Len", [one]:
                return _length(one)
            case "Append", [one, other]:
                return self._appended(one, other)
            case "DOMAIN", [Function() as one]:
                return set_of([(YES, literal(key)) for key in one.keys])
            case "DOMAIN", [one]:
                return Interval(z3.IntVal(1), _length(one))
            case operator, [one, other] if operator in _ARITHMETIC:
                return _ARITHMETIC[operator](one, other)
            case _:
                return _of_sets(expr, values)

    def _appended(self, sequence: Symbolic, entry: Symbolic) -> Symbolic:
        match sequence:
            case Tuple():
                return Tuple((*sequence.items, entry))
            case Sequence():
                self.obligations.append(sequence.shape.fits(entry))
                place = sequence.length + 1
                leaves = zip(sequence.leaves, sequence.shape.leaves(entry), strict=True)
                stored = [z3.Store(array, place, leaf) for array, leaf in leaves]
                return Sequence(place, sequence.shape, tuple(stored))
            case _:
                raise EvaluationError(f"a {type(sequence).__name__} is no sequence")


def _constants(keys: Symbolic, expr: Apply) -> tuple[RuntimeValue, ...]:
    """Return the elements of a set of constants."""
    elements = [
        (is_yes(guard), getattr(element, "value", None))
        for guard, element in _as_set(keys, expr).elements
    ]
    if not all(known and key is not None for known, key in elements):
        raise unsupported(expr.place, "functions whose domain is not known")
    return tuple([key for _, key in elements if key is not None])


def _length(value: Symbolic) -> z3.ArithRef:
    match value:
        case Tuple():
            return z3.IntVal(len(value.items))
        case Sequence():
            return value.length
        case _:
            raise EvaluationError(f"a {type(value).__name__} is no sequence")


def _of_sets(expr: Apply, values: list[Symbolic]) -> Symbolic:
    """Apply what makes sets of sets, or counts them."""
    if expr.operator == "set":
        return set_of([(YES, value) for value in values])
    sets = [_as_set(value, expr) for value in values]
    match expr.operator, sets:
        case "cup", [one, other]:
            return set_of([*one.elements, *other.elements])
        case "cap", [one, other]:
            return set_of([(all_of([g, member(e, other)]), e) for g, e in one.elements])
        case "setminus", [one, other]:
            return set_of([(all_of([g, negation(member(e, other))]), e) for g, e in one.elements])
        case "UNION", [one]:
            return set_of(
                [
                    (all_of([guard, also]), inner)
                    for guard, element in one.elements
                    for also, inner in _as_set(element, expr).elements
                ]
            )
        case "SUBSET", [one]:
            return Powerset(one)
        case "Cardinality", [one]:
            return _cardinality(one)
        case _:
            raise unsupported(expr.place, f"{expr.operator} has no symbolic form")


def _as_set(value: Symbolic, expr: Apply) -> Set:
    match value:
        case Set():
            return value
        case Choice():
            return set_of(
                [
                    (all_of([guard, also]), element)
                    for guard, option in value.options
                    for also, element in _as_set(option, expr).elements
                ]
            )
        case _:
            raise unsupported(expr.place, f"{expr.operator} of a {type(value).__name__}")


def _cardinality(one: Set) -> z3.ArithRef:
    """Count each element where it stands first."""
    first = [
        all_of([guard, *(negation(all_of([g, equal(e, element)])) for g, e in one.elements[:at])])
        for at, (guard, element) in enumerate(one.elements)
    ]
    return z3.Sum([z3.IntVal(0), *(z3.If(here, 1, 0) for here in first if here is not NO)])

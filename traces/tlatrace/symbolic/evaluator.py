"""Evaluate expressions of the closed tree on values with unknown parts.

The result is exact wherever TLC has a value. Where TLC has none, as for a field that a record does
not have, some value stands here: in a guarded expression, such as c # NoConn /\\ c.ack > 0, it does
not matter. Operators are unfolded, quantifiers range over the listed elements of sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Sequence as Many
from typing import Final, TypeAlias

import z3

from tlatrace.compiler.ir.nodes import (
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
from tlatrace.errors import EvaluationError
from tlatrace.runtime.values import Atom, RuntimeValue
from tlatrace.symbolic.elements import (
    constant_in,
    domain_of,
    elements_of,
    function_of,
    length_of,
    part_of,
)
from tlatrace.symbolic.functions import applied, updated
from tlatrace.symbolic.hidden import Unknowns, has_hidden, same
from tlatrace.symbolic.sets import as_set, constants_of, of_sets
from tlatrace.symbolic.values import (
    NO,
    YES,
    Function,
    Functions,
    Hidden,
    Interval,
    Naturals,
    Nothing,
    Powerset,
    Sequence,
    Symbolic,
    Tuple,
    all_of,
    any_of,
    equal,
    identity,
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

_ARITHMETIC: Final[Mapping[str, Callable[[z3.ArithRef, z3.ArithRef], z3.ExprRef]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}

_BUILDING: Final = frozenset({"set", "tuple", "record"})
"""Operators whose value has hidden parts where operands are hidden,"""
_PASSING: Final = frozenset({"cup", "UNION", "apply", "select"})
"""and those that are understood of values with hidden parts."""


class Evaluator:
    """Evaluates in a state `pre`, and in `post` as far as it is known.

    `parameters` are constants of the specification of which only the sort is known. `step` names
    the step that this is of; without one, formulas about hidden values are refused.
    """

    def __init__(
        self,
        pre: Many[Symbolic],
        parameters: Mapping[Atom, Symbolic],
        *,
        step: str | None = None,
    ) -> None:
        self.pre = tuple(pre)
        self.post: dict[int, Symbolic] = {}
        self.parameters = parameters
        self.unknowns = Unknowns(step)
        self._hides = any(map(has_hidden, self.pre))
        self._called: dict[object, tuple[object, Symbolic]] = {}
        """What calls came to that ask for hidden values: the same call is the same again."""
        self.obligations: list[z3.BoolRef] = []
        """What must hold of values that were put into a structure that cannot hold all."""
        self._bound = 0

    def truth(self, expr: Operand, names: Names) -> z3.BoolRef:
        """Evaluate a formula."""
        value = self.value(expr, names)
        if isinstance(value, Nothing):
            return NO
        if isinstance(value, Hidden):
            return self.unknowns.truth()
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
                return self._call(expr, self.passed(expr, names))
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

    def _call(self, call: Call, inner: Names) -> Symbolic:
        definition = call.definition
        if not self._hides or definition.local:
            return self.value(definition.expression, inner)
        arguments = tuple([identity(inner[name]) for name in definition.parameters])
        key = (id(definition), arguments, tuple([(at, id(v)) for at, v in self.post.items()]))
        if key in self._called:
            return self._called[key][1]
        made = self.unknowns.made
        found = self.value(definition.expression, inner)
        if self.unknowns.made > made:
            # What the key has the ids of is kept, so that they stay theirs.
            self._called[key] = (definition, inner, dict(self.post)), found
        return found

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
            if isinstance(found, Hidden) or any(isinstance(item, Hidden) for item in path):
                return Hidden()

            def changed(
                old: Symbolic, name: str = update.old, new: Expr = update.value
            ) -> Symbolic:
                return self.value(new, {**names, name: old})

            found = updated(found, path, changed)
        return found

    # ---- Bound names ----

    def _quantified(self, expr: Quantified, names: Names) -> Symbolic:
        sets = [self.value(among, names) for among in _sets(expr)]
        if any(isinstance(among, Hidden) for among in sets):
            return Hidden()
        if expr.what == "function":
            return self._function(expr, names)
        if expr.what == "choose":
            return self._choose(expr, names)
        if expr.what in ("forall", "exists"):
            return self._of_all(expr, list(zip(_names(expr), sets, strict=True)), names)
        chosen = self.choices(expr, names)
        match expr.what:
            case "map":
                return set_of([(g, self.value(expr.body, inner)) for g, inner in chosen])
            case "filter":
                (((name,), _, _),) = expr.bounds
                return set_of([(all_of([g, self.truth(expr.body, i)]), i[name]) for g, i in chosen])
            case _:
                raise unsupported(expr.place, f"{expr.what} has no symbolic form")

    def _of_all(
        self, expr: Quantified, bounds: Many[tuple[str, Symbolic]], names: Names
    ) -> z3.BoolRef:
        r"""Evaluate \A and \E: over numbers without an end by z3's own quantifiers."""
        if not bounds:
            return self.truth(expr.body, names)
        (name, among), *others = bounds
        every = expr.what == "forall"
        elements = elements_of(among)
        if elements is not None:
            chosen = (
                (guard, self._of_all(expr, others, {**names, name: element}))
                for guard, element in elements
            )
            if every:
                return all_of(implies(guard, holds) for guard, holds in chosen)
            return any_of(all_of([guard, holds]) for guard, holds in chosen)
        if not isinstance(among, Interval | Naturals):
            raise unsupported(expr.place, f"the elements of a {type(among).__name__}")
        self._bound += 1
        bound = z3.Int(f"{name}!{self._bound}")
        # Counted from 1 as places of sequences are: so z3 finds those that matter.
        number = bound + among.low - 1 if isinstance(among, Interval) else bound
        here = member(number, among)
        made = self.unknowns.made
        holds = self._of_all(expr, others, {**names, name: number})
        if self.unknowns.made > made:
            return self.unknowns.truth()  # It is another one for each number.
        if every:
            return z3.ForAll([bound], z3.simplify(implies(here, holds)))
        return z3.Exists([bound], z3.simplify(all_of([here, holds])))

    def choices(self, expr: Quantified, names: Names) -> Iterator[tuple[z3.BoolRef, Names]]:
        """Yield the listed elements that names are bound to, each with its condition."""
        found: list[tuple[z3.BoolRef, Names]] = [(YES, names)]
        for name, among in zip(_names(expr), _sets(expr), strict=True):
            elements = elements_of(self.value(among, names))
            if elements is None:
                raise unsupported(expr.place, "a set whose elements cannot be listed")
            found = [
                (all_of([guard, also]), {**known, name: element})
                for guard, known in found
                for also, element in elements
            ]
        yield from found

    def _function(self, expr: Quantified, names: Names) -> Symbolic:
        (name,), (among,) = _names(expr), _sets(expr)
        found: Symbolic = Nothing()
        for guard, option in reversed(options_of(self.value(among, names))):
            pairs: dict[RuntimeValue, Symbolic] = {}
            elements = elements_of(option)
            if elements is None:
                raise unsupported(expr.place, "a function whose domain cannot be listed")
            for also, element in elements:
                key = constant_in(element)
                if not is_yes(also) or key is None:
                    raise unsupported(expr.place, "a function whose domain is not known")
                pairs[key] = self.value(expr.body, {**names, name: element})
            found = merge(guard, function_of(pairs), found)
        return found

    def _choose(self, expr: Quantified, names: Names) -> Symbolic:
        (((name,), _, _),) = expr.bounds
        found: Symbolic = Nothing()
        for guard, inner in reversed(list(self.choices(expr, names))):
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
        if self._hides and expr.operator not in _BUILDING:
            found = self._of_hidden(expr.operator, values)
            if found is not None:
                return found
        match expr.operator, values:
            case "not", [one]:
                return negation(one)
            case "<=>", [one, other]:
                return one == other
            case "=" | "unchanged", [one, other]:
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
                return Functions(constants_of(keys, expr), of)
            case "tuple", _:
                return Tuple(tuple(values))
            case "record", _:
                keys = [getattr(key, "value", None) for key in values[0::2]]
                return Function(tuple(k for k in keys if k is not None), tuple(values[1::2]))
            case "Len", [one]:
                return length_of(one)
            case "Append", [one, other]:
                return self._appended(one, other)
            case "DOMAIN", [one]:
                return domain_of(one)
            case "SubSeq", [one, low, high]:
                return part_of(one, low, high)
            case "SUBSET", [Naturals() as one]:
                return Powerset(one)
            case "setminus", [one, other]:
                kept = [
                    (all_of([guard, negation(member(element, other))]), element)
                    for guard, element in as_set(one, expr).elements
                ]
                return set_of(kept)
            case operator, [one, other] if operator in _ARITHMETIC:
                found = _ARITHMETIC[operator](one, other)
                return z3.simplify(found) if _are_known(one, other) else found
            case _:
                return of_sets(expr, values)

    def _of_hidden(self, operator: str, values: Many[Symbolic]) -> Symbolic | None:
        """Apply an operator to values with hidden parts; None: it is done as ever."""
        if any(isinstance(value, Hidden) for value in values):
            return Hidden()
        if operator in _PASSING or not any(map(has_hidden, values)):
            return None
        if operator in ("=", "#"):
            one, other = values
            alike = same(one, other, self.unknowns)
            return alike if operator == "=" else negation(alike)
        return Hidden()

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


def _are_known(*numbers: Symbolic) -> bool:
    return all(isinstance(number, z3.IntNumRef) for number in numbers)


def _names(expr: Quantified) -> list[str]:
    """Return the bound names."""
    if any(pattern for _, pattern, _ in expr.bounds):
        raise unsupported(expr.place, "a tuple pattern")
    return [names[0] for names, _, _ in expr.bounds]


def _sets(expr: Quantified) -> list[Expr]:
    """Return the set of each bound name."""
    sets = [among for _, _, among in expr.bounds if among is not None]
    if len(sets) < len(expr.bounds):
        raise unsupported(expr.place, "no set")
    return sets

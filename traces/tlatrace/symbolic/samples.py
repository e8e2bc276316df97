r"""Why a few elements of a set are enough to prove something of a set of any size.

Let v be a variable whose value is a set. Every invariant says something of each so many elements of
v (`\A r \in v : ...`), and so holds of a part of v when it holds of v. An action looks for so many
elements that meet a guard (`\E r \in v : ...`), may ask something of all of them, may change each
or leave it out for itself (`v' = {f(r) : r \in v}`), and may add some.
If a step from a state in which all invariants hold breaks one, take away all elements of v but
those that the step found and those that break the invariant, or become what breaks it: the
invariants still hold, the step is still possible and does the same, and the invariant breaks. So if
no step breaks one with as many elements as `needed` says, none ever does.

All this is read off the text; what is not of this form is refused.
"""

from __future__ import annotations

from collections.abc import Iterable

from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Definition,
    If,
    Let,
    Operand,
    Quantified,
    Variable,
    children,
    unsupported,
)

__all__ = ["needed"]


def needed(variable: str, invariants: Iterable[Definition], next_definition: Definition) -> int:
    """Return how many elements of a variable's value are enough.

    Raises:
        SubsetError: an invariant or an action uses the variable in another way.
    """
    reading = _Reading(variable)
    broken = max((reading.of_invariant(one.expression) for one in invariants), default=0)
    return broken + reading.of_action(next_definition.expression)


class _Reading:
    """Counts the elements that formulas speak of."""

    def __init__(self, variable: str) -> None:
        self._variable = variable
        self._known: dict[int, tuple[Definition, bool]] = {}

    def _mentions(self, expr: Operand) -> bool:
        match expr:
            case Variable():
                return expr.name == self._variable
            case Call():
                key = id(expr.definition)
                if key not in self._known:
                    self._known[key] = expr.definition, False  # of a recursive one
                    found = self._mentions(expr.definition.expression)
                    self._known[key] = expr.definition, found
                return self._known[key][1] or any(map(self._mentions, expr.arguments))
            case _:
                return any(map(self._mentions, children(expr)))

    def _is_it(self, expr: Operand | None, *, primed: bool = False) -> bool:
        return isinstance(expr, Variable) and expr.name == self._variable and expr.primed == primed

    def of_invariant(self, expr: Operand) -> int:
        """Count the elements that show a formula false; it must hold of every part of the set."""
        if not self._mentions(expr):
            return 0
        match expr:
            case Apply(operator="and"):
                return max(map(self.of_invariant, expr.operands))
            case Apply(operator="or"):
                return sum(map(self.of_invariant, expr.operands))
            case Apply(operator="=>", operands=(premise, conclusion)):
                if not self._mentions(premise):
                    return self.of_invariant(conclusion)
            case Apply(operator="notin", operands=(element, among)):
                if self._is_it(among) and not self._mentions(element):
                    return 1
            case Quantified(what="forall"):
                sets = [among for _, _, among in expr.bounds]
                mine = [among for among in sets if self._is_it(among)]
                if all(among in mine or not (among and self._mentions(among)) for among in sets):
                    return len(mine) + self.of_invariant(expr.body)
            case If() if not self._mentions(expr.condition):
                return max(self.of_invariant(expr.yes), self.of_invariant(expr.no))
            case Call() if not any(map(self._mentions, expr.arguments)):
                return self.of_invariant(expr.definition.expression)
            case _:
                pass
        raise self._refusal(expr)

    def of_action(self, expr: Operand) -> int:
        """Count the elements that a step looks for; it must not look at others."""
        if not self._mentions(expr):
            return 0
        match expr:
            case Apply(operator="and"):
                return sum(map(self.of_action, expr.operands))
            case Apply(operator="or"):
                return max(map(self.of_action, expr.operands))
            case Apply(operator="unchanged" | "=", operands=(Variable(primed=True) as new, old)):
                if self._is_it(new, primed=True) and self._keeps(old):
                    return 0
            case Quantified(what="exists"):
                sets = [among for _, _, among in expr.bounds]
                mine = [among for among in sets if self._is_it(among)]
                if all(among in mine or not (among and self._mentions(among)) for among in sets):
                    return len(mine) + self.of_action(expr.body)
            case Quantified(what="forall") if not self._mentions(expr.body):
                # What holds of all elements holds of those that are left.
                others = [among for _, _, among in expr.bounds if not self._is_it(among)]
                if not any(among and self._mentions(among) for among in others):
                    return 0
            case Let() if not any(self._mentions(value) for _, value in expr.bindings):
                return self.of_action(expr.body)
            case If() if not self._mentions(expr.condition):
                return max(self.of_action(expr.yes), self.of_action(expr.no))
            case Call() if not any(map(self._mentions, expr.arguments)):
                return self.of_action(expr.definition.expression)
            case _:
                pass
        raise self._refusal(expr)

    def _keeps(self, new: Operand) -> bool:
        """Tell whether it is the set, perhaps with more, or with each changed or left out."""
        if self._is_it(new):
            return True
        match new:
            case Apply(operator="cup", operands=(one, other)):
                return self._keeps(one) and not self._mentions(other)
            case Quantified(what="map" | "filter", bounds=((_, _, among),)):
                return self._is_it(among) and not self._mentions(new.body)
            case Call() if not any(map(self._mentions, new.arguments)):
                return self._keeps(new.definition.expression)
            case _:
                return False

    def _refusal(self, expr: Operand) -> Exception:
        reason = f"{self._variable} is used so that a part of it may not be enough"
        return unsupported(expr.place, reason)

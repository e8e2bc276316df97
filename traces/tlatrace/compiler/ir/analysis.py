"""What the generators ask about trees: kinds, sizes, which names are used and how surely."""

from __future__ import annotations

from typing import Final

from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Case,
    Composed,
    Definition,
    Enabled,
    Except,
    Expr,
    If,
    Let,
    Literal,
    Local,
    Operand,
    OperatorCall,
    OperatorRef,
    Quantified,
    Recursive,
    Variable,
    children,
)
from tlatrace.runtime.values import Atom, Boolean, Fcn

__all__ = [
    "MANY",
    "Reads",
    "definition_reads",
    "free_locals",
    "is_closed",
    "kind_of",
    "reads",
    "size",
    "state_cells",
    "strict",
    "uses",
    "weight",
]

MANY: Final = 1_000
"""So often is a name used whose use stands in a loop or in an operator."""

_KINDS: Final = {
    "bool": "TRUE FALSE = unchanged # not and or => <=> in notin subseteq < > <= >= IsFiniteSet"
    " Assert PrintT unknown"
    " is_nat is_int is_string has_domain has_fields is_sequence has_length in_interval evaluated"
    " every shares_fields in_lazy",
    "int": "+ - * ^ % div negate Len Cardinality",
    "set": "BOOLEAN STRING Nat Int cap cup setminus SUBSET UNION DOMAIN set functions product .."
    " Seq records Permutations",
    "function": "tuple record Append Tail SubSeq SelectSeq SortSeq :> @@ SetToSeq SetToSortSeq",
    "string": "ToString",
}
_KIND_OF: Final = {name: kind for kind, names in _KINDS.items() for name in names.split()}
_SHORT_CIRCUIT: Final = frozenset(["and", "or", "=>"])


def kind_of(node: Operand) -> str:
    """Name the kind of value that an expression has if it has one: bool, int, set, ..., or "?"."""
    match node:
        case Literal():
            match node.value:
                case Boolean():
                    return "bool"
                case int():
                    return "int"
                case str():
                    return "string"
                case frozenset():
                    return "set"
                case tuple() | Fcn():
                    return "function"
                case Atom():
                    return "atom"
                case _:
                    return "?"
        case Apply():
            return _KIND_OF.get(node.operator, "?")
        case Quantified():
            kinds = {"exists": "bool", "forall": "bool", "map": "set", "filter": "set"}
            return kinds.get(node.what, "function" if node.what == "function" else "?")
        case If():
            kind = kind_of(node.yes)
            return kind if kind == kind_of(node.no) else "?"
        case Case():
            found = {kind_of(value) for _, value in node.arms}
            if node.other is not None:
                found.add(kind_of(node.other))
            return found.pop() if len(found) == 1 else "?"
        case Let():
            return kind_of(node.body)
        case Except():
            return "function"
        case Enabled() | Composed():
            return "bool"
        case Call():
            return definition_kind(node.definition)
        case _:
            return "?"


_IN_PROGRESS: Final[set[int]] = set()
_DEFINITION_KINDS: Final[dict[int, tuple[Definition, str]]] = {}


def definition_kind(definition: Definition) -> str:
    """Name the kind of value of a definition; "?" for what recursion hides."""
    known = _DEFINITION_KINDS.get(id(definition))
    if known is not None:
        return known[1]
    if id(definition) in _IN_PROGRESS or definition.body is None:
        return "?"
    _IN_PROGRESS.add(id(definition))
    try:
        kind = kind_of(definition.body)
    finally:
        _IN_PROGRESS.discard(id(definition))
    _DEFINITION_KINDS[id(definition)] = (definition, kind)
    return kind


def size(node: Operand) -> int:
    """Count the nodes of a tree."""
    count = 0
    waiting = [node]
    while waiting:
        count += 1
        waiting += children(waiting.pop())
    return count


_WEIGHTS: Final[dict[int, tuple[Definition, int]]] = {}


def weight(node: Operand) -> int:
    """Count the nodes of a tree and, once for each call, of the definitions that it calls."""
    total = 0
    waiting = [node]
    while waiting:
        item = waiting.pop()
        total += 1
        if isinstance(item, Call) and item.definition.body is not None:
            known = _WEIGHTS.get(id(item.definition))
            if known is None:
                _WEIGHTS[id(item.definition)] = (item.definition, 0)  # for recursion
                known = (item.definition, weight(item.definition.body))
                _WEIGHTS[id(item.definition)] = known
            total += known[1]
        waiting += children(item)
    return min(total, MANY)


def state_cells(node: Operand) -> list[tuple[Variable, Local]] | None:
    """Return each variable[bound name] of a tree; None if it reads the state in other ways."""
    found: dict[tuple[int, bool, str], tuple[Variable, Local]] = {}
    waiting = [node]
    while waiting:
        item = waiting.pop()
        match item:
            case Variable() | Enabled() | Composed():
                return None
            case Apply() if item.operator == "apply" and isinstance(item.operands[0], Variable):
                function, argument = item.operands
                assert isinstance(function, Variable)
                if not isinstance(argument, Local):
                    return None
                found[function.index, function.primed, argument.name] = function, argument
                continue
            case Call() if not definition_reads(item.definition).constant:
                return None
            case _:
                pass
        waiting += children(item)
    return [found[key] for key in sorted(found)]


def uses(node: Operand, name: str) -> int:
    """Count the uses of a local; `MANY` and more where it may be used in turns."""
    match node:
        case Local():
            return int(node.name == name)
        case OperatorCall():
            return MANY * int(node.name == name) + sum(uses(item, name) for item in node.arguments)
        case OperatorRef():
            return MANY * uses(node.body, name)
        case Call():
            free = MANY if name in node.definition.free else 0
            return free + sum(uses(item, name) for item in node.arguments)
        case Quantified() | Recursive():
            found = MANY * uses(node.body, name)
            for position, (_, _, among) in enumerate(node.bounds):
                if among is not None:
                    found += uses(among, name) * (MANY if position else 1)
            return found
        case _:
            return sum(uses(item, name) for item in children(node))


def strict(node: Operand, name: str) -> bool:
    """Tell whether evaluating the tree is sure to evaluate a local."""
    match node:
        case Local():
            return node.name == name
        case Literal() | Variable() | OperatorRef() | Enabled() | Composed():
            return False
        case Apply():
            operands = node.operands
            if node.operator in _SHORT_CIRCUIT or node.operator == "Assert":
                operands = operands[:1]
            return any(strict(item, name) for item in operands)
        case Call():
            definition = node.definition
            if definition.recursive or definition.body is None:
                return False
            if name in definition.free and _strict_inside(definition, name):
                return True
            return any(
                strict(argument, name) and _strict_inside(definition, parameter)
                for parameter, argument in zip(definition.parameters, node.arguments, strict=True)
            )
        case OperatorCall() | Recursive():
            return False
        case If():
            if strict(node.condition, name):
                return True
            return strict(node.yes, name) and strict(node.no, name)
        case Case():
            return bool(node.arms) and strict(node.arms[0][0], name)
        case Quantified():
            among = node.bounds[0][2]
            return among is not None and strict(among, name)
        case Let():
            if strict(node.body, name):
                return True
            return any(
                strict(value, name) and strict(node.body, bound) for bound, value in node.bindings
            )
        case Except():
            return strict(node.function, name)


_STRICT: Final[dict[tuple[int, str], tuple[Definition, bool]]] = {}


def _strict_inside(definition: Definition, name: str) -> bool:
    """Tell whether the body of a definition is sure to evaluate a local; remembered."""
    known = _STRICT.get((id(definition), name))
    if known is None:
        found = strict(definition.expression, name)
        known = _STRICT[id(definition), name] = (definition, found)
    return known[1]


class Reads:
    """Which variables a tree reads, in the state before and after the step."""

    __slots__ = ("primed", "unprimed")

    def __init__(self) -> None:
        self.unprimed: set[int] = set()
        self.primed: set[int] = set()

    @property
    def constant(self) -> bool:
        """Whether it reads no variable."""
        return not self.unprimed and not self.primed


_READS: Final[dict[int, tuple[Definition, Reads]]] = {}


def reads(node: Operand) -> Reads:
    """Find the variables that a tree reads, also through the definitions that it calls."""
    found = Reads()
    _collect(node, found, set())
    return found


def _collect(node: Operand, found: Reads, seen: set[int]) -> None:
    waiting: list[Operand] = [node]
    while waiting:
        item = waiting.pop()
        match item:
            case Variable():
                (found.primed if item.primed else found.unprimed).add(item.index)
            case Enabled():  # the state after the step has nothing to do with it
                inside = reads(item.action)
                found.unprimed |= inside.unprimed | inside.primed
                continue
            case Composed():  # the state between is neither the one before nor the one after
                found.unprimed |= reads(item.first).unprimed
                found.primed |= reads(item.second).primed
                continue
            case Call() if id(item.definition) not in seen:
                known = _READS.get(id(item.definition))
                if known is not None:
                    found.primed |= known[1].primed
                    found.unprimed |= known[1].unprimed
                else:
                    seen.add(id(item.definition))
                    if item.definition.body is not None:
                        waiting.append(item.definition.body)
        waiting += children(item)


def definition_reads(definition: Definition) -> Reads:
    """Find the variables that a definition reads; remembered."""
    known = _READS.get(id(definition))
    if known is None:
        known = _READS[id(definition)] = (definition, reads(definition.expression))
    return known[1]


def is_closed(node: Operand) -> bool:
    """Tell whether a tree has one value: no variables, no locals from around it."""
    return not free_locals(node) and reads(node).constant


def is_boolean(node: Expr) -> bool:
    """Tell whether the value is surely a boolean."""
    return kind_of(node) == "bool"


def free_locals(node: Operand, bound: frozenset[str] = frozenset()) -> set[str]:
    """Return the local names that a tree uses and does not bind."""
    match node:
        case Local():
            return set() if node.name in bound else {node.name}
        case OperatorCall():
            found = set() if node.name in bound else {node.name}
            return found.union(*[free_locals(item, bound) for item in node.arguments])
        case OperatorRef():
            return free_locals(node.body, bound | set(node.parameters))
        case Call():
            found = set(node.definition.free - bound)
            return found.union(*[free_locals(item, bound) for item in node.arguments])
        case Quantified() | Recursive():
            names = {name for part, _, _ in node.bounds for name in part}
            if isinstance(node, Recursive):
                names.add(node.name)
            found = free_locals(node.body, bound | names)
            sets = [among for _, _, among in node.bounds if among is not None]
            return found.union(*[free_locals(among, bound) for among in sets])
        case Let():
            inner = bound | {name for name, _ in node.bindings}
            found = free_locals(node.body, inner)
            return found.union(*[free_locals(value, inner) for _, value in node.bindings])
        case Except():
            found = free_locals(node.function, bound)
            for update in node.updates:
                found |= free_locals(update.value, bound | {update.old})
                found = found.union(*[free_locals(item, bound) for item in update.path])
            return found
        case _:
            return set().union(*[free_locals(item, bound) for item in children(node)])

"""The closed tree of a specification: names resolved, constants and instances substituted.

`compiler.lower` makes it from SANY's XML, `compiler.emit_python` writes it. Closed means: every
variable, bound name and definition is an object of this tree, operators of modules that are
instanced are copies in which the substitution has been made, and a prime stands at variables only.
Local names are unique in a specification.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from tlatrace.errors import SubsetError
from tlatrace.runtime.values import TRUE, Boolean, RuntimeValue
from tlatrace.tla.sany_nodes import Location

__all__ = [
    "Apply",
    "Call",
    "Case",
    "Composed",
    "Definition",
    "Enabled",
    "Except",
    "Expr",
    "If",
    "Let",
    "Literal",
    "Local",
    "OperatorCall",
    "OperatorRef",
    "Origin",
    "Quantified",
    "Recursive",
    "Update",
    "Variable",
    "children",
    "unsupported",
]


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A value that is known beforehand."""

    value: RuntimeValue
    place: Location | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """A variable, in the state before the step or after it."""

    index: int
    name: str
    primed: bool
    place: Location | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """A bound name, a parameter, or a name that LET defines."""

    name: str
    place: Location | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Apply:
    """An operator of TLA+ or of a standard module, by its key in `compiler.lower.builtin`."""

    operator: str
    operands: tuple[Operand, ...]
    place: Location | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where what an INSTANCE brings is defined, and what is put in for the names there."""

    place: Location | None
    substitution: frozenset[tuple[str, str]]


@dataclass(slots=True, eq=False)
class Definition:
    """An operator of the specification, as it is seen under one substitution and prime."""

    name: str
    key: str
    """Unique, and fit for a Python name."""
    parameters: tuple[str, ...]
    """Names of locals; operators among them are in `operator_parameters`."""
    operator_parameters: frozenset[str]
    body: Expr | None = None
    """None only while the reader is at work."""
    recursive: bool = False
    local: bool = False
    """Defined by LET: its body may see the locals around it."""
    choose_any: bool = False
    instanced: bool = False
    """Its body is that of another module under a substitution: TLC looks for no actions in it."""
    place: Location | None = None
    primed_positions: tuple[int, ...] = ()
    """Parameters that are passed a second time, primed, after the others."""
    free: frozenset[str] = frozenset()
    """Locals that the body of a local definition takes from around it."""
    on_path: bool = False
    """Its body is that part of another one through which a path leads, see `model.paths`."""
    origin: Origin | None = None
    """Of what an INSTANCE brings here."""

    @property
    def arity(self) -> int:
        """How many arguments are written."""
        return len(self.parameters) - len(self.primed_positions)

    def is_same(self, other: Definition) -> bool:
        """Tell whether two names are the same operator of one instance: `I!A`, and A inside."""
        known = self.origin is not None and self.origin == other.origin
        return self is other or (known and self.arity == other.arity)

    def may_be(self, other: Definition) -> bool:
        """Tell whether one is `I(p)!A`, and the other one A inside of such an instance."""
        if self.origin is None or other.origin is None or self.arity == other.arity:
            return False
        return self.origin.place == other.origin.place

    @property
    def expression(self) -> Expr:
        """The body of a definition that is read."""
        assert self.body is not None, self.name
        return self.body


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """An operator of the specification with its arguments."""

    definition: Definition
    arguments: tuple[Operand, ...]
    place: Location | None = None


@dataclass(frozen=True, slots=True, eq=False)
class OperatorRef:
    """An operator as an argument: a definition, a LAMBDA, a parameter, or a built-in."""

    parameters: tuple[str, ...]
    body: Expr
    place: Location | None = None


@dataclass(frozen=True, slots=True, eq=False)
class OperatorCall:
    """An operator that is a parameter, with its arguments."""

    name: str
    arguments: tuple[Operand, ...]
    place: Location | None = None


@dataclass(frozen=True, slots=True, eq=False)
class If:
    """IF condition THEN yes ELSE no."""

    condition: Expr
    yes: Expr
    no: Expr
    place: Location | None = None

    @property
    def taken(self) -> Expr | None:
        """The branch that is taken in every state; None where that depends on something.

        The other one has no value that anybody asks for. It still stands in the tree, for what
        is called there and never happens is known by its name.
        """
        holds = _known(self.condition)
        return None if holds is None else self.yes if holds else self.no


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """CASE with its arms; `other` is None without OTHER."""

    arms: tuple[tuple[Expr, Expr], ...]
    other: Expr | None
    place: Location | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Quantified:
    r"""A construct that binds names in a set.

    `what` is exists, forall, map ({e : x \in S}), filter, choose, function.
    A bound is (names, set): one name, or the parts of a tuple pattern.
    """

    what: str
    bounds: tuple[tuple[tuple[str, ...], bool, Expr | None], ...]
    """(names, is a tuple pattern, the set; None for an unbounded CHOOSE)."""
    body: Expr
    place: Location | None = None
    choose_any: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Recursive:
    r"""f[x \in S] == e, in which `name` stands for the function itself."""

    name: str
    bounds: tuple[tuple[tuple[str, ...], bool, Expr | None], ...]
    body: Expr
    place: Location | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Let:
    """Names of values, each computed at most once and only if it is needed."""

    bindings: tuple[tuple[str, Expr], ...]
    body: Expr
    place: Location | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Update:
    """One ![..].a = value of EXCEPT; `old` is the name that @ has in the value."""

    path: tuple[Expr, ...]
    value: Expr
    old: str


@dataclass(frozen=True, slots=True, eq=False)
class Except:
    """[function EXCEPT updates]."""

    function: Expr
    updates: tuple[Update, ...]
    place: Location | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Composed:
    """first \\cdot second: a step of the one and a step of the other, as one step."""

    first: Expr
    second: Expr
    width: int
    """The number of variables."""
    place: Location | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Enabled:
    """ENABLED action: whether there is a state after this one for which the action is TRUE."""

    action: Expr
    place: Location | None = None


Expr: TypeAlias = (
    Literal
    | Variable
    | Local
    | Apply
    | Call
    | OperatorCall
    | If
    | Case
    | Quantified
    | Recursive
    | Let
    | Except
    | Enabled
    | Composed
)
Operand: TypeAlias = Expr | OperatorRef


def _known(condition: Expr) -> bool | None:
    """Tell whether a condition holds, where its text says so under the configuration."""
    match condition:
        case Literal(value=Boolean()):
            return condition.value is TRUE
        case Apply(operator="not", operands=(Literal() as negated,)):
            holds = _known(negated)
            return None if holds is None else not holds
        case _:
            return None


def unsupported(place: Location | None, reason: str) -> SubsetError:
    """Say that the construct at a place cannot be written; the compiler adds the line's text."""
    if place is None:
        return SubsetError("the specification", reason)
    return SubsetError(f"{place.module}.tla", reason, place.line, place.column)


def children(node: Operand) -> Iterator[Operand]:
    """Yield the parts of a node, not those of the definitions that it calls."""
    match node:
        case Literal() | Variable() | Local():
            return
        case Apply():
            yield from node.operands
        case Call() | OperatorCall():
            yield from node.arguments
        case OperatorRef():
            yield node.body
        case If():
            yield node.condition
            yield node.yes
            yield node.no
        case Case():
            for guard, value in node.arms:
                yield guard
                yield value
            if node.other is not None:
                yield node.other
        case Quantified() | Recursive():
            for _, _, among in node.bounds:
                if among is not None:
                    yield among
            yield node.body
        case Let():
            for _, value in node.bindings:
                yield value
            yield node.body
        case Except():
            yield node.function
            for update in node.updates:
                yield from update.path
                yield update.value
        case Composed():
            yield node.first
            yield node.second
        case Enabled():
            yield node.action

r"""Where Next takes an action: the paths from Next to each call of it.

A step is one of `A(p)` exactly if Next allows it through a call of A with these arguments: if there
is a path from Next to a call of A such that all that stands along the path is TRUE, and A(p), too.
A path is the formula of Next in which

    P \/ Q              is the side that the path takes;
    P /\ Q              stays, with the path in one of the conjuncts;
    \E x \in S : P      stays; an x that is an argument of the call is what the trace says, in S;
    \A x \in S : P      stays, and there is an x for which the path in P is TRUE;
    P => Q              is P /\ Q, with the path in Q;
    IF, CASE            stay, and the arms off the path are FALSE;
    LET, calls          stay; the path may go on in a parameter, or in a name of LET.

A call below a negation, to the left of =>, in ENABLED or in a composition takes no step. One in a
condition, in an equation, in a recursive operator and the like may or may not: the paths are
*unclear* then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice
from typing import Final, TypeAlias

from tlatrace.compiler.ir.analysis import free_locals
from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Case,
    Composed,
    Definition,
    Enabled,
    Expr,
    If,
    Let,
    Literal,
    Local,
    Operand,
    OperatorCall,
    OperatorRef,
    Quantified,
    children,
)
from tlatrace.runtime.values import FALSE

__all__ = ["Bound", "Path", "Paths", "definitions_below", "find_paths"]

_MAX_PATHS: Final = 200

Bound: TypeAlias = tuple[str, Expr]
"""("in", set) or ("=", value)."""

_Build: TypeAlias = Callable[[Expr, Mapping[str, Expr]], Expr]
"""Writes a path, given what stands for the call, and the names whose values are known."""

_Names: TypeAlias = Mapping[str, Operand]
"""Parameter, or name of LET -> what it stands for."""

_NEVER: Final = Literal(FALSE)
_FRESH: Final = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """How a quantifier along a path chooses a name."""

    group: tuple[str, ...]
    """The names of the tuple pattern that it stands in, or all names of the same set."""
    among: Expr | None
    is_pattern: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """A way from Next to a call of the action."""

    call: Call
    arguments: tuple[Operand, ...]
    """Those of the call; names that only stand for something else are followed."""
    build: _Build
    chosen: Mapping[str, _Chosen]
    """The names that quantifiers bind along the path."""
    straight: bool = True
    """Whether it goes through disjunctions, quantifiers, LET and calls only."""
    inside: bool = False
    """Whether it goes through a conjunction of another operator: the call is a part of that."""

    def bounds(self) -> tuple[Bound, ...] | None:
        """Return what each argument must meet; None if the path demands more, or other things."""
        found: list[Bound] = []
        names: list[str] = []
        primed = self.call.definition.primed_positions
        for at, argument in enumerate(self.arguments):
            chosen = self._chosen(argument)
            if chosen is not None:
                assert isinstance(argument, Local)
                if chosen.is_pattern or chosen.among is None or free_locals(chosen.among):
                    return None
                names.append(argument.name)
                found.append(("in", chosen.among))
            elif isinstance(argument, OperatorRef) or free_locals(argument) or at in primed:
                return None
            else:
                found.append(("=", argument))
        # A name that is used twice, or not at all, says more than a bound of each argument.
        return tuple(found) if self.straight and sorted(names) == sorted(self.chosen) else None

    def formula(self, arguments: Sequence[Local]) -> Expr:
        """Write that the action is taken along this path, with the given arguments."""
        named = {argument.name for argument in self.arguments if isinstance(argument, Local)}
        known: dict[str, Expr] = {}
        parts: list[Operand] = []
        for given, argument, text in zip(
            arguments, self.arguments, self.call.arguments, strict=False
        ):
            chosen = self._chosen(argument)
            if chosen is not None and chosen.among is not None and named.issuperset(chosen.group):
                assert isinstance(argument, Local)
                if argument.name not in known:
                    known[argument.name] = given
                    continue
            parts.append(Apply("=", (given, text), self.call.place))
        # What is primed in it is the argument that is written: a trace tells its value only.
        action = self.call.definition
        is_primed = bool(action.primed_positions)
        called = self.call if is_primed else Call(action, tuple(arguments), self.call.place)
        parts.append(called)
        return self.build(Apply("and", tuple(parts), self.call.place), known)

    def _chosen(self, argument: Operand) -> _Chosen | None:
        return self.chosen.get(argument.name) if isinstance(argument, Local) else None


@dataclass(frozen=True, slots=True)
class Paths:
    """All ways from Next to an action."""

    found: tuple[Path, ...]
    unclear: str | None
    """Why there may be others; None: there are none."""


def find_paths(action: Definition, next_definition: Definition) -> Paths:
    """Find the paths from Next to the calls of an action."""
    below = definitions_below(next_definition)
    search = _Search(action, [item for item in below if item.is_same(action)])
    if any(item.may_be(action) for item in below):
        search.unclear = f"Next calls {action.name} by an INSTANCE with parameters"
    walk = search.walk(next_definition.expression, {}, (next_definition,))
    found = tuple(islice(walk, _MAX_PATHS + 1))
    if len(found) > _MAX_PATHS:
        return Paths((), f"Next calls {action.name} in more than {_MAX_PATHS} places")
    return Paths(found, search.unclear)


def definitions_below(definition: Definition) -> list[Definition]:
    """Find what Next calls, at any depth, where a step may be taken."""
    found: dict[int, Definition] = {}
    waiting = [definition]
    while waiting:
        for item in _directly(waiting.pop()):
            if id(item) not in found:
                found[id(item)] = item
                waiting.append(item)
    return list(found.values())


def _positive(node: Operand) -> Iterator[Operand]:
    """Yield the parts of a node in which a step may be taken."""
    match node:
        case Enabled() | Composed():
            return
        case Apply() if node.operator == "not":
            return
        case Apply() if node.operator == "=>":
            yield node.operands[1]
        case _:
            yield from children(node)


_DIRECT: Final[dict[int, tuple[Definition, tuple[Definition, ...]]]] = {}
_REACHED: Final[dict[int, tuple[Definition, frozenset[int]]]] = {}


def _directly(definition: Definition) -> tuple[Definition, ...]:
    """Return the definitions that the body of one calls where a step may be taken; remembered."""
    known = _DIRECT.get(id(definition))
    if known is None:
        found: dict[int, Definition] = {}
        waiting: list[Operand] = [definition.expression]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Call):
                found[id(node.definition)] = node.definition
            waiting += _positive(node)
        known = _DIRECT[id(definition)] = definition, tuple(found.values())
    return known[1]


def _reached(definition: Definition) -> frozenset[int]:
    """Return the ids of a definition and of those that it calls at any depth; remembered."""
    known = _REACHED.get(id(definition))
    if known is None:
        ids = [id(item) for item in definitions_below(definition)]
        known = _REACHED[id(definition)] = definition, frozenset([id(definition), *ids])
    return known[1]


class _Search:
    """One search for the calls of an action."""

    def __init__(self, action: Definition, same: Sequence[Definition]) -> None:
        self._action = action
        self._wanted = frozenset([id(action), *map(id, same)])
        self.unclear: str | None = None

    def _calls(self, node: Operand, names: _Names) -> bool:
        """Tell whether a tree may take a step of the action."""
        used: set[str] = set()
        waiting = [node]
        while waiting:
            item = waiting.pop()
            match item:
                case Local() | OperatorCall():
                    used.add(item.name)
                case Call():
                    if not self._wanted.isdisjoint(_reached(item.definition)):
                        return True
                    used |= item.definition.free
                case _:
                    pass
            waiting += _positive(item)
        return any(self._calls(names[name], names) for name in used if name in names)

    def _ask(self, node: Operand | None, names: _Names) -> None:
        """Note what calls the action where it does not tell whether a step is one."""
        if node is not None and self.unclear is None and self._calls(node, names):
            self.unclear = (
                f"Next calls {self._action.name} at {node.place}, where it does not say whether "
                "a step is one of it"
            )

    def walk(self, node: Operand, names: _Names, inside: tuple[Definition, ...]) -> Iterator[Path]:
        """Yield the paths from a tree; `inside` are the definitions that it stands in."""
        if not self._calls(node, names):
            return
        match node:
            case Apply() if node.operator == "or":
                for item in node.operands:
                    yield from self.walk(item, names, inside)
            case Apply() if node.operator in ("and", "=>"):
                yield from self._conjunction(node, names, inside)
            case Quantified() if node.what in ("exists", "forall"):
                yield from self._quantified(node, names, inside)
            case If():
                yield from self._if(node, names, inside)
            case Case():
                yield from self._case(node, names, inside)
            case Call():
                yield from self._call(node, names, inside)
            case Let():
                inner = {**names, **dict(node.bindings)}
                yield from self._let(self.walk(node.body, inner, inside), node.bindings, node)
            case Local():
                yield from self.walk(names[node.name], names, inside)
            case OperatorCall() if isinstance(ref := names.get(node.name), OperatorRef):
                bound = tuple(zip(ref.parameters, node.arguments, strict=True))
                values = tuple([(n, a) for n, a in bound if not isinstance(a, OperatorRef)])
                inner = {**names, **dict(bound)}
                yield from self._let(self.walk(ref.body, inner, inside), values, node)
            case _:
                self._ask(node, names)

    def _let(
        self,
        paths: Iterator[Path],
        bindings: tuple[tuple[str, Expr], ...],
        node: Let | OperatorCall,
    ) -> Iterator[Path]:
        for path in paths:
            yield _within(path, lambda body: Let(bindings, body, node.place))

    def _conjunction(
        self, node: Apply, names: _Names, inside: tuple[Definition, ...]
    ) -> Iterator[Path]:
        operands = node.operands
        for at, item in enumerate(operands):
            if at == 0 and node.operator == "=>":
                continue
            around = operands[:at], operands[at + 1 :]
            for path in self.walk(item, names, inside):
                found = _within(path, partial(_conjoined, node, *around), straight=False)
                yield replace(found, inside=path.inside or len(inside) > 1)

    def _quantified(
        self, node: Quantified, names: _Names, inside: tuple[Definition, ...]
    ) -> Iterator[Path]:
        chosen: dict[str, _Chosen] = {}
        for group, is_pattern, among in node.bounds:
            self._ask(among, names)
            one = _Chosen(group=group, among=among, is_pattern=is_pattern)
            chosen.update(dict.fromkeys(group, one))
        for path in self.walk(node.body, names, inside):
            yield replace(
                path,
                build=partial(_quantified, node, path.build),
                chosen={**path.chosen, **chosen},
                straight=path.straight and node.what == "exists",
            )

    def _if(self, node: If, names: _Names, inside: tuple[Definition, ...]) -> Iterator[Path]:
        self._ask(node.condition, names)
        test, place = node.condition, node.place
        for path in self.walk(node.yes, names, inside):
            yield _within(path, lambda body: If(test, body, _NEVER, place), straight=False)
        for path in self.walk(node.no, names, inside):
            yield _within(path, lambda body: If(test, _NEVER, body, place), straight=False)

    def _case(self, node: Case, names: _Names, inside: tuple[Definition, ...]) -> Iterator[Path]:
        guards = [guard for guard, _ in node.arms]
        values = [value for _, value in node.arms]
        if node.other is not None:
            values.append(node.other)
        for guard in guards:
            self._ask(guard, names)

        def only(taken: int, body: Expr) -> Expr:
            found = [body if at == taken else _NEVER for at in range(len(values))]
            other = None if node.other is None else found[-1]
            return Case(tuple(zip(guards, found, strict=False)), other, node.place)

        for at, value in enumerate(values):
            for path in self.walk(value, names, inside):
                yield _within(path, partial(only, at), straight=False)

    def _call(self, node: Call, names: _Names, inside: tuple[Definition, ...]) -> Iterator[Path]:
        definition = node.definition
        if id(definition) in self._wanted:
            written = node.arguments[: len(node.arguments) - len(definition.primed_positions)]
            arguments = tuple([_followed(item, names) for item in written])
            yield Path(call=node, arguments=arguments, build=lambda leaf, _known: leaf, chosen={})
        elif definition.recursive or definition in inside:
            self._ask(node, names)
        else:
            bound = dict(zip(definition.parameters, node.arguments, strict=True))
            inner = {**names, **bound}
            for path in self.walk(definition.expression, inner, (*inside, definition)):
                yield _within(path, partial(_call_with, node))


def _within(path: Path, wrap: Callable[[Expr], Expr], *, straight: bool = True) -> Path:
    """Return a path with something around it."""
    build = path.build
    return replace(
        path,
        build=lambda leaf, known: wrap(build(leaf, known)),
        straight=path.straight and straight,
    )


def _conjoined(
    node: Apply, before: tuple[Operand, ...], after: tuple[Operand, ...], body: Expr
) -> Expr:
    return Apply("and", (*before, body, *after), node.place)


def _quantified(node: Quantified, build: _Build, leaf: Expr, known: Mapping[str, Expr]) -> Expr:
    """Bind the names of a quantifier: those that are known are what they are, and in their set."""
    body = build(leaf, known)
    lie_in: list[Operand] = []
    values: list[tuple[str, Expr]] = []
    others: list[tuple[tuple[str, ...], bool, Expr | None]] = []
    for group, is_pattern, among in node.bounds:
        if among is None or not all(name in known for name in group):
            others.append((group, is_pattern, among))
            continue
        parts = [known[name] for name in group]
        wholes = [Apply("tuple", tuple(parts), node.place)] if is_pattern else parts
        lie_in += [Apply("in", (whole, among), among.place) for whole in wholes]
        values += zip(group, parts, strict=True)
    if others:
        body = Quantified("exists", tuple(others), body, node.place)
    if values:
        body = Apply("and", (*lie_in, Let(tuple(values), body, node.place)), node.place)
    return body if node.what == "exists" else Apply("and", (body, node), node.place)


def _call_with(node: Call, body: Expr) -> Expr:
    """Call the same operator with another body."""
    definition = node.definition
    free = frozenset(free_locals(body) - set(definition.parameters))
    changed = replace(
        definition,
        key=f"{definition.key}_{next(_FRESH)}",
        body=body,
        free=free,
        local=bool(free) or definition.local,
        on_path=True,
    )
    return Call(changed, node.arguments, node.place)


def _followed(node: Operand, names: _Names) -> Operand:
    """Follow a name to what it stands for, as long as that is a name, too."""
    while isinstance(node, Local) and node.name in names:
        node = names[node.name]
    return node

r"""What a TLA+ module declares, and how its next-state relation uses its actions.

A trace says `Crash(b1, 2)`; the specification says `\E b \in Broker, k \in Nat : Crash(b, k)`. A
step is a step of Next if the action holds and its parameters lie in their bounds, for at least one
place of Next. That is all that a place demands if Next reaches it through disjunctions, bounded
quantifiers and operators only, if every bound is an expression without local names, and if each
name that a quantifier binds is one argument. An action with any other place is *woven* into Next:
TLC has to walk through Next to find its steps.

Source: the XML of tla2sany.xml.XMLExporter, whose node kinds are those of tla2sany.semantic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final

from tlatrace.tla.excerpts import Excerpts
from tlatrace.tla.operator import ACTION_LEVEL, Operator
from tlatrace.tla.sany_nodes import Element, text_of, uid_of
from tlatrace.tla.sany_tree import SanyTree, read_sany
from tlatrace.tools.module_folders import module_folders

__all__ = [
    "Box",
    "Declarations",
    "Operator",
    "Place",
    "Side",
    "forbids_steps",
    "read_declarations",
]

_VARIABLE: Final = "3"
_TEMPORAL_LEVEL: Final = "3"
_MAX_PLACES: Final = 64
_MAX_DEPTH: Final = 32


@dataclass(frozen=True, slots=True)
class Place:
    r"""A place of Next where an action stands: for each parameter `\in S` or `= e`."""

    bounds: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """The v of [][Next]_v: what stays as it is in a step that is none of Next."""

    text: tuple[str, ...] | None
    """The lines that define it, in the columns of their file; None if they are not at hand."""
    is_whole: bool
    """Whether it is a tuple of all variables, or of such tuples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A disjunct of Next."""

    text: tuple[str, ...]
    """Its lines, in the columns of their file."""
    calls: frozenset[str]
    """The actions that it calls."""
    woven: frozenset[str]
    """Those that it calls in other ways than `Place` says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declarations:
    """The names of a module, with those of the modules that it extends."""

    module: str
    constants: tuple[str, ...]
    variables: tuple[str, ...]
    operators: Mapping[str, Operator]
    formulas: Mapping[str, tuple[str, str]]
    """Temporal formula `Init /\\ [][Next]_v /\\ ...` -> the names of its Init and Next."""
    places: Mapping[str, Mapping[str, tuple[Place, ...]]]
    """Action without parameters, which may be the Next -> action in it -> its places there."""
    woven: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The same -> the actions that it calls in other places, too."""
    foreign: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The same -> the names of definitions of instanced modules that it calls there."""
    sides: Mapping[str, tuple[Side, ...]] = field(default_factory=dict)
    """The same -> its disjuncts; none if their text is not at hand."""
    boxes: Mapping[str, Box] = field(default_factory=dict)
    """Temporal formula -> the v of its [][Next]_v."""


_LOGICAL: Final = frozenset(
    [*["$ConjList", "\\land", "$DisjList", "\\lor"], *["$BoundedForall", "$BoundedExists"]]
)


def forbids_steps(node: Element, nodes: Mapping[str, Element], depth: int = 0) -> bool:
    """Tell whether a temporal formula forbids states or steps, as fairness does not.

    It does where it says []P of a P without temporal operators. `nodes` are SANY's, by unique id.
    """
    if depth > _MAX_DEPTH:
        return True
    if node.tag in ("LetInNode", "SubstInNode", "LabelNode"):
        below = node.findall("body/*")
    else:
        ref = node.find("operator/*")
        operator = nodes.get(uid_of(ref)) if ref is not None else None
        name = "" if operator is None else text_of(operator, "uniquename")
        below = node.findall("operands/*")
        if name == "[]" and any(text_of(part, "level") != _TEMPORAL_LEVEL for part in below):
            return True
        if operator is not None and operator.tag == "UserDefinedOpKind":
            below = operator.findall("body/*")
        elif name == "=>":
            below = below[1:]
        elif name != "[]" and name not in _LOGICAL:
            below = []
    return any(forbids_steps(part, nodes, depth + 1) for part in below)


def read_declarations(module: Path, libraries: Sequence[Path] = ()) -> Declarations:
    """Ask SANY what a module declares; asked once for the same file times and names.

    Raises:
        SpecError: SANY refuses the module.
        ToolError: there is no Java or no jar.
    """
    stamp = module.stat().st_mtime_ns if module.is_file() else 0
    return _read(module.resolve(), tuple(libraries), stamp)


@lru_cache(maxsize=32)
def _read(module: Path, libraries: tuple[Path, ...], stamp: int) -> Declarations:  # noqa: ARG001
    tree = _Tree(read_sany(module, libraries), module_folders(module, libraries))
    uses = {
        name: tree.uses(name)
        for name, node in tree.definitions.items()
        if (text_of(node, "arity"), text_of(node, "level")) == ("0", str(ACTION_LEVEL))
    }
    return Declarations(
        module=tree.module,
        constants=tree.constants,
        variables=tree.variables,
        operators={
            name: Operator(
                int(text_of(node, "arity")),
                int(text_of(node, "level")),
                text_of(node, "location/filename"),
                tree.of_instance(name, node),
            )
            for name, node in tree.definitions.items()
        },
        formulas=tree.formulas(),
        places={name: found.places for name, found in uses.items()},
        woven={name: found.woven for name, found in uses.items()},
        foreign={name: found.foreign for name, found in uses.items()},
        sides={name: tree.sides(name) for name in uses},
        boxes=tree.boxes,
    )


@dataclass(frozen=True, slots=True)
class _Uses:
    """How a next-state relation uses actions."""

    places: Mapping[str, tuple[Place, ...]]
    woven: frozenset[str]
    foreign: frozenset[str]


class _Tree:
    """The exported document, by unique id."""

    def __init__(self, tree: SanyTree, folders: tuple[Path, ...]) -> None:
        self._nodes, self.module = tree.nodes, tree.module
        self.constants, self.variables = tuple(tree.constants), tuple(tree.variables)
        self.excerpts = Excerpts(tree.nodes, tree.root, folders)
        self.definitions = {name: tree.nodes[uid] for name, uid in tree.operators.items()}
        self.boxes: dict[str, Box] = {}

    def of_instance(self, name: str, node: Element) -> int:
        """Count the parameters of an operator's INSTANCE; 0 for an instance in an instance."""
        own = name.partition("!")[2]
        module = text_of(node, "body/SubstInNode/body/*/location/filename")
        if not own or "!" in own or not module:
            return 0
        arities = [
            int(text_of(other, "arity"))
            for other in self._nodes.values()
            if other.tag == "UserDefinedOpKind"
            and text_of(other, "uniquename") == own
            and text_of(other, "location/filename") == module
        ]
        return int(text_of(node, "arity")) - arities[0] if arities else 0

    # ---- Init /\ [][Next]_v ----

    def formulas(self) -> dict[str, tuple[str, str]]:
        found: dict[str, tuple[str, str]] = {}
        for name, node in self.definitions.items():
            if text_of(node, "level") != "3" or text_of(node, "arity") != "0":
                continue
            inits: list[str | None] = []
            nexts: list[str | None] = []
            boxes: list[Box] = []
            for part in self._conjuncts(node.find("body/*"), 0):
                operator = self._operator(part)
                if operator is not None and text_of(operator, "uniquename") == "[]":
                    nexts.append(self._boxed(part))
                    boxes.append(self._box(part))
                elif text_of(part, "level") in ("0", "1"):
                    named = operator is not None and operator.tag == "UserDefinedOpKind"
                    whole = named and not part.findall("operands/*")
                    inits.append(
                        text_of(operator, "uniquename") if operator is not None and whole else None
                    )
                elif forbids_steps(part, self._nodes):
                    nexts.append(None)
            match inits, nexts:
                case [str(init)], [str(next_name)]:
                    found[name] = init, next_name
                    self.boxes[name] = boxes[0]
                case _:
                    pass  # parts without names: nothing that a judge could call
        return found

    def _conjuncts(self, node: Element | None, depth: int) -> Iterator[Element]:
        operator = self._operator(node) if node is not None else None
        if node is None or operator is None or depth > _MAX_DEPTH:
            return
        if text_of(operator, "uniquename") in ("$ConjList", "\\land"):
            for operand in node.iterfind("operands/*"):
                yield from self._conjuncts(operand, depth + 1)
        elif operator.tag == "UserDefinedOpKind" and text_of(operator, "level") == "3":
            yield from self._conjuncts(operator.find("body/*"), depth + 1)
        else:
            yield node

    def _boxed(self, node: Element) -> str | None:
        square = node.find("operands/*")
        relation = square.find("operands/*") if square is not None else None
        operator = self._operator(relation) if relation is not None else None
        if operator is None or operator.tag != "UserDefinedOpKind":
            return None
        return text_of(operator, "uniquename")

    def _box(self, part: Element) -> Box:
        """Read the v of a part [][Next]_v."""
        square = part.find("operands/*")
        subscript = square.findall("operands/*")[1:] if square is not None else []
        if not subscript:
            return Box(text=None, is_whole=False)
        variables = self._variables_of(subscript[0], 0)
        return Box(
            text=self.excerpts.lines(subscript[0]),
            is_whole=variables is not None and variables == set(self.variables),
        )

    def _variables_of(self, node: Element, depth: int) -> set[str] | None:
        """Return the variables of a tuple of variables and of such tuples; None for all else."""
        operator = self._operator(node)
        if operator is None or depth > _MAX_DEPTH:
            return None
        if operator.tag == "OpDeclNode":
            is_variable = text_of(operator, "kind") == _VARIABLE
            return {text_of(operator, "uniquename")} if is_variable else None
        parts = node.findall("operands/*")
        if operator.tag == "UserDefinedOpKind" and not parts:
            parts = operator.findall("body/*")
        elif text_of(operator, "uniquename") != "$Tuple":
            return None
        found = [self._variables_of(part, depth + 1) for part in parts]
        known = [variables for variables in found if variables is not None]
        return set().union(*known) if len(known) == len(found) else None

    # ---- places of actions ----

    def uses(self, next_name: str) -> _Uses:
        body = self.definitions[next_name].find("body/*")
        return _Uses({}, frozenset(), frozenset()) if body is None else _Walk(self).of(body)

    def sides(self, next_name: str) -> tuple[Side, ...]:
        """Return the disjuncts of a next-state relation."""
        found: list[Side] = []
        waiting = self.definitions[next_name].findall("body/*")
        while waiting:
            node = waiting.pop(0)
            operator = self._operator(node)
            if operator is not None and text_of(operator, "uniquename") in ("$DisjList", "\\lor"):
                waiting = node.findall("operands/*") + waiting
                continue
            lines = self.excerpts.lines(node, closed=True)
            if lines is None:
                return ()
            below = [text_of(definition, "uniquename") for definition in self.below(node)]
            woven = _Walk(self).of(node).woven
            found.append(Side(text=lines, calls=frozenset(below), woven=woven))
        return tuple(found)

    def operator(self, node: Element) -> Element | None:
        return self._operator(node)

    def below(self, node: Element) -> Iterator[Element]:
        """Yield the definitions that an expression calls, at any depth, where a step may be."""
        seen: set[str] = set()
        waiting = [node]
        while waiting:
            item = waiting.pop()
            parts = list(item)
            if item.tag == "OpApplNode":
                operator = self._operator(item)
                name = "" if operator is None else text_of(operator, "uniquename")
                if name in ("ENABLED", "\\lnot"):
                    continue
                if name == "=>":
                    parts = item.findall("operands/*")[1:]
            if item.tag == "UserDefinedOpKindRef" and (uid := uid_of(item)) not in seen:
                seen.add(uid)
                definition = self._nodes.get(uid)
                if definition is not None and definition.tag == "UserDefinedOpKind":
                    yield definition
                    parts = definition.findall("body/*")
            waiting += parts

    def primed(self, definition: Element) -> set[str]:
        """Return the parameters that a definition may prime: their values tell too little."""
        found: set[str] = set()
        seen: set[str] = set()
        waiting = definition.findall("body/*")
        while waiting:
            for node in waiting.pop().iter():
                operator = self._operator(node)
                if operator is not None and (
                    text_of(operator, "uniquename") in ("'", "UNCHANGED")
                    or (operator.tag == "UserDefinedOpKind" and _is_of_action(node))
                ):
                    found |= {
                        uid_of(ref)
                        for part in node.findall("operands/*")
                        for ref in part.iter("FormalParamNodeRef")
                    }
                if node.tag == "LetInNode":
                    new = {uid_of(ref) for ref in node.iterfind("opDefs/*")} - seen
                    seen |= new
                    waiting += [part for uid in new for part in self._nodes[uid].iterfind("body/*")]
        return found

    def _operator(self, node: Element) -> Element | None:
        ref = node.find("operator/*") if node.tag == "OpApplNode" else None
        return None if ref is None else self._nodes.get(uid_of(ref))


@dataclass(frozen=True, slots=True)
class _Argument:
    """What is known of a local name, or of an argument."""

    symbol: str | None = None
    """The name that a quantifier has bound, if it is one."""
    text: str | None = None
    r"""`\in S` or `= e`; None if nothing can be written."""
    varies: bool = False
    """Whether it may be another one in the next state."""


class _Walk:
    """One walk through a next-state relation."""

    def __init__(self, tree: _Tree) -> None:
        self._tree = tree
        self._places: dict[str, list[Place]] = {}
        self._woven: set[str] = set()
        self._foreign: set[str] = set()

    def of(self, relation: Element) -> _Uses:
        self._walk(relation, {}, (), 0)
        distinct = {name: tuple(dict.fromkeys(found)) for name, found in self._places.items()}
        places = {name: found for name, found in distinct.items() if len(found) <= _MAX_PLACES}
        woven = self._woven | (distinct.keys() - places.keys())
        return _Uses(places, frozenset(woven), frozenset(self._foreign))

    def _walk(
        self,
        node: Element,
        known: Mapping[str, _Argument],
        chosen: tuple[str, ...],
        depth: int,
    ) -> None:
        """Note the places below a disjunct; `chosen` are the names that quantifiers have bound."""
        operator = self._tree.operator(node)
        name = "" if operator is None else text_of(operator, "uniquename")
        operands = node.findall("operands/*")
        if operator is None or depth > _MAX_DEPTH:
            self._weave(node)
        elif name in ("$DisjList", "\\lor"):
            for operand in operands:
                self._walk(operand, known, chosen, depth + 1)
        elif name == "$BoundedExists":
            inner = dict(known)
            for bound in node.iterfind("boundSymbols/bound"):
                symbols = [uid_of(ref) for ref in bound.iterfind("FormalParamNodeRef")]
                among = (
                    self._tree.excerpts.slice(bound[-1]) if bound.find("tuple") is None else None
                )
                text = None if among is None else f"\\in {among}"
                inner.update({symbol: _Argument(symbol, text) for symbol in symbols})
                chosen += tuple(symbols)
            self._walk(operands[0], inner, chosen, depth + 1)
        elif _is_action(operator) and operator.find("recursive") is None:
            for operand in operands:
                self._weave(operand)
            formals = [uid_of(ref) for ref in operator.iterfind("params/*/FormalParamNodeRef")]
            primed = self._tree.primed(operator)
            arguments = [
                _Argument() if found.varies and formal in primed else found
                for formal, operand in zip(formals, operands, strict=False)
                for found in [self._argument(operand, known)]
            ]
            self._note(operator, arguments, chosen)
            body = operator.find("body/*")
            if body is not None and len(formals) == len(arguments):
                inner = dict(zip(formals, arguments, strict=True))
                self._walk(body, inner, chosen, depth + 1)
        else:
            self._weave(node)

    def _weave(self, node: Element) -> None:
        """Note the actions that are called below a node, wherever that is."""
        for definition in self._tree.below(node):
            if not _is_action(definition):
                continue
            name = text_of(definition, "uniquename")
            if self._tree.definitions.get(name) is definition:
                self._woven.add(name)
            else:
                self._foreign.add(name)

    def _note(self, operator: Element, arguments: list[_Argument], chosen: tuple[str, ...]) -> None:
        name = text_of(operator, "uniquename")
        if self._tree.definitions.get(name) is not operator:
            self._foreign.add(name)
            return
        texts = [argument.text for argument in arguments if argument.text is not None]
        symbols = [argument.symbol for argument in arguments if argument.symbol is not None]
        if len(texts) < len(arguments) or sorted(symbols) != sorted(chosen):
            self._woven.add(name)
        else:
            self._places.setdefault(name, []).append(Place(tuple(texts)))

    def _argument(self, node: Element, known: Mapping[str, _Argument]) -> _Argument:
        operator = node.find("operator/FormalParamNodeRef")
        if operator is not None and not node.findall("operands/*"):
            return known.get(uid_of(operator), _Argument())
        text = self._tree.excerpts.slice(node)
        varies = text_of(node, "level") != "0"
        return _Argument(text=None if text is None else f"= {text}", varies=varies)


def _is_action(operator: Element) -> bool:
    return operator.tag == "UserDefinedOpKind" and _is_of_action(operator)


def _is_of_action(node: Element) -> bool:
    return text_of(node, "level") == str(ACTION_LEVEL)

r"""What a TLA+ module declares, and how its next-state relation uses its actions.

A trace says `Crash(b1, 2)`; the specification says `\E b \in Broker, k \in Nat : Crash(b, k)`. A
step is a step of Next if the action holds and its parameters lie in their bounds, for at least one
place of Next. A place counts if Next reaches it through disjunctions, bounded quantifiers and
operators only, and if every bound is an expression without local names. For an action without such
a place the judge has to ask Next itself.

Source: the XML of tla2sany.xml.XMLExporter, whose node kinds are those of tla2sany.semantic.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, NewType

from tlatrace.errors import ToolError
from tlatrace.tools.sany import export_xml

__all__ = ["Declarations", "Operator", "Place", "read_declarations"]

_CONSTANT, _VARIABLE = "2", "3"
_ACTION_LEVEL: Final = 2
_MAX_PLACES: Final = 64
_MAX_DEPTH: Final = 32

_Uid = NewType("_Uid", str)
_Element = ElementTree.Element


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator that the module can name."""

    arity: int
    level: int
    """0 constant, 1 state, 2 action, 3 temporal."""

    @property
    def is_action(self) -> bool:
        """Whether it relates two states."""
        return self.level == _ACTION_LEVEL


@dataclass(frozen=True, slots=True)
class Place:
    r"""A place of Next where an action stands: for each parameter `\in S` or `= e`."""

    bounds: tuple[str, ...]


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
    tree = _Tree(export_xml(module, libraries=libraries), (module.parent, *libraries))
    return Declarations(
        module=tree.module,
        constants=tree.declared(_CONSTANT),
        variables=tree.declared(_VARIABLE),
        operators={
            name: Operator(int(_text(node, "arity")), int(_text(node, "level")))
            for name, node in tree.definitions.items()
        },
        formulas=tree.formulas(),
        places={
            name: tree.places(name)
            for name, node in tree.definitions.items()
            if (_text(node, "arity"), _text(node, "level")) == ("0", str(_ACTION_LEVEL))
        },
    )


class _Tree:
    """The exported document, by unique id."""

    def __init__(self, root: _Element, folders: tuple[Path, ...]) -> None:
        self._folders = folders
        self._nodes = {
            _Uid(_text(entry, "UID")): entry[1] for entry in root.iterfind("context/entry")
        }
        self.module = _text(root, "RootModule")
        modules = [
            node
            for node in self._nodes.values()
            if node.tag == "ModuleNode" and _text(node, "uniquename") == self.module
        ]
        if not modules:
            raise ToolError("SANY", f"its XML has no module {self.module}")
        self._root = modules[0]
        refs = [self._nodes[_uid(ref)] for ref in self._root.iterfind("UserDefinedOpKindRef")]
        self.definitions = {
            _text(node, "uniquename"): node for node in refs if node.tag == "UserDefinedOpKind"
        }

    def declared(self, kind: str) -> tuple[str, ...]:
        nodes = [self._nodes[_uid(ref)] for ref in self._root.iterfind("OpDeclNodeRef")]
        return tuple([_text(node, "uniquename") for node in nodes if _text(node, "kind") == kind])

    # ---- Init /\ [][Next]_v ----

    def formulas(self) -> dict[str, tuple[str, str]]:
        found: dict[str, tuple[str, str]] = {}
        for name, node in self.definitions.items():
            if _text(node, "level") != "3" or _text(node, "arity") != "0":
                continue
            inits: list[str | None] = []
            nexts: list[str | None] = []
            for part in self._conjuncts(node.find("body/*"), 0):
                operator = self._operator(part)
                if operator is not None and _text(operator, "uniquename") == "[]":
                    nexts.append(self._boxed(part))
                elif _text(part, "level") in ("0", "1"):
                    named = operator is not None and operator.tag == "UserDefinedOpKind"
                    whole = named and not part.findall("operands/*")
                    inits.append(
                        _text(operator, "uniquename") if operator is not None and whole else None
                    )
            match inits, nexts:
                case [str(init)], [str(next_name)]:
                    found[name] = init, next_name
                case _:
                    pass  # parts without names: nothing that a judge could call
        return found

    def _conjuncts(self, node: _Element | None, depth: int) -> Iterator[_Element]:
        operator = self._operator(node) if node is not None else None
        if node is None or operator is None or depth > _MAX_DEPTH:
            return
        if _text(operator, "uniquename") in ("$ConjList", "\\land"):
            for operand in node.iterfind("operands/*"):
                yield from self._conjuncts(operand, depth + 1)
        elif operator.tag == "UserDefinedOpKind" and _text(operator, "level") == "3":
            yield from self._conjuncts(operator.find("body/*"), depth + 1)
        else:
            yield node

    def _boxed(self, node: _Element) -> str | None:
        square = node.find("operands/*")
        relation = square.find("operands/*") if square is not None else None
        operator = self._operator(relation) if relation is not None else None
        if operator is None or operator.tag != "UserDefinedOpKind":
            return None
        return _text(operator, "uniquename")

    # ---- places of actions ----

    def places(self, next_name: str) -> dict[str, tuple[Place, ...]]:
        found: dict[str, list[Place] | None] = {}
        body = self.definitions[next_name].find("body/*")
        if body is not None:
            self._walk(body, {}, found, 0)
        return {
            name: tuple(dict.fromkeys(places))
            for name, places in found.items()
            if places is not None and len(places) <= _MAX_PLACES
        }

    def _walk(
        self,
        node: _Element,
        bounds: Mapping[_Uid, str | None],
        found: dict[str, list[Place] | None],
        depth: int,
    ) -> None:
        """Note the places below a disjunct; `bounds` are those of the local names, None unknown."""
        body = node.find("body/*") if node.tag == "LetInNode" else None
        if body is not None:
            below: dict[str, list[Place] | None] = {}
            self._walk(body, bounds, below, depth + 1)
            found.update(dict.fromkeys(below))  # LET's names mean nothing outside: ask Next
            return
        operator = self._operator(node)
        if operator is None or depth > _MAX_DEPTH:
            return
        operands = node.findall("operands/*")
        name = _text(operator, "uniquename")
        if name in ("$DisjList", "\\lor"):
            for operand in operands:
                self._walk(operand, bounds, found, depth + 1)
        elif name == "$BoundedExists":
            inner = dict(bounds)
            for bound in node.iterfind("boundSymbols/bound"):
                symbols = [_uid(ref) for ref in bound.iterfind("FormalParamNodeRef")]
                text = self._slice(bound[-1]) if bound.find("tuple") is None else None
                inner.update(dict.fromkeys(symbols, None if text is None else f"\\in {text}"))
            self._walk(operands[0], inner, found, depth + 1)
        elif operator.tag == "UserDefinedOpKind" and _text(operator, "level") == str(_ACTION_LEVEL):
            arguments = [self._argument(operand, bounds) for operand in operands]
            self._note(name, arguments, found)
            formals = [_uid(ref) for ref in operator.iterfind("params/*/FormalParamNodeRef")]
            body = operator.find("body/*")
            if body is not None and len(formals) == len(arguments):
                self._walk(body, dict(zip(formals, arguments, strict=True)), found, depth + 1)

    def _note(
        self, name: str, arguments: list[str | None], found: dict[str, list[Place] | None]
    ) -> None:
        known = [argument for argument in arguments if argument is not None]
        places = found.setdefault(name, [])
        if len(known) < len(arguments):
            found[name] = None  # one place that is not understood: only Next knows them all
        elif places is not None:
            places.append(Place(tuple(known)))

    def _argument(self, node: _Element, bounds: Mapping[_Uid, str | None]) -> str | None:
        operator = node.find("operator/FormalParamNodeRef")
        if operator is not None and not node.findall("operands/*"):
            return bounds.get(_uid(operator))
        text = self._slice(node)
        return None if text is None else f"= {text}"

    def _operator(self, node: _Element) -> _Element | None:
        ref = node.find("operator/*") if node.tag == "OpApplNode" else None
        return None if ref is None else self._nodes.get(_uid(ref))

    def _slice(self, node: _Element) -> str | None:
        """Cut an expression out of its file; None if it has local names or does not fit a line."""
        if any(True for _ in node.iter("FormalParamNodeRef")) or any(
            True for _ in node.iter("LetInNode")
        ):
            return None
        location = node.find("location")
        if location is None or _text(location, "line/begin") != _text(location, "line/end"):
            return None
        file = f"{_text(location, 'filename')}.tla"
        paths = [folder / file for folder in self._folders if (folder / file).is_file()]
        if not paths:
            return None
        line = paths[0].read_text("utf-8").split("\n")[int(_text(location, "line/begin")) - 1]
        if "\t" in line:
            return None
        begin, end = int(_text(location, "column/begin")), int(_text(location, "column/end"))
        return f"({line[begin - 1 : end]})"


def _text(node: _Element, path: str) -> str:
    return node.findtext(path, "")


def _uid(ref: _Element) -> _Uid:
    return _Uid(_text(ref, "UID"))

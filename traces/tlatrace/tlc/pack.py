r"""Many TLA+ values as a small TLA+ text.

SANY reads about 100 KB of expressions a second, so states written as literals cost more to parse
than to judge. But it reads a string literal at the speed of a copy. So the values are written as
tables of digits in strings, from which constant operators build the values, once.

Every composite value is cut into nodes, and equal nodes are written once. A node has a shape and
children; a child is an atom or a node of a lower level:

| shape                  | children             | text                          |
|------------------------|----------------------|-------------------------------|
| record with fields F   | the images           | `[f1 |-> a, f2 |-> b]`        |
| function of n pairs    | key, image, key, ... | `(k1 :> a @@ k2 :> b)`        |
| tuple, set of n        | the elements         | `<<a, b>>`, `{a, b}`          |
| joined tuple, set, fcn | blocks of the whole  | `a \o b`, `a \cup b`, `a @@ b`|

`V0` is the tuple of all atoms, `L1(V0)` is `V0` with the nodes of level 1 behind it, `L2(L1(V0))`
has those of level 2, too, and so on. The nodes of one level and shape are a group: a string with a
row for each node and a column for each child, which holds the child's index less the column's
smallest one, in base 62, in as many digits as the largest one needs. A column whose rows are all
equal has no digit.

`\o` makes tuples of the functions that TLC would else evaluate again at every use, and TLC
evaluates an argument once, so every node is built once. Constant definitions instead of arguments
would do only if TLC happened to evaluate them in the order of their use.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NewType, TypeAlias, TypeVar

from tlatrace.tla_text import is_identifier, to_tla
from tlatrace.values import Fcn, ModelValue, TlaSet, Value, canonical

__all__ = ["Node", "Packer"]

Node = NewType("Node", int)
"""A value inside a `Packer`; equal values are one node."""

_DIGITS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BASE: Final = len(_DIGITS)
_BLOCK: Final = 16
"""Elements of a tuple, set or function in one node: logs that grow share their full blocks."""
_CHUNK: Final = 1_000
"""Characters of a string literal: before SANY parses, TLC looks for PlusCal in the file and copies
each line once for each of its characters. Of 12,000 steps of LockQuorum, lines of 30,000 characters
cost 11.5 CPU s, of 6,000 6.2, of 1,000 5.4."""
_MAX_WIDTH: Final = 5
"""Digits of an index: 62^5 nodes, and TLC's integers, end here."""
_JOINS: Final = {"tuple": r" \o ", "set": r" \cup ", "fcn": " @@ "}

# TLC takes a parameter for the variable of that name when it looks for constants: a specification
# with a variable p would have everything here evaluated again at every use.
_V, _S, _P, _I = "Rp__v", "Rp__s", "Rp__p", "Rp__i_"

_Shape: TypeAlias = tuple[str, tuple[str, ...], int]
"""(kind, fields of a record, number of children)."""


class Packer:
    """Collects values, and writes the sequence of those that were added.

    Every name that it defines begins with `prefix`. The text needs Integers, Sequences and TLC.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._known: dict[tuple[type, Value], Node] = {}
        self._objects: dict[int, tuple[Value, Node]] = {}  # by id; holds the value, so ids stay
        self._atoms: dict[str, Node] = {}
        self._composites: dict[tuple[_Shape, tuple[Node, ...]], Node] = {}
        self._levels: list[int] = []  # by node
        self._models: dict[str, str] = {}
        self._items: list[Node] = []

    @property
    def model_values(self) -> dict[str, str]:
        """Constant to declare -> name of the model value that the configuration gives to it."""
        return {constant: name for name, constant in self._models.items()}

    def add(self, node: Node) -> None:
        """Append a value to the sequence."""
        self._items.append(node)

    def tuple_of(self, children: Iterable[Node]) -> Node:
        """Intern a tuple of values that are interned already."""
        return self._in_blocks("tuple", list(children), 1)

    def intern_known(self, value: Value) -> Node:
        """Intern a value that is likely to be an object that was interned before.

        Raises: as `intern`.
        """
        known = self._objects.get(id(value))
        if known is None:
            known = self._objects[id(value)] = (value, self.intern(value))
        return known[1]

    def intern(self, value: Value) -> Node:
        """Intern a value.

        Raises:
            ModelGapError: TLC has no such value (`tla_text.to_tla` says which).
        """
        if isinstance(value, tuple):
            return self._in_blocks("tuple", [self.intern(element) for element in value], 1)
        # True and 1 are one key of a dict in Python, hence the type; sets and functions keep their
        # canonical text once it is made.
        is_composite = isinstance(value, TlaSet | Fcn)
        key = type(value), canonical(value) if is_composite else value
        node = self._known.get(key)
        if node is None:
            node = self._known[key] = self._new_value(value)
        return node

    def _new_value(self, value: Value) -> Node:
        if isinstance(value, TlaSet):
            return self._in_blocks("set", [self.intern(element) for element in value], 1)
        if isinstance(value, Fcn):
            return self._function(value)
        text = to_tla(value)
        if isinstance(value, ModelValue):
            text = self._models.setdefault(text, f"{self._prefix}m{len(self._models) + 1}")
        return self._atom(text)

    def _function(self, value: Fcn) -> Node:
        names = [key for key, _ in value.pairs if isinstance(key, str) and is_identifier(key)]
        if len(names) == len(value.pairs):
            images = tuple([self.intern(image) for _, image in value.pairs])
            return self._composite(("record", tuple(names), len(images)), images)
        return self._in_blocks(
            "fcn", [self.intern(part) for pair in value.pairs for part in pair], 2
        )

    def _in_blocks(self, kind: str, children: list[Node], parts: int) -> Node:
        """Intern a tuple, set or function; `parts` is the number of children of an element."""
        if not children:
            return self._atom("{}" if kind == "set" else "<<>>")
        size = _BLOCK * parts
        blocks = [
            self._composite((kind, (), len(block)), tuple(block)) for block in _cut(children, size)
        ]
        while len(blocks) > 1:
            blocks = [
                self._composite((f"join {kind}", (), len(block)), tuple(block))
                if len(block) > 1
                else block[0]
                for block in _cut(blocks, _BLOCK)
            ]
        return blocks[0]

    def _atom(self, text: str) -> Node:
        node = self._atoms.get(text)
        if node is None:
            node = self._atoms[text] = self._new(0)
        return node

    def _composite(self, shape: _Shape, children: tuple[Node, ...]) -> Node:
        node = self._composites.get((shape, children))
        if node is None:
            node = self._new(1 + max([self._levels[child] for child in children]))
            self._composites[shape, children] = node
        return node

    def _new(self, level: int) -> Node:
        self._levels.append(level)
        return Node(len(self._levels) - 1)

    # ---- writing ----

    def text(self, name: str) -> str:
        """Define `name` as the sequence of the added values, in order."""
        lines = [*self._decoder(), f"{self._prefix}V0 == <<{', '.join(self._atoms)}>>"]
        index: dict[Node, int] = {node: at for at, node in enumerate(self._atoms.values(), start=1)}
        table = f"{self._prefix}V0"
        for level, groups in enumerate(self._groups(), start=1):
            parts: list[str] = []
            for number, (shape, nodes) in enumerate(groups.items(), start=1):
                columns = [
                    [index[child] for child in column]
                    for column in zip(*nodes.values(), strict=True)
                ]
                maker = f"{self._prefix}G{level}_{number}"
                definition, calls = self._group(maker, shape, columns)
                lines.append(definition)
                parts += calls
            for nodes in groups.values():
                for node in nodes:
                    index[node] = len(index) + 1
            lines.append(f"{self._prefix}L{level}({_V}) ==\n  {_V} \\o " + "\n  \\o ".join(parts))
            table = f"{self._prefix}L{level}({table})"
        calls = ["<<>>"]
        if self._items:
            items = [[index[node] for node in self._items]]
            definition, more = self._group(f"{self._prefix}Item", ("item", (), 1), items)
            lines.append(definition)
            calls += more
        lines.append(f"{self._prefix}Pick({_V}) ==\n  " + "\n  \\o ".join(calls))
        lines.append(f"{name} == {self._prefix}Pick({table})")
        return "\n".join(lines) + "\n"

    def _groups(self) -> list[dict[_Shape, dict[Node, tuple[Node, ...]]]]:
        """Sort the composite nodes by level and shape."""
        levels: list[dict[_Shape, dict[Node, tuple[Node, ...]]]] = [
            {} for _ in range(max(self._levels, default=0))
        ]
        for (shape, children), node in self._composites.items():
            levels[self._levels[node] - 1].setdefault(shape, {})[node] = children
        return levels

    def _decoder(self) -> list[str]:
        p = self._prefix
        fields = " @@ ".join([f'"{digit}" :> {value}' for value, digit in enumerate(_DIGITS)])
        return [
            f"{p}D == {fields}",
            f"{p}N1({_S}, {_P}) == {p}D[SubSeq({_S}, {_P}, {_P})]",
            *[
                f"{p}N{last + 1}({_S}, {_P}) == {_BASE} * {p}N{last}({_S}, {_P}) + "
                f"{p}D[SubSeq({_S}, {_P} + {last}, {_P} + {last})]"
                for last in range(1, _MAX_WIDTH)
            ],
        ]

    def _group(self, maker: str, shape: _Shape, columns: list[list[int]]) -> tuple[str, list[str]]:
        """Define how a row becomes a node, and call it for the rows of each chunk."""
        rows = [""] * len(columns[0])
        children: list[str] = []
        stride = 0
        for column in columns:
            low, width = min(column), _width(max(column) - min(column))
            if width:
                rows = [
                    row + _digits(at - low, width) for row, at in zip(rows, column, strict=True)
                ]
                children.append(f"{_V}[{low} + {self._prefix}N{width}({_S}, {_P} + {stride + 1})]")
            else:
                children.append(f"{_V}[{low}]")
            stride += width
        per_chunk = _CHUNK // max(stride, 1)
        calls = [
            f"[{_I} \\in 1..{len(chunk)} |-> "
            f'{maker}({_V}, "{"".join(chunk)}", ({_I} - 1) * {stride})]'
            for chunk in _cut(rows, per_chunk)
        ]
        return f"{maker}({_V}, {_S}, {_P}) == {_expression(shape, children)}", calls


def _expression(shape: _Shape, children: list[str]) -> str:
    kind, fields, _ = shape
    match kind:
        case "record":
            pairs = [f"{name} |-> {child}" for name, child in zip(fields, children, strict=True)]
            return f"[{', '.join(pairs)}]"
        case "tuple":
            return f"<<{', '.join(children)}>>"
        case "set":
            return f"{{{', '.join(children)}}}"
        case "fcn":
            keys, images = children[::2], children[1::2]
            return " @@ ".join(
                [f"{key} :> {image}" for key, image in zip(keys, images, strict=True)]
            )
        case "item":
            return children[0]
        case _:
            return _JOINS[kind.removeprefix("join ")].join(children)


_T = TypeVar("_T")


def _cut(items: Sequence[_T], size: int) -> list[Sequence[_T]]:
    return [items[at : at + size] for at in range(0, len(items), size)]


def _width(largest: int) -> int:
    width = 0
    while largest:
        largest //= _BASE
        width += 1
    return width


@lru_cache(maxsize=2**16)
def _digits(number: int, width: int) -> str:
    text = ""
    for _ in range(width):
        number, digit = divmod(number, _BASE)
        text = _DIGITS[digit] + text
    return text

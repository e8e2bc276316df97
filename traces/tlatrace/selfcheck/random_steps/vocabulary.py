r"""What drawn machines are written with: values, expressions, sets and conditions, by kind.

A machine has the variables `x` and `y` (numbers), `s` (a set of numbers), `o` (a node), and two
that tell what was called (`machine`). Every expression here has a value in every state; a set is
finite, and its elements are of its kind.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from tlatrace.values import ModelValue, Value

__all__ = ["CONSTANTS", "DEFINITIONS", "DOMAINS", "KINDS", "Kind", "Vocabulary"]

Kind: TypeAlias = Literal["number", "node", "text", "pair"]
KINDS: Final[tuple[Kind, ...]] = ("number", "node", "text", "pair")
_WEIGHTS: Final = (6, 3, 2, 2)

CONSTANTS: Final = ("Limit = 2", "Node = {n1, n2, n3}", "Leader = n1", 'Title = "a"')
"""The configuration of a machine."""

DEFINITIONS: Final = (
    "Small == 0..Limit",
    'Words == {"a", "b"}',
    "Even(k) == k % 2 = 0",
    "Upto(k) == 0..k",
    "Others(n) == Node \\ {n}",
    "Near(k) == {k, k + 1}",
)
"""Definitions of constants that every machine has."""

_NODES: Final = tuple([ModelValue(name) for name in ("n1", "n2", "n3")])
_NUMBERS: Final = tuple(range(-1, 5))

DOMAINS: Final[Mapping[Kind, tuple[tuple[Value, str], ...]]] = {
    "number": tuple([(number, str(number)) for number in _NUMBERS]),
    "node": tuple([(node, node.name) for node in _NODES]),
    "text": tuple([(text, f'"{text}"') for text in ("a", "b", "zz")]),
    "pair": tuple([((i, j), f"<<{i}, {j}>>") for i in range(3) for j in range(-1, 3)]),
}
"""Arguments that are claimed, a little more than any place offers: value and text."""

_ATOMS: Final[Mapping[Kind, tuple[str, ...]]] = {
    "number": ("0", "1", "2", "Limit", "x", "y", "(x + 1)", "Cardinality(s)", "(Limit - 1)"),
    "node": ("Leader", "o", "(CHOOSE n_ \\in Node : n_ = Leader)", "(IF x = 0 THEN o ELSE Leader)"),
    "text": ('"a"', '"b"', "Title", '(IF o = Leader THEN "a" ELSE "b")'),
    "pair": ("<<0, 1>>", "<<x, 1>>", "<<1, y>>", "<<Limit, 0>>"),
}
_SETS: Final[Mapping[Kind, tuple[str, ...]]] = {
    "number": (
        "1..2",
        "0..2",
        "{0, 2}",
        "{1}",
        "Small",
        "0..Limit",
        "{x}",
        "0..x",
        "{x, y + 1}",
        "s",
        "{1, 3} \\ s",
        "Upto(x)",
        "Near(y)",
        "(DOMAIN <<5, 6>>)",
        "{k_ \\in 0..3 : k_ # x}",
        "{k_ + 1 : k_ \\in 0..1}",
        "UNION {{1}, {y}}",
        "(IF x = y THEN {0} ELSE {1, 2})",
        "{}",
        "(-1)..0",
    ),
    "node": (
        "Node",
        "Node",
        "(Node \\ {Leader})",
        "{Leader}",
        "{o}",
        "Others(o)",
        "{n_ \\in Node : n_ # o}",
        "(IF x = 0 THEN Node ELSE {Leader})",
    ),
    "text": ('{"a", "b"}', '{"a"}', "Words", "{Title}", "(Words \\ {Title})"),
    "pair": (
        "(1..2) \\X (0..1)",
        "{<<0, 1>>, <<1, 1>>}",
        "{p_ \\in (0..2) \\X (0..2) : p_[1] < p_[2]}",
        "{<<k_, k_>> : k_ \\in 0..2}",
        "({x} \\X {y})",
    ),
}
_CONDITIONS: Final = (
    "x = 0",
    "x # 2",
    "x = y",
    "y < 2",
    "s # {}",
    "1 \\in s",
    "o = Leader",
    "TRUE",
    "Even(x)",
    "~Even(y)",
    "x + y < 4",
    "(x = 0 \\/ y = 0)",
    "\\A k_ \\in s : k_ # x",
    "\\E k_ \\in s : k_ > x",
)
_NEXT_CONDITIONS: Final = ("x' # 0", "x' # x", "y' = y", "s' # s", "o' = o", 'last\'[1] # "Zap"')


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Draws text; `scope` has the local names that may be used, with their kinds."""

    draw: random.Random
    scope: Mapping[str, Kind]

    def kind(self) -> Kind:
        """Draw a kind."""
        return self.draw.choices(KINDS, _WEIGHTS)[0]

    def expression(self, kind: Kind) -> str:
        """Draw an expression of a kind, mostly a local name where there is one."""
        names = self._names(kind)
        if names and self.draw.random() < 0.75:
            name = self.draw.choice(names)
            if kind == "number" and self.draw.random() < 0.2:
                return self.draw.choice((f"({name} + 1)", f"(1 - {name})", f"({name} % 2)"))
            return name
        numbers = self._names("number")
        if kind == "pair" and numbers and self.draw.random() < 0.6:
            return f"<<{self.draw.choice(numbers)}, {self.draw.choice((*numbers, '1'))}>>"
        pairs = self._names("pair")
        if kind == "number" and pairs and self.draw.random() < 0.6:
            return f"{self.draw.choice(pairs)}[{self.draw.choice((1, 2))}]"
        return self.draw.choice(_ATOMS[kind])

    def set(self, kind: Kind) -> str:
        """Draw a set of a kind, which may depend on local names."""
        names = self._names(kind)
        if names and self.draw.random() < 0.35:
            name = self.draw.choice(names)
            match kind:
                case "number":
                    return self.draw.choice(
                        (f"0..{name}", f"{{{name}}}", f"(1..2) \\ {{{name}}}", f"Near({name})")
                    )
                case "node":
                    return self.draw.choice((f"Others({name})", f"{{{name}}}"))
                case "text":
                    return f"(Words \\ {{{name}}})"
                case "pair":
                    return self.draw.choice((f"{{{name}}}", f"{{<<{name}[2], {name}[1]>>}}"))
        return self.draw.choice(_SETS[kind])

    def condition(self, *, primed: bool = False) -> str:
        """Draw a condition on the state and the local names; `primed`: also on the next state."""
        draw = self.draw
        if primed and draw.random() < 0.5:
            return draw.choice(_NEXT_CONDITIONS)
        local: list[str] = []
        numbers = self._names("number")
        for name in numbers:
            local += [f"{name} # x", f"{name} < 2", f"{name} \\in s", f"{name} + y # 3"]
        for one, other in itertools.pairwise(numbers):
            local += [f"{one} # {other}", f"{one} < {other}"] * 2
        for name in self._names("node"):
            local += [f"{name} # o", f"{name} = Leader"]
        local += [f"{name} = Title" for name in self._names("text")]
        local += [f"{name}[1] # {name}[2]" for name in self._names("pair")]
        return draw.choice(local if local and draw.random() < 0.7 else _CONDITIONS)

    def _names(self, kind: Kind) -> Sequence[str]:
        return [name for name, of in self.scope.items() if of == kind]

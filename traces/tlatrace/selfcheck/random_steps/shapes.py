r"""Pieces of TLA+ text as trees, so that they can be drawn, written and made smaller.

| kind   | texts                  | parts           | written                                     |
|--------|------------------------|-----------------|---------------------------------------------|
| leaf   | the text               |                 | the text                                    |
| guard  | a condition            |                 | the text; an `and` can do without it        |
| or     |                        | the disjuncts   | a list of bullets, or in one line           |
| and    |                        | the conjuncts   | a list of bullets, or in one line           |
| under  | `\E i \in S :`, `LET`  | the body        | the head, and the body behind or below it   |
| if     | the condition          | THEN, ELSE      | `IF c THEN a ELSE b`                        |
| case   | the conditions         | the arms, OTHER | `CASE c -> a [] OTHER -> b`                 |

A piece is written over several lines when it is `tall`, or a part of it is. Names that a piece
binds are different from all others of the text, so that a look at the words tells where a part may
stand alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

__all__ = ["Shape", "guard", "leaf", "smaller", "written"]

_Kind: TypeAlias = Literal["leaf", "guard", "or", "and", "under", "if", "case"]
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Shape:
    """A piece of text with smaller pieces in it."""

    kind: _Kind
    texts: tuple[str, ...] = ()
    parts: tuple[Shape, ...] = ()
    binds: frozenset[str] = frozenset()
    """The names that the parts may use and nobody else."""
    tall: bool = False

    def with_names(self, names: Mapping[str, str]) -> Shape:
        """Return the piece with some names of its text exchanged."""
        texts = [_WORD.sub(lambda match: names.get(match[0], match[0]), t) for t in self.texts]
        parts = [part.with_names(names) for part in self.parts]
        return replace(self, texts=tuple(texts), parts=tuple(parts))


def leaf(text: str) -> Shape:
    """Make a piece without parts."""
    return Shape("leaf", (text,))


def guard(text: str) -> Shape:
    """Make a condition that an `and` can do without."""
    return Shape("guard", (text,))


def written(shape: Shape) -> list[str]:
    """Write a piece; the lines begin at column 0."""
    parts = [written(part) for part in shape.parts]
    flat = not shape.tall and all(len(part) == 1 for part in parts)
    match shape.kind:
        case "leaf" | "guard":
            return list(shape.texts)
        case "or" | "and":
            sign = "\\/" if shape.kind == "or" else "/\\"
            if flat:
                return [f" {sign} ".join([f"({part[0]})" for part in parts])]
            return [line for part in parts for line in _behind(f"{sign} ", part)]
        case "under":
            if flat:
                return [f"{shape.texts[0]} {parts[0][0]}"]
            return [shape.texts[0], *_indented(parts[0], 2)]
        case "if":
            condition = shape.texts[0]
            if flat:
                return [f"IF {condition} THEN {parts[0][0]} ELSE {parts[1][0]}"]
            then, otherwise = _behind("THEN ", parts[0]), _behind("ELSE ", parts[1])
            return [f"IF {condition}", *_indented(then, 2), *_indented(otherwise, 2)]
        case "case":
            heads = [*[f"{text} ->" for text in shape.texts], "OTHER ->"]
            if flat:
                arms = [f"{head} ({part[0]})" for head, part in zip(heads, parts, strict=True)]
                return ["CASE " + " [] ".join(arms)]
            lines: list[str] = []
            for head, part in zip(heads, parts, strict=True):
                lines += ["  [] " + head if lines else "CASE " + head, *_indented(part, 6)]
            return lines


def _behind(prefix: str, lines: list[str]) -> list[str]:
    return [prefix + lines[0], *_indented(lines[1:], len(prefix))]


def _indented(lines: list[str], by: int) -> list[str]:
    return [" " * by + line for line in lines]


def smaller(shape: Shape) -> Iterator[Shape]:
    """Yield pieces that say less, each by one change, and stand where this one stood."""
    match shape.kind:
        case "or" if len(shape.parts) > 1:
            yield from shape.parts
            if len(shape.parts) > 2:
                for at in range(len(shape.parts)):
                    yield replace(shape, parts=_without(shape.parts, at))
        case "and":
            for at, part in enumerate(shape.parts):
                if part.kind == "guard" and len(shape.parts) > 1:
                    rest = _without(shape.parts, at)
                    yield rest[0] if len(rest) == 1 else replace(shape, parts=rest)
        case "if" | "case":
            yield from shape.parts
        case "under" if not shape.binds & set(_WORD.findall("\n".join(written(shape.parts[0])))):
            yield shape.parts[0]
        case _:
            pass
    if shape.tall:
        yield replace(shape, tall=False)
    for at, part in enumerate(shape.parts):
        for less in smaller(part):
            yield replace(shape, parts=(*shape.parts[:at], less, *shape.parts[at + 1 :]))


def _without(parts: tuple[Shape, ...], at: int) -> tuple[Shape, ...]:
    return (*parts[:at], *parts[at + 1 :])

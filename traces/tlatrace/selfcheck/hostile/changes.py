"""Change texts so that they are nearly what they were: bits, characters, tokens, structure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from random import Random
from typing import Final, TypeAlias

__all__ = ["change_bytes", "change_text"]

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\[\]{}:,"\s]+|\s+|.', re.DOTALL)
_TOKENS: Final = (
    *("0", "1", "-1", "-0", "01", "1.0", "1e0", "1E2", "0.5", "NaN", "-Infinity", "null", "true"),
    *("9007199254740991", "9007199254740992", "-9007199254740992", "9" * 30, "9" * 5000, "1e999"),
    *('"a"', '"b"', '"n1"', '"\\u0061"', '"\\/"', '"\\ud800"', '"\\ud83d\\ude00"', '"\\u001F"'),
    *(
        '"#str"',
        '"n3"',
        '"#set"',
        '"#map"',
        '"#tup"',
        '"#model"',
        '"#bigint"',
        '"#x"',
        '""',
        '"left"',
        '"count"',
    ),
    *("{}", "[]", '{"#set":[]}', '{"#tup":[]}', '{"#map":[]}', '{"#map":[[1,1]]}', '{"a":1,"a":2}'),
    *(
        '{"#bigint":"5"}',
        '{"#bigint":"9007199254740992"}',
        '{"#model":"n1"}',
        '{"#set":"ab"}',
        '{"#str":"n3"}',
    ),
    *(" ", "\n", "\t", ",", ":", "[", "]", "{", "}", "\ufeff", "\x00", "\ud800", "[" * 70, "//"),
)
_CHARACTERS: Final = '"\\{}[]:,# 0123456789-+.eEabn\n\t\x00\x1f\x7fé\u2028\U0001f600\ud800'
_MOST: Final = 3

_Tree: TypeAlias = "_Object | list[_Tree] | str"
"""JSON data; numbers, strings and literals are kept as they are written."""


class _Object:
    """The members of an object, in order, as often as they are there."""

    def __init__(self, members: list[tuple[str, _Tree]]) -> None:
        self.members = members


def change_text(draw: Random, text: str) -> str:
    """Change a JSON text in one to three places; it may be the same by chance."""
    for _ in range(draw.randint(1, _MOST)):
        text = draw.choice(_CHANGES)(draw, text)
    return text


def change_bytes(draw: Random, data: bytes) -> bytes:
    """Change bytes in one to three places."""
    changed = bytearray(data)
    for _ in range(draw.randint(1, _MOST)):
        at = draw.randrange(len(changed) + 1)
        match draw.randrange(5):
            case 0 | 1 if at < len(changed):
                changed[at] ^= 1 << draw.randrange(8)
            case 2 if at < len(changed):
                changed[at] = draw.randrange(256)
            case 3:
                del changed[at : at + draw.choice([1, 1, 1, 2, 8, 100])]
            case _:
                end = at + draw.choice([1, 1, 4, 40])
                changed[at:at] = changed[at:end] if draw.random() < 0.5 else draw.randbytes(1)
    return bytes(changed)


def _bit(draw: Random, text: str) -> str:
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    if data:
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return data.decode("utf-8", "surrogateescape")


def _character(draw: Random, text: str) -> str:
    at = draw.randrange(len(text) + 1)
    keep = at + draw.randrange(2)
    return text[:at] + draw.choice(_CHARACTERS) * draw.randrange(2) + text[keep:]


def _span(draw: Random, text: str) -> str:
    """Drop, double or move a part of the text."""
    first, second, third = sorted([draw.randrange(len(text) + 1) for _ in range(3)])
    parts = text[:first], text[first:second], text[second:third], text[third:]
    match draw.randrange(3):
        case 0:
            return parts[0] + parts[2] + parts[3]
        case 1:
            return parts[0] + parts[1] * 2 + parts[2] + parts[3]
        case _:
            return parts[0] + parts[2] + parts[1] + parts[3]


def _token(draw: Random, text: str) -> str:
    """Replace, insert, drop, double or swap tokens."""
    tokens: list[str] = _TOKEN.findall(text)
    if not tokens:
        return draw.choice(_TOKENS)
    at, other = draw.randrange(len(tokens)), draw.randrange(len(tokens))
    match draw.randrange(6):
        case 0 | 1:
            tokens[at] = draw.choice(_TOKENS)
        case 2:
            tokens.insert(at, draw.choice(_TOKENS))
        case 3:
            tokens.pop(at)
        case 4:
            tokens.insert(at, tokens[other])
        case _:
            tokens[at], tokens[other] = tokens[other], tokens[at]
    return "".join(tokens)


def _escape(draw: Random, text: str) -> str:
    """Write a character of a string in another way."""
    places = [at for at, character in enumerate(text) if character.isalnum() or character == "/"]
    if not places:
        return text + " "
    at = draw.choice(places)
    other = "\\" + text[at] if draw.random() < 0.2 else f"\\u{ord(text[at]) & 0xFFFF:04x}"
    return text[:at] + other + text[at + 1 :]


def _structure(draw: Random, text: str) -> str:
    """Change the data: members and elements twice or in another order, other encodings."""
    try:
        tree = _read(text)
    except (ValueError, RecursionError):
        return _token(draw, text)
    nodes = _nodes(tree)
    draw.choice(_RESHAPES)(draw, draw.choice(nodes), nodes)
    return _write(tree)


_CHANGES: Final[tuple[Callable[[Random, str], str], ...]] = (
    *(_bit, _character, _span, _token, _token, _escape, _structure, _structure, _structure),
)


# ---- structure ----


def _read(text: str) -> _Tree:
    return _tree(json.loads(text, object_pairs_hook=_Pairs, parse_int=_Number, parse_float=_Number))


class _Pairs(list[tuple[str, object]]):
    """The members of an object, as the parser gives them."""


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


def _tree(read: object) -> _Tree:
    if isinstance(read, _Pairs):
        return _Object([(_quoted(key), _tree(value)) for key, value in read])
    if isinstance(read, list):
        return [_tree(item) for item in read]
    return str(read) if isinstance(read, _Number) else _quoted(read)


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _write(tree: _Tree) -> str:
    if isinstance(tree, _Object):
        return "{" + ",".join([f"{key}:{_write(value)}" for key, value in tree.members]) + "}"
    if isinstance(tree, list):
        return "[" + ",".join([_write(item) for item in tree]) + "]"
    return tree


def _nodes(tree: _Tree) -> list[_Object | list[_Tree]]:
    """List the arrays and objects, the whole first; where there is none, an array of its own."""
    found: list[_Object | list[_Tree]] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _Object):
            found.append(node)
            waiting += [value for _, value in node.members]
        elif isinstance(node, list):
            found.append(node)
            waiting += node
    return found or [[tree]]


_Node: TypeAlias = "_Object | list[_Tree]"


def _double(draw: Random, node: _Node, _: list[_Node]) -> None:
    """Have a member or an element twice, perhaps with another value."""
    if isinstance(node, _Object) and node.members:
        key, value = draw.choice(node.members)
        other = draw.choice([value, "7", "[]"])
        node.members.insert(draw.randrange(len(node.members) + 1), (key, other))
    elif isinstance(node, list) and node:
        node.insert(draw.randrange(len(node) + 1), draw.choice(node))


def _reorder(draw: Random, node: _Node, _: list[_Node]) -> None:
    """Have members or elements in another order."""
    items: list[object] = node.members if isinstance(node, _Object) else node  # type: ignore[assignment] # shuffled in place
    if draw.random() < 0.5:
        items.reverse()
    else:
        draw.shuffle(items)


def _rename(draw: Random, node: _Node, _: list[_Node]) -> None:
    """Give a member another key."""
    if isinstance(node, _Object) and node.members:
        at = draw.randrange(len(node.members))
        key = draw.choice(['"#set"', '"#map"', '"#tup"', '"#model"', '"#bigint"', '"a"', '"n1"'])
        node.members[at] = key, node.members[at][1]


def _encode(draw: Random, node: _Node, _: list[_Node]) -> None:
    """Write an element or a member as another encoding would."""
    size = len(node.members) if isinstance(node, _Object) else len(node)
    at = draw.randrange(size or 1)
    if isinstance(node, _Object):
        if node.members:
            key, value = node.members[at]
            node.members[at] = key, _otherwise(draw, value)
    elif node:
        node[at] = _otherwise(draw, node[at])


def _otherwise(draw: Random, value: _Tree) -> _Tree:
    if isinstance(value, list):
        if draw.random() < 0.5:
            return _Object([(draw.choice(['"#tup"', '"#set"']), value)])
        pairs: list[_Tree] = [[str(at), item] for at, item in enumerate(value, start=1)]
        return _Object([('"#map"', pairs)])
    if isinstance(value, _Object):
        members: list[_Tree] = [[key, item] for key, item in value.members]
        return _Object([('"#map"', members)])
    if value[:1] == '"':
        return _Object([(draw.choice(['"#model"', '"#bigint"', '"#str"']), value)])
    others: list[_Tree] = [_Object([('"#bigint"', f'"{value}"')]), f"{value}.0", f"{value}e0"]
    return draw.choice(others)


def _graft(draw: Random, node: _Node, nodes: list[_Node]) -> None:
    """Put a part of the data somewhere else."""
    other = draw.choice(nodes)
    copy = _read(_write(other))
    if isinstance(node, list):
        node.insert(draw.randrange(len(node) + 1), copy)
    elif node.members:
        at = draw.randrange(len(node.members))
        node.members[at] = node.members[at][0], copy


_RESHAPES: Final[tuple[Callable[[Random, _Node, list[_Node]], None], ...]] = (
    *(_double, _reorder, _rename, _encode, _graft),
)

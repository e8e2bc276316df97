r"""Print the closed tree: what the compiler has made of a definition, for tests and for readers.

A definition is followed by those that it calls, each once, in the order of the calls. Bound names
lose the numbers that make them unique in a specification; a second `n` of a definition is `n.2`.

    Next : bool =
      (or (exists [n : {1, 2}] (Send n)) (and (= x' 0) (unchanged y' y)))

    Send(n) : bool =
      ...

| form                            | what it is                                              |
|---------------------------------|---------------------------------------------------------|
| `x`, `x'`                       | a variable before and after the step; a bound name      |
| `(cup S T)`                     | an operator of the language, by its key in `builtin`    |
| `(Send n)`, `(Init)`            | a definition with its arguments                         |
| `(lambda [x] e)`, `(call f x)`  | an operator as an argument, and such an argument called |
| `(if c e f)`                    | IF                                                      |
| `(case [c e] [other f])`        | CASE                                                    |
| `(map [x : S] e)`               | {e : x \in S}; so exists, forall, filter, choose,       |
|                                 | function; `choose-any` takes the first                  |
| `(recursive f [x : S] e)`       | f[x \in S] == e                                         |
| `(let [x : int = e] f)`         | LET, with the kind of the value where it is known       |
| `(except f [i j := e])`         | [f EXCEPT ![i][j] = e]; `[i at x := e]` where x is @    |
| `(enabled A)`, `(compose A B)`  | ENABLED A, A \cdot B                                    |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from tlatrace.compiler.ir.analysis import definition_kind, kind_of
from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Case,
    Composed,
    Definition,
    Enabled,
    Except,
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
from tlatrace.runtime.values import from_runtime
from tlatrace.tla_text import to_tla

__all__ = ["printed"]

_WIDTH: Final = 96
_INDENT: Final = "  "
_UNIQUE: Final = re.compile(r"v_(.+)_[0-9]+")
_PRIMED: Final = "_primed"

_Form: TypeAlias = "str | tuple[str, Sequence[_Form], str]"
"""A word, or parts between brackets."""


def printed(definition: Definition) -> str:
    """Return the text of a definition and of those that it calls, ending with a line break."""
    numbers = _Names()
    order = {id(definition): definition}
    waiting = [definition]
    for item in waiting:  # it grows meanwhile
        for called in _called(item.expression):
            if id(called) not in order:
                order[id(called)] = called
                waiting.append(called)
    for item in waiting:
        numbers.name(item.key, item.name)
    return "\n".join(_definition(item, numbers) for item in waiting)


def _called(body: Operand) -> Iterator[Definition]:
    """Yield the definitions that a tree calls, in the order of the text."""
    if isinstance(body, Call):
        yield body.definition
    for part in children(body):
        yield from _called(part)


class _Names:
    """Short names for unique ones: the first `n` of a definition is n, the second one n.2."""

    def __init__(self, outer: _Names | None = None) -> None:
        self._known: dict[str, str] = dict(outer._known) if outer is not None else {}
        self._taken: dict[str, int] = dict(outer._taken) if outer is not None else {}

    def name(self, unique: str, stem: str) -> str:
        """Return the short name, and note it if it is new."""
        known = self._known.get(unique)
        if known is None:
            count = self._taken[stem] = self._taken.get(stem, 0) + 1
            known = self._known[unique] = stem if count == 1 else f"{stem}.{count}"
        return known

    def local(self, unique: str) -> str:
        """Return the short name of a bound name."""
        return self.name(unique, _stem(unique))


def _stem(unique: str) -> str:
    """Return what a name was before it became unique; n' of a parameter that is passed primed."""
    match = _UNIQUE.fullmatch(unique)
    if match is None:
        return unique
    stem: str = match[1]
    return f"{_stem(stem.removesuffix(_PRIMED))}'" if stem.endswith(_PRIMED) else stem


def _definition(definition: Definition, outer: _Names) -> str:
    names = _Names(outer)
    head = outer.name(definition.key, definition.name)
    if definition.parameters:
        head += "(" + ", ".join(names.local(name) for name in definition.parameters) + ")"
    marks = [
        word
        for word, is_so in (
            ("recursive", definition.recursive),
            ("instanced", definition.instanced),
            ("choose-any", definition.choose_any),
        )
        if is_so
    ]
    free = sorted(names.local(name) for name in definition.free)
    marks += [f"inside of {', '.join(free)}"] if free else []
    about = "".join(f" {mark}," for mark in marks).rstrip(",")
    kind = definition_kind(definition)
    body = "\n".join(_lines(_form(definition.expression, names), 1))
    return f"{head} : {kind}{about and ' --' + about} =\n{body}\n"


def _form(node: Operand, names: _Names) -> _Form:
    match node:
        case Literal():
            return to_tla(from_runtime(node.value))
        case Variable():
            return node.name + "'" * node.primed
        case Local():
            return names.local(node.name)
        case Apply():
            return _list([node.operator, *_forms(node.operands, names)])
        case Call():
            name = names.name(node.definition.key, node.definition.name)
            return _list([name, *_forms(node.arguments, names)])
        case OperatorRef():
            parameters = _bracket([names.local(name) for name in node.parameters])
            return _list(["lambda", parameters, _form(node.body, names)])
        case OperatorCall():
            return _list(["call", names.local(node.name), *_forms(node.arguments, names)])
        case If():
            return _list(["if", *_forms((node.condition, node.yes, node.no), names)])
        case Case():
            arms = [_bracket(_forms(arm, names)) for arm in node.arms]
            other = [] if node.other is None else [_bracket(["other", _form(node.other, names)])]
            return _list(["case", *arms, *other])
        case Quantified():
            what = "choose-any" if node.what == "choose" and node.choose_any else node.what
            return _list([what, *_bounds(node, names), _form(node.body, names)])
        case Recursive():
            name = names.local(node.name)
            return _list(["recursive", name, *_bounds(node, names), _form(node.body, names)])
        case Let():
            return _list(["let", *_bindings(node, names), _form(node.body, names)])
        case Except():
            return _list(["except", _form(node.function, names), *_updates(node, names)])
        case Composed():
            return _list(["compose", *_forms((node.first, node.second), names)])
        case Enabled():
            return _list(["enabled", _form(node.action, names)])


def _forms(nodes: Iterable[Operand], names: _Names) -> list[_Form]:
    return [_form(node, names) for node in nodes]


def _bounds(node: Quantified | Recursive, names: _Names) -> Iterator[_Form]:
    for parts, is_pattern, among in node.bounds:
        texts = [names.local(part) for part in parts]
        bound = f"<<{', '.join(texts)}>>" if is_pattern else texts[0]
        yield _bracket([bound] if among is None else [bound, ":", _form(among, names)])


def _bindings(node: Let, names: _Names) -> Iterator[_Form]:
    for name, value in node.bindings:
        kind = kind_of(value)
        typed: list[_Form] = [] if kind == "?" else [":", kind]
        yield _bracket([names.local(name), *typed, "=", _form(value, names)])


def _updates(node: Except, names: _Names) -> Iterator[_Form]:
    for update in node.updates:
        path = _forms(update.path, names)
        value = _form(update.value, names)
        asks = any(_mentions(update.value, update.old))
        at: list[_Form] = ["at", names.local(update.old)] if asks else []
        yield _bracket([*path, *at, ":=", value])


def _mentions(node: Operand, name: str) -> Iterator[bool]:
    yield isinstance(node, Local) and node.name == name
    yield isinstance(node, Call) and name in node.definition.free
    for part in children(node):
        yield from _mentions(part, name)


def _list(parts: Sequence[_Form]) -> _Form:
    return "(", parts, ")"


def _bracket(parts: Sequence[_Form]) -> _Form:
    return "[", parts, "]"


# ---- layout ----


def _lines(form: _Form, depth: int) -> Iterator[str]:
    """Yield the lines of a form: one where it fits, else its parts below each other."""
    margin = _INDENT * depth
    text = _flat(form)
    if isinstance(form, str) or len(margin) + len(text) <= _WIDTH:
        yield margin + text
        return
    opening, parts, closing = form
    head: list[str] = []
    rest = list(parts)
    while rest and isinstance(rest[0], str):  # words, and the brackets that fit beside them
        head.append(_flat(rest.pop(0)))
    yield margin + opening + " ".join(head)
    lines = [line for part in rest for line in _lines(part, depth + 1)]
    yield from lines[:-1]
    yield (lines[-1] if lines else margin) + closing


def _flat(form: _Form) -> str:
    if isinstance(form, str):
        return form
    opening, parts, closing = form
    return opening + " ".join(_flat(part) for part in parts) + closing

r"""Read a TLC configuration: constants, invariants, and which operators are Init and Next.

    CONSTANTS  Broker = {b1, b2}   \* a name on the right is a model value
               None = None
               Nat <- MCNat        \* the operator that stands for the name
    INIT Init  NEXT Next           \* or SPECIFICATION Spec
    INVARIANTS TypeOK LogMatching

Source: tlc2.tool.impl.ModelConfig of TLC; Specifying Systems, section 14.7.1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tlatrace.errors import SpecError
from tlatrace.values import MAX_DIGITS, ModelValue, Value, tla_set

__all__ = ["Assignment", "TlcConfig", "parse_config", "read_config"]

_TOKEN: Final = re.compile(
    r'\s+|\\\*[^\n]*|\(\*.*?\*\)|("(?:[^"\\\n]|\\.)*"|<-|[\w!]+|-\d+|[={},()\[\]])', re.DOTALL
)
_SECTIONS: Final = frozenset(
    [
        "CONSTANT",
        "CONSTANTS",
        "INIT",
        "NEXT",
        "SPECIFICATION",
        "INVARIANT",
        "INVARIANTS",
        "PROPERTY",
        "PROPERTIES",
        "CONSTRAINT",
        "CONSTRAINTS",
        "ACTION_CONSTRAINT",
        "ACTION_CONSTRAINTS",
        "SYMMETRY",
        "VIEW",
        "ALIAS",
        "POSTCONDITION",
        "TYPE",
        "TYPE_CONSTRAINT",
        "CHECK_DEADLOCK",
        "_PERIODIC",
        "_RL_REWARD",
    ]
)
_MAX_DEPTH: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What a configuration says of one constant or definition."""

    name: str
    text: str
    """The assignment as TLC reads it, `Broker = {b1, b2}` or `Nat <- MCNat`."""
    value: Value | None
    """The value; None for `<-` and for a constant with parameters."""
    module: str | None = None
    """The module of `Nat = [Module]value`: the name is meant there only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TlcConfig:
    """The parts of a configuration that a judge of single steps needs."""

    path: Path
    assignments: tuple[Assignment, ...] = ()
    specification: str | None = None
    init: str | None = None
    next: str | None = None
    invariants: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    action_constraints: tuple[str, ...] = ()


def read_config(path: Path) -> TlcConfig:
    """Read a configuration file.

    Raises:
        SpecError: unreadable, or not a configuration.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(path, f"the configuration cannot be read: {error}") from error
    return parse_config(text, path)


def parse_config(text: str, path: Path) -> TlcConfig:
    """Read the text of a configuration; `path` is for messages.

    Raises:
        SpecError: not a configuration.
    """
    tokens = _tokens(text, path)
    sections: dict[str, list[str]] = {}
    assignments: list[Assignment] = []
    at = 0
    while at < len(tokens):
        line, word = tokens[at]
        if word not in _SECTIONS:
            raise SpecError(path, f"expected a section such as CONSTANTS, not {word}", line)
        end = at + 1
        while end < len(tokens) and tokens[end][1] not in _SECTIONS:
            end += 1
        if word in ("CONSTANT", "CONSTANTS"):
            assignments += _Assignments(tokens[at + 1 : end], path).read()
        else:
            sections.setdefault(word, []).extend([token for _, token in tokens[at + 1 : end]])
        at = end

    def single(name: str) -> str | None:
        found = sections.get(name, [])
        if len(found) > 1:
            raise SpecError(path, f"{name} names more than one operator")
        return found[0] if found else None

    def both(name: str) -> tuple[str, ...]:
        return tuple(sections.get(name, []) + sections.get(f"{name}S", []))

    return TlcConfig(
        path=path,
        assignments=tuple(assignments),
        specification=single("SPECIFICATION"),
        init=single("INIT"),
        next=single("NEXT"),
        invariants=both("INVARIANT"),
        constraints=both("CONSTRAINT"),
        action_constraints=both("ACTION_CONSTRAINT"),
    )


def _tokens(text: str, path: Path) -> list[tuple[int, str]]:
    """Split into (line from 1, token)."""
    tokens: list[tuple[int, str]] = []
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise SpecError(path, f"TLC knows no {text[at]!r} here", line)
        if match[1] is not None:
            tokens.append((line, match[1]))
        line += match[0].count("\n")
        at = match.end()
    return tokens


class _Assignments:
    """A reader of the tokens of one CONSTANTS section."""

    def __init__(self, tokens: list[tuple[int, str]], path: Path) -> None:
        self._tokens = tokens
        self._path = path
        self._at = 0

    def read(self) -> list[Assignment]:
        found: list[Assignment] = []
        while self._at < len(self._tokens):
            start = self._at
            name = self._take(r"[\w!]+", "a constant")
            value: Value | None = None
            module: str | None = None
            if self._peek() == "(":
                while self._take(r".+", ")") != ")":
                    pass
                self._take("=", "=")
                self._value(0)
            elif self._take("=|<-", "= or <-") == "=":
                module = self._module()
                value = self._value(0)
            else:
                module = self._module()
                self._take(r"[\w!]+", "an operator")
            text = " ".join([token for _, token in self._tokens[start : self._at]])
            found.append(Assignment(name=name, text=text, value=value, module=module))
        return found

    def _module(self) -> str | None:
        if self._peek() != "[":
            return None
        return [self._take(pattern, "[Module]") for pattern in (r"\[", r"\w+", r"\]")][1]

    def _value(self, depth: int) -> Value:
        token = self._take(r".+", "a value")
        if token == "{" and depth < _MAX_DEPTH:
            elements: list[Value] = []
            if self._peek() == "}":
                self._at += 1
                return tla_set(())
            while True:
                elements.append(self._value(depth + 1))
                if self._take(",|}", ", or }") == "}":
                    return tla_set(elements)
        if token in ("TRUE", "FALSE"):
            return token == "TRUE"
        if re.fullmatch(r"-?\d+", token):
            if len(token) > MAX_DIGITS:
                raise self._error(f"a number of more than {MAX_DIGITS} digits")
            return int(token)
        if token.startswith('"'):
            return re.sub(r"\\(.)", r"\1", token[1:-1])
        if re.fullmatch(r"\w+", token):
            return ModelValue(token)
        raise self._error(f"expected a value, not {token}")

    def _peek(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def _take(self, pattern: str, expected: str) -> str:
        token = self._peek()
        if not re.fullmatch(pattern, token):
            raise self._error(f"expected {expected}, not {token or 'the end'}")
        self._at += 1
        return token

    def _error(self, reason: str) -> SpecError:
        lines = [line for line, _ in self._tokens[: self._at + 1]]
        return SpecError(self._path, reason, lines[-1] if lines else None)

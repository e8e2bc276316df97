"""TLA+ values as TLA+ text: writing expressions, and reading what TLC prints.

`to_tla` writes an expression that TLC evaluates to the value; the module it stands in must extend
Integers (negative numbers) and TLC (`:>` and `@@`). `parse_tla` and `parse_state` read the values
and states of TLC's messages and dumps:

    3  -3  "a\\"b"  TRUE  {1, 2}  1..3  <<1, 2>>  [a |-> 1]  (1 :> 2 @@ 3 :> 4)  modelValue

and the empty function as others write it: [x \\in {} |-> x].

Source: Specifying Systems, section 16.1.10 (string escapes), and the `toString` methods of
tlc2.value.impl in TLC.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from tlatrace.errors import ModelGapError, TlaTextError, ValueFormatError
from tlatrace.values import MAX_DEPTH, ExactString, Fcn, ModelValue, TlaSet, Value, fcn, tla_set

__all__ = ["RESERVED_WORDS", "is_identifier", "parse_state", "parse_tla", "to_tla"]

_WORDS: Final = """
    ACTION ASSUME ASSUMPTION AXIOM BOOLEAN BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE
    DEFS DOMAIN ELSE ENABLED EXCEPT EXTENDS FALSE HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET LOCAL
    MODULE NEW OBVIOUS OMITTED ONLY OTHER PICK PROOF PROPOSITION PROVE QED RECURSIVE SF_ STATE
    STRING SUBSET SUFFICES TAKE TEMPORAL THEN THEOREM TRUE UNCHANGED UNION USE VARIABLE VARIABLES
    WF_ WITH WITNESS
"""
RESERVED_WORDS: Final = frozenset(_WORDS.split())

_IDENTIFIER: Final = re.compile(r"[A-Za-z_]*[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_FIELD: Final = re.compile(r"\w+", re.ASCII)  # TLC prints reserved words and 2nd as fields, too
_INT_MIN: Final = -(2**31)  # TLC's integers are Java ints
_INT_MAX: Final = 2**31 - 1
_MAX_INTERVAL: Final = 100_000
_MAX_DIGITS: Final = 18

_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_UNESCAPES: Final = {written[1]: plain for plain, written in _ESCAPES.items()}
_CONJUNCT: Final = re.compile(r"^[ \t]*/\\[ \t]", re.MULTILINE)
_VARIABLE: Final = re.compile(r"\s*(\w+)\s*=", re.ASCII)
_PLAIN: Final = re.compile(r"[ !#-\[\]-_a-~]*")
_EMPTY: Final = ["\\in", "{", "}", "|->"]
_BACKTICK: Final = "`"  # SANY takes it for the start of a comment, even inside a string
_TOKEN: Final = re.compile(
    r"""\s*(?:
        (-?\d+\b|[A-Za-z0-9_]+)          # number or name
      | ("(?:[^"\\]|\\.)*")              # string
      | (<<|>>|\|->|:>|@@|\.\.|\\in\b|[{}\[\](),])
      | (\S)                             # anything else is an error
    )""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)


def is_identifier(name: str) -> bool:
    """Tell whether TLA+ text may use the name as an identifier or a field name."""
    return (
        _IDENTIFIER.fullmatch(name) is not None
        and name not in RESERVED_WORDS
        and not name.startswith(("WF_", "SF_"))
    )


# ---- writing ------------------------------------------------------------------------------


def to_tla(value: Value) -> str:
    """Write the value as a TLA+ expression.

    Raises:
        ModelGapError: an integer beyond TLC's 32 bits, a character that TLA+ strings cannot hold,
            a model value whose name is no identifier, or nesting beyond `values.MAX_DEPTH`.
    """
    return _write(value, 0)


def _write(value: Value, depth: int) -> str:
    if depth > MAX_DEPTH:
        raise ModelGapError(f"a value is nested deeper than {MAX_DEPTH}")
    depth += 1
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return _write_int(value)
    if isinstance(value, str):
        return _write_string(value)
    if isinstance(value, ExactString):
        return _write_string(value.text)
    if isinstance(value, tuple):
        return "<<" + ", ".join([_write(element, depth) for element in value]) + ">>"
    if isinstance(value, TlaSet):
        return "{" + ", ".join([_write(element, depth) for element in value]) + "}"
    if isinstance(value, ModelValue):
        if not is_identifier(value.name):
            raise ModelGapError(f"the model value {value.name!r} is not a TLA+ identifier")
        return value.name
    return _write_fcn(value, depth)


def _write_int(value: int) -> str:
    if not _INT_MIN <= value <= _INT_MAX:
        raise ModelGapError("an integer does not fit TLC's 32 bits")
    if value == _INT_MIN:  # its absolute value is not a literal that TLC can read
        return f"(-{_INT_MAX} - 1)"
    return str(value)


def _write_string(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return f'"{text}"'
    for character in text:
        if character not in _ESCAPES and (not " " <= character <= "~" or character == _BACKTICK):
            raise ModelGapError(f"a TLA+ string cannot hold the character {character!r}")
    return '"' + "".join([_ESCAPES.get(character, character) for character in text]) + '"'


def _write_fcn(value: Fcn, depth: int) -> str:
    names = [key for key, _ in value.pairs if isinstance(key, str) and is_identifier(key)]
    images = [_write(image, depth) for _, image in value.pairs]
    if len(names) == len(images):
        fields = [f"{name} |-> {image}" for name, image in zip(names, images, strict=True)]
        return "[" + ", ".join(fields) + "]"
    keys = [_write(key, depth) for key, _ in value.pairs]
    pairs = [f"{key} :> {image}" for key, image in zip(keys, images, strict=True)]
    return "(" + " @@ ".join(pairs) + ")"


# ---- reading ------------------------------------------------------------------------------


def parse_tla(text: str) -> Value:
    """Read one value as TLC prints it.

    Raises:
        TlaTextError: anything else, nesting beyond `values.MAX_DEPTH`, and sets that TLC did not
            enumerate (`SUBSET S`, `[S -> T]`).
    """
    tokens = _tokens(text)
    value, at = _value(text, tokens, 0, 0)
    if at != len(tokens) - 1:
        raise _error(text, at, "there is more text after the value")
    return value


def parse_state(text: str) -> dict[str, Value]:
    r"""Read a state as TLC prints it: `/\ x = 1` for each variable; values may span lines.

    TLC leaves out the `/\` where there is only one variable.

    Raises:
        TlaTextError: anything else, or the same variable twice.
    """
    conjuncts = _CONJUNCT.split(text)
    if conjuncts[0].isspace() or not conjuncts[0]:
        del conjuncts[0]
    elif len(conjuncts) > 1:
        raise TlaTextError(text, 0, "expected /\\ and a variable")
    state: dict[str, Value] = {}
    for conjunct in conjuncts:
        name, value = _assignment(conjunct)
        if name in state:
            raise TlaTextError(text, 0, f"the variable {name} is assigned twice")
        state[name] = value
    if not state:
        raise TlaTextError(text, 0, "a state has at least one variable")
    return state


@lru_cache(maxsize=4096)  # the states of one model share most of their variables' values
def _assignment(text: str) -> tuple[str, Value]:
    match = _VARIABLE.match(text)
    if match is None:
        raise TlaTextError(text, 0, "expected a variable and =")
    return match[1], parse_tla(text[match.end() :])


def _tokens(text: str) -> list[str]:
    """Split into tokens, with "" behind the last one."""
    tokens: list[str] = []
    for match in _TOKEN.finditer(text.rstrip()):  # space at the end would cost quadratic time
        if match.lastindex == 4:
            raise TlaTextError(text, match.start(4), "TLC prints no such character here")
        tokens.append(match.group(match.lastindex or 0))
    tokens.append("")
    return tokens


def _error(text: str, at: int, reason: str) -> TlaTextError:
    starts = [match.start(match.lastindex or 0) for match in _TOKEN.finditer(text.rstrip())]
    return TlaTextError(text, starts[at] if at < len(starts) else len(text), reason)


def _value(text: str, tokens: list[str], at: int, depth: int) -> tuple[Value, int]:
    token = tokens[at]
    if depth > MAX_DEPTH:
        raise _error(text, at, f"the value is nested deeper than {MAX_DEPTH}")
    match token:
        case "TRUE" | "FALSE":
            return token == "TRUE", at + 1
        case "{":
            elements, at = _list(text, tokens, at + 1, "}", depth + 1)
            return tla_set(elements), at
        case "<<":
            elements, at = _list(text, tokens, at + 1, ">>", depth + 1)
            return tuple(elements), at
        case "[":
            return _record(text, tokens, at + 1, depth + 1)
        case "(":
            return _pairs(text, tokens, at + 1, depth + 1)
        case _ if token.startswith('"'):
            return _unescape(text, token, at), at + 1
        case _ if token.startswith("-") or token.isdigit():
            return _number(text, tokens, at)
        case _ if is_identifier(token):
            return ModelValue(token), at + 1
        case _:
            raise _error(text, at, "expected a value" if token else "the text ends too early")


def _number(text: str, tokens: list[str], at: int) -> tuple[Value, int]:
    low = _integer(text, tokens, at)
    if tokens[at + 1] != "..":
        return low, at + 1
    high = _integer(text, tokens, at + 2)
    if high - low >= _MAX_INTERVAL:
        raise _error(text, at, f"an interval has more than {_MAX_INTERVAL} elements")
    return tla_set(range(low, high + 1)), at + 3


def _integer(text: str, tokens: list[str], at: int) -> int:
    token = tokens[at]
    if not token.removeprefix("-").isdigit() or len(token) > _MAX_DIGITS:
        raise _error(text, at, "expected an integer")
    return int(token)


def _unescape(text: str, token: str, at: int) -> str:
    plain = token[1:-1]
    if "\\" not in plain:
        return plain
    parts = re.split(r"\\(.)", plain, flags=re.DOTALL)
    for index in range(1, len(parts), 2):
        if parts[index] not in _UNESCAPES:
            raise _error(text, at, f"a string holds the unknown escape \\{parts[index]}")
        parts[index] = _UNESCAPES[parts[index]]
    return "".join(parts)


def _list(
    text: str, tokens: list[str], at: int, closing: str, depth: int
) -> tuple[list[Value], int]:
    elements: list[Value] = []
    if tokens[at] == closing:
        return elements, at + 1
    while True:
        element, at = _value(text, tokens, at, depth)
        elements.append(element)
        if tokens[at] == closing:
            return elements, at + 1
        if tokens[at] != ",":
            raise _error(text, at, f"expected , or {closing}")
        at += 1


def _record(text: str, tokens: list[str], at: int, depth: int) -> tuple[Value, int]:
    start = at
    if is_identifier(tokens[at]) and tokens[at + 1 : at + 5] == _EMPTY:
        _, at = _value(text, tokens, at + 5, depth)
        if tokens[at] != "]":
            raise _error(text, at, "expected ]")
        return (), at + 1
    pairs: list[tuple[Value, Value]] = []
    while True:
        name = tokens[at]
        if not _FIELD.fullmatch(name) or tokens[at + 1] != "|->":
            raise _error(text, at, "expected a field and |->")
        value, at = _value(text, tokens, at + 2, depth)
        pairs.append((name, value))
        if tokens[at] == "]":
            return _function(text, start, pairs), at + 1
        if tokens[at] != ",":
            raise _error(text, at, "expected , or ]")
        at += 1


def _pairs(text: str, tokens: list[str], at: int, depth: int) -> tuple[Value, int]:
    start = at
    pairs: list[tuple[Value, Value]] = []
    while True:
        key, at = _value(text, tokens, at, depth)
        if tokens[at] == ")" and not pairs:  # a value in parentheses
            return key, at + 1
        if tokens[at] != ":>":
            raise _error(text, at, "expected :>")
        image, at = _value(text, tokens, at + 1, depth)
        pairs.append((key, image))
        if tokens[at] == ")":
            return _function(text, start, pairs), at + 1
        if tokens[at] != "@@":
            raise _error(text, at, "expected @@ or )")
        at += 1


def _function(text: str, at: int, pairs: list[tuple[Value, Value]]) -> Value:
    try:
        return fcn(pairs)
    except ValueFormatError as error:
        raise _error(text, at, error.reason) from None

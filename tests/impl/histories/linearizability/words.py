"""Histories of a few words, for tests that are written by hand.

`0:w1@2-5` is client 0 writing 1 from 2 to 5; `r1` reads 1, and `r` None; `c1>2` is a CAS of 1 to 2
that found 1, `n1>2` one that did not. `@2-5?` is given up at 5, `@2-?` never returns, and `@2-5!`
is refused. `0:w1/k@2-5` is of the key k.
"""

from __future__ import annotations

import re
from typing import Final

from rocketha.histories import Outcome
from rocketha.histories.linearizability import Kind, Operation, RegisterHistory, Value

_WORD: Final = re.compile(r"(\d+):([rwcn])(?:(\d+)>)?(\d*)(?:/(\w+))?@(\d+)-(\d*)([?!]?)")
_KINDS: Final = {"r": Kind.READ, "w": Kind.WRITE, "c": Kind.CAS, "n": Kind.CAS}
_OUTCOMES: Final = {"": Outcome.OK, "?": Outcome.UNKNOWN, "!": Outcome.FAIL}


def history(words: str) -> RegisterHistory:
    """Read a history."""
    return RegisterHistory(tuple(map(operation, words.split())))


def operation(word: str) -> Operation:
    """Read an operation."""
    found = _WORD.fullmatch(word)
    assert found is not None, word
    client, kind, expected, value, key, called, returned, end = found.groups()
    return Operation(
        client=int(client),
        key=key or "x",
        kind=_KINDS[kind],
        value=_number(value),
        expected=_number(expected),
        called_at=int(called),
        returned_at=int(returned) if returned else None,
        outcome=_OUTCOMES[end],
        swapped=kind != "n",
    )


def _number(digits: str | None) -> Value:
    return int(digits) if digits else None

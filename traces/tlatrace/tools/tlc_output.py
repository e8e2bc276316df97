"""Read what TLC prints with `-tool`.

    @!@!@STARTMSG <code>:<class> @!@!@
    text
    @!@!@ENDMSG <code> @!@!@

Messages may be nested, and a message may start in the middle of a line. What stands outside of
messages is SANY's text before the message 2219, and afterwards what the specification prints.

Source: tlc2.output.EC and tlc2.output.MP; recorded outputs of TLC 2.15.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tlatrace.errors import TlatraceError
from tlatrace.tla_text import parse_state
from tlatrace.values import Value

__all__ = ["Message", "Outcome", "TlcProgress", "TlcState", "messages", "printed", "progress"]


class Outcome(StrEnum):
    """How a run of TLC ended; the value is what a person reads."""

    SUCCESS = "success"
    INVARIANT = "invariant violated"
    ACTION_PROPERTY = "action property violated"
    TEMPORAL = "temporal property violated"
    DEADLOCK = "deadlock"
    ASSUMPTION = "assumption false"
    ASSERTION = "assertion failed"
    EVALUATION_ERROR = "evaluation error"
    PARSE_ERROR = "parse error"
    CONFIG_ERROR = "configuration error"
    CRASH = "crash"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message: its code, its own text, and the text of the messages nested in it."""

    code: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TlcState:
    """A state of a counterexample."""

    number: int
    """Counted from 1, as TLC does."""
    action: str | None
    """The action that led here, with its parameters where the jar tells them; None at first."""
    text: str
    """The conjuncts as printed."""
    values: Mapping[str, Value] | None
    """None when the text holds a value that `tlatrace.tla_text` cannot express."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TlcProgress:
    """How far a running TLC is."""

    depth: int
    generated: int
    distinct: int
    queue: int


_MARK: Final = re.compile(r"@!@!@(STARTMSG|ENDMSG) (\d+)(?::\d+)? @!@!@\n?")
_STATE: Final = re.compile(r"(\d+): <?(.*?)>?\n(.*)", re.DOTALL)
_LABEL: Final = re.compile(r"(.*?) line \d+, col \d+ to line \d+, col \d+ of module \w+")
_PROGRESS: Final = re.compile(
    r"Progress\((\d+)\)[^:]*(?::\d+)*: ([\d,]+) states generated.*?, ([\d,]+) distinct states found"
    r".*?, ([\d,]+) states left"
)
_SANY_END: Final = 2219


def messages(output: str) -> tuple[Message, ...]:
    """Return TLC's messages in the order of their ends; one that does not end is left out."""
    return tuple(piece for piece in _pieces(output) if isinstance(piece, Message))


def printed(output: str) -> tuple[str, ...]:
    """Return the lines that the specification printed, by PrintT and Print."""
    text, after = "", False
    for piece in _pieces(output):
        if isinstance(piece, Message):
            after = after or piece.code == _SANY_END
        elif after:
            text += piece
    return tuple(line for line in text.split("\n") if line)


def sany_text(output: str) -> str:
    """Return what SANY said, without the lists of files and modules that it always prints."""
    text = ""
    for piece in _pieces(output):
        if isinstance(piece, Message):
            if piece.code == _SANY_END:
                break
        else:
            text += piece
    dull = ("Parsing file ", "Semantic processing of ", "Linting of ")
    return "\n".join(
        line for line in text.split("\n") if line.strip() and not line.startswith(dull)
    )


def _pieces(output: str) -> Iterator[Message | str]:
    """Cut an output into messages and the text between them."""
    open_messages: list[tuple[int, list[str]]] = []
    at = 0
    for mark in _MARK.finditer(output):
        text = output[at : mark.start()]
        at = mark.end()
        if open_messages:
            open_messages[-1][1].append(text)
        elif text:
            yield text
        if mark[1] == "STARTMSG":
            open_messages.append((int(mark[2]), []))
        elif open_messages and open_messages[-1][0] == int(mark[2]):
            code, parts = open_messages.pop()
            whole = "".join(parts)
            if open_messages:
                open_messages[-1][1].append(whole)
            yield Message(code=code, text=whole.strip("\n"))
    if not open_messages and output[at:]:
        yield output[at:]


def state_of(message: Message) -> TlcState | None:
    """Read a state of a counterexample (message 2217); None when it is none."""
    match = _STATE.match(message.text + "\n")
    if match is None:
        return None
    return _state(int(match[1]), _action(match[2]), match[3])


def initial_state_of(message: Message) -> TlcState | None:
    """Read the state in "... is violated by the initial state:" (messages 2107 and 2108)."""
    _, found, text = message.text.partition("\n")
    return _state(1, None, text) if found else None


def _state(number: int, action: str | None, text: str) -> TlcState:
    text = text.strip("\n")
    values: Mapping[str, Value] | None
    try:
        values = parse_state(text)
    except TlatraceError:
        values = None
    return TlcState(number=number, action=action, text=text, values=values)


def _action(label: str) -> str | None:
    if label == "Initial predicate":
        return None
    match = _LABEL.match(label)
    return match[1] if match is not None else label


def progress(line: str) -> TlcProgress | None:
    """Read a line of message 2200; None when it is another line."""
    match = _PROGRESS.match(line)
    if match is None:
        return None
    depth, generated, distinct, queue = (count(number) for number in match.groups())
    return TlcProgress(depth=depth, generated=generated, distinct=distinct, queue=queue)


def count(digits: str) -> int:
    """Read a number as TLC prints it, with or without commas."""
    return int(digits.replace(",", ""))

"""Changed texts of states and parameters: the fast readers against the plain reading.

A reader of corpora may take what the plain reading takes, with the same value, and nothing else. It
remembers what it has read, so it reads many texts, good ones and changed ones, one after the other.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, TypeAlias

from tlatrace.corpus.text_reader import StateReader
from tlatrace.errors import TlatraceError
from tlatrace.judgement.transition import Allowed, Failed, Judgement, Refused
from tlatrace.oracle import Model, ModelState
from tlatrace.oracle.checker import Checker
from tlatrace.selfcheck.agreement import Agreement, Disagreement
from tlatrace.selfcheck.hostile.changes import change_text
from tlatrace.selfcheck.hostile.material import draw_state, draw_value
from tlatrace.selfcheck.hostile.shrink import shrink
from tlatrace.trace.canonical_text import read_canonical, read_canonical_state
from tlatrace.values import canonical, canonical_state

__all__ = ["Outcome", "check_texts", "outcome", "plain_judgement"]

_ROUND: Final = 400
"""Texts that one reader reads."""
_CHANGED: Final = 8
"""Changes of one text."""
_MOST: Final = 5
"""Findings after which it is enough."""


@dataclass(frozen=True, slots=True)
class _Broken:
    """An error that is none of ours."""

    error: str


_REFUSED: Final = "refuses"
Outcome: TypeAlias = object
"""A value, `_REFUSED` or `_Broken`."""


def outcome(read: Callable[[], object]) -> Outcome:
    """Return what a reader says: a value, that it refuses, or that it broke."""
    try:
        return read()
    except TlatraceError:
        return _REFUSED
    except Exception as error:
        return _Broken(f"{type(error).__name__}: {error}")


def check_texts(model: Model, cases: int, seed: int, tell: Callable[[str], None]) -> Agreement:
    """Change `cases` texts and have each read by the readers of corpora."""
    began = time.monotonic()
    draw = Random(f"texts {seed}")
    counts: Counter[str] = Counter()
    found: list[Disagreement] = []
    while counts["texts"] < cases and len(found) < _MOST:
        tell(f"{counts['texts']:,} of {cases:,} texts")
        readers = _Readers(model)
        room = min(_ROUND, cases - counts["texts"])
        while room > 0 and len(found) < _MOST:
            texts = _texts(draw, min(_CHANGED, room))
            room -= len(texts) - 1
            for text in texts:
                difference = readers.differ(text, counts)
                if difference is not None:
                    found.append(_finding(model, readers.read, text, difference))
                    readers = _Readers(model)
                readers.read.append(text)
            counts["texts"] += len(texts) - 1
    return Agreement(
        part="hostile",
        subject="texts",
        examined=counts.pop("texts"),
        facts=dict(sorted(counts.items())),
        disagreements=tuple(found),
        seconds=time.monotonic() - began,
    )


@dataclass(frozen=True, slots=True)
class _Text:
    """A text, and whose it is."""

    text: str
    of_params: bool


def _texts(draw: Random, changed: int) -> list[_Text]:
    """Draw a good text and changes of it."""
    of_params = draw.random() < 0.2
    if of_params:
        good = canonical((draw.randrange(12) if draw.random() < 0.7 else draw_value(draw),))
    else:
        good = canonical_state(draw_state(draw, draw.randrange(4)))
    changes = [change_text(draw, good) for _ in range(changed)]
    return [_Text(text, of_params) for text in (good, *changes)]


class _Readers:
    """The fast readers, and the texts that they have read."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._checker = Checker(model)
        self._reader = StateReader()
        self._steps = _Steps(model)
        self.read: list[_Text] = []

    def differ(self, text: _Text, counts: Counter[str]) -> tuple[str, str] | None:
        """Return what the plain reading says and what a fast one says, where they differ."""
        if text.of_params:
            return self._steps.differ(self._checker, text.text)
        written = text.text
        plain = outcome(lambda: read_canonical_state(written))
        counts["taken" if isinstance(plain, dict) else "refused"] += 1
        expected = plain
        if isinstance(plain, dict):
            expected = outcome(lambda: self._model.adopt(plain))
        fast = outcome(lambda: self._checker.state(written))
        if fast != expected or isinstance(fast, _Broken):
            return f"plain: {expected!r}", f"Checker.state: {fast!r}"
        other = outcome(lambda: canonical_state(self._reader.state(written)))
        if other != (written if isinstance(plain, dict) else plain):
            return f"plain: {plain!r}", f"StateReader.state: {other!r}"
        return None


@dataclass(slots=True)
class _Steps:
    """Steps whose parameters are changed texts."""

    model: Model

    def differ(self, checker: Checker, params: str) -> tuple[str, str] | None:
        """Judge steps with these parameters."""
        before, after = (
            checker.state(f'{{"count":{count},"left":[],"mark":"","right":"a"}}')
            for count in (0, 3)
        )
        for action in ("Count", "Swap", None, "Init"):
            pre = None if action == "Init" else before
            post = before if action == "Init" else after
            fast = outcome(lambda: checker.step(pre, action, params, post))  # noqa: B023 # called now
            plain = plain_judgement(self.model, pre, action, params, post)
            if type(fast) is not type(plain):
                return f"plain: {action} is {plain!r}", f"Checker.step: {fast!r}"
        other = outcome(lambda: canonical(StateReader().params(params)))
        value = outcome(lambda: read_canonical(params))
        expected = params if isinstance(value, tuple) else _REFUSED
        if other != expected:
            return f"plain: {value!r}", f"StateReader.params: {other!r}"
        return None


def plain_judgement(
    model: Model, pre: ModelState | None, action: str | None, params: str, post: ModelState
) -> Judgement:
    """Judge a step without anything fast."""
    try:
        arguments = read_canonical(params)
        if not isinstance(arguments, tuple):
            return Failed("no tuple")
        if (pre is None or action is None) and arguments:
            return Failed("parameters")
        if pre is None:
            allowed = model.is_initial(post)
        else:
            adopted = model.adopt_params(action, arguments)
            allowed = model.allows(action, adopted, pre, post)
    except TlatraceError as error:
        return Failed(str(error))
    return Allowed() if allowed else Refused()


def _finding(
    model: Model, before: Sequence[_Text], text: _Text, difference: tuple[str, str]
) -> Disagreement:
    """Find a short text, after few others, of which the readers say different things."""

    def still(texts: Sequence[_Text]) -> bool:
        readers = _Readers(model)
        for other in texts[:-1]:
            readers.differ(other, Counter())
        return readers.differ(texts[-1], Counter()) is not None

    def shorter(text: _Text, written: str) -> _Text:
        return _Text(written, text.of_params)

    texts = shrink([*before, text], still, lambda text: text.text, shorter)
    question = " then ".join([ascii(item.text) for item in texts])
    readers = _Readers(model)
    last = None
    for item in texts:
        last = readers.differ(item, Counter())
    plain, fast = last or difference
    return Disagreement(question=question, tlc=plain, model=fast)

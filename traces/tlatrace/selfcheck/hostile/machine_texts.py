"""Changed texts of states and parameters: machine code against the plain reading.

Machine code may take less than the plain reading, never more, and what it takes has the same value.
It reads a batch of texts one after the other, as the rows of a corpus are: what stands there again
is known without being read.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Final

import numpy as np

from tlatrace.errors import TlatraceError
from tlatrace.oracle import Model
from tlatrace.oracle.native_rows import NativeRows
from tlatrace.oracle.rows import NO_TEXT, READ_ONLY, Column, States, Texts
from tlatrace.runtime.values import RuntimeValue
from tlatrace.selfcheck.agreement import Agreement, Disagreement
from tlatrace.selfcheck.hostile.changes import change_text
from tlatrace.selfcheck.hostile.material import draw_state, draw_value
from tlatrace.trace.canonical_text import read_canonical, read_canonical_state
from tlatrace.values import canonical, canonical_state

__all__ = ["check_machine_texts"]

_BATCH: Final = 400
_CHANGED: Final = 8
_MOST: Final = 5

_VARIABLES: Final = ("count", "left", "mark", "right")
_PARTS: Final = re.compile(rb'\{"count":(.*),"left":(.*),"mark":(.*),"right":(.*)\}', re.DOTALL)

_LEFT: Final = (
    *('{"#set":[1,2,5]}', '{"#set":[1,9,2]}', '{"#set":[1,2,5]}', '{"#set":[2,1,5]}'),
    *('{"!":1,"#x":2}', '{"!":1,"a":2}', '{"a":1,"a":2}', '{"#map":[[1,2],[3,4]]}'),
    *('{"#map":[[1,2],[2,4]]}', '{"#map":[[3,2],[1,4]]}', '{"#map":[["a",1],["b",2]]}', "1", "12"),
)
_NEARLY: Final = [f'{{"count":0,"left":{left},"mark":"","right":0}}' for left in _LEFT]
"""States after one another; some are nearly canonical, which no change hits soon."""


def check_machine_texts(
    model: Model, cases: int, seed: int, tell: Callable[[str], None]
) -> Agreement:
    """Change `cases` texts and have machine code read them."""
    began = time.monotonic()
    draw = Random(f"machine texts {seed}")
    counts: Counter[str] = Counter()
    found: list[Disagreement] = []
    rows = NativeRows(model)
    while counts["texts"] < cases and len(found) < _MOST:
        tell(f"{counts['texts']:,} of {cases:,} texts for machine code")
        of_params = draw.random() < 0.2
        texts = _texts(draw, min(_BATCH, cases - counts["texts"]), of_params=of_params)
        if not counts and not of_params:
            texts[: len(_NEARLY)] = _NEARLY
        in_columns = draw.random() < 0.4
        read = _params(rows, texts) if of_params else _states(rows, texts, in_columns=in_columns)
        for text, value in zip(texts, read, strict=True):
            plain = _plain(model, text, of_params=of_params)
            counts["texts"] += 1
            counts["refused" if plain is None else "taken"] += 1
            if value is None:
                counts["left to Python"] += plain is not None
                continue
            counts["taken by machine code"] += 1
            if value != plain and len(found) < _MOST:
                said = "refuses" if plain is None else repr(plain)
                found.append(
                    Disagreement(
                        question=ascii(text), tlc=f"plain: {said}", model=f"machine code: {value!r}"
                    )
                )
    return Agreement(
        part="hostile",
        subject="texts for machine code",
        examined=counts.pop("texts") if counts["taken by machine code"] else 0,
        facts=dict(sorted(counts.items())),
        disagreements=tuple(found),
        seconds=time.monotonic() - began,
    )


def _texts(draw: Random, count: int, *, of_params: bool) -> list[str]:
    """Draw good texts, each before changes of it and other states that share parts with it."""
    texts: list[str] = []
    while len(texts) < count:
        if of_params:
            good = canonical((draw_value(draw),))
        else:
            good = canonical_state(draw_state(draw, draw.randrange(4)))
        texts += [good, *[change_text(draw, good) for _ in range(_CHANGED)], good]
    return texts[:count]


def _states(
    rows: NativeRows, texts: Sequence[str], *, in_columns: bool
) -> list[RuntimeValue | None]:
    rows.forget_states()
    written = [text.encode("utf-8", "surrogatepass") for text in texts]
    states = _in_columns(written) if in_columns else States(Texts.of(written))
    found = rows.judge(states, np.full(len(texts), READ_ONLY), [])
    return [None if number < 0 else rows.state(number) for number in found[:, 1].tolist()]


def _in_columns(texts: Sequence[bytes]) -> States:
    """Cut texts where the names of variables stand, if all do; the others stay whole."""
    cut = [_PARTS.fullmatch(text) for text in texts]
    whole = Texts.of(texts)
    begins = np.where([found is None for found in cut], whole.begins, NO_TEXT)
    columns = [
        Column.of([None if found is None else found[at] for found in cut])
        for at in range(1, len(_VARIABLES) + 1)
    ]
    return States(replace(whole, begins=begins), _VARIABLES, columns)


def _params(rows: NativeRows, texts: Sequence[str]) -> list[RuntimeValue | None]:
    return rows.values(Texts.of([text.encode("utf-8", "surrogatepass") for text in texts]))


def _plain(model: Model, text: str, *, of_params: bool) -> RuntimeValue | None:
    """Return what the plain reading takes a text for; None if it refuses."""
    try:
        if not of_params:
            return model.adopt(read_canonical_state(text))
        value = read_canonical(text)
        return model.adopt_value(model.reading.plain(value))
    except TlatraceError:
        return None

"""A batch of steps by its columns: order is looked at in numbers, texts are read when asked for.

Machine code, if there is any, has answered for each row before the kernel looks at it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np
import pyarrow as pa

from tlatrace.corpus.fingerprint import call_bytes
from tlatrace.corpus.state_texts import Flags, StateTexts, numbers_of, objects
from tlatrace.oracle.rows import ACCEPTED, ASK, INITIAL, READ_ONLY, Call, RowJudge, Words
from tlatrace.trace import INIT

__all__ = ["Codes", "Rows", "answer", "calls_in"]

_NONE: Final = -1
_NO_NUMBER: Final = -(2**40)
"""Stands for null where numbers are compared; no piece has it."""
_NO_ARGUMENTS: Final = "[]"


class Codes:
    """A column of texts as numbers: equal ones have the same."""

    def __init__(self, column: pa.Array) -> None:
        """Number the texts.

        Raises:
            CorpusError: one is not UTF-8, or there is none, which Parquet does not look at.
        """
        encoded = column.dictionary_encode()
        self.numbers: Words = numbers_of(encoded)
        texts = objects(encoded.dictionary)
        if len(set(texts)) < len(texts):  # a dictionary that another program wrote
            encoded = encoded.dictionary_decode().dictionary_encode()
            self.numbers, texts = numbers_of(encoded), objects(encoded.dictionary)
        self.texts = cast("list[str | None]", [*texts, None])
        """By their numbers; -1 is null."""

    def are(self, text: str) -> Flags:
        """Tell which rows have this text."""
        number = self.texts.index(text) if text in self.texts else len(self.texts)
        found: Flags = self.numbers == number
        return found

    def counted(self) -> Counter[str | None]:
        """Count how many rows have which text."""
        counts = np.bincount(self.numbers + 1, minlength=len(self.texts)).tolist()
        found: Counter[str | None] = Counter()
        for number, count in enumerate(counts, start=_NONE):
            if count:
                found[self.texts[number]] += count
        return found

    def at(self, row: int) -> str | None:
        """Return the text of a row."""
        return self.texts[int(self.numbers[row])]

    def of(self, begin: int, end: int) -> list[str | None]:
        """Return the texts of some rows."""
        texts = self.texts
        return [texts[number] for number in self.numbers[begin:end].tolist()]


@dataclass(frozen=True, slots=True)
class _Answered:
    """What a `RowJudge` has said of the rows of a batch."""

    answers: Words
    states: list[int]
    """Numbers of their states."""
    drawn: Words
    """Numbers of their steps; 0 is none."""
    asked: Words
    """The rows for Python, in order; so are the others."""
    sure: Words
    new: Words


class Rows:
    """A batch with the columns `SCANNED`."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        """Read the columns, but for the texts of states.

        Raises:
            CorpusError: as `Codes`.
        """
        self._batch = batch
        self.count: int = batch.num_rows
        self.names, self.actions, self.params = [
            Codes(batch.column(name)) for name in ("trace_id", "action", "params")
        ]
        self.chunks, self.steps = [
            batch.column(name).cast(pa.int64()).fill_null(_NO_NUMBER).to_numpy()
            for name in ("chunk", "step")
        ]
        self.states = StateTexts(batch)
        self.lacking: Flags = (self.params.numbers == _NONE) | self.states.lacking
        self.initial = self.actions.are(INIT)
        follows = np.zeros(self.count, bool)
        follows[1:] = self.steps[1:] == self.steps[:-1] + 1
        breaks: Flags = ~follows | self.lacking | self.initial
        self._broken = np.flatnonzero(breaks)
        """Rows that are not the next step of the row before."""
        names = self.names.numbers
        self.begins: Flags = np.ones(self.count, bool)
        """Whether a row is of another piece than the one before it."""
        self.begins[1:] = (names[1:] != names[:-1]) | (self.chunks[1:] != self.chunks[:-1])
        self._breaks = breaks
        self._answered: _Answered | None = None
        self._calls: dict[int, bytes] = {}

    # ---- pieces and order ----

    def pieces(self) -> list[tuple[int, int]]:
        """Cut the rows where another piece begins: (first row, behind the last one)."""
        begins = np.flatnonzero(self.begins).tolist()
        return list(zip(begins, [*begins[1:], self.count], strict=True))

    def piece_of(self, at: int) -> tuple[str | None, int]:
        """Return trace and chunk of a row; a number below 0 where it has none."""
        return self.names.at(at), int(self.chunks[at])

    def in_order(self, begin: int, end: int, expected: int) -> int:
        """Return up to which row the rows are the next steps of a piece, with all they need."""
        if self.steps[begin] != expected or self.lacking[begin]:
            return begin
        if bool(self.initial[begin]) != (expected == 0):
            return begin
        return _next(self._broken, begin + 1, end)

    def row(self, at: int) -> list[object]:
        """Return step, action, params and state of a row."""
        columns = [self._batch.column(name) for name in ("step", "action", "params")]
        state = None if self.states.lacking[at] else self.text(at)
        return [*[objects(column[at : at + 1])[0] for column in columns], state]

    # ---- states ----

    def text(self, at: int) -> str:
        """Return the text of a state, which is there."""
        return self.texts(at, at + 1)[0]

    def texts(self, begin: int, end: int) -> Sequence[str]:
        """Return the texts of states, which are there."""
        return self.states.made(begin, end)

    def makeable(self, begin: int, end: int) -> int:
        """Return up to which row texts may be asked for at once."""
        return self.states.makeable(begin, end)

    # ---- answers ----

    def answered(self, found: Words) -> None:
        """Take what a `RowJudge` has said."""
        answers = found[:, 0]
        self._answered = _Answered(
            answers,
            found[:, 1].tolist(),
            found[:, 2],
            asked=np.flatnonzero(answers == ASK),
            sure=np.flatnonzero(answers != ASK),
            new=np.flatnonzero(answers == ACCEPTED),
        )

    def sure_pieces(self) -> list[bool]:
        """Tell which pieces are, as far as they go here, whole traces that are surely right."""
        found = self._answered
        if found is None:
            return [False] * int(self.begins.sum())
        begins = np.flatnonzero(self.begins)
        is_first = self.initial & ~self.lacking & (self.steps == 0) & (self.chunks == 0)
        is_first &= self.names.numbers != _NONE
        wrong = np.where(self.begins, ~is_first, self._breaks) | (found.answers == ASK)
        right: list[bool] = (~np.logical_or.reduceat(wrong, begins)).tolist()
        return right

    def is_sure(self, at: int) -> bool:
        """Tell whether a row has been accepted by machine code."""
        found = self._answered
        return found is not None and bool(found.answers[at] != ASK)

    def alike(self, begin: int, end: int) -> int:
        """Return up to which row machine code has accepted all rows, or none."""
        found = self._answered
        if found is None:
            return end
        return _next(found.asked if self.is_sure(begin) else found.sure, begin, end)

    def new(self, begin: int, end: int) -> Words:
        """Return the rows that machine code has accepted, and had not met before."""
        found = self._answered
        assert found is not None
        low, high = found.new.searchsorted((begin, end))
        return found.new[low:high]

    def accepted(self, begin: int, end: int) -> list[int]:
        """Return the numbers of those steps, where there is machine code."""
        if self._answered is None:
            return []
        numbers: list[int] = self._answered.drawn[self.new(begin, end)].tolist()
        return numbers

    def drawn(self, rows: Words) -> Words:
        """Return the numbers of steps that machine code has read."""
        found = self._answered
        assert found is not None
        return found.drawn[rows]

    def drawn_of(self, begin: int, end: int) -> list[int]:
        """Return the numbers of steps for Python; 0 if machine code has not read them."""
        if self._answered is None:
            return [0] * (end - begin)
        found: list[int] = self._answered.drawn[begin:end].tolist()
        return found

    def call_bytes(self, at: int) -> bytes:
        """Return the part of a step's fingerprint that its action and parameters are."""
        action, params = self.actions, self.params
        call = int(action.numbers[at]) * len(params.texts) + int(params.numbers[at])
        found = self._calls.get(call)
        if found is None:
            found = self._calls[call] = call_bytes(action.at(at), params.at(at) or "")
        return found

    def state_number(self, at: int) -> int:
        """Return the number of the state of a row; -1 if it has none."""
        return -1 if self._answered is None else self._answered.states[at]

    def raw(self, at: int) -> bytes:
        """Return the bytes of the text of a state that has a number."""
        return self.states.raw(at)


def answer(judge: RowJudge, rows: Rows, *, continues: bool) -> None:
    """Have a judge look at rows, at most `MOST_ROWS`.

    `continues`: the first one is of the same piece as the last one that the judge has seen.
    """
    begins = rows.begins.copy()
    begins[:1] = not continues
    asked = ~(begins | rows.lacking)
    calls, numbers = calls_in(rows.actions, rows.params, asked)
    roles = np.full(rows.count, READ_ONLY)
    roles[asked] = numbers
    first = begins & rows.initial & rows.params.are(_NO_ARGUMENTS) & ~rows.lacking
    roles[first] = INITIAL
    rows.answered(judge.judge(rows.states.states, roles, calls))


def calls_in(actions: Codes, params: Codes, asked: Flags) -> tuple[list[Call], Words]:
    """Return the different calls in some rows, and which of them is in each of these rows."""
    pairs = actions.numbers * len(params.texts) + params.numbers
    different, numbers = np.unique(pairs[asked], return_inverse=True)
    parts = [divmod(pair, len(params.texts)) for pair in different.tolist()]
    return [(actions.texts[action], params.texts[text] or "") for action, text in parts], numbers


def _next(rows: Words, begin: int, end: int) -> int:
    """Return the first of some sorted rows from `begin` on; `end` if there is none before it."""
    at = int(rows.searchsorted(begin))
    return min(end, int(rows[at])) if at < len(rows) else end

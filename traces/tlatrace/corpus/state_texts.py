"""The texts of the states in a batch of steps, whole or in columns of their variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tlatrace.corpus.schema import STATE, variable_columns
from tlatrace.errors import CorpusError
from tlatrace.oracle.rows import NO_TEXT, Column, States, Texts, Words
from tlatrace.values import canonical

__all__ = ["StateTexts", "numbers_of", "objects", "texts_in"]

_NONE: Final = -1
_MOST_CHARACTERS: Final = 32 << 20
"""Of texts that are made at once."""

Flags: TypeAlias = npt.NDArray[np.bool_]


class StateTexts:
    """The states of a batch with the column `STATE`, and any columns of variables."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        """Read which rows have which texts, but not the texts.

        Raises:
            CorpusError: a row has a text that there is not.
        """
        self._whole: pa.StringArray = batch.column(STATE)
        has_whole: Flags = self._whole.is_valid().to_numpy(zero_copy_only=False)
        columns = variable_columns(batch.schema.names)
        self.variables = tuple(columns)
        """In the order of their names."""
        self._parts = [batch.column(name).dictionary_encode() for name in columns.values()]
        self._columns = [_column(part) for part in self._parts]
        names = [canonical(name) for name in columns]
        self._before = [f"{',' if at else '{'}{name}:" for at, name in enumerate(names)]
        whole = texts_in(self._whole)
        self.lacking: Flags = ~has_whole
        """Which rows have no state."""
        if columns:
            in_parts = np.logical_and.reduce([column.numbers >= 0 for column in self._columns])
            self.lacking &= ~in_parts
            whole = Texts(np.where(has_whole, whole.begins, NO_TEXT), whole.ends, whole.kept)
        self.states = States(whole, self.variables, self._columns)
        """For a judge of rows."""

    def made(self, begin: int, end: int) -> Sequence[str]:
        """Return the texts of some rows, none of which is lacking."""
        whole = self._whole[begin:end]
        if self._parts and whole.null_count:
            pieces = []
            for before, part in zip(self._before, self._parts, strict=True):
                pieces += [before, part[begin:end].dictionary_decode()]
            joined = pc.binary_join_element_wise(*pieces, "}", "")
            whole = pc.coalesce(whole, joined)
        return cast("Sequence[str]", objects(whole))

    def makeable(self, begin: int, end: int) -> int:
        """Return up to which row their texts may be made at once: one of them, at least."""
        if not self._parts:
            return end  # they are there
        size = np.zeros(end - begin, np.int64)
        for column in self._columns:
            lengths = np.append(column.texts.ends - column.texts.begins, 0)
            size += lengths[column.numbers[begin:end]]
        fitting = int(np.cumsum(size).searchsorted(_MOST_CHARACTERS))
        return min(begin + max(fitting, 1), end)

    def raw(self, at: int) -> bytes:
        """Return the bytes of a text."""
        texts = self.states.texts
        if texts.begins[at] != NO_TEXT:
            return texts.raw(at)
        parts: list[bytes] = []
        for before, column in zip(self._before, self._columns, strict=True):
            parts += [before.encode(), column.texts.raw(int(column.numbers[at]))]
        return b"".join([*parts, b"}"])


def _column(part: pa.DictionaryArray) -> Column:
    numbers, texts = numbers_of(part), part.dictionary
    if len(texts) > len(part):  # other rows have them
        used, numbers = np.unique(numbers, return_inverse=True)
        if used[:1].tolist() == [_NONE]:
            used, numbers = used[1:], numbers - 1
        texts = texts.take(pa.array(used))
    return Column(texts_in(texts), numbers)


def numbers_of(encoded: pa.DictionaryArray) -> Words:
    """Return the number of the text of each row; -1 is null.

    Raises:
        CorpusError: a row has a text that there is not, which Parquet does not look at.
    """
    indices, texts = encoded.indices, encoded.dictionary
    if indices.null_count:
        indices = indices.fill_null(_NONE)
    numbers: Words = indices.to_numpy().astype(np.int64)
    if len(numbers) and not _NONE <= numbers.min() <= numbers.max() < len(texts):
        raise CorpusError("steps", "a row has a text that is not in the dictionary of its column")
    if texts.null_count:
        numbers = np.where(texts.is_null().to_numpy(zero_copy_only=False)[numbers], _NONE, numbers)
    return numbers


def texts_in(column: pa.StringArray) -> Texts:
    """Return the texts of a column where they stand; null is an empty one."""
    _, offsets, data = column.buffers()
    every = np.frombuffer(offsets, np.int32)
    places = every[column.offset : column.offset + len(column) + 1].astype(np.int64)
    places += 0 if data is None else data.address
    return Texts(places[:-1], places[1:], column)


def objects(column: pa.Array) -> Sequence[object]:
    """Return a column as Python objects.

    Raises:
        CorpusError: a text in it is not UTF-8, which Parquet does not look at.
    """
    try:
        values: Sequence[object] = column.to_pylist()
    except UnicodeDecodeError as error:
        raise CorpusError("steps", f"a text is not UTF-8: {error}") from None
    return values

"""What a judge of rows of a corpus is asked, and what it answers; plain data."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import string_at
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "ACCEPTED",
    "ASK",
    "INITIAL",
    "MOST_ROWS",
    "NO_TEXT",
    "READ_ONLY",
    "REMEMBERED",
    "Call",
    "Column",
    "RowJudge",
    "States",
    "Texts",
    "Words",
]

Words: TypeAlias = npt.NDArray[np.int64]
Call: TypeAlias = tuple[str | None, str]
"""An action, None if it is not known, and the canonical text of its parameters."""

ASK: Final = 0
"""It is not sure: Python is to be asked."""
ACCEPTED: Final = 1
REMEMBERED: Final = 2
"""It has been accepted before."""

READ_ONLY: Final = -1
INITIAL: Final = -2

MOST_ROWS: Final = 1 << 16
"""That are judged together."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts that stand in memory."""

    begins: Words
    """Addresses of their first bytes."""
    ends: Words
    kept: object
    """What has to live as long as they are read."""

    @staticmethod
    def of(parts: Sequence[bytes]) -> Texts:
        """Put texts into memory."""
        whole = np.frombuffer(b"".join([*parts, b"\0"]), np.uint8)
        ends = np.cumsum(np.array(list(map(len, parts)), np.int64))
        begins = np.concatenate([np.zeros(1, np.int64), ends])[: len(parts)]
        address = whole.ctypes.data
        return Texts(begins + address, ends + address, whole)

    def size(self) -> int:
        """Return how many bytes they have together."""
        return int((self.ends - self.begins).sum())

    def raw(self, at: int) -> bytes:
        """Return the bytes of a text."""
        begin = int(self.begins[at])
        return string_at(begin, int(self.ends[at]) - begin)


NO_TEXT: Final = -1
"""Where the text of a state begins that stands in columns."""


@dataclass(frozen=True, slots=True)
class Column:
    """The values of a variable in some rows, as texts."""

    texts: Texts
    """At most `MOST_ROWS`."""
    numbers: Words
    """Which of them a row has; less than 0 is none."""

    @staticmethod
    def of(parts: Sequence[bytes | None]) -> Column:
        """Put the different texts of some rows into memory."""
        texts = [text for text in dict.fromkeys(parts) if text is not None]
        different = {text: at for at, text in enumerate(texts)}
        numbers = [-1 if part is None else different[part] for part in parts]
        return Column(Texts.of(texts), np.array(numbers, np.int64))


@dataclass(frozen=True, slots=True)
class States:
    """States of some rows: those whose text begins at `NO_TEXT` stand in columns."""

    texts: Texts
    variables: Sequence[str] = ()
    columns: Sequence[Column] = ()
    """One for each variable."""


class RowJudge(Protocol):
    """Says of steps that follow each other which are surely right, with the invariants after them.

    Whether they follow each other is not asked: an answer counts where a row is the next one of a
    trace, and all before it were good.
    """

    def forget(self) -> None:
        """Forget what it has accepted."""
        ...

    def forget_states(self) -> None:
        """Begin with other rows."""
        ...

    def judge(self, states: States, roles: Words, calls: Sequence[Call]) -> Words:
        """Judge rows, at most `MOST_ROWS`; for each return an answer and two numbers.

        `roles`: for each row, which of the `calls` it is; `READ_ONLY`, and its state is the one
        before the next row; or `INITIAL`.

        The first number is one of the state: this judge gives it to no other state; -1, it could
        not be read. The second one is drawn from all that the step is, by every judge of this
        model; 0 where it is not known.
        """
        ...

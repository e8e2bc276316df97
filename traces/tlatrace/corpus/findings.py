"""What a kernel says of the steps that it read: the rows of one Arrow schema, and their sum.

| kind       | of                       | fields                                                   |
|------------|--------------------------|----------------------------------------------------------|
| piece      | each piece of a trace    | trace_id, chunk, count (steps), head, tail, and the end: |
|            |                          | step, status, detail, key, action, params                |
| transition | each different bad one   | status, detail, key, pre, action, params, post           |
| shown      | some accepted ones       | count (rank), key, pre, action, params, post             |
| action     | each action              | action, count                                            |
| count      | each counter             | detail (its name), count                                 |
| ranks      | the smallest ones        | key (8 bytes each)                                       |
| chosen     | those of accepted ones   | key (8 bytes each)                                       |
| unanswered | what TLC says nothing of | count, detail (why, of one of them)                      |
| disagrees  | what TLC says else       | detail (what both say), post (the transition)            |

A piece is what is read in one go: the steps of a trace with the same chunk. `head` and `tail` are
digests of the state that it begins with (null in chunk 0) and of its last state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import pyarrow as pa

from tlatrace.corpus.sketch import Distinct, distinct_of, smallest_of
from tlatrace.errors import CorpusError, DisagreementError

__all__ = [
    "FINDING_COLUMNS",
    "FINDING_SCHEMA",
    "MACHINE_CODE",
    "PEAK_KB",
    "PROBLEM",
    "Bad",
    "BadStatus",
    "FindingRow",
    "Findings",
    "Piece",
    "Texts",
    "finding_batch",
    "texts_in",
]

FINDING_COLUMNS: Final = (
    "kind string",
    "trace_id string",
    "chunk long",
    "step long",
    "count long",
    "status string",
    "detail string",
    "key binary",
    "head binary",
    "tail binary",
    "pre string",
    "action string",
    "params string",
    "post string",
)
"""As Spark spells them."""

_ARROW: Final = {"string": pa.string(), "long": pa.int64(), "binary": pa.binary()}
FINDING_SCHEMA: Final = pa.schema(
    [(name, _ARROW[kind]) for name, kind in map(str.split, FINDING_COLUMNS)]
)

FindingRow = dict[str, "str | int | bytes | None"]
_TEXTS: Final = ("key", "pre", "action", "params", "post")
PROBLEM: Final = "problem"
PEAK_KB: Final = "peak_kb"
MACHINE_CODE: Final = "machine code"
"""Steps that machine code has accepted."""

BadStatus = Literal["refused", "violated", "failed"]


def finding_batch(rows: list[FindingRow]) -> pa.RecordBatch:
    """Make a batch of rows; a field that a row lacks is null."""
    return pa.RecordBatch.from_pylist(rows, schema=FINDING_SCHEMA)


@dataclass(frozen=True, slots=True)
class Bad:
    """Why a transition ends the accepted path of a trace."""

    status: BadStatus
    detail: str
    """The violated invariants, or why there is no evidence."""


@dataclass(frozen=True, slots=True)
class Texts:
    """A transition as canonical texts."""

    key: bytes
    pre: str | None
    action: str | None
    params: str
    post: str


def texts_in(row: Mapping[str, Any]) -> Texts:
    """Read the transition of a row."""
    return Texts(*[row[name] for name in _TEXTS])


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What was seen of the steps of a trace in one chunk, in one place of the corpus."""

    trace_id: str
    chunk: int
    steps: int
    head: bytes | None
    tail: bytes | None
    step: int | None
    """Where judging ended early: a bad step, or what is wrong with the rows."""
    bad: Bad | None
    """Why it ended, if the rows are in order."""
    problem: str | None
    """What is wrong with the rows."""
    key: bytes | None
    action: str | None
    params: str | None


@dataclass(slots=True)
class Findings:
    """The sum of what all kernels said."""

    pieces: list[Piece] = field(default_factory=list)
    bad: dict[bytes, tuple[Bad, Texts]] = field(default_factory=dict)
    shown: dict[bytes, tuple[int, Texts]] = field(default_factory=dict)
    """Key -> (rank, transition)."""
    unanswered: str | None = None
    """Why TLC has no answer for one transition, where workers have asked it."""
    actions: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    peak_kb: int = 0
    """Largest resident memory of a worker."""
    _ranks: list[bytes] = field(default_factory=list)
    _chosen: list[bytes] = field(default_factory=list)

    def add(self, batch: pa.RecordBatch) -> None:
        """Add a batch of a kernel.

        Raises:
            DisagreementError: TLC gave a worker another answer than the compiled model.
        """
        for row in batch.to_pylist():
            status, detail = row["status"], row["detail"]
            match row["kind"]:
                case "piece":
                    self.pieces.append(
                        Piece(
                            trace_id=row["trace_id"],
                            chunk=row["chunk"],
                            steps=row["count"],
                            head=row["head"],
                            tail=row["tail"],
                            step=row["step"],
                            bad=None if status in (None, PROBLEM) else Bad(status, detail),
                            problem=detail if status == PROBLEM else None,
                            key=row["key"],
                            action=row["action"],
                            params=row["params"],
                        )
                    )
                case "transition":
                    self.bad[row["key"]] = Bad(status, detail), texts_in(row)
                case "shown":
                    self.shown[row["key"]] = row["count"], texts_in(row)
                case "action":
                    self.actions[row["action"] or ""] += row["count"]
                case "count" if detail == PEAK_KB:
                    self.peak_kb = max(self.peak_kb, row["count"])
                case "count":
                    self.counts[detail] += row["count"]
                case "ranks":
                    self._ranks.append(row["key"])
                case "chosen":
                    self._chosen.append(row["key"])
                case "unanswered":
                    self.counts["unanswered"] += row["count"]
                    self.unanswered = self.unanswered or detail
                case "disagrees":
                    raise DisagreementError(row["post"], detail)
                case other:
                    raise CorpusError("findings", f"a row of the unknown kind {other!r}")

    def distinct(self) -> Distinct:
        """Count the different transitions up to the first bad step of each piece."""
        return distinct_of(self._ranks)

    def chosen(self, size: int) -> list[int]:
        """Return the `size` smallest ranks of accepted transitions, sorted; fewer if there are."""
        return smallest_of(self._chosen, size)

"""Fetch the texts of chosen transitions of a corpus.

A worker cannot know which of its transitions will be among those with the smallest ranks of all,
and their texts are long: Spark takes one GB of results, which the candidates of a few thousand
exceed. So workers tell ranks only, and the corpus is read a second time for the texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

import pyarrow as pa

from tlatrace.corpus.checker import RowsSource
from tlatrace.corpus.findings import Findings, Texts
from tlatrace.corpus.kernel import KernelOptions
from tlatrace.corpus.lookup import AcceptSource
from tlatrace.corpus.worker import Work
from tlatrace.errors import ToolError

__all__ = ["texts_of"]

_AT_A_TIME: Final = 20_000
"""Transitions of one reading; with states of 5 KB 200 MB."""


class _Driver(Protocol):
    def __call__(self, folder: Path, work: Work, /) -> Iterable[pa.RecordBatch]: ...


def texts_of(
    folder: Path,
    driver: _Driver,
    options: KernelOptions,
    ranks: Sequence[int],
    *,
    rows: RowsSource | None = None,
    at_a_time: int = _AT_A_TIME,
) -> Iterator[list[Texts]]:
    """Yield the transitions with these ranks, which are sorted, some at a time, in this order.

    `options` and `rows` are those of the kernels that have found the ranks.

    Raises:
        CorpusError: as the driver.
        ToolError: as the driver; also if the corpus does not have them any more.
    """
    for at in range(0, len(ranks), at_a_time):
        wanted = ranks[at : at + at_a_time]
        shown = range(wanted[0], wanted[-1] + 1)
        options = replace(options, sample=0, shown=shown)
        work = Work(source=AcceptSource(), options=options, rows=rows)
        findings = Findings()
        for batch in driver(folder, work):
            findings.add(batch)
        found = dict(findings.shown.values())
        missing = [rank for rank in wanted if rank not in found]
        if missing:
            reason = f"{len(missing)} of {len(wanted)} transitions were not found a second time"
            raise ToolError("corpus", reason)
        yield [found[rank] for rank in wanted]

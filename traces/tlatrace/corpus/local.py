"""The driver without an engine: splits of a corpus, judged in processes of this machine.

It needs no Java, starts in a second, and its memory does not depend on the corpus. Workers remember
what they have accepted from split to split; that is sound because none is ever done twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import pyarrow as pa

from tlatrace.corpus.kernel import Kernel
from tlatrace.corpus.processes import run_tasks
from tlatrace.corpus.splits import Split, batches_of, splits_of
from tlatrace.corpus.worker import Work

__all__ = ["LocalDriver"]

_HERE_ROWS: Final = 10_000
"""A corpus of fewer rows is judged before another process has started."""


@dataclass(frozen=True, slots=True)
class LocalDriver:
    """Judges a corpus in processes of this machine."""

    cores: int | None = None
    here_rows: int = _HERE_ROWS

    def __call__(self, folder: Path, work: Work) -> Iterator[pa.RecordBatch]:
        """Yield the findings of all steps.

        Raises:
            CorpusError: a file cannot be read.
            ToolError: a worker died.
        """
        splits = splits_of(folder)
        few = sum(split.rows for split in splits) < self.here_rows
        _kernel.cache_clear()
        for batches in run_tasks(
            splits,
            _Judge(work),
            cores=1 if few else self.cores,
            label="judging",
            weight=lambda split: split.rows,
        ):
            yield from batches


@dataclass(frozen=True, slots=True)
class _Judge:
    work: Work

    def __call__(self, split: Split) -> list[pa.RecordBatch]:
        return list(self.work.judge(_kernel(self.work), batches_of(split), split.name))


@lru_cache(maxsize=1)
def _kernel(work: Work) -> Kernel[object]:
    return work.fresh()

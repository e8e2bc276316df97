"""What a worker does with the steps that it is given, whatever engine gives them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from tlatrace.corpus.checker import CheckerSource, RowsSource
from tlatrace.corpus.findings import PEAK_KB, finding_batch
from tlatrace.corpus.kernel import Kernel, KernelOptions
from tlatrace.corpus.processes import peak_kb
from tlatrace.corpus.recheck import Authority, asked_everywhere
from tlatrace.corpus.store import VerdictStore, open_known

__all__ = ["Work"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Everything that a worker needs; plain data that crosses to its process."""

    source: CheckerSource
    options: KernelOptions
    rows: RowsSource | None = None
    """Machine code, if it is to be asked first."""
    store: VerdictStore | None = None
    known: Path | None = None
    """The merged table of the store; None if it is empty."""
    authority: Authority | None = field(default=None, hash=False, compare=False)
    """TLC, which is asked about all that kernels show; None if it is not asked here."""

    def fresh(self) -> Kernel[object]:
        """Make a kernel that remembers nothing."""
        known = frozenset[bytes]() if self.known is None else open_known(self.known)
        rows = None if self.rows is None else self.rows.open_rows()
        return Kernel(self.source.open(), self.options, known, self.source.open, rows)

    def judge(
        self, kernel: Kernel[object], batches: Iterable[pa.RecordBatch], task: str
    ) -> Iterator[pa.RecordBatch]:
        """Yield the findings of one task, and keep what was accepted."""
        began = time.process_time()
        found = kernel(batches)
        yield from found if self.authority is None else asked_everywhere(found, self.authority)
        if self.store is not None:
            self.store.add(task, kernel.accepted)
        cpu_us = round((time.process_time() - began) * 1e6)
        yield finding_batch(
            [
                {"kind": "count", "detail": "cpu_us", "count": cpu_us},
                {"kind": "count", "detail": PEAK_KB, "count": peak_kb()},
            ]
        )

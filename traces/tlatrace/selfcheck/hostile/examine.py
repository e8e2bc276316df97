"""Give hostile input to all readers of texts, rows and trace files."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tlatrace.selfcheck.agreement import Agreement
from tlatrace.selfcheck.hostile.files import check_files
from tlatrace.selfcheck.hostile.material import load_anything
from tlatrace.selfcheck.hostile.rows import check_rows
from tlatrace.selfcheck.hostile.texts import check_texts

__all__ = ["examine_hostile"]


def examine_hostile(
    cases: int, *, seed: int, on_stage: Callable[[str], None]
) -> Iterator[Agreement]:
    """Examine `cases` changed texts and rows, one in ten a row, and a tenth as many trace files.

    Raises:
        ToolError: there is no Java to read a specification with.
    """
    model = load_anything()
    rows = -(-cases // 10)
    yield check_texts(model, cases - rows, seed, lambda stage: on_stage(f"hostile: {stage}"))
    yield check_rows(model, rows, seed, lambda stage: on_stage(f"hostile: {stage}"))
    yield check_files(rows, seed, lambda stage: on_stage(f"hostile: {stage}"))

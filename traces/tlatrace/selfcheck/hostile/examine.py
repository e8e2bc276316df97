"""Give hostile input to all readers of texts, rows and trace files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from tlatrace.extras import installed
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

    As many texts and rows are given to machine code, where LLVM is installed.

    Raises:
        ToolError: there is no Java to read a specification with.
    """
    model = load_anything()
    rows = -(-cases // 10)
    yield check_texts(model, cases - rows, seed, lambda stage: on_stage(f"hostile: {stage}"))
    yield check_rows(model, rows, seed, lambda stage: on_stage(f"hostile: {stage}"))
    if installed("native"):
        yield from _by_machine_code(cases, seed, on_stage)
    yield check_files(rows, seed, lambda stage: on_stage(f"hostile: {stage}"))


def _by_machine_code(cases: int, seed: int, on_stage: Callable[[str], None]) -> Iterator[Agreement]:
    from tlatrace.oracle.native_rows import NativeRows
    from tlatrace.selfcheck.hostile.machine_texts import check_machine_texts

    def tell(stage: str) -> None:
        on_stage(f"hostile: {stage}")

    model = load_anything(native=True)
    rows = -(-cases // 10)
    yield check_machine_texts(model, cases - rows, seed, tell)
    small = partial(NativeRows, model, table=1 << 14, nodes=1 << 18)
    yield check_rows(model, rows, seed, tell, small)

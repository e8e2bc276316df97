"""A compiled model on its way to the workers that judge a corpus."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from tlatrace.corpus.checker import Checker as AnyChecker
from tlatrace.oracle import Model, ModelSource
from tlatrace.oracle.checker import Checker
from tlatrace.oracle.rows import RowJudge

__all__ = ["ModelCheckerSource"]


@dataclass(frozen=True, slots=True)
class ModelCheckerSource:
    """A compiled model on its way to a worker: text, which needs no Java to be opened."""

    source: ModelSource

    def open(self) -> AnyChecker[object]:
        """Make the checker."""
        # The kernel gives back the states that this checker has made, and no others.
        return cast("AnyChecker[object]", Checker(_opened(self.source)))

    def open_rows(self) -> RowJudge:
        """Open the machine code, for a model that was loaded with `native`.

        Raises:
            NotNative: its rows stay Python's.
            ToolError: llvmlite is not installed.
        """
        from tlatrace.oracle.native_rows import NativeRows

        return NativeRows(_opened(self.source))


@lru_cache(maxsize=1)
def _opened(source: ModelSource) -> Model:
    return Model(source)

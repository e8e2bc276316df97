"""Have TLC judge transitions: one process at a time, with a bounded heap."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tlatrace.tools.jar import TlcJar, find_jar
from tlatrace.tools.java import JavaHome, find_java
from tlatrace.tools.tlc import run_tlc
from tlatrace.tools.tlc_run import TlcRun
from tlatrace.validate.batch_module import BatchItem, write_batch
from tlatrace.validate.judge import judge
from tlatrace.validate.spec import SpecUnderTest
from tlatrace.validate.transition import Judged, Transition

__all__ = ["TlcJudge", "tlc_judge"]

_JVM_ARGS: Final = ("-XX:+UseSerialGC", "-Xmx1g", "-Xss64m", "-XX:TieredStopAtLevel=1")
"""A TLC is not alone: it may not take all memory or all cores for its garbage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TlcJudge:
    """A judge with everything that it would have to look for."""

    spec: SpecUnderTest
    jar: TlcJar
    java: JavaHome
    batch_size: int
    timeout_s: float

    def __call__(self, transitions: Sequence[Transition], /) -> Sequence[Judged]:
        return judge(
            self.spec,
            transitions,
            batch_size=self.batch_size,
            timeout_s=self.timeout_s,
            run_batch=self._run,
        )

    def _run(self, spec: SpecUnderTest, items: Sequence[BatchItem], timeout_s: float) -> TlcRun:
        with tempfile.TemporaryDirectory(prefix="rocketproof-batch-") as folder:
            module, config = write_batch(spec, items, Path(folder))
            return run_tlc(
                module,
                config,
                timeout_s=timeout_s,
                libraries=(spec.module.parent, *spec.libraries),
                jvm_args=_JVM_ARGS,
                jar=self.jar,
                java=self.java,
            )


def tlc_judge(
    spec: SpecUnderTest, *, batch_size: int = 50_000, timeout_s: float = 600.0
) -> TlcJudge:
    """Make a judge that runs TLC on up to `batch_size` steps and states at a time.

    Raises:
        ToolError: there is no Java or no jar.
    """
    return TlcJudge(
        spec=spec, jar=find_jar(), java=find_java(), batch_size=batch_size, timeout_s=timeout_s
    )

"""Have TLC judge transitions: one process at a time, with a bounded heap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tlatrace.judgement.specification import SpecUnderTest
from tlatrace.judgement.transition import Judged, Transition
from tlatrace.tlc.batch_module import BatchItem
from tlatrace.tlc.judge import judge, run_batch_in
from tlatrace.tools.jar import TlcJar, find_jar
from tlatrace.tools.java import JavaHome, find_java
from tlatrace.tools.tlc_run import TlcRun

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

    def _run(
        self,
        spec: SpecUnderTest,
        items: Sequence[BatchItem],
        timeout_s: float,
        /,
        *,
        careful: bool = False,
    ) -> TlcRun:
        return run_batch_in(
            spec,
            items,
            timeout_s,
            careful=careful,
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

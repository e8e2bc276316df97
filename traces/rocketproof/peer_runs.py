"""What a run of a real system comes to: its traces, its clients, and what explains them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rocketha.recording.node_log import read_logs
from rocketproof.museum_judge import explaining
from rocketproof.protocols import PROTOCOLS
from rocketproof.records_judge import judge_records, traces_of, verdict_of
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, Verdict, combine, kind
from tlatrace.report.results import TraceResult
from tlatrace.trace import Trace
from tlatrace.values import Json

if TYPE_CHECKING:
    from rocketmq_peer.played_run import PlayedRun

__all__ = ["JudgedRun", "JudgedTrace", "judge_run"]


_RECORDS_OF: Final = {"dledger": "members"}
"""Where the records of other nodes are than brokers and controllers."""
_PROMISED: Final = "what is promised to clients"
_ANSWERS_ALONE: Final = "MasterAck"
"""What the configuration of a release does as shipped: no set is waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTrace:
    """One trace of a run, held against one specification."""

    protocol: str
    result: TraceResult
    explained_by: tuple[str, ...]
    """Known bugs, as "B03" or "B03+B11": with the operators of each, the trace conforms."""
    trace: Trace

    def steps_of(self, action: str) -> int:
        """Count the events of an action."""
        return sum(1 for event in self.trace.events if event.action == action)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """A run of a real system, judged."""

    run: PlayedRun
    folder: Path
    traces: tuple[JudgedTrace, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst of what its traces and its clients say; a run that failed is undecided."""
        parts = [verdict_of([one.result]) for one in self.traces]
        outcome = self.run.outcome
        if outcome is not None and outcome.missing:
            parts.append(Undecided(outcome.missing))
        elif outcome is not None and outcome.broken:
            parts.append(Diverges(0, None, _PROMISED, outcome.words))
        elif outcome is not None:
            parts.append(Conforms(len(self.run.played.seen)))
        elif self.run.broken:
            parts.append(Diverges(0, None, _PROMISED, f"lost: {', '.join(self.run.broken)}"))
        if self.run.trouble is not None:
            parts.append(Undecided(self.run.trouble))
        return combine(parts)

    def lines(self) -> list[str]:
        """Say it to a reader."""
        run, lines = self.run, []
        for one in self.traces:
            lines.append(f"{one.protocol}: {one.result.summary}")
            if one.explained_by:
                lines.append(f"{one.protocol}: conforms with {' or '.join(one.explained_by)}")
        if (outcome := run.outcome) is not None:
            lines.append(f"{run.history}: {outcome.missing or outcome.words}")
        elif run.broken:
            lines.append(f"LOST, although promised: {', '.join(run.broken)}")
        elif run.played.lost:
            lines.append(f"lost, which nobody promised: {', '.join(run.played.lost)}")
        if run.trouble is not None:
            lines.append(f"trouble: {run.trouble}")
        leads = f", controller {run.controller}" if run.controller else ""
        where = f"RocketMQ {run.version}{leads}, {run.seconds:.0f} s, {self.folder}"
        return [*lines, f"{run.scenario}: {kind(self.verdict)} ({where})"]

    def to_json(self) -> dict[str, Json]:
        """Say it to a program."""
        run = self.run
        return {
            "scenario": run.scenario,
            "version": run.version,
            "controller": run.controller,
            "verdict": kind(self.verdict),
            "seconds": run.seconds,
            "answers": dict(run.played.answers),
            "lost": list(run.played.lost),
            "broken": list(run.broken),
            "trouble": run.trouble,
            "traces": [
                {
                    "protocol": one.protocol,
                    "explained_by": list(one.explained_by),
                    **one.result.to_json(),
                }
                for one in self.traces
            ],
        }


def judge_run(run: PlayedRun, folder: Path, *, museum: Collection[str] | None) -> JudgedRun:
    """Judge what the nodes of a run wrote to a folder, by each specification it names.

    A divergence is tried with the known bugs of `museum`; None: with all of the protocol's. Where
    brokers answer without their SyncStateSet, that is tried, too.

    Raises:
        TraceFormatError: the records do not belong together.
        ToolError: there is no Java or no jar.
    """
    if museum is not None and not run.promises_durability:
        museum = {*museum, _ANSWERS_ALONE}
    judged: list[JudgedTrace] = []
    for protocol in run.protocols:
        plug = PROTOCOLS[protocol]
        records = folder / _RECORDS_OF.get(protocol, "records")
        logs = read_logs(records)
        traces = traces_of(plug, records, logs)
        kept = () if run.promises_durability else plug.kept_without_promises
        results = judge_records(plug, records, logs, traces, invariants=kept)
        for trace, result in zip(traces, results, strict=True):
            names: tuple[str, ...] = ()
            if isinstance(result.outcome, Diverges):
                sets = explaining(protocol, trace, result.outcome.step, museum)
                names = tuple(["+".join(some) for some in sets])
            judged.append(
                JudgedTrace(protocol=protocol, result=result, explained_by=names, trace=trace)
            )
    return JudgedRun(run=run, folder=folder, traces=tuple(judged))

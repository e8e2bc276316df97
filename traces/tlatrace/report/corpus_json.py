"""The result of a corpus validation as JSON data: for programs, and for the page."""

from __future__ import annotations

from typing import assert_never

from tlatrace.corpus.result import CorpusResult, Example, Rechecked, TraceVerdict
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, kind
from tlatrace.values import Json

__all__ = ["corpus_json"]


def corpus_json(result: CorpusResult, limit: int) -> dict[str, Json]:
    """Encode a result; at most `limit` diverging and as many undecided traces are listed."""
    figures, manifest = result.figures, result.manifest
    overall = result.verdict
    return {
        "corpus": str(result.folder),
        "spec": manifest.spec if manifest else None,
        "source": dict(manifest.source) if manifest else {},
        "verdict": kind(overall),
        "reason": overall.reason if isinstance(overall, Undecided) else None,
        "traces": {
            "total": len(result.verdicts),
            "conform": result.count("conforms"),
            "diverge": result.count("diverges"),
            "undecided": result.count("undecided"),
            "dead": len(result.dead),
        },
        "steps": {
            "total": figures.steps,
            "initial": figures.initial,
            "evaluated": figures.evaluated,
            "remembered": figures.remembered,
            "recalled": figures.recalled,
            "skipped": figures.skipped,
            "by_machine_code": figures.by_machine_code,
        },
        "distinct_transitions": figures.distinct,
        "distinct_is_exact": figures.distinct_is_exact,
        "repetition": round(figures.repetition, 3),
        "rechecked": _rechecked(result.rechecked),
        "actions": dict(result.actions),
        "actions_never_seen": list(result.unseen),
        "logged": None if result.logged is None else result.logged.to_json(),
        "faults": {
            name: {"strikes": fault.strikes, "traces": fault.traces}
            for name, fault in result.faults.items()
        },
        "diverging": [_trace(result, item) for item in result.of_kind("diverges")[:limit]],
        "undecided": [_trace(result, item) for item in result.of_kind("undecided")[:limit]],
        "dead": [_trace(result, item) for item in result.dead[:limit]],
        "examples": [_example(result, example) for example in result.examples],
        "problems": list(result.problems),
        "notes": list(result.notes),
        "seconds": {name: round(seconds, 2) for name, seconds in result.seconds.items()},
        "cpu_seconds": round(figures.cpu_seconds, 2),
        "worker_peak_mb": round(figures.worker_peak_mb, 1),
    }


def _rechecked(again: Rechecked | None) -> Json:
    if again is None:
        return None
    return {
        "accepted": again.accepted,
        "rejected": again.rejected,
        "left_out": again.left_out,
        "unanswered": again.unanswered,
        "all": again.everything,
    }


def _trace(result: CorpusResult, item: TraceVerdict) -> dict[str, Json]:
    data: dict[str, Json] = {"trace": item.trace_id, "seed": item.seed}
    match item.verdict:
        case Diverges(step=step, action=action, expected=expected, observed=observed):
            data |= {"step": step, "action": action, "expected": expected, "observed": observed}
        case Undecided(reason=reason):
            data |= {"reason": reason}
        case Conforms():
            pass
        case _ as unreachable:
            assert_never(unreachable)
    return {**data, "command": result.command_for(item.seed)}


def _example(result: CorpusResult, example: Example) -> dict[str, Json]:
    return {
        "trace": example.trace_id,
        "seed": example.seed,
        "step": example.step,
        "call": example.call,
        "why": example.why,
        "traces": example.traces,
        "changes": list(example.changes),
        "allowed": None if example.allowed is None else list(example.allowed),
        "note": example.note,
        "command": result.command_for(example.seed),
    }

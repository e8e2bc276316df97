"""Records that members of a DLedger group write of themselves, as processes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rocketha.recording.node_log import NodeLog, pull_log
from rocketproof.protocols import PROTOCOLS
from rocketproof.records_judge import judge_records
from tlatrace.judgement.verdict import Conforms, Verdict

__all__ = ["actions_that_conform", "judged", "logs_of", "records_of"]


def records_of(folder: Path, member: str) -> Path:
    """Return where a member writes."""
    return folder / f"{member}.records.jsonl"


def logs_of(folder: Path, members: Iterable[str]) -> tuple[NodeLog, ...]:
    """Return what these members have written, but for a line that has no end."""
    logs = []
    for name in members:
        data = records_of(folder, name).read_bytes()
        lines = data[: data.rfind(b"\n") + 1].splitlines(keepends=True)
        logs.append(pull_log(lines, name))
    return tuple(logs)


def judged(folder: Path, logs: Sequence[NodeLog]) -> Verdict:
    """Hold records against the specification."""
    plug = PROTOCOLS["dledger"]
    (result,) = judge_records(plug, folder, logs, plug.traces_of_records(logs))
    assert not isinstance(result.outcome, str), result.outcome
    return result.outcome


def actions_that_conform(folder: Path, logs: Sequence[NodeLog]) -> set[str]:
    """Hold records against the specification; return which actions there were."""
    verdict = judged(folder, logs)
    assert isinstance(verdict, Conforms), verdict
    (trace,) = PROTOCOLS["dledger"].traces_of_records(logs)
    return {str(event.action) for event in trace.events}

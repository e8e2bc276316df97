"""Does the model answer alike in every process?

Python orders sets of strings by a seed that every process draws anew (PYTHONHASHSEED). The same
steps are judged in processes with different seeds; verdicts, reasons and invariants must be equal
to the letter. A job is a file: a JSON array of `Seeded`; the answers are an array of its length, of
arrays with a text for each step.

This module is what the processes run: `python -m tlatrace.selfcheck.hash_seeds job.json`.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from tlatrace.judgement.transition import Failed, Judged, Transition
from tlatrace.oracle import load_model
from tlatrace.oracle.checker import Checker
from tlatrace.selfcheck.agreement import Agreement, Disagreement
from tlatrace.selfcheck.subjects import Subject
from tlatrace.tools.python import run_python
from tlatrace.values import canonical, canonical_state

__all__ = ["RunJob", "Seeded", "answers", "examine_hash_seeds", "seeded"]

_SHOWN: Final = 5


class Seeded(msgspec.Struct, frozen=True):
    """Steps of a specification, as every process gets them."""

    name: str
    module: str
    config: str
    libraries: tuple[str, ...]
    steps: tuple[tuple[str | None, str | None, str, str], ...]
    """Canonical texts: state before (null: an initial state is claimed), action, arguments, state
    after."""


RunJob: TypeAlias = Callable[[Path, int], str]
"""Runs a job under a hash seed; a parameter, so that tests can break it."""


def seeded(subject: Subject, steps: Sequence[Transition]) -> Seeded:
    """Write steps of a subject as texts."""
    return Seeded(
        name=subject.name,
        module=str(subject.module.resolve()),
        config=str(subject.config.resolve()),
        libraries=tuple([str(folder.resolve()) for folder in subject.libraries]),
        steps=tuple(
            [
                (
                    None if step.pre is None else canonical_state(step.pre),
                    step.action,
                    canonical(step.params),
                    canonical_state(step.post),
                )
                for step in steps
            ]
        ),
    )


def examine_hash_seeds(
    jobs: Sequence[Seeded],
    seeds: int,
    *,
    run_job: RunJob | None = None,
    on_stage: Callable[[str], None] | None = None,
) -> Agreement:
    """Have the steps judged under so many hash seeds, and compare with the first one's answers.

    Raises:
        ToolError: a process ends with an error, or does not answer every step.
    """
    started = time.monotonic()
    run = run_job or _run_job
    count = sum(len(job.steps) for job in jobs)
    first: list[list[str]] = []
    differing: dict[tuple[int, int], Disagreement] = {}
    with tempfile.TemporaryDirectory(prefix="rocketproof-seeds-") as folder:
        path = Path(folder) / "job.json"
        path.write_bytes(msgspec.json.encode(jobs))
        for seed in range(seeds):
            if on_stage is not None:
                on_stage(f"hash seeds: {seed:,} of {seeds:,}")
            found = msgspec.json.decode(run(path, seed), type=list[list[str]])
            first = first or found
            for at, job in enumerate(jobs):
                for number, (one, other) in enumerate(zip(first[at], found[at], strict=True)):
                    if one != other and (at, number) not in differing:
                        differing[at, number] = _differing(job, number, seed, one, other)
            assert [len(job.steps) for job in jobs] == [len(texts) for texts in found]
    shown = list(differing.values())[:_SHOWN]
    if len(differing) > len(shown):
        more = f"and {len(differing) - len(shown)} more"
        shown.append(Disagreement(question=more, tlc="", model=""))
    return Agreement(
        part="hash-seeds",
        subject=f"{len(jobs)} specifications",
        examined=count * seeds,
        facts={"steps": count, "seeds": seeds, "differing": len(differing)},
        disagreements=tuple(shown),
        seconds=time.monotonic() - started,
    )


def answers(job: Seeded) -> list[str]:
    """Judge the steps of a job in this process."""
    libraries = [Path(folder) for folder in job.libraries]
    checker = Checker(load_model(Path(job.module), Path(job.config), libraries=libraries))
    found: list[str] = []
    for pre, action, params, post in job.steps:
        before = None if pre is None else checker.state(pre)
        after = checker.state(post)
        step = checker.step(before, action, params, after)
        violated, reason = checker.invariants(after)
        found.append(_told(Judged(step=step, violated=violated, unevaluated=reason)))
    return found


def _told(judged: Judged) -> str:
    text = type(judged.step).__name__
    if isinstance(judged.step, Failed):
        text += f" ({judged.step.reason})"
    return f"{text}; violated: {', '.join(judged.violated)}; {judged.unevaluated}"


def _differing(job: Seeded, number: int, seed: int, one: str, other: str) -> Disagreement:
    pre, action, params, post = job.steps[number]
    question = f"{job.name}: {pre}  --{action}{params}-->  {post}"
    return Disagreement(question=question, tlc=f"seed 0: {one}", model=f"seed {seed}: {other}")


def _run_job(path: Path, seed: int) -> str:
    return run_python(__name__, [str(path)], hash_seed=seed)


if __name__ == "__main__":
    _jobs = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=list[Seeded])
    json.dump([answers(job) for job in _jobs], sys.stdout)

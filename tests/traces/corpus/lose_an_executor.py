"""Judge a corpus on two executors, one of which is killed meanwhile: `python -m ... FOLDER`.

A program of its own, because a process has one Spark session. It prints a JSON object.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from tests.traces.corpus.standalone import executors_of
from tests.traces.corpus.toy import ToyChecker, judge, record_badly, toy_subject
from tlatrace.corpus.checker import Checker
from tlatrace.corpus.generate import generate_corpus, make_here
from tlatrace.corpus.on_spark import STEPS_KEY, ScanDriver
from tlatrace.corpus.session import open_session
from tlatrace.corpus.validate import validate_corpus
from tlatrace.judgement.transition import Judgement

RUNS = 300


@dataclass(frozen=True, slots=True)
class SlowSource:
    """Opens a checker that takes its time, so that there is time to kill, and leaves marks."""

    marks: str

    def open(self) -> Checker[object]:
        return SlowChecker(ToyChecker(), self.marks)


@dataclass(slots=True)
class SlowChecker:
    """Waits at each step."""

    toy: ToyChecker
    marks: str

    def state(self, text: str, /) -> object:
        return self.toy.state(text)

    def step(
        self, pre: object | None, action: str | None, params: str, post: object, /
    ) -> Judgement:
        Path(self.marks, str(os.getppid())).touch()
        time.sleep(0.01)
        return self.toy.step(pre, action, params, post)

    def invariants(self, state: object, /) -> tuple[tuple[str, ...], str | None]:
        return self.toy.invariants(state)


def kill_one(marks: Path, killed: list[int]) -> None:
    """Kill an executor when both have judged something."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        time.sleep(0.2)
        if len(executors_of(os.getpid())) >= 2 and len(list(marks.iterdir())) >= 2:
            time.sleep(1.0)
            victim = executors_of(os.getpid())[0]
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)
            return


def main(folder: Path) -> None:
    """Make a corpus, judge it here and there, and compare."""
    corpus, marks = folder / "corpus", folder / "marks"
    marks.mkdir(parents=True)
    generate_corpus(make_here(1), corpus, record_badly, first_seed=0, runs=RUNS, source={})
    expected = judge(corpus)
    killed: list[int] = []
    subject = toy_subject()
    subject = type(subject)(
        module=subject.module,
        fingerprint=subject.fingerprint,
        source=SlowSource(str(marks)),
        actions=subject.actions,
    )
    with open_session(2, name="lost", master="local-cluster[2,1,1024]") as spark:
        spark.conf.set(STEPS_KEY, "200")
        killer = threading.Thread(target=kill_one, args=(marks, killed), daemon=True)
        killer.start()
        result = validate_corpus(corpus, subject, ScanDriver(spark))
        after = executors_of(os.getpid())
    answer = {
        "killed": len(killed),
        "still_there": bool(killed and killed[0] in after),
        "same_verdicts": result.verdicts == expected.verdicts,
        "same_actions": result.actions == expected.actions,
        "same_distinct": result.figures.distinct == expected.figures.distinct,
        "steps": result.figures.steps,
        "accounted": result.figures.accounted,
        "problems": list(result.problems),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

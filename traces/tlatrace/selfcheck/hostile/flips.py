"""Single bits of a corpus, turned: the verdicts stay what they are, or there are none.

After a flip there may be an error of ours, or traces that are undecided; never another verdict. The
corpus is one of the module `Anything`, with traces that conform and traces that diverge, and with a
store of what was accepted.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

from tlatrace.corpus.generate import generate_corpus, make_here
from tlatrace.corpus.local import LocalDriver
from tlatrace.corpus.manifest import finish, read_manifest
from tlatrace.corpus.model_source import ModelCheckerSource
from tlatrace.corpus.result import nothing_in
from tlatrace.corpus.validate import Subject, validate_corpus
from tlatrace.errors import CorpusError, TlatraceError
from tlatrace.judgement.verdict import Diverges, kind
from tlatrace.oracle import Model
from tlatrace.selfcheck.agreement import Agreement, Disagreement
from tlatrace.selfcheck.hostile.material import draw_state, load_anything
from tlatrace.trace import INIT, Event, Header, Trace

__all__ = ["AnyCorpus", "examine_flips"]

_RUNS: Final = 40
_STEPS: Final = 8
_CHUNK: Final = 5
_MOST: Final = 5
_TOLD_EVERY: Final = 100

Answers = Mapping[str, tuple[str, int | None]]
"""Trace -> what its verdict is, and where it diverges."""


@dataclass(frozen=True, slots=True)
class AnyCorpus:
    """A corpus, its store, and the model that judges it."""

    folder: Path
    store: Path
    subject: Subject

    @classmethod
    def made_in(cls, place: Path, model: Model) -> AnyCorpus:
        """Record some runs, judge them, and keep what is accepted."""
        subject = Subject(
            module=model.module,
            fingerprint=model.fingerprint,
            source=ModelCheckerSource(model.source),
            actions=(),
        )
        made = cls(place / "corpus", place / "store", subject)
        generate_corpus(
            make_here(1),
            made.folder,
            _record,
            first_seed=0,
            runs=_RUNS,
            source={},
            chunk_steps=_CHUNK,
        )
        made.answers()
        return made

    def answers(self) -> Answers:
        """Judge it, without changing the store.

        Raises:
            CorpusError: it is damaged.
        """
        if nothing_in(self.folder) is not None:
            raise CorpusError(self.folder, "is undecided as a whole")
        before = set(self.files())
        result = validate_corpus(self.folder, self.subject, LocalDriver(1), store=self.store)
        if any(file.is_relative_to(self.store) for file in before):
            for file in set(self.files()) - before:
                file.unlink()
        found = {}
        for item in result.verdicts:
            verdict = item.verdict
            step = verdict.step if isinstance(verdict, Diverges) else None
            found[item.trace_id] = kind(verdict), step
        if result.problems:
            found[""] = "undecided", None
        return found

    def files(self) -> list[Path]:
        """List the files of the corpus and of its store."""
        folders = (self.folder, self.store)
        return sorted([path for place in folders for path in place.rglob("*") if path.is_file()])

    def without_checksums(self) -> None:
        """Make it a corpus that says that it has none."""
        finish(self.folder, replace(read_manifest(self.folder), files=None))


def _record(seed: int) -> Trace:
    """Record a run; every third makes a step that is not allowed."""
    draw = Random(seed)
    state = dict(draw_state(draw, 0))
    events = [Event(step=0, action=INIT, state=dict(state))]
    for step in range(1, _STEPS):
        k = draw.randrange(1, 10)
        count = state["count"]
        assert isinstance(count, int)
        state["count"] = count + k + (seed % 3 == 0 and step == _STEPS - 2)
        events.append(Event(step=step, action="Count", params=(k,), state=dict(state)))
    return Trace(header=Header(spec="Anything"), events=tuple(events))


def examine_flips(cases: int, *, seed: int, on_stage: Callable[[str], None]) -> Agreement:
    """Turn `cases` bits, one at a time, of all files of a corpus.

    Raises:
        ToolError: there is no Java to read a specification with.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rocketproof-flips-") as scratch:
        corpus = AnyCorpus.made_in(Path(scratch), load_anything())
        tell = partial(_tell, on_stage, cases)
        counts, found = flip_bits(corpus, cases, Random(f"flips {seed}"), tell)
    return Agreement(
        part="flips",
        subject="a corpus and its store",
        examined=cases,
        facts=dict(sorted(counts.items())),
        disagreements=tuple(found),
        seconds=time.monotonic() - began,
    )


def _tell(on_stage: Callable[[str], None], cases: int, done: int) -> None:
    if done % _TOLD_EVERY == 0:
        on_stage(f"flips: {done:,} of {cases:,} bits")


def flip_bits(
    corpus: AnyCorpus, cases: int, draw: Random, tell: Callable[[int], None]
) -> tuple[Counter[str], list[Disagreement]]:
    """Turn bits and turn them back; each file is hit as often as it is large, none is left out."""
    right = corpus.answers()
    files = corpus.files()
    sizes = [file.stat().st_size for file in files]
    counts: Counter[str] = Counter()
    found: list[Disagreement] = []
    for case in range(cases):
        tell(case)
        file = files[case % len(files)] if case % 2 else draw.choices(files, sizes)[0]
        good = file.read_bytes()
        bit = draw.randrange(8 * len(good))
        damaged = bytearray(good)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(damaged)
        outcome, difference = _after(corpus, right)
        file.write_bytes(good)
        counts[outcome] += 1
        if difference is not None and len(found) < _MOST:
            name = file.relative_to(corpus.folder.parent)
            tlc, model = difference
            found.append(Disagreement(question=f"bit {bit} of {name}", tlc=tlc, model=model))
    return counts, found


def _after(corpus: AnyCorpus, right: Answers) -> tuple[str, tuple[str, str] | None]:
    """Judge the damaged corpus: what came out, and, where it is wrong, what should have."""
    try:
        answers = corpus.answers()
    except TlatraceError:
        return "errors", None
    except Exception as error:
        return "broken", ("an error of ours", f"{type(error).__name__}: {error}")
    if answers == right:
        return "the same", None
    for name in sorted({*answers, *right}):
        now = answers.get(name, ("missing", None))
        if now not in (right.get(name), ("undecided", None)) and "" not in answers:
            return "wrong", (f"{name} is {right.get(name)}", f"it is {now}")
    return "undecided", None

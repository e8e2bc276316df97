"""Judge a corpus by TLC alone, where the model compiler refuses the specification.

The corpus is read by the same kernels with a checker that accepts everything, which shows the
different transitions, and, after TLC has judged those, with a checker that looks up what TLC has
said. TLC judges about a thousand a second, so this is for corpora of a few runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from tlatrace.corpus.checksums import check_files
from tlatrace.corpus.examples import ExampleMaker
from tlatrace.corpus.findings import Findings, Texts
from tlatrace.corpus.fingerprint import digest
from tlatrace.corpus.kernel import KernelOptions
from tlatrace.corpus.lookup import AcceptSource, AnswerSource
from tlatrace.corpus.manifest import read_manifest
from tlatrace.corpus.recheck import Authority
from tlatrace.corpus.result import CorpusResult, nothing_in
from tlatrace.corpus.sample import texts_of
from tlatrace.corpus.text_reader import StateReader
from tlatrace.corpus.validate import Driver, Subject, validate_corpus
from tlatrace.corpus.worker import Work
from tlatrace.errors import CorpusError, ToolError, ValueFormatError
from tlatrace.heartbeat import heartbeat
from tlatrace.judgement.transition import Allowed, Failed, Judged, Judgement, Transition

__all__ = ["MAX_FOR_TLC", "validate_by_tlc"]

MAX_FOR_TLC: Final = 300_000
"""Different transitions; about five minutes."""


def validate_by_tlc(
    folder: Path,
    subject: Subject,
    driver: Driver,
    authority: Authority,
    *,
    make_example: ExampleMaker | None = None,
    limit: int = MAX_FOR_TLC,
) -> CorpusResult:
    """Judge all traces of a corpus by TLC; the subject's source is not used.

    Raises:
        CorpusError: as `validate_corpus`; also if there are too many different transitions.
        ToolError: a worker or TLC failed, or rows were lost on the way.
    """
    nothing = nothing_in(folder)
    if nothing is not None:
        return nothing
    manifest = read_manifest(folder)
    if manifest.files is not None:
        check_files(folder, manifest.files)
    options = KernelOptions(chunk_steps=manifest.chunk_steps, sample=limit + 1)
    findings = Findings()
    for batch in driver(folder, Work(source=AcceptSource(), options=options)):
        findings.add(batch)
    ranks = findings.chosen(limit + 1)
    if len(ranks) > limit:
        raise CorpusError(folder, f"has more than {limit:,} different transitions for TLC")
    texts = [texts for some in texts_of(folder, driver, options, ranks) for texts in some]
    answers = _answers(texts, authority)
    return validate_corpus(
        folder, replace(subject, source=answers), driver, make_example=make_example
    )


def _answers(shown: Sequence[Texts], authority: Authority) -> AnswerSource:
    reader = StateReader()
    steps: list[tuple[bytes, Judgement]] = []
    read: list[tuple[Texts, Transition]] = []
    for texts in shown:
        try:
            found = reader.transition(texts.pre, texts.action, texts.params, texts.post)
        except ValueFormatError as error:
            steps.append((texts.key, Failed(error.reason)))
        else:
            read.append((texts, found))
    judged: Sequence[Judged] = ()
    if read:
        with heartbeat(f"TLC judges {len(read):,} transitions"):
            judged = authority([transition for _, transition in read])
    if len(judged) != len(read):
        raise ToolError("TLC", f"answered {len(judged)} of {len(read)} transitions")
    states: dict[bytes, tuple[tuple[str, ...], str | None]] = {}
    for (texts, _), answer in zip(read, judged, strict=True):
        if not isinstance(answer.step, Allowed):
            steps.append((texts.key, answer.step))
        elif answer.violated or answer.unevaluated is not None:
            states[digest(texts.post)] = answer.violated, answer.unevaluated
    return AnswerSource(tuple(steps), tuple([(key, *what) for key, what in sorted(states.items())]))

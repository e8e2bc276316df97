"""Add up what was found in the corpora of a folder, which differ in their constants."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tlatrace.corpus.corpora import sum_of_corpora
from tlatrace.corpus.result import CorpusResult, Example, FaultCount, Figures, Rechecked
from tlatrace.logged import together

__all__ = ["sum_of_results"]


def sum_of_results(folder: Path, results: Sequence[CorpusResult]) -> CorpusResult:
    """Add up results, of which there is one at least; each trace is in one of them.

    An action is unseen if no corpus with a step shows it. TLC's word is there if it was asked about
    each corpus.
    """
    manifests = [result.manifest for result in results if result.manifest is not None]
    logged = [result.logged for result in results if result.logged is not None]
    again = [result.rechecked for result in results if result.rechecked is not None]
    verdicts = [item for result in results for item in result.verdicts]
    unseen = [set(result.unseen) for result in results if result.figures.steps]
    actions: Counter[str] = Counter()
    seconds: defaultdict[str, float] = defaultdict(float)
    for result in results:
        actions.update(result.actions)
        for phase, taken in result.seconds.items():
            seconds[phase] += taken
    note = f"judged as {len(results)} corpora, of one set of constants each"
    return CorpusResult(
        folder=folder,
        manifest=sum_of_corpora(manifests) if manifests else None,
        verdicts=tuple(sorted(verdicts, key=lambda item: item.trace_id)),
        figures=_sum_of_figures([result.figures for result in results]),
        actions=dict(sorted(actions.items())),
        unseen=tuple(sorted(set.intersection(*unseen))) if unseen else (),
        logged=together(logged) if logged else None,
        faults=_sum_of_faults(results),
        examples=_sum_of_examples(results),
        problems=tuple(f"{one.folder.name}: {text}" for one in results for text in one.problems),
        notes=(note, *dict.fromkeys(note for result in results for note in result.notes)),
        rechecked=_sum_of_rechecked(again) if len(again) == len(results) else None,
        seconds=seconds,
    )


def _sum_of_figures(figures: Sequence[Figures]) -> Figures:
    return Figures(
        steps=sum(each.steps for each in figures),
        initial=sum(each.initial for each in figures),
        evaluated=sum(each.evaluated for each in figures),
        remembered=sum(each.remembered for each in figures),
        recalled=sum(each.recalled for each in figures),
        skipped=sum(each.skipped for each in figures),
        distinct=sum(each.distinct for each in figures),
        distinct_is_exact=all(each.distinct_is_exact for each in figures),
        by_machine_code=sum(each.by_machine_code for each in figures),
        has_machine_code=any(each.has_machine_code for each in figures),
        cpu_seconds=sum(each.cpu_seconds for each in figures),
        worker_peak_mb=max(each.worker_peak_mb for each in figures),
    )


def _sum_of_faults(results: Sequence[CorpusResult]) -> dict[str, FaultCount]:
    faults: dict[str, FaultCount] = {}
    for result in results:
        for name, found in result.faults.items():
            before = faults.get(name, FaultCount(strikes=0, traces=0))
            faults[name] = FaultCount(
                strikes=before.strikes + found.strikes, traces=before.traces + found.traces
            )
    return dict(sorted(faults.items()))


def _sum_of_examples(results: Sequence[CorpusResult]) -> tuple[Example, ...]:
    """Keep one example of those that end in the same way, the largest group first."""
    examples: dict[tuple[str, str], Example] = {}
    for example in (example for result in results for example in result.examples):
        group = example.call.partition("(")[0], example.why
        first = examples.get(group)
        traces = example.traces + (first.traces if first else 0)
        examples[group] = replace(first or example, traces=traces)
    return tuple(sorted(examples.values(), key=lambda example: -example.traces))


def _sum_of_rechecked(again: Sequence[Rechecked]) -> Rechecked:
    reasons = [each.reason for each in again if each.reason is not None]
    return Rechecked(
        accepted=sum(each.accepted for each in again),
        rejected=sum(each.rejected for each in again),
        left_out=sum(each.left_out for each in again),
        unanswered=sum(each.unanswered for each in again),
        reason=reasons[0] if reasons else None,
        everything=all(each.everything for each in again),
    )

"""The result of a corpus validation as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tlatrace.corpus.result import CorpusResult, Figures, TraceVerdict
from tlatrace.harmless import harmless
from tlatrace.judgement.verdict import Diverges, Undecided

__all__ = ["corpus_text", "source_text"]

_LABEL: Final = 10
_GAP: Final = "  "
_IN_A_LOG: Final = 100
_NARROWEST: Final = 20


def corpus_text(result: CorpusResult, limit: int, width: int | None = None) -> str:
    """Write at most `limit` diverging and as many undecided traces, and the summary.

    Lists of counts are broken at `width`, for a log at a width that is read well; the rows of
    tables, with commands, are not broken. Names and values come from traces: each line is made
    harmless.
    """
    counts = max(_NARROWEST, (width or _IN_A_LOG) - _LABEL - len(_GAP))
    lines = [harmless(line) for line in _lines(result, limit, counts)]
    return "\n".join(lines) + "\n"


def source_text(result: CorpusResult) -> str:
    """Say where the traces come from."""
    if result.manifest is None:
        return "nothing"
    source = result.manifest.source
    spec = result.manifest.spec or "no specification"
    if source.get("kind") == "import":
        return f"{result.manifest.traces:,} imported traces of {spec}"
    text = f"{result.manifest.traces:,} runs of {spec}"
    first, runs = source.get("first_seed"), source.get("runs", result.manifest.traces)
    if isinstance(first, int) and isinstance(runs, int) and result.manifest.traces:
        if runs != result.manifest.traces:  # a run may be several traces
            text = f"{result.manifest.traces:,} traces of {spec}"
        text += f", seeds {first} to {first + runs - 1}"
    bugs = source.get("bugs")
    if isinstance(bugs, list) and bugs:
        text += f", with {', '.join(map(str, bugs))}"
    return text


def _lines(result: CorpusResult, limit: int, width: int) -> Iterator[str]:
    listed = [*_listed(result, limit), *_examples(result)]
    if listed:  # with an empty line at its begin: it belongs behind
        yield from [*listed[1:], ""]
    yield from _summary(result, width)


def _summary(result: CorpusResult, width: int) -> Iterator[str]:
    figures = result.figures
    yield _row("corpus", f"{result.folder}: {source_text(result)}")
    counts = [result.count("conforms"), result.count("diverges"), result.count("undecided")]
    yield _row("verdicts", "{:,} conform, {:,} diverge, {:,} undecided".format(*counts))
    if result.dead:
        one = "1 run" if len(result.dead) == 1 else f"{len(result.dead):,} runs"
        yield _row("dead", f"{one} did not come back to life when the faults ended")
    if figures.steps:
        yield _row("steps", f"{figures.steps:,} = {' + '.join(_parts(figures))}")
        if figures.has_machine_code:
            rest = figures.steps - figures.skipped - figures.by_machine_code
            yield _row("judged", f"{figures.by_machine_code:,} by machine code, {rest:,} by Python")
        about = "" if figures.distinct_is_exact else "about "
        yield _row(
            "distinct", f"{about}{figures.distinct:,} transitions, "
            f"each {figures.repetition:.2f} times in the corpus"
        )  # fmt: skip
        yield from _rechecked(result)
        yield from _actions(result, width)
    if result.faults:
        faults = [f"{name} {fault.strikes:,}" for name, fault in result.faults.items()]
        yield from _wrapped("faults", faults, width)
    if result.seconds:
        times = [f"{name} {seconds:.1f}" for name, seconds in result.seconds.items()]
        yield from _wrapped("seconds", times, width)
        yield from _speed(result)
    for problem in result.problems:
        yield _row("problem", problem)
    for note in result.notes:
        yield _row("note", note)


def _parts(figures: Figures) -> Iterator[str]:
    yield f"{figures.initial:,} initial"
    yield f"{figures.evaluated:,} evaluated"
    if figures.remembered:
        yield f"{figures.remembered:,} remembered"
    if figures.recalled:
        yield f"{figures.recalled:,} recalled from the store"
    if figures.skipped:
        yield f"{figures.skipped:,} skipped"


def _rechecked(result: CorpusResult) -> Iterator[str]:
    again = result.rechecked
    if again is None:
        return
    which = "all of them" if again.everything else "a random sample"
    text = (
        f"agrees on {again.accepted:,} accepted transitions, {which}, "
        f"and on {again.rejected:,} rejected ones"
    )
    if again.left_out:
        text += f"; {again.left_out:,} more were rejected and not checked again"
    yield _row("TLC", text)


def _speed(result: CorpusResult) -> Iterator[str]:
    figures, seconds = result.figures, result.seconds.get("judge")
    if seconds and figures.cpu_seconds:
        yield _row(
            "speed", f"{figures.steps / seconds:,.0f} steps/s, "
            f"{figures.cpu_seconds / figures.steps * 1e6:.1f} µs of CPU a step"
            + (f", {figures.worker_peak_mb:,.0f} MB a worker" if figures.worker_peak_mb else "")
        )  # fmt: skip


def _actions(result: CorpusResult, width: int) -> Iterator[str]:
    by_count = sorted(result.actions.items(), key=lambda item: (-item[1], item[0]))
    counts = [f"{name or '(no name)'} {count:,}" for name, count in by_count]
    yield from _wrapped("actions", counts, width)
    if result.logged is not None:
        yield _row("logged", result.logged.text().removesuffix(" logged"))
    if result.unseen:
        yield _row("never seen", ", ".join(result.unseen))


def _listed(result: CorpusResult, limit: int) -> Iterator[str]:
    diverging, undecided = result.of_kind("diverges"), result.of_kind("undecided")
    if diverging:
        yield ""
        yield from _table(
            ("diverges", "seed", "step", "action", "make it again with"),
            [_diverging_row(result, item) for item in diverging[:limit]],
        )
        yield from _more(len(diverging) - limit)
    if result.dead:
        yield ""
        yield from _table(
            ("stays dead", "seed", "make it again with"),
            [_dead_row(result, item) for item in result.dead[:limit]],
        )
        yield from _more(len(result.dead) - limit)
    if undecided:
        yield ""
        yield from _table(
            ("undecided", "seed", "why"),
            [_undecided_row(item) for item in undecided[:limit]],
        )
        yield from _more(len(undecided) - limit)


def _diverging_row(result: CorpusResult, item: TraceVerdict) -> tuple[str, ...]:
    verdict = item.verdict
    assert isinstance(verdict, Diverges), "chosen by kind"
    command = result.command_for(item.seed) or ""
    return (
        item.trace_id,
        _seed(item.seed),
        str(verdict.step),
        verdict.action or "(no name)",
        command,
    )


def _dead_row(result: CorpusResult, item: TraceVerdict) -> tuple[str, ...]:
    return item.trace_id, _seed(item.seed), result.command_for(item.seed) or ""


def _undecided_row(item: TraceVerdict) -> tuple[str, ...]:
    assert isinstance(item.verdict, Undecided), "chosen by kind"
    return item.trace_id, _seed(item.seed), item.verdict.reason


def _examples(result: CorpusResult) -> Iterator[str]:
    for example in result.examples:
        yield ""
        ends = "1 trace ends so" if example.traces == 1 else f"{example.traces:,} traces end so"
        yield f"{example.trace_id}, step {example.step}, {example.call}: {example.why} ({ends})"
        for change in example.changes:
            yield f"    changes  {change}"
        for allowed in example.allowed or ():
            yield f"    allowed  {allowed}"
        if example.note:
            yield f"    note     {example.note}"


def _seed(seed: int | None) -> str:
    return "-" if seed is None else str(seed)


def _more(count: int) -> Iterator[str]:
    if count > 0:
        yield f"... and {count:,} more (--limit shows them)"


def _row(label: str, text: str) -> str:
    return f"{label:<{_LABEL}}{_GAP}{text}"


def _wrapped(label: str, parts: Sequence[str], width: int) -> Iterator[str]:
    line = ""
    for part in parts:
        if line and len(line) + len(", ,") + len(part) > width:
            yield _row(label, line + ",")
            label, line = "", ""
        line += (", " if line else "") + part
    yield _row(label, line)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head))]
    for row in [head, *rows]:
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)]
        yield "  ".join(cells).rstrip()

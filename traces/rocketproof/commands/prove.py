"""`rocketproof prove`: theorems about the protocols, for all numbers."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import click

from rocketproof.output import command_with, print_text
from rocketproof.progress_display import ProgressDisplay, open_progress_display
from rocketproof.proving import Line, Outcome, TheoremResult, prove_theorem
from rocketproof.theorems import THEOREMS
from tlatrace.heartbeat import duration
from tlatrace.proofs import DEFAULT_LIMITS, Limits

__all__ = ["command"]

_EXIT_CODES: Final[dict[Outcome, int]] = {"proved": 0, "refuted": 1, "undecided": 3}


@click.command(epilog="Example:  rocketproof prove SyncStateSet --brokers 5")
@click.argument("theorem", required=False, type=click.Choice(sorted(THEOREMS)))
@click.option(
    "--entries",
    type=click.IntRange(2, 8),
    help="ConsistentPoint: the longest epoch cache (else 5); the time grows threefold with each.",
)
@click.option(
    "--brokers",
    type=click.IntRange(2, 9),
    help="SyncStateSet, LockQuorum, MetaMonotone: the largest group (else 5, 7, 4); smaller ones "
    "are proved, too.",
)
@click.option(
    "--nodes",
    type=click.IntRange(3, 9),
    help="OneLeaderPerTerm, LeaderCompleteness: the largest group (else 5); smaller ones, too.",
)
@click.option(
    "--rlimit",
    type=click.IntRange(1, 2**32 - 1),
    default=DEFAULT_LIMITS.resources,
    show_default=True,
    help="z3's own steps for each question, the same in each run; 4,000,000 take about a second.",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0.001),
    default=DEFAULT_LIMITS.seconds,
    show_default=True,
    help="Seconds for each question: far, because another run may need more of them.",
)
@click.option("--verbose", is_flag=True, help="Print every claim and lemma, too.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON, nothing else.")
@click.pass_context
def command(
    ctx: click.Context,
    theorem: str | None,
    entries: int | None,
    brokers: int | None,
    nodes: int | None,
    rlimit: int,
    timeout_s: float,
    verbose: bool,
    as_json: bool,
) -> None:
    """Prove a theorem about the protocols with z3, or all of them.

    A claim counts as proved when its negation has no solution and its assumptions have one. After
    each theorem variants of it are tried that are false: z3 must refute them. Printed is what
    became of each theorem, and why where it is not proved; with --verbose all claims and lemmas.

    Exit codes: 0 proved, 1 refuted, 3 no answer, or a false variant was not refuted. The limit is
    in z3's own steps, so that the answer is the same in each run.
    """
    limits = Limits(resources=rlimit, seconds=timeout_s)
    proved, began = list[TheoremResult](), time.monotonic()
    chosen = [name for name in THEOREMS if theorem in (None, name)]
    asked = {"brokers": brokers, "entries": entries, "nodes": nodes, None: None}
    with open_progress_display("starting z3", quiet=as_json) as display:
        lines = _Lines(display, verbose=verbose and not as_json)
        for number, name in enumerate(chosen, start=1):
            start = time.monotonic()
            one = THEOREMS[name]
            result = prove_theorem(name, one, asked[one.unit], limits, lines.show, display.doing)
            proved.append(result)
            display.line(
                f"{number}/{len(chosen)} {_text(result)}, {time.monotonic() - start:.1f} s"
            )
    if as_json:
        click.echo(json.dumps([one.as_json for one in proved], indent=2))
    else:
        more = "" if verbose else command_with("--verbose")
        print_text("\n".join(_summary(proved, time.monotonic() - began, more)))
    worst: Outcome = "proved"
    for outcome in ("undecided", "refuted"):
        if outcome in [one.outcome for one in proved]:
            worst = outcome
    ctx.exit(_EXIT_CODES[worst])


class _Lines:
    """Prints the lines of a proof: all of them, or what is wrong, below what it belongs to."""

    def __init__(self, display: ProgressDisplay, *, verbose: bool) -> None:
        self._display, self._verbose = display, verbose
        self._above: list[Line] = []

    def show(self, line: Line) -> None:
        """Print a line if it is to be seen."""
        self._above = [one for one in self._above if one.depth < line.depth]
        if not self._verbose and not line.wrong:
            self._above.append(line)
            return
        for one in (*self._above, line):
            self._display.line(f"{'  ' * one.depth}{one.text}")
        self._above = []


def _text(result: TheoremResult) -> str:
    return f"{result.name}: {result.outcome}: {result.counts}"


def _summary(proved: Sequence[TheoremResult], seconds: float, more: str) -> Iterator[str]:
    """Say what is not proved, how much is, how long it took, and what shows more."""
    yield from [_text(result) for result in proved if result.outcome != "proved"]
    outcomes = Counter(result.outcome for result in proved)
    counts = ", ".join(f"{outcomes[one]} {one}" for one in _EXIT_CODES if outcomes[one])
    what = "1 theorem" if len(proved) == 1 else f"{len(proved)} theorems"
    yield f"{what}: {counts}; {duration(seconds)}"
    if more:
        yield f"more:  {more}"

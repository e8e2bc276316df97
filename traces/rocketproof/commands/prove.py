"""`rocketproof prove`: theorems about the protocols, for all numbers."""

from __future__ import annotations

import json
from typing import Final

import click
from rich.console import Console

from rocketproof.proving import Line, Outcome, prove_inductive, prove_rule
from rocketproof.theorems import INDUCTIONS, THEOREMS
from tlatrace.proofs import DEFAULT_LIMITS, Limits

__all__ = ["command"]

_EXIT_CODES: Final[dict[Outcome, int]] = {"proved": 0, "refuted": 1, "undecided": 3}


@click.command(epilog="Example:  rocketproof prove SyncStateSet --brokers 5")
@click.argument("theorem", required=False, type=click.Choice(sorted([*THEOREMS, *INDUCTIONS])))
@click.option(
    "--entries",
    type=click.IntRange(2, 8),
    default=5,
    show_default=True,
    help="ConsistentPoint: the longest epoch cache; the time grows about fivefold with each.",
)
@click.option(
    "--brokers",
    type=click.IntRange(2, 9),
    help="SyncStateSet, LockQuorum: the largest group (else 5, 7); smaller ones are proved, too.",
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
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON, nothing else.")
@click.pass_context
def command(
    ctx: click.Context,
    theorem: str | None,
    entries: int,
    brokers: int | None,
    rlimit: int,
    timeout_s: float,
    as_json: bool,
) -> None:
    """Prove a theorem about the protocols with z3, or all of them.

    A claim counts as proved when its negation has no solution and its assumptions have one. After
    each theorem a variant of it is tried that is false: z3 must refute it.

    Exit codes: 0 proved, 1 refuted, 3 no answer, or a false variant was not refuted. The limit is
    in z3's own steps, so that the answer is the same in each run.
    """
    console = Console(highlight=False, soft_wrap=True, quiet=as_json)

    def show(line: Line) -> None:
        console.print(f"{'  ' * line.depth}{line.text}", markup=False)

    limits = Limits(resources=rlimit, seconds=timeout_s)
    proved = []
    for name, rule in THEOREMS.items():
        if theorem in (None, name):
            proved.append(prove_rule(name, rule, entries, limits, show))
    for name, inductive in INDUCTIONS.items():
        if theorem in (None, name):
            proved.append(prove_inductive(name, inductive, brokers, limits, show))
    if as_json:
        click.echo(json.dumps([one.as_json for one in proved], indent=2))
    outcomes = [one.outcome for one in proved]
    worst: Outcome = "proved"
    for outcome in ("undecided", "refuted"):
        if outcome in outcomes:
            worst = outcome
    ctx.exit(_EXIT_CODES[worst])

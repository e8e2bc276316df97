"""`rocketproof prove`: theorems about the protocols, for all numbers."""

from __future__ import annotations

import json
from typing import Final

import click
from rich.console import Console

from rocketproof.proving import Line, Outcome, prove_inductive, prove_rule
from rocketproof.theorems import INDUCTIONS, THEOREMS

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
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0.001),
    default=60.0,
    show_default=True,
    help="Seconds for each question to z3.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON, nothing else.")
@click.pass_context
def command(
    ctx: click.Context,
    theorem: str | None,
    entries: int,
    brokers: int | None,
    timeout_s: float,
    as_json: bool,
) -> None:
    """Prove a theorem about the protocols with z3, or all of them.

    A claim counts as proved when its negation has no solution and its assumptions have one. After
    each theorem a variant of it is tried that is false: z3 must refute it.

    Exit codes: 0 proved, 1 refuted, 3 no answer in time, or a false variant was not refuted.
    """
    console = Console(highlight=False, soft_wrap=True, quiet=as_json)

    def show(line: Line) -> None:
        console.print(f"{'  ' * line.depth}{line.text}", markup=False)

    proved = []
    for name, rule in THEOREMS.items():
        if theorem in (None, name):
            proved.append(prove_rule(name, rule, entries, timeout_s, show))
    for name, inductive in INDUCTIONS.items():
        if theorem in (None, name):
            proved.append(prove_inductive(name, inductive, brokers, timeout_s, show))
    if as_json:
        click.echo(json.dumps([one.as_json for one in proved], indent=2))
    outcomes = [one.outcome for one in proved]
    worst: Outcome = "proved"
    for outcome in ("undecided", "refuted"):
        if outcome in outcomes:
            worst = outcome
    ctx.exit(_EXIT_CODES[worst])

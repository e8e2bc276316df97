"""`rocketproof prove`: theorems about the protocols, for all numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, assert_never

import click
from rich.console import Console
from rich.table import Table

from rocketproof.theorems import THEOREMS
from rocketproof.theorems.consistent_point import instance_of
from tlatrace.proofs import Answer, Proof, Proved, Refuted, Theorem, Unknown, prove
from tlatrace.values import Json

__all__ = ["command"]

_REFUTED: Final = 1
_UNDECIDED: Final = 3


@click.command(epilog="Example:  rocketproof prove ConsistentPoint --entries 5")
@click.argument("theorem", required=False, type=click.Choice(sorted(THEOREMS)))
@click.option(
    "--entries",
    type=click.IntRange(2, 8),
    default=5,
    show_default=True,
    help="Length of the longest epoch cache; the time grows about fivefold with each.",
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
    ctx: click.Context, theorem: str | None, entries: int, timeout_s: float, as_json: bool
) -> None:
    """Prove a theorem about the protocols with z3, or all of them.

    A claim counts as proved when its negation has no solution and its assumptions have one.

    Exit codes: 0 proved, 1 refuted, 3 no answer in time.
    """
    console = Console(highlight=False)
    proofs: list[tuple[Theorem, Proof]] = []
    for name in [theorem] if theorem else sorted(THEOREMS):
        stated = THEOREMS[name](entries)
        with console.status(f"proving {name}"):
            proof = prove(stated, timeout_s=timeout_s)
        proofs.append((stated, proof))
        if not as_json:
            _show(console, stated, proof)
    if as_json:
        click.echo(json.dumps([_as_json(stated, proof) for stated, proof in proofs], indent=2))
    ctx.exit(_exit_code([proof for _, proof in proofs]))


def _exit_code(proofs: Sequence[Proof]) -> int:
    if any(proof.is_refuted for proof in proofs):
        return _REFUTED
    return 0 if proofs and all(proof.is_proved for proof in proofs) else _UNDECIDED


def _show(console: Console, theorem: Theorem, proof: Proof) -> None:
    console.print(f"Theorem {theorem.name}: {theorem.statement}\n", markup=False)
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for assumption in theorem.assumptions:
        table.add_row("assume", assumption.name, assumption.words)
    for claim, checked in zip(theorem.claims, proof.claims, strict=True):
        table.add_row("claim", claim.name, claim.words)
        table.add_row("", "", f"{_answer_text(checked.answer)}, {checked.seconds:.1f} s")
    if proof.example is not None:
        table.add_row("example", "", str(instance_of(proof.example)))
    table.add_row("not shown", "", theorem.not_shown)
    console.print(table)


def _answer_text(answer: Answer) -> str:
    match answer:
        case Proved():
            return "proved: its negation has no solution"
        case Refuted(counterexample=counterexample):
            return f"REFUTED: {instance_of(counterexample)}"
        case Unknown(reason=reason):
            return f"UNDECIDED: {reason}"
        case _ as unreachable:
            assert_never(unreachable)


def _as_json(theorem: Theorem, proof: Proof) -> Json:
    return {
        "theorem": theorem.name,
        "statement": theorem.statement,
        "assumptions": [a.name for a in theorem.assumptions],
        "claims": [
            {
                "name": checked.claim,
                "answer": _answer_text(checked.answer).partition(":")[0].lower(),
                "seconds": round(checked.seconds, 3),
                "detail": _answer_text(checked.answer),
            }
            for checked in proof.claims
        ],
        "example": None if proof.example is None else dict(proof.example),
        "seconds": round(proof.seconds, 3),
    }

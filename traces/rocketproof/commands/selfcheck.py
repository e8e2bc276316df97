"""`rocketproof selfcheck`: does the compiled model agree with TLC on this machine?"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

import click
from rich.console import Console
from rich.markup import escape

from tlatrace.errors import SpecError
from tlatrace.extras import installed, need
from tlatrace.heartbeat import heartbeat
from tlatrace.judgement.verdict import exit_code, kind
from tlatrace.selfcheck.agreement import Agreement, Part, verdict_of
from tlatrace.selfcheck.corruption import Corrupted
from tlatrace.selfcheck.examine import Effort, examine_expressions, examine_subject
from tlatrace.selfcheck.hash_seeds import Seeded, examine_hash_seeds, seeded
from tlatrace.selfcheck.random_expressions.examine import examine_random_expressions
from tlatrace.selfcheck.random_steps.examine import examine_random_steps
from tlatrace.selfcheck.subjects import Subject, manifest_subjects, packaged_subjects
from tlatrace.terminal import open_console, open_table
from tlatrace.tools.manifest import read_manifest
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.values import Json

__all__ = ["command"]

_PARTS: Final[tuple[Part, ...]] = (
    "graphs",
    "expressions",
    "corrupted",
    "random-steps",
    "random-expressions",
    "hash-seeds",
    "native",
    "hostile",
    "flips",
)
_OF_SUBJECTS: Final[frozenset[Part]] = frozenset({"graphs", "corrupted", "hash-seeds", "native"})
_OF_CORPORA: Final[frozenset[Part]] = frozenset({"hostile", "flips"})
_SMALL: Final = "small"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """How much is drawn at random, and where what disagrees is written to."""

    steps: int = 20_000
    expressions: int = 4_000
    cases: int = 20_000
    flips: int = 300
    seed: int = 0
    reproducers: Path = Path("selfcheck-disagreements")


@click.command(epilog="Example:  rocketproof selfcheck --spec TwoQueues --only graphs")
@click.option(
    "--spec",
    "specs",
    multiple=True,
    metavar="NAME",
    help="This specification only; a model of the manifest is PROTOCOL:MODEL. Repeatable.",
)
@click.option(
    "--only",
    "only",
    multiple=True,
    type=click.Choice(_PARTS),
    help="This comparison only; repeatable.",
)
@click.option(
    "--corrupted",
    type=click.IntRange(min=1),
    default=Effort().corrupted,
    show_default=True,
    help="Corrupted steps of each specification.",
)
@click.option(
    "--failed",
    type=click.IntRange(min=0),
    default=Effort().failed,
    show_default=True,
    help="Steps without a value to ask TLC about, of each specification; two seconds each.",
)
@click.option(
    "--native",
    type=click.IntRange(min=1),
    default=Effort().native,
    show_default=True,
    help="Corrupted steps of each specification that machine code is asked about.",
)
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    default=_Drawn().steps,
    show_default=True,
    help="Steps of random specifications.",
)
@click.option(
    "--expressions",
    type=click.IntRange(min=1),
    default=_Drawn().expressions,
    show_default=True,
    help="Random expressions.",
)
@click.option(
    "--hash-seeds",
    type=click.IntRange(min=2),
    default=3,
    show_default=True,
    help="Processes, each with an order of sets of its own, that judge the corrupted steps.",
)
@click.option(
    "--cases",
    type=click.IntRange(min=10),
    default=_Drawn().cases,
    show_default=True,
    help="Hostile texts and rows; besides them a tenth as many trace files.",
)
@click.option(
    "--flips",
    type=click.IntRange(min=1),
    default=_Drawn().flips,
    show_default=True,
    help="Bits of a corpus and its store that are turned, one at a time.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=_Drawn().seed,
    show_default=True,
    help="Another number draws other specifications and expressions.",
)
@click.option(
    "--reproducers",
    type=click.Path(path_type=Path, file_okay=False),
    default=_Drawn().reproducers,
    show_default=True,
    help="Folder for a small case of each kind of disagreement on what is drawn at random.",
)
@click.option("--spec-root", type=click.Path(path_type=Path), help="Folder of specifications.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON, nothing else.")
@click.pass_context
def command(
    ctx: click.Context,
    specs: tuple[str, ...],
    only: tuple[str, ...],
    corrupted: int,
    failed: int,
    native: int,
    steps: int,
    expressions: int,
    hash_seeds: int,
    cases: int,
    flips: int,
    seed: int,
    reproducers: Path,
    spec_root: Path | None,
    as_json: bool,
) -> None:
    """Compare the compiled model with TLC.

    \b
    graphs              whole state graphs of specifications
    expressions         values of expressions, and what has none
    corrupted           steps of the specifications with one place changed
    random-steps        steps of random specifications; TLC's own lists of
                        successors judge the model, and TLC as judge of batches
    random-expressions  random expressions; what is documented to differ is
                        counted by its category
    hash-seeds          the corrupted steps in processes with other hash seeds,
                        without TLC
    native              what machine code accepts of right and of corrupted steps,
                        and of states: the compiled model judges it, without TLC;
                        left out where LLVM is not installed
    hostile             changed texts, rows and trace files; the plain reading
                        judges the readers of corpora, without TLC
    flips               corpora of which a bit is turned: no other verdict, without
                        TLC

    It takes some minutes. The small specifications and the expressions come with the package; the
    models named "small" come from the manifest, where there is one.

    Exit codes: 0 they agree, 1 they do not, 2 an error, 3 nothing was examined.
    """
    parts = cast("tuple[Part, ...]", only)  # click has checked the names
    if not parts:
        parts = tuple([part for part in _PARTS if part != "native" or installed("native")])
    subjects = _chosen(specs, spec_root, parts)
    effort = Effort(corrupted=corrupted, failed=failed, native=native)
    drawn = _Drawn(
        steps=steps,
        expressions=expressions,
        cases=cases,
        flips=flips,
        seed=seed,
        reproducers=reproducers,
    )
    agreements = _shown(
        lambda tell: itertools.chain(
            () if specs else _of_drawn(drawn, parts, tell),
            _of_subjects(subjects, parts, effort, hash_seeds, tell),
        ),
        as_json=as_json,
    )
    if as_json:
        click.echo(json.dumps(_as_json(agreements), indent=2))
    else:
        _print(agreements)
    ctx.exit(exit_code(verdict_of(agreements)))


def _shown(
    examine: Callable[[Callable[[str], None]], Iterable[Agreement]], *, as_json: bool
) -> list[Agreement]:
    """Examine, and say what is done meanwhile."""
    console = Console(stderr=True)
    agreements: list[Agreement] = []
    with heartbeat("starting") as doing, console.status("starting") as status:

        def tell(stage: str) -> None:
            doing(stage)
            status.update(escape(stage))

        for agreement in examine(tell):
            agreements.append(agreement)
            if not console.is_terminal and not as_json:
                click.echo(f"{agreement.part} {agreement.subject}: {_outcome(agreement)}", err=True)
    return agreements


def _chosen(names: Sequence[str], spec_root: Path | None, parts: Collection[Part]) -> list[Subject]:
    """Find the subjects by name, or all that are checked by default, and what the parts need."""
    if _OF_CORPORA & set(parts) and not names:
        need("corpus")
    if "native" in parts:
        need("native")
    known = {subject.name: subject for subject in packaged_subjects()}
    default = list(known.values())
    try:
        manifest = read_manifest(find_spec_root(spec_root))
    except SpecError:
        if spec_root is not None:
            raise
    else:
        every = manifest_subjects(manifest, [model.name for model in manifest.models])
        known.update({subject.name: subject for subject in every})
        default += manifest_subjects(manifest, [_SMALL])
    unknown = sorted(set(names) - set(known))
    if unknown:
        listed = ", ".join(known)
        raise click.UsageError(f"no such specification: {', '.join(unknown)} (known: {listed})")
    return [known[name] for name in names] if names else default


def _of_drawn(
    drawn: _Drawn, parts: Collection[Part], tell: Callable[[str], None]
) -> Iterator[Agreement]:
    """Examine what belongs to no specification by name."""
    if "expressions" in parts:
        yield examine_expressions(lambda stage: tell(f"expressions: {stage}"))
    if "random-steps" in parts:
        yield examine_random_steps(
            drawn.steps, seed=drawn.seed, reproducers=drawn.reproducers, on_stage=tell
        )
    if "random-expressions" in parts:
        yield examine_random_expressions(
            drawn.expressions, seed=drawn.seed, reproducers=drawn.reproducers, on_stage=tell
        )
    if "hostile" in parts:
        # here: Arrow takes half a second
        from tlatrace.selfcheck.hostile.examine import examine_hostile

        yield from examine_hostile(drawn.cases, seed=drawn.seed, on_stage=tell)
    if "flips" in parts:
        from tlatrace.selfcheck.hostile.flips import examine_flips

        yield examine_flips(drawn.flips, seed=drawn.seed, on_stage=tell)


def _of_subjects(
    subjects: Sequence[Subject],
    parts: Collection[Part],
    effort: Effort,
    hash_seeds: int,
    tell: Callable[[str], None],
) -> Iterator[Agreement]:
    if not _OF_SUBJECTS & set(parts):
        return
    jobs: list[Seeded] = []
    for number, subject in enumerate(subjects, start=1):
        prefix = f"{number}/{len(subjects)} {subject.name}: "

        def keep(drawn: Sequence[Corrupted], subject: Subject = subject) -> None:
            jobs.append(seeded(subject, [item.transition for item in drawn]))

        yield from examine_subject(
            subject,
            parts=parts,
            effort=effort,
            on_stage=lambda stage, prefix=prefix: tell(prefix + stage),  # type: ignore[misc]
            on_corrupted=keep if "hash-seeds" in parts else None,
        )
    if jobs:
        yield examine_hash_seeds(jobs, hash_seeds, on_stage=tell)


def _outcome(agreement: Agreement) -> str:
    match kind(agreement.verdict):
        case "conforms":
            return "agrees"
        case "diverges":
            return _counted(len(agreement.disagreements))
        case _:
            return "nothing examined"


def _print(agreements: Sequence[Agreement]) -> None:
    table = open_table(
        "The compiled model and TLC",
        *("comparison", "of", "examined", "found", "", "seconds"),
        right=("examined", "seconds"),
    )
    for agreement in agreements:
        facts = ", ".join([f"{number:,} {name}" for name, number in agreement.facts.items()])
        colour = {"conforms": "green", "diverges": "red"}.get(kind(agreement.verdict), "yellow")
        table.add_row(
            agreement.part,
            escape(agreement.subject),
            f"{agreement.examined:,}",
            facts,
            f"[{colour}]{_outcome(agreement)}[/]",
            f"{agreement.seconds:.1f}",
        )
    console = open_console()
    console.print(table)
    for agreement in agreements:
        for found in agreement.disagreements:
            console.print(
                f"\n{agreement.part} of {agreement.subject}: {found.question}",
                markup=False,
            )
            console.print(f"  TLC    {found.tlc}", markup=False)
            console.print(f"  model  {found.model}", markup=False)
    disagreements = sum(len(agreement.disagreements) for agreement in agreements)
    totals = ", ".join(
        [
            f"{sum(a.examined for a in agreements if a.part == part):,} {what}"
            for part, what in (
                ("graphs", "steps of graphs"),
                ("expressions", "expressions"),
                ("corrupted", "corrupted steps"),
                ("random-steps", "random steps"),
                ("random-expressions", "random expressions"),
                ("hash-seeds", "judgements under hash seeds"),
                ("native", "questions to machine code"),
                ("hostile", "hostile inputs"),
                ("flips", "flipped bits"),
            )
            if part in {agreement.part for agreement in agreements}
        ]
    )
    console.print(f"{totals}: {_counted(disagreements)}")


def _counted(disagreements: int) -> str:
    return f"{disagreements} disagreement{'' if disagreements == 1 else 's'}"


def _as_json(agreements: Sequence[Agreement]) -> Json:
    return [
        {
            "comparison": agreement.part,
            "subject": agreement.subject,
            "verdict": kind(agreement.verdict),
            "examined": agreement.examined,
            "found": dict(agreement.facts),
            "disagreements": [
                {"question": found.question, "tlc": found.tlc, "model": found.model}
                for found in agreement.disagreements
            ],
            "seconds": round(agreement.seconds, 3),
        }
        for agreement in agreements
    ]

"""`rocketproof demo`: the main job end to end, in the commands that a user would give."""

from __future__ import annotations

import functools
import io
import shlex
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import click

from rocketproof.cli import EXIT_CONFORMS, EXIT_DIVERGES, EXIT_ERROR, main
from rocketproof.commands.mutants import judge_of
from rocketproof.known_bugs import DEFAULT_SEEDS, Caught, search_seeds
from rocketproof.protocols import PROTOCOLS
from rocketproof.runs import simulate_trace
from tlatrace.extras import need
from tlatrace.tools.manifest import read_manifest
from tlatrace.tools.spec_root import find_spec_root

__all__ = ["command"]

_PROTOCOL = "epoch_truncation"
_BUG = "B05"


@click.command(epilog="Example:  rocketproof demo --runs 200")
@click.option("--runs", default=500, show_default=True, type=click.IntRange(1))
@click.option(
    "--out",
    default=Path("build/demo"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the corpus, the traces and the report.",
)
def command(runs: int, out: Path) -> None:
    """Check a spec, run its implementation under faults, judge every run, and catch a real bug.

    Exit codes: 0 all as promised, 1 something else was found, 2 an error, 3 undecided.
    """
    need("spark", "corpus", "report")
    begin = time.monotonic()
    corpus, report = out / "corpus", out / "report.html"
    steps: list[tuple[str, Callable[[], int]]] = [
        (
            "TLC checks the specification",
            lambda: _do("check", _PROTOCOL, "--model", "small"),
        ),
        (
            f"The implementation runs {runs} times under faults, in tasks of Spark",
            lambda: _do(
                "corpus",
                "generate",
                _PROTOCOL,
                f"--runs={runs}",
                "--driver=spark",
                f"--out={corpus}",
                "--force",
            ),
        ),
        (
            "Spark judges every run by the TLA+ text, compiled, and TLC judges a sample again",
            lambda: _do(
                "corpus",
                "validate",
                str(corpus),
                "--driver=spark",
                "--engine=tlc",
                f"--report={report}",
            ),
        ),
        (f"A real bug is switched on: {_title(_BUG)}", lambda: _catch(_BUG, out, report)),
    ]
    for number, (title, step) in enumerate(steps, start=1):
        click.secho(f"\n{number}/{len(steps)}  {title}", bold=True)
        code = step()
        if code != EXIT_CONFORMS:
            click.secho(f"the demo ends here: exit code {code}", fg="red")
            sys.exit(code)
    click.secho(f"\nThe report: {report.resolve()}", bold=True)
    click.echo(f"{time.monotonic() - begin:.0f} seconds")


def _title(bug: str) -> str:
    manifest = read_manifest(find_spec_root())
    titles = {m.name: m.title for m in manifest.mutants if m.protocol == _PROTOCOL}
    return f"{bug}, {titles[bug]}"


def _do(*words: str) -> int:
    """Run a command of this program in this process and return its exit code."""
    click.echo(f"$ rocketproof {shlex.join(words)}")
    try:
        main.main(args=list(words), prog_name="rocketproof", standalone_mode=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else EXIT_ERROR
    return EXIT_ERROR


def _catch(bug: str, out: Path, report: Path) -> int:
    """Find the first seed whose run leaves the specification, and show why, in the report, too."""
    manifest = read_manifest(find_spec_root())
    simulate = functools.partial(simulate_trace, _PROTOCOL, bugs=(bug,))
    found = search_seeds(simulate, judge_of(manifest), seeds=DEFAULT_SEEDS)
    if not isinstance(found, Caught):
        click.echo(f"{bug} was not caught: {found}")
        return EXIT_DIVERGES
    tried = "1 run" if found.tried == 1 else f"{found.tried} runs"
    caught = (
        f"{bug} is caught after {tried}: seed {found.seed}, step {found.step}, "
        f"{found.action} of {PROTOCOLS[_PROTOCOL].spec}"
    )
    click.echo(caught)
    trace = out / f"{bug}-seed-{found.seed}.ndjson"
    words = ("simulate", _PROTOCOL, f"--seed={found.seed}", f"--bug={bug}", f"--out={trace}")
    code = _do(*words)
    if code != EXIT_CONFORMS:
        return code
    printed = io.StringIO()
    with redirect_stdout(printed):
        code = _do("explain", str(trace))
    click.echo(printed.getvalue(), nl=False)
    if code != EXIT_DIVERGES:
        return EXIT_ERROR
    from tlatrace.report.corpus_html import add_section

    add_section(
        report,
        title=f"A real bug is switched on: {_title(bug)}",
        words=caught,
        command=f"rocketproof {shlex.join(words)}",
        text=printed.getvalue(),
    )
    return EXIT_CONFORMS

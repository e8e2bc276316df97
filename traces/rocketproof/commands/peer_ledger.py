"""`rocketproof peer rocketmq ledger` and `report`: pages made of runs that were played.

`rocketmq_peer` is imported where it is needed, as in `peer`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from rocketproof.output import print_text
from rocketproof.peer_ledger import ledger_page, read_rows
from rocketproof.peer_report import read_texts, write_report
from rocketproof.peer_runs import JudgedRun, judge_run
from tlatrace.tools.manifest import read_manifest
from tlatrace.tools.spec_root import find_spec_root

__all__ = ["ledger", "report"]

_ROWS: Final = click.option(
    "--rows",
    "rows_file",
    default="peers/rocketmq/ledger.toml",
    show_default=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The rows, and which scenarios look for them.",
)
_RUNS: Final = click.argument(
    "folders",
    metavar="RUN...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
)


@click.command("ledger", epilog="Example:  rocketproof peer rocketmq ledger RUNS/*")
@_RUNS
@_ROWS
@click.option(
    "--out",
    default="peers/rocketmq/LEDGER.md",
    show_default=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The page.",
)
def ledger(folders: tuple[Path, ...], *, rows_file: Path, out: Path) -> None:
    """Judge runs that were played, and write what they show of each row of the museum.

    Exit codes: 0 the page is written; 2 a folder has no run, or a file cannot be read.
    """
    rows = read_rows(rows_file)
    judged = list(_judged(folders))
    out.write_text(ledger_page(rows, judged), "utf-8")
    print_text(f"written to {out}")


@click.command("report", epilog="Example:  rocketproof peer rocketmq report W2 RUNS/early_*")
@click.argument("name", metavar="ROW")
@_RUNS
@_ROWS
@click.option(
    "--texts",
    default="peers/rocketmq/reports.toml",
    show_default=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="What runs do not say: what is expected, the lines of Java, a mend.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder; by default peers/rocketmq/reports/ROW.",
)
def report(
    name: str, folders: tuple[Path, ...], *, rows_file: Path, texts: Path, out: Path | None
) -> None:
    """Write what an upstream report of a row needs, from the shortest of the runs that show it.

    Exit codes: 0 it is written; 2 no run shows the row, or nothing is said of it.
    """
    from rocketmq_peer.scenarios import about_script

    row = {one.name: one for one in read_rows(rows_file)}.get(name)
    text = read_texts(texts).get(name)
    if row is None or text is None:
        where = rows_file if row is None else texts
        raise click.BadParameter(f"{where} says nothing of {name!r}.", param_hint="ROW")
    judged = list(_judged(folders))
    folder = out or Path("peers/rocketmq/reports") / name
    manifest = read_manifest(find_spec_root(None))
    best = write_report(folder, row, text, judged, manifest, about_script)
    print_text(f"{name}: {best.how} ({best.run.folder})")
    print_text(f"written to {folder}")


def _judged(folders: Sequence[Path]) -> Iterator[JudgedRun]:
    """Judge runs again, and say what each comes to. Raises: PeerError, ToolError"""
    from rocketmq_peer.played_run import PlayedRun
    from rocketmq_peer.scenario import LIVE

    runs = [(folder, PlayedRun.read(folder)) for folder in folders]  # a wrong folder is said first
    for folder, run in runs:
        judged = judge_run(run, folder, museum={*run.museum, *LIVE})
        print_text(judged.lines()[-1])
        yield judged

"""`rocketproof peer rocketmq interop`: does rocketha read and write what released RocketMQ does?

`rocketmq_peer` is imported where it is needed, as in `peer`.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from rocketproof.output import print_text
from tlatrace.terminal import open_console, open_table

if TYPE_CHECKING:
    from rocketmq_peer.interop_tally import Kind, Tally

__all__ = ["interop", "interop_run"]

_EXIT_DIVERGES: Final = 1
_EXIT_UNDECIDED: Final = 3
_SHOWN: Final = 10
"""Mismatches; all that are kept are in the machine's answer."""


@click.command("interop-run", epilog="Example:  rocketproof peer rocketmq interop-run RUN")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--version", default="5.5.0", show_default=True, help="A release that was fetched.")
@click.option(
    "--kind",
    type=click.Choice(["failover", "controllers", "legacy"]),
    default="failover",
    show_default=True,
    help="One controller, three, or none: then replication is the one of before.",
)
@click.option("--brokers", type=click.IntRange(min=2), default=2, show_default=True)
@click.option(
    "--headers",
    type=click.Choice(["json", "rocketmq"]),
    default="json",
    show_default=True,
    help="How headers of frames are written; with rocketmq records have the reserved checksum.",
)
@click.option(
    "--controller",
    type=click.Choice(["DLedger", "jRaft", "rocketha"]),
    default="DLedger",
    show_default=True,
    help="By what controllers agree with each other; rocketha is its own controller, alone.",
)
def interop_run(
    folder: Path, version: str, kind: str, brokers: int, headers: str, controller: str
) -> None:
    """Run a small group in a new FOLDER, with messages, a kill and a return, and capture it.

    It takes one to three minutes. `rocketproof peer rocketmq interop` takes the folder.

    Exit codes: 0 it ran to its end, 2 it did not, or something is missing.
    """
    from rocketha.formats.remoting_command import Serialization
    from rocketmq_peer.configuration import ControllerKind
    from rocketmq_peer.interop_groups import InteropKind, run_interop_group
    from rocketmq_peer.jars import find_jars

    jars = find_jars(version)
    began = time.monotonic()
    run_interop_group(
        folder,
        jars,
        InteropKind(kind),
        brokers=brokers,
        headers=Serialization[headers.upper()],
        controller_kind=ControllerKind(controller),
    )
    print_text(f"{folder}: RocketMQ {version}, {kind}: {time.monotonic() - began:.0f} s")


@click.command("interop", epilog="Example:  rocketproof peer rocketmq interop RUN1 RUN2")
@click.argument(
    "runs",
    metavar="RUN...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
@click.option(
    "--need",
    "needed",
    metavar="KIND",
    multiple=True,
    help="What must be there, as tables call it; repeatable. Else what every captured run of a "
    "group with controllers has.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the machine's answer only.")
def interop(runs: tuple[Path, ...], needed: tuple[str, ...], as_json: bool) -> None:
    """Decode all that released RocketMQ stored and said in runs, write it back, and compare.

    A RUN is the folder of a run: `nodes/*/store`, and `wire.ndjson` if it was captured. Counts of
    several runs are added.

    Exit codes: 0 all of it comes out as it came, 1 something does not, 2 a folder is no run, 3
    nothing was examined, or nothing of a kind that must be there.
    """
    from rocketmq_peer import interop as interoperation

    wanted = _kinds(needed) if needed else interoperation.ASKED_FOR
    tally = interoperation.examine(runs)
    missing = interoperation.missing(tally, wanted)
    if as_json:
        click.echo(json.dumps(interoperation.as_json(tally, wanted), indent=2))
    else:
        _print_tally(tally, missing)
    sys.exit(_EXIT_DIVERGES if tally.mismatched else _EXIT_UNDECIDED if missing else 0)


def _kinds(names: tuple[str, ...]) -> tuple[Kind, ...]:
    """Return kinds by their names. Raises: click.BadParameter"""
    from rocketmq_peer.interop_tally import Kind

    known = {kind.value: kind for kind in Kind}
    for name in names:
        if name not in known:
            raise click.BadParameter(f"{name!r} is none of {', '.join(known)}", param_hint="--need")
    return tuple(known[name] for name in names)


def _print_tally(tally: Tally, missing: tuple[Kind, ...]) -> None:
    numbers = ("decoded", "written back equal", "not")
    table = open_table("Interoperation", "kind", *numbers, "compared", right=numbers)
    for kind, count in tally.counts.items():
        if tally.seen(kind):
            mismatched = f"[red]{count.mismatched}[/]" if count.mismatched else "0"
            compared = "values" if kind.as_values else "bytes"
            table.add_row(kind.value, str(count.decoded), str(count.equal), mismatched, compared)
    open_console().print(table)
    for what, number in sorted(tally.passed_by.items()):
        print_text(f"passed by: {what}: {number}")
    shown = tally.mismatches[:_SHOWN]
    for one in shown:
        print_text(f"mismatch: {one}")
    if tally.mismatched > len(shown):
        print_text(f"mismatch: {tally.mismatched - len(shown)} more")
    for kind in missing:
        print_text(f"nothing was examined: {kind.value}")

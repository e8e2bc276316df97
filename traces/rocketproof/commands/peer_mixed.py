"""`rocketproof peer rocketmq mixed`: rocketha's brokers among released ones.

`rocketmq_peer` is imported where it is needed, as in `peer`.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from rocketproof.commands.seed_range import seed_range
from rocketproof.output import print_text

if TYPE_CHECKING:
    from rocketmq_peer.mixed_walk import MixedRun

__all__ = ["mixed"]

_EXIT_BROKEN: Final = 1
_EXIT_UNDECIDED: Final = 3


@click.command("mixed", epilog="Example:  rocketproof peer rocketmq mixed --seeds 0..9 --out DIR")
@click.option(
    "--version", default="5.3.3", show_default=True, help="The release; 5.3.3 is without W2."
)
@click.option("--seeds", default="0..9", show_default=True, metavar="A..B", help="What is drawn.")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Where files go: a folder for each seed, which is played unless it is there already.",
)
@click.option("--hours", default=24.0, show_default=True, help="Begin no scenario after so long.")
@click.option("--json", "as_json", is_flag=True, help="Print the machine's lines only.")
def mixed(version: str, *, seeds: str, out: Path, hours: float, as_json: bool) -> None:
    """Mix rocketha's brokers with released ones in groups, and kill, part, cut and hold them.

    Nothing that was acknowledged may be lost (allAckInSyncStateSet), and in the end the logs of all
    brokers and their epoch files must be the same, byte for byte. What each seed came to is a line
    of OUT/mixed.ndjson.

    Exit codes: 0 every seed kept that; 1 a message is lost, or files differ; 3 a seed did not come
    to its end, or none was played; 2 a tool is missing, or the release is not fetched.
    """
    from rocketmq_peer.jars import find_jars
    from rocketmq_peer.mixed_walk import draw_mixed, play_mixed

    jars = find_jars(version)
    out.mkdir(parents=True, exist_ok=True)
    say = partial(print_text, err=as_json)
    began = time.monotonic()
    runs: list[MixedRun] = []
    for seed in seed_range(seeds):
        folder = out / f"{seed}"
        if folder.exists():
            continue
        if time.monotonic() - began > hours * 3600:
            break
        walk, start = draw_mixed(seed), time.monotonic()
        say(f"seed {seed}: {', '.join(map(str, walk.moves))}")
        run = play_mixed(walk, jars, folder, say)
        runs.append(replace(run, seconds=time.monotonic() - start))
        line = json.dumps({"version": version, **runs[-1].to_json()}, sort_keys=True)
        with (out / "mixed.ndjson").open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        print_text(line if as_json else runs[-1].line())
    if not as_json:
        print_text(_total(runs))
    sys.exit(_exit_code(runs))


def _total(runs: list[MixedRun]) -> str:
    acknowledged = sum(len(run.played.acknowledged) for run in runs)
    lost = sum(len(run.played.lost) for run in runs)
    compared = [run for run in runs if run.log_bytes]
    return (
        f"{len(runs)} scenarios: {acknowledged} acknowledged, {lost} lost; files of {len(compared)}"
        f" compared, {sum(bool(run.differences) for run in compared)} differ;"
        f" rocketha was {sum(run.elected for run in runs)} times master;"
        f" {sum(not run.is_decided for run in runs)} undecided"
    )


def _exit_code(runs: list[MixedRun]) -> int:
    if any(run.is_broken for run in runs):
        return _EXIT_BROKEN
    return 0 if runs and all(run.is_decided for run in runs) else _EXIT_UNDECIDED

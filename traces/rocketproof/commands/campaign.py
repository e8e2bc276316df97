"""`rocketproof campaign`: many seeds; what their clients saw is held against what is promised."""

from __future__ import annotations

import json
import re
import shlex
import sys
import time
from collections.abc import Sequence
from typing import Final

import click

from rocketha.sim.engine.options import SimOptions
from rocketproof.campaign import Campaign, Ending, SeedResult, run_campaign
from rocketproof.commands.simulation_options import (
    refuse_strange_options,
    repeat_command,
    run_options,
    simulation_options,
)
from rocketproof.names import Named
from rocketproof.protocols import PROTOCOLS

__all__ = ["command", "shown_again"]

_SEEDS: Final = re.compile(r"([0-9]{1,12})\.\.([0-9]{1,12})\Z")
_SHOWN: Final = 20
"""So many failing seeds are shown."""


def _seeds(_context: click.Context, _param: click.Parameter, text: str) -> range:
    match = _SEEDS.match(text)
    if match is None or int(match[1]) > int(match[2]):
        raise click.BadParameter(f"{text!r} is not FIRST..LAST.")
    return range(int(match[1]), int(match[2]) + 1)


@click.command(
    epilog="Example:  rocketproof campaign replica_group --seeds 0..999 --workers 2",
)
@click.argument("protocol", type=Named(PROTOCOLS))
@click.option(
    "--seeds",
    required=True,
    callback=_seeds,
    metavar="FIRST..LAST",
    help="Both included; same seed, same run.",
)
@simulation_options
@click.option("--workers", type=click.IntRange(1, 256), default=2, show_default=True)
@click.option("--repeat", is_flag=True, help="Run each seed twice, and compare the bytes.")
@click.option("--json", "as_json", is_flag=True, help="Print the sums as JSON only.")
def command(
    options: SimOptions,
    *,
    protocol: str,
    seeds: Sequence[int],
    workers: int,
    repeat: bool,
    as_json: bool,
) -> None:
    """Simulate PROTOCOL with many seeds, and check what its clients saw.

    Clients are producers and consumers, or who reads the registers of a node or the logs of
    replicas. A seed fails when a promise to a client is broken, when a node did not do in time what
    it must, when the cluster does not come back to life after the faults, or when the
    implementation stops with an error. No trace is made: validate and corpus hold runs against the
    TLA+ text.

    Each failing seed comes with the command that shows it, which judges its traces, too, if it has
    any; and each broken promise with the number of seeds in which it is, and the first of them.

    Exit codes: 0 all promises are kept; 1 a promise is broken, the implementation failed, or a run
    differs from itself; 3 runs did not come back to life, or nothing was put to the test; 130 it
    was interrupted, and says what it has found by then.
    """
    refuse_strange_options(options, PROTOCOLS[protocol].simulation)
    campaign, began = Campaign(), time.monotonic()
    try:
        for result in run_campaign(protocol, seeds, options, workers=workers, repeat=repeat):
            campaign.add(result)
        sys.exit(campaign.exit_code)
    except KeyboardInterrupt:
        left = len(seeds) - campaign.seeds
        click.echo(f"interrupted: {left} of {len(seeds)} seeds have no result", err=True)
        raise
    finally:
        seconds = time.monotonic() - began
        if as_json:
            click.echo(json.dumps(_figures(protocol, options, campaign, seconds), sort_keys=True))
        else:
            _print(protocol, options, campaign, seconds)


def _print(protocol: str, options: SimOptions, campaign: Campaign, seconds: float) -> None:
    for result in campaign.failing[:_SHOWN]:
        click.echo(f"seed {result.seed}: {result.ending}: {result.reason}")
        click.echo(f"  {shown_again(protocol, options, result)}")
    if len(campaign.failing) > _SHOWN:
        click.echo(f"... and {len(campaign.failing) - _SHOWN} more failing seeds")
    for promise, results in campaign.broken.items():
        click.echo(f"{promise}: broken in {len(results)} of {campaign.seeds} seeds, first")
        click.echo(f"  {shown_again(protocol, options, results[0])}")
    endings = ", ".join(f"{ending} {n}" for ending, n in sorted(campaign.endings.items()))
    click.echo(f"{campaign.seeds} seeds: {endings}")
    click.echo(f"{campaign.counted} {PROTOCOLS[protocol].simulation.clients}")
    if campaign.parts:
        click.echo(f"by kinds: {', '.join(f'{n} {name}' for name, n in campaign.parts.items())}")
    if campaign.due:
        due = ", ".join(f"{name} {n}" for name, n in sorted(campaign.due.items()))
        click.echo(f"obligations that came due: {due}")
    faults = ", ".join(f"{name} {n}" for name, n in sorted(campaign.faults.items()))
    click.echo(f"faults: {faults or 'none'}")
    virtual_s = campaign.virtual_ms / 1000
    an_hour = campaign.seeds / seconds * 3600 if seconds else 0
    click.echo(f"{virtual_s:.0f} virtual seconds in {seconds:.1f} s: {an_hour:.0f} seeds an hour")


def shown_again(protocol: str, options: SimOptions, result: SeedResult) -> str:
    """Return the command that shows again what is wrong with a seed."""
    if result.ending is not Ending.DIFFERS:
        return repeat_command(protocol, options, result.seed)
    run = shlex.join(run_options(protocol, options))
    seeds = f"--repeat --seeds {result.seed}..{result.seed}"
    return " ".join(["rocketproof campaign", protocol, *filter(None, [run]), seeds])


def _figures(
    protocol: str, options: SimOptions, campaign: Campaign, seconds: float
) -> dict[str, object]:
    return {
        "broken": {
            promise: {"seeds": len(results), "first": results[0].seed}
            for promise, results in campaign.broken.items()
        },
        "endings": {str(ending): n for ending, n in campaign.endings.items()},
        "failing": [
            {
                "seed": one.seed,
                "ending": str(one.ending),
                "reason": one.reason,
                "command": shown_again(protocol, options, one),
            }
            for one in campaign.failing
        ],
        "faults": dict(campaign.faults),
        "counted": campaign.counted,
        "parts": dict(campaign.parts),
        "due": dict(campaign.due),
        "seconds": round(seconds, 3),
        "seeds": campaign.seeds,
        "virtual_ms": campaign.virtual_ms,
    }

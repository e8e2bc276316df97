"""`rocketproof peer`: systems that others wrote, as peers of the implementation.

`rocketmq_peer` is imported where it is needed: no other command, and no help page, wants it.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

import click
from rich.markup import escape

from rocketproof.commands.peer_interop import interop, interop_run
from rocketproof.commands.peer_ledger import ledger, report
from rocketproof.commands.peer_mixed import mixed
from rocketproof.commands.peer_name_server import name_server
from rocketproof.commands.seed_range import seed_range
from rocketproof.output import print_text
from rocketproof.peer_finds import finds_of, totals
from rocketproof.peer_runs import JudgedRun, judge_run
from tlatrace.judgement.verdict import combine, exit_code
from tlatrace.terminal import open_console, open_table

if TYPE_CHECKING:
    from rocketmq_peer.doctor import Finding
    from rocketmq_peer.scenario import Scenario

_ALL: Final = "all"
_EXIT_MISSING: Final = 2
_ALL_BUGS: Final = click.option(
    "--all-bugs",
    is_flag=True,
    help="Try a divergence with every known bug of its protocol, not only with those seen so far.",
)
_JSON: Final = click.option(
    "--json", "as_json", is_flag=True, help="Print the machine's answer only: a line for each run."
)


_CONTROLLER: Final = click.option(
    "--controller",
    type=click.Choice(["rocketha"]),
    help="Let rocketha's controller lead the brokers, not the release's.",
)


@click.group(epilog="Example:  rocketproof peer rocketmq doctor")
def command() -> None:
    """Run released systems beside the specifications: Apache RocketMQ's Java brokers."""


@command.group("rocketmq", epilog="Example:  rocketproof peer rocketmq fetch --version 5.3.3")
def rocketmq() -> None:
    """Released RocketMQ 5, in processes of this machine, watched by an agent."""


rocketmq.add_command(interop)
rocketmq.add_command(interop_run)
rocketmq.add_command(mixed)
rocketmq.add_command(name_server)
rocketmq.add_command(ledger)
rocketmq.add_command(report)


@rocketmq.command("doctor", epilog="Example:  rocketproof peer rocketmq doctor --json")
@click.option("--json", "as_json", is_flag=True, help="Print the machine's answer only.")
def doctor(as_json: bool) -> None:
    """Show the JDK, Maven and the fetched releases: what was found, where, which version.

    Exit codes: 0 everything is there, 2 something is missing.
    """
    from rocketmq_peer.doctor import examine

    findings = examine()
    if as_json:
        click.echo(json.dumps([finding.as_json() for finding in findings], indent=2))
    else:
        _print(findings)
    sys.exit(0 if all(finding.found for finding in findings) else _EXIT_MISSING)


@rocketmq.command("fetch", epilog="Example:  rocketproof peer rocketmq fetch --version 5.5.0")
@click.option(
    "--version", default=_ALL, show_default=True, help="A release, or all that runs are made with."
)
def fetch(version: str) -> None:
    """Fetch releases with Maven, and build the agent and the client; once, 90 to 100 MB each.

    Exit codes: 0 they are there, 2 something is missing, or Maven failed.
    """
    from rocketmq_peer.jars import fetch as fetch_jars
    from rocketmq_peer.versions import PINNED

    for each in PINNED if version == _ALL else (version,):
        began = time.monotonic()
        fetch_jars(each, say=print_text)
        print_text(f"RocketMQ {each}: {time.monotonic() - began:.0f} s")


def _judged_by(scenario: Scenario) -> str:
    """Say what a scenario is held against: specifications, or what clients should see."""
    return ", ".join(scenario.protocols) or "what clients see"


@rocketmq.command("scenarios")
def scenarios() -> None:
    """List what `run` can play."""
    from rocketmq_peer.scenarios import SCENARIOS

    table = open_table("Scenarios", "name", "what happens", "held against")
    for one in SCENARIOS.values():
        table.add_row(one.name, escape(one.about), escape(_judged_by(one)))
    open_console().print(table)


@rocketmq.command(
    "run", epilog="Example:  rocketproof peer rocketmq run truncation --version 5.3.3"
)
@click.argument("name", metavar="SCENARIO")
@click.option("--version", default="5.5.0", show_default=True, help="The release.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where its files go: a new or empty folder. Else one of the machine's temporary ones.",
)
@_CONTROLLER
@_ALL_BUGS
@_JSON
def run(
    name: str,
    *,
    version: str,
    out: Path | None,
    controller: str | None,
    all_bugs: bool,
    as_json: bool,
) -> None:
    """Play a scenario with real brokers, record it, and hold it against the TLA+ text.

    Exit codes: 0 conforms, and no promise to a client is broken; 1 diverges or broken; 3 undecided;
    2 a tool is missing, the release is not fetched, or there is no such scenario.
    """
    from rocketmq_peer.configuration import ControllerKind
    from rocketmq_peer.play import play
    from rocketmq_peer.scenario import under
    from rocketmq_peer.scenarios import SCENARIOS

    scenario = SCENARIOS.get(name)
    if scenario is None:
        raise click.BadParameter(
            f"no scenario {name!r}; there are {', '.join(SCENARIOS)}.", param_hint="SCENARIO"
        )
    if controller is not None:
        scenario = under(scenario, ControllerKind(controller))
    folder = out or Path(tempfile.mkdtemp(prefix=f"{name}-{version}-"))
    played = play(scenario, version, folder, partial(print_text, err=as_json))
    judged = judge_run(played, folder, museum=None if all_bugs else played.museum)
    _say([judged], as_json)


@rocketmq.command("judge", epilog="Example:  rocketproof peer rocketmq judge RUN")
@click.argument(
    "folders",
    metavar="RUN...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
)
@_ALL_BUGS
@_JSON
def judge(folders: tuple[Path, ...], *, all_bugs: bool, as_json: bool) -> None:
    """Judge runs again that were played before, here or elsewhere; it needs neither JDK nor Maven.

    A divergence is tried with the known bugs that releases were seen to have by now, too.

    Exit codes: as `run`, by the worst of them.
    """
    from rocketmq_peer.played_run import PlayedRun
    from rocketmq_peer.scenario import LIVE

    judged = []
    for folder in folders:
        run = PlayedRun.read(folder)
        museum = None if all_bugs else {*run.museum, *LIVE}
        judged.append(judge_run(run, folder, museum=museum))
    _say(judged, as_json)


def _say(judged: Sequence[JudgedRun], as_json: bool) -> NoReturn:
    """Say what runs came to, and end as the worst of them says."""
    for one in judged:
        text = json.dumps(one.to_json(), sort_keys=True)
        for line in [text] if as_json else one.lines():
            print_text(line)
    if len(judged) > 1 and not as_json:
        for line in totals(judged):
            print_text(line)
    sys.exit(exit_code(combine([one.verdict for one in judged])))


@rocketmq.command("hunt", epilog="Example:  rocketproof peer rocketmq hunt --seeds 0..9")
@click.option("--version", default="5.5.0", show_default=True, help="The release.")
@click.option("--seeds", default="0..9", show_default=True, metavar="A..B", help="Walks to play.")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Where files go: a folder for each seed, which is played unless it is there already.",
)
@click.option("--hours", default=24.0, show_default=True, help="Begin no walk after so long.")
@click.option(
    "--reductions",
    default=6,
    show_default=True,
    help="How often a walk that found something is played with fewer moves.",
)
@click.option("--legacy", is_flag=True, help="Without controllers: one is master for ever.")
@_CONTROLLER
def hunt(
    version: str,
    *,
    seeds: str,
    out: Path,
    hours: float,
    reductions: int,
    legacy: bool,
    controller: str | None,
) -> None:
    """Play random walks with real brokers, judge each, and make what is found smaller.

    A find is named by the known bugs that explain it, or NEW. What each seed came to is a line of
    OUT/hunt.ndjson; how often each find was made is said last, and by `judge OUT/*/`.

    Exit codes: 0 nothing was found, 1 something was; 3 no walk was judged; 2 a tool is missing.
    """
    from rocketproof.peer_hunt import hunt as hunt_walks

    out.mkdir(parents=True, exist_ok=True)
    wanted = [seed for seed in seed_range(seeds) if not (out / str(seed)).exists()]
    began, judged = time.monotonic(), list[JudgedRun]()
    leads = controller is not None
    for one in hunt_walks(
        version,
        wanted,
        out,
        print_text,
        reductions=reductions,
        rocketha_leads=leads,
        legacy=legacy,
    ):
        with (out / "hunt.ndjson").open("a", encoding="utf-8") as file:
            file.write(json.dumps(one.to_json(), sort_keys=True) + "\n")
        for line in one.judged.lines():
            print_text(line)
        judged.append(one.judged)
        spent = time.monotonic() - began
        print_text(f"{len(judged)} walks in {spent / 60:.0f} min")
        if spent > hours * 3600:
            break
    for line in totals(judged):
        print_text(line)
    sys.exit(3 if not judged else 1 if any(map(finds_of, judged)) else 0)


def _print(findings: tuple[Finding, ...]) -> None:
    table = open_table("What released RocketMQ needs here", "what", "found", "version", "where")
    for finding in findings:
        table.add_row(
            finding.name,
            "[green]yes[/]" if finding.found else "[red]no[/]",
            escape(finding.version),
            escape("\n".join(text for text in (finding.where, finding.note) if text)),
        )
    open_console().print(table)

"""Runs of mixed groups, with kills, partitions and pauses: `python -m dledger_peer.mixed`.

Each run has three nodes, of which `--ours` are ours, and three clients that append. For a while
faults strike, one at a time, drawn by the seed: a node is killed (SIGKILL) and started again, one
is parted from the others, two are parted from each other, one stands still. Then all is healed,
something must be acknowledged, all nodes end, and their files are compared and held against what
clients were told (`judging`). What ours wrote of each step is held against the specification
(`by_specification`).

It needs a JDK and Maven, and says so where they are missing. Exit code 0: every run was good; 1:
one was not; 2: it could not be tried.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dledger_peer.by_specification import hold, write_files
from dledger_peer.client import Client
from dledger_peer.group import OURS, RECORDS_FOLDER, MixedGroup
from dledger_peer.jars import VERSIONS, DLedgerJars, fetch
from dledger_peer.judging import REFUSED, Run, judge, write_run
from rocketha.errors import RockethaError
from rocketmq_peer.errors import PeerError

__all__ = ["main", "run_once"]

_CLIENTS: Final = 3
_GAP_S: Final = (0.5, 2.5)
_LASTS_S: Final = (0.5, 4.0)
_HEALED_S: Final = 60.0
_CATCH_UP_S: Final = 60.0
_NAMES: Final = ("n0", "n1", "n2")
_FAULTS: Final = ("kill", "kill-leader", "isolate", "isolate-leader", "part", "pause")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a run is."""

    version: str
    ours: int
    faults_s: float
    pause_s: float = 0.3
    """A client rests so long at most."""
    padding: int = 300
    """Bytes of a body at most."""


def run_once(
    seed: int, options: Options, jars: DLedgerJars, folder: Path, say: Callable[[str], None]
) -> Run:
    """Let a group run; return what happened. Raises: PeerError, RockethaError, OSError"""
    rng = random.Random(seed)
    names = rng.sample(_NAMES, len(_NAMES))
    ours = set(names[: options.ours])
    members = {name: OURS if name in ours else options.version for name in _NAMES}
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with MixedGroup(folder, members, jars) as group:
        for name in names:
            group.start(name)
        clients = [
            Client(
                f"c{at}",
                group.ports,
                seed=seed * 100 + at,
                padding=options.padding,
                pause_s=options.pause_s,
            )
            for at in range(_CLIENTS)
        ]
        for client in clients:
            client.start()
        struck = _strike(group, rng, options.faults_s)
        for client in clients:
            client.stop()
        appends = [call for client in clients for call in client.calls]
        healed = time.monotonic()
        bodies = (f"last-{at}" for at in range(10_000))
        appends += group.append_at_last(bodies, _HEALED_S)
        acknowledged_s = time.monotonic() - healed
        equal_s = group.wait_for_equal_logs(_CATCH_UP_S)
        words = "never" if equal_s is None else f"{equal_s:.1f} s later"
        say(f"healed: acknowledged after {acknowledged_s:.1f} s, all logs equal {words}")
        if equal_s is None:
            say(f"who leads, as each has it: {group.views()}")
        for name in group.up:
            group.kill(name)
        logs = group.read_files(say)
        write_files(group.records, logs)
    odd = [line for client in clients for line in client.odd_reads]
    say(f"reads: {sum(client.reads for client in clients)} as appended, {len(odd)} otherwise")
    return Run(seed=seed, members=members, faults=struck, appends=appends, logs=logs)


def _strike(group: MixedGroup, rng: random.Random, lasts_s: float) -> list[str]:
    """Let faults strike one by one; return them. All is healed then."""
    struck: list[str] = []
    until = time.monotonic() + lasts_s
    time.sleep(2.0)
    while time.monotonic() < until:
        time.sleep(rng.uniform(*_GAP_S))
        kind, drawn = rng.choice(_FAULTS), rng.sample(_NAMES, 2)
        victim, other = drawn
        if kind.endswith("-leader"):
            victim = group.leader() or victim
        wait_s = rng.uniform(*_LASTS_S)
        struck.append(f"{kind} {victim} ({group.members[victim]}) {wait_s:.1f} s")
        match kind:
            case "kill" | "kill-leader":
                group.kill(victim)
                time.sleep(wait_s)
                group.start(victim)
            case "isolate" | "isolate-leader":
                group.isolate(victim)
                time.sleep(wait_s)
            case "part":
                group.part(victim, other)
                time.sleep(wait_s)
            case _:
                group.pause(victim)
                time.sleep(wait_s)
                group.resume(victim)
        group.join_all()
    return struck


def _figures(run: Run) -> str:
    """Say in a line what a run had."""
    counts = Counter("no answer" if one.code is None else str(one.code) for one in run.appends)
    by = Counter(run.members[one.node] for one in run.appends if one.is_acknowledged)
    log = next(iter(run.logs.values()))
    terms, there = {entry.term for entry in log}, {entry.body for entry in log}
    open_calls = [one for one in run.appends if not (one.is_acknowledged or one.code in REFUSED)]
    came = sum(one.body in there for one in open_calls)
    faults = Counter(one.split()[0] for one in run.faults)
    return (
        f"{counts['200']} acknowledged ({', '.join(f'{by[w]} by {w}' for w in sorted(by))}), "
        f"{len(open_calls)} left open, of which {came} are in the log; "
        f"{len(terms)} terms in the log; codes {dict(counts)}; "
        f"faults: {dict(faults)}"
    )


def _seeds(text: str) -> range:
    first, dots, last = text.partition("..")
    return range(int(first), int(last if dots else first) + 1)


def main(arguments: Sequence[str]) -> int:
    """Run groups; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m dledger_peer.mixed", description=__doc__)
    parser.add_argument("--version", choices=VERSIONS, default="0.3.2")
    parser.add_argument("--ours", type=int, choices=range(1, 4), default=1)
    parser.add_argument("--seeds", type=_seeds, default=range(1), metavar="FIRST..LAST")
    parser.add_argument("--faults-s", type=float, default=20.0, help="how long faults strike")
    parser.add_argument("--pause-s", type=float, default=0.3, help="of a client, at most")
    parser.add_argument("--folder", type=Path, default=Path("build/peers/dledger/runs"))
    given = parser.parse_args(arguments)
    options = Options(
        version=given.version,
        ours=given.ours,
        faults_s=given.faults_s,
        pause_s=given.pause_s,
    )

    def say(line: str) -> None:
        print(line, flush=True)

    try:
        jars = fetch(given.version, say=say)
    except PeerError as error:
        say(f"error: {error}")
        return 2
    bad, verdicts = 0, Counter[str]()
    for seed in given.seeds:
        folder = (given.folder / f"{given.version}-{given.ours}-{seed}").absolute()
        try:
            run = run_once(seed, options, jars, folder, say)
        except (PeerError, RockethaError, OSError) as error:
            say(f"seed {seed}: {type(error).__name__}: {error}")
            bad += 1
            continue
        write_run(folder / "run.jsonl.gz", run)
        wrong = judge(run)
        held = hold(folder / RECORDS_FOLDER)
        verdicts[held.verdict] += 1
        say(f"seed {seed}: {held.verdict}: {held.says}")
        if not held.is_good:
            wrong.append(f"the records of ours: {held.verdict}")
        say(f"seed {seed}: {'NOT KEPT' if wrong else 'kept'}; {_figures(run)}")
        for line in wrong:
            say(f"  {line}")
        bad += bool(wrong)
    told = ", ".join(f"{verdicts[one]} {one}" for one in sorted(verdicts))
    say(f"{len(given.seeds)} runs of {given.version} with {given.ours} of ours: {bad} bad; {told}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

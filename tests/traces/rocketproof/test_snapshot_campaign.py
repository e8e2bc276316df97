"""Campaigns of a node with snapshots: what readers of its registers see of bugs, and what not."""

from __future__ import annotations

import re
import shlex

import pytest
from click.testing import CliRunner

from rocketha.known_bugs import SNAPSHOT_BUGS, Bug
from rocketha.sim.engine.options import SimOptions
from rocketproof.campaign import SeedResult, run_seed
from rocketproof.commands.campaign import command
from rocketproof.commands.simulate import command as simulate

PROTOCOL = "snapshot_loading"
SEEDS = range(40)
WITHIN = range(600)
"""Seeds for a bug to show: most bugs need ten, Expired and SuffixDropped a hundred."""
SHOWN = {
    Bug.B53: {"exact", "forward", "complete"},
    Bug.B54: {"snapshots taken", "stuck"},
    Bug.B55: {"refusal"},
    Bug.B56: {"ended early", "refusal", "stuck"},
    Bug.B57: {"stays", "stuck"},
    Bug.B59: {"stays"},
    Bug.B68: {"refusal"},
    Bug.BOUNDARY_OF_CUT: {"stays"},
    Bug.CRC: {"exact", "stays"},
    Bug.CUT_AT_OLDEST: {"refusal"},
    Bug.DIRECTORY_SYNC: {"refusal"},
    Bug.EXPIRED: {"refusal"},
    Bug.FRESH_OBJECT: {"exact", "forward"},
    Bug.REFUSE_GAP: {"stays", "stuck"},
    Bug.SNAP_AT_APPLIED: {"exact", "forward", "stays"},
    Bug.SUFFIX_DROPPED: {"stuck"},
    Bug.SUFFIX_KEPT: {"stays", "refusal"},
    Bug.SYNC_FIRST: {"refusal"},
    Bug.VALIDITY: {"forward"},
}
"""Switch -> the promises one of which the first failing seed breaks. Stuck: the node does not catch
up; failed: it stops with an error."""
HIDDEN = {
    Bug.B58: "a commit index that is too low has nothing else applied",
    Bug.INSTALL_FRESH: "the rule of validity keeps out what the state has passed",
    Bug.READ_BACK: "a file that was never read back is whole, as this disk writes what it is told",
    Bug.TERM_FIRST: "it is harmless: among agreed entries a larger index has no smaller term",
}
"""Switch -> why no reader sees it; it shows in traces, or to TLC only."""


def what(result: SeedResult) -> str:
    """Name the promise that is broken, or how the run ended."""
    promise = re.match(r"broken \(([a-z ]+)\): ", result.reason)
    return promise[1] if promise else result.ending.value


def test_a_campaign_counts_reads_and_faults() -> None:
    result = CliRunner().invoke(command, [PROTOCOL, "--seeds", f"0..{SEEDS[-1]}", "--repeat"])

    assert result.exit_code == 0
    endings, reads, owed, faults = result.output.splitlines()[:4]
    assert endings.startswith("40 seeds: excused ")
    assert reads.endswith(" reads of registers")
    assert owed.startswith("obligations that came due: ")
    assert int(reads.split()[0]) > 400
    for kind in ("damaged-file", "power-cut", "torn-write"):
        assert f"{kind} " in faults


def test_a_failing_seed_comes_with_the_command_that_repeats_it() -> None:
    args = [PROTOCOL, "--seeds", f"0..{SEEDS[-1]}", "--bug", "B68", "--workers", "1"]
    failed = CliRunner().invoke(command, args)
    assert failed.exit_code == 1
    reason, again = failed.output.splitlines()[:2]
    assert "broken (refusal): the node does not start at " in reason

    repeated = CliRunner().invoke(simulate, shlex.split(again)[2:])
    assert repeated.exit_code == 1
    assert f"history: {reason.partition(': broken: ')[2]}" in repeated.output.splitlines()


def test_a_run_that_is_shown_says_what_a_reader_saw() -> None:
    shown = CliRunner().invoke(simulate, [PROTOCOL, "--seed", "1"])

    assert shown.exit_code == 0
    assert shown.output.splitlines()[-1].startswith("history: kept: ")


@pytest.mark.parametrize("bug", SHOWN, ids=str)
def test_a_bug_is_found(bug: Bug) -> None:
    options = SimOptions(bugs=frozenset({bug}))
    results = (run_seed(PROTOCOL, seed, options) for seed in WITHIN)
    found = next((result for result in results if result.fails), None)

    assert found is not None
    assert what(found) in SHOWN[bug]


@pytest.mark.parametrize("bug", HIDDEN, ids=str)
def test_a_bug_that_readers_do_not_see_lets_a_campaign_pass(bug: Bug) -> None:
    options = SimOptions(bugs=frozenset({bug}))

    assert not any(run_seed(PROTOCOL, seed, options).fails for seed in SEEDS)


def test_every_switch_is_shown_or_hidden() -> None:
    assert not SHOWN.keys() & HIDDEN.keys()
    assert SHOWN.keys() | HIDDEN.keys() == SNAPSHOT_BUGS

"""Campaigns of a node with snapshots: what readers of its registers see of bugs, and what not."""

from __future__ import annotations

from itertools import islice

import pytest
from click.testing import CliRunner

from rocketha.bugs import SNAPSHOT_BUGS, Bug
from rocketha.sim import SimOptions
from rocketproof.campaign import Ending, run_seed
from rocketproof.commands.campaign import command

PROTOCOL = "snapshot_loading"
WITHIN = 60
"""So many seeds show a bug."""
SHOWN = {
    Bug.B53: (Ending.BROKEN, "exact"),
    Bug.B57: (Ending.BROKEN, "exact"),
    Bug.B68: (Ending.BROKEN, "refusal"),
    Bug.CRC: (Ending.BROKEN, "exact"),
    Bug.CUT_AT_OLDEST: (Ending.BROKEN, "refusal"),
    Bug.DIRECTORY_SYNC: (Ending.BROKEN, "refusal"),
    Bug.SYNC_FIRST: (Ending.BROKEN, "refusal"),
}
"""What the first failing seed is."""
HIDDEN = {
    Bug.B58: "a commit index that is too low has nothing else applied",
    Bug.READ_BACK: "a file that was never read back is whole, as this disk writes what it is told",
}
"""What no reader sees, and why; traces show it."""


def test_a_campaign_counts_reads_and_faults() -> None:
    result = CliRunner().invoke(command, [PROTOCOL, "--seeds", "0..39", "--repeat"])

    assert result.exit_code == 0
    endings, reads, faults = result.output.splitlines()[:3]
    assert endings.startswith("40 seeds: excused ")
    assert reads.endswith(" reads of registers")
    assert int(reads.split()[0]) > 400
    for kind in ("damaged-file", "power-cut", "torn-write"):
        assert f"{kind} " in faults


@pytest.mark.parametrize(("bug", "expected"), SHOWN.items(), ids=[bug.value for bug in SHOWN])
def test_a_bug_is_found(bug: Bug, expected: tuple[Ending, str]) -> None:
    options = SimOptions(bugs=frozenset({bug}))
    results = (run_seed(PROTOCOL, seed, options) for seed in range(WITHIN))
    found = list(islice((result for result in results if result.fails), 1))

    assert [result.ending for result in found] == [expected[0]]
    assert expected[1] in found[0].reason


@pytest.mark.parametrize("bug", HIDDEN, ids=[bug.value for bug in HIDDEN])
def test_a_bug_that_readers_do_not_see_lets_a_campaign_pass(bug: Bug) -> None:
    options = SimOptions(bugs=frozenset({bug}))

    assert not any(run_seed(PROTOCOL, seed, options).fails for seed in range(WITHIN))


def test_the_tables_are_of_different_switches() -> None:
    assert not SHOWN.keys() & HIDDEN.keys()
    assert SHOWN.keys() | HIDDEN.keys() <= SNAPSHOT_BUGS

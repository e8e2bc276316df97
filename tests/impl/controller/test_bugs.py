"""Each switch of the controller breaks the promise that it should, in a short log."""

from __future__ import annotations

from typing import Final

import pytest

from rocketha.controller.entry import Entry
from rocketha.known_bugs import CONTROLLER_BUGS, Bug
from tests.impl.controller.promises import broken_promises
from tests.impl.controller.walks import shrink, walk
from tests.source_files import ROOT
from tlatrace.tools.manifest import read_manifest

SEEDS: Final = 20
"""Walks that are tried for a bug; without one five times as many must be fine."""

BROKEN: Final = {
    Bug.B10: "EpochOfOneIncarnation",
    Bug.B28: "NoSpuriousElect",
    Bug.B29: "ElectLive",
    Bug.B33: "AlterNeedsMaster",
    Bug.B36: "AlterFenced",
    Bug.B37: "CtlEpochMonotone",
    Bug.B84: "EpochOfOneIncarnation",
    Bug.B85: "JoinsAsSeen",
    Bug.HAS_MASTER: "MasterInSSS",
    Bug.MASTER_EPOCH: "AlterFenced",
    Bug.NEW_EPOCH: "OneMasterPerEpoch",
    Bug.SET_EPOCH: "AlterFenced",
    Bug.SPENT: "RefusalFinal",
    Bug.W3: "ElectClean",
}


def test_every_switch_has_its_promise_and_is_a_mutant_of_the_specification() -> None:
    mutants = read_manifest(ROOT / "spec").mutants
    names = {mutant.name for mutant in mutants if mutant.protocol == "replica_group"}
    assert set(BROKEN) == CONTROLLER_BUGS
    assert {bug.value for bug in CONTROLLER_BUGS} - names == set()


def test_without_a_switch_no_walk_breaks_a_promise() -> None:
    found = {seed: broken for seed in range(5 * SEEDS) if (broken := broken_promises(walk(seed)))}
    assert found == {}


@pytest.mark.parametrize("bug", sorted(CONTROLLER_BUGS))
def test_a_bug_breaks_its_promise_in_a_log_of_a_few_entries(bug: Bug) -> None:
    def breaks(log: list[Entry]) -> bool:
        return BROKEN[bug] in broken_promises(log, frozenset({bug}))

    log = shrink(next(log for log in map(walk, range(SEEDS)) if breaks(log)), breaks)

    # A group of three with a master and a set takes eight of them.
    assert len(log) <= 13
    assert broken_promises(log) == frozenset()

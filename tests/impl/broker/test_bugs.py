"""The switches of brokers: each has a test that it makes come out otherwise, and its mutant."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketha.known_bugs import BROKER_BUGS, CONTROLLER_BUGS, EPOCH_BUGS, GROUP_BUGS, Bug
from tests.source_files import ROOT
from tlatrace.tools.manifest import read_manifest


@pytest.mark.parametrize("bug", sorted(BROKER_BUGS))
def test_every_switch_has_a_test_beside_the_rule_that_it_breaks(bug: Bug) -> None:
    files = Path(__file__).parent.glob("test_*.py")
    assert any(f"Bug.{bug.name}" in path.read_text("utf-8") for path in files)


def test_every_switch_of_a_group_is_a_mutant_of_its_specification() -> None:
    mutants = read_manifest(ROOT / "spec").mutants
    group = ("replica_group", "sync_state_set")
    names = {mutant.name for mutant in mutants if mutant.protocol in group}
    assert {bug.value for bug in GROUP_BUGS} - names == set()
    assert GROUP_BUGS - BROKER_BUGS - CONTROLLER_BUGS <= EPOCH_BUGS

"""TLC tells a DLedger that does not refine ElectedLogs from one that does."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from rocketproof.commands.check import command

pytestmark = pytest.mark.java

SPEC: Final = Path(__file__).parents[2] / "spec" / "dledger"
MODULE: Final = Path(__file__).with_name("FalseRefinement.tla")
MUTANTS: Final = {
    "ShorterLog": ("RefusesLog <- ShorterLogRefusesLog", "small"),
    "CommitQuorum": ("IsHeld <- CommitQuorumIsHeld", "small"),
    "SyncedAck": ("AckIndex <- SyncedAckAckIndex", "crash"),
    "OneVote": ("HasVoted <- OneVoteHasVoted", "small"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_does_not_refine_it(mutant: str, tmp_path: Path) -> None:
    override, model = MUTANTS[mutant]
    config = tmp_path / "False.cfg"
    right = (SPEC / f"MCElectedLogs_{model}.cfg").read_text("utf-8")
    config.write_text(f"{right}CONSTANTS {override}\n", "utf-8")
    libraries = ["--library", str(SPEC), "--library", str(SPEC / "mutants")]

    found = CliRunner().invoke(command, [str(MODULE), "--config", str(config), *libraries])

    assert found.exit_code == 1, found.output
    assert "violated: ElectedLogsSpec" in found.output

"""A mixed group of real servers and ours, for some seconds.

Not for every push: `pytest -m slow tests/peers/dledger`. Without a JDK, Maven or the network it is
skipped.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dledger_peer.by_specification import hold
from dledger_peer.group import RECORDS_FOLDER
from dledger_peer.jars import fetch
from dledger_peer.judging import judge
from dledger_peer.mixed import Options, run_once
from rocketmq_peer.errors import PeerError


@pytest.mark.slow
@pytest.mark.java
@pytest.mark.parametrize(("version", "ours"), [("0.3.1.2", 1), ("0.3.2", 2)])
def test_a_mixed_group_keeps_what_it_has_acknowledged(
    tmp_path: Path, version: str, ours: int
) -> None:
    try:
        jars = fetch(version, say=print)
    except PeerError as error:
        pytest.skip(str(error))
    options = Options(version=version, ours=ours, faults_s=8.0)
    run = run_once(3, options, jars, tmp_path / "run", print)
    assert judge(run) == []
    held = hold(tmp_path / "run" / RECORDS_FOLDER)
    assert held.is_good, held.says
    assert {run.members[node] for node in run.logs} == {"rocketha", version}

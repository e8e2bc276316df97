"""The compiled engine judges formulas that the judge by TLC has no names for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocketproof.cli import main

pytestmark = pytest.mark.java

_CLOCK = r"""---- MODULE Clock ----
EXTENDS Naturals
VARIABLE hour
Tick(top) == hour' = (hour + 1) % top
Spec == hour = 0 /\ [][\E top \in {3} : Tick(top)]_hour
====
"""


@pytest.mark.parametrize(("hours", "exit_code"), [([0, 1, 2, 0], 0), ([0, 1, 1, 2], 1)])
def test_a_formula_without_names_is_judged(
    tmp_path: Path, hours: list[int], exit_code: int
) -> None:
    (tmp_path / "Clock.tla").write_text(_CLOCK)
    (tmp_path / "Clock.cfg").write_text("SPECIFICATION Spec\n")
    events: list[object] = [{"format": "rocketproof-trace", "version": 1, "spec": "Clock"}]
    for step, hour in enumerate(hours):
        action, params = ("Tick", [3]) if step else ("Init", [])
        events.append({"step": step, "action": action, "params": params, "state": {"hour": hour}})
    trace = tmp_path / "run.ndjson"
    trace.write_text("".join([json.dumps(event) + "\n" for event in events]))
    options = ["--spec", str(tmp_path / "Clock.tla"), "--config", str(tmp_path / "Clock.cfg")]
    result = CliRunner().invoke(main, ["validate", "--engine", "compiled", *options, str(trace)])
    assert result.exit_code == exit_code, result.output

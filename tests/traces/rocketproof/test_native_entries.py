"""Machine code confirms entries of a manifest; whatever it does not confirm is TLC's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from rocketproof.cli import main
from rocketproof.native_entries import confirmed
from tlatrace.tools.manifest import Checkable, Manifest, read_manifest
from tlatrace.tools.tlc import Stop

pytestmark = pytest.mark.java

LAMP: Final = """---- MODULE Lamp ----
EXTENDS Naturals
VARIABLE lit
Limit == 3
Init == lit = 0
Rise == lit < Limit /\\ lit' = lit + 1
Fall == lit > 0 /\\ lit' = 0
Next == Rise \\/ Fall
Spec == Init /\\ [][Next]_lit /\\ WF_lit(Rise)
Low == lit < 4
Slow == [][lit' <= lit + 1]_lit
Bright == <>(lit = 1)
Sum[n \\in 0..9] == IF n = 0 THEN 0 ELSE n + Sum[n - 1]
Summed == Sum[lit] < 10
Sums == [][Sum[lit'] < 10]_lit
====
"""
MUTANTS: Final = """---- MODULE MutLamp ----
EXTENDS Lamp
Higher == 4
Leaps == lit < Limit /\\ lit' = lit + (IF lit = 0 THEN 2 ELSE 1)
====
"""
CHECKS: Final = """module = "Lamp.tla"
mutants_module = "MutLamp.tla"
[model]
small = {}
live = {}
summed = {}
sums = {}
[witness]
NotLit = { shows = "the lamp is lit" }
[mutant]
Higher = { title = "it is too bright", killed_by = "Low", override = "Limit <- Higher" }
Leaps = { title = "it leaps", killed_by = "Slow", override = "Rise <- Leaps" }
"""
ROWS: Final = """[model]
small = { found = "holds", distinct = 4, depth = 4, seconds = 1, date = 2024-01-31, tlc = "2" }
live = { found = "holds", distinct = 4, depth = 4, seconds = 1, date = 2024-01-31, tlc = "2" }
summed = { found = "holds", distinct = 4, depth = 4, seconds = 1, date = 2024-01-31, tlc = "2" }
sums = { found = "holds", distinct = 4, depth = 4, seconds = 1, date = 2024-01-31, tlc = "2" }
[witness]
NotLit = { found = "violates NotLit", length = 2, seconds = 1, date = 2024-01-31, tlc = "2" }
[mutant]
Higher = { found = "violates Low", length = 5, seconds = 1, date = 2024-01-31, tlc = "2" }
Leaps = { found = "violates Slow", length = 2, seconds = 1, date = 2024-01-31, tlc = "2" }
"""
ENTRIES: Final = ("small", "live", "summed", "sums", "NotLit", "Higher", "Leaps")
LIVE: Final = frozenset(["live", "summed", "sums"])
"""What machine code leaves to TLC."""


def lamps(root: Path, *, rows: str = ROWS) -> Manifest:
    folder = root / "lamp"
    folder.mkdir()
    (folder / "Lamp.tla").write_text(LAMP.replace("====", "NotLit == lit = 0\n===="))
    (folder / "MutLamp.tla").write_text(MUTANTS)
    more = {"small": "", "live": "PROPERTY Bright\n", "summed": "INVARIANT Summed\n"}
    more |= {"sums": "PROPERTY Sums\n"}
    for name, text in more.items():
        config = f"SPECIFICATION Spec\nINVARIANT Low\nPROPERTY Slow\n{text}"
        (folder / f"Lamp_{name}.cfg").write_text(config)
    (folder / "checks.toml").write_text(CHECKS)
    (folder / "measured.toml").write_text(rows)
    return read_manifest(root)


def test_what_is_as_recorded_is_confirmed_and_liveness_is_not(tmp_path: Path) -> None:
    manifest = lamps(tmp_path)
    entries: list[Checkable] = [*manifest.models, *manifest.witnesses, *manifest.mutants]
    assert tuple([entry.name for entry in entries]) == ENTRIES
    for entry in entries:
        found = confirmed(manifest, entry)
        assert (found is None) == (entry.name in LIVE), entry
        assert found is None or found.row.ok


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("distinct = 4", "distinct = 5"),
        ("depth = 4", "depth = 3"),
        ("length = 5", "length = 4"),
        ("length = 2", "length = 3"),
    ],
)
def test_what_is_found_otherwise_is_not_confirmed(tmp_path: Path, old: str, new: str) -> None:
    manifest = lamps(tmp_path, rows=ROWS.replace(old, new))
    entries: list[Checkable] = [*manifest.models, *manifest.witnesses, *manifest.mutants]
    changed = [entry for entry in entries if confirmed(manifest, entry) is None]
    assert {entry.name for entry in changed} > LIVE


def test_who_stops_waiting_gets_nothing(tmp_path: Path) -> None:
    manifest, stop = lamps(tmp_path), Stop()
    stop.now()
    assert confirmed(manifest, manifest.models[0], stop=stop) is None


def test_a_ring_says_what_machine_code_confirmed_and_records_nothing(tmp_path: Path) -> None:
    lamps(tmp_path)
    call = ["rings", "--push", "--engine", "native", "--spec-root", str(tmp_path)]

    result = CliRunner().invoke(main, call)
    assert result.exit_code == 0, result.output
    assert "4 by machine code, 3 by TLC" in result.output
    assert re.search(r"7 as expected; .* s, \d+ s of machine code, \d+ s of TLC\n", result.output)
    rows = json.loads(CliRunner().invoke(main, [*call, "--json"]).stdout)["rows"]
    assert {row["name"] for row in rows if row["engine"] == "tlc"} == LIVE
    assert {row["name"] for row in rows if row["engine"] == "native"} == {*ENTRIES} - LIVE
    assert (tmp_path / "lamp" / "measured.toml").read_text() == ROWS
    result = CliRunner().invoke(main, [*call, "--record"])
    assert result.exit_code == 2
    assert "--record writes what TLC found" in result.output


def test_mutants_are_killed_by_machine_code_and_by_tlc(tmp_path: Path) -> None:
    lamps(tmp_path)
    for engine in ("native", "tlc"):
        call = ["mutants", "lamp", "--engine", engine, "--spec-root", str(tmp_path), "--no-runs"]
        result = CliRunner().invoke(main, call)
        assert result.exit_code == 0, result.output
        assert ("2 by machine code, 0 by TLC" in result.output) == (engine == "native")
        rows = json.loads(CliRunner().invoke(main, [*call, "--json"]).stdout)
        assert [row["tlc"]["status"] for row in rows] == ["as expected", "as expected"]

"""A folder of specifications for commands: a counter with one model and one witness."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.traces.tools.endings import SPECS

CHECKS: Final = """\
module = "Counter.tla"

[model]
small = { config = "holds.cfg" }

[witness]
Low = { shows = "three in all" }
"""
MEASURED: Final = """\
[model]
small = { found = "holds", distinct = 15, depth = 6, seconds = 2.4, date = 2024-01-31, tlc = "2" }

[witness]
Low = { found = "violates Low", length = 3, seconds = 1, date = 2024-01-31, tlc = "2" }
"""


def write_counter(root: Path, checks: str = CHECKS, measured: str = MEASURED) -> Path:
    """Write the counter's folder, which is returned."""
    folder = root / "counter"
    folder.mkdir()
    for name in ("Counter.tla", "holds.cfg", "invariant.cfg"):
        (folder / name).write_bytes((SPECS / name).read_bytes())
    (folder / "checks.toml").write_text(checks, "utf-8")
    (folder / "measured.toml").write_text(measured, "utf-8")
    return folder

"""A folder of specifications for commands: a counter with one model and one witness."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.traces.tools.endings import SPECS

MANIFEST: Final = """\
[[model]]
protocol = "counter"
name = "small"
module = "Counter.tla"
config = "holds.cfg"
expect = "holds"
ring = "push"
distinct = 15
depth = 6

[[witness]]
protocol = "counter"
name = "Low"
module = "Counter.tla"
config = "holds.cfg"
violates = "Low"
shows = "three in all"
length = 3
"""


def write_counter(root: Path, manifest: str = MANIFEST) -> Path:
    """Write the manifest and the counter's folder, which is returned."""
    folder = root / "counter"
    folder.mkdir()
    for name in ("Counter.tla", "holds.cfg", "invariant.cfg"):
        (folder / name).write_bytes((SPECS / name).read_bytes())
    (root / "manifest.toml").write_text(manifest, "utf-8")
    return folder

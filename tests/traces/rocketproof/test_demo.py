"""The part of the demo that catches a bug; the others are commands with tests of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from rocketproof.cli import main
from rocketproof.commands import demo


@pytest.mark.java
def test_the_page_has_the_bug_that_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "demo"
    report = out / "report.html"

    def others(*words: str) -> int:
        """Leave out what needs Spark, but for a page to add to."""
        if words[0] in ("simulate", "explain"):
            return do(*words)
        out.mkdir(exist_ok=True)
        report.write_text("<html>\n<body>\nthe runs\n</body>\n</html>")
        return 0

    do = demo._do
    monkeypatch.setattr(demo, "_do", others)
    result = CliRunner().invoke(main, ["demo", "--runs", "1", "--out", str(out)])

    assert result.exit_code == 0, result.output
    page = report.read_text("utf-8")
    assert "the runs" in page
    assert "<h2>A real bug is switched on: B05" in page
    assert "B05 is caught after" in page
    assert "rocketproof simulate epoch_truncation --seed=" in page
    explained = result.output.partition("$ rocketproof explain")[2].partition("\nThe report:")[0]
    words = [line.strip() for line in explained.splitlines() if line.strip().isalnum()]
    assert len(explained.splitlines()) > 5
    assert all(word in page for word in words)
    assert "$ rocketproof explain" in page

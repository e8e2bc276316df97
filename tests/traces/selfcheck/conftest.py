"""What tests of machine code share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tlatrace.machine_code import machine


@pytest.fixture
def compiled_soon(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Have LLVM translate a text as it stands; to optimise it takes thirty times as long.

    What a text says is the same; what is kept elsewhere is optimised.
    """
    monkeypatch.setattr(machine, "_LEVEL", 0)
    monkeypatch.setenv("ROCKETPROOF_CACHE", str(tmp_path / "unoptimised"))

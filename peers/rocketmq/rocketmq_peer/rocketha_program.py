"""Programs of rocketha among those of RocketMQ: they are started, and never imported."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import rocketha

__all__ = ["rocketha_command", "rocketha_environment"]


def rocketha_command(module: str, *arguments: str | Path) -> list[str]:
    """Return the words that start a module with this Python."""
    return [sys.executable, "-m", module, *map(str, arguments)]


def rocketha_environment() -> dict[str, str]:
    """Return this process's environment, in which the rocketha that runs here is found first."""
    here = str(Path(rocketha.__file__).resolve().parents[1])
    others = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([here, others] if others else [here])}

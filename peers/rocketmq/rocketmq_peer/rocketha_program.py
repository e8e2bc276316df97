"""How rocketha's own processes are started beside released ones: as programs, like they are."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import rocketha

__all__ = ["rocketha_program", "with_rocketha"]


def rocketha_program(node: str, configuration: Path) -> list[str]:
    """Return the words that start a node of `rocketha.process` with a configuration file.

    That of a "broker" and of a "name_server" may be RocketMQ's; a "controller" has its own.
    """
    return [sys.executable, "-m", f"rocketha.process.{node}", "-c", str(configuration)]


def with_rocketha(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which Python finds the same `rocketha` as this process."""
    root = str(Path(str(rocketha.__file__)).parents[1])
    before = environment.get("PYTHONPATH", "")
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, (root, before)))}

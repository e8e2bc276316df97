"""How rocketha's own processes are started beside released ones: as programs, like they are."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import rocketha

__all__ = ["rocketha_broker", "rocketha_controller", "rocketha_name_server", "with_rocketha"]


def rocketha_broker(configuration: Path) -> list[str]:
    """Return the words that start a broker with a configuration file, which may be RocketMQ's."""
    return [sys.executable, "-m", "rocketha.process.broker", "-c", str(configuration)]


def rocketha_controller(configuration: Path) -> list[str]:
    """Return the words that start a controller with a configuration file."""
    return [sys.executable, "-m", "rocketha.process.controller", "-c", str(configuration)]


def rocketha_name_server(configuration: Path) -> list[str]:
    """Return the words that start a name server with a file, which may be RocketMQ's."""
    return [sys.executable, "-m", "rocketha.process.name_server", "-c", str(configuration)]


def with_rocketha(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which Python finds the same `rocketha` as this process."""
    root = str(Path(str(rocketha.__file__)).parents[1])
    before = environment.get("PYTHONPATH", "")
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, (root, before)))}

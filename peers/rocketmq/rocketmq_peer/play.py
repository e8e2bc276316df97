"""Play a scenario with a release: start the group, let it happen, and end everything."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from rocketmq_peer.configuration import ControllerKind
from rocketmq_peer.errors import ProcessError
from rocketmq_peer.group import Group
from rocketmq_peer.jars import find_jars
from rocketmq_peer.played_run import PlayedRun
from rocketmq_peer.scenario import Scenario, Stage

__all__ = ["play"]

_NOT_RECORDED: Final = "rocketproof agent: not recorded: "
"""What the agent prints where it could not look."""


def play(scenario: Scenario, version: str, folder: Path, say: Callable[[str], None]) -> PlayedRun:
    """Play a scenario in a new or empty folder, and write there what came of it.

    `say` gets a line of what happens.

    Raises:
        ToolMissingError: there is no JDK.
        PeerError: the release is not fetched, or the folder not empty.
    """
    began = time.monotonic()

    def say_when(what: str) -> None:
        say(f"{time.monotonic() - began:5.1f} s  {what}")

    options = scenario.options
    if scenario.protocols:
        options = replace(options, protocol=scenario.protocols[0])
    group = Group(folder, find_jars(version), options)
    stage = Stage(group, say_when)
    trouble: str | None = None
    with group:
        say_when(f"RocketMQ {version} starts in {folder}")
        try:
            scenario.play(stage)
        except ProcessError as error:
            trouble = str(error)
    unrecorded = _unrecorded(folder)
    promises = options.promises
    of_members = ("dledger",) if (folder / "members").exists() else ()
    run = PlayedRun(
        scenario=scenario.name,
        version=version,
        protocols=(*scenario.protocols, *of_members),
        museum=scenario.museum,
        promises_durability=promises.all_ack_in_sync_state_set and not options.elect_unclean,
        played=stage.played,
        history=scenario.history,
        controller="rocketha" if options.controller_kind is ControllerKind.ROCKETHA else "",
        seconds=round(time.monotonic() - began, 1),
        trouble=trouble or (f"not recorded: {unrecorded[0]}" if unrecorded else None),
    )
    if run.trouble is None and run.outcome is not None and run.outcome.missing:
        run = msgspec.structs.replace(run, trouble=run.outcome.missing)
    run.write(folder)
    return run


def _unrecorded(folder: Path) -> list[str]:
    """Return where agents could not look, as they say it in what their processes printed."""
    return [
        line.removeprefix(_NOT_RECORDED)
        for output in sorted(folder.glob("nodes/*/out.txt"))
        for line in output.read_text("utf-8", "replace").splitlines()
        if line.startswith(_NOT_RECORDED)
    ]

"""The options that say what a simulated run is, for all commands that make runs."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar

import click

from rocketha.known_bugs import Bug
from rocketha.sim.engine.faults import ALL_FAULTS, NO_FAULTS, Fault, Faults
from rocketha.sim.engine.options import (
    BROKERS_MAX,
    CONTROLLERS_MAX,
    STEPS_MAX,
    SimOptions,
)
from rocketha.sim.engine.simulation import Simulation
from rocketproof.names import Named, did_you_mean
from rocketproof.protocols import PROTOCOLS

__all__ = [
    "CONFIGURATIONS",
    "refuse_strange_options",
    "refuse_without_traces",
    "repeat_command",
    "run_options",
    "simulation_options",
]

R = TypeVar("R")

CONFIGURATIONS: Final = ("safe", "rocketmq")
"""What `--config` takes."""


def _faults(_context: click.Context, _param: click.Parameter, text: str) -> Faults:
    if text == "all":
        return ALL_FAULTS
    if text == "none":
        return NO_FAULTS
    known = {fault.value: fault for fault in Fault}
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            meant = did_you_mean(name, known)
            raise click.BadParameter(f"{name!r} is none of all, none, {', '.join(known)}{meant}")
    return frozenset(known[name] for name in names)


_OPTIONS: Final = (
    click.option(
        "--faults",
        default="all",
        show_default=True,
        callback=_faults,
        metavar="LIST|all|none",
        help="Faults that may happen: " + ", ".join(Fault) + ".",
    ),
    click.option(
        "--bug",
        "bugs",
        type=Named((bug.value for bug in Bug), listed_by="rocketproof bugs"),
        multiple=True,
        metavar="NAME",
        help="Put a known bug into the implementation (`rocketproof bugs` lists them); may be given"
        " more than once.",
    ),
    click.option(
        "--brokers",
        type=click.IntRange(1, BROKERS_MAX),
        help=f"Nodes of a run; by default {SimOptions().brokers}, of "
        + ", ".join(
            f"{name} {plug.brokers}"
            for name, plug in PROTOCOLS.items()
            if plug.brokers != SimOptions().brokers
        )
        + ".",
    ),
    click.option(
        "--steps",
        type=click.IntRange(0, STEPS_MAX),
        help="Actions before the faults end; without it the seed decides.",
    ),
    click.option(
        "--config",
        "configuration",
        type=click.Choice(CONFIGURATIONS),
        default="safe",
        show_default=True,
        help="replica_group: a message is safe when the whole SyncStateSet has it; or, as RocketMQ "
        "does by default, when its master has it. lock_quorum: a queue is locked by a majority of "
        "the group; or, as RocketMQ does by default, by one broker. route: slaves act for their "
        "masters; or, as by RocketMQ's defaults, none does. escape: what is due is put to other "
        "masters until one has it; or, as RocketMQ does by default, to those in the same process, "
        "and half messages are passed that could not be put.",
    ),
    click.option(
        "--in-sync-replicas",
        type=click.IntRange(1, BROKERS_MAX),
        help="replica_group: a message is safe when so many brokers have it, in the set or not.",
    ),
    click.option(
        "--unclean", is_flag=True, help="replica_group: brokers that lack messages may be elected."
    ),
    click.option(
        "--controllers",
        type=click.IntRange(1, CONTROLLERS_MAX),
        default=1,
        show_default=True,
        help="replica_group: with more than one, the controllers are members of a DLedger group.",
    ),
)


def simulation_options(command: Callable[..., R]) -> Callable[..., R]:
    """Give a command the options, and hand their choice over as its first argument."""

    @wraps(command)
    def with_options(
        *args: object,
        faults: Faults,
        bugs: tuple[str, ...],
        brokers: int | None,
        steps: int | None,
        configuration: str,
        in_sync_replicas: int | None,
        unclean: bool,
        controllers: int,
        **kwargs: object,
    ) -> R:
        asked = PROTOCOLS.get(str(kwargs.get("protocol")))
        if brokers is None:
            brokers = SimOptions().brokers if asked is None else asked.brokers
        if in_sync_replicas is not None and in_sync_replicas > brokers:
            raise click.UsageError(f"--in-sync-replicas: there are {brokers} brokers")
        options = SimOptions(
            brokers=brokers,
            steps=steps,
            faults=faults,
            bugs=frozenset(Bug(name) for name in bugs),
            rocketmq_defaults=configuration == "rocketmq",
            elect_unclean=unclean,
            in_sync_replicas=in_sync_replicas,
            controllers=controllers,
        )
        return command(options, *args, **kwargs)

    decorated: Callable[..., R] = with_options
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def refuse_strange_options(options: SimOptions, simulation: Simulation[Any, Any]) -> None:
    """Refuse switches and controllers that a simulation does not have. Raises: UsageError"""
    protocol, has = simulation.name, simulation.bugs
    if options.controllers > 1 and not simulation.has_controllers:
        raise click.UsageError(f"--controllers: {protocol} has no group of controllers")
    strange = sorted(options.bugs - has)
    if strange:
        known = ", ".join(sorted(has))
        meant = did_you_mean(strange[0], has)
        raise click.UsageError(f"{protocol} has no bug {strange[0]}{meant} (it has {known})")


def refuse_without_traces(protocol: str, wanted: str) -> None:
    """Refuse what needs traces of a protocol whose runs have none. Raises: UsageError"""
    plug = PROTOCOLS[protocol]
    if plug.has_traces:
        return
    *others, last = plug.held_by
    raise click.UsageError(
        f"{wanted}: {protocol} has no specification of its own, so its runs have no traces; its "
        f"parts are held against those of {', '.join(others)} and {last}, each alone, and what "
        "clients see of the whole by `campaign` and `simulate`"
    )


def repeat_command(protocol: str, options: SimOptions, seed: int | None = None) -> str:
    """Return the command that runs a seed again, judges the run, and ends as its verdict says.

    Where runs have no traces, what clients saw is all that it judges.

    Without a seed it says {seed}, to be filled in.
    """
    parts = [
        "rocketproof",
        "simulate",
        protocol,
        *run_options(protocol, options),
        *(["--judge"] if PROTOCOLS[protocol].has_traces else []),
        "--seed",
    ]
    return f"{shlex.join(parts)} {'{seed}' if seed is None else seed}"


def run_options(protocol: str, options: SimOptions) -> list[str]:
    """Spell the options of a run of a protocol as a command line has them."""
    parts: list[str] = []
    for bug in sorted(options.bugs):
        parts += ["--bug", str(bug)]
    if options.faults != ALL_FAULTS:
        parts += ["--faults", ",".join(sorted(options.faults)) or "none"]
    if options.brokers != PROTOCOLS[protocol].brokers:
        parts += ["--brokers", str(options.brokers)]
    if options.steps is not None:
        parts += ["--steps", str(options.steps)]
    if options.rocketmq_defaults:
        parts += ["--config", "rocketmq"]
    if options.in_sync_replicas is not None:
        parts += ["--in-sync-replicas", str(options.in_sync_replicas)]
    if options.elect_unclean:
        parts.append("--unclean")
    if options.controllers != SimOptions().controllers:
        parts += ["--controllers", str(options.controllers)]
    return parts

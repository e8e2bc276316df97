"""What a run is made of: what the seed draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from rocketha.known_bugs import Bug, Bugs
from rocketha.known_bugs.overrides import Override, overridden
from rocketha.sim.engine.faults import Fault, FaultPlan, draw_plan
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.toy.rules import TOY_RULES, ToyRules

__all__ = ["TOY_BUGS", "TOY_FAULTS", "ToyPlan", "draw_toy_run"]

TOY_FAULTS: Final = (Fault.DELAY, Fault.RESET)
"""Each packet has a connection of its own: a reset loses it."""


def _any_message_taken(rules: ToyRules) -> ToyRules:
    return replace(rules, continues=lambda length, message: True)  # noqa: ARG005


_OVERRIDES: Final[Mapping[Bug, Override[ToyRules]]] = {Bug.OFFSET_CONTINUES: _any_message_taken}

TOY_BUGS: Final[Bugs] = frozenset(_OVERRIDES)
"""Only a bug that others have, too: a new one is a member of `Bug`, and an override in
`rocketha.known_bugs`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToyPlan:
    """What one run does."""

    steps: int
    faults: FaultPlan
    loss_percent: int
    """Share of packets that are lost."""
    brokers: int
    rules: ToyRules


def draw_toy_run(streams: PerPurposeStreams, options: SimOptions) -> ToyPlan:
    """Draw one run."""
    rng, share = streams.of("plan"), 1.0 if streams.redrawn else 0.5
    faults = draw_plan(rng, TOY_FAULTS, options.faults, share=share)
    steps, loss = rng.randrange(30, 90), rng.choice((10, 40))
    return ToyPlan(
        steps=steps if options.steps is None else options.steps,
        faults=faults,
        loss_percent=loss if Fault.RESET in faults else 0,
        brokers=options.brokers,
        rules=overridden(TOY_RULES, _OVERRIDES, options.bugs),
    )

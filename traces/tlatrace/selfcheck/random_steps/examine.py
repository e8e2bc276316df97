"""Draw machines until enough steps were claimed, and tell what the engines got wrong."""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tlatrace.judgement.transition import Transition
from tlatrace.selfcheck.agreement import Agreement, Disagreement, state_text
from tlatrace.selfcheck.random_steps.judges import ENGINES, OpenEngine, Wrong, examine_machine
from tlatrace.selfcheck.random_steps.machine import Machine, draw_actions, draw_states
from tlatrace.selfcheck.random_steps.relations import draw_relation
from tlatrace.selfcheck.random_steps.shrink import shrunk, write_reproducer
from tlatrace.tla_text import to_tla

__all__ = ["draw_machine", "examine_random_steps"]

_RELATIONS: Final = 8
_STATES: Final = 8
_SHRUNK: Final = 5
"""Disagreements that are made small; the others are counted."""


def draw_machine(draw: random.Random, name: str, relations: int = _RELATIONS) -> Machine:
    """Draw a machine with several next-state relations."""
    actions = draw_actions(draw)
    drawn = [draw_relation(draw, f"Next{at}", actions) for at in range(1, relations + 1)]
    return Machine(name, actions, tuple(drawn))


def examine_random_steps(
    steps: int,
    *,
    seed: int,
    engines: Mapping[str, OpenEngine] = ENGINES,
    reproducers: Path | None = None,
    on_stage: Callable[[str], None] | None = None,
) -> Agreement:
    """Claim at least so many steps of random machines; each engine answers each claim.

    Of the first disagreements of each kind a small one is written to a folder of `reproducers`.

    Raises:
        ToolError: TLC does not finish, or there is no Java or no jar.
    """
    started = time.monotonic()
    tell = on_stage or (lambda _: None)
    counts: Counter[str] = Counter()
    kinds: Counter[tuple[str, str]] = Counter()
    disagreements: list[Disagreement] = []
    while counts["claims"] < steps:
        tell(f"random steps: {counts['claims']:,} of {steps:,}")
        number = counts["machines"]
        draw = random.Random(f"{seed}/{number}")
        machine = draw_machine(draw, f"Machine{number}")
        states = draw_states(draw, _STATES)
        with tempfile.TemporaryDirectory(prefix="rocketproof-machine-") as folder:
            found = examine_machine(
                machine, states, draw=draw, folder=Path(folder), engines=engines
            )
        counts += found.counts
        counts.update(machines=1, relations=len(machine.relations), wrong=len(found.wrong))
        for wrong in found.wrong:
            kind = wrong.engine, wrong.answer
            kinds[kind] += 1
            if kinds[kind] == 1 and len(disagreements) < _SHRUNK:
                tell(f"random steps: making a disagreement of {machine.name} small")
                small = shrunk(machine, wrong, engines[wrong.engine])
                if reproducers is not None:
                    place = f"{machine.name}-{wrong.engine}-{wrong.answer}"
                    write_reproducer(reproducers / place.replace(" ", "-")[:80], *small)
                disagreements.append(_disagreement(*small))
    more = counts["wrong"] - len(disagreements)
    if more > 0:
        disagreements.append(Disagreement(question=f"and {more:,} more", tlc="", model=""))
    return Agreement(
        part="random-steps",
        subject="random machines",
        examined=counts["claims"],
        facts={name: counts[name] for name in ("machines", "relations", "right", "undecided")},
        disagreements=tuple(disagreements),
        seconds=time.monotonic() - started,
    )


def _disagreement(machine: Machine, wrong: Wrong) -> Disagreement:
    (relation,) = machine.relations
    question = f"{_shown(wrong.step)} of {machine.name} with\n{relation.text}"
    return Disagreement(question=question, tlc=wrong.tlc, model=f"{wrong.engine}: {wrong.answer}")


def _shown(step: Transition) -> str:
    assert step.pre is not None
    params = ", ".join([to_tla(param) for param in step.params])
    call = f"{step.action}({params})" if step.action else "any action"
    return f"{state_text(step.pre)}  --{call}-->  {state_text(step.post)}"

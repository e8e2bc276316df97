"""Make a disagreement small, and write it to files: a module, a configuration, a trace."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from tlatrace.errors import TlatraceError
from tlatrace.selfcheck.random_steps.judges import OpenEngine, Wrong, examine_machine
from tlatrace.selfcheck.random_steps.machine import Machine, Relation
from tlatrace.tla_text import to_tla
from tlatrace.trace.model import INIT, Event, Header, Trace
from tlatrace.trace.ndjson import write_trace
from tlatrace.values import State

__all__ = ["shrunk", "write_reproducer"]

_ROUNDS: Final = 12
_AT_ONCE: Final = 24


def shrunk(machine: Machine, wrong: Wrong, opened: OpenEngine) -> tuple[Machine, Wrong]:
    """Look for the shortest relation on which the engine errs in the same way, in the same state.

    Each round asks TLC once for all relations that say less by one change, from the shortest on.
    """
    assert wrong.step.pre is not None
    state = wrong.step.pre
    best = machine.only(wrong.relation, _init(state)), wrong
    for _ in range(_ROUNDS):
        found = _err(best[0], _less(best[1].relation), state, wrong, opened)
        if found is None:
            break
        best = machine.only(found.relation, _init(state)), found
    return best


def write_reproducer(folder: Path, machine: Machine, wrong: Wrong) -> None:
    """Write the module, its configuration and a trace with the claimed step.

    Raises:
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    step = wrong.step
    (folder / f"{machine.name}.tla").write_text(machine.module, "utf-8")
    (folder / f"{machine.name}.cfg").write_text(machine.config(wrong.relation.name), "utf-8")
    events = (
        Event(step=0, action=INIT, state=step.pre),
        Event(step=1, action=step.action, params=step.params, state=step.post),
    )
    write_trace(folder / "trace.ndjson", Trace(header=Header(spec=machine.name), events=events))
    text = f"TLC's list: {wrong.tlc}\n{wrong.engine}: {wrong.answer}\n"
    (folder / "answers.txt").write_text(text, "utf-8")


def _init(state: State) -> str:
    return " /\\ ".join([f"{name} = {to_tla(state[name])}" for name in sorted(state)])


def _less(relation: Relation) -> list[Relation]:
    """Return shorter relations, under names of their own."""
    by_text: dict[str, Relation] = {}
    for less in relation.smaller():
        by_text.setdefault(less.text, less)
    shorter = [by_text[text] for text in sorted(by_text, key=len) if len(text) < len(relation.text)]
    if len(shorter) > _AT_ONCE:  # both much and little at a time
        shorter = shorter[: _AT_ONCE // 2] + shorter[-_AT_ONCE // 2 :]
    return shorter


def _err(
    machine: Machine,
    relations: Iterable[Relation],
    state: State,
    wrong: Wrong,
    opened: OpenEngine,
) -> Wrong | None:
    """Return the answer to the first of the relations on which the engine errs alike."""
    named = [
        relation.renamed(f"{wrong.relation.name}_{at}") for at, relation in enumerate(relations)
    ]
    if not named:
        return None
    trial = replace(machine, relations=tuple(named))
    with tempfile.TemporaryDirectory(prefix="rocketproof-shrink-") as folder:
        try:
            tally = examine_machine(
                trial,
                [state],
                draw=random.Random(0),
                folder=Path(folder),
                engines={wrong.engine: opened},
            )
        except TlatraceError:  # a relation that says less may have no value
            return None
    alike = [found for found in tally.wrong if _kind(found) == _kind(wrong)]
    if not alike:
        return None
    best = min(alike, key=lambda found: len(found.relation.text))
    return replace(best, relation=best.relation.renamed(wrong.relation.name))


def _kind(wrong: Wrong) -> tuple[str, str, bool]:
    return wrong.tlc, wrong.answer.split(":")[0], wrong.step.action is None

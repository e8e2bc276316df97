"""Put the claims about one machine to the engines, beside TLC's lists of successors."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from tlatrace.errors import EvaluationError, SubsetError
from tlatrace.extras import installed
from tlatrace.judgement.specification import load_spec
from tlatrace.judgement.transition import Allowed, Failed, Judged, Refused, Transition
from tlatrace.oracle import load_model
from tlatrace.oracle.states import ModelState
from tlatrace.runtime.values import RuntimeValue
from tlatrace.selfcheck.examine import model_judge
from tlatrace.selfcheck.random_steps.claims import Claim, claims
from tlatrace.selfcheck.random_steps.machine import Machine, Relation
from tlatrace.selfcheck.random_steps.successors import successor_lists
from tlatrace.selfcheck.verdicts import Judge
from tlatrace.tla.config import parse_config
from tlatrace.tlc.judge import judge
from tlatrace.values import State

__all__ = [
    "ENGINES",
    "MODEL",
    "MODEL_LISTS",
    "NATIVE",
    "TLC_JUDGE",
    "OpenEngine",
    "Tally",
    "Wrong",
    "examine_machine",
]

MODEL: Final = "the model"
MODEL_LISTS: Final = "the model's successors"
TLC_JUDGE: Final = "TLC's judge"
NATIVE: Final = "machine code"

OpenEngine: TypeAlias = Callable[[Path, str], Judge]
"""(module, configuration) -> a judge of steps; a parameter, so that tests can break it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """A claim that an engine answered otherwise than TLC's list of successors."""

    relation: Relation
    engine: str
    step: Transition
    tlc: str
    answer: str


@dataclass(slots=True)
class Tally:
    """What was found of the relations of a machine."""

    counts: Counter[str] = field(default_factory=Counter)
    """Claims that are right, wrong and without a verdict of an engine."""
    wrong: list[Wrong] = field(default_factory=list)


def by_model(module: Path, config: str) -> Judge:
    """Open the compiled model, by the same door as for corpora."""
    return model_judge(load_model(module, parse_config(config, module), kept=False))


def by_tlc(module: Path, config: str) -> Judge:
    """Open TLC as the judge of batches, without second looks."""
    spec = load_spec(module, config=parse_config(config, module))
    return lambda steps: judge(spec, steps, second_looks=0)


def by_model_lists(module: Path, config: str) -> Judge:
    """Open the compiled model as what lists the steps of an action with given arguments."""
    model = load_model(module, parse_config(config, module), kept=False)
    known: dict[tuple[ModelState, str | None, tuple[RuntimeValue, ...]], frozenset[ModelState]] = {}

    def listed(step: Transition) -> Judged:
        assert step.pre is not None
        pre, post = model.adopt(step.pre), model.adopt(step.post)
        params = tuple([model.adopt_value(param) for param in step.params])
        key = pre, step.action, params
        try:
            if key not in known:
                if step.action is None:
                    found = model.successors(pre)
                else:
                    found = model.bound_successors(pre, step.action, params)
                known[key] = frozenset([one.post for one in found])
        except EvaluationError as error:
            return Judged(step=Failed(str(error)))
        return Judged(step=Allowed() if post in known[key] else Refused())

    return lambda steps: [listed(step) for step in steps]


def by_native(module: Path, config: str) -> Judge:
    """Open machine code: what it does not accept, the compiled model says.

    So a step that it accepts wrongly is the only answer that can be its own.
    """
    from tlatrace.oracle.native import NativeModel  # here: LLVM is an extra

    model = load_model(module, parse_config(config, module), kept=False, native=True)
    native, of_model = NativeModel(model.source), model_judge(model)

    def judged(step: Transition) -> Judged:
        assert step.pre is not None
        pre, post = model.adopt(step.pre), model.adopt(step.post)
        params = model.adopt_params(step.action, step.params)
        role = "next" if step.action is None else f"action {step.action}"
        if native.surely(role, pre, post, params):
            return Judged(step=Allowed())
        (answer,) = of_model([step])
        return answer

    return lambda steps: [judged(step) for step in steps]


ENGINES: Final[Mapping[str, OpenEngine]] = MappingProxyType(
    {MODEL: by_model, MODEL_LISTS: by_model_lists, TLC_JUDGE: by_tlc}
    | ({NATIVE: by_native} if installed("native") else {})
)


def examine_machine(
    machine: Machine,
    states: Sequence[State],
    *,
    draw: random.Random,
    folder: Path,
    engines: Mapping[str, OpenEngine] = ENGINES,
) -> Tally:
    """Ask TLC for its lists, once for all relations, and every engine about every claim.

    Raises:
        ToolError: TLC does not finish, or there is no Java or no jar.
    """
    module = folder / f"{machine.name}.tla"
    module.write_text(machine.module, "utf-8")
    names = ["Free", *[relation.name for relation in machine.relations]]
    free, *lists = successor_lists(module, machine.config("Free"), names, states)
    tally = Tally()
    for relation, allowed in zip(machine.relations, lists, strict=True):
        claimed = list(claims(draw, states, free, allowed))
        tally.counts["right"] += sum(claim.right for claim in claimed)
        tally.counts["claims"] += len(claimed)
        config = machine.config(relation.name)
        for name, opened in engines.items():
            _ask(tally, relation, name, opened, module, config, claimed)
    return tally


def _ask(
    tally: Tally,
    relation: Relation,
    engine: str,
    opened: OpenEngine,
    module: Path,
    config: str,
    claimed: Sequence[Claim],
) -> None:
    try:
        answers = opened(module, config)([claim.step for claim in claimed])
    except SubsetError as error:
        tally.counts[f"refused by {engine}"] += 1
        first = claimed[0]
        tally.wrong.append(_wrong(relation, engine, first, str(error)))
        return
    for claim, judged in zip(claimed, answers, strict=True):
        match judged.step:
            case Failed(reason=reason):
                tally.counts["undecided"] += 1
                tally.wrong.append(_wrong(relation, engine, claim, f"undecided: {reason}"))
            case Allowed() if not claim.right:
                tally.wrong.append(_wrong(relation, engine, claim, "allowed"))
            case Refused() if claim.right:
                tally.wrong.append(_wrong(relation, engine, claim, "refused"))
            case _:
                tally.counts[engine] += 1


def _wrong(relation: Relation, engine: str, claim: Claim, answer: str) -> Wrong:
    listed = "its successors of Next have it" if claim.right else "its successors of Next lack it"
    return Wrong(relation=relation, engine=engine, step=claim.step, tlc=listed, answer=answer)

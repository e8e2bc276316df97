"""Finite models of Escape, compiled: what the machine is driven by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from model_tests.machines.realizable import Realizable
from rocketha.sim.engine.node import broker_address
from rocketha.sim.escape.plan import FIRST_MASTER
from rocketha.types import BrokerId
from rocketproof.protocols.escape.seen import TraceKind
from rocketproof.protocols.escape.world import pop_id
from tlatrace.oracle import Model, ModelState, Step, load_model
from tlatrace.testing import Goals, Moves
from tlatrace.tla.config import Assignment, TlcConfig, read_config
from tlatrace.values import Fcn, ModelValue, TlaSet, Value, canonical, tla_set

__all__ = ["MODELS", "escape_constants", "goals", "moves"]

_SPEC: Final = Path(__file__).parents[2] / "spec" / "escape"
_STATES: Final = 6_000
"""The nearest ones of each model, which has more."""
MODELS: Final = {TraceKind.DELAYED: "small", TraceKind.HALVES: "small", TraceKind.POPS: "pop"}
"""What is explored of what: a projection is of one kind, and so is the model."""


@cache
def moves(model: str, kind: TraceKind) -> Moves:
    """Compile a model, of what a trace is of."""
    config, local = _config(model, kind), escape_constants(model, kind)["Local"]
    assert isinstance(local, TlaSet)
    return Moves(_Realizable(load_model(_SPEC / "MCEscape.tla", config), frozenset(local)))


@cache
def goals(kind: TraceKind) -> Goals:
    """Explore what is near of a model."""
    return Goals(moves(MODELS[kind], kind), _STATES)


@cache
def escape_constants(model: str, kind: TraceKind) -> dict[str, Value]:
    """Return the constants of a model."""
    assignments = _config(model, kind).assignments
    return {one.name: one.value for one in assignments if one.value is not None}


class _Realizable(Realizable):
    """The model without some steps that no node takes.

    * A master in the slave's process ends with it, and the slave knows at once whether it runs:
      nothing comes between.
    * What the slave's own log says of half messages it says from the beginning.
    * Pops are numbered as their check points are sent.
    """

    def __init__(self, model: Model, local: frozenset[Value]) -> None:
        """Take which masters are in the slave's process."""
        super().__init__(model)
        self._local = sorted(map(str, local))
        (self._initial,) = model.initial_states()

    def is_real(self, state: ModelState, step: Step) -> bool:
        """Tell whether a node may take a step."""
        params = tuple([self.shown(param) for param in step.params])
        is_up, known = self.part(state, "up"), self.part(state, "known")
        assert isinstance(known, TlaSet)
        for local in self._local:
            runs, is_known = self.part(state, "alive", local), local in known
            if runs and not is_up:
                return (step.action, params) == ("Die", (local,))
            if is_up and runs != is_known:
                return (step.action, params) == ("LearnRoute", (local, runs))
        match step.action, params:
            case "LearnRoute", (master, _):
                return master not in self._local
            case "Return", (master,):
                return is_up is True or master not in self._local
            case "End", (_, _, True):
                return self._is_at_first(state)
            case "CheckPoint", (str() as pop, _):
                number = int(pop.removeprefix("p"))
                return number == 1 or pop_id(number - 1) in self._popped(state)
            case _:
                return True

    def _is_at_first(self, state: ModelState) -> bool:
        """Tell whether nothing has happened but what the slave's log says."""
        pairs = zip(self.variables, state, self._initial, strict=True)
        said = {"ended", "op", "visible"}
        if any(now != first for name, now, first in pairs if name not in said):
            return False
        ended, op = self.part(state, "ended"), self.part(state, "op")
        assert isinstance(ended, tuple)
        assert isinstance(op, TlaSet)
        return all(how == "open" or half in op for half, how in enumerate(ended, start=1))

    def _popped(self, state: ModelState) -> set[Value]:
        """Return the pops of which something was sent."""
        sent = self.part(state, "popSent")
        assert isinstance(sent, TlaSet)
        return {one["p"] for one in sent if isinstance(one, Fcn)}


def _config(model: str, kind: TraceKind) -> TlcConfig:
    """Read a configuration, and call masters and pops as a projection does.

    A model of half messages has them in the place of delayed ones: a trace has not both.
    """
    config = read_config(_SPEC / f"MCEscape_{model}.cfg")
    constants = {one.name: one.value for one in config.assignments}
    return replace(
        config,
        assignments=tuple([_named(one, kind, constants) for one in config.assignments]),
    )


def _named(one: Assignment, kind: TraceKind, constants: Mapping[str, Value | None]) -> Assignment:
    if not isinstance(one.value, TlaSet):
        return one
    names: Sequence[Value]
    match one.name:
        case "Master" | "Local":
            names = [_master(member) for member in one.value]
        case "Pop":
            names = [pop_id(number) for number in range(1, len(one.value) + 1)]
        case "Delayed" | "Half" if kind is TraceKind.HALVES:
            others = constants["Half" if one.name == "Delayed" else "Delayed"]
            assert isinstance(others, TlaSet)
            names = list(others)
        case _:
            return one
    value = tla_set(names)
    return replace(one, text=f"{one.name} = {canonical(value)}", value=value)


def _master(member: Value) -> str:
    """Return what a projection calls `m1`, `m2`, ..."""
    assert isinstance(member, ModelValue)
    return broker_address(BrokerId(FIRST_MASTER + int(member.name.removeprefix("m")) - 1))

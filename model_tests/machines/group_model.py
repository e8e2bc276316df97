"""Finite models of ReplicaGroup, compiled: what the machine is driven by."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from rocketproof.protocols.epoch_truncation.values import NONE
from rocketproof.protocols.replica_group.values import NO_CONN
from tlatrace.oracle import Model, ModelState, Step, load_model
from tlatrace.readings import Reading
from tlatrace.runtime.values import RuntimeValue
from tlatrace.testing import Call, Goals, Moves
from tlatrace.testing.calls import call_of, plain
from tlatrace.tla.config import TlcConfig, read_config
from tlatrace.values import Fcn, State, TlaSet, Value

__all__ = ["SPEC", "Bounds", "bounds", "goals", "moves"]

SPEC: Final = Path(__file__).parents[2] / "spec" / "replica_group"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Where a model ends, and the cores would go on."""

    brokers: int
    epoch: int
    alters: int
    elect_unclean: bool


@cache
def moves(name: str) -> Moves:
    """Compile a model; about three seconds."""
    model = load_model(SPEC / "MCReplicaGroup.tla", _config(name))
    return Moves(_Realizable(model), _is_told_apart_by_nobody)


@cache
def goals(name: str, states: int) -> Goals:
    """Explore a model up to a number of states; about ten seconds for 16,000."""
    return Goals(moves(name), states)


@cache
def bounds(name: str) -> Bounds:
    """Read the bounds of a model."""
    values = {one.name: one.value for one in _config(name).assignments}
    brokers, epoch, alters = values["Broker"], values["MaxEpoch"], values["MaxAlter"]
    assert isinstance(brokers, TlaSet)
    assert isinstance(epoch, int)
    assert isinstance(alters, int)
    return Bounds(
        brokers=len(brokers.elements),
        epoch=epoch,
        alters=alters,
        elect_unclean=values["EnableElectUncleanMaster"] is True,
    )


def _is_told_apart_by_nobody(call: Call, allowed: Collection[Call]) -> bool:
    """Tell steps that count as another one.

    An operator who designates a master where one is missing does what a scan does. A master that
    has records to send sends no heartbeat.
    """
    match call.action, call.params:
        case "DesignateMaster", (broker,):
            return call_of("ElectMaster", (broker,)) in allowed
        case "HearEpoch", (slave,):
            return call_of("Replicate", (slave,)) in allowed
        case _:
            return False


class _Realizable:
    """A model without some steps that no core takes: what the machine is to reach leads past them.

    * A slave that was never told of a master connects to nobody.
    * When a slave shakes hands anew its master drops the old connection first, which is a step.
    * A master sends nothing before it has heard a first report.
    """

    def __init__(self, model: Model) -> None:
        """Leave steps of `model` out."""
        self._model = model
        self._at = {name: at for at, name in enumerate(model.variables)}
        self._shown: dict[RuntimeValue, Value] = {}

    @property
    def module(self) -> str:
        """Return the name of the TLA+ module."""
        return self._model.module

    @property
    def variables(self) -> tuple[str, ...]:
        """Return the variables, sorted."""
        return self._model.variables

    @property
    def actions(self) -> Mapping[str, int]:
        """Return what is of action level, and how many parameters each has."""
        return self._model.actions

    def calls(self, action: str) -> bool:
        """Tell whether Next calls an action by name."""
        return self._model.calls(action)

    @property
    def reading(self) -> Reading:
        """Return how values of traces are read."""
        return self._model.reading

    def adopt_variable(self, name: str, value: Value) -> RuntimeValue:
        """Make the value of a variable the model's."""
        return self._model.adopt_variable(name, value)

    def show_value(self, datum: RuntimeValue) -> Value:
        """Return a value of the model's as everybody knows it."""
        return self._model.show_value(datum)

    def show(self, state: ModelState) -> State:
        """Return a state of the model's as everybody knows it."""
        return self._model.show(state)

    def initial_states(self) -> Sequence[ModelState]:
        """Return the initial states."""
        return self._model.initial_states()

    def violated(self, state: ModelState) -> tuple[str, ...]:
        """Name the invariants that are FALSE in a state."""
        return self._model.violated(state)

    def within_step(self, pre: ModelState, post: ModelState) -> bool:
        """Tell whether the configuration's action constraints have the step explored."""
        return self._model.within_step(pre, post)

    def within(self, state: ModelState) -> bool:
        """Tell whether the configuration's constraints have the state explored."""
        return self._model.within(state)

    def successors(self, state: ModelState) -> Sequence[Step]:
        """Return the steps from a state that a core may take."""
        return [step for step in self._model.successors(state) if self._is_real(state, step)]

    def _is_real(self, state: ModelState, step: Step) -> bool:
        match step.action, [self._show(param) for param in step.params]:
            case "Handshake", [master, slave]:
                told = self._part(state, "known", slave) != 0
                return told and self._part(state, "conn", master, slave) == NO_CONN
            case (("Replicate" | "HearEpoch"), [slave]):
                master = self._part(state, "link", slave)
                return self._part(state, "conn", master, slave, "ack") != -1
            case _:
                return True

    def _show(self, datum: RuntimeValue) -> Value:
        if datum not in self._shown:
            self._shown[datum] = plain(self._model.show_value(datum))
        return self._shown[datum]

    def _part(self, state: ModelState, variable: str, *keys: Value) -> Value:
        value = self._show(state[self._at[variable]])
        for key in keys:
            assert isinstance(value, Fcn)
            value = value[key]
        return value


def _config(name: str) -> TlcConfig:
    """Read a configuration, and spell "no broker" as the projection does."""
    config = read_config(SPEC / f"MCReplicaGroup_{name}.cfg")
    assignments = [
        replace(one, text=f'None = "{NONE}"', value=NONE) if one.name == "None" else one
        for one in config.assignments
    ]
    return replace(config, assignments=tuple(assignments))

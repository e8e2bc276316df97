"""Finite models of ReplicaGroup, compiled: what the machine is driven by."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from model_tests.machines.realizable import Realizable
from rocketproof.protocols.epoch_truncation.values import NONE
from rocketproof.protocols.replica_group.values import NO_CONN
from tlatrace.oracle import ModelState, Step, load_model
from tlatrace.testing import Call, Goals, Moves
from tlatrace.testing.calls import call_of
from tlatrace.tla.config import TlcConfig, read_config
from tlatrace.values import TlaSet

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


class _Realizable(Realizable):
    """The model without some steps that no core takes.

    * A slave that was never told of a master connects to nobody.
    * When a slave shakes hands anew its master drops the old connection first, which is a step.
    * A master sends nothing before it has heard a first report.
    """

    def is_real(self, state: ModelState, step: Step) -> bool:
        """Tell whether a core may take a step."""
        match step.action, [self.shown(param) for param in step.params]:
            case "Handshake", [master, slave]:
                told = self.part(state, "known", slave) != 0
                return told and self.part(state, "conn", master, slave) == NO_CONN
            case (("Replicate" | "HearEpoch"), [slave]):
                master = self.part(state, "link", slave)
                return self.part(state, "conn", master, slave, "ack") != -1
            case _:
                return True


def _config(name: str) -> TlcConfig:
    """Read a configuration, and spell "no broker" as the projection does."""
    config = read_config(SPEC / f"MCReplicaGroup_{name}.cfg")
    assignments = [
        replace(one, text=f'None = "{NONE}"', value=NONE) if one.name == "None" else one
        for one in config.assignments
    ]
    return replace(config, assignments=tuple(assignments))

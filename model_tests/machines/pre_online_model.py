"""Finite models of PreOnline, compiled: what the machine is driven by."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from model_tests.machines.realizable import Realizable
from rocketha.formats.offset_tables import TableKind
from rocketproof.protocols.pre_online.projection import queues_of
from tlatrace.oracle import ModelState, Step, load_model
from tlatrace.testing import Goals, Moves
from tlatrace.tla.config import TlcConfig, read_config
from tlatrace.values import TlaSet, Value, tla_set

__all__ = ["goals", "moves", "pre_online_constants"]

_SPEC: Final = Path(__file__).parents[2] / "spec" / "pre_online"
_STATES: Final = 12_000
"""The nearest ones of the small model, if it has more."""


@cache
def moves(model: str, kind: TableKind) -> Moves:
    """Compile a model, of a table."""
    return Moves(_Realizable(load_model(_SPEC / "MCPreOnline.tla", _config(model, kind))))


@cache
def goals() -> Goals:
    """Explore what is near of the small model, of consumers' offsets."""
    return Goals(moves("small", TableKind.CONSUMER), _STATES)


@cache
def pre_online_constants(model: str, kind: TableKind) -> dict[str, Value]:
    """Return the constants of a model."""
    assignments = _config(model, kind).assignments
    return {one.name: one.value for one in assignments if one.value is not None}


class _Realizable(Realizable):
    """The model without some steps that no core takes.

    * A slave that is told of its master learns at once where it is, if it does not know: nothing
      comes between the two.
    * It forgets its master when it has heard that it is gone.
    * A master that may go online asks no more; and it asks before it does anything else.
    """

    def is_real(self, state: ModelState, step: Step) -> bool:
        """Tell whether a core may take a step."""
        asked, slaves = self.part(state, "asked") is True, self.part(state, "masterAddr")
        assert isinstance(slaves, tuple), "slaves are 1, 2, ..."
        for number, is_told in enumerate(slaves, start=1):
            if is_told is True and self.part(state, "link", number) == "none":
                return step.action == "LearnHaAddress"
        match step.action, [self.shown(param) for param in step.params]:
            case "Forget", [slave]:
                return self.part(state, "masterAddr", slave) is False
            case "AskGroup", []:
                members, done = self.part(state, "members"), self.part(state, "done")
                assert isinstance(members, TlaSet)
                assert isinstance(done, TlaSet)
                return not (asked and set(members) <= set(done))
            case (("SendHaInfo" | "TakeTable"), [_]):
                return asked
            case _:
                return True


def _config(model: str, kind: TableKind) -> TlcConfig:
    """Read a configuration, and call its queues as a projection does, which has two always."""
    config = read_config(_SPEC / f"MCPreOnline_{model}.cfg")
    queues = queues_of(kind)
    text = "Queue = {" + ", ".join(f'"{queue}"' for queue in queues) + "}"
    return replace(
        config,
        assignments=tuple(
            replace(one, text=text, value=tla_set(queues)) if one.name == "Queue" else one
            for one in config.assignments
        ),
    )

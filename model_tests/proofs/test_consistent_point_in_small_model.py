"""What ConsistentPoint assumes and claims holds in every state of the small model."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from model_tests.machines.small_model import SPEC, goals, moves, small_config
from rocketproof.theorems.consistent_point import ASSUMPTIONS, CLAIMS
from tlatrace.oracle import Model, load_model
from tlatrace.values import Fcn, fcn

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("small model")]

_MODULE: Final = Path(__file__).with_name("SmallConsistentPoint.tla")


@cache
def model() -> Model:
    config = replace(small_config(), invariants=(*ASSUMPTIONS, *CLAIMS))
    return load_model(_MODULE, config, libraries=[SPEC, SPEC / "proofs"])


def test_the_protocol_keeps_what_is_assumed_and_what_is_claimed() -> None:
    """The states are those of the small model: this one only has other invariants."""
    assert model().variables == moves().model.variables
    assert [model().show(state) for state in goals().states if model().violated(state)] == []


def test_a_state_in_which_it_is_otherwise_is_seen() -> None:
    for at in goals().states:
        state = model().show(at)
        logs = state["log"]
        assert isinstance(logs, Fcn)
        first, *others = logs.pairs
        without = {**state, "log": fcn([(first[0], ()), *others])}
        if "MasterEpochHistory" in model().violated(model().adopt(without)):
            return
    pytest.fail("no state without the records of a master epoch violates it")

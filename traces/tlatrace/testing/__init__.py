"""Test your own system against your specification: a hypothesis state machine made of a model.

    model = load_model(Path("Lock.tla"), Path("Lock.cfg"))
    TestLock = machine(model, LockAdapter).TestCase

An adapter has two methods: `perform` makes the system take an action, `observe` returns variables
as plain dicts, lists, sets, strings and numbers.
This package is the only one that needs hypothesis.
"""

from __future__ import annotations

from tlatrace.extras import need

need("testing")

from tlatrace.testing.adapter import Adapter, Closing, Following, Selective, Stuttering
from tlatrace.testing.calls import Call, Step
from tlatrace.testing.coverage import Coverage
from tlatrace.testing.goals import Goals
from tlatrace.testing.lockstep import Lockstep, Mismatch
from tlatrace.testing.machine import ModelMachine, check, machine, replay
from tlatrace.testing.moves import Moves

__all__ = [
    "Adapter",
    "Call",
    "Closing",
    "Coverage",
    "Following",
    "Goals",
    "Lockstep",
    "Mismatch",
    "ModelMachine",
    "Moves",
    "Selective",
    "Step",
    "Stuttering",
    "check",
    "machine",
    "replay",
]

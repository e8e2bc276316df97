"""Why SnapshotLoading's theorem has PrefixCovered only where one snapshot is kept (OneKept).

Where three are kept it is not so: a file that was never whole counts as a fault of the disk for as
long as it is there, and stands among the three behind which the log is cut. It is found and removed
after the newest one was damaged; then its removal is for sure, and it counts no more. When the last
of the three is damaged, too, that makes two faults, and nothing is left.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, TypeAlias

import pytest

from tlatrace.model import Model, ModelState, load_model
from tlatrace.runtime.values import FALSE, RuntimeValue
from tlatrace.tla.config import parse_config

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("theorem SnapshotLoading")]

SPEC: Final = Path(__file__).parents[2] / "spec" / "snapshot_loading"
FALLEN: Final = ("PrefixCovered", "SnapAtomic", "RefusedByDisk")

Call: TypeAlias = tuple[RuntimeValue, ...]
"""An action and its parameters."""

WRITING: Final[list[Call]] = [("SyncTemporary",), ("Rename",), ("SyncDirectory",), ("ReadBack",)]
CRASH: Final[Call] = ("Crash", frozenset(), FALSE)
STEPS: Final[list[Call]] = [
    *[("Agree",)] * 4,
    *[("AppendEntry", number) for number in (1, 2, 3, 4)],
    ("Commit", 3),
    # Three snapshots, of which the third was never whole: its removal does not survive.
    *[("Apply",), ("Save", "good"), *WRITING],
    *[("Apply",), ("Save", "good"), *WRITING],
    *[("Apply",), ("Save", "bad"), *WRITING],
    *[CRASH, ("Start",), ("LoadNewest",), ("LoadNewest",)],
    # It stands below the fourth, which gets its name; the log is cut behind the second.
    *[("Commit", 4), ("Apply",), ("Apply",), ("Save", "good"), *WRITING[:2]],
    *[("Crash", frozenset([4]), FALSE), ("Start",), ("LoadNewest",), ("CutLog",)],
    # The fourth is damaged; it and the third go, for sure.
    *[("Rot", 4), CRASH, ("Start",), ("LoadNewest",), ("LoadNewest",), ("LoadNewest",)],
    ("Crash", frozenset([3, 4]), FALSE),
]
AT_LAST: Final[list[Call]] = [("Rot", 2), ("Start",), ("LoadNewest",), ("LoadNewest",)]


def model(reserved: int) -> Model:
    module = SPEC / "MCSnapshotLoading.tla"
    text = (SPEC / "MCSnapshotLoading_small.cfg").read_text("utf-8")
    for was, is_ in (
        ("Terms <- ThreeTerms", "Terms <- FourTerms"),
        ("Reserved = 2", f"Reserved = {reserved}"),
        ("MaxCrashes = 1", "MaxCrashes = 4"),
        ("MaxDamaged = 1", "MaxDamaged = 2"),
        ("MaxBad = 0", "MaxBad = 1"),
    ):
        assert was in text
        text = text.replace(was, is_)
    return load_model(module, parse_config(text, module))


def taken(spec: Model, state: ModelState, call: Call) -> ModelState:
    action, *params = call
    found = [
        step.post
        for step in spec.successors(state)
        if step.action == action and list(step.params) == params
    ]
    assert found, (call, spec.show(state))
    return found[0]


def test_damage_to_fewer_files_than_three_is_not_always_borne() -> None:
    spec = model(3)
    (state,) = spec.initial_states()
    for call in STEPS:
        state = taken(spec, state, call)
        assert spec.violated(state) == (), call
    for call in AT_LAST:
        state = taken(spec, state, call)
    assert set(spec.violated(state)) == set(FALLEN)
    assert spec.show(state)["damaged"] == 2

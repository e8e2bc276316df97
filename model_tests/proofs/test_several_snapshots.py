"""Why SnapshotLoading's theorem has PrefixCovered only where one snapshot is kept (OneKept).

Where two or three are kept it is not so: a file that was never whole counts as a fault of the disk
for as long as it is there, and stands among those behind which the log is cut. It is found and
removed after the newest one was damaged; then its removal is for sure, and it counts no more. Of
two that are kept nothing is left then; of three, when the last one is damaged, too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, TypeAlias

import pytest

from tlatrace.oracle import Model, ModelState, load_model
from tlatrace.runtime.values import FALSE, RuntimeValue
from tlatrace.tla.config import parse_config

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("theorem SnapshotLoading")]

SPEC: Final = Path(__file__).parents[2] / "spec" / "snapshot_loading"

Call: TypeAlias = tuple[RuntimeValue, ...]
"""An action and its parameters."""

WRITING: Final[list[Call]] = [("SyncTemporary",), ("Rename",), ("SyncDirectory",), ("ReadBack",)]
CRASH: Final[Call] = ("Crash", frozenset(), FALSE)
CUT: Final[list[Call]] = [
    *[("Agree",)] * 4,
    *[("AppendEntry", number) for number in (1, 2, 3, 4)],
    ("Commit", 3),
    # Three snapshots, of which the third was never whole: its removal does not survive.
    *[("Apply",), ("Save", "good"), *WRITING],
    *[("Apply",), ("Save", "good"), *WRITING],
    *[("Apply",), ("Save", "bad"), *WRITING],
    *[CRASH, ("Start",), ("LoadNewest",), ("LoadNewest",)],
    # It stands below the fourth, which gets its name; the log is cut behind the oldest of all.
    *[("Commit", 4), ("Apply",), ("Apply",), ("Save", "good"), *WRITING[:2]],
    *[("Crash", frozenset([4]), FALSE), ("Start",), ("LoadNewest",), ("CutLog",)],
    # The fourth is damaged; it and the third go.
    *[("Rot", 4), CRASH, ("Start",), ("LoadNewest",), ("LoadNewest",)],
]
SURE: Final[Call] = ("Crash", frozenset([3, 4]), FALSE)
"""The removal of both is for sure."""


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


def state_after(spec: Model, calls: list[Call]) -> ModelState:
    """Take steps after which every invariant holds."""
    (state,) = spec.initial_states()
    for call in calls:
        state = taken(spec, state, call)
        assert spec.violated(state) == (), call
    return state


def test_damage_to_fewer_files_than_two_is_not_always_borne() -> None:
    spec = model(2)
    state = taken(spec, state_after(spec, CUT), SURE)
    assert set(spec.violated(state)) == {"PrefixCovered", "SnapAtomic"}
    assert spec.show(state)["damaged"] == 1
    for call in (("Start",), ("LoadNewest",)):
        state = taken(spec, state, call)
    assert "RefusedByDisk" in spec.violated(state)


def test_damage_to_fewer_files_than_three_is_not_always_borne() -> None:
    spec = model(3)
    state = state_after(spec, [*CUT, ("LoadNewest",), SURE])
    for call in (("Rot", 2), ("Start",), ("LoadNewest",), ("LoadNewest",)):
        state = taken(spec, state, call)
    assert set(spec.violated(state)) == {"PrefixCovered", "SnapAtomic", "RefusedByDisk"}
    assert spec.show(state)["damaged"] == 2

"""The comparison of machine code with TLC finds what is wrong, and what is too slow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from benchmarks.native_search import LEAST, Seconds, compared, fails, large
from rocketproof.file_check import CheckedFile
from tlatrace.tools.manifest import TlcModel, read_manifest
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.tools.tlc_output import Outcome

MODEL: Final = TlcModel(
    protocol="lamp",
    name="small",
    module=Path("Lamp.tla"),
    config=Path("Lamp.cfg"),
    ring="push",
    violates=None,
    distinct=9,
    depth=3,
    length=None,
    deadlock=False,
)
TLC: Final = CheckedFile(
    engine="tlc",
    module="Lamp.tla",
    outcome=Outcome.SUCCESS,
    violated=None,
    distinct=9,
    generated=20,
    depth=3,
    seconds=10.0,
    message="",
    states=(),
)
NATIVE: Final = replace(TLC, engine="native")
SLOW: Final = Seconds(10.0, 12.0)
FAST: Final = Seconds(2.0, 1.5)


def test_what_is_as_recorded_and_fast_does_not_fail() -> None:
    fast = [(NATIVE, FAST), (NATIVE, Seconds(1.0, 1.0)), (NATIVE, Seconds(9.0, 2.0))]
    found = compared([(TLC, SLOW)], fast, MODEL)
    assert (found.wrong, found.slow, found.fast) == ((), SLOW, FAST)
    assert fails(found, LEAST) == ()
    assert fails(found, LEAST + 0.1) == ("5.0 times as fast, and not 5.1",)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"distinct": 8}, "is not"),
        ({"depth": 4}, "is not"),
        ({"outcome": Outcome.TIMEOUT}, "is not"),
        ({"unchecked": ("PROPERTY Lives",)}, "not checked: PROPERTY Lives"),
        ({"engine": "compiled"}, "not by machine code"),
    ],
)
def test_what_is_found_otherwise_or_was_not_done_fails(changed: dict[str, Any], says: str) -> None:
    other = replace(NATIVE, **changed)
    found = compared([(TLC, SLOW)], [(NATIVE, FAST), (other, FAST)], MODEL)
    assert says in " ".join(fails(found, 0.0))
    assert compared([(replace(TLC, distinct=8), SLOW)], [(NATIVE, FAST)], MODEL).wrong


def test_large_models_are_those_that_hold_and_have_many_states() -> None:
    manifest = read_manifest(find_spec_root())
    names = large(manifest)
    assert names[-1] == "epoch_truncation/full"
    assert "epoch_truncation/small" not in names
    assert not large(replace(manifest, models=(replace(MODEL, distinct=10**6, violates="Low"),)))

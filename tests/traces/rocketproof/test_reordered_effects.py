"""Effects of a step in a wrong order: each bug is seen where a node ends between the two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

import pytest

from rocketha.runtime.effects import AppendLog, FlushLog, SendPacket, StoreEpochs, TruncateLog
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.epoch_truncation import cluster as epochs
from rocketha.sim.legacy_replication import cluster as legacy
from rocketproof.crash_points import Crashed, crash_points, judge_crash_point
from rocketproof.failing import RunJudge
from rocketproof.shrinking import How
from rocketproof.trace_inputs import SpecChoice
from tests.impl.reordered import Order, Reordered, moved_before
from tests.source_files import ROOT


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A core whose effects come in another order, and a seed of which a crash point shows it."""

    protocol: str
    cluster: ModuleType
    core: str
    order: Order
    seed: int
    end: Fault
    action: str


OF_EPOCHS: Final[dict[str, Any]] = {
    "protocol": "epoch_truncation",
    "cluster": epochs,
    "core": "ReplicationCore",
}
KILL, POWER_CUT = Fault.PROCESS_CRASH, Fault.POWER_CUT
MUTANTS: Final = {
    "a legacy slave reports before it appends": Mutant(
        protocol="legacy_replication",
        cluster=legacy,
        core="LegacyCore",
        order=moved_before(SendPacket, AppendLog),
        seed=0,
        end=KILL,
        action="ReceiveTransfer",
    ),
    "a slave reports before it appends": Mutant(
        **OF_EPOCHS,
        order=moved_before(SendPacket, AppendLog),
        seed=0,
        end=KILL,
        action="ReceiveTransfer",
    ),
    "a master stores its epoch before it flushes": Mutant(
        **OF_EPOCHS,
        order=moved_before(StoreEpochs, FlushLog),
        seed=3,
        end=POWER_CUT,
        action="Crash",
    ),
    "a slave cuts its epochs before its log": Mutant(
        **OF_EPOCHS,
        order=moved_before(StoreEpochs, TruncateLog),
        seed=1,
        end=KILL,
        action="Crash",
    ),
    "a slave appends before it stores the epoch": Mutant(
        **OF_EPOCHS,
        order=moved_before(AppendLog, StoreEpochs),
        seed=0,
        end=KILL,
        action="Crash",
    ),
}
OPTIONS: Final = SimOptions()


@pytest.fixture(scope="module")
def judge() -> RunJudge:
    return RunJudge(SpecChoice(spec_root=ROOT / "spec"))


def of_seed(protocol: str, seed: int, end: Fault, judge: RunJudge) -> list[Crashed]:
    runs = crash_points(protocol, seed, OPTIONS, (end,))
    return [judge_crash_point(scheduled, judge) for scheduled in runs]


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_order_is_rejected_at_a_crash_point_of_one_seed(
    name: str, judge: RunJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant = MUTANTS[name]
    made: Callable[[], Any] = getattr(mutant.cluster, mutant.core)
    monkeypatch.setattr(mutant.cluster, mutant.core, lambda: Reordered(made(), mutant.order))
    points = of_seed(mutant.protocol, mutant.seed, mutant.end, judge)
    rejected = [one for one in points if one.how is How.REJECTED]
    assert any(mutant.action in one.words for one in rejected), [one.words for one in points]


@pytest.mark.parametrize(
    ("protocol", "seed", "least"), [("legacy_replication", 1, 5), ("epoch_truncation", 0, 15)]
)
def test_the_right_order_conforms_at_each_crash_point(
    protocol: str, seed: int, least: int, judge: RunJudge
) -> None:
    for end in (KILL, POWER_CUT):
        points = of_seed(protocol, seed, end, judge)
        assert len(points) >= least
        assert all(one.struck for one in points)
        assert [one.words for one in points if one.how is not None] == []

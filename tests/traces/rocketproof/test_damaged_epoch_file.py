"""A broker whose epoch file is damaged does not start with an older one."""

from __future__ import annotations

import pytest

from rocketha.errors import EpochFileError
from rocketha.sim.engine.options import SimOptions
from rocketha.storage.epoch_store import EpochStore, EpochStoreOptions
from rocketha.types import EpochEntry
from rocketproof.protocols import PROTOCOLS
from tests.traces.rocketproof.recorded_runs import judged, recorded
from tlatrace.judgement.verdict import kind
from tlatrace.trace import Trace

pytestmark = pytest.mark.java

PLUG = PROTOCOLS["epoch_truncation"]
SEEDS = (10, 15, 21, 38)
"""Runs in which the disk damages the epoch file of a broker that is down."""


@pytest.mark.parametrize("seed", SEEDS)
def test_its_store_is_emptied_and_it_copies_all_again(seed: int) -> None:
    run = recorded("epoch_truncation", seed)

    whole, of_records = run.whole.traces[0], run.trace

    for trace in (whole, of_records):
        actions = [event.action for event in trace.events]
        at = actions.index("LoseStore")
        assert actions[at + 1] == "Restart"
    assert [kind(verdict) for verdict in judged([whole, of_records])] == ["conforms", "conforms"]


def test_a_broker_that_takes_an_older_epoch_file_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = EpochStore.load

    def load_or_fall_back(store: EpochStore) -> tuple[EpochEntry, ...]:
        try:
            return sound(store)
        except EpochFileError:
            return EpochStore(store._disk, EpochStoreOptions(in_place=True)).load()

    monkeypatch.setattr(EpochStore, "load", load_or_fall_back)
    traces = [PLUG.run(seed, SimOptions()).traces[0] for seed in SEEDS]

    assert not any(_has_lost_store(trace) for trace in traces)
    assert [kind(verdict) for verdict in judged(traces)] == ["diverges"] * len(SEEDS)


def _has_lost_store(trace: Trace) -> bool:
    return any(event.action == "LoseStore" for event in trace.events)

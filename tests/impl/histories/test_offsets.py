"""What consumers are told of their offsets: promises kept, and each of them broken."""

from __future__ import annotations

import pytest

from rocketha.histories.offsets import (
    BrokerGone,
    MasterStarted,
    OffsetEvent,
    OffsetsKept,
    OffsetTold,
    check_offsets,
)
from rocketha.histories.verdicts import Broken, Promise, Undecided
from rocketha.types import MASTER, BrokerId, TimestampMs

SLAVE = BrokerId(1)
GONE = BrokerGone(MASTER, stopped=True)
BACK = MasterStarted(frozenset({SLAVE}))


def told(broker: BrokerId, offset: int, *, committed: bool = True) -> OffsetTold:
    return OffsetTold(TimestampMs(9), broker, "orders@audit:0", offset, committed)


def test_a_master_has_what_its_slave_has_acknowledged() -> None:
    events = (told(MASTER, 3), GONE, told(SLAVE, 4), BACK, told(MASTER, 4, committed=False))

    assert check_offsets(events) == OffsetsKept(3, 1)
    assert (
        check_offsets(events).in_words()
        == "kept: 3 offsets told, 1 of them a slave's, by its master"
    )


@pytest.mark.parametrize(
    ("events", "promise"),
    [
        ((GONE, told(SLAVE, 4), BACK, told(MASTER, 3)), Promise.CARRIED),
        ((told(MASTER, 4), told(MASTER, 3, committed=False)), Promise.FORWARD),
    ],
)
def test_what_goes_back_is_noticed(events: tuple[OffsetEvent, ...], promise: Promise) -> None:
    verdict = check_offsets(events)

    assert isinstance(verdict, Broken)
    assert verdict.promise == promise


@pytest.mark.parametrize(
    "events",
    [
        (told(SLAVE, 4), GONE, BACK, told(MASTER, 3)),
        (GONE, told(SLAVE, 4), MasterStarted(frozenset()), told(MASTER, 3)),
        (GONE, told(SLAVE, 4), BACK, BrokerGone(SLAVE, stopped=False), told(MASTER, 3)),
        (GONE, told(SLAVE, 4), BrokerGone(SLAVE, stopped=True), BACK, told(MASTER, 3)),
        (GONE, told(SLAVE, 4, committed=False), BACK, told(MASTER, 3)),
        (GONE, BACK, told(SLAVE, 4), told(MASTER, 3)),
        (told(MASTER, 4), GONE, BACK, told(MASTER, 3)),
    ],
)
def test_what_may_be_lost_is_not_promised(events: tuple[OffsetEvent, ...]) -> None:
    assert isinstance(check_offsets(events), OffsetsKept)


def test_where_nobody_was_told_anything_nothing_is_decided() -> None:
    assert isinstance(check_offsets((GONE, BACK)), Undecided)

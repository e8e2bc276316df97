"""After any history the consistent point is the longest common prefix of two logs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

import pytest
from hypothesis import given, settings

from model_tests.epoch_strategies import (
    BROKERS,
    BecomeMaster,
    Follow,
    HistoryStep,
    Lose,
    Write,
    histories,
)
from rocketha.epoch.cache import NO_EPOCHS, EpochCache
from rocketha.epoch.consistent_point import consistent_point
from rocketha.epoch.rules import EpochRules
from rocketha.known_bugs import NO_BUGS, Bug
from rocketha.known_bugs.epoch_truncation import ha_rules
from rocketha.types import Epoch, Offset, chain_epochs


@dataclass
class Broker:
    """A log of one-byte records; each is unique in the history."""

    log: list[tuple[int, int]] = field(default_factory=list)
    cache: EpochCache = NO_EPOCHS
    master_epoch: int | None = None

    @property
    def end(self) -> Offset:
        return Offset(len(self.log))


@dataclass
class History:
    """What is true, beside what the caches say."""

    rules: EpochRules = field(default_factory=lambda: ha_rules(NO_BUGS))
    brokers: list[Broker] = field(default_factory=lambda: [Broker() for _ in range(BROKERS)])
    epoch: int = 0
    written: int = 0

    def run(self, steps: list[HistoryStep]) -> None:
        for step in steps:
            broker = self.brokers[step.broker]
            match step:
                case BecomeMaster():
                    self.epoch += 1
                    broker.master_epoch = self.epoch
                    broker.cache = self.rules.append_epoch(
                        broker.cache, Epoch(self.epoch), broker.end
                    )
                case Write():
                    self._write(broker, step.size)
                case Follow():
                    self._follow(broker, self.brokers[step.master], step.size)
                case Lose():
                    broker.log = broker.log[: max(0, len(broker.log) - step.size)]
                    broker.cache = self.rules.recover_epochs(broker.cache, broker.end)
                    broker.master_epoch = None
                case _ as unreachable:
                    assert_never(unreachable)

    def _write(self, broker: Broker, size: int) -> None:
        if broker.master_epoch is not None:
            for _ in range(size):
                self.written += 1
                broker.log.append((broker.master_epoch, self.written))

    def _follow(self, slave: Broker, master: Broker, size: int) -> None:
        if slave is master or not master.cache.entries:
            return
        point = self.point(slave, master)
        slave.master_epoch = None
        slave.log = slave.log[:point]
        slave.cache = self.rules.truncate_suffix_by_offset(slave.cache, point)
        for _ in range(size):
            entry = master.cache.find_epoch_entry_by_offset(slave.end)
            if entry is not None and entry.epoch != slave.cache.last_epoch:
                slave.cache = self.rules.append_epoch(slave.cache, entry.epoch, entry.start_offset)
            slave.log += master.log[slave.end : slave.end + 1]

    def point(self, own: Broker, other: Broker) -> Offset:
        return consistent_point(own.cache, own.end, other.cache, other.end, self.rules)

    def wrong_points(self) -> list[tuple[int, int, int]]:
        """Return each pair of brokers with the error of its consistent point, if there is one."""
        return [
            (i, j, error)
            for i, own in enumerate(self.brokers)
            for j, other in enumerate(self.brokers)
            if i != j and (error := self.point(own, other) - common_prefix(own.log, other.log))
        ]


def common_prefix(own: list[tuple[int, int]], other: list[tuple[int, int]]) -> int:
    length = 0
    for mine, theirs in zip(own, other, strict=False):
        if mine != theirs:
            break
        length += 1
    return length


@given(histories())
@settings(max_examples=150, deadline=None)
def test_the_consistent_point_is_the_longest_common_prefix(steps: list[HistoryStep]) -> None:
    history = History()

    history.run(steps)

    assert history.wrong_points() == []


@given(histories())
@settings(max_examples=100, deadline=None)
def test_every_byte_belongs_to_the_epoch_that_wrote_it(steps: list[HistoryStep]) -> None:
    history = History()

    history.run(steps)

    for broker in history.brokers:
        for offset, (epoch, _) in enumerate(broker.log):
            entry = broker.cache.find_epoch_entry_by_offset(Offset(offset))
            assert entry is not None
            assert entry.epoch == epoch


ZOMBIE = [BecomeMaster(0), Write(0, 2), Follow(1, 0, 2), Write(0, 2), BecomeMaster(1), Write(1, 1)]
TWO_EMPTY_EPOCHS = [BecomeMaster(0), Follow(1, 0, 1), BecomeMaster(1), Write(0, 1), Write(1, 1)]
LOST_EPOCH = [
    BecomeMaster(0),
    Write(0, 4),
    BecomeMaster(0),
    Write(0, 1),
    Follow(1, 0, 5),
    Lose(1, 3),
]


@pytest.mark.parametrize(
    ("bug", "steps", "wrong"),
    [
        (Bug.MIN_END, ZOMBIE, [(0, 1, 2)]),
        (Bug.B03, TWO_EMPTY_EPOCHS, [(0, 1, 1), (1, 0, 1)]),
        (Bug.B83, LOST_EPOCH, [(1, 0, 3)]),
    ],
    ids=["the slave's end alone", "two master epochs under one epoch", "an epoch behind the log"],
)
def test_the_property_finds_a_switch(
    bug: Bug, steps: list[HistoryStep], wrong: list[tuple[int, int, int]]
) -> None:
    right, history = History(), History(rules=ha_rules(frozenset({bug})))

    right.run(steps)
    history.run(steps)

    assert right.wrong_points() == []
    assert history.wrong_points() == wrong


def test_equal_epochs_with_other_starts_are_not_common() -> None:
    """Only a master that takes an epoch up again makes them (B10)."""
    own = EpochCache(chain_epochs([(Epoch(1), Offset(0)), (Epoch(2), Offset(4))]))
    other = EpochCache(chain_epochs([(Epoch(1), Offset(0)), (Epoch(2), Offset(12))]))

    assert consistent_point(own, Offset(12), other, Offset(20)) == 4
    rules = ha_rules(frozenset({Bug.START_COMPARED}))
    with_bug = consistent_point(own, Offset(12), other, Offset(20), rules)
    assert with_bug == 12

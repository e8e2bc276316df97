"""What is promised to clients of groups whose slaves act: kept, broken, and not asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from rocketha.histories.acting_master import (
    ActingMasterHistory,
    ActingMasterKept,
    Consumed,
    MessageKind,
    QueueEvent,
    Sent,
    Stored,
    check_acting_master,
)
from rocketha.histories.clients import ActingMasterClients
from rocketha.histories.escaped import (
    Acknowledged,
    Again,
    Ended,
    EscapeEvent,
    Given,
    MessageRead,
    Outcome,
    Waits,
)
from rocketha.histories.offsets import BrokerGone, MasterStarted, OffsetEvent, OffsetTold
from rocketha.histories.verdicts import Broken, Promise, Undecided
from rocketha.types import MASTER, BrokerId, TimestampMs

SLAVE: Final = BrokerId(1)


def at(ms: int) -> TimestampMs:
    return TimestampMs(ms)


def sent(key: str, kind: MessageKind = MessageKind.ORDERED, group: str = "g1") -> Sent:
    return Sent(at(1), key, kind, group)


def consumed(place: int, key: str, topic: str = "orders", group: str = "g1") -> Consumed:
    return Consumed(at(50), group, topic, place, key, "b10")


def told(broker: BrokerId, offset: int, *, committed: bool = True) -> OffsetTold:
    return OffsetTold(at(60), broker, "orders", offset, committed)


QUEUES: Final[tuple[QueueEvent, ...]] = (
    sent("o1"),
    Stored(at(2), "o1"),
    sent("o2"),
    sent("d1", MessageKind.DELAYED),
    consumed(0, "o1"),
    consumed(1, "o2"),
    consumed(0, "o1"),
    consumed(0, "d1", "bills", "g2"),
)
ESCAPED: Final[tuple[EscapeEvent, ...]] = (
    Waits("o1", at(1)),
    Waits("d1", at(40)),
    Waits("h1", None),
    Ended(at(20), "h1", is_commit=True),
    *(MessageRead(at(50), "b10", key) for key in ("o1", "d1", "h1")),
    Given(at(30), "p", "p"),
    Acknowledged(at(35), "p"),
)
OFFSETS: Final[dict[str, tuple[OffsetEvent, ...]]] = {
    "g1": (
        told(MASTER, 1),
        MasterStarted(frozenset({SLAVE})),
        told(MASTER, 2),
    ),
    "g2": (),
}
GOOD: Final = ActingMasterHistory(
    queues=QUEUES, escaped=ESCAPED, offsets=OFFSETS, outcome=Outcome(is_well=True)
)


def test_what_is_kept_is_counted_by_kinds() -> None:
    verdict = check_acting_master(GOOD)

    assert isinstance(verdict, ActingMasterKept)
    assert dict(verdict.parts) == {
        "ordered messages": 2,
        "delayed messages": 1,
        "half messages": 0,
        "popped messages": 1,
        "of another group": 1,
        "processed again": 1,
        "pops acknowledged": 1,
        "pops that came again": 0,
        "messages and pops that had to come": 3,
        "offsets told": 2,
        "a slave's offsets told by its master": 0,
        "of them smaller by less than a step": 0,
    }
    assert verdict.counted == 6
    assert verdict.in_words().startswith("kept: 2 ordered messages, 1 delayed messages, ")


@pytest.mark.parametrize(
    ("queues", "promise", "words"),
    [
        ((sent("o1"), consumed(1, "o1")), Promise.IN_TURN, "and place 0 never was"),
        (
            (consumed(0, "o1"), consumed(0, "o2")),
            Promise.AGREEMENT,
            "b10 has o2 at place 0 of orders of g1, not o1",
        ),
        (
            (sent("o1"), Stored(at(2), "o1"), sent("o2"), consumed(0, "o2")),
            Promise.ORDER,
            "o2 of orders of g1 is processed at 50 ms, before o1",
        ),
    ],
)
def test_a_queue_that_is_not_kept_is_said(
    queues: tuple[QueueEvent, ...], promise: Promise, words: str
) -> None:
    verdict = check_acting_master(replace(GOOD, queues=queues))

    assert isinstance(verdict, Broken)
    assert verdict.promise == promise
    assert words in verdict.reason


def test_nothing_is_said_of_the_order_of_what_nobody_was_told_is_stored() -> None:
    queues = (sent("o1"), sent("o2"), consumed(0, "o2"), consumed(1, "o1"))

    assert isinstance(check_acting_master(replace(GOOD, queues=queues)), ActingMasterKept)


def test_nor_of_the_order_of_what_lies_in_two_groups() -> None:
    queues = (
        sent("o1"),
        Stored(at(2), "o1"),
        sent("o2", group="g2"),
        consumed(0, "o2", group="g2"),
    )

    assert isinstance(check_acting_master(replace(GOOD, queues=queues)), ActingMasterKept)


@pytest.mark.parametrize(
    ("escaped", "promise"),
    [
        ((Waits("d1", at(40)), MessageRead(at(39), "b20", "d1")), Promise.IN_TIME),
        ((Waits("h1", None), MessageRead(at(39), "b20", "h1")), Promise.COMMITTED),
        (
            (Given(at(1), "p", "p"), Acknowledged(at(2), "p"), Again(at(3), "b20", "p")),
            Promise.DONE_WITH,
        ),
        ((*ESCAPED, Waits("d2", at(40))), Promise.DELIVERED),
        ((*ESCAPED, Given(at(36), "q", "q")), Promise.DELIVERED),
    ],
)
def test_what_comes_due_and_does_not_come_as_it_should_is_said(
    escaped: tuple[EscapeEvent, ...], promise: Promise
) -> None:
    verdict = check_acting_master(replace(GOOD, escaped=escaped))

    assert isinstance(verdict, Broken)
    assert verdict.promise == promise


def test_what_its_producer_was_not_told_of_need_not_come() -> None:
    escaped = (*ESCAPED, Waits("d2", at(40)))
    outcome = Outcome(is_well=True, excused=frozenset({"d2"}))

    kept = check_acting_master(replace(GOOD, escaped=escaped, outcome=outcome))

    assert isinstance(kept, ActingMasterKept)
    assert kept.parts["messages and pops that had to come"] == 3


@pytest.mark.parametrize(
    ("events", "promise"),
    [
        ((told(MASTER, 2), told(MASTER, 1)), Promise.FORWARD),
        (
            (
                BrokerGone(MASTER, stopped=True),
                told(SLAVE, 7),
                MasterStarted(frozenset({SLAVE})),
                told(MASTER, 6),
            ),
            Promise.CARRIED,
        ),
    ],
)
def test_an_offset_that_goes_back_is_said_with_its_group(
    events: tuple[OffsetEvent, ...], promise: Promise
) -> None:
    verdict = check_acting_master(replace(GOOD, offsets={"g1": (), "g2": events}))

    assert isinstance(verdict, Broken)
    assert verdict.promise == promise
    assert verdict.reason.startswith("of g2, the master says ")


@pytest.mark.parametrize(("offset", "is_kept"), [(7, True), (5, True), (4, False)])
def test_where_versions_decide_an_offset_may_be_smaller_by_less_than_a_step(
    offset: int, is_kept: bool
) -> None:
    events = (
        BrokerGone(MASTER, stopped=True),
        told(SLAVE, 7),
        MasterStarted(frozenset({SLAVE})),
        told(MASTER, offset),
    )
    verdict = check_acting_master(replace(GOOD, offsets={"g1": events}, step=3))

    assert isinstance(verdict, ActingMasterKept) == is_kept
    if isinstance(verdict, ActingMasterKept):
        assert (verdict.carried, verdict.within) == (1, int(offset < 7))


def test_what_nobody_has_seen_is_undecided() -> None:
    nothing = ActingMasterHistory(queues=(), escaped=(), offsets={}, outcome=Outcome(is_well=True))

    assert isinstance(check_acting_master(nothing), Undecided)


def test_the_same_history_is_the_same_bytes() -> None:
    clients = ActingMasterClients(GOOD)

    assert clients.check() == check_acting_master(GOOD)
    assert clients.content() == ActingMasterClients(replace(GOOD)).content()
    other = replace(GOOD, queues=QUEUES[1:])
    assert clients.content() != ActingMasterClients(other).content()

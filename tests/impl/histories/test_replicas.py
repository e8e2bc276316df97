"""What whoever reads replicas is promised: one history keeps all, others break one each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.histories.history import LoggedMessage
from rocketha.histories.replicas import Alike, Copied, ReplicaReads, check_replicas
from rocketha.histories.verdicts import Broken, Promise, Undecided
from rocketha.types import BrokerId, Epoch, Offset

B1, B2, B3 = BrokerId(1), BrokerId(2), BrokerId(3)


def message(body: str, number: int) -> LoggedMessage:
    return LoggedMessage(offset=Offset(128 * number), body=body, digest=f"of {body}")


OLD, NEW = message("e1#1;", 0), message("e2#2;", 1)
GOOD = ReplicaReads(
    written=frozenset({"e1#1;", "e2#2;"}),
    epochs={"e1#1;": Epoch(1), "e2#2;": Epoch(2)},
    copied=(
        Copied(
            at_ms=7, message=OLD, slaves=2, read_from=frozenset({B2}), were_ahead=frozenset({B3})
        ),
    ),
    logs={B1: (OLD, NEW), B2: (OLD, NEW)},
    alike=True,
    at_ms=9,
)


def test_what_is_kept_is_counted() -> None:
    assert check_replicas(GOOD) == Alike(messages=5, replicas=2)


def test_nothing_to_read_is_no_evidence() -> None:
    empty = replace(GOOD, copied=(), logs={B1: (), B2: ()})

    assert check_replicas(empty) == Undecided(reason="no replica has a message")


@pytest.mark.parametrize(
    ("reads", "promise"),
    [
        (replace(GOOD, written=frozenset({"e1#1;"})), Promise.WRITTEN),
        (replace(GOOD, logs={B1: (NEW, OLD)}), Promise.GROWS),
        (replace(GOOD, logs={B1: (OLD, NEW), B2: (OLD,)}), Promise.ALIKE),
        (replace(GOOD, copied=(replace(GOOD.copied[0], slaves=3),)), Promise.COPIED),
    ],
)
def test_each_promise_can_be_broken(reads: ReplicaReads, promise: Promise) -> None:
    verdict = check_replicas(reads)

    assert isinstance(verdict, Broken)
    assert verdict.promise == promise


def test_replicas_may_differ_where_their_protocol_does_not_promise_it() -> None:
    reads = replace(GOOD, logs={B1: (OLD, NEW), B2: (OLD,)}, alike=False)

    assert isinstance(check_replicas(reads), Alike)

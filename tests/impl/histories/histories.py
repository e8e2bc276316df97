"""Small histories, written by hand."""

from __future__ import annotations

from rocketha.histories import (
    BecameMaster,
    ElectionHeld,
    FinalLog,
    History,
    HistoryEvent,
    LoggedMessage,
    Outcome,
    Promises,
    Put,
    Seen,
)
from rocketha.types import BrokerId, Epoch, Offset

PROMISES = Promises(
    all_ack_in_sync_state_set=True,
    in_sync_replicas=1,
    min_in_sync_replicas=1,
    sync_flush=False,
    elect_unclean=False,
)


def history(*events: HistoryEvent) -> History:
    return History(seed=7, promises=PROMISES, events=events)


def message(body: str, offset: int, digest: str = "d") -> LoggedMessage:
    return LoggedMessage(offset=Offset(offset), body=body, digest=digest)


def put(
    body: str,
    offset: int | None = 0,
    *,
    outcome: Outcome = Outcome.OK,
    epoch: int = 1,
    producer: int = 1,
    at: int = 10,
) -> Put:
    return Put(
        producer=producer,
        body=body,
        epoch=Epoch(epoch),
        invoked_ms=at,
        answered_ms=at + 5,
        outcome=outcome,
        status="a status",
        offset=None if offset is None else Offset(offset),
    )


def seen(one: LoggedMessage, *, epoch: int = 1, consumer: int = 1, at: int = 20) -> Seen:
    return Seen(consumer=consumer, at_ms=at, broker=BrokerId(1), epoch=Epoch(epoch), message=one)


def elected(epoch: int, *, clean: bool = True) -> ElectionHeld:
    return ElectionHeld(at_ms=30, broker=BrokerId(2), epoch=Epoch(epoch), clean=clean)


def became_master(epoch: int, *log: LoggedMessage) -> BecameMaster:
    return BecameMaster(at_ms=40, broker=BrokerId(2), epoch=Epoch(epoch), log=log)


def final(epoch: int, *log: LoggedMessage) -> FinalLog:
    return FinalLog(at_ms=90, broker=BrokerId(2), epoch=Epoch(epoch), log=log)

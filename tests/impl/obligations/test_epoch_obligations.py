"""When a slave owes it to its master to stay connected, and how long to wait, step by step."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from rocketha.obligations.epoch_truncation import EPOCH_TRUNCATION
from rocketha.obligations.obligation import ObligationFindings, RecordedRun, check_obligations
from rocketha.recording.record import STARTED, NodeHeader, NodeRecord, SentMessage
from rocketha.types import TimestampMs

RECONNECT_MS = 300

HEADERS = {
    "controller": NodeHeader(
        protocol="epoch_truncation", node="controller", settings={"kind": "controller"}
    ),
    **{
        node: NodeHeader(
            protocol="epoch_truncation",
            node=node,
            settings={"kind": "broker", "reconnect_ms": RECONNECT_MS},
        )
        for node in ("b1", "b2")
    },
}


def record(node: str, at_ms: int, event: str, *, again: int = 1, **of: Any) -> NodeRecord:
    return NodeRecord(
        node=node,
        incarnation=again,
        sequence=0,
        at_ns=at_ms * 1_000_000,
        shows_ms=at_ms,
        event=event,
        **of,
    )


def elected(epoch: int, at_ms: int) -> NodeRecord:
    return record(
        "controller",
        at_ms,
        "Elected",
        action="ElectMaster",
        params={"master": "b2"},
        state={"epoch": epoch},
    )


def starts(at_ms: int, again: int = 1) -> NodeRecord:
    return record("b1", at_ms, STARTED, again=again, state={"known_epoch": 0, "client": None})


def hears(epoch: int, at_ms: int, again: int = 1, *, closes: bool = False) -> NodeRecord:
    return record(
        "b1",
        at_ms,
        "MasterLearnt",
        again=again,
        received=(f"election:{epoch}",),
        state={"known_epoch": epoch},
        sent=(SentMessage(id="5:client:close"),) if closes else (),
    )


def pointed(address: str, at_ms: int) -> NodeRecord:
    heard = ({"is": "MasterAddressLearnt", "address": address},)
    return record("b1", at_ms, "MasterAddressLearnt", heard=heard)


def connects(at_ms: int, again: int = 1, *, peer: str = "b2", epoch: int = 4) -> list[NodeRecord]:
    """Connect, and hear from the other end in which masterEpoch it is."""
    reply = SentMessage(id="5:server:1", body=json.dumps({"is": "Reply", "epoch": epoch}))
    return [
        record(
            "b1",
            at_ms,
            "PeerConnected",
            again=again,
            heard=({"is": "PeerConnected", "conn": 5, "peer": peer},),
            sent=(SentMessage(id="5:client:1", body='{"is": "Handshake"}'),),
            state={"client": {"id": 5}},
        ),
        record("b2", at_ms + 1, "PacketReceived", sent=(reply,)),
        record(
            "b1",
            at_ms + 2,
            "PacketReceived",
            again=again,
            received=(reply.id,),
            state={"known_epoch": epoch},
        ),
    ]


def loses(at_ms: int) -> NodeRecord:
    heard = ({"is": "ConnectionLost", "conn": 5},)
    return record("b1", at_ms, "ConnectionLost", heard=heard, state={"client": None})


def findings(name: str, *records: NodeRecord) -> ObligationFindings:
    run = RecordedRun(headers=HEADERS, records=records, ended_ms=TimestampMs(10_000))
    return check_obligations([one for one in EPOCH_TRUNCATION if one.name == name], run)


BEGINNING = (elected(4, 0), starts(0))


@pytest.mark.parametrize(("closes", "missed"), [(True, 1), (False, 0)])
def test_a_slave_keeps_the_connection_to_a_master_that_is_elected_again(
    *, closes: bool, missed: int
) -> None:
    found = findings(
        "masters kept",
        *BEGINNING,
        hears(4, 10),
        *connects(20),
        elected(5, 30),
        hears(5, 40, closes=closes),
    )

    assert found.counted["masters kept"] == 1
    assert len(found.missed) == missed


FORGOTTEN: dict[str, Sequence[NodeRecord]] = {
    "heard before it started again": (
        hears(4, 10),
        starts(15, again=2),
        *connects(20, again=2),
        elected(5, 30),
        hears(5, 40, again=2, closes=True),
    ),
    "pointed elsewhere since": (
        hears(4, 10),
        pointed("b3", 15),
        *connects(20, peer="b3"),
        elected(5, 30),
        hears(5, 40, closes=True),
    ),
    "asked for with another address": (
        pointed("b3", 10),
        *connects(20, peer="b3"),
        hears(4, 25),
        elected(5, 30),
        hears(5, 40, closes=True),
    ),
    "of an election that is older than it knows": (
        elected(5, 5),
        pointed("b2", 10),
        *connects(20),
        record("b1", 23, "PacketReceived", state={"known_epoch": 5}),
        record("b1", 25, "MasterLearnt", received=("election:4",)),
        elected(6, 30),
        hears(6, 40, closes=True),
    ),
}


@pytest.mark.parametrize("steps", FORGOTTEN.values(), ids=FORGOTTEN)
def test_a_slave_that_cannot_tell_who_is_at_the_other_end_may_close(
    steps: Sequence[NodeRecord],
) -> None:
    found = findings("masters kept", *BEGINNING, *steps)

    assert found.counted["masters kept"] == 0
    assert found.missed == ()


@pytest.mark.parametrize(("waits_ms", "missed"), [(RECONNECT_MS, 0), (RECONNECT_MS - 1, 1)])
def test_a_slave_waits_before_it_connects_again(waits_ms: int, missed: int) -> None:
    found = findings(
        "patient slaves",
        *BEGINNING,
        hears(4, 10),
        *connects(20),
        loses(30),
        *connects(30 + waits_ms),
    )

    assert found.counted["patient slaves"] == 1
    assert len(found.missed) == missed


def test_a_slave_that_starts_again_need_not_wait() -> None:
    steps = (hears(4, 10), *connects(20), loses(30), starts(40, again=2), *connects(50, again=2))

    assert findings("patient slaves", *BEGINNING, *steps).counted["patient slaves"] == 0

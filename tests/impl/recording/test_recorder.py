"""What a recorder writes of the steps of a node."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import pytest

from rocketha.recording.node_log import NodeLines
from rocketha.recording.record import STARTED, STOPPED, NodeHeader, NodeRecord, SentMessage
from rocketha.recording.recorder import (
    NOT_RECORDED,
    LongSequence,
    MachineRecording,
    NodeRecorder,
    StepRecorder,
)


class Name(StrEnum):
    PUT = "Put"


class Named(StrEnum):
    SYNC = "Sync"


@dataclass(frozen=True)
class PutWanted:
    """An event."""


@dataclass(frozen=True)
class Action:
    name: Name
    queues: frozenset[int] = frozenset()
    peer: str | None = None
    tries: int = 0


@dataclass(frozen=True)
class Elect:
    """An action whose name is that of its class."""

    epoch: int


class Clock:
    """Goes on by a nanosecond each time that it is read."""

    def __init__(self) -> None:
        self.shown_ns = -1

    def now_ns(self) -> int:
        self.shown_ns += 1
        return self.shown_ns


@dataclass
class Bench:
    """A node whose parts a test sets."""

    parts: dict[str, object] = field(default_factory=lambda: {"log": (1,), "role": None})
    shows_ms: int = 5
    written: list[NodeHeader | NodeRecord] = field(default_factory=list)

    def recorder(self) -> NodeRecorder:
        recording = MachineRecording("lock_quorum", self.written.append, Clock())
        return recording.of(
            "b1",
            {"life_ms": 3_000, "members": ("b1", "b2")},
            parts=lambda: dict(self.parts),
            shows_ms=lambda: self.shows_ms,
        )

    @property
    def last(self) -> NodeRecord:
        record = self.written[-1]
        assert isinstance(record, NodeRecord)
        return record


EVENT: Final = PutWanted()


def test_the_header_comes_first_and_says_how_the_node_is_set_up() -> None:
    bench = Bench()
    bench.recorder()

    settings = {"life_ms": 3_000, "members": ["b1", "b2"]}
    assert bench.written == [NodeHeader(protocol="lock_quorum", node="b1", settings=settings)]


def test_a_start_has_all_parts_and_a_step_only_those_that_changed() -> None:
    bench = Bench()
    recorder = bench.recorder()
    states = []

    recorder.started()
    states.append(bench.last.state)
    recorder.stepped(EVENT, None)
    states.append(bench.last.state)
    bench.parts["log"] = (1,)  # another one, which is equal
    recorder.stepped(EVENT, None)
    states.append(bench.last.state)
    bench.parts["log"] = (1, 2)
    recorder.stepped(EVENT, None)
    states.append(bench.last.state)
    bench.parts = {"log": (1,), "role": Name.PUT}
    recorder.stepped(EVENT, None)
    states.append(bench.last.state)

    assert states == [
        {"log": [1], "role": None},
        {},
        {},
        {"log": [1, 2]},
        {"log": [1], "role": "Put"},
    ]


def test_records_are_numbered_in_each_incarnation() -> None:
    bench = Bench()
    recorder = bench.recorder()

    recorder.started()
    recorder.stepped(EVENT, None)
    bench.shows_ms = 7
    recorder.stopped(lambda: {"disk": (1,)})
    recorder.started()
    recorder.stepped(EVENT, Elect(2))

    records = [one for one in bench.written if isinstance(one, NodeRecord)]
    assert [(r.incarnation, r.sequence, r.event) for r in records] == [
        (1, 0, STARTED),
        (1, 1, "PutWanted"),
        (1, 2, STOPPED),
        (2, 0, STARTED),
        (2, 1, "PutWanted"),
    ]
    assert [r.at_ns for r in records] == [0, 1, 2, 3, 4]
    assert [r.shows_ms for r in records] == [5, 5, 7, 7, 7]
    assert records[2].state == {"disk": [1]}
    assert records[3].state == {"log": [1], "role": None}, "all parts again"


def test_of_a_long_sequence_only_the_end_is_written_that_is_new() -> None:
    bench = Bench()
    bench.parts = {"log": LongSequence((3, 3, 4))}
    recorder = bench.recorder()
    recorder.started()
    found = [bench.last.state["log"]]
    for items in ((3, 3, 4), (3, 3, 4, 4), (3, 3), (3, 5)):
        bench.parts = {"log": LongSequence(items)}
        recorder.stepped(EVENT, None)
        found.append(bench.last.state.get("log"))
    recorder.started()

    assert found == [
        {"kept": 0, "added": [3, 3, 4]},
        None,
        {"kept": 3, "added": [4]},
        {"kept": 2, "added": []},
        {"kept": 1, "added": [5]},
    ]
    assert bench.last.state["log"] == {"kept": 0, "added": [3, 5]}


def test_what_is_written_can_be_read() -> None:
    lines = NodeLines()
    recording = MachineRecording("lock_quorum", lines.write, Clock())
    recorder = recording.of("b1", {}, parts=lambda: {"n": 1}, shows_ms=lambda: 0)
    recorder.started()
    recorder.sent("m", body=b"\xff")
    recorder.stopped(dict)
    recorder.started()

    (log,) = lines.logs()

    assert [record.event for record in log.records] == [STARTED, STOPPED, STARTED]
    assert log.records[1].sent == (SentMessage(id="m", body="\\xff"),)


def test_messages_belong_to_the_step_they_are_of() -> None:
    bench = Bench()
    recorder = bench.recorder()
    recorder.started()
    recorder.received("1:1")
    recorder.sent("1:1:response", code=0, body=b"{}")
    recorder.sent("2:1", to="b2", code=41)
    recorder.stepped(EVENT, None)
    assert bench.last.received == ("1:1",)
    assert bench.last.sent == (
        SentMessage(id="1:1:response", code=0, body="{}"),
        SentMessage(id="2:1", to="b2", code=41),
    )

    recorder.stepped(EVENT, None)
    assert not bench.last.sent
    assert not bench.last.received


def test_a_node_that_runs_no_more_has_received_nothing_that_it_did_not_take() -> None:
    bench = Bench()
    recorder = bench.recorder()
    recorder.started()

    recorder.received("1:1")
    recorder.sent("2:1")
    recorder.stopped(dict)
    assert not bench.last.received
    assert [one.id for one in bench.last.sent] == ["2:1"]

    recorder.started()
    assert not bench.last.received
    assert not bench.last.sent


@pytest.mark.parametrize(
    ("action", "name", "params"),
    [
        (None, None, {}),
        (Action(Name.PUT), "Put", {"tries": 0}),
        (
            Action(Name.PUT, queues=frozenset({2, 1}), peer="b2", tries=3),
            "Put",
            {"queues": [1, 2], "peer": "b2", "tries": 3},
        ),
        (Elect(4), "Elect", {"epoch": 4}),
        (Named.SYNC, "Sync", {}),
    ],
)
def test_an_action_is_its_name_and_what_it_says(
    action: object | None, name: str | None, params: dict[str, object]
) -> None:
    bench = Bench()
    recorder = bench.recorder()
    recorder.started()

    recorder.stepped(EVENT, action)

    assert (bench.last.action, bench.last.params) == (name, params)


def test_a_run_that_nobody_reads_is_asked_nothing() -> None:
    def asked() -> int:
        raise AssertionError("a part is looked at")

    recorder: StepRecorder = NOT_RECORDED.of("b1", {}, parts=lambda: {"n": asked()}, shows_ms=asked)
    recorder.started()
    recorder.received("m")
    recorder.sent("n")
    recorder.stepped(EVENT, None)
    recorder.stopped(dict)

    assert recorder is NOT_RECORDED


def test_what_a_node_is_told_and_stores_is_in_the_record_of_the_step_or_of_the_stop() -> None:
    bench = Bench()
    recorder = bench.recorder()
    recorder.started()

    recorder.heard(Elect(epoch=3))
    recorder.stored(PutWanted())
    recorder.stored(Elect(epoch=4))
    recorder.stepped(EVENT, None)
    step = bench.last
    recorder.stepped(EVENT, None)
    quiet = bench.last
    recorder.heard(Elect(epoch=5))
    recorder.stored(PutWanted())
    recorder.stopped(dict)

    assert step.heard == ({"is": "Elect", "epoch": 3},)
    assert step.stored == ({"is": "PutWanted"}, {"is": "Elect", "epoch": 4})
    assert (quiet.heard, quiet.stored) == ((), ())
    assert bench.last.event == STOPPED
    assert bench.last.heard == ({"is": "Elect", "epoch": 5},)
    assert bench.last.stored == ({"is": "PutWanted"},)

"""What the harness writes into the records of a node, and reads from what is left of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketha.formats.epoch_file import encode_epoch_file
from rocketha.formats.message import Message, push_blank, push_record
from rocketha.formats.segment import segment_name
from rocketha.recording.node_log import read_logs
from rocketha.recording.record import NodeRecord, RecordError, push_line
from rocketha.types import INT64_MAX, Epoch, Offset, SizeBytes, chain_epochs
from rocketmq_peer.errors import PeerError
from rocketmq_peer.node_files import (
    MachineClock,
    NodeFile,
    broker_left,
    epochs_on,
    id_of_body,
    lose_tail,
    records_on,
)

_SEGMENT = 1024


class Clock(MachineClock):
    def now_ns(self) -> int:
        return 1000

    def shows_ms(self) -> int:
        return 77


def begun(folder: Path) -> NodeFile:
    file = NodeFile(folder, "b1", Clock())
    file.begin("replica_group", {"kind": "broker"})
    return file


def agent_writes(file: NodeFile, *records: NodeRecord, torn: bytes = b"") -> None:
    with file.path.open("ab") as to:
        to.write(b"".join(map(push_line, records)) + torn)


def step(incarnation: int, sequence: int, *, at_ns: int = 5) -> NodeRecord:
    event = "Put" if sequence else "NodeStarted"
    return NodeRecord(
        node="b1",
        incarnation=incarnation,
        sequence=sequence,
        at_ns=at_ns,
        shows_ms=0,
        event=event,
    )


def test_a_node_has_a_header_before_its_first_start(tmp_path: Path) -> None:
    file = begun(tmp_path)
    assert file.next_incarnation() == 1
    agent_writes(file, step(1, 0))
    (log,) = read_logs(tmp_path)
    assert (log.header.protocol, log.header.node) == ("replica_group", "b1")
    assert log.header.settings == {"kind": "broker"}
    with pytest.raises(PeerError, match="of another run"):
        file.begin("replica_group", {})


def test_a_stop_follows_the_last_whole_line(tmp_path: Path) -> None:
    file = begun(tmp_path)
    agent_writes(file, step(1, 0), step(1, 1), torn=push_line(step(1, 2))[:-1])
    stopped = file.stopped(lambda: {"log": {"kept": 0, "added": []}})
    assert stopped is not None
    assert (stopped.incarnation, stopped.sequence) == (1, 2)
    assert (stopped.event, stopped.at_ns, stopped.shows_ms) == ("NodeStopped", 1000, 77)
    (log,) = read_logs(tmp_path)
    assert [one.event for one in log.records] == ["NodeStarted", "Put", "NodeStopped"]
    assert log.records[-1].state == {"log": {"kept": 0, "added": []}}
    assert file.next_incarnation() == 2
    agent_writes(file, step(2, 0, at_ns=2000))
    again = file.stopped(dict)
    assert again is not None
    assert (again.incarnation, again.sequence, again.at_ns) == (2, 1, 2000)
    assert len(read_logs(tmp_path)[0].records) == 5


def test_a_node_that_took_no_step_leaves_nothing(tmp_path: Path) -> None:
    file = begun(tmp_path)
    agent_writes(file, torn=push_line(step(1, 0))[:-1])
    assert file.stopped(dict) is None
    assert file.next_incarnation() == 1
    agent_writes(file, step(1, 0))
    assert file.stopped(dict) is not None
    before = file.path.read_bytes()
    agent_writes(file, torn=b'{"node":')
    assert file.stopped(dict) is None  # of the second incarnation
    assert file.path.read_bytes() == before
    assert file.next_incarnation() == 2


def test_a_line_that_is_no_record_is_not_built_on(tmp_path: Path) -> None:
    file = begun(tmp_path)
    agent_writes(file, torn=b"Exception in thread main\n")
    with pytest.raises(RecordError, match="no record"):
        file.stopped(dict)


def test_the_clock_of_the_machine_goes_on() -> None:
    clock = MachineClock()
    assert clock.now_ns() <= clock.now_ns()
    assert clock.shows_ms() > 1_700_000_000_000


# ---- What is left of a broker ----


def stored(store: Path, *segments: bytes) -> None:
    folder = store / "commitlog"
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(segments):
        name = segment_name(Offset(number * _SEGMENT))
        (folder / name).write_bytes(data.ljust(_SEGMENT, b"\0"))


def segment(start: int, *bodies: bytes, fill: bool = False) -> bytes:
    data = b""
    for body in bodies:
        message = Message(topic="T", body=body + b";")
        data += push_record(message, Offset(start + len(data)), whole_crc=False)
    return data + push_blank(SizeBytes(_SEGMENT - len(data))) if fill else data


def ids(store: Path) -> list[str]:
    records = records_on(store)
    return [id_of_body(one.message.body, one.offset + one.size) for one in records]


def test_records_of_all_segments_are_found(tmp_path: Path) -> None:
    first = segment(0, b"a1;xx", b"a2\0\0", fill=True)
    stored(tmp_path, first, segment(_SEGMENT, b"a3"))
    assert ids(tmp_path) == ["a1", "a2", "a3"]
    left = broker_left(tmp_path)
    ends = [len(segment(0, b"a1;xx")), len(segment(0, b"a1;xx", b"a2\0\0"))]
    last = _SEGMENT + len(segment(0, b"a3"))
    assert left["log"] == {
        "kept": 0,
        "added": [
            {"end": ends[0], "id": "a1"},
            {"end": ends[1], "id": "a2"},
            {"end": last, "id": "a3"},
        ],
    }
    assert left["begin"] == 0


def test_a_log_may_begin_with_a_later_segment(tmp_path: Path) -> None:
    stored(tmp_path, b"", segment(_SEGMENT, b"a3"))
    (tmp_path / "commitlog" / segment_name(Offset(0))).unlink()
    assert broker_left(tmp_path)["begin"] == _SEGMENT
    assert ids(tmp_path) == ["a3"]


def test_of_a_log_that_was_not_flushed_its_first_bytes_are_left(tmp_path: Path) -> None:
    first = segment(0, b"a1;xx", b"a2\0\0", fill=True)
    stored(tmp_path, first, segment(_SEGMENT, b"a3"))
    sizes = [path.stat().st_size for path in sorted((tmp_path / "commitlog").iterdir())]

    lose_tail(tmp_path, Offset(_SEGMENT))
    assert ids(tmp_path) == ["a1", "a2"]
    lose_tail(tmp_path, Offset(len(segment(0, b"a1;xx"))))
    assert ids(tmp_path) == ["a1"]
    lose_tail(tmp_path, Offset(0))
    assert ids(tmp_path) == []

    files = sorted((tmp_path / "commitlog").iterdir())
    assert [path.stat().st_size for path in files] == sizes
    assert not any(b for path in files for b in path.read_bytes())


def test_the_scan_stops_at_the_first_thing_that_is_no_record(tmp_path: Path) -> None:
    good = segment(0, b"a1", b"a2", b"a3")
    one = len(segment(0, b"a1"))
    flipped = bytearray(good)
    flipped[one + 88] ^= 1  # the body of the second one
    for bad in (
        bytes(flipped),
        good[:one] + good[:one],  # says that it begins elsewhere
        good[:one] + b"\0" * one + good[2 * one :],
        good[: one + 50],
    ):
        stored(tmp_path, bad, segment(_SEGMENT, b"b1"))
        assert ids(tmp_path) == ["a1"]


def test_a_log_whose_segment_is_missing_ends_there(tmp_path: Path) -> None:
    full = [segment(at * _SEGMENT, b"a%d" % at, fill=True) for at in range(3)]
    stored(tmp_path, *full)
    (tmp_path / "commitlog" / segment_name(Offset(_SEGMENT))).unlink()
    (tmp_path / "commitlog" / "other").write_bytes(b"x")
    assert ids(tmp_path) == ["a0"]
    (tmp_path / "commitlog" / segment_name(Offset(0))).unlink()
    assert ids(tmp_path) == ["a2"]


def test_the_epoch_file_is_read_as_a_start_reads_it(tmp_path: Path) -> None:
    assert broker_left(tmp_path) == {
        "begin": 0,
        "log": {"kept": 0, "added": []},
        "epoch_file": [],
    }
    entries = chain_epochs([(Epoch(1), Offset(0)), (Epoch(3), Offset(500))])
    (tmp_path / "epochFileCheckpoint").write_bytes(encode_epoch_file(entries))
    assert broker_left(tmp_path)["epoch_file"] == [
        {"epoch": 1, "start_offset": 0, "end_offset": 500},
        {"epoch": 3, "start_offset": 500, "end_offset": INT64_MAX},
    ]
    (tmp_path / "epochFileCheckpoint").write_bytes(b"")
    assert epochs_on(tmp_path) == ()
    (tmp_path / "epochFileCheckpoint.bak").write_bytes(encode_epoch_file(entries[:1]))
    assert [entry.epoch for entry in epochs_on(tmp_path)] == [1]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"a;b", "a"),
        (b"a\0;", "a"),
        (b"", "@9:0"),
        (b";", "@9:630906a9"),
        (b"\xff;", "\xff"),
        (b"abc", "@9:352441c2"),
        (b"x" * 64 + b";", "@9:108aa54d"),
    ],
)
def test_an_id_is_how_a_body_begins(body: bytes, text: str) -> None:
    assert id_of_body(body, 9) == text

"""The log of a node: what follows what, and that whatever does not is named by file and line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from rocketha.recording.node_log import NodeLines, NodeLog, RecordFiles, pull_log, read_logs
from rocketha.recording.record import (
    STARTED,
    STOPPED,
    NodeHeader,
    NodeRecord,
    RecordError,
    push_line,
)
from tests.impl.recording.logs import HEADER, header, record

WHOLE: tuple[NodeRecord, ...] = (
    record(0),
    record(1),
    record(2, event=STOPPED),
    record(0, incarnation=2, at_ns=9),
    record(1, incarnation=2, at_ns=9),
)


def lines(*records: NodeHeader | NodeRecord) -> list[bytes]:
    return [push_line(one) for one in records]


def refused(texts: Sequence[bytes]) -> str:
    with pytest.raises(RecordError) as caught:
        pull_log(texts, "b1.records.jsonl")
    return str(caught.value)


def test_a_log_is_a_header_and_records_of_incarnations() -> None:
    read = pull_log(lines(HEADER, *WHOLE), "b1")

    assert read == NodeLog(header=HEADER, records=WHOLE)


def test_a_node_may_start_again_without_a_word_of_its_end() -> None:
    records = (record(0), record(1), record(0, incarnation=2, at_ns=5))

    assert pull_log(lines(HEADER, *records), "b1").records == records


@pytest.mark.parametrize(
    ("at", "line", "said"),
    [
        (0, b"garbage\n", "no header of records: JSON is malformed"),
        (0, push_line(record(0)), "no header of records: "),
        (1, b"garbage\n", "no record: JSON is malformed"),
        (1, b"\n", "no record: "),
        (1, push_line(HEADER), "no record: Object contains unknown field `format`"),
        (2, push_line(record(1))[:-1], "the line has no end"),
        (2, push_line(record(2)), "record 2 of incarnation 1 in the place of record 1 of"),
        (2, push_line(record(0)), "record 0 of incarnation 1 in the place of record 0 of incarn"),
        (2, push_line(record(1, incarnation=2)), "record 1 of incarnation 2 in the place of rec"),
        (2, push_line(record(1, node="b2")), "a record of 'b2' among those of 'b1'"),
        (2, push_line(record(1, event=STARTED)), "record 1 of incarnation 1 in the place of"),
        (1, push_line(record(0, event="Stepped")), "Stepped is record 0 of its incarnation"),
        (4, push_line(record(3)), "Stepped of a node that runs no more"),
        (
            4,
            push_line(record(0, incarnation=3, at_ns=9)),
            "record 0 of incarnation 3 in the place of",
        ),
        (5, push_line(record(1, incarnation=2, at_ns=8)), "the recorder's clock went back"),
    ],
)
def test_a_line_that_does_not_follow_is_named(at: int, line: bytes, said: str) -> None:
    texts = lines(HEADER, *WHOLE)
    texts[at] = line

    assert refused(texts).startswith(f"b1.records.jsonl:{at + 1}: {said}")


def test_a_missing_line_is_named() -> None:
    texts = lines(HEADER, record(0), record(1), record(2), record(3))
    del texts[2]

    said = "record 2 of incarnation 1 in the place of record 1 of incarnation 1"
    assert refused(texts) == f"b1.records.jsonl:3: {said}"


@pytest.mark.parametrize("texts", [[], lines(HEADER)])
def test_a_log_without_a_record_is_none(texts: list[bytes]) -> None:
    assert refused(texts) == "b1.records.jsonl: no record"


# ---- where they are written ----


def two_nodes(write: NodeLines | RecordFiles) -> None:
    write.write(header("b1"))
    write.write(header("b2"))
    for sequence in range(3):
        write.write(record(sequence))
        write.write(record(sequence, node="b2"))


def test_what_is_kept_in_memory_is_what_files_have(tmp_path: Path) -> None:
    kept = NodeLines()
    two_nodes(kept)
    with RecordFiles(tmp_path / "a" / "b") as files:
        two_nodes(files)

    written = {path.name: path.read_bytes() for path in (tmp_path / "a" / "b").iterdir()}
    assert written == {f"{n}.records.jsonl": b"".join(kept.lines[n]) for n in ("b1", "b2")}
    assert read_logs(tmp_path / "a" / "b") == kept.logs()
    assert [(log.header.node, len(log.records)) for log in kept.logs()] == [("b1", 3), ("b2", 3)]


def test_files_are_closed_whatever_happens(tmp_path: Path) -> None:
    def write_and_fail() -> None:
        with RecordFiles(tmp_path) as files:
            files.write(HEADER)
            files.write(record(0))
            raise KeyError

    with pytest.raises(KeyError):
        write_and_fail()
    assert len(read_logs(tmp_path)) == 1


def folder(tmp_path: Path, **files: list[bytes]) -> Path:
    for name, texts in files.items():
        (tmp_path / f"{name}.records.jsonl").write_bytes(b"".join(texts))
    return tmp_path


def test_other_files_of_a_folder_are_passed_by(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("what happened")

    (log,) = read_logs(folder(tmp_path, b1=lines(HEADER, *WHOLE)))

    assert log.records == WHOLE


def test_errors_name_the_file_and_the_line(tmp_path: Path) -> None:
    folder(tmp_path, b1=lines(HEADER, *WHOLE), b2=[*lines(header("b2")), b"garbage\n"])

    with pytest.raises(RecordError) as caught:
        read_logs(tmp_path)

    assert str(caught.value).startswith(f"{tmp_path / 'b2.records.jsonl'}:2: no record: ")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "no file here ends with .records.jsonl"),
        ({"b1": []}, "no record"),
        (
            {
                "b1": lines(HEADER, *WHOLE),
                "b2": lines(header("b2", "replica_group"), record(0, node="b2")),
            },
            "records of several protocols: lock_quorum, replica_group",
        ),
        ({"b1": lines(HEADER, *WHOLE), "b2": lines(HEADER, *WHOLE)}, "several files of b1"),
    ],
)
def test_what_is_no_run_is_refused(
    files: dict[str, list[bytes]], said: str, tmp_path: Path
) -> None:
    with pytest.raises(RecordError, match=said):
        read_logs(folder(tmp_path, **files))


def test_what_is_no_folder_has_no_files(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("file", "nowhere"):
        with pytest.raises(RecordError, match=f"{name} is no folder"):
            read_logs(tmp_path / name)


def test_the_place_of_a_record_is_its_file_and_line(tmp_path: Path) -> None:
    (log,) = read_logs(folder(tmp_path, other=lines(HEADER, *WHOLE)))

    path = str(tmp_path / "other.records.jsonl")
    assert [log.place_of(one) for one in WHOLE] == [(path, number) for number in range(2, 7)]

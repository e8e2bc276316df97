"""Files of brokers: what cannot be decoded is told with its place, stale bytes are passed by."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocketmq_peer.interop_files import examine_files
from rocketmq_peer.interop_tally import Tally
from tests.peers.rocketmq.toy_runs import FIRST, SECOND, SEGMENT, counts, flip, said, write_broker


def examine(runs: list[Path]) -> Tally:
    tally = Tally()
    for run in runs:
        examine_files(run, tally)
    return tally


def clear(path: Path) -> None:
    path.write_bytes(bytes(SEGMENT))


FILES: list[tuple[str, str, Callable[[Path], None], str]] = [
    ("a body", FIRST, lambda p: flip(p, 100), "record, run/{}, byte 0: BODYCRC at byte 8: is"),
    (
        "a filler",
        FIRST,
        lambda p: flip(p, 824),
        "record, run/{}, byte 818: MAGIC at byte 822: is 0xCBD43094",
    ),
    (
        "the size of a filler",
        FIRST,
        lambda p: flip(p, 821),
        "record, run/{}, byte 818: TOTALSIZE at byte 818: is 207, but the segment has 206",
    ),
    (
        "a log with a hole",
        FIRST,
        clear,
        "record, run/{}, byte 0: nothing follows to the end of the file, but the log goes on",
    ),
    (
        "an epoch file",
        "nodes/b1/store/epochFileCheckpoint",
        lambda p: flip(p, 0),
        "epoch file, run/{}: number of entries at byte 0: is 3, but 2 lines follow",
    ),
    (
        "a checkpoint",
        "nodes/b1/store/checkpoint",
        lambda p: flip(p, 100),
        "store checkpoint, run/{}: checkpoint at byte 100: is 1, where nothing is",
    ),
    (
        "an identity",
        "nodes/b1/store/brokerIdentity",
        lambda p: flip(p, 0),
        "identity, run/{}: brokerIdentity at byte 0: 'b#g#1' does not fit to c#g",
    ),
]


@pytest.mark.parametrize(
    ("name", "harm", "expected"), [row[1:] for row in FILES], ids=[row[0] for row in FILES]
)
def test_a_file_that_cannot_be_decoded_is_a_mismatch_with_its_place(
    tmp_path: Path, name: str, harm: Callable[[Path], None], expected: str
) -> None:
    run = tmp_path / "run"
    write_broker(run)
    harm(run / name)

    found = said(examine([run]))

    assert len(found) == 1
    assert found[0].startswith(expected.format(name))


def test_stale_bytes_behind_the_end_of_a_log_are_passed_by_but_not_before_its_end(
    tmp_path: Path,
) -> None:
    store = write_broker(tmp_path / "run")
    second = tmp_path / "run" / SECOND
    end = len(second.read_bytes().rstrip(b"\0"))
    data = second.read_bytes()[:end] + b"\x00\x00\x00\x09stale"
    second.write_bytes(data.ljust(SEGMENT, b"\0"))

    tally = examine([tmp_path / "run"])
    assert said(tally) == []
    assert dict(tally.passed_by) == {"bytes behind the end of a CommitLog": 9}

    (store / "commitlog" / f"{2 * SEGMENT:020d}").write_bytes(b"log".ljust(SEGMENT, b"\1"))
    found = said(examine([tmp_path / "run"]))
    assert found[0].startswith(f"record, run/{SECOND}, byte {end}: MAGIC at byte")


def test_a_record_of_which_the_end_was_not_written_is_passed_by(tmp_path: Path) -> None:
    write_broker(tmp_path / "run")
    second = tmp_path / "run" / SECOND
    second.write_bytes(second.read_bytes()[:200].ljust(SEGMENT, b"\0"))

    tally = examine([tmp_path / "run"])

    assert said(tally) == []
    assert dict(tally.passed_by) == {"bytes of a record that was not written to its end": 200}


def test_an_identity_that_is_only_asked_for_is_decoded(tmp_path: Path) -> None:
    write_broker(tmp_path / "run")
    stored = tmp_path / "run" / "nodes/b1/store/brokerIdentity"
    stored.rename(stored.with_name("brokerIdentity-temp"))
    stored.with_name("brokerIdentity-temp").write_text("c#g#1#127.0.0.1:1;5")
    assert counts(examine([tmp_path / "run"]))["identity"] == (1, 1, 0)
    stored.with_name("brokerIdentity-temp").write_bytes(b"\xff")
    assert said(examine([tmp_path / "run"])) == [
        "identity, run/nodes/b1/store/brokerIdentity-temp: brokerIdentity-temp at byte 0: "
        "is not UTF-8"
    ]

"""A corpus in a folder that several machines see, or do not see."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.traces.corpus.corpora import CHUNK, HERE
from tests.traces.corpus.toy import record
from tlatrace.corpus.generate import PartMaker, generate_corpus, seed_name
from tlatrace.corpus.manifest import begin, read_manifest
from tlatrace.corpus.places import place_of
from tlatrace.corpus.store import VerdictStore
from tlatrace.corpus.writer import Part, PartWriter
from tlatrace.errors import CorpusError


def make_with(folder: Path, lose: str | None) -> None:
    """Generate nine traces; a part of them is lost, or an attempt has left a file."""

    def parts(
        maker: PartMaker, tasks: Sequence[tuple[int, range]], label: str, /
    ) -> Iterator[tuple[Part, ...]]:
        place = folder / place_of(record(0))
        (place / "steps").mkdir(parents=True)
        (place / "steps" / "_part-000000.parquet.0123").write_bytes(b"half of a par")
        yield from HERE(maker, tasks, label)
        if lose is not None:
            (place / lose).unlink()

    generate_corpus(parts, folder, record, first_seed=0, runs=9, source={}, chunk_steps=CHUNK)


def test_a_worker_that_does_not_see_the_folder_writes_nothing(tmp_path: Path) -> None:
    maker = PartMaker(tmp_path / "elsewhere", record, seed_name, True, CHUNK)

    with pytest.raises(CorpusError, match=r"elsewhere: is not seen from .*the same folder"):
        maker((0, range(3)))

    assert not (tmp_path / "elsewhere").exists()


def test_what_killed_writers_have_left_goes(tmp_path: Path) -> None:
    make_with(tmp_path / "c", None)

    assert read_manifest(tmp_path / "c").traces == 9
    names = [path.name for path in sorted((tmp_path / "c" / "steps").iterdir())]
    assert names == ["part-000000.parquet", "part-000001.parquet"]


@pytest.mark.parametrize("lost", ["steps/part-000001.parquet", "traces/part-000000.parquet"])
def test_a_part_that_was_written_where_nobody_sees_it_is_an_error(
    tmp_path: Path, lost: str
) -> None:
    with pytest.raises(CorpusError, match=f"{lost} was written, and is not seen here"):
        make_with(tmp_path / "c", lost)

    with pytest.raises(CorpusError, match="is unfinished"):
        read_manifest(tmp_path / "c")


def test_writers_with_the_same_process_id_do_not_meet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 7)  # as in containers
    begin(tmp_path / "c")
    alone, first, second = (PartWriter(tmp_path / "c", "p", number, CHUNK) for number in (0, 1, 1))
    for writer in (alone, first, second):
        writer.add("a", 1, record(1, steps=90))
    expected = alone.close().files["steps/part-000000.parquet"]

    first.write_group()  # both have a file now
    files = [first.close().files, second.close().files]

    assert files[0] == files[1]
    assert files[0]["steps/part-000001.parquet"].bytes == expected.bytes


def test_tasks_with_the_same_process_id_do_not_meet_in_a_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 7)
    store = VerdictStore(tmp_path, "model", "run")
    replaced: list[str] = []
    replace = os.replace

    def replace_and_tell(old: Path, new: Path) -> None:
        replaced.append(old.name)
        replace(old, new)

    monkeypatch.setattr(os, "replace", replace_and_tell)

    store.add("task", [b"0" * 16])
    store.add("task", [b"0" * 16])

    assert len(set(replaced)) == len(replaced) == 2

"""The manifest: a corpus is finished or refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tlatrace.corpus.checksums import FileChecksum
from tlatrace.corpus.manifest import CorpusManifest, begin, finish, read_manifest
from tlatrace.corpus.result import nothing_in
from tlatrace.errors import CorpusError
from tlatrace.judgement.verdict import Undecided

MANIFEST = CorpusManifest(
    spec="Toy",
    spec_sha256="0" * 64,
    constants={"Max": 3, "Broker": {"#set": ["b1"]}},
    traces=4,
    steps=48,
    failed=1,
    chunk_steps=100,
    files={"steps/part-000000.parquet": FileChecksum(bytes=3, sha256="a" * 64)},
    source={"kind": "simulation", "first_seed": 3},
    reproduce="rocketproof simulate toy --seed {seed}",
)


def test_a_finished_corpus_says_what_it_holds(tmp_path: Path) -> None:
    begin(tmp_path / "new" / "corpus")
    finish(tmp_path / "new" / "corpus", MANIFEST)

    assert read_manifest(tmp_path / "new" / "corpus") == MANIFEST
    assert sorted(path.name for path in (tmp_path / "new" / "corpus").iterdir()) == ["corpus.json"]


def test_an_unfinished_corpus_is_refused(tmp_path: Path) -> None:
    begin(tmp_path)

    with pytest.raises(CorpusError, match="unfinished"):
        read_manifest(tmp_path)


def test_a_corpus_is_replaced_only_by_force(tmp_path: Path) -> None:
    begin(tmp_path)
    (tmp_path / "steps").mkdir()
    (tmp_path / "steps" / "old.parquet").touch()
    finish(tmp_path, MANIFEST)

    with pytest.raises(CorpusError, match="--force"):
        begin(tmp_path)
    begin(tmp_path, force=True)

    assert [path.name for path in tmp_path.iterdir()] == ["_unfinished"]


@pytest.mark.parametrize("name", ["thesis.txt", "steps"])
def test_a_folder_of_somebody_else_is_never_cleared(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()

    with pytest.raises(CorpusError, match="holds no corpus"):
        begin(tmp_path, force=True)

    assert (tmp_path / name).exists()


def test_a_corpus_with_something_else_in_it_is_never_cleared(tmp_path: Path) -> None:
    begin(tmp_path)
    finish(tmp_path, MANIFEST)
    (tmp_path / "notes.txt").touch()

    with pytest.raises(CorpusError, match=r"notes\.txt"):
        begin(tmp_path, force=True)


def test_a_folder_that_spark_cannot_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="colon"):
        begin(tmp_path / "a:b")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(CorpusError, match="is a file"):
        begin(tmp_path / "file", force=True)


OLD = {
    "format": "rocketproof-corpus",
    "version": 2,
    "spec": "Toy",
    "spec_sha256": None,
    "constants": {"Max": 3},
    "traces": 1,
    "steps": 1,
    "failed": 0,
    "chunk_steps": 65536,
    "source": {},
    "reproduce": None,
}
"""A manifest of the version that had no checksums."""


def written(folder: Path, text: str) -> Path:
    (folder / "corpus.json").write_text(text, "utf-8")
    return folder


def test_a_manifest_of_the_version_before_has_no_checksums(tmp_path: Path) -> None:
    manifest = read_manifest(written(tmp_path, json.dumps(OLD)))

    assert (manifest.spec, manifest.steps, manifest.files) == ("Toy", 1, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "cannot be read"),
        ("[]", "not of the format"),
        ('{"format":"parquet"}', "not of the format"),
        ('{"format":"rocketproof-corpus","version":1}', "has version 1"),
        ('{"format":"rocketproof-corpus","version":true}', "has version True"),
        ('{"format":"rocketproof-corpus","version":3}', "is damaged"),
        ("[" * 100_000, "cannot be read"),
        ('{"format":1,"format":"rocketproof-corpus"}', "twice"),
        ('{"format":"rocketproof-corpus","version":2,"files":null}', "has version 2"),
    ],
    ids=lambda text: str(text)[:40],
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(CorpusError, match=reason):
        read_manifest(written(tmp_path, text))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("spec", 1),
        ("spec", "../elsewhere/Toy"),
        ("spec", "T*y"),
        ("spec", ""),
        ("spec_sha256", "0"),
        ("constants", []),
        ("constants", {"Max": None}),
        ("constants", {"Max = 1 INIT Evil": 1}),
        ("traces", -1),
        ("steps", True),
        ("steps", 2**70),
        ("failed", 1.0),
        ("chunk_steps", 2),
        ("chunk_steps", 2**21),
        ("chunk_steps", 2**70),
        ("source", None),
        ("reproduce", "rm\n--seed {seed}"),
        ("reproduce", "\u202egnp"),
    ],
)
def test_a_field_that_is_not_what_it_must_be_is_refused(
    tmp_path: Path, key: str, value: object
) -> None:
    with pytest.raises(CorpusError, match=f'"{key}"'):
        read_manifest(written(tmp_path, json.dumps({**OLD, key: value})))


@pytest.mark.parametrize("name", ["../steps/a", "steps/../a", "steps/", "other/a", "steps/a/b"])
def test_a_checksum_is_of_a_file_of_the_corpus(tmp_path: Path, name: str) -> None:
    finish(tmp_path, replace(MANIFEST, files={name: FileChecksum(bytes=1, sha256="0" * 64)}))

    with pytest.raises(CorpusError, match="strange entry"):
        read_manifest(tmp_path)


def test_every_flipped_bit_of_a_manifest_is_found(tmp_path: Path) -> None:
    finish(tmp_path, MANIFEST)
    path = tmp_path / "corpus.json"
    good = path.read_bytes()

    for bit in range(8 * len(good)):
        data = bytearray(good)
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        with pytest.raises(CorpusError):
            read_manifest(tmp_path)


def test_an_empty_folder_and_a_corpus_without_steps_are_undecided(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    begin(tmp_path / "stepless")
    finish(
        tmp_path / "stepless",
        CorpusManifest(spec=None, spec_sha256=None, constants={}, traces=3, steps=0, failed=3),
    )

    empty, stepless = nothing_in(tmp_path / "empty"), nothing_in(tmp_path / "stepless")

    assert empty is not None
    assert empty.verdict == Undecided("the folder is empty")
    assert stepless is not None
    assert stepless.verdict == Undecided("none of its 3 traces has a step")


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="is no corpus"):
        nothing_in(tmp_path / "missing")

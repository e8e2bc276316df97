"""Verdicts that outlive a run: what was accepted is not judged again, and nothing else is kept."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.traces.corpus.toy import ToySource, ToyTlc, judge, record_badly, toy_subject
from tlatrace.corpus import store as store_module
from tlatrace.corpus.generate import generate_corpus, make_here
from tlatrace.corpus.local import LocalDriver
from tlatrace.corpus.store import VerdictStore, open_known
from tlatrace.corpus.validate import Driver, TlcRecheck, validate_corpus
from tlatrace.errors import CorpusError, DisagreementError

MODEL = "ab" * 32


def keys(count: int, seed: int = 0) -> list[bytes]:
    rng = random.Random(seed)
    return [rng.randbytes(16) for _ in range(count)]


@pytest.mark.parametrize("bucket", [7, 100, 1 << 22])
def test_what_was_added_is_found_again(
    tmp_path: Path, bucket: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "_BUCKET", bucket)
    first, second = keys(300), keys(200, seed=1)
    near = [first[0][:8] + other[8:] for other in second[:5]]
    VerdictStore(tmp_path, MODEL, "run-1").add("a", first)
    VerdictStore(tmp_path, MODEL, "run-2").add("b", [*second, *near, *first[:20]])

    with VerdictStore(tmp_path, MODEL, "run-3").merged() as merged:
        assert merged is not None
        assert merged.stat().st_size == 16 * 505
        known = open_known(merged)
    assert list(tmp_path.rglob("known-*")) == []
    assert all(key in known for key in [*first, *second, *near])
    assert not any(key in known for key in keys(300, seed=2))
    assert first[1][:8] + first[2][8:] not in known


def test_an_empty_store_knows_nothing(tmp_path: Path) -> None:
    store = VerdictStore(tmp_path, MODEL, "run")
    store.add("a", [])

    with store.merged() as merged:
        assert merged is None


def test_another_model_begins_with_nothing(tmp_path: Path) -> None:
    VerdictStore(tmp_path, MODEL, "run").add("a", keys(3))

    with VerdictStore(tmp_path, "cd" * 32, "run").merged() as merged:
        assert merged is None


def test_a_file_of_another_model_is_refused(tmp_path: Path) -> None:
    VerdictStore(tmp_path, MODEL, "run").add("a", keys(3))
    almost = MODEL[:32] + "ff" * 16

    with (
        pytest.raises(CorpusError, match="is not of the model"),
        VerdictStore(tmp_path, almost, "run").merged(),
    ):
        pass


@pytest.mark.parametrize("damage", ["no Parquet", "pages", "columns"])
def test_a_damaged_file_is_named_with_what_to_do(tmp_path: Path, damage: str) -> None:
    store = VerdictStore(tmp_path, MODEL, "run")
    store.add("a", keys(3))
    file = next(tmp_path.rglob("*.parquet"))
    match damage:
        case "no Parquet":
            file.write_bytes(b"no")
        case "pages":
            data = bytearray(file.read_bytes())
            data[4:24] = bytes(20)
            file.write_bytes(data)
        case _:
            table = pq.read_table(file)
            pq.write_table(table.rename_columns(["other"]), file)

    with pytest.raises(CorpusError, match=f"{file.name}: .* delete this file"), store.merged():
        pass


KILLED = """
import os, signal, sys
from pathlib import Path
from tlatrace.corpus.store import VerdictStore
folder, model, run = sys.argv[1:]
with VerdictStore(Path(folder), model, run).merged():
    (Path(folder) / model[:32] / f"{run}-task.parquet.77").touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_run_has_left_goes_and_a_running_one_keeps_its_own(tmp_path: Path) -> None:
    VerdictStore(tmp_path, MODEL, "1-1").add("a", keys(300))
    place = tmp_path / MODEL[:32]
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), MODEL, "2-2"], check=False)
    assert sorted(path.name for path in place.iterdir()) == [
        "1-1-a.parquet",
        "2-2-task.parquet.77",
        "known-2-2.tmp",
    ]

    with VerdictStore(tmp_path, MODEL, "3-3").merged() as mine:
        assert mine is not None
        (place / "3-3-task.parquet.88").touch()
        with VerdictStore(tmp_path, MODEL, "4-4").merged() as other:
            assert other is not None
            assert sorted(path.name for path in place.iterdir()) == [
                "1-1-a.parquet",
                "3-3-task.parquet.88",
                "known-3-3.tmp",
                "known-4-4.tmp",
            ]


# ---- runs ----


def corpus(folder: Path, runs: int) -> Path:
    generate_corpus(make_here(1), folder, record_badly, first_seed=0, runs=runs, source={})
    return folder


def kept(store: Path) -> int:
    return sum(pq.read_metadata(file).num_rows for file in store.rglob("*.parquet"))


def test_a_grown_corpus_is_judged_where_it_is_new(tmp_path: Path) -> None:
    store = tmp_path / "store"
    small, grown = corpus(tmp_path / "small", 20), corpus(tmp_path / "grown", 50)

    first = judge(small, store=store)
    again = judge(small, store=store)
    more = judge(grown, store=store)

    assert first.figures.recalled == 0
    assert first.verdicts == again.verdicts
    assert again.figures.evaluated == first.figures.evaluated - again.figures.recalled > 0
    assert again.figures.distinct == first.figures.distinct
    without = judge(grown)
    assert more.verdicts == without.verdicts
    assert more.actions == without.actions
    assert more.figures.recalled > 0
    assert more.figures.evaluated < without.figures.evaluated
    assert list(store.rglob("*.tmp")) == []


def test_only_what_was_accepted_is_kept(tmp_path: Path) -> None:
    store = tmp_path / "store"
    folder = corpus(tmp_path / "c", 20)

    result = judge(folder, store=store)

    assert kept(store) < result.figures.distinct
    assert judge(folder, store=store).count("diverges") == result.count("diverges") > 0


def test_another_text_of_the_model_judges_everything(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 20)
    first = judge(folder, store=tmp_path / "store")
    other = replace(toy_subject(ToySource(forgives=-7)), fingerprint="another")

    result = validate_corpus(folder, other, LocalDriver(1), store=tmp_path / "store")

    assert result.figures.recalled == 0
    assert result.figures.evaluated >= first.figures.evaluated


@pytest.mark.parametrize(
    "driver", [LocalDriver(1), pytest.param(LocalDriver(2, here_rows=0), id="processes")]
)
def test_a_run_that_tlc_contradicts_leaves_nothing(tmp_path: Path, driver: Driver) -> None:
    folder, store = corpus(tmp_path / "c", 20), tmp_path / "store"
    judge(corpus(tmp_path / "before", 2), store=store)
    before = kept(store)

    with pytest.raises(DisagreementError):
        validate_corpus(
            folder,
            toy_subject(),
            driver,
            store=store,
            tlc=TlcRecheck(ToyTlc(ToySource(forgives=-7)), 10),
        )

    assert kept(store) == before

"""Turned bits of a corpus: no other verdict, and a corpus without checksums shows some."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tlatrace.selfcheck.hostile.flips import AnyCorpus, examine_flips, flip_bits
from tlatrace.selfcheck.hostile.material import load_anything

pytestmark = pytest.mark.java


def test_no_turned_bit_gives_another_verdict() -> None:
    stages: list[str] = []

    found = examine_flips(150, seed=2, on_stage=stages.append)

    assert found.disagreements == ()
    assert found.examined == 150
    assert found.facts["errors"] > 75
    assert set(found.facts) <= {"errors", "the same"}
    assert stages[1] == "flips: 100 of 150 bits"


def test_a_corpus_without_checksums_gives_other_verdicts(tmp_path: Path) -> None:
    corpus = AnyCorpus.made_in(tmp_path, load_anything())
    right = corpus.answers()
    assert {kind for kind, _ in right.values()} == {"conforms", "diverges"}
    corpus.without_checksums()

    counts, found = flip_bits(corpus, 250, Random(1), lambda _: None)

    assert counts["wrong"] > 0
    assert counts["broken"] == 0
    assert all(case.question.split()[-1].startswith("corpus/") for case in found)
    assert corpus.answers() == right, "every bit was turned back"

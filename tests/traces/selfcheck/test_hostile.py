"""Hostile texts, rows and files: what the readers make of them, and that a bad reader is found."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import msgspec
import pytest

from tlatrace.corpus.kernel import Kernel
from tlatrace.errors import TraceFormatError, ValueFormatError
from tlatrace.oracle import Model
from tlatrace.oracle.checker import Checker
from tlatrace.runtime.values import RuntimeValue
from tlatrace.selfcheck.hostile.changes import change_bytes, change_text
from tlatrace.selfcheck.hostile.examine import examine_hostile
from tlatrace.selfcheck.hostile.files import check_files
from tlatrace.selfcheck.hostile.material import draw_state, load_anything
from tlatrace.selfcheck.hostile.rows import check_rows
from tlatrace.selfcheck.hostile.texts import check_texts
from tlatrace.trace import ndjson
from tlatrace.trace.canonical_text import read_canonical_state
from tlatrace.trace.lines import DEFAULT_LIMITS, Limits
from tlatrace.values import Json, canonical_state


@pytest.fixture(scope="module")
def model() -> Model:
    return load_anything()


def quiet(_: str) -> None:
    pass


@pytest.mark.java
def test_hostile_input_is_read_as_the_plain_reading_reads_it() -> None:
    stages: list[str] = []

    found = list(examine_hostile(3_000, seed=11, on_stage=stages.append))

    assert [agreement.disagreements for agreement in found] == [()] * 5
    assert [agreement.subject for agreement in found] == [
        *("texts", "rows", "texts for machine code", "rows for machine code", "trace files"),
    ]
    assert sum(agreement.examined for agreement in found) >= 6_300
    assert all(min(agreement.facts.values()) > 10 for agreement in found), "both answers are seen"
    assert any("of 2,700 texts" in stage for stage in stages)


@pytest.mark.java
def test_a_name_of_a_model_value_is_a_string_in_one_of_the_variables(model: Model) -> None:
    assert model.reading.clashing == {"mark"}
    checker = Checker(model)
    for text in ('"n3"', '{"#str":"n3"}', '{"#model":"n3"}', "[" * 64 + "]" * 64):
        state = f'{{"count":0,"left":0,"mark":{text},"right":0}}'
        assert checker.state(state) == model.adopt(read_canonical_state(state))
    with pytest.raises(ValueFormatError):
        checker.state(f'{{"count":0,"left":0,"mark":{"[" * 65 + "]" * 65},"right":0}}')


@pytest.mark.java
def test_the_same_seed_gives_the_same_cases(model: Model) -> None:
    one, same, other = (check_texts(model, 500, seed, quiet) for seed in (1, 1, 2))

    assert one.facts == same.facts != other.facts


@pytest.mark.java
def test_a_reader_that_takes_other_spellings_is_found(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loosely(self: Checker, raw: bytes) -> RuntimeValue:
        return self._value(msgspec.json.decode(raw), 0)

    monkeypatch.setattr(Checker, "_plain", loosely)

    agreement = check_texts(model, 5_000, 0, quiet)

    assert agreement.disagreements
    found = agreement.disagreements[0]
    assert found.tlc == "plain: 'refuses'"
    assert found.model.startswith("Checker.state: (")
    assert len(found.question) < 200, "it was made small"


@pytest.mark.java
def test_a_reader_that_breaks_is_found(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaking(_: Checker, text: str) -> object:
        raise KeyError(text[:1])

    monkeypatch.setattr(Checker, "_slowly", breaking)

    assert "KeyError" in check_texts(model, 500, 0, quiet).disagreements[0].model


@pytest.mark.java
def test_a_kernel_that_accepts_is_found(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kernel, "_ask", lambda *_: None)

    found = check_rows(model, 2_000, 0, quiet).disagreements

    assert found[0].tlc == "plain: [False]"
    assert found[0].model == "kernel: [True]"


def test_a_reader_of_files_that_is_lax_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def lax(raw: bytes, *, path: Path, line: int, limits: Limits) -> Json:
        assert limits is DEFAULT_LIMITS
        try:
            data: Json = json.loads(raw.decode("utf-8", "replace"))
        except ValueError as error:
            raise TraceFormatError(path, line, str(error)) from None
        return data

    monkeypatch.setattr(ndjson, "parse_json", lax)

    found = check_files(2_000, 0, quiet).disagreements

    assert any(case.tlc.startswith("plain: no JSON") for case in found)


def test_changes_stay_near_what_was_changed() -> None:
    draw = Random(5)
    good = canonical_state(draw_state(draw, 1))

    changed = {change_text(draw, good) for _ in range(2_000)}
    parsed = sum(_parses(text) for text in changed)

    assert len(changed) > 1_000
    assert 0.2 < parsed / len(changed) < 0.9
    assert len({change_bytes(draw, b"some bytes") for _ in range(200)}) > 100


def _parses(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True

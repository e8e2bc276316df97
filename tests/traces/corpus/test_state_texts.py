"""States in columns of their variables are the states that they are as whole texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.traces.corpus import toy
from tests.traces.corpus.corpora import HERE
from tlatrace.corpus import state_texts
from tlatrace.corpus.generate import generate_corpus
from tlatrace.corpus.manifest import read_manifest
from tlatrace.corpus.rows import Codes
from tlatrace.corpus.schema import variables_with_columns
from tlatrace.corpus.state_texts import StateTexts
from tlatrace.errors import CorpusError
from tlatrace.oracle.rows import NO_TEXT
from tlatrace.trace import Event, Trace
from tlatrace.values import Value

X = ["1", "22", None, "1", "22", "3"]
LAST = ['"up"', '"ä"', '"up"', None, '"up"', '"up"']
WHOLE = [None, None, None, None, '{"whole":1}', None]
SAID = [
    '{"last":"up","x":1}',
    '{"last":"ä","x":22}',
    None,
    None,
    '{"whole":1}',
    '{"last":"up","x":3}',
]


def batch(**columns: pa.Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "state": pa.array(WHOLE, pa.string()),
            "state_x": pa.array(X),
            "state_last": pa.array(LAST),
        }
        | columns
    )


FOREIGN = pa.DictionaryArray.from_arrays(
    pa.array([0, 2, 1, 0, 2, 3]), pa.array(["1", None, "22", "3", *[f"{n}" for n in range(90)]])
)
"""A null is one of its texts, and others are those of other rows."""


@pytest.mark.parametrize(
    "states",
    [
        batch(),
        batch(state_x=pa.array(X).dictionary_encode()),
        batch(state_x=FOREIGN),
        pa.concat_batches([batch(), batch()]).slice(6),
    ],
    ids=["texts", "numbers", "another dictionary", "a slice"],
)
def test_rows_have_the_states_that_their_columns_say(states: pa.RecordBatch) -> None:
    read = StateTexts(states)

    assert read.variables == ("last", "x")
    assert read.lacking.tolist() == [said is None for said in SAID]
    for at, said in enumerate(SAID):
        if said is not None:
            assert list(read.made(at, at + 1)) == [said]
            assert read.raw(at) == said.encode()
    assert list(read.made(4, 6)) == SAID[4:]
    asked = read.states
    assert (asked.texts.begins != NO_TEXT).tolist() == [said is not None for said in WHOLE]
    for column, texts in zip(asked.columns, (LAST, X), strict=True):
        found = [
            None if number < 0 else column.texts.raw(number).decode()
            for number in column.numbers.tolist()
        ]
        assert found == texts
        assert len(column.texts.begins) <= len(texts)


def test_states_without_columns_are_whole_or_lacking() -> None:
    read = StateTexts(pa.RecordBatch.from_pydict({"state": pa.array(["{}", None])}))

    assert read.lacking.tolist() == [False, True]
    assert read.states.columns == []
    assert list(read.made(0, 1)) == ["{}"]
    assert read.makeable(0, 2) == 2


def test_no_more_texts_are_made_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_texts, "_MOST_CHARACTERS", 7)
    read = StateTexts(batch())  # 5, 6, 4, 1, 6, 5 letters of variables

    assert [read.makeable(at, 6) for at in range(6)] == [1, 2, 4, 4, 5, 6]
    assert read.makeable(2, 3) == 3


@pytest.mark.parametrize("number", [2, -2, 2**31 - 1])
def test_a_text_that_there_is_not_is_an_error(number: int) -> None:
    indices = pa.array([0, 1, number, 0, 1, 0], pa.int32())
    bad = pa.DictionaryArray.from_arrays(indices, pa.array(["1", "2"]), safe=False)

    with pytest.raises(CorpusError, match="not in the dictionary"):
        StateTexts(batch(state_x=bad))
    with pytest.raises(CorpusError, match="not in the dictionary"):
        Codes(bad)


def test_equal_texts_have_one_number_though_a_dictionary_has_them_twice() -> None:
    texts = pa.array(["a", "Init", None, "Init"])
    codes = Codes(pa.DictionaryArray.from_arrays(pa.array([1, 3, 2, 0, None]), texts))

    assert codes.are("Init").tolist() == [True, True, False, False, False]
    assert codes.of(0, 5) == ["Init", "Init", None, "a", None]
    assert codes.numbers[2] == codes.numbers[4] == -1
    assert codes.counted() == {"Init": 2, None: 2, "a": 1}


def test_a_text_that_is_not_utf8_is_an_error() -> None:
    bad = pa.array([b"\xff"] * 6, pa.binary()).view(pa.string())
    read = StateTexts(batch(state_x=bad))

    with pytest.raises(CorpusError, match="is not UTF-8"):
        read.made(0, 1)
    assert read.raw(0) == b'{"last":"up","x":\xff}'


@pytest.mark.parametrize(
    ("names", "variables"),
    [
        (["x", "last"], ("last", "x")),
        (["X", "x"], ()),
        (["x", "a-b"], ()),
        (["x", "ä"], ()),
        (["x", "x" * 300], ()),
        ([], ()),
    ],
)
def test_variables_have_columns_where_no_engine_mistakes_them(
    names: list[str], variables: tuple[str, ...]
) -> None:
    assert variables_with_columns(names) == variables


def make(folder: Path, *traces: Trace) -> pa.Table:
    generate_corpus(HERE, folder, traces.__getitem__, first_seed=0, runs=len(traces), source={})
    return pq.read_table(folder / "steps")


def test_states_of_other_variables_are_written_whole(tmp_path: Path) -> None:
    good = toy.record(1)
    states: list[dict[str, Value] | None] = [
        {"x": 1},
        {"x": 1, "last": "up", "y": 2},
        {"x": 1, "y": 2},
        None,
    ]
    bad = tuple(
        [Event(step=at + 1, action="Up", params=(), state=s) for at, s in enumerate(states)]
    )

    table = make(tmp_path / "c", good, Trace(header=good.header, events=(*good.events[:1], *bad)))

    rows = table.to_pylist()[-5:]
    assert read_manifest(tmp_path / "c").variables == ("last", "x")
    assert [row["state"] for row in rows] == [
        None,
        '{"x":1}',
        '{"last":"up","x":1,"y":2}',
        '{"x":1,"y":2}',
        None,
    ]
    assert [row["state_x"] for row in rows] == ["0", None, None, None, None]
    assert np.all(
        StateTexts(table.combine_chunks().to_batches()[0]).lacking == [*[False] * 16, True]
    )


def test_a_corpus_without_whole_states_has_no_columns(tmp_path: Path) -> None:
    header = toy.record(1).header
    event = Event(step=0, action="Init", params=(), observed={"x": 0})

    table = make(tmp_path / "c", Trace(header=header, events=(event,)))

    assert read_manifest(tmp_path / "c").variables == ()
    assert table.column("state").to_pylist() == [None]
    assert not [name for name in table.schema.names if name.startswith("state_")]

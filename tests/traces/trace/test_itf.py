"""ITF: our traces there and back, and the files of Apalache and Quint."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from model_tests.value_strategies import traces
from tlatrace.errors import TraceFormatError
from tlatrace.trace import Event, Header, Trace
from tlatrace.trace.itf import UNKNOWN_SPEC, itf_text, read_itf, write_itf
from tlatrace.trace.lines import Limits
from tlatrace.trace.ndjson import dump_trace
from tlatrace.values import Json, ModelValue, fcn, record, same, tla_set


def text_of(trace: Trace) -> bytes:
    """Spell a trace, so that True and 1 are told apart."""
    return b"" if trace.header is None else b"".join(dump_trace(trace.header, trace.events))


def read_json(tmp_path: Path, document: Json) -> Trace:
    """Read a document as an ITF file."""
    path = tmp_path / "trace.itf.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return read_itf(path)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trace=traces())
def test_a_trace_comes_back_from_itf_as_it_was(trace: Trace, tmp_path: Path) -> None:
    path = tmp_path / "trace.itf.json"
    write_itf(path, trace)

    back = read_itf(path)

    assert text_of(back) == text_of(trace)
    assert itf_text(back) == itf_text(trace)


def test_an_empty_trace_comes_back_empty(tmp_path: Path) -> None:
    path = tmp_path / "empty.itf.json"
    write_itf(path, Trace(header=None, events=()))

    assert read_itf(path).events == ()


def test_the_exported_document_follows_the_adr() -> None:
    trace = Trace(
        header=Header(spec="Toy"),
        events=(
            Event(
                step=0,
                action="Init",
                state={
                    "log": (1, record({"epoch": 2})),
                    "f": fcn([(0, ModelValue("b1"))]),
                    "alive": tla_set([True, "b1"]),
                },
            ),
            Event(step=1, action="Append", params=(3,), node="b1", observed={"log": ()}),
            Event(step=2, action=None),
        ),
    )

    document = json.loads(itf_text(trace))

    hidden = {"#unserializable": "not observed"}
    assert document["vars"] == ["alive", "f", "log"]
    assert document["states"] == [
        {
            "#meta": {"index": 0, "action": "Init", "params": []},
            "alive": {"#set": ["b1", True]},
            "f": {"#map": [[{"#bigint": "0"}, {"#unserializable": "b1"}]]},
            "log": [{"#bigint": "1"}, {"epoch": {"#bigint": "2"}}],
        },
        {
            "#meta": {
                "index": 1,
                "action": "Append",
                "params": [{"#bigint": "3"}],
                "node": "b1",
                "part": "observed",
            },
            "alive": hidden,
            "f": hidden,
            "log": [],
        },
        {
            "#meta": {"index": 2, "action": None, "params": [], "part": "none"},
            "alive": hidden,
            "f": hidden,
            "log": hidden,
        },
    ]


def test_a_trace_of_apalache_is_read_as_full_states(tmp_path: Path) -> None:
    trace = read_json(
        tmp_path,
        {
            "#meta": {"format": "ITF", "varTypes": {"x": "Int"}, "source": "specs/Toy.tla"},
            "params": [],
            "vars": ["x", "s"],
            "states": [
                {"#meta": {"index": 0}, "x": {"#bigint": "-1"}, "s": {"#set": ["1_OF_A"]}},
                {"x": 2, "s": {"#tup": [{"tag": "T", "value": {"#tup": []}}]}},
            ],
            "loop": 0,
        },
    )

    assert trace.header is not None
    assert trace.header.spec == "Toy"
    assert trace.header.meta["itf"] == {
        "format": "ITF",
        "varTypes": {"x": "Int"},
        "source": "specs/Toy.tla",
        "loop": 0,
    }
    first, second = trace.events
    assert first == Event(step=0, action="Init", state={"x": -1, "s": tla_set(["1_OF_A"])})
    assert second.action is None
    assert second.state is not None
    assert same((record({"tag": "T", "value": ()}),), second.state["s"])


def test_a_trace_of_quint_keeps_the_action_taken(tmp_path: Path) -> None:
    state: dict[str, Json] = {"mbt::nondetPicks": {"n": {"tag": "None"}}, "bank::log": []}
    trace = read_json(
        tmp_path,
        {
            "vars": ["mbt::actionTaken", "mbt::nondetPicks", "bank::log"],
            "states": [
                {"mbt::actionTaken": "init", **state},
                {"mbt::actionTaken": "bank::deposit", **state},
                {"mbt::actionTaken": "", **state},
            ],
        },
    )

    assert trace.header == Header(spec=UNKNOWN_SPEC)
    assert [event.action for event in trace.events] == ["Init", "bank::deposit", None]
    assert trace.events[1].state == {"bank::log": ()}


@pytest.mark.parametrize(
    "document",
    [
        [],
        {},
        {"vars": ["x"]},
        {"vars": "x", "states": []},
        {"vars": [1], "states": []},
        {"vars": ["a b"], "states": []},
        {"vars": [], "states": [], "#meta": []},
        {"vars": [], "states": [1]},
        {"vars": ["x"], "states": [{}]},
        {"vars": ["x"], "states": [{"x": 1.5}]},
        {"vars": ["x"], "states": [{"x": {"#unserializable": "Nat -> Nat"}}]},
        {"vars": ["x"], "states": [{"x": 1, "#meta": 5}]},
        {"vars": ["x"], "states": [{"x": 1, "#meta": {"part": "some"}}]},
        {"vars": ["x"], "states": [{"x": 1, "#meta": {"params": 1}}]},
        {"vars": ["x"], "states": [{"x": 1}, {"x": 1, "#meta": {"action": "a b"}}]},
        {"vars": [], "states": [], "#meta": {"rocketproof": {"format": "other"}}},
    ],
    ids=str,
)
def test_anything_else_is_a_trace_format_error(document: Json, tmp_path: Path) -> None:
    with pytest.raises(TraceFormatError):
        read_json(tmp_path, document)


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"", 1),
        (b"garbage", 1),
        (b'{\n"vars":[],\n"vars":[]}', 1),
        (b'{\n"vars":[],\n!', 3),
        (b'{\n"vars":\xff', 2),
        (b"[" * 100_000, 1),
    ],
    ids=["empty", "garbage", "same key", "syntax", "utf8", "deep"],
)
def test_a_hostile_file_is_a_trace_format_error_with_a_line(
    raw: bytes, line: int, tmp_path: Path
) -> None:
    path = tmp_path / "bad.itf.json"
    path.write_bytes(raw)

    with pytest.raises(TraceFormatError) as caught:
        read_itf(path)

    assert caught.value.line == line


def test_the_size_of_a_file_is_limited(tmp_path: Path) -> None:
    path = tmp_path / "large.itf.json"
    path.write_bytes(b'{"vars":[],"states":[]}' + b" " * 1000)

    with pytest.raises(TraceFormatError):
        read_itf(path, Limits(total_bytes=500))

"""The order of lines that several nodes logged: by clocks, or by messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from tests.traces.matching.toy import lock_server
from tlatrace.errors import SpecError, TraceFormatError
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided
from tlatrace.matching import MappedLog, match_traces, read_log, read_mapping
from tlatrace.values import Json

HEAD: Final = 'format = "rocketproof-mapping"\nversion = 1\nspec = "LockServer"\n'
ACTIONS: Final = (
    '[action]\nfield = "op"\nother = "same"\n'
    '[params]\nRequest = ["who"]\nGrant = ["who"]\nRelease = ["who"]\n'
)
VECTOR: Final = HEAD + ACTIONS + '[order]\nby = "vector"\nnode = "at"\nclock = "vc"\n'
LAMPORT: Final = HEAD + ACTIONS + '[order]\nby = "lamport"\nnode = "at"\nclock = "n"\n'
MESSAGES: Final = (
    HEAD + ACTIONS + '[order]\nby = "messages"\nnode = "at"\nsends = "out"\nreceives = "in"\n'
)


def read(folder: Path, mapping: str, **logs: list[dict[str, Json]]) -> MappedLog:
    """Read the logs of nodes, in a folder of their own."""
    (folder / "map.toml").write_text(mapping)
    (folder / "run").mkdir(exist_ok=True)
    for name, lines in logs.items():
        text = "".join([json.dumps(line) + "\n" for line in lines])
        (folder / "run" / f"{name}.jsonl").write_text(text)
    return read_log(folder / "run", read_mapping(folder / "map.toml"))


def told(log: MappedLog) -> list[tuple[str | None, tuple[int, ...] | None]]:
    """Return the actions, and what each one follows."""
    return [(event.action, event.clues.follows) for event in log.trace.events[1:]]


# ---- vector clocks ------------------------------------------------------------------------


@pytest.mark.parametrize("pairs", [False, True])
def test_vector_clocks_order_the_lines_of_nodes(tmp_path: Path, *, pairs: bool) -> None:
    def clock(**counts: int) -> Json:
        return [[name, n] for name, n in counts.items()] if pairs else dict(counts)

    log = read(
        tmp_path,
        VECTOR,
        a_server=[
            {"at": "s", "op": "Grant", "who": "c1", "vc": clock(s=1, c=2)},
            {"at": "s", "op": "Grant", "who": "c2", "vc": clock(s=3, c=4)},
        ],
        b_client=[
            {"at": "c", "op": "Request", "who": "c1", "vc": clock(c=2)},
            {"at": "c", "op": "Request", "who": "c2", "vc": clock(c=3)},
            {"at": "c", "op": "Release", "who": "c1", "vc": clock(c=4, s=1, gone=7)},
        ],
    )

    assert told(log) == [
        ("Request", ()),
        ("Grant", (1,)),
        ("Request", (1,)),
        ("Release", (3, 2)),
        ("Grant", (2, 4)),
    ]
    assert [(file.name, line) for file, line in zip(log.files, log.lines, strict=True)][1:] == [
        ("b_client.jsonl", 1),
        ("a_server.jsonl", 1),
        ("b_client.jsonl", 2),
        ("b_client.jsonl", 3),
        ("a_server.jsonl", 2),
    ]
    assert match_traces(lock_server(), [log.trace]) == [Conforms(6)]


def test_a_line_that_was_skipped_counts_in_the_clocks(tmp_path: Path) -> None:
    log = read(
        tmp_path,
        VECTOR + '[[skip]]\nfield = "abort"\nis = true\n',
        c=[
            {"at": "c", "op": "Request", "who": "c1", "vc": {"c": 1}},
            {"at": "c", "abort": True, "op": "Request", "who": "c1", "vc": {"c": 2}},
        ],
        s=[{"at": "s", "op": "Grant", "who": "c1", "vc": {"s": 1, "c": 2}}],
    )

    assert told(log) == [("Request", ()), ("Grant", (1,))]
    assert log.counts.text() == "3 lines, 1 skipped; Grant 1, Request 1"


def test_a_divergence_that_no_order_explains_is_one(tmp_path: Path) -> None:
    lines: list[dict[str, Json]] = [
        {"at": "s", "op": "Grant", "who": "c1", "vc": {"s": 1}},
        {"at": "s", "op": "Grant", "who": "c2", "vc": {"s": 2}},
    ]
    asked: list[dict[str, Json]] = [
        {"at": "c", "op": "Request", "who": "c1", "vc": {"c": 1}},
        {"at": "c", "op": "Request", "who": "c2", "vc": {"c": 2}},
    ]
    released: list[dict[str, Json]] = [
        *asked,
        {"at": "c", "op": "Release", "who": "c1", "vc": {"c": 3}},
    ]

    bad = read(tmp_path, VECTOR, s=lines, c=asked)
    assert isinstance(match_traces(lock_server(), [bad.trace])[0], Diverges)
    good = read(tmp_path, VECTOR, s=lines, c=released)
    assert match_traces(lock_server(), [good.trace]) == [Conforms(6)]


def granted_twice(last: int, *, skipped: bool = False) -> tuple[list[dict[str, Json]], ...]:
    """Return logs of a server and of clients; a grant counts `last` lines of the clients' two."""
    server: list[dict[str, Json]] = [
        {"at": "s", "op": "Grant", "who": "c1", "vc": {"s": 1, "c": 2}},
        {"at": "s", "op": "Grant", "who": "c2", "vc": {"s": 2, "c": last}},
    ]
    clients: list[dict[str, Json]] = [
        {"at": "c", "op": "Request", "who": "c1", "vc": {"c": 1}},
        {"at": "c", "op": "Request", "who": "c2", "vc": {"c": 2}},
    ]
    if skipped:
        clients.append({"at": "c", "op": "Request", "who": "c2", "abort": True, "vc": {"c": 3}})
    return server, clients


def test_a_log_that_is_cut_off_does_not_diverge(tmp_path: Path) -> None:
    server, clients = granted_twice(last=3)  # the third is the Release that allows the second

    (found,) = match_traces(lock_server(), [read(tmp_path, VECTOR, s=server, c=clients).trace])

    assert isinstance(found, Undecided)
    assert 's.jsonl:2: it counts 3 lines of "c", whose log ends with 2' in found.reason
    released: list[dict[str, Json]] = [
        *clients,
        {"at": "c", "op": "Release", "who": "c1", "vc": {"c": 3}},
    ]
    whole = read(tmp_path, VECTOR, s=server, c=released)
    assert match_traces(lock_server(), [whole.trace]) == [Conforms(6)]


def test_a_line_that_is_no_step_may_show_that_a_log_is_cut_off(tmp_path: Path) -> None:
    mapping = VECTOR + '[[skip]]\nfield = "abort"\nis = true\n'
    server, clients = granted_twice(last=2)
    server.append({"at": "s", "op": "Grant", "who": "c2", "abort": True, "vc": {"s": 3, "c": 3}})

    (found,) = match_traces(lock_server(), [read(tmp_path, mapping, s=server, c=clients).trace])

    assert isinstance(found, Undecided)
    assert 's.jsonl:3: it counts 3 lines of "c", whose log ends with 2' in found.reason


@pytest.mark.parametrize("why", ["nothing is missing", "skipped lines count", "counts have gaps"])
def test_what_a_whole_log_does_not_explain_diverges(why: str, tmp_path: Path) -> None:
    mapping = VECTOR + '[[skip]]\nfield = "abort"\nis = true\n'
    server, clients = granted_twice(
        last=2 if why == "nothing is missing" else 3, skipped=why == "skipped lines count"
    )
    if why == "counts have gaps":  # steps that nobody logs are counted, too
        clients[1]["vc"] = {"c": 3}
        server[1]["vc"] = {"s": 2, "c": 4}

    (found,) = match_traces(lock_server(), [read(tmp_path, mapping, s=server, c=clients).trace])

    assert isinstance(found, Diverges)


def test_a_field_may_say_what_to_try_first_of_concurrent_lines(tmp_path: Path) -> None:
    mapping = VECTOR + 'tie = "ts"\n'

    log = read(
        tmp_path,
        mapping,
        a=[{"at": "a", "op": "Request", "who": "c1", "vc": {"a": 1}, "ts": "10:02"}],
        b=[{"at": "b", "op": "Request", "who": "c2", "vc": {"b": 1}, "ts": "10:01"}],
    )

    assert [event.params for event in log.trace.events[1:]] == [("c2",), ("c1",)]


# ---- Lamport clocks -----------------------------------------------------------------------


def test_lamport_clocks_order_lines_but_prove_little(tmp_path: Path) -> None:
    request: dict[str, Json] = {"at": "c", "op": "Request", "who": "c1", "n": 1}
    grant: dict[str, Json] = {"at": "s", "op": "Grant", "who": "c1", "n": 2}

    good = read(tmp_path, LAMPORT, c=[request], s=[grant])
    assert told(good) == [("Request", ()), ("Grant", (1,))]
    assert match_traces(lock_server(), [good.trace]) == [Conforms(3)]
    swapped = read(tmp_path, LAMPORT, c=[{**request, "n": 3}], s=[grant])
    assert isinstance(match_traces(lock_server(), [swapped.trace])[0], Undecided)
    twice = read(tmp_path, LAMPORT, c=[request], s=[grant, {**grant, "n": 5}])
    assert isinstance(match_traces(lock_server(), [twice.trace])[0], Diverges)


def test_lines_with_the_same_lamport_clock_are_concurrent(tmp_path: Path) -> None:
    log = read(
        tmp_path,
        LAMPORT,
        c=[{"at": "c", "op": "Request", "who": "c1", "n": 4}],
        s=[{"at": "s", "op": "Grant", "who": "c1", "n": 4}],
    )

    assert told(log) == [("Request", ()), ("Grant", ())]


# ---- messages -----------------------------------------------------------------------------


def test_messages_order_the_lines_that_send_and_receive_them(tmp_path: Path) -> None:
    log = read(
        tmp_path,
        MESSAGES + '[[skip]]\nfield = "op"\npresent = false\n',
        a=[
            {"at": "s", "in": "m1"},
            {"at": "s", "op": "Grant", "who": "c1", "out": ["m2", 3]},
        ],
        c=[
            {"at": "c", "op": "Request", "who": "c1"},
            {"at": "c", "out": "m1"},
            {"at": "c", "in": 3},
            {"at": "c", "op": "Release", "who": "c1"},
        ],
        z=[{"note": "no node logged this"}],
    )

    assert told(log) == [("Request", ()), ("Grant", (1,)), ("Release", (1, 2))]
    assert match_traces(lock_server(), [log.trace]) == [Conforms(4)]


# ---- what is refused ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mapping", "lines", "reason"),
    [
        (VECTOR, [{"vc": {}}], "no field at"),
        (VECTOR, [{"at": "a", "vc": 3}], "no vector clock"),
        (VECTOR, [{"at": "a", "vc": {"b": 1}}], "does not count the line's own node"),
        (VECTOR, [{"at": "a", "vc": {"a": -1}}], "no count"),
        (VECTOR, [{"at": "a", "vc": [["a", 1], ["a", 1]]}], "stands twice"),
        (VECTOR, [{"at": "a", "vc": {"a": 1}}, {"at": "a", "vc": {"a": 1}}], "after 1 before"),
        (
            VECTOR,
            [{"at": "a", "vc": {"a": 1, "b": 1}}, {"at": "b", "vc": {"a": 1, "b": 1}}],
            "go round",
        ),
        (VECTOR + 'tie = "t"\n', [{"at": "a", "vc": {"a": 1}}], "neither a number nor a string"),
        (LAMPORT, [{"at": "a", "n": "1"}], "no number"),
        (LAMPORT, [{"at": "a", "n": 2}, {"at": "a", "n": 2}], "does not grow"),
        (MESSAGES, [{"at": "a", "in": "m"}], "sent by no line"),
        (MESSAGES, [{"at": "a", "out": "m"}, {"at": "b", "out": "m"}], "is sent twice"),
        (MESSAGES, [{"at": "a", "in": "m"}, {"at": "a", "out": "m"}], "go round"),
    ],
)
def test_clocks_that_order_nothing_are_refused_with_file_and_line(
    mapping: str, lines: list[dict[str, Json]], reason: str, tmp_path: Path
) -> None:
    whole: list[dict[str, Json]] = [{**line, "op": "Grant", "who": "c1"} for line in lines]

    with pytest.raises(TraceFormatError) as caught:
        read(tmp_path, mapping, log=whole)

    assert reason in caught.value.reason
    assert caught.value.line is not None
    assert str(caught.value.path).endswith("log.jsonl")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[order]\nnode = "a"\n', "does not say by which of vector, lamport, messages"),
        ('[order]\nby = "vector"\nclock = "c"\n', "which node logged"),
        ('[order]\nby = "vector"\nnode = "a"\n', "by vector needs clock"),
        ('[order]\nby = "messages"\nnode = "a"\nclock = "c"\n', "no use for clock"),
        ('[order]\nby = "lamport"\nnode = "a"\nclock = "c"\nsends = "b"\n', "no use for sends"),
        ('[order]\nby = "lamport"\nnode = "a"\nclock = "c"\nuse = "b"\n', "unknown key 'use'"),
        ('init = "first line"\n[order]\nby = "lamport"\nnode = "a"\nclock = "c"\n', "first line"),
    ],
)
def test_an_order_that_is_wrong_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_text(HEAD + text)

    with pytest.raises(SpecError) as caught:
        read_mapping(tmp_path / "map.toml")

    assert reason in caught.value.reason


def test_a_folder_without_logs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceFormatError, match=r"no \*.jsonl, \*.ndjson, \*.log in this folder"):
        read(tmp_path, VECTOR)

"""Records in which something is not what it was: a trace comes of them, or one typed error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rocketha.recording.node_log import NodeLines, NodeLog, pull_log
from rocketha.recording.record import RecordError
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED
from rocketproof.protocols import PROTOCOLS
from rocketproof.schedule import Scheduled

PLUG: Final = PROTOCOLS["lock_quorum"]
ABSENT: Final = object()
STRANGE: Final[tuple[object, ...]] = (
    *(ABSENT, None, True, 0, -1, 1, 1 << 70, 10**1500, 1.5),
    *("", "x", "b1", "c1", "#a", "q1", "\x00", "{}", '{"attempt":1}'),
    *([], {}, [[]], ["a"], {"a": 1}),
)


@cache
def lines() -> dict[str, list[bytes]]:
    run = Scheduled(protocol=PLUG.name, seed=0, options=SimOptions(steps=25), schedule=UNRESTRICTED)
    written = NodeLines()
    PLUG.record(run, written.write)
    return written.lines


def places(value: object, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give all places in a value but the value itself."""
    below: list[tuple[Any, object]] = []
    if isinstance(value, dict):
        below = list(value.items())
    elif isinstance(value, list):
        below = list(enumerate(value))
    for key, part in below:
        yield (*at, key)
        yield from places(part, (*at, key))


def put(value: Any, at: tuple[Any, ...], new: object) -> None:
    for key in at[:-1]:
        value = value[key]
    if new is ABSENT:
        del value[at[-1]]
    else:
        value[at[-1]] = new


def logs_with(node: str, number: int, line: bytes) -> list[NodeLog]:
    changed = {name: list(texts) for name, texts in lines().items()}
    changed[node][number] = line
    return [pull_log(texts, name) for name, texts in changed.items()]


@settings(max_examples=300)
@given(st.data())
def test_a_strange_value_makes_a_trace_or_one_error(data: st.DataObject) -> None:
    node = data.draw(st.sampled_from(sorted(lines())))
    number = data.draw(st.integers(0, len(lines()[node]) - 1))
    fields = json.loads(lines()[node][number])
    within = fields
    bodies = [one for one in fields.get("sent", []) if "body" in one]
    if bodies and data.draw(st.sampled_from([False, True])):
        within = json.loads(bodies[0]["body"])
    at = data.draw(st.sampled_from(list(places(within))))
    put(within, at, data.draw(st.sampled_from(STRANGE)))
    if within is not fields:
        bodies[0]["body"] = json.dumps(within)
    line = json.dumps(fields).encode() + b"\n"
    assume(line != lines()[node][number])

    try:
        trace = PLUG.trace_of_records(logs_with(node, number, line))
    except RecordError:
        return
    assert len(trace.events) > 10


@pytest.mark.parametrize(
    ("text", "digits", "said"),
    [
        (b'\\"attempt\\":1', 1_500, "c1, record .*: an integer has more than 1000 digits"),
        (b'"tries":1', 5_000, "c1:.*: no record: "),
    ],
)
def test_a_number_without_end_is_refused(text: bytes, digits: int, said: str) -> None:
    number = next(at for at, line in enumerate(lines()["c1"]) if text in line)
    line = lines()["c1"][number].replace(text, text + b"0" * digits)

    with pytest.raises(RecordError, match=said):
        PLUG.trace_of_records(logs_with("c1", number, line))

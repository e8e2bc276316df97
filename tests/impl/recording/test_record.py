"""The lines of a node: what they are, that they come back, and what is no line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rocketha.recording.record import (
    STARTED,
    NodeHeader,
    NodeRecord,
    RecordError,
    SentMessage,
    pull_header,
    pull_record,
    push_line,
)
from tests.impl.recording.logs import HEADER, record

FULL = NodeRecord(
    node="b1",
    incarnation=2,
    sequence=7,
    at_ns=1_500_000,
    shows_ms=-4,
    event="RequestArrived",
    action="ReceiveAsk",
    params={"queues": [{"queue_id": 0}], "first": True},
    state={"votes": [], "attempt": None},
    sent=(SentMessage(id="1:2:response", code=0, body="ä\n"), SentMessage(id="3", to="b2")),
    received=("1:2",),
)


@pytest.mark.parametrize("line", [record(0), record(3, sent=["m"], received=["n"]), FULL])
def test_a_record_comes_back_from_its_line(line: NodeRecord) -> None:
    assert pull_record(push_line(line)) == line


def test_a_header_comes_back_from_its_line() -> None:
    assert pull_header(push_line(HEADER)) == HEADER


def test_the_lines_are_those_of_the_table() -> None:
    assert push_line(HEADER) == (
        b'{"format":"rocketproof-records","version":1,"protocol":"lock_quorum","node":"b1",'
        b'"settings":{"life_ms":3000}}\n'
    )
    assert push_line(record(0)) == (
        b'{"node":"b1","incarnation":1,"sequence":0,"at_ns":0,"shows_ms":0,"event":"%s"}\n'
        % STARTED.encode()
    )
    assert list(json.loads(push_line(FULL))) == [
        "node",
        "incarnation",
        "sequence",
        "at_ns",
        "shows_ms",
        "event",
        "action",
        "params",
        "state",
        "sent",
        "received",
    ]
    assert push_line(FULL).count(b"\n") == 1


def without(line: NodeHeader | NodeRecord, member: str) -> bytes:
    fields = json.loads(push_line(line))
    del fields[member]
    return json.dumps(fields).encode()


def changed(line: NodeHeader | NodeRecord, **members: Any) -> bytes:
    return json.dumps({**json.loads(push_line(line)), **members}).encode()


@pytest.mark.parametrize(
    "member", ["node", "incarnation", "sequence", "at_ns", "shows_ms", "event"]
)
def test_a_record_without_a_member_is_none(member: str) -> None:
    with pytest.raises(RecordError, match=f"no record: .*missing required field `{member}`"):
        pull_record(without(FULL, member))


@pytest.mark.parametrize("member", ["format", "version", "protocol", "node", "settings"])
def test_a_header_without_a_member_is_none(member: str) -> None:
    with pytest.raises(RecordError, match=f"no header of records: .*missing .*`{member}`"):
        pull_header(without(HEADER, member))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"", "no record: "),
        (b"garbage", "malformed"),
        (b"[]", "Expected `object`, got `array`"),
        (push_line(FULL)[:-5], "no record: "),
        (push_line(FULL) + b"{}", "trailing characters"),
        (push_line(FULL).replace(b"b1", b"b\xff"), "utf-8"),
        (push_line(HEADER), "unknown field `format`"),
        (changed(FULL, colour="red"), "unknown field `colour`"),
        (changed(FULL, sent=[{"id": "m", "colour": "red"}]), "unknown field `colour`"),
        (changed(FULL, sent=[{"to": "b2"}]), r"missing required field `id` - at `\$.sent\[0\]`"),
        (changed(FULL, event=None), r"Expected `str`, got `null` - at `\$.event`"),
        (changed(FULL, sequence="7"), r"Expected `int`, got `str` - at `\$.sequence`"),
        (changed(FULL, at_ns=1.5), r"Expected `int`, got `float` - at `\$.at_ns`"),
        (changed(FULL, at_ns=True), r"Expected `int`, got `bool` - at `\$.at_ns`"),
        (changed(FULL, at_ns=-1), r"`\$.at_ns`"),
        (changed(FULL, at_ns=1 << 64), r"`\$.at_ns`"),
        (changed(FULL, incarnation=0), r">= 1 - at `\$.incarnation`"),
        (changed(FULL, sequence=-1), r">= 0 - at `\$.sequence`"),
        (changed(FULL, state=[]), r"Expected `object`, got `array` - at `\$.state`"),
        (changed(FULL, received=[1]), r"Expected `str`, got `int` - at `\$.received\[0\]`"),
        (changed(FULL, state={"a": 0}).replace(b"0}", b"[" * 5_000), "recursion"),
    ],
)
def test_what_is_no_record_is_refused(line: bytes, said: str) -> None:
    with pytest.raises(RecordError, match=said):
        pull_record(line)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (push_line(FULL), "no header of records: "),
        (changed(HEADER, version=2), r"Invalid enum value 2 - at `\$.version`"),
        (changed(HEADER, format="rocketproof-trace"), r"`\$.format`"),
        (changed(HEADER, colour="red"), "unknown field `colour`"),
        (changed(HEADER, settings=None), r"Expected `object`, got `null` - at `\$.settings`"),
    ],
)
def test_what_is_no_header_is_refused(line: bytes, said: str) -> None:
    with pytest.raises(RecordError, match=said):
        pull_header(line)

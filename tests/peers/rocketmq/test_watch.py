"""What is read of nodes while they write."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketha.recording.record import STARTED, Json, NodeHeader, NodeRecord, RecordError, push_line
from rocketmq_peer.watch import Watch

HEADER = push_line(NodeHeader(protocol="epoch_truncation", node="b1", settings={}))


def line(sequence: int, event: str = "PutMessage", incarnation: int = 1, **state: Json) -> bytes:
    return push_line(
        NodeRecord(
            node="b1",
            incarnation=incarnation,
            sequence=sequence,
            at_ns=sequence,
            shows_ms=0,
            event=event,
            state=state,
        )
    )


def change(kept: int, *ids: str) -> Json:
    items: list[Json] = [
        {"end": 100 * (kept + at), "id": name} for at, name in enumerate(ids, start=1)
    ]
    return {"kept": kept, "added": items}


def test_a_node_that_has_written_nothing_has_nothing(tmp_path: Path) -> None:
    view = Watch(tmp_path).node("b1")
    assert (view.role, view.ids, view.end, view.events) == ("", (), 0, {})


def test_a_view_grows_with_the_file(tmp_path: Path) -> None:
    path, watch = tmp_path / "b1.records.jsonl", Watch(tmp_path)
    path.write_bytes(HEADER + line(0, STARTED, role="Slave", log=change(0), epochs=[]))
    assert watch.node("b1").role == "Slave"
    second, third = line(1, log=change(0, "a", "b")), line(2, log=change(1, "c"), role="Master")
    with path.open("ab") as file:
        file.write(second + third[:20])
    assert watch.node("b1").ids == ("a", "b")
    with path.open("ab") as file:
        file.write(third[20:])
    view = watch.node("b1")
    assert (view.role, view.ids, view.end) == ("Master", ("a", "c"), 200)
    assert view.state["epochs"] == []
    assert view.events == {STARTED: 1, "PutMessage": 2}
    assert (view.first_ns["PutMessage"], view.last_ns["PutMessage"]) == (1, 2)


def test_a_start_begins_anew_but_for_what_was_counted(tmp_path: Path) -> None:
    path = tmp_path / "b1.records.jsonl"
    lines = [line(0, STARTED, role="Master", log=change(0, "a"), client=7)]
    lines.append(line(0, STARTED, incarnation=2, role="Slave", log=change(0)))
    path.write_bytes(HEADER + b"".join(lines))
    view = Watch(tmp_path).node("b1")
    assert (view.role, view.ids, view.state) == ("Slave", (), {"role": "Slave"})
    assert view.events == {STARTED: 2}


def test_what_a_node_had_after_an_event_stays(tmp_path: Path) -> None:
    path = tmp_path / "b1.records.jsonl"
    lines = [line(0, STARTED, epochs=[1], client=7), line(1, "ReceiveHandshake", client=8)]
    path.write_bytes(HEADER + b"".join([*lines, line(2, epochs=[], log=change(0, "a"))]))
    view = Watch(tmp_path).node("b1")
    assert view.after["ReceiveHandshake"] == {"epochs": [1], "client": 8}
    assert view.after["PutMessage"] == {"epochs": [], "client": 8}


def test_a_line_that_is_none_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "b1.records.jsonl").write_bytes(HEADER + b"what\n")
    with pytest.raises(RecordError):
        Watch(tmp_path).node("b1")

"""What a node with snapshots wrote, and what a power cut left, as behaviours of SnapshotLoading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec
import pytest

from rocketha.known_bugs import Bug
from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import NodeRecord, RecordError
from rocketproof.protocols import PROTOCOLS
from rocketproof.protocols.snapshot_loading.recorded_files import RecordedFile, RecordedFiles
from tests.traces.rocketproof.recorded_runs import changed, judged, recorded
from tlatrace.judgement.verdict import kind

PLUG: Final = PROTOCOLS["snapshot_loading"]
CUT_AND_ROTTEN: Final = 4
"""A seed whose node loses power and reads damaged files."""

LATE_SNAPSHOT: Final = 247
"""A seed whose leader sends a snapshot again, when the group has agreed on more."""
ENDS_WITHOUT_STRAY: Final = 276
"""A seed whose node ends when it has removed one entry from its log, and not appended another."""

Change = Callable[[NodeRecord], NodeRecord]


def logs_of(seed: int) -> Sequence[NodeLog]:
    return recorded("snapshot_loading", seed).logs


def actions(logs: Sequence[NodeLog]) -> list[str | None]:
    return [event.action for event in PLUG.trace_of_records(logs).events]


# ---- what a node did not do, or did not see ----


def is_of(event: str, *parts: str) -> Callable[[NodeRecord], bool]:
    return lambda record: record.event == event and set(parts) <= record.state.keys()


def wrote(record: NodeRecord) -> bool:
    return any(one["is"] == "Renamed" and one["path"].endswith("/tmp") for one in record.stored)


def without(operation: str) -> Change:
    def change(record: NodeRecord) -> NodeRecord:
        kept = tuple(one for one in record.stored if one["is"] != operation)
        assert len(kept) < len(record.stored)
        return msgspec.structs.replace(record, stored=kept)

    return change


def with_state(**state: Any) -> Change:
    return lambda record: msgspec.structs.replace(record, state={**record.state, **state})


def cut(record: NodeRecord) -> bool:
    return record.event == "NodeStopped" and bool(record.state.get("files"))


@pytest.mark.java
def test_what_is_changed_in_a_record_diverges() -> None:
    logs = logs_of(CUT_AND_ROTTEN)
    cases: dict[str, Sequence[NodeLog]] = {
        "nothing": logs,
        "a content that is not synchronized": changed(logs, wrote, without("Synced")),
        "names that are not synchronized": changed(logs, wrote, without("NamesSynced")),
        "a file that is not read back": changed(logs, is_of("ReadBackDue"), without("Read")),
        "registers": changed(
            logs, is_of("ApplyDue", "registers"), with_state(registers=[["z", 1]]), 3
        ),
        "an index that is applied": changed(
            logs, is_of("ApplyDue", "applied"), with_state(applied=50), 3
        ),
        "files that a power cut takes": changed(logs, cut, with_state(files=[])),
        "an entry that no leader sent": changed(
            logs,
            lambda record: record.event == "EntryReceived",
            lambda record: msgspec.structs.replace(
                record, heard=tuple([{**one, "entry": '{"key":"z"}'} for one in record.heard])
            ),
            5,
        ),
    }

    verdicts = judged([PLUG.trace_of_records(case) for case in cases.values()])

    found = {name: kind(verdict) for name, verdict in zip(cases, verdicts, strict=True)}
    assert found == {"nothing": "conforms"} | dict.fromkeys(list(cases)[1:], "diverges")


@pytest.mark.parametrize("seed", [LATE_SNAPSHOT, ENDS_WITHOUT_STRAY])
def test_what_comes_late_and_a_log_that_is_written_anew_conform(seed: int) -> None:
    trace = PLUG.trace_of_records(logs_of(seed))
    assert {"LeaderCompacts", "Install", "Crash"} <= {event.action for event in trace.events}
    assert [kind(verdict) for verdict in judged([trace])] == ["conforms"]


@pytest.mark.java
def test_a_node_that_reads_nothing_back_is_seen_as_from_whole_states() -> None:
    """There the step before takes what the node counts on, so events are not the same."""
    runs = [recorded("snapshot_loading", seed, frozenset({Bug.READ_BACK})) for seed in range(4)]

    verdicts = judged([*(run.whole.trace for run in runs), *(run.trace for run in runs)])

    assert [kind(verdict) for verdict in verdicts] == ["diverges"] * 8


# ---- what nobody knows ----


def test_damage_is_seen_when_a_file_is_read() -> None:
    logs = logs_of(CUT_AND_ROTTEN)
    made = actions(logs)

    after = {made[at + 1] for at, action in enumerate(made) if action == "Rot"}

    assert after
    assert after <= {"Rot", "LoadNewest", "ReadBack"}
    assert {"Agree", "LeaderCompacts", "Install", "Crash", "Start"} <= set(made)


def test_a_power_cut_ends_a_step_and_its_beginning_is_there() -> None:
    stopped = [
        record
        for seed in (12, 13, 20)
        for log in logs_of(seed)
        for record in log.records
        if record.event == "NodeStopped"
    ]

    assert any(record.stored and record.heard for record in stopped), "a snapshot was arriving"
    assert any(record.stored and not record.heard for record in stopped), "one was being saved"


@pytest.mark.parametrize(
    ("left", "there", "lost", "kept"),
    [
        ({"snapshot_4": b"d"}, {1}, True, {4: b"d"}),
        (
            {"snapshot_1": b"a", "snapshot_2": b"old", "snapshot_4": b"d"},
            set(),
            False,
            {1: b"a", 2: b"old", 4: b"d"},
        ),
        (
            {"snapshot_2": b"new", "snapshot_4": b"", "tmp": b""},
            {1, 2},
            False,
            {2: b"new", 4: b"d"},
        ),
        ({"snapshot_2": b"new", "snapshot_3": b"c"}, {1, 2, 3, 4}, False, {2: b"new", 3: b"c"}),
        ({"snapshot_4": b"d", "snapshot_5": b"e"}, {1, 5}, True, {4: b"d"}),
    ],
)
def test_what_is_left_says_which_changes_of_names_survived(
    left: dict[str, bytes], there: set[int], lost: bool, kept: dict[int, bytes]
) -> None:
    files = RecordedFiles(temporary=RecordedFile(b"x"))
    kept_before = RecordedFile(b"d")
    files.durable = {1: RecordedFile(b"a"), 2: RecordedFile(b"old"), 4: kept_before}
    files.seen = {2: RecordedFile(b"new"), 3: RecordedFile(b"c"), 4: kept_before}

    assert files.left(left) == (there, lost)
    assert {index: file.data for index, file in files.seen.items()} == kept
    assert files.durable == files.seen
    assert files.temporary is None


# ---- records that lack what their kind has ----


@pytest.mark.parametrize(
    ("is_it", "change", "said"),
    [
        (
            is_of("EntryReceived"),
            lambda r: msgspec.structs.replace(r, heard=({"is": "LeaderEntry"},)),
            "heard: .*required field `index`",
        ),
        (
            wrote,
            lambda r: msgspec.structs.replace(r, stored=({"is": "Melted", "path": "x"},)),
            "stored: .*'Melted'",
        ),
        (
            wrote,
            lambda r: msgspec.structs.replace(
                r, stored=({"is": "Renamed", "path": "snapshot/tmp", "to": "snapshot/other"},)
            ),
            "snapshot/tmp becomes snapshot/other, which is no snapshot",
        ),
        (is_of("ApplyDue", "applied"), with_state(applied="x"), "applied: .*`int`"),
    ],
)
def test_a_record_that_lacks_what_its_kind_has_is_named(
    is_it: Callable[[NodeRecord], bool], change: Change, said: str
) -> None:
    with pytest.raises(RecordError, match=rf"^n1, record \d+ of incarnation 1: {said}"):
        PLUG.trace_of_records(changed(logs_of(1), is_it, change))


def test_records_of_several_nodes_are_refused() -> None:
    (log,) = logs_of(0)
    other = replace(log, header=msgspec.structs.replace(log.header, node="n2"))

    with pytest.raises(RecordError, match="several nodes"):
        PLUG.trace_of_records([log, other])

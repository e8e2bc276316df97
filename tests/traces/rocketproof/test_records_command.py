"""`rocketproof simulate --records` and `rocketproof records`: nodes write, and are judged by it."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocketha.recording.node_log import NodeLines, pull_log
from rocketha.recording.record import STARTED, NodeHeader, NodeRecord, push_line
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED
from rocketproof.cli import main
from rocketproof.protocols import PROTOCOLS
from rocketproof.record_projection import record_of_event
from rocketproof.runs import recorded_traces, simulate_traces
from rocketproof.schedule import Scheduled
from tests.documents import fenced
from tests.source_files import ROOT
from tlatrace.trace.ndjson import read_trace

PLUG = PROTOCOLS["lock_quorum"]
NODES = ("b1", "b2", "b3", "c1", "c2", "c3")
WITHOUT = {**PROTOCOLS, "lock_quorum": replace(PLUG, records=None)}
"""As if the nodes of one protocol wrote no records."""


def call(*args: object) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args])


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("records") / "R"
    result = call("simulate", "lock_quorum", "--seed", 7, "--records", folder)
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "R"))


# ---- simulate --records ----


def test_each_node_has_a_file_of_the_run(written: Path) -> None:
    lines = NodeLines()
    run = Scheduled(protocol="lock_quorum", seed=7, options=SimOptions(), schedule=UNRESTRICTED)
    PLUG.record(run, lines.write)

    found = {path.name: path.read_bytes() for path in written.iterdir()}
    assert found == {f"{node}.records.jsonl": b"".join(lines.lines[node]) for node in NODES}


def test_what_is_written_is_said_and_no_timeline(tmp_path: Path) -> None:
    options = ("simulate", "lock_quorum", "--seed", 7, "--steps", 5)

    quiet = call(*options, "--records", tmp_path / "A")
    shown = call(*options, "--records", tmp_path / "B", "--timeline")

    assert (quiet.exit_code, shown.exit_code) == (0, 0)
    said = [line for line in quiet.output.splitlines() if line.startswith("written to ")]
    assert said == [f"written to {tmp_path / 'A' / node}.records.jsonl" for node in NODES]
    assert len(quiet.output.splitlines()) == 3 + len(NODES)
    assert "Lock(c" in shown.output


def test_a_run_by_a_schedule_is_recorded(tmp_path: Path) -> None:
    out = tmp_path / "schedule.json"
    content = {
        "protocol": "lock_quorum",
        "seed": 7,
        "options": {
            "brokers": 3,
            "bugs": [],
            "elect_unclean": False,
            "faults": [],
            "rocketmq_defaults": False,
            "steps": 5,
        },
        "only": None,
        "heal_ms": None,
        "stop_ms": 500,
        "redrawn": 0,
        "events": None,
    }
    out.write_text(json.dumps(content))

    result = call("simulate", "lock_quorum", "--schedule", out, "--records", tmp_path / "R")

    assert result.exit_code == 0, result.output
    figures = json.loads(call("records", tmp_path / "R", "--json").stdout)
    assert figures["events"] < 100


def test_a_protocol_without_records_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocketproof.commands.simulate.PROTOCOLS", WITHOUT)

    result = call("simulate", "lock_quorum", "--seed", 7, "--records", tmp_path / "R")

    assert result.exit_code == 2
    assert "nodes of lock_quorum write no records (those of dledger, " in result.output
    assert not (tmp_path / "R").exists()


def test_nothing_is_written_beside_other_files(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")

    result = call("simulate", "lock_quorum", "--seed", 7, "--records", tmp_path)

    assert result.exit_code == 2
    assert f"{tmp_path} is not empty" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    below = tmp_path / "file" / "R"

    result = call("simulate", "lock_quorum", "--seed", 7, "--records", below)

    assert result.exit_code == 2
    assert re.search(f"rocketproof: simulate: cannot (read|write) {below}", result.output)


# ---- records ----


def test_a_folder_is_a_trace(written: Path, tmp_path: Path) -> None:
    out = tmp_path / "R.ndjson"

    result = call("records", written, "--out", out)

    trace = read_trace(out)
    lines = sum(len(path.read_bytes().splitlines()) - 1 for path in written.iterdir())
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        f"lock_quorum: 6 nodes, {lines} records, {len(trace.events)} events",
        f"written to {out}",
    ]
    assert trace.header is not None
    assert trace.header.spec == "LockQuorum"
    assert trace.header.meta["recorded_by"] == list(NODES)
    assert len(trace.events) > 300


@pytest.mark.java
def test_a_judged_folder_ends_as_its_verdict_says(written: Path, tmp_path: Path) -> None:
    run = ("simulate", "lock_quorum", "--seed", 0, "--bug", "B45Lease", "--records", tmp_path)
    assert call(*run).exit_code == 0

    good = call("records", written, "--judge")
    bad = call("records", tmp_path, "--judge")
    data = json.loads(call("records", tmp_path, "--judge", "--json").stdout)

    assert (good.exit_code, bad.exit_code) == (0, 1)
    logged = r"\d+ of 10 variables, \d+ of 14 actions logged"
    assert re.search(rf"{written}: conforms, \d+ events; {logged}$", good.output.rstrip())
    place = rf"{tmp_path}/(c\d).records.jsonl:(\d+)"
    (said,) = re.findall(rf"\n{place}: diverges at step (\d+) \({place}\), (\w+): ", bad.output)
    node, line, step, _, _, action = said
    record = json.loads(
        (tmp_path / f"{node}.records.jsonl").read_text().splitlines()[int(line) - 1]
    )
    assert (record["node"], record["action"]) == (node, action)
    assert data["trace"]["verdict"] == "diverges"
    assert (data["trace"]["step"], data["trace"]["line"]) == (int(step), int(line))
    assert data["trace"]["log"] == f"{tmp_path}/{node}.records.jsonl"
    assert data["nodes"][node] > 10


def test_records_may_be_compressed(folder: Path) -> None:
    plain = json.loads(call("records", folder, "--json").stdout)
    for path in list(folder.iterdir())[:2]:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert json.loads(call("records", folder, "--json").stdout) == plain
    torn = next(folder.glob("*.gz"))
    torn.write_bytes(torn.read_bytes()[:-9])
    result = call("records", folder)
    assert result.exit_code == 2
    assert str(torn) in result.output


def test_records_may_be_taken_for_those_of_another_protocol(folder: Path) -> None:
    as_said = call("records", folder, "--protocol", "lock_quorum", "--json")
    assert as_said.output == call("records", folder, "--json").output
    result = call("records", folder, "--protocol", "replica_group")
    assert result.exit_code == 2
    assert "settings of" in result.output


@pytest.mark.java
def test_a_run_of_several_master_epochs_is_several_traces(tmp_path: Path) -> None:
    run = ("simulate", "sync_state_set", "--seed", 0, "--bug", "B25", "--records", tmp_path / "R")
    assert call(*run).exit_code == 0

    made = call("records", tmp_path / "R", "--out", tmp_path / "run.ndjson", "--judge")
    data = json.loads(call("records", tmp_path / "R", "--judge", "--json").stdout)

    assert (made.exit_code, data["verdict"]) == (1, "diverges")
    count = len(data["traces"])
    head, *lines = made.output.splitlines()
    assert head.endswith(f" records, {data['events']} events of {count} master epochs")
    files = [tmp_path / f"run-{number}.ndjson" for number in range(1, count + 1)]
    assert lines[:count] == [f"written to {path}" for path in files]
    assert sum(len(read_trace(path).events) for path in files) == data["events"]
    assert lines[-1] == "verdict: diverges"
    kinds = [("diverges" if ": diverges at" in line else "conforms") for line in lines[count:-1]]
    assert kinds == [one["verdict"] for one in data["traces"]]
    assert set(kinds) == {"conforms", "diverges"}
    (third,) = [line for line in lines if line.startswith(f"{tmp_path / 'R'}, master epoch 3: ")]
    assert "conforms" in third
    worst = data["traces"][-1]
    wrong = Path(worst["log"]).read_text().splitlines()[worst["line"] - 1]
    assert json.loads(wrong)["action"] == "MaybeShrink", "the record of the step is named"


def test_a_run_without_a_master_epoch_has_no_trace() -> None:
    assert recorded_traces("sync_state_set", 0, ("NewEpoch",)) == ()


def test_the_traces_of_recorded_master_epochs_say_of_which_run_they_are() -> None:
    traces = recorded_traces("sync_state_set", 7)

    whole = simulate_traces("sync_state_set", 7)
    assert len(traces) == len(whole) > 1
    for trace, other in zip(traces, whole, strict=True):
        assert trace.header is not None
        assert other.header is not None
        assert trace.header.seed == 7
        said = {name: of for name, of in trace.header.meta.items() if name != "recorded_by"}
        assert said == other.header.meta


def test_an_event_is_made_of_a_record() -> None:
    lines = NodeLines()
    run = Scheduled(
        protocol="lock_quorum", seed=7, options=SimOptions(steps=20), schedule=UNRESTRICTED
    )
    PLUG.record(run, lines.write)
    logs, records = lines.logs(), PLUG.records
    assert records is not None
    events = PLUG.trace_of_records(logs).events

    def made_of(step: int) -> tuple[str, str | None] | None:
        record = record_of_event(records([log.header for log in logs]), logs, step)
        return None if record is None else (record.node, record.action)

    assert made_of(0) is None
    assert made_of(len(events)) is None
    for event in events[1:40]:
        if event.action == "Tick":  # the next record is later
            assert made_of(event.step) == made_of(event.step + 1)
        else:
            node, action = made_of(event.step) or (None, None)
            assert node == event.node
            # Of what nobody decides, or changes nothing, a core says nothing.
            assert event.action == action or event.action in {"Restart", "Refrain", "SendAnswer"}


# ---- the page ----


def test_the_page_shows_lines_that_are_some() -> None:
    shown = fenced("traces/RECORDS.md", "## Example").encode().splitlines(keepends=True)

    log = pull_log(shown, "RECORDS.md")

    assert [record.event for record in log.records] == [STARTED, "UnlockWanted", "LockWanted"]
    lines = b"".join([push_line(log.header), *map(push_line, log.records)])
    assert lines == b"".join(shown)


def test_the_page_names_all_members_and_the_protocols_with_records() -> None:
    text = (ROOT / "traces" / "RECORDS.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)

    protocols = [name for name in rows if name in PROTOCOLS]
    members = [name for name in rows if name not in PROTOCOLS]
    header = ["format", "version", *NodeHeader.__struct_fields__]
    assert members == [*header, *NodeRecord.__struct_fields__]
    assert protocols == [name for name, plug in PROTOCOLS.items() if plug.records is not None]


# ---- bad input ----


def changed(path: Path, line: int, before: str, after: str) -> None:
    texts = path.read_text("utf-8").splitlines(keepends=True)
    assert before in texts[line - 1]
    texts[line - 1] = texts[line - 1].replace(before, after)
    path.write_text("".join(texts), "utf-8")


def line_with(path: Path, text: str) -> int:
    texts = path.read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(texts, start=1) if text in line)


def test_a_line_that_is_none_is_named(folder: Path) -> None:
    path = folder / "b2.records.jsonl"
    changed(path, 5, '"at_ns":', '"at":')

    result = call("records", folder, "--judge")

    assert result.exit_code == 2
    assert result.output == (
        f"rocketproof: {path}:5: no record: Object contains unknown field `at`\n"
    )


def test_a_record_that_lacks_what_its_kind_has_is_named(folder: Path) -> None:
    path = folder / "c1.records.jsonl"
    line = line_with(path, '"began_ms"')
    changed(path, line, '"began_ms"', '"began"')

    result = call("records", folder)

    assert result.exit_code == 2
    said = f"rocketproof: {path}:{line}: c1, record {line - 2} of incarnation 1: attempt: "
    assert result.output.startswith(said)


def test_a_log_that_is_missing_is_noticed(folder: Path) -> None:
    (folder / "c1.records.jsonl").unlink()

    result = call("records", folder)

    assert result.exit_code == 2
    assert re.match(
        rf"rocketproof: {folder}/b\d.records.jsonl:\d+: b\d, record \d+ of incarnation \d+: '.*'"
        " is received, and no record sends it: the log of its sender is cut off\n",
        result.output,
    )


def test_a_header_that_others_do_not_agree_with_is_refused(folder: Path) -> None:
    changed(folder / "b3.records.jsonl", 1, '"life_ms":3000', '"life_ms":30')

    result = call("records", folder)

    assert result.exit_code == 2
    assert result.output == f"rocketproof: {folder}: b1 and b3 are set up differently\n"


@pytest.mark.parametrize("protocol", ["lock_quorum", "raft"])
def test_records_of_a_protocol_without_a_projection_are_refused(
    protocol: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocketproof.commands.records.PROTOCOLS", WITHOUT)
    for path in folder.iterdir():
        changed(path, 1, '"lock_quorum"', f'"{protocol}"')

    result = call("records", folder)

    assert result.exit_code == 2
    path = folder / "b1.records.jsonl"
    assert result.output == f"rocketproof: {path}:1: no trace is made of records of '{protocol}'\n"


def test_what_is_no_folder_of_records_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    (tmp_path / "D" / "b1.records.jsonl").mkdir(parents=True)

    for name, said in {
        "file": "is no folder",
        "nowhere": "is no folder",
        ".": "no file here ends with .records.jsonl",
        "D": f"cannot read {tmp_path}/D/b1.records.jsonl: ",
    }.items():
        result = call("records", tmp_path / name)
        assert result.exit_code == 2
        assert said in result.output


def test_a_trace_that_cannot_be_written_is_an_error(written: Path, tmp_path: Path) -> None:
    strange = call("records", written, "--out", tmp_path / "R.json")
    nowhere = call("records", written, "--out", tmp_path / "no" / "R.ndjson")

    assert (strange.exit_code, nowhere.exit_code) == (2, 2)
    assert "'R.json' does not end with .ndjson or .ndjson.gz" in strange.output
    assert f"cannot write {tmp_path}/no/R.ndjson: No such file" in nowhere.output

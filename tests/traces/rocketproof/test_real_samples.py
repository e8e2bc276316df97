"""Recorded runs of released RocketMQ get the verdicts that samples.toml says, without Java."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from click.testing import CliRunner

from rocketha.recording.node_log import NodeLog, read_logs
from rocketha.recording.record import NodeRecord, RecordError
from rocketproof.cli import main
from rocketproof.protocols import PROTOCOLS
from tests.source_files import ROOT
from tests.traces.rocketproof.recorded_runs import changed, judged
from tlatrace.judgement.verdict import kind

SAMPLES: Final = ROOT / "traces" / "samples"
EXPECTED: Final = tomllib.loads((SAMPLES / "samples.toml").read_text("utf-8"))["run"]
CLEAN: Final = SAMPLES / "rocketmq" / "early_shrink-5.3.3" / "records"
EPOCHS: Final = PROTOCOLS["epoch_truncation"]

Change = Callable[[NodeRecord], NodeRecord]


def test_every_run_has_an_expected_verdict_and_the_other_way_round() -> None:
    folders = sorted(path.parent.relative_to(SAMPLES).as_posix() for path in played())
    assert sorted(one["folder"] for one in EXPECTED) == folders


def played() -> list[Path]:
    return list(SAMPLES.rglob("played.json"))


def params() -> list[Any]:
    """Return each expectation; runs that have a trace need Java, others do not."""
    return [
        pytest.param(
            one,
            id=Path(one["folder"]).name,
            marks=[pytest.mark.java] if (SAMPLES / one["folder"] / "records").is_dir() else [],
        )
        for one in EXPECTED
    ]


@pytest.mark.parametrize("expected", params())
def test_a_real_run_gets_its_verdict(expected: dict[str, Any]) -> None:
    folder = SAMPLES / expected["folder"]

    result = CliRunner().invoke(main, ["peer", "rocketmq", "judge", str(folder), "--json"])

    said = json.loads(result.stdout)
    explained = [name for one in said["traces"] for name in one["explained_by"]]
    found = {"verdict": said["verdict"], "explained": explained, "broken": said["broken"]}
    assert found == {key: expected[key] for key in found}
    assert result.exit_code == {"conforms": 0, "diverges": 1}[expected["verdict"]]


def acts(action: str) -> Callable[[NodeRecord], bool]:
    return lambda record: record.action == action


def with_params(**params: object) -> Change:
    return lambda r: msgspec.structs.replace(r, params={**r.params, **params})


def with_state(**state: object) -> Change:
    return lambda r: msgspec.structs.replace(r, state={**r.state, **state})


def entry(epoch: int, start: int) -> dict[str, int]:
    return {"epoch": epoch, "start_offset": start, "end_offset": (1 << 63) - 1}


CASES: Final[dict[str, tuple[str, Change, str]]] = {
    "a master with another epoch": (
        "BecomeMaster",
        with_state(epochs=[entry(2, 0)], epoch_file=[entry(2, 0)]),
        "BecomeMaster",
    ),
    "an epoch file that was not written": (
        "BecomeMaster",
        with_state(epoch_file=[]),
        "BecomeMaster",
    ),
    "a batch of another epoch": ("Transfer", with_params(epoch=7), "Transfer"),
    "a slave that reports too much": (
        "ReceiveHandshake",
        lambda r: with_state(client={**r.state["client"], "reported": 5_000})(r),
        "ReceiveHandshake",
    ),
    "a slave that becomes master": (
        "ReceiveTransfer",
        with_state(role="Master"),
        "ReceiveTransfer",
    ),
    "an election of somebody else": (
        "ElectMaster",
        lambda r: with_params(master="b2")(with_state(master="b2")(r)),
        "BecomeMaster",
    ),
}


@pytest.mark.java
@pytest.mark.parametrize("case", CASES)
def test_what_is_changed_in_a_real_record_diverges(case: str) -> None:
    action, change, where = CASES[case]
    trace = EPOCHS.trace_of_records(changed(read_logs(CLEAN), acts(action), change))

    (verdict,) = judged([trace])

    assert kind(verdict) == "diverges"
    assert getattr(verdict, "action", None) == where


def test_a_record_that_no_master_took_is_named() -> None:
    def stranger(record: NodeRecord) -> NodeRecord:
        return with_state(log={"kept": 0, "added": [{"end": 300, "id": "x"}]})(record)

    logs: tuple[NodeLog, ...] = changed(read_logs(CLEAN), acts("ReceiveHandshake"), stranger)
    with pytest.raises(RecordError, match="'x' before offset 300: no master is known"):
        EPOCHS.trace_of_records(logs)

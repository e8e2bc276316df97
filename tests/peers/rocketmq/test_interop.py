"""All that a run stored and said is decoded and written back, and what cannot be is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.formats.remoting_frame import push_command
from rocketha.storage.identity_store import IdentityStore
from rocketmq_peer import interop_files, interop_wire
from rocketmq_peer.interop import examine
from rocketmq_peer.interop_tally import Kind, Tally, first_difference
from rocketproof.cli import main
from tests.peers.rocketmq.toy_runs import (
    FIRST,
    Wire,
    counts,
    flip,
    frame,
    said,
    write_legacy,
    write_run,
)


def asked(*words: object) -> Result:
    return CliRunner().invoke(main, ["peer", "rocketmq", "interop", *map(str, words)])


def test_every_kind_is_decoded_and_comes_out_as_it_came(tmp_path: Path) -> None:
    write_run(tmp_path / "run")
    write_legacy(tmp_path / "legacy")

    tally = examine([tmp_path / "run", tmp_path / "legacy"])

    assert said(tally) == []
    expected = {
        Kind.RECORD: 3,
        Kind.FILLER: 1,
        Kind.EPOCH_FILE: 2,
        Kind.CHECKPOINT: 1,
        Kind.IDENTITY: 1,
        Kind.HANDSHAKE: 2,
        Kind.HANDSHAKE_REPLY: 2,
        Kind.TRANSFER: 1,
        Kind.ACK: 1,
        Kind.LEGACY_TRANSFER: 1,
        Kind.LEGACY_REPORT: 2,
        Kind.JSON_FRAME: 9,
        Kind.BINARY_FRAME: 2,
        Kind.CONTROLLER_REQUEST: 3,
        Kind.CONTROLLER_RESPONSE: 2,
        Kind.ROLE_CHANGE: 1,
    }
    assert set(expected) == set(Kind)
    assert counts(tally) == {kind.value: (n, n, 0) for kind, n in expected.items()}
    assert dict(tally.passed_by) == {
        "bytes of packets that were cut off": 11,
        "connections that were refused": 1,
        "fields and bodies of refusals, FENCED_SYNC_STATE_SET_EPOCH to ALTER_SYNC_STATE_SET": 1,
        "requests to a broker, code 21": 1,
        "requests to a controller, code 1014": 1,
        "requests to a name server, code 904": 1,
        "responses of a broker, code 21": 1,
        "responses of a controller, code 1014": 1,
    }


@pytest.mark.parametrize(
    ("module", "name", "written", "kinds"),
    [
        (interop_files, "push_record", b"?", {"record": 3}),
        (interop_files, "push_blank", b"?", {"filler": 1}),
        (interop_files, "encode_epoch_file", b"?", {"epoch file": 2}),
        (interop_files, "encode_store_checkpoint", b"?", {"store checkpoint": 1}),
        (IdentityStore, "store", b"?", {"identity": 1}),
        (interop_wire, "push_slave_packet", b"?", {"handshake": 2, "ack": 1}),
        (interop_wire, "push_master_packet", b"?", {"handshake reply": 2, "transfer": 1}),
        (
            interop_wire,
            "push_command",
            push_command(RemotingCommand(code=1, opaque=2)),
            {"JSON frame": 9, "binary frame": 2},
        ),
    ],
)
def test_what_is_written_back_otherwise_is_a_mismatch(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: object,
    name: str,
    written: bytes,
    kinds: dict[str, int],
) -> None:
    write_run(tmp_path / "run")
    monkeypatch.setattr(module, name, lambda *_, **__: written)

    tally = examine([tmp_path / "run"])

    wrong = {kind: count for kind, (_, _, count) in counts(tally).items() if count}
    assert wrong == kinds
    assert all("written back" in one for one in said(tally))
    assert all(
        decoded == equal + wrong.get(kind, 0) for kind, (decoded, equal, _) in counts(tally).items()
    )


@pytest.mark.parametrize("error", [AssertionError("oops"), RecursionError("deep")])
def test_whatever_a_decoder_raises_is_a_mismatch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    write_run(tmp_path / "run")
    for name in ("decode_segment", "decode_epoch_file", "decode_store_checkpoint"):
        monkeypatch.setattr(interop_files, name, fail)
    for name in ("pull_slave_packet", "pull_master_packet", "pull_command"):
        monkeypatch.setattr(interop_wire, name, fail)

    tally = examine([tmp_path / "run"])

    assert {kind for kind, (_, _, wrong) in counts(tally).items() if wrong} == {
        *("record", "epoch file", "store checkpoint", "handshake", "handshake reply"),
        *("JSON frame", "binary frame"),
    }
    told = f"{type(error).__name__}: {error}"
    assert all(one.endswith(told) for one in said(tally))


def test_what_cannot_be_written_back_is_a_mismatch() -> None:
    def fail() -> str | None:
        raise OverflowError("too much")

    tally = Tally()
    tally.write_back(Kind.ACK, "here", fail)
    assert said(tally) == ["ack, here: cannot be written back: OverflowError: too much"]
    assert tally.decode(Kind.ACK, "there", lambda: None) is None
    assert said(tally)[1] == "ack, there: is taken for a part of something longer"
    for _ in range(100):
        tally.mismatch(Kind.ACK, "there", "no")
    assert (tally.mismatched, len(tally.mismatches)) == (102, 50)


def test_the_first_byte_that_differs_is_told() -> None:
    assert first_difference(b"abc", b"abc") is None
    assert first_difference(b"abc", b"abd") == "byte 2 of 3: 63 is written back as 64"
    assert first_difference(b"abc", b"ab") == "3 bytes are written back as 2"


# ---- The command ----


def test_the_command_adds_runs_and_shows_a_table(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_run(tmp_path / name)

    told = asked(tmp_path / "one", tmp_path / "two")

    assert told.exit_code == 0, told.output
    assert "│ record              │       6 │                  6 │   0 │ bytes    │" in told.output
    assert "│ JSON frame          │      18 │                 18 │   0 │ values   │" in told.output
    assert "passed by: requests to a controller, code 1014: 2\n" in told.output
    answer = json.loads(asked(tmp_path / "one", "--json").stdout)
    assert answer["kinds"]["ack"] == {"decoded": 1, "equal": 1, "not": 0, "compared": "bytes"}
    assert answer["mismatches"] == 0
    assert (answer["first"], answer["missing"]) == ([], [])
    assert answer["passed_by"]["requests to a broker, code 21"] == 1


def test_the_command_ends_with_1_for_a_mismatch_and_shows_the_first_ones(tmp_path: Path) -> None:
    write_run(tmp_path / "run")
    flip(tmp_path / "run" / FIRST, 100)
    told = asked(tmp_path / "run")
    assert told.exit_code == 1
    assert f"mismatch: record, run/{FIRST}, byte 0: BODYCRC at byte 8: is" in told.output
    first = json.loads(asked(tmp_path / "run", "--json").stdout)["first"]
    assert [one["kind"] for one in first] == ["record"]

    wire = Wire()
    answer = frame(RemotingCommand(code=0, opaque=7, flag=FLAG_RESPONSE))
    wire.connection("c1.b1", 5, [("to_client", answer * 15)])
    wire.write(tmp_path / "run")
    assert "\nmismatch: 6 more\n" in asked(tmp_path / "run").output


def test_the_command_ends_with_3_where_nothing_was_examined(tmp_path: Path) -> None:
    told = asked(tmp_path)
    assert told.exit_code == 3
    assert "nothing was examined: record\n" in told.output
    write_legacy(tmp_path / "legacy")
    assert asked(tmp_path / "legacy").exit_code == 3
    kinds = ("--need", "legacy transfer", "--need", "legacy report")
    assert asked(tmp_path / "legacy", *kinds).exit_code == 0
    told = asked(tmp_path / "legacy", *kinds, "--need", "filler", "--json")
    assert told.exit_code == 3
    assert json.loads(told.stdout)["missing"] == ["filler"]


def test_a_kind_that_is_none_is_refused(tmp_path: Path) -> None:
    told = asked(tmp_path, "--need", "records")
    assert told.exit_code == 2
    assert "'records' is none of record, filler, epoch file" in told.stderr
    assert asked(tmp_path / "gone").exit_code == 2


def test_a_capture_that_is_none_ends_the_command_with_2(tmp_path: Path) -> None:
    (tmp_path / "wire.ndjson").write_text("nonsense\n")
    told = asked(tmp_path)
    assert told.exit_code == 2
    assert "line 1 is no line of a capture" in told.stderr

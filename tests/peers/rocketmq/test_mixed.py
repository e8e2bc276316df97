"""Mixed groups without any Java: what is drawn, compared, said; and rocketha's own processes."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocketha.formats.epoch_entry_cache import EpochEntryCache
from rocketha.formats.name_server_codec import pull_name_server_reply, push_name_server_request
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.name_server_requests import GetRouteInfo, TopicRouteData
from rocketha.formats.remoting_command import RemotingCommand
from rocketmq_peer import jars as jars_module
from rocketmq_peer import mixed_walk, random_walk
from rocketmq_peer.client import Answer
from rocketmq_peer.configuration import SEGMENT_SIZE, ControllerKind
from rocketmq_peer.controller_view import exchange
from rocketmq_peer.equal_stores import StoreDifference, ask_epochs, compare_stores
from rocketmq_peer.errors import ProcessError
from rocketmq_peer.group import GROUP_NAME, Group
from rocketmq_peer.group_options import GroupOptions
from rocketmq_peer.jars import PeerJars
from rocketmq_peer.mixed_walk import MixedRun, draw_mixed
from rocketmq_peer.played_run import Played
from rocketmq_peer.random_walk import Do, Walker
from rocketmq_peer.scenario import TOPIC, Stage
from rocketmq_peer.toolchain import Jdk
from rocketproof.cli import main
from tests.peers.rocketmq import toy_java
from tests.source_files import ROOT, SOURCE_ROOTS

GOOD = MixedRun(
    seed=0,
    brokers=("java", "rocketha"),
    name_server="rocketha",
    moves=("send 1", "kill master"),
    played=Played(acknowledged=["a", "b"], read_back=("a", "b", "c")),
    differences=(),
    log_bytes=100,
    epochs=2,
    master_epoch=5,
    elected=1,
)
LOST = replace(GOOD, played=Played(acknowledged=["a", "b"], read_back=("b",)))
DIFFER = replace(GOOD, differences=(StoreDifference(("b1", "b2"), "the logs differ at byte 7"),))
STUCK = replace(GOOD, log_bytes=0, trouble="after 90 s nobody was master")
UNREAD = replace(GOOD, played=Played(acknowledged=["a"]))


def test_a_seed_draws_both_kinds_and_something_that_breaks() -> None:
    walks = [draw_mixed(seed) for seed in range(300)]
    for walk in walks:
        ours = len(walk.options.rocketha_brokers)
        assert 0 < ours < walk.options.brokers
        assert {move.do for move in walk.moves} & {Do.KILL, Do.ISOLATE}
        assert walk.options.promises.all_ack_in_sync_state_set
    firsts = [1 in walk.options.rocketha_brokers for walk in walks]
    assert {True, False} == set(firsts), "the first master is always of one kind"
    assert {True, False} == {walk.options.rocketha_name_server for walk in walks}
    assert draw_mixed(7) == draw_mixed(7) != draw_mixed(8)


def test_a_read_that_fails_finds_no_message_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Reader:
        def read(self, topic: str) -> Answer:
            assert topic == TOPIC
            return Answer(op="read", begin_ns=0, end_ns=0, status="ERROR", error="no route")

    jars = PeerJars("5.5.0", tmp_path / "jars", Jdk(tmp_path / "jdk", "17"))
    with Group(tmp_path / "run", jars, GroupOptions()) as group:
        stage = Stage(group, print)
        monkeypatch.setattr(stage, "_client", Reader())
        stage.played.acknowledged.append("first")
        with pytest.raises(ProcessError, match="nothing can be read: no route"):
            stage.read_back()
    assert stage.played.lost == ()


@pytest.mark.parametrize("code", [0, 1])
def test_a_walk_begins_when_all_released_brokers_have_the_topic(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, RemotingCommand]] = []

    def exchange(port: int, command: RemotingCommand) -> RemotingCommand:
        asked.append((port, command))
        return RemotingCommand(code=code, opaque=command.opaque)

    monkeypatch.setattr(random_walk, "exchange", exchange)
    options = GroupOptions(brokers=3, rocketha_brokers=frozenset({2}))
    jars = PeerJars("5.5.0", tmp_path / "jars", Jdk(tmp_path / "jdk", "17"))
    with Group(tmp_path / "run", jars, options) as group:
        walker = Walker(Stage(group, print))
        if code:
            with pytest.raises(ProcessError, match="b1 does not create the topic"):
                walker.begun()
            return
        walker.begun()

        released = [group.ports.broker(number).remoting for number in (1, 3)]
    assert [port for port, _ in asked] == released
    assert {command.ext_fields["topic"] for _, command in asked} == {TOPIC}


@pytest.mark.parametrize(
    ("run", "broken", "decided", "said"),
    [
        (GOOD, False, True, "2 acknowledged, 0 lost, 100 bytes and 2 epochs of each, files equal"),
        (LOST, True, True, "LOST a"),
        (DIFFER, True, True, "b1 and b2: the logs differ at byte 7"),
        (STUCK, False, False, "files not compared"),
        (UNREAD, False, False, "1 acknowledged"),
        (replace(GOOD, log_bytes=0), False, False, "files not compared"),
        (replace(GOOD, epochs=0), False, False, "0 epochs"),
    ],
)
def test_what_a_run_comes_to(run: MixedRun, broken: bool, decided: bool, said: str) -> None:
    assert (run.is_broken, run.is_decided) == (broken, decided)
    assert said in run.line()
    assert json.loads(json.dumps(run.to_json()))["lost"] == list(run.played.lost)


# ---- files ----


@pytest.fixture
def stores(tmp_path: Path) -> dict[str, Path]:
    """Two brokers: the files of one are as long as they can be, as RocketMQ's."""
    found = {name: tmp_path / name / "store" for name in ("b1", "b2")}
    log = bytes(range(256)) * (SEGMENT_SIZE // 256) + b"the end"
    for name, store in found.items():
        folder = store / "commitlog"
        folder.mkdir(parents=True)
        (folder / f"{0:020d}").write_bytes(log[:SEGMENT_SIZE])
        rest = log[SEGMENT_SIZE:] + (b"" if name == "b2" else b"stale" + bytes(100))
        (folder / f"{SEGMENT_SIZE:020d}").write_bytes(rest)
        (store / "epochFileCheckpoint").write_bytes(b"1\n0\n1-0\n")
    return found


END = SEGMENT_SIZE + 7


def test_what_is_behind_the_end_of_a_log_does_not_count(stores: dict[str, Path]) -> None:
    assert compare_stores(stores, END) == ()


def differences(stores: dict[str, Path]) -> list[str]:
    return [str(one) for one in compare_stores(stores, END)]


def test_a_byte_that_is_not_the_same_is_named(stores: dict[str, Path]) -> None:
    path = stores["b2"] / "commitlog" / f"{0:020d}"
    data = bytearray(path.read_bytes())
    data[4711] ^= 1
    path.write_bytes(data)
    assert differences(stores) == [f"b1 and b2: the logs differ at byte 4711 of {END}"]


def test_a_log_that_ends_early_is_not_the_same(stores: dict[str, Path]) -> None:
    (stores["b2"] / "commitlog" / f"{SEGMENT_SIZE:020d}").unlink()
    (said,) = differences(stores)
    assert said == f"b1 and b2: of {END} bytes of the log there are {END} and {SEGMENT_SIZE}"


def test_epoch_files_count(stores: dict[str, Path]) -> None:
    (stores["b1"] / "epochFileCheckpoint").unlink()
    (said,) = differences(stores)
    assert said.startswith("b1 and b2: the epoch files are b''")
    (stores["b2"] / "epochFileCheckpoint").unlink()
    assert differences(stores) == ["b1 and b2: neither has an epoch file"]


# ---- the command ----


def played(monkeypatch: pytest.MonkeyPatch, folder: Path, runs: Sequence[MixedRun]) -> Result:
    """Run the command; each seed comes to the next of these."""
    left = list(runs)
    monkeypatch.setattr(jars_module, "find_jars", lambda _: None)
    monkeypatch.setattr(mixed_walk, "play_mixed", lambda *_: left.pop(0))
    last = max(0, len(runs) - 1)
    words = ["peer", "rocketmq", "mixed", "--seeds", f"0..{last}", "--out", str(folder)]
    return CliRunner().invoke(main, [*words, *([] if runs else ["--hours", "-1"])])


@pytest.mark.parametrize(
    ("runs", "code", "total"),
    [
        ([GOOD, GOOD], 0, "2 scenarios: 4 acknowledged, 0 lost; files of 2 compared, 0 differ"),
        ([GOOD, LOST], 1, "2 scenarios: 4 acknowledged, 1 lost"),
        ([DIFFER, STUCK], 1, "files of 1 compared, 1 differ"),
        ([GOOD, STUCK], 3, "1 undecided"),
        ([], 3, "0 scenarios"),
    ],
)
def test_the_command_ends_as_the_worst_says(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    runs: list[MixedRun],
    code: int,
    total: str,
) -> None:
    result = played(monkeypatch, tmp_path / "out", runs)
    assert result.exit_code == code, result.output
    assert total in " ".join(result.output.split())
    if runs:
        lines = (tmp_path / "out" / "mixed.ndjson").read_text().splitlines()
        assert [json.loads(line)["version"] for line in lines] == ["5.3.3"] * len(runs)


def test_a_seed_that_was_played_is_passed_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "0").mkdir()
    assert "1 scenarios" in played(monkeypatch, tmp_path, [GOOD, GOOD]).output


# ---- processes ----


def route_of(group: Group) -> dict[int, str]:
    """Return the brokers that the name server shows of the topic that all have, their name."""
    asked = push_name_server_request(GetRouteInfo(topic=GROUP_NAME), opaque=1)
    answer = exchange(group.ports.name_server, asked)
    assert answer is not None
    found = pull_name_server_reply(answer, NameServerCode.GET_ROUTEINFO_BY_TOPIC).answer
    assert isinstance(found, TopicRouteData)
    return {int(number): at for number, at in found.broker_datas[0].addresses.items()}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nodes_of_rocketha_are_started_killed_and_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f'#!/bin/sh\nexec {sys.executable} {toy_java.__file__} "$@"\n')
    java.chmod(0o755)
    monkeypatch.setenv("PYTHONPATH", ":".join(str(path) for path in (*SOURCE_ROOTS, ROOT)))
    options = GroupOptions(
        brokers=2,
        rocketha_brokers=frozenset({1, 2}),
        rocketha_name_server=True,
        controller_kind=ControllerKind.ROCKETHA,
        agent=False,
    )
    jars = PeerJars("5.3.3", tmp_path / "jars", Jdk(tmp_path / "jdk", "17"))
    with Group(tmp_path / "run", jars, options) as group:
        group.start()
        assert group.wait_for_master() == "b1"
        group.wait_for_sync_state_set("b1", "b2")

        def said(number: int) -> EpochEntryCache | None:
            return ask_epochs(group.ports.broker(number).remoting)

        def same() -> bool | None:
            one, other = said(1), said(2)
            return (one and one.entries) == (other and other.entries) or None

        group.wait_for(same, "both have the epoch")
        first = said(1)
        assert first is not None
        assert (first.broker_id, first.max_offset) == (0, 0)
        assert route_of(group)[0] == f"127.0.0.1:{group.ports.broker(1).remoting}"
        group.kill("b1")
        assert said(1) is None
        assert group.wait_for_master() == "b2"
        group.start_broker("b1")
        group.wait_for_sync_state_set("b1", "b2")
        group.wait_for(same, "both have the new epoch")
        stores = {name: group.store_of(name) for name in group.brokers}
    assert compare_stores(stores, 0) == ()
    shutil.rmtree(stores["b2"])
    assert compare_stores(stores, 0) != ()

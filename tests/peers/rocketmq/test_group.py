"""How a group is started, disturbed and ended; in the place of Java is a program of Python."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.controller_requests import ApplyBrokerId
from rocketha.formats.remoting_command import Serialization
from rocketha.recording.node_log import read_logs
from rocketha.recording.record import STARTED, STOPPED, RecordError
from rocketha.types import BrokerId
from rocketmq_peer import controller_view
from rocketmq_peer.configuration import SEGMENT_SIZE, ControllerKind, Promises
from rocketmq_peer.controller_view import ask_leader
from rocketmq_peer.errors import PeerError, ProcessError
from rocketmq_peer.group import GROUP_NAME, Group, GroupOptions
from rocketmq_peer.group_options import Replication
from rocketmq_peer.jars import PeerJars
from rocketmq_peer.toolchain import Jdk
from tests.peers.rocketmq import toy_java
from tests.source_files import ROOT, SOURCE_ROOTS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PeerJars:
    """A JDK whose `java` is a script."""
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f'#!/bin/sh\nexec {sys.executable} {toy_java.__file__} "$@"\n')
    java.chmod(0o755)
    paths = ":".join(str(path) for path in (*SOURCE_ROOTS, ROOT))
    monkeypatch.setenv("PYTHONPATH", paths)
    return PeerJars("5.3.3", tmp_path / "jars", Jdk(tmp_path / "jdk", "17"))


@pytest.fixture
def group(tmp_path: Path, jars: PeerJars) -> Iterator[Group]:
    options = GroupOptions(brokers=2, promises=Promises(in_sync_replicas=2))
    with Group(tmp_path / "run", jars, options) as made:
        yield made


def done(group: Group) -> list[str]:
    lines = (group.folder / "harness.ndjson").read_text().splitlines()
    return [f"{line['do']} {line['node']}" for line in map(json.loads, lines)]


def test_a_group_starts_and_a_killed_master_has_a_successor(group: Group) -> None:
    group.start()
    assert group.running == ("namesrv", "c1", "b1", "b2")
    assert done(group) == [
        *("start namesrv", "start c1", "serves namesrv", "serves c1"),
        *("start b1", "start b2", "serves b1", "serves b2"),
    ]
    assert group.leader() == "c1"
    assert group.wait_for_master() == "b1"
    assert group.wait_for_sync_state_set("b1", "b2").master_epoch == 1
    group.kill("b1")
    assert done(group)[-2:] == ["kill b1", "ended b1"]
    assert group.wait_for_master() == "b2"
    with pytest.raises(ProcessError, match=r"it was not so that the SyncStateSet was \['b1'"):
        group.wait_for_sync_state_set("b1", "b2", timeout_s=0.2)
    group.start_broker("b1", more={"maxMessageSize": 1000})
    assert "maxMessageSize=1000\n" in (group.folder / "nodes/b1/node.conf").read_text()
    assert group.wait_for_master() == "b1"
    group.terminate("b2")
    group.close()
    assert not group.running
    logs = {log.header.node: log for log in read_logs(group.folder / "records")}
    assert {*logs} == {"b1", "b2", "c1"}
    said = [(one.incarnation, one.sequence, one.event) for one in logs["b1"].records]
    assert said == [
        (1, 0, "NodeStarted"),
        (1, 1, "NodeStopped"),
        (2, 0, "NodeStarted"),
        (2, 1, "NodeStopped"),
    ]
    assert logs["b1"].records[1].state == {
        "begin": 0,
        "log": {"kept": 0, "added": []},
        "epoch_file": [],
    }
    assert logs["c1"].records[1].state == {}
    assert logs["b1"].header.settings == {
        "kind": "broker",
        "brokers": ["b1", "b2"],
        "all_ack_in_sync_state_set": False,
        "in_sync_replicas": 2,
        "heartbeat_timeout_ms": 10_000,
    }
    assert logs["c1"].header.settings["elect_unclean"] is False
    assert logs["b2"].records[0].state == {"names": 16, "kind": None}


def test_without_controllers_the_first_broker_is_master_by_its_configuration(
    tmp_path: Path, jars: PeerJars
) -> None:
    options = GroupOptions(
        brokers=2,
        replication=Replication.SYNC_MASTER,
        promises=Promises(in_sync_replicas=2),
        said_of_brokers={"records_per_segment": 7},
    )
    with Group(tmp_path / "run", jars, options) as group:
        group.start()
        assert group.running == ("namesrv", "b1", "b2")
        log = group.store_of("b2") / "commitlog"
        log.mkdir()
        (log / f"{0:020}").write_bytes(b"lost")
        group.power_cut("b2", lambda: 1)
        assert (log / f"{0:020}").read_bytes() == b"l\0\0\0"
        assert done(group)[-2:] == ["power_cut b2", "ended b2"]
    said = [(group.folder / "nodes" / one / "node.conf").read_text() for one in ("b1", "b2")]
    assert all("enableControllerMode=false\n" in text for text in said)
    assert [f"brokerId={number}\n" in text for number, text in enumerate(said)] == [True, True]
    assert "brokerRole=SYNC_MASTER\n" in said[0]
    assert "brokerRole=SLAVE\n" in said[1]
    b1, b2 = read_logs(group.folder / "records")
    assert b1.header.settings == {
        "kind": "master",
        "slaves": ["b2"],
        "slaves_to_wait_for_max": 1,
        "segment_bytes": SEGMENT_SIZE,
        "records_per_segment": 7,
    }
    assert b2.header.settings == {"kind": "slave", "master": "b1"}
    asynchronous = replace(options, replication=Replication.ASYNC_MASTER)
    assert asynchronous.settings_of("b1")["slaves_to_wait_for_max"] == 0


def test_brokers_without_controllers_may_be_masters_of_other_groups(
    tmp_path: Path, jars: PeerJars
) -> None:
    options = GroupOptions(
        brokers=3,
        replication=Replication.ASYNC_MASTER,
        other_masters={3: "h"},
        ports_suit=lambda ports: ports.first % 2 == 0,
    )
    assert options.role_of(2)["brokerRole"] == "SLAVE"
    with Group(tmp_path / "run", jars, options) as group:
        assert group.ports.first % 2 == 0
        group.start_broker("b3")
    said = dict(
        line.split("=", 1)
        for line in (group.folder / "nodes" / "b3" / "node.conf").read_text().splitlines()
    )
    assert (said["brokerName"], said["brokerRole"], said["brokerId"]) == ("h", "ASYNC_MASTER", "0")
    assert said["enableControllerMode"] == "false"


def test_who_does_not_run_cannot_be_disturbed(group: Group) -> None:
    with pytest.raises(PeerError, match="b1 does not run; nothing does"):
        group.kill("b1")
    with pytest.raises(PeerError, match="b9 is none of b1, b2"):
        group.start_broker("b9")
    group.start_name_server()
    with pytest.raises(PeerError, match="namesrv runs already"):
        group.start_name_server()
    with pytest.raises(PeerError, match="c1 is none of b1, b2"):
        group.isolate("c1")


def test_links_are_found_by_who_calls_whom(group: Group) -> None:
    assert group.links_of(callee="b1", kind="ha") == ("ha.b1.b2",)
    assert group.links_of(caller="b1") == ("ns.b1", "c1.b1", "to.b2.b1", "fast.b2.b1", "ha.b2.b1")
    assert group.links_of(callee="b1") == ("to.b1.c", "to.b1.b2", "fast.b1.b2", "ha.b1.b2")
    assert {*group.links_of()} == {*group.proxies.names}


def test_whatever_fails_at_the_end_all_processes_are_ended(group: Group) -> None:
    group.start()
    processes = [group.process(name) for name in group.running]
    records = group.folder / "records" / "c1.records.jsonl"
    group.process("c1").wait_until(lambda: records.read_bytes().endswith(b"torn"), "write", 20)
    records.write_bytes(b"no header\nno record\n")
    with pytest.raises(RecordError):
        group.close()
    assert all(process.ended is not None for process in processes)
    assert not group.running


def test_a_paused_process_is_ended_as_well(group: Group) -> None:
    group.start_controller("c1")
    group.pause("c1")
    group.resume("c1")
    group.pause("c1")
    assert done(group)[-3:] == ["pause c1", "resume c1", "pause c1"]


def test_a_broker_is_isolated_by_its_links(group: Group, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controller_view, "_TIMEOUT_S", 0.5)
    group.start_controller("c1")
    port = group.ports.broker(1).to_controller[1]
    assert ask_leader([port]) == port, "the leader is the link"
    group.isolate("b1")
    assert ask_leader([port]) is None
    assert ask_leader([group.ports.broker(2).to_controller[1]]) is not None
    group.rejoin("b1")
    assert ask_leader([port]) == port


def test_what_clients_see_is_written(group: Group) -> None:
    client = group.client("p1")
    sent = client.send("T", "a1")
    assert (sent.is_ok, sent.offset, sent.begin_ns) == (True, 255, 5)
    lost = client.send("T", "lost")
    assert (lost.is_ok, lost.offset, lost.error) == (False, None, "no broker")
    assert client.read("T").ids == ("a", "b")
    lines = (group.folder / "clients.ndjson").read_text().splitlines()
    times = {"begin_ns": 5, "end_ns": 6}
    assert [json.loads(line) for line in lines] == [
        {"client": "p1", "op": "send", "topic": "T", "id": "a1", **times, "status": "SEND_OK",
         "offset": 255},
        {"client": "p1", "op": "send", "topic": "T", "id": "lost", **times, "status": "ERROR",
         "error": "no broker"},
        {"client": "p1", "op": "read", "topic": "T", **times, "ids": ["a", "b"]},
    ]  # fmt: skip


def test_a_client_is_asked_for_anything_that_its_driver_can_do(group: Group) -> None:
    answer = group.client().ask("checks")
    assert (answer.events, answer.code, answer.broker) == (({"id": "h0"},), 11, "h")
    assert not (group.folder / "clients.ndjson").exists()


def test_a_consumer_keeps_records_as_nodes_do(tmp_path: Path, jars: PeerJars) -> None:
    options = GroupOptions(brokers=2, said_of_consumers={"lease_ms": 30_000})
    with Group(tmp_path / "run", jars, options) as group:
        answer = group.client("k1", watched=True).consume("T", group="ordered", work_ms=5)
        assert (answer.op, answer.error) == ("consume", "")
        refused = group.client("k2").consume("T", group="ordered", work_ms=5)
        assert refused.error == "who is that?"
    (log,) = read_logs(group.folder / "records")
    assert log.header.settings == {"kind": "consumer", "lease_ms": 30_000}
    assert [record.event for record in log.records] == [STARTED, STOPPED]
    assert log.records[0].state["kind"] == "consumer"


def test_a_request_may_wait_while_others_are_made(group: Group) -> None:
    client = group.client()
    waiting = client.begin_send("T", "silent")
    assert client.send("T", "a1").is_ok
    assert not waiting.done()
    with pytest.raises(ProcessError, match="client runs no more"):
        client.send("T", "exit")
    with pytest.raises(ProcessError, match="client runs no more"):
        waiting.result(20)
    with pytest.raises(ProcessError, match="client runs no more"):
        client.send("T", "later")
    with pytest.raises(ValueError, match="cannot begin a body"):
        client.send("T", "a;b")


def test_mqadmin_is_told_and_heard(group: Group) -> None:
    assert group.admin("getSyncStateSet", "-b", "g") == "admin: getSyncStateSet -b g\n"
    with pytest.raises(ProcessError, match="mqadmin getSyncStateSet ended with 3: admin"):
        group.admin("getSyncStateSet", "fail")


def test_a_folder_of_another_run_is_refused(tmp_path: Path, jars: PeerJars) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "x").touch()
    with pytest.raises(PeerError, match="is not empty"):
        Group(tmp_path / "run", jars, GroupOptions())


def test_without_an_agent_nobody_writes_records(tmp_path: Path, jars: PeerJars) -> None:
    with Group(tmp_path / "run", jars, GroupOptions(agent=False)) as group:
        group.start_controller("c1")
    assert [*(group.folder / "records").iterdir()] == []


def test_the_controller_may_be_rocketha_and_keeps_records_and_files(
    tmp_path: Path, jars: PeerJars
) -> None:
    options = GroupOptions(brokers=2, controller_kind=ControllerKind.ROCKETHA)
    with Group(tmp_path / "run", jars, options) as group:
        group.start_controller("c1")
        assert group.leader() == "c1"
        port = group.ports.controller(1).remoting
        apply = ApplyBrokerId(
            cluster_name="rocketproof",
            broker_name=GROUP_NAME,
            applied_broker_id=BrokerId(1),
            register_check_code=f"127.0.0.1:{group.ports.broker(1).from_controllers};1",
        )
        reply = controller_view.ask(port, apply, RequestCode.APPLY_BROKER_ID)
        assert reply is not None
        assert reply.code == 0
        assert group.view() is not None
        group.kill("c1")
        assert group.view() is None
        group.start_controller("c1")
        view = group.view()
    assert view is not None
    assert (view.master, view.master_epoch) == (None, 0)
    (log,) = read_logs(group.folder / "records")
    assert log.header.settings["controller"] == "rocketha"
    said = [(one.incarnation, one.event) for one in log.records]
    assert said == [(1, STARTED), (1, STOPPED), (2, STARTED), (2, STOPPED)]


@pytest.mark.parametrize(
    ("controllers", "kind", "expected"),
    [
        (1, ControllerKind.DLEDGER, Serialization.ROCKETMQ),
        (3, ControllerKind.DLEDGER, Serialization.JSON),
        (3, ControllerKind.JRAFT, Serialization.ROCKETMQ),
    ],
)
def test_several_controllers_of_dledger_stay_with_json(
    controllers: int, kind: ControllerKind, expected: Serialization
) -> None:
    options = GroupOptions(
        controllers=controllers, controller_kind=kind, headers=Serialization.ROCKETMQ
    )
    assert options.headers_of("c1") is expected
    assert options.headers_of("b1") is Serialization.ROCKETMQ
    assert GroupOptions(controllers=controllers).headers_of("c1") is Serialization.JSON


def test_a_process_is_told_how_to_write_headers(tmp_path: Path, jars: PeerJars) -> None:
    options = GroupOptions(headers=Serialization.ROCKETMQ)
    with Group(tmp_path / "run", jars, options) as group:
        group.start_name_server()
        pid = group.process("namesrv").pid
        group.process("namesrv").wait_for_port(group.ports.name_server, 20)
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    assert b"-Drocketmq.serialize.type=ROCKETMQ" in words

"""A controller in a process of its own: sockets, files, signals."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import GetReplicaInfo
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import push_command
from rocketha.recording.node_log import NodeLog, read_logs
from tests.impl.process.controller_peers import GROUP, Broker, ControllerRun
from tests.impl.process.node_run import until


@pytest.fixture
def run(tmp_path: Path) -> Iterator[ControllerRun]:
    with ControllerRun(tmp_path) as made:
        yield made


def a_group(run: ControllerRun, count: int = 2) -> list[Broker]:
    """Start the controller and a group, whose first broker is master."""
    run.start()
    brokers = [Broker(run, number) for number in range(1, count + 1)]
    for broker in brokers:
        broker.join()
    assert brokers[0].elect().code == 0
    for broker in brokers:
        assert broker.beat().code == 0
        assert broker.told().master_broker_id == 1
    return brokers


def test_a_master_whose_connection_is_gone_has_a_successor_who_is_told(run: ControllerRun) -> None:
    first, second = a_group(run)
    first.gone()
    assert run.view().sync_state_set.members == {1}  # the other one is not in sync
    again = Broker(run, 1)
    again.address = first.address
    assert again.register().code == 0
    assert run.view().master_broker_id == 1
    for broker in (again, first, second):
        broker.close()


def test_who_is_silent_is_not_master_for_long_and_loses_its_connection(tmp_path: Path) -> None:
    with ControllerRun(tmp_path, enableElectUncleanMaster="true") as run:
        first, second = a_group(run)
        assert first.beat(timeout_ms=300).code == 0
        notice = second.told()
        assert (notice.master_broker_id, notice.master_epoch) == (2, 2)
        assert notice.master_address == second.address
        with first.controller as connection:
            assert connection.is_closed()
        until(lambda: "no heartbeat came in time" in run.said(), "it says so")
        second.lose_notices()
        second.close()
        first.close()


def test_killed_and_started_again_it_goes_on_from_its_files(run: ControllerRun) -> None:
    first, second = a_group(run)
    before = run.view()
    assert run.end(signal.SIGKILL) == -signal.SIGKILL
    run.start()
    assert run.view() == before
    assert "1 groups" in run.said()
    other = Broker(run, 3)
    other.join()
    assert run.end(signal.SIGTERM) == 0
    assert run.end(signal.SIGTERM) == 0
    for broker in (first, second, other):
        broker.close()


def test_hostile_bytes_end_their_connection_and_nothing_else(run: ControllerRun) -> None:
    run.start()
    broker = Broker(run, 1)
    broker.join()
    no_header = b"\0\0\0\x06\0\0\0\x02no"
    for data in (b"GET / HTTP/1.1\r\n\r\n", no_header, push_command(_alter(b"[")), b"\xff" * 99):
        with run.connect() as connection:
            connection.sock.sendall(data)
            assert connection.is_closed()
    with run.connect() as connection:
        for code in (0, 10, 1014, 1015, 30_000, -1):
            answer = connection.command(RemotingCommand(code=code, opaque=8))
            assert answer.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED
        answer = connection.command(RemotingCommand(code=1004, opaque=9))
        assert (answer.code, answer.remark) == (2005, "brokerName is missing")
        connection.sock.sendall(push_command(RemotingCommand(code=0, opaque=1, flag=1)))
        assert connection.ask(GetReplicaInfo(broker_name=GROUP)).code == 0
    said = run.said()
    assert "is refused: frame length at byte 0: is 1195725856, over 16777212" in said
    assert "is closed: " in said
    assert "SyncStateSet at byte 1: is not JSON" in said
    assert broker.beat().code == 0
    broker.close()


def _alter(body: bytes) -> RemotingCommand:
    fields = {"brokerName": GROUP, "masterBrokerId": "1", "masterEpoch": "1"}
    return RemotingCommand(code=1001, opaque=1, ext_fields=fields, body=body)


def test_frames_in_pieces_and_frames_side_by_side_are_answered_in_order(
    run: ControllerRun,
) -> None:
    run.start()
    frames = [push_command(RemotingCommand(code=1005, opaque=number)) for number in range(50)]
    with run.connect() as connection:
        for byte in frames[0]:
            connection.sock.sendall(bytes([byte]))
        connection.sock.sendall(b"".join(frames[1:]))
        assert [connection.next().opaque for _ in frames] == list(range(50))


def test_it_tells_nobody_beyond_loopback(run: ControllerRun) -> None:
    run.start()
    broker = Broker(run, 1)
    broker.address = "192.0.2.1:10911"
    broker.join()
    assert broker.elect().code == 0
    until(lambda: "it is not on loopback" in run.said(), "it says so")
    broker.close()


def records_of(run: ControllerRun) -> NodeLog:
    (log,) = read_logs(run.folder / "records")
    return log


def test_its_records_say_who_was_elected_by_the_names_of_nodes(tmp_path: Path) -> None:
    (tmp_path / "records").mkdir()
    names = tmp_path / "names"
    names.write_text("")
    settings = {
        "recordsPath": str(tmp_path / "records" / "c1.records.jsonl"),
        "recordsNode": "c1",
        "recordsBrokerName": GROUP,
        "recordsNames": str(names),
    }
    with ControllerRun(tmp_path, **settings) as run:
        run.start()
        broker = Broker(run, 1)
        broker.join()
        run.end(signal.SIGTERM)
        names.write_text(f"{broker.address}=b1\n")
        run.start()
        with run.connect() as broker.controller:
            assert broker.elect().code == 0
        log = records_of(run)
        run.end(signal.SIGKILL)
        store = tmp_path / "records" / "c1.records.jsonl"
        lines = store.read_bytes().splitlines(keepends=True)
        store.write_bytes(b"".join(lines[:-1]) + lines[-1][:20])  # killed before it was written
        run.start()
    assert log.header.settings == {
        "kind": "controller",
        "elect_unclean": False,
        "controller": "rocketha",
    }
    nobody = {"master": None, "epoch": 0, "sync_state_set": {"members": [], "epoch": 0}}
    elected = {"master": "b1", "epoch": 1, "sync_state_set": {"members": ["b1"], "epoch": 1}}
    said = [(one.incarnation, one.event, one.params, one.state) for one in log.records]
    assert said == [
        (1, "NodeStarted", {}, nobody),
        (2, "NodeStarted", {}, nobody),
        (2, "ElectMaster", {"master": "b1"}, elected),
    ]
    again = [(one.incarnation, one.event, one.state) for one in records_of(run).records]
    assert again == [
        (1, "NodeStarted", nobody),
        (2, "NodeStarted", nobody),
        (3, "NodeStarted", nobody),
        (3, "ElectMaster", elected),
    ]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"controllerStorePath": ""}, "controllerStorePath is missing"),
        ({"controllerDLegerPeers": "n0"}, "'n0' is no id-host:port, or a second one of this id"),
        ({"controllerDLegerSelfId": "n1"}, "controllerDLegerPeers does not have n1"),
        ({"minVoteIntervalMs": "50"}, "is no setting of a controller that is alone"),
        ({"discardDamagedLog": "true"}, "is no setting of a controller that is alone"),
        ({"controllerDLegerPeers": "n0-192.0.2.1:9878"}, "it is not on loopback"),
        ({"scanNotActiveBrokerInterval": "0"}, "is no number of milliseconds"),
        ({"enableElectUncleanMaster": "yes"}, "enableElectUncleanMaster is not true or false"),
        ({"controllerType": "DLedger"}, "controllerType is not rocketha"),
        ({"mappedFileSize": "1"}, "mappedFileSize is no setting of this controller"),
        ({"recordsNode": "c1"}, "recordsPath is missing"),
    ],
)
def test_what_cannot_be_configured_is_said_in_a_line(
    settings: dict[str, str], said: str, tmp_path: Path
) -> None:
    with ControllerRun(tmp_path, **settings) as run:
        assert run.launch().wait(20) == 2
        assert said in run.said()
        assert run.said().startswith("error: ")
        assert run.said().count("\n") == 1


def test_a_port_that_is_taken_or_a_log_that_is_damaged_is_said_in_a_line(
    run: ControllerRun,
) -> None:
    with socket.create_server(("127.0.0.1", run.port)):
        assert run.launch().wait(20) == 2
    assert "cannot listen at" in run.said()
    for broker in a_group(run):
        broker.close()
    run.end(signal.SIGKILL)
    log = run.folder / "store" / "controllerLog"
    data = bytearray(log.read_bytes())
    data[40] ^= 1
    log.write_bytes(data)
    run.output.write_bytes(b"")
    assert run.launch().wait(20) == 1
    assert run.said().startswith("error: ")
    run.configuration.unlink()
    assert run.launch().wait(20) == 2
    assert "No such file" in run.said()

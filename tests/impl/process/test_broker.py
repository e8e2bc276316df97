"""Brokers in processes of their own, under rocketha's controller: sockets, files, signals."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from rocketha.formats.broker_requests import BrokerCode, BrokerResponse, ha_question
from rocketha.formats.remoting_command import RemotingCommand
from tests.free_ports import free_port
from tests.impl.process.broker_peers import SEGMENT, BrokerRun, records_in
from tests.impl.process.controller_peers import Connection, ControllerRun
from tests.impl.process.node_run import until


@pytest.fixture
def controller(tmp_path: Path) -> Iterator[ControllerRun]:
    with a_controller(tmp_path) as made:
        yield made


@pytest.fixture
def pair(tmp_path: Path, controller: ControllerRun) -> Iterator[tuple[BrokerRun, BrokerRun]]:
    with a_pair(tmp_path, controller) as made:
        yield made


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[BrokerRun, BrokerRun]]:
    """Two brokers in sync to whom nothing happens, of all tests that want such ones."""
    folder = tmp_path_factory.mktemp("calm")
    with a_controller(folder) as controller, a_pair(folder, controller) as made:
        yield made


@contextmanager
def a_controller(folder: Path) -> Iterator[ControllerRun]:
    home = folder / "c1"
    home.mkdir()
    with ControllerRun(home) as made:
        made.start()
        yield made


@contextmanager
def a_pair(folder: Path, controller: ControllerRun) -> Iterator[tuple[BrokerRun, BrokerRun]]:
    """Two brokers in sync; the first is master."""
    with ExitStack() as stack:
        made = [
            stack.enter_context(BrokerRun(folder / name, controller.port)) for name in ("b1", "b2")
        ]
        for number, broker in enumerate(made, start=1):
            broker.start()
            until((broker.store / "brokerIdentity").exists, "it has an id")
            in_sync(controller, set(range(1, number + 1)))
        first, second = made
        yield first, second


def in_sync(controller: ControllerRun, members: set[int]) -> None:
    until(lambda: controller.view().sync_state_set.members == members, f"{members} are in sync")


def equal_files(first: BrokerRun, second: BrokerRun) -> None:
    until(lambda: first.log() == second.log(), "the logs are equal")
    epochs = [(broker.store / "epochFileCheckpoint").read_bytes() for broker in (first, second)]
    assert epochs[0] == epochs[1]


def test_what_was_acknowledged_survives_the_master(
    controller: ControllerRun, pair: tuple[BrokerRun, BrokerRun]
) -> None:
    first, second = pair
    for number in range(30):  # more than a segment has room for
        assert first.send(b"a%d;".ljust(100) % number).code == BrokerResponse.SUCCESS
    assert first.epochs().max_offset > SEGMENT
    assert first.end(signal.SIGKILL) == -signal.SIGKILL
    second.send_until_ok(b"b")
    first.start()
    in_sync(controller, {1, 2})
    assert second.send(b"c").code == BrokerResponse.SUCCESS
    answer = second.pull(0, most=100)
    bodies = [record.message.body for record in records_in(answer.body)]
    assert bodies == [*(b"a%d;".ljust(100) % number for number in range(30)), b"b", b"c"]
    equal_files(first, second)
    assert controller.view().master_broker_id == 2
    assert [entry.epoch for entry in second.epochs().entries][:1] == [1]


def test_producers_are_told_where_a_message_is(calm: tuple[BrokerRun, BrokerRun]) -> None:
    first, second = calm
    begin = first.epochs().max_offset
    answers = [first.send(b"body", topic="told") for _ in range(2)]
    assert [answer.ext_fields["queueOffset"] for answer in answers] == ["0", "1"]
    offsets = [int(answer.ext_fields["msgId"][16:], 16) for answer in answers]
    assert begin == offsets[0] < offsets[1] < first.epochs().max_offset
    assert answers[0].ext_fields["msgId"].startswith(f"7F000001{first.port:08X}")
    refused = second.send(b"body", topic="told")
    assert refused.code == BrokerResponse.SERVICE_NOT_AVAILABLE
    assert "msgId" not in refused.ext_fields


def test_a_consumer_sees_its_queue(calm: tuple[BrokerRun, BrokerRun]) -> None:
    first, second = calm
    for body in (b"a", b"b", b"c"):
        assert first.send(body, topic="seen").code == BrokerResponse.SUCCESS
    assert first.send(b"other", topic="unseen").ext_fields["queueOffset"] == "0"
    answer = first.pull(1, topic="seen", most=1)
    assert answer.code == BrokerResponse.SUCCESS
    assert [record.message.body for record in records_in(answer.body)] == [b"b"]
    assert dict(answer.ext_fields) == {
        "suggestWhichBrokerId": "0",
        "nextBeginOffset": "2",
        "minOffset": "0",
        "maxOffset": "3",
    }
    for wait_ms in (0, 1000):
        at_end = first.pull(3, topic="seen", wait_ms=wait_ms)
        assert at_end.code == BrokerResponse.PULL_NOT_FOUND
    moved = first.pull(9, topic="seen")
    assert moved.code == BrokerResponse.PULL_OFFSET_MOVED
    assert moved.ext_fields["nextBeginOffset"] == "3"
    assert second.pull(0, topic="seen").code == BrokerResponse.SERVICE_NOT_AVAILABLE


def ask(broker: BrokerRun, code: int, **fields: str) -> RemotingCommand:
    return broker.command(RemotingCommand(code=code, opaque=1, ext_fields=fields))


def test_consumers_ask_for_offsets(calm: tuple[BrokerRun, BrokerRun]) -> None:
    first, _ = calm
    assert first.send(b"a", topic="asked").code == BrokerResponse.SUCCESS
    queue = {"topic": "asked", "queueId": "0"}
    group = {"consumerGroup": "g", **queue}
    assert ask(first, BrokerCode.GET_MIN_OFFSET, **queue).ext_fields["offset"] == "0"
    assert ask(first, BrokerCode.GET_MAX_OFFSET, **queue).ext_fields["offset"] == "1"
    assert ask(first, BrokerCode.QUERY_CONSUMER_OFFSET, **group).ext_fields["offset"] == "0"
    told = ask(first, BrokerCode.UPDATE_CONSUMER_OFFSET, **group, commitOffset="1")
    assert told.code == BrokerResponse.SUCCESS
    assert ask(first, BrokerCode.QUERY_CONSUMER_OFFSET, **group).ext_fields["offset"] == "1"
    assert ask(first, BrokerCode.HEART_BEAT).code == BrokerResponse.SUCCESS


def test_what_cannot_be_done_is_said_and_changes_nothing(
    calm: tuple[BrokerRun, BrokerRun],
) -> None:
    first, _ = calm
    end = first.epochs().max_offset
    illegal, error = BrokerResponse.MESSAGE_ILLEGAL, BrokerResponse.SYSTEM_ERROR
    assert first.send(bytes(SEGMENT)).code == illegal
    assert first.send(b"later", properties="DELAY\x011\x02").code == illegal
    assert first.send(b"nowhere", topic=" ").code == error
    assert ask(first, BrokerCode.PULL_MESSAGE).code == error
    assert ask(first, 4711).code == BrokerResponse.REQUEST_CODE_NOT_SUPPORTED
    assert first.epochs().max_offset == end


def test_only_a_master_says_where_it_replicates(calm: tuple[BrokerRun, BrokerRun]) -> None:
    first, second = calm
    said = first.command(ha_question(opaque=1)).ext_fields
    assert said["masterHaAddress"] == f"127.0.0.1:{first.ha_port}"
    assert dict(second.command(ha_question(opaque=1)).ext_fields) == {}


def test_bad_bytes_close_their_connection_only(calm: tuple[BrokerRun, BrokerRun]) -> None:
    first, second = calm
    for broker, port in ((first, first.port), (first, first.ha_port), (second, second.ha_port)):
        for data in (b"\xff" * 64, b"\x00\x00\x00\x08\x00\x00\x00\x04nope", bytes(400)):
            with Connection(socket.create_connection(("127.0.0.1", port), 20)) as connection:
                connection.sock.sendall(data)
                connection.sock.shutdown(socket.SHUT_WR)
                assert connection.is_closed(), (broker.folder.name, data)
    assert first.send(b"a", topic="after").code == BrokerResponse.SUCCESS


def test_a_slave_leaves_the_set_and_comes_back(
    controller: ControllerRun, pair: tuple[BrokerRun, BrokerRun]
) -> None:
    first, second = pair
    assert second.end(signal.SIGTERM) == 0
    first.send_until_ok(b"a")
    in_sync(controller, {1})
    second.start()
    in_sync(controller, {1, 2})
    equal_files(first, second)
    assert second.epochs().broker_id == 2


def test_files_have_one_process(calm: tuple[BrokerRun, BrokerRun]) -> None:
    first, _ = calm
    again = BrokerRun(first.folder / "again", 1, storePathRootDir=str(first.store))
    with again:
        assert again.launch().wait(60) == 2
    assert "another process has these files" in again.said()


def test_of_several_controllers_it_registers_with_the_one_that_leads(
    tmp_path: Path, controller: ControllerRun
) -> None:
    addresses = f"127.0.0.1:{free_port()};127.0.0.1:{controller.port}"
    with BrokerRun(tmp_path / "b1", 1, controllerAddr=addresses) as broker:
        broker.start()
        broker.send_until_ok(b"body")
        assert controller.view().master_broker_id == 1
    assert f"with the controller at 127.0.0.1:{controller.port}" in broker.said()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("listenPort", "0", "listenPort is 0, below 1"),
        ("slaveTimeout", "soon", "slaveTimeout is 'soon', not a number"),
        ("allAckInSyncStateSet", "yes", "allAckInSyncStateSet is 'yes'"),
        ("controllerAddr", "", "controllerAddr is missing"),
        ("syncControllerMetadataPeriod", "-1", "syncControllerMetadataPeriod is '-1'"),
        ("namesrvAddr", "here", "'here' is no host:port"),
        ("brokerIP1", "localhost", "brokerIP1: "),
        ("brokerIP1", "10.1.2.3", "is not on loopback"),
        ("mappedFileSizeCommitLog", "8", "mappedFileSizeCommitLog is 8, below 1024"),
        ("flushIntervalCommitLog", "0", "flushIntervalCommitLog is 0, below 1"),
        ("haListenPort", "65536", "haListenPort is 65536, which is no port"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, name: str, value: str, said: str) -> None:
    with BrokerRun(tmp_path / "b1", 1, **{name: value}) as broker:
        assert broker.launch().wait(60) == 2
    assert said in broker.said()


def test_a_store_that_is_none_is_refused(tmp_path: Path) -> None:
    with BrokerRun(tmp_path / "b1", 1) as broker:
        folder = broker.store / "commitlog"
        folder.mkdir(parents=True)
        (folder / f"{7:020d}").write_bytes(b"x")
        assert broker.launch().wait(60) == 2
    assert "is no segment of 4096 bytes" in broker.said()


def test_a_damaged_epoch_file_is_refused(tmp_path: Path) -> None:
    with BrokerRun(tmp_path / "b1", 1) as broker:
        broker.store.mkdir(parents=True)
        (broker.store / "epochFileCheckpoint").write_bytes(b"1\n0\n1-0\n")
        assert broker.launch().wait(60) == 2
    assert "cannot start: checksum at byte 2" in broker.said()

"""A name server in a process of its own: what brokers say to it, what clients see, and nonsense."""

from __future__ import annotations

import shutil
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from rocketha.formats.broker_requests import BrokerResponse
from rocketha.formats.controller_request_codec import push_request
from rocketha.formats.controller_requests import ApplyBrokerId
from rocketha.formats.name_server_codec import pull_notification, push_name_server_request
from rocketha.formats.name_server_codes import NameServerResponse
from rocketha.formats.name_server_requests import (
    BrokerHeartbeat,
    DataVersion,
    GetRouteInfo,
    RegisterBroker,
    TopicConfig,
)
from rocketha.formats.remoting_command import FLAG_ONEWAY, FLAG_RESPONSE, RemotingCommand
from rocketha.formats.remoting_frame import push_command
from rocketha.types import BrokerId, TimestampMs
from rocketmq_peer.name_server_histories import HISTORIES, play_history
from tests.free_ports import free_port
from tests.impl.process.broker_peers import BrokerRun
from tests.impl.process.controller_peers import Connection, ControllerRun
from tests.impl.process.name_server_peers import NameServerRun
from tests.impl.process.node_run import until

APPLY_ID: Final = ApplyBrokerId(
    cluster_name="c",
    broker_name="g",
    applied_broker_id=BrokerId(1),
    register_check_code="127.0.0.1:1;1",
)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NameServerRun]:
    """A name server that no test ends, and that tells brokers of changes."""
    folder = tmp_path_factory.mktemp("calm") / "names"
    with NameServerRun(
        folder,
        supportActingMaster="true",
        notifyMinBrokerIdChanged="true",
        scanNotActiveBrokerInterval="50",
    ) as made:
        made.start()
        yield made


def registration(
    group: str, number: int, address: str, *, silent_ms: int = 60_000
) -> RegisterBroker:
    return RegisterBroker(
        cluster_name="c",
        broker_name=group,
        broker_address=address,
        broker_id=BrokerId(number),
        ha_server_address=address,
        heartbeat_timeout_ms=silent_ms,
        enable_acting_master=True,
        data_version=DataVersion(1, 1, TimestampMs(1)),
        topic_configs={
            name: TopicConfig(topic_name=name, read_queue_nums=1, write_queue_nums=1, perm=6)
            for name in (f"{group}-orders", f"{group}-more")
        },
    )


def say(connection: Connection, request: RegisterBroker | BrokerHeartbeat) -> RemotingCommand:
    return connection.command(push_name_server_request(request, opaque=1))


@pytest.mark.parametrize("history", list(HISTORIES))
def test_nothing_goes_wrong_that_the_mutants_of_route_name(tmp_path: Path, history: str) -> None:
    with NameServerRun(tmp_path / "names", supportActingMaster="true") as server:
        server.start()
        outcome = play_history(HISTORIES[history], server.port)
    assert not outcome.is_wrong, outcome.words


def test_who_is_silent_goes_and_a_sign_of_life_keeps_the_other(calm: NameServerRun) -> None:
    life = BrokerHeartbeat(cluster_name="c", broker_name="silence", broker_address="127.0.0.1:1")
    with calm.connect() as first, calm.connect() as second:
        say(first, registration("silence", 0, "127.0.0.1:1", silent_ms=400))
        say(second, registration("silence", 2, "127.0.0.1:2", silent_ms=400))

        def only_the_first_is_left() -> bool:
            assert say(first, life).code == 0
            return "127.0.0.1:2: Remove" in calm.said()

        until(only_the_first_is_left, "who says nothing is gone")
        assert calm.master("silence-orders") == "127.0.0.1:1"
        assert second.is_closed()
    until(lambda: calm.master("silence-orders") is None, "its connection has ended")


def test_a_broker_is_told_at_its_address_that_a_smaller_one_is_there(calm: NameServerRun) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, calm.connect() as connection:
        server.settimeout(20)
        address = f"127.0.0.1:{server.getsockname()[1]}"
        say(connection, registration("told", 3, address))
        say(connection, registration("told", 2, "127.0.0.1:9"))
        accepted, _ = server.accept()
        with Connection(accepted) as hears:
            notices = [hears.next(), hears.next()]
    assert all(one.is_oneway for one in notices)
    assert [pull_notification(one).min_broker_id for one in notices] == [3, 2]


def test_who_was_killed_hears_of_everybody_again(tmp_path: Path) -> None:
    with NameServerRun(tmp_path / "names") as server:
        server.start()
        with server.connect() as connection:
            say(connection, registration("again", 0, "127.0.0.1:1"))
            assert server.master("again-orders") == "127.0.0.1:1"
            assert server.end(signal.SIGKILL) == -signal.SIGKILL
        server.start()
        assert server.ask(GetRouteInfo(topic="again-orders")).code == (
            NameServerResponse.TOPIC_NOT_EXIST
        )
        with server.connect() as connection:
            say(connection, registration("again", 0, "127.0.0.1:1"))
            assert server.master("again-orders") == "127.0.0.1:1"
        assert server.end(signal.SIGTERM) == 0


def test_clients_find_the_master_that_the_controller_elects(tmp_path: Path) -> None:
    """Processes of all three kinds: a controller, a name server, and two brokers."""
    (tmp_path / "c1").mkdir()
    with (
        ControllerRun(tmp_path / "c1") as controller,
        NameServerRun(tmp_path / "names") as names,
    ):
        controller.start()
        names.start()
        settings = {"namesrvAddr": names.address, "registerNameServerPeriod": "200"}
        with (
            BrokerRun(tmp_path / "b1", controller.port, **settings) as first,
            BrokerRun(tmp_path / "b2", controller.port, **settings) as second,
        ):
            first.start()
            first.send_until_ok(b"a")
            second.start()
            until(lambda: controller.view().sync_state_set.members == {1, 2}, "both are in sync")
            until(lambda: names.master("T") == f"127.0.0.1:{first.port}", "the first is found")
            assert first.end(signal.SIGKILL) == -signal.SIGKILL
            until(lambda: names.master("T") == f"127.0.0.1:{second.port}", "the second is found")
            assert second.send(b"b").code == BrokerResponse.SUCCESS
            first.start()
            until(lambda: controller.view().sync_state_set.members == {1, 2}, "it is back")
            assert names.master("T") == f"127.0.0.1:{second.port}"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (RemotingCommand(code=7, opaque=3), NameServerResponse.REQUEST_CODE_NOT_SUPPORTED),
        (RemotingCommand(code=103, opaque=3), NameServerResponse.SYSTEM_ERROR),
        (RemotingCommand(code=105, opaque=3), NameServerResponse.SYSTEM_ERROR),
    ],
)
def test_a_request_that_cannot_be_is_answered(
    calm: NameServerRun, command: RemotingCommand, code: int
) -> None:
    with calm.connect() as connection:
        answer = connection.command(command)
        assert (answer.code, answer.opaque, answer.is_response) == (code, 3, True)


def test_nobody_hears_of_a_response_or_of_a_request_one_way(calm: NameServerRun) -> None:
    with calm.connect() as connection:
        for flag in (FLAG_RESPONSE, FLAG_ONEWAY, FLAG_RESPONSE | FLAG_ONEWAY):
            connection.sock.sendall(push_command(RemotingCommand(code=103, opaque=1, flag=flag)))
        answer = connection.command(push_name_server_request(GetRouteInfo(topic="none"), opaque=9))
        assert answer.opaque == 9


@pytest.mark.parametrize(
    "data", [b"\x00\x00\x00\x00", b"\x7f\xff\xff\xff", b"\x00\x00\x00\x08\x07\x00\x00\x00aaaa"]
)
def test_who_sends_no_frame_is_cut_off_and_others_are_served(
    calm: NameServerRun, data: bytes
) -> None:
    with calm.connect() as connection:
        connection.sock.sendall(data)
        assert connection.is_closed()
    assert calm.master("none") is None


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("supportActingMaster", "yes", "supportActingMaster is 'yes'"),
        ("supportActingMastr", "true", "'supportActingMastr' is no setting"),
        ("listenPort", "65536", "listenPort is 65536, which is no port"),
        ("bindAddress", "10.1.2.3", "is not on loopback"),
        ("scanNotActiveBrokerInterval", "0", "scanNotActiveBrokerInterval is 0, below 1"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, name: str, value: str, said: str) -> None:
    with NameServerRun(tmp_path / "names", **{name: value}) as server:
        assert server.launch().wait(60) == 2
    assert said in server.said()


def test_a_file_of_rocketmq_is_taken(tmp_path: Path) -> None:
    with NameServerRun(tmp_path / "names", rocketmqHome="/opt/rocketmq") as server:
        server.start()
        assert server.end(signal.SIGTERM) == 0


# ---- a controller in its process ----


def with_a_controller(folder: Path) -> NameServerRun:
    port = free_port()
    return NameServerRun(
        folder,
        enableControllerInNamesrv="true",
        controllerDLegerGroup="controllers",
        controllerDLegerSelfId="n0",
        controllerDLegerPeers=f"n0-127.0.0.1:{port}",
        controllerStorePath=str(folder / "store"),
        scanNotActiveBrokerInterval="50",
    )


def controller_port(run: NameServerRun) -> int:
    said = run.configuration.read_text()
    return int(said.partition("controllerDLegerPeers=n0-127.0.0.1:")[2].split()[0])


def test_brokers_go_on_with_both_when_their_process_was_killed(tmp_path: Path) -> None:
    with with_a_controller(tmp_path / "names") as both:
        both.start()
        settings = {"namesrvAddr": both.address, "registerNameServerPeriod": "200"}
        with BrokerRun(tmp_path / "b1", controller_port(both), **settings) as broker:
            broker.start()
            broker.send_until_ok(b"a")
            master = f"127.0.0.1:{broker.port}"
            until(lambda: both.master("T") == master, "it is found")
            assert both.end(signal.SIGKILL) == -signal.SIGKILL
            both.start()
            until(lambda: both.master("T") == master, "it is found again")
            assert broker.send(b"b").code == BrokerResponse.SUCCESS
            assert both.end(signal.SIGTERM) == 0
    assert "1 groups" in both.said()


def test_a_name_server_goes_on_when_the_controller_in_its_process_fails(tmp_path: Path) -> None:
    with with_a_controller(tmp_path / "names") as both:
        both.start()
        shutil.rmtree(tmp_path / "names" / "store")
        sock = socket.create_connection(("127.0.0.1", controller_port(both)), 60)
        with Connection(sock) as asks:
            asks.sock.sendall(push_command(push_request(APPLY_ID, opaque=1)))
            until(lambda: "the controller cannot go on" in both.said(), "its disk has failed")
        with both.connect() as connection:
            say(connection, registration("alone", 0, "127.0.0.1:1"))
            assert both.master("alone-orders") == "127.0.0.1:1"
        assert both.end(signal.SIGTERM) == 0


def test_a_wrong_setting_of_the_controller_is_named(tmp_path: Path) -> None:
    with NameServerRun(tmp_path / "names", enableControllerInNamesrv="true") as both:
        assert both.launch().wait(60) == 2
    assert "controllerDLegerSelfId is missing" in both.said()

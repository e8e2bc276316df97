"""The texts that nodes are configured with, their ports, links and command lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rocketha.process.controller_configuration import read_configuration
from rocketmq_peer.configuration import (
    BrokerConfiguration,
    ControllerConfiguration,
    ControllerKind,
    ControllerPorts,
    NameServerConfiguration,
    Promises,
    properties_file,
)
from rocketmq_peer.errors import PeerError
from rocketmq_peer.frame_rewriting import Rewrite, address
from rocketmq_peer.jvm import AgentOptions, JavaProgram, logback, names_file
from rocketmq_peer.links import names_of, planned_links
from rocketmq_peer.ports import GroupPorts, choose_ports, is_free
from rocketmq_peer.proxy import LinkOptions

_PEERS = (ControllerPorts(20002, 20003), ControllerPorts(20004, 20005))


def properties(text: str) -> dict[str, str]:
    pairs = [line.split("=", 1) for line in text.splitlines()]
    assert len(dict(pairs)) == len(pairs), "a name stands twice"
    return dict(pairs)


def broker(**more: str | int | bool) -> dict[str, str]:
    configuration = BrokerConfiguration(
        home=Path("run/b1"),
        group="g",
        name_server="127.0.0.1:20001",
        controllers=["127.0.0.1:20010", "127.0.0.1:20011"],
        port=20008,
        ha_port=20007,
        promises=Promises(all_ack_in_sync_state_set=True, in_sync_replicas=2),
        more=more,
    )
    assert configuration.store == Path("run/b1/store")
    return properties(configuration.text())


def test_a_broker_runs_under_controllers_in_its_own_folder() -> None:
    said = broker()
    assert said["controllerAddr"] == "127.0.0.1:20010;127.0.0.1:20011"
    assert said["enableControllerMode"] == "true"
    assert (said["listenPort"], said["haListenPort"]) == ("20008", "20007")
    assert (said["allAckInSyncStateSet"], said["inSyncReplicas"]) == ("true", "2")
    paths = [value for name, value in said.items() if name.startswith(("store", "rocketmqHome"))]
    assert len(paths) == 5
    assert all(path.startswith("run/b1") for path in paths)


def test_what_is_said_by_its_own_name_wins() -> None:
    assert broker()["maxMessageSize"] == "65536"
    assert broker(maxMessageSize=1000, enabledAppendPropCRC=True)["maxMessageSize"] == "1000"
    assert broker(enabledAppendPropCRC=True)["enabledAppendPropCRC"] == "true"


@pytest.mark.parametrize(("name", "value"), [("a", "b\nc=d"), ("a b", "c"), ("a", "C:\\x")])
def test_a_text_that_would_need_escapes_is_refused(name: str, value: str) -> None:
    with pytest.raises(PeerError, match="cannot stand in a configuration file"):
        properties_file({name: value})


def controller(kind: ControllerKind) -> dict[str, str]:
    configuration = ControllerConfiguration(
        home=Path("run/c2"), kind=kind, peers=_PEERS, own=1, elect_unclean=True
    )
    return properties(configuration.text())


def test_controllers_know_each_other() -> None:
    said = controller(ControllerKind.DLEDGER)
    assert said["controllerType"] == "DLedger"
    assert said["controllerDLegerSelfId"] == "n1"
    assert said["controllerDLegerPeers"] == "n0-127.0.0.1:20002;n1-127.0.0.1:20004"
    assert said["enableElectUncleanMaster"] == "true"
    said = controller(ControllerKind.JRAFT)
    assert said["controllerType"] == "jRaft"
    assert said["jRaftServerId"] == "127.0.0.1:20005"
    assert said["jRaftInitConf"] == "127.0.0.1:20003,127.0.0.1:20005"
    assert said["jRaftControllerRPCAddr"] == "127.0.0.1:20002,127.0.0.1:20004"


def test_rockethas_controller_takes_what_it_is_told(tmp_path: Path) -> None:
    configuration = ControllerConfiguration(
        home=tmp_path, kind=ControllerKind.ROCKETHA, peers=_PEERS[:1], own=0, elect_unclean=True
    )
    (tmp_path / "node.conf").write_text(configuration.text())
    read = read_configuration(tmp_path / "node.conf")
    assert (read.address, read.store) == ("127.0.0.1:20002", tmp_path / "store")
    assert (read.scan_ms, read.elect_unclean, read.records) == (1000, True, None)
    assert read.metadata.peers == "n0:127.0.0.1:20002;"


def test_a_name_server_listens_on_loopback() -> None:
    said = properties(NameServerConfiguration(home=Path("run/ns"), port=20000).text())
    assert (said["listenPort"], said["bindAddress"]) == ("20000", "127.0.0.1")


# ---- Ports and links ----


def all_ports(ports: GroupPorts) -> list[int]:
    found = [ports.name_server]
    for number in range(1, ports.controllers + 1):
        own = ports.controller(number)
        found += [own.remoting, own.raft]
    for number in range(1, ports.brokers + 1):
        each = ports.broker(number)
        found += [each.remoting, each.remoting - 2, each.ha]
        found += [each.from_controllers, each.to_name_server, *each.to_controller.values()]
        found += [*each.remoting_from.values(), *each.ha_from.values(), *each.fast_from.values()]
    return found


@pytest.mark.parametrize(("brokers", "controllers"), [(1, 1), (3, 1), (2, 3), (5, 3)])
def test_ports_are_distinct_and_side_by_side(brokers: int, controllers: int) -> None:
    ports = GroupPorts(first=20000, brokers=brokers, controllers=controllers)
    found = all_ports(ports)
    assert sorted(found) == list(range(20000, 20000 + ports.count))


def test_ports_have_five_digits_and_are_free() -> None:
    taken = {20005, 30000}
    draws = iter([20000, 30000, 25000])
    ports = choose_ports(3, 1, free=lambda port: port not in taken, draw=lambda *_: next(draws))
    assert ports.first == 25000
    draws = iter([20000, 21000])
    ports = choose_ports(
        3, 1, free=lambda _: True, draw=lambda *_: next(draws), suit=lambda one: one.first > 20000
    )
    assert ports.first == 21000
    for ports in (choose_ports(3, 3) for _ in range(5)):
        assert {len(str(port)) for port in all_ports(ports)} == {5}
        assert all(map(is_free, all_ports(ports)))
    with pytest.raises(PeerError, match="no 39 free ports"):
        choose_ports(3, 1, free=lambda _: False)


def rewritten(rewrites: Sequence[Rewrite]) -> dict[str, str]:
    return {one.old.decode(): one.new.decode() for one in rewrites}


def test_each_pair_of_nodes_has_its_link() -> None:
    ports = GroupPorts(first=20000, brokers=2, controllers=3)
    links = {link.name: link for link in planned_links(ports)}
    assert [*links] == [
        *("ns.b1", "c1.b1", "c2.b1", "c3.b1", "to.b2.b1", "fast.b2.b1", "ha.b2.b1", "to.b1.c"),
        *("ns.b2", "c1.b2", "c2.b2", "c3.b2", "to.b1.b2", "fast.b1.b2", "ha.b1.b2", "to.b2.c"),
    ]
    first, second = ports.broker(1), ports.broker(2)
    assert (links["c3.b2"].listen, links["c3.b2"].target) == (
        second.to_controller[3],
        ports.controller(3).remoting,
    )
    assert (links["ha.b1.b2"].listen, links["ha.b1.b2"].target) == (first.ha_from[2], first.ha)
    fast = links["fast.b1.b2"]
    assert (fast.listen, fast.target) == (first.remoting_from[2] - 2, first.remoting - 2)
    assert (links["ha.b1.b2"].callee, links["ha.b1.b2"].caller) == ("b1", "b2")
    assert links["ha.b1.b2"].options == LinkOptions()


def test_what_leads_past_the_links_is_rewritten() -> None:
    ports = GroupPorts(first=20000, brokers=2, controllers=2)
    links = {link.name: link.options for link in planned_links(ports)}
    first, second = ports.broker(1), ports.broker(2)
    here = {
        address(ports.controller(of).remoting): address(second.to_controller[of]) for of in (1, 2)
    }
    known = {address(first.from_controllers): address(first.remoting_from[2])}
    of_replication = {address(first.ha): address(first.ha_from[2])}
    asked = links["c1.b2"]
    assert rewritten(asked.to_server) == {
        address(second.remoting): address(second.from_controllers)
    }
    assert rewritten(asked.to_client) == here | known
    assert rewritten(links["to.b2.c"].to_server) == known
    assert rewritten(links["to.b1.b2"].to_client) == of_replication
    direct = {address(first.remoting): address(first.remoting_from[2])}
    assert rewritten(links["ns.b2"].to_client) == of_replication | direct
    assert rewritten(links["ns.b2"].to_server) == {}


def test_every_address_of_a_node_has_its_name() -> None:
    ports = GroupPorts(first=20000, brokers=2, controllers=1)
    names = dict(names_of(ports))
    own = ports.broker(2)
    reached = (
        *(own.remoting, own.ha, own.from_controllers),
        *(own.remoting_from[1], own.ha_from[1], own.fast_from[1]),
    )
    for port in reached:
        assert names[address(port)] == "b2"
    for port in (ports.controller(1).remoting, own.to_controller[1]):
        assert names[address(port)] == "c1"
    assert len(names) == 2 + 2 * len(reached) + 2
    assert names_file(names_of(ports)).splitlines()[0] == "127.0.0.1:20001=c1"
    with pytest.raises(ValueError, match="of two nodes"):
        names_file([("a:1", "b1"), ("a:1", "b2")])


# ---- Command lines ----


def program(agent: AgentOptions | None) -> list[str]:
    return JavaProgram(
        java=Path("jdk/bin/java"),
        main="a.Main",
        arguments=["-c", Path("node.conf")],
        classpath=[Path("ours.jar"), Path("lib")],
        home=Path("run/b1"),
        logback=Path("logback.xml"),
        name_server="127.0.0.1:20000",
        agent=agent,
    ).command()


def test_a_jvm_has_nothing_outside_of_the_run() -> None:
    words = program(None)
    assert words[0] == "jdk/bin/java"
    assert words[-5:] == ["-cp", "ours.jar:lib/*", "a.Main", "-c", "node.conf"]
    assert "-Duser.home=run/b1" in words
    assert "-Drocketmq.namesrv.addr=127.0.0.1:20000" in words
    assert not any(word.startswith("-javaagent") for word in words)


def test_an_agent_is_told_who_it_watches() -> None:
    options = AgentOptions(
        jar=Path("agent.jar"),
        records=Path("r/b1.records.jsonl"),
        node="b1",
        incarnation=2,
        names=Path("names"),
        gates=Path("gates/b1"),
    )
    said = (
        "-javaagent:agent.jar=records=r/b1.records.jsonl,node=b1,incarnation=2,names=names,"
        "gates=gates/b1"
    )
    assert said in program(options)
    assert said + ",kind=consumer" in program(replace(options, is_consumer=True))
    with pytest.raises(PeerError, match="no path with a comma"):
        AgentOptions(
            jar=Path("agent.jar"),
            records=Path("a,b"),
            node="b1",
            incarnation=1,
            names=Path("names"),
            gates=Path("gates/b1"),
        ).argument()


def test_logs_go_to_the_output() -> None:
    assert 'level="ERROR"><appender-ref ref="OUT"' in logback("ERROR")
    assert "ConsoleAppender" in logback("INFO")
    assert "FileAppender" not in logback("INFO")

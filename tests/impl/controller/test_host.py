"""The host of a controller: its effects leave through ports, in their order, and once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import pytest

from rocketha.controller.applied import BrokerEvicted, ControllerEvent, MasterElected
from rocketha.controller.dispatch import ControllerOptions
from rocketha.controller.entry import ChannelClosed, Entry, InactiveScanned, Started
from rocketha.controller.host import ControllerHost, ControllerPorts
from rocketha.controller.node import ControllerNode
from rocketha.controller.state import NO_CHANNEL
from rocketha.formats.controller_request_codec import pull_role_changed, push_request
from rocketha.formats.controller_requests import ControllerRequest, ElectMaster, Heartbeat
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import BrokerId, ConnectionId, TimestampMs
from tests.impl.controller.scene import CLUSTER, METADATA, with_master

NAME: Final = "broker-a"


@dataclass
class World:
    """Writes down all that a host calls."""

    shows_ms: int = 50_000
    calls: list[tuple[object, ...]] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)

    def now_ms(self) -> TimestampMs:
        return TimestampMs(self.shows_ms)

    def close(self, channel: ConnectionId, *, reason: str) -> None:
        self.calls.append(("close", channel, reason))

    def answer(self, channel: ConnectionId, data: bytes) -> None:
        del data
        self.calls.append(("answer", channel))

    def notify(self, address: str, data: bytes) -> None:
        pulled = pull_command(data)
        assert pulled is not None
        self.calls.append(("notify", address, pull_role_changed(pulled[0]).master_broker_id))

    def scan_soon(self) -> None:
        self.calls.append(("scan soon",))

    def applied(self, entry: Entry, events: tuple[ControllerEvent, ...]) -> None:
        self.calls.append(("applied", *(type(event) for event in events)))
        self.entries.append(entry)


def a_host(*, unclean: bool = False) -> tuple[ControllerHost, World, MemoryDisk]:
    """Make a controller that is up; of two brokers the first is master, nobody was heard of."""
    disk, world = MemoryDisk(), World()
    options = ControllerOptions(metadata=METADATA, elect_unclean=unclean)
    node, _ = ControllerNode.open(disk, options)
    for entry in with_master(1, 2).entries:
        node.log.propose(entry)
    ports = ControllerPorts(clock=world, channels=world, timer=world, recorder=world)
    host = ControllerHost(disk, options, ports)
    host.start()
    world.calls.clear()
    return host, world, disk


def frame(request: ControllerRequest) -> bytes:
    return push_command(push_request(request, opaque=1))


def heartbeat(broker: int) -> bytes:
    return frame(
        Heartbeat(
            cluster_name=CLUSTER,
            broker_name=NAME,
            broker_address=f"h{broker}:1",
            broker_id=BrokerId(broker),
        )
    )


def test_it_starts_hears_scans_and_goes_on_from_the_disk() -> None:
    host, world, disk = a_host()
    assert [entry.change for entry in world.entries] == [Started()]

    world.shows_ms = 59_000
    host.received(ConnectionId(5), heartbeat(2))
    assert ("answer", 5) in world.calls
    world.shows_ms = 61_000
    host.scan()
    assert host.node.state.groups[NAME].master == 2
    world.shows_ms += 1
    host.channel_closed(ConnectionId(5))

    assert not host.node.state.groups[NAME].is_alive(BrokerId(2), TimestampMs(61_001))
    stamps = [(entry.at_ms, entry.channel) for entry in world.entries]
    assert stamps == [(50_000, NO_CHANNEL), (59_000, 5), (61_000, NO_CHANNEL), (61_001, 5)]
    assert world.entries[2].change == InactiveScanned()
    assert world.entries[3].change == ChannelClosed()
    again, _ = ControllerNode.open(disk, ControllerOptions(metadata=METADATA))
    assert again.state == host.node.state


def test_effects_come_in_their_order_the_answer_last_and_the_entry_is_recorded() -> None:
    host, world, _ = a_host()
    host.received(ConnectionId(4), heartbeat(1))
    host.received(ConnectionId(5), heartbeat(2))
    world.calls.clear()

    elect = ElectMaster(broker_name=NAME, broker_id=BrokerId(2), designate_elect=True)
    host.received(ConnectionId(9), frame(elect))
    assert world.calls == [
        ("notify", "h1:1", 2),
        ("notify", "h2:1", 2),
        ("answer", 9),
        ("applied", MasterElected),
    ]

    world.calls.clear()
    host.channel_closed(ConnectionId(5))  # it was the master's
    assert world.calls == [("scan soon",), ("applied", BrokerEvicted)]

    world.calls.clear()
    world.shows_ms += 60_000  # the other one is silent for too long
    host.scan()
    assert ("close", 4, "no heartbeat came in time") in world.calls
    assert world.calls[-1][0] == "applied"


def test_who_sends_nonsense_loses_the_channel_and_nothing_is_logged() -> None:
    host, world, _ = a_host()
    host.received(ConnectionId(3), b"nonsense")
    reason = "frame length at byte 0: is 1852796531, over 16777212"
    assert world.calls == [("close", 3, reason)]
    assert len(world.entries) == 1


@pytest.mark.parametrize("unclean", [False, True])
def test_only_a_scan_says_whether_a_broker_that_lacks_messages_may_be_elected(
    unclean: bool,
) -> None:
    host, world, _ = a_host(unclean=unclean)
    host.channel_closed(ConnectionId(1))
    host.scan()
    assert [entry.elect_unclean for entry in world.entries] == [False, False, unclean]


def test_a_controller_that_is_down_hears_nothing() -> None:
    host, world, _ = a_host()
    before = host.node.state
    host.stop()
    host.received(ConnectionId(5), heartbeat(2))
    host.channel_closed(ConnectionId(5))
    host.scan()
    assert world.calls == []
    assert host.node.state == before

    host.start()
    assert [entry.change for entry in world.entries] == [Started(), Started()]
    with pytest.raises(AssertionError, match="is up"):
        host.start()

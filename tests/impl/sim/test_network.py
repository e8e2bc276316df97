"""Simulated connections keep the order of bytes, and lose what a fault takes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from rocketha.sim.engine.faults import NO_FAULTS, Fault, FaultCounts, FaultPlan
from rocketha.sim.engine.network import Network
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.types import BrokerId, ConnectionId

CLIENT, SERVER = BrokerId(1), BrokerId(2)
QUIET = FaultPlan(
    faults=NO_FAULTS,
    mean_gap_ms=(),
    delay_percent=0,
    delay_max_ms=1,
    fragment_percent=0,
    stale_route_percent=0,
)
SEEDS = range(40)


@dataclass
class Ends:
    """Both ends of every connection: what they heard, in order."""

    listening: bool = True
    heard: list[tuple[str, BrokerId]] = field(default_factory=list)
    bytes_at: dict[BrokerId, bytes] = field(default_factory=lambda: {CLIENT: b"", SERVER: b""})

    def accepted(self, conn: ConnectionId, server: BrokerId) -> bool:  # noqa: ARG002
        self.heard.append(("accepted", server))
        return self.listening

    def connected(self, conn: ConnectionId, client: BrokerId) -> None:  # noqa: ARG002
        self.heard.append(("connected", client))

    def received(self, conn: ConnectionId, broker: BrokerId, data: bytes) -> None:  # noqa: ARG002
        self.bytes_at[broker] += data

    def lost(self, conn: ConnectionId, broker: BrokerId) -> None:  # noqa: ARG002
        self.heard.append(("lost", broker))


class World:
    """A network of two brokers with one connection."""

    def __init__(
        self,
        seed: int = 0,
        *,
        plan: FaultPlan = QUIET,
        listening: bool = True,
        up: bool = True,
        servers_linger: bool = True,
    ) -> None:
        self.ends = Ends(listening=listening)
        self.scheduler = Scheduler()
        self.counts = FaultCounts()
        self.net = Network(
            self.scheduler,
            PerPurposeStreams(seed),
            counts=self.counts,
            plan=plan,
            servers_linger=servers_linger,
        )
        self.net.attach(self.ends)
        self.conn = self.net.connect(CLIENT, SERVER)
        if up:
            self.run()

    def run(self, until_ms: int = 100_000) -> None:
        while self.scheduler.run_next(until_ms):
            pass


def test_a_connection_is_accepted_and_then_stands() -> None:
    world = World()

    assert world.ends.heard == [("accepted", SERVER), ("connected", CLIENT)]


def test_a_client_of_a_broker_that_is_down_hears_so() -> None:
    world = World(listening=False)

    assert world.ends.heard == [("accepted", SERVER), ("lost", CLIENT)]
    assert world.net.find(world.conn) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_delays_and_fragments_keep_every_byte_in_its_order(seed: int) -> None:
    plan = replace(QUIET, delay_percent=50, delay_max_ms=500, fragment_percent=100)
    world = World(seed, plan=plan)
    packets = [bytes([65 + i]) * (1 + 7 * i) for i in range(9)]
    for packet in packets:
        world.net.send(world.conn, SERVER, packet)
        world.net.send(world.conn, CLIENT, packet[::-1])

    world.run()

    assert world.ends.bytes_at == {CLIENT: b"".join(packets), SERVER: b"".join(packets)}
    struck = world.counts.by_name()
    assert struck[Fault.FRAGMENTATION] == 18
    assert struck[Fault.DELAY] > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_reset_loses_a_suffix_and_the_server_hears_of_it_last(seed: int) -> None:
    world = World(seed)
    packets = b"".join(bytes([65 + i]) * 10 for i in range(9))
    for i in range(9):
        world.net.send(world.conn, SERVER, packets[10 * i : 10 * i + 10])
    connection = world.net.find(world.conn)
    assert connection is not None

    world.net.reset(connection)
    world.net.send(world.conn, SERVER, b"too late")
    world.run()

    arrived = world.ends.bytes_at[CLIENT]
    assert packets.startswith(arrived)
    assert world.ends.heard[2:] == [("lost", CLIENT), ("lost", SERVER)]
    assert world.net.connections() == []


def test_resets_lose_everything_nothing_of_it_or_a_part() -> None:
    sizes: set[int] = set()
    for seed in SEEDS:
        world = World(seed)
        for _ in range(3):
            world.net.send(world.conn, SERVER, b"0123456789")
        connection = world.net.find(world.conn)
        assert connection is not None
        world.net.reset(connection)
        world.run()
        sizes.add(len(world.ends.bytes_at[CLIENT]))

    assert 0 in sizes
    assert any(size % 10 for size in sizes)
    assert max(sizes) > 10


@pytest.mark.parametrize("lingers", [True, False])
def test_what_a_closed_end_has_sent_arrives_only_if_it_lingers(lingers: bool) -> None:
    world = World()
    world.net.send(world.conn, SERVER, b"last words")
    world.net.send(world.conn, CLIENT, b"an answer to nobody")

    world.net.close(world.conn, SERVER, lingers=lingers)
    world.run()

    heard = world.ends.bytes_at[CLIENT]
    assert heard == b"last words" if lingers else heard != b"last words"
    assert world.ends.bytes_at[SERVER] == b""
    assert world.ends.heard[2:] == [("lost", CLIENT)]
    assert world.net.connections() == []


def test_a_client_may_give_up_before_it_is_accepted() -> None:
    world = World(up=False)

    world.net.close(world.conn, CLIENT, lingers=True)
    world.run()

    assert world.ends.heard == [("accepted", SERVER), ("lost", SERVER)]
    assert world.net.connections() == []


def test_a_partition_stalls_one_direction_until_it_ends() -> None:
    world = World()
    world.net.block(SERVER, CLIENT)
    world.net.send(world.conn, SERVER, b"down")
    world.net.send(world.conn, CLIENT, b"up")

    world.run()
    assert world.ends.bytes_at == {CLIENT: b"", SERVER: b"up"}

    world.net.heal()
    assert world.ends.bytes_at == {CLIENT: b"down", SERVER: b"up"}


def test_no_connection_is_made_through_a_partition() -> None:
    world = World(up=False)
    world.net.block(CLIENT, SERVER)
    world.run()
    assert world.ends.heard == []

    world.net.unblock(CLIENT, SERVER)
    world.run()
    assert world.ends.heard == [("accepted", SERVER), ("connected", CLIENT)]


@pytest.mark.parametrize("stopped", [CLIENT, SERVER])
def test_the_peer_of_a_broker_that_stops_hears_of_it(stopped: BrokerId) -> None:
    world = World()

    world.net.drop_broker(stopped)
    world.run()

    [other] = {CLIENT, SERVER} - {stopped}
    assert world.ends.heard[2:] == [("lost", other)]
    assert world.net.connections() == []


@pytest.mark.parametrize("broker", [CLIENT, SERVER])
def test_where_servers_do_not_linger_only_what_a_dead_client_sent_may_arrive(
    broker: BrokerId,
) -> None:
    arrived = set()
    for seed in SEEDS:
        world = World(seed, servers_linger=False)
        for _ in range(5):
            world.net.send(world.conn, broker, b"packet")
        world.net.drop_broker(broker)
        world.run()
        other = CLIENT if broker == SERVER else SERVER
        arrived.add(len(world.ends.bytes_at[other]) // len(b"packet"))
    assert arrived == ({0} if broker == SERVER else {0, 1, 2, 3, 4, 5})

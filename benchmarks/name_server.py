"""A name server with many brokers and topics: what a request costs, and what it keeps.

`python -m benchmarks.name_server BROKERS TOPICS`: groups of two brokers, and topics spread over
them. The baseline is the same name server with a hundredth of both.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Final

from rocketha.formats.name_server_codec import push_name_server_request
from rocketha.formats.name_server_requests import (
    BrokerHeartbeat,
    DataVersion,
    GetRouteInfo,
    NameServerRequest,
    RegisterBroker,
    TopicConfig,
)
from rocketha.nameserver.core import NameServerCore
from rocketha.nameserver.state import NameServerOptions, NameServerState
from rocketha.runtime.events import RequestArrived
from rocketha.types import BrokerId, ConnectionId, RequestId, TimestampMs

BROKERS: Final = 10_000
TOPICS: Final = 100_000
_SMALLER: Final = 100
_TIMES: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Microseconds of CPU, and bytes."""

    registers: float
    route: float
    heartbeat: float
    kept: int


class Server:
    """A name server without a network: frames in, answers thrown away."""

    def __init__(self) -> None:
        self.state = NameServerState(options=NameServerOptions(support_acting_master=True))

    def ask(self, request: NameServerRequest, conn: int) -> float:
        """Return the seconds of CPU of a request whose frame is read and answered."""
        command = push_name_server_request(request, opaque=1)
        event = RequestArrived(request=RequestId(1), command=command, conn=ConnectionId(conn))
        begin = process_time()
        self.state = NameServerCore().step(self.state, event, now_ms=TimestampMs(0)).state
        return process_time() - begin


def registration(broker: int, topics: Sequence[str]) -> RegisterBroker:
    """Return what a broker says: two of them are a group, which has these topics."""
    return RegisterBroker(
        cluster_name="cluster",
        broker_name=f"broker-{broker // 2}",
        broker_address=f"10.0.{broker // 250}.{broker % 250}:10911",
        broker_id=BrokerId(broker % 2),
        ha_server_address=f"10.0.{broker // 250}.{broker % 250}:10912",
        enable_acting_master=True,
        data_version=DataVersion(1, 1, TimestampMs(1)),
        topic_configs={
            name: TopicConfig(topic_name=name, read_queue_nums=8, write_queue_nums=8, perm=6)
            for name in topics
        },
    )


def measure(brokers: int, topics: int) -> Measured:
    """Let all brokers register, and ask some more."""
    of_group = max(2, 2 * topics // brokers)
    server = Server()
    tracemalloc.start()
    for broker in range(brokers):
        group = broker // 2
        names = [f"topic-{number}" for number in range(group * of_group, (group + 1) * of_group)]
        server.ask(registration(broker, names), broker)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(len(group.brokers) for group in server.state.groups.values()) == brokers

    def micros(make: Callable[[int], NameServerRequest]) -> float:
        each = [server.ask(make(at * brokers // _TIMES), 0) for at in range(_TIMES)]
        return 1e6 * median(each)

    def again(broker: int) -> NameServerRequest:
        group = broker // 2
        names = [f"topic-{number}" for number in range(group * of_group, (group + 1) * of_group)]
        return registration(broker, names)

    def alive(broker: int) -> NameServerRequest:
        one = again(broker)
        assert isinstance(one, RegisterBroker)
        return BrokerHeartbeat(
            cluster_name=one.cluster_name,
            broker_name=one.broker_name,
            broker_address=one.broker_address,
        )

    return Measured(
        registers=micros(again),
        route=micros(lambda broker: GetRouteInfo(topic=f"topic-{broker // 2 * of_group}")),
        heartbeat=micros(alive),
        kept=kept,
    )


def main(brokers: int = BROKERS, topics: int = TOPICS) -> None:
    """Print what requests cost, and the ratio to a name server with a hundredth of all."""
    few = measure(brokers // _SMALLER, topics // _SMALLER)
    many = measure(brokers, topics)
    print(f"name server with {brokers:,} brokers and {topics:,} topics: {many.kept / 1e6:.0f} MB")
    print(f"baseline with {brokers // _SMALLER:,} and {topics // _SMALLER:,}")
    for name in ("registers", "route", "heartbeat"):
        most, least = getattr(many, name), getattr(few, name)
        print(
            f"  {name:10} {most:8.0f} µs of CPU, baseline {least:6.0f} µs: ratio {most / least:.1f}"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""Groups that say and store as much as they can in a short time, for `rocketmq_peer.interop`.

| kind          | processes                   | what befalls them                                |
|---------------|-----------------------------|--------------------------------------------------|
| `failover`    | brokers, 1 controller       | the master is killed and comes back              |
| `controllers` | brokers, 3 controllers      | so is the controller that leads, then the master |
| `legacy`      | SYNC_MASTER, SLAVE, no more | a slave is killed and comes back                 |

Clients send messages of sizes from a few bytes to some KiB, before and after; together they fill
more than one segment. Everything that passes the proxies is captured, and brokers tell more often
than usual how they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Final

from rocketha.formats.remoting_command import Serialization
from rocketmq_peer.client import Client
from rocketmq_peer.configuration import BrokerTiming, ControllerKind
from rocketmq_peer.errors import PeerError, ProcessError
from rocketmq_peer.group import Group, GroupOptions
from rocketmq_peer.group_options import Replication
from rocketmq_peer.jars import PeerJars

__all__ = ["InteropKind", "run_interop_group"]

_TIMING: Final = BrokerTiming(heartbeat_ms=250, metadata_ms=500)
_TOPIC: Final = "interop"
_SIZES: Final = (1, 64, 700, 5_000, 60_000)
_MESSAGES: Final = 50
_BROKERS_LEAST: Final = 2
_LATE_S: Final = 60.0
_PACE_S: Final = 0.2
"""Between messages that fail: some do while a client does not know the master yet."""


class InteropKind(Enum):
    """Which processes there are, and what befalls them."""

    FAILOVER = "failover"
    CONTROLLERS = "controllers"
    LEGACY = "legacy"


def run_interop_group(
    folder: Path,
    jars: PeerJars,
    kind: InteropKind,
    *,
    brokers: int = 2,
    headers: Serialization = Serialization.JSON,
    controller_kind: ControllerKind = ControllerKind.DLEDGER,
    quiet_s: float = 10.0,
) -> None:
    """Run a group in a new folder to its end, with 2 brokers or more.

    Between what befalls it, it is left alone for `quiet_s` seconds. With binary headers records
    have the reserved checksum, too.

    Raises: PeerError, OSError
    """
    if brokers < _BROKERS_LEAST:
        raise PeerError(f"{brokers} brokers: whoever is killed must leave one that goes on")
    binary = headers is Serialization.ROCKETMQ
    options = GroupOptions(
        brokers=brokers,
        controllers=3 if kind is InteropKind.CONTROLLERS else 1,
        controller_kind=controller_kind,
        replication=(
            Replication.SYNC_MASTER if kind is InteropKind.LEGACY else Replication.CONTROLLERS
        ),
        timing=_TIMING,
        more_of_brokers={"enabledAppendPropCRC": True} if binary else {},
        headers=headers,
        capture=True,
        agent=False,
    )
    with Group(folder, jars, options) as group:
        _COURSES[kind](group, quiet_s)


def _failover(group: Group, quiet_s: float) -> None:
    group.start()
    client, number = _begun(group, quiet_s)
    _replace_master(group, client, number, quiet_s)


def _controllers(group: Group, quiet_s: float) -> None:
    group.start()
    client, number = _begun(group, quiet_s)
    leader = group.wait_for(group.leader, "a controller led", _LATE_S)
    group.kill(leader)
    group.wait_for(lambda: _living_leader(group), "another controller led", _LATE_S)
    time.sleep(quiet_s)
    group.start_controller(leader)
    _replace_master(group, client, number, quiet_s)


def _legacy(group: Group, quiet_s: float) -> None:
    group.start()
    client = group.client()
    number = _send(client, 0)
    time.sleep(quiet_s)
    group.kill("b2")
    number = _send(client, number)
    group.start_broker("b2")
    _wait_copied(group)
    _send(client, number)
    _wait_copied(group)
    time.sleep(quiet_s)


def _begun(group: Group, quiet_s: float) -> tuple[Client, int]:
    group.wait_for_master()
    group.wait_for_sync_state_set(*group.brokers)
    client = group.client()
    number = _send(client, 0)
    time.sleep(quiet_s)
    return client, number


def _replace_master(group: Group, client: Client, number: int, quiet_s: float) -> None:
    master = group.wait_for_master()
    group.kill(master)
    group.wait_for_master()
    number = _send(client, number)
    group.start_broker(master)
    group.wait_for_sync_state_set(*group.brokers)
    _send(client, number)
    time.sleep(quiet_s)


def _living_leader(group: Group) -> str | None:
    name = group.leader()
    return name if name in group.running else None


def _wait_copied(group: Group) -> None:
    """Wait until all logs have the same bytes. Raises: ProcessError"""

    def copied() -> bool | None:
        logs = [group.store_of(name) / "commitlog" for name in group.brokers]
        found = [[path.read_bytes() for path in sorted(log.glob("*"))] for log in logs]
        return True if all(each == found[0] for each in found) else None

    group.wait_for(copied, "the slaves had all that their master has", _LATE_S)


def _send(client: Client, number: int) -> int:
    """Send messages until enough were acknowledged; return the next message's number.

    Raises: ProcessError
    """
    acknowledged = 0
    deadline = time.monotonic() + _LATE_S
    while acknowledged < _MESSAGES and time.monotonic() < deadline:
        answer = client.send(_TOPIC, f"m{number}", size=_SIZES[number % len(_SIZES)])
        number += 1
        if answer.status == "ERROR":
            time.sleep(_PACE_S)
        else:
            acknowledged += 1
    if not acknowledged:
        raise ProcessError(f"no message was acknowledged in {_LATE_S:.0f} s")
    return number


_COURSES: Final[Mapping[InteropKind, Callable[[Group, float], None]]] = {
    InteropKind.FAILOVER: _failover,
    InteropKind.CONTROLLERS: _controllers,
    InteropKind.LEGACY: _legacy,
}

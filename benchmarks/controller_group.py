"""How long a new leader of a controller group takes over 100,000 broker groups.

What a leader does between its election and its first answer is to apply the entry `Started`, which
goes over all groups; what a follower does that was away is to load a snapshot. Both are compared
with applying one entry to a state of one group, the baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter
from typing import Final

from rocketha.controller.dledger_controller import DLedgerControllerMachine
from rocketha.controller.entry import (
    Change,
    Entry,
    InactiveScanned,
    Started,
    decode_entry,
    encode_entry,
)
from rocketha.controller.state_machine import ControllerStateMachine
from rocketha.formats.controller_requests import (
    ApplyBrokerId,
    Heartbeat,
    Incarnation,
    RegisterBroker,
)
from rocketha.types import BrokerId, ConnectionId, TimestampMs

__all__ = ["main"]

GROUPS: Final = 100_000
_CLUSTER: Final = "c"
_AGAIN: Final = 3


def _entry(at_ms: int, change: Change, channel: int) -> Entry:
    return Entry(at_ms=TimestampMs(at_ms), change=change, channel=ConnectionId(channel))


def _entries(groups: int) -> Iterator[Entry]:
    """Yield what makes so many groups of one broker each, all alive."""
    for number in range(groups):
        name, channel, broker = f"broker-{number}", number + 1, BrokerId(1)
        applied = ApplyBrokerId(
            cluster_name=_CLUSTER,
            broker_name=name,
            applied_broker_id=broker,
            register_check_code=f"b{number};1",
        )
        registered = RegisterBroker(
            cluster_name=_CLUSTER,
            broker_name=name,
            broker_id=broker,
            broker_address=f"b{number}",
            incarnation=Incarnation(0),
        )
        beat = Heartbeat(
            cluster_name=_CLUSTER,
            broker_name=name,
            broker_address=f"b{number}",
            broker_id=broker,
            timeout_ms=10_000_000,
            incarnation=Incarnation(0),
        )
        for change in (applied, registered, beat):
            yield _entry(1_000, change, channel)


def _seconds(act: Callable[[], object]) -> float:
    found = []
    for _ in range(_AGAIN):
        begun = perf_counter()
        act()
        found.append(perf_counter() - begun)
    return median(found)


def main() -> None:
    """Print seconds, and how many entries of one group take as long."""
    small = ControllerStateMachine()
    for entry in _entries(1):
        small.on_apply(entry)
    beat = encode_entry(list(_entries(1))[-1])
    count = 2_000

    def one_group() -> None:
        for _ in range(count):
            small.on_apply(decode_entry(beat))

    baseline = _seconds(one_group) / count
    print(f"baseline, one heartbeat of one group applied: {baseline * 1e6:.1f} us")
    machine = ControllerStateMachine()
    begun = perf_counter()
    for number, entry in enumerate(_entries(GROUPS)):
        machine.on_apply(entry)
        if number % 100_000 == 99_999:
            print(f"  {number + 1:,} entries applied ({perf_counter() - begun:.0f} s)", flush=True)
    at = machine.state.clock_ms
    state = machine.state
    service = DLedgerControllerMachine(machine)

    def apply(change: Change) -> None:
        machine.on_snapshot_load(state)
        machine.on_apply(_entry(at + 1, change, 0))

    data = service.on_snapshot_save()
    rows = (
        ("a leader begins to serve (Started)", lambda: apply(Started())),
        ("a scan that finds nothing (InactiveScanned)", lambda: apply(InactiveScanned())),
        (f"a snapshot is saved ({len(data) / 1e6:.0f} MB)", service.on_snapshot_save),
        ("a snapshot is loaded", lambda: service.on_snapshot_load(data)),
    )
    print(f"{GROUPS:,} broker groups, one broker each, alive; medians of {_AGAIN}")
    for what, act in rows:
        seconds = _seconds(act)
        print(f"  {what}: {seconds:.2f} s, {seconds / baseline:,.0f} times the baseline")


if __name__ == "__main__":
    main()

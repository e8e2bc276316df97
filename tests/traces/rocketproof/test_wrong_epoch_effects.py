"""Brokers that forget to forget, take what nobody sends, or do what is due too often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

import pytest

from rocketha.ha.connections import ReplicationCore
from rocketha.ha.effects import ActionName
from rocketha.ha.events import MasterAddressLearnt, MessagePut
from rocketha.ha.state import BEGINNING
from rocketha.recording.node_log import NodeLines
from rocketha.runtime.effects import CloseConnection, SendPacket, TruncateLog
from rocketha.runtime.events import PacketRefused, PeerConnected, TimerFired
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED
from rocketproof.protocols import PROTOCOLS
from rocketproof.schedule import Scheduled
from tests.traces.rocketproof.recorded_runs import judged
from tlatrace.judgement.verdict import kind

PROTOCOL: Final = "epoch_truncation"

Change = Callable[[Any, Any, Any], Any]
"""State before, event and step -> another step."""


def client_kept(state: Any, event: Any, done: Any) -> Any:
    """Close the connection to the former master, and go on with it."""
    del event
    became = done.action is not None and done.action.name is ActionName.BECOME_SLAVE
    kept = replace(done.state, client=state.client) if became else done.state
    return replace(done, state=kept)


def servers_kept(state: Any, event: Any, done: Any) -> Any:
    """Close the connections of slaves, and go on with them."""
    del event
    became = done.action is not None and done.action.name is ActionName.BECOME_SLAVE
    kept = replace(done.state, servers=state.servers) if became else done.state
    return replace(done, state=kept)


def refused_kept(state: Any, event: Any, done: Any) -> Any:
    """Forget a connection over which garbage came, and leave it open."""
    del state
    effects = () if isinstance(event, PacketRefused) else done.effects
    return replace(done, effects=effects)


def report_forgotten(state: Any, event: Any, done: Any) -> Any:
    """Acknowledge, and remember an older acknowledgement."""
    del event
    before, after = state.client, done.state.client
    if before is None or after is None or before.id != after.id:
        return done
    client = replace(after, reported=before.reported)
    return replace(done, state=replace(done.state, client=client))


def unwanted_left_open(state: Any, event: Any, done: Any) -> Any:
    """Do not close a connection that is not wanted any more."""
    del state
    is_new = isinstance(event, PeerConnected)
    kept = [e for e in done.effects if not (is_new and isinstance(e, CloseConnection))]
    return replace(done, effects=tuple(kept))


def beats_early(state: Any, event: Any, done: Any) -> Any:
    """Forget when something was said last, unless that was the first thing."""
    del event
    before, after = state.client, done.state.client
    if before is None or after is None or before.id != after.id:
        return done
    client = replace(after, last_write_ms=before.last_write_ms)
    return replace(done, state=replace(done.state, client=client))


def another_name(state: Any, event: Any, done: Any) -> Any:
    """Introduce oneself as somebody else."""
    del state
    if not isinstance(event, PeerConnected):
        return done
    sent = [
        replace(e, data=e.data[:15] + b"\x07") if isinstance(e, SendPacket) else e
        for e in done.effects
    ]
    return replace(done, effects=tuple(sent))


def master_left(state: Any, event: Any, done: Any) -> Any:
    """Close the connection to a master that is elected again."""
    del event
    if done.action is None or done.action.name is not ActionName.LEARN_EPOCH:
        return done
    closed = CloseConnection(conn=state.client.id, reason="another epoch")
    return replace(done, state=replace(done.state, client=None), effects=(closed,))


def impatient(state: Any, event: Any, done: Any) -> Any:
    """Connect at once when a connection was lost."""
    del event
    is_lost = state.client is not None and done.state.client is None
    at_once = replace(done.state, connect_at_ms=BEGINNING) if is_lost else done.state
    return replace(done, state=at_once)


def address_ignored(state: Any, event: Any, done: Any) -> Any:
    """Believe the controller only."""
    return replace(done, state=state) if isinstance(event, MasterAddressLearnt) else done


def beats_always(state: Any, event: Any, done: Any) -> Any:
    """Forget when something was said to a slave last."""
    del state, event
    ends = {c: replace(e, last_write_ms=BEGINNING - 10**6) for c, e in done.state.servers.items()}
    return replace(done, state=replace(done.state, servers=MappingProxyType(ends)))


def put_forgotten(state: Any, event: Any, done: Any) -> Any:
    """Append no message."""
    return replace(done, state=state, effects=(), action=None) if _is_put(event) else done


def slave_closes(state: Any, event: Any, done: Any) -> Any:
    """Close the connection to a master at the first timer."""
    client = done.state.client
    if not isinstance(event, TimerFired) or client is None or client is not state.client:
        return done
    left = replace(done.state, client=None)
    closed = CloseConnection(conn=client.id, reason="no reason")
    return replace(done, state=left, effects=(*done.effects, closed), action=None)


def master_closes(state: Any, event: Any, done: Any) -> Any:
    """Close the connections of slaves when a message comes."""
    del state
    ends = done.state.servers if _is_put(event) and done.effects else {}
    closed = [CloseConnection(conn=conn, reason="no reason") for conn in ends]
    none = MappingProxyType[Any, Any]({})
    left = replace(done.state, servers=none) if closed else done.state
    return replace(done, state=left, effects=(*done.effects, *closed))


def tail_kept(state: Any, event: Any, done: Any) -> Any:
    """Begin an epoch behind a piece of a record."""
    del state, event
    became = done.action is not None and done.action.name is ActionName.BECOME_MASTER
    kept = [e for e in done.effects if not (became and isinstance(e, TruncateLog))]
    return replace(done, effects=tuple(kept))


def _is_put(event: Any) -> bool:
    return isinstance(event, MessagePut)


WRONG: Final[list[tuple[Change, str, int]]] = [
    (client_kept, "records diverge", 4),
    (servers_kept, "records diverge", 8),
    (client_kept, "whole states diverge", 8),
    (refused_kept, "records diverge", 8),
    (refused_kept, "whole states diverge", 8),
    (report_forgotten, "records diverge", 2),
    (unwanted_left_open, "connections used", 40),
    (beats_early, "quiet senders", 8),
    (beats_early, "records diverge", 8),
    (beats_early, "whole states diverge", 8),
    (beats_always, "records diverge", 8),
    (beats_always, "whole states diverge", 8),
    (put_forgotten, "records diverge", 2),
    (put_forgotten, "whole states diverge", 2),
    (slave_closes, "records diverge", 4),
    (slave_closes, "whole states diverge", 4),
    (master_closes, "records diverge", 4),
    (master_closes, "whole states diverge", 4),
    (another_name, "handshakes true", 2),
    (tail_kept, "whole states diverge", 12),
    (master_left, "masters kept", 4),
    (impatient, "patient slaves", 4),
    (address_ignored, "addresses used", 8),
]
"""What it does wrong, what notices it, within how many seeds."""


@pytest.mark.java
@pytest.mark.parametrize(("change", "noticed_by", "seeds"), WRONG)
def test_wrong_brokers_are_noticed(
    change: Change, noticed_by: str, seeds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = ReplicationCore.step

    def wrong(self: Any, state: Any, event: Any, **named: Any) -> Any:
        return change(state, event, right(self, state, event, **named))

    monkeypatch.setattr(ReplicationCore, "step", wrong)

    found = found_in(seeds)

    assert found[noticed_by] > 0, found


@pytest.mark.java
def test_a_timer_that_fires_all_the_time_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = ReplicationCore.next_timer_ms

    def wrong(self: Any, state: Any) -> Any:
        due_ms = right(self, state)
        return None if due_ms is None else max(0, due_ms - 30)

    monkeypatch.setattr(ReplicationCore, "next_timer_ms", wrong)

    assert found_in(4)["quiet timers"] > 0


def found_in(seeds: int) -> Counter[str]:
    """Count what is said of runs."""
    plug, found = PROTOCOLS[PROTOCOL], Counter[str]()
    for seed in range(seeds):
        lines = NodeLines()
        scheduled = Scheduled(
            protocol=PROTOCOL, seed=seed, options=SimOptions(), schedule=UNRESTRICTED
        )
        run = plug.run_scheduled(scheduled, write=lines.write)
        found.update(missed.obligation for missed in run.obligations.missed)
        for source, traces in (
            ("whole states", run.traces),
            ("records", plug.traces_of_records(lines.logs())),
        ):
            found.update(f"{source} diverge" for one in judged(traces) if kind(one) == "diverges")
    return found

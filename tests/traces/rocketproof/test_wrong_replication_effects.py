"""Cores of replication whose effects are wrong, and whose words are right: what notices them.

A wrapper changes what a core does in a step, and leaves its state and its action as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

import pytest

from rocketha.formats.ha_packets import Ack, push_ack
from rocketha.formats.legacy_ha_packets import LegacyReports, feed_reports, push_report
from rocketha.ha.connections import ReplicationCore
from rocketha.legacy_ha.connections import LegacyCore
from rocketha.legacy_ha.effects import AnswerPut, LegacyActionName, PutStatus
from rocketha.legacy_ha.events import BatchReceived
from rocketha.legacy_ha.state import LegacyMaster, LegacySlave
from rocketha.runtime.effects import CloseConnection, Connect, SendPacket, TruncateLog
from rocketha.runtime.events import MessageAppended, PacketRefused, TimerFired
from rocketha.sim.engine.options import SimOptions
from rocketha.types import Offset
from rocketproof.protocols import PROTOCOLS
from tests.traces.rocketproof.recorded_runs import judged
from tlatrace.judgement.verdict import kind

LEGACY: Final = "legacy_replication"
EPOCHS: Final = "epoch_truncation"

Change = Callable[[Any, Any, Any], tuple[Any, ...]]
"""State before, event and step -> the effects in the place of its own."""


def put_in(patch: pytest.MonkeyPatch, core: type, change: Change) -> None:
    whole = core.step  # type: ignore[attr-defined]

    def step(self: Any, state: Any, event: Any, **named: Any) -> Any:
        done = whole(self, state, event, **named)
        return replace(done, effects=change(state, event, done))

    patch.setattr(core, "step", step)


def without(effect: type, *, when: Callable[[Any, Any], bool] = lambda *_: True) -> Change:
    def change(state: Any, event: Any, done: Any) -> tuple[Any, ...]:
        del state
        is_meant = when(event, done)
        return tuple(e for e in done.effects if not (is_meant and isinstance(e, effect)))

    return change


def answers_early(state: Any, event: Any, done: Any) -> tuple[Any, ...]:
    """Say PUT_OK when a message is appended, some milliseconds before slaves have it."""
    if not isinstance(event, MessageAppended) or not isinstance(state, LegacyMaster):
        return tuple(done.effects)
    waits = any(request.put == event.put for request in done.state.waiting)
    answer = AnswerPut(put=event.put, status=PutStatus.PUT_OK)
    return (*done.effects, answer) if waits else tuple(done.effects)


def reports_more(state: Any, event: Any, done: Any) -> tuple[Any, ...]:
    """Report more than there is after a batch."""
    del state
    if not isinstance(event, BatchReceived):
        return tuple(done.effects)

    def more(data: bytes) -> bytes:
        report = feed_reports(LegacyReports(), data).newest
        return push_report(Offset((report or 0) + 1000))

    return tuple(
        replace(e, data=more(e.data)) if isinstance(e, SendPacket) else e for e in done.effects
    )


def acknowledges_nothing(state: Any, event: Any, done: Any) -> tuple[Any, ...]:
    """Acknowledge offset 0 whatever was appended."""
    del state, event
    client, nothing = done.state.client, push_ack(Ack(max_phy_offset=Offset(0)))
    named = done.action is not None and done.action.name == "ReceiveTransfer"
    if client is None or not named:
        return tuple(done.effects)
    return tuple(replace(e, data=nothing) if isinstance(e, SendPacket) else e for e in done.effects)


def reports_unasked(state: Any, event: Any, done: Any) -> tuple[Any, ...]:
    """Report the log end whenever the log is flushed."""
    del event
    if not isinstance(state, LegacySlave) or state.client is None or done.action is None:
        return tuple(done.effects)
    again = SendPacket(conn=state.client.id, data=push_report(Offset(0)))
    return (*done.effects, again) if done.action.name == "Flush" else tuple(done.effects)


def is_append(event: Any, done: Any) -> bool:
    del done
    return isinstance(event, MessageAppended)


def is_refused(event: Any, done: Any) -> bool:
    del done
    return isinstance(event, PacketRefused)


def times_out(event: Any, done: Any) -> bool:
    del event
    return done.action is not None and done.action.name is LegacyActionName.PUT_TIMEOUT


def is_timer(event: Any, done: Any) -> bool:
    del done
    return isinstance(event, TimerFired)


def gives_up(event: Any, done: Any) -> bool:
    del event
    return done.action is not None and done.action.name == "Disconnect"


def verdicts(protocol: str, seeds: range) -> Iterator[tuple[str, set[str]]]:
    """Yield what a trace of each run comes to, and which obligations the run misses."""
    for seed in seeds:
        run = PROTOCOLS[protocol].run(seed, SimOptions())
        (found,) = judged(run.traces)
        yield kind(found), {missed.obligation for missed in run.obligations.missed}


WRONG: Final[list[tuple[str, type, Change, str, int]]] = [
    (LEGACY, LegacyCore, answers_early, "diverges", 3),
    (LEGACY, LegacyCore, reports_more, "diverges", 3),
    (LEGACY, LegacyCore, without(AnswerPut, when=times_out), "diverges", 8),
    (LEGACY, LegacyCore, without(CloseConnection, when=gives_up), "diverges", 8),
    (LEGACY, LegacyCore, without(CloseConnection, when=is_timer), "diverges", 8),
    (LEGACY, LegacyCore, without(SendPacket, when=is_timer), "signs of life", 3),
    (LEGACY, LegacyCore, without(Connect), "diverges", 1),
    (LEGACY, LegacyCore, without(TruncateLog), "diverges", 40),
    (LEGACY, LegacyCore, without(AnswerPut, when=is_append), "diverges", 12),
    (LEGACY, LegacyCore, without(CloseConnection, when=is_refused), "diverges", 12),
    (LEGACY, LegacyCore, reports_unasked, "diverges", 3),
    (EPOCHS, ReplicationCore, acknowledges_nothing, "diverges", 3),
    (EPOCHS, ReplicationCore, without(Connect), "diverges", 1),
    (EPOCHS, ReplicationCore, without(CloseConnection, when=gives_up), "diverges", 25),
    (
        EPOCHS,
        ReplicationCore,
        without(CloseConnection, when=is_timer),
        "silent connections closed",
        25,
    ),
]
"""Protocol, core, what it does wrong, what notices it, within how many seeds."""


@pytest.mark.java
@pytest.mark.parametrize(("protocol", "core", "change", "noticed_by", "seeds"), WRONG)
def test_wrong_effects_are_noticed(
    protocol: str,
    core: type,
    change: Change,
    noticed_by: str,
    seeds: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put_in(monkeypatch, core, change)

    found: Counter[str] = Counter()
    for verdict, missed in verdicts(protocol, range(seeds)):
        found[verdict] += 1
        found.update(missed)

    assert found[noticed_by] > 0, found

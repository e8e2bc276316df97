"""What brokers owe to clients and to their controller: one that owes it is no behaviour.

Each core leaves something undone, or says something else than there is; both specifications of a
group see it, and the action that is rejected says what it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

import pytest

from rocketha.broker import confirm, core, sync_state_set, timers
from rocketha.broker.effects import AnswerPull, AnswerPut, GroupStepped, PutStatus
from rocketha.controller import machine
from rocketha.controller.applied import ScanSoon
from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.remoting_frame import pull_command
from rocketha.runtime.effects import SendToController
from rocketha.sim.engine.options import SimOptions
from rocketproof.protocols import PROTOCOLS
from rocketproof.protocols.replica_group.owed import BrokerDurations, OwedByBroker, Shows
from tests.traces.rocketproof.recorded_runs import judged
from tlatrace.judgement.verdict import Diverges

SEEDS: Final = 10
EVENTS: Final = 600
"""Of a group that does not come to life there are many more."""

Patch = Callable[[pytest.MonkeyPatch], None]


def with_effects(patch: pytest.MonkeyPatch, change: Callable[[Any], list[Any]]) -> None:
    """Let each effect of a broker's steps be others, or none."""
    whole = core.step

    def step(state: Any, event: Any, **named: Any) -> Any:
        stepped = whole(state, event, **named)
        return replace(stepped, effects=tuple(e for one in stepped.effects for e in change(one)))

    patch.setattr(core, "step", step)


def refuses_consumers(patch: pytest.MonkeyPatch) -> None:
    """A master refuses consumers."""
    with_effects(patch, lambda e: [replace(e, data=None) if isinstance(e, AnswerPull) else e])


def shows_less(patch: pytest.MonkeyPatch) -> None:
    """A master shows a message less than it could."""

    def less(effect: Any) -> list[Any]:
        if isinstance(effect, AnswerPull) and effect.data:
            size = int.from_bytes(effect.data[:4])
            return [replace(effect, data=effect.data[:size])]
        return [effect]

    with_effects(patch, less)


def shows_nothing(patch: pytest.MonkeyPatch) -> None:
    """A master shows nobody anything."""
    with_effects(
        patch,
        lambda e: [replace(e, data=b"") if isinstance(e, AnswerPull) and e.data else e],
    )


def answers_no_consumer(patch: pytest.MonkeyPatch) -> None:
    """A broker does not answer consumers."""
    with_effects(patch, lambda e: [] if isinstance(e, AnswerPull) else [e])


def answers_twice(patch: pytest.MonkeyPatch) -> None:
    """A broker says twice that a message is safe."""
    with_effects(
        patch,
        lambda e: [e, e] if isinstance(e, AnswerPut) and e.status is PutStatus.PUT_OK else [e],
    )


def waits_in_silence(patch: pytest.MonkeyPatch) -> None:
    """A broker answers no producer whose message is not safe in time."""
    late = (PutStatus.FLUSH_SLAVE_TIMEOUT, PutStatus.FLUSH_DISK_TIMEOUT)
    with_effects(patch, lambda e: [] if isinstance(e, AnswerPut) and e.status in late else [e])


def lets_producers_wait(patch: pytest.MonkeyPatch) -> None:
    """A master does not look who waits for what is confirmed."""
    patch.setattr(confirm, "answer_replicated", GroupStepped)


def waits_in_vain(patch: pytest.MonkeyPatch) -> None:
    """A master says of messages that are safe that it has waited in vain, and so soon."""

    def in_vain(effect: Any) -> list[Any]:
        if isinstance(effect, AnswerPut) and effect.status is PutStatus.PUT_OK:
            return [replace(effect, status=PutStatus.FLUSH_SLAVE_TIMEOUT)]
        return [effect]

    with_effects(patch, in_vain)


def sends_no(patch: pytest.MonkeyPatch, code: RequestCode) -> None:
    """A broker sends no requests of a kind."""

    def kept(effect: Any) -> list[Any]:
        if not isinstance(effect, SendToController):
            return [effect]
        pulled = pull_command(effect.data)
        assert pulled is not None
        return [] if pulled[0].code == code else [effect]

    with_effects(patch, kept)


def removes_nobody(patch: pytest.MonkeyPatch) -> None:
    """A master lets all members be."""
    patch.setattr(sync_state_set, "_behind", lambda *_: frozenset())


def asks_for_no_scan(patch: pytest.MonkeyPatch) -> None:
    """A controller that has lost its master waits for the next scan."""
    for name in ("register_broker", "close_channel"):
        whole = getattr(machine, name)

        def without(*args: Any, whole: Any = whole, **named: Any) -> Any:
            applied = whole(*args, **named)
            kept = tuple(e for e in applied.effects if not isinstance(e, ScanSoon))
            return replace(applied, effects=kept)

        patch.setattr(machine, name, without)


def polls_nobody(patch: pytest.MonkeyPatch) -> None:
    """A broker does not ask who is master."""
    patch.setattr(timers, "_poll", lambda state, **_: GroupStepped(state))


OF_BROKERS: Final = [
    (refuses_consumers, {"RefuseCall"}),
    (shows_less, {"Consume", "Shown"}),
    (shows_nothing, {"ShownNothing"}),
    (answers_no_consumer, {"Silent"}),
    (answers_twice, {"PutMessage"}),
    (waits_in_silence, {"Silent"}),
    (lets_producers_wait, {"Waiting"}),
    (waits_in_vain, {"RefuseCall", "TimeOut"}),
    (partial(sends_no, code=RequestCode.BROKER_HEARTBEAT), {"Silent"}),
    (polls_nobody, {"Silent"}),
    (removes_nobody, {"KeepMember"}),
]


def rejected(protocol: str) -> str | None:
    """Return the action at which the first of some runs is rejected."""
    plug = PROTOCOLS[protocol]
    for seed in range(SEEDS):
        run = plug.run(seed, SimOptions())
        begun = [replace(one, events=one.events[:EVENTS]) for one in run.traces]
        for verdict in judged(begun):
            if isinstance(verdict, Diverges):
                return verdict.action
    return None


@pytest.mark.parametrize("protocol", ["replica_group", "sync_state_set"])
@pytest.mark.parametrize(("wrong", "actions"), OF_BROKERS)
def test_what_a_broker_owes_is_seen(
    wrong: Patch, actions: set[str], protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong(monkeypatch)
    assert rejected(protocol) in actions


def test_a_scan_that_comes_late_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    asks_for_no_scan(monkeypatch)
    assert rejected("replica_group") == "NoElection"


def test_a_proposal_is_sent_before_the_step_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    sends_no(monkeypatch, RequestCode.ALTER_SYNC_STATE_SET)
    assert rejected("sync_state_set") == "Settled"


# ---- by the clock of one broker ----

DURATIONS: Final = BrokerDurations(
    sync_flush=True,
    sync_flush_timeout_ms=500,
    slave_timeout_ms=300,
    heartbeat_interval_ms=1_000,
    sync_metadata_ms=2_000,
    request_timeout_ms=100,
    check_sync_state_set_ms=200,
    slave_not_catchup_ms=700,
)


def over(
    owed: OwedByBroker, now_ms: int, *, registered: bool = False, proposes: bool = False
) -> list[Shows]:
    return list(
        owed.step_is_over(records=3, now_ms=now_ms, is_registered=registered, proposes=proposes)
    )


def test_a_producer_waits_for_the_disk_and_no_longer_than_that() -> None:
    owed = OwedByBroker(DURATIONS)
    owed.put_asked(1, 0)
    assert over(owed, 0) == []
    assert list(owed.settled(())) == []
    owed.flushed()
    assert list(owed.settled(())) == [Shows("Waiting", 3)]
    assert list(owed.settled(())) == []
    assert over(owed, 560) == []
    assert over(owed, 561) == [Shows("Silent")]
    assert over(owed, 900) == []


@pytest.mark.parametrize(
    ("status", "after_ms", "shows"),
    [
        ("FLUSH_SLAVE_TIMEOUT", 300, [Shows("TimeOut", 3)]),
        ("FLUSH_SLAVE_TIMEOUT", 299, [Shows("RefuseCall"), Shows("TimeOut", 3)]),
        ("FLUSH_DISK_TIMEOUT", 500, [Shows("Silent")]),
        ("FLUSH_DISK_TIMEOUT", 499, [Shows("RefuseCall")]),
        ("SERVICE_NOT_AVAILABLE", 0, [Shows("RefuseCall")]),
        ("PUT_OK", 0, []),
        ("SLAVE_NOT_AVAILABLE", 0, []),
    ],
)
def test_an_answer_shows_what_it_says(status: str, after_ms: int, shows: list[Shows]) -> None:
    owed = OwedByBroker(DURATIONS)
    owed.put_asked(1, 0)
    owed.put_answered(1, status, 3, after_ms)
    assert over(owed, after_ms) == shows


def test_a_timeout_of_what_is_on_the_disk_says_that_it_is_not_confirmed() -> None:
    owed = OwedByBroker(DURATIONS)
    owed.put_asked(1, 0)
    owed.flushed()
    owed.put_answered(1, "FLUSH_DISK_TIMEOUT", 3, 500)
    assert over(owed, 500) == [Shows("TimeOut", 3)]


def test_a_slow_disk_is_a_reason_to_wait_in_vain() -> None:
    owed = OwedByBroker(DURATIONS)
    owed.put_asked(1, 0)
    owed.disk_is_slow()
    owed.put_answered(1, "FLUSH_DISK_TIMEOUT", 3, 500)
    assert over(owed, 500) == []


def test_who_waited_for_the_epoch_before_is_not_asked_about() -> None:
    owed = OwedByBroker(replace(DURATIONS, sync_flush=False))
    owed.put_asked(1, 0)
    assert over(owed, 0) == []
    owed.began_epoch()
    assert list(owed.settled(())) == []
    owed.put_answered(1, "FLUSH_SLAVE_TIMEOUT", 3, 300)
    assert over(owed, 300) == []


def test_what_is_repeated_is_missed_while_it_is_due() -> None:
    owed = OwedByBroker(DURATIONS)
    assert over(owed, 0, registered=True, proposes=True) == []
    owed.sent(RequestCode.BROKER_HEARTBEAT, 300)
    assert over(owed, 361, registered=True, proposes=True) == [Shows("Silent")]
    assert over(owed, 362, registered=True) == []
    assert over(owed, 1_360, registered=True) == []
    assert over(owed, 1_361, registered=True) == [Shows("Silent")]
    assert over(owed, 9_000) == []


def test_a_member_is_away_without_a_break() -> None:
    owed = OwedByBroker(DURATIONS)
    assert list(owed.members_away([2], 0)) == []
    assert list(owed.members_away([], 1_000)) == []
    assert list(owed.members_away([2], 1_001)) == []
    assert list(owed.members_away([2], 2_361)) == []
    assert list(owed.members_away([2], 2_362)) == [Shows("KeepMember", 2)]


def test_what_is_said_before_the_controller_knows_of_a_broker_shows_nothing() -> None:
    owed = OwedByBroker(DURATIONS)
    owed.pull_asked(1)
    owed.pull_answered(1, 0, None)
    owed.pull_asked(2)
    owed.is_unknown()
    assert over(owed, 0) == []


def test_a_second_answer_speaks_of_a_message_that_nobody_sent() -> None:
    owed = OwedByBroker(DURATIONS)
    owed.put_answered(1, "PUT_OK", 3, 0)
    assert over(owed, 0) == [Shows("PutMessage")]
    owed.put_asked(2, 0)
    owed.stopped()
    assert over(owed, 900) == []

"""A leader and one of its followers: what is sent when, and what becomes of each answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rocketha.dledger import entry_dispatcher
from rocketha.dledger.entry_dispatcher import (
    begin_dispatching,
    count_push,
    dispatch,
    dispatch_timer_ms,
)
from rocketha.dledger.member_state import Role
from rocketha.dledger.push_state import (
    DispatchDue,
    DispatcherState,
    EntryDispatcher,
    PushAnswered,
    Pushed,
    PusherState,
    PusherStepped,
    QuorumDue,
    SendPush,
    SendSnapshot,
)
from rocketha.dledger.state import RequestNumber
from rocketha.formats.dledger_codes import DLedgerResponseCode, PushType
from rocketha.formats.dledger_entry_json import pushed_size
from rocketha.formats.dledger_requests import InstallSnapshotResponse, PushEntryResponse
from rocketha.known_bugs import Bug
from rocketha.known_bugs.dledger import pusher_rules
from rocketha.types import LogIndex, Term, TimestampMs
from tests.impl.dledger.pusher_scene import (
    NOW,
    ListLog,
    around,
    log,
    pusher,
    sent_to,
    thens,
)

Code = DLedgerResponseCode
COMPARE, TRUNCATE = DispatcherState.COMPARE, DispatcherState.TRUNCATE
APPEND, INSTALL = DispatcherState.APPEND, DispatcherState.INSTALL_SNAPSHOT


def led(
    kind: DispatcherState = COMPARE, write: int = 3, match: int = -1, **changed: Any
) -> PusherState:
    """A leader of whom n1 has the log as far as `match`; n2 it leaves alone."""
    one = EntryDispatcher(
        write_index=LogIndex(write), type=kind, match_index=LogIndex(match), **changed
    )
    return pusher(committed=1, snapshot=1).with_dispatcher("n1", one)


def go(state: PusherState, of: ListLog, after_ms: int = 0, **changed: Any) -> PusherStepped:
    return dispatch(state, around(of, Role.LEADER, after_ms, **changed))


def n1(state: PusherState) -> EntryDispatcher:
    return state.dispatchers["n1"]


def hear(
    state: PusherState,
    of: ListLog,
    code: Code | None,
    *,
    number: int | None = None,
    peer: str = "n1",
    after_ms: int = 0,
    **told: Any,
) -> PusherStepped:
    """The answer to what was sent last; None: nobody answers."""
    sent = state.last_number if number is None else number
    message = None if code is None else PushEntryResponse(code=int(code), **told)
    event = PushAnswered(number=RequestNumber(sent), peer=peer, message=message)
    return count_push(state, event, around(of, Role.LEADER, after_ms))


def begins_again(stepped: PusherStepped, of: ListLog) -> bool:
    """Whether it compares from the end, after a while."""
    one = n1(stepped.state)
    assert thens(stepped) == [DispatchDue()]
    return (one.type, one.write_index, one.pending) == (COMPARE, of.end_index + 1, ())


LOG = log(1, 1, 2, 3)
CUT = log(1, 1, 2, 3, before=1)


def test_a_new_leader_compares_its_end_with_everybody() -> None:
    state = begin_dispatching(pusher(committed=1), around(LOG, Role.LEADER))
    stepped = go(state, LOG)
    for peer in ("n1", "n2"):
        (message,) = sent_to(stepped, peer)
        told = (message.kind, message.pre_log_index, message.pre_log_term, message.commit_index)
        assert told == (PushType.COMPARE, 3, 3, 1)
        assert (message.group, message.term, message.leader_id) == ("g", 3, "n0")
        assert (message.local_id, message.remote_id) == ("n0", peer)
    assert len({one.number for one in stepped.effects if isinstance(one, SendPush)}) == 2
    assert go(stepped.state, LOG).effects == (), "one at a time"


def test_from_a_common_entry_to_the_first_push() -> None:
    state = go(led(), LOG).state
    stepped = hear(state, LOG, Code.SUCCESS)
    assert (n1(stepped.state).type, n1(stepped.state).match_index) == (TRUNCATE, 2)
    assert stepped.state.water_marks == {}, "nobody knows whether it is on the disk there"
    stepped = go(stepped.state, LOG)
    (message,) = sent_to(stepped)
    told = (message.kind, message.pre_log_index, message.pre_log_term)
    assert told == (PushType.TRUNCATE, 3, 3)
    stepped = hear(stepped.state, LOG, Code.SUCCESS)
    assert (n1(stepped.state).type, n1(stepped.state).write_index) == (APPEND, 3)
    assert stepped.state.water_marks == {"n1": 2}
    assert thens(stepped) == [QuorumDue(), DispatchDue()]
    stepped = go(stepped.state, LOG)
    (message,) = sent_to(stepped)
    assert [one.index for one in message.entries] == [3]
    stepped = hear(stepped.state, LOG, Code.SUCCESS)
    assert (n1(stepped.state).match_index, stepped.state.water_marks) == (3, {"n1": 3})


def test_behind_the_end_nothing_but_this_term_will_be() -> None:
    (message,) = sent_to(go(led(TRUNCATE, match=3), LOG))
    assert (message.pre_log_index, message.pre_log_term) == (4, 3)


def test_an_entry_that_was_cut_meanwhile_has_no_term_to_truncate_by() -> None:
    stepped = go(led(TRUNCATE, match=-1), CUT)
    sent = SendSnapshot(number=RequestNumber(1), peer="n1", term=Term(3), index=LogIndex(1))
    assert stepped.effects == (sent,)
    assert n1(stepped.state).type is INSTALL
    (message,) = sent_to(go(led(TRUNCATE, match=0), CUT))
    assert (message.pre_log_index, message.pre_log_term) == (1, 1), "its term is remembered"


# ---- COMPARE that fails ----


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"end_index": 0}, 0),  # its log is shorter
        ({"end_index": -1}, -1),
        ({"end_index": 9}, 2),  # never again what was compared
        ({"begin_index": 6, "end_index": 9}, 3),  # it has cut what is compared
        ({"end_index": 3, "x_term": 2, "x_index": 2}, 2),
        ({"end_index": 3, "x_term": 2, "x_index": 3}, 2),
        ({"end_index": 3, "x_term": 1, "x_index": 0}, 1),
        ({"end_index": 3, "x_term": 0, "x_index": 1}, 0),
        ({"end_index": 3, "x_term": 1, "x_index": 2}, 1),
        ({"end_index": 3, "x_term": 2, "x_index": 0}, 2),
        ({"end_index": 3, "x_term": 5, "x_index": 0}, -1),
    ],
)
def test_what_is_compared_next(told: dict[str, Any], expected: int) -> None:
    state = go(led(write=4), LOG).state
    stepped = hear(state, LOG, Code.INCONSISTENT_STATE, **told)
    assert (n1(stepped.state).type, thens(stepped)) == (COMPARE, [DispatchDue()])
    (message,) = sent_to(go(stepped.state, LOG))
    assert message.pre_log_index == expected


def test_what_the_leader_has_cut_is_in_its_snapshot() -> None:
    stepped = go(led(write=1), CUT)
    sent = SendSnapshot(number=RequestNumber(1), peer="n1", term=Term(3), index=LogIndex(1))
    assert stepped.effects == (sent,)
    assert n1(stepped.state).type is INSTALL
    (message,) = sent_to(go(led(write=2), CUT))
    assert (message.pre_log_index, message.pre_log_term) == (1, 1), "its term is remembered"


# ---- APPEND ----


def test_a_push_has_one_entry_or_a_batch() -> None:
    state = led(APPEND, write=0)
    assert [len(one.entries) for one in sent_to(go(state, LOG))] == [1, 1, 1, 1]
    stepped = go(state, LOG, enable_batch_append=True)
    assert [len(one.entries) for one in sent_to(stepped)] == [4]
    assert n1(stepped.state).pending[0].last == 3
    size = LOG.entry(LogIndex(0)).size
    for limit, lengths in (
        (1, [1, 1, 1, 1]),
        (size, [1, 1, 1, 1]),
        (size + 1, [2, 2]),
        (3 * size, [3, 1]),
    ):
        batches = go(state, LOG, enable_batch_append=True, max_batch_append_size=limit)
        assert [len(one.entries) for one in sent_to(batches)] == lengths
        assert n1(batches.state).write_index == 4


def test_a_batch_has_room_in_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    size = pushed_size(LOG.entry(LogIndex(0)))
    for limit, lengths in ((size - 1, [1, 1, 1, 1]), (2 * size, [2, 2]), (4 * size, [4])):
        monkeypatch.setattr(entry_dispatcher, "PUSHED_MAX", limit)
        stepped = go(led(APPEND, write=0), LOG, enable_batch_append=True)
        assert [len(one.entries) for one in sent_to(stepped)] == lengths


def test_so_many_pushes_wait_for_answers() -> None:
    of = log(*[1] * 1_500)
    stepped = go(led(APPEND, write=0), of)
    assert len(stepped.effects) == len(n1(stepped.state).pending) == 1_000
    assert go(stepped.state, of).effects == ()
    stepped = hear(stepped.state, of, Code.SUCCESS, number=1)
    assert [one.entries[0].index for one in sent_to(go(stepped.state, of))] == [1_000]


def test_answers_come_in_any_order() -> None:
    state = go(led(APPEND, write=2, match=1), LOG).state
    stepped = hear(state, LOG, Code.SUCCESS, number=2)
    assert (n1(stepped.state).match_index, stepped.state.water_marks) == (3, {"n1": 3})
    stepped = hear(stepped.state, LOG, Code.SUCCESS, number=1)
    assert (n1(stepped.state).match_index, stepped.state.water_marks) == (3, {"n1": 3})
    assert n1(stepped.state).pending == ()


def test_a_push_is_sent_again_that_is_not_answered() -> None:
    state = go(led(APPEND, write=2, match=1), LOG).state
    assert dispatch_timer_ms(state, around(LOG).config) == NOW + 1_001
    assert go(state, LOG, 1_000).effects == ()
    stepped = go(state, LOG, 1_001)
    assert [one.entries[0].index for one in sent_to(stepped)] == [2, 3]
    late = hear(stepped.state, LOG, Code.SUCCESS, number=2)
    assert late == PusherStepped(stepped.state), "nobody waits for it any more"


@pytest.mark.parametrize("kind", [COMPARE, TRUNCATE, INSTALL])
def test_what_else_is_not_answered_waits_for_the_connection_to_end(kind: DispatcherState) -> None:
    state = go(led(kind, match=2), LOG).state
    assert dispatch_timer_ms(state, around(LOG).config) == NOW + 3_001
    assert go(state, LOG, 3_000).effects == ()
    assert len(go(state, LOG, 3_001).effects) == 1


def test_a_push_that_nobody_got_is_sent_again_later() -> None:
    state = go(led(APPEND, write=2, match=1), LOG).state
    stepped = hear(state, LOG, None, number=1)
    one = n1(stepped.state)
    assert (one.type, one.write_index, one.pending) == (APPEND, 2, ())
    assert dispatch_timer_ms(stepped.state, around(LOG).config) == NOW + 500
    assert go(stepped.state, LOG, 499).effects == ()
    again = go(stepped.state, LOG, 500)
    assert [one.entries[0].index for one in sent_to(again)] == [2, 3]


def test_what_is_cut_meanwhile_is_in_the_snapshot() -> None:
    stepped = go(led(APPEND, write=1, match=0), CUT)
    (sent,) = stepped.effects
    assert isinstance(sent, SendSnapshot)
    assert n1(stepped.state).type is INSTALL
    answer = InstallSnapshotResponse(code=int(Code.SUCCESS))
    event = PushAnswered(number=sent.number, peer="n1", message=answer)
    stepped = count_push(stepped.state, event, around(CUT, Role.LEADER))
    one = n1(stepped.state)
    assert (one.type, one.match_index, one.write_index) == (APPEND, 1, 2)
    assert stepped.state.water_marks == {"n1": 1}


# ---- COMMIT ----


def test_who_has_all_hears_now_and_then_what_is_committed() -> None:
    stepped = go(led(APPEND, write=4, match=3), LOG)
    (message,) = sent_to(stepped)
    assert (message.kind, message.commit_index) == (PushType.COMMIT, 1)
    state = stepped.state
    assert n1(state).pending == ()
    assert dispatch_timer_ms(state, around(LOG).config) == NOW + 1_001
    assert go(state, LOG, 1_000).effects == ()
    assert len(sent_to(go(state, LOG, 1_001))) == 1
    assert hear(state, LOG, Code.SUCCESS) == PusherStepped(state), "nobody waits for it"
    assert hear(state, LOG, None) == PusherStepped(state)


def test_entries_say_what_is_committed_too() -> None:
    stepped = go(led(APPEND, write=3, match=2), LOG)
    (message,) = sent_to(stepped)
    assert (message.kind, message.commit_index) == (PushType.APPEND, 1)
    stepped = hear(stepped.state, LOG, Code.SUCCESS)
    assert go(stepped.state, LOG, 1_000).effects == ()
    assert [one.kind for one in sent_to(go(stepped.state, LOG, 1_001))] == [PushType.COMMIT]


# ---- errors ----


@pytest.mark.parametrize("kind", [COMPARE, TRUNCATE, APPEND, INSTALL])
@pytest.mark.parametrize(
    "code", [code for code in Code if code not in (Code.SUCCESS, Code.INCONSISTENT_STATE)]
)
def test_after_an_error_it_compares_again_in_a_while(kind: DispatcherState, code: Code) -> None:
    state = go(led(kind, match=2), LOG).state
    stepped = hear(state, LOG, code)
    assert begins_again(stepped, LOG)
    assert n1(stepped.state).retry_ms == NOW + 500
    assert go(stepped.state, LOG, 499).effects == ()
    (message,) = sent_to(go(stepped.state, LOG, 500))
    assert message.kind is PushType.COMPARE


@pytest.mark.parametrize("kind", [COMPARE, TRUNCATE, INSTALL])
def test_who_does_not_answer_is_compared_with_again_in_a_while(kind: DispatcherState) -> None:
    stepped = hear(go(led(kind, match=2), LOG).state, LOG, None)
    assert begins_again(stepped, LOG)
    assert n1(stepped.state).retry_ms == NOW + 500


@pytest.mark.parametrize("kind", [TRUNCATE, APPEND, INSTALL])
def test_where_logs_are_not_one_it_compares_at_once(kind: DispatcherState) -> None:
    stepped = hear(go(led(kind, match=2), LOG).state, LOG, Code.INCONSISTENT_STATE)
    assert begins_again(stepped, LOG)
    assert n1(stepped.state).retry_ms is None


@pytest.mark.parametrize("code", [Code.INCONSISTENT_STATE, Code.NOT_FOLLOWER])
def test_with_a_bug_who_has_acknowledged_an_entry_is_not_compared_again(code: Code) -> None:
    rules = pusher_rules(frozenset({Bug.B65}))
    state = go(led(APPEND, match=2), LOG).state
    event = PushAnswered(
        number=state.last_number, peer="n1", message=PushEntryResponse(code=int(code))
    )
    of = around(LOG, Role.LEADER, push_rules=rules)
    assert n1(count_push(state, event, of).state).type is COMPARE

    one = n1(count_push(state.acknowledged("n1", LogIndex(2)), event, of).state)

    assert (one.type, one.write_index, one.pending) == (APPEND, 4, ())


def test_a_code_that_is_none_is_an_error() -> None:
    state = go(led(), LOG).state
    message = PushEntryResponse(code=77)
    event = PushAnswered(number=state.last_number, peer="n1", message=message)
    assert begins_again(count_push(state, event, around(LOG, Role.LEADER)), LOG)


@pytest.mark.parametrize(("peer", "number"), [("n1", 99), ("n2", 1), ("n9", 1)])
def test_nobody_waits_for_the_answer(peer: str, number: int) -> None:
    state = go(led(), LOG).state
    assert hear(state, LOG, Code.SUCCESS, peer=peer, number=number) == PusherStepped(state)


def test_each_follower_is_for_itself() -> None:
    state = begin_dispatching(pusher(), around(LOG, Role.LEADER))
    slow = Pushed(
        number=RequestNumber(50), first=LogIndex(3), last=LogIndex(3), sent_ms=TimestampMs(NOW)
    )
    state = state.with_dispatcher("n2", replace(state.dispatchers["n2"], pending=(slow,)))
    stepped = go(state, LOG)
    assert (len(sent_to(stepped, "n1")), len(sent_to(stepped, "n2"))) == (1, 0)


def test_who_does_not_lead_needs_no_timer() -> None:
    assert dispatch_timer_ms(pusher(), around(LOG).config) is None

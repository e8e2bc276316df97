"""A node as a whole: its clients, what becomes of them when its role changes, and reads."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

import pytest

from rocketha.dledger import node
from rocketha.dledger.member_state import Role
from rocketha.dledger.node_state import (
    AnswerApplied,
    AnswerRead,
    AppendAsked,
    LeadershipBegun,
    NodeHears,
    NodeState,
    NodeStepped,
    PendingRead,
    ReadAsked,
    RefuseClient,
    Started,
    Waiting,
)
from rocketha.dledger.push_state import (
    ApplyCommitted,
    ApplyDue,
    DispatchDue,
    PusherAction,
    QuorumDue,
    WriteEntry,
)
from rocketha.dledger.state import KeepTermAndVote, RoleChanged, SendElectorRequest
from rocketha.formats.dledger_codes import DLedgerEntryType, DLedgerResponseCode
from rocketha.formats.dledger_entry_json import PUSHED_BODY_MAX
from rocketha.formats.dledger_requests import HeartBeatRequest
from rocketha.formats.dledger_term_file import TermAndVote
from rocketha.known_bugs import Bug, Bugs
from rocketha.known_bugs.dledger import elector_rules
from rocketha.runtime.effects import Then
from rocketha.runtime.events import TimerFired
from rocketha.types import LogIndex, Term, TimestampMs
from tests.impl.dledger.pusher_scene import BODY_MAX, ListLog, log, pusher
from tests.impl.dledger.scene import (
    NOW,
    answered,
    asked,
    beat,
    beat_answer,
    candidate,
    config,
    follower,
    leader,
)

Code = DLedgerResponseCode
LOG: Final = log(2, 3)


def leads(committed: int = 1, applied: int = 1, **changed: Any) -> NodeState:
    """A leader that has committed and applied an entry of its term."""
    return NodeState(elector=leader(**changed), pusher=pusher(committed=committed, applied=applied))


def take(state: NodeState, event: NodeHears, of: ListLog = LOG, after_ms: int = 0) -> NodeStepped:
    return node.step(state, event, now_ms=TimestampMs(NOW + after_ms), log=of)


def refusals(stepped: NodeStepped) -> dict[int, tuple[Code, bool]]:
    """Ticket -> why not, and whether it may still come to pass."""
    found = [one for one in stepped.effects if isinstance(one, RefuseClient)]
    return {one.ticket: (one.code, one.is_unknown) for one in found}


def read_answers(stepped: NodeStepped) -> list[int]:
    return [one.ticket for one in stepped.effects if isinstance(one, AnswerRead)]


def waits(state: NodeState, *indexes: int, since_ms: int = 0) -> NodeState:
    """Clients whose ticket is ten times the index of their entry."""
    since = TimestampMs(NOW + since_ms)
    table = {LogIndex(at): Waiting(ticket=10 * at, since_ms=since) for at in indexes}
    return replace(state, waiting=MappingProxyType({**state.waiting, **table}))


# ---- a start ----


def test_a_start_keeps_term_and_vote_and_knows_what_the_snapshot_has() -> None:
    kept = TermAndVote(curr_term=Term(4), vote_leader="n2")
    state = node.started(config(), kept, log(1, 1, 2, before=1), snapshot_index=LogIndex(1))
    assert state.pusher == pusher(committed=1, applied=1, snapshot=1)
    member = state.elector.member
    assert (member.ledger_end_index, member.ledger_end_term) == (2, 2)
    assert take(state, Started(), log(1, 1, 2)).effects == (KeepTermAndVote(kept=kept),)
    assert node.next_timer_ms(state) == 0


def test_a_first_start_leaves_a_file() -> None:
    first = take(node.started(config(), None, log()), Started(), log())
    assert first.effects == (KeepTermAndVote(kept=TermAndVote()),)


def test_who_was_up_before_may_wait_for_a_leader_before_it_goes_to_the_next_term() -> None:
    kept = TermAndVote(curr_term=Term(4), vote_leader="n2")
    waits = config(waits_after_restart=True, heart_beat_time_interval_ms=200, max_heart_beat_leak=3)
    state = node.started(waits, kept, log(1, 2), now_ms=NOW)
    assert node.next_timer_ms(state) == NOW + 600
    assert take(state, TimerFired(), log(1, 2), 599).state.elector.member.curr_term == 4
    assert take(state, TimerFired(), log(1, 2), 600).state.elector.member.curr_term == 5
    first = node.started(waits, None, log(), now_ms=NOW)
    assert node.next_timer_ms(first) == 0
    assert node.next_timer_ms(node.started(config(), kept, log(1, 2), now_ms=NOW)) == 0


def test_draws_are_of_31_bits_and_differ() -> None:
    state, seen = leads(), set[int]()
    for _ in range(100):
        state, drawn = node.draw(state)
        assert 0 <= drawn < 2**31
        seen.add(drawn)
    assert len(seen) == 100


def test_elections_know_where_the_log_ends() -> None:
    member = take(leads(), DispatchDue(), log(2, 3, 3, 3)).state.elector.member
    assert (member.ledger_end_index, member.ledger_end_term) == (3, 3)


@pytest.mark.parametrize("bugs", [frozenset(), frozenset({Bug.B64})])
@pytest.mark.parametrize("acknowledged", [None, LOG.end_index - 1, LOG.end_index])
def test_a_leader_hears_of_a_larger_term_whatever_log_who_is_there_has(
    bugs: Bugs, acknowledged: int | None
) -> None:
    elector = replace(leads().elector, config=config(rules=elector_rules(bugs)))
    state = take(replace(leads(), elector=elector), TimerFired()).state
    if acknowledged is not None:
        marks = state.pusher.acknowledged("n2", LogIndex(acknowledged))
        state = replace(state, pusher=marks)
    answer = beat_answer(Code.EXPIRED_TERM, term=7)
    heard = take(state, answered(state.elector.last_number, "n2", answer)).state

    is_heard = not bugs or acknowledged == LOG.end_index
    assert heard.elector.member.is_leader == (not is_heard)


# ---- what clients ask for ----


def test_an_entry_of_a_client_is_written_and_answered_when_applied() -> None:
    stepped = take(leads(), AppendAsked(ticket=5, body=b"x"), after_ms=7)
    written = WriteEntry(kind=DLedgerEntryType.NORMAL, term=Term(3), body=b"x")
    assert stepped.effects[0] == written
    assert stepped.action is PusherAction.APPEND_AS_LEADER
    state = stepped.state
    assert state.waiting == {2: Waiting(ticket=5, since_ms=TimestampMs(NOW + 7))}
    state = replace(state, pusher=replace(state.pusher, committed_index=LogIndex(2)))
    stepped = take(state, ApplyDue(), log(2, 3, 3))
    told = AnswerApplied(ticket=5, index=LogIndex(2), term=Term(3))
    assert stepped.effects[:2] == (ApplyCommitted(index=LogIndex(2)), told)
    assert stepped.state.waiting == {}


def test_who_is_no_leader_takes_no_entries() -> None:
    asks = AppendAsked(ticket=5, body=b"x")
    for elector, heard in ((follower(leads="n1"), "n1"), (candidate(), None)):
        state = NodeState(elector=elector, pusher=pusher())
        stepped = take(state, asks)
        (refused,) = stepped.effects
        assert refused == RefuseClient(
            ticket=5, code=Code.NOT_LEADER, leader_id=heard, is_unknown=False
        )
        assert (stepped.action, stepped.state.waiting) == (None, {})


def test_who_hands_its_leadership_over_takes_no_entries() -> None:
    state = leads()
    member = replace(state.elector.member, transferee="n2")
    state = replace(state, elector=replace(state.elector, member=member))
    stepped = take(state, AppendAsked(ticket=5, body=b"x"))
    assert refusals(stepped) == {5: (Code.LEADER_TRANSFERRING, False)}
    assert stepped.action is None


def test_an_entry_for_which_no_file_has_room_is_refused() -> None:
    state = leads()
    stepped = take(state, AppendAsked(ticket=5, body=bytes(BODY_MAX + 1)), log(2, 3, 3))
    assert refusals(stepped) == {5: (Code.DISK_ERROR, False)}
    assert stepped.action is None
    assert refusals(take(state, AppendAsked(ticket=5, body=bytes(BODY_MAX)), log(2, 3, 3))) == {}


def test_an_entry_for_which_no_push_has_room_is_refused() -> None:
    body = bytes(PUSHED_BODY_MAX + 1)
    stepped = take(
        leads(), AppendAsked(ticket=5, body=body), replace(log(2, 3, 3), body_max=1 << 30)
    )
    assert refusals(stepped) == {5: (Code.DISK_ERROR, False)}


def test_so_many_clients_wait_at_most() -> None:
    state = waits(leads(max_pending_requests_num=2), 2)
    stepped = take(state, AppendAsked(ticket=5, body=b"x"), log(2, 3, 3))
    assert refusals(stepped) == {}
    stepped = take(stepped.state, AppendAsked(ticket=6, body=b"x"), log(2, 3, 3, 3))
    assert refusals(stepped) == {6: (Code.LEADER_PENDING_FULL, False)}
    assert sorted(stepped.state.waiting) == [2, 3]


def test_who_waits_too_long_hears_that_nobody_knows() -> None:
    state = waits(waits(leads(), 2), 3, since_ms=10)
    read = PendingRead(
        ticket=1, index=LogIndex(1), after=state.elector.last_number, since_ms=TimestampMs(NOW)
    )
    state = replace(state, reads=(read,))
    assert node.next_timer_ms(state) <= NOW + 2_501
    elector = replace(state.elector, last_send_heart_beat_ms=TimestampMs(NOW + 2_400), beat=None)
    state = replace(state, elector=elector)
    stepped = take(state, TimerFired(), after_ms=2_500)
    assert refusals(stepped) == {}
    stepped = take(stepped.state, TimerFired(), after_ms=2_501)
    assert refusals(stepped) == {
        20: (Code.WAIT_QUORUM_ACK_TIMEOUT, True),
        1: (Code.WAIT_QUORUM_ACK_TIMEOUT, False),
    }
    assert (sorted(stepped.state.waiting), stepped.state.reads) == ([3], ())


# ---- the role changes ----


def test_who_waits_when_another_one_leads_hears_that_nobody_knows() -> None:
    read = PendingRead(ticket=1, index=LogIndex(1), after=leads().elector.last_number, since_ms=NOW)
    state = replace(waits(leads(), 2, 3), reads=(read,))
    state = take(state, LeadershipBegun()).state
    state = replace(state, pusher=replace(state.pusher.acknowledged("n1", LogIndex(1))))
    numbered = state.pusher.last_number
    state = replace(state, pusher=replace(state.pusher, same_index=LogIndex(1)))
    stepped = take(state, asked(beat(4, "n1")))
    assert stepped.state.elector.member.role is not Role.LEADER
    assert refusals(stepped) == {
        20: (Code.NOT_LEADER, True),
        30: (Code.NOT_LEADER, True),
        1: (Code.NOT_LEADER, False),
    }
    after = stepped.state
    assert (after.waiting, after.reads) == ({}, ())
    assert (after.pusher.dispatchers, after.pusher.water_marks) == ({}, {})
    assert after.pusher.same_index == -1
    assert (after.pusher.committed_index, after.pusher.applied_index) == (1, 1)
    assert after.pusher.last_number == numbered, "old answers must not be taken for new ones"


def test_a_follower_that_hears_of_its_leader_again_forgets_nothing() -> None:
    state = NodeState(elector=follower(leads="n1"), pusher=pusher(committed=1, same=1))
    stepped = take(state, asked(beat(3, "n1")))
    assert stepped.state.pusher == state.pusher


def test_who_follows_anew_compares_anew() -> None:
    state = NodeState(elector=follower(leads="n1"), pusher=pusher(committed=1, same=1))
    stepped = take(state, asked(beat(4, "n2")))
    while stepped.state.elector.member.curr_term < 4:
        stepped = take(stepped.state, TimerFired(), after_ms=1)
    stepped = take(stepped.state, asked(beat(4, "n2")))
    assert stepped.state.elector.member.is_follower
    assert stepped.state.pusher == pusher(committed=1)


def test_who_is_elected_begins_to_push() -> None:
    elector = candidate(term=3, peers=("n0",))
    state = NodeState(elector=elector, pusher=pusher(same=0))
    stepped = take(state, TimerFired())
    assert not stepped.state.elector.member.is_leader
    stepped = take(stepped.state, TimerFired())
    assert stepped.state.elector.member.is_leader
    assert Then(event=LeadershipBegun()) in stepped.effects
    assert [one for one in stepped.effects if isinstance(one, RoleChanged)]


@pytest.mark.parametrize("fast", [False, True])
def test_a_new_leader_may_write_an_entry_of_its_own(fast: bool) -> None:
    stepped = take(leads(enable_fast_advance_commit_index=fast), LeadershipBegun())
    assert set(stepped.state.pusher.dispatchers) == {"n1", "n2"}
    noop = WriteEntry(kind=DLedgerEntryType.NOOP, term=Term(3), body=b"")
    assert (noop in stepped.effects) is fast
    assert stepped.action is (PusherAction.APPEND_AS_LEADER if fast else None)
    assert stepped.state.waiting == {}


def test_who_leads_no_more_does_not_begin() -> None:
    state = NodeState(elector=follower(), pusher=pusher())
    assert take(state, LeadershipBegun()).state.pusher == state.pusher


def test_somebody_preferred_is_looked_for_now_and_then() -> None:
    state = leads(preferred_leader_ids=("n1",))
    elector = replace(state.elector, last_send_heart_beat_ms=NOW, beat=None)
    state = replace(state, elector=elector)
    assert node.next_timer_ms(state) == 0
    state = take(state, TimerFired()).state
    assert state.preferred_due_ms == NOW + 1_000
    assert node.next_timer_ms(state) == NOW + 1_000


# ---- reads without an entry in the log ----


def test_a_read_needs_a_leader() -> None:
    state = NodeState(elector=follower(leads="n1"), pusher=pusher(committed=1))
    stepped = take(state, ReadAsked(ticket=1))
    assert refusals(stepped) == {1: (Code.NOT_LEADER, False)}


@pytest.mark.parametrize("committed", [-1, 0])
def test_a_read_needs_an_entry_of_the_own_term(committed: int) -> None:
    stepped = take(leads(committed=committed, applied=committed), ReadAsked(ticket=1))
    assert refusals(stepped) == {1: (Code.LEADER_NOT_READY, False)}


def beats(state: NodeState, after_ms: int = 0) -> tuple[NodeState, int]:
    """Send heartbeats; return their number."""
    stepped = take(state, TimerFired(), after_ms=after_ms)
    sent = [one for one in stepped.effects if isinstance(one, SendElectorRequest)]
    assert all(isinstance(one.message, HeartBeatRequest) for one in sent)
    assert len(sent) == 2
    return stepped.state, sent[0].number


def heard(
    state: NodeState, number: int, peer: str = "n1", code: Code = Code.SUCCESS
) -> NodeStepped:
    return take(state, answered(number, peer, beat_answer(code)))


def test_a_read_waits_for_heartbeats_that_were_sent_after_it() -> None:
    state, before = beats(leads())
    stepped = take(state, ReadAsked(ticket=1), after_ms=1)
    assert read_answers(stepped) == []
    stepped = heard(stepped.state, before)
    assert read_answers(stepped) == [], "they were sent before it"
    assert node.next_timer_ms(stepped.state) <= NOW + 1, "new ones are due at once"
    state, after = beats(stepped.state, 1)
    assert after > before
    stepped = heard(state, after, code=Code.EXPIRED_TERM)
    assert read_answers(stepped) == []
    stepped = heard(state, after)
    assert read_answers(stepped) == [1]
    assert stepped.state.reads == ()


def test_an_answer_that_comes_late_proves_nothing_of_a_read_after_it() -> None:
    state, before = beats(leads())
    stepped = take(state, ReadAsked(ticket=1))
    for peer in ("n1", "n2"):
        stepped = heard(stepped.state, before, peer)
        assert read_answers(stepped) == []


def test_a_majority_has_to_answer() -> None:
    five = ("n0", "n1", "n2", "n3", "n4")
    elector = replace(leader(), config=config(peers=five))
    state = NodeState(elector=elector, pusher=pusher(committed=1, applied=1))
    state = take(state, ReadAsked(ticket=1)).state
    stepped = take(state, TimerFired())
    number = stepped.state.elector.last_number
    stepped = heard(stepped.state, number, "n1")
    assert read_answers(stepped) == []
    assert read_answers(heard(stepped.state, number, "n2")) == [1]


def test_a_read_waits_until_what_was_committed_is_applied() -> None:
    state = take(leads(committed=1, applied=0), ReadAsked(ticket=1)).state
    state, number = beats(state)
    stepped = heard(state, number)
    assert read_answers(stepped) == []
    stepped = take(stepped.state, ApplyDue())
    assert stepped.effects[0] == ApplyCommitted(index=LogIndex(1))
    assert read_answers(stepped) == [1]


def test_a_node_on_its_own_reads_at_once() -> None:
    elector = replace(leader(), config=config(peers=("n0",)))
    state = NodeState(elector=elector, pusher=pusher(committed=1, applied=1))
    assert read_answers(take(state, ReadAsked(ticket=1))) == [1]


def test_what_is_committed_later_is_not_waited_for() -> None:
    state = take(leads(), ReadAsked(ticket=1)).state
    state, number = beats(state)
    state = replace(state, pusher=replace(state.pusher, committed_index=LogIndex(2)))
    assert read_answers(heard(state, number)) == [1]


def test_an_entry_is_committed_by_a_majority_of_a_node_on_its_own() -> None:
    elector = replace(leader(), config=config(peers=("n0",)))
    state = NodeState(elector=elector, pusher=pusher(committed=1, applied=1))
    stepped = take(state, QuorumDue(), log(2, 3, 3, synced=1))
    assert stepped.action is None
    assert take(state, QuorumDue(), log(2, 3, 3)).action is PusherAction.COMMIT_ENTRY

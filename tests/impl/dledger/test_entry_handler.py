"""A follower's log: what it answers to each push, what it writes, and when."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.dledger.entry_handler import (
    finish_push,
    handle_install_snapshot,
    handle_push,
    learn_commit,
)
from rocketha.dledger.member_state import Role
from rocketha.dledger.push_state import (
    AppendPushed,
    ApplyDue,
    InstallSnapshot,
    LearnCommitDue,
    PushArrived,
    PushDone,
    PusherAction,
    PusherState,
    PusherStepped,
    SnapshotArrived,
    SyncLedger,
    TruncateLedger,
)
from rocketha.formats.dledger_codes import DLedgerResponseCode, PushType
from rocketha.formats.dledger_requests import (
    InstallSnapshotRequest,
    InstallSnapshotResponse,
    PushEntryRequest,
    PushEntryResponse,
)
from rocketha.known_bugs import Bug
from rocketha.known_bugs.dledger import pusher_rules
from rocketha.types import LogIndex, Term
from tests.impl.dledger.pusher_scene import (
    BODY_MAX,
    REQUEST,
    ListLog,
    answer_of,
    around,
    entry,
    follows,
    log,
    push,
    pushed,
    pusher,
    thens,
)

Code = DLedgerResponseCode
INCONSISTENT = Code.INCONSISTENT_STATE


def code_of(stepped: PusherStepped) -> DLedgerResponseCode:
    return answer_of(stepped).response_code


def answered(stepped: PusherStepped) -> PushEntryResponse:
    answer = answer_of(stepped)
    assert isinstance(answer, PushEntryResponse)
    return answer


# ---- who is heard ----


@pytest.mark.parametrize(
    ("changed", "role", "code"),
    [
        ({"term": Term(2)}, Role.FOLLOWER, Code.EXPIRED_TERM),
        ({"term": Term(4)}, Role.FOLLOWER, Code.TERM_NOT_READY),
        ({"leader_id": "n2"}, Role.FOLLOWER, Code.INCONSISTENT_LEADER),
        ({"leader_id": None}, Role.CANDIDATE, Code.NOT_FOLLOWER),
        ({"leader_id": "n0"}, Role.LEADER, Code.NOT_FOLLOWER),
    ],
)
@pytest.mark.parametrize("kind", [*PushType])
def test_nobody_but_the_leader_of_the_term_is_heard(
    kind: PushType, changed: dict[str, Term], role: Role, code: Code
) -> None:
    message = push(kind, entries=(entry(2, 3),), commit_index=LogIndex(2), **changed)
    state = pusher(same=1)
    stepped = handle_push(state, pushed(message), around(log(1, 1), role))
    assert code_of(stepped) is code
    assert (stepped.state, stepped.action, thens(stepped)) == (state, None, [])
    assert answered(stepped).term == (3 if code is Code.EXPIRED_TERM else message.term)


def test_a_leader_of_before_is_heard_with_the_bug() -> None:
    rules = pusher_rules(frozenset({Bug.OLD_LEADER}))
    message = push(PushType.APPEND, entries=(entry(2, 2),), term=Term(2), leader_id="n2")
    stepped = handle_push(pusher(same=1), pushed(message), around(log(1, 1), push_rules=rules))
    assert stepped.action is PusherAction.APPEND_AS_FOLLOWER


def test_a_snapshot_comes_in_a_request_of_its_own() -> None:
    stepped = handle_push(pusher(), pushed(push(PushType.INSTALL_SNAPSHOT)), around(log(1)))
    assert code_of(stepped) is Code.UNEXPECTED_ARGUMENT


# ---- COMPARE ----


def compared(state: PusherState, of: ListLog, index: int, term: int) -> PusherStepped:
    message = push(PushType.COMPARE, pre_log_index=LogIndex(index), pre_log_term=Term(term))
    return handle_push(state, pushed(message), around(of))


@pytest.mark.parametrize(
    ("of", "index", "term"),
    [
        (log(1, 1, 2), 2, 2),
        (log(1, 1, 2), 0, 1),
        (log(1, 1, 2), -1, -1),
        (log(), -1, -1),
        (log(1, 1, 2, before=1), 1, 1),
        (log(1, 1, before=1), 1, 1),
    ],
)
def test_what_both_have_is_found(of: ListLog, index: int, term: int) -> None:
    stepped = compared(pusher(), of, index, term)
    assert code_of(stepped) is Code.SUCCESS
    assert stepped.action is PusherAction.COMPARE
    assert stepped.state.same_index == index


def test_what_is_known_to_be_the_same_stays_so() -> None:
    assert compared(pusher(same=2), log(1, 1, 2), 0, 1).state.same_index == 2
    assert compared(pusher(same=2), log(1, 1, 2), 1, 2).state.same_index == 2


@pytest.mark.parametrize(
    ("of", "index", "term", "expected"),
    [
        # other terms: which one is here, and where it begins
        (log(0, 1, 1, 1, 2), 3, 2, (1, 1, 0, 4)),
        (log(0, 1, 1, 1, 2), 4, 3, (2, 4, 0, 4)),
        (log(0, 0, 0), 2, 3, (0, 0, 0, 2)),
        (log(2, 2, 2), 1, 1, (2, 0, 0, 2)),
        (log(1, 2), 0, 0, (1, 0, 0, 1)),
        # behind the end
        (log(0, 1, 1), 5, 1, (-1, -1, 0, 2)),
        (log(), 0, 1, (-1, -1, 0, -1)),
        # in what was cut
        (log(1, 1, 1, 1, before=2), 1, 1, (-1, -1, 3, 3)),
        (log(1, 1, 1, 1, before=2), -1, -1, (-1, -1, 3, 3)),
        (log(1, 1, before=1), 0, 1, (-1, -1, 2, 1)),
        # a term that begins in what was cut
        (log(1, 1, 1, 1, before=2), 3, 2, (1, 2, 3, 3)),
        (log(1, 1, 2, 2, before=2), 3, 3, (2, 2, 3, 3)),
        (log(1, 1, 1, 2, before=2), 3, 3, (2, 3, 3, 3)),
    ],
)
def test_what_a_follower_says_of_its_log(
    of: ListLog, index: int, term: int, expected: tuple[int, int, int, int]
) -> None:
    stepped = compared(pusher(), of, index, term)
    answer = answered(stepped)
    assert answer.response_code is INCONSISTENT
    told = (answer.x_term, answer.x_index, answer.begin_index, answer.end_index)
    assert told == expected
    assert (stepped.state, stepped.action) == (pusher(), None)


@pytest.mark.parametrize(("committed", "index", "first"), [(1, 3, 2), (0, 3, 1), (3, 4, 4)])
def test_what_is_committed_it_does_not_offer_to_be_cut(
    committed: int, index: int, first: int
) -> None:
    state = pusher(committed=committed)
    answer = answered(compared(state, log(1, 1, 1, 1, 1), index, 2))
    assert (answer.x_term, answer.x_index) == (1, first)


# ---- TRUNCATE ----


def truncated(state: PusherState, of: ListLog, index: int, term: int) -> PusherStepped:
    message = push(
        PushType.TRUNCATE,
        pre_log_index=LogIndex(index),
        pre_log_term=Term(term),
        commit_index=LogIndex(0),
    )
    return handle_push(state, pushed(message), around(of))


def test_another_term_is_cut_with_all_behind_it() -> None:
    stepped = truncated(pusher(same=3), log(1, 1, 2, 2), 2, 3)
    assert stepped.effects[0] == TruncateLedger(index=LogIndex(2))
    assert stepped.action is PusherAction.TRUNCATE
    assert stepped.state.same_index == 1
    done, learns = thens(stepped)
    assert done == PushDone(request=REQUEST, index=LogIndex(1))
    assert learns == LearnCommitDue(leader_id="n1", term=Term(3), commit_index=LogIndex(0))


def test_what_is_left_is_on_the_disk_before_the_rest_is_cut() -> None:
    of = log(1, 1, 2, 2, synced=0)
    stepped = truncated(pusher(same=1), of, 2, 3)
    assert stepped.effects[0] == SyncLedger()
    assert stepped.action is PusherAction.SYNC
    again = follows(stepped, PushArrived)
    stepped = handle_push(stepped.state, again, around(replace(of, synced=None)))
    assert stepped.action is PusherAction.TRUNCATE


@pytest.mark.parametrize(
    ("of", "index", "term"),
    [
        (log(1, 1, 3, 3), 2, 3),  # It comes late: the leader's entries are there by now.
        (log(1, 1), 2, 3),
        (log(1, 1), 9, 3),
        (log(1, 1, before=1), 2, 3),
    ],
)
def test_what_is_the_leaders_or_not_there_is_not_cut(of: ListLog, index: int, term: int) -> None:
    state = pusher(same=len(of.terms) - 1)
    stepped = truncated(state, of, index, term)
    assert (stepped.state, stepped.action) == (state, None)
    assert not [one for one in stepped.effects if isinstance(one, TruncateLedger)]
    done = follows(stepped, PushDone)
    assert done.index == index - 1
    finished = finish_push(state, done, around(of))
    assert code_of(finished) is (INCONSISTENT if index == 9 else Code.SUCCESS)


def test_a_late_truncation_cuts_with_the_bug() -> None:
    rules = pusher_rules(frozenset({Bug.LATE_TRUNCATE}))
    message = push(PushType.TRUNCATE, pre_log_index=LogIndex(2), pre_log_term=Term(3))
    of = around(log(1, 1, 3, 3), push_rules=rules)
    assert handle_push(pusher(same=3), pushed(message), of).action is PusherAction.TRUNCATE


@pytest.mark.parametrize("index", [0, 1, 2])
def test_what_a_snapshot_has_is_not_cut(index: int) -> None:
    stepped = truncated(pusher(same=3), log(1, 1, 1, 1, before=2), index, 3)
    assert code_of(stepped) is INCONSISTENT
    assert stepped.action is None


def test_a_leader_that_tells_no_term_cuts_nothing_that_is_committed() -> None:
    """DLedger's leaders do not say which term they have there."""
    for index in (0, 1):
        stepped = truncated(pusher(committed=1, same=3), log(1, 1, 2, 2), index, -1)
        assert (code_of(stepped), stepped.action) == (INCONSISTENT, None)
    stepped = truncated(pusher(committed=1, same=3), log(1, 1, 2, 2), 2, -1)
    assert stepped.effects[0] == TruncateLedger(index=LogIndex(2))


# ---- APPEND ----


def appended(
    state: PusherState, of: ListLog, *terms: tuple[int, int], written: int = 0
) -> PusherStepped:
    entries = tuple([entry(index, term) for index, term in terms])
    message = push(PushType.APPEND, entries=entries, commit_index=LogIndex(1))
    return handle_push(state, pushed(message, written), around(of))


def test_entries_are_written_one_a_step_and_answered_when_all_are() -> None:
    terms: tuple[int, ...] = (1, 1)
    state = pusher(same=1)
    event = pushed(push(PushType.APPEND, entries=(entry(2, 2), entry(3, 3))))
    for index, term in ((2, 2), (3, 3)):
        stepped = handle_push(state, event, around(log(*terms, synced=1)))
        written, _ = stepped.effects
        assert written == AppendPushed(entry=entry(index, term))
        assert stepped.action is PusherAction.APPEND_AS_FOLLOWER
        assert stepped.state.same_index == index
        state, event, terms = stepped.state, follows(stepped, PushArrived), (*terms, term)
        assert event.written == index - 1
    stepped = handle_push(state, event, around(log(*terms, synced=1)))
    assert thens(stepped) == [PushDone(request=REQUEST, index=LogIndex(3))]
    assert stepped.action is None


def test_an_answer_waits_for_the_disk() -> None:
    done = PushDone(request=REQUEST, index=LogIndex(3))
    of = log(1, 1, 2, 3, synced=1)
    stepped = finish_push(pusher(same=3), done, around(of))
    assert stepped.effects[0] == SyncLedger()
    assert (stepped.action, follows(stepped, PushDone)) == (PusherAction.SYNC, done)
    stepped = finish_push(pusher(same=3), done, around(replace(of, synced=None)))
    assert stepped.action is PusherAction.ACKNOWLEDGE
    answer = answered(stepped)
    told = (answer.response_code, answer.index, answer.begin_index, answer.end_index)
    assert told == (Code.SUCCESS, 3, 0, 3)


def test_with_the_bug_an_answer_does_not_wait_for_the_disk() -> None:
    rules = pusher_rules(frozenset({Bug.SYNCED_ACK}))
    done = PushDone(request=REQUEST, index=LogIndex(3))
    of = around(log(1, 1, 2, 3, synced=1), push_rules=rules)
    assert finish_push(pusher(same=3), done, of).action is PusherAction.ACKNOWLEDGE


def test_what_is_not_known_to_be_the_leaders_is_not_acknowledged() -> None:
    done = PushDone(request=REQUEST, index=LogIndex(3))
    stepped = finish_push(pusher(same=2), done, around(log(1, 1, 2, 3)))
    assert (code_of(stepped), stepped.action) == (INCONSISTENT, None)


def test_what_is_there_already_is_acknowledged_again() -> None:
    stepped = appended(pusher(same=3), log(1, 1, 2, 3), (1, 1), (2, 2))
    assert follows(stepped, PushDone).index == 2
    assert follows(stepped, LearnCommitDue).commit_index == 1
    assert (stepped.state, stepped.action) == (pusher(same=3), None)


def test_what_was_cut_is_passed_by() -> None:
    stepped = appended(pusher(same=2), log(1, 1, 1, before=2), (1, 1), (2, 1), (3, 3))
    assert stepped.effects[0] == AppendPushed(entry=entry(3, 3))
    assert follows(stepped, PushArrived).written == 3


@pytest.mark.parametrize(
    ("state", "of", "terms"),
    [
        (pusher(same=1), log(1, 1), [(3, 3)]),  # a gap
        (pusher(same=1), log(1, 1), [(9, 3)]),
        (pusher(same=1), log(1, 1), [(3, 3), (2, 3)]),  # the wrong order
        (pusher(same=1), log(1, 1, 2), [(2, 3)]),  # in the place of another one
        (pusher(same=1), log(1, 1, 2), [(3, 3)]),  # behind one that was not compared
        (pusher(), log(1, 1), [(2, 3)]),  # nothing was compared yet
        (pusher(), log(1, 1, before=1), [(1, 1)]),
        (pusher(same=2), log(1, 1, 2), [(1, 2)]),  # another one than is known to be there
        (pusher(same=2), log(1, 1, 2), [(2, 3), (3, 3)]),
    ],
)
def test_what_does_not_follow_is_refused(
    state: PusherState, of: ListLog, terms: list[tuple[int, int]]
) -> None:
    stepped = appended(state, of, *terms)
    assert code_of(stepped) is INCONSISTENT
    assert (stepped.state, stepped.action) == (state, None)


def test_a_push_of_nothing_is_refused() -> None:
    assert code_of(appended(pusher(same=1), log(1, 1))) is Code.UNEXPECTED_ARGUMENT


def test_an_entry_for_which_no_file_has_room_is_refused() -> None:
    for size, code in ((BODY_MAX + 1, Code.UNEXPECTED_ARGUMENT), (BODY_MAX, None)):
        message = push(PushType.APPEND, entries=(entry(2, 3, bytes(size)),))
        stepped = handle_push(pusher(same=1), pushed(message), around(log(1, 1)))
        assert (code_of(stepped) if code else None) is code
        assert (stepped.action is None) is (code is not None)


def test_with_the_bug_it_appends_to_what_was_not_compared() -> None:
    rules = pusher_rules(frozenset({Bug.COMPARED_FIRST}))
    message = push(PushType.APPEND, entries=(entry(3, 3),))
    stepped = handle_push(pusher(same=1), pushed(message), around(log(1, 1, 2), push_rules=rules))
    assert stepped.action is PusherAction.APPEND_AS_FOLLOWER


def test_between_two_entries_the_leader_may_change() -> None:
    stepped = appended(pusher(same=1), log(1, 1), (2, 3), (3, 3))
    of = around(log(1, 1, 3))
    followed = replace(of, member=replace(of.member, curr_term=Term(4), leader_id="n2"))
    stepped = handle_push(stepped.state, follows(stepped, PushArrived), followed)
    assert code_of(stepped) is Code.EXPIRED_TERM
    assert stepped.action is None


# ---- COMMIT ----


def test_a_commit_is_answered_at_once() -> None:
    stepped = handle_push(pusher(), pushed(push(PushType.COMMIT)), around(log(1)))
    assert (code_of(stepped), thens(stepped)) == (Code.SUCCESS, [])
    message = push(PushType.COMMIT, commit_index=LogIndex(5))
    stepped = handle_push(pusher(), pushed(message), around(log(1)))
    assert follows(stepped, LearnCommitDue).commit_index == 5


def learned(
    state: PusherState, commit: int, leader: str = "n1", term: int = 3, **changed: object
) -> PusherStepped:
    event = LearnCommitDue(leader_id=leader, term=Term(term), commit_index=LogIndex(commit))
    return learn_commit(state, event, around(log(1, 1, 2, 2), **changed))  # type: ignore[arg-type]


def test_what_is_committed_is_learned_as_far_as_the_logs_are_one() -> None:
    for commit, same, expected in ((1, 3, 1), (3, 2, 2), (9, 3, 3)):
        stepped = learned(pusher(committed=0, same=same), commit)
        assert stepped.state.committed_index == expected
        assert stepped.action is PusherAction.LEARN_COMMIT
        assert thens(stepped) == [ApplyDue()]


@pytest.mark.parametrize(("bug", "expected"), [(Bug.COMMIT_SAME, 3), (Bug.B61, 9)])
def test_with_the_bugs_it_learns_too_much(bug: Bug, expected: int) -> None:
    rules = pusher_rules(frozenset({bug}))
    assert learned(pusher(same=1), 9, push_rules=rules).state.committed_index == expected


def test_nothing_is_learned_backwards_or_of_others() -> None:
    state = pusher(committed=1, same=3)
    for stepped in (
        learned(state, 1),
        learned(state, 0),
        learned(state, 3, leader="n2"),
        learned(state, 3, term=2),
        learned(state, 3, role=Role.CANDIDATE),
        learned(pusher(committed=1), 3),
    ):
        assert (stepped.state.committed_index, stepped.action, stepped.effects) == (1, None, ())


# ---- INSTALL_SNAPSHOT ----


def installed(
    state: PusherState, of: ListLog, index: int, term: int = 2, **changed: object
) -> PusherStepped:
    message = InstallSnapshotRequest(
        group="g",
        local_id="n1",
        remote_id="n0",
        leader_id="n1",
        term=Term(3),
        last_included_index=LogIndex(index),
        last_included_term=Term(term),
        data=b"{}",
    )
    event = SnapshotArrived(request=REQUEST, message=message)
    return handle_install_snapshot(state, event, around(of, **changed))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("of", "keeps"),
    [
        (log(1, 1), False),
        (log(1, 1, 1, 1), False),
        (log(1, 1, 2, 2), True),
        (log(1, 1, 2, before=2), True),
        (log(), False),
    ],
)
def test_a_snapshot_takes_the_place_of_the_state(of: ListLog, keeps: bool) -> None:
    stepped = installed(pusher(committed=0, applied=0, same=1), of, 2)
    assert stepped.effects[0] == InstallSnapshot(
        index=LogIndex(2), term=Term(2), data=b"{}", keeps_log=keeps
    )
    assert stepped.action is PusherAction.INSTALL_SNAPSHOT
    assert stepped.state == pusher(committed=2, applied=2, snapshot=2, same=2)
    done = follows(stepped, PushDone)
    assert (done.index, done.installed) == (2, True)
    finished = finish_push(stepped.state, done, around(log(1, 1, 2, before=2)))
    assert isinstance(answer_of(finished), InstallSnapshotResponse)
    assert code_of(finished) is Code.SUCCESS


def test_the_log_is_on_the_disk_before_a_snapshot_is() -> None:
    stepped = installed(pusher(), log(1, 1, 2, 2, synced=1), 2)
    assert stepped.effects[0] == SyncLedger()
    assert stepped.action is PusherAction.SYNC
    assert follows(stepped, SnapshotArrived).message.last_included_index == 2
    assert stepped.state == pusher()


@pytest.mark.parametrize("index", [0, 1])
def test_a_snapshot_of_what_is_committed_is_not_loaded(index: int) -> None:
    state = pusher(committed=1, applied=0, same=1)
    stepped = installed(state, log(1, 1), index)
    assert code_of(stepped) is Code.NEWER_INSTALL_SNAPSHOT_REQUEST_EXIST
    assert (stepped.state, stepped.action) == (state, None)
    rules = pusher_rules(frozenset({Bug.INSTALL_FRESH}))
    stepped = installed(state, log(1, 1), index, push_rules=rules)
    assert stepped.action is PusherAction.INSTALL_SNAPSHOT


def test_snapshots_are_for_followers() -> None:
    stepped = installed(pusher(), log(1, 1), 5, role=Role.LEADER)
    assert code_of(stepped) is Code.NOT_FOLLOWER


def test_what_bugs_make_of_an_install() -> None:
    stays = pusher_rules(frozenset({Bug.B58}))
    stepped = installed(pusher(committed=0), log(1, 1), 2, push_rules=stays)
    assert (stepped.state.committed_index, stepped.state.applied_index) == (0, 2)
    never = pusher_rules(frozenset({Bug.B54}))
    assert code_of(installed(pusher(), log(1, 1), 2, push_rules=never)) is Code.UNSUPPORTED


def test_an_answer_tells_which_entries_it_is_for() -> None:
    message: PushEntryRequest = push(PushType.APPEND, entries=(entry(5, 3), entry(6, 3)))
    answer = answered(handle_push(pusher(same=1), pushed(message), around(log(1, 1))))
    assert (answer.group, answer.index, answer.count) == ("g", 5, 2)

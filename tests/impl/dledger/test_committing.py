"""What a leader commits, what the state machine has, when a snapshot is saved and the log cut."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from types import MappingProxyType
from typing import Any

import pytest

from rocketha.dledger.committing import (
    append_as_leader,
    apply_next,
    check_quorum,
    cut_log,
    quorum_index,
    save_snapshot,
    sync_ledger,
)
from rocketha.dledger.member_state import Role
from rocketha.dledger.push_state import (
    ApplyCommitted,
    ApplyDue,
    Around,
    CutLogDue,
    DeleteBefore,
    DispatchDue,
    PusherAction,
    PusherState,
    PusherStepped,
    QuorumDue,
    SaveSnapshot,
    SnapshotDue,
    SyncDue,
    SyncLedger,
    WriteEntry,
)
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.known_bugs import Bug
from rocketha.known_bugs.dledger import pusher_rules
from rocketha.runtime.effects import After
from rocketha.types import LogIndex, Term
from tests.impl.dledger.pusher_scene import ListLog, around, log, pusher, thens


def leads(of: ListLog, **changed: Any) -> Around:
    return around(of, Role.LEADER, **changed)


def acknowledged(state: PusherState, *marks: int) -> PusherState:
    """What n1, n2 ... have acknowledged."""
    table = {f"n{number}": LogIndex(mark) for number, mark in enumerate(marks, start=1)}
    return replace(state, water_marks=MappingProxyType(table))


# ---- leaders ----


def test_an_entry_is_sent_at_once_and_on_the_disk_a_little_later() -> None:
    stepped = append_as_leader(pusher(), DLedgerEntryType.NORMAL, b"x", leads(log(1)))
    written = WriteEntry(kind=DLedgerEntryType.NORMAL, term=Term(3), body=b"x")
    assert stepped.effects[:2] == (written, After(wait_ms=10, event=SyncDue()))
    assert thens(stepped) == [DispatchDue()]
    assert stepped.action is PusherAction.APPEND_AS_LEADER
    again = append_as_leader(stepped.state, DLedgerEntryType.NORMAL, b"x", leads(log(1, 3)))
    assert not [one for one in again.effects if isinstance(one, After)], "it is asked for once"


def test_synchronizing_asks_again_what_a_majority_has() -> None:
    state = replace(pusher(), sync_asked=True)
    stepped = sync_ledger(state, leads(log(1, 3, synced=0)))
    assert stepped.effects[0] == SyncLedger()
    assert (stepped.action, thens(stepped)) == (PusherAction.SYNC, [QuorumDue()])
    assert not stepped.state.sync_asked
    stepped = sync_ledger(state, leads(log(1, 3)))
    assert (stepped.action, stepped.state.sync_asked) == (None, False)
    assert (len(stepped.effects), thens(stepped)) == (1, [QuorumDue()])


@pytest.mark.parametrize("members", [1, 2, 3, 4, 5])
def test_a_majority_has_an_entry_if_so_many_have(members: int) -> None:
    peers = tuple([f"n{number}" for number in range(members)])
    for marks in product((-1, 0, 2, 3), repeat=members - 1):
        for synced in (-1, 1, 3):
            of = leads(log(3, 3, 3, 3, synced=synced), peers=peers)
            index = quorum_index(acknowledged(pusher(), *marks), of)
            have = [sum(mark >= at for mark in (*marks, synced)) for at in range(4)]
            held = [at for at in range(4) if have[at] > members / 2]
            assert index == max(held, default=-1), (marks, synced)


def test_who_has_told_nothing_has_nothing() -> None:
    of = leads(log(3, 3, 3))
    assert quorum_index(pusher(), of) == -1
    assert quorum_index(acknowledged(pusher(), 1), of) == 1


def test_a_leader_counts_what_it_has_on_its_disk() -> None:
    of = leads(log(3, 3, 3, synced=0))
    assert quorum_index(acknowledged(pusher(), 2), of) == 0
    with_bug = leads(log(3, 3, 3, synced=0), push_rules=pusher_rules(frozenset({Bug.OWN_SYNC})))
    assert quorum_index(acknowledged(pusher(), 2), with_bug) == 2


def test_what_a_majority_has_is_committed() -> None:
    stepped = check_quorum(acknowledged(pusher(committed=0), 2, 1), leads(log(1, 3, 3, 3)))
    assert stepped.state.committed_index == 2
    assert (stepped.action, thens(stepped)) == (PusherAction.COMMIT_ENTRY, [ApplyDue()])


def test_what_is_committed_may_wait_for_the_state_machine() -> None:
    of = leads(log(1, 3, 3, 3), apply_wait_ms=20)
    stepped = check_quorum(acknowledged(pusher(committed=0), 2, 1), of)
    assert stepped.state.committed_index == 2
    assert stepped.effects == (After(wait_ms=20, event=ApplyDue()),)


@pytest.mark.parametrize(
    ("state", "of"),
    [
        (acknowledged(pusher(committed=2), 2), leads(log(1, 3, 3, 3))),
        (acknowledged(pusher(committed=0), 1), leads(log(1, 2, 3))),  # of an older term
        (acknowledged(pusher(committed=0), 2), around(log(1, 3, 3), Role.FOLLOWER)),
        (acknowledged(pusher(committed=0), 2), around(log(1, 3, 3), Role.CANDIDATE)),
        (acknowledged(pusher(committed=0), 1), leads(log(3, 3, 3, before=1))),
        (pusher(), leads(log())),
    ],
)
def test_nothing_else_is(state: PusherState, of: Around) -> None:
    assert check_quorum(state, of) == PusherStepped(state)


def test_of_an_older_term_something_is_committed_with_the_own_term_or_the_bug() -> None:
    state = acknowledged(pusher(committed=0), 1)
    assert check_quorum(state, leads(log(1, 2, 3))).action is None
    assert check_quorum(acknowledged(state, 2), leads(log(1, 2, 3))).state.committed_index == 2
    rules = pusher_rules(frozenset({Bug.COMMIT_OWN_TERM}))
    stepped = check_quorum(state, leads(log(1, 2, 3), push_rules=rules))
    assert stepped.state.committed_index == 1


# ---- the state machine ----


def test_entries_are_applied_one_a_step() -> None:
    state = pusher(committed=1)
    for index in (0, 1):
        stepped = apply_next(state, around(log(1, 1, 2)))
        assert stepped.effects[0] == ApplyCommitted(index=LogIndex(index))
        assert (stepped.action, thens(stepped)) == (PusherAction.APPLY, [ApplyDue()])
        state = stepped.state
    assert apply_next(state, around(log(1, 1, 2))) == PusherStepped(state)


def test_what_is_not_here_is_not_applied() -> None:
    state = pusher(committed=5, applied=1)
    assert apply_next(state, around(log(1, 1))) == PusherStepped(state)


@pytest.mark.parametrize(
    ("enabled", "snapshot", "due"),
    [(True, 0, [SnapshotDue()]), (True, 1, [CutLogDue()]), (True, -1, []), (False, -1, [])],
)
def test_a_snapshot_is_due_after_so_many_entries(
    enabled: bool, snapshot: int, due: list[object]
) -> None:
    """And what the last one stands for is cut, if it has not been yet."""
    many = 2 if snapshot >= 0 else 9
    of = around(log(1, 1, 1), enable_snapshot=enabled, snapshot_threshold=many)
    stepped = apply_next(pusher(committed=2, applied=2, snapshot=snapshot), of)
    assert thens(stepped) == due
    assert stepped.action is None


def test_a_snapshot_is_of_what_is_applied() -> None:
    stepped = save_snapshot(pusher(committed=2, applied=1, snapshot=0), around(log(1, 1, 2)))
    assert stepped.effects[0] == SaveSnapshot(index=LogIndex(1), term=Term(1))
    assert (stepped.action, thens(stepped)) == (PusherAction.SAVE_SNAPSHOT, [CutLogDue()])
    assert stepped.state.snapshot_index == 1


@pytest.mark.parametrize(
    "state", [pusher(), pusher(applied=1, snapshot=1), pusher(applied=5, snapshot=1)]
)
def test_nothing_new_needs_no_snapshot(state: PusherState) -> None:
    assert save_snapshot(state, around(log(1, 1, 2))) == PusherStepped(state)


# ---- the log behind a snapshot ----


def test_what_a_snapshot_has_is_cut() -> None:
    state = pusher(committed=2, applied=2, snapshot=1)
    stepped = cut_log(state, around(log(1, 1, 2)))
    assert stepped.effects == (DeleteBefore(index=LogIndex(1)),)
    assert (stepped.state, stepped.action) == (state, PusherAction.CUT_LOG)
    rules = pusher_rules(frozenset({Bug.B68}))
    stepped = cut_log(state, around(log(1, 1, 2), push_rules=rules))
    assert stepped.effects == (DeleteBefore(index=LogIndex(2)),)


def test_the_rest_is_on_the_disk_before_the_log_is_cut() -> None:
    state = pusher(committed=2, applied=2, snapshot=1)
    stepped = cut_log(state, around(log(1, 1, 2, synced=1)))
    assert stepped.effects[0] == SyncLedger()
    assert (stepped.action, thens(stepped)) == (PusherAction.SYNC, [CutLogDue()])


@pytest.mark.parametrize(
    ("of", "snapshot"), [(log(1, 1, 2), -1), (log(1, 1, 2, before=1), 1), (log(1, 1), 2)]
)
def test_nothing_is_cut_twice_or_behind_the_end(of: ListLog, snapshot: int) -> None:
    state = pusher(snapshot=snapshot)
    assert cut_log(state, around(of)) == PusherStepped(state)

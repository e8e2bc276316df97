"""PUSH of releases up to 0.3.2: what a leader sends, what a follower does, and whole groups."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.connections import DLedgerCore
from rocketha.dledger.node_state import NodeState, NodeStepped
from rocketha.dledger.push_state import (
    AppendPushed,
    DispatchDue,
    DispatcherState,
    EntryDispatcher,
    SyncLedger,
    TruncateLedger,
)
from rocketha.errors import ConfigurationError
from rocketha.formats.dledger_codes import DLedgerRequestCode, DLedgerResponseCode, PushType
from rocketha.formats.dledger_entry import DLedgerEntry
from rocketha.formats.dledger_request_codec import (
    pull_request,
    pull_response,
    push_request,
    push_response,
)
from rocketha.formats.dledger_requests import LegacyPushEntryRequest, LegacyPushEntryResponse
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.histories.linearizability.checker import Linearizable
from rocketha.runtime.effects import Respond, SendRequest, Then
from rocketha.runtime.events import RequestArrived, ResponseArrived
from rocketha.sim.dledger.cluster import NullDLedgerObserver
from rocketha.sim.dledger.plan import DLedgerPlan, draw_dledger_run
from rocketha.sim.dledger.simulation import SIMULATION
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.engine.simulation import simulate
from rocketha.types import LogIndex, Term
from tests.impl.dledger.pusher_scene import NOW, REQUEST, TERM, ListLog, entry, log, pusher
from tests.impl.dledger.scene import follower, leader

Code = DLedgerResponseCode
CORE = DLedgerCore()
PUSH = DLedgerRequestCode.PUSH


def follows(*, same: int = -1, committed: int = -1) -> NodeState:
    """A follower of n1 in term 3."""
    elector = follower(legacy_push=True)
    return NodeState(elector=elector, pusher=pusher(same=same, committed=committed))


def legacy(kind: PushType, *entries: DLedgerEntry) -> LegacyPushEntryRequest:
    return LegacyPushEntryRequest(
        group="g",
        local_id="n1",
        remote_id="n0",
        leader_id="n1",
        term=TERM,
        kind=kind,
        entry=entries[0] if len(entries) == 1 else None,
        batch_entry=entries if len(entries) > 1 else (),
    )


def run_push(
    state: NodeState, of: ListLog, message: LegacyPushEntryRequest
) -> tuple[LegacyPushEntryResponse, ListLog, list[str]]:
    """Let a follower take a push and all that follows; return its answer, its log, what it did."""
    command = push_request(message, opaque=1)
    events: list[object] = [RequestArrived(request=REQUEST, command=command)]
    did: list[str] = []
    answers: list[LegacyPushEntryResponse] = []
    while events:
        stepped: NodeStepped = CORE.step(state, events.pop(0), now_ms=NOW, log=of)  # type: ignore[arg-type]
        state = stepped.state
        for effect in stepped.effects:
            match effect:
                case Then(event=event):
                    events.append(event)
                case TruncateLedger(index=index):
                    of = replace(of, terms=of.terms[:index])
                case AppendPushed(entry=pushed):
                    of = replace(of, terms=(*of.terms, pushed.term))
                case SyncLedger():
                    of = replace(of, synced=None)
                case Respond(code=code, body=body):
                    said = RemotingCommand(code=code, body=body, opaque=1, flag=FLAG_RESPONSE)
                    answer = pull_response(said, PUSH)
                    assert isinstance(answer, LegacyPushEntryResponse)
                    answers.append(answer)
                case _:
                    pass
            if not isinstance(effect, Then | Respond):
                did.append(type(effect).__name__)
    (answer,) = answers
    assert state.legacy_pushes == {}
    return answer, of, did


@pytest.mark.parametrize(
    ("of", "asked", "code", "did"),
    [
        (log(2, 3), entry(1, 3), Code.SUCCESS, []),
        (log(2, 3, synced=0), entry(1, 3), Code.SUCCESS, ["SyncLedger"]),
        (log(2, 2), entry(1, 3), Code.INCONSISTENT_STATE, []),
        (log(2), entry(1, 3), Code.INCONSISTENT_STATE, []),
        (log(), entry(0, 3), Code.INCONSISTENT_STATE, []),
        (log(2, 3), entry(1, 3, b"other"), Code.INCONSISTENT_STATE, []),
    ],
)
def test_a_follower_compares_whole_entries_and_says_what_is_on_its_disk(
    of: ListLog, asked: DLedgerEntry, code: Code, did: list[str]
) -> None:
    answer, after, done = run_push(follows(), of, legacy(PushType.COMPARE, asked))
    assert (answer.response_code, done) == (code, did)
    assert (answer.index, answer.count) == (asked.index, 1)
    assert answer.end_index == of.end_index
    assert answer.begin_index == (0 if of.terms else -1)
    assert after.terms == of.terms


@pytest.mark.parametrize(
    ("of", "asked", "left"),
    [
        (log(2, 3, 3, 3), entry(1, 3), (2, 3)),
        (log(2, 3), entry(1, 3), (2, 3)),
        (log(1, 1), entry(0, 2), (2,)),
        (log(), entry(0, 2), (2,)),
    ],
)
def test_after_a_truncate_the_log_ends_with_the_entry(
    of: ListLog, asked: DLedgerEntry, left: tuple[int, ...]
) -> None:
    same = asked.index if of.term_at(asked.index) == asked.term else -1  # it was compared
    answer, after, _ = run_push(follows(same=same), of, legacy(PushType.TRUNCATE, asked))
    assert (answer.response_code, after.terms) == (Code.SUCCESS, left)
    assert (answer.end_index, answer.index) == (asked.index, asked.index)


def test_a_truncate_takes_nothing_that_is_committed_or_surely_the_leaders() -> None:
    late = legacy(PushType.TRUNCATE, entry(0, 2))
    answer, after, did = run_push(follows(committed=1), log(2, 3, 3), late)
    assert (answer.response_code, did) == (Code.INCONSISTENT_STATE, [])
    answer, after, did = run_push(follows(same=2), log(2, 3, 3), late)
    assert (answer.response_code, after.terms, did) == (Code.SUCCESS, (2, 3, 3), [])


def test_entries_are_appended_one_by_one_or_as_a_batch() -> None:
    for entries in ((entry(1, 3),), (entry(1, 3), entry(2, 3))):
        asked = legacy(PushType.APPEND, *entries)
        answer, after, _ = run_push(follows(same=0), log(2), asked)
        assert answer.response_code is Code.SUCCESS
        assert (answer.index, answer.count) == (1, len(entries))
        assert after.terms == (2, *[3] * len(entries))


@pytest.mark.parametrize("kind", [PushType.COMPARE, PushType.TRUNCATE, PushType.APPEND])
def test_a_push_without_its_entry_is_refused(kind: PushType) -> None:
    answer, _, did = run_push(follows(), log(2), legacy(kind))
    assert (answer.response_code, did) == (Code.UNEXPECTED_ARGUMENT, [])


def test_a_commit_is_answered_without_an_index() -> None:
    answer, _, _ = run_push(follows(), log(2), legacy(PushType.COMMIT))
    assert (answer.response_code, answer.index, answer.count) == (Code.SUCCESS, None, 0)


def test_who_is_asked_wrongly_says_so() -> None:
    stranger = replace(legacy(PushType.COMMIT), remote_id="n2")
    command = push_request(stranger, opaque=1)
    event = RequestArrived(request=REQUEST, command=command)
    stepped = CORE.step(follows(), event, now_ms=NOW, log=log(2))
    (said,) = stepped.effects
    assert isinstance(said, Respond)
    assert b'"code":401' in said.body
    assert stepped.state.legacy_pushes == {}


# ---- a leader ----


def leads(of: ListLog) -> tuple[NodeState, list[LegacyPushEntryRequest], SendRequest | None]:
    """A leader that begins to push to n1; return what it says."""
    one = EntryDispatcher(write_index=LogIndex(of.end_index + 1))
    state = NodeState(elector=leader(legacy_push=True), pusher=pusher().with_dispatcher("n1", one))
    return pushed(state, DispatchDue(), of)


def pushed(
    state: NodeState, event: object, of: ListLog
) -> tuple[NodeState, list[LegacyPushEntryRequest], SendRequest | None]:
    events, said, last = [event], list[LegacyPushEntryRequest](), None
    while events:
        stepped = CORE.step(state, events.pop(0), now_ms=NOW, log=of)  # type: ignore[arg-type]
        state = stepped.state
        for effect in stepped.effects:
            if isinstance(effect, Then):
                events.append(effect.event)
            elif isinstance(effect, SendRequest):
                command = RemotingCommand(code=effect.code, body=effect.body, opaque=1)
                message = pull_request(command)
                assert isinstance(message, LegacyPushEntryRequest)
                said.append(message)
                last = effect
    return state, said, last


def heard(
    state: NodeState, sent: SendRequest | None, of: ListLog, code: Code, end: int
) -> tuple[NodeState, list[LegacyPushEntryRequest], SendRequest | None]:
    assert sent is not None
    answer = LegacyPushEntryResponse(
        group="g", code=int(code), term=TERM, begin_index=LogIndex(0), end_index=LogIndex(end)
    )
    command = push_response(answer, opaque=1)
    return pushed(state, ResponseArrived(reference=sent.reference, command=command), of)


def about(said: list[LegacyPushEntryRequest]) -> list[tuple[str, int | None]]:
    return [(one.kind.value, one.entry.index if one.entry else None) for one in said]


def test_a_leader_compares_entry_by_entry_and_cuts_only_what_is_to_be_cut() -> None:
    of = log(1, 2, 3)
    state, said, sent = leads(of)
    assert about(said) == [("COMPARE", 2)]
    state, said, sent = heard(state, sent, of, Code.INCONSISTENT_STATE, 5)
    assert about(said) == [("COMPARE", 1)]
    again, said, _ = heard(state, sent, of, Code.SUCCESS, 1)
    assert again.pusher.dispatchers["n1"].type is DispatcherState.APPEND
    assert about(said) == [("APPEND", 2)]
    assert again.pusher.water_marks["n1"] == 1
    state, said, sent = heard(state, sent, of, Code.SUCCESS, 5)
    assert about(said) == [("TRUNCATE", 1)]
    state, said, sent = heard(state, sent, of, Code.SUCCESS, 1)
    assert about(said) == [("APPEND", 2)]


def test_a_follower_that_shares_nothing_begins_with_the_first_entry() -> None:
    of = log(1, 2)
    state, _, sent = leads(of)
    state, said, sent = heard(state, sent, of, Code.INCONSISTENT_STATE, -1)
    assert about(said) == [("TRUNCATE", 0)]
    state, said, _ = heard(state, sent, of, Code.SUCCESS, 0)
    assert about(said) == [("APPEND", 1)]
    assert state.pusher.water_marks["n1"] == 0


def test_a_leader_without_entries_asks_for_nothing_but_to_be_heard() -> None:
    state, said, _ = leads(log())
    assert about(said) == [("COMMIT", None)]
    assert state.pusher.dispatchers["n1"].type is DispatcherState.APPEND
    _, said, _ = pushed(state, DispatchDue(), log(3))
    assert about(said) == [("APPEND", 0)]


def test_entries_that_are_sent_have_no_channel() -> None:
    class Channelled(ListLog):
        def entry(self, index: LogIndex) -> DLedgerEntry:
            return replace(super().entry(index), channel=9)

    _, said, _ = leads(Channelled((Term(3),)))
    assert [one.entry.channel for one in said if one.entry] == [0]


@pytest.mark.parametrize("other", ["enable_snapshot", "enable_fast_advance_commit_index"])
def test_what_these_releases_have_not_cannot_be_had(other: str) -> None:
    with pytest.raises(ConfigurationError, match="legacyPush"):
        DLedgerConfig(legacy_push=True, **{other: True})  # type: ignore[arg-type]


# ---- groups ----


def _draw(streams: PerPurposeStreams, options: SimOptions) -> DLedgerPlan:
    plan = draw_dledger_run(streams, options)
    configs = [
        replace(one, enable_snapshot=False, enable_fast_advance_commit_index=False)
        for one in plan.configs
    ]
    return replace(plan, configs=tuple([replace(one, legacy_push=True) for one in configs]))


def test_a_group_that_pushes_so_converges_and_is_linearizable() -> None:
    simulation = replace(SIMULATION, draw_plan=_draw)
    for seed in range(8):
        group = simulate(simulation, seed, SimOptions(), NullDLedgerObserver())
        assert group.obligations.counted
        assert not group.obligations.missed, seed
        assert group.report.converged, seed
        assert isinstance(group.check(), Linearizable), seed

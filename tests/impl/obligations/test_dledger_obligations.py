"""What members of a DLedger group owe: correct runs miss nothing, each omission is noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

import msgspec
import pytest

from rocketha.dledger import elector, heartbeats, node, roles, transfer
from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.connections import DLedgerCore
from rocketha.dledger.entry_dispatcher import count_push
from rocketha.dledger.heartbeats import count_beat
from rocketha.dledger.node_state import NodeState
from rocketha.dledger.push_state import Around, PushAnswered, PusherState, PusherStepped
from rocketha.dledger.state import (
    Answered,
    AskedToLead,
    Beat,
    ElectorState,
    ElectorStepped,
    PreferredLeaderDue,
)
from rocketha.dledger.transfer import check_preferred_leader, hear_of_transfer
from rocketha.formats.dledger_codes import DLedgerResponseCode
from rocketha.formats.dledger_requests import PushEntryResponse
from rocketha.known_bugs import NO_BUGS, Bug, Bugs
from rocketha.obligations.dledger import DLEDGER, _all_dues
from rocketha.obligations.dledger_turns import FORGED
from rocketha.obligations.obligation import RecordedRun, check_obligations
from rocketha.recording.record import STARTED, NodeHeader, NodeRecord, SentMessage
from rocketha.sim.dledger import member
from rocketha.sim.dledger.simulation import SIMULATION
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import simulate
from rocketha.sim.register.simulation import SIMULATION as REGISTER
from rocketha.types import Term, TimestampMs

SEEDS: Final = (0, 4, 27, 33)
"""Runs in which all obligations come due, and all omissions are noticed."""

Change = Callable[[NodeRecord], NodeRecord]


def recorded(seed: int, steps: int | None = None, bugs: Bugs = NO_BUGS) -> RecordedRun:
    headers: dict[str, NodeHeader] = {}
    records: list[NodeRecord] = []

    def write(line: NodeHeader | NodeRecord) -> None:
        if isinstance(line, NodeHeader):
            headers[line.node] = line
        else:
            records.append(line)

    options = SimOptions(steps=steps, bugs=bugs)
    run = simulate(SIMULATION, seed, options, SIMULATION.unobserved(), write=write)
    ended_ms = TimestampMs(run.report.virtual_ms)
    return RecordedRun(headers=headers, records=records, ended_ms=ended_ms)


@pytest.fixture(scope="module")
def runs() -> list[RecordedRun]:
    return [recorded(seed) for seed in SEEDS]


def test_correct_runs_have_occasions_of_all_and_miss_none(runs: list[RecordedRun]) -> None:
    counted: Counter[str] = Counter()
    for run in runs:
        findings = check_obligations(DLEDGER, run)
        assert findings.missed == ()
        counted.update(findings.counted)

    assert set(+counted) == {obligation.name for obligation in DLEDGER}


@pytest.mark.parametrize(
    ("seed", "obligation"), [(8525, "entries pushed"), (4709, "leaderships handed over")]
)
def test_five_members_of_a_register_miss_none(seed: int, obligation: str) -> None:
    """An unanswered push may be older than another one; a transfer is asked for twice."""
    run = simulate(REGISTER, seed, SimOptions(brokers=5), REGISTER.unobserved())

    assert run.obligations.counted[obligation]
    assert not run.obligations.missed


# ---- what is not done ----


def without(*parts: str, value: object = ...) -> Change:
    """Let a part stay what it was; with a `value`, where it would become that."""

    def change(record: NodeRecord) -> NodeRecord:
        kept = {
            name: one
            for name, one in record.state.items()
            if name not in parts or (value is not ... and one != value)
        }
        return msgspec.structs.replace(record, state=kept)

    return change


def silent(*codes: int | str) -> Change:
    """Let requests with these codes, or with these words in them, not be sent."""

    def is_kept(message: SentMessage) -> bool:
        return not any(
            code == message.code if isinstance(code, int) else code in (message.body or "")
            for code in codes
        )

    return lambda record: msgspec.structs.replace(record, sent=tuple(filter(is_kept, record.sent)))


def saying(this: str, instead: str, *, asks: bool = False) -> Change:
    """Let answers say something else, or requests."""

    def said(message: SentMessage) -> SentMessage:
        if (message.to is not None) != asks:
            return message
        body = (message.body or "").replace(this, instead)
        return msgspec.structs.replace(message, body=body)

    return lambda record: msgspec.structs.replace(record, sent=tuple(map(said, record.sent)))


def unanswered(record: NodeRecord) -> NodeRecord:
    return msgspec.structs.replace(record, answered=())


def hanging_on(record: NodeRecord) -> NodeRecord:
    """Let the connection stay open over which it heard what is no request."""
    left = [one for one in record.answered if one != {"is": "OutsiderRefused"}]
    return msgspec.structs.replace(record, answered=tuple(left))


def twice(record: NodeRecord) -> NodeRecord:
    return msgspec.structs.replace(record, answered=record.answered * 2)


def in_other_words(record: NodeRecord) -> NodeRecord:
    """Let an operator hear something else."""
    answered = [
        {**one, "body": '{"code":200}'} if "body" in one else one for one in record.answered
    ]
    return msgspec.structs.replace(record, answered=tuple(answered))


def believing(record: NodeRecord) -> NodeRecord:
    """Let it take what it refuses for news of a larger term."""
    hears = any(isinstance(one, dict) and one.get("is") in FORGED for one in record.heard)
    state = {**record.state, "known": 61} if hears else record.state
    return msgspec.structs.replace(record, state=state)


def telling(this: str, instead: str) -> Change:
    """Let a client hear something else."""

    def told(one: Any) -> Any:
        return {**one, "body": one["body"].replace(this, instead)} if "body" in one else one

    return lambda record: msgspec.structs.replace(
        record, answered=tuple(map(told, record.answered))
    )


def with_files_left(record: NodeRecord) -> NodeRecord:
    """Let a file of the log stay, though its entries are cut."""
    if "begin" not in record.state:
        return record
    state = {**record.state, "needless": ["index/00000000000000000000"]}
    return msgspec.structs.replace(record, state=state)


def with_a_snapshot_of_all(record: NodeRecord) -> NodeRecord:
    """Let a snapshot be saved whenever an entry is applied."""
    if "applied" not in record.state:
        return record
    state = {**record.state, "snapshot": record.state["applied"]}
    return msgspec.structs.replace(record, state=state)


def hasty(record: NodeRecord) -> NodeRecord:
    return msgspec.structs.replace(record, shows_ms=record.shows_ms // 2)


def both(one: Change, other: Change) -> Change:
    return lambda record: other(one(record))


STAYS_LEADER: Final = both(without("role", value="CANDIDATE"), without("role", value="FOLLOWER"))
VOTE, HEART_BEAT, PUSH = 51001, 51002, 51004


@pytest.mark.parametrize(
    ("obligation", "change"),
    [
        ("votes decided", saying("REJECT_ALREADY_VOTED", "ACCEPT")),
        ("votes decided", saying("REJECT_EXPIRED_LEDGER_TERM", "REJECT_EXPIRED_VOTE_TERM")),
        ("votes decided", silent(VOTE)),
        ("beats answered", saying('"code":416', '"code":200')),
        ("pushes answered", saying('"code":406', '"code":200')),
        ("pushes answered", saying('"beginIndex":', '"beginIndex":9')),
        ("pushes answered", saying('"endIndex":3,', '"endIndex":4,')),
        ("pushes answered", saying('"code":422,', '"code":422,"index":3,')),
        ("commits learned", without("committed")),
        ("requests answered", silent("voteResult")),
        ("term and vote kept", without("kept")),
        ("entries applied", without("applied")),
        ("queues worked off", without("applied")),
        ("snapshots saved", without("snapshot")),
        ("snapshots saved", with_a_snapshot_of_all),
        ("logs cut", without("begin", "log")),
        ("entries committed", without("committed")),
        ("leaderships begun", silent("COMPARE")),
        ("pushes go on", silent("TRUNCATE")),
        ("entries pushed", silent('"firstEntryIndex":9,')),
        ("rounds judged", without("own_answer", value=None)),
        ("rounds judged", without("to_next")),
        ("leaderships handed over", without("taking")),
        ("heartbeats sent", silent(HEART_BEAT)),
        ("leaders given up", without("role", value="CANDIDATE")),
        ("lost quorums known", without("role", value="CANDIDATE")),
        ("votes asked for", without("own_answer")),
        ("rounds ended", both(without("curr_term"), without("own_answer", value=None))),
        ("transfers ended", both(STAYS_LEADER, without("transferee", value=None))),
        ("entries synchronized", without("synced")),
        ("pushes sent", silent(PUSH)),
        ("clients answered", unanswered),
        ("clients answered", twice),
        ("operators answered", unanswered),
        ("operators answered", twice),
        ("operators answered", in_other_words),
        ("misdirected refused", unanswered),
        ("misdirected refused", in_other_words),
        ("forged refused", unanswered),
        ("forged refused", in_other_words),
        ("forged refused", believing),
        ("forged refused", hanging_on),
        ("misdirected refused", believing),
        ("files removed", with_files_left),
        ("entries as written", saying('"body":"', '"body":"AAAA', asks=True)),
        ("entries as written", saying('"bodyCrc":', '"bodyCrc":0,"x":', asks=True)),
        ("entries as written", saying('"index":1,"magic"', '"index":999,"magic"', asks=True)),
        ("entries as written", saying('"size":70,"term":', '"size":70,"term":9', asks=True)),
        ("answers to clients", in_other_words),
        ("answers to clients", telling('"group":"', '"group":"x')),
        ("answers to clients", telling('"leaderId":"b', '"leaderId":"x')),
        ("answers to clients", telling('"peers":{"b1"', '"peers":{"x"')),
        ("answers to clients", telling('"code":404', '"code":403')),
        ("answers to clients", telling('"body":"', '"body":"AAAA')),
        ("answers to clients", telling('"channel":0', '"channel":1')),
        ("answers to clients", telling('"pos":1', '"pos":-1')),
        ("answers to clients", telling('"code":501', '"code":200')),
        ("errors rested after", hasty),
        ("patience", hasty),
    ],
)
def test_an_omission_is_noticed_in_few_seeds(
    obligation: str, change: Change, runs: list[RecordedRun]
) -> None:
    missed: set[str] = set()
    for run in runs:
        records = [one if one.event == STARTED else change(one) for one in run.records]
        changed = RecordedRun(headers=run.headers, records=records, ended_ms=run.ended_ms)
        (one,) = [one for one in DLEDGER if one.name == obligation]
        missed |= {found.obligation for found in check_obligations([one], changed).missed}
        if missed:
            return
    pytest.fail(f"nobody notices that {obligation} is not done")


def test_who_sends_entries_again_later_than_its_settings_say_is_noticed(
    runs: list[RecordedRun],
) -> None:
    missed: set[str] = set()
    for run in runs:
        headers = {
            name: msgspec.structs.replace(
                header, settings={**header.settings, "max_push_time_out_ms": 10}
            )
            for name, header in run.headers.items()
        }
        found = check_obligations(DLEDGER, replace(run, headers=headers)).missed
        missed |= {one.obligation for one in found}

    assert "pushes repeated" in missed


def test_who_votes_before_it_has_its_log_again_is_noticed() -> None:
    """In run 0 a log is thrown away: its node votes for itself."""
    missed = check_obligations(DLEDGER, recorded(0, bugs=frozenset({Bug.REFILLED}))).missed

    assert "votes decided" in {one.obligation for one in missed}


def test_who_forgets_that_its_log_was_thrown_away_is_noticed() -> None:
    """From the start after it on its disk has term and vote, and no more."""
    run = recorded(0)
    assert not check_obligations(DLEDGER, run).missed
    throws = next(one for one in run.records if _refill_term(one) >= 0)

    def forgets(record: NodeRecord) -> NodeRecord:
        if record.node != throws.node or record.sequence == throws.sequence:
            return record
        kept = record.state.get("kept")
        if not isinstance(kept, dict):
            return record
        state = {**record.state, "kept": {**kept, "refill_term": -1}}
        return msgspec.structs.replace(record, state=state)

    missed = check_obligations(DLEDGER, replace(run, records=[*map(forgets, run.records)])).missed
    assert "term and vote kept" in {one.obligation for one in missed}


def test_who_starts_with_a_term_that_a_power_cut_takes_is_noticed() -> None:
    """Its disk has what it had before, and its memory a later term."""
    run = recorded(0)
    start = next(
        one
        for one in run.records
        if one.event == "Started" and one.incarnation > 1 and not one.sent and not one.answered
    )
    state = {**start.state, "curr_term": _curr_term(run, start) + 1}
    later = msgspec.structs.replace(start, state=state)
    changed = [later if one is start else one for one in run.records]

    missed = check_obligations(DLEDGER, replace(run, records=changed)).missed

    found = [one for one in missed if one.obligation == "term and vote kept"]
    assert [one.due.node for one in found if "Started" in one.due.what] == [start.node]


def _curr_term(run: RecordedRun, record: NodeRecord) -> int:
    """Return the term of a record's node, at that record."""
    upto = [one for one in run.by_node[record.node] if one.at_ns <= record.at_ns]
    return int([one.state["curr_term"] for one in upto if "curr_term" in one.state][-1])


def _refill_term(record: NodeRecord) -> int:
    kept = record.state.get("kept")
    return int(kept["refill_term"]) if isinstance(kept, dict) else -1


def test_a_leader_whom_too_few_follow_yet_must_not_wait_an_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judge = heartbeats._judge

    def waits(state: ElectorState, beat: Beat, *, now_ms: TimestampMs) -> ElectorStepped:
        stepped = judge(state, beat, now_ms=now_ms)
        sent_ms = state.last_send_heart_beat_ms
        return replace(stepped, state=replace(stepped.state, last_send_heart_beat_ms=sent_ms))

    monkeypatch.setattr(heartbeats, "_judge", waits)

    missed = check_obligations(DLEDGER, recorded(10)).missed

    assert "send heartbeats again" in {one.due.what for one in missed}


def test_who_does_not_wait_for_a_leader_after_a_restart_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits = "wait for a leader after it was started again"
    assert waits in {due.what for _, due in _all_dues(recorded(16))}

    def hurries(config: DLedgerConfig, *given: Any, **named: Any) -> NodeState:
        return node.started(replace(config, waits_after_restart=False), *given, **named)

    monkeypatch.setattr(member, "node_started", hurries)

    assert waits in {one.due.what for one in check_obligations(DLEDGER, recorded(16)).missed}


def test_who_hands_over_to_somebody_of_whom_it_has_heard_nothing_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def hopes(state: ElectorState, event: PreferredLeaderDue, **named: Any) -> ElectorStepped:
        alive = dict.fromkeys(state.config.peers, True)
        table = MappingProxyType({**alive, **state.member.peers_live_table})
        believes = replace(state, member=replace(state.member, peers_live_table=table))
        return check_preferred_leader(believes, event, **named)

    monkeypatch.setattr(elector, "check_preferred_leader", hopes)

    missed = check_obligations(DLEDGER, recorded(18)).missed

    assert {one.obligation for one in missed} == {"leaderships handed over"}


def test_an_operator_must_not_hear_of_a_transfer_what_was_said_of_something_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def heard(state: ElectorState, event: Answered, *, now_ms: TimestampMs) -> ElectorStepped:
        if state.transfer is not None:
            return hear_of_transfer(state, event)
        return count_beat(state, event, now_ms=now_ms)

    monkeypatch.setattr(elector, "count_beat", heard)

    missed = check_obligations(DLEDGER, recorded(0)).missed

    assert "wait for what a follower says of its leadership" in {one.due.what for one in missed}


def test_who_forgets_that_it_was_asked_to_lead_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    take_when_ready = transfer._take_when_ready

    def forgets(state: ElectorState, waiting: AskedToLead, **named: Any) -> ElectorStepped:
        stepped = take_when_ready(state, waiting, **named)
        return replace(stepped, state=replace(stepped.state, asked_to_lead=None))

    monkeypatch.setattr(transfer, "_take_when_ready", forgets)

    missed = check_obligations(DLEDGER, recorded(0)).missed

    assert {one.obligation for one in missed} == {"requests to lead answered"}


def test_who_compares_again_for_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = PushEntryResponse(code=int(DLedgerResponseCode.NETWORK_ERROR))

    def loses_its_place(state: PusherState, event: PushAnswered, around: Around) -> PusherStepped:
        return count_push(state, replace(event, message=event.message or failed), around)

    monkeypatch.setattr(node, "count_push", loses_its_place)
    runs = map(recorded, range(4))
    missed = [one.obligation for run in runs for one in check_obligations(DLEDGER, run).missed]
    assert {*missed} == {"pushes go on"}


def test_who_never_says_whether_it_leads_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    handle_role_change = roles._handle_role_change

    def tells_nobody(state: ElectorState, term: Term) -> roles.Changed:
        state, effects = handle_role_change(state, term)
        return state, effects[-1:]

    monkeypatch.setattr(roles, "_handle_role_change", tells_nobody)

    missed = check_obligations(DLEDGER, recorded(0)).missed

    assert {one.obligation for one in missed} == {"requests to lead answered"}


def test_why_an_entry_that_is_too_large_is_refused_must_be_said(runs: list[RecordedRun]) -> None:
    def otherwise(record: NodeRecord) -> NodeRecord:
        told: list[Any] = [*record.answered]
        answered = [{**one, "code": 404} if one.get("code") == 414 else one for one in told]
        return msgspec.structs.replace(record, answered=tuple(answered))

    missed: set[str] = set()
    for run in runs:
        changed = replace(run, records=[*map(otherwise, run.records)])
        missed |= {one.obligation for one in check_obligations(DLEDGER, changed).missed}

    assert missed == {"clients answered", "answers to clients"}


def test_a_timer_that_is_always_due_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DLedgerCore, "next_timer_ms", lambda *_: TimestampMs(0))

    missed = check_obligations(DLEDGER, recorded(0, steps=20)).missed

    assert "sleep until there is something to do" in {one.due.what for one in missed}


def test_who_has_cut_the_entry_to_truncate_by_must_send_its_snapshot() -> None:
    run, change = recorded(151), silent(51006)
    (one,) = [one for one in DLEDGER if one.name == "pushes go on"]
    records = [record if record.event == STARTED else change(record) for record in run.records]
    changed = RecordedRun(headers=run.headers, records=records, ended_ms=run.ended_ms)

    assert check_obligations([one], run).missed == ()
    missed = check_obligations([one], changed).missed
    assert [(one.due.node, one.due.since_ms) for one in missed] == [("b1", 583), ("b1", 610)]


def test_who_perhaps_waits_since_long_owes_nothing_for_what_it_has_just_pushed() -> None:
    findings = check_obligations(DLEDGER, recorded(295))

    assert findings.missed == ()
    assert findings.counted["entries pushed"] > 0


def test_what_is_made_of_a_run_is_made_once() -> None:
    run, made = RecordedRun(headers={}, records=[], ended_ms=TimestampMs(0)), list[Any]()

    def make(of: RecordedRun) -> int:
        made.append(of)
        return len(made)

    assert (run.once(make), run.once(make)) == (1, 1)

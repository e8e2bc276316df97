"""What brokers of a group and their controller wrote, as behaviours of SyncStateSet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec
import pytest

from rocketha.known_bugs import Bug
from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import STOPPED, NodeRecord, RecordError
from rocketproof.museum_judge import judge_with
from rocketproof.protocols import PROTOCOLS
from tests.traces.rocketproof.recorded_runs import SUBJECTS, changed, judged, recorded
from tlatrace.judgement.verdict import Conforms, Diverges, Verdict, combine, kind
from tlatrace.tools.manifest import Mutant, read_manifest
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.trace import Trace

PLUG: Final = PROTOCOLS["sync_state_set"]
SEED: Final = 1

Change = Callable[[NodeRecord], NodeRecord]


def logs() -> tuple[NodeLog, ...]:
    return recorded("sync_state_set", SEED).logs


def acts(action: str) -> Callable[[NodeRecord], bool]:
    return lambda record: record.action == action


def decides(kind_of_event: str) -> Callable[[NodeRecord], bool]:
    def found(record: NodeRecord) -> bool:
        return any(event["is"] == kind_of_event for event in record.params.get("events", ()))

    return found


def with_part(name: str, value: object) -> Change:
    return lambda r: msgspec.structs.replace(r, state={**r.state, name: value})


def with_params(**params: object) -> Change:
    return lambda r: msgspec.structs.replace(r, params={**r.params, **params})


def verdicts_of(runs: Sequence[Sequence[NodeLog]]) -> list[Verdict]:
    """Judge runs, each by all its master epochs."""
    traces = [PLUG.traces_of_records(run) for run in runs]
    verdicts = iter(judged([trace for of_run in traces for trace in of_run]))
    return [combine([next(verdicts) for _ in of_run]) for of_run in traces]


def test_each_bug_is_among_the_runs_that_are_compared() -> None:
    subject = SUBJECTS["sync_state_set"]

    # Of NewEpoch there is no master epoch at all.
    assert PLUG.bugs == {*subject.seed_of_bug, *subject.unseen, Bug.NEW_EPOCH}


# ---- what is changed in a record ----


def with_acks(to: int) -> Change:
    def changed_record(r: NodeRecord) -> NodeRecord:
        ends = [[conn, {**end, "slave_ack": to}] for conn, end in r.state["servers"]]
        return with_part("servers", ends)(r)

    return changed_record


def with_another_epoch(record: NodeRecord) -> NodeRecord:
    log = record.state["log"]
    return with_part("log", {"kept": log["kept"], "added": [9 for _ in log["added"]]})(record)


CASES: Final[dict[str, tuple[Callable[[NodeRecord], object], Change, str]]] = {
    "a report of more than the slave has": (
        lambda r: r.action == "ReceiveAck" and "servers" in r.state,
        with_acks(1_280),
        "ReceiveAck",
    ),
    "a message that was confirmed too far": (
        acts("Acknowledge"),
        with_params(offset=100_000),
        "Acknowledge",
    ),
    "a consumer who sees more than is confirmed": (
        acts("Consume"),
        with_params(offset=100_000),
        "Consume",
    ),
    "a proposal that changes another set": (
        acts("MaybeShrink"),
        with_part("pending", {"members": [1, 2, 3], "expected": 1, "joining": []}),
        "Shrink",
    ),
    "a set that nobody decided": (
        acts("LearnSyncStateSet"),
        with_part("local", {"members": [1, 2, 3], "epoch": 2}),
        "Learn",
    ),
    "a set with somebody else": (
        decides("SetAltered"),
        with_part("sync_state_set", {"members": [1, 2, 3], "epoch": 2}),
        "ApplyAlter",
    ),
    "a batch with a record of another epoch": (
        lambda r: r.action == "ReceiveTransfer" and r.state.get("log", {}).get("added"),
        with_another_epoch,
        "Copy",
    ),
    "an election of somebody who is not the master then": (
        lambda r: decides("MasterElected")(r) and r.state["master"] == 1,
        with_params(events=[{"is": "MasterElected", "master": 3}]),
        "Elect",
    ),
}


@pytest.mark.java
def test_what_is_changed_in_a_record_diverges() -> None:
    runs = [changed(logs(), is_it, change) for is_it, change, _ in CASES.values()]

    verdicts = verdicts_of([logs(), *runs])

    assert kind(verdicts[0]) == "conforms"
    found = {
        name: (kind(verdict), getattr(verdict, "action", None))
        for name, verdict in zip(CASES, verdicts[1:], strict=True)
    }
    assert found == {name: ("diverges", action) for name, (_, _, action) in CASES.items()}


@pytest.mark.parametrize(
    ("is_it", "change", "said"),
    [
        (acts("PutMessage"), with_part("role", 1), "role: Expected `str`, got `int`"),
        (acts("PutMessage"), with_part("log", {"kept": 99, "added": []}), "log: keeps 99 of"),
        (
            acts("PutMessage"),
            lambda r: msgspec.structs.replace(r, action="Conquer"),
            "a broker has no action 'Conquer'",
        ),
        (
            acts("EntryActed"),
            lambda r: msgspec.structs.replace(r, action="Decree"),
            "a controller has no action 'Decree'",
        ),
        (
            acts("EntryActed"),
            lambda r: msgspec.structs.replace(r, params={}),
            "entry: Object missing required field `entry`",
        ),
        (
            decides("SetAltered"),
            with_params(events=[{"is": "Decreed"}]),
            "nothing is known of 'Decreed'",
        ),
        (acts("MaybeExpand"), with_params(slaves=[1, 2]), "MaybeExpand of 2 slaves"),
        (acts("MaybeExpand"), with_params(slaves=[7]), "no broker is 7"),
        (
            lambda r: r.action == "ReceiveAck" and "servers" in r.state,
            with_params(conn=10_000),
            "a report of nobody",
        ),
    ],
)
def test_a_record_that_lacks_what_its_kind_has_is_named(
    is_it: Callable[[NodeRecord], object], change: Change, said: str
) -> None:
    with pytest.raises(RecordError) as caught:
        PLUG.traces_of_records(changed(logs(), is_it, change))

    assert caught.value.record is not None
    assert caught.value.reason.startswith(said)


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        (["b1", "b2", "b3"], "there are not the records of a controller and of brokers"),
        (["controller"], "there are not the records of a controller and of brokers"),
        (["b1", "b3", "controller"], "b2 has no records"),
    ],
)
def test_a_log_is_needed_of_the_controller_and_of_each_broker(nodes: list[str], said: str) -> None:
    with pytest.raises(RecordError, match=said):
        PLUG.traces_of_records([log for log in logs() if log.header.node in nodes])


def test_a_broker_alone_has_no_master_epoch() -> None:
    alone = {"kind": "broker", "brokers": ["b1"]}
    first, *_, controller = logs()
    header = msgspec.structs.replace(first.header, settings=alone)

    with pytest.raises(RecordError, match="a group of one broker has no slaves"):
        PLUG.traces_of_records([replace(first, header=header), controller])


# ---- what nodes do not write ----

SAID_BY_OURS: Final = ("confirm", "incarnation", "slave_incarnations", "registration")


def as_real_ones_write(record: NodeRecord) -> NodeRecord:
    """Leave out what RocketMQ does not have, or its agent does not write."""
    state = {name: value for name, value in record.state.items() if name not in SAID_BY_OURS}
    if state.get("pending"):
        state["pending"] = {
            "members": state["pending"]["members"],
            "epoch": state["pending"]["expected"],
        }
    sent = tuple([msgspec.structs.replace(one, code=None) for one in record.sent])
    return msgspec.structs.replace(record, state=state, sent=sent)


@pytest.mark.java
def test_what_nobody_writes_is_not_shown_and_a_proposal_is_sent_silently() -> None:
    runs = [logs(), recorded("sync_state_set", 5).logs]
    bare = [
        [replace(log, records=tuple(map(as_real_ones_write, log.records))) for log in run]
        for run in runs
    ]

    traces = [trace for run in bare for trace in PLUG.traces_of_records(run)]

    events = [event for trace in traces for event in trace.events[1:]]
    shown = [event.observed or {} for event in events]
    assert not any("confirm" in one for one in shown if one["role"] == "Master")
    assert {part.at[1:] for event in events for part in event.parts} == {
        (),
        ("ack",),
        ("reported",),
    }
    actions = {event.action for event in events}
    assert "SendAlter" not in actions
    assert {"Expand", "Shrink", "ApplyAlter", "Learn", "Restart"} <= actions
    assert {kind(verdict) for verdict in judged(traces)} == {"conforms"}
    for trace in traces:
        assert trace.header is not None
        assert trace.header.silent is not None
        assert trace.header.silent.actions == ("SendAlter",)


# ---- records of real brokers ----

LINK: Final = 47_008
OTHER: Final = 47_012


def item(at: int) -> dict[str, object]:
    """Return a record of a real log: they have any size."""
    return {"end": 300 * at + 7 * at * at, "id": f"a{at}"}


def end(at: int) -> int:
    found = item(at)["end"]
    assert isinstance(found, int)
    return found


class Real:
    """A master b1, whose id is 2, and its slave b2, whose id is 1, as an agent records them."""

    def __init__(self) -> None:
        self.records: dict[str, list[dict[str, Any]]] = {"b1": [], "b2": [], "c0": []}
        self.incarnations = dict.fromkeys(self.records, 1)
        self.now = 0

    def add(self, node: str, event: str, **members: Any) -> Real:
        self.now += 1_000_000
        mine = self.records[node]
        again = bool(mine) and mine[-1]["event"] == STOPPED
        self.incarnations[node] += again
        number = 0 if again or not mine else mine[-1]["sequence"] + 1
        mine.append(
            {
                "node": node,
                "incarnation": self.incarnations[node],
                "sequence": number,
                "at_ns": self.now,
                "shows_ms": 0,
                "event": event,
                **members,
            }
        )
        return self

    def acts(self, node: str, action: str, **members: Any) -> Real:
        return self.add(node, action, action=action, **members)

    def starts(self, node: str, log: Sequence[object] = ()) -> Real:
        shown = {"log": {"kept": 0, "added": list(log)}, "role": "Slave"}
        return self.add(node, "NodeStarted", state={**shown, "client": None, "servers": []})

    def group(
        self, action: str, master: str | None, members: list[str], number: int, epoch: int = 1
    ) -> Real:
        found = {"members": members, "epoch": number}
        params = {"master": master} if action == "ElectMaster" else {}
        state = {"master": master, "epoch": epoch, "sync_state_set": found}
        return self.acts("c0", action, params=params, state=state)

    def learns(self, members: list[int], number: int) -> Real:
        local = {"members": members, "epoch": number}
        return self.acts("b1", "LearnSyncStateSet", state={"local": local, "pending": None})

    def takes(self, at: int) -> Real:
        return self.acts("b1", "PutMessage", state={"log": {"kept": at - 1, "added": [item(at)]}})

    def reports(self, conn: int, at: int) -> Real:
        ends = [[conn, {"slave": 1, "slave_ack": end(at) if at else 0}]]
        params = {"conn": conn, "offset": end(at) if at else 0}
        return self.acts("b1", "ReceiveAck", params=params, state={"servers": ends})

    def copies(self, conn: int, at: int) -> Real:
        state = {
            "log": {"kept": at - 1, "added": [item(at)]},
            "client": {"id": conn, "phase": "Transfer", "reported": end(at)},
        }
        return self.acts("b2", "ReceiveTransfer", state=state)

    def answers(self, at: int) -> Real:
        begin = end(at - 1) if at > 1 else 0
        answer = {"is": "AnswerSend", "offset": begin, "size": end(at) - begin}
        return self.add("b1", "SendAnswered", action="Acknowledge", answered=[answer])

    def connects(self, conn: int, at: int) -> Real:
        reported = end(at) if at else 0
        ends = [[conn, {"slave": 1, "slave_ack": -1}]]
        client = {"id": conn, "phase": "Handshake", "reported": -1}
        self.add("b2", "Connected", state={"client": client})
        self.acts("b1", "Handshake", params={"conn": conn}, state={"servers": ends})
        client = {"id": conn, "phase": "Transfer", "reported": reported}
        self.acts("b2", "ReceiveHandshake", state={"client": client})
        return self.reports(conn, at)

    def proposes(self, action: str, members: list[int], number: int) -> Real:
        pending = {"members": members, "epoch": number}
        return self.acts("b1", action, params={"slaves": [1]}, state={"pending": pending})

    def begins(self) -> Real:
        """Let b1 be elected, take a message, and have b2 join."""
        self.starts("c0").starts("b1").group("ElectMaster", "b1", ["b1"], 1).learns([2], 1)
        role = {"role": "Master"}
        self.acts("b1", "BecomeMaster", params={"master_epoch": 1}, state=role)
        self.starts("b2").acts("b2", "BecomeSlave", params={"master_epoch": 1})
        self.takes(1).answers(1).connects(LINK, 0).copies(LINK, 1).reports(LINK, 1)
        self.proposes("MaybeExpand", [1, 2], 1)
        return self.group("AlterSyncStateSet", "b1", ["b1", "b2"], 2).learns([1, 2], 2)

    def logs(self) -> list[NodeLog]:
        made = []
        for node, records in self.records.items():
            settings = {"kind": "controller"}
            if node in ("b1", "b2"):
                settings = {"kind": "broker", "brokers": ["b1", "b2"]}  # type: ignore[dict-item]
            header = msgspec.structs.replace(logs()[0].header, node=node, settings=settings)
            lines = tuple([msgspec.convert(one, NodeRecord) for one in records])
            made.append(NodeLog(header=header, records=lines, name=node))
        return made

    def trace(self) -> Trace:
        (only,) = PLUG.traces_of_records(self.logs())
        return only


def mutant(name: str) -> Mutant:
    manifest = read_manifest(find_spec_root(None))
    mine = [one for one in manifest.mutants if one.protocol == "sync_state_set"]
    (found,) = [one for one in mine if one.name == name]
    return found


def actions_of(trace: Trace) -> list[str | None]:
    return [event.action for event in trace.events]


@pytest.mark.java
def test_records_of_real_brokers_are_judged() -> None:
    run = Real().begins().takes(2).copies(LINK, 2).reports(LINK, 2).answers(2)

    trace = run.trace()

    assert actions_of(trace) == [
        *("Init", "Restart", "PutMessage", "Acknowledge", "Connect", "ReceiveAck", "Copy"),
        *("ReceiveAck", "Expand", "ApplyAlter", "Learn", "PutMessage", "Copy", "ReceiveAck"),
        "Acknowledge",
    ]
    assert trace.events[-1].params == (2,), "offsets of records of any size are counted"
    assert [kind(verdict) for verdict in judged([trace])] == ["conforms"]


@pytest.mark.java
def test_an_answer_while_a_removal_is_not_decided_is_seen() -> None:
    run = (
        Real().begins().proposes("MaybeShrink", [2], 2).add("b1", "Removed", state={"servers": []})
    )

    (verdict,) = judged([run.takes(2).answers(2).trace()])

    assert isinstance(verdict, Diverges)
    assert verdict.action == "Acknowledge"


@pytest.mark.java
def test_a_refusal_spends_a_version_of_which_the_master_learns() -> None:
    run = Real().begins().proposes("MaybeShrink", [2], 2)
    run.group("RefuseAlter", "b1", ["b1", "b2"], 3).learns([1, 2], 3)

    trace = run.takes(2).copies(LINK, 2).reports(LINK, 2).answers(2).trace()

    assert actions_of(trace)[11:14] == ["Shrink", "RefuseAlter", "Learn"]
    assert [kind(verdict) for verdict in judged([trace])] == ["conforms"]


@pytest.mark.java
@pytest.mark.parametrize("left", [[item(1)], []])
def test_a_real_broker_is_back_when_it_hears_its_role(left: list[object]) -> None:
    run = Real().begins().add("b2", STOPPED, state={"log": {"kept": 0, "added": left}})
    run.starts("b2").add("b1", "Removed", state={"servers": []})
    told = {"log": {"kept": 0, "added": left}}
    run.acts("b2", "BecomeSlave", params={"master_epoch": 1}, state=told)

    trace = run.connects(OTHER, len(left)).trace()

    assert actions_of(trace)[-5:] == ["Crash", "Disconnect", "Restart", "Connect", "ReceiveAck"]
    assert trace.events[-1].observed is not None
    inc = trace.events[-1].observed["inc"]
    assert inc.fields() == {"m": 0, "s1": 0 if left else 1}, "who lost nothing is who it was"  # type: ignore[union-attr]
    assert [kind(verdict) for verdict in judged([trace])] == ["conforms"]


@pytest.mark.java
def test_that_nobody_is_elected_is_no_step_and_hides_what_the_controller_has() -> None:
    run = Real().begins().group("ElectMaster", None, ["b1", "b2"], 2, 2).takes(2)
    run.group("ElectMaster", "b2", ["b2"], 3, 3)

    trace = run.trace()

    assert actions_of(trace)[-2:] == ["PutMessage", "Elect"]
    assert ["ctl" in (event.observed or {}) for event in trace.events[-3:]] == [True, False, True]
    assert [kind(verdict) for verdict in judged([trace])] == ["conforms"]


def test_what_nobody_does_while_nobody_is_elected_is_no_step() -> None:
    run = Real().begins()
    before = run.trace()

    after = run.group("ElectMaster", None, ["b1", "b2"], 2, 2).add("b2", "HandshakeSent").trace()

    assert actions_of(after) == actions_of(before)


@pytest.mark.java
def test_a_broker_that_is_killed_before_it_hears_its_role_was_down_all_the_time() -> None:
    left = {"log": {"kept": 0, "added": [item(1)]}}
    run = Real().begins().add("b2", STOPPED, state=left).starts("b2", [item(1)])

    trace = run.add("b2", STOPPED, state=left).trace()

    assert actions_of(trace)[-2:] == ["Learn", "Crash"]
    assert [kind(verdict) for verdict in judged([trace])] == ["conforms"]


@pytest.mark.java
def test_a_real_master_that_is_elected_once_more_keeps_the_connections_of_its_slaves() -> None:
    run = Real().begins().takes(2).group("ElectMaster", "b1", ["b1"], 3, 2).learns([2], 3)
    run.acts("b1", "BecomeMaster", params={"master_epoch": 2}, state={"role": "Master"})
    run.copies(LINK, 2).reports(LINK, 2).proposes("MaybeExpand", [1, 2], 3)

    _, again = PLUG.traces_of_records(run.logs())

    assert actions_of(again) == ["Init", "Copy", "ReceiveAck", "Expand"]
    assert [kind(verdict) for verdict in judged([again])] == ["conforms"]


@pytest.mark.java
def test_known_bugs_may_share_an_operator_but_not_replace_it_in_two_ways() -> None:
    trace = Real().begins().trace()

    assert judge_with([mutant("B21"), mutant("B79")], trace) == Conforms(len(trace.events))
    assert judge_with([mutant("B14"), mutant("W2")], trace) is None


def test_of_several_controllers_the_first_to_apply_an_entry_counts() -> None:
    run, alone = Real().begins().takes(2), Real().begins().takes(2).trace()
    run.records["c1"] = [{**record, "node": "c1"} for record in run.records["c0"]]
    for record in run.records["c1"]:
        record["at_ns"] += 500_000
    run.records["c1"] += [
        {**run.records["c1"][-1], "event": STOPPED, "action": None, "params": {}, "state": {}}
    ]
    run.records["c1"][-1]["sequence"] += 1

    trace = run.trace()

    assert trace.events == alone.events


def test_a_controller_that_applies_its_log_anew_says_nothing_new() -> None:
    run = Real().begins()
    before = run.trace()
    run.add("c0", STOPPED).add("c0", "NodeStarted", state={"master": None, "epoch": 0})
    run.group("ElectMaster", "b1", ["b1"], 1).group("AlterSyncStateSet", "b1", ["b1", "b2"], 2)

    after = run.takes(2).trace()

    assert actions_of(after) == [*actions_of(before), "PutMessage"]


def test_a_master_that_learns_of_a_later_master_epoch_has_left() -> None:
    run = Real().begins().acts("b2", "LearnEpoch", params={"master_epoch": 2})

    before, after = run.trace(), run.copies(LINK, 2).trace()

    assert actions_of(after) == actions_of(before)

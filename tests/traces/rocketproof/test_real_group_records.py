"""What real brokers and controllers wrote, as behaviours of ReplicaGroup."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from rocketha.recording.node_log import NodeLog, read_logs
from rocketha.recording.record import STOPPED, NodeRecord, RecordError
from rocketproof.museum_judge import explaining, judge_with
from rocketproof.protocols import PROTOCOLS
from rocketproof.run_judge import judge_traces
from rocketproof.trace_inputs import SpecChoice
from tests.source_files import ROOT
from tests.traces.rocketproof.recorded_runs import changed, judged
from tlatrace.judgement.verdict import Conforms, Diverges, Verdict, kind
from tlatrace.tools.manifest import read_manifest
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.tools.tlc_config import invariants_of
from tlatrace.trace import Trace

PLUG: Final = PROTOCOLS["replica_group"]
SAMPLES: Final = ROOT / "traces" / "samples" / "rocketmq"
ALL_ACK: Final = "early_shrink-5.3.3"
RESTARTED: Final = "truncation-5.3.3"
VACANT: Final = "failed_elections-5.5.0"
SIZES: Final = {ALL_ACK: 34, RESTARTED: 75, VACANT: 49}
"""Events of their traces."""

Change = Callable[[NodeRecord], NodeRecord]
Where = Callable[[NodeRecord], object]


def logs(sample: str) -> tuple[NodeLog, ...]:
    return read_logs(SAMPLES / sample / "records")


def trace_of(found: tuple[NodeLog, ...]) -> Trace:
    (only,) = PLUG.traces_of_records(found)
    return only


def without_promises(trace: Trace) -> Verdict | str:
    """Judge by the invariants that hold where nobody waits for slaves, too."""
    choice = SpecChoice(invariants=PLUG.kept_without_promises)
    (result,) = judge_traces([trace], [Path("records")], choice)
    return result.outcome


def acts(action: str, **params: object) -> Where:
    return lambda r: r.action == action and {**r.params, **params} == r.params


def happens(event: str, node: str) -> Where:
    return lambda r: r.event == event and r.node == node


def with_params(**params: object) -> Change:
    return lambda r: msgspec.structs.replace(r, params={**r.params, **params})


def with_state(**state: object) -> Change:
    return lambda r: msgspec.structs.replace(r, state={**r.state, **state})


def as_acknowledged(record: NodeRecord) -> NodeRecord:
    return msgspec.structs.replace(record, action="Acknowledge")


def with_ack(offset: int) -> Change:
    def change(record: NodeRecord) -> NodeRecord:
        ((conn, end),) = record.state["servers"]
        return with_state(servers=[[conn, {**end, "slave_ack": offset}]])(record)

    return change


def is_answered(status: str) -> Where:
    return lambda r: any(one.get("status") == status for one in r.answered)


ALONE: Final = {"members": [1], "epoch": 2}
CASES: Final[dict[str, tuple[str, Where, Change, str]]] = {
    "an acknowledgement that the slave never had": (
        ALL_ACK,
        is_answered("FLUSH_SLAVE_TIMEOUT"),
        as_acknowledged,
        "Acknowledge",
    ),
    "a report of more than the slave has": (
        ALL_ACK,
        lambda r: r.action == "ReceiveAck" and "servers" in r.state,
        with_ack(900),
        "ReceiveAck",
    ),
    "another set than the controller's": (
        ALL_ACK,
        lambda r: r.action == "LearnSyncStateSet" and r.state["local"]["epoch"] == 2,
        with_state(local=ALONE),
        "LearnSyncStateSet",
    ),
    "a set that nobody proposed": (
        ALL_ACK,
        acts("AlterSyncStateSet"),
        lambda r: with_state(sync_state_set={"members": ["b2"], "epoch": 2})(r),
        "AlterSyncStateSet",
    ),
    "a proposal of a set that the master does not have": (
        ALL_ACK,
        acts("MaybeExpand"),
        with_state(pending={"members": [1, 2], "epoch": 7}),
        "MaybeExpand",
    ),
    "a master of an epoch that nobody elected": (
        ALL_ACK,
        acts("BecomeMaster"),
        with_params(master_epoch=7),
        "BecomeMaster",
    ),
    "a slave that nobody made one": (
        ALL_ACK,
        acts("BecomeSlave"),
        with_state(role="Master"),
        "BecomeSlave",
    ),
    "an election that ends an epoch that is over": (
        RESTARTED,
        acts("ElectMaster", master="b2"),
        with_state(epoch=9),
        "DesignateMaster",
    ),
    "a start with other epochs than the stop has left": (
        RESTARTED,
        lambda r: happens("NodeStarted", "b1")(r) and r.incarnation == 2,
        with_state(epochs=[]),
        "Restart",
    ),
    "a cut that leaves too much": (
        RESTARTED,
        lambda r: happens("ReceiveHandshake", "b1")(r) and r.incarnation == 2,
        with_state(log={"kept": 5, "added": []}),
        "Handshake",
    ),
}


@pytest.mark.java
@pytest.mark.parametrize("case", CASES)
def test_what_is_changed_in_a_record_diverges_there(case: str) -> None:
    sample, where, change, action = CASES[case]

    verdict = without_promises(trace_of(changed(logs(sample), where, change)))

    assert isinstance(verdict, Diverges), verdict
    assert verdict.action == action


@pytest.mark.java
@pytest.mark.parametrize("sample", [ALL_ACK, RESTARTED, VACANT])
def test_the_unchanged_records_conform(sample: str) -> None:
    assert without_promises(trace_of(logs(sample))) == Conforms(SIZES[sample])


def without(found: tuple[NodeLog, ...], where: Where) -> tuple[NodeLog, ...]:
    """Leave out the records of controllers that are so, and number the others anew."""
    made = []
    for log in found:
        records = log.records
        if log.header.settings["kind"] == "controller":
            kept = [record for record in records if not where(record)]
            records = tuple(
                [msgspec.structs.replace(one, sequence=at) for at, one in enumerate(kept)]
            )
        made.append(NodeLog(header=log.header, records=records, name=log.name))
    return tuple(made)


def actions_of(trace: Trace, node: str | None = None) -> list[tuple[str | None, Any]]:
    events = [one for one in trace.events if node is None or one.node == node]
    return [(one.action, one.params) for one in events]


def test_a_start_is_where_the_controller_registers_it_or_where_a_role_is_heard() -> None:
    found = logs(RESTARTED)
    said = actions_of(trace_of(found))
    heard = actions_of(trace_of(without(found, lambda r: r.event == "BrokerRegistered")))

    assert said.count(("Restart", ("b1",))) == heard.count(("Restart", ("b1",))) == 1
    assert said.index(("Restart", ("b1",))) <= heard.index(("Restart", ("b1",)))
    assert sorted(map(str, said)) == sorted(map(str, heard))


def test_a_master_that_had_stopped_is_evicted_before_another_one_is_elected() -> None:
    found = logs(RESTARTED)
    (first,) = [log for log in found if log.header.node == "b1"]
    stop = next(at for at, one in enumerate(first.records) if one.event == STOPPED)
    early = first.records[stop - 1].at_ns
    found = changed(
        found, happens(STOPPED, "b1"), lambda r: msgspec.structs.replace(r, at_ns=early)
    )
    trace = trace_of(found)
    said = actions_of(trace, "c1")

    at = said.index(("ElectMaster", ("b2",)))
    assert said[at - 1] == ("EvictBroker", ("b1", 0))
    assert ("DesignateMaster", ("b2",)) not in said
    assert without_promises(trace) == Conforms(SIZES[RESTARTED] + 1)


def test_a_master_that_runs_is_replaced_by_name() -> None:
    said = actions_of(trace_of(logs(ALL_ACK)), "c1")

    assert ("DesignateMaster", ("b2",)) in said
    assert [action for action, _ in said if action == "EvictBroker"] == []


def elects_nobody(record: NodeRecord) -> bool:
    return record.action == "ElectMaster" and record.params["master"] is None


def test_elections_of_nobody_are_passed_over() -> None:
    found = logs(VACANT)
    nobody = [one for log in found for one in log.records if elects_nobody(one)]
    shown = [
        shown.value
        for event in trace_of(found).events
        for shown in event.parts
        if (shown.variable, shown.at) == ("ctl", ("epoch",))
    ]

    assert len(nobody) == 3
    assert shown == [1, 1, 1, 2, 2]


@pytest.mark.java
def test_an_election_behind_one_that_nobody_wrote_diverges() -> None:
    found = logs(VACANT)
    nobody = [one for log in found for one in log.records if elects_nobody(one)]
    verdict = without_promises(trace_of(without(found, lambda r: r.sequence == nobody[1].sequence)))

    assert isinstance(verdict, Diverges)
    assert verdict.action == "ElectMaster"


def test_who_proposed_is_not_said_by_the_controller() -> None:
    altered = [e for e in trace_of(logs(ALL_ACK)).events if e.action == "AlterSyncStateSet"]

    assert altered
    assert all(event.known_params == () for event in altered)


@pytest.mark.parametrize(
    ("where", "change", "why"),
    [
        (acts("ElectMaster"), with_params(master="b9"), "no broker is 'b9'"),
        (acts("MaybeExpand"), with_params(slaves=[9]), "no broker is 9"),
        (
            acts("ElectMaster"),
            lambda r: msgspec.structs.replace(r, action="Flush"),
            "a controller has no action 'Flush'",
        ),
        (
            acts("PutMessage"),
            lambda r: msgspec.structs.replace(r, action="Lock"),
            "a broker has no action 'Lock'",
        ),
        (
            acts("ReceiveHandshake"),
            lambda r: msgspec.structs.replace(r, received=()),
            "ReceiveHandshake without a connection, or without a packet",
        ),
    ],
)
def test_what_is_no_record_of_a_group_is_refused(where: Where, change: Change, why: str) -> None:
    with pytest.raises(RecordError, match=why):
        trace_of(changed(logs(ALL_ACK), where, change))


def test_all_brokers_have_records_and_a_controller_has() -> None:
    found = logs(ALL_ACK)
    with pytest.raises(RecordError, match="b2 has no records, or is none of the group's brokers"):
        trace_of(tuple([log for log in found if log.name != "b2" and log.header.node != "b2"]))
    brokers = [log for log in found if log.header.settings["kind"] == "broker"]
    with pytest.raises(RecordError):
        trace_of(tuple(brokers))


def test_what_holds_without_promises_is_what_the_unclean_model_checks() -> None:
    text = (ROOT / "spec/replica_group/MCReplicaGroup_unclean.cfg").read_text("utf-8")
    assert sorted(PLUG.kept_without_promises) == sorted(invariants_of(text))


@pytest.mark.java
def test_a_broken_invariant_is_explained_by_no_operator() -> None:
    """Where nobody waits for slaves, each step is allowed, and a message goes."""
    trace = trace_of(logs(RESTARTED))
    (verdict,) = judged([trace])

    assert isinstance(verdict, Diverges)
    assert "AckedInSSS" in verdict.expected
    assert explaining("replica_group", trace, verdict.step, ("B10", "B36")) == ()


@pytest.mark.java
@pytest.mark.parametrize("named", [("B36", "OneMember"), ("B36",)])
def test_a_late_proposal_is_explained_by_what_controllers_and_masters_do(
    named: tuple[str, ...],
) -> None:
    """The controller takes the master out of its set, and it waits for nobody then."""
    trace = trace_of(logs("stale_alter-5.5.0"))
    (verdict,) = judged([trace])
    manifest = read_manifest(find_spec_root(None))
    mutants = [
        m for m in manifest.mutants if (m.protocol, m.name) in {(PLUG.name, n) for n in named}
    ]

    assert isinstance(verdict, Diverges)
    assert verdict.action == "AlterSyncStateSet"
    explained = judge_with(mutants, trace)
    assert explained is not None
    assert kind(explained) == ("conforms" if len(named) == 2 else "diverges")

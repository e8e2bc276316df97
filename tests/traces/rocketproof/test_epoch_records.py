"""What brokers and their controller wrote, as behaviours of EpochTruncation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
import pytest

from rocketha.ha.events import MessagePut
from rocketha.known_bugs import NO_BUGS, Bug, Bugs
from rocketha.recording.node_log import NodeLines, NodeLog
from rocketha.recording.record import STOPPED, NodeRecord, RecordError, SentMessage
from rocketha.recording.recorder import MachineRecording
from rocketha.sim.engine.clock import MachineClock
from rocketha.sim.engine.faults import FaultCounts
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.engine.records import message_of_epoch
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.engine.simulation import Environment
from rocketha.sim.epoch_truncation.cluster import Cluster, NullObserver
from rocketha.sim.epoch_truncation.plan import draw_run
from rocketha.types import BrokerId, Epoch, Offset
from rocketproof.protocols import PROTOCOLS
from tests.traces.rocketproof.recorded_runs import changed, judged, recorded
from tlatrace.judgement.verdict import Diverges, kind
from tlatrace.trace import Trace

PLUG: Final = PROTOCOLS["epoch_truncation"]
SEED: Final = 1

Change = Callable[[NodeRecord], NodeRecord]


def logs() -> tuple[NodeLog, ...]:
    return recorded("epoch_truncation", SEED).logs


def acts(action: str, part: str = "") -> Callable[[NodeRecord], bool]:
    return lambda r: r.action == action and (not part or part in r.state)


def with_part(name: str, value: object) -> Change:
    return lambda r: msgspec.structs.replace(r, state={**r.state, name: value})


def with_params(**params: object) -> Change:
    return lambda r: msgspec.structs.replace(r, params={**r.params, **params})


def saying(**fields: int) -> Change:
    """Change what is in the packets that a record sends."""

    def change(record: NodeRecord) -> NodeRecord:
        sent = []
        for message in record.sent:
            body = {**msgspec.json.decode(message.body or ""), **fields}
            text = msgspec.json.encode(body).decode()
            sent.append(msgspec.structs.replace(message, body=text))
        return msgspec.structs.replace(record, sent=tuple(sent))

    return change


def closes_its_end(record: NodeRecord) -> NodeRecord:
    (conn, *_) = record.received[0].split(":")
    closed = SentMessage(id=f"{conn}:server:close")
    return msgspec.structs.replace(record, sent=(*record.sent, closed))


def without_action(record: NodeRecord) -> NodeRecord:
    return msgspec.structs.replace(record, action=None, params={})


_LOG: Final = {"kept": 0, "added": [9]}

CASES: Final[dict[str, tuple[Callable[[NodeRecord], object], Change, str]]] = {
    "somebody else's election": (acts("ElectMaster"), with_part("epoch", 5), "ElectMaster"),
    "a master that nobody elected": (
        acts("ElectMaster"),
        with_params(master=None),
        "BecomeSlave",
    ),
    "a role that nobody gave": (acts("BecomeSlave"), with_part("role", "Master"), "BecomeSlave"),
    "a record of another epoch": (acts("PutMessage"), with_part("log", _LOG), "PutMessage"),
    "a file that another record is in": (
        acts("ReceiveTransfer", "on_disk"),
        with_part("on_disk", _LOG),
        "ReceiveTransfer",
    ),
    "an epoch that is not stored": (
        acts("BecomeMaster"),
        with_part("epoch_file", []),
        "BecomeMaster",
    ),
    "records that are safe too early": (
        acts("PutMessage"),
        with_part("flushed_offset", 1 << 20),
        "PutMessage",
    ),
    "a slave that says more than it has": (
        acts("ReceiveHandshake"),
        saying(ack=1 << 20),
        "ReceiveHandshake",
    ),
    "a master that refuses what was said": (acts("ReceiveAck"), closes_its_end, "ReceiveAck"),
    "a batch of another epoch, under way": (acts("Transfer"), saying(epoch=77), "Transfer"),
    "a longer batch": (acts("Transfer"), saying(size=1 << 20), "Transfer"),
    "more left after a crash": (
        lambda r: r.event == STOPPED,
        with_part("on_disk", {"kept": 0, "added": [1, 2, 3, 4, 5]}),
        "Crash",
    ),
}


@pytest.mark.java
def test_an_election_that_finds_nobody_is_a_step_that_no_broker_follows() -> None:
    lines, cluster = recorded_cluster()
    for master in (BrokerId(1), None, BrokerId(2)):
        cluster.elect(master)
        for node in cluster.nodes.values() if master is not None else ():
            cluster.tell_master(node)

    trace = PLUG.trace_of_records(lines.logs())

    took = [event.action for event in trace.events if event.action != "Init"]
    become = ["BecomeMaster", "BecomeSlave"]
    assert took == ["ElectMaster", *become, "ElectNobody", "ElectMaster", *become[::-1]]
    assert [kind(verdict) for verdict in judged([trace])] == ["conforms"]


@pytest.mark.java
def test_a_real_master_may_hear_of_its_election_after_the_next_one_has_found_nobody() -> None:
    def controller(epoch: int, master: str | None) -> dict[str, object]:
        state = {"master": master, "epoch": epoch}
        return {"action": "ElectMaster", "params": {"master": master}, "state": state}

    begins: dict[str, object] = {
        "epochs": [],
        "epoch_file": [],
        "role": "Slave",
        "client": None,
        "servers": [],
    }
    entries = [{"epoch": 1, "start_offset": 0, "end_offset": (1 << 63) - 1}]
    becomes = {"epochs": entries, "epoch_file": entries, "role": "Master"}
    lines: list[tuple[str, dict[str, object]]] = [
        ("c1", {"event": "NodeStarted", "state": {"master": None, "epoch": 0}}),
        ("b1", {"event": "NodeStarted", "state": begins}),
        ("c1", controller(1, "b1")),
        ("c1", controller(2, None)),
        ("c1", controller(3, None)),
        ("b1", {"action": "BecomeMaster", "params": {"master_epoch": 1}, "state": becomes}),
        ("c1", controller(4, "b1")),
    ]
    settings: dict[str, dict[str, object]] = {
        "c1": {"kind": "controller"},
        "b1": {"kind": "broker", "brokers": ["b1"]},
    }

    trace = PLUG.trace_of_records(real_logs(lines, settings))

    took = [event.action for event in trace.events]
    assert took == ["Init", "ElectMaster", "BecomeMaster", *["ElectNobody"] * 2, "ElectMaster"]
    assert [kind(verdict) for verdict in judged([trace])] == ["conforms"]


def real_logs(
    lines: Sequence[tuple[str, dict[str, object]]], settings: Mapping[str, dict[str, object]]
) -> list[NodeLog]:
    """Return records of nodes of one incarnation, in this order."""
    made: dict[str, list[NodeRecord]] = {node: [] for node in settings}
    for at, (node, line) in enumerate(lines):
        numbers = {"incarnation": 1, "sequence": len(made[node]), "at_ns": at, "shows_ms": at}
        whole = {"node": node, **numbers, "event": line.get("action"), **line}
        made[node].append(msgspec.convert(whole, NodeRecord))
    header = logs()[0].header
    return [
        NodeLog(
            header=msgspec.structs.replace(header, node=node, settings=settings[node]),
            records=tuple(records),
            name=node,
        )
        for node, records in made.items()
    ]


@pytest.mark.java
def test_what_a_disk_loses_is_a_step_between_a_crash_and_a_start() -> None:
    sound, buggy = lossy_run(NO_BUGS), lossy_run(frozenset({Bug.B83}))

    assert [event.action for event in sound.events][-3:] == ["Crash", "LoseLog", "Restart"]
    conforms, diverges = judged([sound, buggy])
    assert kind(conforms) == "conforms"
    assert isinstance(diverges, Diverges)
    assert diverges.action == "Restart"


def lossy_run(bugs: Bugs) -> Trace:
    """Let a master begin a second epoch, and lose what it has flushed before."""
    lines, cluster = recorded_cluster(bugs)
    node = cluster.nodes[BrokerId(1)]
    for epoch in (Epoch(1), Epoch(2)):
        cluster.elect(node.id)
        cluster.tell_master(node)
        cluster.deliver(node, MessagePut(message=message_of_epoch(epoch, 1)))
    cluster.flush(node)
    cluster.crash(node)
    cluster.lose_log(node, Offset(0))
    cluster.restart(node)
    return PLUG.trace_of_records(lines.logs())


def recorded_cluster(bugs: Bugs = NO_BUGS) -> tuple[NodeLines, Cluster]:
    """Give two brokers that only do what they are told, and what they write."""
    lines, scheduler, streams = NodeLines(), Scheduler(), PerPurposeStreams(0)
    options = SimOptions(brokers=2, bugs=bugs)
    environment = Environment(
        options=options,
        scheduler=scheduler,
        streams=streams,
        counts=FaultCounts(),
        recording=MachineRecording("epoch_truncation", lines.write, MachineClock(scheduler)),
    )
    plan = draw_run(streams, options)
    cluster = Cluster(
        brokers=options.brokers,
        plan=plan,
        scheduler=scheduler,
        network=environment.network(plan.faults),
        random_source=streams,
        counts=environment.counts,
        observer=NullObserver(),
        recording=environment.recording,
    )
    return lines, cluster


@pytest.mark.java
def test_what_is_changed_in_a_record_diverges() -> None:
    runs = [changed(logs(), is_it, change) for is_it, change, _ in CASES.values()]

    verdicts = judged([PLUG.trace_of_records(run) for run in (logs(), *runs)])

    assert kind(verdicts[0]) == "conforms"
    found = {name: kind(verdict) for name, verdict in zip(CASES, verdicts[1:], strict=True)}
    assert found == dict.fromkeys(CASES, "diverges")
    for (name, (_, _, action)), verdict in zip(CASES.items(), verdicts[1:], strict=True):
        assert isinstance(verdict, Diverges)
        assert verdict.action == action, name


@pytest.mark.java
def test_what_a_core_says_that_it_did_is_not_asked_where_its_packets_show_it() -> None:
    runs = [
        changed(logs(), acts("Transfer"), without_action),
        changed(logs(), acts("PutMessage"), without_action),
        changed(logs(), acts("ReceiveAck"), with_params(offset=1 << 20)),
    ]

    verdicts = judged([PLUG.trace_of_records(run) for run in runs])

    assert {kind(verdict) for verdict in verdicts} == {"conforms"}


@pytest.mark.java
def test_what_a_core_believes_of_its_connections_is_what_its_packets_show() -> None:
    runs = [
        changed(logs(), acts("ReceiveHandshake"), with_part("client", None)),
        changed(logs(), acts("ReceiveAck"), with_part("servers", [])),
    ]

    verdicts = judged([PLUG.trace_of_records(run) for run in runs])

    assert [kind(verdict) for verdict in verdicts] == ["diverges", "diverges"]


@pytest.mark.java
def test_a_change_without_an_action_is_not_passed() -> None:
    trace = PLUG.trace_of_records(changed(logs(), acts("Restart"), without_action))

    (unnamed,) = [event for event in trace.events if event.action is None]
    assert any(part.variable == "role" for part in unnamed.parts)
    (verdict,) = judged([trace])
    assert kind(verdict) == "undecided", "Next has a Nat, so that it is not enumerated"


def test_a_slave_that_notices_late_that_its_connection_is_gone_disconnects_late() -> None:
    waits, ends = [], ("Disconnect", "CloseConnection")
    for seed in range(20):
        run = recorded("epoch_truncation", seed)
        at = [event.step for event in run.trace.events if event.action in ends]
        whole = [event.step for event in run.observed if event.action in ends]
        if len(at) == len(whole):
            waits += [late - early for late, early in zip(at, whole, strict=True)]
    assert max(waits) > 0


def test_brokers_hear_of_an_election_after_it() -> None:
    elected = {
        message.id
        for log in logs()
        if log.header.node == "controller"
        for record in log.records
        for message in record.sent
    }
    learnt = [
        record.received
        for log in logs()
        for record in log.records
        if record.action in ("BecomeMaster", "BecomeSlave")
    ]
    assert learnt
    assert elected >= {message for received in learnt for message in received}
    assert all(len(received) == 1 for received in learnt)


@pytest.mark.parametrize(
    ("is_it", "change", "said"),
    [
        (acts("PutMessage"), with_part("role", 1), "role: Expected `str`, got `int`"),
        (
            acts("PutMessage"),
            with_part("on_disk", {"kept": 99, "added": []}),
            "on_disk: keeps 99 of",
        ),
        (
            acts("ElectMaster"),
            lambda r: msgspec.structs.replace(r, params={}),
            "params: Object missing required field `master`",
        ),
        (
            acts("Restart"),
            lambda r: msgspec.structs.replace(r, action="Sleep"),
            "a broker has no action 'Sleep'",
        ),
    ],
)
def test_a_record_that_lacks_what_its_kind_has_is_named(
    is_it: Callable[[NodeRecord], object], change: Change, said: str
) -> None:
    with pytest.raises(RecordError) as caught:
        PLUG.trace_of_records(changed(logs(), is_it, change))

    assert caught.value.record is not None
    assert caught.value.reason.startswith(said)


def test_a_log_is_needed_of_the_controller_and_of_each_broker() -> None:
    for missing in ("controller", "b2"):
        left = [log for log in logs() if log.header.node != missing]
        with pytest.raises(RecordError, match="records of a controller and all brokers"):
            PLUG.trace_of_records(left)

"""What brokers and consumers with queue locks wrote, as behaviours of LockQuorum."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import Any, Final

import msgspec
import pytest

from rocketha.known_bugs import Bug, Bugs
from rocketha.recording.merge import MergedRecord, merge
from rocketha.recording.node_log import NodeLines, NodeLog
from rocketha.recording.record import NodeRecord, RecordError
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun, simulate
from rocketproof.engines import Judges, match_by_model
from rocketproof.plug import Run
from rocketproof.protocols import PROTOCOLS
from rocketproof.protocols.lock_quorum.projection import LockProjection
from rocketproof.protocols.lock_quorum.records import LockRecords
from rocketproof.trace_inputs import SpecChoice
from tests.source_files import ROOT
from tlatrace.judgement.verdict import Diverges, Verdict, kind
from tlatrace.trace import Event, Trace
from tlatrace.trace.ndjson import dump_trace
from tlatrace.values import Value

PLUG: Final = PROTOCOLS["lock_quorum"]
SEED_OF_BUG: Final = {
    Bug.B45_LEASE: 0,
    Bug.B45_PARTIAL: 0,
    Bug.B45_QUORUM: 0,
    Bug.B45_RESTART: 4,
    Bug.COUNT_ONCE: 1,
    Bug.LATE_ANSWER: 1,
    Bug.LATE_ASK: 1,
    Bug.LATE_FREE: 8,
    Bug.UNLOCK_OWN: 0,
    Bug.VOTE_ONCE: 0,
    Bug.B46: 0,
    Bug.B77: 0,
}
CLEAN: Final = range(8)
LOCK, UNLOCK = 41, 42


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A run that an observer of whole states and its nodes' recorders have seen."""

    whole: Run
    """The same run without recorders."""
    simulated: SimulatedRun
    observer: LockProjection
    logs: tuple[NodeLog, ...]

    @property
    def trace(self) -> Trace:
        """The trace of the records."""
        return PLUG.trace_of_records(self.logs)


@cache
def recorded(seed: int, bugs: Bugs = frozenset()) -> Recorded:
    options, observer, lines = SimOptions(bugs=bugs), LockProjection(), NodeLines()
    simulated = simulate(PLUG.simulation, seed, options, observer, write=lines.write)
    whole = PLUG.run(seed, options)
    return Recorded(whole=whole, simulated=simulated, observer=observer, logs=lines.logs())


def runs() -> list[Recorded]:
    clean = [recorded(seed) for seed in CLEAN]
    return clean + [recorded(seed, frozenset({bug})) for bug, seed in SEED_OF_BUG.items()]


def judged(traces: Sequence[Trace]) -> list[Verdict]:
    choice = SpecChoice(spec_root=ROOT / "spec")
    header = traces[0].header
    assert header is not None
    return match_by_model(Judges(choice=choice), choice.model(header), header, traces)


# ---- the same verdicts ----


@pytest.mark.java
def test_records_and_whole_states_have_the_same_verdicts() -> None:
    all_runs = runs()

    verdicts = judged([*(one.whole.trace for one in all_runs), *(one.trace for one in all_runs)])

    kinds = [kind(verdict) for verdict in verdicts]
    assert kinds[len(all_runs) :] == kinds[: len(all_runs)]
    expected = ["conforms"] * len(CLEAN) + ["diverges"] * (len(SEED_OF_BUG) - 2)
    assert kinds[: len(expected)] == expected, "each bug that breaks a rule is seen"


# ---- what a recorder does to a run ----


def test_recording_changes_nothing() -> None:
    for run in runs():
        (projected,) = PLUG.traces(run.observer, run.simulated, SimOptions())
        header = run.whole.trace.header
        assert header is not None
        again = replace(header, constants=projected.constants)

        assert b"".join(dump_trace(again, projected.events)) == b"".join(
            dump_trace(header, run.whole.trace.events)
        )
        assert run.simulated.report == run.whole.report
        assert run.simulated.clients == run.whole.clients
        assert run.simulated.injected == run.whole.injected


def test_recording_the_same_run_again_gives_the_same_lines() -> None:
    written = []
    for _ in range(2):
        lines = NodeLines()
        simulate(PLUG.simulation, 3, SimOptions(), PLUG.simulation.unobserved(), write=lines.write)
        written.append(lines.lines)

    assert written[0] == written[1]
    assert set(written[0]) == {"b1", "b2", "b3", "c1", "c2", "c3"}


# ---- what records show ----


def at(value: Any, path: Iterable[Value]) -> Value:
    """Return what is at a place in a value."""
    for key in path:
        value = value[key]
    found: Value = value
    return found


def test_what_records_show_is_what_whole_states_have() -> None:
    compared = 0
    for run in runs():
        trace = run.trace
        assert trace.header is not None
        assert trace.header.silent is not None
        silent = trace.header.silent.actions
        known = [event for event in run.observer.events if event.action not in silent]
        for shown, whole in zip(trace.events, known, strict=True):
            assert (shown.action, shown.params) == (whole.action, whole.params), whole.step
            assert shown.clock == whole.clock
            assert whole.state is not None
            for variable, value in (shown.observed or {}).items():
                assert value == whole.state[variable], (whole.step, variable)
            for part in shown.parts:
                found = at(whole.state[part.variable], part.at)
                assert part.value == found, (whole.step, part)
                compared += 1
        assert trace.header.constants == run.observer.constants
    assert compared > 5_000


# ---- a projection is a function of records in order ----


def events(merged: Iterable[MergedRecord], logs: Sequence[NodeLog]) -> list[Event]:
    return list(LockRecords([log.header for log in logs]).events(merged))


@pytest.mark.parametrize("seed", [0, 5])
def test_the_events_of_the_first_records_are_the_first_events(seed: int) -> None:
    logs = recorded(seed).logs
    everything = list(merge(logs))
    whole = events(everything, logs)

    lengths = set()
    for count in (0, 1, 6, 7, 20, 100, 333, len(everything) - 1):
        first = events(islice(merge(logs), count), logs)
        assert first == whole[: len(first)]
        lengths.add(len(first))
    assert len(lengths) >= 5
    assert max(lengths) > len(whole) - 4


def test_no_record_is_looked_at_before_the_events_of_those_before_it_are_made() -> None:
    logs = recorded(0).logs
    everything = list(merge(logs))
    asked = 0

    def one_by_one() -> Iterable[MergedRecord]:
        nonlocal asked
        for one in everything:
            asked += 1
            yield one

    made = {}
    for event in LockRecords([log.header for log in logs]).events(one_by_one()):
        made[event.step] = asked
    for step, count in islice(made.items(), 0, None, 40):
        assert len(events(everything[:count], logs)) > step


# ---- logs that are not as they were ----

Change = Callable[[NodeRecord], NodeRecord]


def changed(
    logs: Sequence[NodeLog], is_it: Callable[[NodeRecord], object], change: Change, which: int = 0
) -> tuple[NodeLog, ...]:
    """Change one of the records that are meant, counted in the order of the merge."""
    meant = [one.record for one in merge(logs) if is_it(one.record)][which]
    return tuple(
        replace(log, records=tuple([change(r) if r is meant else r for r in log.records]))
        for log in logs
    )


def with_state(record: NodeRecord, turn: Callable[[bytes], bytes]) -> NodeRecord:
    """Rewrite the text of a record's state."""
    before = msgspec.json.encode(record.state)
    after = turn(before)
    assert after != before
    return msgspec.structs.replace(record, state=msgspec.json.decode(after))


def without_sent(record: NodeRecord, code: int) -> NodeRecord:
    kept = tuple([message for message in record.sent if message.code != code])
    assert len(kept) < len(record.sent)
    return msgspec.structs.replace(record, sent=kept)


def received(logs: Sequence[NodeLog]) -> set[str]:
    return {message for log in logs for one in log.records for message in one.received}


def sends(record: NodeRecord, code: int) -> bool:
    return any(message.code == code for message in record.sent)


@pytest.mark.parametrize("node", ["b1", "b2", "c1"])
def test_a_recorder_whose_clock_is_behind_leaves_an_order_that_is_causal(node: str) -> None:
    logs = recorded(0).logs
    late_ns = 3_000_000_000

    def later(record: NodeRecord) -> NodeRecord:
        return msgspec.structs.replace(record, at_ns=record.at_ns + late_ns)

    shifted = [
        log
        if log.header.node == node
        else replace(log, records=tuple([later(record) for record in log.records]))
        for log in logs
    ]
    merged = [one.record for one in merge(shifted)]

    for log in shifted:
        assert [one for one in merged if one.node == log.header.node] == list(log.records)
    sent: set[str] = set()
    for record in merged:
        assert sent.issuperset(record.received)
        sent |= {message.id for message in record.sent}
    before = [(one.record.node, one.record.sequence) for one in merge(logs)]
    assert [(one.node, one.sequence) for one in merged] != before


@pytest.mark.java
def test_what_is_changed_in_a_record_diverges() -> None:
    logs = recorded(0).logs
    heard = received(logs)

    def unheard_unlock(record: NodeRecord) -> bool:
        return any(m.code == UNLOCK and m.id not in heard for m in record.sent)

    def votes(record: NodeRecord) -> bool:
        return record.action == "ReceiveAsk" and b'"client_id":"c1"' in msgspec.json.encode(
            record.state.get("votes")
        )

    cases: dict[str, tuple[NodeLog, ...]] = {
        "nothing": logs,
        "the client of a vote": changed(
            logs, votes, lambda r: with_state(r, lambda s: s.replace(b'"c1"', b'"c2"'))
        ),
        "the number of tries": changed(
            logs,
            lambda r: r.action == "Lock",
            lambda r: msgspec.structs.replace(r, state={**r.state, "tries": 7}),
        ),
        "no word of an action": changed(
            logs,
            lambda r: r.action == "Lock",
            lambda r: msgspec.structs.replace(r, action=None, params={}),
            which=3,
        ),
        "another action": changed(
            logs,
            lambda r: r.action == "ReceiveAnswer",
            lambda r: msgspec.structs.replace(r, action="GiveUp"),
            which=2,
        ),
        "a release that is sent, and lost": changed(
            logs,
            unheard_unlock,
            lambda r: msgspec.structs.replace(
                r, sent=tuple([m for m in r.sent if m.code != UNLOCK or m.id in heard])
            ),
        ),
    }

    verdicts = judged([PLUG.trace_of_records(case) for case in cases.values()])

    found = {name: kind(verdict) for name, verdict in zip(cases, verdicts, strict=True)}
    assert found == {"nothing": "conforms"} | dict.fromkeys(list(cases)[1:], "diverges")
    assert isinstance(verdicts[1], Diverges)
    assert verdicts[1].action == "ReceiveAsk"


def refused(logs: Sequence[NodeLog]) -> str:
    with pytest.raises(RecordError) as caught:
        PLUG.trace_of_records(logs)
    return str(caught.value)


def acts(action: str, text: str) -> Callable[[NodeRecord], bool]:
    return lambda r: r.action == action and text.encode() in msgspec.json.encode(r.state)


def _drop_received(record: NodeRecord) -> NodeRecord:
    return msgspec.structs.replace(record, received=())


def _rename(action: str) -> Change:
    return lambda record: msgspec.structs.replace(record, action=action)


def _turn(before: str, after: str) -> Change:
    return lambda r: with_state(r, lambda state: state.replace(before.encode(), after.encode()))


@pytest.mark.parametrize(
    ("action", "in_state", "change", "said"),
    [
        ("ReceiveAsk", "", _drop_received, "ReceiveAsk without a request"),
        ("ReceiveFree", "", _drop_received, "ReceiveFree without a request"),
        ("Lock", "", lambda r: without_sent(r, LOCK), "Lock without a request"),
        (
            "ReceiveAsk",
            "client_id",
            _turn('"client_id"', '"client"'),
            "votes: .*required field `client_id`",
        ),
        ("ReceiveAsk", "voted_ms", _turn('"voted_ms":', '"voted_ms":-0.5,"a":'), "votes: .*`int`"),
        (
            "Lock",
            "began_ms",
            _turn('"began_ms"', '"began"'),
            "attempt: .*required field `began_ms`",
        ),
        (
            "ReceiveAnswer",
            "ends_ms",
            _turn('"ends_ms"', '"ends"'),
            "leases: .*required field `ends_ms`",
        ),
        ("ReceiveAsk", "", _rename("Vote"), "a broker has no action 'Vote'"),
        ("Process", "", _rename("Sleep"), "a consumer has no action 'Sleep'"),
        (
            "Process",
            "",
            lambda r: msgspec.structs.replace(r, params={"queues": []}),
            "Process of 0 queues",
        ),
        (
            "Process",
            "",
            lambda r: msgspec.structs.replace(r, params={"queues": [{"topic": "t"}]}),
            "params: .*required field `broker_name`",
        ),
        (
            "Lock",
            "",
            lambda r: msgspec.structs.replace(
                r, sent=tuple([msgspec.structs.replace(m, to=None) for m in r.sent])
            ),
            "message .* goes to nobody",
        ),
        (
            "Lock",
            "",
            lambda r: msgspec.structs.replace(
                r, sent=tuple([msgspec.structs.replace(m, body="{}") for m in r.sent])
            ),
            "message .*: .*required field `attempt`",
        ),
    ],
)
def test_a_record_that_lacks_what_its_kind_has_is_named(
    action: str, in_state: str, change: Change, said: str
) -> None:
    logs = recorded(0).logs
    meant: list[NodeRecord] = []

    def noted(record: NodeRecord) -> NodeRecord:
        meant.append(record)
        return change(record)

    error = refused(changed(logs, acts(action, in_state), noted))

    (record,) = meant
    where = f"{record.node}, record {record.sequence} of incarnation {record.incarnation}: "
    assert error.startswith(where)
    assert re.match(said, error.removeprefix(where)), error


def test_a_release_that_is_received_and_was_not_sent_is_refused() -> None:
    logs = recorded(0).logs
    heard = received(logs)

    def heard_unlock(record: NodeRecord) -> bool:
        return any(m.code == UNLOCK and m.id in heard for m in record.sent)

    error = refused(changed(logs, heard_unlock, lambda r: without_sent(r, UNLOCK)))

    assert "is received, and no record sends it" in error


# ---- how nodes are set up ----


def with_settings(logs: Sequence[NodeLog], node: str, **settings: object) -> tuple[NodeLog, ...]:
    return tuple(
        replace(
            log,
            header=msgspec.structs.replace(
                log.header, settings={**log.header.settings, **settings}
            ),
        )
        if log.header.node == node
        else log
        for log in logs
    )


@pytest.mark.parametrize(
    ("logs", "said"),
    [
        (lambda logs: logs[:3], "there are no records of a broker, or none of a consumer"),
        (lambda logs: logs[3:], "there are no records of a broker, or none of a consumer"),
        (lambda logs: with_settings(logs, "b2", life_ms=1), "b1 and b2 are set up differently"),
        (lambda logs: with_settings(logs, "c3", lease_ms=1), "c1 and c3 are set up differently"),
        (lambda logs: with_settings(logs, "b2", life_ms=None), "settings of b2: .*`int`.*life_ms"),
        (lambda logs: with_settings(logs, "c1", kind="producer"), "settings of c1: .*'producer'"),
        (
            lambda logs: with_settings(
                with_settings(with_settings(logs, "b1", members=["b1"]), "b2", members=["b1"]),
                "b3",
                members=["b1"],
            ),
            "b2 is no member of the group that it names",
        ),
    ],
)
def test_nodes_that_do_not_belong_together_are_refused(
    logs: Callable[[Sequence[NodeLog]], Sequence[NodeLog]], said: str
) -> None:
    with pytest.raises(RecordError, match=said):
        PLUG.trace_of_records(logs(recorded(0).logs))

"""What real brokers without controllers write, by hand: of each step a line; and a recorded run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
import pytest

from rocketha.recording.node_log import NodeLines, read_logs
from rocketha.recording.record import NodeHeader, NodeRecord, RecordError, SentMessage
from rocketproof.protocols import PROTOCOLS
from tests.source_files import ROOT
from tests.traces.rocketproof.recorded_runs import changed, judged
from tlatrace.judgement.verdict import Conforms, Diverges, Verdict, kind
from tlatrace.trace import Event, Trace

PLUG: Final = PROTOCOLS["legacy_replication"]
SIZE: Final = 300
"""Bytes of a record; two are in a file."""
FILE: Final = 1000
MS: Final = 1_000_000
AT: Final = (0, 300, FILE, FILE + 300)
"""Where records begin."""


def item(number: int) -> dict[str, Any]:
    return {"end": AT[number] + SIZE, "id": f"m{number}"}


class Nodes:
    """A master and a slave, which start with empty logs."""

    def __init__(self, *, per_segment: int = 2) -> None:
        self.lines = NodeLines()
        self._sequences: dict[str, int] = {}
        self._starts: dict[str, int] = {}
        self._now_ms = 0
        self._waiting: list[dict[str, int]] = []
        self._ends: dict[int, dict[str, int | None]] = {}
        self._packets: dict[tuple[int, str], int] = {}
        master = {
            "kind": "master",
            "slaves": ["b2"],
            "slaves_to_wait_for_max": 1,
            "segment_bytes": FILE,
            "records_per_segment": per_segment,
        }
        settings: dict[str, dict[str, Any]] = {
            "b1": master,
            "b2": {"kind": "slave", "master": "b1"},
        }
        for node, one in settings.items():
            self.lines.write(NodeHeader(protocol="legacy_replication", node=node, settings=one))
            self.starts(node)

    def step(self, node: str, event: str, *, act: bool = True, **more: Any) -> None:
        self._sequences[node] = self._sequences.get(node, -1) + 1
        self._now_ms += 100
        self.lines.write(
            NodeRecord(
                node=node,
                incarnation=self._starts[node],
                sequence=self._sequences[node],
                at_ns=self._now_ms * MS,
                shows_ms=self._now_ms,
                event=event,
                action=event if act else None,
                **more,
            )
        )

    def starts(self, node: str, *numbers: int) -> None:
        self._starts[node] = self._starts.get(node, 0) + 1
        self._sequences[node] = -1
        begin = AT[numbers[0]] // FILE * FILE if numbers else 0
        log = {"kept": 0, "added": [item(number) for number in numbers]}
        state: dict[str, Any] = {"begin": begin, "log": log, "flushed_offset": 0}
        own: dict[str, Any] = {"waiting": [], "ends": []} if node == "b1" else {"client": None}
        self.step(node, "NodeStarted", act=False, state=state | own)
        if self._starts[node] > 1:
            self.step(node, "Restart")

    def stops(self, node: str, *numbers: int) -> None:
        log = {"kept": 0, "added": [item(number) for number in numbers]}
        self.step(node, "NodeStopped", act=False, state={"log": log})

    def puts(self, number: int) -> None:
        put = {"put": AT[number], "offset": AT[number], "need": 1}
        self._waiting.append(put)
        log = {"kept": number, "added": [item(number)]}
        state = {"log": log, "waiting": list(self._waiting)}
        self.step("b1", "PutMessage", params={"offset": AT[number], "need": 1}, state=state)

    def answers(self, number: int) -> None:
        self._waiting = [one for one in self._waiting if one["offset"] != AT[number]]
        said = {"is": "AnswerPut", "put": AT[number], "status": "PUT_OK"}
        state = {"waiting": list(self._waiting)}
        self.step("b1", "PutOk", params={"offset": AT[number]}, state=state, answered=(said,))

    def accepts(self, conn: int) -> None:
        self._ends[conn] = {"slave_ack": -1, "next_offset": None}
        self.step("b1", "ConnectionAccepted", act=False, state=self._shown())

    def connects(self, conn: int, end: int = 0) -> None:
        self._reports("Connect", conn, end)

    def hears(self, conn: int, end: int) -> None:
        self._ends[conn]["slave_ack"] = end
        received = (self._packet(conn, "heard"),)
        params = {"conn": conn, "offset": end}
        self.step("b1", "ReceiveReport", params=params, state=self._shown(), received=received)

    def transfers(self, conn: int, offset: int, size: int) -> None:
        self._ends[conn]["next_offset"] = offset + size
        params = {"conn": conn, "offset": offset, "size": size}
        sent = (SentMessage(id=self._packet(conn, "batch")),)
        self.step("b1", "Transfer", params=params, state=self._shown(), sent=sent)

    def appends(self, conn: int, number: int, kept: int) -> None:
        state = {"begin": AT[number - kept] // FILE * FILE}
        log = {"kept": kept, "added": [item(number)]}
        self._reports("ReceiveTransfer", conn, AT[number] + SIZE, {**state, "log": log})

    def _reports(
        self, event: str, conn: int, end: int, state: dict[str, Any] | None = None
    ) -> None:
        received = (self._packet(conn, "got"),) if event == "ReceiveTransfer" else ()
        self.step(
            "b2",
            event,
            params={"conn": conn},
            state={**(state or {}), "client": {"id": conn, "reported": end}},
            sent=(SentMessage(id=self._packet(conn, "report")),),
            received=received,
        )

    def _packet(self, conn: int, what: str) -> str:
        """Name the next packet, as whoever sends or takes it counts."""
        number = self._packets[conn, what] = self._packets.get((conn, what), 0) + 1
        return f"{conn}:{'report' if what in ('report', 'heard') else 'batch'}:{number}"

    def _shown(self) -> dict[str, Any]:
        return {"ends": [[conn, dict(end)] for conn, end in self._ends.items()]}

    def trace(self) -> Trace:
        return PLUG.trace_of_records(self.lines.logs())


def linked() -> Nodes:
    """A slave that has reported an empty log."""
    nodes = Nodes()
    nodes.accepts(7)
    nodes.connects(7)
    nodes.hears(7, 0)
    return nodes


def copied() -> Nodes:
    """A message that the slave has, and whose producer knows it."""
    nodes = linked()
    nodes.puts(0)
    nodes.transfers(7, 0, SIZE)
    nodes.appends(7, 0, 0)
    nodes.hears(7, SIZE)
    nodes.answers(0)
    return nodes


def actions(trace: Trace) -> list[str | None]:
    return [event.action for event in trace.events]


def shown(event: Event, variable: str, *at: object) -> object:
    return next(one.value for one in event.parts if (one.variable, one.at) == (variable, at))


def judge(nodes: Nodes) -> Verdict:
    (verdict,) = judged([nodes.trace()])
    return verdict


@pytest.mark.java
def test_a_message_is_copied_and_acknowledged() -> None:
    trace = copied().trace()
    assert actions(trace) == [
        *("Init", "Connect", "ReceiveReport", "PutMessage", "Transfer"),
        *("ReceiveTransfer", "ReceiveReport", "PutOk"),
    ]
    assert isinstance(judged([trace])[0], Conforms)


@pytest.mark.java
def test_a_producer_that_hears_too_much_diverges() -> None:
    nodes = linked()
    nodes.puts(0)
    nodes.answers(0)
    verdict = judge(nodes)
    assert isinstance(verdict, Diverges)
    assert verdict.action == "PutOk"


def test_a_connection_begins_when_both_ends_are_there() -> None:
    nodes = Nodes()
    nodes.puts(0)
    nodes.connects(7)
    assert actions(nodes.trace()) == ["Init", "PutMessage"]
    nodes.accepts(7)
    assert actions(nodes.trace()) == ["Init", "PutMessage", "Connect"]


@pytest.mark.java
def test_a_connection_that_the_master_never_has_is_none() -> None:
    nodes = Nodes()
    nodes.connects(7)
    nodes.step("b2", "Disconnect", state={"client": None})
    nodes.accepts(8)
    nodes.connects(8)
    assert actions(nodes.trace()) == ["Init", "Connect"]
    assert isinstance(judge(nodes), Conforms)


@pytest.mark.java
def test_a_slave_keeps_a_connection_that_the_next_life_of_its_master_does_not_have() -> None:
    nodes = copied()
    nodes.stops("b1", 0)
    nodes.starts("b1", 0)
    nodes.step("b2", "Disconnect", state={"client": None})
    assert actions(nodes.trace())[-3:] == ["Crash", "Restart", "Disconnect"]
    assert isinstance(judge(nodes), Conforms)


@pytest.mark.java
def test_a_flush_of_a_part_of_the_log_is_left_out() -> None:
    nodes = copied()
    nodes.puts(1)
    for reached in (SIZE, AT[1] + SIZE, AT[1] + SIZE):
        nodes.step("b1", "Flush", state={"flushed_offset": reached})
    nodes.step("b2", "Flush", state={"flushed_offset": SIZE})
    assert actions(nodes.trace())[-3:] == ["PutMessage", "Flush", "Flush"]
    assert isinstance(judge(nodes), Conforms)


@pytest.mark.java
def test_what_was_flushed_is_lost_by_no_power_cut() -> None:
    verdicts = []
    for is_flushed in (False, True):
        nodes = copied()
        if is_flushed:
            nodes.step("b1", "Flush", state={"flushed_offset": SIZE})
        nodes.stops("b1")
        verdicts.append(kind(judge(nodes)))
    assert verdicts == ["conforms", "diverges"]


@pytest.mark.java
def test_what_a_killed_master_could_not_write_is_read_from_its_disk() -> None:
    nodes = copied()
    nodes.stops("b1", 0, 1, 2)
    trace = nodes.trace()
    assert actions(trace)[-3:] == ["PutMessage", "PutMessage", "Crash"]
    assert trace.events[-2].params == (1,)
    assert shown(trace.events[-1], "log", "b1") == (0, 0, 0)
    assert isinstance(judge(nodes), Conforms)


@pytest.mark.java
def test_what_a_killed_slave_could_not_write_is_read_from_its_disk() -> None:
    nodes = copied()
    nodes.puts(1)
    nodes.transfers(7, AT[1], SIZE)
    nodes.stops("b2", 0, 1)
    trace = nodes.trace()
    assert actions(trace)[-2:] == ["ReceiveTransfer", "Crash"]
    assert shown(trace.events[-2], "link", "b2", "reported") == 2
    assert isinstance(judge(nodes), Conforms)


@pytest.mark.java
def test_a_slave_begins_at_the_last_file() -> None:
    nodes = Nodes()
    for number in (0, 1, 2):
        nodes.puts(number)
        nodes.step(
            "b1",
            "PutTimeout",
            params={"offset": AT[number]},
            state={"waiting": []},
        )
        nodes._waiting.clear()
    nodes.accepts(7)
    nodes.connects(7)
    nodes.hears(7, 0)
    nodes.transfers(7, FILE, SIZE)
    nodes.appends(7, 2, 0)
    trace = nodes.trace()
    assert shown(trace.events[-1], "begin", "b2") == 2
    assert shown(trace.events[-1], "link", "b2", "reported") == 3
    assert isinstance(judge(nodes), Conforms)


def test_files_have_as_many_records_as_the_header_says() -> None:
    nodes = Nodes(per_segment=1)
    nodes.puts(0)
    nodes.trace()
    nodes.puts(1)
    with pytest.raises(RecordError, match="'m1': files do not have 1 records each"):
        nodes.trace()


def test_a_record_that_no_master_took_is_named() -> None:
    nodes = linked()
    nodes.transfers(7, 0, SIZE)
    nodes.appends(7, 0, 0)
    with pytest.raises(RecordError, match="'m0' before offset 300: no master is known"):
        nodes.trace()


# ---- a recorded run ----

RUN: Final = ROOT / "traces" / "samples" / "rocketmq" / "sync_master-5.5.0" / "records"
RECORD: Final = 311
"""Bytes of each record of the run."""

Change = Callable[[NodeRecord], NodeRecord]


def with_params(**turns: Callable[[Any], Any]) -> Change:
    def change(record: NodeRecord) -> NodeRecord:
        turned = {name: turn(record.params[name]) for name, turn in turns.items()}
        return msgspec.structs.replace(record, params={**record.params, **turned})

    return change


def with_state(**turns: Callable[[Any], Any]) -> Change:
    def change(record: NodeRecord) -> NodeRecord:
        turned = {name: turn(record.state[name]) for name, turn in turns.items()}
        return msgspec.structs.replace(record, state={**record.state, **turned})

    return change


def acts(action: str, *parts: str) -> Callable[[NodeRecord], bool]:
    return lambda r: r.action == action and all(r.state.get(one) for one in parts)


def more(bytes_: int) -> int:
    return bytes_ + RECORD


def renamed(change: Any) -> Any:
    return {**change, "added": [{**one, "id": "b0"} for one in change["added"]]}


def acked_more(ends: Any) -> Any:
    return [[conn, {**end, "slave_ack": more(end["slave_ack"])}] for conn, end in ends]


def sent_less(ends: Any) -> Any:
    return [[conn, {**end, "next_offset": 0}] for conn, end in ends]


def told_to_wait(record: NodeRecord) -> NodeRecord:
    return msgspec.structs.replace(record, action="PutTimeout")


CASES: Final[dict[str, tuple[Callable[[NodeRecord], object], Change, int]]] = {
    "a report of more than the slave has": (
        acts("ReceiveReport"),
        with_params(offset=more),
        -1,
    ),
    "an end that has heard more": (acts("ReceiveReport", "ends"), with_state(ends=acked_more), 3),
    "an end that has sent less": (acts("Transfer", "ends"), with_state(ends=sent_less), 5),
    "a larger batch": (acts("Transfer", "ends"), with_params(size=more), 3),
    "a record of the life before": (acts("ReceiveTransfer", "log"), with_state(log=renamed), -1),
    "a slave that reports less": (
        acts("ReceiveTransfer", "log"),
        with_state(client=lambda end: {**end, "reported": 0}),
        4,
    ),
    "a producer that hears PUT_OK and timed out": (acts("PutOk"), told_to_wait, 1),
    "a producer that waits for nobody": (acts("PutMessage"), with_params(need=lambda _: 0), 1),
    "a power cut that took what was flushed": (
        lambda r: r.event == "NodeStopped" and r.node == "b1",
        with_state(log=lambda log: {**log, "added": log["added"][:3]}),
        0,
    ),
}


@pytest.mark.java
def test_what_is_changed_in_a_recorded_run_diverges() -> None:
    logs = read_logs(RUN)
    cases = [changed(logs, is_it, change, which) for is_it, change, which in CASES.values()]

    verdicts = judged([PLUG.trace_of_records(case) for case in (logs, *cases)])

    found = dict(zip(("nothing", *CASES), map(kind, verdicts), strict=True))
    assert found == {"nothing": "conforms"} | dict.fromkeys(CASES, "diverges")

"""What real brokers and controllers wrote, as behaviours of SyncStateSet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import pytest

from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import STOPPED, NodeRecord
from rocketproof.museum_judge import judge_with
from rocketproof.protocols import PROTOCOLS
from tests.traces.rocketproof.recorded_runs import judged, recorded
from tlatrace.judgement.verdict import Conforms, Diverges, kind
from tlatrace.tools.manifest import Mutant, read_manifest
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.trace import Trace

PLUG: Final = PROTOCOLS["sync_state_set"]


def logs() -> tuple[NodeLog, ...]:
    return recorded("sync_state_set", 1).logs


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

"""What real brokers and consumers write of queue locks, by hand: of each step a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import pytest

from rocketha.recording.node_log import NodeLines, NodeLog
from rocketha.recording.record import NodeHeader, NodeRecord, RecordError, SentMessage
from rocketproof.protocols import PROTOCOLS
from tests.traces.rocketproof.recorded_runs import judged
from tlatrace.judgement.verdict import Conforms, Diverges
from tlatrace.trace import Event

PLUG: Final = PROTOCOLS["lock_quorum"]
QUEUE: Final = {"topic": "T", "broker_name": "g", "queue_id": 0}
LOCK: Final = 41
MS: Final = 1_000_000


class Nodes:
    """Two brokers, a controller and two consumers, whose steps are a second apart."""

    def __init__(self, *, replicates: bool = True) -> None:
        self.lines = NodeLines()
        self._sequences: dict[str, int] = {}
        self._now_ms = 0
        broker = {
            "kind": "broker",
            "members": ["b1", "b2"],
            "queues": [QUEUE],
            "total_replicas": 1,
            "strict": False,
            "life_ms": 60_000,
            "replicates": replicates,
        }
        consumer = {
            "kind": "consumer",
            "consumer_group": "ordered",
            "lease_ms": 30_000,
            "patience_ms": 1000,
        }
        kinds: dict[str, dict[str, Any]] = {"b": broker, "c": {"kind": "controller"}, "k": consumer}
        for node in ("b1", "b2", "c1", "k1", "k2"):
            header = NodeHeader(protocol="lock_quorum", node=node, settings=kinds[node[0]])
            self.lines.write(header)
            state: dict[str, Any] = {"tries": 0, "attempt": None} if node[0] == "k" else {}
            self.step(node, "NodeStarted", None, state=state)

    def step(self, node: str, event: str, action: str | None, **more: Any) -> None:
        sequence = self._sequences.get(node, -1) + 1
        self._sequences[node] = sequence
        self._now_ms += 100
        self.lines.write(
            NodeRecord(
                node=node,
                incarnation=1,
                sequence=sequence,
                at_ns=self._now_ms * MS,
                shows_ms=self._now_ms,
                event=event,
                action=action,
                **more,
            )
        )

    def lock(self, client: str, at: str, id_: str, number: int, *, again: bool = False) -> None:
        queue = {"topic": "T", "brokerName": "g", "queueId": 0}
        body = {"attempt": number, "clientId": client, "mqSet": [queue], "onlyThisBroker": False}
        sent = SentMessage(id=id_, to=at, code=LOCK, body=msgspec.json.encode(body).decode())
        begun = {"tries": number, "attempt": {"number": number, "queues": [QUEUE]}}
        name = "LockAgain" if again else "Lock"
        self.step(
            client,
            name,
            None if again else name,
            params={"queues": [QUEUE]},
            state={} if again else begun,
            sent=(sent,),
        )

    def vote(self, broker: str, id_: str, holder: str) -> None:
        vote = {"client_id": holder, "voted_ms": self._now_ms + 100}
        votes = {"votes": [[["ordered", QUEUE], vote]]}
        self.step(broker, "ReceiveAsk", "ReceiveAsk", received=(id_,), state=votes)

    def answer(self, client: str, *, got: bool, again: bool = False) -> None:
        name = "ReceiveAnswer"
        self.step(
            client,
            "AnsweredAgain" if again else name,
            None if again else name,
            params={"queues": [QUEUE] if got else []},
            state={} if again else {"attempt": None},
        )

    def gets(self, client: str, at: str, id_: str) -> None:
        self.lock(client, at, id_, 1)
        self.vote(at, id_, client)
        self.answer(client, got=True)

    def processes(self, client: str) -> None:
        self.step(client, "Process", "Process", params={"queues": [QUEUE], "offset": 3})

    @property
    def logs(self) -> Sequence[NodeLog]:
        return self.lines.logs()

    @property
    def events(self) -> list[Event]:
        trace = PLUG.trace_of_records(self.logs)
        return [event for event in trace.events if event.action not in ("Init", "Tick")]


def test_the_steps_of_replication_and_of_the_controller_are_passed_by() -> None:
    nodes = Nodes()
    nodes.step("b1", "BecomeMaster", "BecomeMaster", state={"role": "Master"})
    nodes.step("c1", "ElectMaster", "ElectMaster", state={"master": "b1"})
    nodes.gets("k2", "b1", "k2:1")
    assert [event.action for event in nodes.events] == ["Lock", "ReceiveAsk", "ReceiveAnswer"]


def test_what_is_asked_again_within_an_attempt_is_no_action() -> None:
    nodes = Nodes()
    nodes.lock("k2", "b1", "k2:1", 1)
    nodes.lock("k2", "b1", "k2:2", 1, again=True)
    nodes.vote("b1", "k2:1", "k2")
    nodes.answer("k2", got=True)
    nodes.vote("b1", "k2:2", "k2")
    nodes.answer("k2", got=True, again=True)
    assert [event.action for event in nodes.events] == ["Lock", "ReceiveAsk", "ReceiveAnswer"]


def test_a_simulated_broker_leaves_nothing_out() -> None:
    nodes = Nodes(replicates=False)
    nodes.step("b1", "BecomeMaster", "BecomeMaster", state={"role": "Master"})
    with pytest.raises(RecordError, match="a broker does not take 'BecomeMaster'"):
        PLUG.trace_of_records(nodes.logs)
    nodes = Nodes(replicates=False)
    votes = {"votes": [[["ordered", QUEUE], {"client_id": "k2", "voted_ms": 0}]]}
    nodes.step("b1", "RequestArrived", None, state=votes)
    with pytest.raises(RecordError, match=r"votes: .*required field `attempt`"):
        PLUG.trace_of_records(nodes.logs)


@pytest.mark.java
def test_two_holders_diverge_at_the_answer_of_the_second() -> None:
    alone, both, taken = Nodes(), Nodes(), Nodes()
    alone.gets("k2", "b1", "k2:1")
    alone.processes("k2")
    both.gets("k2", "b1", "k2:1")
    both.gets("k1", "b2", "k1:1")
    taken.gets("k2", "b1", "k2:1")
    taken.lock("k1", "b1", "k1:1", 1)
    taken.vote("b1", "k1:1", "k1")
    first, second, third = judged(
        [PLUG.trace_of_records(nodes.logs) for nodes in (alone, both, taken)]
    )
    assert isinstance(first, Conforms)
    assert isinstance(second, Diverges)
    assert second.action == "ReceiveAnswer"
    assert "LockMutex" in str(second)
    assert isinstance(third, Diverges)
    assert third.action == "ReceiveAsk"

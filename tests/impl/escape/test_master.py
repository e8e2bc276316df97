"""A master of another group, step by step: what it stores, asks, shows and delivers again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from rocketha.acting.core import RegisterNow
from rocketha.acting.state import ActingOptions
from rocketha.escape.events import (
    CheckDue,
    Decided,
    HeartbeatDue,
    MasterEvent,
    PoppedHere,
    ReviveDue,
)
from rocketha.escape.master import MasterCore, fresh, started
from rocketha.escape.master_state import MasterOptions, MasterState
from rocketha.escape.producer import ProducerCore, ProducerState
from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.formats.due_messages import (
    COMMITTED,
    DELAYED_TOPIC,
    HALF_TOPIC,
    OP_TOPIC,
    PREPARED,
    ROLLED_BACK,
    time_is_up,
)
from rocketha.formats.message import Message, Record, properties_of, properties_text
from rocketha.formats.pop_messages import (
    AckMsg,
    PopCheckPoint,
    Popped,
    ack_message,
    check_point_message,
)
from rocketha.formats.put_requests import PutCode, pull_check, push_put
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.runtime.effects import After, AppendMessage, RequestFlush, Respond, SendOneWay
from rocketha.runtime.events import LogFlushed, MessageAppended, RequestArrived, TimerFired
from rocketha.types import BrokerId, Offset, RequestId, SizeBytes, TimestampMs

CORE = MasterCore()
PRODUCER = ProducerCore()
NOW = TimestampMs(1_000)
SIZE = 100


class Log:
    """The log of a master, all records of one size; at its end there may be filler."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.flushed = 0
        self.filler = 0

    @property
    def max_phy_offset(self) -> Offset:
        return Offset(SIZE * len(self.messages) + self.filler)

    @property
    def flushed_offset(self) -> Offset:
        return Offset(SIZE * self.flushed + self.filler)

    def is_record_boundary(self, offset: Offset) -> bool:
        return offset % SIZE == 0 or offset == self.max_phy_offset

    def records(self, start: int = 0, end: int | None = None) -> Iterator[Record]:
        for at, message in enumerate(self.messages):
            if start <= SIZE * at and (end is None or SIZE * (at + 1) <= end):
                yield Record(offset=Offset(SIZE * at), size=SizeBytes(SIZE), message=message)


class Master:
    """A master with its log, which is flushed when the test says so."""

    def __init__(self, log: Log | None = None) -> None:
        self.log = log or Log()
        self.state: MasterState = fresh(OPTIONS, self.log, now_ms=NOW)

    def step(self, event: MasterEvent, now_ms: int = NOW) -> list[Any]:
        """Take an event; return what it does besides what the log does."""
        done = CORE.step(self.state, event, now_ms=TimestampMs(now_ms), log=self.log)
        self.state = done.state
        for effect in done.effects:
            if isinstance(effect, AppendMessage):
                begin = self.log.max_phy_offset
                self.log.messages.append(effect.message)
                if effect.put is not None:
                    end = self.log.max_phy_offset
                    self.step(MessageAppended(put=effect.put, offset=begin, end=end))
        return [
            one for one in done.effects if not isinstance(one, AppendMessage | RequestFlush | After)
        ]

    def flush(self) -> list[Any]:
        self.log.flushed = len(self.log.messages)
        return self.step(LogFlushed())

    def put(self, message: Message, request: int = 1) -> list[Any]:
        fields = dict(push_put(message, "shop"))
        command = RemotingCommand(
            code=BrokerCode.SEND_MESSAGE_V2, opaque=1, ext_fields=fields, body=message.body
        )
        return self.step(RequestArrived(request=RequestId(request), command=command))

    @property
    def topics(self) -> list[str]:
        return [message.topic for message in self.log.messages]


OPTIONS = MasterOptions(
    acting=ActingOptions(
        cluster_name="cluster",
        broker_name="group-b11",
        address="b11",
        own_id=BrokerId(0),
        ha_address="b11:ha",
        name_servers=(BrokerId(201),),
        topics=MappingProxyType({}),
        acting=True,
    ),
    producers={"shop": BrokerId(301)},
)
PROPERTIES = {"UNIQ_KEY": "h1", "PGROUP": "shop", "TRAN_MSG": "true"}
HALF = Message(topic="bills", body=b"h1", sys_flag=PREPARED, properties=properties_text(PROPERTIES))
PLAIN = Message(topic="bills", body=b"d1", properties=properties_text({"UNIQ_KEY": "d1"}))


def producer(**decided: int) -> ProducerState:
    return ProducerState(group="shop", brokers={"group-b11": BrokerId(11)}, decided=decided)


def told(question: SendOneWay, state: ProducerState) -> RequestArrived:
    """Let a producer be asked; return what it says."""
    command = RemotingCommand(
        code=question.code, opaque=1, ext_fields=question.ext_fields, body=question.body
    )
    done = PRODUCER.step(state, RequestArrived(request=RequestId(1), command=command), now_ms=NOW)
    (says,) = done.effects
    assert isinstance(says, SendOneWay)
    assert says.peer == 11
    end = RemotingCommand(code=says.code, opaque=2, ext_fields=says.ext_fields)
    return RequestArrived(request=RequestId(9), command=end)


# ---- puts ----


def test_what_is_to_wait_lies_where_its_level_waits() -> None:
    master = Master()
    waits = properties_text({"UNIQ_KEY": "d1", "DELAY": "3"})
    master.put(replace(PLAIN, properties=waits))

    (message,) = master.log.messages
    assert (message.topic, message.queue_id) == (DELAYED_TOPIC, 2)
    assert time_is_up(message).topic == "bills"
    assert "DELAY" not in time_is_up(message).properties
    master.put(replace(PLAIN, properties=properties_text({"UNIQ_KEY": "d2", "DELAY": "0"})), 2)
    assert master.topics[1:] == ["bills"], "0 is no level"


def test_of_a_half_message_that_is_passed_nobody_is_asked() -> None:
    master = Master()
    master.put(HALF)
    master.put(HALF, 2)
    master.flush()
    assert len(master.step(CheckDue())) == 2

    master.state = replace(master.state, passed_halves=1)

    (question,) = master.step(CheckDue())
    assert question.ext_fields["tranStateTableOffset"] == "1"


def test_a_put_is_answered_when_it_is_on_the_disk() -> None:
    master = Master()

    assert master.put(PLAIN) == []
    (says,) = master.flush()

    assert isinstance(says, Respond)
    assert (says.request, says.code) == (1, BrokerResponse.SUCCESS)
    assert dict(says.ext_fields) == {
        "msgId": "7F000001000000000000000000000000",
        "queueId": "0",
        "queueOffset": "0",
        "transactionId": "d1",
    }
    assert master.flush() == [], "once"


def test_messages_have_places_in_their_queues_also_when_a_master_comes_back() -> None:
    master = Master()
    master.put(PLAIN)
    master.put(PLAIN, 2)
    master.flush()

    again = Master(master.log)
    again.put(PLAIN, 3)
    assert [message.queue_offset for message in master.log.messages] == [0, 1, 2]


def test_what_is_no_message_is_refused() -> None:
    command = RemotingCommand(code=BrokerCode.SEND_MESSAGE_V2, opaque=1, ext_fields={})
    (says,) = Master().step(RequestArrived(request=RequestId(1), command=command))

    assert says.code == BrokerResponse.MESSAGE_ILLEGAL


@pytest.mark.parametrize(
    "message",
    [
        replace(PLAIN, topic=OP_TOPIC),
        replace(HALF, topic=HALF_TOPIC),
        replace(PLAIN, topic="%RETRY%audit_orders"),
        replace(PLAIN, queue_id=-1),
        replace(PLAIN, properties="x" * 40_000),
        replace(PLAIN, properties="__CRC32#\x011\x02"),
    ],
)
def test_what_only_a_master_writes_or_no_log_takes_is_refused(message: Message) -> None:
    master = Master()
    (says,) = master.put(message)

    assert (says.code, master.topics) == (BrokerResponse.MESSAGE_ILLEGAL, [])


# ---- half messages ----


def test_a_half_message_lies_where_nobody_reads_it_and_its_producer_is_asked_again_and_again() -> (
    None
):
    master = Master()
    master.put(HALF)
    assert master.step(CheckDue()) == [], "it is not on the disk"
    master.flush()

    assert master.topics == [HALF_TOPIC]
    for _ in range(2):
        (question,) = master.step(CheckDue())
        assert (question.peer, question.code) == (301, PutCode.CHECK_TRANSACTION_STATE)
        command = RemotingCommand(
            code=question.code, opaque=1, ext_fields=question.ext_fields, body=question.body
        )
        check = pull_check(command)
        assert (check.key, check.message.topic, check.message.body) == ("h1", "bills", b"h1")
        master.step(told(question, producer()))
    assert master.topics == [HALF_TOPIC], "the producer has not decided"


@pytest.mark.parametrize(
    ("how", "topics"), [(COMMITTED, ["bills", OP_TOPIC]), (ROLLED_BACK, [OP_TOPIC])]
)
def test_a_transaction_ends_as_its_producer_says(how: int, topics: list[str]) -> None:
    master = Master()
    master.put(HALF)
    master.flush()
    (question,) = master.step(CheckDue())
    end = told(question, producer(h1=how))
    master.step(end)

    assert master.topics == [HALF_TOPIC, *topics]
    assert master.step(CheckDue()) == [], "it is ending"
    master.step(end)
    master.flush()
    assert master.topics == [HALF_TOPIC, *topics], "once"
    assert Master(master.log).step(CheckDue()) == []


def test_a_master_that_comes_back_asks_of_what_its_log_has() -> None:
    master = Master()
    master.put(HALF)
    master.flush()

    assert len(Master(master.log).step(CheckDue())) == 1


@pytest.mark.parametrize(
    "field", [{"commitLogOffset": "7"}, {"producerGroup": "x"}, {"tranStateTableOffset": "5"}]
)
def test_what_another_producer_says_or_of_another_message_ends_nothing(
    field: dict[str, str],
) -> None:
    master = Master()
    master.put(HALF)
    master.flush()
    (question,) = master.step(CheckDue())
    end = told(question, producer(h1=COMMITTED))
    fields = {**end.command.ext_fields, **field}
    master.step(replace(end, command=replace(end.command, ext_fields=fields)))

    assert master.topics == [HALF_TOPIC]


# ---- pops ----

POPPED = Popped(
    broker_name="group-b2",
    group="audit",
    topic="orders",
    queue_id=0,
    offset=3,
    pop_time_ms=NOW,
)
POINT = check_point_message("cluster", PopCheckPoint(popped=POPPED, invisible_ms=500), now_ms=NOW)
ACK = ack_message("cluster", AckMsg(popped=POPPED), now_ms=NOW)


def stored(*messages: Message) -> Master:
    master = Master()
    for at, message in enumerate(messages, start=1):
        master.put(message, at)
    master.flush()
    return master


def test_what_nobody_has_acknowledged_in_time_is_delivered_again_once() -> None:
    master = stored(POINT)

    master.step(ReviveDue(), NOW + 499)
    assert len(master.topics) == 1
    master.step(ReviveDue(), NOW + 500)
    master.step(ReviveDue(), NOW + 501)
    assert master.topics[1:] == ["%RETRY%audit_orders"]
    assert properties_of(master.log.messages[1].properties)["1ST_POP_TIME"] == "1000"
    master.flush()
    for one in (master, Master(master.log)):
        one.step(ReviveDue(), NOW + 900)
    assert len(master.topics) == 2


def test_a_master_whose_log_ends_with_filler_delivers_again() -> None:
    """A power cut has taken the record behind it, which began another file."""
    log = stored(POINT).log
    log.filler = 57
    master = Master(log)

    master.step(ReviveDue(), NOW + 500)

    assert master.state.dispatched == SIZE + 57
    assert master.topics[1:] == ["%RETRY%audit_orders"]


@pytest.mark.parametrize("messages", [(POINT, ACK), (ACK, POINT)])
def test_what_is_acknowledged_is_not_delivered_again(messages: tuple[Message, ...]) -> None:
    master = stored(*messages)

    for one in (master, Master(master.log)):
        one.step(ReviveDue(), NOW + 900)
    assert len(master.topics) == 2


def test_an_ack_that_is_not_on_the_disk_yet_is_waited_for() -> None:
    master = stored(POINT)
    master.put(ACK, 2)

    master.step(ReviveDue(), NOW + 900)
    assert len(master.topics) == 2
    master.flush()
    master.step(ReviveDue(), NOW + 900)
    assert len(master.topics) == 2


def test_the_ack_of_another_brokers_pop_cancels_nothing() -> None:
    master = stored(POINT)
    master.step(PoppedHere("audit", "orders", 3))
    master.flush()
    assert [message.topic for message in master.log.messages[1:]] == [POINT.topic, POINT.topic]

    master.step(ReviveDue(), NOW + 900)
    assert master.topics[-1] == "%RETRY%audit_orders"


def test_what_is_neither_check_point_nor_ack_is_passed_over() -> None:
    broken = replace(POINT, body=b"{}")
    master = stored(broken)

    master.step(ReviveDue(), NOW + 900)
    assert master.topics == [POINT.topic]


# ---- the rest ----


def test_a_master_answers_signs_of_life_and_registers() -> None:
    master = Master()
    beat = RemotingCommand(code=BrokerCode.HEART_BEAT, opaque=1)
    (says,) = master.step(RequestArrived(request=RequestId(1), command=beat))

    assert says.code == BrokerResponse.SUCCESS
    assert master.step(RegisterNow()) == [], "it does not know its role"
    assert {type(one.event) for one in started(OPTIONS)} >= {CheckDue, ReviveDue}
    with pytest.raises(AssertionError, match="nobody tells"):
        master.step(TimerFired())


def test_a_producer_decides_once() -> None:
    state = PRODUCER.step(producer(), Decided("h1", COMMITTED), now_ms=NOW).state
    again = PRODUCER.step(state, Decided("h1", ROLLED_BACK), now_ms=NOW)

    assert (again.state.decided, again.action) == ({"h1": COMMITTED}, None)


def test_a_producer_gives_signs_of_life_and_hears_nothing_else() -> None:
    done = PRODUCER.step(producer(), HeartbeatDue(), now_ms=NOW)
    assert [one.code for one in done.effects if not isinstance(one, After)] == [
        BrokerCode.HEART_BEAT
    ]
    other = RemotingCommand(code=1, opaque=1)
    asked = PRODUCER.step(
        producer(), RequestArrived(request=RequestId(1), command=other), now_ms=NOW
    )
    (says,) = asked.effects
    assert isinstance(says, Respond)
    assert says.code == BrokerResponse.REQUEST_CODE_NOT_SUPPORTED
    broken = RemotingCommand(code=PutCode.CHECK_TRANSACTION_STATE, opaque=1)
    event = RequestArrived(request=RequestId(1), command=broken)
    assert PRODUCER.step(producer(), event, now_ms=NOW).effects == ()

"""A broker among name servers: what it says, when it counts on, and when it serves."""

from __future__ import annotations

from typing import Final

import pytest

from rocketha.acting.core import (
    ActingActionName,
    ActingCore,
    ActingDone,
    ActingHears,
    ChangeSpecialService,
    HeartbeatDue,
    NameServerLost,
    PollDue,
    RegisterDue,
    RegisterNow,
    RoleLearned,
    ShutdownWanted,
    fresh,
)
from rocketha.acting.rules import Role
from rocketha.acting.state import ActingOptions
from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.name_server_codec import (
    pull_name_server_request,
    push_name_server_reply,
    push_notification,
)
from rocketha.formats.name_server_codes import RELEASE_5_3_3, NameServerCode
from rocketha.formats.name_server_requests import (
    NameServerReply,
    NotifyMinBrokerIdChange,
    RegisterBroker,
    TopicConfig,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.runtime.effects import Respond, SendOneWay, SendRequest, Then
from rocketha.runtime.events import RequestArrived, RequestEvent, ResponseArrived
from rocketha.types import BrokerId, RequestId, TimestampMs

SERVERS: Final = (BrokerId(201), BrokerId(202))
OPTIONS: Final = ActingOptions(
    cluster_name="cluster",
    broker_name="broker",
    address="b2",
    own_id=BrokerId(2),
    ha_address="b2:ha",
    name_servers=SERVERS,
    topics={
        name: TopicConfig(topic_name=name, read_queue_nums=4, write_queue_nums=4, perm=6)
        for name in ("orders", "more")
    },
    acting=True,
)
SLAVE, AS_MASTER = Role(broker_id=BrokerId(2), epoch=1), Role(broker_id=BrokerId(0), epoch=2)


class Broker:
    """A broker, and all that it has sent."""

    def __init__(self) -> None:
        self.now_ms = 10
        self.state = fresh(OPTIONS, now_ms=TimestampMs(10))
        self.sent: list[SendRequest | SendOneWay] = []
        self.services: list[bool] = []

    def take(self, event: ActingHears | RequestEvent) -> ActingDone:
        done = ActingCore().step(self.state, event, now_ms=TimestampMs(self.now_ms))
        self.state = done.state
        for effect in done.effects:
            match effect:
                case SendRequest() | SendOneWay():
                    self.sent.append(effect)
                case ChangeSpecialService(runs=runs):
                    self.services.append(runs)
                case Then(event=follows):
                    self.take(follows)
                case _:
                    pass
        return done

    def codes(self) -> list[tuple[int, int]]:
        """Return what it has sent to whom since the last call."""
        sent, self.sent = self.sent, []
        return [(one.peer, one.code) for one in sent]

    def hears(self, smallest: int) -> None:
        """Let a name server tell it of the smallest brokerId."""
        says = NotifyMinBrokerIdChange(
            min_broker_id=BrokerId(smallest),
            min_broker_address="b1",
            offline_broker_address=None,
            ha_broker_address=None,
        )
        command = push_notification(says, opaque=1)
        self.take(RequestArrived(request=RequestId(1), command=command))

    def answered(self, asked: SendRequest, reply: NameServerReply | None) -> ActingDone:
        command = None
        if reply is not None:
            request = RemotingCommand(
                code=asked.code, opaque=1, version=RELEASE_5_3_3, ext_fields=asked.ext_fields
            )
            command = push_name_server_reply(reply, request)
        return self.take(ResponseArrived(reference=asked.reference, command=command))


def registered(request: SendRequest | SendOneWay) -> RegisterBroker:
    command = RemotingCommand(
        code=request.code,
        opaque=1,
        version=RELEASE_5_3_3,
        ext_fields=request.ext_fields,
        body=request.body,
    )
    read = pull_name_server_request(command)
    assert isinstance(read, RegisterBroker)
    return read


def test_who_does_not_know_what_it_is_says_nothing() -> None:
    broker = Broker()
    for event in (RegisterDue(), HeartbeatDue(), ShutdownWanted()):
        broker.take(event)

    assert broker.codes() == []


def test_a_broker_registers_with_all_name_servers_as_soon_as_it_knows_its_role() -> None:
    broker = Broker()
    broker.take(RoleLearned(SLAVE))
    first = registered(broker.sent[0])

    assert broker.codes() == [(one, NameServerCode.REGISTER_BROKER) for one in SERVERS]
    assert (first.broker_id, first.broker_address, first.enable_acting_master) == (2, "b2", True)
    assert first.data_version.state_version == 1
    assert broker.take(RoleLearned(SLAVE)).action is None


def test_a_registration_that_waits_for_its_answer_is_not_sent_again() -> None:
    broker = Broker()
    broker.take(RoleLearned(SLAVE))
    (first, _) = broker.sent
    assert isinstance(first, SendRequest)
    broker.codes()
    broker.take(RegisterDue())
    assert broker.codes() == []
    broker.answered(first, NameServerReply())
    broker.take(RegisterDue())

    assert broker.codes() == [(SERVERS[0], NameServerCode.REGISTER_BROKER)]


@pytest.mark.parametrize("event", [NameServerLost(SERVERS[0]), RoleLearned(AS_MASTER)])
def test_a_later_registration_can_be_told_from_an_earlier_one(event: ActingHears) -> None:
    broker = Broker()
    broker.take(RoleLearned(SLAVE))
    before = registered(broker.sent[-1]).data_version
    broker.take(event)
    broker.take(RegisterNow())
    after = registered(broker.sent[-1]).data_version

    assert (after.timestamp_ms, after.counter) > (before.timestamp_ms, before.counter)


def test_the_slave_with_the_smallest_id_serves_until_it_hears_of_a_smaller_one() -> None:
    broker = Broker()
    broker.hears(2)
    assert broker.services == []
    broker.take(RoleLearned(SLAVE))
    assert broker.services == [True]
    broker.hears(2)
    broker.hears(1)
    broker.hears(2)
    broker.take(RoleLearned(AS_MASTER))
    broker.take(RoleLearned(Role(broker_id=BrokerId(2), epoch=3)))

    assert broker.services == [True, False, True, False, True]
    assert broker.state.serves


def test_it_asks_one_name_server_who_is_there_and_another_when_that_is_lost() -> None:
    broker = Broker()
    broker.take(RoleLearned(SLAVE))
    broker.codes()
    broker.take(PollDue())
    broker.take(PollDue())
    assert broker.codes() == [(SERVERS[0], NameServerCode.GET_BROKER_MEMBER_GROUP)]
    broker.take(NameServerLost(SERVERS[0]))
    broker.take(PollDue())
    (asked,) = broker.sent
    assert isinstance(asked, SendRequest)
    assert asked.peer == SERVERS[1]
    members = BrokerMemberGroup(
        cluster_name="cluster", broker_name="broker", addresses={BrokerId(2): "b2"}
    )
    done = broker.answered(asked, NameServerReply(answer=members))

    assert done.action is not None
    assert done.action.name is ActingActionName.RECEIVE_NOTE
    assert broker.services == [True]


def test_an_empty_group_and_an_answer_that_does_not_come_say_nothing() -> None:
    broker = Broker()
    broker.take(RoleLearned(SLAVE))
    broker.sent.clear()
    nobody = BrokerMemberGroup(cluster_name="cluster", broker_name="broker", addresses={})
    for reply in (NameServerReply(answer=nobody), None):
        broker.take(PollDue())
        asked = broker.sent[-1]
        assert isinstance(asked, SendRequest)
        assert broker.answered(asked, reply).action is None


def test_signs_of_life_and_the_end_go_to_all_name_servers() -> None:
    broker = Broker()
    broker.take(RoleLearned(SLAVE))
    broker.codes()
    broker.take(HeartbeatDue())
    broker.take(ShutdownWanted())

    assert broker.codes() == [
        (one, code)
        for code in (NameServerCode.BROKER_HEARTBEAT, NameServerCode.UNREGISTER_BROKER)
        for one in SERVERS
    ]


def test_what_is_no_notice_is_refused() -> None:
    broker = Broker()
    command = RemotingCommand(code=10, opaque=1)
    done = broker.take(RequestArrived(request=RequestId(3), command=command))
    wrong = RemotingCommand(
        code=NameServerCode.NOTIFY_MIN_BROKER_ID_CHANGE, opaque=1, ext_fields={"minBrokerId": "x"}
    )
    ignored = broker.take(RequestArrived(request=RequestId(4), command=wrong))

    assert [type(effect) for effect in done.effects] == [Respond]
    assert (ignored.effects, ignored.action) == ((), None)

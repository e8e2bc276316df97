"""A name server: who is found after registrations that come late, ends, silence, and nonsense."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pytest

from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.name_server_codec import pull_name_server_reply, push_name_server_request
from rocketha.formats.name_server_codes import (
    CRC_REMARK,
    REGISTER_FAILED_REMARK,
    RELEASE_5_3_3,
    NameServerCode,
    NameServerResponse,
)
from rocketha.formats.name_server_requests import (
    BrokerHeartbeat,
    DataVersion,
    GetBrokerMemberGroup,
    GetRouteInfo,
    NameServerReply,
    NameServerRequest,
    QueryDataVersion,
    QueryDataVersionResult,
    RegisterBroker,
    RegisterBrokerResult,
    TopicConfig,
    TopicRouteData,
    UnregisterBroker,
)
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.nameserver.core import (
    CloseChannel,
    NameServerCore,
    NameServerDone,
    NameServerHears,
    RemovalDue,
    ScanDue,
    TellMinBrokerId,
)
from rocketha.nameserver.state import NameServerOptions, NameServerState
from rocketha.nameserver.table import Removal
from rocketha.runtime.effects import After, Respond, Then
from rocketha.runtime.events import ConnectionLost, RequestArrived, RequestEvent
from rocketha.types import BrokerId, ConnectionId, RequestId, TimestampMs

ACTING: Final = NameServerOptions(support_acting_master=True, notify_min_broker_id_changed=True)
MASTER, SLAVE = BrokerId(0), BrokerId(2)
RW, R = 6, 4


class Server:
    """A name server, and all that it has done."""

    def __init__(self, options: NameServerOptions = ACTING) -> None:
        self.state = NameServerState(options=options)
        self.now_ms = 0
        self.closed: list[int] = []
        self.told: list[tuple[str, BrokerId | None]] = []

    def take(self, event: NameServerHears | RequestEvent) -> NameServerDone:
        """Take an event and what follows at once; what comes in a while does not."""
        done = NameServerCore().step(self.state, event, now_ms=TimestampMs(self.now_ms))
        self.state = done.state
        for effect in done.effects:
            match effect:
                case CloseChannel(conn=conn):
                    self.closed.append(conn)
                case TellMinBrokerId(notice=notice):
                    self.told.append((notice.address, notice.says.min_broker_id))
                case Then(event=follows):
                    self.take(follows)
                case _:
                    pass
        return done

    def command(self, command: RemotingCommand, conn: int = 1) -> Respond:
        request = RequestId(1)
        done = self.take(RequestArrived(request=request, command=command, conn=ConnectionId(conn)))
        (answer,) = [effect for effect in done.effects if isinstance(effect, Respond)]
        return answer

    def ask(self, request: NameServerRequest, conn: int = 1) -> NameServerReply:
        command = push_name_server_request(request, opaque=7)
        answer = self.command(command, conn)
        response = RemotingCommand(
            code=answer.code,
            opaque=7,
            flag=FLAG_RESPONSE,
            remark=answer.remark,
            ext_fields=answer.ext_fields,
            body=answer.body,
        )
        return pull_name_server_reply(response, NameServerCode(command.code))

    def found(self, topic: str = "orders") -> tuple[dict[int, str], int] | None:
        """Return whom a client finds, and what it may do."""
        route = self.ask(GetRouteInfo(topic=topic), conn=99).answer
        if route is None:
            return None
        assert isinstance(route, TopicRouteData)
        (brokers,), (queues,) = route.broker_datas, route.queue_datas
        return {int(number): one for number, one in brokers.addresses.items()}, queues.perm


def registration(
    address: str,
    broker_id: BrokerId,
    *,
    epoch: int = 1,
    at_ms: int = 1,
    acting: bool = True,
    topics: Sequence[str] = ("orders", "more"),
) -> RegisterBroker:
    return RegisterBroker(
        cluster_name="cluster",
        broker_name="broker",
        broker_address=address,
        broker_id=broker_id,
        ha_server_address=f"{address}:ha",
        heartbeat_timeout_ms=100,
        enable_acting_master=acting,
        data_version=DataVersion(epoch, at_ms, TimestampMs(at_ms)),
        topic_configs={
            name: TopicConfig(topic_name=name, read_queue_nums=4, write_queue_nums=4, perm=RW)
            for name in topics
        },
    )


def pair(options: NameServerOptions = ACTING, *, acting: bool = True) -> Server:
    """Return a server that knows a master and a slave."""
    server = Server(options)
    server.ask(registration("b1", MASTER, acting=acting), conn=1)
    server.ask(registration("b2", SLAVE, acting=acting), conn=2)
    return server


# ---- registrations ----


def test_clients_find_a_master_and_its_slave() -> None:
    server = pair()

    assert server.found() == ({0: "b1", 2: "b2"}, RW)
    assert server.found("nothing") is None


def test_a_slave_hears_where_its_master_is() -> None:
    server = Server()
    master = server.ask(registration("b1", MASTER)).answer
    slave = server.ask(registration("b2", SLAVE), conn=2).answer

    assert master == RegisterBrokerResult()
    assert slave == RegisterBrokerResult(ha_server_address="b1:ha", master_address="b1")


@pytest.mark.parametrize("gone", [False, True])
def test_a_master_of_before_is_none_any_more_also_when_its_successor_is_gone(gone: bool) -> None:
    server = Server()
    server.ask(registration("b1", MASTER, epoch=2), conn=1)
    if gone:
        server.take(ConnectionLost(conn=ConnectionId(1)))
        server.take(RemovalDue())
    server.ask(registration("b2", MASTER, epoch=1), conn=2)

    assert server.found() == (None if gone else ({0: "b1"}, RW))


def test_a_registration_that_comes_late_does_not_take_the_place_of_a_later_one() -> None:
    server = Server()
    server.ask(registration("b2", SLAVE, at_ms=5), conn=2)
    server.ask(registration("b2", MASTER, epoch=1, at_ms=4), conn=1)

    assert server.found() == ({0: "b2"}, R)
    assert set(server.state.groups["broker"].brokers) == {SLAVE}


def test_a_broker_that_changes_its_role_is_found_once() -> None:
    server = pair()
    server.ask(registration("b2", MASTER, epoch=2, at_ms=2), conn=2)

    assert server.found() == ({0: "b2"}, RW)


def test_who_says_one_topic_only_must_be_registered() -> None:
    server = Server()
    reply = server.ask(registration("b1", MASTER, topics=("orders",)))

    assert (reply.code, reply.remark) == (NameServerResponse.SYSTEM_ERROR, REGISTER_FAILED_REMARK)
    assert server.found() is None


def test_topics_are_found_in_the_groups_that_have_them_now() -> None:
    server = Server(replace(ACTING, delete_topics=True))
    server.ask(registration("b1", MASTER, topics=("orders", "old")))
    other = replace(registration("c1", MASTER, topics=("orders", "own")), broker_name="other")
    server.ask(other, conn=2)
    server.ask(registration("b1", MASTER, at_ms=2, topics=("orders", "new")))
    routes = {}
    for topic in ("orders", "old", "new", "own"):
        answer = server.ask(GetRouteInfo(topic=topic)).answer
        found = (
            ()
            if answer is None
            else answer.broker_datas
            if isinstance(answer, TopicRouteData)
            else ()
        )
        routes[topic] = [data.broker_name for data in found]

    assert routes == {"orders": ["broker", "other"], "old": [], "new": ["broker"], "own": ["other"]}


# ---- ends ----


def test_without_a_master_the_smallest_slave_acts_and_nobody_may_write() -> None:
    server = pair()
    server.ask(registration("b3", BrokerId(3)), conn=3)
    server.take(ConnectionLost(conn=ConnectionId(1)))
    assert server.found() == ({0: "b1", 2: "b2", 3: "b3"}, RW)  # it is decided, and not done
    server.take(RemovalDue())

    assert server.found() == ({0: "b2", 3: "b3"}, R)
    assert server.told[-2:] == [("b2", SLAVE), ("b3", SLAVE)]
    server.ask(registration("b1", MASTER, at_ms=2), conn=4)
    assert server.found() == ({0: "b1", 2: "b2", 3: "b3"}, RW)
    assert server.told[-3:] == [("b2", MASTER), ("b3", MASTER), ("b1", MASTER)]


def test_in_a_group_that_has_not_asked_for_it_nobody_acts() -> None:
    server = pair(NameServerOptions(), acting=False)
    server.take(ConnectionLost(conn=ConnectionId(1)))
    server.take(RemovalDue())

    assert server.found() == ({2: "b2"}, RW)
    assert server.told == []


@pytest.mark.parametrize("at_ms", [1, 2])
def test_the_end_of_a_connection_ends_nothing_that_was_registered_on_another(at_ms: int) -> None:
    server = pair()
    server.take(ConnectionLost(conn=ConnectionId(1)))
    server.ask(registration("b1", MASTER, at_ms=at_ms), conn=5)
    server.take(RemovalDue())

    assert server.found() == ({0: "b1", 2: "b2"}, RW)


@pytest.mark.parametrize("conn", [5, 6], ids=["on its connection", "on a later one"])
def test_a_request_to_end_ends_what_was_registered_before(conn: int) -> None:
    server = pair()
    says = UnregisterBroker(
        cluster_name="cluster", broker_name="broker", broker_address="b1", broker_id=MASTER
    )
    server.ask(registration("b1", MASTER, at_ms=2), conn=5)
    server.ask(says, conn=1)
    assert server.state.removals == ()
    server.ask(says, conn=conn)
    server.ask(says, conn=conn)
    assert len(server.state.removals) == 1
    server.take(RemovalDue())
    server.take(RemovalDue())

    assert server.found() == ({0: "b2"}, R)


def test_requests_to_end_wait_for_their_turn_and_not_too_many() -> None:
    server = pair(replace(ACTING, removals_max=1))
    replies = [
        server.ask(
            UnregisterBroker(
                cluster_name="cluster",
                broker_name="broker",
                broker_address=address,
                broker_id=broker_id,
            ),
            conn=conn,
        )
        for address, broker_id, conn in (("b1", MASTER, 1), ("b2", SLAVE, 2))
    ]

    codes = [reply.code for reply in replies]
    assert codes == [NameServerResponse.SUCCESS, NameServerResponse.SYSTEM_ERROR]
    assert [one.meant.address for one in server.state.removals] == ["b1"]


def test_where_nobody_is_left_there_are_no_topics() -> None:
    server = pair()
    for conn in (1, 2):
        server.take(ConnectionLost(conn=ConnectionId(conn)))
        server.take(RemovalDue())

    assert server.found() is None
    assert server.state.groups["broker"].newest_epoch == 1


def test_brokers_that_share_a_connection_end_together() -> None:
    server = Server()
    server.ask(registration("b1", MASTER))
    server.ask(registration("b2", SLAVE))
    server.take(ConnectionLost(conn=ConnectionId(1)))

    assert [one.meant.address for one in server.state.removals] == ["b1", "b2"]


# ---- silence ----


@pytest.mark.parametrize(("now_ms", "gone"), [(100, []), (101, [1])])
def test_who_is_silent_for_too_long_is_gone(now_ms: int, gone: list[int]) -> None:
    server = pair()
    server.now_ms = 50
    sign = BrokerHeartbeat(cluster_name="cluster", broker_name="broker", broker_address="b2")
    server.ask(sign, conn=2)
    server.now_ms = now_ms
    done = server.take(ScanDue())

    assert server.closed == gone
    assert [one.meant.conn for one in server.state.removals] == gone
    if not gone:
        assert done.effects == (After(wait_ms=ACTING.scan_not_active_ms, event=ScanDue()),)


def test_asking_for_the_version_is_a_sign_of_life_and_says_whether_it_is_another() -> None:
    server = pair()
    server.now_ms = 90
    version = DataVersion(1, 1, TimestampMs(1))
    asks = QueryDataVersion(
        cluster_name="cluster",
        broker_name="broker",
        broker_address="b1",
        broker_id=MASTER,
        data_version=version,
    )
    known = server.ask(asks).answer
    other = server.ask(replace(asks, data_version=DataVersion(1, 2, TimestampMs(2)))).answer
    unknown = server.ask(replace(asks, broker_address="b9")).answer
    server.now_ms = 150
    server.take(ScanDue())

    assert known == QueryDataVersionResult(changed=False, data_version=version)
    assert other == QueryDataVersionResult(changed=True, data_version=version)
    assert unknown == QueryDataVersionResult(changed=True)
    assert server.closed == [2]


# ---- what brokers ask, and nonsense ----


def test_brokers_are_told_who_is_there() -> None:
    asks = GetBrokerMemberGroup(cluster_name="cluster", broker_name="broker")
    nobody = Server().ask(asks).answer
    members = pair().ask(asks).answer

    assert isinstance(nobody, BrokerMemberGroup)
    assert isinstance(members, BrokerMemberGroup)
    assert (nobody.addresses, members.addresses) == ({}, {0: "b1", 2: "b2"})


def test_nonsense_is_refused_and_changes_nothing() -> None:
    server = pair()
    before = server.state
    good = push_name_server_request(registration("b3", BrokerId(3)), opaque=1)
    wrong_sum = server.command(replace(good, body=good.body[:-1] + b" "))
    no_fields = server.command(replace(good, ext_fields={}))
    unknown = server.command(RemotingCommand(code=999, opaque=1, version=RELEASE_5_3_3))
    notice = server.command(RemotingCommand(code=905, opaque=1, version=RELEASE_5_3_3))

    assert server.state == before
    assert CRC_REMARK in str(wrong_sum.remark)
    assert wrong_sum.code == no_fields.code == NameServerResponse.SYSTEM_ERROR
    assert unknown.code == notice.code == NameServerResponse.REQUEST_CODE_NOT_SUPPORTED


def test_a_registration_of_a_new_topic_leaves_the_others() -> None:
    server = pair()
    server.ask(registration("b1", MASTER, at_ms=2, topics=["new"]), conn=1)
    assert server.found("new") == server.found() == ({0: "b1", 2: "b2"}, RW)


def test_a_registration_may_name_all_topics_that_there_are() -> None:
    server = pair(replace(ACTING, delete_topics=True))
    server.ask(registration("b1", MASTER, at_ms=2, topics=["new"]), conn=1)
    assert server.found() is None
    assert server.found("new") is not None


# ---- what makes it fast ----


@pytest.mark.parametrize("seed", range(20))
def test_what_is_looked_up_is_what_the_table_and_the_queue_have(seed: int) -> None:
    """Topics, connections and removals are looked up, not searched for in everything."""
    chance, server = random.Random(seed), Server()
    for _ in range(120):
        server.now_ms += chance.randrange(40)
        address, conn = f"b{chance.randrange(4)}", chance.randrange(1, 6)
        match chance.randrange(6):
            case 0 | 1:
                group = f"broker{chance.randrange(3)}"
                says = registration(address, BrokerId(chance.randrange(3)), at_ms=server.now_ms)
                topics = dict(list(says.topic_configs.items())[: chance.choice((0, 2))])
                server.ask(replace(says, broker_name=group, topic_configs=topics), conn=conn)
            case 2:
                server.take(ConnectionLost(conn=ConnectionId(conn)))
            case 3:
                server.take(ScanDue())
            case _:
                server.take(RemovalDue())
        looked_up_is_right(server.state)


def looked_up_is_right(state: NameServerState) -> None:
    over: dict[str, set[str]] = {}
    having: dict[str, set[str]] = {}
    for name, group in state.groups.items():
        for one in group.brokers.values():
            over.setdefault(str(one.conn), set()).add(name)
        for topic in group.topics:
            having.setdefault(topic, set()).add(name)
    soon: dict[str, list[Removal]] = {}
    for removal in state.removals:
        soon.setdefault(removal.broker_name, []).append(removal)
    assert dict(state.registered_over) == over
    assert dict(state.having) == having
    assert {name: list(state.removed_soon[name]) for name in state.removed_soon} == soon

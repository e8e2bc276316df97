"""A slave that acts, step by step: where it puts what is due, what it passes, what is popped."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.acting.core import NameServerLost, PollDue, RoleLearned
from rocketha.acting.rules import Role
from rocketha.escape.events import LocalChanged, PersistDue, RouteDue, ServeDue
from rocketha.escape.slave import fresh, started
from rocketha.escape.state import HALF_KEY, SlaveState, delay_key
from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.formats.due_messages import (
    PREPARED,
)
from rocketha.formats.name_server_codec import push_name_server_reply
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.name_server_requests import (
    BrokerData,
    DataVersion,
    NameServerReply,
    QueueData,
    TopicRouteData,
)
from rocketha.formats.offset_tables import OffsetTable, TableKind, pull_offsets
from rocketha.formats.put_requests import (
    PopMessage,
    PutCode,
    push_pop_message,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.pre_online.events import StoreTable
from rocketha.runtime.effects import AppendMessage
from rocketha.runtime.events import ResponseArrived, TimerFired
from rocketha.types import BrokerId
from tests.impl.escape.slaves import (
    DELAYED,
    HALVES,
    LOG,
    MASTERS,
    NOW,
    POP,
    QUEUE,
    ack,
    answered,
    asked,
    keys,
    options,
    popped,
    serve,
    slave,
    step,
)

# ---- what is due ----


def test_a_slave_begins_with_what_its_log_and_its_files_say() -> None:
    version = DataVersion(0, 0, NOW)
    files: dict[TableKind, OffsetTable | None] = {
        TableKind.DELAY: OffsetTable(offsets={delay_key(3): 2}, version=version),
        TableKind.CONSUMER: OffsetTable(
            offsets={HALF_KEY: 1, ("orders@audit", 0): 1}, version=version
        ),
    }
    state = fresh(options(), LOG, files, now_ms=NOW)
    waiting, halves = state.services

    assert (len(waiting.records), waiting.progress, waiting.saved) == (3, 2, 2)
    assert (len(halves.records), halves.progress, halves.ended) == (2, 1, frozenset({1}))
    assert (state.queue.at, len(state.queue.messages)) == (1, 2)
    assert (state.acts, state.known) == (False, frozenset())
    assert {type(one.event) for one in started(options())} >= {RouteDue, ServeDue, PersistDue}


def test_it_asks_the_name_server_that_it_asks_of_its_group() -> None:
    servers = (BrokerId(201), BrokerId(202))
    state = slave(acting=replace(options().acting, name_servers=servers))
    state, _ = step(state, NameServerLost(BrokerId(201)))

    _, asks = step(state, RouteDue())

    assert [one.peer for one in asks] == [202]


def test_a_delayed_message_is_put_when_its_time_is_up_and_not_before() -> None:
    state = slave()

    state, early = serve(state, DELAYED, 99_999)
    state, puts = serve(state, DELAYED)

    assert early == []
    assert keys(puts) == ["d0"]
    (put,) = puts
    assert (put.code, put.peer in MASTERS.values()) == (BrokerCode.SEND_MESSAGE_V2, True)
    assert (put.ext_fields["b"], put.ext_fields["e"], put.body) == ("bills", "0", b"d0")
    assert serve(state, DELAYED)[1] == [], "it is under way"


def test_a_window_of_messages_is_under_way() -> None:
    state, puts = serve(slave(delayed_window=2), DELAYED, 100_002)

    assert keys(puts) == ["d0", "d1"]
    state, _ = step(state, answered(puts[1]))
    assert (state.services[DELAYED].progress, serve(state, DELAYED, 100_002)[1]) == (0, [])
    state, _ = step(state, answered(puts[0]))
    assert state.services[DELAYED].progress == 2
    assert keys(serve(state, DELAYED, 100_002)[1]) == ["d2"]


def test_a_half_message_is_put_as_one_and_what_has_ended_is_not() -> None:
    state, puts = serve(slave(), HALVES)

    assert keys(puts) == []
    assert state.services[HALVES].progress == 1, "its producer has ended the first one"
    _, puts = serve(state, HALVES)
    assert keys(puts) == ["h2"]
    assert (puts[0].ext_fields["a"], puts[0].ext_fields["b"]) == ("shop", "bills")
    assert int(puts[0].ext_fields["f"]) & PREPARED


@pytest.mark.parametrize("code", [None, *[c for c in BrokerResponse if c]])
def test_only_put_ok_lets_progress_pass(code: int | None) -> None:
    state, (put,) = serve(slave(), DELAYED)
    state, _ = step(state, answered(put, code))

    assert state.services[DELAYED].progress == 0
    assert serve(state, DELAYED, NOW + 99)[1] == [], "it waits before it tries again"
    state, (again,) = serve(state, DELAYED, NOW + 100)
    assert again.peer != put.peer, "masters take turns"
    state, _ = step(state, answered(put))
    assert state.services[DELAYED].progress == 0, "it waits for another answer by now"
    state, _ = step(state, answered(again))
    assert state.services[DELAYED].progress == 1


def test_who_does_not_act_puts_and_passes_nothing() -> None:
    state, (put,) = serve(slave(), DELAYED)
    state, _ = step(replace(state, acts=False), answered(put))

    assert (state.services[DELAYED].progress, serve(state, DELAYED)[1]) == (0, [])
    state, _ = serve(replace(state, acts=True), DELAYED)
    assert state.services[DELAYED].progress == 1


def test_progress_is_written_and_what_is_under_way_is_not() -> None:
    state, (put,) = serve(slave(), DELAYED)
    state, (halves,) = step(state, PersistDue())
    state, nothing = step(state, PersistDue())
    state, _ = step(state, answered(put))
    state, (store,) = step(state, PersistDue())

    assert pull_offsets(TableKind.CONSUMER, halves.data).offsets[HALF_KEY] == 1
    assert nothing == []
    assert isinstance(store, StoreTable)
    assert pull_offsets(TableKind.DELAY, store.data).offsets == {("", 3): 1}
    assert state.services[DELAYED].saved == 1
    assert step(state, PersistDue())[1] == []


def test_all_tables_that_have_changed_are_written_at_once() -> None:
    """Else who comes first keeps the others from the disk, as long as it goes on."""
    state, (put,) = serve(slave(), DELAYED)
    state, _ = step(state, answered(put))
    state, stores = step(state, PersistDue())

    assert {one.kind for one in stores} == set(TableKind)
    assert (
        [one.saved for one in state.services] == [one.progress for one in state.services] == [1, 1]
    )


# ---- which masters there are ----


def route(*groups: tuple[str, int, int]) -> RemotingCommand:
    """Return a route: groups with their permission and the brokerId of who is there."""
    answer = TopicRouteData(
        queue_datas=tuple(
            QueueData(
                broker_name=name,
                read_queue_nums=1,
                write_queue_nums=1,
                perm=perm,
                topic_sys_flag=0,
            )
            for name, perm, _ in groups
        ),
        broker_datas=tuple(
            BrokerData(cluster="cluster", broker_name=name, addresses={BrokerId(broker): name})
            for name, _, broker in groups
        ),
    )
    asked = RemotingCommand(code=NameServerCode.GET_ROUTEINFO_BY_TOPIC, opaque=1)
    return push_name_server_reply(NameServerReply(answer=answer), asked)


def learns(state: SlaveState, command: RemotingCommand | None) -> frozenset[str]:
    state, (ask,) = step(replace(state, known=frozenset({"group-b11"})), RouteDue())
    assert (ask.code, ask.ext_fields["topic"]) == (105, "orders")
    assert step(state, RouteDue())[1] == [], "it waits for the answer"
    late = ResponseArrived(reference=(ask.reference[0], 99), command=command)
    assert step(state, late)[0].known == {"group-b11"}
    state, _ = step(state, ResponseArrived(reference=ask.reference, command=command))
    assert state.asked is None
    return state.known


def test_it_knows_the_masters_of_groups_that_take_messages() -> None:
    answer = route(("group-b11", 4, 0), ("group-b12", 6, 0), ("group-b2", 6, 0), ("group-b9", 6, 0))

    assert learns(slave(), answer) == {"group-b12"}
    assert learns(slave(), route(("group-b12", 6, 1))) == frozenset()


def test_of_no_answer_it_learns_nothing_and_of_no_route_that_nobody_is_there() -> None:
    none = RemotingCommand(code=17, opaque=1, remark="no route")

    assert learns(slave(), None) == {"group-b11"}
    assert learns(slave(), none) == frozenset()


def test_a_master_in_its_process_is_preferred_and_known_at_once() -> None:
    state = slave(local=frozenset({"group-b11"}))

    assert state.targets == {"group-b11"}
    state, _ = step(state, LocalChanged("group-b11", runs=False))
    assert state.targets == {"group-b12"}
    state, _ = step(state, LocalChanged("group-b11", runs=True))
    assert state.targets == {"group-b11"}


def test_nothing_goes_over_the_network_unless_it_may_and_nothing_is_passed_then() -> None:
    state = slave(enable_remote_escape=False)

    state, puts = serve(state, DELAYED)
    assert (puts, state.services[DELAYED].progress) == ([], 0)
    local = slave(enable_remote_escape=False, local=frozenset({"group-b12"}))
    assert [one.peer for one in serve(local, DELAYED)[1]] == [12]


def test_where_no_master_is_known_it_waits_and_does_not_append_to_its_log() -> None:
    state, puts = serve(replace(slave(), known=frozenset()), DELAYED)

    assert puts == []
    assert not any(isinstance(one, AppendMessage) for one in serve(state, DELAYED, NOW + 500)[1])


def test_it_acts_when_it_has_the_smallest_broker_id() -> None:
    state = fresh(options(), LOG, {}, now_ms=NOW)
    state, _ = step(state, RoleLearned(Role(broker_id=BrokerId(2), epoch=0)))

    def polled(state: SlaveState, *brokers: int) -> SlaveState:
        state, (ask,) = step(state, PollDue())
        addresses = ",".join(f'{one}:"b{one}"' for one in brokers)
        body = f'{{"brokerMemberGroup":{{"brokerAddrs":{{{addresses}}},"brokerName":"group-b2",'
        command = RemotingCommand(code=0, opaque=1, body=f'{body}"cluster":"cluster"}}}}'.encode())
        return step(state, ResponseArrived(reference=ask.reference, command=command))[0]

    assert polled(state, 2).acts
    assert not polled(polled(state, 2), 1, 2).acts


def test_what_nobody_tells_a_slave_is_an_error_of_the_host() -> None:
    with pytest.raises(AssertionError, match="nobody tells"):
        step(slave(), TimerFired())


# ---- pops ----


def test_a_message_is_given_when_its_check_point_is_stored_and_never_twice() -> None:
    state, (put,) = step(slave(), POP)
    assert keys([put]) == ["orders@0@0@audit@100000@group-b2@ck"]

    state, effects = step(state, answered(put))
    store, says = effects
    assert isinstance(store, StoreTable)
    table = pull_offsets(TableKind.CONSUMER, store.data)
    assert table.offsets["orders@audit", 0] == 1
    assert (says.code, says.ext_fields["popTime"]) == (BrokerResponse.SUCCESS, "100000")

    _, (second,) = step(state, POP)
    assert keys([second]) == ["orders@0@1@audit@100001@group-b2@ck"]
    again = fresh(options(), LOG, {TableKind.CONSUMER: table}, now_ms=NOW)
    assert again.queue.at == 1


def test_a_message_whose_check_point_is_not_stored_is_popped_again() -> None:
    state, (put,) = step(slave(), POP)
    state, (says,) = step(state, answered(put, None))

    assert says.code == BrokerResponse.SYSTEM_ERROR
    _, (again,) = step(state, POP, NOW + 1)
    assert keys([again]) == ["orders@0@0@audit@100001@group-b2@ck"]


def test_two_pops_of_one_moment_have_two_names() -> None:
    state, (put,) = step(slave(), POP)
    state, _ = step(state, answered(put, None))

    _, (again,) = step(state, POP)

    assert keys([put, again]) == [
        "orders@0@0@audit@100000@group-b2@ck",
        "orders@0@0@audit@100001@group-b2@ck",
    ]


def test_one_consumer_pops_at_a_time() -> None:
    state, (put,) = step(slave(), POP)
    state, (says,) = step(state, POP)

    assert (says.code, says.remark) == (BrokerResponse.PULL_NOT_FOUND, "another one pops")
    state, _ = step(state, answered(put))
    assert len(step(state, POP)[1]) == 1


def test_when_there_is_nothing_to_pop_or_nobody_to_hold_it_a_consumer_is_told() -> None:
    empty = replace(slave(), queue=replace(slave().queue, at=2))
    alone = replace(slave(), known=frozenset())
    idle = replace(slave(), acts=False)
    codes = [step(state, POP)[1][0].code for state in (empty, alone, idle)]

    assert codes == [
        BrokerResponse.PULL_NOT_FOUND,
        BrokerResponse.SERVICE_NOT_AVAILABLE,
        BrokerResponse.SERVICE_NOT_AVAILABLE,
    ]


def test_an_ack_goes_to_its_check_point_wherever_others_go_by_then() -> None:
    state, extra_info, put = popped(slave())
    other = frozenset(MASTERS) - {extra_info.split(" ")[-1]}
    state, (sent,) = step(replace(state, known=other), ack(extra_info))

    assert sent.peer == put.peer
    assert keys([sent]) == ["orders@0@0@audit@100000@group-b2@ack"]
    state, (says,) = step(state, answered(sent))
    assert (says.request, says.code) == (2, BrokerResponse.SUCCESS)


def test_an_ack_that_is_not_stored_is_refused() -> None:
    state, extra_info, _ = popped(slave())
    state, (sent,) = step(state, ack(extra_info))
    state, (says,) = step(state, answered(sent, None))

    assert says.code == BrokerResponse.SYSTEM_ERROR
    assert state.pops == {}


@pytest.mark.parametrize("info", ["x", "0 1 2 0 0 group-b2 0 0 group-b9"])
def test_an_ack_of_nothing_is_refused(info: str) -> None:
    _, (says,) = step(slave(), ack(info))

    assert says.code == BrokerResponse.SYSTEM_ERROR


def test_a_pop_of_something_else_is_refused() -> None:
    other = PopMessage(group="other", queue=QUEUE, invisible_ms=1, born_ms=NOW)
    _, (says,) = step(slave(), asked(PutCode.POP_MESSAGE, push_pop_message(other)))

    assert says.code == BrokerResponse.SYSTEM_ERROR

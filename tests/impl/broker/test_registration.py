"""Identity: from every state of the files, with every answer, late and twice."""

from __future__ import annotations

import pytest

from rocketha.broker.effects import PutStatus
from rocketha.broker.state import Registration
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import (
    ApplyBrokerId,
    ElectMaster,
    GetNextBrokerId,
    GetReplicaInfo,
    Heartbeat,
    RegisterBroker,
)
from rocketha.formats.controller_responses import BrokerIdApplied, NextBrokerId
from rocketha.ha.state import Role
from rocketha.types import BrokerId, Identity
from tests.impl.broker.bench import NAME, Bench
from tests.impl.broker.lone import (
    CLUSTER,
    Lone,
    answer_registration,
    identified,
    registered,
    set_of,
)

APPLIED = BrokerIdApplied(cluster_name=CLUSTER, broker_name=NAME)


def free(number: int) -> NextBrokerId:
    return NextBrokerId(cluster_name=CLUSTER, broker_name=NAME, next_broker_id=BrokerId(number))


def applying() -> Lone:
    lone = Lone()
    lone.answer(GetNextBrokerId, free(4))
    return lone


def test_without_files_a_broker_asks_for_a_free_id_and_applies_for_it() -> None:
    lone = Lone()
    assert lone.requests() == [GetNextBrokerId(cluster_name=CLUSTER, broker_name=NAME)]
    lone = applying()
    code = f"b1;{lone.now_ms}"
    assert lone.replica.identity == Identity(broker_id=BrokerId(4), register_check_code=code)
    assert lone.requests()[-1] == ApplyBrokerId(
        cluster_name=CLUSTER,
        broker_name=NAME,
        applied_broker_id=BrokerId(4),
        register_check_code=code,
    )
    assert lone.state.registration is Registration.TEMP_METADATA_DONE


def test_an_id_that_is_given_is_stored_and_registered() -> None:
    lone = applying()
    lone.answer(ApplyBrokerId, APPLIED)
    assert lone.replica.identity == Identity(broker_id=BrokerId(4))
    assert lone.state.registration is Registration.METADATA_DONE
    request = lone.requests()[-1]
    assert isinstance(request, RegisterBroker)
    assert (request.broker_id, request.broker_address) == (4, "b1")


def test_who_is_too_late_for_an_id_starts_over() -> None:
    lone = applying()
    lone.frames[:-1] = []
    lone.answer(ApplyBrokerId, code=ResponseCode.BROKER_ID_INVALID)
    assert lone.state.registration is Registration.INITIAL
    assert isinstance(lone.requests()[-1], GetNextBrokerId)


@pytest.mark.parametrize(
    "code", [ResponseCode.SYSTEM_ERROR, ResponseCode.INVALID_REQUEST, ResponseCode.NOT_LEADER]
)
def test_after_another_refusal_the_same_is_asked_again_when_time_has_passed(
    code: ResponseCode,
) -> None:
    lone = applying()
    before = lone.asked(ApplyBrokerId)
    lone.answer(ApplyBrokerId, code=code)
    assert lone.asked(ApplyBrokerId) == before
    lone.pass_time(lone.state.options.request_timeout_ms)
    assert lone.asked(ApplyBrokerId) == before * 2


def test_with_a_temporary_file_the_same_id_is_applied_for_with_the_same_code() -> None:
    found = Identity(broker_id=BrokerId(7), register_check_code="b1;5")
    lone = Lone(identity=found)
    [request] = lone.requests()
    assert isinstance(request, ApplyBrokerId)
    assert (request.applied_broker_id, request.register_check_code) == (7, "b1;5")


@pytest.mark.parametrize("torn", [False, True])
def test_with_an_identity_file_the_broker_registers_and_says_whether_its_log_is_torn(
    torn: bool,
) -> None:
    lone = identified(torn=torn)
    [request] = lone.requests()
    assert isinstance(request, RegisterBroker)
    assert (request.broker_id, request.incarnation, request.log_torn) == (1, 0, torn)
    assert lone.state.is_fenced


def test_a_start_is_not_an_action_of_the_specification() -> None:
    lone = identified()
    assert lone.actions == []
    answer_registration(lone)
    assert lone.actions == []


def test_until_it_is_registered_a_broker_serves_nobody_and_says_nothing() -> None:
    lone = identified()
    assert lone.status(lone.put()) == PutStatus.SERVICE_NOT_AVAILABLE
    lone.notice(1, 1, set_of(1, 1))
    assert lone.state.ha.role is Role.SLAVE
    lone.pass_time(60_000)
    assert {type(request) for request in lone.requests()} == {RegisterBroker}


def test_a_request_is_repeated_until_it_is_answered() -> None:
    lone = identified()
    for _ in range(3):
        lone.pass_time(lone.state.options.request_timeout_ms)
    assert len(lone.asked(RegisterBroker)) == 4
    answer_registration(lone)
    lone.frames.clear()
    lone.pass_time(lone.state.options.request_timeout_ms)
    assert lone.asked(RegisterBroker) == []


def test_who_is_registered_sends_heartbeats_and_polls() -> None:
    lone = registered()
    lone.pass_time(1)
    assert {type(request) for request in lone.requests()} == {Heartbeat}
    lone.pass_time(lone.state.options.sync_metadata_ms)
    assert {type(request) for request in lone.requests()} == {Heartbeat, GetReplicaInfo}


def test_where_there_is_no_master_the_registered_broker_wants_an_election() -> None:
    lone = identified()
    lone.frames.clear()
    lone.pass_time(lone.state.options.request_timeout_ms)
    answer_registration(lone)
    [request] = lone.asked(ElectMaster)
    assert (request.broker_id, request.designate_elect) == (1, False)


def test_the_present_epoch_is_known_whether_its_master_lives_or_not() -> None:
    assert registered(epoch=6).state.ha.known_epoch == 6
    lone = identified()
    answer_registration(lone, epoch=6, master=2, sync_state_set=set_of(9, 2))
    assert lone.state.ha.known_epoch == 6
    assert lone.state.ha.master_address == "b2"


def test_an_answer_to_a_later_copy_may_show_that_the_broker_was_elected_meanwhile() -> None:
    lone = identified()
    answer_registration(lone, epoch=6, master=1, sync_state_set=set_of(9, 1))
    assert lone.actions == ["BecomeMaster"]
    assert lone.state.local == set_of(9, 1)


def test_no_answer_counts_twice_or_out_of_its_time() -> None:
    lone = Lone()
    given = lone.answer(GetNextBrokerId, free(4))
    lone.hear(given)
    applied = lone.answer(ApplyBrokerId, APPLIED)
    lone.hear(given)
    lone.hear(applied)
    assert lone.replica.identity == Identity(broker_id=BrokerId(4))
    answered = answer_registration(lone, epoch=3)
    lone.notice(2, 4, set_of(9, 2))
    before = lone.state
    for command in (given, applied, answered):
        lone.hear(command)
    assert lone.state == before


def test_an_answer_to_the_start_before_is_not_one_to_this_start() -> None:
    lone = identified()
    late = lone.frame(RegisterBroker)
    lone.again()
    assert lone.frame(RegisterBroker).opaque != late.opaque
    lone.frames = [late]
    answer_registration(lone, epoch=3)
    assert lone.state.registration is Registration.METADATA_DONE


def test_a_free_id_that_is_told_late_does_not_replace_one_that_is_applied_for() -> None:
    lone = Lone()
    lone.pass_time(lone.state.options.request_timeout_ms // 2)
    first = lone.frame(GetNextBrokerId)
    lone.pass_time(lone.state.options.request_timeout_ms // 2)
    assert len(lone.asked(GetNextBrokerId)) == 2
    lone.answer(GetNextBrokerId, free(4))
    lone.frames.insert(0, first)
    lone.frames[1:] = []
    lone.answer(GetNextBrokerId, free(9))
    assert lone.replica.identity is not None
    assert lone.replica.identity.broker_id == 4


def test_brokers_that_come_up_at_once_get_different_ids() -> None:
    bench = Bench(3)
    for replica in bench.replicas:
        replica.start(bench.now_ms)
    bench.settle()
    assert sorted(replica.id for replica in bench.replicas) == [1, 2, 3]
    assert set(bench.group.replicas) == {1, 2, 3}


def test_a_lost_answer_to_the_application_costs_no_id() -> None:
    bench = Bench(1)
    bench.loses = lambda _, request: isinstance(request, RegisterBroker)
    bench[1].start(bench.now_ms)
    bench.deaf = {1}
    bench.settle()
    bench.stop(1)
    bench.deaf.clear()
    bench.start(1)
    assert set(bench.group.replicas) == {1}
    assert bench[1].identity == Identity(broker_id=BrokerId(1))

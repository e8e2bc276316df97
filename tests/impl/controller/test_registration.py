"""Identities: given out once, kept over restarts and new addresses, and what cleaning leaves."""

from __future__ import annotations

import pytest

from rocketha.controller.applied import (
    BrokerIdAssigned,
    BrokerRegistered,
    DataCleaned,
    MasterElected,
    ScanSoon,
)
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import (
    ApplyBrokerId,
    CleanBrokerData,
    GetMetadataInfo,
    GetNextBrokerId,
    GetReplicaInfo,
    GetSyncStateData,
    RegisterBroker,
)
from rocketha.formats.controller_responses import (
    NextBrokerId,
    Registered,
    ReplicaInfo,
    SyncStateData,
)
from rocketha.types import INT64_MAX, BrokerId
from tests.impl.controller.scene import (
    CLUSTER,
    GROUP,
    METADATA,
    Scene,
    code,
    ids,
    registered,
    with_master,
)


def next_id(scene: Scene) -> int:
    """Ask for the id that is free."""
    content = scene.ask(GetNextBrokerId(cluster_name=CLUSTER, broker_name=GROUP)).content
    assert isinstance(content, NextBrokerId)
    return content.next_broker_id


def clean(scene: Scene, which: str | None = None, *, living: bool = False) -> ResponseCode:
    """Remove replicas, or the whole group."""
    request = CleanBrokerData(broker_name=GROUP, ids_to_clean=which, clean_living=living)
    return code(scene.do(request))


def test_ids_are_given_out_one_after_the_other() -> None:
    scene = Scene()
    assert next_id(scene) == 1
    assert scene.apply_id(1).events == (BrokerIdAssigned(broker_name=GROUP, broker_id=BrokerId(1)),)
    assert next_id(scene) == 2
    assert code(scene.apply_id(2)) is ResponseCode.SUCCESS


def test_of_two_that_apply_for_one_id_one_gets_it_and_the_other_is_told() -> None:
    """RocketMQ answers both with success, and drops the second one."""
    scene = registered(1)
    assert code(scene.apply_id(2, "a:1;5")) is ResponseCode.SUCCESS
    assert code(scene.apply_id(2, "b:1;5")) is ResponseCode.BROKER_ID_INVALID
    assert scene.group.replicas[BrokerId(2)].address == "a:1"


def test_to_apply_again_with_the_same_code_is_no_harm() -> None:
    scene = Scene()
    scene.apply_id(1)
    before = scene.state.groups
    assert code(scene.apply_id(1)) is ResponseCode.SUCCESS
    assert scene.state.groups == before


def test_an_id_beyond_the_next_one_is_free_and_the_ones_between_are_spent() -> None:
    scene = registered(1)
    assert code(scene.apply_id(5)) is ResponseCode.SUCCESS
    assert next_id(scene) == 6
    assert code(scene.apply_id(3)) is ResponseCode.BROKER_ID_INVALID


def test_the_last_id_of_64_bits_is_not_given_out() -> None:
    scene = registered(1)
    assert code(scene.apply_id(INT64_MAX)) is ResponseCode.BROKER_ID_INVALID
    assert code(scene.apply_id(INT64_MAX - 1)) is ResponseCode.SUCCESS
    assert next_id(scene) == INT64_MAX


def test_a_replica_with_a_new_address_is_the_same_replica() -> None:
    """In RocketMQ the address was once the identity (B34)."""
    scene = with_master(1, 2)
    scene.do(
        RegisterBroker(
            cluster_name=CLUSTER,
            broker_name=GROUP,
            broker_id=BrokerId(2),
            broker_address="new:1",
        ),
        channel=2,
    )
    assert scene.group.replicas[BrokerId(2)].address == "new:1"
    assert scene.group.members == ids(1, 2)


def test_who_registers_is_told_the_master_if_it_lives() -> None:
    scene = with_master(1, 2)
    applied = scene.register(2)
    content = applied.reply.content
    assert isinstance(content, Registered)
    assert content.master is not None
    assert (content.master.broker_id, content.master.epoch) == (1, 1)
    assert applied.events == (
        BrokerRegistered(
            broker_name=GROUP,
            broker_id=BrokerId(2),
            incarnation=scene.group.replicas[BrokerId(2)].incarnation,
            restarted=False,
        ),
    )

    scene.silence(2)
    content = scene.register(2).reply.content
    assert isinstance(content, Registered)
    assert (content.master, content.master_epoch) == (None, 1)
    assert content.sync_state_set.members == ids(1, 2)


def test_to_register_again_in_the_same_incarnation_changes_no_role() -> None:
    scene = with_master(1, 2)
    scene.register(1, torn=True)
    assert (scene.group.master, scene.group.unfit) == (BrokerId(1), frozenset())


def test_a_master_that_does_not_say_its_incarnation_has_started_again() -> None:
    """B10, seen on 5.3.3 and 5.5.0 under this controller: who came back led in its old epoch."""
    scene = with_master(1, 2)
    before = scene.group

    applied = scene.register(1, incarnation=None, channel=7)

    assert (scene.group.master, scene.group.master_epoch) == (None, before.master_epoch)
    assert scene.group.replicas[BrokerId(1)].heard.channels.keys() == {7}
    assert applied.effects == (ScanSoon(),)
    (event,) = applied.events
    assert isinstance(event, BrokerRegistered)
    assert event.restarted
    assert isinstance(applied.reply.content, Registered)
    assert applied.reply.content.master is None
    assert scene.beat(1, channel=7).reply.code == 0
    (elected,) = scene.scan().events
    assert isinstance(elected, MasterElected)
    assert (elected.clean, elected.epoch) == (True, before.master_epoch + 1)


def test_a_slave_that_does_not_say_its_incarnation_deposes_nobody() -> None:
    scene = with_master(1, 2)
    before = scene.group
    applied = scene.register(2, incarnation=None)
    assert applied.effects == ()
    assert (scene.group.master, scene.group.sync_state_set) == (1, before.sync_state_set)
    assert scene.register(2, incarnation=5).reply.code == 0
    assert scene.register(2, incarnation=None).reply.code == 0
    assert scene.beat(2).reply.code == 0, "another program may take a broker's files over"


@pytest.mark.parametrize("living", [False, True])
def test_a_group_that_was_cleaned_is_unknown_but_its_epochs_and_ids_go_on(living: bool) -> None:
    """In RocketMQ the epoch begins at 0 again, and brokers refuse what comes of it (B37)."""
    scene = with_master(1, 2)
    if not living:
        scene.silence()
    epoch = scene.group.sync_state_set.epoch

    assert clean(scene, living=living) is ResponseCode.SUCCESS
    unknown = scene.ask(GetReplicaInfo(broker_name=GROUP))
    assert unknown.code is ResponseCode.BROKER_METADATA_NOT_EXIST
    assert code(scene.elect(1)) is ResponseCode.BROKER_NEED_TO_BE_REGISTERED
    assert next_id(scene) == 3
    assert code(scene.apply_id(1)) is ResponseCode.BROKER_ID_INVALID

    assert code(scene.apply_id(3)) is ResponseCode.SUCCESS
    assert code(scene.register(3)) is ResponseCode.SUCCESS
    assert code(scene.elect(3)) is ResponseCode.SUCCESS
    assert (scene.group.master, scene.group.master_epoch) == (BrokerId(3), 2)
    assert scene.group.sync_state_set.epoch == epoch + 2


@pytest.mark.parametrize("restarted", [False, True])
def test_a_broker_of_a_group_that_was_cleaned_comes_back_as_the_one_that_it_was(
    restarted: bool,
) -> None:
    """RocketMQ does not let it in, and gives its id to another one."""
    scene = with_master(1, 2)
    scene.register(1, incarnation=3)
    clean(scene, living=True)
    assert set(scene.group.former) == ids(1, 2)

    assert code(scene.register(1, incarnation=2)) is ResponseCode.INVALID_REQUEST
    applied = scene.register(1, incarnation=3 + restarted)
    [event] = applied.events
    assert isinstance(event, BrokerRegistered)
    assert event.restarted is restarted
    assert set(scene.group.replicas) == ids(1)
    assert set(scene.group.former) == ids(2)
    assert code(scene.elect(1)) is ResponseCode.SUCCESS
    assert (scene.group.master, scene.group.master_epoch) == (BrokerId(1), 2)
    assert next_id(scene) == 3


def test_a_replica_that_was_removed_by_its_id_does_not_come_back() -> None:
    scene = with_master(1, 2)
    clean(scene, "2", living=True)
    assert code(scene.register(2)) is ResponseCode.BROKER_NEED_TO_BE_REGISTERED
    clean(scene, "1", living=True)
    assert code(scene.register(1)) is ResponseCode.BROKER_NEED_TO_BE_REGISTERED


def test_nobody_comes_back_to_a_name_that_another_cluster_has_taken() -> None:
    scene = with_master(1, 2)
    clean(scene, living=True)
    scene.do(
        ApplyBrokerId(
            cluster_name="other",
            broker_name=GROUP,
            applied_broker_id=BrokerId(3),
            register_check_code="h:1;1",
        )
    )
    assert code(scene.register(1)) is ResponseCode.BROKER_NEED_TO_BE_REGISTERED


def test_the_first_election_after_a_cleaning_is_not_called_clean() -> None:
    scene = with_master(1, 2)
    clean(scene, living=True)
    scene.apply_id(3)
    scene.register(3)
    assert [getattr(event, "clean", None) for event in scene.elect(3).events] == [False]


def test_a_dead_replica_that_is_removed_leaves_the_set_in_a_new_version() -> None:
    scene = with_master(1, 2, 3)
    scene.silence(1, 2)
    epoch = scene.group.sync_state_set.epoch

    assert clean(scene, "3;9") is ResponseCode.SUCCESS
    assert (scene.group.members, scene.group.sync_state_set.epoch) == (ids(1, 2), epoch + 1)
    assert scene.group.master == 1
    assert code(scene.apply_id(3, "again:1;1")) is ResponseCode.BROKER_ID_INVALID


def test_a_removed_master_is_no_master() -> None:
    """RocketMQ keeps its id as the master's."""
    scene = with_master(1, 2)
    scene.silence(2)
    assert clean(scene, "1") is ResponseCode.SUCCESS
    assert (scene.group.master, scene.group.members) == (None, ids(2))


def test_named_replicas_are_all_that_is_removed_even_if_they_may_be_alive() -> None:
    """RocketMQ removes the whole group then."""
    scene = with_master(1, 2)
    assert clean(scene, "2", living=True) is ResponseCode.SUCCESS
    assert set(scene.group.replicas) == ids(1)


def test_of_a_group_that_never_had_a_master_any_replica_may_be_removed() -> None:
    scene = registered(1, 2)
    assert clean(scene, "2", living=True) is ResponseCode.SUCCESS
    assert set(scene.group.replicas) == ids(1)


def test_to_remove_nobody_changes_nothing() -> None:
    scene = with_master(1, 2)
    before = scene.state.groups
    applied = scene.do(CleanBrokerData(broker_name=GROUP, ids_to_clean="9"))
    assert (code(applied), applied.events, scene.state.groups) == (
        ResponseCode.SUCCESS,
        (),
        before,
    )


def test_what_was_removed_is_told() -> None:
    scene = with_master(1, 2)
    applied = scene.do(CleanBrokerData(broker_name=GROUP, clean_living=True))
    assert applied.events == (DataCleaned(broker_name=GROUP, removed=ids(1, 2)),)


def test_another_cluster_may_take_a_cleaned_name() -> None:
    scene = with_master(1)
    clean(scene, living=True)
    scene.do(
        ApplyBrokerId(
            cluster_name="other",
            broker_name=GROUP,
            applied_broker_id=BrokerId(2),
            register_check_code="h:1;1",
        )
    )
    assert (scene.group.cluster_name, scene.group.master_epoch) == ("other", 1)


def test_the_replica_info_shows_a_master_that_is_dead() -> None:
    scene = with_master(1, 2)
    scene.silence()
    content = scene.ask(GetReplicaInfo(broker_name=GROUP)).content
    assert isinstance(content, ReplicaInfo)
    assert (content.master_broker_id, content.master_address) == (1, "h1:1")
    scene.register(1, incarnation=1)
    content = scene.ask(GetReplicaInfo(broker_name=GROUP)).content
    assert isinstance(content, ReplicaInfo)
    assert (content.master_broker_id, content.master_address) == (None, None)


def test_the_data_of_groups_show_who_is_in_the_set_and_who_is_alive() -> None:
    scene = with_master(1, 2, 3, members=[1, 2])
    scene.silence(1, 3)
    content = scene.ask(GetSyncStateData(broker_names=("nobody", GROUP, GROUP))).content
    assert isinstance(content, SyncStateData)
    assert list(content.groups) == [GROUP]
    info = content.groups[GROUP]
    assert [(r.broker_id, r.alive) for r in info.in_sync] == [(1, True), (2, False)]
    assert [(r.broker_id, r.alive) for r in info.not_in_sync] == [(3, True)]


def test_who_leads_is_what_the_shell_says() -> None:
    assert Scene().ask(GetMetadataInfo()).content == METADATA

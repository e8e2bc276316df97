"""Who is elected, when, and what an election changes."""

from __future__ import annotations

import pytest

from rocketha.controller.applied import MasterElected, NotifyBroker, ScanSoon
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_responses import Elected
from rocketha.types import BrokerId
from tests.impl.controller.scene import GROUP, Scene, code, ids, registered, with_master


def elected(scene: Scene, unclean: bool = False) -> BrokerId | None:
    """Scan, and return who was elected."""
    events = scene.scan(unclean=unclean).events
    masters = [event.master for event in events if isinstance(event, MasterElected)]
    assert len(masters) <= 1
    return masters[0] if masters else None


def masterless(*brokers: int) -> Scene:
    """Make a group whose first replica was master of all and is gone."""
    scene = with_master(*brokers)
    scene.silence(*brokers[1:])
    return scene


def test_the_first_master_is_who_asks_and_is_alone_in_the_set() -> None:
    scene = registered(1, 2)
    applied = scene.elect(2)

    assert (scene.group.master, scene.group.master_epoch) == (BrokerId(2), 1)
    assert (scene.group.members, scene.group.sync_state_set.epoch) == (ids(2), 1)
    content = applied.reply.content
    assert isinstance(content, Elected)
    assert content.group is not None
    assert dict(content.group.addresses) == {1: "h1:1", 2: "h2:1"}
    assert [effect.address for effect in applied.effects if isinstance(effect, NotifyBroker)] == [
        "h1:1",
        "h2:1",
    ]


def test_the_scan_leaves_a_group_alone_that_never_had_a_master() -> None:
    """Else the first master need not be one that is ready for it."""
    scene = registered(1, 2)
    scene.silence(1, 2)
    assert elected(scene) is None
    assert scene.group.master_epoch == 0
    assert code(scene.elect(2)) is ResponseCode.SUCCESS


def test_a_first_master_that_is_not_alive_is_not_elected() -> None:
    scene = registered(1, 2)
    scene.silence(2)
    assert code(scene.elect(1)) is ResponseCode.ELECT_MASTER_FAILED
    assert code(scene.elect(2)) is ResponseCode.SUCCESS


def test_an_election_takes_the_set_down_to_the_new_master_and_fences_the_old_one() -> None:
    scene = masterless(1, 2, 3)
    epoch = scene.group.sync_state_set.epoch

    notified = [effect for effect in scene.scan().effects if isinstance(effect, NotifyBroker)]
    assert [effect.address for effect in notified] == ["h2:1", "h3:1"], "the dead one is not told"
    assert {effect.notice.master_epoch for effect in notified} == {2}
    assert scene.group.master == 2
    assert (scene.group.members, scene.group.sync_state_set.epoch) == (ids(2), epoch + 1)
    assert scene.group.master_epoch == 2
    # The same proposal would have been fine before.
    assert code(scene.alter([1, 2, 3], master=1, epoch=1)) is ResponseCode.INVALID_MASTER


@pytest.mark.parametrize(
    ("second", "third", "best"),
    [
        ((1, 100, 9), (2, 50, 9), 3),
        ((2, 100, 9), (2, 101, 1), 3),
        ((2, 100, 1), (2, 100, 2), 2),
        ((2, 100, 2), (2, 100, 1), 3),
        ((2, 100, 1), (2, 100, 1), 2),
        # Differences that 32 bits turn round (B27).
        ((2, 3 << 30, 1), (2, 0, 1), 2),
        ((2, 0, 1), (2, 3 << 30, 1), 3),
        ((2, (1 << 32) + 5, 1), (2, 5, 0), 2),
        ((2, 2**63 - 1, 1), (2, 0, 1), 2),
    ],
)
def test_the_best_member_is_elected_by_epoch_end_priority_and_id(
    second: tuple[int, int, int], third: tuple[int, int, int], best: int
) -> None:
    scene = masterless(1, 2, 3)
    for broker, (epoch, end, priority) in ((2, second), (3, third)):
        scene.beat(broker, epoch=epoch, end=end, priority=priority)
    assert elected(scene) == best


def test_what_a_replica_says_last_counts_although_it_is_less() -> None:
    """RocketMQ keeps the greatest that it heard; a truncated log is shorter."""
    scene = masterless(1, 2, 3)
    scene.beat(2, epoch=1, end=500)
    scene.beat(3, epoch=1, end=400)
    scene.beat(2, epoch=1, end=300)
    assert elected(scene) == 3


def test_nobody_outside_of_the_set_is_elected_unless_that_is_allowed() -> None:
    scene = with_master(1, 2, 3, members=[1, 2])
    scene.silence(3)

    assert elected(scene) is None
    assert scene.group.master == 1
    applied = scene.scan(unclean=True)

    assert scene.group.master == 3
    assert [e.clean for e in applied.events if isinstance(e, MasterElected)] == [False]


def test_a_clean_election_comes_before_an_unclean_one() -> None:
    scene = with_master(1, 2, 3, members=[1, 2])
    scene.silence(2, 3)
    scene.beat(3, epoch=9, end=900)
    assert elected(scene, unclean=True) == 2


def test_an_election_that_finds_nobody_changes_nothing() -> None:
    """RocketMQ forgets the master and counts an epoch that has none (B75)."""
    scene = with_master(1, 2, members=[1])
    scene.silence(2)
    assert elected(scene) is None
    before = scene.group

    assert elected(scene) is None
    assert (scene.group, scene.group.master, scene.group.master_epoch) == (before, 1, 1)
    # So the master is still one when it is heard of again.
    scene.beat(1)
    assert code(scene.elect(2)) is ResponseCode.MASTER_STILL_EXIST


def test_the_scan_asks_again_until_somebody_can_be_elected() -> None:
    """RocketMQ elects on the edge from alive to dead, and passes groups without master by (B29)."""
    scene = with_master(1, 2)
    scene.silence()
    assert elected(scene) is None
    scene.silence()
    assert elected(scene) is None
    scene.beat(2)
    assert elected(scene) == 2


def test_a_master_that_lives_stays() -> None:
    scene = with_master(1, 2)
    scene.silence(1, 2)
    scene.beat(2, epoch=9, end=900)
    assert elected(scene) is None
    assert code(scene.elect(2)) is ResponseCode.MASTER_STILL_EXIST
    assert code(scene.elect()) is ResponseCode.MASTER_STILL_EXIST


def test_an_operator_may_name_another_member() -> None:
    scene = with_master(1, 2, 3, members=[1, 2])
    assert code(scene.elect(3, designate=True)) is ResponseCode.ELECT_MASTER_FAILED
    assert code(scene.elect(2, designate=True)) is ResponseCode.SUCCESS
    assert (scene.group.master, scene.group.members) == (BrokerId(2), ids(2))


def test_an_operator_may_name_any_replica_if_unclean_elections_are_allowed() -> None:
    scene = with_master(1, 2, 3, members=[1, 2])
    applied = scene.elect(3, designate=True, unclean=True)
    assert code(applied) is ResponseCode.SUCCESS
    assert [e.clean for e in applied.events if isinstance(e, MasterElected)] == [False]


def test_a_designated_replica_is_elected_or_nobody() -> None:
    scene = masterless(1, 2, 3)
    assert code(scene.elect(1, designate=True)) is ResponseCode.ELECT_MASTER_FAILED


def test_a_master_that_restarts_is_none_before_it_is_elected_again() -> None:
    """It forgot what it proposed (B84), and where its epoch began (B10)."""
    scene = with_master(1, 2, members=[1])
    applied = scene.register(1, incarnation=1)

    assert scene.group.master is None
    assert applied.effects == (ScanSoon(),)
    assert elected(scene) == 1
    assert scene.group.master_epoch == 2


def test_a_member_that_lost_a_part_of_its_log_is_not_elected_until_it_left_the_set() -> None:
    scene = with_master(1, 2)
    scene.register(2, incarnation=1, torn=True)
    scene.silence(2)
    assert elected(scene) is None

    scene.beat(1)
    assert code(scene.alter([1])) is ResponseCode.SUCCESS
    assert code(scene.alter([1, 2], joining={2: 1})) is ResponseCode.SUCCESS
    scene.silence(2)
    assert elected(scene) == 2


def test_a_torn_master_makes_room_for_a_whole_member() -> None:
    scene = with_master(1, 2)
    scene.beat(1, epoch=1, end=900)
    scene.register(1, incarnation=1, torn=True)
    assert elected(scene) == 2


def test_a_torn_member_that_is_elected_all_the_same_is_fit_for_the_next_time() -> None:
    scene = with_master(1, 2)
    scene.register(2, incarnation=1, torn=True)
    scene.silence(2)
    applied = scene.scan(unclean=True)
    assert [e.clean for e in applied.events if isinstance(e, MasterElected)] == [False]
    assert scene.group.unfit == frozenset()


def test_a_torn_replica_outside_of_the_set_has_nothing_that_counts() -> None:
    scene = with_master(1, 2, members=[1])
    scene.register(2, incarnation=1, torn=True)
    assert code(scene.alter([1, 2], joining={2: 1})) is ResponseCode.SUCCESS
    scene.silence(2)
    assert elected(scene) == 2


def test_groups_are_elected_for_one_by_one() -> None:
    scene = masterless(1, 2)
    other = scene.group
    scene.state = scene.state.with_group(
        type(other)(
            cluster_name=other.cluster_name,
            broker_name="broker-b",
            replicas=other.replicas,
            master=other.master,
            master_epoch=other.master_epoch,
            sync_state_set=other.sync_state_set,
        )
    )
    names = [e.broker_name for e in scene.scan().events if isinstance(e, MasterElected)]
    assert names == [GROUP, "broker-b"]

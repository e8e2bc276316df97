"""Who is alive: channels, incarnations, timeouts, and the controller's own start."""

from __future__ import annotations

from rocketha.controller.applied import BrokerEvicted, ChannelExpired, MasterElected, ScanSoon
from rocketha.controller.state import NO_CHANNEL
from rocketha.formats.controller_codes import ResponseCode
from rocketha.types import BrokerId, ConnectionId, TimestampMs
from tests.impl.controller.scene import TIMEOUT_MS, Scene, code, registered, with_master


def alive(scene: Scene, broker: int) -> bool:
    """Tell whether a broker is alive at the present time."""
    return scene.group.is_alive(BrokerId(broker), TimestampMs(scene.now_ms))


def test_a_heartbeat_lasts_for_its_timeout_and_no_longer() -> None:
    scene = registered(1)
    scene.beat(1, timeout_ms=500)
    scene.now_ms += 500
    assert alive(scene, 1)
    scene.now_ms += 1
    assert not alive(scene, 1)


def test_without_a_timeout_it_is_rocketmqs() -> None:
    scene = registered(1)
    scene.beat(1)
    scene.now_ms += TIMEOUT_MS
    assert alive(scene, 1)
    scene.now_ms += 1
    assert not alive(scene, 1)


def test_to_apply_for_an_id_is_no_sign_of_life_but_to_register_is() -> None:
    scene = Scene()
    scene.apply_id(1)
    assert not alive(scene, 1)
    scene.register(1)
    assert alive(scene, 1)


def test_the_late_close_of_an_old_channel_takes_nobody_away() -> None:
    """RocketMQ keeps the channel of the first heartbeat (B28)."""
    scene = with_master(1, 2)
    scene.beat(1, channel=7)

    applied = scene.close(1)

    assert alive(scene, 1)
    assert (applied.events, applied.effects) == ((), ())


def test_the_close_of_the_last_channel_does_and_a_scan_is_due_if_it_was_the_masters() -> None:
    scene = with_master(1, 2)
    applied = scene.close(2)
    assert not alive(scene, 2)
    assert [type(event) for event in applied.events] == [BrokerEvicted]
    assert applied.effects == ()

    applied = scene.close(1)
    assert applied.effects == (ScanSoon(),)


def test_a_channel_that_nobody_was_heard_on_closes_without_a_trace() -> None:
    scene = with_master(1, 2)
    before = scene.state
    assert scene.close(99).state == before


def test_a_channel_that_was_silent_for_too_long_does_not_keep_a_replica_alive() -> None:
    scene = registered(1)
    scene.beat(1, channel=7, timeout_ms=500)
    scene.now_ms += 501
    scene.close(1)
    assert not alive(scene, 1)


def test_the_channel_of_a_dead_incarnation_neither_keeps_alive_nor_takes_away() -> None:
    scene = with_master(1, 2)
    scene.register(2, incarnation=1, channel=7)

    assert code(scene.beat(2, incarnation=0)) is ResponseCode.INVALID_REQUEST
    scene.close(2)
    assert alive(scene, 2)
    scene.close(7)
    assert not alive(scene, 2)


def test_a_channel_that_a_dead_incarnation_left_open_keeps_nobody_alive() -> None:
    scene = with_master(1, 2)
    scene.register(2, incarnation=1, channel=7)
    scene.close(7)
    assert not alive(scene, 2)


def test_the_channels_before_the_start_are_not_closed_once_more() -> None:
    scene = with_master(1, 2)
    scene.start()
    scene.silence()
    applied = scene.scan()
    assert [type(event) for event in applied.events] == [BrokerEvicted, BrokerEvicted]
    assert applied.effects == ()


def test_the_scan_closes_silent_channels_and_says_who_is_gone() -> None:
    scene = with_master(1, 2)
    scene.silence(1)
    applied = scene.scan()

    assert applied.effects == (ChannelExpired(channel=ConnectionId(2)),)
    assert [e.broker_id for e in applied.events if isinstance(e, BrokerEvicted)] == [2]
    assert scene.scan().events == ()


def test_a_controller_that_starts_again_deposes_nobody_whom_it_could_not_hear() -> None:
    scene = with_master(1, 2)
    scene.now_ms += 10 * TIMEOUT_MS
    scene.start()

    assert alive(scene, 1)
    assert scene.scan().events == ()
    scene.now_ms += TIMEOUT_MS + 1
    scene.beat(2)
    assert [e.master for e in scene.scan().events if isinstance(e, MasterElected)] == [2]


def test_who_was_gone_before_the_start_is_gone_after_it() -> None:
    scene = with_master(1, 2)
    scene.silence(1)
    scene.start()
    assert alive(scene, 1)
    assert not alive(scene, 2)


def test_what_was_heard_before_the_start_ends_with_the_first_heartbeat_after_it() -> None:
    scene = with_master(1, 2)
    scene.start()
    assert set(scene.group.replicas[BrokerId(1)].heard.channels) == {NO_CHANNEL}
    scene.beat(1, channel=8)
    scene.close(8)
    assert not alive(scene, 1)


def test_a_clock_that_goes_back_stands_still() -> None:
    scene = registered(1)
    scene.beat(1)
    scene.now_ms -= 900
    scene.beat(1)
    assert scene.state.clock_ms == 1_000
    assert scene.group.replicas[BrokerId(1)].heard.channels == {1: 1_000}


def test_heartbeats_for_a_group_of_another_cluster_do_not_count() -> None:
    scene = registered(1)
    group = scene.group
    scene.state = scene.state.with_group(
        type(group)(
            cluster_name="other",
            broker_name=group.broker_name,
            replicas=group.replicas,
            next_broker_id=group.next_broker_id,
        )
    )
    assert code(scene.beat(1)) is ResponseCode.BROKER_NEED_TO_BE_REGISTERED

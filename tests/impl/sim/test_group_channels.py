"""What is said between brokers and controller arrives or not, in the ways that faults have."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from rocketha.sim.engine.faults import Fault, FaultCounts
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.replica_group.channels import CALM_CHANNELS, ChannelFaults, Channels
from rocketha.types import BrokerId, ConnectionId

ONE, TWO = BrokerId(1), BrokerId(2)


@dataclass
class Talk:
    """Both ends, and what they heard."""

    faults: ChannelFaults = CALM_CHANNELS
    scheduler: Scheduler = field(default_factory=Scheduler)
    counts: FaultCounts = field(default_factory=FaultCounts)
    asked_of: list[tuple[ConnectionId, bytes]] = field(default_factory=list)
    closed_at: list[tuple[ConnectionId, int]] = field(default_factory=list)
    heard: list[tuple[BrokerId, bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.channels = Channels(
            self,
            scheduler=self.scheduler,
            random_source=PerPurposeStreams(7),
            counts=self.counts,
            faults=self.faults,
        )

    def asked(self, channel: ConnectionId, data: bytes) -> None:
        self.asked_of.append((channel, data))
        self.channels.answer(channel, b"re:" + data)

    def closed(self, channel: ConnectionId) -> None:
        self.closed_at.append((channel, self.scheduler.now_ms))

    def answered(self, broker: BrokerId, data: bytes, channel: ConnectionId | None) -> None:
        del channel
        self.heard.append((broker, data))

    def run(self, until_ms: int = 10_000) -> None:
        while self.scheduler.run_next(until_ms):
            pass


def frames(count: int) -> list[bytes]:
    return [b"%d" % n for n in range(count)]


def test_requests_and_answers_keep_their_order_on_one_channel() -> None:
    talk = Talk()
    for frame in frames(30):
        talk.channels.ask(ONE, frame)
    talk.run()
    assert talk.asked_of == [(ConnectionId(1), frame) for frame in frames(30)]
    assert talk.heard == [(ONE, b"re:" + frame) for frame in frames(30)]


def test_a_broker_has_a_channel_of_its_own() -> None:
    talk = Talk()
    talk.channels.ask(ONE, b"a")
    talk.channels.ask(TWO, b"b")
    talk.run()
    assert sorted(talk.asked_of) == [(ConnectionId(1), b"a"), (ConnectionId(2), b"b")]


def test_a_broken_channel_is_followed_by_another_and_its_answers_are_lost() -> None:
    talk = Talk()
    talk.channels.ask(ONE, b"a")
    talk.channels.drop(ONE)
    talk.channels.ask(ONE, b"b")
    talk.run()
    assert talk.asked_of == [(ConnectionId(1), b"a"), (ConnectionId(2), b"b")]
    assert talk.heard == [(ONE, b"re:b")]
    assert [channel for channel, _ in talk.closed_at] == [ConnectionId(1)]


def test_what_does_not_leave_a_broker_that_ends_goes_over_no_channel() -> None:
    talk = Talk()
    assert talk.channels.ask(ONE, b"a", leaves=False) == ConnectionId(1)
    assert talk.channels.of(ONE) is None
    assert talk.channels.ask(ONE, b"b") == ConnectionId(2)
    assert talk.channels.ask(ONE, b"c", leaves=False) == ConnectionId(2)
    talk.run()
    assert talk.asked_of == [(ConnectionId(2), b"b")]


def test_nobody_hears_of_a_channel_whose_broker_went_silently() -> None:
    talk = Talk()
    talk.channels.ask(ONE, b"a")
    talk.channels.drop(ONE, silent=True)
    talk.run()
    assert talk.closed_at == []


def test_a_late_close_comes_when_the_broker_is_back() -> None:
    talk = Talk(ChannelFaults(late_close_percent=100, late_close_max_ms=1_000))
    talk.channels.ask(ONE, b"a")
    talk.channels.drop(ONE)
    talk.channels.ask(ONE, b"b")
    talk.run()
    [(channel, at_ms)] = talk.closed_at
    assert channel == ConnectionId(1)
    assert at_ms > 20
    assert talk.counts.by_name() == {"late-close": 1}


def test_what_comes_on_a_channel_that_the_controller_has_ended_is_lost() -> None:
    talk = Talk()
    talk.channels.ask(ONE, b"a")
    talk.run()
    talk.channels.refuse(ConnectionId(1))
    talk.channels.ask(ONE, b"lost")
    talk.run()
    talk.channels.ask(ONE, b"b")
    talk.run()
    assert talk.asked_of == [(ConnectionId(1), b"a"), (ConnectionId(2), b"b")]


@pytest.mark.parametrize(
    ("fault", "faults"),
    [
        (Fault.CONTROLLER_LOSS, ChannelFaults(loss_percent=50)),
        (Fault.CONTROLLER_DUPLICATE, ChannelFaults(duplicate_percent=50, delay_max_ms=100)),
        (Fault.CONTROLLER_REORDER, ChannelFaults(reorder_percent=50, delay_max_ms=100)),
        (Fault.CONTROLLER_DELAY, ChannelFaults(delay_percent=50, delay_max_ms=100)),
    ],
)
def test_faults_do_what_they_say_and_are_counted(fault: Fault, faults: ChannelFaults) -> None:
    talk = Talk(faults)
    for frame in frames(40):
        talk.channels.ask(ONE, frame)
    talk.run()
    arrived = [data for _, data in talk.asked_of]
    assert talk.counts.by_name().keys() == {fault.value}
    assert (len(arrived) < 40) is (fault is Fault.CONTROLLER_LOSS)
    assert (len(arrived) > 40) is (fault is Fault.CONTROLLER_DUPLICATE)
    in_order = arrived == sorted(arrived, key=int)
    assert in_order is (fault in {Fault.CONTROLLER_LOSS, Fault.CONTROLLER_DELAY})


@pytest.mark.parametrize("up", [True, False])
def test_a_partition_holds_up_one_direction(up: bool) -> None:
    talk = Talk()
    talk.channels.block(ONE, up=up)
    talk.channels.ask(ONE, b"a")
    talk.channels.ask(TWO, b"b")
    talk.run()
    assert ((ConnectionId(1), b"a") in talk.asked_of) is not up
    assert talk.heard == [(TWO, b"re:b")]

    talk.channels.heal()
    talk.run()
    assert talk.heard == [(TWO, b"re:b"), (ONE, b"re:a")]


def test_a_notice_needs_no_channel() -> None:
    talk = Talk()
    talk.channels.notify(ONE, b"you are master")
    talk.run()
    assert talk.heard == [(ONE, b"you are master")]


def test_an_operator_is_heard_whatever_happens_to_others() -> None:
    talk = Talk(ChannelFaults(loss_percent=100))
    talk.channels.operate(b"designate")
    talk.run()
    assert [data for _, data in talk.asked_of] == [b"designate"]

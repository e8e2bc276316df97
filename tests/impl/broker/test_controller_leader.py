"""A broker with several controllers: it finds the one that leads, and finds it again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.broker.core import next_timer_ms
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_request_codec import pull_request
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    ControllerRequest,
    GetMetadataInfo,
    GetReplicaInfo,
    Heartbeat,
    RegisterBroker,
)
from rocketha.formats.controller_responses import MetadataInfo, Reply, push_reply
from rocketha.formats.remoting_command import RemotingCommand
from tests.impl.broker.bench import options_of
from tests.impl.broker.lone import Lone, answer_registration, identified, set_of

CONTROLLERS = ("c0:9878", "c1:9878", "c2:9878")
OPTIONS = replace(options_of(), controllers=CONTROLLERS)
SOON_MS = OPTIONS.request_timeout_ms // 4
LONG_MS = OPTIONS.sync_controller_metadata_ms


def whom(lone: Lone, kind: type[ControllerRequest]) -> list[int]:
    """Return to whom requests of a kind went that nobody has looked at yet; forget them all."""
    found = [lone.to[f.opaque] for f in lone.frames if isinstance(pull_request(f), kind)]
    lone.frames.clear()
    return found


def questions(lone: Lone) -> dict[int, RemotingCommand]:
    """Take the questions who leads, by the controller that was asked."""
    asks = [f for f in lone.frames if isinstance(pull_request(f), GetMetadataInfo)]
    lone.frames = [f for f in lone.frames if f not in asks]
    found = {lone.to[f.opaque]: f for f in asks}
    assert len(found) == len(asks)
    return found


def say(lone: Lone, question: RemotingCommand, leader: str | None, *, own: bool = False) -> None:
    """Answer a question who leads; `own`: it is the one that answers."""
    said = MetadataInfo(
        group="g", leader_id=leader and "n", leader_address=leader, is_leader=own, peers=""
    )
    lone.hear(push_reply(Reply(content=said), question))


def led_by(leader: int) -> Lone:
    """Make a broker that has found the leader, and has registered; broker 2 is master."""
    lone = identified(OPTIONS)
    all_say(lone, leader)
    answer_registration(lone, epoch=1, master=2, sync_state_set=set_of(1, 2))
    lone.frames.clear()
    return lone


def all_say(lone: Lone, leader: int) -> None:
    """Let all controllers agree on who leads."""
    for asked, question in questions(lone).items():
        say(lone, question, CONTROLLERS[leader], own=asked == leader)
    lone.pass_time(0)


def refuse(lone: Lone) -> None:
    """Let the controller that is asked for the group say that it does not lead."""
    lone.pass_time(lone.state.options.sync_metadata_ms)
    lone.answer(GetReplicaInfo, code=ResponseCode.NOT_LEADER)


def test_a_broker_that_starts_asks_all_and_registers_with_whoever_leads() -> None:
    lone = identified(OPTIONS)
    asked = questions(lone)
    assert list(asked) == [0, 1, 2]
    assert whom(lone, RegisterBroker) == [0]  # before it knows any better
    say(lone, asked[2], CONTROLLERS[1])
    lone.pass_time(0)
    assert (lone.state.controller, whom(lone, RegisterBroker)) == (1, [1])
    say(lone, asked[1], CONTROLLERS[1], own=True)
    lone.pass_time(0)
    assert (lone.state.controller, lone.frames) == (1, [])


def test_controllers_are_asked_from_time_to_time() -> None:
    lone = led_by(1)
    times = []
    for _ in range(25):
        lone.pass_time(1_000)
        if lone.asked(GetMetadataInfo):
            times.append(lone.now_ms - 10_000)
            all_say(lone, 1)
        if lone.asked(GetReplicaInfo):
            lone.answer(GetReplicaInfo, code=ResponseCode.BROKER_METADATA_NOT_EXIST)
        lone.frames.clear()
    assert times == [10_000, 20_000]


def test_everything_goes_to_the_leader() -> None:
    lone = led_by(2)
    lone.pass_time(lone.state.options.sync_metadata_ms)
    assert {lone.to[f.opaque] for f in lone.frames} == {2}
    assert {type(pull_request(f)) for f in lone.frames} == {Heartbeat, GetReplicaInfo}


@pytest.mark.parametrize("leader", [None, "", "c9:9878"])
def test_nobody_is_followed_whom_it_does_not_know(leader: str | None) -> None:
    lone = identified(OPTIONS)
    for question in questions(lone).values():
        say(lone, question, leader)
    assert (lone.state.controller, lone.state.search.is_known) == (0, False)
    assert next_timer_ms(lone.state) == lone.now_ms + SOON_MS
    lone.pass_time(SOON_MS)
    assert list(questions(lone)) == [0, 1, 2]


def test_who_leads_by_its_own_word_need_not_be_known_by_its_address() -> None:
    lone = identified(OPTIONS)
    say(lone, questions(lone)[2], "10.0.0.1:9878", own=True)
    assert lone.state.controller == 2


def test_whoever_says_so_itself_is_followed_rather_than_who_is_named() -> None:
    lone = identified(OPTIONS)
    asked = questions(lone)
    say(lone, asked[0], CONTROLLERS[2])
    say(lone, asked[1], CONTROLLERS[1], own=True)
    say(lone, asked[2], CONTROLLERS[0])
    assert lone.state.controller == 1


def test_who_does_not_lead_is_left_for_the_one_that_it_names() -> None:
    lone = led_by(0)
    refuse(lone)
    asked = questions(lone)
    assert list(asked) == [0, 1, 2]
    say(lone, asked[0], CONTROLLERS[2])
    lone.frames.clear()
    lone.pass_time(0)
    assert lone.state.controller == 2
    assert {type(pull_request(f)) for f in lone.frames} == {Heartbeat, GetReplicaInfo}
    assert {lone.to[f.opaque] for f in lone.frames} == {2}


def test_a_broker_does_not_look_all_the_time() -> None:
    lone = led_by(0)
    refuse(lone)
    asked = questions(lone)
    lone.pass_time(SOON_MS - 1)
    assert questions(lone) == {}
    say(lone, asked[1], None)
    lone.pass_time(1)
    assert list(questions(lone)) == [1], "the others have still to answer"
    lone.pass_time(OPTIONS.request_timeout_ms - SOON_MS)
    assert list(questions(lone)) == [0, 2]


def test_refusals_in_a_row_make_it_look_once() -> None:
    lone = led_by(0)
    for _ in range(2):
        refuse(lone)
        all_say(lone, 0)  # it goes on, and polls at once
        lone.answer(GetReplicaInfo, code=ResponseCode.NOT_LEADER)
        assert questions(lone) == {}
        lone.pass_time(SOON_MS)
        assert list(questions(lone)) == [0, 1, 2]
        lone.pass_time(OPTIONS.request_timeout_ms)
        all_say(lone, 0)
        lone.frames.clear()


def test_an_old_refusal_of_another_controller_is_nothing() -> None:
    lone = led_by(0)
    lone.pass_time(lone.state.options.sync_metadata_ms)
    poll = lone.frame(GetReplicaInfo)
    lone.pass_time(LONG_MS - lone.state.options.sync_metadata_ms)
    say(lone, questions(lone)[1], CONTROLLERS[1], own=True)
    lone.frames.clear()
    before = lone.state
    lone.hear(push_reply(Reply(code=ResponseCode.NOT_LEADER), poll))
    assert lone.state.controller == 1
    assert lone.state.search == before.search


def test_a_silent_leader_is_looked_for() -> None:
    lone = led_by(0)
    lone.pass_time(lone.state.options.sync_metadata_ms)
    lone.frames.clear()
    lone.pass_time(OPTIONS.request_timeout_ms - 1)
    assert questions(lone) == {}
    lone.pass_time(1)
    asked = questions(lone)
    assert list(asked) == [0, 1, 2]
    # It was cut off from the others, and does not know that it leads no more.
    for first, second in ((0, 1), (1, 0)):
        at = lone.replica.state
        for one in (first, second):
            say(lone, asked[one], CONTROLLERS[one], own=True)
        say(lone, asked[2], CONTROLLERS[0])
        assert lone.state.controller == 1
        lone.replica.state = at
    say(lone, asked[0], CONTROLLERS[0], own=True)
    assert (lone.state.controller, lone.state.search.is_known) == (0, True)
    assert lone.state.search.doubted is None


def test_the_silence_of_others_is_nothing() -> None:
    lone = led_by(0)
    lone.pass_time(LONG_MS)
    say(lone, questions(lone)[0], CONTROLLERS[0], own=True)
    lone.answer(GetReplicaInfo, code=ResponseCode.BROKER_METADATA_NOT_EXIST)
    before = lone.state.search
    lone.pass_time(OPTIONS.request_timeout_ms)
    assert lone.state.search == before
    assert len(lone.state.asked) <= 1  # the questions that were not answered are forgotten


def test_when_nobody_is_named_for_long_the_next_one_is_tried() -> None:
    lone = identified(OPTIONS)
    tried = [lone.state.controller]
    for _ in range(60):
        lone.pass_time(SOON_MS)
        if lone.state.controller != tried[-1]:
            tried.append(lone.state.controller)
    assert tried[:5] == [0, 1, 2, 0, 1]
    assert set(whom(lone, RegisterBroker)) == {0, 1, 2}


def test_a_proposal_that_was_refused_goes_to_the_next_leader() -> None:
    lone = led_by(0)
    lone.pass_time(SOON_MS)
    lone.notice(1, 2, set_of(2, 1))
    lone.put()
    lone.slave(2, lone.end)
    [proposal] = lone.asked(AlterSyncStateSet)
    lone.answer(AlterSyncStateSet, code=ResponseCode.NOT_LEADER)
    say(lone, questions(lone)[1], CONTROLLERS[1], own=True)
    lone.frames.clear()
    lone.pass_time(lone.state.options.check_sync_state_set_ms)
    assert [again.sync_state_set for again in lone.asked(AlterSyncStateSet)] == [
        proposal.sync_state_set
    ]
    assert whom(lone, AlterSyncStateSet) == [1]


def test_a_broker_that_has_found_the_leader_is_not_woken_for_nothing() -> None:
    for lone in (identified(OPTIONS), led_by(1)):
        for _ in range(50):
            due = next_timer_ms(lone.state)
            assert due is not None
            lone.pass_time(max(0, due - lone.now_ms))
            after = next_timer_ms(lone.state)
            assert after is not None
            assert after > lone.now_ms


@pytest.mark.parametrize("controllers", [(), ("c0:9878",)])
def test_a_broker_with_one_controller_does_none_of_this(controllers: tuple[str, ...]) -> None:
    lone = identified(replace(OPTIONS, controllers=controllers))
    for _ in range(3):
        lone.answer(RegisterBroker, code=ResponseCode.NOT_LEADER)
        lone.pass_time(OPTIONS.request_timeout_ms)
    answer_registration(lone)
    for _ in range(30):
        lone.pass_time(1_000)
        if lone.asked(GetReplicaInfo):
            lone.answer(GetReplicaInfo, code=ResponseCode.NOT_LEADER)
    assert set(lone.to.values()) == {0}
    assert lone.asked(GetMetadataInfo) == []
    assert (lone.state.controller, lone.state.search) == (0, type(lone.state.search)())

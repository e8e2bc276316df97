"""Roles: what each view of the controller does to each broker, new, known and old ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.broker.effects import GroupAction, GroupActionName, PutStatus
from rocketha.broker.state import EMPTY_SET
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import ElectMaster
from rocketha.formats.controller_responses import Elected, LiveMaster
from rocketha.ha.state import Role
from rocketha.known_bugs import NO_BUGS, Bug, Bugs
from rocketha.runtime.effects import CloseConnection
from rocketha.types import BrokerId, Epoch
from tests.impl.broker.bench import options_of
from tests.impl.broker.lone import (
    Lone,
    answer_registration,
    identified,
    registered,
    set_of,
    with_master,
)


def elected(master: int, epoch: int, version: int, *members: int) -> Elected:
    return Elected(
        master=LiveMaster(
            broker_id=BrokerId(master),
            address=f"b{master}",
            epoch=Epoch(epoch),
            sync_state_set_epoch=set_of(version).epoch,
        ),
        members=set_of(version, *members).members,
    )


def following(*, epoch: int = 1) -> Lone:
    lone = registered()
    lone.notice(2, epoch, set_of(epoch, 2))
    lone.replica.node.actions.clear()
    return lone


def closed(lone: Lone, master: int, epoch: int, version: int, *members: int) -> int:
    """Return how many connections a notice closes."""
    stepped = lone.notice(master, epoch, set_of(version, *members))
    return sum(isinstance(effect, CloseConnection) for effect in stepped.effects)


# ---- to become master ----


def test_an_elected_broker_works_with_the_set_that_it_is_told() -> None:
    lone = registered()
    lone.notice(1, 1, set_of(1, 1))
    assert lone.actions == ["BecomeMaster"]
    assert lone.state.ha.role is Role.MASTER
    assert (lone.state.local, lone.state.pending) == (set_of(1, 1), None)


def test_confirm_begins_with_the_log_of_a_master_that_is_alone_in_its_set() -> None:
    lone = with_master()
    lone.put()
    lone.notice(2, 2, set_of(2, 2))
    lone.notice(1, 3, set_of(3, 1))
    assert lone.state.confirm == lone.end > 0


def test_confirm_begins_at_0_if_somebody_else_is_in_the_set() -> None:
    lone = with_master()
    lone.put()
    lone.notice(2, 2, set_of(2, 2))
    lone.notice(1, 3, set_of(4, 1, 2))
    assert lone.state.confirm == 0


@pytest.mark.parametrize("bugs", [NO_BUGS, frozenset({Bug.B26})])
def test_a_master_that_hears_late_works_with_the_set_of_that_time(bugs: Bugs) -> None:
    lone = registered(options_of(bugs=bugs))
    lone.notice(1, 1, set_of(5, 1, 3))
    assert lone.state.local == (set_of(5, 1) if bugs else set_of(5, 1, 3))


def test_a_master_that_is_elected_again_drops_its_slaves_and_goes_on() -> None:
    lone = with_master(1, 2)
    lone.slave(2, 0)
    put = lone.put()
    assert closed(lone, 1, 2, 3, 1) == 1
    assert lone.actions[-1] == "BecomeMaster"
    assert lone.state.ha.servers == {}
    assert [w.put for w in lone.state.waiting] == [put]
    assert lone.state.local == set_of(3, 1)


def test_a_slave_that_is_elected_leaves_its_master() -> None:
    lone = following()
    lone.notice(1, 2, set_of(3, 1))
    assert lone.state.ha.role is Role.MASTER
    assert lone.state.ha.client is None


# ---- to become slave ----


def test_another_master_with_a_newer_epoch_is_followed() -> None:
    lone = registered()
    lone.notice(2, 1, set_of(1, 2))
    assert lone.actions == ["BecomeSlave"]
    assert (lone.state.ha.known_epoch, lone.state.ha.master_address) == (1, "b2")
    assert lone.state.local == EMPTY_SET


def test_a_master_that_is_replaced_forgets_its_epoch_and_answers_everybody() -> None:
    lone = with_master(1, 2)
    lone.slave(2, 0)
    puts = [lone.put(), lone.put()]
    assert closed(lone, 2, 2, 3, 2) == 1
    state = lone.state
    assert state.ha.role is Role.SLAVE
    assert (state.local, state.pending, state.confirm) == (EMPTY_SET, None, 0)
    assert state.waiting == ()
    assert [lone.status(put) for put in puts] == [PutStatus.FLUSH_SLAVE_TIMEOUT] * 2


def test_a_newer_epoch_without_master_makes_a_slave_of_nobody_that_wants_an_election() -> None:
    lone = with_master(1, 2)
    put = lone.put()
    lone.show(None, 4, set_of(9))
    assert lone.actions[-1] == "BecomeSlave"
    assert lone.state.ha.role is Role.SLAVE
    assert (lone.state.ha.known_epoch, lone.state.ha.master_address) == (4, None)
    assert lone.status(put) == PutStatus.FLUSH_SLAVE_TIMEOUT
    assert len(lone.asked(ElectMaster)) == 1


def test_without_master_the_action_is_the_groups_own() -> None:
    lone = identified()
    answer = answer_registration(lone, epoch=4)
    assert lone.actions == ["BecomeSlave"]
    again = identified()
    again.frames[-1:] = []
    assert again.hear(answer).action == GroupAction(name=GroupActionName.BECOME_SLAVE)


# ---- what is known, or old ----


def test_a_slave_without_address_learns_it_from_a_view_of_the_same_epoch() -> None:
    lone = registered(epoch=3)
    assert lone.state.ha.master_address is None
    lone.replica.node.actions.clear()
    lone.notice(2, 3, set_of(5, 2))
    assert lone.state.ha.master_address == "b2"
    assert lone.actions == []


def test_a_master_that_moved_is_found_at_its_new_address() -> None:
    lone = following()
    lone.notice(2, 1, set_of(1, 2), "elsewhere")
    assert lone.state.ha.master_address == "elsewhere"
    assert lone.actions == []


@pytest.mark.parametrize(("master", "epoch"), [(1, 1), (2, 1), (3, 1), (1, 0), (2, 0)])
def test_an_old_view_changes_nothing(master: int, epoch: int) -> None:
    lone = following(epoch=2)
    before = lone.state
    lone.notice(master, epoch, set_of(9, master))
    assert (lone.state, lone.actions) == (before, [])


def test_an_old_view_does_not_depose_a_master() -> None:
    lone = registered()
    lone.notice(1, 3, set_of(3, 1))
    before = lone.state
    lone.notice(2, 2, set_of(2, 2))
    lone.notice(1, 1, set_of(1, 1))
    assert lone.state == before


@pytest.mark.parametrize("bugs", [NO_BUGS, frozenset({Bug.LATE_EPOCH})])
def test_a_notice_from_before_the_restart_makes_nobody_master(bugs: Bugs) -> None:
    lone = registered(options_of(bugs=bugs), epoch=5)
    lone.notice(1, 5, set_of(7, 1))
    assert (lone.state.ha.role is Role.MASTER) == bool(bugs)


@pytest.mark.parametrize("bugs", [NO_BUGS, frozenset({Bug.B31})])
def test_who_registers_knows_the_present_epoch_and_no_older_election_counts(bugs: Bugs) -> None:
    lone = identified(options_of(bugs=bugs))
    answer_registration(lone, epoch=5)
    lone.notice(1, 4, set_of(4, 1))
    assert (lone.state.ha.role is Role.MASTER) == bool(bugs)


def test_a_restarted_master_is_none_before_it_is_elected_again() -> None:
    lone = with_master()
    lone.again()
    answer_registration(lone, epoch=1)
    assert lone.state.ha.role is Role.SLAVE


@pytest.mark.parametrize(("bug", "start"), [(Bug.B10, True), (Bug.B84, False)])
def test_a_restarted_master_that_is_still_master_takes_its_epoch_up_again(
    bug: Bug, start: bool
) -> None:
    lone = with_master(options=options_of(bugs=frozenset({bug})))
    lone.put()
    lone.replica.identity = lone.state.identity
    lone.again()
    answer_registration(lone, epoch=1, master=1, sync_state_set=set_of(2, 1, 2))
    assert lone.state.ha.role is Role.MASTER
    [(epoch, begins)] = lone.state.ha.cache.starts()
    assert epoch == 1
    assert (begins > 0) == start


@pytest.mark.parametrize("bugs", [NO_BUGS, frozenset({Bug.B35})])
def test_a_restarted_master_takes_no_messages_before_it_has_registered(bugs: Bugs) -> None:
    lone = with_master(options=options_of(bugs=bugs))
    lone.replica.identity = lone.state.identity
    lone.again()
    put = lone.put()
    assert lone.status(put) == (PutStatus.PUT_OK if bugs else PutStatus.SERVICE_NOT_AVAILABLE)


# ---- elections ----


def test_one_request_for_an_election_is_under_way_at_a_time() -> None:
    lone = identified(replace(options_of(), request_timeout_ms=20_000))
    answer_registration(lone)
    for _ in range(3):
        lone.show(None, 0, set_of(0))
    assert len(lone.asked(ElectMaster)) == 1
    lone.pass_time(20_000)
    lone.show(None, 0, set_of(0))
    assert len(lone.asked(ElectMaster)) == 2


@pytest.mark.parametrize("code", [ResponseCode.SUCCESS, ResponseCode.MASTER_STILL_EXIST])
def test_the_answer_to_an_election_is_a_view_whoever_was_elected(code: ResponseCode) -> None:
    lone = identified()
    answer_registration(lone)
    lone.answer(ElectMaster, elected(2, 3, 5, 2), code)
    assert (lone.state.ha.known_epoch, lone.state.ha.master_address) == (3, "b2")
    lone = identified()
    answer_registration(lone)
    lone.answer(ElectMaster, elected(1, 3, 5, 1), code)
    assert lone.state.local == set_of(5, 1)


def test_a_refused_election_is_asked_for_again_by_the_next_poll_that_shows_no_master() -> None:
    lone = identified()
    answer_registration(lone)
    lone.answer(ElectMaster, code=ResponseCode.ELECT_MASTER_FAILED)
    lone.frames.clear()
    lone.show(None, 0, set_of(0))
    assert len(lone.asked(ElectMaster)) == 1

"""Proposals of a SyncStateSet: in which order they are refused, and which refusals are final."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.controller.applied import SetKept
from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_codes import ResponseCode as R
from rocketha.formats.controller_requests import AlterSyncStateSet
from rocketha.known_bugs import NO_BUGS, Bug, Bugs
from rocketha.types import Epoch, SyncStateSetEpoch
from tests.impl.controller.scene import GROUP, Scene, code, ids, with_master


def _silent_slave() -> Scene:
    scene = with_master(1, 2, 3, members=[1])
    scene.silence(1, 3)
    return scene


def test_proposals_are_refused_in_rocketmqs_order() -> None:
    """Each step repairs the first thing that is wrong, and nothing else."""
    assert (
        code(Scene().alter([9, 2], master=2, epoch=7, expected=7)) is R.ALTER_SYNC_STATE_SET_FAILED
    )
    scene = _silent_slave()
    codes = [
        code(scene.alter(members, master=master, epoch=epoch, expected=expected))
        for members, master, epoch, expected in (
            ([1], 2, 7, 7),
            ([2, 3, 9], 2, 7, 7),
            ([2, 3, 9], 1, 7, 7),
            ([2, 3, 9], 1, 1, 7),
            ([3, 9], 1, 1, 1),
            ([2, 3], 1, 1, 2),
            ([3], 1, 1, 3),
            ([1, 3], 1, 1, 4),
        )
    ]
    assert codes == [
        R.ALTER_SYNC_STATE_SET_FAILED,
        R.INVALID_MASTER,
        R.FENCED_MASTER_EPOCH,
        R.FENCED_SYNC_STATE_SET_EPOCH,
        R.INVALID_REPLICAS,
        R.BROKER_NOT_ALIVE,
        R.ALTER_SYNC_STATE_SET_FAILED,
        R.SUCCESS,
    ]
    assert scene.group.members == ids(1, 3)


def test_members_are_looked_at_one_by_one() -> None:
    """A dead member before an unknown one is what the answer names, and the other way round."""
    scene = _silent_slave()
    assert code(scene.alter([1, 2, 9])) is R.BROKER_NOT_ALIVE
    assert code(scene.alter([0, 1, 2])) is R.INVALID_REPLICAS


@pytest.mark.parametrize("bugs", [NO_BUGS, frozenset({Bug.SPENT})])
def test_a_fresh_proposal_that_was_refused_is_refused_for_ever(bugs: Bugs) -> None:
    scene = with_master(1, 2, members=[1])
    scene.silence(1)
    first = scene.alter([1, 2], bugs=bugs)
    scene.beat(2)
    copy = scene.do(scene.entries[-2].change, bugs=bugs)
    final = R.SUCCESS if bugs else R.FENCED_SYNC_STATE_SET_EPOCH
    assert (code(first), code(copy)) == (R.BROKER_NOT_ALIVE, final)


def test_the_refusal_of_a_fresh_proposal_is_an_event_and_a_new_version() -> None:
    scene = with_master(1, 2)
    refused = scene.alter([2])
    assert refused.events == (SetKept(broker_name=GROUP, epoch=SyncStateSetEpoch(3)),)
    assert scene.group.sync_state_set == SyncStateSet(ids(1, 2), SyncStateSetEpoch(3))


@pytest.mark.parametrize(
    ("master", "epoch", "expected"), [(2, 1, 2), (1, 0, 2), (1, 2, 2), (1, 1, 1), (1, 1, 3)]
)
def test_the_refusal_of_a_proposal_that_is_not_fresh_changes_nothing(
    master: int, epoch: int, expected: int
) -> None:
    scene = with_master(1, 2)
    before = scene.group
    refused = scene.alter([1, 2], master=master, epoch=epoch, expected=expected)
    assert (refused.events, scene.group) == ((), before)


@pytest.mark.parametrize("epoch", [0, 1])
def test_a_proposal_that_was_refused_by_its_epochs_is_refused_for_ever(epoch: int) -> None:
    scene = with_master(1, 2, 3)
    late = scene.entries[-1].change
    assert isinstance(late, AlterSyncStateSet)
    for members in ([1, 2], [1, 2, 3], [1]):
        assert code(scene.alter(members)) is R.SUCCESS
        copy = replace(late, master_epoch=Epoch(epoch))
        assert code(scene.do(copy)) in (
            R.FENCED_SYNC_STATE_SET_EPOCH,
            R.FENCED_MASTER_EPOCH,
            R.ALTER_SYNC_STATE_SET_FAILED,
        )

"""Every promise has a history that keeps it, and one in which the checker sees it broken."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.histories import Broken, History, Kept, Outcome, Undecided, check_history
from rocketha.histories.verdicts import Promise
from tests.impl.histories.histories import (
    became_master,
    elected,
    final,
    history,
    message,
    put,
    seen,
)

A, B = message("e1#1;", 0), message("e1#2;", 128)
OTHER = message("e1#9;", 0)


def broken(one: History) -> Broken:
    verdict = check_history(one)
    assert isinstance(verdict, Broken), verdict
    return verdict


def test_a_safe_message_that_is_in_every_later_log_is_kept() -> None:
    one = history(put("e1#1;"), seen(A), elected(2), became_master(2, A), final(2, A, B))
    assert check_history(one) == Kept(safe=1, shown=1, logs=2)


def test_a_message_of_which_nobody_knows_may_be_there_or_not() -> None:
    unknown = put("e1#2;", None, outcome=Outcome.UNKNOWN)
    assert isinstance(check_history(history(put("e1#1;"), unknown, became_master(2, A))), Kept)
    assert isinstance(check_history(history(put("e1#1;"), unknown, became_master(2, A, B))), Kept)


@pytest.mark.parametrize(
    ("promise", "one", "reason"),
    [
        pytest.param(
            Promise.DURABLE,
            history(put("e1#1;"), elected(2), became_master(2)),
            "producer 1 was told at 15 ms that e1#1; is safe at 0, but b2, when it became master "
            "of epoch 2, has nothing there",
            id="a safe message is missing",
        ),
        pytest.param(
            Promise.DURABLE,
            history(put("e1#1;"), became_master(2, OTHER)),
            "has e1#9; there",
            id="another message is in its place",
        ),
        pytest.param(
            Promise.DURABLE,
            history(put("e1#1;"), became_master(2, replace(A, offset=B.offset))),
            "has nothing there",
            id="it is at another offset",
        ),
        pytest.param(
            Promise.DURABLE,
            history(put("e1#1;"), became_master(2, A), final(2)),
            "the master b2 of epoch 2, at the end, has nothing there",
            id="it is gone at the end",
        ),
        pytest.param(
            Promise.DURABLE,
            history(became_master(2), put("e1#1;")),
            "has nothing there",
            id="a master that was replaced promises",
        ),
        pytest.param(
            Promise.DURABLE,
            history(put("e1#1;"), final(1)),
            "has nothing there",
            id="its own master lost it",
        ),
        pytest.param(
            Promise.REFUSED,
            history(put("e1#1;", None, outcome=Outcome.FAIL), became_master(2, A)),
            "producer 1 was refused e1#1; (a status), but b2, when it became master of epoch 2, "
            "has it at 0",
            id="a refused message is in a log",
        ),
        pytest.param(
            Promise.REFUSED,
            history(put("e1#1;", None, outcome=Outcome.FAIL), seen(A)),
            "but consumer 1 saw it at 0",
            id="a refused message is seen",
        ),
        pytest.param(
            Promise.VISIBLE,
            history(seen(A), became_master(2)),
            "consumer 1 saw e1#1; at 0 at 20 ms, but b2, when it became master of epoch 2, has "
            "nothing there",
            id="what was seen disappears",
        ),
        pytest.param(
            Promise.VISIBLE,
            history(seen(A), became_master(2, replace(A, digest="x"))),
            "has other bytes of it there",
            id="what was seen changes",
        ),
        pytest.param(
            Promise.AGREEMENT,
            history(seen(A), seen(OTHER, consumer=2, at=25)),
            "at 0 consumer 1 saw e1#1; at 20 ms, and consumer 2 e1#9; at 25 ms",
            id="consumers see different messages",
        ),
        pytest.param(
            Promise.ONCE,
            history(became_master(2, A, replace(A, offset=B.offset))),
            "has e1#1; at 0 and at 128",
            id="a log has a message twice",
        ),
        pytest.param(
            Promise.ORDER,
            history(put("e1#2;", 128, at=10), put("e1#1;", 0, at=50)),
            "producer 1 was told that e1#2; is at 128, and of the later e1#1; that it is at 0",
            id="a producer's messages change places",
        ),
    ],
)
def test_a_broken_promise_is_told_in_words(promise: Promise, one: History, reason: str) -> None:
    verdict = broken(one)
    assert verdict.promise is promise
    assert reason in verdict.reason
    assert verdict.in_words().startswith(f"broken ({promise}): ")


def test_an_unclean_election_gives_up_what_was_promised_before() -> None:
    lost = history(
        put("e1#1;"), seen(A), elected(2, clean=False), became_master(2), seen(OTHER, epoch=2)
    )
    assert isinstance(check_history(lost), Undecided)
    assert broken(history(put("e1#1;"), elected(2), became_master(2))).promise is Promise.DURABLE


def test_what_is_promised_after_an_unclean_election_holds() -> None:
    one = history(elected(2, clean=False), put("e2#1;", epoch=2), elected(3), became_master(3))
    assert broken(one).promise is Promise.DURABLE


def test_an_unclean_election_whose_master_never_began_counts() -> None:
    one = history(put("e1#1;"), elected(2, clean=False), elected(3), became_master(3))
    assert isinstance(check_history(one), Undecided)


def test_a_message_of_a_later_epoch_need_not_be_in_an_earlier_log() -> None:
    one = history(became_master(2), put("e2#1;", epoch=2), became_master(3, message("e2#1;", 0)))
    assert isinstance(check_history(one), Kept)


@pytest.mark.parametrize(
    "one",
    [
        history(),
        history(became_master(2, A)),
        history(put("e1#1;")),
        history(put("e1#1;", None, outcome=Outcome.UNKNOWN), became_master(2)),
    ],
)
def test_where_nothing_was_put_to_the_test_nothing_is_decided(one: History) -> None:
    assert isinstance(check_history(one), Undecided)

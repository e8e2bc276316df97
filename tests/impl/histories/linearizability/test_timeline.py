"""Operations as text."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from rocketha.histories.linearizability import (
    NotLinearizable,
    RegisterHistory,
    check_linearizability,
    draw,
    shrink,
)
from rocketha.histories.linearizability.timeline import PAGE, draw_operations
from tests.impl.histories.linearizability.random_histories import Shape, draw_history
from tests.impl.histories.linearizability.words import history


def test_a_stale_read_is_drawn() -> None:
    verdict = check_linearizability(history("0:w1@1-4 1:w2@2-6 2:r2@7-8 3:r1@9-10"))
    assert isinstance(verdict, NotLinearizable)

    assert draw(shrink(verdict).verdict).splitlines() == [
        "key 'x': 1 was held from 4 to 9, and 2 was held from 6 to 7",
        "client 0 |-write 1-|",
        "client 1  |-write 2-|",
        "client 2             |-read 2-|",
        "client 3                       |-*read 1*-|",
        "explained before the stars: write 1, write 2, read 2",
    ]


def test_what_has_no_end_goes_to_the_edge_and_what_was_given_up_ends_in_a_question() -> None:
    text = draw_operations(history("0:w1@1-? 1:n1>3@2-3 1:c1>2@4-5? 2:r@6-7").operations)

    assert text.splitlines() == [
        "client 0 |-write 1------------------------------------------->",
        "client 1  |-cas 1 to 3, not held-||-cas 1 to 2-?",
        "client 2                                        |-read None-|",
    ]


def test_a_client_that_returns_when_it_calls_has_two_rows() -> None:
    text = draw_operations(history("0:w1@1-2 0:w2@2-3").operations)

    assert [line[:8] for line in text.splitlines()] == ["client 0", "client 0"]


def test_what_is_wide_goes_on_below() -> None:
    words = [f"{at % 2}:w{at}@{2 * at}-{2 * at + 1}" for at in range(30)]
    text = draw_operations(history(" ".join(words)).operations)

    blocks = text.split("\n\n")
    assert len(blocks) > 2
    assert all(block.count("\n") == 1 for block in blocks)
    rows = ["".join(block.split("\n")[row].ljust(PAGE)[9:] for block in blocks) for row in (0, 1)]
    assert all(f"|-write {at}-|" in rows[at % 2] for at in range(30))


def test_nothing_is_an_empty_text() -> None:
    assert draw_operations(()) == ""


HOSTILE = st.text(max_size=300) | st.sampled_from(["\x1b[2J", "\u202e", "::error::"])


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 9999), key=HOSTILE, value=HOSTILE, client=st.integers())
def test_no_string_leaves_its_line(seed: int, key: str, value: str, client: int) -> None:
    shape = Shape(clients=7, operations=12, unknown=0.3, coarse=2)
    drawn = draw_history(Random(seed), shape).operations
    late = history("0:w2@1000-1001 1:r@1002-1003").operations
    hostile = [
        replace(
            one,
            key=key,
            value=one.value if one.value is None else f"{value}{one.value % 2}{value}{one.value}",
            client=number * (abs(client) + 1),
        )
        for number, one in enumerate([*drawn, *late])
        if isinstance(one.value, int | None)
    ]
    verdict = check_linearizability(RegisterHistory(tuple(hostile)))
    assert isinstance(verdict, NotLinearizable)

    for text in (draw(verdict), draw(shrink(verdict).verdict), draw_operations(hostile)):
        assert text.isascii()
        for line in text.split("\n"):
            assert len(line) <= PAGE
            assert line.isprintable()
            assert not line.lstrip().startswith("::")

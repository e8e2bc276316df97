"""What cannot be what clients saw."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.errors import OperationError
from rocketha.histories import Outcome
from rocketha.histories.linearizability import RegisterHistory, Value
from rocketha.histories.linearizability.operation import shown
from tests.impl.histories.linearizability.words import history, operation

WRITE = operation("0:w1@2-5")


@pytest.mark.parametrize(
    ("words", "number", "reason"),
    [
        ("0:w1@2-5 1:w2@5-4", 1, "it returned at 4, before it was called at 5"),
        ("0:w1@2-5 0:w2@4-6", 1, "client 0 calls at 4, and its call of 2 returns at 5"),
        ("0:w2@4-6 0:w1@2-5", 0, "client 0 calls at 4, and its call of 2 returns at 5"),
        ("0:w1@2-? 1:r@1-3 0:w2@9-10", 2, "client 0 calls at 9, and its call of 2 never returns"),
        ("0:w1@2-5? 0:w2@4-6", 1, "client 0 calls at 4, and its call of 2 returns at 5"),
        ("0:w1@2-", 0, "its outcome is OK, and it never returned"),
        ("0:w1@2-!", 0, "its outcome is FAIL, and it never returned"),
        ("0:w@2-5", 0, "a write writes None, which is what a register holds before any write"),
        ("0:c1>@2-5", 0, "a cas writes None"),
    ],
)
def test_a_history_that_cannot_be_is_refused(words: str, number: int, reason: str) -> None:
    with pytest.raises(OperationError, match=reason) as error:
        history(words)

    assert error.value.number == number
    assert str(error.value).startswith(f"operation {number}: ")


@pytest.mark.parametrize("value", [True, 1.5, b"1"])
def test_values_are_of_few_types(value: Value) -> None:
    with pytest.raises(OperationError, match=f"a register holds no {type(value).__name__}"):
        RegisterHistory((replace(WRITE, value=value),))


def test_only_a_cas_expects_something() -> None:
    for wrong in (replace(WRITE, expected=1), replace(WRITE, swapped=False)):
        with pytest.raises(OperationError, match="a write expects nothing"):
            RegisterHistory((wrong,))


def test_a_client_may_call_when_it_returns_and_after_it_gave_up() -> None:
    for words in (
        "0:w1@2-5 0:w2@5-6",
        "0:w1@2-5? 0:w2@5-6",
        "0:w1@5-5 0:w2@5-5",
        "0:w1@5-5 0:r@5-?",
    ):
        assert len(history(words).operations) == 2


def test_what_says_nothing_is_left_out() -> None:
    one = history("0:w1@1-2 1:r@1-9? 2:r1@1-2! 3:w2@1-2! 4:w3@1-? 5:c1>2/y@1-5? 6:w1/z@1-2!")

    assert one.by_key() == {
        "x": [one.operations[0], one.operations[4]],
        "y": [one.operations[5]],
    }


def test_an_operation_is_told_in_words() -> None:
    assert operation("0:w1@2-5").in_words() == "client 0, 2 to 5: write 1"
    assert operation("3:n1>2@2-5").in_words() == "client 3, 2 to 5: cas 1 to 2, not held"
    assert operation("3:c1>2@2-?").in_words() == "client 3, 2 for ever: cas 1 to 2, unknown"
    assert replace(WRITE, outcome=Outcome.FAIL).in_words().endswith("write 1, fail")


def test_values_are_shown_in_a_few_ascii_characters() -> None:
    assert shown(None) == "None"
    assert shown("a\x1b[2J\u202e\n::error::") == r"'a\x1b[2J\u202e\n::error::'"
    assert shown("x" * 1000) == f"'{'x' * 37}.."
    assert len(shown(10**1000, 12)) == 12

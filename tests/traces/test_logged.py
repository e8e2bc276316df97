"""What traces have logged of a specification."""

from __future__ import annotations

from typing import Final

from tlatrace.logged import Logged, logged_in, together
from tlatrace.trace import Change, Clues, Event, Header, Part, Trace
from tlatrace.values import State

VARIABLES = ("queue", "holder", "token")
ACTIONS = ("Request", "Grant", "Expire")
WHOLE: Final[State] = {"holder": "c1", "queue": (), "token": 1}
HEADER = Header(spec="LockServer")
INIT = Event(step=0, action="Init", state=WHOLE)


def logged(*events: Event, header: Header = HEADER) -> Logged:
    """Count what a trace of these events has logged."""
    return logged_in([Trace(header=header, events=events)], VARIABLES, ACTIONS)


def test_whole_states_show_every_variable() -> None:
    found = logged(
        INIT,
        Event(step=1, action="Grant", state=WHOLE),
        Event(step=2, action="Grant", state=WHOLE),
        Event(step=3, action=None, state=WHOLE),
    )

    assert found.text() == "3 of 3 variables, 1 of 3 actions logged"
    assert found.to_json() == {
        "steps": 3,
        "variables": {"holder": 3, "queue": 3, "token": 3},
        "actions": {"Expire": 0, "Grant": 2, "Request": 0},
    }


def test_what_only_the_initial_state_shows_is_not_logged() -> None:
    found = logged(INIT, Event(step=1, action="Grant", observed={"token": 2}))

    assert found.variables == {"holder": 0, "queue": 0, "token": 1}
    assert found.text() == "1 of 3 variables, 1 of 3 actions logged"


def test_an_initial_state_alone_is_all_that_there_is() -> None:
    assert logged(INIT).text() == "3 of 3 variables, 0 of 3 actions logged"


def test_parts_and_what_a_log_says_besides_count_once_an_event() -> None:
    clues = Clues(
        before=(Part(variable="holder", at=(), value="c1"),),
        earlier=(Part(variable="holder", at=(), value="c1"),),
        changes=(Change(variable="queue", at=(), operation="append", arguments=("c2",)),),
    )
    part = Part(variable="queue", at=(1,), value="c2")

    found = logged(INIT, Event(step=1, action="Request", parts=(part, part), clues=clues))

    assert found.variables == {"holder": 1, "queue": 1, "token": 0}


def test_expressions_are_no_variables() -> None:
    header = Header(spec="LockServer", expressions={"waiting": "Len(queue)", "free": "TRUE"})
    clues = Clues(expressions=(Part(variable="waiting", at=(), value=2),))

    found = logged(INIT, Event(step=1, action="Request", clues=clues), header=header)

    assert found.text() == "0 of 3 variables, 1 expression, 1 of 3 actions logged"
    assert found.to_json()["expressions"] == {"free": 0, "waiting": 1}


def test_names_that_the_specification_does_not_have_are_not_counted() -> None:
    found = logged(INIT, Event(step=1, action="Reboot", observed={"power": 1}))

    assert found.text() == "0 of 3 variables, 0 of 3 actions logged"


def test_traces_add_up() -> None:
    one = logged(INIT, Event(step=1, action="Grant", observed={"token": 2}))
    other = logged(INIT, Event(step=1, action="Request", observed={"queue": ()}))

    found = together([one, other, one])

    assert found.steps == 3
    assert found.text() == "2 of 3 variables, 2 of 3 actions logged"
    assert found.actions == {"Expire": 0, "Grant": 2, "Request": 1}

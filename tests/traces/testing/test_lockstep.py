"""A run of a system beside a model: what is offered, what is compared, what a failure says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.traces.testing.toy import Tank, TankModel
from tlatrace.errors import ModelGapError
from tlatrace.oracle import Step
from tlatrace.oracle.states import ModelState
from tlatrace.testing.calls import call_of
from tlatrace.testing.lockstep import Lockstep, Mismatch
from tlatrace.testing.moves import Moves
from tlatrace.values import State, Value


def lockstep(tank: Tank, model: TankModel | None = None) -> Lockstep:
    return Lockstep(Moves(model or TankModel()), tank)


def take(run: Lockstep, *texts: str) -> None:
    for text in texts:
        (call,) = [call for call in run.offers() if repr(call) == text]
        run.take(call)


def texts(run: Lockstep) -> list[str]:
    return [repr(call) for call in run.offers()]


def test_what_the_model_allows_is_offered_simple_calls_first() -> None:
    run = lockstep(Tank())
    assert texts(run) == ["Fill(1)", "Fill(2)"]

    take(run, "Fill(2)")
    assert texts(run) == ["Drain", "Fill(1)", "Fill(2)"]


def test_the_system_says_which_of_two_outcomes_it_was() -> None:
    tank = Tank()
    run = lockstep(tank)

    take(run, "Fill(2)", "Drain")

    assert (tank.level, tank.lost) == (0, 1)
    assert [event.action for event in run.trace.events] == ["Init", "Fill", "Drain"]
    assert run.trace.events[-1].state == {"level": 0, "lost": 1}


def test_every_state_is_kept_that_fits_what_a_system_shows() -> None:
    run = lockstep(Tank(shows=("lost",)))

    take(run, "Fill(2)", "Drain")

    assert run.trace.events[-1].observed == {"lost": 1}
    assert run.trace.events[-1].state is None


def test_a_call_is_offered_only_if_every_state_that_fits_allows_it() -> None:
    """Where nobody sees the level, the tank may be empty after a drain, and may hold 1."""
    run = Lockstep(Moves(_Forgetful()), Wasteless(shows=("lost",)))
    take(run, "Fill(1)", "Fill(1)")
    assert texts(run) == ["Drain", "Fill(1)", "Fill(2)"]

    take(run, "Drain")
    assert texts(run) == ["Fill(1)", "Fill(2)"]


def test_a_difference_says_what_the_model_has_and_what_the_system_shows() -> None:
    run = lockstep(Tank(overflows_at=4))
    take(run, "Fill(2)")

    with pytest.raises(Mismatch) as caught:
        take(run, "Fill(2)")

    text = str(caught.value)
    assert text.startswith("2 steps, and then the system is where Tank does not allow it")
    assert "level: the model has 4, the system 0" in text
    assert text.endswith("    1  Fill(2)\n    2  Fill(2)")
    assert caught.value.trace.events[-1].params == (2,)
    assert caught.value.trace.events[-1].state == {"level": 0, "lost": 0}


def test_another_call_that_would_lead_there_is_named() -> None:
    class Swapped(Tank):
        def perform(self, action: str, params: tuple[Value, ...]) -> None:
            super().perform(action, (1,) if action == "Fill" else params)

    with pytest.raises(Mismatch, match=r"Fill\(1\) would lead there"):
        take(lockstep(Swapped()), "Fill(2)")


def test_whatever_the_system_raises_is_a_failure_of_the_system() -> None:
    run = lockstep(Tank(breaks=True))
    take(run, "Fill(2)", "Drain", "Fill(2)", "Drain")

    with pytest.raises(Mismatch, match="it failed: RuntimeError: the plug is stuck") as caught:
        take(run, "Empty")

    assert isinstance(caught.value.__cause__, RuntimeError)
    assert caught.value.trace.events[-1].action == "Empty"


def test_an_invariant_that_fails_in_every_state_that_fits_is_a_mismatch() -> None:
    run = lockstep(Tank(), TankModel(most_lost=0))
    take(run, "Fill(2)")

    with pytest.raises(Mismatch, match="it violates LittleLost"):
        take(run, "Drain")


def test_an_invariant_that_fails_in_some_of_the_states_that_fit_is_none() -> None:
    class Shy(Tank):
        def perform(self, action: str, params: tuple[Value, ...]) -> None:
            assert (action, params) == ("Leak", ())

        def observe(self) -> State:
            return {"level": 0}

    run = Lockstep(Moves(_Leaky(most_lost=0)), Shy())

    take(run, "Leak")

    assert len(run.trace.events) == 2


class _Leaky(TankModel):
    """May lose something, and nobody sees it."""

    def successors(self, state: ModelState) -> list[Step]:
        return [Step("Leak", (), (state[0], lost)) for lost in (0, 1)]


class Wasteless(Tank):
    def observe(self) -> State:
        return {"lost": 0}


class _Forgetful(TankModel):
    """Counts no losses."""

    def successors(self, state: ModelState) -> list[Step]:
        moves = super().successors(state)
        return [Step(m.action, m.params, (m.post[0], 0)) for m in moves]


@pytest.mark.parametrize(
    ("tank", "reason"),
    [
        (Tank(shows=()), "shows nothing"),
        (Tank(level=1), None),
    ],
    ids=["nothing is shown", "another initial state"],
)
def test_a_run_that_cannot_begin_is_refused(tank: Tank, reason: str | None) -> None:
    if reason is None:
        with pytest.raises(Mismatch, match="level: the model has 0, the system 1"):
            lockstep(tank)
    else:
        with pytest.raises(ModelGapError, match=reason):
            lockstep(tank)


def test_a_variable_that_the_model_does_not_have_is_refused() -> None:
    class Talkative(Tank):
        def observe(self) -> State:
            return {"level": 0, "colour": "blue"}

    with pytest.raises(ModelGapError, match="colour"):
        lockstep(Talkative())


def test_nothing_happens_beyond_the_constraint() -> None:
    run = lockstep(Tank(), TankModel(bound=0))

    take(run, "Fill(2)", "Drain")

    assert texts(run) == []


def test_calls_that_the_system_never_makes_where_it_has_others_are_left_out() -> None:
    drain = call_of("Drain", ())
    moves = Moves(TankModel(), lambda call, calls: call.params == (2,) and drain in calls)
    run = Lockstep(moves, Tank())
    assert texts(run) == ["Fill(1)", "Fill(2)"]

    take(run, "Fill(2)")
    assert texts(run) == ["Drain", "Fill(1)"]


class Picky(Tank):
    """Cannot be made to fill in 2 at once; may be looked at, which must change nothing."""

    spills = False

    def feasible(self, action: str, params: tuple[Value, ...]) -> bool:
        return (action, params) != ("Fill", (2,))

    def stuttering_calls(self) -> Sequence[str]:
        return ["look"]

    def make_idle_call(self, name: str) -> None:
        assert name == "look"
        self.level -= int(self.spills)


def test_what_cannot_be_made_to_happen_is_not_offered() -> None:
    run = lockstep(Picky())
    assert texts(run) == ["Fill(1)"]
    assert [repr(call) for call in run.allowed()] == ["Fill(1)", "Fill(2)"]


def test_an_idle_call_must_change_nothing() -> None:
    tank = Picky()
    run = lockstep(tank)
    take(run, "Fill(1)")
    run.stutter("look")
    assert [event.action for event in run.trace.events] == ["Init", "Fill", None]

    tank.spills = True
    with pytest.raises(Mismatch, match="level: the model has 1, the system 0"):
        run.stutter("look")


class Hasty(Tank):
    """Fills in more, or drains, as soon as it is filled."""

    besides: tuple[str, tuple[Value, ...]] | None = None

    def follow(self) -> tuple[str, tuple[Value, ...]] | None:
        follows, self.besides = self.besides, None
        if follows is not None:
            self.perform(*follows)
        return follows


def test_what_a_system_takes_besides_is_compared_too() -> None:
    tank = Hasty()
    tank.besides = ("Fill", (1,))
    run = lockstep(tank)

    take(run, "Fill(2)", "Drain")

    assert list(map(repr, run.steps)) == ["Fill(2)", "Fill(1)", "Drain"]
    assert [event.action for event in run.trace.events] == ["Init", "Fill", "Fill", "Drain"]


def test_what_a_system_takes_besides_must_be_allowed() -> None:
    tank = Hasty()
    tank.besides = ("Empty", ())
    run = lockstep(tank)

    with pytest.raises(Mismatch, match="the system took Empty, which is not allowed then") as found:
        take(run, "Fill(2)")
    assert list(map(repr, found.value.steps)) == ["Fill(2)", "Empty"]


def test_what_comes_of_what_a_system_takes_besides_must_be_allowed() -> None:
    tank = Hasty(overflows_at=4)
    tank.besides = ("Fill", (2,))
    run = lockstep(tank)

    with pytest.raises(Mismatch, match="level: the model has 4, the system 0"):
        take(run, "Fill(2)")

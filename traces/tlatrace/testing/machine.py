"""A hypothesis state machine made of a model and an adapter.

There is a rule for each action, and it applies when the model allows the action. Which of the calls
that are possible is a draw, simple ones first: so shrinking leaves out what it can, and makes the
rest simple.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from hypothesis import HealthCheck, Phase, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tlatrace.errors import ModelGapError
from tlatrace.oracle.oracle import DrivingModel
from tlatrace.testing.adapter import Adapter, close
from tlatrace.testing.calls import Call, Step
from tlatrace.testing.coverage import Coverage
from tlatrace.testing.goals import Goals, walk
from tlatrace.testing.lockstep import Lockstep, Mismatch
from tlatrace.testing.moves import Moves
from tlatrace.trace.ndjson import write_trace

__all__ = ["ModelMachine", "check", "machine", "replay"]

_LEFT_OUT: Final = st.integers(0, 99)
"""0 leaves out a step of a way: shrinking goes there."""

_NEAREST: Final = 4
"""Goals of each kind that may be a shorter way to a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What the runs of a machine share."""

    moves: Moves
    adapter: Callable[[], Adapter]
    goals: Goals | None
    """None: random steps begin in the initial state."""
    failing_trace: Path | None


class ModelMachine(RuleBasedStateMachine):
    """A system beside its model; hypothesis makes one object for each run.

    hypothesis asks for a class, hence the inheritance.
    """

    parts: ClassVar[_Parts]
    coverage: ClassVar[Coverage]
    """Of all runs of this class."""

    def __init__(self) -> None:
        """Begin a run; the system must be in an initial state of the model."""
        super().__init__()
        self.coverage.runs += 1
        self._offers: dict[str, list[Call]] = {}
        self._idle: list[str] = []
        self._lockstep: Lockstep | None = None
        adapter = self.parts.adapter()
        try:
            self._lockstep = Lockstep(self.parts.moves, adapter)
            self._look()
        except Exception as error:
            close(adapter)  # there will be no teardown
            if isinstance(error, Mismatch):
                self._fail(error)
            raise

    def teardown(self) -> None:
        """End the run."""
        close(self._running().adapter)

    def can(self, action: str) -> bool:
        """Tell whether the rule of an action applies."""
        return action in self._offers

    def can_do_nothing(self) -> bool:
        """Tell whether there is a call that must change nothing."""
        return bool(self._idle)

    def is_stuck(self) -> bool:
        """Tell whether no rule applies."""
        return not self._offers and not self._idle

    def take(self, action: str, data: st.DataObject) -> None:
        """Take one of the calls of an action that are possible."""
        call = data.draw(st.sampled_from(self._offers[action]))
        self._go(lambda run: run.take(call))

    def stutter(self, data: st.DataObject) -> None:
        """Make a call that must change nothing."""
        name = data.draw(st.sampled_from(self._idle))
        self._go(lambda run: run.stutter(name))

    def rest(self) -> None:
        """Let the rest of a run be empty when nothing is possible any longer."""
        if not self._running().steps:
            raise ModelGapError("nothing can be done in the initial state: nothing is tested")

    def go_far(self, data: st.DataObject) -> None:
        """Go where some step is possible, and take it; each kind of step is as likely."""
        goals = self.parts.goals
        assert goals is not None
        groups = list(goals.groups.values())
        group = groups[data.draw(st.integers(0, len(groups) - 1))]
        way = goals.way_to(group[data.draw(st.integers(0, len(group) - 1))])
        kept = [call for call in way if data.draw(_LEFT_OUT) > 0]
        self._go(lambda run: walk(run, kept))

    def _running(self) -> Lockstep:
        assert self._lockstep is not None
        return self._lockstep

    def _go(self, move: Callable[[Lockstep], None]) -> None:
        run = self._running()
        done = len(run.steps)
        try:
            move(run)
        except Mismatch as mismatch:
            self._fail(mismatch)
        finally:
            for step in run.steps[done:]:
                self.coverage.took(step)
                if isinstance(step, Call):
                    event(f"action {step.action}")
        self._look()

    def _look(self) -> None:
        run = self._running()
        calls = run.offers()
        self.coverage.saw(calls)
        self._idle = run.stuttering_calls()
        self._offers = {}
        for call in calls:
            self._offers.setdefault(call.action, []).append(call)

    def _fail(self, mismatch: Mismatch) -> None:
        """Write the trace: hypothesis ends with the shortest run, so that is what stays."""
        if self.parts.failing_trace is not None:
            write_trace(self.parts.failing_trace, mismatch.trace)
        raise mismatch


def machine(
    model: DrivingModel | Moves,
    adapter: Callable[[], Adapter],
    *,
    goals: Goals | None = None,
    failing_trace: Path | None = None,
) -> type[ModelMachine]:
    """Make a hypothesis state machine that drives a system beside a model.

    `adapter` makes a system in its initial state. With `goals`, every run begins with a way to one
    of them; all kinds of steps are as likely. Machines of one model that are given the same `Moves`
    ask it once. The trace of a run that fails, at last the shortest one, is written to
    `failing_trace`.

    `machine(...).TestCase` is a test for pytest or unittest; `check` runs it in a function.
    """
    moves = model if isinstance(model, Moves) else Moves(model)
    parts = _Parts(moves=moves, adapter=adapter, goals=goals, failing_trace=failing_trace)
    names = tuple(moves.model.actions)
    rules: dict[str, object] = {f"rule_{at}": _action_rule(name) for at, name in enumerate(names)}
    rules["rule_stutter"] = _stutter_rule()
    rules["rule_rest"] = _rest_rule()
    if goals is not None:
        rules["rule_go_far"] = _far_rule()
    coverage = Coverage(actions=tuple([name for name in names if moves.model.calls(name)]))
    if goals is not None:
        coverage.possible.update([action for action, _ in goals.groups])
    members = {**rules, "parts": parts, "coverage": coverage}
    made: type[ModelMachine] = type(moves.model.module, (ModelMachine,), members)
    made.TestCase.settings = _adjusted(
        settings(deadline=None, suppress_health_check=list(HealthCheck))
    )
    return made


def check(
    tested: type[ModelMachine], chosen: settings, ways: Iterable[Sequence[Call]] | None = None
) -> Coverage:
    """Run a machine, and return which actions it has taken.

    First the system is led along `ways`, by default to the nearest goal of each kind, and does at
    the end of each what must change nothing. A run that fails is shortened: where the same action
    fails on a shorter way, that way is taken, and then steps are left out one by one, as long as
    the run still fails.

    Raises:
        Mismatch: the system does what the model does not allow.
        EvaluationError, ModelGapError: there is no answer.
    """
    found = _sweep(tested, ways)
    if found is None:
        try:
            run_state_machine_as_test(tested, settings=_adjusted(chosen))
        except Mismatch as mismatch:
            found = mismatch
    if found is not None:
        shortest = _shortest(tested, found)
        if tested.parts.failing_trace is not None:
            write_trace(tested.parts.failing_trace, shortest.trace)
        raise shortest from shortest.__cause__
    if not tested.coverage.taken:
        raise ModelGapError("no action was ever taken: nothing was tested")
    return tested.coverage


def replay(tested: type[ModelMachine], steps: Sequence[Step]) -> Mismatch | None:
    """Take the steps, those that can be taken, and return what the system does wrong."""
    return _taken(tested, steps)[1]


def _taken(
    tested: type[ModelMachine], steps: Sequence[Step], *, then_idle: bool = False
) -> tuple[Sequence[Step], Mismatch | None]:
    adapter = tested.parts.adapter()
    run: Lockstep | None = None
    try:
        run = Lockstep(tested.parts.moves, adapter)
        for step in steps:
            match step:
                case Call():
                    walk(run, [step])
                case str() if step in run.stuttering_calls():
                    run.stutter(step)
        for name in run.stuttering_calls() if then_idle else ():
            run.stutter(name)
    except Mismatch as mismatch:
        return mismatch.steps, mismatch
    finally:
        close(adapter)
    return run.steps, None


def _sweep(tested: type[ModelMachine], ways: Iterable[Sequence[Call]] | None) -> Mismatch | None:
    """Go some ways, and then do what must change nothing."""
    goals = tested.parts.goals
    if ways is None:
        ways = [] if goals is None else map(goals.way_to, goals.nearest(1))
    for way in ways:
        steps, mismatch = _taken(tested, way, then_idle=True)
        tested.coverage.runs += 1
        for step in steps:
            tested.coverage.took(step)
        if mismatch is not None:
            return mismatch
    return None


def _shortest(tested: type[ModelMachine], found: Mismatch) -> Mismatch:
    goals, last = tested.parts.goals, found.steps[-1] if found.steps else None
    if goals is not None and isinstance(last, Call):
        for goal in goals.nearest(_NEAREST, last.action):
            way = goals.way_to(goal)
            nearer = replay(tested, way) if len(way) < len(found.steps) else None
            if nearer is not None and len(nearer.steps) < len(found.steps):
                found = nearer
                break
    at = 0
    while at < len(found.steps):
        shorter = replay(tested, [*found.steps[:at], *found.steps[at + 1 :]])
        if shorter is not None and len(shorter.steps) < len(found.steps):
            found, at = shorter, 0
        else:
            at += 1
    return found


def _adjusted(chosen: settings) -> settings:
    """Stop at one failure, and do not have hypothesis explain it: that takes ten times longer."""
    phases = [phase for phase in chosen.phases if phase is not Phase.explain]
    return settings(chosen, report_multiple_bugs=False, phases=phases)


def _action_rule(action: str) -> object:
    def take(self: ModelMachine, data: st.DataObject) -> None:
        self.take(action, data)

    def can(self: ModelMachine) -> bool:
        return self.can(action)

    # The name of an action of an instance, `I!A`, is none in Python.
    take.__name__ = take.__qualname__ = action.replace("!", "_")
    return precondition(can)(rule(data=st.data())(take))


def _stutter_rule() -> object:
    def stutter(self: ModelMachine, data: st.DataObject) -> None:
        self.stutter(data)

    return precondition(ModelMachine.can_do_nothing)(rule(data=st.data())(stutter))


def _rest_rule() -> object:
    def rest(self: ModelMachine) -> None:
        self.rest()

    return precondition(ModelMachine.is_stuck)(rule()(rest))


def _far_rule() -> object:
    def go_far(self: ModelMachine, data: st.DataObject) -> None:
        self.go_far(data)

    return initialize(data=st.data())(go_far)

"""A system and a model that take the same steps, and are compared after each.

A model may allow several outcomes of one action, and a system may show a part of its state only: so
all states of the model that fit what the system has shown are kept. A call is offered if each of
them allows it: then a system that does something else is wrong, whichever state it is in. A run
fails when no state fits any longer, or when each of those that fit violates an invariant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tlatrace.errors import ModelGapError
from tlatrace.judgement.difference import Change, brief, difference
from tlatrace.oracle.states import ModelState
from tlatrace.runtime.values import RuntimeValue
from tlatrace.testing.adapter import Adapter, Following, Selective, Stuttering
from tlatrace.testing.calls import Call, Step, call_of, plain
from tlatrace.testing.moves import Moves
from tlatrace.testing.observed import values_of
from tlatrace.trace import INIT, Event, Header, Trace
from tlatrace.values import State, Value

__all__ = ["Lockstep", "Mismatch"]

_STATES: Final = 10_000
"""Most states of the model that are kept; one that shows so little is not tested."""
_CHANGES_SHOWN: Final = 12


class Mismatch(AssertionError):
    """The system did what the model does not allow."""

    def __init__(self, what: str, steps: tuple[Step, ...], trace: Trace) -> None:
        super().__init__(what, steps, trace)
        self.what = what
        """What is wrong after the last step, and the difference, in lines."""
        self.steps = steps
        """All steps of the run; the last one is wrong."""
        self.trace = trace
        """The run for `tlatrace.trace.ndjson.write_trace`, to its last step."""

    def __str__(self) -> str:
        lines = [f"  {number:3}  {step!r}" for number, step in enumerate(self.steps, start=1)]
        return "\n".join([f"{_times(len(lines), 'step')}, and then {self.what}", *lines])


class Lockstep:
    """One run of a system beside a model."""

    def __init__(self, moves: Moves, adapter: Adapter) -> None:
        """Compare the initial states.

        Raises:
            Mismatch: the system does not begin as the model says.
            ModelGapError: the system shows nothing, or a variable that the model does not have.
        """
        self.adapter = adapter
        self._selective = adapter if isinstance(adapter, Selective) else None
        self._stuttering = adapter if isinstance(adapter, Stuttering) else None
        self._following = adapter if isinstance(adapter, Following) else None
        self.steps: list[Step] = []
        self._moves = moves
        self._model = moves.model
        self._events: list[Event] = []
        self._fits: tuple[ModelState, ...] = tuple(self._model.initial_states())
        self._compare(None, self._fits)

    @property
    def trace(self) -> Trace:
        """Return the run so far."""
        header = Header(spec=self._model.module, meta={"recorder": "tlatrace.testing"})
        return Trace(header=header, events=tuple(self._events))

    def allowed(self) -> list[Call]:
        """Return the calls that the model allows in each of the states that fit."""
        first, *others = [self._moves.of(state) for state in self._fits]
        return [call for call in first if all(call in moves for moves in others)]

    def offers(self) -> list[Call]:
        """Return the calls that can be made now, simple ones first in each action."""
        calls = self.allowed()
        if self._selective is None:
            return calls
        feasible = self._selective.feasible
        return [call for call in calls if feasible(call.action, call.params)]

    def stuttering_calls(self) -> list[str]:
        """Name the calls that can be made now and must change nothing."""
        return [] if self._stuttering is None else list(self._stuttering.stuttering_calls())

    def take(self, call: Call) -> None:
        """Make the system take an action, one of `offers`, and compare.

        What the system has taken besides is taken, too.

        Raises: Mismatch
        """
        posts = self._posts(call)
        assert posts, f"the model does not allow {call} now"
        self.steps.append(call)
        self._do(call, lambda: self.adapter.perform(call.action, call.params))
        self._compare(call, posts)
        while self._following is not None and (found := self._following.follow()) is not None:
            follows = call_of(*found)
            posts = self._posts(follows)
            self.steps.append(follows)
            if not posts:
                self._record(follows, {})
                raise self._mismatch(f"the system took {follows}, which is not allowed then")
            self._compare(follows, posts)

    def _posts(self, call: Call) -> tuple[ModelState, ...]:
        """Return where a call may lead from the states that fit."""
        posts: dict[ModelState, None] = {}
        for state in self._fits:
            posts.update(dict.fromkeys(self._moves.of(state).get(call, ())))
        return tuple(posts)

    def stutter(self, name: str) -> None:
        """Make a call that must change nothing, and compare.

        Raises: Mismatch
        """
        idle = self._stuttering
        assert idle is not None, "the adapter has no such calls"
        self.steps.append(name)
        self._do(name, lambda: idle.make_idle_call(name))
        self._compare(name, self._fits)

    # ---- comparison ----

    def _do(self, step: Step, make: Callable[[], None]) -> None:
        try:
            make()
        except Exception as error:
            if type(error).__module__.startswith("hypothesis."):
                raise  # not the system's: the test turns the whole run down
            self._record(step, {})
            raise self._mismatch(f"it failed: {type(error).__name__}: {error}") from error

    def _compare(self, step: Step | None, expected: tuple[ModelState, ...]) -> None:
        observed = values_of(self._model.reading, self.adapter.observe())
        self._record(step, observed)
        shown = self._adopted(observed)
        fits = tuple([s for s in expected if all(s[at] == datum for at, datum in shown)])
        if not fits:
            raise self._mismatch(self._why(step, expected, observed, shown))
        if len(fits) > _STATES:
            raise ModelGapError(f"more than {_STATES} states fit what the system shows")
        violated = [self._moves.violated(state) for state in fits]
        if all(violated):
            raise self._mismatch(f"it violates {', '.join(violated[0])}")
        self._fits = tuple([s for s, names in zip(fits, violated, strict=True) if not names])

    def _adopted(self, observed: State) -> list[tuple[int, RuntimeValue]]:
        places = {name: at for at, name in enumerate(self._model.variables)}
        unknown = sorted(observed.keys() - places.keys())
        if unknown:
            raise ModelGapError(f"{self._model.module} has no variable {', '.join(unknown)}")
        if not observed and not self.steps:
            raise ModelGapError("the system shows nothing: there is nothing to compare")
        return [(places[name], self._moves.adopt(name, observed[name])) for name in observed]

    def _record(self, step: Step | None, observed: State) -> None:
        whole = len(observed) == len(self._model.variables)
        event = Event(
            step=len(self._events),
            action=INIT if step is None else step.action if isinstance(step, Call) else None,
            params=step.params if isinstance(step, Call) else (),
            state=dict(observed) if whole else None,
            observed=None if whole else dict(observed),
        )
        self._events.append(event)

    # ---- what is wrong ----

    def _mismatch(self, what: str) -> Mismatch:
        return Mismatch(what, tuple(self.steps), self.trace)

    def _why(
        self,
        step: Step | None,
        expected: tuple[ModelState, ...],
        observed: State,
        shown: list[tuple[int, RuntimeValue]],
    ) -> str:
        lines = [f"the system is where {self._model.module} does not allow it"]
        seen = {name: plain(value) for name, value in observed.items()}
        nearest = min(
            (difference(self._part(state, seen), seen) for state in expected), key=len, default=()
        )
        if len(expected) > 1:
            lines.append(f"    {len(expected)} states are allowed; the nearest one differs in")
        lines += [f"    {_change(change)}" for change in nearest[:_CHANGES_SHOWN]]
        if len(nearest) > _CHANGES_SHOWN:
            lines.append(f"    and {len(nearest) - _CHANGES_SHOWN} more")
        if len(shown) == len(self._model.variables):
            data = dict(shown)
            violated = self._violated(tuple([data[at] for at in range(len(shown))]))
            lines += [f"    it violates {', '.join(violated)}"] if violated else []
        if step is not None:
            others = self._others(step, shown)
            lines += [f"    {others[0]!r} would lead there"] if others else []
        return "\n".join(lines)

    def _violated(self, state: ModelState) -> tuple[str, ...]:
        try:
            return self._model.violated(state)
        except Exception:  # any value may be wrong in such a state: it is only a hint
            return ()

    def _others(self, step: Step, shown: list[tuple[int, RuntimeValue]]) -> list[Call]:
        """Return the other calls that lead to what is shown."""
        return [
            call
            for state in self._fits
            for call, posts in self._moves.of(state).items()
            if call != step and any(all(post[at] == datum for at, datum in shown) for post in posts)
        ]

    def _part(self, state: ModelState, like: Mapping[str, Value]) -> State:
        shown = self._model.show(state)
        return {name: plain(shown[name]) for name in like}


def _change(change: Change) -> str:
    sides = ["nothing" if side is None else brief(side) for side in (change.left, change.right)]
    return f"{change.path}: the model has {sides[0]}, the system {sides[1]}"


def _times(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")

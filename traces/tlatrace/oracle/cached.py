"""A bounded memory of what a model has answered."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Final

from tlatrace.errors import EvaluationError
from tlatrace.oracle.oracle import Oracle
from tlatrace.oracle.states import ModelState, Step
from tlatrace.runtime.values import RuntimeValue
from tlatrace.values import Value

__all__ = ["MEMO", "CachedOracle"]

MEMO: Final = 4096
"""Answers of each kind that are remembered: enough for the states around one event, and so the
same for a long trace as for a short one."""

_FEW_STEPS: Final = 16
"""A list of so many steps counts as two answers: a state may have thousands of them."""
_SAMPLE: Final = 1024
_WORTH_IT: Final = 64
"""Of so many questions of a sample at least one has to have been asked before..."""
_PAUSE: Final = 16 * _SAMPLE
"""...or as many as these are asked without a look at the answers."""


class CachedOracle:
    """A model with its last answers."""

    def __init__(self, model: Oracle, size: int = MEMO) -> None:
        """Remember at most `size` answers of each kind."""
        self.model = model
        self.successors: Callable[[ModelState], Sequence[Step]] = _Steps(model.successors, size)
        self.action_successors: Callable[[ModelState, str], Sequence[Step]] = _Steps(
            self._action_successors, size
        )
        self.bound_successors: Callable[
            [ModelState, str, tuple[RuntimeValue, ...]], Sequence[Step]
        ] = _Steps(model.bound_successors, size)
        self.violated: Callable[[ModelState], tuple[str, ...]] = lru_cache(size)(self._violated)
        self._hold = model.holder()
        self.shown: Callable[[RuntimeValue], Value] = lru_cache(size)(model.show_value)
        self.expression: Callable[[str, ModelState], Value] = lru_cache(size)(self._expression)

    def part(self, value: RuntimeValue, at: Sequence[Value]) -> Value | None:
        """Apply a value to arguments one by one; None where one is outside of its domain."""
        found = self.model.part(value, [self.model.adopt_value(argument) for argument in at])
        return None if found is None else self.shown(found)

    def is_initial(self, state: ModelState) -> bool:
        """Tell whether a state is an initial one; a list is asked where a predicate cannot be."""
        try:
            return self.model.is_initial(state)
        except EvaluationError as error:
            with suppress(EvaluationError):
                return state in self.model.initial_states()
            raise error from None

    def allows(
        self,
        action: str | None,
        params: tuple[RuntimeValue, ...],
        pre: ModelState,
        post: ModelState,
    ) -> bool:
        """Tell whether a step is one of an action; None: of Next.

        A predicate cannot compare values of different types, such as 1 and "a"; a list of the
        states that are allowed need not.
        """
        try:
            return self.model.allows(action, params, pre, post)
        except EvaluationError as error:
            with suppress(EvaluationError):
                if action is None:
                    steps = self.successors(pre)
                else:
                    steps = self.bound_successors(pre, action, params)
                return post in [step.post for step in steps]
            raise error from None

    def _violated(self, state: ModelState) -> tuple[str, ...]:
        """Name the invariants that are FALSE; what reads no changed part is not asked again."""
        return () if self._hold(state) else self.model.violated(state)

    def _expression(self, name: str, state: ModelState) -> Value:
        return self.shown(self.model.evaluate(name, state))

    def _action_successors(self, state: ModelState, action: str) -> Sequence[Step]:
        if self.model.calls(action):
            return self.model.action_successors(state, action)
        if not self.model.actions.get(action):
            return self.model.bound_successors(state, action, ())
        raise EvaluationError(
            f"Next of {self.model.module} does not call {action} by name, so all its arguments "
            "have to be logged"
        )


class _Steps:
    """Remembers the last lists of steps, as many as hold a number of steps together.

    Where hardly any question is asked twice, as in a trace with one candidate an event, it stops to
    remember for a while.
    """

    def __init__(self, list_steps: Callable[..., Sequence[Step]], size: int) -> None:
        self._list_steps = list_steps
        self._room = self._size = size
        self._new: dict[Hashable, Sequence[Step]] = {}
        self._old: dict[Hashable, Sequence[Step]] = {}
        self._asked = self._known = 0
        """Questions of this sample, and those of them that were remembered."""
        self._paused = 0
        """So many questions are still to be asked without a look at what is remembered."""

    def __call__(self, *question: Hashable) -> Sequence[Step]:
        if self._paused:
            self._paused -= 1
            return self._list_steps(*question)
        self._asked += 1
        if self._asked == _SAMPLE:
            self._paused = 0 if self._known * _WORTH_IT >= _SAMPLE else _PAUSE
            self._asked = self._known = 0
        steps = self._new.get(question)
        if steps is not None:
            self._known += 1
            return steps
        steps = self._old.get(question) if self._old else None
        if steps is None:
            steps = self._list_steps(*question)
        else:
            self._known += 1
        self._new[question] = steps
        self._room -= 1 + len(steps) // _FEW_STEPS
        if self._room <= 0:
            self._old, self._new, self._room = self._new, {}, self._size
        return steps

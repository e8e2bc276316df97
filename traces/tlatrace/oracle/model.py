"""A compiled specification, opened: predicates, successors, invariants.

Source text that the compiler wrote is executed here, with what `tlatrace.runtime` has and nothing
else in sight. What comes from a trace is only ever a value.
"""

from __future__ import annotations

import builtins
import json
import marshal
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import MAGIC_NUMBER
from inspect import getsource
from types import CodeType
from typing import Any, Final, cast

from tlatrace.compiler.cache import keep_code, model_key, recall_code
from tlatrace.compiler.emit_python import reasons
from tlatrace.compiler.emit_python.reasons import with_reasons
from tlatrace.compiler.model_source import Conjunct, ModelSource
from tlatrace.errors import EvaluationError, ModelGapError, SubsetError
from tlatrace.oracle.interchange import interchangeable
from tlatrace.oracle.invariant_cache import InvariantCache, InvariantInstance
from tlatrace.oracle.states import ModelState, Step
from tlatrace.readings import Reading
from tlatrace.runtime import lazy, operators, values
from tlatrace.runtime.values import RuntimeValue, from_runtime, part_of, to_runtime
from tlatrace.values import State, Value, from_json

__all__ = ["FalseConjunct", "Model"]

_BUILTINS: Final = {
    name: getattr(builtins, name)
    for name in ("frozenset", "len", "dict", "tuple", "type", "range", "zip")
}


@dataclass(frozen=True, slots=True)
class FalseConjunct:
    """The first part of an action that is false."""

    conjunct: Conjunct
    number: int
    """Later conjuncts have larger numbers: the later, the nearer the step is to the action."""
    sides: tuple[RuntimeValue, ...]
    """The values on both sides of the relation; () where it has none."""


class Model:
    """A specification with its configuration, ready to be asked."""

    def __init__(self, source: ModelSource, *, kept: bool = True) -> None:
        """Open a model; what nobody opens again is not `kept` as Python's code."""
        self.source = source
        self.module = source.module
        self.fingerprint = source.fingerprint
        self.variables = source.variables
        self.actions: Mapping[str, int] = dict(source.actions)
        self.invariants = source.invariants
        self.properties = source.properties
        self.init = source.init
        self.next = source.next
        self.box = source.box
        self.values: State = {name: from_json(json.loads(text)) for name, text in source.values}
        self.reading = Reading(source.types)
        self._adopted: dict[str, tuple[Value, RuntimeValue]] = {}
        """Variable -> the value that was adopted last: most steps leave most variables alone."""
        self._kept = kept
        self._functions = _open(source, kept=kept)
        self._constraints = [r for r in self._functions if r.startswith("constraint ")]
        self._action_constraints = [
            r for r in self._functions if r.startswith("action constraint ")
        ]
        self._in_order: dict[str, Callable[..., Any]] | None = None
        self._classes: tuple[tuple[RuntimeValue, ...], ...] | None = None

    # ---- values ----

    def adopt_variable(self, name: str, value: Value) -> RuntimeValue:
        """Turn the value of a variable in a trace into the model's own.

        Raises:
            ModelGapError: as `Reading.state`.
        """
        known = self._adopted.get(name)
        if known is not None and known[0] is value:
            return known[1]
        adopted = to_runtime(self.reading.variable(name, value))
        self._adopted[name] = (value, adopted)
        return adopted

    def adopt_params(self, action: str | None, params: Sequence[Value]) -> tuple[RuntimeValue, ...]:
        """Turn the arguments of an action in a trace into the model's own.

        Raises:
            ModelGapError: as `Reading.state`.
        """
        return tuple([to_runtime(value) for value in self.reading.params(action, params)])

    def adopt_value(self, value: Value) -> RuntimeValue:
        """Turn a value that is read into the model's own."""
        return to_runtime(value)

    def show_value(self, value: RuntimeValue) -> Value:
        """Turn a value of the model into one that can be shown and written."""
        return from_runtime(value)

    def adopt(self, state: State) -> ModelState:
        """Turn a whole state into the model's own.

        Raises:
            ModelGapError: a variable is missing, or is none of the specification; or as
                `Reading.state`.
        """
        missing = [name for name in self.variables if name not in state]
        unknown = [name for name in sorted(state) if name not in self.variables]
        if missing:
            raise ModelGapError(f"a state lacks {', '.join(missing)} of {self.module}")
        if unknown:
            raise ModelGapError(f"{self.module} has no variable {', '.join(unknown)}")
        return tuple([self.adopt_variable(name, state[name]) for name in self.variables])

    def show(self, state: ModelState) -> State:
        """Turn a state of the model into one that can be shown and written."""
        return {
            name: from_runtime(value) for name, value in zip(self.variables, state, strict=True)
        }

    # ---- questions; each raises EvaluationError where there is no value ----

    def is_initial(self, state: ModelState) -> bool:
        """Tell whether Init allows a state."""
        return self._ask("initial", state, None)

    def allows(
        self,
        action: str | None,
        params: tuple[RuntimeValue, ...],
        pre: ModelState,
        post: ModelState,
    ) -> bool:
        """Tell whether a step is this action with these parameters.

        None: any step of Next, or of [Next]_v where the specification is that.

        Raises:
            ModelGapError: there is no such action, or it takes another number of parameters.
        """
        if action is None:
            if self.box and pre == post:
                return True
            in_next = self._ask("next", pre, post)
            return in_next or (self.box == "part" and self._ask("box", pre, post))
        self._check_arity(action, params)
        return self._ask(f"action {action}", pre, post, params)

    def _check_arity(self, action: str, params: tuple[RuntimeValue, ...]) -> None:
        arity = self.actions.get(action)
        if arity is None:
            raise ModelGapError(f"{self.module} has no action {action}")
        if arity != len(params):
            given = len(params)
            reason = f"{action} of {self.module} takes {arity} parameters, not {given}"
            raise ModelGapError(reason)

    def violated(self, state: ModelState) -> tuple[str, ...]:
        """Return the invariants that are FALSE in a state."""
        return tuple(
            [name for name in self.invariants if not self._ask(f"invariant {name}", state, None)]
        )

    def broken(self, pre: ModelState | None, post: ModelState) -> tuple[str, ...]:
        """Return the properties that a step breaks, or an initial state where `pre` is None."""
        role = "initial property" if pre is None else "property"
        states = (post, None) if pre is None else (pre, post)
        return tuple(
            [
                name
                for name in self.properties
                if f"{role} {name}" in self._functions and not self._ask(f"{role} {name}", *states)
            ]
        )

    def failing_assumption(self) -> str | None:
        """Return the place of the first ASSUME that is FALSE, as far as they compile."""
        for item in self.source.assumptions:
            if item.role is not None and not self._ask(item.role, None, None):
                return item.place
        return None

    def unread_assumptions(self) -> tuple[str, ...]:
        """Return the places of the ASSUMEs that do not compile."""
        return tuple([item.place for item in self.source.assumptions if item.role is None])

    def within(self, state: ModelState) -> bool:
        """Tell whether a state satisfies the CONSTRAINTs of the configuration."""
        return all(self._ask(role, state, None) for role in self._constraints)

    def within_step(self, pre: ModelState, post: ModelState) -> bool:
        """Tell whether a step satisfies the ACTION_CONSTRAINTs of the configuration."""
        return all(self._ask(role, pre, post) for role in self._action_constraints)

    def initial_states(self) -> list[ModelState]:
        """Return the states that Init allows, each once."""
        return list(dict.fromkeys([step.post for step in self._steps("initials", None)]))

    def successors(self, state: ModelState) -> list[Step]:
        """Return the steps of Next from a state, each once, labelled as TLC labels them."""
        return self._steps("steps", state)

    def action_successors(self, state: ModelState, action: str) -> list[Step]:
        """Return the steps that are an action, wherever Next calls it, with its parameters."""
        role = f"steps {action}"
        if role in self._functions:
            return self._steps(role, state)
        return [step for step in self.successors(state) if step.action == action]

    def calls(self, action: str) -> bool:
        """Tell whether `action_successors` knows the steps of an action: Next calls it by name."""
        return f"steps {action}" in self._functions

    @property
    def next_actions(self) -> tuple[str, ...]:
        """The actions that Next calls by name; Next itself, if it calls none."""
        return tuple([name for name in self.actions if self.calls(name)]) or (self.next,)

    def bound_successors(
        self, state: ModelState, action: str, params: tuple[RuntimeValue, ...]
    ) -> list[Step]:
        """Return the steps that are an action with these parameters.

        No other parameters are tried where Next calls the action by name, so that they may come
        from an infinite set.

        Raises:
            ModelGapError: as `allows`.
        """
        self._check_arity(action, params)
        if not self.calls(action):
            steps = self.successors(state)
            posts = [s.post for s in steps if self.allows(action, params, state, s.post)]
            return [Step(action, params, post) for post in dict.fromkeys(posts)]
        if not params:
            return self.action_successors(state, action)
        return self._steps(f"bound {action}", state, params)

    def evaluate(self, name: str, state: ModelState | None = None) -> RuntimeValue:
        """Return the value of an operator that was asked for when the model was loaded.

        Only a constant one has a value without a state.

        Raises:
            ModelGapError: it was not asked for.
            EvaluationError: it has no value.
        """
        function = self._functions.get(f"expression {name}")
        if function is None:
            raise ModelGapError(f"the model was not loaded with the expression {name}")
        try:
            return cast("RuntimeValue", function(state, None))
        except Exception as error:
            raise self.why(error, f"expression {name}", state, None) from error

    def failing_conjunct(
        self,
        action: str,
        params: tuple[RuntimeValue, ...],
        pre: ModelState | None,
        post: ModelState | None,
    ) -> FalseConjunct | None:
        """Find the first conjunct of an action that is false; `pre` None asks Init.

        None: every conjunct is TRUE. `post` None asks for guards alone: a conjunct with a prime
        has no value.

        Raises:
            ModelGapError: no such action, or the model was not loaded with `conjuncts`.
            EvaluationError: an expression has no value.
        """
        role = f"failing {action}" if pre is not None else "failing initial"
        if role not in self._functions:
            raise ModelGapError(f"nothing is known of the conjuncts of {action}")
        function = self.in_order(role)
        found: list[tuple[int, tuple[RuntimeValue, ...]]] = []
        try:
            if pre is None:
                function(post, None, (), found)
            else:
                after = (_NO_VALUE,) * len(pre) if post is None else post
                function(pre, after, params, found)
        except EvaluationError:
            raise
        except Exception as error:
            raise _no_value(error) from error
        if not found:
            return None
        number, sides = found[0]
        return FalseConjunct(self.source.conjuncts[number], number, sides)

    def choices(self, action: str, state: ModelState) -> list[tuple[RuntimeValue, ...]]:
        """Return the parameters with which Next tries an action; needs `conjuncts`, too.

        Raises:
            ModelGapError: only Next itself knows.
            EvaluationError: a parameter comes from an infinite set.
        """
        role = f"parameters {action}"
        if role not in self._functions:
            raise ModelGapError(f"the parameters of {action} cannot be listed")
        function = self.in_order(role)
        found: list[tuple[RuntimeValue, ...]] = []
        try:
            function(state, _NO_STEP, found)
        except EvaluationError:
            raise
        except Exception as error:
            raise _no_value(error) from error
        return list(dict.fromkeys(found))

    def part(self, value: RuntimeValue, at: Sequence[RuntimeValue]) -> RuntimeValue | None:
        """Apply a value to arguments one by one; None where one is outside of its domain."""
        return part_of(value, at)

    def interchangeable(self) -> tuple[tuple[RuntimeValue, ...], ...]:
        """Return classes of strings and model values that nothing here tells apart."""
        if self._classes is None:
            self._classes = interchangeable(self.source)
        return self._classes

    def invariant_instances(self) -> list[InvariantInstance]:
        """Return conditions that are TRUE together exactly where all invariants are."""
        return [
            InvariantInstance(
                self._functions[instance.role],
                tuple([_value_of(text) for text in instance.arguments]),
                tuple([(at, text and _value_of(text)) for at, text in instance.reads]),
            )
            for instance in self.source.instances
        ]

    def holder(self) -> Callable[[ModelState], bool]:
        """Return what tells of one state after another whether all invariants are TRUE.

        Where they were in the state before, only what reads a changed part is asked. It raises
        nothing: an invariant without a value is not TRUE.
        """
        return InvariantCache(self.invariant_instances(), len(self.variables)).hold

    def predicate(self, role: str) -> Callable[..., bool]:
        """Return the bare predicate of a role ("action Crash", "next", "initial", ...)."""
        return self._functions[role]

    def in_order(self, role: str) -> Callable[..., Any]:
        """Return the function of a role that goes through sets as every process does.

        So which element is at fault, and why there is no value, are the same in all of them.
        """
        if self._in_order is None:
            self._in_order = _open(self.source, kept=self._kept, each_in_order=True)
        return self._in_order[role]

    def why(self, error: Exception, role: str, *arguments: object) -> EvaluationError:
        """Say why a function of the model raised `error`; no order of a set makes a difference."""
        try:
            self.in_order(role)(*[_NO_STEP if one is None else one for one in arguments])
        except Exception as again:
            error = again
        return error if isinstance(error, EvaluationError) else _no_value(error)

    def _ask(self, role: str, *states: object) -> bool:
        try:
            return bool(self._functions[role](*states))
        except Exception as error:
            raise self.why(error, role, *states) from error

    def _steps(self, role: str, state: ModelState | None, *params: object) -> list[Step]:
        found: list[tuple[str, tuple[RuntimeValue, ...], ModelState]] = []
        try:
            self._functions[role](state, found, *params)
            return [Step(*step) for step in dict.fromkeys(found)]
        except Exception as error:
            raise self.why(error, role, state, [], *params) from error


class _NoStep:
    """Stands for the state after a step where there is none."""

    def __getitem__(self, at: int) -> RuntimeValue:
        raise EvaluationError("a variable of the next state has no value here: there is no step")


_NO_STEP: Final = _NoStep()


class _NoValue:
    """Stands for a variable after a step where there is none; as `_NoStep`, but only when used."""

    def __eq__(self, other: object) -> bool:
        raise EvaluationError("a variable of the next state has no value here: there is no step")

    __hash__ = None  # type: ignore[assignment]  # it is in no set, and no key


_NO_VALUE: Final[Any] = _NoValue()


def _no_value(error: Exception) -> EvaluationError:
    """Say what Python said: an error of Python's inside a model is an expression without value."""
    return EvaluationError(operators.reason_of(error))


def _open(
    source: ModelSource, *, kept: bool, each_in_order: bool = False
) -> dict[str, Callable[..., Any]]:
    """Execute the text of a model; return its functions by their roles."""
    space: dict[str, object] = {"__builtins__": _BUILTINS, "ONCE": (0,)}
    for module in (values, lazy):
        space.update({name: item for name, item in vars(module).items() if name[0] != "_"})
    space.update({name: getattr(operators, name) for name in operators.__all__})
    for name, text in source.literals:
        space[name] = _value_of(text)
    space["define"] = operators.definer(space)
    code_of = _kept_code if kept else _code
    exec(code_of(source, each_in_order=each_in_order), space)
    return {role: cast("Callable[..., Any]", space[name]) for role, name in source.names}


def _value_of(text: str) -> RuntimeValue:
    return to_runtime(from_json(json.loads(text)))


def _kept_code(source: ModelSource, *, each_in_order: bool) -> CodeType:
    """Return the code of a model from the cache, or make and keep it.

    Python takes seconds for a text of megabytes, and longer for one with reasons.
    """
    parts = [MAGIC_NUMBER.hex(), source.module, source.python]
    parts += [getsource(reasons)] if each_in_order else []
    key = model_key(source.fingerprint, sha256("\0".join(parts).encode()).hexdigest())
    kept = recall_code(key)
    if kept is not None:
        return cast("CodeType", marshal.loads(kept))
    code = _code(source, each_in_order=each_in_order)
    keep_code(key, marshal.dumps(code))
    return code


def _code(source: ModelSource, *, each_in_order: bool) -> CodeType:
    try:
        with warnings.catch_warnings():  # 1[1] is TLA+, and an error when it is evaluated
            warnings.simplefilter("ignore", SyntaxWarning)
            name = f"<{source.module}>"
            if not each_in_order:
                return compile(source.python, name, "exec")
            return compile(with_reasons(source.python), name, "exec")
    except (SyntaxError, RecursionError, MemoryError) as error:
        reason = f"Python cannot take the compiled text: {error}"
        raise SubsetError(source.module, reason) from error

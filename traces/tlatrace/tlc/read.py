"""The transitions of a judgement with their values read, and those that TLC cannot be asked about.

Most variables of a state have the value that they had in the state before. So every state is read
once, and every value of a variable, too: states of equal values share them, which whoever looks at
them afterwards can see by their identity.
"""

from __future__ import annotations

from collections.abc import Sequence

from tlatrace.errors import ModelGapError, ValueFormatError
from tlatrace.judgement.specification import SpecUnderTest
from tlatrace.judgement.transition import Transition
from tlatrace.values import State, Value, canonical

__all__ = ["read_transitions"]


def read_transitions(
    spec: SpecUnderTest, transitions: Sequence[Transition]
) -> tuple[list[Transition], dict[int, str]]:
    """Read the values; say by position of which transitions TLC cannot be asked, and why."""
    states = _States(spec)
    found: list[Transition] = []
    reasons: dict[int, str] = {}
    for at, given in enumerate(transitions):
        transition = given
        try:
            pre = None if given.pre is None else states.read(given.pre)
            post = states.read(given.post)
            if (reason := _unfit(spec, given)) is None:
                params = spec.reading.params(given.action, given.params)
                transition = Transition(pre, given.action, params, post)
        except ModelGapError as error:
            reason = error.reason
        if reason is not None:
            reasons[at] = reason
        found.append(transition)
    return found, reasons


class _States:
    """Reads states, and remembers them and their values."""

    def __init__(self, spec: SpecUnderTest) -> None:
        self._module = spec.name
        self._declared = spec.declarations.variables
        self._variables = spec.variables
        self._reading = spec.reading
        # By id, as the transitions hold the states: that after a step is that before the next one.
        self._states: dict[int, State] = {}
        self._clashing = spec.reading.clashing
        self._values: dict[str, dict[str, Value]] = {}  # by variable, if its types decide

    def read(self, state: State) -> State:
        """Read a state.

        Raises:
            ModelGapError: it lacks a variable or has another, or nobody knows what a value is.
        """
        known = self._states.get(id(state))
        if known is None:
            if reason := self._gap(state):
                raise ModelGapError(reason)
            found = {name: self._value(name, value) for name, value in state.items()}
            known = self._states[id(state)] = found
        return known

    def _value(self, name: str, value: Value) -> Value:
        try:
            text = canonical(value)
        except ValueFormatError:
            return self._reading.variable(name, value)
        known = self._values.setdefault(name if name in self._clashing else "", {})
        found = known.get(text)
        if found is None:
            read = self._reading
            is_same = name not in self._clashing and read.leaves_alone(text)
            found = known[text] = value if is_same else read.variable(name, value)
        return found

    def _gap(self, state: State) -> str | None:
        missing = [name for name in self._variables if name not in state]
        unknown = [name for name in sorted(state) if name not in self._declared]
        if missing:
            return f"a state lacks {', '.join(missing)} of {self._module}"
        if unknown:
            return f"{self._module} has no variable {', '.join(unknown)}"
        return None


def _unfit(spec: SpecUnderTest, transition: Transition) -> str | None:
    """Say why TLC cannot be asked about an action."""
    if transition.pre is None or transition.action is None:
        return None
    name = spec.name
    operator = spec.declarations.operators.get(transition.action)
    if operator is None:
        return f"{name} has no action {transition.action}"
    if not operator.is_action:
        return f"{transition.action} is an operator of {name}, but not an action"
    if operator.arity != len(transition.params):
        given = len(transition.params)
        return f"{transition.action} of {name} takes {operator.arity} parameters, not {given}"
    return None

"""What one event says, in the terms of a model: which steps and which states fit it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tlatrace.errors import ModelGapError
from tlatrace.matching.model import Domain, ModelState, Questions, SpecModel
from tlatrace.model import Step
from tlatrace.trace import Event
from tlatrace.validate.difference import Change, brief, difference
from tlatrace.values import Fcn, Value, canonical, same

__all__ = [
    "Observation",
    "changes_from",
    "claim",
    "claimed_steps",
    "fits",
    "observe",
    "params_fit",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _SeenPart:
    """A part of the variable at `index`, with the text of its value."""

    index: int
    path: str
    at: tuple[Value, ...]
    value: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """An event, ready to be compared with states of a model."""

    event: Event
    params: tuple[Domain | None, ...] | None
    """The arguments, None for one that is not logged; None if no argument is."""
    whole: ModelState | None
    """The state, where every variable is logged."""
    known: tuple[tuple[int, Domain], ...]
    """(index of a variable, its value) where some are logged only."""
    parts: tuple[_SeenPart, ...]

    all_params: tuple[Domain, ...] | None
    """The arguments, if all of them are logged; `()` where no action is."""


def observe(model: SpecModel, event: Event) -> Observation:
    """Prepare an event.

    Raises:
        ModelGapError: an action, a variable or a number of arguments that the module does not have.
    """
    if event.step and event.action is not None:
        _check_action(model, event)
    index = {name: at for at, name in enumerate(model.variables)}
    given = event.state if event.state is not None else event.observed or {}
    named = [*given, *[part.variable for part in event.parts]]
    if unknown := sorted({name for name in named if name not in index}):
        raise ModelGapError(f"{model.module} has no variable {', '.join(unknown)}")
    missing = [name for name in model.variables if name not in given]
    if event.state is not None and missing:
        raise ModelGapError(f"a state lacks {', '.join(missing)} of {model.module}")
    arguments = event.arguments
    params: tuple[Domain | None, ...] | None = None
    if arguments is not None:
        params = tuple([None if one is None else model.adopt_value(one) for one in arguments])
    logged = tuple([one for one in params or () if one is not None])
    known = [(index[name], model.adopt_value(value)) for name, value in given.items()]
    state = tuple([value for _, value in sorted(known, key=lambda pair: pair[0])])
    parts = []
    for part in event.parts:
        at = tuple([model.show_value(model.adopt_value(argument)) for argument in part.at])
        value = model.show_value(model.adopt_value(part.value))
        path = part.variable + "".join([f"[{brief(argument, 40)}]" for argument in at])
        parts.append(_SeenPart(index=index[part.variable], path=path, at=at, value=value))
    return Observation(
        event=event,
        params=params,
        all_params=None if params is None or len(logged) < len(params) else logged,
        whole=None if missing else state,
        known=tuple(known) if missing else (),
        parts=tuple(parts),
    )


def _check_action(model: SpecModel, event: Event) -> None:
    assert event.action is not None
    arity = model.actions.get(event.action)
    if arity is None:
        raise ModelGapError(f"{model.module} has no action {event.action}")
    if event.arguments is not None and len(event.arguments) != arity:
        raise ModelGapError(
            f"{event.action} of {model.module} takes {arity} parameters, not {len(event.arguments)}"
        )


def fits(questions: Questions, seen: Observation, state: ModelState) -> bool:
    """Tell whether a state shows what the event shows after its step."""
    if seen.whole is not None and seen.whole != state:
        return False
    if any(state[index] != value for index, value in seen.known):
        return False
    return all(_part_fits(questions.shown(state[part.index]), part) for part in seen.parts)


def params_fit(seen: Observation, step: Step) -> bool:
    """Tell whether the arguments of a step are those of the event, as far as it has them."""
    if seen.params is None or seen.all_params is not None:
        return True  # nothing is known, or the step was asked for with its arguments
    return len(seen.params) == len(step.params) and all(
        wanted is None or wanted == given
        for wanted, given in zip(seen.params, step.params, strict=True)
    )


def claimed_steps(questions: Questions, seen: Observation, state: ModelState) -> Sequence[Step]:
    """List the steps from a state that are of an event's action.

    Raises:
        EvaluationError: the model cannot list them.
    """
    if seen.event.action is None:
        return questions.successors(state)
    if seen.all_params is not None:
        return questions.bound_successors(state, seen.event.action, seen.all_params)
    return questions.action_successors(state, seen.event.action)


def claim(seen: Observation) -> str:
    """Write the event's action with its arguments, "?" for those that are not logged."""
    event = seen.event
    if event.action is None:
        return "an unnamed step"
    if event.arguments is None:
        return event.action
    texts = ["?" if one is None else brief(one, 40) for one in event.arguments]
    return f"{event.action}({', '.join(texts)})" if texts else event.action


def changes_from(questions: Questions, seen: Observation, state: ModelState) -> tuple[Change, ...]:
    """List where a state differs from what the event shows; left the state, right the event."""
    names = questions.model.variables
    pairs = seen.known if seen.whole is None else tuple(enumerate(seen.whole))
    different = [(at, value) for at, value in pairs if state[at] != value]
    changes = difference(
        {names[at]: questions.shown(state[at]) for at, _ in different},
        {names[at]: questions.shown(value) for at, value in different},
    )
    wrong = [
        Change(path=part.path, left=_applied(questions.shown(state[part.index]), part.at), right=v)
        for part, v in [(part, part.value) for part in seen.parts]
        if not _part_fits(questions.shown(state[part.index]), part)
    ]
    return (*changes, *wrong)


def _part_fits(variable: Value, part: _SeenPart) -> bool:
    found = _applied(variable, part.at)
    return found is not None and same(found, part.value)


def _applied(value: Value, at: tuple[Value, ...]) -> Value | None:
    """Apply a function to arguments one by one; None where one is outside of its domain."""
    for argument in at:
        match value:
            case tuple():
                is_index = isinstance(argument, int) and not isinstance(argument, bool)
                if not is_index or not isinstance(argument, int):
                    return None
                if not 1 <= argument <= len(value):
                    return None
                value = value[argument - 1]
            case Fcn():
                key = canonical(argument)
                images = [image for one, image in value.pairs if canonical(one) == key]
                if not images:
                    return None
                value = images[0]
            case _:
                return None
    return value

"""What one event says, in the terms of a model: which steps and which states fit it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from tlatrace.errors import EvaluationError, ModelGapError
from tlatrace.judgement.difference import Change as Difference
from tlatrace.judgement.difference import brief, difference
from tlatrace.matching.changes import PLACES, changed
from tlatrace.oracle import Step
from tlatrace.oracle.cached import CachedOracle
from tlatrace.oracle.oracle import Oracle
from tlatrace.oracle.states import ModelState
from tlatrace.readings import Reading
from tlatrace.runtime.values import RuntimeValue
from tlatrace.trace import Change, Event, ParamPart, Part, Silent
from tlatrace.values import Fcn, Value, canonical, same

__all__ = [
    "Observation",
    "changes_before",
    "changes_from",
    "claim",
    "claimed_steps",
    "explained",
    "fits",
    "fits_before",
    "fits_earlier",
    "observe",
    "params_fit",
    "quiet_before",
    "quiet_steps",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _SeenPart:
    """A part of a variable or an expression, or, where `at` is empty, all of it."""

    variable: int | str
    """The index of the variable, or the name of the expression."""
    path: str
    at: tuple[Value, ...]
    value: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class _SeenParam:
    """A part of the argument at `index`."""

    index: int
    at: tuple[Value, ...]
    value: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """An event, ready to be compared with states of a model."""

    event: Event
    params: tuple[RuntimeValue | None, ...] | None
    """The arguments, None for one that is not logged; None if no argument is."""
    whole: ModelState | None
    """The state, where every variable is logged."""
    known: tuple[tuple[int, RuntimeValue], ...]
    """(index of a variable, its value) where some are logged only."""
    parts: tuple[_SeenPart, ...]
    """Parts of variables, and expressions, after the step..."""
    before: tuple[_SeenPart, ...]
    """...before it..."""
    earlier: tuple[_SeenPart, ...]
    """...and before the silent steps that it needed."""
    changes: tuple[tuple[int, tuple[Change, ...]], ...]
    """(index of a variable, all that is done to it)."""
    param_parts: tuple[_SeenParam, ...]

    all_params: tuple[RuntimeValue, ...] | None
    """The arguments, if all of them are logged; `()` where no action is."""


def observe(model: Oracle, event: Event, expressions: Collection[str] = ()) -> Observation:
    """Prepare an event; `expressions` are those that the model was loaded with.

    Raises:
        ModelGapError: an action, a variable or a number of arguments that the module does not have;
            or a text may be the string or the model value of that name.
    """
    if event.step and event.action is not None:
        _check_action(model, event)
    index = {name: at for at, name in enumerate(model.variables)}
    given = event.state if event.state is not None else event.observed or {}
    clues = event.clues
    named = [*given, *[part.variable for part in event.parts]]
    named += [change.variable for change in clues.changes]
    for part in (*clues.before, *clues.earlier):
        named += [part.variable] if part.variable not in expressions else []
    if unknown := sorted({name for name in named if name not in index}):
        raise ModelGapError(f"{model.module} has no variable {', '.join(unknown)}")
    missing = [name for name in model.variables if name not in given]
    if event.state is not None and missing:
        raise ModelGapError(f"a state lacks {', '.join(missing)} of {model.module}")
    arguments = event.arguments
    params: tuple[RuntimeValue | None, ...] | None = None
    if arguments is not None:
        read = model.reading.arguments(event.action, arguments)
        params = tuple([None if one is None else model.adopt_value(one) for one in read])
    logged = tuple([one for one in params or () if one is not None])
    known = [(index[name], model.adopt_variable(name, value)) for name, value in given.items()]
    state = tuple([value for _, value in sorted(known, key=lambda pair: pair[0])])
    values = _Read(model.reading, index)
    return Observation(
        event=event,
        params=params,
        all_params=None if params is None or len(logged) < len(params) else logged,
        whole=None if missing else state,
        known=tuple(known) if missing else (),
        parts=tuple([values.part(part) for part in (*event.parts, *clues.expressions)]),
        before=tuple([values.part(part) for part in clues.before]),
        earlier=tuple([values.part(part) for part in clues.earlier]),
        changes=values.changes(clues.changes),
        param_parts=tuple([values.param_part(event.action, part) for part in clues.params]),
    )


class _Read:
    """The values of an event, read: strings may have become model values."""

    def __init__(self, reading: Reading, index: Mapping[str, int]) -> None:
        self._reading = reading
        self._index = index

    def part(self, part: Part) -> _SeenPart:
        at, value = self._reading.part(part.variable, part.at, part.value)
        path = part.variable + "".join([f"[{brief(argument, 40)}]" for argument in at])
        variable = self._index.get(part.variable, part.variable)
        return _SeenPart(variable=variable, path=path, at=at, value=value)

    def param_part(self, action: str | None, part: ParamPart) -> _SeenParam:
        at, value = self._reading.argument_part(action, part.number, part.at, part.value)
        return _SeenParam(index=part.number - 1, at=at, value=value)

    def changes(self, changes: Sequence[Change]) -> tuple[tuple[int, tuple[Change, ...]], ...]:
        found: dict[int, list[Change]] = {}
        for change in changes:
            parts = PLACES.get(change.operation, ("whole",))
            at, arguments = self._reading.change(
                change.variable, change.at, parts, change.arguments
            )
            one = replace(change, at=at, arguments=arguments)
            found.setdefault(self._index[change.variable], []).append(one)
        return tuple([(at, tuple(done)) for at, done in found.items()])


def _check_action(model: Oracle, event: Event) -> None:
    assert event.action is not None
    arity = model.actions.get(event.action)
    if arity is None:
        raise ModelGapError(f"{model.module} has no action {event.action}")
    if event.arguments is not None and len(event.arguments) != arity:
        raise ModelGapError(
            f"{event.action} of {model.module} takes {arity} parameters, not {len(event.arguments)}"
        )
    if any(part.number > arity for part in event.clues.params):
        raise ModelGapError(f"{event.action} of {model.module} takes {arity} parameters only")


def quiet_before(silent: Silent | None, action: str | None) -> tuple[str, ...]:
    """Return the silent actions that may happen before an event with an action."""
    if silent is None:
        return ()
    if action is None or not silent.only_before:
        return silent.actions
    return tuple(
        [one for one in silent.actions if action in silent.only_before.get(one, (action,))]
    )


def quiet_steps(
    oracle: CachedOracle, silent: Silent | None, seen: Observation, state: ModelState, action: str
) -> Sequence[Step]:
    """List the silent steps of an action from a state that may happen before an event.

    Raises:
        EvaluationError: the model cannot list them.
    """
    if silent is None or action not in silent.same_arguments:
        return oracle.action_successors(state, action)
    arity = oracle.model.actions.get(action, 0)  # the event's action may take others
    known = None if seen.params is None else seen.params[:arity]
    parts = [part for part in seen.param_parts if part.index < arity]
    logged = tuple([one for one in known or () if one is not None])
    if logged and len(logged) == arity:
        steps = oracle.bound_successors(state, action, logged)  # not one for each argument
        return [step for step in steps if _arguments_fit(oracle, parts, logged)]
    return [
        step
        for step in oracle.action_successors(state, action)
        if _same_where_known(known, step.params[: None if known is None else len(known)])
        and _arguments_fit(oracle, parts, step.params)
    ]


def fits(oracle: CachedOracle, seen: Observation, state: ModelState) -> bool:
    """Tell whether a state shows what the event shows after its step.

    Raises:
        EvaluationError: an expression that the event shows has no value there.
    """
    if seen.whole is not None and seen.whole != state:
        return False
    if any(state[index] != value for index, value in seen.known):
        return False
    return all(_part_fits(oracle, part, state) for part in seen.parts)


def fits_before(oracle: CachedOracle, seen: Observation, state: ModelState) -> bool:
    """Tell whether a state shows what the event shows before its step.

    Raises: as `fits`.
    """
    return all(_part_fits(oracle, part, state) for part in seen.before)


def fits_earlier(oracle: CachedOracle, seen: Observation, state: ModelState) -> bool:
    """Tell whether a state shows what the event shows before the silent steps that it needed.

    Raises: as `fits`.
    """
    return all(_part_fits(oracle, part, state) for part in seen.earlier)


def params_fit(seen: Observation, step: Step) -> bool:
    """Tell whether the arguments of a step are those of the event, as far as it has them."""
    if seen.params is None or seen.all_params is not None:
        return True  # nothing is known, or the step was asked for with its arguments
    return _same_where_known(seen.params, step.params)


def _same_where_known(
    known: tuple[RuntimeValue | None, ...] | None, params: tuple[RuntimeValue, ...]
) -> bool:
    return known is None or (
        len(known) == len(params)
        and all(
            wanted is None or wanted == given for wanted, given in zip(known, params, strict=True)
        )
    )


def explained(oracle: CachedOracle, seen: Observation, state: ModelState) -> list[ModelState]:
    """List the states that an event may lead to from a state.

    Raises:
        EvaluationError: the model does not know.
    """
    if seen.before and not fits_before(oracle, seen, state):
        return []
    if seen.whole is not None and seen.all_params is not None:
        if not _with_changes(oracle, seen, state, [seen.whole]):
            return []
        found = oracle.allows(seen.event.action, seen.all_params, state, seen.whole)
        shown = found and fits(oracle, seen, seen.whole)
        shown = shown and _arguments_fit(oracle, seen.param_parts, seen.all_params)
        return [seen.whole] if shown else []
    steps = [
        step
        for step in claimed_steps(oracle, seen, state)
        if params_fit(seen, step) and fits(oracle, seen, step.post)
    ]
    if seen.param_parts:
        steps = [step for step in steps if _arguments_fit(oracle, seen.param_parts, step.params)]
    return _with_changes(oracle, seen, state, [step.post for step in steps])


def _arguments_fit(
    oracle: CachedOracle, parts: Sequence[_SeenParam], params: tuple[RuntimeValue, ...]
) -> bool:
    for part in parts:
        if part.index >= len(params):
            raise EvaluationError("the model does not tell the arguments of the step")
        found = _applied(oracle.shown(params[part.index]), part.at)
        if found is None or not same(found, part.value):
            return False
    return True


def _with_changes(
    oracle: CachedOracle, seen: Observation, before: ModelState, posts: list[ModelState]
) -> list[ModelState]:
    """Keep the states in which the variables are changed as the event says."""
    for at, done in seen.changes:
        if posts:
            wanted = oracle.model.adopt_value(changed(oracle.shown(before[at]), done))
            posts = [post for post in posts if post[at] == wanted]
    return posts


def claimed_steps(oracle: CachedOracle, seen: Observation, state: ModelState) -> Sequence[Step]:
    """List the steps from a state that are of an event's action.

    Raises:
        EvaluationError: the model cannot list them.
    """
    if seen.event.action is None:
        return [*oracle.successors(state), *_stuttering(oracle, state)]
    if seen.all_params is not None:
        return oracle.bound_successors(state, seen.event.action, seen.all_params)
    return oracle.action_successors(state, seen.event.action)


def _stuttering(oracle: CachedOracle, state: ModelState) -> list[Step]:
    """List the steps of [Next]_v that are none of Next, if the specification has them."""
    if oracle.model.box == "part":
        raise EvaluationError("a step without an action may change what [Next]_v does not mention")
    return [Step("", (), state)] if oracle.model.box else []


def claim(seen: Observation) -> str:
    """Write the event's action with its arguments, "?" for those that are not logged."""
    event = seen.event
    if event.action is None:
        return "an unnamed step"
    if event.arguments is None:
        return event.action
    texts = ["?" if one is None else brief(one, 40) for one in event.arguments]
    return f"{event.action}({', '.join(texts)})" if texts else event.action


def changes_from(
    oracle: CachedOracle, seen: Observation, state: ModelState, before: ModelState | None = None
) -> tuple[Difference, ...]:
    """List where a state differs from what the event shows; left the state, right the event.

    With the state `before` the step, what the event says to have changed is compared, too.

    Raises:
        EvaluationError: an expression or a change has no value there.
    """
    names = oracle.model.variables
    pairs = seen.known if seen.whole is None else tuple(enumerate(seen.whole))
    different = [(at, value) for at, value in pairs if state[at] != value]
    wanted = {names[at]: oracle.shown(value) for at, value in different}
    if before is not None:
        for at, done in seen.changes:
            wanted.setdefault(names[at], changed(oracle.shown(before[at]), done))
    index = {name: at for at, name in enumerate(names)}
    found = {name: oracle.shown(state[index[name]]) for name in wanted}
    return (*difference(found, wanted), *_wrong(oracle, seen.parts, state))


def changes_before(
    oracle: CachedOracle, seen: Observation, state: ModelState
) -> tuple[Difference, ...]:
    """List where a state differs from what the event shows before its step.

    Raises: as `changes_from`.
    """
    return _wrong(oracle, (*seen.earlier, *seen.before), state)


def _wrong(
    oracle: CachedOracle, parts: Sequence[_SeenPart], state: ModelState
) -> tuple[Difference, ...]:
    return tuple(
        [
            Difference(path=part.path, left=_part_of(oracle, part, state), right=part.value)
            for part in parts
            if not _part_fits(oracle, part, state)
        ]
    )


def _part_fits(oracle: CachedOracle, part: _SeenPart, state: ModelState) -> bool:
    found = _part_of(oracle, part, state)
    return found is not None and same(found, part.value)


def _part_of(oracle: CachedOracle, part: _SeenPart, state: ModelState) -> Value | None:
    if isinstance(part.variable, str):
        return _applied(oracle.expression(part.variable, state), part.at)
    return oracle.part(state[part.variable], part.at)


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

"""The steps that one line of a foreign log stands for, as events of a trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tlatrace.errors import ValueFormatError
from tlatrace.matching.changes import OPERATIONS
from tlatrace.matching.conditions import holds
from tlatrace.matching.log_line import MISSING, Keys, LineError, find, path_text
from tlatrace.matching.mapping import ChangeRule, LogMapping, Observe
from tlatrace.matching.sources import Field, Source, converted, value_of
from tlatrace.trace import INIT, Change, Clues, Event, ParamPart, Part
from tlatrace.trace.schema import check_name
from tlatrace.values import Json, Value, canonical, tla_set

__all__ = ["actions_of", "steps_of"]

_INT64: Final = 2**63

_RECORDED: Final = {
    "Update": "set",
    "Unchanged": "unchanged",
    "AddElement": "add",
    "AddElements": "add all",
    "RemoveElement": "remove",
    "AppendElement": "append",
    "SetKey": "set key",
    "UpdateRec": "set fields",
    "AddElementToBag": "add copy",
    "RemoveElementFromBag": "remove copy",
    "Add": "plus",
    "Sub": "minus",
}
"""What recorders of TLA+ traces write as "op" -> the operation."""
_CLEARED: Final[dict[str, Value]] = {"Clear": tla_set([]), "ClearBag": ()}


def steps_of(mapping: LogMapping, obj: Json, first: int) -> list[Event]:
    """Return the events of a line, the first of which is step `first`; `[]` if it is no step.

    Raises:
        LineError: the line lacks something that the mapping names.
        ValueFormatError: an action is no name.
    """
    actions: tuple[str | None, ...] = (INIT,) if first == 0 else actions_of(mapping, obj)
    return [
        _event(mapping, obj, first + at, action, is_first=at == 0, is_last=at + 1 == len(actions))
        for at, action in enumerate(actions)
    ]


def actions_of(mapping: LogMapping, obj: Json) -> tuple[str | None, ...]:
    """Return the actions that a line stands for, None for one that it does not name.

    Raises: as `steps_of`.
    """
    rule = mapping.action
    if rule is None:
        return (None,)
    for case in rule.cases:
        if holds(case.condition, obj):
            return case.steps
    other, reason = rule.other, "no case of [action] is for this line"
    if rule.path is not None:
        where = path_text(rule.path)
        found = find(obj, rule.path)
        if found is MISSING:
            other = rule.missing
            reason = f"the line has no field {where}, where the action stands"
        elif not isinstance(found, str):
            raise LineError(f"the action in the field {where} is not a string")
        elif found in rule.names:
            return rule.names[found]
        elif other == "same":
            return (check_name(found, "an action"),)
        else:
            reason = f"the action {found[:64]!r} stands not in [action.names]"
    match other:
        case "unnamed":
            return (None,)
        case "skip":
            return ()
        case _:
            raise LineError(reason)


def _event(
    mapping: LogMapping,
    obj: Json,
    step: int,
    action: str | None,
    *,
    is_first: bool,
    is_last: bool,
) -> Event:
    """Make one event; a rule without `only` is for the first or the last step of the line."""
    known: tuple[Value | None, ...] = ()
    if step and action is not None:
        known = _params(mapping, obj, action)
    logged = tuple([value for value in known if value is not None])
    all_logged = not step or action is None or _has_all(mapping, action, known)
    shown = _Shown(mapping, obj, action, is_first=is_first, is_last=is_last)
    observed, parts = shown.after()
    return Event(
        step=step,
        action=action,
        params=logged if all_logged else (),
        known_params=None if all_logged else known,
        node=_node(mapping.node, obj),
        state=observed if mapping.shows_states else None,
        observed=None if mapping.shows_states else observed or None,
        parts=tuple(parts),
        clock=_clock(mapping.clock, obj),
        clues=shown.clues(),
    )


def _params(mapping: LogMapping, obj: Json, action: str) -> tuple[Value | None, ...]:
    if action not in mapping.params:
        raise LineError(f"[params] lacks the action {action}")
    sources = mapping.params[action]
    return tuple([None if source is None else value_of(source, obj) for source in sources or ()])


def _has_all(mapping: LogMapping, action: str, known: tuple[Value | None, ...]) -> bool:
    return mapping.params[action] is not None and None not in known


class _Shown:
    """What a line shows of one of its steps."""

    def __init__(
        self, mapping: LogMapping, obj: Json, action: str | None, *, is_first: bool, is_last: bool
    ) -> None:
        self._mapping = mapping
        self._obj = obj
        self._action = action
        self._is_first = is_first
        self._is_last = is_last
        self._rules = [(rule, part) for rule in mapping.observe for part in self._parts(rule)]

    def _objects(self, rule: Observe | ChangeRule, *, before: bool) -> list[Json]:
        """List what a rule looks at: the line, or elements of an array in it; or nothing."""
        by_place = self._is_first if before else self._is_last
        if not (by_place if rule.only is None else self._action in rule.only):
            return []
        objects = [self._obj] if rule.among is None else self._elements(rule.among)
        if rule.condition is None:
            return objects
        return [one for one in objects if holds(rule.condition, one)]

    def _elements(self, path: Keys) -> list[Json]:
        found = find(self._obj, path)
        if not isinstance(found, list):
            raise LineError(f"the line has no array {path_text(path)} for the rules with among")
        return found

    def _parts(self, rule: Observe) -> list[tuple[tuple[Value, ...], Value]]:
        """List what a rule shows; of several elements one for each place."""
        before = rule.when != "after"
        objects = self._objects(rule, before=before)
        parts: dict[str, tuple[tuple[Value, ...], Value]] = {}
        for one in reversed(objects) if before else objects:
            value, at = value_of(rule.source, one), _values(rule.at, one)
            if value is not None and at is not None:
                parts[canonical(at)] = at, value
        return [*parts.values()]

    def after(self) -> tuple[dict[str, Value], list[Part]]:
        """Return the variables, and the parts of variables, after the step."""
        observed: dict[str, Value] = {}
        parts: list[Part] = []
        for rule, (at, value) in self._rules:
            what = rule.what
            if rule.when != "after" or isinstance(what, int) or what in self._mapping.expressions:
                continue
            if at:
                parts.append(Part(variable=what, at=at, value=value))
            elif what in observed:
                raise LineError(f"two rules of the mapping show {what} in this line")
            else:
                observed[what] = value
        return observed, parts

    def clues(self) -> Clues:
        """Return what else the line shows; nothing of the initial state."""
        expressions = [
            Part(variable=rule.what, at=at, value=value)
            for rule, (at, value) in self._rules
            if rule.when == "after" and rule.what in self._mapping.expressions
            if isinstance(rule.what, str)
        ]
        if self._action == INIT:
            return Clues(expressions=tuple(expressions))
        return Clues(
            before=self._before("before"),
            earlier=self._before("before silent"),
            expressions=tuple(expressions),
            params=tuple(
                [
                    ParamPart(number=rule.what, at=at, value=value)
                    for rule, (at, value) in self._rules
                    if isinstance(rule.what, int)
                ]
            ),
            changes=(*self._changes(), *self._updates()),
        )

    def _before(self, when: str) -> tuple[Part, ...]:
        return tuple(
            [
                Part(variable=rule.what, at=at, value=value)
                for rule, (at, value) in self._rules
                if rule.when == when and isinstance(rule.what, str)
            ]
        )

    def _changes(self) -> Iterator[Change]:
        for rule in self._mapping.changes:
            for one in self._objects(rule, before=False):
                at, given = _values(rule.at, one), _values(rule.arguments, one)
                if at is not None and given is not None:
                    yield Change(
                        variable=rule.variable, at=at, operation=rule.operation, arguments=given
                    )

    def _updates(self) -> Iterator[Change]:
        updates = self._mapping.updates
        if updates is None or not self._is_last:
            return
        for variable in updates.variables:
            found = find(self._obj, (variable,))
            if found is MISSING:
                if variable in updates.unchanged:
                    yield Change(variable=variable, at=(), operation="unchanged", arguments=())
                continue
            if not isinstance(found, list):
                raise LineError(f"the field {variable} is no array of updates")
            for update in found:
                yield _update(updates.field, variable, update)


def _values(sources: tuple[Source, ...], obj: Json) -> tuple[Value, ...] | None:
    """Take values from a line or an element of it; None where one is not there."""
    values = [value_of(source, obj) for source in sources]
    known = tuple([value for value in values if value is not None])
    return known if len(known) == len(values) else None


def _update(field: Field, variable: str, update: Json) -> Change:
    """Read {"op": ..., "path": [...], "args": [...]}."""
    where = f"an update of {variable}"
    if not isinstance(update, dict) or update.keys() - {"op", "path", "args"}:
        raise LineError(f'{where} is not an object with "op", "path" and "args"')
    op, path, args = update.get("op"), update.get("path"), update.get("args")
    if not isinstance(path, list) or not isinstance(args, list):
        raise LineError(f'{where} has no "path" or no "args", or one that is no array')
    try:
        at = tuple([converted(one, field) for one in path])
        given = tuple([converted(one, field) for one in args])
        for value in (at, given):
            canonical(value)
    except ValueFormatError as error:
        raise LineError(f"{where}: {error.reason}") from None
    if isinstance(op, str) and op in _CLEARED:
        return Change(variable=variable, at=at, operation="set", arguments=(_CLEARED[op],))
    if not isinstance(op, str) or op not in _RECORDED:
        raise LineError(f"{where} has the unknown operation {str(op)[:64]!r}")
    operation = _RECORDED[op]
    arity, _ = OPERATIONS[operation]
    if operation == "add all" and len(given) == 1 and isinstance(given[0], tuple):
        given = (tla_set(given[0]),)
    if operation == "unchanged":
        given = ()
    if len(given) != arity:
        raise LineError(f"{where}: {op} has {len(given)} arguments, not {arity}")
    return Change(variable=variable, at=at, operation=operation, arguments=given)


def _node(field: Field | None, obj: Json) -> str | None:
    if field is None:
        return None
    value = value_of(field, obj)
    if value is not None and not isinstance(value, str):
        raise LineError(f"the node in the field {path_text(field.path)} is not a string")
    return value


def _clock(field: Field | None, obj: Json) -> int | None:
    if field is None:
        return None
    value = value_of(field, obj)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not -_INT64 <= value < _INT64:
        raise LineError(f"the clock in the field {path_text(field.path)} is not a 64-bit integer")
    return value

"""Mappings: what the lines of another system's log mean, declared in TOML.

`traces/MAPPING.md` is the definition. Reading is strict: a key that means nothing here is refused,
because a misspelt one would weaken the check without a word.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from tlatrace.errors import SpecError, ValueFormatError
from tlatrace.matching.changes import OPERATIONS
from tlatrace.matching.conditions import Condition, read_condition
from tlatrace.matching.log_line import Keys
from tlatrace.matching.order_of_lines import LogOrder, read_order
from tlatrace.matching.sources import Field, Source, SourceReader
from tlatrace.matching.toml_tables import FaultError, Table, each, read_path
from tlatrace.trace import INIT, Silent, State
from tlatrace.trace.schema import check_name
from tlatrace.values import Json

__all__ = [
    "ActionCase",
    "ActionRule",
    "ChangeRule",
    "LogMapping",
    "Observe",
    "Updates",
    "read_mapping",
]

_FORMAT: Final = "rocketproof-mapping"
_VERSION: Final = 1
_MAX_BYTES: Final = 2**20
_NOT_LOGGED: Final = "?"
_OTHERS: Final = ("error", "same", "unnamed", "skip")
_MISSING: Final = ("error", "unnamed", "skip")
_INITS: Final = ("unknown", "first line")
_SHOWS: Final = ("part", "state")
_WHENS: Final = ("after", "before", "before silent")

Steps: TypeAlias = tuple[str, ...]
"""The actions that one line stands for, one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observe:
    """A variable, an expression or an argument, or a part of it, that lines show."""

    what: str | int
    """The variable or expression; or the number of the argument, from 1."""
    at: tuple[Source, ...]
    source: Source
    only: frozenset[str] | None
    """The actions whose lines show it, "Init" for the first line; None: all."""
    condition: Condition | None = None
    """What such a line looks like; None: any."""
    when: str = "after"
    """Which state shows it: "after" the step, "before" it, or "before silent" steps before it."""
    among: Keys | None = None
    """The array of which elements show it: the last one after the step, the first one before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRule:
    """What lines show to have been done to a variable, or to a part of it."""

    variable: str
    at: tuple[Source, ...]
    operation: str
    arguments: tuple[Source, ...]
    only: frozenset[str] | None
    condition: Condition | None
    among: Keys | None = None
    """The array of which each element shows a change of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Updates:
    """Variables whose changes stand in fields of their name, as recorders of TLA+ traces write."""

    variables: tuple[str, ...]
    field: Field
    """How their values are read; its path is empty."""
    unchanged: frozenset[str]
    """Those that are as before where a line lacks the field; of others nothing is known then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionCase:
    """What lines with a certain look stand for."""

    condition: Condition
    steps: Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRule:
    """How a line tells its action."""

    cases: tuple[ActionCase, ...]
    """Tried in their order, before the field."""
    path: Keys | None
    names: Mapping[str, Steps]
    other: str
    """What becomes of an action without a name: "error", "same", "unnamed" or "skip"."""
    missing: str
    """What becomes of a line without the field: "error", "unnamed" or "skip"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMapping:
    """What the lines of a log mean."""

    path: Path
    spec: str
    constants: State
    silent: Silent | None
    shows_states: bool
    """Whether what a line shows is the whole state after its step."""
    starts_with_init: bool
    """Whether the first line shows the initial state; else nothing is known of it."""
    each: Field | None
    """The array whose elements are lines of their own, each with the fields of the line."""
    skip: tuple[Condition, ...]
    action: ActionRule | None
    """None: no line says its action."""
    params: Mapping[str, tuple[Source | None, ...] | None]
    """Action -> its arguments, None for one that is not logged; None if none is."""
    expressions: Mapping[str, str]
    """Name -> TLA+ text of what is observed as a variable is."""
    observe: tuple[Observe, ...]
    changes: tuple[ChangeRule, ...]
    updates: Updates | None
    order: LogOrder | None
    """How the order of the steps is found; None: it is that of the lines."""
    node: Field | None
    clock: Field | None


def read_mapping(path: Path) -> LogMapping:
    """Read a mapping.

    Raises:
        SpecError: it cannot be read, is no TOML, or breaks `traces/MAPPING.md`; with the line
            where it is known.
    """
    try:
        raw = path.read_bytes()
        if len(raw) > _MAX_BYTES:
            raise SpecError(path, f"a mapping of more than {_MAX_BYTES} bytes")
        text = raw.decode("utf-8")
        document: Json = tomllib.loads(text)
    except OSError as error:
        raise SpecError(path, f"the mapping cannot be read: {error.strerror}") from error
    except RecursionError as error:
        raise SpecError(path, f"the mapping is not TOML: {error}") from None
    except ValueError as error:  # no UTF-8, no TOML, a number of more digits than Python takes
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line, column = (int(place[1]), int(place[2])) if place else (None, None)
        raise SpecError(path, f"the mapping is not TOML: {error}", line, column) from None
    try:
        return _Reader(path, Table(document, "the mapping")).mapping()
    except FaultError as fault:
        raise SpecError(path, fault.reason, _line_of(text, fault.key)) from None
    except ValueFormatError as error:
        raise SpecError(path, error.reason) from None


def _line_of(text: str, key: str) -> int | None:
    """Find the first line that begins with a key, or else holds it."""
    if not key:
        return None
    begins = re.compile(rf"""\s*\[*\s*(?:[\w-]+\.)*["']?{re.escape(key)}\b""")
    lines = list(enumerate(text.splitlines(), start=1))
    found = [number for number, line in lines if begins.match(line)]
    inside = re.compile(rf"""(?<![\w-]){re.escape(key)}(?![\w-])""")
    found += [number for number, line in lines if inside.search(line)]
    return found[0] if found else None


class _Reader:
    """Turns a TOML document into a mapping; all methods raise FaultError."""

    def __init__(self, path: Path, top: Table) -> None:
        self._path = path
        self._top = top
        self._sources = SourceReader(None)
        self._expressions: dict[str, str] = {}

    def mapping(self) -> LogMapping:
        """Read the document."""
        top = self._top
        if top.take("format") != _FORMAT:
            raise FaultError(f'the mapping has no format = "{_FORMAT}"', "format")
        version = top.take("version")
        if version is True or version != _VERSION:
            raise FaultError(f"the mapping has no version = {_VERSION}", "version")
        spec = check_name(top.text("spec"), "a module")
        init = top.choice("init", _INITS)
        self._sources = SourceReader(top.take("names"))
        constants = {
            check_name(name, "a constant"): self._sources.value(value, name)
            for name, value in Table(top.take("constants") or {}, "[constants]").rest().items()
        }
        self._expressions = self._read_expressions(top.take("expressions"))
        action = self._action(top.take("action"))
        params = self._params(top.take("params"))
        _refuse_unknown_arity(action, params)
        node, clock, elements = top.take("node"), top.take("clock"), top.take("each")
        order = top.take("order")
        mapping = LogMapping(
            path=self._path,
            spec=spec,
            constants=constants,
            silent=self._silent(top.take("silent")),
            shows_states=top.choice("shows", _SHOWS) == "state",
            starts_with_init=init == "first line",
            each=None if elements is None else self._sources.field(elements, "each"),
            skip=each(top.take("skip"), "skip", read_condition),
            action=action,
            params=params,
            expressions=self._expressions,
            observe=each(top.take("observe"), "observe", self._observe),
            changes=each(top.take("change"), "change", self._change),
            updates=self._updates(top.take("updates")),
            order=None if order is None else read_order(Table(order, "[order]"), self._sources),
            node=None if node is None else replace(self._sources.field(node, "node"), names={}),
            clock=None if clock is None else self._sources.field(clock, "clock"),
        )
        top.end()
        if mapping.order is not None and mapping.starts_with_init:
            raise FaultError("lines of several nodes have no first line: init", "init")
        if mapping.shows_states and any(
            rule.at and rule.when == "after" for rule in mapping.observe
        ):
            raise FaultError("a part of a variable with at is no whole state: shows", "shows")
        return mapping

    # ---- parts ----------------------------------------------------------------------------

    def _silent(self, obj: Json) -> Silent | None:
        if obj is None:
            return None
        table = Table(obj, "silent")
        actions = [check_name(name, "an action") for name in table.texts("actions")]
        most = table.take("most")
        bound = Table(table.take("before") or {}, "before of silent")
        has_same = table.has("same_arguments")
        same = frozenset(table.texts("same_arguments") if has_same else ())
        table.end()
        if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
            raise FaultError("most of silent is not a number of steps", "most")
        only_before: dict[str, frozenset[str]] = {}
        for name in actions:
            if bound.has(name):
                only_before[name] = frozenset(bound.texts(name))
        bound.end()
        if not same <= set(actions):
            raise FaultError(
                "same_arguments of silent names an action that is not", "same_arguments"
            )
        return Silent(
            actions=tuple(actions), most=most, only_before=only_before, same_arguments=same
        )

    def _action(self, obj: Json) -> ActionRule | None:
        if obj is None:
            return None
        table = Table(obj, "[action]")
        cases = each(table.take("case"), "action.case", self._case)
        path = None
        if not cases or table.has("field"):
            path = read_path(table.take("field"), "[action]")
        names: dict[str, Steps] = {}
        for text, name in Table(table.take("names") or {}, "[action.names]").rest().items():
            names[text] = _steps(name, text)
        rule = ActionRule(
            cases=cases,
            path=path,
            names=names,
            other=table.choice("other", _OTHERS),
            missing=table.choice("missing", _MISSING),
        )
        table.end()
        return rule

    def _case(self, table: Table) -> ActionCase:
        condition = read_condition(Table(table.take("if"), "if of an [[action.case]]"))
        steps = _steps(table.take("action"), "case")
        table.end()
        return ActionCase(condition=condition, steps=steps)

    def _params(self, obj: Json) -> dict[str, tuple[Source | None, ...] | None]:
        params: dict[str, tuple[Source | None, ...] | None] = {}
        for name, sources in Table(obj or {}, "[params]").rest().items():
            check_name(name, "an action")
            if sources == _NOT_LOGGED:
                params[name] = None
            elif isinstance(sources, list):
                params[name] = tuple(
                    [
                        None if source == _NOT_LOGGED else self._sources.source(source, name)
                        for source in sources
                    ]
                )
            else:
                raise FaultError(f'the params of {name} are neither an array nor "?"', name)
        return params

    def _read_expressions(self, obj: Json) -> dict[str, str]:
        texts: dict[str, str] = {}
        for name, text in Table(obj or {}, "[expressions]").rest().items():
            if not isinstance(text, str) or not text.strip() or not name.isidentifier():
                raise FaultError(f"the expression {name!r} is no name with TLA+ text", name)
            texts[check_name(name, "an expression")] = text
        return texts

    def _observe(self, table: Table) -> Observe:
        number = table.take("argument")
        what: str | int
        if number is None:
            what = check_name(table.text("variable"), "a variable")
        elif isinstance(number, int) and not isinstance(number, bool) and number > 0:
            what = number
        else:
            raise FaultError("argument of an [[observe]] is no number from 1", "argument")
        when = table.choice("when", _WHENS)
        if when != "after" and number is not None:
            raise FaultError("an argument is the same before and after a step", "when")
        only, condition = self._bounds(table)
        among = _among(table)
        return Observe(
            what=what,
            at=self._all(table, "at", str(what)),
            source=self._sources.source(table.rest(), str(what)),
            only=only,
            condition=condition,
            when=when,
            among=among,
        )

    def _bounds(self, table: Table) -> tuple[frozenset[str] | None, Condition | None]:
        """Take `only` and `if`: the lines that a rule is for."""
        only = frozenset(table.texts("only")) if table.has("only") else None
        condition = table.take("if")
        return only, (
            None if condition is None else read_condition(Table(condition, f"if of {table.what}"))
        )

    def _change(self, table: Table) -> ChangeRule:
        variable = check_name(table.text("variable"), "a variable")
        operation = table.choice("do", ("", *OPERATIONS))
        if not operation:
            raise FaultError(f"a [[change]] of {variable} has no do", variable)
        arity, _ = OPERATIONS[operation]
        only, condition = self._bounds(table)
        arguments = table.take("with")
        if arguments is not None and not isinstance(arguments, list):
            arguments = [arguments]
        sources = tuple([self._sources.source(one, variable) for one in arguments or []])
        if len(sources) != arity:
            raise FaultError(f"{operation!r} of {variable} takes {arity} values in with", "with")
        rule = ChangeRule(
            variable=variable,
            at=self._all(table, "at", variable),
            operation=operation,
            arguments=sources,
            only=only,
            condition=condition,
            among=_among(table),
        )
        table.end()
        return rule

    def _all(self, table: Table, key: str, where: str) -> tuple[Source, ...]:
        sources = table.take(key)
        if sources is not None and not isinstance(sources, list):
            raise FaultError(f"{key} of {where} is not an array", key)
        return tuple([self._sources.source(one, where) for one in sources or []])

    def _updates(self, obj: Json) -> Updates | None:
        if obj is None:
            return None
        table = Table(obj if isinstance(obj, dict) else {"variables": obj}, "updates")
        variables = [check_name(name, "a variable") for name in table.texts("variables")]
        null = table.take("null")
        unchanged = frozenset(table.texts("unchanged") if table.has("unchanged") else ())
        table.end()
        if not unchanged <= set(variables):
            raise FaultError("unchanged of updates names no variable of it", "unchanged")
        return Updates(
            unchanged=unchanged,
            variables=tuple(variables),
            field=Field(
                path=(),
                names=self._sources.names,
                null=None if null is None else self._sources.value(null, "null"),
            ),
        )


def _among(table: Table) -> Keys | None:
    """Take the array whose elements a rule is for."""
    among = table.take("among")
    return None if among is None else read_path(among, f"among of {table.what}")


def _steps(obj: Json, text: str) -> Steps:
    """Read an action, or the actions that a line stands for."""
    names = obj if isinstance(obj, list) else [obj]
    steps: list[str] = []
    for name in names:
        if not isinstance(name, str) or name == INIT:
            raise FaultError(f"the action of {text!r} is not the name of one", text)
        steps.append(check_name(name, "an action"))
    if not steps:
        raise FaultError(f"the action of {text!r} is not the name of one", text)
    return tuple(steps)


def _refuse_unknown_arity(action: ActionRule | None, params: Mapping[str, object]) -> None:
    """Refuse actions of which nobody says what their arguments are."""
    if action is None:
        return
    given = [*action.names.values(), *[case.steps for case in action.cases]]
    for name in [name for steps in given for name in steps]:
        if name not in params:
            raise FaultError(
                f'[params] lacks {name}: write {name} = [] if it has none, {name} = "?" if '
                "they are not logged",
                name,
            )

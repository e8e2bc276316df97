"""A trace in memory: a header, and events counted from 0.

`traces/FORMAT.md` says what each field means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tlatrace.values import Json, State, Value

__all__ = [
    "FORMAT",
    "INIT",
    "VERSION",
    "VERSION_WITH_SILENT",
    "Change",
    "Clues",
    "Event",
    "Header",
    "Implementation",
    "ParamPart",
    "Part",
    "Silent",
    "Trace",
]

FORMAT: Final = "rocketproof-trace"
VERSION: Final = 1
VERSION_WITH_SILENT: Final = 2
INIT: Final = "Init"


@dataclass(frozen=True, slots=True, kw_only=True)
class Implementation:
    """The program that was recorded."""

    name: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Silent:
    """The steps that a trace does not show."""

    actions: tuple[str, ...]
    """Actions that are never logged."""
    most: int | None = None
    """No more of them than so many happen before one event; None: nobody knows how many."""
    only_before: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Silent action -> the actions before whose events alone it happens, before one without an
    action, too. Mappings say it, trace files cannot."""
    same_arguments: frozenset[str] = frozenset()
    """Silent actions whose arguments are those of the event that follows. Mappings only, too."""

    def __post_init__(self) -> None:
        assert self.most is None or self.most >= 0, f"{self.most} silent steps"


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a trace is a trace of."""

    spec: str
    """Name of the TLA+ module."""
    spec_sha256: str | None = None
    """64 lower-case hexadecimal digits of the module's text; None where the recorder has none."""
    constants: State = field(default_factory=dict)
    """Constant of the module -> its value in this run."""
    seed: int | None = None
    """The seed that reproduces the run; None for a run that no seed reproduces."""
    implementation: Implementation | None = None
    meta: Mapping[str, Json] = field(default_factory=dict)
    """Free JSON data for people; no check may depend on it."""
    silent: Silent | None = None
    """The steps between the events that the trace does not show; None: there are none."""
    ignored: tuple[str, ...] = ()
    """Keys of the header line that this version does not know, sorted; never written."""
    expressions: Mapping[str, str] = field(default_factory=dict)
    """Name -> TLA+ text of what events show as if it was a variable. Mappings say it, trace files
    cannot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a variable: `role[b1].epoch = 3` is Part("role", ("b1", "epoch"), 3)."""

    variable: str
    at: tuple[Value, ...]
    """Arguments to which the variable's value is applied, one after the other; never empty."""
    value: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class ParamPart:
    """A part of an argument, or all of it: m.term = 3 is ParamPart(1, ("term",), 3) of Act(m)."""

    number: int
    """Of the parameter, from 1."""
    at: tuple[Value, ...]
    value: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a step does to a variable; what no change of the variable speaks of is as before.

    Several changes of a variable in one step are made one after the other.
    """

    variable: str
    at: tuple[Value, ...]
    """Where in the variable; `()`: the variable itself."""
    operation: str
    """One of `tlatrace.matching.changes.OPERATIONS`."""
    arguments: tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clues:
    """What the line of a foreign log may say of a step besides; no trace file has these."""

    before: tuple[Part, ...] = ()
    """Variables, expressions and parts of them before the step; `at` may be empty here."""
    earlier: tuple[Part, ...] = ()
    """As `before`, of the state before the silent steps that the step needed."""
    expressions: tuple[Part, ...] = ()
    """Expressions of the header, and parts of them, after the step; `at` may be empty here."""
    params: tuple[ParamPart, ...] = ()
    changes: tuple[Change, ...] = ()
    follows: tuple[int, ...] | None = None
    """The steps that certainly happened before this one, and are not said to by one of these;
    None: all that stand before it. That of its own node comes first."""
    surely: tuple[int, ...] | None = None
    """As `follows`, of what the log proves; None: that is the same."""
    lost: str = ""
    """In words, in one event of a trace: of what happened no line tells."""


_NO_CLUES: Final = Clues()


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One step of the specification, or the initial state (step 0, action "Init", no params)."""

    step: int
    action: str | None
    """Name of the TLA+ operator; None where the recorder does not know which action it was."""
    params: tuple[Value, ...] = ()
    """Arguments of the action, in the order of the operator's parameters; all of them."""
    known_params: tuple[Value | None, ...] | None = None
    """Where not all arguments are logged: those that are, None for one that is not; `()` where
    none is. Then `params` is empty."""
    node: str | None = None
    """Where it happened, for people and per-node views."""
    state: State | None = None
    """The whole state after the step; then `observed` is None."""
    observed: State | None = None
    """A part of the state after the step; the checker searches for the rest."""
    parts: tuple[Part, ...] = ()
    """Parts of variables after the step, beside `observed` or alone; never beside `state`."""
    clock: int | None = None
    """Time of the recorder in its own unit, for people; order comes from `step`."""
    clues: Clues = _NO_CLUES
    """What the line of a foreign log says besides; trace files do not have it."""

    def __post_init__(self) -> None:
        assert self.step >= 0, f"a step is counted from 0, got {self.step}"
        partial = self.observed is not None or self.parts
        assert self.state is None or not partial, "an event has a state or observes"
        known = self.known_params
        assert known is None or not self.params, "params are logged or they are not"
        assert not known or None in known, "params that are all logged belong in `params`"

    @property
    def arguments(self) -> tuple[Value | None, ...] | None:
        """The arguments, None for one that is not logged; None if no argument is."""
        if self.known_params is None:
            return self.params
        return self.known_params or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A recorded run; `header` is None, and there are no events, where the file was empty."""

    header: Header | None
    events: tuple[Event, ...]

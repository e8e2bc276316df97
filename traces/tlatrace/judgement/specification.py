"""The specification that traces are held against, with its constants."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tlatrace.compiler.reading import read_types, require_boolean_invariants
from tlatrace.errors import InvariantError, ModelGapError, SpecError
from tlatrace.readings import Reading, differing_values, model_values_in
from tlatrace.tla.config import TlcConfig
from tlatrace.tla.declarations import Box, Declarations, Place, Side, read_declarations
from tlatrace.tla.operator import why_no_invariant
from tlatrace.tla_text import to_tla
from tlatrace.values import ModelValue, State, TlaSet, Value

__all__ = [
    "PREFIX",
    "SpecUnderTest",
    "differing_constants",
    "load_spec",
    "module_sha256",
]

PREFIX: Final = "Rp__"
"""Begins every name that is generated; a specification may not use it."""

_INIT, _NEXT = "Init", "Next"
_CONFIG_STRING: Final = re.compile(r'"[\w .:+-]*"', re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecUnderTest:
    """A module with constants, and the operators that a trace is judged by."""

    module: Path
    declarations: Declarations
    init: str
    next: str
    invariants: tuple[str, ...]
    constants: tuple[str, ...]
    """The assignments of the configuration, one a line."""
    definitions: tuple[str, ...]
    """Definitions that the assignments need, in TLA+."""
    values: State
    """The constants whose value is known."""
    reading: Reading
    """How values of traces are read."""
    places: Mapping[str, tuple[Place, ...]]
    """Action -> where it stands in Next with its bounds only."""
    woven: frozenset[str] = frozenset()
    """The actions that stand in Next in other ways, too."""
    foreign: frozenset[str] = frozenset()
    """Names of actions that Next calls within instanced modules."""
    sides: tuple[Side, ...] = ()
    """The disjuncts of Next, if they are known: an action is looked for where it is called."""
    box: Box | None = None
    """The v of [][Next]_v where steps that leave it alone are allowed."""
    libraries: tuple[Path, ...] = ()
    name: str
    """What verdicts call it."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables, sorted."""
        return tuple(sorted(self.declarations.variables))

    @property
    def next_actions(self) -> tuple[str, ...]:
        """The actions that Next calls by name; Next itself, if it calls none."""
        return tuple(sorted(self.places)) or tuple(sorted(self.woven)) or (self.next,)


def module_sha256(module: Path) -> str:
    """Return the SHA-256 of a module's bytes, as a trace's header has it.

    Raises:
        SpecError: the module cannot be read.
    """
    try:
        return hashlib.sha256(module.read_bytes()).hexdigest()
    except OSError as error:
        raise SpecError(module, f"the module cannot be read: {error.strerror}") from error


def load_spec(
    module: Path,
    *,
    config: TlcConfig | None = None,
    constants: State | None = None,
    invariants: Sequence[str] = (),
    libraries: Sequence[Path] = (),
    stuttering: bool = True,
    shown_as: str | None = None,
) -> SpecUnderTest:
    """Read a specification with its constants from a configuration or, without one, `constants`.

    `invariants` come on top of those of the configuration. `stuttering`: whether a step without an
    action may be none of Next where the configuration's SPECIFICATION is a [][Next]_v. `shown_as`
    is what verdicts call the specification; without it, by its module.

    Raises:
        SpecError: SANY refuses the module, a constant has no value, or an operator is missing.
        ModelGapError: a constant that the module does not have, or a value that cannot be written.
        ToolError: there is no Java or no jar.
    """
    declarations = read_declarations(module, libraries)
    if PREFIX in "".join(declarations.operators) + "".join(declarations.variables):
        raise SpecError(module, f"names that contain {PREFIX} are taken by the judge")
    config = config or TlcConfig(path=module)
    given = {} if config.assignments else dict(constants or {})
    lines, definitions = _assigned(declarations, config, given)
    from_config = {item.name: item.value for item in config.assignments if item.value is not None}
    values: dict[str, Value] = {**from_config, **given}
    init, next_name = _relations(declarations, config)
    wanted = tuple(dict.fromkeys([*config.invariants, *invariants]))
    places = declarations.places.get(next_name, {})
    woven = declarations.woven.get(next_name, frozenset())
    sides = declarations.sides.get(next_name, ())
    if _replaced_actions(declarations, config):  # Next is not what its text says
        operators = declarations.operators.items()
        woven = frozenset([name for name, operator in operators if operator.is_action])
        places, sides = {}, ()
    spec = SpecUnderTest(
        module=module.resolve(),
        declarations=declarations,
        init=init,
        next=next_name,
        invariants=wanted,
        constants=lines,
        definitions=definitions,
        values=values,
        reading=_reading(module, config, given, invariants, libraries),
        places=places,
        woven=woven - {next_name},
        foreign=declarations.foreign.get(next_name, frozenset()),
        sides=sides,
        box=declarations.boxes.get(config.specification or "") if stuttering else None,
        libraries=tuple(libraries),
        name=shown_as or declarations.module,
    )
    _check(spec)
    if wanted:
        require_boolean_invariants(module, config, given, wanted, libraries)
    return spec


def _reading(
    module: Path,
    config: TlcConfig,
    constants: State,
    invariants: Sequence[str],
    libraries: Sequence[Path],
) -> Reading:
    return Reading(read_types(module, config, constants, invariants, libraries))


def _assigned(
    declarations: Declarations, config: TlcConfig, given: State
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lines of the configuration and the definitions that they need."""
    lines = [item.text for item in config.assignments]
    definitions: list[str] = []
    for name in sorted(given):
        if name not in declarations.constants:
            raise ModelGapError(f"{declarations.module} has no constant {name}")
        plain = _config_text(given[name])
        if plain is not None:
            lines.append(f"{name} = {plain}")
            continue
        if model_values_in(given[name]):
            raise ModelGapError(f"the constant {name} holds model values inside a function")
        definitions.append(f"{PREFIX}c{len(definitions) + 1} == {to_tla(given[name])}")
        lines.append(f"{name} <- {PREFIX}c{len(definitions)}")
    have = {line.split()[0] for line in lines}
    missing = [name for name in sorted(declarations.constants) if name not in have]
    if missing:
        reason = f"no value for the constant {', '.join(missing)}: give a configuration"
        raise SpecError(config.path, reason)
    return tuple(lines), tuple(definitions)


def _replaced_actions(declarations: Declarations, config: TlcConfig) -> list[str]:
    """Name what the configuration replaces, where that or what it puts there is an action."""
    operators = declarations.operators
    return [
        item.name
        for item in config.assignments
        if item.value is None
        and any(
            name in operators and operators[name].is_action
            for name in (item.name, item.text.split()[-1])
        )
    ]


def _config_text(value: Value) -> str | None:
    """Write a value as a configuration has it, None if configurations have no such values."""
    match value:
        case TlaSet():
            parts = [_config_text(element) for element in value]
            known = [part for part in parts if part is not None]
            return "{" + ", ".join(known) + "}" if len(known) == len(parts) else None
        case bool() | ModelValue():
            return to_tla(value)
        case int():
            return to_tla(value) if value >= 0 else None
        case str():
            text = to_tla(value)
            return text if _CONFIG_STRING.fullmatch(text) else None
        case _:
            return None


def _relations(declarations: Declarations, config: TlcConfig) -> tuple[str, str]:
    """Find the names of Init and Next."""
    if config.specification is not None:
        found = declarations.formulas.get(config.specification)
        if found is None:
            reason = f"SPECIFICATION {config.specification} is not of the form Init /\\ [][Next]_v"
            raise SpecError(config.path, reason + " with named Init and Next")
        return found
    return config.init or _INIT, config.next or _NEXT


def _check(spec: SpecUnderTest) -> None:
    operators = spec.declarations.operators
    for name, levels, what in (
        (spec.init, (0, 1), "initial predicate"),
        (spec.next, (0, 1, 2), "next-state relation"),
    ):
        operator = operators.get(name)
        if operator is None or operator.arity or operator.level not in levels:
            raise SpecError(spec.module, f"{name} is no {what} of {spec.name}")
    for name in spec.invariants:
        found = operators.get(name)
        why = why_no_invariant(found.arity if found else None, found.level if found else 0)
        if why is not None:
            raise InvariantError(spec.module, name, why)
    for name, place in [(n, p) for n, places in spec.places.items() for p in places]:
        assert len(place.bounds) == operators[name].arity


def differing_constants(spec: SpecUnderTest, constants: State) -> list[str]:
    """Name the constants of a trace's header that the specification has with another value."""
    return differing_values(spec.values, constants)

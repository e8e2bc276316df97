"""Compile a specification under a configuration: SANY's XML to one Python module."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from tlatrace.compiler.emit_native.roles import NativeRoles
from tlatrace.compiler.emit_python.actions import Enumerations
from tlatrace.compiler.emit_python.conjuncts import FailingConjuncts
from tlatrace.compiler.emit_python.expressions import Expressions
from tlatrace.compiler.emit_python.predicates import Claim, Predicates, claim
from tlatrace.compiler.emit_python.writer import Writer
from tlatrace.compiler.ir.analysis import definition_kind
from tlatrace.compiler.ir.nodes import Apply, Definition, Expr, Variable
from tlatrace.compiler.job import Job
from tlatrace.compiler.lower.reader import Reader
from tlatrace.compiler.lower.scope import Redirect, Scope
from tlatrace.compiler.model_source import Assumption, InstanceSource, ModelSource, NativeSource
from tlatrace.compiler.passes.instances import Cell, Instances
from tlatrace.compiler.passes.mentions import model_values_of, strings_of
from tlatrace.compiler.passes.paths import Paths, definitions_below, find_paths
from tlatrace.compiler.passes.types import infer
from tlatrace.errors import InvariantError, SpecError, SubsetError
from tlatrace.readings import Types
from tlatrace.runtime.values import RuntimeValue, from_runtime
from tlatrace.tla.operator import why_no_invariant
from tlatrace.tla.sany_nodes import location_of
from tlatrace.values import canonical

__all__ = ["compile_tree", "deeply", "require_booleans", "types_of"]

T = TypeVar("T")

_ACTION_LEVEL: Final = 2

_NO_BOOLEAN: Final = {
    "atom": "a model value",
    "function": "a function",
    "int": "an integer",
    "set": "a set",
    "string": "a string",
}
"""In words, the kinds of values that no state makes a boolean."""

_STACK_BYTES: Final = 256 * 1024 * 1024
_RECURSION: Final = 20_000
_MAX_LINES: Final = 300_000


def compile_tree(job: Job) -> ModelSource:
    """Compile in a thread with a large stack: specifications nest deeper than Python likes.

    Raises:
        SubsetError: the specification uses TLA+ outside `spec/SUBSET.md`, or is too large.
        SpecError: an operator or a constant is missing.
    """
    return deeply(lambda: _compile(job))


def deeply(work: Callable[[], T]) -> T:
    """Do something in a thread with a large stack.

    Raises:
        SubsetError: even that is not large enough.
    """
    result: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            result.append(work())
        except BaseException as error:  # handed to the caller's thread
            failure.append(error)

    size, limit = threading.stack_size(_STACK_BYTES), sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(max(limit, _RECURSION))
        thread = threading.Thread(target=run, name="compile")
        thread.start()
    finally:
        threading.stack_size(size)
    thread.join()
    sys.setrecursionlimit(limit)
    if failure:
        if isinstance(failure[0], RecursionError):
            raise SubsetError("the specification", "it is nested too deeply") from failure[0]
        raise failure[0]
    return result[0]


def _compile(job: Job) -> ModelSource:
    reader = Reader(
        job.tree, job.folders, job.overrides, job.module_overrides, choose_any=job.choose_any
    )
    try:
        return _written(job, reader)
    except SubsetError as error:
        raise reader.sources.shown(error) from error


def _written(job: Job, reader: Reader) -> ModelSource:
    if job.assumptions and not reader.variables:
        return _without_behaviour(job, reader)
    if job.specification is not None:
        init, next_name = reader.behaviours.behaviour(job.specification)
        job = replace(job, init=init, next=next_name)
    same = None
    if job.specification is not None and job.stuttering:
        same = reader.behaviours.unchanged()
    writer = Writer(len(reader.variables))
    expressions = Expressions(writer)
    predicates = Predicates(writer, expressions)
    failing = FailingConjuncts(writer, expressions)
    enumerations = Enumerations(writer, expressions, reader.variables)
    next_definition = reader.definition(job.next)
    names = {
        "next": predicates.condition(next_definition),
        "initial": predicates.condition(reader.definition(job.init)),
        "steps": enumerations.steps(next_definition),
        "initials": enumerations.initial(reader.definition(job.init, primed=True)),
    }
    if same is not None:
        names["box"] = predicates.formula("same", same)
    actions = _actions(reader, next_definition, predicates, enumerations, names)
    _require_invariants(job, reader)
    for role, wanted in (
        ("invariant", job.invariants),
        ("constraint", job.constraints),
        ("action constraint", job.action_constraints),
    ):
        for name in wanted:
            names[f"{role} {name}"] = predicates.condition(reader.definition(name))
    said = _properties(job, reader, predicates, names)
    instances: list[InstanceSource] = []
    conjuncts: list[Instances] = []
    for name in job.invariants:
        for at, (function, found) in enumerate(predicates.instances(reader.definition(name))):
            role = f"instances {at} of {name}"
            names[role] = function
            instances += [_instance(role, *choice) for choice in found.choices]
            conjuncts.append(found)
    for name in job.expressions:
        if reader.operators().get(name, (0, 0))[1] >= _ACTION_LEVEL:
            raise SpecError(reader.module, f"{name} has primes, so it has no value in a state")
        names[f"expression {name}"] = predicates.expression(reader.definition(name))
    if job.conjuncts:
        _write_failing(actions, failing, names)
        initial = reader.definition(job.init).expression
        names["failing initial"] = failing.action("Init", (), initial)
    assumptions = _assumptions(reader, predicates, names) if job.assumptions else ()
    native = _native(job, reader, actions, same, said, conjuncts) if job.native else None
    source = _source(job, reader, writer, names)
    arities = {name: len(action.claim.parameters) for name, action in actions.items()}
    return replace(
        source,
        actions=tuple(sorted(arities.items())),
        invariants=(*job.invariants, *[name for name in said if f"invariant {name}" in names]),
        properties=tuple(said),
        init=job.init,
        next=job.next,
        conjuncts=tuple(failing.conjuncts),
        instances=tuple(instances),
        assumptions=assumptions,
        types=types_of(job, reader, arities),
        native=native,
        box="" if same is None else _box_of(same, len(reader.variables)),
    )


def _native(
    job: Job,
    reader: Reader,
    actions: Mapping[str, _Action],
    same: Expr | None,
    said: Mapping[str, Mapping[str, Expr]],
    conjuncts: Sequence[Instances],
) -> NativeSource:
    """Write as flat Python what a step and a state are asked."""
    roles = NativeRoles(len(reader.variables))
    roles.of_state("initial", reader.definition(job.init).expression)
    roles.question("next", reader.definition(job.next).expression)
    if same is not None:
        roles.question("box", same)
    for name, action in actions.items():
        parameters = [parameter for parameter, _ in action.claim.parameters]
        roles.question(f"action {name}", action.claim.formula, parameters)
    for name in job.invariants:
        roles.of_state(f"invariant {name}", reader.definition(name).expression)
    for name in job.constraints:
        roles.of_state(f"constraint {name}", reader.definition(name).expression)
    for name in job.action_constraints:
        roles.question(f"action constraint {name}", reader.definition(name).expression)
    for formulas in said.values():
        for role, formula in formulas.items():
            roles.question(role, formula)
    for name in job.expressions:
        roles.value(f"expression {name}", reader.definition(name).expression)
    roles.rows(conjuncts)
    roles.steps(reader.definition(job.next), reader.definition(job.init, primed=True))
    written = roles.written()
    return NativeSource(
        text=written.text,
        functions=written.functions,
        constants=tuple([_text(value) for value in written.constants]),
        labels=written.labels,
        unlowered=written.unlowered,
    )


def _properties(
    job: Job, reader: Reader, predicates: Predicates, names: dict[str, str]
) -> dict[str, dict[str, Expr]]:
    """Write those that are no liveness, and compile; by name, then by role.

    One that is about every state is an invariant, which is what TLC calls it.
    """
    found: dict[str, dict[str, Expr]] = {}
    for name in job.properties:
        said = reader.behaviours.property(name)
        if said is None:
            continue
        roles = zip(("initial property", "property", "invariant"), said, strict=True)
        formulas = {
            f"{role} {name}": parts[0] if len(parts) == 1 else Apply("and", tuple(parts), None)
            for role, parts in roles
            if parts
        }
        try:
            names |= {role: predicates.formula(name, one) for role, one in formulas.items()}
        except SubsetError:
            continue
        found[name] = formulas
    return found


def _require_invariants(job: Job, reader: Reader) -> None:
    """Refuse what has no value in a state.

    Raises:
        InvariantError: an invariant is not defined, has parameters or speaks of steps; or its value
            is no boolean.
    """
    operators = reader.operators()
    for name in job.invariants:
        why = why_no_invariant(*operators.get(name, (None, 0)))
        if why is not None:
            raise InvariantError(reader.module, name, why)
    require_booleans(reader, job.invariants)


def require_booleans(reader: Reader, invariants: Sequence[str]) -> None:
    """Refuse an invariant that has a boolean in no state, by the outermost operator of its text.

    TLC stops at the first state. What is no boolean in some states only has no value there: it may
    be the state that is wrong.

    Raises:
        InvariantError: there is one.
        SubsetError: one of them uses TLA+ outside the subset.
    """
    for name in invariants:
        what = _NO_BOOLEAN.get(definition_kind(reader.definition(name)))
        if what is not None:
            raise InvariantError(reader.module, name, f"its value is {what}, and no boolean")


def _box_of(same: Expr, variables: int) -> str:
    """Tell whether that v is the same, of [][Next]_v, says so of each variable."""
    parts = same.operands if isinstance(same, Apply) and same.operator == "and" else (same,)
    kept = {
        item.operands[1].index
        for item in parts
        if isinstance(item, Apply) and isinstance(item.operands[1], Variable)
    }
    return "whole" if len(kept) == len(parts) == variables else "part"


def _without_behaviour(job: Job, reader: Reader) -> ModelSource:
    """Compile a module without variables: it has ASSUMEs, and nothing that could happen."""
    writer = Writer()
    names: dict[str, str] = {}
    assumptions = _assumptions(reader, Predicates(writer, Expressions(writer)), names)
    return replace(_source(job, reader, writer, names), assumptions=assumptions)


def _source(job: Job, reader: Reader, writer: Writer, names: Mapping[str, str]) -> ModelSource:
    """Collect what was written; nothing is said of behaviours yet."""
    text = writer.text()
    if text.count("\n") > _MAX_LINES:
        raise SubsetError(reader.module, f"its Python has more than {_MAX_LINES} lines")
    literals = [(name, _text(value)) for name, value in writer.literals.items()]
    return ModelSource(
        module=reader.module,
        fingerprint=job.fingerprint,
        variables=reader.variables,
        python=text,
        literals=tuple(literals),
        names=tuple(names.items()),
        values=tuple(
            [
                (name, _text(value))
                for name, value in job.overrides.items()
                if name in reader.constants and not isinstance(value, Redirect)
            ]
        ),
    )


def types_of(job: Job, reader: Reader, actions: Mapping[str, int]) -> Types:
    """Infer what may stand where in the states of a job's specification.

    Raises:
        SubsetError: one of its parts uses TLA+ outside the subset. An action that is no part of
            Next may; then nothing is known of its arguments.
    """
    values = [*job.overrides.values(), *job.module_overrides.values()]
    known = [value for value in values if not isinstance(value, Redirect)]
    next_definition = reader.definition(job.next)
    below = definitions_below(next_definition)
    named: dict[str, tuple[Definition | None, int]] = {}
    for name, arity in actions.items():
        try:
            named[name] = _meant(reader.definition(name), below), arity
        except SubsetError:
            named[name] = None, arity
    return infer(
        model_values_of(known),
        strings_of(job.tree, known),
        reader.variables,
        [reader.definition(job.init), next_definition],
        named,
        [reader.definition(name) for name in job.invariants],
        {name: reader.definition(name) for name in job.expressions},
    )


def _assumptions(
    reader: Reader, predicates: Predicates, names: dict[str, str]
) -> tuple[Assumption, ...]:
    """Write those that compile; none of another one's steps depends on one that does not."""
    found: list[Assumption] = []
    for number, node in enumerate(reader.assumed(), start=1):
        body, place = node.find("body/*"), location_of(node)
        assert body is not None
        role: str | None = f"assumption {number}"
        try:
            definition = Definition(
                name="ASSUME",
                key=f"assume_{number}",
                parameters=(),
                operator_parameters=frozenset(),
                body=reader.expr(body, Scope({}, None, False, choose_any=reader.choose_any)),
                place=place,
            )
            names[str(role)] = predicates.condition(definition)
        except SubsetError:
            role = None
        found.append(Assumption(str(place), role))
    return tuple(found)


def _instance(
    role: str, elements: tuple[RuntimeValue, ...], cells: frozenset[Cell]
) -> InstanceSource:
    places = [(at, None if place is None else _text(place)) for at, place in cells]
    arguments = tuple([_text(element) for element in elements])
    return InstanceSource(role, arguments, tuple(sorted(places, key=str)))


def _text(value: RuntimeValue) -> str:
    return canonical(from_runtime(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Action:
    """An operator that a trace may name."""

    definition: Definition
    claim: Claim
    paths: Paths

    @property
    def is_listed(self) -> bool:
        """Whether Next's steps that are this action can be listed, and are worth it.

        What is only called as a part of other actions is none of Next's own.
        """
        return self.paths.unclear is None and not all(path.inside for path in self.paths.found)


def _write_failing(
    actions: Mapping[str, _Action], failing: FailingConjuncts, names: dict[str, str]
) -> None:
    """Write for each action which of its conjuncts is false, with the given parameters."""
    for name, action in actions.items():
        claimed = action.claim
        formula = claimed.formula
        if isinstance(formula, Apply) and formula.operator == "or":  # of several paths none holds
            formula = Apply("and", (claimed.call, formula), formula.place)
        names[f"failing {name}"] = failing.action(name, claimed.parameters, formula)
        if action.is_listed and (claimed.places or not claimed.parameters):
            names[f"parameters {name}"] = failing.parameters(
                name, claimed.parameters, claimed.places if claimed.parameters else ()
            )


def _actions(
    reader: Reader,
    next_definition: Definition,
    predicates: Predicates,
    enumerations: Enumerations,
    names: dict[str, str],
) -> dict[str, _Action]:
    """Write the actions that a trace may name: all operators of action level that compile."""
    below = definitions_below(next_definition)
    found: dict[str, _Action] = {}
    for name, (arity, level) in reader.operators().items():
        if level != _ACTION_LEVEL:
            continue
        definition: Definition | None = None
        try:
            definition = _meant(reader.definition(name), below)
            paths = find_paths(definition, next_definition)
            action = _Action(
                definition=definition,
                claim=claim(definition, next_definition, paths),
                paths=paths,
            )
            names[f"action {name}"] = predicates.action(definition, action.claim)
        except SubsetError:
            if definition in below and definition.operator_parameters == frozenset():
                raise
            continue  # no part of Next: nobody asked for it
        found[name] = action
        if action.is_listed:
            names[f"steps {name}"] = enumerations.steps_of(definition, paths.found)
            if arity:
                claimed = action.claim
                bound = enumerations.bound_steps(definition, claimed.parameters, claimed.formula)
                names[f"bound {name}"] = bound
    return found


def _meant(definition: Definition, below: Sequence[Definition]) -> Definition:
    """Return what Next calls by the name of an operator.

    Where an INSTANCE brings the name, it is the definition of the other module, which that module's
    Next calls.
    """
    if definition in below:
        return definition
    return next((item for item in below if item.is_same(definition)), definition)

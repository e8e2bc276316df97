"""Inferred types: everything that explored states and steps hold is expected where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from tests.traces.matching.test_bound_steps import reachable
from tlatrace.compiler.passes.mentions import Strings
from tlatrace.compiler.passes.paths import definitions_below
from tlatrace.compiler.passes.types import infer
from tlatrace.compiler.reading import read_tree
from tlatrace.oracle import Model, load_model
from tlatrace.readings import UNKNOWN, Kind, Types
from tlatrace.selfcheck.subjects import Subject, manifest_subjects, packaged_subjects
from tlatrace.tla.config import read_config
from tlatrace.tools.manifest import read_manifest
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.values import Fcn, ModelValue, TlaSet, Value

pytestmark = pytest.mark.java

STATES = 400
NO_STRINGS = Strings(frozenset(), False)
ALWAYS = frozenset(["Lockers", "Machinery", "MCShapes", "Parcels", "Stairs", "Words", "Workforce"])
SUBJECTS = [
    pytest.param(one, id=one.name, marks=() if one.name in ALWAYS else pytest.mark.slow)
    for one in [*packaged_subjects(), *manifest_subjects(read_manifest(find_spec_root()))]
]


def atoms(value: Value) -> Iterator[str]:
    match value:
        case str():
            yield value
        case ModelValue():
            yield value.name
        case tuple() | TlaSet():
            for item in value:
                yield from atoms(item)
        case Fcn():
            for pair in value.pairs:
                for part in pair:
                    yield from atoms(part)
        case _:
            pass


@dataclass(frozen=True)
class Judge:
    """Looks for what is not expected."""

    types: Types

    def missing(self, value: Value, place: Sequence[int]) -> Iterator[str]:
        kinds = [self.types.kinds[at] for at in place]
        if UNKNOWN in place:
            return
        match value:
            case str():
                if not any(kind.any_string or value in kind.strings for kind in kinds):
                    yield f'"{value}"'
            case ModelValue():
                if not any(value.name in kind.models for kind in kinds):
                    yield value.name
            case TlaSet():
                for item in value:
                    yield from self.missing(item, below([kind.element for kind in kinds]))
            case tuple():
                for at, item in enumerate(value, start=1):
                    yield from self.missing(item, images(kinds, at))
            case Fcn():
                for key, image in value.pairs:
                    yield from self.missing(key, below([kind.key for kind in kinds]))
                    yield from self.missing(image, images(kinds, key))
            case _:
                pass


def below(kinds: Sequence[int | None]) -> list[int]:
    return [kind for kind in kinds if kind is not None]


def images(kinds: Sequence[Kind], key: Value) -> list[int]:
    named = isinstance(key, str | int)
    return below([kind.field(str(key)) if named else kind.image for kind in kinds])


def types_of(subject: Subject, model: Model, names: frozenset[str]) -> Types:
    reader = read_tree(subject.module, read_config(subject.config), libraries=subject.libraries)
    config = read_config(subject.config)
    if config.specification is not None:
        init, following = reader.behaviours.behaviour(config.specification)
    else:
        init, following = config.init or "Init", config.next or "Next"
    step = reader.definition(following)
    called = {found.name: found for found in reversed(definitions_below(step))}
    actions = {
        name: (called.get(name) or reader.definition(name), arity)
        for name, arity in model.actions.items()
    }
    states = [reader.definition(init), step]
    return infer(names, NO_STRINGS, model.variables, states, actions, [], {})


@pytest.mark.parametrize("subject", SUBJECTS)
def test_init_and_next_tell_all_that_can_stand_anywhere(subject: Subject) -> None:
    model = load_model(subject.module, subject.config, libraries=subject.libraries)
    states = list(reachable(model, STATES))
    steps = [step for state in states[:100] for step in model.successors(state)]
    shown = [model.show(state) for state in states]
    names = frozenset([atom for state in shown for one in state.values() for atom in atoms(one)])
    params = [tuple([model.show_value(one) for one in step.params]) for step in steps]
    names |= frozenset([atom for some in params for one in some for atom in atoms(one)])
    types = types_of(subject, model, names)
    judge, variables = Judge(types), dict(types.variables)

    missing = {
        (name, gone)
        for state in shown
        for name, value in state.items()
        for gone in judge.missing(value, variables[name][1:])
    }
    places = dict(types.parameters)
    missing |= {
        (f"{step.action} {at}", gone)
        for step, some in zip(steps, params, strict=True)
        if step.action in places and len(places[step.action]) == len(some)
        for at, value in enumerate(some)
        for gone in judge.missing(value, places[step.action][at])
    }
    unknown = [name for name, place in types.variables if UNKNOWN in place]

    assert states
    assert missing == set()
    assert unknown == []

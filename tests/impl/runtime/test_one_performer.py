"""Every effect is looked at in one place, which performs it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, Final, get_args, get_origin, get_type_hints

import pytest

from rocketha.broker.connections import GroupCore
from rocketha.controller.applied import ControllerEffect
from rocketha.controller.core import AnswerRequest, ControllerCore, RefuseChannel
from rocketha.ha.connections import ReplicationCore
from rocketha.legacy_ha.connections import LegacyCore
from rocketha.locks.connections import ConsumerCore, ManagerCore
from rocketha.locks.consumer import ConsumerEffect
from rocketha.locks.voting import ManagerEffect
from rocketha.replicated_log import snapshot_effects
from rocketha.replicated_log.snapshot_core import SnapshotCore
from rocketha.replicated_log.snapshot_effects import SnapshotEffect
from rocketha.runtime import effects
from rocketha.runtime.core import Core

ROOT: Final = Path(__file__).parents[3]


def performers(names: set[str]) -> dict[str, set[str]]:
    """Find the modules that take effects apart, in the implementation and in the machines."""
    found: dict[str, set[str]] = {}
    sources = [*ROOT.glob("impl/**/*.py"), *ROOT.glob("model_tests/**/*.py")]
    for path in sources:
        for one in ast.walk(ast.parse(path.read_text())):
            for name in _kinds_asked(one) & names:
                found.setdefault(name, set()).add(path.relative_to(ROOT).as_posix())
    return found


def _kinds_asked(one: ast.AST) -> set[str]:
    """Return the classes that a pattern, or a call of isinstance, asks for."""
    match one:
        case ast.MatchClass(cls=ast.Name(id=name)):
            return {name}
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
            return {part.id for part in ast.walk(kinds) if isinstance(part, ast.Name)}
        case _:
            return set()


def test_effects_are_performed_in_one_place() -> None:
    names = set(effects.__all__) - {"Effect"}
    host, one = "impl/rocketha/runtime/node_host.py", "impl/rocketha/runtime/performers.py"
    patient = "model_tests/machines/manual_cluster.py"  # which lets questions wait
    assert performers(names) == {name: {one} for name in names - {"Then", "After"}} | {
        "Then": {host, patient},
        "After": {host},
    }


CORES: Final[list[type[Core[Any, Any, Any, Any]]]] = [
    ReplicationCore,
    LegacyCore,
    GroupCore,
    ManagerCore,
    ConsumerCore,
    ControllerCore,
    SnapshotCore,
]


@pytest.mark.parametrize("core", CORES)
def test_a_core_says_which_effects_its_steps_have(core: type[Core[Any, Any, Any, Any]]) -> None:
    returns = get_type_hints(core.step)["return"]
    for step in get_args(returns) or (returns,):
        [of_effects, _] = get_args(get_type_hints(get_origin(step) or step)["effects"])
        assert set(core.effects) == set(get_args(of_effects))


def test_effects_of_locks_are_written_as_requests_in_one_place() -> None:
    names = {effect.__name__ for effect in (*get_args(ManagerEffect), *get_args(ConsumerEffect))}
    assert len(names) == 7
    one, answered = "impl/rocketha/locks/connections.py", "impl/rocketha/sim/lock_quorum/cluster.py"
    assert performers(names - {"ProcessNext"}) == {name: {one} for name in names - {"ProcessNext"}}
    assert performers({"ProcessNext"}) == {"ProcessNext": {one, answered}}  # an answer to a client


def test_effects_of_a_controller_are_performed_in_one_place() -> None:
    names = {e.__name__ for e in (*get_args(ControllerEffect), AnswerRequest, RefuseChannel)}
    assert len(names) == 5
    proposals = "impl/rocketha/replicated_log/replicated_log.py"
    above_a_node = "impl/rocketha/controller/dledger_controller.py"  # its own node takes it
    assert performers({"Propose"}) == {"Propose": {proposals, above_a_node}}
    assert performers(names) == {name: {"impl/rocketha/controller/host.py"} for name in names}


def test_effects_of_a_node_with_snapshots_are_performed_in_one_place() -> None:
    names = {effect.__name__ for effect in get_args(SnapshotEffect)}
    kinds = {
        name
        for name in snapshot_effects.__all__
        if isinstance(kind := getattr(snapshot_effects, name), type)
        and issubclass(kind, effects.Effect)
    }
    assert len(names) == 12
    assert kinds == names
    one = "impl/rocketha/replicated_log/snapshot_performer.py"
    assert performers(names) == {name: {one} for name in names}

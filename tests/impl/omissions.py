"""Cores that leave something out, for tests of who notices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import pytest

from rocketha.runtime.effects import After

__all__ = ["Patch", "changes", "drops", "sleeps"]

Patch: TypeAlias = Callable[[pytest.MonkeyPatch], None]


def changes(core: type, changed: Callable[[Any, Any], Any]) -> Patch:
    """Change each effect of a core, by the event that it follows from; None drops it."""

    def put_in(patch: pytest.MonkeyPatch) -> None:
        whole: Any = vars(core)["step"]

        def step(self: Any, state: Any, event: Any, **named: Any) -> Any:
            done: Any = whole(self, state, event, **named)
            effects = [changed(event, effect) for effect in done.effects]
            return replace(done, effects=tuple([one for one in effects if one is not None]))

        patch.setattr(core, "step", step)

    return put_in


def drops(core: type, effect: type, *, after: type = object) -> Patch:
    """Drop effects of a kind that follow from events of a kind."""

    def changed(event: Any, one: Any) -> Any:
        return None if isinstance(one, effect) and isinstance(event, after) else one

    return changes(core, changed)


def sleeps(core: type, event: type, *, when: Callable[[Any], bool] = lambda _: True) -> Patch:
    """Do nothing when a time has come, in some states, and look again."""

    def put_in(patch: pytest.MonkeyPatch) -> None:
        whole: Any = vars(core)["step"]

        def step(self: Any, state: Any, taken: Any, **named: Any) -> Any:
            done: Any = whole(self, state, taken, **named)
            if not isinstance(taken, event) or not when(state):
                return done
            again = tuple([one for one in done.effects if isinstance(one, After)])
            return replace(done, state=state, effects=again, action=None)

        patch.setattr(core, "step", step)

    return put_in

"""A checker that knows answers by fingerprints: of another judge, or that everything is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tlatrace.corpus.checker import Checker
from tlatrace.corpus.fingerprint import digest, fingerprint
from tlatrace.judgement.transition import Allowed, Judgement

__all__ = ["AcceptSource", "AnswerSource"]


@dataclass(frozen=True, slots=True)
class AcceptSource:
    """Opens a checker that accepts everything."""

    def open(self) -> Checker[object]:
        """Make the checker."""
        return _Lookup({}, {})


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """Opens a checker that knows answers; hashable, because it crosses to workers."""

    steps: tuple[tuple[bytes, Judgement], ...]
    """Transitions that are not allowed."""
    states: tuple[tuple[bytes, tuple[str, ...], str | None], ...]
    """Digests of states with invariants that do not hold."""

    def open(self) -> Checker[object]:
        """Make the checker."""
        states = {key: (violated, reason) for key, violated, reason in self.states}
        return _Lookup(dict(self.steps), states)


@dataclass(frozen=True, slots=True)
class _Lookup:
    """A checker whose states are digests."""

    steps: Mapping[bytes, Judgement]
    states: Mapping[bytes, tuple[tuple[str, ...], str | None]]

    def state(self, text: str, /) -> object:
        return digest(text)

    def step(
        self, pre: object | None, action: str | None, params: str, post: object, /
    ) -> Judgement:
        assert pre is None or isinstance(pre, bytes), "made by `state`"
        assert isinstance(post, bytes), "made by `state`"
        return self.steps.get(fingerprint((pre, action, params, post)), Allowed())

    def invariants(self, state: object, /) -> tuple[tuple[str, ...], str | None]:
        assert isinstance(state, bytes), "made by `state`"
        return self.states.get(state, ((), None))

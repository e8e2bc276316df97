"""What performs a group of effects of a node, through its ports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, Protocol, TypeVar

__all__ = ["Performer", "RunningNode"]

E_co = TypeVar("E_co", covariant=True)
E_contra = TypeVar("E_contra", contravariant=True)
A_contra = TypeVar("A_contra", contravariant=True)


class RunningNode(Protocol[E_contra]):
    """The node whose effects are performed, as far as its performers know it."""

    @property
    def is_up(self) -> bool:
        """Tell whether it runs."""
        ...

    def take(self, event: E_contra) -> None:
        """Take an event and all that follows from it."""
        ...

    def hear(self, event: E_contra) -> None:
        """Take an event now, or after the one that is being taken."""
        ...

    def hear_next(self, event: E_contra) -> None:
        """Take an event right after the step under way, before all else that follows from it."""
        ...


class Performer(ABC, Generic[E_co, A_contra]):
    """Performs some effects of a node, and tells it what comes of them, with events `E`."""

    effects: ClassVar[tuple[object, ...]]
    """The classes of effects that it performs."""
    node: RunningNode[E_co]
    """Whose they are; its host says it."""

    @abstractmethod
    def perform(self, effect: Any, action: A_contra | None) -> None:
        """Perform an effect, of a step that may be an action of the specification."""

    def stop(self) -> None:
        """Forget everything that is not in a file: the node stops."""

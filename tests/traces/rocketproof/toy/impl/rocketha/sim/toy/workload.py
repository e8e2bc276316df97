"""What happens in a run: the master sends, and somebody reads the slaves at the end."""

from __future__ import annotations

from dataclasses import dataclass

from rocketha.histories.verdicts import AllKept, AnyVerdict, Broken, Promise, Undecided
from rocketha.sim.toy.cluster import ToyCluster

__all__ = ["CopiesInOrder", "ToyReaders", "ToyWorkload"]


class ToyWorkload:
    """A cluster, for the engine."""

    def __init__(self, cluster: ToyCluster) -> None:
        """Prepare it; nothing happens yet."""
        self._cluster = cluster
        self._before: dict[int, int] | None = None
        """The length of each copy when the faults ended."""

    @property
    def actions(self) -> int:
        """Return the number of actions so far."""
        return self._cluster.actions

    def begin(self) -> None:
        """Let the master send."""
        self._cluster.start()

    def heal(self) -> None:
        """End all faults."""
        self._cluster.calm = True
        self._before = {slave: len(copy) for slave, copy in self._cluster.copies().items()}

    def converged(self) -> bool:
        """Tell whether every slave has got a message since the faults ended."""
        before, copies = self._before, self._cluster.copies()
        return before is not None and all(len(copies[one]) > before[one] for one in copies)

    def unavailable_because(self) -> str | None:
        """Return None: everybody is there."""
        return None

    def clients(self, *, converged: bool) -> ToyReaders:
        """Return what a reader of the slaves gets."""
        del converged
        return ToyReaders(tuple(self._cluster.copies().values()))


@dataclass(frozen=True, slots=True)
class CopiesInOrder(AllKept):
    """Every slave has what the master wrote, in its order."""

    messages: int

    @property
    def counted(self) -> int:
        """Return the number of messages that were read."""
        return self.messages

    def in_words(self) -> str:
        """Say it in a line."""
        return f"kept: {self.messages} messages read"


@dataclass(frozen=True, slots=True)
class ToyReaders:
    """Whoever reads the logs of the slaves."""

    copies: tuple[tuple[int, ...], ...]

    def check(self) -> AnyVerdict:
        """Hold the copies against the order in which the master wrote."""
        for copy in self.copies:
            if copy != tuple(range(1, len(copy) + 1)):
                return Broken(promise=Promise.ORDER, reason=f"a slave has {list(copy)}")
        messages = sum(map(len, self.copies))
        return CopiesInOrder(messages) if messages else Undecided(reason="nothing was copied")

    def content(self) -> bytes:
        """Return all that was read."""
        return repr(self.copies).encode()

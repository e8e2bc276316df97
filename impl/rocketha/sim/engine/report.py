"""What came out of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["SimReport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimReport:
    """The figures of one run."""

    seed: int
    actions: int
    """Actions that were reported to the observer."""
    virtual_ms: int
    faults: Mapping[str, int]
    """Fault -> how often it struck; only those that did."""
    converged: bool
    """After the faults ended, all brokers came to have the bytes of their master's log, as far as
    their protocol promises it, and the master knew. False is a failure of liveness."""
    failure: str | None = None
    """Why the run ended early: a bug that is switched on made a core ask the impossible."""
    unavailable_because: str | None = None
    """Why the cluster could not converge, whatever its brokers had done."""

    @property
    def lives(self) -> bool:
        """Tell whether it converged, or could not."""
        return self.converged or (self.failure is None and self.unavailable_because is not None)

"""How many of a sample were rejected, and between which bounds the rate of all mutations lies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

__all__ = ["Rate"]

_Z: Final = 1.959964
"""Of a normal distribution 95 % lie within so many standard deviations."""


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of so many."""

    rejected: int
    of: int

    @property
    def percent(self) -> float:
        """Return the rate in the sample; 0 of an empty one."""
        return 100 * self.rejected / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Return Wilson's interval of 95 %, in percent.

        Source: E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference
        (1927)
        """
        if not self.of:
            return 0.0, 100.0
        share, spread = self.rejected / self.of, _Z * _Z / self.of
        middle = share + spread / 2
        width = _Z * math.sqrt(share * (1 - share) / self.of + spread / (4 * self.of))
        low, high = (middle - width) / (1 + spread), (middle + width) / (1 + spread)
        return 100 * max(0.0, low), 100 * min(1.0, high)

    def text(self) -> str:
        """Say it: "34 of 40, 85 % (71 to 93)"."""
        low, high = self.interval
        return f"{self.rejected} of {self.of}, {self.percent:.0f} % ({low:.0f} to {high:.0f})"

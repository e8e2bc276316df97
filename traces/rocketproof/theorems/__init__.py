"""The theorems about the protocols, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from rocketproof.theorems import consistent_point
from tlatrace.proofs import Theorem

__all__ = ["THEOREMS"]

THEOREMS: Final[Mapping[str, Callable[[int], Theorem]]] = MappingProxyType(
    {"ConsistentPoint": consistent_point.theorem}
)
"""name -> the theorem for caches (or whatever it is about) of at most so many entries."""

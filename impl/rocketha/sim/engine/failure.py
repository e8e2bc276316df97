"""Why a run ends early."""

from __future__ import annotations

__all__ = ["CoreFailure"]


class CoreFailure(Exception):
    """A node has failed, by a bug that is switched on or by one that nobody knows; the run ends."""

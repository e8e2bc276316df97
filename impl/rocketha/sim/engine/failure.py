"""Why a run ends early."""

from __future__ import annotations

__all__ = ["CoreFailure"]


class CoreFailure(Exception):
    """A bug that is switched on made a core ask what cannot be done; the run ends here."""

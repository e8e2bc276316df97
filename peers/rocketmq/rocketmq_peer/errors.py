"""The errors of this package: what a user reads when a group of Java processes cannot run."""

from __future__ import annotations

from rocketha.errors import RockethaError

__all__ = ["PeerError", "ProcessError", "ToolMissingError"]


class PeerError(RockethaError):
    """Something that is asked of a group of released RocketMQ and cannot be; one line."""


class ToolMissingError(PeerError):
    """The machine has no program that this needs; the message says which, and what to install."""


class ProcessError(PeerError):
    """A process did not do what it was started for: it ended, or did not answer in time."""

"""Whom the brokers of a simulated group answer."""

from __future__ import annotations

from typing import Protocol

from rocketha.broker.effects import AnswerPull, AnswerPut
from rocketha.types import BrokerId

__all__ = ["Callers"]


class Callers(Protocol):
    """Producers and consumers, to whom brokers answer."""

    def put_answered(self, broker: BrokerId, answer: AnswerPut) -> None:
        """Hear what became of a message."""
        ...

    def pull_answered(self, broker: BrokerId, answer: AnswerPull) -> None:
        """Hear what the log has."""
        ...

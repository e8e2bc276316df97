"""The rules of a broker among name servers: each is an operator of Route."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rocketha.types import BrokerId

__all__ = ["RULES", "ActingRules", "Role"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """What the controller has said that a broker is."""

    broker_id: BrokerId
    """0: the master."""
    epoch: int


def knows_role(role: Role | None) -> bool:
    """Tell whether a broker may register: if it knows as what.

    Spec: Route!KnowsRole
    """
    return role is not None


def is_to_serve(acting: bool, broker_id: BrokerId, own_id: BrokerId, smallest: BrokerId) -> bool:
    """Tell whether a broker runs a master's services: a slave that knows of no smaller brokerId.

    Spec: Route!IsToServe
    """
    return acting and broker_id == own_id and smallest == own_id


@dataclass(frozen=True, slots=True, kw_only=True)
class ActingRules:
    """When a broker registers, and when it acts."""

    knows_role: Callable[[Role | None], bool] = knows_role
    is_to_serve: Callable[[bool, BrokerId, BrokerId, BrokerId], bool] = is_to_serve


RULES: Final = ActingRules()
"""The rules as the specification has them."""

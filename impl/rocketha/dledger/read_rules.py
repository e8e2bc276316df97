"""The rules of reads without an entry in the log: each is an operator of Register."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rocketha.types import LogIndex, Term

__all__ = ["READ_RULES", "ReadRules"]


def may_read(leads: bool) -> bool:
    """Tell whether a member answers reads: who leads does.

    Spec: Register!MayRead
    """
    return leads


def knows_committed(committed: Term | None, curr_term: Term) -> bool:
    """Tell whether a leader knows what is committed: an entry of its own term is.

    Spec: Register!KnowsCommitted
    """
    return committed == curr_term


def is_confirmed(majority_follows: bool) -> bool:
    """Tell whether a leader led when it was asked: heartbeats that it sent since say so.

    Spec: Register!IsConfirmed
    """
    return majority_follows


def has_applied(applied: LogIndex, noted: LogIndex) -> bool:
    """Tell whether the state machine has what was committed when the read was asked for.

    Spec: Register!HasApplied
    """
    return applied >= noted


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRules:
    """Who answers reads, and when."""

    may_read: Callable[[bool], bool] = may_read
    knows_committed: Callable[[Term | None, Term], bool] = knows_committed
    is_confirmed: Callable[[bool], bool] = is_confirmed
    has_applied: Callable[[LogIndex, LogIndex], bool] = has_applied


READ_RULES: Final = ReadRules()
"""The rules as the specification has them."""

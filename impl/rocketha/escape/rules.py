"""The rules of a slave that acts, and of masters that get what is due: operators of Escape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from rocketha.formats.due_messages import COMMITTED
from rocketha.formats.pop_messages import Popped

__all__ = ["RULES", "EscapeRules"]

_Masters: TypeAlias = frozenset[str]
"""Their brokerNames."""


def asks() -> bool:
    """Tell whether a slave asks a name server which masters there are.

    Spec: Escape!Asks
    """
    return True


def targets(known: _Masters, local: _Masters) -> _Masters:
    """Return to which masters a slave may put: those in its process, if it knows of one.

    Spec: Escape!Targets
    """
    return known & local or known


def may_put_here(is_again: bool) -> bool:
    """Tell whether a slave may append to its own log; `is_again`: a put has failed.

    Spec: Escape!MayPutHere
    """
    return False


def may_pass(is_heard: bool, has_ended: bool, is_under: bool, has_failed: bool) -> bool:
    """Tell whether progress passes a record: a master has it, or its producer has ended it.

    What released programs pass besides, `rocketha.escape.services` says.

    Spec: Escape!MayPass
    """
    return is_heard or has_ended


def written(progress: int, waits: bool) -> int:
    """Return what is written to the disk as progress; it `waits` for the answer to a put.

    Spec: Escape!Written
    """
    return progress


def shows(is_half: bool) -> bool:
    """Tell whether what is put can be read as soon as it is stored.

    Spec: Escape!Shows
    """
    return not is_half


def is_committed(how: int | None) -> bool:
    """Tell whether a half message may be read; None: its producer was not asked yet.

    Spec: Escape!IsCommitted
    """
    return how == COMMITTED


def may_hold(master: str, of: _Masters) -> bool:
    """Tell whether a check point may go to a master; `of` those to which a slave may put.

    Spec: Escape!MayHold
    """
    return master in of


def may_ack(master: str, holder: str, of: _Masters) -> bool:
    """Tell whether an ACK may go to a master; `holder` has its check point.

    Spec: Escape!MayAck
    """
    return master == holder


def may_accept(is_stored: bool) -> bool:
    """Tell whether a consumer is told that its ACK is stored.

    Spec: Escape!MayAccept
    """
    return is_stored


def cancels(check_point: Popped, ack: Popped) -> bool:
    """Tell whether an ACK is that of a check point.

    Spec: Escape!Cancels
    """
    return check_point == ack


@dataclass(frozen=True, slots=True, kw_only=True)
class EscapeRules:
    """Where what is due may go, and what becomes of it there."""

    asks: Callable[[], bool] = asks
    targets: Callable[[_Masters, _Masters], _Masters] = targets
    may_put_here: Callable[[bool], bool] = may_put_here
    may_pass: Callable[[bool, bool, bool, bool], bool] = may_pass
    written: Callable[[int, bool], int] = written
    shows: Callable[[bool], bool] = shows
    is_committed: Callable[[int | None], bool] = is_committed
    may_hold: Callable[[str, _Masters], bool] = may_hold
    may_ack: Callable[[str, str, _Masters], bool] = may_ack
    may_accept: Callable[[bool], bool] = may_accept
    cancels: Callable[[Popped, Popped], bool] = cancels


RULES: Final = EscapeRules()
"""The rules as the specification has them."""

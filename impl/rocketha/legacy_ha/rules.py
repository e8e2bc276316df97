"""The rules of replication without a controller: each is an operator of LegacyReplication."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rocketha.ha.rules import continues_at
from rocketha.ha.state import NOT_YET
from rocketha.types import HaAddress, Offset

__all__ = ["LEGACY_RULES", "LegacyRules", "SaidOnConnection"]

SaidOnConnection: TypeAlias = tuple[HaAddress | None, Offset]
"""Which slave has a connection, and what it last said there of its log."""


def accepts_report(report: Offset, log_end: Offset, last: Offset) -> bool:
    """Tell whether a report can be about this log; `last` is the one before, or NOT_YET.

    Spec: LegacyReplication!AcceptsReport
    """
    return report <= log_end


def start_for_empty(last_file: Offset, waited_for: Sequence[Offset]) -> Offset:
    """Return where the transfer to a slave without a log starts: before what is waited for.

    Spec: LegacyReplication!StartForEmpty
    Source: DefaultHAConnection.WriteSocketService.run
    """
    return min([last_file, *waited_for])


def acknowledged(said: Sequence[SaidOnConnection], end: Offset) -> int:
    """Count the slaves that have the log up to `end`, by what each last said.

    In the source every connection counts until it is removed.

    Spec: LegacyReplication!Acknowledged, LegacyReplication!AckOf, LegacyReplication!Ends
    Source: GroupTransferService.doWaitTransfer
    """
    acks = {host: ack for host, ack in said if ack != NOT_YET}
    return sum(ack >= end for ack in acks.values())


def slaves_to_wait_for(need: int) -> int:
    """Return how many slaves must have a message.

    Spec: LegacyReplication!SlavesToWaitFor
    """
    return need


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyRules:
    """Which reports a master takes, for whom it waits, and what a slave appends."""

    accepts_report: Callable[[Offset, Offset, Offset], bool] = accepts_report
    start_for_empty: Callable[[Offset, Sequence[Offset]], Offset] = start_for_empty
    acknowledged: Callable[[Sequence[SaidOnConnection], Offset], int] = acknowledged
    slaves_to_wait_for: Callable[[int], int] = slaves_to_wait_for
    continues_at: Callable[[Offset, Offset, bool], Offset | None] = continues_at


LEGACY_RULES: Final = LegacyRules()
"""The rules as the specification has them."""

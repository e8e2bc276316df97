"""Where a broker of a group must not end: between what ReplicaGroup takes for one.

It has neither the files of a broker nor what a disk loses while the broker is down. A slave that
ends between storing an epoch and appending its first record, or between cutting its log and storing
its epochs, has lost nothing that its group counts on, but the specification knows such a log only
as a torn one. EpochTruncation, which has the files, has these crash points.

The confirmOffset moves in a step of its own, and for SyncStateSet with the step that asks for it.
"""

from __future__ import annotations

from typing import Any, Final

from rocketha.broker.events import ConfirmDue
from rocketha.runtime.effects import AppendLog, StoreEpochs, Then, TruncateLog
from rocketha.runtime.events import MessageAppended
from rocketha.runtime.ports import StepUnderWay

__all__ = ["is_one_for_the_group"]

_PAIRS: Final = (((StoreEpochs,), (AppendLog,)), ((TruncateLog,), (StoreEpochs,)))


def is_one_for_the_group(step: StepUnderWay[Any, Any]) -> bool:
    """Tell whether a step is between two effects of which the specification knows only both."""
    if isinstance(step.event, ConfirmDue) and not step.done:
        return True
    if isinstance(step.event, MessageAppended) and Then(event=ConfirmDue()) in step.rest:
        return True
    return any(
        any(isinstance(effect, first) for effect in step.done)
        and any(isinstance(effect, then) for effect in step.rest)
        for first, then in _PAIRS
    )

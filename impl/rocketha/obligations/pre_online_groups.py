"""What a slave makes of an answer that says who is in its group.

The table is in `rocketha.obligations.pre_online`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from rocketha.obligations.obligation import Due, RecordedRun, due_in_step
from rocketha.obligations.pre_online_brokers import slaves
from rocketha.obligations.seen import Seen, members_heard
from rocketha.recording.record import STOPPED
from rocketha.types import MASTER

__all__ = ["groups_taken", "hears_that_its_master_is_gone", "masters_forgotten"]


def groups_taken(run: RecordedRun) -> Iterator[Due]:
    """Whoever has the smallest brokerId acts, and whose master is not there copies nobody."""
    for broker in slaves(run):
        own = broker.settings["broker_id"]
        for one in broker.seen:
            for group in members_heard(run, one):
                acts = one.state["serves"]
                copies = one.state["master_address"] is not None
                done = acts == (min(group) == own) and (MASTER in group or not copies)
                numbers = ", ".join(map(str, sorted(group)))
                yield due_in_step(one.record, f"do as its group is: {numbers}", is_done=done)


def masters_forgotten(run: RecordedRun) -> Iterator[Due]:
    """Whoever hears that its master is gone connects to nobody from the next step on."""
    for broker in slaves(run):
        for one, following in pairwise(broker.seen):
            stops = following.record.event == STOPPED
            if not stops and hears_that_its_master_is_gone(run, one):
                done = following.state.get("ha_address") is None
                yield due_in_step(following.record, "forget its master", is_done=done)


def hears_that_its_master_is_gone(run: RecordedRun, seen: Seen) -> bool:
    """Tell whether a slave hears that who is its master is not in the group."""
    had_master = seen.before.get("master_address") is not None
    return had_master and any(MASTER not in group for group in members_heard(run, seen))

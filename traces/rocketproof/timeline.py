"""A recorded run as text: one line an action, with what it changed.

    ms  node        action                    what changed
     0  controller  ElectMaster(b2)           ctl: b2 is master of epoch 1
    17  b2          BecomeMaster(b2)          b2: Slave -> Master, epochs [1@0-]

An epoch is `epoch@start-end`, in records, without the end where it has none; a log is the epochs of
its records. `+` and `-` in front of a packet: it was sent to the slave, the slave has processed it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rocketproof.broker_timeline import broker_changes
from rocketproof.protocols import PROTOCOLS
from rocketproof.timeline_text import plain
from tlatrace.trace import Event, Trace
from tlatrace.values import State

__all__ = ["timeline"]

_COLUMNS: Final = "{:>7}  {:<10}  {:<24}  {}"


def timeline(trace: Trace) -> Iterator[str]:
    """Yield the lines of the timeline, the heading first."""
    yield _COLUMNS.format("ms", "node", "action", "what changed")
    header = trace.header
    of_spec = {plug.spec: plug.changes for plug in PROTOCOLS.values()}
    changes = of_spec.get(header.spec, broker_changes) if header else broker_changes
    before: State | None = None
    for event in trace.events:
        what = "the initial state" if before is None else changes(before, event.state or {})
        yield _COLUMNS.format(event.clock or 0, event.node or "", _call(event), what).rstrip()
        before = event.state


def _call(event: Event) -> str:
    params = ", ".join(plain(param) for param in event.params)
    return f"{event.action}({params})" if params else str(event.action)

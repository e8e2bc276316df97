"""What an action of Toy changed, in words.

ms  node  action          what changed
 0  b1    Send(b2)        sent b2: 1
 4  b2    Receive(b2, 1)  copy b2: [1]
"""

from __future__ import annotations

from rocketproof.timeline_text import fields_of, plain
from tlatrace.values import State

__all__ = ["toy_changes"]


def toy_changes(before: State, after: State) -> str:
    """Say what is new."""
    return "; ".join(
        f"{variable} {slave}: {plain(value)}"
        for variable in after
        for slave, value in fields_of(after[variable]).items()
        if fields_of(before[variable])[slave] != value
    )

"""The search of Wing, Gong and Lowe as textbooks have it, which knows nothing of registers.

Calls and returns are one doubly linked list. Whatever was called before the first return may be
next; it is lifted out of the list with its return, and put back if that leads nowhere. What was met
before is a mask of all operations and a state. It is what ours is measured and checked against.

Source: Lowe, "Testing for linearizability", 2017, figure 5
"""

from __future__ import annotations

from collections.abc import Sequence

from rocketha.histories import Outcome
from rocketha.histories.linearizability import Kind, Operation, Value


def is_linearizable(operations: Sequence[Operation], budget: int) -> bool | None:
    """Tell whether operations of one key are; None: the budget of steps ended first."""
    count = len(operations)
    events = sorted(
        [(one.called_at, 0, at) for at, one in enumerate(operations)]
        + [
            (one.returned_at, 1, at)
            for at, one in enumerate(operations)
            if one.outcome is Outcome.OK and one.returned_at is not None
        ]
    )
    left = count - sum(one.outcome is Outcome.OK for one in operations)
    answered = count - left
    # Node 0 is the head, 1 to `count` are calls, the next ones are returns.
    nodes = [at + 1 if kind == 0 else at + 1 + count for _, kind, at in events]
    following = [0] * (2 * count + 1)
    before = [0] * (2 * count + 1)
    for node, after in zip([0, *nodes], [*nodes, 0], strict=True):
        following[node], before[after] = after, node
    met: set[tuple[int, Value]] = set()
    chosen: list[tuple[int, int, Value, int]] = []
    holds: Value = None
    mask = 0
    node = following[0]
    for _ in range(budget):
        if answered == 0:
            return True
        if 0 < node <= count:
            one = operations[node - 1]
            then = _applied(one, holds)
            bit = 1 << node
            if then is not None and (mask | bit, then[0]) not in met:
                met.add((mask | bit, then[0]))
                chosen.append((node, mask, holds, answered))
                for lifted in (node, node + count) if one.outcome is Outcome.OK else (node,):
                    following[before[lifted]] = following[lifted]
                    before[following[lifted]] = before[lifted]
                answered -= one.outcome is Outcome.OK
                mask, holds = mask | bit, then[0]
                node = following[0]
            else:
                node = following[node]
            continue
        if not chosen:
            return False
        node, mask, holds, answered = chosen.pop()
        ok = operations[node - 1].outcome is Outcome.OK
        for lifted in (node + count, node) if ok else (node,):
            following[before[lifted]] = before[following[lifted]] = lifted
        node = following[node]
    return None


def _applied(one: Operation, holds: Value) -> tuple[Value] | None:
    """Return what the register holds then, or None if the answer is wrong."""
    if one.kind is Kind.WRITE:
        return (one.value,)
    if one.kind is Kind.READ:
        return (holds,) if one.value == holds else None
    if one.outcome is not Outcome.OK:
        return (one.value if holds == one.expected else holds,)
    if one.swapped:
        return (one.value,) if holds == one.expected else None
    return (holds,) if holds != one.expected else None

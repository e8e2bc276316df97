"""The toy specification Mailbox, written a second time: its steps as a table in Python."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tlatrace.judgement.transition import Transition
from tlatrace.values import ModelValue, State, Value, fcn, record

SPECS: Final = Path(__file__).with_name("specs")
NODES: Final = (ModelValue("n1"), ModelValue("n2"))
MAX: Final = 3
QUEUE: Final = 2

Toy = tuple[tuple[int, int], tuple[tuple[int, int], ...], int]
"""(sent by each node, queue of (node, number), total)."""
ToyStep = tuple[Toy, str, tuple[int, ...], Toy]

INITIAL: Final[Toy] = ((0, 0), (), 0)


def steps_from(toy: Toy) -> Iterator[tuple[str, tuple[int, ...], Toy]]:
    """Enumerate the steps of the specification; nodes are 0 and 1."""
    sent, queue, total = toy
    for node in (0, 1):
        for number in (1, 2):
            if sent[node] + number <= MAX and len(queue) < QUEUE:
                after = (sent[0] + number, sent[1]) if node == 0 else (sent[0], sent[1] + number)
                yield "Send", (node, number), (after, (*queue, (node, number)), total)
        if sent[node] == MAX:
            after = (0, sent[1]) if node == 0 else (sent[0], 0)
            yield "Forget", (node,), (after, queue, total)
    if queue:
        yield "Receive", (), (sent, queue[1:], total + queue[0][1])
    for at in range(len(queue)):
        yield "Drop", (at + 1,), (sent, queue[:at] + queue[at + 1 :], total)


def all_steps(limit: int) -> list[ToyStep]:
    """Enumerate the steps between the states that are reached first, breadth-first."""
    seen = {INITIAL}
    waiting = [INITIAL]
    steps: list[ToyStep] = []
    for toy in waiting:
        for action, params, after in steps_from(toy):
            steps.append((toy, action, params, after))
            if after not in seen:
                seen.add(after)
                waiting.append(after)
        if len(steps) >= limit:
            break
    return steps


def state_of(toy: Toy) -> State:
    """Write a state of the table as a state of the specification."""
    sent, queue, total = toy
    messages = [record({"from": NODES[node], "by": number}) for node, number in queue]
    return {
        "sent": fcn([(NODES[0], sent[0]), (NODES[1], sent[1])]),
        "queue": tuple(messages),
        "total": total,
    }


def transition_of(step: ToyStep) -> Transition:
    """Write a step of the table as a transition."""
    before, action, numbers, after = step
    params: tuple[Value, ...] = numbers
    if action in ("Send", "Forget"):
        params = (NODES[numbers[0]], *numbers[1:])
    return Transition(state_of(before), action, params, state_of(after))


def corrupted(step: ToyStep, draw: random.Random) -> ToyStep:
    """Change one value of a step: of its parameters, or of the state after it."""
    before, action, params, (sent, queue, total) = step
    match draw.randrange(5):
        case 0 if params:
            changed = list(params)
            at = draw.randrange(len(params))
            is_node = action in ("Send", "Forget") and at == 0
            changed[at] = 1 - changed[at] if is_node else changed[at] + draw.choice([-1, 1, 2])
            return before, action, tuple(changed), (sent, queue, total)
        case 1:
            bumped = (sent[0] + draw.choice([-1, 1]), sent[1])
            return before, action, params, (bumped, queue, total)
        case 2 if queue:
            at = draw.randrange(len(queue))
            other = (queue[at][0], 3 - queue[at][1])
            return before, action, params, (sent, (*queue[:at], other, *queue[at + 1 :]), total)
        case 3:
            other_action = draw.choice(["Receive", "Drop", "Send", "Forget"])
            arity = {"Receive": 0, "Drop": 1, "Send": 2, "Forget": 1}[other_action]
            drawn = tuple(draw.choice([0, 1]) for _ in range(arity))
            return before, other_action, drawn, (sent, queue, total)
        case _:
            return before, action, params, (sent, queue, total + draw.choice([-1, 1]))

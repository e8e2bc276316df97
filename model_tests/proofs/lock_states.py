"""What a state of LockQuorum says of one queue, and the same as formulas of the theorem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import z3

from rocketproof.theorems.lock_state import NOBODY, SOMEBODY, Group
from tlatrace.oracle import Model, ModelState
from tlatrace.runtime.values import Fcn, RuntimeValue

__all__ = ["NONE", "Lock", "after", "lock_of", "members", "part", "pinned", "whole"]

NONE: Final = "None"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """What a state says of one queue, and what the theorem adds to it; by name."""

    vote: Mapping[str, tuple[str, int, int]]
    """Of each broker: for whom, of which attempt, what is left."""
    wait: Mapping[str, int]
    tries: Mapping[str, int]
    asking: Mapping[str, tuple[int, frozenset[str]] | None]
    """Of each consumer: what is left of its patience, who has voted."""
    lease: Mapping[str, int]
    given: Mapping[str, int]
    promised: Mapping[str, str]
    still: Mapping[str, int]


def part(value: RuntimeValue, *keys: RuntimeValue | str) -> RuntimeValue:
    for key in keys:
        assert isinstance(value, Fcn)
        value = value[key]
    return value


def whole(value: RuntimeValue) -> int:
    assert isinstance(value, int)
    return value


def members(value: RuntimeValue) -> list[RuntimeValue]:
    assert isinstance(value, frozenset | Fcn)
    return sorted(value, key=str)


def lock_of(model: Model, state: ModelState, queue: RuntimeValue, before: Lock | None) -> Lock:
    """Read a state; what only the theorem knows is as it was before."""
    at = dict(zip(model.variables, state, strict=True))
    brokers, consumers = members(at["votes"]), members(at["tries"])
    votes = {str(r): part(at["votes"], r, queue) for r in brokers}
    attempts = {str(c): part(at["attempt"], c) for c in consumers}
    sent = {str(c): 0 if before is None else before.given[str(c)] for c in consumers}
    for release in members(at["frees"]):
        if queue in members(part(release, "qs")):
            c = str(part(release, "c"))
            sent[c] = max(sent[c], whole(part(release, "n")))
    return Lock(
        vote={
            r: (NONE, 0, 0)
            if str(part(vote, "c")) == NONE
            else (str(part(vote, "c")), whole(part(vote, "n")), whole(part(vote, "left")))
            for r, vote in votes.items()
        },
        wait={str(r): whole(part(at["wait"], r)) for r in brokers},
        tries={str(c): whole(part(at["tries"], c)) for c in consumers},
        asking={
            c: None
            if part(attempt, "n") == 0 or queue not in members(part(attempt, "qs"))
            else (
                whole(part(attempt, "left")) - 1,
                frozenset([str(r) for r in members(part(attempt, "yes", queue))]),
            )
            for c, attempt in attempts.items()
        },
        lease={str(c): whole(part(at["lease"], c, queue)) for c in consumers},
        given=sent,
        promised={str(r): NONE for r in brokers} if before is None else before.promised,
        still={str(r): 0 for r in brokers} if before is None else before.still,
    )


def after(
    model: Model,
    pre: Lock,
    action: str,
    params: tuple[RuntimeValue, ...],
    state: ModelState,
    queue: RuntimeValue,
) -> Lock:
    """Read the state after a step, and say what the theorem knows then."""
    post = lock_of(model, state, queue, pre)
    names = [str(param) for param in params]
    if action == "Tick":
        passed = whole(params[0])
        return replace(post, still={r: left - passed for r, left in pre.still.items()})
    if action == "ReceiveAsk":
        c, r = names
        if post.vote[r] != pre.vote[r] or post.asking[c] != pre.asking[c]:
            return replace(
                post,
                promised={**pre.promised, r: post.vote[r][0]},
                still={**pre.still, r: post.vote[r][2]},
            )
    if action == "ReceiveFree":
        _, r = names
        if post.vote[r] != pre.vote[r]:
            return replace(post, promised={**pre.promised, r: NONE})
    return post


def pinned(
    group: Group, lock: Lock, consumers: tuple[str, str | None]
) -> tuple[z3.BoolRef | bool, ...]:
    """Say that a state of the theorem is this one, for two consumers; what is over is 0 or less."""

    def code(who: str) -> int:
        if who == NONE:
            return NOBODY
        return consumers.index(who) + 1 if who in consumers else SOMEBODY

    facts: list[z3.BoolRef | bool] = []
    for r, name in enumerate(sorted(lock.vote)):
        who, attempt, left = lock.vote[name]
        facts.append(group.holder[r] == code(who))
        if who != NONE:
            facts.append(group.left[r] == left)
        if who in consumers:
            facts.append(group.number[r] == attempt)
        facts.append(group.wait[r] == lock.wait[name])
        facts.append(group.promised[r] == code(lock.promised[name]))
        facts.append(group.still[r] == lock.still[name])
    for c, consumer in enumerate(consumers):
        lease = 0 if consumer is None else lock.lease[consumer]
        facts.append(group.lease[c] == lease if lease else group.lease[c] <= 0)
        facts.append(group.tries[c] == (0 if consumer is None else lock.tries[consumer]))
        facts.append(group.given[c] == (0 if consumer is None else lock.given[consumer]))
        asking = None if consumer is None else lock.asking[consumer]
        facts.append(group.asking[c] if asking else z3.Not(group.asking[c]))
        if asking:
            patience, yes = asking
            is_over = patience < 0
            facts.append(group.patience[c] < 0 if is_over else group.patience[c] == patience)
            for r, name in enumerate(sorted(lock.vote)):
                facts.append(group.yes[c][r] == (name in yes))
    return tuple(facts)

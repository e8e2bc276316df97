"""What nodes are like in a model of Escape: the slave's log, its masters, and their clocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from rocketha.formats.due_messages import DELAYED_TOPIC, HALF_TOPIC, committed, op_message
from rocketha.formats.message import Message
from rocketha.sim.engine.node import broker_address
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.escape.plan import TOPIC, EscapePlan
from rocketha.types import HaAddress
from tlatrace.values import Fcn, TlaSet, Value

__all__ = ["StandingClock", "escape_plan", "image", "members"]

FLUSH_MS: Final = 2
"""Nothing else waits so long."""


class StandingClock(Scheduler):
    """Keeps what comes at once, and what a master writes to its disk."""

    def after(self, delay_ms: int, callback: Callable[[], None]) -> None:
        """Keep it, or have it never happen."""
        if delay_ms in (0, FLUSH_MS):
            super().after(delay_ms, callback)

    def run(self) -> None:
        """Let all that come."""
        while self.run_next(self.now_ms + FLUSH_MS):
            pass


def escape_plan(
    plan: EscapePlan, constants: Mapping[str, Value], said: Sequence[tuple[int, str]]
) -> EscapePlan:
    """Return a plan with the masters and the log of a model."""
    window, local = constants["Window"], constants["Local"]
    assert isinstance(window, int)
    assert isinstance(local, TlaSet)
    names = {broker_address(number): name for name, number in plan.slave.masters.items()}
    assert set(names) == set(members(constants["Master"]))
    slave = replace(
        plan.slave,
        local=frozenset(names[HaAddress(str(one))] for one in local),
        enable_remote_escape=constants["RemoteEscape"] is True,
        delayed_window=window,
        half_window=window,
        retry_ms=0,
    )
    return replace(
        plan,
        slave=slave,
        name_server=replace(plan.name_server, removal_ms=5),
        messages=tuple(_log(plan.messages, constants, said)),
        pops_max=len(members(constants["Pop"])),
        flush_ms=FLUSH_MS,
        gone=None,
    )


def _log(
    messages: Sequence[Message], constants: Mapping[str, Value], said: Sequence[tuple[int, str]]
) -> Iterator[Message]:
    """Yield what is in the slave's log: the first ones of those that were drawn."""
    popped = [one for one in messages if one.topic == TOPIC]
    delayed = [one for one in messages if one.topic == DELAYED_TOPIC]
    halves = [one for one in messages if one.topic == HALF_TOPIC]
    halves = halves[: len(members(constants["Half"]))]
    yield from popped
    for one in delayed[: len(members(constants["Delayed"]))]:
        yield replace(one, store_timestamp_ms=popped[0].store_timestamp_ms)
    yield from halves
    committed_before = 0
    for place, (half, how) in enumerate(said):
        if how == "commit":
            yield replace(committed(halves[half - 1]), queue_offset=committed_before)
            committed_before += 1
        yield replace(op_message((half - 1,)), queue_offset=place)


def members(value: Value) -> list[Value]:
    """Return the elements of a set."""
    assert isinstance(value, TlaSet)
    return list(value)


def image(value: Value, key: Value) -> Value:
    """Return what a function is for an element."""
    assert isinstance(value, Fcn)
    return value[key]

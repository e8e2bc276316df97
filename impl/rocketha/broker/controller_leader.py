"""Which of several controllers a broker asks: whoever leads, found and found again.

All controllers are asked who leads, from time to time, and at once when the one that the broker
follows refuses because it does not lead, or does not answer. Whoever says of itself that it leads
is followed rather than whoever others name, unless it is the one that was silent: a leader that
was cut off may not know yet that it leads no more.

A broker with one controller does none of this.

RocketMQ's follows the first leader that any controller names, and looks again by its timer alone.
It tells all controllers that it lives, as each has a table of its own; here that is in the log that
controllers share.

Source: ReplicasManager (`schedulingSyncControllerMetadata`, `updateControllerMetadata`,
`scanAvailableControllerAddresses`), broker/out `BrokerOuterAPI.getControllerMetaData`
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rocketha.broker.controller_calls import Answer, ask
from rocketha.broker.effects import GroupEffect, GroupStepped
from rocketha.broker.state import GroupBroker
from rocketha.formats.controller_requests import GetMetadataInfo
from rocketha.formats.controller_responses import MetadataInfo
from rocketha.types import TimestampMs

__all__ = ["doubt_leader", "leader_answered", "look_for_leader", "next_look_ms"]

_GAPS: Final = 4
"""While nobody is known to lead, controllers are asked so often in the time that a request has."""

_ROUNDS_MAX: Final = 3
"""Who is followed and was named in none of so many rounds is left for the next one."""


def next_look_ms(state: GroupBroker) -> TimestampMs | None:
    """Return when it asks again who leads; None: never, for there is one controller at most."""
    return state.search.ask_at_ms if _has_choice(state) else None


def look_for_leader(state: GroupBroker, *, now_ms: TimestampMs) -> GroupStepped:
    """Ask all controllers who leads, if it is time, but not one that has still to answer that.

    Source: ReplicasManager.updateControllerMetadata
    """
    if not _has_choice(state) or now_ms < state.search.ask_at_ms:
        return GroupStepped(state)
    options, search, controller = state.options, state.search, state.controller
    rounds = 0 if search.is_known else search.rounds + 1
    if rounds > _ROUNDS_MAX:
        rounds, controller = 1, (controller + 1) % len(options.controllers)
    gap_ms = options.sync_controller_metadata_ms if search.is_known else _gap_ms(state)
    state = replace(
        state,
        controller=controller,
        search=replace(
            search,
            asked_at_ms=now_ms,
            ask_at_ms=TimestampMs(now_ms + gap_ms),
            rounds=rounds,
        ),
    )
    sent: list[GroupEffect] = []
    for number in range(len(options.controllers)):
        if not _waits_for(state, number):
            state, send = ask(state, GetMetadataInfo(), now_ms=now_ms, controller=number)
            sent.append(send)
    return GroupStepped(state, tuple(sent))


def leader_answered(state: GroupBroker, answer: Answer, *, now_ms: TimestampMs) -> GroupBroker:
    """Follow whom an answer names, if it is one of the controllers that the broker knows.

    As long as somebody is followed and nothing speaks against it, only its own word and that of
    another one that says it leads itself count.

    Source: ReplicasManager.updateControllerMetadata
    """
    content, search = answer.reply.content, state.search
    if not isinstance(content, MetadataInfo):
        return state
    named = answer.controller if content.is_leader else _place(state, content.leader_address)
    if named is None:
        return state
    own_word = content.is_leader and named != search.doubted
    if search.is_known and not own_word and answer.controller != state.controller:
        return state
    found = replace(
        search,
        is_known=True,
        doubted=None if named == search.doubted else search.doubted,
        rounds=0,
        ask_at_ms=TimestampMs(search.asked_at_ms + state.options.sync_controller_metadata_ms),
    )
    follows = replace(state, controller=named, search=found)
    if named == state.controller != search.doubted:
        return follows
    return replace(follows, register_at_ms=now_ms, heartbeat_at_ms=now_ms, poll_at_ms=now_ms)


def doubt_leader(state: GroupBroker, controller: int, *, now_ms: TimestampMs) -> GroupBroker:
    """Take it that a controller does not lead, as it said or was silent: look for another one soon.

    It is followed until somebody is named, and nothing happens if it is followed no more.
    """
    if not _has_choice(state) or controller != state.controller:
        return state
    search = state.search
    soon_ms = max(now_ms, search.asked_at_ms + _gap_ms(state))
    return replace(
        state,
        search=replace(
            search,
            is_known=False,
            doubted=controller,
            ask_at_ms=TimestampMs(min(soon_ms, search.ask_at_ms)),
        ),
    )


def _has_choice(state: GroupBroker) -> bool:
    return len(state.options.controllers) > 1


def _gap_ms(state: GroupBroker) -> int:
    return max(1, state.options.request_timeout_ms // _GAPS)


def _waits_for(state: GroupBroker, controller: int) -> bool:
    return any(
        asked.controller == controller and isinstance(asked.request, GetMetadataInfo)
        for asked in state.asked.values()
    )


def _place(state: GroupBroker, address: str | None) -> int | None:
    """Find a controller; it is None or empty where no leader is known."""
    known = state.options.controllers
    return known.index(address) if address in known else None

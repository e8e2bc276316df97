"""The values of LockQuorum that several steps of a run have: each is made once."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final, TypeAlias

from rocketha.formats.lock_bodies import MessageQueue
from rocketha.types import BrokerId
from rocketproof.protocols.epoch_truncation.values import NONE, broker_name
from tlatrace.values import Value, record, tla_set

__all__ = [
    "NO_ATTEMPT",
    "NO_VOTE",
    "Ask",
    "Release",
    "asks_value",
    "frees_value",
    "name_of_queue",
    "names",
    "queues_value",
    "vote_value",
]

NO_VOTE: Final = record({"c": NONE})
NO_ATTEMPT: Final = record({"n": 0})

Release: TypeAlias = tuple[str, int, str, frozenset[MessageQueue]]
"""Consumer, number of its attempt, receiver, queues."""
Ask: TypeAlias = tuple[Release, bool]
"""The same of a request, and whether the consumer itself asks."""


@lru_cache(maxsize=4096)
def vote_value(client: str, attempt: int, left_ms: int) -> Value:
    """Return a vote that holds yet."""
    return record({"c": client, "n": attempt, "left": left_ms})


@lru_cache(maxsize=16)
def asks_value(asks: frozenset[Ask]) -> Value:
    """Return the requests that are under way."""
    return tla_set(map(_ask_value, asks))


@lru_cache(maxsize=16)
def frees_value(releases: frozenset[Release]) -> Value:
    """Return the releases that are under way."""
    return tla_set(map(_release_value, releases))


@lru_cache(maxsize=4096)
def _ask_value(ask: Ask) -> Value:
    (client, number, receiver, queues), first = ask
    return record(
        {"c": client, "n": number, "r": receiver, "qs": queues_value(queues), "first": first}
    )


@lru_cache(maxsize=4096)
def _release_value(release: Release) -> Value:
    client, number, receiver, queues = release
    return record({"c": client, "n": number, "r": receiver, "qs": queues_value(queues)})


def names(brokers: Iterable[BrokerId]) -> Value:
    """Return a set of brokers."""
    return tla_set(broker_name(broker) for broker in brokers)


@cache
def name_of_queue(queue: MessageQueue) -> str:
    """Return what a queue is called."""
    return f"q{queue.queue_id + 1}"


def queues_value(queues: Iterable[MessageQueue]) -> Value:
    """Return a set of queues."""
    return tla_set(name_of_queue(queue) for queue in queues)

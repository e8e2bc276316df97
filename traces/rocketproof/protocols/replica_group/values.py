"""The values of ReplicaGroup, made from what the implementation has.

Offsets in bytes become numbers of records, and ids names. An incarnation is the number of crashes
that the trace has of that broker before it: a broker that stops again before it has registered
crashes once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from rocketha.broker.state import Proposal
from rocketha.controller.state import Group
from rocketha.obligations.controller_view import GroupKnown
from rocketha.sim.engine.record_epochs import RecordEpochs
from rocketha.sim.engine.records import RECORD_SIZE, record_count, record_offset
from rocketha.types import BrokerId
from rocketproof.protocols.epoch_truncation.values import NONE, broker_name
from tlatrace.values import Value, record, tla_set

__all__ = [
    "NO_CONN",
    "NO_PROPOSAL",
    "NO_SET",
    "conn_value",
    "control_value",
    "count_or_none",
    "known",
    "longer",
    "names",
    "proposal_value",
    "set_value",
    "view_value",
]

NO_PROPOSAL: Final = record({"from": NONE, "set": tla_set(())})
NO_SET: Final = record({"set": tla_set(()), "epoch": 0})
NO_CONN: Final = record({"inc": 0, "reported": -1, "ack": -1})


def count_or_none(offset: int) -> int:
    """Return how many records lie before an offset; -1, no number of records, if none ends there.

    The next record may begin behind the rest of a segment.
    """
    count = record_count(offset)
    last_end = record_offset(count - 1) + RECORD_SIZE if count > 0 else 0
    return count if offset in (record_offset(count), last_end) else -1


def names(brokers: Iterable[BrokerId]) -> Value:
    """Return a set of brokers."""
    return tla_set(broker_name(broker) for broker in brokers)


def _name_or_none(broker: BrokerId | None) -> str:
    """Return a broker, or `None` of the specification."""
    return NONE if broker is None else broker_name(broker)


def control_value(group: Group, incarnations: Mapping[BrokerId, int]) -> Value:
    """Return what the controller's log says: a `Control`."""
    return record(
        {
            "master": _name_or_none(group.master),
            "epoch": int(group.master_epoch),
            "sss": names(group.members),
            "sssEpoch": int(group.sync_state_set.epoch),
            "inc": record({broker_name(b): count for b, count in incarnations.items()}),
            "unfit": names(group.unfit),
        }
    )


def view_value(group: Group) -> Value:
    """Return what the controller answers now."""
    return record(
        {
            "master": _name_or_none(group.master),
            "epoch": int(group.master_epoch),
            "sss": names(group.members),
        }
    )


def set_value(members: Iterable[BrokerId], epoch: int) -> Value:
    """Return the SyncStateSet that a master works with."""
    return record({"set": names(members), "epoch": epoch})


def conn_value(incarnation: int, reported: int, ack: int) -> Value:
    """Return the master's end of a connection, a `Conn`; -1 is "nothing yet"."""
    return record({"inc": incarnation, "reported": reported, "ack": ack})


def proposal_value(master: BrokerId, proposal: Proposal, incarnations: Mapping[int, int]) -> Value:
    """Return a `Proposal`; `incarnations` counts crashes before a start of who joins."""
    joins = next(iter(proposal.joining), None)
    return record(
        {
            "from": broker_name(master),
            "epoch": int(proposal.master_epoch),
            "exp": int(proposal.expected),
            "set": names(proposal.members),
            "new": _name_or_none(joins),
            "inc": 0 if joins is None else incarnations[proposal.joining[joins]],
        }
    )


def known(group: Group) -> GroupKnown:
    """Return what a controller's log says of its group."""
    return GroupKnown(
        master=group.master,
        epoch=group.master_epoch,
        members=frozenset(group.members),
        set_epoch=group.sync_state_set.epoch,
        unfit=frozenset(group.unfit),
        incarnations={b: int(replica.incarnation) for b, replica in group.replicas.items()},
    )


def longer(one: RecordEpochs, other: RecordEpochs) -> RecordEpochs:
    """Return the first log if it has all of the second, else the second.

    Spec: Prefixes!Longer
    """
    return one if one[: len(other)] == other else other

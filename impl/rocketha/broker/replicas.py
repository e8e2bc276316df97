"""What a master knows of its slaves' logs.

Source: store/ha/autoswitch `AutoSwitchHAService`, `AutoSwitchHAConnection`
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from types import MappingProxyType

from rocketha.ha.state import NOT_YET, BrokerState, LogView, MasterConnection, Phase
from rocketha.types import BrokerId, Offset

__all__ = ["ack_of", "connection_of", "end_of_copies", "has_slaves", "record_end", "slaves"]


def slaves(ha: BrokerState) -> Mapping[BrokerId, MasterConnection]:
    """Return the newest connection of each slave that introduced itself: that of the largest id."""
    ends = (end for _, end in sorted(ha.servers.items()))
    return MappingProxyType({end.slave_id: end for end in ends if end.slave_id is not None})


def connection_of(ha: BrokerState, slave: BrokerId) -> MasterConnection | None:
    """Return the newest connection of a slave."""
    return slaves(ha).get(slave)


def has_slaves(ha: BrokerState, needed: int) -> bool:
    """Tell whether so many replicas are there as a message needs, this broker among them.

    Source: HAService.isSlaveOK, as `CommitLog.handleHA` asked it up to 4.9
    """
    connected = [c for c in slaves(ha).values() if c.phase is Phase.TRANSFER]
    return 1 + len(connected) >= needed


def ack_of(ha: BrokerState, replica: BrokerId, log: LogView) -> Offset:
    """Return up to where a replica surely has the log; who is not connected has nothing for sure.

    Spec: ReplicaGroup!AckOf
    """
    if replica == ha.broker_id:
        return log.max_phy_offset
    connection = connection_of(ha, replica)
    return NOT_YET if connection is None else connection.slave_ack


def end_of_copies(ha: BrokerState, needed: int, log: LogView) -> Offset:
    """Return up to where so many replicas have the log, this broker among them.

    They are counted by their ids: two connections of one slave are one copy.

    Spec: ReplicaGroup!Covered
    """
    replicas = slaves(ha).keys() | {ha.broker_id}
    copies = sorted((ack_of(ha, replica, log) for replica in replicas), reverse=True)
    return copies[needed - 1] if len(copies) >= needed else Offset(0)


def record_end(log: LogView, limit: Offset) -> Offset:
    """Return the end of the last whole message that ends at `limit` or before; 0 if there is none.

    Acknowledgements may end inside a message, or behind the filler of a segment.
    """
    starts = log.record_offsets()
    for start in reversed(starts[: bisect_left(starts, limit)]):
        end = start + int.from_bytes(log.read(start, 4))
        if end <= limit:
            return Offset(end)
    return Offset(0)

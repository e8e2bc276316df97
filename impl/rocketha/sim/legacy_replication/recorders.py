"""What a master and its slaves write of their steps: parts of what they have.

Of its log a broker writes which of the master's lives each record's body names, as it reads them
from the bytes; of a broker that is down its machine writes the same of what recovery would find.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from rocketha.known_bugs.storage import file_options
from rocketha.legacy_ha.state import LegacyMaster, LegacyState
from rocketha.recording.recorder import LongSequence, Parts, Recording, StepRecorder
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.record_epochs import RecordEpochReader
from rocketha.sim.engine.records import SEGMENT_SIZE, record_offset
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.legacy_replication.plan import MOST_NEEDED, LegacyPlan
from rocketha.types import BrokerId, ConnectionId, Offset, PutId

__all__ = ["LegacyRecorders"]

_NO_LOG: Final = (-1, LongSequence(()))


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A producer that waits."""

    put: PutId
    offset: Offset
    need: int


@dataclass(frozen=True, slots=True)
class _MasterEnd:
    slave_ack: Offset
    next_offset: Offset


@dataclass(frozen=True, slots=True)
class _SlaveEnd:
    id: ConnectionId
    reported: Offset


class LegacyRecorders:
    """The recorders of all brokers."""

    def __init__(
        self,
        nodes: Mapping[BrokerId, Node[LegacyState]],
        plan: LegacyPlan,
        scheduler: Scheduler,
        recording: Recording,
        *,
        master: BrokerId,
    ) -> None:
        """Begin to record each of them."""
        self._reader = RecordEpochReader(file_options(SEGMENT_SIZE, plan.bugs).log)
        self._logs: dict[BrokerId, tuple[int, LongSequence]] = {}
        self._recorders: dict[BrokerId, StepRecorder] = {}
        for node in nodes.values():
            settings: Parts = {"kind": "slave", "master": broker_address(master)}
            if node.id == master:
                settings = {
                    "kind": "master",
                    "slaves": [broker_address(one) for one in nodes if one != master],
                    "slaves_to_wait_for_max": min(MOST_NEEDED, len(nodes) - 1),
                    "segment_bytes": SEGMENT_SIZE,
                }
            self._recorders[node.id] = recording.of(
                broker_address(node.id),
                settings,
                parts=partial(self._parts, node),
                shows_ms=partial(_shows_ms, node, scheduler),
            )

    def of(self, broker: BrokerId) -> StepRecorder:
        """Return the recorder of a broker."""
        return self._recorders[broker]

    def stopped(self, node: Node[LegacyState]) -> None:
        """Write what is left of a broker that is down."""
        self.of(node.id).stopped(partial(self._left, node))

    def _left(self, node: Node[LegacyState]) -> Parts:
        begin, epochs = self._reader.recovered(node.disk)
        return {"begin": record_offset(begin), "log": LongSequence(epochs)}

    def _parts(self, node: Node[LegacyState]) -> Parts:
        state = node.running()
        parts: dict[str, object] = {
            "begin": node.log.min_offset,
            "log": self._log(node),
            "flushed": node.log.flushed_offset,
        }
        if isinstance(state, LegacyMaster):
            parts["waiting"] = tuple(_Waiting(r.put, r.offset, r.need) for r in state.waiting)
            parts["ends"] = {
                conn: _MasterEnd(end.slave_ack, end.next_offset) for conn, end in state.ends.items()
            }
        else:
            client = state.client
            parts["client"] = None if client is None else _SlaveEnd(client.id, client.reported)
        return parts

    def _log(self, node: Node[LegacyState]) -> LongSequence:
        """Read the log again if it may have changed."""
        version, present = self._logs.get(node.id, _NO_LOG)
        if version != node.files.log_version:
            epochs = self._reader.in_log(node.log)
            present = present if present.items == epochs else LongSequence(epochs)
            self._logs[node.id] = (node.files.log_version, present)
        return present


def _shows_ms(node: Node[LegacyState], scheduler: Scheduler) -> int:
    return node.clock.shows(scheduler.now_ms)

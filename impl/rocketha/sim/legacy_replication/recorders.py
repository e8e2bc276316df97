"""What a master and its slaves write of their steps: parts of what they store.

Who waits, and what connections have, is in the packets and answers of the steps. Of its log a
broker writes which of the master's lives each record's body names, as it reads them from the bytes;
of a broker that is down its machine writes the same of what recovery would find.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from rocketha.legacy_ha.state import LegacyState
from rocketha.recording.recorder import Parts, Recording, StepRecorder
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.recorded_logs import RecordedLogs
from rocketha.sim.engine.records import SEGMENT_SIZE
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.legacy_replication.plan import MOST_NEEDED, LegacyPlan
from rocketha.types import BrokerId

__all__ = ["LegacyRecorders"]


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
        self._logs = RecordedLogs(plan.bugs)
        self._recorders: dict[BrokerId, StepRecorder] = {}
        shared = {
            "frames_are_shown": True,
            "heartbeat_ms": plan.options.heartbeat_ms,
            "housekeeping_ms": plan.options.housekeeping_ms,
            "reconnect_ms": plan.options.reconnect_ms,
            "slave_timeout_ms": plan.options.slave_timeout_ms,
        }
        for node in nodes.values():
            settings: Parts = {"kind": "slave", "master": broker_address(master), **shared}
            if node.id == master:
                settings = {
                    "kind": "master",
                    "slaves": [broker_address(one) for one in nodes if one != master],
                    "slaves_to_wait_for_max": min(MOST_NEEDED, len(nodes) - 1),
                    "segment_bytes": SEGMENT_SIZE,
                    **shared,
                }
            self._recorders[node.id] = recording.of(
                broker_address(node.id),
                settings,
                parts=partial(self._parts, node),
                shows_ms=partial(node.shows_ms, scheduler),
            )

    def of(self, broker: BrokerId) -> StepRecorder:
        """Return the recorder of a broker."""
        return self._recorders[broker]

    def stopped(self, node: Node[LegacyState]) -> None:
        """Write what is left of a broker that is down."""
        self.of(node.id).stopped(partial(self._left, node))

    def _left(self, node: Node[LegacyState]) -> Parts:
        begin, log = self._logs.recovered(node)
        return {"begin": begin, "log": log}

    def _parts(self, node: Node[LegacyState]) -> Parts:
        return {
            "begin": node.log.min_offset,
            "log": self._logs.of(node),
            "flushed": node.log.flushed_offset,
        }

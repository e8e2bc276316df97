"""What brokers and their abstract controller write of their steps: parts of what they have.

Of its log a broker writes which epoch each record's body names, as it reads them from the bytes;
also of what is in its files, which a truncation may have failed to reach. Of a broker that is down
its machine writes the same. The controller writes its elections, as an operator's tool would.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from rocketha.ha.state import BrokerState, Phase
from rocketha.recording.recorder import Parts, Recording, StepRecorder
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.recorded_logs import RecordedLogs
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.epoch_truncation.actions import Elected
from rocketha.sim.epoch_truncation.plan import RunPlan
from rocketha.types import (
    BrokerId,
    ConnectionId,
    Epoch,
    EpochEntry,
    HaAddress,
    Offset,
)

__all__ = ["ClusterRecorders"]

_CONTROLLER: Final = "controller"
"""The name of whoever elects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectMaster:
    """The controller elected a broker.

    Spec: EpochTruncation!ElectMaster
    """

    master: HaAddress


@dataclass(frozen=True, slots=True)
class ElectNobody:
    """The controller found nobody to elect.

    Spec: EpochTruncation!ElectNobody
    """


@dataclass(frozen=True, slots=True)
class _ClientEnd:
    id: ConnectionId
    phase: Phase
    reported: Offset


@dataclass(frozen=True, slots=True)
class _ServerEnd:
    slave_ack: Offset
    next_offset: Offset
    cur: EpochEntry | None


class ClusterRecorders:
    """The recorders of all brokers of a cluster, and of its controller."""

    def __init__(
        self,
        nodes: Mapping[BrokerId, Node[BrokerState]],
        plan: RunPlan,
        scheduler: Scheduler,
        recording: Recording,
    ) -> None:
        """Begin to record each of them; nobody was elected."""
        self._logs = RecordedLogs(plan.bugs)
        self._epoch_files: dict[BrokerId, tuple[int, tuple[EpochEntry, ...]]] = {}
        self._elected: tuple[HaAddress | None, Epoch] = (None, Epoch(0))
        names = [broker_address(broker) for broker in nodes]
        self._recorders: dict[BrokerId, StepRecorder] = {}
        for node in nodes.values():
            self._recorders[node.id] = recording.of(
                broker_address(node.id),
                {
                    "kind": "broker",
                    "brokers": names,
                    "frames_are_shown": True,
                    "heartbeat_ms": plan.ha.heartbeat_ms,
                    "housekeeping_ms": plan.ha.housekeeping_ms,
                    "reconnect_ms": plan.ha.reconnect_ms,
                    "slave": node.id,
                    "learner": plan.ha.is_async_learner,
                    "tells_incarnation": plan.ha.tells_incarnation,
                },
                parts=partial(self._parts, node),
                shows_ms=partial(node.shows_ms, scheduler),
            )
        self._controller = recording.of(
            _CONTROLLER,
            {"kind": "controller"},
            parts=self._election,
            shows_ms=lambda: scheduler.now_ms,
        )

    def of(self, broker: BrokerId) -> StepRecorder:
        """Return the recorder of a broker."""
        return self._recorders[broker]

    def started(self) -> None:
        """Write that all of them run."""
        self._controller.started()
        for recorder in self._recorders.values():
            recorder.started()

    def stopped(self, node: Node[BrokerState]) -> None:
        """Write what is left of a broker that is down."""
        self.of(node.id).stopped(lambda: self._left(node))

    # ---- the controller ----

    def elected(self, elected: Elected, epoch: Epoch) -> None:
        """Write an election, of which brokers will hear."""
        master = None if elected.master is None else broker_address(elected.master)
        self._elected = (master, epoch)
        self._controller.sent(_election_named(epoch))
        action = ElectNobody() if master is None else ElectMaster(master=master)
        self._controller.stepped(elected, action)

    def heard(self, broker: BrokerId, epoch: Epoch) -> None:
        """Note that a broker hears of an election next."""
        self.of(broker).received(_election_named(epoch))

    def _election(self) -> Parts:
        master, epoch = self._elected
        return {"master": master, "epoch": epoch}

    # ---- brokers ----

    def _parts(self, node: Node[BrokerState]) -> Parts:
        state = node.running()
        client = state.client
        return {
            "role": state.role,
            "known_epoch": state.known_epoch,
            "received_epoch": state.received_epoch,
            "epochs": state.cache.entries,
            "epoch_file": self._epoch_file(node),
            "log": self._logs.of(node),
            "on_disk": self._logs.on_disk(node),
            "flushed_offset": node.log.flushed_offset,
            "client": None
            if client is None
            else _ClientEnd(client.id, client.phase, client.reported),
            "servers": {
                conn: _ServerEnd(server.slave_ack, server.next_offset, server.cur)
                for conn, server in state.servers.items()
            },
        }

    def _left(self, node: Node[BrokerState]) -> Parts:
        _, on_disk = self._logs.recovered(node)
        return {"log": on_disk, "on_disk": on_disk, "epoch_file": node.files.epochs.load()}

    def _epoch_file(self, node: Node[BrokerState]) -> tuple[EpochEntry, ...]:
        """Read the epoch file again if it may have changed."""
        files = node.files
        version, present = self._epoch_files.get(node.id, (-1, ()))
        if version != files.epochs_version:
            present = files.epochs.load()
            self._epoch_files[node.id] = (files.epochs_version, present)
        return present


def _election_named(epoch: Epoch) -> str:
    """Return what both ends call the controller's answer."""
    return f"election:{epoch}"

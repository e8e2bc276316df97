"""What becomes of a step that ends in the middle, and what a trace says of it.

Whatever the protocol is, of a step that a power cut or the end of the process cuts a trace says

* nothing, where nothing that it shows outlives the node: connections were closed, or the log was
  flushed, which a flush service does at any time, or the files say who the node is, which no trace
  shows;
* the whole step, where files were written and nothing was sent. What it had not written is lost
  with the node, as what was not synchronized is, and what it had not sent, as what is in flight is:
  so it is written to a disk that is put away, and sent to nobody;
* the step as it stands, where something was sent: what a node says is true when it says it. So
  nothing more is written, and if there was something to write, the trace shows it missing;
* the end of the node and then the loss of its log's end, where the log was cut and nothing else was
  done: there is no step with half of that.
"""

from __future__ import annotations

import copy
from enum import Enum
from typing import Any, Final, Generic, Protocol, TypeVar

from rocketha.runtime.effects import (
    After,
    AnswerClient,
    AppendLog,
    AppendMessage,
    Connect,
    FlushLog,
    RefuseRequest,
    RequestFlush,
    Respond,
    SendOneWay,
    SendPacket,
    SendRequest,
    SendToController,
    StoreEpochs,
    StoreIdentity,
    StoreRegistration,
    Then,
    TruncateLog,
)
from rocketha.runtime.node_host import NodeHost
from rocketha.runtime.ports import StepUnderWay
from rocketha.sim.engine.crash_points import CrashPoints, Ending
from rocketha.sim.engine.faults import Fault, FaultCounts
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.records import record_count
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.storage.commit_log import CommitLog
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import Offset

__all__ = ["CutCluster", "CutPorts", "Shown", "StepCutter", "shown_of"]

S = TypeVar("S")
E = TypeVar("E")
A = TypeVar("A")
E_contra = TypeVar("E_contra", contravariant=True)
A_contra = TypeVar("A_contra", contravariant=True)

_SAID: Final = (
    SendPacket,
    SendToController,
    SendRequest,
    SendOneWay,
    Respond,
    RefuseRequest,
    AnswerClient,
)
_WRITTEN: Final = (AppendLog, AppendMessage, StoreEpochs)
_LOG_CUT: Final = (TruncateLog,)
_UNSEEN: Final = (FlushLog, RequestFlush, StoreIdentity, StoreRegistration)
_FILES: Final = (*_WRITTEN, *_LOG_CUT, *_UNSEEN)
_NEVER: Final = (Connect, Then, After)
"""What a node that is gone does not do."""


class Shown(Enum):
    """What a trace says of a step that ends in the middle."""

    NOTHING = "nothing"
    CUT_LOG = "the end of the node, and perhaps the loss of its log's end"
    WHOLE = "the whole step"
    AS_IT_STANDS = "the step as it stands"


def shown_of(step: StepUnderWay[Any, Any]) -> Shown:
    """Say what a trace says of such a step."""
    done = step.done
    if any(isinstance(effect, _SAID) for effect in done):
        return Shown.AS_IT_STANDS
    if any(isinstance(effect, _WRITTEN) for effect in done):
        return Shown.WHOLE
    if any(isinstance(effect, _LOG_CUT) for effect in done):
        return Shown.CUT_LOG
    return Shown.NOTHING


def _perform_rest(
    host: NodeHost[Any, Any, Any], step: StepUnderWay[Any, Any], *, writes: bool
) -> None:
    """Perform what a trace needs of the rest; the ports of the host let nothing out."""
    for effect in step.rest:
        if not isinstance(effect, _NEVER) and (writes or not isinstance(effect, _FILES)):
            host.perform(effect, step.action)


def _lose_power(node: Node[Any], ending: Ending) -> None:
    """Leave on the disk what survives."""
    if ending.end is not Fault.PROCESS_CRASH:
        node.lose_power(ending.rng if ending.end is Fault.TORN_WRITE else None)


class CutPorts(Protocol[E_contra, A_contra]):
    """The ports of a node, as whoever cuts a step needs them."""

    is_muted: bool
    """What goes through them is recorded and observed, but does not come to pass."""

    def cut(self, event: E_contra, action: A_contra | None) -> None:
        """Record and observe a step that was cut."""
        ...

    def forget(self) -> None:
        """Forget what a step has done that no trace says anything of."""
        ...


class CutCluster(Protocol[S]):
    """The cluster of a node, as whoever cuts a step needs it."""

    @property
    def counts(self) -> FaultCounts:
        """Return where faults are counted."""
        ...

    def may_end(self, node: Node[S], step: StepUnderWay[Any, Any], shown: Shown) -> bool:
        """Tell whether a broker may end here, of which a trace says this."""
        ...

    def crash(self, node: Node[S], *, silent: bool) -> None:
        """Stop a broker of which the disk is what survives."""
        ...

    def restart(self, node: Node[S]) -> None:
        """Let a broker come back that is down."""
        ...

    def log_lost(self, node: Node[S]) -> None:
        """Hear that a broker that is down lost records that it had flushed."""
        ...


class StepCutter(Generic[S, E, A]):
    """The seam of a node's host: it ends the node between two effects where a run wants it."""

    def __init__(
        self,
        cluster: CutCluster[S],
        node: Node[S],
        ports: CutPorts[E, A],
        crash_points: CrashPoints,
        *,
        scheduler: Scheduler,
    ) -> None:
        """Take the node, whose host comes later."""
        self._cluster = cluster
        self._node = node
        self._ports = ports
        self._crash_points = crash_points
        self._scheduler = scheduler
        self._name = broker_address(node.id)
        self._before: tuple[MemoryDisk, Offset] | None = None
        self._ending: Ending | None = None

    def is_end(self, effect: object, *, is_first: bool) -> bool:
        """Count a seam, and tell whether the node ends there."""
        del effect
        node, points = self._node, self._crash_points
        if is_first:
            near = points.is_near(self._name)
            flushed = node.log.flushed_offset
            self._before = (copy.deepcopy(node.disk), flushed) if near else None
            return False
        self._ending = points.passes(self._name)
        return self._ending is not None

    def end(self, step: StepUnderWay[E, A]) -> bool:
        """End the node, if its cluster lets it."""
        node, ending, shown = self._node, self._ending, shown_of(step)
        assert ending is not None
        assert self._before is not None
        if not self._cluster.may_end(node, step, shown):
            return False
        before, flushed = self._before
        for fault in (Fault.CUT_IN_STEP, *((Fault.HALF_OPEN,) if ending.silent else ())):
            self._cluster.counts.add(fault)
        left = copy.deepcopy(node.disk)
        if shown in (Shown.WHOLE, Shown.AS_IT_STANDS):
            self._show(step, shown)
        else:
            self._ports.forget()
        node.disk.become(left)
        _lose_power(node, ending)
        lost = shown is Shown.CUT_LOG and record_count(_end(node)) < record_count(flushed)
        if lost:
            left = copy.deepcopy(node.disk)
            node.disk.become(before)
        self._cluster.crash(node, silent=ending.silent)
        if lost:
            node.disk.become(left)
            node.files.changed()
            self._cluster.log_lost(node)
        self._restart_later(ending.restart_ms)
        return True

    def failed(self, step: StepUnderWay[E, A]) -> bool:
        """Let an error of the disk be one: these disks have none."""
        del step
        return False

    def _show(self, step: StepUnderWay[E, A], shown: Shown) -> None:
        host = self._node.host
        assert host is not None
        self._ports.is_muted = True
        _perform_rest(host, step, writes=shown is Shown.WHOLE)
        self._ports.is_muted = False
        self._ports.cut(step.event, step.action)

    def _restart_later(self, wait_ms: int) -> None:
        node = self._node
        incarnation = node.incarnation

        def restart() -> None:
            if node.state is None and node.incarnation == incarnation:
                self._cluster.restart(node)

        self._scheduler.after(wait_ms, restart)


def _end(node: Node[Any]) -> Offset:
    """Return where the log ends that a start would find; the disk is not touched."""
    log, _ = CommitLog.open(copy.deepcopy(node.disk), node.files.log_options)
    return log.max_phy_offset

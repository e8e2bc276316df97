"""Whoever reads all registers of a simulated node, after every action."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rocketha.histories.registers import (
    Damaged,
    Given,
    Healed,
    Installed,
    Keeping,
    ReadVerdict,
    Refused,
    RegisterEvent,
    Shown,
    Started,
    check_reads,
)
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.report import SimReport
from rocketha.sim.snapshot_loading.cluster import SnapshotCluster, SnapshotObserver
from rocketha.sim.snapshot_loading.simulate import simulate_snapshots
from rocketha.sim.snapshot_loading.steps import SnapshotAction, SnapshotActionName

__all__ = ["RegisterReader", "RegisterRun", "simulate_registers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterRun:
    """What came out of a run."""

    report: SimReport
    made: tuple[Mapping[str, int], ...]
    """The registers after so many entries."""
    keeping: Keeping
    history: tuple[RegisterEvent, ...]

    @property
    def verdict(self) -> ReadVerdict:
        """Hold what was read against what is promised."""
        return check_reads(self.made, self.history, self.keeping)


def simulate_registers(
    seed: int, options: SimOptions, observer: SnapshotObserver | None = None
) -> RegisterRun:
    """Run a node and read its registers; the run is that of `simulate_snapshots`."""
    reader = RegisterReader(observer)
    report = simulate_snapshots(seed, options, reader)
    healed = Healed(agreed=reader.agreed, at_ms=report.virtual_ms)
    return RegisterRun(
        report=report,
        made=reader.made,
        keeping=reader.keeping,
        history=(*reader.events, healed) if report.converged else tuple(reader.events),
    )


class RegisterReader:
    """Records what goes into a node and what it shows; of equal reads in a life the first one."""

    def __init__(self, then: SnapshotObserver | None = None) -> None:
        """Begin; tell `then` of everything, too."""
        self.events: list[RegisterEvent] = []
        self.made: tuple[Mapping[str, int], ...] = ()
        self.keeping = Keeping(files=0, every=0)
        self.agreed = 0
        self._then = then
        self._shown: Mapping[str, int] | None = None
        self._has_refused = False

    def started(self, world: SnapshotCluster) -> None:
        """Begin the first life of the node."""
        self.made = world.history.states
        self.keeping = Keeping(
            files=world.options.max_snapshot_reserved_num,
            every=world.options.snapshot_threshold,
        )
        self.events.append(Started(at_ms=world.now_ms))
        self._read(world)
        if self._then is not None:
            self._then.started(world)

    def acted(self, world: SnapshotCluster, action: SnapshotAction) -> None:
        """Note what the action means to the outside, and read."""
        self.agreed = world.agreed
        match action.name:
            case SnapshotActionName.START:
                self.events.append(Started(at_ms=world.now_ms))
                self._shown, self._has_refused = None, False
            case SnapshotActionName.APPEND_ENTRY:
                assert action.index is not None
                self.events.append(Given(index=int(action.index), at_ms=world.now_ms))
            case SnapshotActionName.INSTALL:
                self.events.append(Installed(agreed=world.agreed, at_ms=world.now_ms))
            case SnapshotActionName.ROT:
                self.events.append(Damaged(at_ms=world.now_ms))
            case _:
                pass
        self._read(world)
        if self._then is not None:
            self._then.acted(world, action)

    def _read(self, world: SnapshotCluster) -> None:
        node = world.node
        if node is None or self._has_refused:
            return
        if node.has_refused:
            self._has_refused = True
            self.events.append(Refused(at_ms=world.now_ms))
        elif node.machine.values != self._shown:
            self._shown = dict(node.machine.values)
            self.events.append(
                Shown(registers=self._shown, agreed=world.agreed, at_ms=world.now_ms)
            )

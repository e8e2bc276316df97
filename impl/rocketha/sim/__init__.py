"""A cluster of the cores in virtual time, under faults that a seed draws."""

from rocketha.sim.actions import ClusterAction, Crashed, Elected
from rocketha.sim.cluster import Cluster, NullObserver, Observer
from rocketha.sim.faults import ALL_FAULTS, NO_FAULTS, Fault, Faults
from rocketha.sim.group_simulate import GroupRun, simulate_group
from rocketha.sim.legacy_simulate import simulate_legacy
from rocketha.sim.lock_simulate import LockRun, simulate_locks
from rocketha.sim.options import SimOptions
from rocketha.sim.report import SimReport
from rocketha.sim.simulate import simulate
from rocketha.sim.snapshot_reader import RegisterRun, simulate_registers
from rocketha.sim.snapshot_simulate import simulate_snapshots

__all__ = [
    "ALL_FAULTS",
    "NO_FAULTS",
    "Cluster",
    "ClusterAction",
    "Crashed",
    "Elected",
    "Fault",
    "Faults",
    "GroupRun",
    "LockRun",
    "NullObserver",
    "Observer",
    "RegisterRun",
    "SimOptions",
    "SimReport",
    "simulate",
    "simulate_group",
    "simulate_legacy",
    "simulate_locks",
    "simulate_registers",
    "simulate_snapshots",
]

"""ReplicaGroup: the plug."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rocketha.histories.clients import GroupClients
from rocketha.recording.dledger_parts import MEMBER
from rocketha.recording.record import NodeHeader, RecordError
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun
from rocketha.sim.replica_group.simulation import SIMULATION
from rocketproof.plug import ProtocolPlug
from rocketproof.projected_trace import ProjectedTrace
from rocketproof.protocols.epoch_truncation.values import NONE, broker_name
from rocketproof.protocols.replica_group.projection import GROUP_SPEC, GroupProjection
from rocketproof.protocols.replica_group.records import GroupRecords
from rocketproof.protocols.replica_group.released_records import ReleasedGroupRecords
from rocketproof.protocols.replica_group.timeline import group_changes
from rocketproof.record_projection import RecordProjection
from tlatrace.values import State, tla_set

__all__ = ["GROUP_SETTINGS", "PLUG"]

GROUP_SETTINGS: Final = {
    "rocketmq_defaults": lambda options: options.rocketmq_defaults,
    "elect_unclean": lambda options: options.elect_unclean,
}
"""What else can be chosen for a group."""


_NAMES_KIND: Final = "controller"


def _traces(
    projection: GroupProjection, run: SimulatedRun, options: SimOptions
) -> tuple[ProjectedTrace, ...]:
    del options
    if run.healed_ms is not None and run.report.failure is run.report.unavailable_because is None:
        projection.healed()
    assert isinstance(run.clients, GroupClients)
    promises = run.clients.history.promises
    constants: State = {
        "Broker": tla_set(broker_name(broker) for broker in projection.brokers),
        "None": NONE,
        "AllAckInSyncStateSet": promises.all_ack_in_sync_state_set,
        "InSyncReplicas": promises.in_sync_replicas,
        "EnableElectUncleanMaster": promises.elect_unclean,
    }
    return (ProjectedTrace(constants=constants, events=projection.events),)


def _records(headers: Sequence[NodeHeader]) -> RecordProjection:
    """Choose by what controllers say: released ones name their kind. Raises: RecordError"""
    if any(header.settings.get("kind") == MEMBER for header in headers):
        reason = "its controllers are members of a DLedger group: what these did is judged alone"
        raise RecordError(f"{reason} (--protocol dledger)")
    is_released = any(_NAMES_KIND in header.settings for header in headers)
    return ReleasedGroupRecords(headers) if is_released else GroupRecords(headers)


_KEPT_WITHOUT_PROMISES: Final = (
    "TypeOK",
    "OneMasterPerEpoch",
    "RoleAtomic",
    "MasterInSSS",
    "EpochFaithful",
    "LogMatching",
    "ConnSound",
)
"""As the model `unclean` has them."""

_CONFIGURATIONS: Final = (
    *(3 * (SimOptions(),)),
    SimOptions(in_sync_replicas=2),
    SimOptions(elect_unclean=True),
)
"""Most runs promise all; a master that waits for any two, and one that is elected again while it
still is one, come in the others."""

PLUG: Final = ProtocolPlug(
    spec=GROUP_SPEC,
    simulation=SIMULATION,
    projection=GroupProjection,
    traces=_traces,
    changes=group_changes,
    records=_records,
    kept_without_promises=_KEPT_WITHOUT_PROMISES,
    settings=GROUP_SETTINGS,
    configurations=_CONFIGURATIONS,
    cores=("broker", "controller", "replicated_log.replicated_log"),
)

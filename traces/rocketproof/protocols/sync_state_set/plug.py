"""SyncStateSet: the plug."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun
from rocketha.sim.sync_state_set.simulation import SIMULATION
from rocketproof.plug import ProtocolPlug
from rocketproof.projected_trace import ProjectedTrace
from rocketproof.protocols.epoch_truncation.values import broker_name
from rocketproof.protocols.replica_group.plug import GROUP_SETTINGS
from rocketproof.protocols.sync_state_set.projection import SET_SPEC, SetProjection
from rocketproof.protocols.sync_state_set.records import SetRecords
from rocketproof.protocols.sync_state_set.timeline import master_epoch_changes
from rocketproof.protocols.sync_state_set.values import constants_of
from tlatrace.values import Json

__all__ = ["PLUG"]


def _traces(
    projection: SetProjection, run: SimulatedRun, options: SimOptions
) -> tuple[ProjectedTrace, ...]:
    if run.healed_ms is not None and run.report.failure is run.report.unavailable_because is None:
        projection.healed(run.healed_ms)
    # The specification has slaves.
    return tuple(_each(projection, options)) if options.brokers > 1 else ()


def _each(projection: SetProjection, options: SimOptions) -> Iterator[ProjectedTrace]:
    """Yield the trace of each master epoch."""
    for number, epoch_trace in enumerate(projection.epoch_traces, start=1):
        meta: dict[str, Json] = {
            "master_epoch": {
                "number": number,
                "epoch": int(epoch_trace.epoch),
                "brokers": {
                    name: broker_name(broker) for broker, name in epoch_trace.names.items()
                },
            }
        }
        yield ProjectedTrace(
            constants=constants_of(options.brokers), events=tuple(epoch_trace.events), meta=meta
        )


_CORES: Final = (
    "broker.confirm",
    "broker.puts",
    "broker.rules",
    "broker.sync_state_set",
    "controller.sync_state_set",
)
"""Who joins and leaves the set, what is confirmed, and what producers hear of it.

Which of several connections of a slave counts (`broker.replicas`, `broker.replication`), roles,
registrations and elections are ReplicaGroup's, whose cores are all of both packages: of them
SyncStateSet sees what they come to.
"""

PLUG: Final = ProtocolPlug(
    spec=SET_SPEC,
    simulation=SIMULATION,
    projection=SetProjection,
    traces=_traces,
    changes=master_epoch_changes,
    records=SetRecords,
    settings=GROUP_SETTINGS,
    traces_are="master epochs",
    cores=_CORES,
)

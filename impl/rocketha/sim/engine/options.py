"""What the caller of a simulation chooses; everything else is drawn from the seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rocketha.known_bugs import NO_BUGS, Bugs
from rocketha.sim.engine.faults import ALL_FAULTS, Faults

__all__ = ["BROKERS_MAX", "CONTROLLERS_MAX", "STEPS_MAX", "SimOptions"]

BROKERS_MAX: Final = 9
CONTROLLERS_MAX: Final = 5
STEPS_MAX: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SimOptions:
    """What the caller chooses; everything else comes from the seed."""

    brokers: int = 3
    steps: int | None = None
    """Actions before the faults end and the cluster heals; None: the seed draws it."""
    faults: Faults = ALL_FAULTS
    """Faults that may happen; the seed draws a subset."""
    bugs: Bugs = NO_BUGS
    rocketmq_defaults: bool = False
    """A group with a controller answers a producer when its master alone has the message, as
    RocketMQ's does unless it is configured; without this, when the whole SyncStateSet has it. What
    it is for another protocol, its `plan` says."""
    in_sync_replicas: int | None = None
    """A group with a controller answers a producer when so many brokers have the message, whoever
    they are (`inSyncReplicas`); None: when the whole SyncStateSet has it."""
    elect_unclean: bool = False
    """Its controller may elect a broker that lacks messages (`enableElectUncleanMaster`)."""
    controllers: int = 1
    """Of a group with a controller: with more than one they are members of a DLedger group."""

    def __post_init__(self) -> None:
        assert 1 <= self.brokers <= BROKERS_MAX, self.brokers
        assert self.in_sync_replicas is None or 1 <= self.in_sync_replicas <= self.brokers
        assert 1 <= self.controllers <= CONTROLLERS_MAX, self.controllers
        assert self.steps is None or 0 <= self.steps <= STEPS_MAX, self.steps

"""What an observer of a run hears: every action of the specification that the cluster takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rocketha.ha.effects import SpecAction
from rocketha.types import BrokerId

__all__ = ["ClusterAction", "Crashed", "Elected", "LogLost", "StoreLost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Elected:
    """The controller elected a broker, or found nobody to elect (None) and spent the masterEpoch.

    Spec: EpochTruncation!ElectMaster, EpochTruncation!ElectNobody
    Source: ReplicasInfoManager.handleElectMaster
    """

    master: BrokerId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Crashed:
    """A broker stopped; its disk is what survived.

    Spec: EpochTruncation!Crash, LegacyReplication!Crash
    """

    broker: BrokerId


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLost:
    """A broker that is down lost records that were flushed, not its epoch file.

    Spec: EpochTruncation!LoseLog
    """

    broker: BrokerId


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLost:
    """All files are gone of a broker that is down.

    Spec: EpochTruncation!LoseStore
    """

    broker: BrokerId


ClusterAction: TypeAlias = SpecAction | Elected | Crashed | LogLost | StoreLost

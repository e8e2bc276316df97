"""What an observer of a run hears: every action of the specification that the cluster takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rocketha.ha.effects import SpecAction
from rocketha.types import BrokerId

__all__ = ["ClusterAction", "Crashed", "Elected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Elected:
    """The controller elected a broker.

    Spec: EpochTruncation!ElectMaster
    """

    master: BrokerId


@dataclass(frozen=True, slots=True, kw_only=True)
class Crashed:
    """A broker stopped; its disk is what survived.

    Spec: EpochTruncation!Crash, LegacyReplication!Crash
    """

    broker: BrokerId


ClusterAction: TypeAlias = SpecAction | Elected | Crashed

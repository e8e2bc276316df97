"""What an observer of a simulated group hears: all that its brokers and its controller do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rocketha.broker.effects import GroupAction
from rocketha.controller.applied import ControllerEvent
from rocketha.controller.entry import Entry
from rocketha.ha.effects import SpecAction
from rocketha.sim.epoch_truncation.actions import Crashed

__all__ = ["ControllerActed", "GroupClusterAction"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerActed:
    """The controller applied an entry of its log, whatever came of it."""

    entry: Entry
    events: tuple[ControllerEvent, ...]


GroupClusterAction: TypeAlias = SpecAction | GroupAction | Crashed | ControllerActed

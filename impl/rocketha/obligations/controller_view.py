"""What the log of a controller says of its group, as its records show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["GroupKnown"]


@dataclass(slots=True)
class GroupKnown:
    """What the controller's log says of the group."""

    master: int | None = None
    epoch: int = 0
    members: frozenset[int] = frozenset()
    set_epoch: int = 0
    unfit: frozenset[int] = frozenset()
    incarnations: dict[int, int] = field(default_factory=dict)
    """Of each replica that is registered."""

    @property
    def is_new(self) -> bool:
        """Tell whether it has never had a master since it was registered."""
        return self.master is None and not self.members

    @property
    def decisions(self) -> tuple[object, ...]:
        """Return what elections and proposals decide."""
        return self.master, self.epoch, self.members, self.set_epoch

    def read(self, state: Mapping[str, Any]) -> GroupKnown:
        """Return what it says after a step."""
        found = state.get("sync_state_set")
        return GroupKnown(
            master=state.get("master", self.master),
            epoch=state.get("master_epoch", self.epoch),
            members=self.members if found is None else frozenset(found["members"]),
            set_epoch=self.set_epoch if found is None else found["epoch"],
            unfit=frozenset(state.get("unfit", self.unfit)),
            incarnations=dict(state.get("incarnations", self.incarnations.items())),
        )

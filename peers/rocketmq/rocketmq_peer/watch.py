"""What the nodes of a group have done so far, as their records say it while they write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from rocketha.recording.record import STARTED, NodeRecord, pull_record

__all__ = ["NodeView", "Watch"]


class _Item(msgspec.Struct, frozen=True):
    end: int
    id: str


class _LogChange(msgspec.Struct, frozen=True):
    kept: int
    added: list[_Item]


@dataclass(slots=True)
class NodeView:
    """A node, by its records."""

    role: str = ""
    """Of a broker: "Master" or "Slave"."""
    log: list[_Item] = field(default_factory=list)
    """The records of a broker's CommitLog: where each ends, and what its body begins with."""
    state: dict[str, Any] = field(default_factory=dict)
    """Every other part, as it was written last."""
    events: dict[str, int] = field(default_factory=dict)
    """Event -> how often."""
    first_ns: dict[str, int] = field(default_factory=dict)
    """Event -> when it happened first, in nanoseconds."""
    last_ns: dict[str, int] = field(default_factory=dict)
    """Event -> when it happened last."""
    after: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Event -> `state` as it was after the last one."""

    @property
    def ids(self) -> tuple[str, ...]:
        """What the bodies of its log begin with, in order."""
        return tuple([item.id for item in self.log])

    @property
    def end(self) -> int:
        """The offset behind its last record, in bytes."""
        return self.log[-1].end if self.log else 0

    def take(self, record: NodeRecord) -> None:
        """Take the next record."""
        if record.event == STARTED:
            self.role, self.log = "", []
            self.state.clear()
        self.events[record.event] = self.events.get(record.event, 0) + 1
        self.first_ns.setdefault(record.event, record.at_ns)
        self.last_ns[record.event] = record.at_ns
        changed = dict(record.state)
        if "log" in changed:
            change = msgspec.convert(changed.pop("log"), _LogChange)
            self.log[change.kept :] = change.added
        self.role = changed.get("role", self.role)
        self.state |= changed
        self.after[record.event] = dict(self.state)


class Watch:
    """Follows the files of records in a folder."""

    def __init__(self, folder: Path) -> None:
        """Begin at the begin of each file, which need not be there yet."""
        self._folder = folder
        self._read: dict[str, int] = {}
        self._views: dict[str, NodeView] = {}

    def node(self, name: str) -> NodeView:
        """Return what a node has done so far. A line that is not whole yet is read the next time.

        Raises: RecordError
        """
        view = self._views.setdefault(name, NodeView())
        path = self._folder / f"{name}.records.jsonl"
        if not path.exists():
            return view
        at = self._read.get(name, 0)
        with path.open("rb") as file:
            file.seek(at)
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._read[name] = at + len(whole)
        for number, line in enumerate(whole.splitlines()):
            if at or number:  # the first line of a file is its header
                view.take(pull_record(line))
        return view

    def nodes(self, *names: str) -> Mapping[str, NodeView]:
        """Return what some nodes have done so far. Raises: RecordError"""
        return {name: self.node(name) for name in names}

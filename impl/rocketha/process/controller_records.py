"""What a controller process writes of one group, as real controllers do: elections and sets.

| record                     | when                                                              |
|----------------------------|-------------------------------------------------------------------|
| `NodeStarted`              | before the first event: what was written last, or the log says;   |
|                            | of a member of a group what its snapshot has                      |
| action `ElectMaster`       | an entry was applied that elected `master`                        |
| action `AlterSyncStateSet` | a proposal was taken                                              |
| action `RefuseAlter`       | a proposal was refused: the set stays, as the next version        |
| no action                  | the group has changed in another way                              |

Each has `master`, `epoch` (the masterEpoch) and `sync_state_set`; brokers are called
by the nodes that their addresses are of, or by the address.

A record is written before anything that its step sends leaves the process. So whoever dies between
an entry and its record has told nobody: the entry is recorded after the next start.

The file may be there with its header and what was written before the last stop; else it is made.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final

from rocketha.controller.applied import MasterElected, SetAltered, SetKept
from rocketha.controller.core import EntryActed
from rocketha.controller.state import ControllerState, Group
from rocketha.process.controller_configuration import RecordsConfiguration
from rocketha.recording.node_log import pull_log
from rocketha.recording.record import (
    STARTED,
    Json,
    NodeHeader,
    NodeRecord,
    RecordError,
    pull_header,
    push_line,
)
from rocketha.recording.recorder import Parts, StepRecorder
from rocketha.types import BrokerId, TimestampMs

__all__ = ["ControllerRecords"]

_PROTOCOL: Final = "replica_group"
"""Of a file that is made here."""

_ELECTED: Final = "ElectMaster"
_ALTERED: Final = "AlterSyncStateSet"
_REFUSED: Final = "RefuseAlter"


class ControllerRecords(StepRecorder):
    """The recorder of a controller process."""

    __slots__ = (
        "_applies_again",
        "_configuration",
        "_file",
        "_incarnation",
        "_known",
        "_last_ns",
        "_sequence",
        "_shows_ms",
        "_state",
    )

    def __init__(
        self,
        configuration: RecordsConfiguration,
        *,
        elect_unclean: bool,
        state: Callable[[], ControllerState],
        shows_ms: Callable[[], TimestampMs],
        applies_again: bool = False,
    ) -> None:
        """Open the file; `state` returns what the controller knows.

        One that `applies_again` begins with a snapshot, or with nothing, and writes again what the
        entries behind it have done: of such records those count that are new.

        Raises: RecordError: what is in it does not belong together; OSError
        """
        self._configuration = configuration
        self._state = state
        self._shows_ms = shows_ms
        self._applies_again = applies_again
        self._known: dict[str, Json] = {}
        self._incarnation = self._sequence = self._last_ns = 0
        header = NodeHeader(
            protocol=_PROTOCOL,
            node=configuration.node,
            settings={
                "kind": "controller",
                "elect_unclean": elect_unclean,
                "controller": "rocketha",
            },
        )
        path = configuration.path
        lines = _whole_lines(path.read_bytes()) if path.exists() else []
        if len(lines) > 1:
            self._take_over(lines)
        elif lines and pull_header(lines[0]).node != header.node:
            raise RecordError(f"{path}: these are records of another node")
        self._file = path.open("ab")
        self._file.truncate(sum(map(len, lines)))
        if not lines:
            self._file.write(push_line(header))
            self._file.flush()

    def _take_over(self, lines: list[bytes]) -> None:
        """Read what was written before. Raises: RecordError"""
        log = pull_log(lines, str(self._configuration.path))
        if log.header.node != self._configuration.node:
            raise RecordError(f"{log.name}: these are records of another node")
        for record in log.records:
            self._known |= record.state
        self._incarnation = log.records[-1].incarnation
        self._last_ns = log.records[-1].at_ns

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    # ---- what the host tells ----

    def started(self) -> None:
        """Write what the last incarnation has written last, and then what it could not write."""
        self._incarnation += 1
        self._sequence = 0
        present = self._parts()
        if not self._known or self._applies_again:
            self._write(STARTED, None, present)
            return
        before = self._known
        self._write(STARTED, None, dict(before))
        if present == before:
            return
        action: str | None = None
        if present["epoch"] != before.get("epoch"):
            action = _ELECTED
        elif present["sync_state_set"] != before.get("sync_state_set"):
            action = _ALTERED if _members(present) != _members(before) else _REFUSED
        self._write(action or "Replayed", action, present)

    def stopped(self, left: Callable[[], Parts]) -> None:
        """Write nothing: who ends the process says that it has ended."""

    def stepped(self, event: object, action: object | None) -> None:
        """Write what an entry has done to the group, if anything."""
        del event
        if not isinstance(action, EntryActed):
            return
        present = self._parts()
        name: str | None = None
        for happened in action.events:
            if happened.broker_name == self._configuration.broker_name:
                match happened:
                    case MasterElected():
                        name = _ELECTED
                    case SetAltered():
                        name = _ALTERED
                    case SetKept():
                        name = _REFUSED
                    case _:
                        pass
        if name is not None or present != self._known:
            self._write(name or type(action.entry.change).__name__, name, present)

    # ---- lines ----

    def _parts(self) -> dict[str, Json]:
        group = self._state().groups.get(self._configuration.broker_name)
        if group is None:
            return {"master": None, "epoch": 0, "sync_state_set": {"members": [], "epoch": 0}}
        members: list[Json] = [*sorted(self._name(group, broker) for broker in group.members)]
        return {
            "master": None if group.master is None else self._name(group, group.master),
            "epoch": group.master_epoch,
            "sync_state_set": {"members": members, "epoch": group.sync_state_set.epoch},
        }

    def _name(self, group: Group, broker: BrokerId) -> str:
        replica = group.replicas.get(broker)
        if replica is None:
            return f"{group.broker_name}#{broker}"
        return self._configuration.names.get(replica.address, replica.address)

    def _write(self, event: str, action: str | None, state: dict[str, Json]) -> None:
        self._known = state
        self._last_ns = max(self._last_ns, time.monotonic_ns())
        record = NodeRecord(
            node=self._configuration.node,
            incarnation=self._incarnation,
            sequence=self._sequence,
            at_ns=self._last_ns,
            shows_ms=self._shows_ms(),
            event=event,
            action=action,
            params={"master": state["master"]} if action == _ELECTED else {},
            state=state,
        )
        self._sequence += 1
        self._file.write(push_line(record))
        self._file.flush()


def _whole_lines(data: bytes) -> list[bytes]:
    """Return the lines that have an end."""
    return data[: data.rfind(b"\n") + 1].splitlines(keepends=True)


def _members(parts: Mapping[str, Json]) -> Json:
    found = parts.get("sync_state_set")
    return found.get("members") if isinstance(found, dict) else None

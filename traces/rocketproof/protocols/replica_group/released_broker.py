"""What records say of one broker of released RocketMQ, as values of ReplicaGroup.

Released brokers write other things than simulated ones: what the bodies of records begin with
instead of their epochs, sets without incarnations, and the masterEpoch with a change of role alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeAlias

import msgspec

from rocketha.recording.record import NodeRecord
from rocketha.types import Offset
from rocketproof.protocols.epoch_truncation.values import entries_value
from rocketproof.protocols.replica_group.recorded_broker import ServerEnd
from rocketproof.protocols.replica_group.values import NO_PROPOSAL
from rocketproof.record_projection import part, read_shown, sequence_after
from rocketproof.recorded_log import LogItem, RunLogs
from tlatrace.trace import Part
from tlatrace.values import Value, record, tla_set

__all__ = ["MasterEpochs", "NameOf", "NumberedSet", "ReleasedBroker"]

NameOf: TypeAlias = Callable[[int | str], str]
"""From the id of a broker, or its name, to its name."""

_MASTER: Final = "Master"


class _Entry(msgspec.Struct, frozen=True):
    epoch: int
    start_offset: Offset
    end_offset: Offset


class _ClientEnd(msgspec.Struct, frozen=True):
    id: int
    phase: str


class NumberedSet(msgspec.Struct, frozen=True):
    """A SyncStateSet and its number, or a proposal and the number of the set that it changes."""

    members: tuple[int | str, ...]
    epoch: int

    def names(self, name_of: NameOf) -> Value:
        """Return its members. Raises: RecordError"""
        return tla_set(map(name_of, self.members))


class MasterEpochs:
    """The masterEpochs of masters, counted from 1: those of elections of nobody are passed over.

    Released controllers spend one on each look for a master that finds nobody (B75), and nobody
    writes anything in it. What is compared is which of two comes first, and whether they are one.
    """

    _NOBODYS: Final = 1_000_000
    """Added to one in which no master is known, so that it is none of the others."""

    def __init__(self) -> None:
        """Begin without a master."""
        self._numbers: dict[int, int] = {}
        self._newest = 0
        self._has_gap = False

    @property
    def last(self) -> int:
        """Return the number of the last one, 0 if there is none."""
        return len(self._numbers)

    def elect(self, epoch: int, *, somebody: bool) -> None:
        """Note an election; of one behind a masterEpoch that nobody wrote no number is known."""
        self._has_gap |= epoch != self._newest + 1
        self._newest = epoch
        if somebody and not self._has_gap:
            self._numbers[epoch] = len(self._numbers) + 1
        if somebody:
            self._has_gap = False

    def number(self, epoch: int) -> int:
        """Return the number of a masterEpoch; 0 is before all."""
        return self._numbers.get(epoch, epoch + self._NOBODYS) if epoch else 0


_NO_SET: Final = NumberedSet((), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedBroker:
    """The parts of a broker's state, as it has written them last."""

    name: str
    role: str = "Slave"
    known: int = 0
    """The number of the masterEpoch that it has heard last, of a role or when it registered."""
    epochs: tuple[_Entry, ...] = ()
    epoch_file: tuple[_Entry, ...] = ()
    log: tuple[LogItem, ...] = ()
    local: NumberedSet = _NO_SET
    pending: NumberedSet | None = None
    client: _ClientEnd | None = None
    servers: Mapping[int, ServerEnd] = field(default_factory=dict)

    @property
    def is_master(self) -> bool:
        """Tell whether it believes to be master."""
        return self.role == _MASTER

    @property
    def link(self) -> int | None:
        """Return the connection over which it copies, or is about to."""
        return None if self.client is None else self.client.id

    def after(self, written: NodeRecord) -> ReleasedBroker:
        """Return what it has after a step. Raises: RecordError"""
        changed = read_shown(written.state, _KINDS)
        if "servers" in changed:
            changed["servers"] = dict(changed["servers"])
        if "log" in written.state:
            changed["log"] = sequence_after(self.log, written.state["log"], LogItem, "log")
        return replace(self, **changed) if changed else self

    # ---- values of the specification ----

    def visible(self) -> tuple[object, ...]:
        """Return what the specification can see of it by itself."""
        return self.role, self.epochs, self.log

    def parts(
        self, logs: RunLogs, numbers: MasterEpochs, *, log: tuple[LogItem, ...] | None = None
    ) -> list[Part]:
        """Return its role, log and epochs; with a `log`, as if it had that, without its epochs.

        Raises: RecordError: nobody knows who took a record.
        """
        me, shown = self.name, self.log if log is None else log
        parts = [
            part("role", me, value=self.role),
            part("log", me, value=logs.epochs(shown)),
        ]
        if log is None:
            count = partial(logs.count, self.log)
            numbered = [
                msgspec.structs.replace(entry, epoch=numbers.number(entry.epoch))
                for entry in self.epochs
            ]
            parts.append(part("epochs", me, value=entries_value(numbered, count)))
        return parts

    def begins_epoch(self, logs: RunLogs) -> bool:
        """Tell whether the last epoch of its cache begins where its log ends."""
        last = self.epochs[-1:]
        return any(logs.count(self.log, entry.start_offset) == len(self.log) for entry in last)

    def known_part(self) -> Part:
        """Return the masterEpoch that it knows; a slave may have heard of a newer one since."""
        return part("known", self.name, value=self.known)

    def set_parts(self, name_of: NameOf) -> list[Part]:
        """Return the set that a master works with, and what it asks for. Raises: RecordError"""
        if not self.is_master:
            return []
        me, pending = self.name, self.pending
        local = record({"set": self.local.names(name_of), "epoch": self.local.epoch})
        shown = [part("local", me, value=local)]
        if pending is None:
            return [*shown, part("pend", me, value=NO_PROPOSAL)]
        return [
            *shown,
            part("pend", me, "set", value=pending.names(name_of)),
            part("pend", me, "exp", value=pending.epoch),
        ]


_KINDS: Final[dict[str, object]] = {
    "role": str,
    "epochs": tuple[_Entry, ...],
    "epoch_file": tuple[_Entry, ...],
    "local": NumberedSet,
    "pending": NumberedSet | None,
    "client": _ClientEnd | None,
    "servers": tuple[tuple[int, ServerEnd], ...],
}

"""What records say of the brokers of a group and of its controller, as SyncStateSet sees them.

A part that a node has never written is None: nobody knows it, and no event shows it.

Real brokers and controllers write less than simulated ones, and some of it in other words: sets of
their controller name nodes, it writes of no starts, and actions say the masterEpoch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

import msgspec

from rocketha.recording.record import NodeRecord, RecordError
from rocketproof.protocols.replica_group.recorded_broker import ServerEnd
from rocketproof.record_projection import read_field, read_shown, sequence_after
from rocketproof.recorded_log import LogItem

__all__ = [
    "Applied",
    "BrokerSettings",
    "ControllerSettings",
    "Happened",
    "KnownProposal",
    "KnownSet",
    "Log",
    "Losses",
    "Named",
    "RecordedGroup",
    "RecordedReplica",
    "applied",
]

Log: TypeAlias = tuple[LogItem, ...]
Named: TypeAlias = int | str
"""A broker, by its id or by the name of its node."""

_MASTER: Final = "Master"
_COPIES: Final = "Transfer"
"""The phase of a slave that has reported where its log ends."""


# ---- settings ----


class BrokerSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="broker"):
    """How a broker is set up."""

    brokers: tuple[str, ...]
    """All brokers of its group."""
    slave_not_catchup_ms: int | None = None
    """How long a slave may have not everything before its master takes it out."""


class ControllerSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="controller"):
    """How the controller is set up."""

    broker_name: str | None = None
    """Of the group that the records are of; None: it has no other."""


# ---- brokers ----


class KnownSet(msgspec.Struct, frozen=True):
    """A SyncStateSet and its epoch."""

    members: tuple[Named, ...]
    epoch: int


_NO_SET: Final = KnownSet((), 0)


class KnownProposal(msgspec.Struct, frozen=True):
    """A set that a master has asked for."""

    members: tuple[Named, ...]
    expected: int | None = None
    """The epoch of the set that it changes; a real broker says `epoch`."""
    epoch: int = 0
    joining: tuple[tuple[int, int], ...] = ()
    """Who joins, and in which incarnation; a real broker says neither."""

    @property
    def changes(self) -> int:
        """Return the epoch of the set that it changes."""
        return self.epoch if self.expected is None else self.expected


class _ClientEnd(msgspec.Struct, frozen=True):
    id: int
    phase: str
    reported: int | None = None


class _Role(msgspec.Struct, frozen=True):
    master_epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedReplica:
    """The parts of a broker's state, as it has written them last."""

    incarnation: int | None = None
    role: str | None = None
    known_epoch: int = 0
    log: Log = ()
    local: KnownSet | None = None
    pending: tuple[KnownProposal, ...] | None = None
    """At most one."""
    confirm: int | None = None
    client: _ClientEnd | None = None
    servers: Mapping[int, ServerEnd] = field(default_factory=dict)
    slave_incarnations: Mapping[int, int] | None = None
    """Of connected slaves, from their handshakes."""

    @property
    def is_master(self) -> bool:
        """Tell whether it believes to be master."""
        return self.role == _MASTER

    @property
    def copies_over(self) -> int | None:
        """Return the connection on which it has reported where its log ends."""
        client = self.client
        return client.id if client is not None and client.phase == _COPIES else None

    def after(self, written: NodeRecord) -> RecordedReplica:
        """Return what it has after a step. Raises: RecordError"""
        state = written.state
        changed = read_shown(state, _KINDS)
        for name in ("servers", "slave_incarnations"):
            if name in changed:
                changed[name] = dict(changed[name])
        if "pending" in changed:
            changed["pending"] = () if changed["pending"] is None else (changed["pending"],)
        if "log" in state:
            changed["log"] = sequence_after(self.log, state["log"], LogItem, "log")
        told: _Role = read_field(written.params, _Role, "params")
        if told.master_epoch is not None:
            changed["known_epoch"] = told.master_epoch
        return replace(self, **changed) if changed else self


_KINDS: Final[dict[str, object]] = {
    "incarnation": int,
    "role": str,
    "known_epoch": int,
    "local": KnownSet,
    "pending": KnownProposal | None,
    "confirm": int,
    "client": _ClientEnd | None,
    "servers": tuple[tuple[int, ServerEnd], ...],
    "slave_incarnations": tuple[tuple[int, int], ...],
}


# ---- the controller ----


class _Change(msgspec.Struct, frozen=True):
    joining: tuple[tuple[int, int], ...] = ()
    log_torn: bool = False


class _Entry(msgspec.Struct, frozen=True):
    change: _Change


class Happened(msgspec.Struct, frozen=True, rename={"kind": "is"}):
    """What came of an entry of the controller's log."""

    kind: str
    master: Named | None = None
    broker_id: int = 0
    incarnation: int = 0
    restarted: bool = False


class Applied(msgspec.Struct, frozen=True):
    """An entry of the controller's log, and what came of it."""

    entry: _Entry
    events: tuple[Happened, ...]


_NOTHING: Final = _Entry(_Change())


class _Elected(msgspec.Struct, frozen=True):
    master: Named | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedGroup:
    """What a controller has written of the group last."""

    master: Named | None = None
    epoch: int = 0
    """The masterEpoch."""
    sss: KnownSet = _NO_SET
    tells_starts: bool = False
    """It writes which brokers have registered."""

    @property
    def age(self) -> tuple[int, int]:
        """Return what grows with each entry of the log that controllers agree on."""
        return self.epoch, self.sss.epoch

    def after(self, written: NodeRecord) -> RecordedGroup:
        """Return what the controller has after a step. Raises: RecordError"""
        changed: dict[str, Any] = {}
        for name, (kind, of) in _GROUP.items():
            if name in written.state:
                changed[of] = read_field(written.state[name], kind, name)
        if written.action == "EntryActed":
            changed["tells_starts"] = True
        return replace(self, **changed) if changed else self


_GROUP: Final[dict[str, tuple[object, str]]] = {
    "master": (Named | None, "master"),
    "epoch": (int, "epoch"),
    "master_epoch": (int, "epoch"),
    "sync_state_set": (KnownSet, "sss"),
}


def applied(written: NodeRecord) -> Applied:
    """Return what a controller has applied in a step. Raises: RecordError"""
    match written.action:
        case None:
            return Applied(_NOTHING, ())
        case "EntryActed":
            entry: Applied = read_field(written.params, Applied, "entry")
            return entry
        case "ElectMaster":
            elected: _Elected = read_field(written.params, _Elected, "params")
            return Applied(_NOTHING, (Happened("MasterElected", master=elected.master),))
        case "AlterSyncStateSet":
            return Applied(_NOTHING, (Happened("SetAltered"),))
        case "RefuseAlter":
            return Applied(_NOTHING, (Happened("SetKept"),))
        case _:
            raise RecordError(f"a controller has no action {written.action!r}")


@dataclass(slots=True)
class Losses:
    """How often the log of a broker had lost something, or may have, when an incarnation began."""

    of: dict[int, int] = field(default_factory=dict)
    """By incarnation."""
    registered: int = 0
    """Of the incarnation that the controller knows."""

    def register(self, incarnation: int, *, torn: bool) -> None:
        """Note that the controller knows of a start, or knows of it again."""
        if incarnation not in self.of:
            self.of[incarnation] = max(self.of.values(), default=0) + torn
        self.registered = self.of[incarnation]

"""What records say of one broker of a group, as values of ReplicaGroup."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import msgspec

from rocketha.formats.controller_requests import AlterSyncStateSet
from rocketha.recording.record import NodeRecord
from rocketha.types import Offset
from rocketproof.protocols.epoch_truncation.values import NONE, entries_value
from rocketproof.protocols.replica_group.values import NO_PROPOSAL, count_or_none
from rocketproof.record_projection import part, read_shown, sequence_after
from tlatrace.trace import Part
from tlatrace.values import Value, record, tla_set

__all__ = ["BrokerSettings", "RecordedBroker", "ServerEnd", "broker"]

Starts: TypeAlias = Mapping[str, Mapping[int, int]]
"""Broker -> its registered incarnation -> crashes before that."""

_REGISTERED: Final = "Registered"
_MASTER: Final = "Master"


class BrokerSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="broker"):
    """How a broker is set up."""

    brokers: tuple[str, ...]
    all_ack_in_sync_state_set: bool
    in_sync_replicas: int
    heartbeat_timeout_ms: int


class _Entry(msgspec.Struct, frozen=True):
    epoch: int
    start_offset: Offset
    end_offset: Offset


class _Set(msgspec.Struct, frozen=True):
    members: tuple[int, ...]
    epoch: int


class _Proposal(msgspec.Struct, frozen=True):
    members: tuple[int, ...]
    expected: int
    joining: tuple[tuple[int, int], ...]
    master_epoch: int


class _ClientEnd(msgspec.Struct, frozen=True):
    id: int
    phase: str


class ServerEnd(msgspec.Struct, frozen=True):
    """A master's end of a connection."""

    slave: int | None
    slave_ack: int


def broker(number: int) -> str:
    """Return the name of a broker."""
    return f"b{number}"


_NO_SET: Final = _Set((), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedBroker:
    """The parts of a broker's state, as it has written them last."""

    name: str
    registration: str = ""
    role: str = "Slave"
    known_epoch: int = 0
    epochs: tuple[_Entry, ...] = ()
    log: tuple[int, ...] = ()
    """Of each record the epoch that its body names."""
    local: _Set = _NO_SET
    pending: _Proposal | None = None
    confirm: int = 0
    client: _ClientEnd | None = None
    servers: Mapping[int, ServerEnd] = field(default_factory=dict)
    registered_epoch: int = 0
    """The masterEpoch when the controller registered it: it knows that, or will."""

    @property
    def known(self) -> int:
        """Return the masterEpoch that it knows, once it hears that it is registered."""
        if self.registration == _REGISTERED:
            return self.known_epoch
        return max(self.known_epoch, self.registered_epoch)

    @property
    def is_master(self) -> bool:
        """Tell whether it believes to be master."""
        return self.role == _MASTER

    @property
    def link(self) -> int | None:
        """Return the connection over which it copies."""
        return None if self.client is None else self.client.id

    def after(self, written: NodeRecord) -> RecordedBroker:
        """Return what it has after a step. Raises: RecordError"""
        changed = read_shown(written.state, _KINDS)
        if "servers" in changed:
            changed["servers"] = dict(changed["servers"])
        if "log" in written.state:
            changed["log"] = sequence_after(self.log, written.state["log"], int, "log")
        return replace(self, **changed) if changed else self

    # ---- values of the specification ----

    def visible(self) -> tuple[object, ...]:
        """Return what the specification can see of it by itself."""
        own = (self.role, self.known, self.epochs, self.log)
        return (*own, self.local, self.pending, count_or_none(self.confirm))

    def parts(self, starts: Starts, *, log: tuple[int, ...] | None = None) -> list[Part]:
        """Return its parts of the state; with a `log`, as if it had that, and only what is sure."""
        me = self.name
        parts = [
            part("role", me, value=self.role),
            part("log", me, value=self.log if log is None else log),
        ]
        if log is not None:
            return parts
        local = record({"set": _names(self.local.members), "epoch": self.local.epoch})
        return [
            *parts,
            part("epochs", me, value=entries_value(self.epochs)),
            part("known", me, value=self.known),
            part("local", me, value=local),
            part("pend", me, value=self.pending_value(starts)),
            part("confirm", me, value=count_or_none(self.confirm)),
        ]

    def pending_value(self, starts: Starts) -> Value:
        """Return the proposal that it has and that is not decided, as far as it knows."""
        pending = self.pending
        return NO_PROPOSAL if pending is None else self._proposal(pending, starts)

    def proposal(self, request: AlterSyncStateSet, starts: Starts) -> Value:
        """Return the proposal that a request to the controller carries."""
        carried = _Proposal(
            members=tuple(sorted(request.sync_state_set.members)),
            expected=request.sync_state_set.epoch,
            joining=tuple(request.joining.items()),
            master_epoch=request.master_epoch,
        )
        return self._proposal(carried, starts)

    def _proposal(self, proposal: _Proposal, starts: Starts) -> Value:
        joins = next(iter(proposal.joining), None)
        incarnation = 0
        if joins is not None:
            incarnation = starts.get(broker(joins[0]), {}).get(joins[1], 0)
        return record(
            {
                "from": self.name,
                "epoch": proposal.master_epoch,
                "exp": proposal.expected,
                "set": _names(proposal.members),
                "new": NONE if joins is None else broker(joins[0]),
                "inc": incarnation,
            }
        )


_KINDS: Final[dict[str, object]] = {
    "registration": str,
    "role": str,
    "known_epoch": int,
    "epochs": tuple[_Entry, ...],
    "local": _Set,
    "pending": _Proposal | None,
    "confirm": int,
    "client": _ClientEnd | None,
    "servers": tuple[tuple[int, ServerEnd], ...],
}


def _names(members: tuple[int, ...]) -> Value:
    return tla_set(map(broker, members))

"""What nodes have written of a state of SyncStateSet, and its values.

None is what nobody has written: it is not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from rocketproof.protocols.epoch_truncation.values import NONE
from rocketproof.protocols.sync_state_set.values import (
    NO_CONN,
    control_value,
    members_value,
    proposal_value,
)
from rocketproof.record_projection import part
from tlatrace.trace import Part
from tlatrace.values import State, Value, record, tla_set

__all__ = [
    "KnownMembers",
    "SeenBroker",
    "SeenConn",
    "SeenControl",
    "SeenProposal",
    "SeenState",
    "requests_value",
]

KnownMembers: TypeAlias = Mapping[str, int]
"""A set of members: the name of a broker -> the incarnation in which it is one."""

_OF_BROKERS: Final = ("up", "inc", "torn", "end")


@dataclass(frozen=True, slots=True)
class SeenConn:
    """A connection, as the master has it: reports are in records, -1 is "nothing yet"."""

    inc: int | None
    ack: int
    reported: int | None
    """By the slave."""


@dataclass(frozen=True, slots=True)
class SeenProposal:
    """A proposal; the epoch that it expects is counted from the election on."""

    members: KnownMembers
    expected: int
    base: KnownMembers


@dataclass(frozen=True, slots=True)
class SeenControl:
    """What the controller has; None: it has no master."""

    master: str | None
    members: KnownMembers
    epoch: int


@dataclass(frozen=True, slots=True)
class SeenBroker:
    """What is known of one broker."""

    up: bool
    inc: int
    torn: bool
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenState:
    """What is known of the state."""

    control: SeenControl | None
    is_master: bool
    local: KnownMembers | None
    set_epoch: int | None
    pending: tuple[SeenProposal, ...] | None
    confirm: int | None
    conns: Mapping[str, SeenConn | None]
    """Slave -> its connection; None: there is none."""
    brokers: Mapping[str, SeenBroker]
    acked: int
    visible: int

    def variables(self, names: Mapping[str, str]) -> State:
        """Return the variables that are shown as they are, but the connections."""
        control, local, pending = self.control, self.local, self.pending
        known: dict[str, Value | None] = {
            "ctl": None if control is None else _control(control, names),
            "role": "Master" if self.is_master else "Fenced",
            "local": None if local is None else members_value(local, names),
            "sssE": self.set_epoch,
            "pend": None if pending is None else tla_set(_proposal(p, names) for p in pending),
            "confirm": self.confirm,
            "acked": self.acked,
            "visible": self.visible,
        }
        for variable in _OF_BROKERS:
            of_each = {names[b]: getattr(of, variable) for b, of in self.brokers.items()}
            known[variable] = record(of_each)
        return {name: value for name, value in known.items() if value is not None}

    def connections(self, names: Mapping[str, str]) -> tuple[Part, ...]:
        """Return what is shown of the connections."""
        parts: list[Part] = []
        for slave, conn in self.conns.items():
            if conn is None:
                parts.append(part("conn", names[slave], value=NO_CONN))
                continue
            for name in ("inc", "ack", "reported"):
                value: int | None = getattr(conn, name)
                if value is not None:
                    parts.append(part("conn", names[slave], name, value=value))
        return tuple(parts)


def requests_value(alters: Iterable[SeenProposal] | None, names: Mapping[str, str]) -> State:
    """Return the requests that were sent, if they are shown."""
    return {} if alters is None else {"alters": tla_set(_proposal(p, names) for p in alters)}


def _control(control: SeenControl, names: Mapping[str, str]) -> Value:
    master = NONE if control.master is None else names[control.master]
    return control_value(master, members_value(control.members, names), control.epoch)


def _proposal(proposal: SeenProposal, names: Mapping[str, str]) -> Value:
    proposed = members_value(proposal.members, names)
    return proposal_value(proposed, proposal.expected, members_value(proposal.base, names))

"""What records say of the controller of a group: what it decided, and what it knows since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from rocketha.recording.record import NodeHeader, NodeRecord, RecordError
from rocketproof.protocols.epoch_truncation.values import NONE
from rocketproof.protocols.replica_group.recorded_broker import BrokerSettings, broker
from rocketproof.record_projection import alike, read_field
from tlatrace.values import Value, record, tla_set

__all__ = ["ControllerSettings", "Decided", "RecordedController", "read_settings"]

_SIGNS: Final = ("Heartbeat", "RegisterBroker")


class ControllerSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="controller"):
    """How the controller is set up."""

    elect_unclean: bool


def read_settings(
    headers: Sequence[NodeHeader],
) -> tuple[dict[str, BrokerSettings], dict[str, ControllerSettings]]:
    """Read how brokers and controllers of a group are set up.

    Raises:
        RecordError: nobody is one of the two, brokers differ, or not all of them have records.
    """
    brokers: dict[str, BrokerSettings] = {}
    controllers: dict[str, ControllerSettings] = {}
    for header in headers:
        what = f"settings of {header.node}"
        settings: BrokerSettings | ControllerSettings = read_field(
            header.settings, BrokerSettings | ControllerSettings, what
        )
        if isinstance(settings, BrokerSettings):
            brokers[header.node] = settings
        else:
            controllers[header.node] = settings
    if not controllers or not brokers:
        raise RecordError("there are not the records of a controller and of brokers")
    missing = sorted(set(alike(brokers).brokers) ^ set(brokers))
    if missing:
        raise RecordError(f"{missing[0]} has no records, or is none of the group's brokers")
    return brokers, controllers


class _Set(msgspec.Struct, frozen=True):
    members: tuple[int, ...]
    epoch: int


class _Change(msgspec.Struct, frozen=True, rename={"kind": "is"}):
    kind: str
    broker_id: int | None = None
    master_broker_id: int | None = None
    incarnation: int = 0


class _Entry(msgspec.Struct, frozen=True):
    at_ms: int
    change: _Change
    channel: int


class _Happened(msgspec.Struct, frozen=True, rename={"kind": "is"}):
    kind: str
    master: int = 0
    broker_id: int = 0
    incarnation: int = 0
    restarted: bool = False


class _Applied(msgspec.Struct, frozen=True):
    entry: _Entry
    events: tuple[_Happened, ...]


@dataclass(frozen=True, slots=True)
class Decided:
    """An action of the controller."""

    action: str | None
    params: tuple[Value, ...] = ()
    restarted: str | None = None
    """Who has come back."""


class RecordedController:
    """What the controller knows of the group, as it has written it last."""

    def __init__(self, brokers: Sequence[str], *, heartbeat_timeout_ms: int) -> None:
        """Begin with a controller that knows nobody."""
        self._timeout_ms = heartbeat_timeout_ms
        self.starts: dict[str, dict[int, int]] = {name: {} for name in brokers}
        """Broker -> its registered incarnation -> crashes before that."""
        self._incarnations: dict[str, int] = dict.fromkeys(brokers, 0)
        self._master: int | None = None
        self.epoch = 0
        """The masterEpoch."""
        self._set = _Set((), 0)
        self._unfit: tuple[int, ...] = ()
        self._registered: dict[int, int] = {}
        self._gone: set[str] = set()
        """Brokers that had stopped when the controller noticed, or that it took for others."""
        self._channels: dict[str, int] = {}
        """Broker -> the channel on which it has sent last."""
        self._signs: dict[tuple[str, int], int] = {}
        """Broker and channel -> until when the last sign of life on it holds."""

    def value(self) -> Value:
        """Return `ctl`."""
        return record(
            {
                "master": NONE if self._master is None else broker(self._master),
                "epoch": self.epoch,
                "sss": tla_set(map(broker, self._set.members)),
                "sssEpoch": self._set.epoch,
                "inc": record(dict(self._incarnations)),
                "unfit": tla_set(map(broker, self._unfit)),
            }
        )

    def note_channel(self, name: str, message: str) -> None:
        """Note on which channel a broker sends, by the id of a frame."""
        channel, _, _ = message.partition(":")
        _, named, number = channel.partition("controller-")
        if named and number.isdecimal():
            self._channels[name] = int(number)

    def after(self, written: NodeRecord, crashes: Mapping[str, int]) -> list[Decided]:
        """Take a record; return what the controller has decided in it. Raises: RecordError"""
        before, master = self.value(), self._master
        self._read(written.state)
        decided: list[Decided] = []
        if written.action == "EntryActed":
            applied: _Applied = read_field(written.params, _Applied, "entry")
            self._note_sign(applied.entry)
            for one in applied.events:
                decided += self._decided(one, applied.entry, master, crashes)
        elif written.action is not None:
            raise RecordError(f"a controller has no action {written.action!r}")
        self._incarnations |= {
            broker(number): self.starts[broker(number)].get(incarnation, 0)
            for number, incarnation in self._registered.items()
        }
        if not decided and self.value() != before:
            decided.append(Decided(None))
        return decided

    def _read(self, state: Mapping[str, Any]) -> None:
        if "master" in state:
            self._master = read_field(state["master"], int | None, "master")
        if "master_epoch" in state:
            self.epoch = read_field(state["master_epoch"], int, "master_epoch")
        if "sync_state_set" in state:
            self._set = read_field(state["sync_state_set"], _Set, "sync_state_set")
        if "unfit" in state:
            self._unfit = read_field(state["unfit"], tuple[int, ...], "unfit")
        if "incarnations" in state:
            pairs = read_field(state["incarnations"], tuple[tuple[int, int], ...], "incarnations")
            self._registered = dict(pairs)

    def _note_sign(self, entry: _Entry) -> None:
        change = entry.change
        if change.kind not in _SIGNS or change.broker_id is None:
            return
        if self._registered.get(change.broker_id) == change.incarnation:
            name = broker(change.broker_id)
            self._signs[name, entry.channel] = entry.at_ms + self._timeout_ms

    def _decided(
        self, one: _Happened, entry: _Entry, master: int | None, crashes: Mapping[str, int]
    ) -> list[Decided]:
        change = entry.change
        name = broker(one.broker_id)
        match one.kind:
            case "MasterElected":
                evicted = self._evicted(master, crashes) if self._is_gone(master) else []
                needed = master is None or self._is_gone(master)
                self._gone.discard(broker(one.master))
                action = "ElectMaster" if needed else "DesignateMaster"
                return [*evicted, Decided(action, (broker(one.master),))]
            case "SetAltered" | "SetKept":
                action = "AlterSyncStateSet" if one.kind == "SetAltered" else "RefuseAlter"
                return [Decided(action, (broker(change.master_broker_id or 0),))]
            case "DataCleaned":
                return [*self._evicted(master, crashes), Decided("CleanBrokerData")]
            case "BrokerRegistered":
                if not one.restarted:
                    self.starts[name].setdefault(one.incarnation, crashes[name])
                    return []
                self.starts[name][one.incarnation] = crashes[name]
                self._gone.discard(name)
                return [Decided("Restart", (name,), restarted=name)]
            case "BrokerEvicted":
                before = self.starts[name].get(one.incarnation, 0)
                if before < crashes[name]:
                    self._gone.add(name)
                elif name not in self._gone and self._is_heard_elsewhere(name, entry):
                    self._gone.add(name)
                    return [Decided("EvictBroker", (name, before))]
                return []
            case "BrokerIdAssigned":
                return []
            case _:
                raise RecordError(f"nothing is known of {one.kind!r}")

    def _is_gone(self, master: int | None) -> bool:
        return master is not None and broker(master) in self._gone

    def _evicted(self, master: int | None, crashes: Mapping[str, int]) -> list[Decided]:
        """Return that the master is gone, when the controller acts because of that."""
        if master is None:
            return []
        name = broker(master)
        known = self._incarnations[name]
        return [Decided("EvictBroker", (name, known))] if known < crashes[name] else []

    def _is_heard_elsewhere(self, name: str, entry: _Entry) -> bool:
        """Tell whether an old channel was closed while the broker is heard on another one."""
        present = self._channels.get(name)
        if entry.change.kind != "ChannelClosed" or present in (None, entry.channel):
            return False
        return self._signs.get((name, present or 0), entry.at_ms - 1) >= entry.at_ms

"""How brokers come into the table of a name server, and leave it.

Pure: a state in, a state out, and whom to tell of another smallest brokerId.

Source: namesrv/routeinfo `RouteInfoManager` (`registerBroker`, `unRegisterBroker`,
`onChannelDestroy`, `scanNotActiveBroker`), `BatchUnregistrationService`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeVar

from rocketha.formats.name_server_requests import NotifyMinBrokerIdChange, RegisterBroker
from rocketha.nameserver.rules import Registrations
from rocketha.nameserver.state import NameServerOptions, NameServerState
from rocketha.nameserver.table import (
    NO_MAPPINGS,
    NO_TOPICS,
    Group,
    Registration,
    Removal,
)
from rocketha.types import ConnectionId, TimestampMs

V = TypeVar("V")

__all__ = [
    "Changed",
    "Notice",
    "decide",
    "has_only_a_topic",
    "heard",
    "is_decided",
    "register",
    "remove_next",
]


@dataclass(frozen=True, slots=True)
class Notice:
    """A broker is to be told of another smallest brokerId."""

    address: str
    says: NotifyMinBrokerIdChange


@dataclass(frozen=True, slots=True)
class Changed:
    """A state, and whom to tell."""

    state: NameServerState
    notices: tuple[Notice, ...] = ()


def has_only_a_topic(state: NameServerState, request: RegisterBroker) -> bool:
    """Tell whether a broker that is not registered says one topic only: more must come first."""
    group = state.groups.get(request.broker_name)
    known = group is not None and request.broker_id in group.brokers
    return not known and len(request.topic_configs) == 1


def register(
    state: NameServerState, request: RegisterBroker, conn: ConnectionId, *, now_ms: TimestampMs
) -> Changed:
    """Take a registration, or leave the table as it is.

    Spec: Route!ReceiveRegistration
    Source: RouteInfoManager.registerBroker
    """
    options, rules = state.options, state.options.rules
    group = state.groups.get(request.broker_name, Group(cluster_name=request.cluster_name))
    timeout_ms = request.heartbeat_timeout_ms
    new = Registration(
        broker_id=request.broker_id,
        address=request.broker_address,
        version=request.data_version,
        conn=conn,
        ha_address=request.ha_server_address,
        timeout_ms=options.expired_ms if timeout_ms is None else timeout_ms,
        heard_ms=now_ms,
    )
    if not (rules.is_newest(group, new) and rules.is_in_order(group, new)):
        left = rules.left_by_refused(group, new)
        return Changed(state.with_group(request.broker_name, replace(group, brokers=left)))
    kept = {
        broker_id: one
        for broker_id, one in group.brokers.items()
        if not rules.is_replaced(one, new)
    }
    brokers: Registrations = MappingProxyType({**kept, new.broker_id: new})
    acting = bool(request.enable_acting_master)
    changed = _with_topics(replace(group, brokers=brokers, acting=acting), request, new, options)
    if new.is_master:
        changed = replace(changed, newest_epoch=max(group.newest_epoch, new.epoch))
    notices = _notices(options, group, changed, new=new)
    return Changed(state.with_group(request.broker_name, changed), tuple(notices))


def _with_topics(
    group: Group, request: RegisterBroker, new: Registration, options: NameServerOptions
) -> Group:
    """Take the topics of a master, or those of a slave that acts, which are read-only.

    A broker that has a new topic says nothing of the others (`registerIncrementBrokerData`), so
    those stay, unless the option says otherwise.
    """
    rules = options.rules
    if new.is_master:
        masked = rules.masked_with_master(group.masked)
    elif rules.may_mask(group.acting) and rules.masks_at_registration(group.brokers, new):
        masked = True
    else:
        return group
    topics = _merged(group.topics, request.topic_configs)
    if options.delete_topics and not request.topic_queue_mappings:
        topics = request.topic_configs
    mappings = _merged(group.mappings, request.topic_queue_mappings)
    return replace(group, topics=topics, mappings=mappings, masked=masked)


def _merged(known: Mapping[str, V], said: Mapping[str, V]) -> Mapping[str, V]:
    """Return what is known and said, in doubt as it is said; the same map if nothing is new."""
    if all(known.get(name) == value for name, value in said.items()):
        return known
    return MappingProxyType({**known, **said})


def heard(
    state: NameServerState, broker_name: str, address: str, *, now_ms: TimestampMs
) -> NameServerState:
    """Take a sign of life of a broker; of one that is not registered it says nothing.

    Source: RouteInfoManager.updateBrokerInfoUpdateTimestamp
    """
    group = state.groups.get(broker_name)
    present = None if group is None else group.found(address)
    if group is None or present is None:
        return state
    again = replace(present, heard_ms=now_ms)
    brokers = MappingProxyType({**group.brokers, present.broker_id: again})
    return state.with_group(broker_name, replace(group, brokers=brokers))


def is_decided(state: NameServerState, broker_name: str, meant: Registration) -> bool:
    """Tell whether the end of a registration waits to be done."""
    return any(one.meant.is_same(meant) for one in state.removed_soon.get(broker_name, ()))


def decide(
    state: NameServerState, broker_name: str, meant: Registration, *, asked_for: bool = False
) -> NameServerState:
    """Note that a registration is to end.

    Spec: Route!Decide, Route!Stop
    Source: BatchUnregistrationService.submit
    """
    assert not is_decided(state, broker_name, meant)
    removal = Removal(broker_name=broker_name, meant=meant, asked_for=asked_for)
    return state.with_removal(removal)


def remove_next(state: NameServerState) -> Changed:
    """Do what was decided first: end a registration, and none that was made since.

    Spec: Route!Remove
    Source: RouteInfoManager.unRegisterBroker
    """
    first, state = state.removals[0], state.without_first_removal()
    group, rules = state.groups[first.broker_name], state.options.rules
    left = {
        broker_id: one
        for broker_id, one in group.brokers.items()
        if not rules.is_meant(one, first.meant)
    }
    if len(left) == len(group.brokers):
        return Changed(state)
    changed = replace(group, brokers=MappingProxyType(left))
    if not left:
        changed = replace(changed, topics=NO_TOPICS, mappings=NO_MAPPINGS, masked=False)
    elif rules.may_mask(group.acting) and rules.masks_without(changed.brokers):
        changed = replace(changed, masked=True)
    notices = _notices(state.options, group, changed, gone=first.meant)
    return Changed(state.with_group(first.broker_name, changed), tuple(notices))


def _notices(
    options: NameServerOptions,
    before: Group,
    after: Group,
    *,
    new: Registration | None = None,
    gone: Registration | None = None,
) -> Iterable[Notice]:
    """Tell all that are registered of another smallest brokerId.

    Spec: Route!Notes
    Source: RouteInfoManager.notifyMinBrokerIdChanged
    """
    smallest = min(after.brokers, default=None)
    if not options.notify_min_broker_id_changed or smallest is None:
        return
    if smallest == min(before.brokers, default=None):
        return
    says = NotifyMinBrokerIdChange(
        min_broker_id=smallest,
        min_broker_address=after.brokers[smallest].address,
        offline_broker_address=None if gone is None else gone.address,
        ha_broker_address=None if new is None else new.ha_address,
    )
    for one in after.brokers.values():
        yield Notice(one.address, says)

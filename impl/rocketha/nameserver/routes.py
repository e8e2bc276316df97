"""What a name server tells of its table: to clients who has a topic, to brokers who is there.

Source: namesrv/routeinfo `RouteInfoManager` (`pickupTopicRouteData`, `getBrokerMemberGroup`)
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.name_server_requests import (
    BrokerData,
    QueryDataVersion,
    QueryDataVersionResult,
    QueueData,
    RegisterBroker,
    RegisterBrokerResult,
    TopicConfig,
    TopicRouteData,
)
from rocketha.nameserver.state import NameServerOptions, NameServerState
from rocketha.nameserver.table import Group
from rocketha.types import MASTER, BrokerId

__all__ = ["data_version", "member_group", "registered", "topic_route"]

_WRITE: Final = 2
"""PermName.PERM_WRITE"""


def topic_route(state: NameServerState, topic: str) -> TopicRouteData | None:
    """Return which groups have a topic, as clients are to see them; None: nobody has it.

    Spec: Route!AnswerClient
    """
    names = sorted(state.having.get(topic, ()))
    found = {name: state.groups[name] for name in names}
    if not found:
        return None
    mappings = {
        name: group.mappings[topic] for name, group in found.items() if topic in group.mappings
    }
    return TopicRouteData(
        queue_datas=tuple(
            [_queues(name, group.topics[topic], group) for name, group in found.items()]
        ),
        broker_datas=tuple(
            [
                BrokerData(
                    cluster=group.cluster_name,
                    broker_name=name,
                    addresses=shown(group, state.options),
                    enable_acting_master=group.acting,
                )
                for name, group in found.items()
            ]
        ),
        topic_queue_mappings=mappings or None,
    )


def shown(group: Group, options: NameServerOptions) -> Mapping[BrokerId, str]:
    """Return the brokers of a group as clients see them: who acts has the master's brokerId.

    Spec: Route!Found, Route!Shown
    """
    rules = options.rules
    acts = rules.who_acts(group.brokers) if options.support_acting_master else None
    if not rules.may_act(group):
        acts = None
    addresses = {
        MASTER if broker_id == acts else broker_id: one.address
        for broker_id, one in group.brokers.items()
    }
    return MappingProxyType(addresses)


def _queues(broker_name: str, config: TopicConfig, group: Group) -> QueueData:
    return QueueData(
        broker_name=broker_name,
        read_queue_nums=config.read_queue_nums,
        write_queue_nums=config.write_queue_nums,
        perm=config.perm & ~_WRITE if group.masked else config.perm,
        topic_sys_flag=config.topic_sys_flag,
    )


def member_group(state: NameServerState, cluster_name: str, broker_name: str) -> BrokerMemberGroup:
    """Return who is registered under a brokerName, as what: perhaps nobody.

    Spec: Route!Poll
    """
    group = state.groups.get(broker_name)
    brokers = {} if group is None else group.brokers
    return BrokerMemberGroup(
        cluster_name=cluster_name,
        broker_name=broker_name,
        addresses={broker_id: one.address for broker_id, one in brokers.items()},
    )


def registered(state: NameServerState, request: RegisterBroker) -> RegisterBrokerResult:
    """Return what a broker hears that has registered: who the master is, unless it is it."""
    group = state.groups.get(request.broker_name)
    present = None if group is None else group.found(request.broker_address)
    if group is None or present is None or present.broker_id != request.broker_id:
        return RegisterBrokerResult()
    master = group.brokers.get(MASTER)
    if master is None or present.is_master:
        return RegisterBrokerResult()
    return RegisterBrokerResult(ha_server_address=master.ha_address, master_address=master.address)


def data_version(state: NameServerState, request: QueryDataVersion) -> QueryDataVersionResult:
    """Return whether a broker's topics are known in another version, and in which.

    Source: DefaultRequestProcessor.queryBrokerTopicConfig
    """
    group = state.groups.get(request.broker_name)
    present = None if group is None else group.found(request.broker_address)
    if present is None:
        return QueryDataVersionResult(changed=True)
    changed = present.version != request.data_version
    return QueryDataVersionResult(changed=changed, data_version=present.version)

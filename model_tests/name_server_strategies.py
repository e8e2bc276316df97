"""Hypothesis strategies for what a name server is asked and answers; always valid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import strategies as st

from model_tests.controller_strategies import names, texts
from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.name_server_requests import (
    BrokerData,
    BrokerHeartbeat,
    DataVersion,
    GetBrokerMemberGroup,
    GetRouteInfo,
    NameServerAnswer,
    NameServerRequest,
    NotifyMinBrokerIdChange,
    QueryDataVersion,
    QueryDataVersionResult,
    QueueData,
    RegisterBroker,
    RegisterBrokerResult,
    TopicConfig,
    TopicFilterType,
    TopicQueueMappingInfo,
    TopicRouteData,
    UnregisterBroker,
)
from rocketha.types import INT32_MAX, INT64_MAX, INT64_MIN, BrokerId, TimestampMs


def _longs() -> st.SearchStrategy[int]:
    return st.integers(INT64_MIN, INT64_MAX)


def _counts() -> st.SearchStrategy[int]:
    return st.integers(0, INT32_MAX)


def _ids() -> st.SearchStrategy[BrokerId]:
    return st.builds(BrokerId, st.integers(0, 3) | st.integers(0, INT64_MAX))


def _addresses() -> st.SearchStrategy[Mapping[BrokerId, str]]:
    return st.dictionaries(_ids(), texts(), max_size=4)


def data_versions() -> st.SearchStrategy[DataVersion]:
    """Any version."""
    return st.builds(DataVersion, _longs(), _longs(), st.builds(TimestampMs, _longs()))


def _topics() -> st.SearchStrategy[TopicConfig]:
    return st.builds(
        TopicConfig,
        topic_name=texts(),
        read_queue_nums=_counts(),
        write_queue_nums=_counts(),
        perm=_counts(),
        topic_filter_type=st.sampled_from(TopicFilterType),
        topic_sys_flag=_counts(),
        order=st.booleans(),
        attributes=st.dictionaries(texts(), texts(), max_size=3),
    )


def _mappings() -> st.SearchStrategy[TopicQueueMappingInfo]:
    return st.builds(
        TopicQueueMappingInfo,
        topic=texts(),
        scope=texts(),
        total_queues=_counts(),
        broker_name=texts(),
        epoch=_longs(),
        dirty=st.booleans(),
        queue_ids=st.dictionaries(_counts(), _counts(), max_size=3),
    )


def _writable(request: RegisterBroker) -> RegisterBroker:
    """Leave out of a compressed body what it cannot say."""
    if not request.compressed:
        return request
    topics = [
        replace(topic, order=False, topic_sys_flag=0)
        for topic in request.topic_configs.values()
        if " " not in topic.topic_name
    ]
    return replace(
        request,
        topic_configs={topic.topic_name: topic for topic in topics},
        mapping_data_version=None,
    )


def registrations() -> st.SearchStrategy[RegisterBroker]:
    """Any registration."""
    return st.builds(
        RegisterBroker,
        cluster_name=texts(),
        broker_name=names(),
        broker_address=names(),
        broker_id=_ids(),
        ha_server_address=texts(),
        heartbeat_timeout_ms=st.none() | st.integers(1, INT64_MAX),
        enable_acting_master=st.none() | st.booleans(),
        zone_name=st.none() | texts(),
        compressed=st.booleans(),
        data_version=data_versions(),
        topic_configs=st.lists(_topics(), max_size=3).map(
            lambda topics: {topic.topic_name: topic for topic in topics}
        ),
        filter_servers=st.lists(texts(), max_size=2).map(tuple),
        topic_queue_mappings=st.lists(_mappings(), max_size=2).map(
            lambda infos: {info.topic: info for info in infos}
        ),
        mapping_data_version=st.none() | data_versions(),
    ).map(_writable)


def name_server_requests() -> st.SearchStrategy[NameServerRequest]:
    """Any request that a name server answers."""
    broker = {"cluster_name": texts(), "broker_name": names(), "broker_address": names()}
    return st.one_of(
        registrations(),
        st.builds(UnregisterBroker, broker_id=_ids(), **broker),
        st.builds(GetRouteInfo, topic=names(), accept_standard_json_only=st.none() | st.booleans()),
        st.builds(QueryDataVersion, broker_id=_ids(), data_version=data_versions(), **broker),
        st.builds(GetBrokerMemberGroup, cluster_name=texts(), broker_name=names()),
        st.builds(BrokerHeartbeat, **broker),
    )


def notifications() -> st.SearchStrategy[NotifyMinBrokerIdChange]:
    """Any notice."""
    text = st.none() | texts()
    return st.builds(
        NotifyMinBrokerIdChange,
        min_broker_id=st.none() | _ids(),
        broker_name=text,
        min_broker_address=text,
        offline_broker_address=text,
        ha_broker_address=text,
    )


def _routes() -> st.SearchStrategy[TopicRouteData]:
    queues = st.builds(
        QueueData,
        broker_name=texts(),
        read_queue_nums=_counts(),
        write_queue_nums=_counts(),
        perm=_counts(),
        topic_sys_flag=_counts(),
    )
    brokers = st.builds(
        BrokerData,
        cluster=texts(),
        broker_name=texts(),
        addresses=_addresses(),
        zone_name=st.none() | texts(),
        enable_acting_master=st.booleans(),
    )
    servers = st.dictionaries(texts(), st.lists(texts(), max_size=2).map(tuple), max_size=2)
    return st.builds(
        TopicRouteData,
        queue_datas=st.lists(queues, max_size=3).map(tuple),
        broker_datas=st.lists(brokers, max_size=3).map(tuple),
        filter_server_table=servers,
        order_topic_conf=st.none() | texts(),
        topic_queue_mappings=st.none() | st.dictionaries(texts(), _mappings(), max_size=2),
    )


def name_server_answers() -> st.SearchStrategy[tuple[NameServerCode, NameServerAnswer]]:
    """Any answer, behind the code of what it answers."""
    results = st.builds(
        RegisterBrokerResult,
        ha_server_address=st.none() | texts(),
        master_address=st.none() | texts(),
        kv_table=st.none() | st.dictionaries(texts(), texts(), max_size=2),
    )
    versions = st.builds(
        QueryDataVersionResult, changed=st.booleans(), data_version=st.none() | data_versions()
    )
    groups = st.builds(
        BrokerMemberGroup, cluster_name=texts(), broker_name=texts(), addresses=_addresses()
    )
    return st.one_of(
        st.tuples(st.just(NameServerCode.REGISTER_BROKER), results),
        st.tuples(st.just(NameServerCode.GET_ROUTEINFO_BY_TOPIC), _routes()),
        st.tuples(st.just(NameServerCode.QUERY_DATA_VERSION), versions),
        st.tuples(st.just(NameServerCode.GET_BROKER_MEMBER_GROUP), groups),
    )

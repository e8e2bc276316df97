"""Hypothesis strategies for what a controller is asked and answers; always valid."""

from __future__ import annotations

from hypothesis import strategies as st

from model_tests.format_strategies import epochs, offsets
from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.controller_bodies import (
    ReplicaIdentity,
    ReplicasInfo,
    SyncStateSet,
)
from rocketha.formats.controller_codes import RequestCode, ResponseCode
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    ApplyBrokerId,
    CleanBrokerData,
    ControllerRequest,
    ElectMaster,
    GetControllerConfig,
    GetMetadataInfo,
    GetNextBrokerId,
    GetReplicaInfo,
    GetSyncStateData,
    Heartbeat,
    Incarnation,
    RegisterBroker,
    RoleChanged,
    UpdateControllerConfig,
)
from rocketha.formats.controller_responses import (
    BrokerIdApplied,
    ControllerSettings,
    Elected,
    LiveMaster,
    MetadataInfo,
    NextBrokerId,
    Registered,
    ReplicaInfo,
    ReplyContent,
    SyncStateData,
    SyncStateSetAltered,
)
from rocketha.types import (
    INT32_MAX,
    INT64_MAX,
    BrokerId,
    Epoch,
    SyncStateSetEpoch,
    TimestampMs,
)


def texts() -> st.SearchStrategy[str]:
    """Any text, also an empty one."""
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def names() -> st.SearchStrategy[str]:
    """Texts that are not blank."""
    return texts().map(lambda text: "b" + text)


def broker_ids() -> st.SearchStrategy[BrokerId]:
    """Ids of replicas, of every size."""
    return st.integers(0, INT64_MAX).map(BrokerId)


def incarnations() -> st.SearchStrategy[Incarnation]:
    """Incarnations of every size."""
    return st.integers(0, INT64_MAX).map(Incarnation)


def set_epochs() -> st.SearchStrategy[SyncStateSetEpoch]:
    """Versions of a SyncStateSet."""
    return st.integers(0, INT32_MAX).map(SyncStateSetEpoch)


def sync_state_sets() -> st.SearchStrategy[SyncStateSet]:
    """SyncStateSets, also empty ones."""
    return st.builds(SyncStateSet, st.frozensets(broker_ids(), max_size=4), set_epochs())


def _maybe_times() -> st.SearchStrategy[TimestampMs | None]:
    return st.none() | st.integers(0, INT64_MAX).map(TimestampMs)


def requests() -> st.SearchStrategy[ControllerRequest]:
    """Every request that a controller answers."""
    none = st.none()
    return st.one_of(
        st.builds(
            Heartbeat,
            cluster_name=texts(),
            broker_name=names(),
            broker_address=names(),
            broker_id=broker_ids(),
            epoch=none | epochs() | st.just(Epoch(-1)),
            max_offset=none | offsets(min_value=-1),
            confirm_offset=none | offsets(min_value=-1),
            timeout_ms=none | st.integers(1, INT64_MAX),
            election_priority=none | st.integers(-INT32_MAX - 1, INT32_MAX),
            incarnation=incarnations(),
        ),
        st.builds(
            AlterSyncStateSet,
            broker_name=names(),
            master_broker_id=broker_ids(),
            master_epoch=epochs(),
            sync_state_set=sync_state_sets(),
            joining=st.dictionaries(broker_ids(), incarnations(), max_size=2),
            invoke_time_ms=_maybe_times(),
        ),
        st.builds(
            ElectMaster,
            cluster_name=texts(),
            broker_name=names(),
            broker_id=none | broker_ids(),
            designate_elect=st.booleans(),
            invoke_time_ms=_maybe_times(),
        ),
        st.builds(
            RegisterBroker,
            cluster_name=texts(),
            broker_name=names(),
            broker_id=broker_ids(),
            broker_address=names(),
            incarnation=none | incarnations(),
            log_torn=st.booleans(),
            invoke_time_ms=_maybe_times(),
        ),
        st.builds(GetReplicaInfo, broker_name=names()),
        st.just(GetMetadataInfo()),
        st.builds(GetSyncStateData, broker_names=st.lists(texts(), max_size=3).map(tuple)),
        st.builds(
            CleanBrokerData,
            cluster_name=none | texts(),
            broker_name=names(),
            ids_to_clean=none | texts(),
            clean_living=st.booleans(),
            invoke_time_ms=_maybe_times(),
        ),
        st.just(GetControllerConfig()),
        st.builds(UpdateControllerConfig, settings=_settings()),
        st.builds(GetNextBrokerId, cluster_name=texts(), broker_name=names()),
        st.builds(
            ApplyBrokerId,
            cluster_name=texts(),
            broker_name=names(),
            applied_broker_id=broker_ids(),
            register_check_code=names(),
        ),
    )


def _settings() -> st.SearchStrategy[dict[str, str]]:
    named = st.sampled_from(("enableElectUncleanMaster", "controllerType", "a.b-c"))
    return st.dictionaries(named, st.sampled_from(("", "true", "n0-h:1;n1-h:2", "ü=")))


def notices() -> st.SearchStrategy[RoleChanged]:
    """Notices of a new master."""
    return st.builds(
        RoleChanged,
        master_broker_id=broker_ids(),
        master_address=names(),
        master_epoch=epochs(),
        sync_state_set=sync_state_sets(),
    )


def _masters() -> st.SearchStrategy[LiveMaster]:
    return st.builds(
        LiveMaster,
        broker_id=broker_ids(),
        address=texts(),
        epoch=epochs(),
        sync_state_set_epoch=set_epochs(),
    )


def _infos() -> st.SearchStrategy[ReplicasInfo]:
    identities = st.builds(
        ReplicaIdentity,
        broker_name=texts(),
        broker_id=broker_ids(),
        broker_address=texts(),
        alive=st.booleans(),
    )
    several = st.lists(identities, max_size=2).map(tuple)
    return st.builds(
        ReplicasInfo,
        master_broker_id=st.none() | broker_ids(),
        master_address=st.none() | texts(),
        master_epoch=epochs(),
        sync_state_set_epoch=set_epochs(),
        in_sync=several,
        not_in_sync=several,
    )


def contents() -> st.SearchStrategy[tuple[RequestCode, ReplyContent]]:
    """What successful answers show, each with the code of its request."""
    group = st.builds(
        BrokerMemberGroup,
        cluster_name=texts(),
        broker_name=texts(),
        addresses=st.dictionaries(broker_ids(), texts(), max_size=3),
    )
    elected = st.builds(
        Elected,
        master=_masters(),
        members=st.frozensets(broker_ids(), max_size=3),
        group=st.none() | group,
    )
    registered = st.builds(
        Registered,
        cluster_name=texts(),
        broker_name=names(),
        master=st.none() | _masters(),
        master_epoch=epochs(),
        sync_state_set=sync_state_sets(),
    )
    info = st.builds(
        ReplicaInfo,
        master_broker_id=st.none() | broker_ids(),
        master_address=st.none() | texts(),
        master_epoch=epochs(),
        sync_state_set=sync_state_sets(),
    )
    metadata = st.builds(
        MetadataInfo,
        group=texts(),
        leader_id=st.none() | texts(),
        leader_address=st.none() | texts(),
        is_leader=st.booleans(),
        peers=texts(),
    )
    altered = st.builds(SyncStateSetAltered, sync_state_set=sync_state_sets())
    data = st.builds(SyncStateData, groups=st.dictionaries(texts(), _infos(), max_size=2))
    next_id = st.builds(
        NextBrokerId,
        cluster_name=texts(),
        broker_name=names(),
        next_broker_id=st.integers(1, INT64_MAX).map(BrokerId),
    )
    applied = st.builds(BrokerIdApplied, cluster_name=texts(), broker_name=names())
    return st.one_of(
        st.tuples(st.just(RequestCode.ALTER_SYNC_STATE_SET), altered),
        st.tuples(st.just(RequestCode.ELECT_MASTER), elected),
        st.tuples(st.just(RequestCode.REGISTER_BROKER), registered),
        st.tuples(st.just(RequestCode.GET_REPLICA_INFO), info),
        st.tuples(st.just(RequestCode.GET_METADATA_INFO), metadata),
        st.tuples(st.just(RequestCode.GET_SYNC_STATE_DATA), data),
        st.tuples(st.just(RequestCode.GET_NEXT_BROKER_ID), next_id),
        st.tuples(st.just(RequestCode.APPLY_BROKER_ID), applied),
        st.tuples(
            st.just(RequestCode.GET_CONTROLLER_CONFIG),
            st.builds(ControllerSettings, settings=_settings()),
        ),
    )


def refusals() -> st.SearchStrategy[ResponseCode]:
    """Codes that show nothing."""
    return st.sampled_from([code for code in ResponseCode if code is not ResponseCode.SUCCESS])

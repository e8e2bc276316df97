"""The log is all there is: replayed it gives the same state, and the same answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest
from hypothesis import example, given, seed, settings
from hypothesis import strategies as st

from model_tests.controller_strategies import requests
from rocketha.controller.applied import Applied
from rocketha.controller.dispatch import ControllerOptions
from rocketha.controller.entry import (
    Change,
    ChannelClosed,
    Entry,
    InactiveScanned,
    LoggedRequest,
    Started,
    decode_entry,
    encode_entry,
)
from rocketha.controller.machine import apply, replay
from rocketha.controller.node import ControllerNode
from rocketha.controller.state import ControllerState
from rocketha.errors import ControllerLogError
from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_request_codec import push_request
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    ApplyBrokerId,
    CleanBrokerData,
    ControllerRequest,
    ElectMaster,
    GetReplicaInfo,
    Heartbeat,
    Incarnation,
    RegisterBroker,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import push_command
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import BrokerId, ConnectionId, Epoch, Offset, SyncStateSetEpoch, TimestampMs
from tests.impl.controller.promises import broken_promises
from tests.impl.controller.scene import CLUSTER, METADATA, with_master

_GROUPS = ("broker-a", "broker-b")
_OPTIONS = ControllerOptions(metadata=METADATA)
_ROUNDS_MAX: Final = 8


def _small_changes() -> st.SearchStrategy[Change]:
    """Requests about few groups, replicas and epochs, so that many are taken."""
    group = st.sampled_from(_GROUPS)
    broker = st.integers(1, 3).map(BrokerId)
    incarnation = st.integers(0, 2).map(Incarnation)
    sets = st.builds(
        SyncStateSet,
        st.frozensets(broker, max_size=3),
        st.integers(0, 6).map(SyncStateSetEpoch),
    )
    return st.one_of(
        st.builds(
            ApplyBrokerId,
            cluster_name=st.just(CLUSTER),
            broker_name=group,
            applied_broker_id=broker,
            register_check_code=broker.map(lambda b: f"h{b}:1;17"),
        ),
        st.builds(
            RegisterBroker,
            cluster_name=st.just(CLUSTER),
            broker_name=group,
            broker_id=broker,
            broker_address=broker.map(lambda b: f"h{b}:1"),
            incarnation=incarnation,
            log_torn=st.booleans(),
        ),
        st.builds(
            Heartbeat,
            cluster_name=st.just(CLUSTER),
            broker_name=group,
            broker_address=st.just("h:1"),
            broker_id=broker,
            epoch=st.integers(0, 3).map(Epoch),
            max_offset=st.integers(0, 1 << 40).map(Offset),
            timeout_ms=st.integers(1, 20_000),
            incarnation=incarnation,
        ),
        st.builds(
            AlterSyncStateSet,
            broker_name=group,
            master_broker_id=broker,
            master_epoch=st.integers(0, 4).map(Epoch),
            sync_state_set=sets,
            joining=st.dictionaries(broker, incarnation, max_size=1),
        ),
        st.builds(
            ElectMaster,
            broker_name=group,
            broker_id=st.none() | broker,
            designate_elect=st.booleans(),
        ),
        st.builds(
            CleanBrokerData,
            broker_name=group,
            ids_to_clean=st.sampled_from((None, "1", "2;3", "x")),
            clean_living=st.booleans(),
        ),
        st.just(ChannelClosed()),
        st.just(InactiveScanned()),
        st.just(Started()),
    )


def entries(changes: st.SearchStrategy[Change]) -> st.SearchStrategy[Entry]:
    """Entries at any time, also back in time, on few channels."""
    return st.builds(
        Entry,
        at_ms=st.integers(0, 60_000).map(TimestampMs),
        change=changes,
        channel=st.integers(0, 4).map(ConnectionId),
        elect_unclean=st.booleans(),
    )


def logs() -> st.SearchStrategy[list[Entry]]:
    """Logs of which a part has an effect: a group that works, then anything."""
    any_entry = entries(_small_changes())
    beginning = st.sampled_from(([], list(with_master(1, 2, 3).entries)))
    return st.builds(lambda a, b: [*a, *b], beginning, st.lists(any_entry, max_size=25))


def outcomes(log: list[Entry]) -> list[Applied]:
    """Apply a log and return everything that came of each entry."""
    state, results = ControllerState(), []
    for entry in log:
        results.append(apply(state, entry))
        state = results[-1].state
    return results


@given(logs())
@settings(max_examples=60)
def test_a_log_gives_the_same_outcome_again_also_from_its_bytes(log: list[Entry]) -> None:
    read = [decode_entry(encode_entry(entry)) for entry in log]
    assert read == log
    assert outcomes(read) == outcomes(log)


@given(logs(), st.data())
@settings(max_examples=60)
def test_a_controller_that_starts_again_at_any_point_has_its_state_and_goes_on_alike(
    log: list[Entry], data: st.DataObject
) -> None:
    """The disk loses at each restart all that it may lose."""
    disk = MemoryDisk()
    node, _ = ControllerNode.open(disk, _OPTIONS)
    restarts = data.draw(st.sets(st.integers(0, len(log)), max_size=4))
    for index, entry in enumerate(log):
        if index in restarts:
            before = node.state
            disk.lose_unsynced()
            node, _ = ControllerNode.open(disk, _OPTIONS)
            assert node.state == before
        node.log.propose(entry)
    assert node.state == replay(log)


def test_every_point_of_a_long_log_is_a_point_to_start_again() -> None:
    scene = with_master(1, 2, 3)
    for number in range(6):
        master = scene.group.master or BrokerId(1)
        scene.silence(*{1, 2, 3} - {master})
        scene.scan(unclean=number % 3 == 0)
        scene.register(master, incarnation=number)
        elected = scene.group.master or BrokerId(1)
        scene.alter({1, 2, 3} if number % 5 else {elected, master}, master=elected)
    disk = MemoryDisk()
    node, _ = ControllerNode.open(disk, _OPTIONS)
    for entry in scene.entries:
        node.log.propose(entry)
        again, opened = ControllerNode.open(disk, _OPTIONS)
        assert (again.state, opened.torn) == (node.state, 0)
    assert node.state == scene.state
    assert scene.group.master_epoch > 4


@given(logs())
@settings(max_examples=100)
def test_no_log_breaks_a_promise(log: list[Entry]) -> None:
    assert broken_promises(log) == frozenset()


def test_the_logs_above_do_a_lot() -> None:
    """Else what holds for them says nothing."""
    wanted = {f"{kind.__name__} SUCCESS" for kind in LoggedRequest.__args__} | {
        "AlterSyncStateSet FENCED_MASTER_EPOCH",
        "ElectMaster MASTER_STILL_EXIST",
        "MasterElected",
        "SetAltered",
        "BrokerEvicted",
        "DataCleaned",
    }
    seen: set[str] = set()
    for number in range(_ROUNDS_MAX):
        if wanted <= seen:
            break

        @seed(number)
        @given(logs())
        @settings(max_examples=150, database=None)
        def look(log: list[Entry]) -> None:
            for entry, outcome in zip(log, outcomes(log), strict=True):
                seen.add(f"{type(entry.change).__name__} {outcome.reply.code.name}")
                seen.update(type(event).__name__ for event in outcome.events)

        look()
    assert wanted - seen == set()


@given(requests())
def test_every_request_survives_the_log(request_: ControllerRequest) -> None:
    if isinstance(request_, LoggedRequest):
        entry = Entry(at_ms=TimestampMs(7), change=request_, channel=ConnectionId(3))
        assert decode_entry(encode_entry(entry)) == entry


@given(st.binary(max_size=60))
@example(push_command(push_request(GetReplicaInfo(broker_name="b"), opaque=0)))
@example(push_command(RemotingCommand(code=1014, opaque=0)))
@example(push_command(RemotingCommand(code=1014, opaque=0, ext_fields={"logAtMs": "x"})))
@example(encode_entry(Entry(at_ms=TimestampMs(1), change=Started())) + b"\0")
def test_what_is_no_entry_is_a_typed_error(data: bytes) -> None:
    with pytest.raises(ControllerLogError):
        decode_entry(data)


def test_a_query_in_the_log_is_refused() -> None:
    fields = {"brokerName": "b", "logAtMs": "1", "logChannel": "0", "logElectUnclean": "false"}
    with pytest.raises(ControllerLogError, match="has the query 1004"):
        decode_entry(push_command(RemotingCommand(code=1004, opaque=0, ext_fields=fields)))


def test_whether_an_unclean_election_was_allowed_is_in_the_log() -> None:
    """A controller that starts again with another configuration has the same past."""
    scene = with_master(1, 2, members=[1])
    scene.silence(2)
    scene.scan(unclean=True)
    assert scene.group.master == 2

    disk = MemoryDisk()
    node, _ = ControllerNode.open(disk, replace(_OPTIONS, elect_unclean=True))
    for entry in scene.entries:
        node.log.propose(entry)
    again, _ = ControllerNode.open(disk, _OPTIONS)
    assert again.state == scene.state

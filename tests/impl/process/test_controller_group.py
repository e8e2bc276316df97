"""Three controllers of a group in processes of their own, and brokers under them."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from rocketha.dledger.snapshots import SnapshotStore
from rocketha.dledger.store import DLedgerStore
from rocketha.dledger.store_options import StoreOptions
from rocketha.errors import RockethaError
from rocketha.formats.broker_requests import BrokerResponse
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import GetMetadataInfo, GetReplicaInfo
from rocketha.formats.controller_responses import MetadataInfo, ReplicaInfo
from rocketha.recording.node_log import NodeLog
from rocketha.storage.disk import RealDisk
from tests.free_ports import free_ports
from tests.impl.process.broker_peers import BrokerRun, records_in
from tests.impl.process.controller_peers import GROUP, ControllerRun
from tests.impl.process.member_records import (
    actions_that_conform,
    judged,
    logs_of,
    records_of,
)
from tests.impl.process.node_run import until
from tlatrace.judgement.verdict import Diverges

MEMBERS = ("n0", "n1", "n2")
Controllers = list[ControllerRun]


@contextmanager
def a_group(folder: Path, **settings: str) -> Iterator[Controllers]:
    """Start three controllers."""
    ports = free_ports(3)
    peers = ";".join(f"n{number}-127.0.0.1:{port}" for number, port in enumerate(ports))
    with ExitStack() as stack:
        made = []
        for number in range(len(ports)):
            home = folder / f"n{number}"
            home.mkdir()
            run = ControllerRun(
                home,
                controllerDLegerSelfId=f"n{number}",
                controllerDLegerPeers=peers,
                recordsMemberPath=str(records_of(folder, f"n{number}")),
                heartBeatTimeIntervalMs="150",
                minVoteIntervalMs="50",
                maxVoteIntervalMs="250",
                **settings,
            )
            made.append(stack.enter_context(run))
            run.launch()
        yield made


def leader_of(controllers: Controllers) -> ControllerRun:
    leaders: Controllers = []

    def is_led() -> bool:
        leaders[:] = [one for one in controllers if one.leads()]
        return bool(leaders)

    until(is_led, "a controller leads")
    return leaders[-1]


def view_when(
    controllers: Controllers, holds: Callable[[ReplicaInfo], bool], what: str
) -> ReplicaInfo:
    """Ask who leads until it answers with what holds; it may have lost its term since."""
    views: list[ReplicaInfo] = []

    def is_so() -> bool:
        with leader_of(controllers).connect() as connection:
            content = connection.ask(GetReplicaInfo(broker_name=GROUP)).content
        if isinstance(content, ReplicaInfo) and holds(content):
            views.append(content)
        return bool(views)

    until(is_so, what)
    return views[-1]


def view_of(controllers: Controllers) -> ReplicaInfo:
    return view_when(controllers, lambda _: True, "the leader says who is master")


def in_sync(controllers: Controllers, members: set[int]) -> None:
    view_when(
        controllers,
        lambda view: view.sync_state_set.members == members,
        f"{members} are in sync",
    )


@contextmanager
def a_pair(folder: Path, controllers: Controllers) -> Iterator[list[BrokerRun]]:
    """Start two brokers in sync; the first is master."""
    addresses = ";".join(f"127.0.0.1:{one.port}" for one in controllers)
    with ExitStack() as stack:
        made = []
        for number in (1, 2):
            run = BrokerRun(folder / f"b{number}", 0, controllerAddr=addresses)
            made.append(stack.enter_context(run))
            run.start()
            in_sync(controllers, set(range(1, number + 1)))
        yield made


def test_the_group_elects_a_master_when_its_leader_and_the_old_master_are_dead(
    tmp_path: Path,
) -> None:
    with a_group(tmp_path) as controllers, a_pair(tmp_path, controllers) as (first, second):
        assert first.send(b"a").code == BrokerResponse.SUCCESS
        leader = leader_of(controllers)
        assert leader.end(signal.SIGKILL) == -signal.SIGKILL
        assert first.end(signal.SIGKILL) == -signal.SIGKILL

        second.send_until_ok(b"b")

        assert leader_of(controllers) is not leader
        leader.start()
        first.start()
        in_sync(controllers, {1, 2})
        bodies = [record.message.body for record in records_in(second.pull(0).body)]
        assert bodies == [b"a", b"b"]


def test_a_group_that_was_stopped_goes_on_from_its_files(tmp_path: Path) -> None:
    with a_group(tmp_path) as controllers, a_pair(tmp_path, controllers) as (first, _):
        before = view_of(controllers)
        for one in controllers:
            assert one.end(signal.SIGTERM) == 0
        for one in controllers:
            one.launch()

        until(lambda: first.send(b"a").code == BrokerResponse.SUCCESS, "the master serves")
        after = view_of(controllers)
        assert (after.master_broker_id, after.master_epoch) == (1, before.master_epoch)


def test_who_does_not_lead_refuses_brokers_and_says_who_leads(tmp_path: Path) -> None:
    with a_group(tmp_path) as controllers:
        leader = leader_of(controllers)
        other = next(one for one in controllers if one is not leader)
        with other.connect() as connection:
            reply = connection.ask(GetReplicaInfo(broker_name=GROUP))
            found = connection.ask(GetMetadataInfo()).content
        assert reply.code == ResponseCode.NOT_LEADER
        assert isinstance(found, MetadataInfo)
        assert found.leader_address == f"127.0.0.1:{leader.port}"
        assert not found.is_leader
        said = [f"n{number}:127.0.0.1:{one.port};" for number, one in enumerate(controllers)]
        assert found.peers == "".join(said)


def test_what_members_do_conforms_and_a_commit_index_that_is_too_large_diverges(
    tmp_path: Path,
) -> None:
    with a_group(tmp_path) as controllers:
        leader = leader_of(controllers)
        assert leader.end(signal.SIGKILL) == -signal.SIGKILL
        assert leader_of(controllers) is not leader
        leader.start()
    logs = logs_of(tmp_path, MEMBERS)
    actions = actions_that_conform(tmp_path, logs)
    assert {"ParseVotes", "AppendAsLeader", "CommitEntry", "Apply", "Crash"} <= actions
    leads = MEMBERS[controllers.index(leader)]
    forged = [with_an_early_commit(log) if log.header.node == leads else log for log in logs]
    assert isinstance(judged(tmp_path, forged), Diverges)


def test_who_was_away_for_long_is_refilled_by_a_snapshot(tmp_path: Path) -> None:
    with a_group(tmp_path, snapshotThreshold="20") as controllers:
        with a_pair(tmp_path, controllers):
            leader = leader_of(controllers)
            other = next(one for one in controllers if one is not leader)
            assert other.end(signal.SIGTERM) == 0
            _, left_at = log_of(other)
            until(lambda: min(snapshots_of(leader)) > left_at, "the leader has cut its log")
            other.launch()
            until(lambda: max(snapshots_of(other)) > left_at, "it has a snapshot")
        for one in controllers:
            assert one.end(signal.SIGTERM) == 0
        begins_behind, end = log_of(other)
        assert left_at < begins_behind <= end
    actions = actions_that_conform(tmp_path, logs_of(tmp_path, MEMBERS))
    assert {"SaveSnapshot", "CutLog", "InstallSnapshot", "Crash"} <= actions


def test_a_member_whose_log_is_damaged_gets_it_again(tmp_path: Path) -> None:
    with a_group(tmp_path, discardDamagedLog="true") as controllers:
        with a_pair(tmp_path, controllers):
            leader = leader_of(controllers)
            other = next(one for one in controllers if one is not leader)
            assert other.end(signal.SIGTERM) == 0
            before = log_of(other)
            data = other.folder / "store" / "data" / f"{0:020}"
            with data.open("r+b") as file:
                file.seek(60)
                turned = bytes([file.read(1)[0] ^ 1])
                file.seek(60)
                file.write(turned)
            other.launch()
            until(lambda: end_of(other, tmp_path) >= before[1], "it has its log again")
        for one in controllers:
            assert one.end(signal.SIGTERM) == 0
        assert log_of(other)[1] >= before[1] > 0
    assert "Discard" in actions_that_conform(tmp_path, logs_of(tmp_path, MEMBERS))


def with_an_early_commit(log: NodeLog) -> NodeLog:
    """Return what a member wrote, but for one commit index that is one larger."""
    records = list(log.records)
    at = next(n for n, one in enumerate(records) if one.sequence and "committed" in one.state)
    committed = records[at].state["committed"]
    assert isinstance(committed, int)
    state = {**records[at].state, "committed": committed + 1}
    records[at] = msgspec.structs.replace(records[at], state=state)
    return replace(log, records=tuple(records))


def snapshots_of(run: ControllerRun) -> tuple[int, ...]:
    """Return the entries of which a controller has snapshots, or -1."""
    return SnapshotStore(RealDisk(run.folder / "store")).indexes or (-1,)


def end_of(run: ControllerRun, folder: Path) -> int:
    """Return the last entry of a controller that runs, by a copy of its files; -1: it has none."""
    copied = folder / "copied"
    shutil.rmtree(copied, ignore_errors=True)
    try:
        shutil.copytree(run.folder / "store", copied)
        return DLedgerStore.open(RealDisk(copied), StoreOptions()).end_index
    except (OSError, RockethaError):  # it wrote meanwhile
        return -1


def log_of(run: ControllerRun) -> tuple[int, int]:
    """Return what stands before the log of a controller that is down, and its last entry."""
    store = DLedgerStore.open(RealDisk(run.folder / "store"), StoreOptions())
    return store.before_begin_index, store.end_index


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"controllerDLegerSelfId": "n9"}, "controllerDLegerPeers does not have n9"),
        ({"recordsPath": "r"}, "recordsNode is missing"),
        ({"minVoteIntervalMs": "x"}, "minVoteIntervalMs is no number"),
        ({"maxVoteIntervalMs": "50"}, "maxVoteIntervalMs: is not above the minimum"),
    ],
)
def test_a_member_that_cannot_be_configured_is_said_in_a_line(
    settings: dict[str, str], said: str, tmp_path: Path
) -> None:
    peers = "n0-127.0.0.1:1;n1-127.0.0.1:2"
    values = {"controllerDLegerPeers": peers, "minVoteIntervalMs": "50", **settings}
    with ControllerRun(tmp_path, **values) as run:
        assert run.launch().wait(60) == 2
        assert said in run.said()

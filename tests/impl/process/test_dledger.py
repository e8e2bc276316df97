"""DLedger nodes in processes of their own: sockets, files, signals."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dledger_peer.client import GROUP, ask_node
from rocketha.dledger.store import DLedgerStore
from rocketha.dledger.store_options import StoreOptions
from rocketha.errors import ConfigurationError
from rocketha.formats.dledger_codes import DLedgerRequestCode, DLedgerResponseCode
from rocketha.formats.dledger_requests import (
    LeadershipTransferRequest,
    MetadataRequest,
    PullEntriesRequest,
)
from rocketha.process.dledger_configuration import read_configuration
from rocketha.storage.disk import RealDisk
from rocketha.types import LogIndex, SizeBytes, Term
from tests.impl.process.dledger_group import DLedgerGroup
from tests.impl.process.node_run import until

_FILES = StoreOptions(
    mapped_file_size_for_entry_data=SizeBytes(65536),
    mapped_file_size_for_entry_index=SizeBytes(32000),
)


def bodies(folder: Path, name: str) -> list[bytes]:
    """Read the log of a node that has ended."""
    store = DLedgerStore.open(RealDisk(folder / f"dledger-{name}"), _FILES)
    return [store.entry(LogIndex(at)).body for at in range(store.end_index + 1)]


def test_a_leader_is_killed_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    with DLedgerGroup(tmp_path) as group:
        group.start()
        leader = group.leader()
        kept = [b"before %d" % i for i in range(5)]
        for at, body in enumerate(kept):
            answer = group.append(leader, body)
            assert (answer.code, answer.index) == (200, at)
        too_large = group.append(leader, bytes(70_000))
        assert too_large.response_code is DLedgerResponseCode.DISK_ERROR
        follower = next(name for name in group.nodes if name != leader)
        refused = group.append(follower, b"x")
        assert refused.response_code is DLedgerResponseCode.NOT_LEADER
        assert refused.leader_id == leader
        assert group.nodes[leader].end(signal.SIGKILL) == -signal.SIGKILL

        second = group.leader(not_this=leader)
        kept.append(b"after")
        name, answer = group.append_acknowledged(kept[-1])
        assert (name, answer.index) == (second, len(kept) - 1)
        group.start([leader])
        until(lambda: group.metadata(leader) is not None, "it serves again")
        kept.append(b"all")
        name, _ = group.append_acknowledged(kept[-1])
        for at, body in enumerate(kept):
            (entry,) = group.get(name, at).entries
            assert entry.body == body
        gone = group.get(name, len(kept))
        assert gone.response_code is DLedgerResponseCode.INDEX_OUT_OF_RANGE

        other = next(one for one in group.nodes if one not in (name, leader))
        told = group.metadata(other)
        assert told is not None
        assert told.leader_id == name
        assert dict(told.peers or {}) == {n: f"127.0.0.1:{port}" for n, port in group.ports.items()}
        for node in group.nodes.values():
            assert node.end(signal.SIGTERM) == 0
        logs = [bodies(tmp_path, one) for one in group.nodes]
        assert sum(log == kept for log in logs) >= 2
        assert all(log == kept[: len(log)] for log in logs)


def has(data: Path, body: bytes) -> bool:
    """Tell whether a file has this in it; it may not be there yet."""
    return data.exists() and body in data.read_bytes()


def test_a_follower_whose_log_is_damaged_is_refused_or_gets_it_again(tmp_path: Path) -> None:
    with DLedgerGroup(tmp_path) as group:
        group.start()
        for number in range(5):
            group.append_acknowledged(b"entry %d" % number)
        leader = group.leader()
        follower = next(name for name in group.nodes if name != leader)
        data = tmp_path / f"dledger-{follower}" / "data" / f"{0:020}"
        until(lambda: has(data, b"entry 4"), "the follower has all")
        node = group.nodes[follower]
        assert node.end(signal.SIGTERM) == 0
        written = bytearray(data.read_bytes())
        written[60] ^= 1
        data.write_bytes(written)

        node.launch()
        assert node.wait() == 2
        assert "discardDamagedLog=true" in node.said()
        assert data.read_bytes() == written

        node.configuration.write_bytes(
            node.configuration.read_bytes() + b"discardDamagedLog=true\n"
        )
        node.launch()
        until(lambda: node.said().count("ends at -1") == 2, "it begins with nothing")
        until(lambda: has(data, b"entry 4"), "it has all again")
        name, answer = group.append_acknowledged(b"last")
        until(lambda: has(data, b"last"), "it has an entry of its new term")
        for one in group.nodes.values():
            assert one.end(signal.SIGTERM) == 0
        assert bodies(tmp_path, name) == bodies(tmp_path, follower)
        whole = [b"entry %d" % number for number in range(5)]
        assert [*bodies(tmp_path, name)[:5], answer.index] == [*whole, 5]
        store = DLedgerStore.open(RealDisk(tmp_path / f"dledger-{follower}"), _FILES)
        assert store.kept is not None
        assert 0 < store.kept.refill_term <= store.end_term, "it may vote again"


def is_handed_over(group: DLedgerGroup) -> bool:
    """Ask the leader for another one, and tell whether that one leads.

    A member that gets no time to answer is given up by the others, and what was asked of a term
    that has passed is refused.
    """
    leader, answer = group.append_acknowledged(b"x")
    follower = next(name for name in group.nodes if name != leader)
    message = LeadershipTransferRequest(
        group=GROUP,
        remote_id=leader,
        transfer_id=leader,
        transferee_id=follower,
        term=Term(answer.term),
    )
    asks = DLedgerRequestCode.LEADERSHIP_TRANSFER
    try:
        code = ask_node(group.ports[leader], asks, message).code
    except OSError:
        return False
    told = group.metadata(follower)
    return code == 200 and told is not None and told.leader_id == follower


def test_the_leadership_goes_to_whom_the_leader_is_told(tmp_path: Path) -> None:
    with DLedgerGroup(tmp_path, legacyPush="true") as group:
        group.start()
        until(lambda: is_handed_over(group), "the leadership is handed over")
        leader = group.leader()
        pull = PullEntriesRequest(group=GROUP, remote_id=leader, begin_index=LogIndex(0))
        said = ask_node(group.ports[leader], DLedgerRequestCode.PULL, pull)
        assert said.response_code is DLedgerResponseCode.UNSUPPORTED
        wrong = MetadataRequest(group="h", remote_id=leader)
        said = ask_node(group.ports[leader], DLedgerRequestCode.METADATA, wrong)
        assert said.response_code is DLedgerResponseCode.UNKNOWN_GROUP


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ("peers=n0-127.0.0.1:1\n", "storeBaseDir"),
        ("storeBaseDir=x\n", "peers"),
        ("peers=n0:127.0.0.1:1\nstoreBaseDir=x\n", "peers"),
        ("peers=n0-127.0.0.1:1\nselfId=n1\nstoreBaseDir=x\n", "selfId"),
        ("peers=n0-127.0.0.1:1\nstoreBaseDir=x\nenableBatchAppend=yes\n", "enableBatchAppend"),
        ("peers=n0-127.0.0.1:1\nstoreBaseDir=x\nmaxHeartBeatLeak=-1\n", "maxHeartBeatLeak"),
        ("peers=n0-127.0.0.1:1\nstoreBaseDir=x\ncolour=red\n", "colour"),
        ("peers=n0-127.0.0.1:1\nstoreBaseDir=x\ndiscardDamagedLog=true\n", "nobody else"),
        ("peers=n0-127.0.0.1:1\nstoreBaseDir=x\ndiscardDamagedLog=1\n", "discardDamagedLog"),
    ],
)
def test_a_file_that_cannot_be_is_refused(tmp_path: Path, lines: str, what: str) -> None:
    path = tmp_path / "node.conf"
    path.write_text(lines)
    with pytest.raises(ConfigurationError, match=what):
        read_configuration(path)


def test_who_cannot_begin_ends_with_two(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rocketha.process.dledger"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, "usage" in ended.stderr) == (2, True)
    ended = subprocess.run(
        [*command, "-c", str(tmp_path / "none")], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, "error: " in ended.stderr) == (2, True)

"""Who a broker is survives everything, and so does what the controller has to be told."""

from __future__ import annotations

import pytest

from rocketha.errors import EncodingError, IdentityFileError
from rocketha.formats.controller_requests import FIRST_INCARNATION
from rocketha.storage.disk import Disk
from rocketha.storage.identity_store import IdentityStore, Start
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import INT64_MAX, BrokerId, Identity
from tests.impl.storage.power_cuts import after_every_power_cut

ASKED = Identity(broker_id=BrokerId(2), register_check_code="b2;1700")
GIVEN = Identity(broker_id=BrokerId(2))


def store(disk: Disk, boot: str = "1") -> IdentityStore:
    return IdentityStore(disk, cluster_name="DefaultCluster", broker_name="broker-a", boot=boot)


def test_a_new_broker_has_no_identity() -> None:
    assert store(MemoryDisk()).load() is None


def test_files_are_those_of_rocketmq() -> None:
    disk = MemoryDisk()
    store(disk).store(ASKED)
    assert disk.read("brokerIdentity-temp") == b"DefaultCluster#broker-a#2#b2;1700"
    assert store(disk).load() == ASKED

    store(disk).store(GIVEN)
    assert disk.read("brokerIdentity") == b"DefaultCluster#broker-a#2"
    assert store(disk).load() == GIVEN
    assert not disk.exists("brokerIdentity-temp")


@pytest.mark.parametrize(
    ("cluster", "broker", "identity", "name", "content"),
    [
        ("DefaultCluster", "broker-a", Identity(broker_id=BrokerId(1)), "brokerIdentity", b"1"),
        (
            "集群",
            "名",
            Identity(broker_id=BrokerId(INT64_MAX)),
            "brokerIdentity",
            b"%d" % INT64_MAX,
        ),
        (
            "DefaultCluster",
            "broker-a",
            Identity(broker_id=BrokerId(2), register_check_code="127.0.0.1:10911;1700000000000"),
            "brokerIdentity-temp",
            b"2#127.0.0.1:10911;1700000000000",
        ),
    ],
)
def test_what_rocketmqs_classes_write_is_read_and_written_byte_for_byte(
    cluster: str, broker: str, identity: Identity, name: str, content: bytes
) -> None:
    """What `BrokerMetadata` and `TempBrokerMetadata` of 5.3.3 and 5.5.0 wrote."""
    theirs, ours = MemoryDisk(), MemoryDisk()
    theirs.write(name, 0, f"{cluster}#{broker}#".encode() + content)
    read = IdentityStore(theirs, cluster_name=cluster, broker_name=broker, boot="1")
    written = IdentityStore(ours, cluster_name=cluster, broker_name=broker, boot="1")

    written.store(identity)

    assert read.load() == identity
    assert ours.read(name) == theirs.read(name)


@pytest.mark.parametrize("size", range(len("DefaultCluster#broker-a#12")))
def test_an_identity_whose_writing_was_interrupted_is_still_asked_for(size: int) -> None:
    """RocketMQ rewrites the file in place, and removes the temporary one afterwards."""
    disk = MemoryDisk()
    disk.write("brokerIdentity", 0, b"DefaultCluster#broker-a#12"[:size])
    disk.write("brokerIdentity-temp", 0, b"DefaultCluster#broker-a#12#b2;1700")

    asked = store(disk).load()

    assert asked == Identity(broker_id=BrokerId(12), register_check_code="b2;1700")
    store(disk).store(Identity(broker_id=BrokerId(12)))
    assert store(disk).load() == Identity(broker_id=BrokerId(12))


def test_an_identity_may_be_interrupted_inside_a_letter() -> None:
    disk = MemoryDisk()
    disk.write("brokerIdentity", 0, "集".encode()[:2])
    disk.write("brokerIdentity-temp", 0, "集#名#1#b;17".encode())
    found = IdentityStore(disk, cluster_name="集", broker_name="名", boot="1").load()
    assert found == Identity(broker_id=BrokerId(1), register_check_code="b;17")


@pytest.mark.parametrize("temporary", [b"DefaultCluster#broker-a#12#b2;1700", b"", b"x#y#1#z"])
def test_an_identity_that_is_whole_counts_beside_a_temporary_one(temporary: bytes) -> None:
    disk = MemoryDisk()
    disk.write("brokerIdentity", 0, b"DefaultCluster#broker-a#12")
    disk.write("brokerIdentity-temp", 0, temporary)
    assert store(disk).load() == Identity(broker_id=BrokerId(12))


def test_a_damaged_identity_is_refused_beside_a_temporary_one() -> None:
    disk = MemoryDisk()
    disk.write("brokerIdentity", 0, b"DefaultCluster#broker-b#1")
    disk.write("brokerIdentity-temp", 0, b"DefaultCluster#broker-a#12#b2;1700")
    with pytest.raises(IdentityFileError, match="brokerIdentity at byte 0"):
        store(disk).load()


def test_whenever_the_power_goes_off_there_is_the_old_identity_or_the_new_one() -> None:
    cuts = list(
        after_every_power_cut(
            lambda disk: store(disk).store(ASKED),
            lambda disk: store(disk).store(GIVEN),
            lambda disk: store(disk).load(),
        )
    )
    assert {cut.found for cut in cuts} == {ASKED, GIVEN}
    assert all(cut.found == GIVEN for cut in cuts if cut.ended)


def test_starts_are_counted_durably() -> None:
    disk = MemoryDisk()
    assert [store(disk).begin().incarnation for _ in range(3)] == [0, 1, 2]
    disk.lose_unsynced()
    assert store(disk).begin().incarnation == 3


def test_the_first_start_has_lost_nothing() -> None:
    assert store(MemoryDisk()).begin() == Start(incarnation=FIRST_INCARNATION, log_torn=False)


def test_a_process_that_stops_loses_nothing() -> None:
    disk = MemoryDisk()
    store(disk).begin()
    store(disk).registered()
    assert not store(disk).begin().log_torn


def test_a_machine_that_stops_may_lose_a_part_of_the_log() -> None:
    disk = MemoryDisk()
    store(disk, boot="1").begin()
    store(disk, boot="1").registered()
    assert store(disk, boot="2").begin().log_torn


def test_what_the_controller_was_not_told_is_said_again_at_the_next_start() -> None:
    disk = MemoryDisk()
    store(disk, boot="1").begin()
    store(disk, boot="1").registered()
    assert store(disk, boot="2").begin().log_torn
    assert store(disk, boot="2").begin().log_torn, "the process stopped before it was registered"
    store(disk, boot="2").registered()
    assert not store(disk, boot="2").begin().log_torn


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("brokerIdentity", b""),
        ("brokerIdentity", b"DefaultCluster#broker-a#0"),
        ("brokerIdentity", b"DefaultCluster#broker-a#x"),
        ("brokerIdentity", b"DefaultCluster#broker-a#2#more"),
        ("brokerIdentity", b"DefaultCluster#broker-b#2"),
        ("brokerIdentity", b"DefaultCluster#broker-a#2\n"),
        ("brokerIdentity", b"DefaultCluster#broker-a#99999999999999999999"),
        ("brokerIdentity", b"\xff#broker-a#2"),
        ("brokerIdentity", b"DefaultCluster#broker-a#" + b"1" * 5_000),
        ("brokerIdentity-temp", b"DefaultCluster#broker-a#2"),
        ("brokerIdentity-temp", b"DefaultCluster#broker-a#2#"),
    ],
)
def test_a_damaged_identity_is_refused(name: str, content: bytes) -> None:
    disk = MemoryDisk()
    disk.write(name, 0, content)
    with pytest.raises(IdentityFileError, match=name):
        store(disk).load()


@pytest.mark.parametrize("content", [b"", b"x#1", b"3"])
def test_a_damaged_counter_is_refused(content: bytes) -> None:
    disk = MemoryDisk()
    disk.write("brokerStarts", 0, content)
    with pytest.raises(IdentityFileError, match="brokerStarts"):
        store(disk).begin()


@pytest.mark.parametrize("code", ["", "b2#17"])
def test_a_code_that_the_file_cannot_hold_is_refused(code: str) -> None:
    with pytest.raises(EncodingError):
        store(MemoryDisk()).store(Identity(broker_id=BrokerId(2), register_check_code=code))

"""The snapshot file: golden files of every version, damage, and hostile headers."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.errors import EncodingError, SnapshotError
from rocketha.formats import controller_snapshot
from rocketha.formats.controller_snapshot import (
    Section,
    SnapshotVersion,
    decode_snapshot,
    encode_snapshot,
)
from tests.golden.generate import SECTIONS, golden_snapshots
from tests.source_files import ROOT

GOLDEN: Final = {
    path.name: path.read_bytes() for path in (ROOT / "tests/golden/snapshot").iterdir()
}
CONTENT: Final = {
    "checked": (SnapshotVersion.CHECKED, SECTIONS),
    "empty": (SnapshotVersion.CHECKED, ()),
    "rip59": (SnapshotVersion.RIP_59, SECTIONS),
    "unmerged": (SnapshotVersion.UNMERGED, SECTIONS),
}
UNCHECKED_HEADER: Final = 18

# By hand, after the tables: one section of type 1 with two bytes.
BODY: Final = bytes.fromhex("0001 00000002 6869")
BY_HAND: Final = {
    SnapshotVersion.RIP_59: bytes.fromhex("0001 00000001 DAA320A7")
    + struct.pack(">I", zlib.crc32(BODY))
    + bytes(8)
    + BODY,
    SnapshotVersion.CHECKED: bytes.fromhex("0002 00000001 524B534E")
    + struct.pack(
        ">I", zlib.crc32(bytes.fromhex("0002 00000001 524B534E 00000000") + bytes(8) + BODY)
    )
    + bytes(8)
    + BODY,
    SnapshotVersion.UNMERGED: bytes.fromhex("DAA320A7 0001 00000001 0000000000000000") + BODY,
}

names = pytest.mark.parametrize("name", CONTENT)
versions = pytest.mark.parametrize("version", SnapshotVersion, ids=lambda v: v.name)
sections = st.lists(
    st.builds(Section, st.integers(0, 0xFFFF), st.binary(max_size=40)),
    max_size=5,
    unique_by=lambda section: section.kind,
).map(tuple)


def signed(header: bytes, content: bytes) -> bytes:
    """Put the right checksum into a header of 22 bytes, so that something else is refused."""
    checksum = zlib.crc32(content, zlib.crc32(header[:10] + bytes(4) + header[14:]))
    return header[:10] + struct.pack(">I", checksum) + header[14:] + content


def head(count: int, *, version: int = 2, magic: int = 0x524B534E, reserved: int = 0) -> bytes:
    return struct.pack(">HIIIQ", version, count, magic, 0, reserved)


def test_the_encoder_writes_the_golden_files() -> None:
    assert golden_snapshots() == GOLDEN


@names
def test_golden_files_are_read(name: str) -> None:
    assert decode_snapshot(GOLDEN[name], accept_unchecked=True) == CONTENT[name]


@versions
def test_files_by_hand_are_read_and_written(version: SnapshotVersion) -> None:
    found = decode_snapshot(BY_HAND[version], accept_unchecked=True)
    assert found == (version, (Section(1, b"hi"),))
    assert encode_snapshot(found[1], version) == BY_HAND[version]


@names
def test_every_truncation_is_refused(name: str) -> None:
    for size in range(len(GOLDEN[name])):
        with pytest.raises(SnapshotError):
            decode_snapshot(GOLDEN[name][:size], accept_unchecked=True)


@pytest.mark.parametrize("name", ["checked", "empty", "rip59"])
def test_every_flipped_bit_is_refused(name: str) -> None:
    for bit in range(8 * len(GOLDEN[name])):
        flipped = bytearray(GOLDEN[name])
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(SnapshotError):
            decode_snapshot(bytes(flipped), accept_unchecked=True)


def test_without_a_checksum_a_flipped_bit_may_pass_in_a_type_or_a_body_only() -> None:
    passed: list[int] = []
    for bit in range(8 * len(GOLDEN["unmerged"])):
        flipped = bytearray(GOLDEN["unmerged"])
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            version, found = decode_snapshot(bytes(flipped), accept_unchecked=True)
        except SnapshotError:
            continue
        passed.append(bit // 8)
        assert version is SnapshotVersion.UNMERGED
        assert [len(s.body) for s in found] == [len(s.body) for s in SECTIONS]
    assert passed, "this version has no checksum"
    assert min(passed) >= UNCHECKED_HEADER


def test_a_file_without_a_checksum_is_refused_unless_asked_for() -> None:
    with pytest.raises(SnapshotError, match="has no checksum"):
        decode_snapshot(GOLDEN["unmerged"])


@names
def test_a_byte_behind_the_end_is_refused(name: str) -> None:
    with pytest.raises(SnapshotError):
        decode_snapshot(GOLDEN[name] + b"\0", accept_unchecked=True)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "ends inside of its header"),
        (signed(head(0, version=3), b""), "has version 3"),
        (signed(head(0, version=0), b""), "has version 0"),
        (signed(head(0, magic=0xDAA320A7), b""), "has the magic 0xDAA320A7"),
        (head(0), "has the checksum 0x00000000"),
        (signed(head(0, reserved=1), b""), "has 1 where nothing is"),
        (signed(head(1), b""), "says that it has 1 sections, and has 0"),
        (signed(head(0), BODY), "says that it has 0 sections, and has 1"),
        (signed(head(2), BODY * 2), "has two sections of type 1"),
        (signed(head(1), BODY[:5]), "ends inside of a section's header"),
        (signed(head(1), BODY[:7]), "ends inside of a section of 2 bytes"),
        (signed(head(1), b"\0\1\xff\xff\xff\xff"), "ends inside of a section of 4294967295"),
        (BY_HAND[SnapshotVersion.UNMERGED][:17], "ends inside of its header"),
        (bytes.fromhex("DAA320A7 0002") + bytes(12), "has version 2"),
        (bytes.fromhex("DAA320A7 0001 00000000 0000000000000001"), "has 1 where nothing is"),
    ],
)
def test_a_hostile_file_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    with pytest.raises(SnapshotError, match=reason):
        decode_snapshot(data, accept_unchecked=True)


def test_what_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controller_snapshot, "SNAPSHOT_FILE_MAX", 29)
    assert len(encode_snapshot([Section(1, b"a")])) == 29
    with pytest.raises(EncodingError, match="would have 30 bytes, over 29"):
        encode_snapshot([Section(1, b"hi")])
    with pytest.raises(SnapshotError, match="has 30 bytes, over 29"):
        decode_snapshot(BY_HAND[SnapshotVersion.CHECKED])


@pytest.mark.parametrize(
    ("kept", "reason"),
    [
        ([Section(1, b"a"), Section(1, b"b")], "two sections of one type"),
        ([Section(0x10000, b"")], "a section of type 65536"),
        ([Section(-1, b"")], "a section of type -1"),
    ],
)
def test_what_does_not_fit_is_not_written(kept: list[Section], reason: str) -> None:
    with pytest.raises(EncodingError, match=reason):
        encode_snapshot(kept)


@given(sections, st.sampled_from(SnapshotVersion))
def test_what_is_written_is_read(kept: tuple[Section, ...], version: SnapshotVersion) -> None:
    data = encode_snapshot(kept, version)
    assert decode_snapshot(data, accept_unchecked=True) == (version, kept)


@given(st.binary(max_size=80), st.sampled_from([b"", b"\0\1", b"\0\2", bytes.fromhex("DAA320A7")]))
def test_any_bytes_are_read_or_refused(data: bytes, start: bytes) -> None:
    try:
        version, kept = decode_snapshot(start + data, accept_unchecked=True)
    except SnapshotError:
        return
    assert encode_snapshot(kept, version) == start + data


@given(sections)
def test_the_order_of_sections_is_kept(kept: tuple[Section, ...]) -> None:
    again = tuple([replace(section) for section in reversed(kept)])
    assert decode_snapshot(encode_snapshot(again))[1] == again

"""The store checkpoint: RocketMQ's bytes both ways, and files that are none."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.errors import CheckpointError, EncodingError
from rocketha.formats.store_checkpoint import (
    STORE_CHECKPOINT_SIZE,
    StoreCheckpoint,
    decode_store_checkpoint,
    encode_store_checkpoint,
)
from rocketha.types import INT64_MAX, Offset, TimestampMs

TIMES: Final = "0000018BCFE56801 0000018BCFE56802 0000018BCFE56803"
OF_533: Final = StoreCheckpoint(
    physic_msg_timestamp=TimestampMs(1700000000001),
    logics_msg_timestamp=TimestampMs(1700000000002),
    index_msg_timestamp=TimestampMs(1700000000003),
    master_flushed_offset=Offset(4),
    confirm_phy_offset=Offset(5),
)

# release, what its setters were given, the first 48 of the 4096 bytes that its `flush` wrote
GOLDEN: Final[list[tuple[str, StoreCheckpoint, str]]] = [
    ("5.3.3", OF_533, f"{TIMES} 0000000000000004 0000000000000005 0000000000000000"),
    (
        "5.5.0",
        replace(OF_533, logics_physical_offset=Offset(6)),
        f"{TIMES} 0000000000000004 0000000000000005 0000000000000006",
    ),
    ("new", StoreCheckpoint(), "00" * 48),
]


def filled(digits: str) -> bytes:
    """Return a file that begins with these bytes."""
    return bytes.fromhex(digits).ljust(STORE_CHECKPOINT_SIZE, b"\0")


@pytest.mark.parametrize(
    ("checkpoint", "digits"), [row[1:] for row in GOLDEN], ids=[row[0] for row in GOLDEN]
)
def test_a_checkpoint_has_rocketmqs_bytes(checkpoint: StoreCheckpoint, digits: str) -> None:
    assert encode_store_checkpoint(checkpoint) == filled(digits)
    assert decode_store_checkpoint(filled(digits)) == checkpoint


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "checkpoint at byte 0: has 0 bytes, not 4096"),
        (bytes(40), "checkpoint at byte 40: has 40 bytes"),
        (bytes(4095), "checkpoint at byte 4095: has 4095 bytes"),
        (bytes(4097), "checkpoint at byte 4096: has 4097 bytes"),
        (filled("FF" * 8), "physic_msg_timestamp at byte 0: is -1, not in 0 .."),
        (filled("00" * 8 + "FF" * 8), "logics_msg_timestamp at byte 8: is -1"),
        (filled("00" * 16 + "80" + "00" * 7), "index_msg_timestamp at byte 16: is -9223372036854"),
        (filled("00" * 24 + "FF" * 7 + "FE"), "master_flushed_offset at byte 24: is -2, not in -1"),
        (filled("00" * 32 + "FF" * 7 + "FE"), "confirm_phy_offset at byte 32: is -2"),
        (filled("00" * 40 + "80" + "00" * 7), "logics_physical_offset at byte 40: is -9223372"),
        (filled("00" * 48 + "01"), "checkpoint at byte 48: is 1, where nothing is"),
        (bytes(4095) + b"\x07", "checkpoint at byte 4095: is 7"),
        (b"committedIndex=9\nendIndex=9\n", "checkpoint at byte 28: has 28 bytes"),
        (b"checkpoint\n".ljust(4096, b"\n"), "checkpoint at byte 48: is 10"),
    ],
)
def test_what_is_no_checkpoint_is_one_typed_error(data: bytes, said: str) -> None:
    with pytest.raises(CheckpointError, match=re.escape(said)):
        decode_store_checkpoint(data)


@pytest.mark.parametrize(
    "wrong",
    [
        replace(OF_533, index_msg_timestamp=TimestampMs(-1)),
        replace(OF_533, confirm_phy_offset=Offset(-2)),
        replace(OF_533, master_flushed_offset=Offset(INT64_MAX + 1)),
    ],
)
def test_what_a_checkpoint_cannot_say_is_not_written(wrong: StoreCheckpoint) -> None:
    with pytest.raises(EncodingError, match=r"is -?\d+, not in"):
        encode_store_checkpoint(wrong)


def _checkpoints() -> st.SearchStrategy[StoreCheckpoint]:
    times = st.integers(0, INT64_MAX).map(TimestampMs)
    offsets = st.integers(-1, INT64_MAX).map(Offset)
    return st.builds(
        StoreCheckpoint,
        physic_msg_timestamp=times,
        logics_msg_timestamp=times,
        index_msg_timestamp=times,
        master_flushed_offset=offsets,
        confirm_phy_offset=offsets,
        logics_physical_offset=offsets,
    )


@given(_checkpoints())
def test_a_checkpoint_survives_its_file(checkpoint: StoreCheckpoint) -> None:
    assert decode_store_checkpoint(encode_store_checkpoint(checkpoint)) == checkpoint


@given(st.binary(max_size=64), st.sampled_from((0, 47, 48, 4095, 4096, 4097)))
def test_hostile_files_raise_nothing_else_and_what_is_read_is_written_back(
    head: bytes, size: int
) -> None:
    data = head.ljust(size, b"\0")
    with suppress(CheckpointError):
        assert encode_store_checkpoint(decode_store_checkpoint(data)) == data


@given(_checkpoints(), st.integers(0, STORE_CHECKPOINT_SIZE * 8 - 1))
def test_a_flipped_bit_gives_another_checkpoint_or_the_error(
    checkpoint: StoreCheckpoint, bit: int
) -> None:
    data = bytearray(encode_store_checkpoint(checkpoint))
    data[bit // 8] ^= 1 << bit % 8
    try:
        found = decode_store_checkpoint(bytes(data))
    except CheckpointError:
        return
    assert found != checkpoint
    assert bit < 48 * 8

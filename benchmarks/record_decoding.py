"""Decoding CommitLog records with both checksums, against zlib.crc32 over the same bytes."""

from __future__ import annotations

import zlib

from benchmarks.stopwatch import median_seconds
from rocketha.formats.message import BLANK_MIN, Message, pull_record, push_record
from rocketha.types import Offset, SizeBytes

BODY_BYTES = 4096
RECORDS = 2_000


def main() -> None:
    """Print MB/s of the decoder and of the checksum alone, and the ratio."""
    record = push_record(Message(topic="bench", body=b"x" * BODY_BYTES), Offset(0))

    room = SizeBytes(len(record) + BLANK_MIN)

    def decode() -> None:
        for _ in range(RECORDS):
            pull_record(record, offset=Offset(0), room=room)

    def checksum() -> None:
        for _ in range(RECORDS):
            zlib.crc32(record)

    megabytes = RECORDS * len(record) / 1e6
    decoded = megabytes / median_seconds(decode, times=5)
    summed = megabytes / median_seconds(checksum, times=5)
    print(f"records of {len(record)} bytes, decoded and checked:  {decoded:8.0f} MB/s")
    print(f"zlib.crc32 over the same bytes (baseline):  {summed:8.0f} MB/s")
    print(f"ratio: {decoded / summed:.3f}")

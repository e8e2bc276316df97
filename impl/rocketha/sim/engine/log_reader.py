"""Logs as whoever reads them sees them: messages, without the filler of the simulator."""

from __future__ import annotations

import hashlib

from rocketha.errors import CommitLogError
from rocketha.formats.message import Record, RecordCheck, pull_record
from rocketha.histories.history import LoggedMessage
from rocketha.sim.engine.records import SEGMENT_SIZE
from rocketha.storage.commit_log import CommitLog
from rocketha.types import Offset, SizeBytes

__all__ = ["logged_messages", "messages_of", "shown_body"]


def shown_body(body: bytes) -> str:
    """Return the body of a message as text."""
    return body.decode("ascii", "backslashreplace").rstrip(".")


def logged_messages(data: bytes, offset: Offset) -> tuple[LoggedMessage, ...]:
    """Read the whole records in bytes of a log from `offset` on, up to the first that is none."""
    found: list[LoggedMessage] = []
    at = 0
    while at < len(data):
        place = Offset(offset + at)
        room = SizeBytes(SEGMENT_SIZE - place % SEGMENT_SIZE)
        try:
            span = pull_record(data[at:], offset=place, room=room, check=RecordCheck.WHOLE)
        except CommitLogError:
            break
        if isinstance(span, Record):
            raw = data[at : at + span.size]
            found.append(
                LoggedMessage(
                    offset=place,
                    body=shown_body(span.message.body),
                    digest=hashlib.blake2b(raw, digest_size=8).hexdigest(),
                )
            )
        at += span.size
    return tuple(found)


def messages_of(log: CommitLog) -> tuple[LoggedMessage, ...]:
    """Read a whole log."""
    begin = log.min_offset
    return logged_messages(log.read(begin, log.max_phy_offset - begin), begin)

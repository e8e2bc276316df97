"""The numbers and names in what the nodes of a DLedger group say to each other.

Numbers are codes of frames or members of bodies; votes and kinds of pushes travel as names.
Releases up to 0.3.2 do not have INSTALL_SNAPSHOT, USER_DEFINE_REQUEST, and the codes 421, 422 and
508; 0.4.0 has all.

Source: DLedgerRequestCode, DLedgerResponseCode, VoteResponse.RESULT, PushEntryRequest.Type,
DLedgerEntryType
"""

from __future__ import annotations

from enum import Enum, IntEnum

__all__ = [
    "DLedgerEntryType",
    "DLedgerRequestCode",
    "DLedgerResponseCode",
    "PushType",
    "VoteResult",
]


class DLedgerRequestCode(IntEnum):
    """What is asked: the code of a request's frame. The frame of every answer has 200."""

    METADATA = 50000
    APPEND = 50001
    GET = 50002
    VOTE = 51001
    HEART_BEAT = 51002
    PULL = 51003
    PUSH = 51004
    LEADERSHIP_TRANSFER = 51005
    INSTALL_SNAPSHOT = 51006
    USER_DEFINE_REQUEST = 59999
    """Of a program that embeds DLedger; this project has none."""


class DLedgerResponseCode(IntEnum):
    """How it went: the member `code` of a body, which requests have, too."""

    UNKNOWN = -1
    SUCCESS = 200
    TIMEOUT = 300
    METADATA_ERROR = 301
    NETWORK_ERROR = 302
    UNSUPPORTED = 303
    UNKNOWN_GROUP = 400
    UNKNOWN_MEMBER = 401
    UNEXPECTED_MEMBER = 402
    EXPIRED_TERM = 403
    NOT_LEADER = 404
    NOT_FOLLOWER = 405
    INCONSISTENT_STATE = 406
    INCONSISTENT_TERM = 407
    INCONSISTENT_INDEX = 408
    INCONSISTENT_LEADER = 409
    INDEX_OUT_OF_RANGE = 410
    UNEXPECTED_ARGUMENT = 411
    REPEATED_REQUEST = 412
    REPEATED_PUSH = 413
    DISK_ERROR = 414
    DISK_FULL = 415
    TERM_NOT_READY = 416
    FALL_BEHIND_TOO_MUCH = 417
    TAKE_LEADERSHIP_FAILED = 418
    INDEX_LESS_THAN_LOCAL_BEGIN = 419
    REQUEST_WITH_EMPTY_BODYS = 420
    PUSH_REQUEST_IS_FULL = 421
    NEWER_INSTALL_SNAPSHOT_REQUEST_EXIST = 422
    INTERNAL_ERROR = 500
    TERM_CHANGED = 501
    WAIT_QUORUM_ACK_TIMEOUT = 502
    LEADER_PENDING_FULL = 503
    ILLEGAL_MEMBER_STATE = 504
    LEADER_NOT_READY = 505
    LEADER_TRANSFERRING = 506
    LOAD_SNAPSHOT_ERROR = 507
    INSTALL_SNAPSHOT_ERROR = 508


class VoteResult(Enum):
    """What a node answers a candidate; the value is the name in the body."""

    UNKNOWN = "UNKNOWN"
    ACCEPT = "ACCEPT"
    REJECT_UNKNOWN_LEADER = "REJECT_UNKNOWN_LEADER"
    REJECT_UNEXPECTED_LEADER = "REJECT_UNEXPECTED_LEADER"
    REJECT_EXPIRED_VOTE_TERM = "REJECT_EXPIRED_VOTE_TERM"
    REJECT_ALREADY_VOTED = "REJECT_ALREADY_VOTED"
    REJECT_ALREADY_HAS_LEADER = "REJECT_ALREADY_HAS_LEADER"
    REJECT_TERM_NOT_READY = "REJECT_TERM_NOT_READY"
    REJECT_TERM_SMALL_THAN_LEDGER = "REJECT_TERM_SMALL_THAN_LEDGER"
    REJECT_EXPIRED_LEDGER_TERM = "REJECT_EXPIRED_LEDGER_TERM"
    REJECT_SMALL_LEDGER_END_INDEX = "REJECT_SMALL_LEDGER_END_INDEX"
    REJECT_TAKING_LEADERSHIP = "REJECT_TAKING_LEADERSHIP"


class PushType(Enum):
    """What a push is for; the value is the name in the body."""

    APPEND = "APPEND"
    COMMIT = "COMMIT"
    COMPARE = "COMPARE"
    TRUNCATE = "TRUNCATE"
    INSTALL_SNAPSHOT = "INSTALL_SNAPSHOT"
    """Not in releases up to 0.3.2."""


class DLedgerEntryType(IntEnum):
    """What an entry is; the value is its magic. Releases up to 0.3.2 have NORMAL only."""

    NORMAL = 1
    NOOP = 2
    CONFIG_CHANGE = 3

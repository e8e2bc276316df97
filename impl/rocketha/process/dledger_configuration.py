"""The configuration of a DLedger node's process: properties under DLedger's names.

| name                                | what                                          | if missing |
|-------------------------------------|-----------------------------------------------|------------|
| `group`                             | the group                                     | default    |
| `selfId`                            | which of the peers this one is                | n0         |
| `peers`                             | `n0-127.0.0.1:20911;n1-...`: where this node  | refused    |
|                                     | listens, and where it reaches the others      |            |
| `storeBaseDir`                      | its files are in `dledger-<selfId>` there     | refused    |
| `mappedFileSizeForEntryData`,       | bytes of a file; the same for the whole group | 64 MiB,    |
| `mappedFileSizeForEntryIndex`       |                                               | 2 MiB      |
| `heartBeatTimeIntervalMs`,          | elections                                     | DLedger's  |
| `maxHeartBeatLeak`,                 |                                               |            |
| `minVoteIntervalMs`,                |                                               |            |
| `maxVoteIntervalMs`,                |                                               |            |
| `minTakeLeadershipVoteIntervalMs`,  |                                               |            |
| `maxTakeLeadershipVoteIntervalMs`   |                                               |            |
| `preferredLeaderId`                 | ids, with commas                              | none       |
| `maxLeadershipTransferWaitIndex`,   | who gets the leadership                       | DLedger's  |
| `leadershipTransferWaitTimeout`     |                                               |            |
| `maxPendingRequestsNum`,            | clients that wait                             | DLedger's  |
| `maxWaitAckTimeMs`                  |                                               |            |
| `maxPushTimeOutMs`,                 | replication                                   | DLedger's  |
| `enableBatchAppend`,                |                                               |            |
| `maxBatchAppendSize`                |                                               |            |
| `flushFileInterval`                 | a leader's log, milliseconds                  | 10         |
| `enableFastAdvanceCommitIndex`      | a new leader begins with a NOOP               | false      |
| `legacyPush`                        | ours: members of releases up to 0.3.2 are in  | false      |
|                                     | the group; all members push as these do       |            |
| `discardDamagedLog`                 | ours: a log that is damaged in the middle is  | false      |
|                                     | thrown away, and the leader sends it again;   |            |
|                                     | else the node does not start                  |            |
| `recordsPath`, `recordsPeers`       | ours: where each step is written              | none       |
|                                     | (`dledger_records`), and which members write, |            |
|                                     | with commas                                   |            |

No other name is taken. The file is as `rocketha.formats.properties` has it.

Source: DLedgerConfig
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.store_options import StoreOptions
from rocketha.errors import ConfigurationError, PacketError
from rocketha.formats.properties import pull_properties
from rocketha.process.dledger_records import RecordsConfiguration
from rocketha.types import SizeBytes

__all__ = ["DLedgerConfiguration", "peer_addresses", "read_configuration"]

_PEER: Final = re.compile(r"([A-Za-z0-9_]+)-([^;\s]+:[0-9]{1,5})\Z", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,10}\Z", re.ASCII)
_NUMBERS: Final = {
    "heartBeatTimeIntervalMs": "heart_beat_time_interval_ms",
    "maxHeartBeatLeak": "max_heart_beat_leak",
    "minVoteIntervalMs": "min_vote_interval_ms",
    "maxVoteIntervalMs": "max_vote_interval_ms",
    "minTakeLeadershipVoteIntervalMs": "min_take_leadership_vote_interval_ms",
    "maxTakeLeadershipVoteIntervalMs": "max_take_leadership_vote_interval_ms",
    "maxLeadershipTransferWaitIndex": "max_leadership_transfer_wait_index",
    "leadershipTransferWaitTimeout": "leadership_transfer_wait_timeout_ms",
    "maxPendingRequestsNum": "max_pending_requests_num",
    "maxWaitAckTimeMs": "max_wait_ack_time_ms",
    "maxPushTimeOutMs": "max_push_time_out_ms",
    "maxBatchAppendSize": "max_batch_append_size",
    "flushFileInterval": "flush_file_interval_ms",
}
_FLAGS: Final = {
    "enableBatchAppend": "enable_batch_append",
    "enableFastAdvanceCommitIndex": "enable_fast_advance_commit_index",
    "legacyPush": "legacy_push",
}
_DISCARD: Final = "discardDamagedLog"
_SIZES: Final = {
    "mappedFileSizeForEntryData": "mapped_file_size_for_entry_data",
    "mappedFileSizeForEntryIndex": "mapped_file_size_for_entry_index",
}
_NAMES: Final = frozenset(
    {
        *("group", "selfId", "peers", "storeBaseDir", "preferredLeaderId"),
        *("recordsPath", "recordsPeers", _DISCARD),
        *_NUMBERS,
        *_FLAGS,
        *_SIZES,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DLedgerConfiguration:
    """How a node's process is set up."""

    node: DLedgerConfig
    addresses: Mapping[str, str]
    """Of all members by their ids, "host:port"; this node listens at its own."""
    store: Path
    files: StoreOptions
    records: RecordsConfiguration | None = None

    @property
    def address(self) -> str:
        """Where it listens, "host:port"."""
        return self.addresses[self.node.self_id]


def read_configuration(path: Path) -> DLedgerConfiguration:
    """Read a file. Raises: ConfigurationError"""
    try:
        said = pull_properties(path.read_bytes())
    except OSError as error:
        raise ConfigurationError(str(path), reason=error.strerror or str(error)) from error
    except PacketError as error:
        raise ConfigurationError(str(path), reason=str(error)) from error
    unknown = sorted(said.keys() - _NAMES)
    if unknown:
        raise ConfigurationError(unknown[0], reason="is no setting of this node")
    addresses = peer_addresses("peers", _given(said, "peers"))
    own_id = said.get("selfId", "n0")
    settings: dict[str, Any] = {
        **{field: _number(said, name) for name, field in _NUMBERS.items() if name in said},
        **{field: _flag(said, name) for name, field in _FLAGS.items() if name in said},
    }
    sizes: dict[str, Any] = {
        field: SizeBytes(_number(said, name)) for name, field in _SIZES.items() if name in said
    }
    preferred = tuple([one for one in said.get("preferredLeaderId", "").split(",") if one])
    return DLedgerConfiguration(
        node=DLedgerConfig(
            group=said.get("group", "default"),
            self_id=own_id,
            peers=tuple(addresses),
            preferred_leader_ids=preferred,
            waits_after_restart=True,
            **settings,
        ),
        addresses=addresses,
        store=Path(_given(said, "storeBaseDir")) / f"dledger-{own_id}",
        files=StoreOptions(discard_damaged_log=_discards(said, len(addresses)), **sizes),
        records=_records(said, own_id),
    )


def _discards(said: Mapping[str, str], members: int) -> bool:
    discards = _DISCARD in said and _flag(said, _DISCARD)
    if discards and members == 1:
        raise ConfigurationError(_DISCARD, reason="is true, and nobody else has the log")
    return discards


def _records(said: Mapping[str, str], own_id: str) -> RecordsConfiguration | None:
    if "recordsPath" not in said:
        return None
    peers = tuple(_given(said, "recordsPeers").split(","))
    if own_id not in peers:
        raise ConfigurationError("recordsPeers", reason=f"does not have {own_id}")
    return RecordsConfiguration(path=Path(said["recordsPath"]), peers=peers)


def peer_addresses(name: str, text: str) -> Mapping[str, str]:
    """Read where members are, by their ids, of this setting. Raises: ConfigurationError"""
    found: dict[str, str] = {}
    for one in text.split(";"):
        peer = _PEER.match(one)
        if peer is None or peer[1] in found:
            reason = f"{one[:40]!a} is no id-host:port, or a second one of this id"
            raise ConfigurationError(name, reason=reason)
        found[peer[1]] = peer[2]
    return MappingProxyType(found)


def _given(said: Mapping[str, str], name: str) -> str:
    value = said.get(name, "")
    if not value:
        raise ConfigurationError(name, reason="is missing")
    return value


def _number(said: Mapping[str, str], name: str) -> int:
    if not _NUMBER.match(said[name]):
        raise ConfigurationError(name, reason=f"is {said[name][:40]!a}, not a number")
    return int(said[name])


def _flag(said: Mapping[str, str], name: str) -> bool:
    if said[name] not in ("true", "false"):
        raise ConfigurationError(name, reason=f"is {said[name][:40]!a}, not true or false")
    return said[name] == "true"

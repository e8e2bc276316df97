"""The configuration file of a controller process, in RocketMQ's own names where it has any.

| name                          | what                                                          |
|-------------------------------|---------------------------------------------------------------|
| `controllerType`              | may be missing; `rocketha`                                    |
| `controllerDLegerGroup`       | what the controllers are called together                      |
| `controllerDLegerSelfId`      | which of the peers this one is: `n0`                          |
| `controllerDLegerPeers`       | `n0-127.0.0.1:9878`: it is alone; with `;n1-...` behind it a  |
|                               | member of a DLedger group, whose members and brokers reach it |
|                               | at one address                                                |
| `controllerStorePath`         | the folder of its log and snapshots                           |
| `scanNotActiveBrokerInterval` | milliseconds between two looks for masters that are gone: 5000 |
| `enableElectUncleanMaster`    | a broker that lacks messages may be elected: false            |
| `heartBeatTimeIntervalMs`,    | elections of a group: DLedger's                               |
| `maxHeartBeatLeak`,           |                                                               |
| `minVoteIntervalMs`,          |                                                               |
| `maxVoteIntervalMs`           |                                                               |
| `snapshotThreshold`           | a member saves a snapshot after so many entries: 1000         |
| `discardDamagedLog`           | a member whose log is damaged throws it away, and its leader  |
|                               | sends it again: false, it does not start                      |
| `recordsPath`                 | where its records go (`rocketha.recording`); missing: nowhere |
| `recordsNode`                 | what it is called there: `c1`                                 |
| `recordsBrokerName`           | the group that they speak of                                  |
| `recordsNames`                | a file of lines `host:port=node`: what brokers are called     |
| `recordsMemberPath`           | where a member of a group writes what its DLedger node does   |
|                               | (`dledger_records`); all members write, or none               |

No other name is taken. The file is as `rocketha.formats.properties` has it.

Source: common `ControllerConfig`; DLedgerConfig
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from rocketha.dledger.config import DLedgerConfig
from rocketha.errors import ConfigurationError, PacketError
from rocketha.formats.controller_responses import MetadataInfo
from rocketha.formats.properties import pull_properties
from rocketha.process import dledger_records
from rocketha.process.dledger_configuration import peer_addresses

__all__ = ["NAMES", "ControllerConfiguration", "RecordsConfiguration", "read_configuration"]

_TYPE: Final = "rocketha"
_PEERS: Final = "controllerDLegerPeers"
_MILLISECONDS: Final = re.compile(r"[1-9][0-9]{0,8}\Z", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,9}\Z", re.ASCII)
_OF_GROUPS: Final = {
    "heartBeatTimeIntervalMs": "heart_beat_time_interval_ms",
    "maxHeartBeatLeak": "max_heart_beat_leak",
    "minVoteIntervalMs": "min_vote_interval_ms",
    "maxVoteIntervalMs": "max_vote_interval_ms",
    "snapshotThreshold": "snapshot_threshold",
}
_OF_RECORDS: Final = ("recordsPath", "recordsNode", "recordsBrokerName", "recordsNames")
_OF_MEMBER: Final = "recordsMemberPath"
_DISCARD: Final = "discardDamagedLog"
NAMES: Final = frozenset(
    {
        "controllerType",
        "controllerDLegerGroup",
        "controllerDLegerSelfId",
        _PEERS,
        "controllerStorePath",
        "scanNotActiveBrokerInterval",
        "enableElectUncleanMaster",
        *_OF_GROUPS,
        *_OF_RECORDS,
        _OF_MEMBER,
        _DISCARD,
    }
)
"""What a controller's file may say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsConfiguration:
    """Where records go, and what is in them."""

    path: Path
    node: str
    broker_name: str
    names: Mapping[str, str]
    """Address -> node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerConfiguration:
    """How a controller process is set up."""

    group: str
    own_id: str
    addresses: Mapping[str, str]
    """Of all members by their ids, "host:port"; this one listens at its own."""
    node: DLedgerConfig | None = None
    """How a member of a group agrees with others; None: it is alone."""
    store: Path
    discard_damaged_log: bool = False
    """A member of a group throws its log away if it is damaged."""
    scan_ms: int = 5000
    elect_unclean: bool = False
    records: RecordsConfiguration | None = None
    member_records: dledger_records.RecordsConfiguration | None = None
    """Where a member of a group writes what its node does."""
    said: Mapping[str, str]
    """What the file says, and what it leaves open, as it is told to operators."""

    @property
    def address(self) -> str:
        """Where it listens, "host:port"."""
        return self.addresses[self.own_id]

    @property
    def metadata(self) -> MetadataInfo:
        """Return what one that is alone says of itself: it leads, as there is no other one."""
        return MetadataInfo(
            group=self.group,
            leader_id=self.own_id,
            leader_address=self.address,
            is_leader=True,
            peers=f"{self.own_id}:{self.address};",
        )


def read_configuration(
    path: Path, *, beside: Collection[str] = frozenset()
) -> ControllerConfiguration:
    """Read a file, which may have settings `beside` those of a controller.

    Raises: ConfigurationError
    """
    try:
        said = pull_properties(path.read_bytes())
        own = {name: said[name] for name in said if name in NAMES or name not in beside}
        return _configuration(own)
    except OSError as error:
        reason = error.strerror or str(error)
    except (PacketError, _Wrong) as error:
        reason = str(error)
    raise ConfigurationError(str(path), reason=reason)


class _Wrong(Exception):
    """A setting is missing, or cannot be."""


def _configuration(said: Mapping[str, str]) -> ControllerConfiguration:
    unknown = sorted(said.keys() - NAMES)
    if unknown:
        raise _Wrong(f"{unknown[0]} is no setting of this controller")
    if said.get("controllerType", _TYPE) != _TYPE:
        raise _Wrong(f"controllerType is not {_TYPE}")
    own_id = _given(said, "controllerDLegerSelfId")
    addresses = peer_addresses(_PEERS, _given(said, _PEERS))
    if own_id not in addresses:
        raise _Wrong(f"{_PEERS} does not have {own_id}")
    group = _given(said, "controllerDLegerGroup")
    scan = said.get("scanNotActiveBrokerInterval", "5000")
    if not _MILLISECONDS.match(scan):
        raise _Wrong("scanNotActiveBrokerInterval is no number of milliseconds")
    unclean = _flag(said, "enableElectUncleanMaster")
    return ControllerConfiguration(
        group=group,
        own_id=own_id,
        addresses=addresses,
        node=_node(said, group, own_id, tuple(addresses)),
        store=Path(_given(said, "controllerStorePath")),
        scan_ms=int(scan),
        discard_damaged_log=_flag(said, _DISCARD) == "true",
        elect_unclean=unclean == "true",
        records=_records(said),
        member_records=_member_records(said, tuple(addresses)),
        said=MappingProxyType(
            {
                "controllerType": _TYPE,
                **said,
                "scanNotActiveBrokerInterval": scan,
                "enableElectUncleanMaster": unclean,
            }
        ),
    )


def _node(
    said: Mapping[str, str], group: str, own_id: str, peers: tuple[str, ...]
) -> DLedgerConfig | None:
    """Raises: ConfigurationError"""
    if len(peers) == 1:
        for name in (*_OF_GROUPS, _OF_MEMBER, _DISCARD):
            if name in said:
                raise _Wrong(f"{name} is no setting of a controller that is alone")
        return None
    settings: dict[str, int] = {}
    for name, field in _OF_GROUPS.items():
        if name in said:
            if not _NUMBER.match(said[name]):
                raise _Wrong(f"{name} is no number")
            settings[field] = int(said[name])
    return DLedgerConfig(
        group=group,
        self_id=own_id,
        peers=peers,
        waits_after_restart=True,
        enable_fast_advance_commit_index=True,
        enable_snapshot=True,
        **settings,  # type: ignore[arg-type]
    )


def _records(said: Mapping[str, str]) -> RecordsConfiguration | None:
    if not any(name in said for name in _OF_RECORDS):
        return None
    path, node, broker_name, names = (_given(said, name) for name in _OF_RECORDS)
    return RecordsConfiguration(
        path=Path(path), node=node, broker_name=broker_name, names=_read_names(Path(names))
    )


def _member_records(
    said: Mapping[str, str], peers: tuple[str, ...]
) -> dledger_records.RecordsConfiguration | None:
    if _OF_MEMBER not in said:
        return None
    return dledger_records.RecordsConfiguration(path=Path(_given(said, _OF_MEMBER)), peers=peers)


def _read_names(path: Path) -> Mapping[str, str]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise _Wrong(f"recordsNames: {path}: {error}") from None
    names: dict[str, str] = {}
    for line in lines:
        address, equals, node = line.partition("=")
        if not equals or not address or not node or names.get(address, node) != node:
            raise _Wrong(f"recordsNames: {path}: {line!r} is no host:port=node, or a second one")
        names[address] = node
    return MappingProxyType(names)


def _flag(said: Mapping[str, str], name: str) -> str:
    value = said.get(name, "false")
    if value not in ("true", "false"):
        raise _Wrong(f"{name} is not true or false")
    return value


def _given(said: Mapping[str, str], name: str) -> str:
    value = said.get(name, "")
    if not value:
        raise _Wrong(f"{name} is missing")
    return value

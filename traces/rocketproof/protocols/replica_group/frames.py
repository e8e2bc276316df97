"""What frames between brokers and their controller say, in words of ReplicaGroup."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rocketha.errors import PacketError, RequestError
from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.controller_request_codec import pull_role_changed
from rocketha.formats.controller_requests import CleanBrokerData, ControllerRequest, ElectMaster
from rocketha.formats.controller_responses import (
    Elected,
    Registered,
    ReplicaInfo,
    SyncStateSetAltered,
    pull_reply,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.obligations.recorded_frames import request_in
from rocketha.sim.replica_group.recorders import command_in
from rocketha.types import BrokerId
from rocketproof.protocols.epoch_truncation.values import NONE, broker_name
from tlatrace.values import Value, tla_set

__all__ = ["SaidOfGroup", "asks_who_lives", "request_of", "said_in_answer", "said_in_notice"]

_FRAMES_UNDER_WAY: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidOfGroup:
    """What the controller says of a group; None: it does not say."""

    master: str | None = None
    """A broker, or `None` of the specification."""
    epoch: int | None = None
    members: tuple[str, ...] | None = None
    set_epoch: int | None = None

    def fields(self) -> dict[str, Value]:
        """Return the fields of `Control` that it names."""
        named: dict[str, Value | None] = {
            "master": self.master,
            "epoch": self.epoch,
            "sss": None if self.members is None else tla_set(self.members),
            "sssEpoch": self.set_epoch,
        }
        return {name: value for name, value in named.items() if value is not None}


@lru_cache(maxsize=_FRAMES_UNDER_WAY)
def request_of(data: bytes) -> ControllerRequest | None:
    """Return the request that a whole frame is; None: it is none that can be read.

    It is looked at when it leaves, and when it arrives.
    """
    return request_in(command_in(data))


def asks_who_lives(request: ControllerRequest | None) -> bool:
    """Tell whether the controller looks for silent brokers; without a request it does so.

    At a scan, when a channel closes, and when it is asked for what depends on that; whoever
    designates a master does not ask whether the present one lives.
    """
    if isinstance(request, ElectMaster):
        return not request.designate_elect
    return request is None or isinstance(request, CleanBrokerData)


def said_in_notice(command: RemotingCommand) -> SaidOfGroup | None:
    """Return what the notice of an election says; None: it is none that can be read."""
    try:
        notice = pull_role_changed(command)
    except (PacketError, RequestError):
        return None
    return SaidOfGroup(
        master=_at(notice.master_broker_id, notice.master_address),
        epoch=int(notice.master_epoch),
        members=_names(notice.sync_state_set.members),
        set_epoch=notice.sync_state_set.epoch,
    )


def said_in_answer(command: RemotingCommand, request_code: int) -> SaidOfGroup | None:
    """Return what an answer to a request of this code says of the group, if it says something."""
    try:
        content = pull_reply(command, RequestCode(request_code)).content
    except (PacketError, RequestError, ValueError):
        return None
    match content:
        case Elected(master=master, members=members):
            return SaidOfGroup(
                master=_at(master.broker_id, master.address),
                epoch=master.epoch,
                members=_names(members),
                set_epoch=master.sync_state_set_epoch,
            )
        case Registered(master=live, sync_state_set=found):
            # It names a master only if that lives.
            return SaidOfGroup(
                master=None if live is None else _at(live.broker_id, live.address),
                epoch=content.master_epoch,
                members=_names(found.members),
                set_epoch=found.epoch,
            )
        case ReplicaInfo(master_broker_id=master_id, sync_state_set=found):
            return SaidOfGroup(
                master=NONE if master_id is None else _at(master_id, content.master_address),
                epoch=content.master_epoch,
                members=_names(found.members),
                set_epoch=found.epoch,
            )
        case SyncStateSetAltered(sync_state_set=found):
            return SaidOfGroup(members=_names(found.members), set_epoch=found.epoch)
        case _:
            return None


def _at(master: BrokerId, address: str | None) -> str:
    """Return the master that is named; a broker that is at another address is nobody's master."""
    name = broker_name(master)
    return name if address == name else NONE


def _names(members: frozenset[BrokerId]) -> tuple[str, ...]:
    return tuple(map(broker_name, sorted(members)))

"""What the controller of a group must answer to each request, by what its log says of the group.

| request                                | answer                                                  |
|----------------------------------------|---------------------------------------------------------|
| a code that no controller answers      | REQUEST_CODE_NOT_SUPPORTED                              |
| a field that is missing or cannot be   | INVALID_REQUEST                                         |
| a body that is not what it must be     | none: the channel is closed                             |
| what it must refuse                    | the code of the first reason, in RocketMQ's order       |
| all else                               | SUCCESS, and of the group what there is after the entry |

Source: ControllerRequestProcessor, ReplicasInfoManager, DefaultBrokerHeartbeatManager
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from rocketha.errors import PacketError, RequestError
from rocketha.formats.controller_bodies import ReplicasInfo, SyncStateSet
from rocketha.formats.controller_codes import RequestCode, ResponseCode
from rocketha.formats.controller_request_codec import has_request, pull_request
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    ApplyBrokerId,
    CleanBrokerData,
    ControllerRequest,
    ElectMaster,
    GetNextBrokerId,
    GetReplicaInfo,
    Heartbeat,
    RegisterBroker,
    UpdateControllerConfig,
)
from rocketha.formats.controller_responses import (
    Elected,
    NextBrokerId,
    Registered,
    ReplicaInfo,
    Reply,
    SyncStateData,
    SyncStateSetAltered,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.obligations.controller_view import GroupKnown
from rocketha.obligations.obligation import Due, time_ms
from rocketha.obligations.recorded_frames import answers_to_outsiders, reply_in
from rocketha.recording.record import NodeRecord
from rocketha.types import INT64_MAX, TimestampMs

__all__ = ["ControllerAnswers"]

_CONTROLLER: Final = "controller"
_IDS: Final = re.compile(r"[0-9]{1,19}(?:;[0-9]{1,19})*\Z", re.ASCII)
_ANSWER_MS: Final = 50
_FIRST_ID: Final = 1


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request that was not answered yet."""

    code: int
    request: ControllerRequest | None
    at_ms: TimestampMs
    refusal: ResponseCode | None = None
    """Why it cannot be read."""
    is_closed: bool = False
    """Its channel is to be closed."""


class ControllerAnswers:
    """Follows the requests to a controller, and says what is due when they are answered."""

    def __init__(
        self, broker_name: str | None, *, lives: Callable[[int], bool], elects_unclean: bool
    ) -> None:
        """Begin without requests; `lives` tells whether the controller hears a broker now."""
        self.broker_name = self._name = broker_name
        self._lives = lives
        self._elects_unclean = elects_unclean
        self._asked: dict[str, _Asked] = {}
        self._check_codes: dict[int, str] = {}
        self._next_id = _FIRST_ID
        self._former: dict[int, int] = {}
        """Replicas of the group when it was removed, and their incarnations."""

    def asked(self, answer: str, command: RemotingCommand, at_ms: TimestampMs) -> None:
        """Note a request, and the id that its answer will have."""
        if command.is_response or command.is_oneway:
            return
        found = _Asked(command.code, None, at_ms)
        if not has_request(command.code):
            refusal = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
            found = _Asked(command.code, None, at_ms, refusal=refusal)
        else:
            try:
                found = _Asked(command.code, pull_request(command), at_ms)
            except RequestError:
                refusal = ResponseCode.INVALID_REQUEST
                found = _Asked(command.code, None, at_ms, refusal=refusal)
            except PacketError:
                found = _Asked(command.code, None, at_ms, is_closed=True)
        self._asked[answer] = found

    @property
    def unanswered(self) -> int:
        """Return how many requests were not answered yet."""
        return len(self._asked)

    def stopped(self) -> None:
        """Forget who asked: the controller has, too."""
        self._asked.clear()

    def given(self, record: NodeRecord, before: GroupKnown, after: GroupKnown) -> Iterator[Due]:
        """Yield what is due in a step: the right answers, and that nobody waits for long."""
        if self._name is None:
            return  # the records of one that does not say whose controller it is
        at_ms = time_ms(record)
        if not after.incarnations:
            self._former |= before.incarnations
        closed = {
            f"controller-{one['channel']}:"
            for one in record.answered
            if one.get("is") == "ChannelRefused"
        }
        for answer, asked in list(self._asked.items()):
            is_closed = any(answer.startswith(channel) for channel in closed)
            is_late = at_ms > asked.at_ms + _ANSWER_MS
            if is_closed or is_late:
                del self._asked[answer]
            if is_closed or (is_late and asked.is_closed):
                what = f"close the channel of request {asked.code}, which cannot be read"
                yield _due(at_ms, what, is_closed and asked.is_closed)
            elif is_late:
                yield _due(at_ms, f"answer request {asked.code}", is_done=False)
        for message in (*record.sent, *answers_to_outsiders(record)):
            answered = self._asked.pop(message.id, None)
            if answered is None:
                continue
            reply = reply_in(message, answered.code) if has_request(answered.code) else None
            code = message.code if reply is None else int(reply.code)
            expected = answered.refusal
            if answered.request is not None:
                expected = self._code(answered.request, before)
            name = "nothing" if expected is None else expected.name
            what = f"answer {_kind(answered)} with {name}"
            yield _due(at_ms, what, expected is not None and code == expected)
            if reply is not None and answered.request is not None:
                self._note(answered.request, reply)
                what = f"answer {_kind(answered)} with what there is"
                yield _due(at_ms, what, self._is_so(answered.request, reply, after))

    def _note(self, request: ControllerRequest, reply: Reply) -> None:
        """Note who has which id, and who may come back."""
        if reply.code is not ResponseCode.SUCCESS:
            return
        match request:
            case ApplyBrokerId(broker_name=name, applied_broker_id=wanted) if name == self._name:
                self._check_codes[wanted] = request.register_check_code
                self._next_id = max(self._next_id, wanted + 1)
            case RegisterBroker():
                self._former.pop(request.broker_id, None)
            case _:
                pass

    # ---- which code ----

    def _code(self, request: ControllerRequest, group: GroupKnown) -> ResponseCode:
        match request:
            case GetReplicaInfo(broker_name=name) if not self._knows(name, group):
                return ResponseCode.BROKER_METADATA_NOT_EXIST
            case UpdateControllerConfig():
                return ResponseCode.NO_PERMISSION
            case Heartbeat():
                return self._of_heartbeat(request, group)
            case RegisterBroker():
                return self._of_registration(request, group)
            case ApplyBrokerId():
                return self._of_application(request, group)
            case ElectMaster():
                return self._of_election(request, group)
            case CleanBrokerData():
                return self._of_cleaning(request, group)
            case AlterSyncStateSet():
                return self._of_proposal(request, group)
            case _:
                return ResponseCode.SUCCESS

    def _knows(self, name: str, group: GroupKnown) -> bool:
        return name == self._name and bool(group.incarnations)

    def _of_heartbeat(self, request: Heartbeat, group: GroupKnown) -> ResponseCode:
        known = group.incarnations.get(request.broker_id)
        if not self._knows(request.broker_name, group) or known is None:
            return ResponseCode.BROKER_NEED_TO_BE_REGISTERED
        if request.incarnation > known:
            return ResponseCode.BROKER_NEED_TO_BE_REGISTERED
        if request.incarnation < known:
            return ResponseCode.INVALID_REQUEST
        return ResponseCode.SUCCESS

    def _of_registration(self, request: RegisterBroker, group: GroupKnown) -> ResponseCode:
        known = {**self._former, **group.incarnations}.get(request.broker_id)
        if request.broker_name != self._name or known is None:
            return ResponseCode.BROKER_NEED_TO_BE_REGISTERED
        if request.incarnation is not None and request.incarnation < known:
            return ResponseCode.INVALID_REQUEST
        return ResponseCode.SUCCESS

    def _of_application(self, request: ApplyBrokerId, group: GroupKnown) -> ResponseCode:
        wanted, is_ours = request.applied_broker_id, request.broker_name == self._name
        if is_ours and self._check_codes.get(wanted) == request.register_check_code:
            return ResponseCode.SUCCESS
        free = self._next_id if is_ours else _FIRST_ID
        is_first = not is_ours or not group.incarnations
        is_free = wanted == free if is_first else free <= wanted < INT64_MAX
        return ResponseCode.SUCCESS if is_free else ResponseCode.BROKER_ID_INVALID

    def _of_election(self, request: ElectMaster, group: GroupKnown) -> ResponseCode:
        asker = request.broker_id
        if not self._knows(request.broker_name, group):
            return ResponseCode.BROKER_NEED_TO_BE_REGISTERED
        if group.is_new and asker is not None:
            if asker not in group.incarnations:
                return ResponseCode.BROKER_NEED_TO_BE_REGISTERED
            is_elected = self._lives(asker)
            return ResponseCode.SUCCESS if is_elected else ResponseCode.ELECT_MASTER_FAILED
        fit = group.members - group.unfit
        everybody = fit | group.incarnations.keys() if self._elects_unclean else fit
        alive = {broker for broker in everybody if self._lives(broker)}
        if asker is not None and request.designate_elect:
            alive &= {asker}
        elif group.master in alive:
            alive = {group.master}
        if not alive:
            if asker is None:
                return ResponseCode.MASTER_NOT_AVAILABLE
            return ResponseCode.ELECT_MASTER_FAILED
        return ResponseCode.MASTER_STILL_EXIST if alive == {group.master} else ResponseCode.SUCCESS

    def _of_cleaning(self, request: CleanBrokerData, group: GroupKnown) -> ResponseCode:
        refused = ResponseCode.INVALID_CLEAN_BROKER_METADATA
        text = (request.ids_to_clean or "").strip()
        if (text and not _IDS.match(text)) or not self._knows(request.broker_name, group):
            return refused
        listed = {int(part) for part in text.split(";") if part}
        masters = set() if group.master is None else {group.master}
        if not request.clean_living and any(map(self._lives, listed or masters)):
            return refused
        left = group.incarnations.keys() - listed if listed else set()
        if left and group.members and not group.members - listed:
            return refused
        return ResponseCode.SUCCESS

    def _of_proposal(self, request: AlterSyncStateSet, group: GroupKnown) -> ResponseCode:
        proposed, known = request.sync_state_set, group.incarnations
        joining = [(b, i) for b, i in request.joining.items() if b in proposed.members]
        reasons = (
            (
                not self._knows(request.broker_name, group) or proposed.members == group.members,
                ResponseCode.ALTER_SYNC_STATE_SET_FAILED,
            ),
            (
                group.master is None or request.master_broker_id != group.master,
                ResponseCode.INVALID_MASTER,
            ),
            (request.master_epoch != group.epoch, ResponseCode.FENCED_MASTER_EPOCH),
            (proposed.epoch != group.set_epoch, ResponseCode.FENCED_SYNC_STATE_SET_EPOCH),
            *(
                (
                    True,
                    ResponseCode.BROKER_NOT_ALIVE if b in known else ResponseCode.INVALID_REPLICAS,
                )
                for b in sorted(proposed.members)
                if b not in known or not self._lives(b)
            ),
            (any(known[b] != i for b, i in joining if b in known), ResponseCode.BROKER_NOT_ALIVE),
            (group.master not in proposed.members, ResponseCode.ALTER_SYNC_STATE_SET_FAILED),
        )
        return next((code for is_so, code in reasons if is_so), ResponseCode.SUCCESS)

    # ---- what it shows ----

    def _is_so(self, request: ControllerRequest, reply: Reply, group: GroupKnown) -> bool:
        """Tell whether an answer shows what there is of the group."""
        match reply.content:
            case Elected(master=master, members=members):
                told = SyncStateSet(members, master.sync_state_set_epoch)
                return _shows(group, master.broker_id, master.epoch, told)
            case Registered(master=master, master_epoch=epoch, sync_state_set=found):
                live = group.master
                if live is not None and not self._lives(live):
                    live = None
                named = None if master is None else master.broker_id
                return named == live and _shows(group, group.master, epoch, found)
            case ReplicaInfo(master_broker_id=named, master_epoch=epoch, sync_state_set=found):
                return _shows(group, named, epoch, found)
            case SyncStateSetAltered(sync_state_set=found):
                return (found.members, found.epoch) == (group.members, group.set_epoch)
            case SyncStateData(groups=groups):
                known = [self._name] if group.incarnations else []
                return list(groups) == known and all(
                    self._is_info(info, group) for info in groups.values()
                )
            case NextBrokerId(next_broker_id=free) if isinstance(request, GetNextBrokerId):
                is_ours = request.broker_name == self._name
                return free == (self._next_id if is_ours else _FIRST_ID)
            case _:
                return True

    def _is_info(self, info: ReplicasInfo, group: GroupKnown) -> bool:
        shown = (info.master_broker_id, info.master_epoch, info.sync_state_set_epoch)
        replicas = (*info.in_sync, *info.not_in_sync)
        return (
            shown == (group.master, group.epoch, group.set_epoch)
            and [one.broker_id for one in info.in_sync] == sorted(group.members)
            and sorted(one.broker_id for one in replicas) == sorted(group.incarnations)
            and all(one.alive == self._lives(one.broker_id) for one in replicas)
        )


def _shows(group: GroupKnown, master: int | None, epoch: int, found: SyncStateSet) -> bool:
    shown = (master, epoch, found.members, found.epoch)
    return shown == (group.master, group.epoch, group.members, group.set_epoch)


def _kind(asked: _Asked) -> str:
    return RequestCode(asked.code).name if has_request(asked.code) else f"request {asked.code}"


def _due(at_ms: TimestampMs, what: str, is_done: bool) -> Due:
    done_ms = at_ms if is_done else None
    return Due(node=_CONTROLLER, since_ms=at_ms, by_ms=at_ms, what=what, done_ms=done_ms)

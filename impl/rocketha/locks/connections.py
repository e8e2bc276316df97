"""Lock managers and consumers, as the hosts of nodes see them: what requests and answers carry.

A request that is none closes its connection; an answer that is none is no answer.

Source: broker/processor `AdminBrokerProcessor`; client/impl `MQClientAPIImpl` (`lockBatchMQ`,
`unlockBatchMQ`)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never, get_args

from rocketha.errors import PacketError
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.lock_bodies import (
    LockCode,
    MessageQueue,
    pull_locked_queues,
    pull_queue_lock,
    push_locked_queues,
    push_queue_lock,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.locks import consumer, voting
from rocketha.locks.consumer import (
    AnswerHeard,
    ConsumerAction,
    ConsumerEvent,
    ConsumerStepped,
    PatienceOver,
    ProcessNext,
    SendLock,
    SendUnlock,
    StopWaiting,
    patience_ms,
)
from rocketha.locks.state import ConsumerOptions, ConsumerState, LockManagerState, RoundId
from rocketha.locks.voting import (
    AnswerLock,
    AskForVotes,
    LockAsked,
    ManagerAction,
    ManagerEffect,
    ManagerStepped,
    PassOnRelease,
    RoundOver,
    UnlockAsked,
    VotesHeard,
)
from rocketha.runtime.core import Core
from rocketha.runtime.effects import (
    After,
    HangUp,
    RefuseRequest,
    Respond,
    SendOneWay,
    SendRequest,
)
from rocketha.runtime.events import RequestArrived, RequestEvent, ResponseArrived
from rocketha.types import MASTER, BrokerId, TimestampMs

__all__ = [
    "ConsumerCore",
    "ConsumerDone",
    "ConsumerHears",
    "ManagerCore",
    "ManagerDone",
    "ManagerHears",
]


ManagerHears: TypeAlias = RoundOver
"""What a lock manager hears, besides requests."""

_ManagerDoes: TypeAlias = SendRequest | SendOneWay | Respond | RefuseRequest | After[ManagerHears]


@dataclass(frozen=True, slots=True)
class ManagerDone:
    """The result of one step of a lock manager."""

    state: LockManagerState
    effects: tuple[_ManagerDoes, ...] = ()
    action: ManagerAction | None = None


class ManagerCore(Core[LockManagerState, ManagerHears | RequestEvent, ManagerAction, object]):
    """The core of a lock manager."""

    effects = get_args(_ManagerDoes)

    def step(
        self,
        state: LockManagerState,
        event: ManagerHears | RequestEvent,
        *,
        now_ms: TimestampMs,
        log: object = None,
    ) -> ManagerDone:
        """Take one event."""
        del log
        match event:
            case RequestArrived():
                return _asked(state, event, now_ms=now_ms)
            case ResponseArrived(reference=reference, command=command):
                number, broker = reference
                heard = VotesHeard(RoundId(number), BrokerId(broker), _locked_queues(command))
                return _done(voting.step(state, heard, now_ms=now_ms))
            case RoundOver():
                return _done(voting.step(state, event, now_ms=now_ms))
            case _ as unreachable:
                assert_never(unreachable)


def _asked(state: LockManagerState, event: RequestArrived, *, now_ms: TimestampMs) -> ManagerDone:
    code = event.command.code
    if code not in (LockCode.LOCK_BATCH_MQ, LockCode.UNLOCK_BATCH_MQ):
        refusal = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
        return ManagerDone(state, (Respond(request=event.request, code=refusal, body=b""),))
    try:
        body = pull_queue_lock(event.command.body)
    except PacketError:
        return ManagerDone(state, (RefuseRequest(request=event.request),))
    locks = code == LockCode.LOCK_BATCH_MQ
    asked = LockAsked(event.request, body) if locks else UnlockAsked(body)
    return _done(voting.step(state, asked, now_ms=now_ms))


def _done(stepped: ManagerStepped) -> ManagerDone:
    """Write what a lock manager says; a round ends when the time of its requests is up."""
    round_ms = stepped.state.options.round_ms
    effects = [_manager_does(effect, round_ms) for effect in stepped.effects]
    begun = {effect.round for effect in stepped.effects if isinstance(effect, AskForVotes)}
    ends: list[After[ManagerHears]] = [
        After(wait_ms=round_ms, event=RoundOver(number)) for number in sorted(begun)
    ]
    return ManagerDone(stepped.state, (*effects, *ends), stepped.action)


def _manager_does(effect: ManagerEffect, round_ms: int) -> _ManagerDoes:
    match effect:
        case AnswerLock(request=request, queues=queues):
            data = push_locked_queues(queues)
            return Respond(request=request, code=ResponseCode.SUCCESS, body=data)
        case AskForVotes(round=number, broker=broker, body=body):
            return SendRequest(
                peer=broker,
                code=LockCode.LOCK_BATCH_MQ,
                body=push_queue_lock(body),
                reference=(number, broker),
                timeout_ms=round_ms,
            )
        case PassOnRelease(broker=broker, body=body):
            data = push_queue_lock(body)
            return SendOneWay(peer=broker, code=LockCode.UNLOCK_BATCH_MQ, body=data)
        case _ as unreachable:
            assert_never(unreachable)


def _locked_queues(command: RemotingCommand | None) -> frozenset[MessageQueue] | None:
    """Read an answer; None: there is none."""
    if command is None:
        return None
    try:
        return pull_locked_queues(command.body)
    except PacketError:
        return None


# ---- consumers ----

ConsumerHears: TypeAlias = ConsumerEvent
"""What a consumer hears, besides answers."""

_ConsumerDoes: TypeAlias = (
    SendRequest | SendOneWay | Respond | HangUp | ProcessNext | After[ConsumerHears]
)


@dataclass(frozen=True, slots=True)
class ConsumerDone:
    """The result of one step of a consumer."""

    state: ConsumerState
    effects: tuple[_ConsumerDoes, ...] = ()
    action: ConsumerAction | None = None


class ConsumerCore(Core[ConsumerState, ConsumerHears | RequestEvent, ConsumerAction, object]):
    """The core of a consumer.

    A connection that is lost is no answer: it waits for as long as it has patience.
    """

    effects = get_args(_ConsumerDoes)

    def step(
        self,
        state: ConsumerState,
        event: ConsumerHears | RequestEvent,
        *,
        now_ms: TimestampMs,
        log: object = None,
    ) -> ConsumerDone:
        """Take one event."""
        del log
        if isinstance(event, RequestArrived):  # nobody asks consumers for locks
            refusal = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
            return ConsumerDone(state, (Respond(request=event.request, code=refusal, body=b""),))
        if isinstance(event, ResponseArrived):
            queues = _locked_queues(event.command)
            if queues is None:
                return ConsumerDone(state)
            (attempt,) = event.reference
            event = AnswerHeard(attempt, queues)
        return _consumed(consumer.step(state, event, now_ms=now_ms))


def _consumed(stepped: ConsumerStepped) -> ConsumerDone:
    effects: list[_ConsumerDoes] = []
    for effect in stepped.effects:
        match effect:
            case SendLock(body=body):
                effects += _lock_request(stepped.state.options, body.attempt, push_queue_lock(body))
            case SendUnlock(body=body):
                data, code = push_queue_lock(body), LockCode.UNLOCK_BATCH_MQ
                effects.append(SendOneWay(peer=MASTER, code=code, body=data))
            case StopWaiting(attempt=attempt):
                effects.append(HangUp(reference=(attempt,)))
            case ProcessNext():
                effects.append(effect)
            case _ as unreachable:
                assert_never(unreachable)
    return ConsumerDone(stepped.state, tuple(effects), stepped.action)


def _lock_request(options: ConsumerOptions, attempt: int, data: bytes) -> list[_ConsumerDoes]:
    """Ask for locks, and wait for one millisecond more than an answer counts."""
    patience: After[ConsumerHears] = After(
        wait_ms=patience_ms(options) + 1, event=PatienceOver(attempt)
    )
    code = LockCode.LOCK_BATCH_MQ
    return [SendRequest(peer=MASTER, code=code, body=data, reference=(attempt,)), patience]

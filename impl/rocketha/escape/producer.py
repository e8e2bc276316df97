"""A producer of half messages: it decides at some time, and says so whenever it is asked.

It gives brokers signs of life, which they answer, so that it notices a connection whose other end
is gone: what it says of transactions has no answer.

Source: client/impl/producer `DefaultMQProducerImpl.checkTransactionState`; client/impl/factory
`MQClientInstance.sendHeartbeatToAllBroker`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import get_args

from rocketha.errors import RequestError
from rocketha.escape.events import (
    Decided,
    Done,
    EscapeAction,
    EscapeActionName,
    HeartbeatDue,
    ProducerDoes,
    ProducerEvent,
)
from rocketha.escape.state import frozen
from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.formats.put_requests import EndTransaction, PutCode, pull_check, push_end
from rocketha.runtime.core import Core
from rocketha.runtime.effects import After, Respond, SendOneWay, SendRequest
from rocketha.runtime.events import RequestArrived, ResponseArrived
from rocketha.types import BrokerId, TimestampMs

__all__ = ["ProducerCore", "ProducerState"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerState:
    """What a producer knows; of what its database keeps, nothing is lost."""

    group: str
    brokers: Mapping[str, BrokerId]
    """brokerName -> what its host calls the broker."""
    heartbeat_ms: int = 30_000
    """`heartbeatBrokerInterval`"""
    timeout_ms: int = 3_000
    """`mqClientApiTimeout`: after it the connection is closed."""
    decided: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """UNIQ_KEY -> COMMITTED or ROLLED_BACK."""


class ProducerCore(Core[ProducerState, ProducerEvent, EscapeAction, object]):
    """The core of a producer."""

    effects = get_args(ProducerDoes)

    def step(
        self,
        state: ProducerState,
        event: ProducerEvent,
        *,
        now_ms: TimestampMs,
        log: object = None,
    ) -> Done[ProducerState, ProducerDoes]:
        """Take one event."""
        del now_ms, log
        match event:
            case Decided(key=key, how=how):
                return decide(state, key, how)
            case RequestArrived():
                return _asked(state, event)
            case HeartbeatDue():
                return _heartbeats(state)
            case ResponseArrived():
                return Done(state)


def decide(state: ProducerState, key: str, how: int) -> Done[ProducerState, ProducerDoes]:
    """Commit or roll back, once and for all.

    Spec: Escape!End
    """
    if key in state.decided:
        return Done(state)
    decided = frozen({**state.decided, key: how})
    return Done(replace(state, decided=decided), (), EscapeAction(EscapeActionName.END))


def _heartbeats(state: ProducerState) -> Done[ProducerState, ProducerDoes]:
    asks = [
        SendRequest(
            peer=peer,
            code=BrokerCode.HEART_BEAT,
            body=b"",
            reference=(peer,),
            timeout_ms=state.timeout_ms,
        )
        for peer in state.brokers.values()
    ]
    again: After[ProducerEvent] = After(wait_ms=state.heartbeat_ms, event=HeartbeatDue())
    return Done(state, (*asks, again))


def _asked(state: ProducerState, event: RequestArrived) -> Done[ProducerState, ProducerDoes]:
    """Say what was decided, or that nothing was."""
    command = event.command
    if command.code != PutCode.CHECK_TRANSACTION_STATE:
        refusal = BrokerResponse.REQUEST_CODE_NOT_SUPPORTED
        return Done(state, (Respond(request=event.request, code=refusal, body=b""),))
    try:
        check = pull_check(command)
    except RequestError:
        return Done(state)
    peer = state.brokers.get(check.broker_name)
    if peer is None:
        return Done(state)
    end = EndTransaction(
        broker_name=check.broker_name,
        topic=check.topic,
        producer_group=state.group,
        commit_log_offset=check.commit_log_offset,
        queue_offset=check.queue_offset,
        how=state.decided.get(check.key, 0),
        key=check.key,
        is_answer=True,
    )
    code = PutCode.END_TRANSACTION
    return Done(state, (SendOneWay(peer=peer, code=code, body=b"", ext_fields=push_end(end)),))

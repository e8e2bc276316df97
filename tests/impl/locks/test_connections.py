"""Lock managers and consumers on the host of nodes that ask others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

import pytest

from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.lock_bodies import (
    LockCode,
    MessageQueue,
    pull_locked_queues,
    pull_queue_lock,
    push_locked_queues,
    push_queue_lock,
)
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.locks.connections import ConsumerCore, ConsumerHears, ManagerCore, ManagerHears
from rocketha.locks.consumer import (
    ConsumerAction,
    ConsumerActionName,
    LockWanted,
    PatienceOver,
    ProcessNext,
    ProcessWanted,
)
from rocketha.locks.state import ConsumerState, LockManagerState, RoundId
from rocketha.locks.voting import ManagerAction, RoundOver
from rocketha.runtime.core import Core
from rocketha.runtime.effects import AnswerClient, Respond, SendOneWay, SendRequest
from rocketha.runtime.events import RequestArrived, RequestEvent, ResponseArrived
from rocketha.runtime.node_host import NodeHost, no_files
from rocketha.runtime.performers import ClientPerformer, RequestPerformer
from rocketha.types import MASTER, BrokerId, RequestId, RequestReference, TimestampMs
from tests.impl.locks.scene import Q1, Q2, THREE, TWO, a_consumer, a_manager, body

S = TypeVar("S")
E = TypeVar("E")
A = TypeVar("A")


@dataclass
class World(Generic[S, E, A]):
    """A node whose ports write down what the host calls."""

    core: Core[S, E | RequestEvent, A, None]
    state: S
    shows_ms: int = 0
    sent: list[SendRequest] = field(default_factory=list)
    told: list[tuple[BrokerId, int, bytes]] = field(default_factory=list)
    answers: list[tuple[RequestId, int, bytes]] = field(default_factory=list)
    refused: list[RequestId] = field(default_factory=list)
    hung_up: list[RequestReference] = field(default_factory=list)
    later: list[tuple[int, E | RequestEvent]] = field(default_factory=list)
    clients: list[AnswerClient] = field(default_factory=list)
    actions: list[A | None] = field(default_factory=list)
    loses: bool = False
    """Who hangs up hears at once that no answer comes."""

    def __post_init__(self) -> None:
        self.host: NodeHost[S, E | RequestEvent, A] = NodeHost(
            self.core,
            (RequestPerformer(self), ClientPerformer(self)),
            clock=self,
            recorder=self,
            see=no_files,
            alarms=self,
        )
        self.host.state = self.state

    def now_ms(self) -> TimestampMs:
        return TimestampMs(self.shows_ms)

    def request(self, request: SendRequest) -> None:
        self.sent.append(request)

    def one_way(self, request: SendOneWay) -> None:
        self.told.append((request.peer, request.code, request.body))

    def respond(self, answer: Respond) -> None:
        self.answers.append((answer.request, answer.code, answer.body))

    def refuse(self, request: RequestId) -> None:
        self.refused.append(request)

    def hang_up(self, reference: RequestReference) -> None:
        self.hung_up.append(reference)
        if self.loses:
            self.host.hear(ResponseArrived(reference=reference, command=None))

    def after(self, wait_ms: int, event: E | RequestEvent) -> None:
        self.later.append((wait_ms, event))

    def answer(self, answer: AnswerClient) -> None:
        self.clients.append(answer)

    def stepped(self, event: object, action: A | None) -> None:
        del event
        self.actions.append(action)


def manager() -> World[LockManagerState, ManagerHears, ManagerAction]:
    return World(ManagerCore(), a_manager())


def consumer() -> World[ConsumerState, ConsumerHears, ConsumerAction]:
    return World(ConsumerCore(), a_consumer())


def arrived(code: int, data: bytes, *, request: int = 5) -> RequestArrived:
    return RequestArrived(
        request=RequestId(request), command=RemotingCommand(code=code, opaque=1, body=data)
    )


def response(*queues: MessageQueue) -> RemotingCommand:
    data = push_locked_queues(frozenset(queues))
    return RemotingCommand(code=ResponseCode.SUCCESS, opaque=1, flag=FLAG_RESPONSE, body=data)


def test_a_manager_asks_the_others_and_answers_when_it_has_heard_them() -> None:
    world = manager()
    world.host.take(arrived(LockCode.LOCK_BATCH_MQ, push_queue_lock(body("c1", Q1, Q2))))
    round_ms = a_manager().options.round_ms
    assert [(s.peer, s.reference, s.timeout_ms) for s in world.sent] == [
        (TWO, (1, TWO), round_ms),
        (THREE, (1, THREE), round_ms),
    ]
    assert all(pull_queue_lock(s.body).only_this_broker for s in world.sent)
    assert world.later == [(round_ms, RoundOver(RoundId(1)))]
    assert not world.answers

    world.host.take(ResponseArrived(reference=(1, TWO), command=response(Q1)))
    world.host.take(ResponseArrived(reference=(1, THREE), command=None))
    [(request, code, data)] = world.answers
    assert (request, code) == (5, ResponseCode.SUCCESS)
    assert pull_locked_queues(data) == {Q1}

    world.host.take(RoundOver(RoundId(1)))  # the round has ended
    assert len(world.answers) == 1


@pytest.mark.parametrize("data", [b"", b"{", b"\xff"])
def test_an_answer_that_is_none_is_no_vote(data: bytes) -> None:
    world = manager()
    world.host.take(arrived(LockCode.LOCK_BATCH_MQ, push_queue_lock(body("c1", Q1))))
    nonsense = RemotingCommand(code=0, opaque=1, flag=FLAG_RESPONSE, body=data)
    world.host.take(ResponseArrived(reference=(1, TWO), command=nonsense))
    world.host.take(RoundOver(RoundId(1)))
    assert [pull_locked_queues(data) for _, _, data in world.answers] == [frozenset()]


def test_a_manager_passes_a_release_on_and_answers_nobody() -> None:
    world = manager()
    world.host.take(arrived(LockCode.UNLOCK_BATCH_MQ, push_queue_lock(body("c1", Q1))))
    assert [(peer, code) for peer, code, _ in world.told] == [
        (TWO, LockCode.UNLOCK_BATCH_MQ),
        (THREE, LockCode.UNLOCK_BATCH_MQ),
    ]
    assert not world.answers
    assert not world.refused


@pytest.mark.parametrize("code", list(LockCode))
def test_a_request_that_is_none_is_refused_and_changes_nothing(code: LockCode) -> None:
    world = manager()
    world.host.take(arrived(code, b"nonsense"))
    assert world.refused == [5]
    assert world.host.state == a_manager()
    assert world.actions == [None]


def test_other_requests_are_not_supported() -> None:
    not_supported = (5, ResponseCode.REQUEST_CODE_NOT_SUPPORTED, b"")
    one, other = manager(), consumer()
    one.host.take(arrived(999, b""))
    other.host.take(arrived(LockCode.LOCK_BATCH_MQ, push_queue_lock(body("c2", Q1))))
    assert one.answers == [not_supported]
    assert other.answers == [not_supported]


def test_a_consumer_asks_the_master_and_processes_what_it_holds() -> None:
    world = consumer()
    world.host.take(LockWanted(frozenset({Q1, Q2})))
    [asked] = world.sent
    assert (asked.peer, asked.reference, asked.timeout_ms) == (MASTER, (1,), None)
    assert world.later == [(a_consumer().options.patience_ms + 1, PatienceOver(1))]

    world.host.take(ResponseArrived(reference=(1,), command=response(Q1)))
    assert [(peer, pull_queue_lock(data).queues) for peer, _, data in world.told] == [
        (MASTER, frozenset({Q2}))
    ]
    world.host.take(ProcessWanted(Q1))
    assert world.clients == [ProcessNext(Q1, fresh=True)]

    world.shows_ms = world.later[0][0]
    world.host.take(PatienceOver(1))  # it was answered
    assert not world.hung_up


def test_a_consumer_waits_after_a_loss_until_its_patience_is_over() -> None:
    world = consumer()
    world.loses = True
    world.host.take(LockWanted(frozenset({Q1})))
    world.host.take(ResponseArrived(reference=(1,), command=None))
    assert world.actions[1:] == [None]

    world.host.take(PatienceOver(1))
    assert world.hung_up == [(1,)]
    names = [action.name if action else None for action in world.actions[2:]]
    assert names == [ConsumerActionName.GIVE_UP, None]  # the loss is heard after the step
    assert [peer for peer, _, _ in world.told] == [MASTER]


def test_a_node_that_is_down_takes_nothing() -> None:
    world = manager()
    world.host.stop()
    with pytest.raises(AssertionError, match="down"):
        world.host.take(RoundOver(RoundId(1)))

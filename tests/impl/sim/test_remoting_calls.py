"""Requests between simulated peers, and peers that do not speak the protocol."""

from __future__ import annotations

import pytest

from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.lock_bodies import (
    LockCode,
    QueueLockBody,
    pull_locked_queues,
    push_queue_lock,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.sim.engine.faults import NO_FAULTS, FaultCounts
from rocketha.sim.engine.network import Network
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.engine.remoting_calls import Content
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.lock_quorum.cluster import FIRST_CONSUMER, LockCluster, NullLockObserver
from rocketha.sim.lock_quorum.plan import draw_lock_run
from rocketha.types import BrokerId

BROKER = BrokerId(1)
HEARD = list[RemotingCommand | None]


@pytest.fixture
def cluster() -> LockCluster:
    streams, scheduler, counts = PerPurposeStreams(1), Scheduler(), FaultCounts()
    plan = draw_lock_run(streams, SimOptions(brokers=1, faults=NO_FAULTS))
    return LockCluster(
        plan=plan,
        scheduler=scheduler,
        network=Network(scheduler, streams, counts=counts, plan=plan.faults),
        random_source=streams,
        counts=counts,
        observer=NullLockObserver(),
    )


def ask(cluster: LockCluster, code: int, body: bytes) -> RemotingCommand | None:
    """Ask a broker, and return what is heard."""
    heard: HEARD = []
    cluster.calls.ask(FIRST_CONSUMER, BROKER, Content(code=code, body=body), heard.append)
    while cluster.scheduler.run_next(1_000):
        pass
    (answer,) = heard
    return answer


def lock_body(cluster: LockCluster) -> bytes:
    return push_queue_lock(
        QueueLockBody(
            consumer_group="g", client_id="c", queues=frozenset(cluster.queues), attempt=1
        )
    )


def test_a_request_is_answered(cluster: LockCluster) -> None:
    answer = ask(cluster, LockCode.LOCK_BATCH_MQ, lock_body(cluster))

    assert answer is not None
    assert answer.code == ResponseCode.SUCCESS
    assert pull_locked_queues(answer.body) == frozenset(cluster.queues)


def test_a_code_that_no_broker_answers_is_refused(cluster: LockCluster) -> None:
    before = cluster.nodes[BROKER].state
    answer = ask(cluster, 999, lock_body(cluster))

    assert answer is not None
    assert answer.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED
    assert cluster.nodes[BROKER].state == before


@pytest.mark.parametrize("code", list(LockCode))
@pytest.mark.parametrize("body", [b"", b"{}", b"\xff", b'{"mqSet":3}'])
def test_who_sends_nonsense_loses_the_connection_and_nothing_else_happens(
    code: LockCode, body: bytes, cluster: LockCluster
) -> None:
    before = cluster.nodes[BROKER].state

    assert ask(cluster, code, body) is None
    assert cluster.nodes[BROKER].state == before
    assert cluster.network.connections() == []
    assert ask(cluster, LockCode.LOCK_BATCH_MQ, lock_body(cluster)) is not None


def test_a_broker_that_is_down_answers_nobody(cluster: LockCluster) -> None:
    cluster.crash(cluster.nodes[BROKER])

    assert ask(cluster, LockCode.LOCK_BATCH_MQ, lock_body(cluster)) is None


def test_who_hangs_up_hears_that_no_answer_comes(cluster: LockCluster) -> None:
    heard: HEARD = []
    request = Content(code=LockCode.LOCK_BATCH_MQ, body=lock_body(cluster))
    cluster.calls.ask(FIRST_CONSUMER, BROKER, request, heard.append)
    cluster.calls.hang_up(FIRST_CONSUMER, BROKER)

    assert heard == [None]

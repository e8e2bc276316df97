"""The bodies of lock requests: RocketMQ's JSON, both ways, and what is not that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.errors import PacketError
from rocketha.formats.lock_bodies import (
    MessageQueue,
    QueueLockBody,
    pull_locked_queues,
    pull_queue_lock,
    push_locked_queues,
    push_queue_lock,
)
from rocketha.types import INT32_MAX, INT64_MAX

QUEUE = MessageQueue(topic="orders", broker_name="g", queue_id=3)
QUEUE_JSON = b'{"brokerName":"g","queueId":3,"topic":"orders"}'
# As RocketMQ 5 writes them, without a number of the attempt.
FROM_ROCKETMQ = (
    b'{"clientId":"c@1","consumerGroup":"cg","mqSet":[' + QUEUE_JSON + b'],"onlyThisBroker":true}'
)
OLDER = b'{"clientId":"c@1","consumerGroup":"cg","mqSet":[' + QUEUE_JSON + b"]}"

queues = st.builds(
    MessageQueue,
    topic=st.text(max_size=5),
    broker_name=st.text(max_size=5),
    queue_id=st.integers(0, INT32_MAX),
)
bodies = st.builds(
    QueueLockBody,
    consumer_group=st.text(max_size=5),
    client_id=st.text(max_size=5),
    queues=st.frozensets(queues, max_size=4),
    only_this_broker=st.booleans(),
    attempt=st.integers(0, INT64_MAX),
)


def test_what_rocketmq_writes_is_read() -> None:
    body = QueueLockBody(
        consumer_group="cg",
        client_id="c@1",
        queues=frozenset({QUEUE}),
        only_this_broker=True,
        attempt=0,
    )

    assert pull_queue_lock(FROM_ROCKETMQ) == body
    assert not pull_queue_lock(OLDER).only_this_broker
    assert push_queue_lock(body) == b'{"attempt":0,' + FROM_ROCKETMQ[1:]


def test_an_answer_is_what_rocketmq_reads() -> None:
    assert push_locked_queues([QUEUE]) == b'{"lockOKMQSet":[' + QUEUE_JSON + b"]}"
    assert pull_locked_queues(b'{"lockOKMQSet":[]}') == frozenset()


@given(body=bodies)
def test_a_request_comes_back(body: QueueLockBody) -> None:
    assert pull_queue_lock(push_queue_lock(body)) == body
    assert pull_locked_queues(push_locked_queues(body.queues)) == body.queues


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        OLDER.replace(b'"clientId":"c@1"', b'"clientId":null'),
        OLDER.replace(b'"cg"', b"7"),
        OLDER.replace(b"[" + QUEUE_JSON + b"]", b"{}"),
        OLDER.replace(QUEUE_JSON, b"3"),
        OLDER.replace(b'"queueId":3', b'"queueId":-1'),
        OLDER.replace(b'"queueId":3', b'"queueId":2147483648'),
        OLDER.replace(b'"topic":"orders"', b'"topic":1'),
        FROM_ROCKETMQ.replace(b"true", b"1"),
        OLDER[:-1] + b',"attempt":-1}',
        OLDER[:-1] + b',"attempt":"1"}',
    ],
)
def test_what_is_no_request_is_refused(data: bytes) -> None:
    with pytest.raises(PacketError):
        pull_queue_lock(data)


@pytest.mark.parametrize("end", range(len(FROM_ROCKETMQ)))
def test_a_request_that_is_cut_is_refused(end: int) -> None:
    with pytest.raises(PacketError):
        pull_queue_lock(FROM_ROCKETMQ[:end])


@pytest.mark.parametrize("data", [b"{}", b'{"lockOKMQSet":{}}', b'{"lockOKMQSet":[null]}', b"\xff"])
def test_what_is_no_answer_is_refused(data: bytes) -> None:
    with pytest.raises(PacketError):
        pull_locked_queues(data)

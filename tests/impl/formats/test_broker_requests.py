"""Requests of producers, consumers and slaves, and a broker's registration."""

from __future__ import annotations

import json
import zlib

import pytest

from rocketha.errors import RequestError
from rocketha.formats.broker_requests import (
    BrokerCode,
    NameServerRegistration,
    PullMessage,
    QueueName,
    SendMessage,
    ha_question,
    message_id,
    pull_consumer_offset,
    pull_ha_answer,
    pull_pull_message,
    pull_queue,
    pull_send_message,
    push_registration,
)
from rocketha.formats.message import Host
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.types import MASTER, Offset, TimestampMs

SHORT = {"a": "p", "b": "T", "c": "TBW102", "d": "1", "e": "3", "f": "4", "g": "170"}
SHORT |= {"h": "5", "i": "KEYS\x01k\x02", "j": "2", "k": "false", "m": "true"}
LONG = {"producerGroup": "p", "topic": "T", "queueId": "3", "sysFlag": "4", "flag": "5"}
LONG |= {"bornTimestamp": "170", "properties": "KEYS\x01k\x02", "reconsumeTimes": "2"}
LONG |= {"batch": "true"}
SENT = SendMessage(
    queue=QueueName(topic="T", queue_id=3),
    body=b"body",
    sys_flag=4,
    flag=5,
    born_timestamp_ms=TimestampMs(170),
    properties="KEYS\x01k\x02",
    reconsume_times=2,
    is_batch=True,
)


def command(code: int, fields: dict[str, str], body: bytes = b"") -> RemotingCommand:
    return RemotingCommand(code=code, opaque=1, ext_fields=fields, body=body)


@pytest.mark.parametrize(
    ("code", "fields"), [(BrokerCode.SEND_MESSAGE, LONG), (BrokerCode.SEND_MESSAGE_V2, SHORT)]
)
def test_both_versions_say_the_same(code: int, fields: dict[str, str]) -> None:
    assert pull_send_message(command(code, fields, b"body")) == SENT


@pytest.mark.parametrize(
    ("field", "value"),
    [("b", None), ("b", " "), ("b", "x" * 128), ("e", "one"), ("g", "-1"), ("m", "yes"), ("f", "")],
)
def test_a_message_that_cannot_be_is_refused(field: str, value: str | None) -> None:
    fields = {name: text for name, text in SHORT.items() if name != field}
    fields |= {} if value is None else {field: value}
    with pytest.raises(RequestError, match=field):
        pull_send_message(command(BrokerCode.SEND_MESSAGE_V2, fields))


PULL = {"consumerGroup": "c", "topic": "T", "queueId": "0", "queueOffset": "7"}
PULL |= {"maxMsgNums": "32", "suspendTimeoutMillis": "15000"}


@pytest.mark.parametrize(
    ("sys_flag", "wait_ms"), [("0", 0), ("1", 0), ("2", 15_000), ("7", 15_000)]
)
def test_a_consumer_waits_only_if_it_says_so(sys_flag: str, wait_ms: int) -> None:
    asked = pull_pull_message(command(BrokerCode.PULL_MESSAGE, {**PULL, "sysFlag": sys_flag}))
    queue = QueueName(topic="T", queue_id=0)
    expected = PullMessage(queue=queue, queue_offset=7, messages_max=32, wait_ms=wait_ms)
    assert asked == expected


def test_nobody_gets_more_than_there_is_room_for() -> None:
    fields = {**PULL, "sysFlag": "0", "maxMsgNums": "2147483647"}
    assert pull_pull_message(command(BrokerCode.PULL_MESSAGE, fields)).messages_max == 1024
    with pytest.raises(RequestError, match="maxMsgNums"):
        pull_pull_message(command(BrokerCode.PULL_MESSAGE, {**fields, "maxMsgNums": "0"}))


def test_offsets_of_groups() -> None:
    fields = {"consumerGroup": "c", "topic": "T", "queueId": "2"}
    queue = QueueName(topic="T", queue_id=2)
    assert pull_queue(command(31, fields)) == queue
    assert pull_consumer_offset(command(14, fields)) == ("c", queue, None)
    assert pull_consumer_offset(command(15, {**fields, "commitOffset": "9"})) == ("c", queue, 9)
    with pytest.raises(RequestError, match="commitOffset"):
        pull_consumer_offset(command(15, {**fields, "commitOffset": "-9"}))


def test_the_id_of_a_message_is_where_it_is() -> None:
    """As RocketMQ 5.3.3 said it of the second record of a log."""
    host = Host(bytes([127, 0, 0, 1]), 0x5D32)
    assert message_id(host, Offset(0x113)) == "7F00000100005D320000000000000113"


def test_where_a_master_replicates() -> None:
    assert ha_question(opaque=4).code == 906
    assert pull_ha_answer(command(0, {"masterHaAddress": "127.0.0.1:1"})) == "127.0.0.1:1"
    assert pull_ha_answer(command(0, {})) is None
    assert pull_ha_answer(command(1, {"masterHaAddress": "127.0.0.1:1"})) is None


def test_a_registration_says_topics_and_whose_epoch_it_is() -> None:
    said = NameServerRegistration(
        cluster_name="c",
        broker_name="g",
        broker_address="127.0.0.1:10911",
        ha_address="127.0.0.1:10912",
        broker_id=MASTER,
        master_epoch=5,
        changes=2,
        topics={"TBW102": 4, "T": 1},
    )
    pulled = pull_command(push_command(push_registration(said, opaque=3, now_ms=9)))
    assert pulled is not None
    sent = pulled[0]
    assert (sent.code, sent.opaque) == (103, 3)
    assert sent.ext_fields["brokerId"] == "0"
    assert sent.ext_fields["haServerAddr"] == "127.0.0.1:10912"
    assert sent.ext_fields["bodyCrc32"] == str(zlib.crc32(sent.body) & 0x7FFFFFFF)
    wrapper = json.loads(sent.body)["topicConfigSerializeWrapper"]
    assert wrapper["dataVersion"] == {"counter": 2, "stateVersion": 5, "timestamp": 9}
    shown = {
        name: (t["writeQueueNums"], t["perm"]) for name, t in wrapper["topicConfigTable"].items()
    }
    assert shown == {"TBW102": (4, 7), "T": (1, 6)}

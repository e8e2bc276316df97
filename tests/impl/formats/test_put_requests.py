"""Puts, transactions, check points and ACKs, as the classes of RocketMQ 5.3.3 write them.

All texts and bytes here were printed by them: `BrokerOuterAPI.buildSendMessageRequest`,
`TransactionalMessageBridge.parseHalfMessageInner`, `TransactionalMessageUtil`, `MessageDecoder`,
fastjson's `JSON.toJSONString` of `PopCheckPoint` and `AckMsg`, and the headers' own fields. Maps of
properties are in the order of a hash map there, so they are compared as maps.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.errors import PacketError, RequestError
from rocketha.formats.broker_requests import BrokerCode, BrokerResponse, QueueName
from rocketha.formats.due_messages import (
    COMMITTED,
    HALF_TOPIC,
    committed,
    delayed,
    half,
    key_of,
    op_message,
    prepared_again,
    pull_op_body,
    revived,
    time_is_up,
)
from rocketha.formats.message import Host, Message, properties_of, properties_text
from rocketha.formats.pop_messages import (
    AckMsg,
    PopCheckPoint,
    Popped,
    ack_message,
    check_point_message,
    is_revive_topic,
    pull_extra_info,
    pull_revive_message,
    push_extra_info,
)
from rocketha.formats.put_requests import (
    AckMessage,
    CheckTransactionState,
    EndTransaction,
    PopMessage,
    PutCode,
    is_put_ok,
    pull_ack_message,
    pull_check,
    pull_end,
    pull_pop_message,
    pull_put,
    push_ack_message,
    push_check,
    push_end,
    push_pop_message,
    push_put,
    push_stored,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.types import Offset, TimestampMs

ORDER = Message(
    topic="orders",
    body=b"order 7",
    queue_id=2,
    sys_flag=4,
    born_timestamp_ms=TimestampMs(1670212915000),
    properties="TRAN_MSG\x01true\x02UNIQ_KEY\x01K7\x02PGROUP\x01shop\x02",
)
POPPED = Popped(
    broker_name="broker-a",
    group="audit",
    topic="orders",
    queue_id=0,
    offset=7,
    pop_time_ms=TimestampMs(1670212915531),
)
CHECK_POINT = PopCheckPoint(popped=POPPED, invisible_ms=60000)
MSG_ID = "7F00000100002A9F0000000000000100"


def command(code: int, fields: object, body: bytes = b"") -> RemotingCommand:
    assert isinstance(fields, dict) or hasattr(fields, "items")
    return RemotingCommand(code=code, opaque=1, ext_fields=dict(fields.items()), body=body)


# ---- SEND_MESSAGE_V2 ----


def test_a_put_has_the_fields_of_5_3_3() -> None:
    fields = push_put(ORDER, "shop")

    assert dict(fields) == {
        "a": "shop",
        "b": "orders",
        "c": "TBW102",
        "d": "8",
        "e": "2",
        "f": "4",
        "g": "1670212915000",
        "h": "0",
        "i": "TRAN_MSG\x01true\x02UNIQ_KEY\x01K7\x02PGROUP\x01shop\x02",
        "j": "0",
        "k": "false",
        "m": "false",
    }
    assert pull_put(command(BrokerCode.SEND_MESSAGE_V2, fields, ORDER.body)) == ORDER


def test_a_batch_is_refused() -> None:
    fields = {**push_put(ORDER, "shop"), "m": "true"}

    with pytest.raises(RequestError, match="a batch"):
        pull_put(command(BrokerCode.SEND_MESSAGE_V2, fields))


def test_what_is_stored_is_answered_with_the_fields_of_5_3_3() -> None:
    assert dict(push_stored(ORDER, msg_id=MSG_ID, queue_offset=3)) == {
        "msgId": MSG_ID,
        "queueId": "2",
        "queueOffset": "3",
        "transactionId": "K7",
    }


def test_only_success_is_put_ok() -> None:
    codes = [code for code in BrokerResponse if is_put_ok(command(code, {}))]

    assert codes == [BrokerResponse.SUCCESS]
    assert not is_put_ok(None)


# ---- half messages ----


def test_a_half_message_in_a_log_has_the_properties_of_5_3_3() -> None:
    stored = half(ORDER)

    assert (stored.topic, stored.queue_id, stored.sys_flag) == (HALF_TOPIC, 0, 0)
    assert properties_of(stored.properties) == {
        "REAL_TOPIC": "orders",
        "__transactionId__": "K7",
        "TRAN_MSG": "true",
        "UNIQ_KEY": "K7",
        "PGROUP": "shop",
        "REAL_QID": "2",
    }


def test_a_half_message_for_another_broker_has_the_properties_of_5_3_3() -> None:
    again = prepared_again(half(ORDER))

    assert (again.topic, again.queue_id, again.sys_flag) == ("orders", 2, 4)
    assert properties_of(again.properties) == {
        "REAL_TOPIC": "orders",
        "__transactionId__": "K7",
        "TRAN_MSG": "true",
        "UNIQ_KEY": "K7",
        "PGROUP": "shop",
    }
    assert properties_of(again.properties)["TRAN_MSG"] == "true"


def test_what_is_committed_is_no_half_message_any_more() -> None:
    seen = committed(half(ORDER))

    assert (seen.topic, seen.queue_id, seen.sys_flag, seen.body) == ("orders", 2, 8, b"order 7")
    assert ("TRAN_MSG" in properties_of(seen.properties), key_of(seen)) == (False, "K7")


def test_an_op_message_has_the_places_of_what_has_ended() -> None:
    message = op_message((3, 17))

    assert (message.topic, message.body) == ("RMQ_SYS_TRANS_OP_HALF_TOPIC", b"3,17,")
    assert message.properties == "TAGS\x01d\x02"
    assert pull_op_body(message.body) == (3, 17)


@pytest.mark.parametrize("body", [b"", b"3", b",", b"3,x,", b"-1,"])
def test_what_is_no_op_message_is_refused(body: bytes) -> None:
    with pytest.raises(PacketError, match="op message"):
        pull_op_body(body)


def test_a_message_of_which_nobody_knows_where_it_belongs_is_refused() -> None:
    lost = replace(half(ORDER), properties=properties_text({"REAL_TOPIC": "orders"}))

    for act in (committed, prepared_again, time_is_up):
        with pytest.raises(PacketError, match="REAL_QID"):
            act(lost)


def test_a_delayed_message_comes_back_as_it_was() -> None:
    message = replace(ORDER, sys_flag=0, properties=properties_text({"UNIQ_KEY": "K7"}))
    waits = delayed(message, 3)

    assert (waits.topic, waits.queue_id) == ("SCHEDULE_TOPIC_XXXX", 2)
    back = time_is_up(waits)
    assert replace(back, properties=message.properties) == message
    assert properties_of(back.properties) == {
        "UNIQ_KEY": "K7",
        "REAL_TOPIC": "orders",
        "REAL_QID": "2",
    }


# ---- transactions ----

CHECK = CheckTransactionState(
    broker_name="broker-a",
    topic=HALF_TOPIC,
    commit_log_offset=Offset(256),
    queue_offset=3,
    key="K7",
    msg_id=MSG_ID,
    message=Message(
        topic="orders",
        body=b"order 7",
        queue_id=2,
        queue_offset=3,
        born_timestamp_ms=TimestampMs(1670212915000),
        store_timestamp_ms=TimestampMs(1670212915001),
        store_host=Host(bytes([127, 0, 0, 1]), 10911),
        properties="UNIQ_KEY\x01K7\x02",
    ),
)
BODY = bytes.fromhex(
    "00000074daa320a70000000000000002000000000000000000000003000000000000010000000000"
    "00000184e0728f387f0000010000000000000184e0728f397f00000100002a9f0000000000000000"
    "00000000000000076f726465722037066f7264657273000c554e49515f4b4559014b3702"
)
"""`MessageDecoder.encode` of a message that was in no store, so that its bodyCRC is 0."""


def test_a_check_has_the_fields_and_the_body_of_5_3_3() -> None:
    fields, body = push_check(CHECK)

    assert dict(fields) == {
        "bname": "broker-a",
        "commitLogOffset": "256",
        "msgId": "K7",
        "offsetMsgId": MSG_ID,
        "topic": "RMQ_SYS_TRANS_HALF_TOPIC",
        "tranStateTableOffset": "3",
        "transactionId": "K7",
    }
    assert body[:8] + bytes(4) + body[12:] == BODY
    assert pull_check(command(PutCode.CHECK_TRANSACTION_STATE, fields, body)) == CHECK


@pytest.mark.parametrize("body", [b"", BODY[:-1], BODY + b"x"])
def test_a_check_without_its_message_is_refused(body: bytes) -> None:
    fields, _ = push_check(CHECK)

    with pytest.raises(RequestError, match="body"):
        pull_check(command(PutCode.CHECK_TRANSACTION_STATE, fields, body))


END = EndTransaction(
    broker_name="broker-a",
    topic=HALF_TOPIC,
    producer_group="shop",
    commit_log_offset=Offset(256),
    queue_offset=3,
    how=COMMITTED,
    key="K7",
    is_answer=True,
)


def test_the_end_of_a_transaction_has_the_fields_of_5_3_3() -> None:
    fields = push_end(END)

    assert dict(fields) == {
        "bname": "broker-a",
        "commitLogOffset": "256",
        "commitOrRollback": "8",
        "fromTransactionCheck": "true",
        "msgId": "K7",
        "producerGroup": "shop",
        "topic": "RMQ_SYS_TRANS_HALF_TOPIC",
        "tranStateTableOffset": "3",
        "transactionId": "K7",
    }
    assert pull_end(command(PutCode.END_TRANSACTION, fields)) == END


def test_an_end_that_is_none_is_refused() -> None:
    fields = {**push_end(END), "commitOrRollback": "7"}

    with pytest.raises(RequestError, match="commitOrRollback"):
        pull_end(command(PutCode.END_TRANSACTION, fields))


# ---- pops ----


def test_a_check_point_is_written_as_5_3_3_writes_it() -> None:
    message = check_point_message("cluster", CHECK_POINT, now_ms=TimestampMs(5))

    assert message.body == (
        b'{"bm":0,"bn":"broker-a","c":"audit","d":[0],"it":60000,"n":1,"pt":1670212915531,'
        b'"q":0,"reviveTime":1670212975531,"ro":0,"so":7,"t":"orders"}'
    )
    assert message.topic == "rmq_sys_REVIVE_LOG_cluster"
    assert is_revive_topic(message.topic)
    assert properties_of(message.properties) == {
        "TAGS": "ck",
        "UNIQ_KEY": "orders@0@7@audit@1670212915531@broker-a@ck",
    }
    assert pull_revive_message(message) == CHECK_POINT
    assert CHECK_POINT.revive_ms == 1670212975531


def test_an_ack_is_written_as_5_3_3_writes_it() -> None:
    message = ack_message("cluster", AckMsg(popped=POPPED), now_ms=TimestampMs(5))

    assert message.body == (
        b'{"ao":7,"bn":"broker-a","c":"audit","pt":1670212915531,"q":0,"so":7,"t":"orders"}'
    )
    assert key_of(message) == "orders@0@7@audit@1670212915531@broker-a@ack"
    assert pull_revive_message(message) == AckMsg(popped=POPPED)


@pytest.mark.parametrize(
    ("tag", "body"),
    [("bAck", b"{}"), ("ck", b"{}"), ("ck", b"["), ("ack", b'{"ao":-1}')],
)
def test_what_is_neither_is_refused(tag: str, body: bytes) -> None:
    message = Message(topic="rmq_sys_REVIVE_LOG_c", body=body, properties=f"TAGS\x01{tag}\x02")

    with pytest.raises(PacketError):
        pull_revive_message(message)


def test_a_check_point_of_several_messages_is_refused() -> None:
    message = check_point_message("cluster", CHECK_POINT, now_ms=TimestampMs(5))

    with pytest.raises(PacketError, match="several"):
        pull_revive_message(replace(message, body=message.body.replace(b'"n":1', b'"n":2')))


def test_the_extra_info_begins_as_that_of_5_3_3_and_ends_with_who_has_the_check_point() -> None:
    text = push_extra_info(CHECK_POINT, "broker-b")

    assert text == "7 1670212915531 60000 0 0 broker-a 0 7" + " broker-b"
    read = pull_extra_info(text, group="audit", topic="orders")
    assert read == (CHECK_POINT, "broker-b")


@pytest.mark.parametrize(
    "text", ["", "7 1 2 0 0 b 0 7", "7 x 2 0 0 b 0 7 c", "7 1 2 0 0 b 0 7 c d", "7 1 2"]
)
def test_an_extra_info_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="extraInfo"):
        pull_extra_info(text, group="audit", topic="orders")


def test_what_consumers_ask_has_the_fields_of_5_3_3() -> None:
    queue = QueueName(topic="orders", queue_id=0)
    pop = PopMessage(
        group="audit", queue=queue, invisible_ms=60000, born_ms=TimestampMs(1670212915000)
    )
    ack = AckMessage(group="audit", queue=queue, offset=7, extra_info="x")

    assert dict(push_pop_message(pop)) == {
        "bornTime": "1670212915000",
        "consumerGroup": "audit",
        "initMode": "0",
        "invisibleTime": "60000",
        "maxMsgNums": "1",
        "order": "false",
        "pollTime": "0",
        "queueId": "0",
        "topic": "orders",
    }
    assert dict(push_ack_message(ack)) == {
        "consumerGroup": "audit",
        "extraInfo": "x",
        "offset": "7",
        "queueId": "0",
        "topic": "orders",
    }
    assert pull_pop_message(command(PutCode.POP_MESSAGE, push_pop_message(pop))) == pop
    assert pull_ack_message(command(PutCode.ACK_MESSAGE, push_ack_message(ack))) == ack


@given(st.binary(max_size=120), st.sampled_from(["ck", "ack"]))
def test_any_bytes_are_a_check_point_an_ack_or_an_error(body: bytes, tag: str) -> None:
    message = Message(topic="rmq_sys_REVIVE_LOG_c", body=body, properties=f"TAGS\x01{tag}\x02")
    with suppress(PacketError):
        assert isinstance(pull_revive_message(message), PopCheckPoint | AckMsg)


@given(st.integers(0, len(BODY) - 1), st.integers(0, 255))
def test_a_changed_byte_of_a_check_is_read_or_an_error(at: int, byte: int) -> None:
    fields, body = push_check(CHECK)
    changed = body[:at] + bytes([byte]) + body[at + 1 :]
    with suppress(RequestError):
        assert pull_check(command(PutCode.CHECK_TRANSACTION_STATE, fields, changed)).key == "K7"


@given(st.sampled_from(sorted(push_end(END))), st.text(max_size=30))
def test_any_text_of_a_field_is_read_or_an_error(name: str, text: str) -> None:
    fields = {**push_end(END), name: text}
    with suppress(RequestError):
        assert pull_end(command(PutCode.END_TRANSACTION, fields)).how in (0, 8, 12)


@given(st.text(max_size=60))
def test_any_text_is_an_extra_info_or_an_error(text: str) -> None:
    with suppress(RequestError):
        assert push_extra_info(*pull_extra_info(text, group="g", topic="t"))


def test_what_is_delivered_again_lies_in_the_topic_of_its_group() -> None:
    again = revived(ORDER, "audit", pop_time_ms=5)

    assert (again.topic, again.queue_id, again.reconsume_times) == ("%RETRY%audit_orders", 0, 1)
    assert properties_of(again.properties)["1ST_POP_TIME"] == "5"
